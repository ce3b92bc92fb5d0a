"""Variables that point to functions and are set again: ``F f = one; if (c) f = two;``.

Takes the declaration of such a variable and all that its function assigns to it, which have to be functions by name or
choices of such, and gives a number that says which of them it is now. What reads the variable gets the functions with
conditions on a copy of that number: later assignments do not change what was read.
"""

from __future__ import annotations

from dataclasses import replace

from analyzers.frontend.lowering.context import Context
from analyzers.frontend.lowering.nodes import Kinds, Node, stripped
from analyzers.frontend.lowering.places import FunctionPlace, Place
from analyzers.ir.expr import I32, Expr, compare, const, select
from analyzers.ir.node import var

MAX_FUNCTIONS = 16
"""Functions that one variable may stand for; each call is lowered once for each."""


def function_named(node: Node) -> FunctionPlace | None:
    """The function an expression names, if it is one."""
    node = stripped(node)
    if node.kind == Kinds.UNARY and node.operator == "&":
        node = stripped(node.kids[0])
    target = node.reference
    if node.kind == Kinds.DECL_REF and target is not None and target.kind in (Kinds.FUNCTION, Kinds.METHOD):
        return FunctionPlace(target, node.type)
    return None


def declared(ctx: Context, variable: Node, init: FunctionPlace | None) -> FunctionPlace | None:
    """The place of a variable that is set again, with the number for ``init``; None where it is an ordinary one."""
    frame = ctx.frame
    if variable.key not in frame.written or frame.body is None:
        return None
    among = _assigned(frame.body, variable)
    if among is None:
        return None
    known = {f.function.key for f in among}
    more = [] if init is None else [f for f in _all(init) if f.function.key not in known]
    among = (*among, *{f.function.key: f for f in more}.values())
    if not 0 < len(among) <= MAX_FUNCTIONS:
        return None
    which = var(ctx.born(f"{variable.name}.which"), I32)
    place = replace(among[-1], which=which, among=among)
    # Who calls what was never set does what nobody can say: any of them will do.
    ctx.assign(which, const(0, I32) if init is None else _number(place, init))
    return place


def assigned(ctx: Context, target: Node, value: FunctionPlace) -> bool:
    """Set a variable to a function; whether it is one that can be."""
    target = stripped(target)
    place = ctx.frame.lookup(target.reference.key) if target.reference is not None else None
    if target.kind != Kinds.DECL_REF or not isinstance(place, FunctionPlace) or place.which is None:
        return False
    if {f.function.key for f in _all(value)} - {f.function.key for f in place.among}:
        return False
    ctx.assign(place.which, _number(place, value))
    return True


def as_it_is_now(ctx: Context, place: Place) -> Place:
    """What is read of a variable: the function that it is at this point."""
    if not isinstance(place, FunctionPlace) or place.which is None:
        return place
    kept = ctx.temporary(I32, "which")
    ctx.assign(kept, place.which)
    conditions = [compare("eq", kept, const(i, I32)) for i in range(len(place.among) - 1)]
    return replace(place.among[-1], instead=tuple(zip(conditions, place.among, strict=False)))


def _all(value: FunctionPlace) -> list[FunctionPlace]:
    """The functions that it may be, without their conditions."""
    return [*(f for _, other in value.instead for f in _all(other)), replace(value, instead=())]


def _number(place: FunctionPlace, value: FunctionPlace) -> Expr:
    numbers = {f.function.key: const(i, I32) for i, f in enumerate(place.among)}

    def number(one: FunctionPlace) -> Expr:
        found: Expr = numbers[one.function.key]
        for condition, other in reversed(one.instead):
            found = select(condition, number(other), found)
        return found

    return number(value)


def _assigned(body: Node, variable: Node) -> tuple[FunctionPlace, ...] | None:
    """The functions that are assigned to the variable by name; None where something else is done to it."""
    found: dict[int, FunctionPlace] = {}
    stack = [body]
    while stack:
        node = stack.pop()
        kids = node.kids
        stack.extend(kids)
        if node.kind not in (Kinds.BINARY, Kinds.COMPOUND_ASSIGN, Kinds.UNARY) or not kids:
            continue
        target = stripped(kids[0])
        if target.kind != Kinds.DECL_REF or target.reference is None or target.reference.key != variable.key:
            continue
        if node.kind == Kinds.BINARY and node.operator == "=":
            ways = _ways(kids[1])
            if ways is None:
                return None
            found.update({f.function.key: f for f in ways})
        elif node.kind == Kinds.COMPOUND_ASSIGN or (node.kind == Kinds.UNARY and node.operator != "*"):
            return None
    return tuple(found.values())


def _ways(node: Node) -> list[FunctionPlace] | None:
    """The functions of ``f`` or ``c ? f : g``."""
    node = stripped(node)
    if node.kind == Kinds.CONDITIONAL:
        ways = [_ways(way) for way in node.kids[1:]]
        return None if None in ways else [f for way in ways for f in way or ()]
    known = function_named(node)
    return None if known is None else [known]
