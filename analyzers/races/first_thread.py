"""The thread (0, 0, 0) of a block, which waits, counts or reserves for the others: what it executes, and what no other
thread does; and what all threads along x do together."""

from __future__ import annotations

from collections.abc import Iterable

from analyzers.ir import expr as E
from analyzers.ir.events import AccessEvent, Conjunct
from analyzers.ir.expr import Expr, IntType
from analyzers.races.threads import MAX_THREADS, Launch

_COORDINATES = {t: E.const(0, E.U32) for t in E.TID}


def as_first_thread(e: Expr) -> Expr:
    """``e``, not bound, with the coordinates of the first thread."""
    return E.substitute(e, _COORDINATES)


def of_first_thread(launch: Launch, e: Expr) -> Expr | None:
    """``e`` as the first thread sees it; None where that is no matter of the block alone."""
    e = E.substitute(launch.bind(e), _COORDINATES)
    if any(n.op == "opaque" and n.value[1] in ("thread", "warp") for n in E.walk((e,))):
        return None
    return e


def executes_before(launch: Launch, one: AccessEvent, two: AccessEvent) -> bool:
    """Whenever a thread of the block gets to ``two``, the first thread gets to ``one``."""
    certain = {launch.bind(c.condition) for c in two.guard}
    for c in one.guard:
        condition = of_first_thread(launch, c.condition)
        if condition is None or (condition is not E.TRUE and condition not in certain):
            return False
    return True


def alone(launch: Launch, guard: Iterable[Conjunct]) -> bool:
    """Only the first thread of a block meets the guard."""
    fixed: set[Expr] = set()
    for c in guard:
        condition = launch.bind(c.condition)
        if condition.op != "eq":
            continue
        for side, other in (condition.args, condition.args[::-1]):
            if other.op == "const" and other.value == 0:
                fixed.add(unconverted(side))
    return all(t in fixed or launch.block[axis] == 1 for axis, t in enumerate(E.TID))


def unconverted(e: Expr) -> Expr:
    """Without the conversions around it that give different values for different ones, and zero for zero."""
    while e.op in ("cast", "narrow"):
        ty, given = e.ty, e.args[0].ty
        if not isinstance(ty, IntType) or not isinstance(given, IntType) or ty.width < given.width:
            break
        e = e.args[0]
    return e


def scaled(e: Expr, coordinate: Expr) -> tuple[int, int] | None:
    """(a, b) where ``e`` is ``a * coordinate + b``, ``a`` positive, for coordinates of a block."""
    if e is coordinate:
        return 1, 0
    if e.op == "cast" and isinstance(e.ty, IntType) and e.ty.width >= 32:
        return scaled(e.args[0], coordinate)
    if e.op in ("add", "mul"):
        for one, other in (e.args, e.args[::-1]):
            if other.op == "const" and 0 <= other.value < 1 << 20 and (found := scaled(one, coordinate)) is not None:
                scale, base = found
                scale, base = (
                    (scale, base + other.value) if e.op == "add" else (scale * other.value, base * other.value)
                )
                return (scale, base) if scale and scale * MAX_THREADS + base < 1 << 31 else None
    return None


def limit_of(condition: Expr, coordinate: Expr) -> int | None:
    """``n`` where the condition is that the coordinate, one of a block, is less than ``n``."""
    if condition.op not in ("lt", "le"):
        return None
    one, other = condition.args
    if scaled(one, coordinate) != (1, 0) or other.op != "const":
        return None
    return int(other.value) + (condition.op == "le")
