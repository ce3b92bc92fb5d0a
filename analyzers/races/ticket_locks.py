"""Ticket locks: a thread takes the next number and waits until that number is served.

``t = atomicAdd(next, 1)`` gives every thread a number of its own. A thread that has read its number in ``serving``
holds the lock until it makes that the following number. Where nothing but such additions goes to ``next``, and nothing
but such releases by holders to ``serving``, a number is served once: by the release of who held the number before, or,
the first, from the start. So the sections of a lock come one after the other, each after the read that found the
release of the one before it: every section needs its fences, whatever operation the release is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analyzers.ir.events import AccessEvent
from analyzers.ir.expr import Expr, IntType
from analyzers.races.critical_sections import Lock, held, one_cell
from analyzers.races.others import allocation_events, changes_nothing, is_strong, observations
from analyzers.races.pairs import place, starts_otherwise
from analyzers.races.threads import Launch


def ticket_locks(launch: Launch) -> list[Lock]:
    """All pairs of cells, or of arrays of cells, that are used so."""
    out: list[Lock] = []
    for takes in _counters(launch):
        gates = _gates(launch, takes)
        if not gates:
            continue
        releases = _writes(launch, gates[0])
        draft = Lock(place(launch, takes[0]).allocation, 0, 0, takes, releases, gates=gates)
        if releases and all(_serves_next(launch, draft, r) for r in releases):
            out.append(draft)
    return out


def _counters(launch: Launch) -> Iterator[tuple[AccessEvent, ...]]:
    """The additions of one to cells that nothing else changes, by cell."""
    adds = [a for a in launch.events.accesses if _adds_one(a)]
    for cell in dict.fromkeys(_cell(launch, a) for a in adds):
        same = tuple(a for a in adds if _cell(launch, a) == cell)
        where = place(launch, same[0])
        if where.space == "global" and not where.keys and _writes(launch, same[0]) == same:
            yield same


def _adds_one(a: AccessEvent) -> bool:
    return a.atomic is not None and a.atomic.op == "add" and a.atomic.constant == 1


def _cell(launch: Launch, a: AccessEvent) -> tuple[str, int, int]:
    where = place(launch, a)
    return where.allocation, where.offset.key, a.width


def _writes(launch: Launch, cell: AccessEvent) -> tuple[AccessEvent, ...]:
    """All that may change the cell, or one of the cells, of an access."""
    where = place(launch, cell)
    out: list[AccessEvent] = []
    for a in allocation_events(launch, where.allocation):
        there = place(launch, a).offset
        if not a.writes or changes_nothing(a):
            continue
        if there.op == "const" and where.offset.op == "const":
            apart = there.value + a.width <= where.offset.value or where.offset.value + cell.width <= there.value
            if apart:
                continue
        out.append(a)
    return tuple(out)


def _gates(launch: Launch, takes: Sequence[AccessEvent]) -> tuple[AccessEvent, ...]:
    """The reads of one cell, or of one array beside that of the tickets, whose values are compared with tickets."""
    found: dict[int, AccessEvent] = {}
    for a in launch.events.accesses:
        conditions = [c.condition for c in a.guard]
        seen = observations(launch, conditions, a.loops)
        if any(o.access in takes for o in seen):
            found.update((o.access.id, o.access) for o in seen if changes_nothing(o.access) and is_strong(o.access))
    gates = tuple(found.values())
    if not gates or any(not _beside(launch, takes[0], g) or not one_cell(g, gates[0]) for g in gates):
        return ()
    allocation = place(launch, gates[0]).allocation
    if starts_otherwise(launch, allocation) or starts_otherwise(launch, place(launch, takes[0]).allocation):
        return ()
    return gates


def _beside(launch: Launch, take: AccessEvent, gate: AccessEvent) -> bool:
    """Threads that mean one cell by the ticket mean one by the number that is served, and the other way round."""
    one, two = place(launch, take), place(launch, gate)
    if two.space != "global" or two.keys or take.width != gate.width:
        return False
    if one.offset.op == "const" and two.offset.op == "const":
        return one.allocation != two.allocation or one.offset is not two.offset
    return one.allocation != two.allocation and one.offset is two.offset


def _serves_next(launch: Launch, lock: Lock, release: AccessEvent) -> bool:
    """A thread that holds the lock makes its number, or the one that is served, the following one."""
    if not is_strong(release) or not one_cell(release, lock.gates[0]):
        return False
    if all(held(launch, lock, release, t) is None for t in lock.takes):
        return False
    if _adds_one(release):
        return True
    if release.value is None or (release.atomic is not None and release.atomic.op not in ("exch", "store")):
        return False
    seen = observations(launch, [*(c.condition for c in release.guard), release.value], release.loops)
    known = [o.value for o in seen if o.access in lock.takes or o.access in lock.gates]
    # Who holds the lock finds its number there whenever it looks.
    known += [
        o.value for o in seen
        if is_strong(o.access) and changes_nothing(o.access) and one_cell(o.access, release)
        and any(held(launch, lock, o.access, t) is not None for t in lock.takes)
    ]  # fmt: skip
    return any(_follows(release.value, number) for number in known)


def _follows(value: Expr, number: Expr) -> bool:
    """``value`` is ``number`` and one."""
    while value.op in ("cast", "narrow") and _width(value) == _width(value.args[0]):
        value = value.args[0]
    if value.op != "add" or _width(value) != _width(number):
        return False
    for one, other in (value.args, value.args[::-1]):
        while one.op in ("cast", "narrow") and _width(one) == _width(one.args[0]):
            one = one.args[0]
        if one is number and other.op == "const" and other.value == 1:
            return True
    return False


def _width(e: Expr) -> int:
    return e.ty.width if isinstance(e.ty, IntType) else 0
