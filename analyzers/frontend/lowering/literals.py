"""Literals and constants: numbers, characters, strings, null."""

from __future__ import annotations

from analyzers.frontend.lowering import class_values
from analyzers.frontend.lowering.context import Context, places, values
from analyzers.frontend.lowering.nodes import Kinds, Node
from analyzers.frontend.lowering.places import MemPlace, Place, Value
from analyzers.ir.expr import BOOL, I32, NULL, Expr, FloatType, IntType, Type, addr, const, fconst


def constant(value: int | float | str | None, ty: Type) -> Expr | None:
    """A compile-time value as an expression of the type, where it has one."""
    if value is None or isinstance(value, str):
        return None
    if isinstance(ty, IntType):
        if isinstance(value, float) and not value.is_integer():
            return None
        return const(int(value), ty) if ty != BOOL else const(1 if value else 0, BOOL)
    if isinstance(ty, FloatType):
        return fconst(float(value), ty)
    return NULL if value == 0 else None


@values(Kinds.INTEGER, Kinds.CHARACTER, Kinds.BOOLEAN, Kinds.FLOATING, Kinds.SIZEOF, Kinds.SIZEOF_PACK)
def literal(ctx: Context, node: Node) -> Value:
    ty = node.type.ir or I32
    found = constant(node.evaluated(), ty)
    return found if found is not None else ctx.havoc(ty, f"value of {node.text}", node)


@values(Kinds.NULLPTR, Kinds.GNU_NULL)
def null(_ctx: Context, _node: Node) -> Value:
    return NULL


@places(Kinds.STRING)
def string_place(ctx: Context, node: Node) -> Place:
    known = ctx.globals.get(node.key)
    if known is None:
        name = ctx.object("string", "constant", node.type, read_only=True, span=node.span)
        known = ctx.globals[node.key] = MemPlace(addr(name), node.type)
    return known


@values(Kinds.STRING)
def string(ctx: Context, node: Node) -> Value:
    return class_values.address(ctx, string_place(ctx, node), node)
