"""Atomic tickets and claims: what the values that atomics return say of the threads that got them.

*Tickets*: an atomic add of a constant ``c`` gives every caller an old value at least ``|c|`` away from every other's.
*Claims*: of all
threads whose compare-and-swap expects one value, at most one sees it, if the value it puts there is another.

Both hold while nothing else changes the cell: other writes to the object may only come before, outside of the loops
around the
atomic (an initialisation). Counters are assumed not to wrap around (``NO_WRAP``, to be listed).
"""

from __future__ import annotations

from collections.abc import Iterable

from analyzers.ir import expr as E
from analyzers.ir.events import AccessEvent
from analyzers.ir.expr import I64, Expr, IntType
from analyzers.races.pairs import place
from analyzers.races.threads import Launch, Mode

NO_WRAP = "atomic counters do not wrap around"


def tickets(launch: Launch) -> dict[int, AccessEvent]:
    """Event id -> the atomic, for the atomics whose results tell threads apart."""
    out: dict[int, AccessEvent] = {}
    for a in launch.events.accesses:
        if a.atomic is None or not _tells_apart(a):
            continue
        where = place(launch, a).allocation
        others = [
            o for o in launch.events.accesses if o.writes and o.id != a.id and place(launch, o).allocation == where
        ]
        if all(o.order < a.order and not set(o.loops) & set(a.loops) for o in others):
            out[a.id] = a
    return out


def _tells_apart(a: AccessEvent) -> bool:
    assert a.atomic is not None
    if a.atomic.op in ("add", "sub"):
        return bool(a.atomic.constant)
    return (
        a.atomic.op == "cas"
        and None not in (a.atomic.expected, a.atomic.constant)
        and (a.atomic.expected != a.atomic.constant)
    )


def ticket_conditions(
    launch: Launch, known: dict[int, AccessEvent], conjuncts: Iterable[Expr], mode: Mode
) -> list[Expr]:
    """For each such result that both threads hold: how the two values differ where they come from one cell."""
    if not known:
        return []
    held: dict[str, dict[str, list[Expr]]] = {}
    for node in E.symbols(*conjuncts):
        if node.op == "opaque":
            identity, _, side = node.value[0].rpartition("@")
            if side and identity.startswith("atomic:"):
                held.setdefault(identity, {}).setdefault(side, []).append(node)
    out: list[Expr] = []
    for identity, sides in sorted(held.items()):
        a = known.get(int(identity.split(":")[1]))
        if a is None or len(sides) < 2 or not _one_cell(launch, a, mode):
            continue
        same_cell = E.compare("eq", launch.side(a.offset, 1, mode), launch.side(a.offset, 2, mode))
        for left in sides["1"]:
            for right in sides["2"]:
                if left.ty == right.ty and isinstance(left.ty, IntType):
                    out.append(E.lor(E.lnot(same_cell), _apart(a, left, right)))
    return out


def _apart(a: AccessEvent, left: Expr, right: Expr) -> Expr:
    assert a.atomic is not None
    if a.atomic.op == "cas":
        assert a.atomic.expected is not None
        assert isinstance(left.ty, IntType)
        expected = E.const(a.atomic.expected, left.ty)
        return E.lor(E.compare("ne", left, expected), E.compare("ne", right, expected))
    step = E.const(abs(a.atomic.constant or 1), I64)
    x, y = E.cast(left, I64), E.cast(right, I64)
    return E.lor(E.compare("le", E.add(x, step), y), E.compare("le", E.add(y, step), x))


def _one_cell(launch: Launch, a: AccessEvent, mode: Mode) -> bool:
    """Both threads see the same object: a shared counter is one per block."""
    if a.root.op != "addr":
        return False
    return mode != "grid" or launch.events.kernel.object(a.root.value).space == "global"
