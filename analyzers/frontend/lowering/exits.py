"""`break`, `continue` and `return`."""

from __future__ import annotations

from analyzers.frontend.lowering import class_values
from analyzers.frontend.lowering.context import Context, statements
from analyzers.frontend.lowering.effects import ctx_effect
from analyzers.frontend.lowering.inlining import result_storage, returned
from analyzers.frontend.lowering.nodes import Kinds, Node
from analyzers.frontend.lowering.places import Closure, FunctionPlace, Place, ValuePlace, VarPlace
from analyzers.ir.expr import PTR, Expr, var
from analyzers.ir.kernel import KERNEL_BLOCK, Continue, Exit


@statements(Kinds.BREAK)
def break_statement(ctx: Context, node: Node) -> None:
    if not ctx.frame.exits:
        ctx.unsupported("statement", "break outside of a loop", node)
        return
    label, _, kind = ctx.frame.exits[-1]
    ctx.emit(Exit(label, kind, ctx.site(node)))  # pyright: ignore[reportArgumentType]


@statements(Kinds.CONTINUE)
def continue_statement(ctx: Context, node: Node) -> None:
    for _, label, _ in reversed(ctx.frame.exits):
        if label is not None:
            ctx.emit(Continue(label, ctx.site(node)))
            return
    ctx.unsupported("statement", "continue outside of a loop", node)


@statements(Kinds.RETURN)
def return_statement(ctx: Context, node: Node) -> None:
    frame = ctx.frame
    value = node.kids[-1] if node.kids else None
    facts = frame.facts
    if not frame.conditional and not frame.jumped:
        if value is not None and facts is not None:
            frame.direct = returned(ctx, value, facts.result)
        elif value is not None:
            ctx_effect(ctx, value)
        frame.done = True
        return
    if value is not None:
        target = result_storage(ctx, frame)
        if target is None or facts is None:
            ctx_effect(ctx, value)
        elif facts.result.shape == "reference":
            place = ctx.place(value)
            pointer = class_values.address(ctx, place, value)
            ctx.assign(var(getattr(target, "name", ""), PTR), pointer)
        else:
            _return_value(ctx, target, value)
    if facts is not None and not frame.jumped:
        frame.jumped = True
        frame.label = ctx.name(frame.label)
    ctx.emit(Exit(frame.label or KERNEL_BLOCK, "return", ctx.site(node)))
    if not frame.conditional:
        frame.done = True


def _return_value(ctx: Context, target: Place, value: Node) -> None:
    raw = returned(ctx, value, target.type)
    if isinstance(raw, (Closure, FunctionPlace)):
        ctx.unsupported("indirect-call", "a function object chosen at run time", value)
    elif isinstance(raw, Expr):
        if isinstance(target, VarPlace):
            ctx.assign(var(target.name, raw.ty), raw)
        else:
            class_values.copy(ctx, target, ValuePlace(raw, target.type), value)
    elif raw is not None:
        class_values.copy(ctx, target, raw, value)
