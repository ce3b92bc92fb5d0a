"""Pointers to one of several known functions: ``c ? f : g``."""

from __future__ import annotations

from dataclasses import replace

from analyzers.frontend.lowering import memory
from analyzers.frontend.lowering.context import Context
from analyzers.frontend.lowering.function_variables import function_named
from analyzers.frontend.lowering.nodes import Kinds, Node, stripped
from analyzers.frontend.lowering.places import FunctionPlace
from analyzers.ir.expr import BOOL
from analyzers.ir.kernel import If


def chosen_function(ctx: Context, node: Node) -> FunctionPlace | None:
    """The function of ``c ? f : g``, where both are known. It is chosen now, whenever it is called."""
    node = stripped(node)
    return _chosen(ctx, node) if node.kind == Kinds.CONDITIONAL and _names_functions(node) else None


def _names_functions(node: Node) -> bool:
    node = stripped(node)
    if node.kind == Kinds.CONDITIONAL:
        return all(_names_functions(way) for way in node.kids[1:])
    return function_named(node) is not None


def _chosen(ctx: Context, node: Node) -> FunctionPlace:
    node = stripped(node)
    known = function_named(node)
    if known is not None:
        return known
    test, first, second = node.kids
    kept = ctx.temporary(BOOL, "choice")
    ctx.assign(kept, memory.convert_scalar(ctx, ctx.scalar(test), BOOL))
    with ctx.branch() as then:
        one = _chosen(ctx, first)
    with ctx.branch() as orelse:
        other = _chosen(ctx, second)
    if then or orelse:
        # A choice inside of one way is made on that way only.
        ctx.emit(If(kept, tuple(then), tuple(orelse), ctx.site(node)))
    return replace(other, instead=((kept, one), *other.instead))
