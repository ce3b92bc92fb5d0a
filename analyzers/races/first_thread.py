"""The thread of a block which waits, counts or reserves for the others, mostly (0, 0, 0): what it executes, and what no
other thread does; and what all threads along x do together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

import numpy as np

from analyzers.ir import expr as E
from analyzers.ir.evaluate import evaluate_vectors
from analyzers.ir.events import AccessEvent, Conjunct
from analyzers.ir.expr import Expr, IntType
from analyzers.races.threads import MAX_THREADS, Launch

Coordinates = tuple[int, int, int]

FIRST: Final[Coordinates] = (0, 0, 0)

_COORDINATES = {t: E.const(0, E.U32) for t in E.TID}


def as_first_thread(e: Expr) -> Expr:
    """``e``, not bound, with the coordinates of the first thread."""
    return E.substitute(e, _COORDINATES)


def of_thread(launch: Launch, e: Expr, thread: Coordinates = FIRST) -> Expr | None:
    """``e`` as a thread of the block sees it; None where that is no matter of the block alone."""
    e = E.substitute(launch.bind(e), {t: E.const(n, E.U32) for t, n in zip(E.TID, thread, strict=True)})
    if any(n.op == "opaque" and n.value[1] in ("thread", "warp") for n in E.walk((e,))):
        return None
    return e


def executes_before(launch: Launch, one: AccessEvent, two: AccessEvent, thread: Coordinates = FIRST) -> bool:
    """Whenever a thread of the block gets to ``two``, ``thread`` gets to ``one``."""
    return executes_if(launch, one, two, thread) == []


def executes_if(launch: Launch, one: AccessEvent, two: AccessEvent, thread: Coordinates = FIRST) -> list[Expr] | None:
    """Conditions of a block, bound, under which ``thread`` gets to ``one`` whenever a thread of the block gets to
    ``two``; None where that is no matter of the block alone, or of rounds before: a thread may have left a loop in any
    of them."""
    certain = {launch.bind(c.condition) for c in two.guard}
    out: list[Expr] = []
    for c in one.guard:
        condition = of_thread(launch, c.condition, thread)
        if condition is None:
            return None
        if condition is E.TRUE or condition in certain:
            continue
        if c.depth and c.kind in ("break", "return"):
            return None
        out.append(condition)
    return out


def alone(launch: Launch, guard: Iterable[Conjunct]) -> bool:
    """Only the first thread of a block meets the guard."""
    return sole_thread(launch, guard) == FIRST


def sole_thread(launch: Launch, guard: Iterable[Conjunct]) -> Coordinates | None:
    """The only thread of a block that meets the conditions on coordinates in a guard; None where it is not known to be
    the only one, or where blocks may be too small to have it."""
    fixed: dict[Expr, int] = {}
    conditions: list[Expr] = []
    for c in guard:
        condition = launch.bind(c.condition)
        if not frozenset(E.TID).isdisjoint(found := E.symbols(condition)) and found <= frozenset(E.TID):
            conditions.append(condition)
        if condition.op != "eq":
            continue
        for side, other in (condition.args, condition.args[::-1]):
            if other.op != "const":
                continue
            if (coordinate := unconverted(side)) in E.TID:
                fixed[coordinate] = int(other.value)
            elif other.value == 0 and (sum_of := _sum(coordinate)) is not None:
                fixed.update(dict.fromkeys(sum_of[1], 0))
    fixed.update({t: 0 for axis, t in enumerate(E.TID) if launch.block[axis] == 1})
    if len(fixed) == len(E.TID):
        x, y, z = (fixed[t] for t in E.TID)
        there = all(0 <= n < (extent or 1) for n, extent in zip((x, y, z), launch.block, strict=True))
        return (x, y, z) if there else None
    return _only_one(launch, conditions) if conditions and None not in launch.block else None


def _sum(e: Expr) -> tuple[int, frozenset[Expr]] | None:
    """The most that a sum of multiples of coordinates comes to, and these: where it is zero, they are. Nothing that
    might wrap around."""
    if e in E.TID:
        return MAX_THREADS - 1, frozenset((e,))
    if e.op in ("cast", "narrow"):
        inner = unconverted(e)
        return _sum(inner) if inner is not e and isinstance(inner.ty, IntType) else None
    most, coordinates = 0, frozenset[Expr]()
    if e.op == "add":
        parts = [_sum(a) for a in e.args]
        for part in parts:
            if part is None:
                return None
            most, coordinates = most + part[0], coordinates | part[1]
    elif e.op == "mul":
        for one, other in (e.args, e.args[::-1]):
            scale = MAX_THREADS if one in E.BDIM else int(one.value) if one.op == "const" else 0
            if scale > 0 and (part := _sum(other)) is not None:
                most, coordinates = scale * part[0], part[1]
    return (most, coordinates) if 0 < most < 1 << 31 else None


def some_thread(launch: Launch, guard: Iterable[Conjunct], condition: Expr) -> Coordinates | None:
    """A thread, surely of the block, that meets a condition on coordinates alone and those on coordinates alone in a
    guard; None where there is none, or the condition is on something else."""
    condition = launch.bind(condition)
    conditions = [condition, *(launch.bind(c.condition) for c in guard)]
    of_coordinates = [c for c in conditions if frozenset(E.TID).issuperset(E.symbols(c))]
    return next(_those_that_meet(launch, of_coordinates), None) if condition in of_coordinates else None


def _only_one(launch: Launch, conditions: Iterable[Expr]) -> Coordinates | None:
    """The one thread of a block of known size for which all conditions, on coordinates alone, hold."""
    found = list(islice(_those_that_meet(launch, conditions), 2))
    return found[0] if len(found) == 1 else None


def _those_that_meet(launch: Launch, conditions: Iterable[Expr]) -> Iterator[Coordinates]:
    """The threads for which all conditions, on coordinates alone, hold, of those that are surely in the block."""
    wide, high, deep = (n or 1 for n in launch.block)
    number = np.arange(wide * high * deep, dtype=np.int64)
    x, y, z = number % wide, number // wide % high, number // (wide * high)
    met = np.ones(x.shape, np.bool_)
    for values, defined in evaluate_vectors(conditions, dict(zip(E.TID, (x, y, z), strict=True))):
        met &= np.logical_and(values, defined)
    for at in np.flatnonzero(met):
        yield int(x[at]), int(y[at]), int(z[at])


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
