"""The body of a function in place of its call: parameters, the body, the value returned."""

from __future__ import annotations

from collections.abc import Callable

from analyzers.frontend.captures import is_lambda
from analyzers.frontend.lowering import class_values, closures, declarations, memory
from analyzers.frontend.lowering.context import INLINE_DEPTH, Context, Frame
from analyzers.frontend.lowering.designators import held_place
from analyzers.frontend.lowering.effects import ctx_effect
from analyzers.frontend.lowering.invocation import Facts
from analyzers.frontend.lowering.layout import CType
from analyzers.frontend.lowering.literals import constant
from analyzers.frontend.lowering.nodes import Kinds, Node
from analyzers.frontend.lowering.places import (
    Closure,
    FunctionPlace,
    MemPlace,
    ParamPlace,
    Place,
    SplitPlace,
    Value,
    ValuePlace,
    VarPlace,
)
from analyzers.ir.expr import PTR, U64, Expr, var
from analyzers.ir.kernel import Block

_SHORT = 600
"""Bytes of a function that the compiler may be asked for the value of."""


def inline(ctx: Context, facts: Facts, node: Node, args: list[Node], this: Place | None) -> Value:
    """The body of a function in place of its call."""
    known = _computed_by_compiler(ctx, facts, node)
    if known is not None:
        return known
    if facts.key in ctx.active:
        return ctx.unsupported_value("recursion", f"{facts.qualified} calls itself", node)
    if len(ctx.active) > INLINE_DEPTH:
        return ctx.unsupported_value("recursion", f"calls nested deeper than {INLINE_DEPTH}", node)
    frame = Frame(facts.name, this=this)
    if isinstance(this, Closure):
        frame = Frame(facts.name, closure=this)
    elif this is not None and this.type.shape == "record" and is_lambda(this.type):
        known = ctx.closures.get(this.type.record.declaration.data[0])
        made = known[-1] if known else closures.carried(ctx, this, node)
        if made is None:
            return ctx.unsupported_value("indirect-call", "a lambda whose captures are not known", node)
        frame = Frame(facts.name, closure=made)
    bind_parameters(ctx, frame, facts, node, args)
    return lowered_body(ctx, facts, node, frame)


def _computed_by_compiler(ctx: Context, facts: Facts, node: Node) -> Expr | None:
    """The number that a call of a function which calls itself (``constexpr int log2_of(int n)``) stands for, where the
    compiler knows it."""
    span = facts.span
    if facts.result.ir is None or span.end_offset - span.start_offset > _SHORT or facts.key in ctx.active:
        return None
    if ctx.table.text(span).count(facts.name) < 2:
        return None
    return constant(node.evaluated(), facts.result.ir)


def bind_parameters(ctx: Context, frame: Frame, facts: Facts, node: Node, args: list[Node]) -> None:
    for number, parameter in enumerate(facts.parameters):
        given = args[number] if number < len(args) else None
        if given is None or (given.kind == Kinds.UNEXPOSED and not given.kids and not given.span.path):
            given = _default_argument(parameter, given)
        if given is None:
            frame.bindings[parameter.key] = memory.as_place(
                ctx, ctx.unknown_value(parameter.type, f"argument {parameter.name}", node), parameter
            )
            continue
        frame.bindings[parameter.key] = _bound(ctx, facts, parameter, given)
    if len(args) > len(facts.parameters):
        for extra in args[len(facts.parameters) :]:
            ctx_effect(ctx, extra)


def _default_argument(parameter: Node, given: Node | None) -> Node | None:
    """The default of a parameter, which clang shows in every declaration, whichever has it."""
    own = [k for k in parameter.kids if 100 <= k.kind < 200]
    return own[-1] if own else given


def _bound(ctx: Context, facts: Facts, parameter: Node, given: Node) -> Place:
    """The parameter's place, with the argument's value in it."""
    ctype = parameter.type
    if ctype.shape == "reference":
        return declarations.bound_reference(ctx, ctype, given, parameter)
    raw = ctx.value(given)
    if isinstance(raw, (Closure, FunctionPlace)):
        return raw
    if ctype.shape == "record":
        return _bound_record(ctx, parameter, given, raw)
    value = raw if isinstance(raw, Expr) else class_values.scalar_of(ctx, raw, given) if raw is not None else None
    if value is None:
        return memory.as_place(ctx, ctx.unknown_value(ctype, "argument", given), parameter)
    value = memory.convert_scalar(ctx, value, ctype.ir or value.ty)
    if parameter.key not in facts.written and not ctx.needs_storage(parameter.key):
        return ValuePlace(ctx.held(value, parameter.name), ctype, parameter.key)
    target = class_values.storage(ctx, ctype, parameter.name or "argument", parameter.key, parameter)
    memory.write(ctx, target, value, given)
    return target


def _bound_record(ctx: Context, parameter: Node, given: Node, raw: Value) -> Place:
    ctype = parameter.type
    forced = ctx.needs_storage(parameter.key)
    if isinstance(raw, ParamPlace) and not forced:
        return ParamPlace(raw.name, raw.type, parameter.key)
    if isinstance(raw, SplitPlace) and raw.key is None and not raw.offset and not forced:
        return SplitPlace(raw.names, ctype, parameter.key)
    target = class_values.storage(ctx, ctype, parameter.name or "argument", parameter.key, parameter)
    if isinstance(raw, Expr):
        raw = memory.as_place(ctx, raw, given)
    if raw is not None:
        class_values.copy(ctx, target, raw, given)
    return target


def lowered_body(
    ctx: Context, facts: Facts, node: Node, frame: Frame, prepare: Callable[[], None] | None = None
) -> Value:
    """Lower a function body inside `frame`; its parameters are bound already. `prepare` runs there before it."""
    saved = (ctx.frame, ctx.calls, ctx.override, ctx.statement)
    if facts.bundled:
        # Code of the bundled headers is shown as the call that leads there.
        ctx.override = ctx.override or node
    else:
        ctx.calls = (*ctx.calls, (ctx.override or node).span)
        ctx.override = None
        ctx.functions[facts.span] = facts.qualified
        ctx.statement = None
    ctx.frame = frame
    ctx.active.append(facts.key)
    ctx.reached.add(facts.key)
    try:
        if prepare is not None:
            prepare()
        return _with_result(ctx, facts, frame)
    finally:
        ctx.active.pop()
        ctx.frame, ctx.calls, ctx.override, ctx.statement = saved


def _with_result(ctx: Context, facts: Facts, frame: Frame) -> Value:
    assert facts.body is not None
    frame.facts, frame.body, frame.written, frame.label = facts, facts.body, facts.written, facts.name
    frame.around = ctx.loops_around
    with ctx.captured() as body:
        ctx.lower_all(facts.body.kids)
    if frame.jumped:
        ctx.emit(Block(frame.label, tuple(body)))
    else:
        ctx.out.extend(body)
    result = frame.result
    if result is None or not frame.jumped:
        return frame.direct
    if isinstance(result, VarPlace):
        if facts.result.shape == "reference":
            return MemPlace(var(result.name, PTR), facts.result.element)
        return var(result.name, result.type.ir or U64)
    return result


def result_storage(ctx: Context, frame: Frame) -> Place | None:
    """Where a function with several returns leaves its value."""
    if frame.result is None and frame.facts is not None:
        facts = frame.facts
        ctype = facts.result
        with ctx.of_call(frame):
            if ctype.shape == "reference" or ctype.scalar:
                frame.result = VarPlace(ctx.born(f"%{facts.name}"), ctype, None)
            elif ctype.shape == "record":
                frame.result = class_values.storage(ctx, ctype, f"%{facts.name}", None, facts.node)
    return frame.result


def returned(ctx: Context, value: Node, result: CType) -> Value:
    """The value of a return expression, seen from the caller."""
    if result.shape == "reference":
        return held_place(ctx, ctx.place(value))
    if result.scalar:
        raw = ctx.value(value)
        if isinstance(raw, (FunctionPlace, Closure)):
            return raw
        e = raw if isinstance(raw, Expr) else class_values.scalar_of(ctx, raw, value) if raw is not None else None
        return memory.convert_scalar(ctx, e, result.ir or e.ty) if e is not None else None
    if result.shape == "void":
        ctx_effect(ctx, value)
        return None
    raw = ctx.value(value)
    if isinstance(raw, SplitPlace) and raw.key is not None:
        return SplitPlace(raw.names, raw.type, None, raw.offset)
    return raw
