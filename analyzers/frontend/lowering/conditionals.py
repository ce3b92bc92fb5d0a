"""What is evaluated under a condition: `&&`, `||` and `?:`."""

from __future__ import annotations

from analyzers.frontend.lowering import class_values, memory
from analyzers.frontend.lowering.context import Context, places, values
from analyzers.frontend.lowering.conversions import is_lvalue
from analyzers.frontend.lowering.designators import held_place
from analyzers.frontend.lowering.effects import ctx_effect
from analyzers.frontend.lowering.function_choices import chosen_function
from analyzers.frontend.lowering.nodes import Kinds, Node
from analyzers.frontend.lowering.places import (
    Closure,
    EitherPlace,
    FunctionPlace,
    MemPlace,
    ParamPlace,
    Place,
    RecordValue,
    SplitPlace,
    TablePlace,
    Value,
    ValuePlace,
    VarPlace,
)
from analyzers.ir.expr import BOOL, I32, Expr, const, land, lnot, lor, select
from analyzers.ir.kernel import Assign, If, Stmt


def condition(ctx: Context, node: Node) -> Expr:
    """The value of an expression as a BOOL."""
    return memory.convert_scalar(ctx, ctx.scalar(node), BOOL)


def short_circuit(ctx: Context, node: Node, operator: str) -> Expr:
    left, right = node.kids
    a = condition(ctx, left)
    decided = const(0 if operator == "&&" else 1, BOOL)
    if a is decided:
        return a
    with ctx.branch() as inner:
        b = condition(ctx, right)
    if a.op == "const":
        ctx.out.extend(inner)
        return b
    if not inner:
        return land(a, b) if operator == "&&" else lor(a, b)
    result = ctx.temporary(BOOL, "both" if operator == "&&" else "either")
    ctx.assign(result, a)
    inner.append(Assign(result.value, b))
    ctx.emit(If(result if operator == "&&" else lnot(result), tuple(inner), (), ctx.site(node)))
    return result


@values(Kinds.CONDITIONAL)
def conditional(ctx: Context, node: Node) -> Value:
    function = chosen_function(ctx, node)
    if function is not None:
        return function
    test, first, second = node.kids
    c = condition(ctx, test)
    if c.op == "const":
        return ctx.value(first if c.value else second)
    if node.type.shape == "void":
        with ctx.branch() as then:
            ctx_effect(ctx, first)
        with ctx.branch() as orelse:
            ctx_effect(ctx, second)
        ctx.emit(If(c, tuple(then), tuple(orelse), ctx.site(node)))
        return None
    if node.type.shape == "record":
        return _conditional_record(ctx, node, c)
    ty = node.type.ir or I32
    with ctx.branch() as then:
        a = memory.convert_scalar(ctx, ctx.scalar(first), ty)
    with ctx.branch() as orelse:
        b = memory.convert_scalar(ctx, ctx.scalar(second), ty)
    if not then and not orelse:
        return select(c, a, b)
    return _branches(ctx, node, c, then, a, orelse, b)


def _branches(ctx: Context, node: Node, c: Expr, then: list[Stmt], a: Expr, orelse: list[Stmt], b: Expr) -> Expr:
    result = ctx.temporary(a.ty, "choice")
    then.append(Assign(result.value, a))
    orelse.append(Assign(result.value, b))
    ctx.emit(If(c, tuple(then), tuple(orelse), ctx.site(node)))
    return result


def _conditional_record(ctx: Context, node: Node, c: Expr) -> Value:
    target = class_values.storage(ctx, node.type, "%choice", None, node)
    branches: list[list[Stmt]] = []
    for kid in node.kids[1:]:
        with ctx.branch() as body:
            value = ctx.value(kid)
            if isinstance(value, (Closure, FunctionPlace)):
                ctx.unsupported("indirect-call", "a choice between function objects", node)
            elif value is not None and not isinstance(value, Expr):
                class_values.copy(ctx, target, value, kid)
        branches.append(body)
    ctx.emit(If(c, tuple(branches[0]), tuple(branches[1]), ctx.site(node)))
    return target


_CHOICES = (VarPlace, ValuePlace, MemPlace, SplitPlace, ParamPlace, RecordValue, TablePlace, EitherPlace)


@places(Kinds.CONDITIONAL)
def conditional_place(ctx: Context, node: Node) -> Place:
    test, first, second = node.kids
    if not (is_lvalue(first) and is_lvalue(second)):
        return memory.as_place(ctx, conditional(ctx, node), node)
    c = condition(ctx, test)
    if c.op == "const":
        return ctx.place(first if c.value else second)
    with ctx.branch() as then:
        one = ctx.place(first)
    with ctx.branch() as orelse:
        other = ctx.place(second)
    if not then and not orelse and isinstance(one, _CHOICES) and isinstance(other, _CHOICES):
        one, other = held_place(ctx, one), held_place(ctx, other)
        if node.type.scalar and one.type.ir == other.type.ir:
            return EitherPlace(ctx.held(c, "choice"), one, other, node.type)
    with ctx.branch() as more:
        a = class_values.address(ctx, one, first)
    then += more
    with ctx.branch() as more:
        b = class_values.address(ctx, other, second)
    orelse += more
    pointer = select(c, a, b) if not then and not orelse else _branches(ctx, node, c, then, a, orelse, b)
    return MemPlace(pointer, node.type)
