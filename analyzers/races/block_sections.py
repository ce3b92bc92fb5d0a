"""Sections of a block: its first thread takes a lock, and all threads work between two barriers before it is released.

An access belongs to such a section where the first thread holds the lock at a barrier before it, in the same
iterations, and releases it only behind a later barrier that the thread of the access passes too. The fence behind the
taking is that of the first thread. The fence in front of the release is the first thread's, or one in front of the
barrier where both are sequentially consistent (PTX ISA, causality order). Such sections exclude other blocks, not
threads of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from analyzers.ir import expr as E
from analyzers.ir.events import AccessEvent, BarrierEvent
from analyzers.ir.expr import Expr
from analyzers.races.critical_sections import Lock, Section, chain_of, held_under, name_of, own_rank
from analyzers.races.first_thread import alone, as_first_thread, of_thread
from analyzers.races.others import STARTS_AT_ZERO, SYSTEM, passage
from analyzers.races.pairs import Place, place
from analyzers.races.threads import Launch
from analyzers.races.tickets import NO_WRAP


def block_sections(launch: Launch, known: Sequence[Lock], access: AccessEvent) -> list[Section]:
    """The locks that the first thread of the block holds at an access of any of its threads."""
    return [s for lock in known for take in lock.takes for s in _sections(launch, lock, take, access)][:1]


def _sections(launch: Launch, lock: Lock, take: AccessEvent, access: AccessEvent) -> Iterator[Section]:
    if take is access or not all(alone(launch, a.guard) for a in (take, *lock.releases)):
        return
    cell = _cell(launch, take)
    blocks = [b for b in launch.events.barriers if b.scope == "block"]
    entries = [b for b in blocks if b.order < access.order and b.loops == access.loops[: len(b.loops)]]
    for entry in reversed(entries) if cell is not None else ():
        conditions = [as_first_thread(c.condition) for c in entry.guard]
        gate = held_under(launch, lock, entry, take, conditions, True) if take.order < entry.order else None
        if cell is None or gate is None or gate.loops[: len(entry.loops)] != entry.loops:
            continue
        ends = [b for b in blocks if b.order > access.order and b.loops == entry.loops and _passes(launch, b, access)]
        if not ends or not _first_passes(launch, lock, take, entry, access):
            continue
        released = _released(launch, lock, gate, entry, ends[0], access)
        if released is None:
            continue
        entered = passage(launch.events, entry.id, gate.id, True)
        acquired = 0 if entered is None else max(own_rank(gate), entered.acquire)
        if released[1]:
            # Fences of other threads count between sequentially consistent ones only.
            acquired = 0 if entered is None else entered.sequential
        assumed = {STARTS_AT_ZERO} if lock.two_valued or lock.gates else set[str]()
        assumed |= {NO_WRAP} if lock.gates else set[str]()
        name = name_of(launch, take)
        yield Section(
            lock, take, cell, access, acquired, released[0], released[2], name, frozenset(assumed),
            chain_of(launch, lock), of_block=True,
        )  # fmt: skip
        return


def _cell(launch: Launch, take: AccessEvent) -> Place | None:
    """The lock that the first thread takes, as all threads of its block see it."""
    where = place(launch, take)
    offset = of_thread(launch, where.offset)
    keys = [of_thread(launch, k) for k in where.keys]
    if offset is None or any(k is None for k in keys):
        return None
    return replace(where, offset=offset, keys=tuple(k for k in keys if k is not None))


def _passes(launch: Launch, barrier: BarrierEvent, access: AccessEvent) -> bool:
    """A thread that gets to the access comes to the barrier, in the same iterations, or ends before it."""
    known = {launch.bind(c.condition) for c in access.guard}
    return barrier.loops == access.loops[: len(barrier.loops)] and all(
        c.kind in ("return", "assume") or launch.bind(c.condition) in known for c in barrier.guard
    )


def _first_passes(launch: Launch, lock: Lock, take: AccessEvent, entry: BarrierEvent, access: AccessEvent) -> bool:
    """Where a thread gets to the access, the first thread of its block has come to the barrier in front of it, and did
    not end before."""
    certain = {launch.bind(c.condition) for c in access.guard}
    for c in entry.guard:
        seen = as_first_thread(c.condition)
        if held_under(launch, lock, entry, take, [seen], True) is not None:
            continue
        condition = of_thread(launch, c.condition)
        if condition is None or (condition is not E.TRUE and condition not in certain):
            return False
    return True


def _released(
    launch: Launch, lock: Lock, gate: AccessEvent, entry: BarrierEvent, end: BarrierEvent, access: AccessEvent
) -> tuple[int, bool, AccessEvent | None] | None:
    """The rank of the weakest fence between the access and a release, whether some of these stand in front of the
    barrier, and the release; None where a release may come before the barrier."""
    rank, foreign, weakest = SYSTEM, False, None
    for r in lock.releases:
        if r.order < gate.order:
            continue
        if r.order < end.order or not _certain(launch, end, r):
            return None
        behind = passage(launch.events, r.id, end.id, True)
        ahead = passage(launch.events, end.id, access.id)
        if behind is None or ahead is None:
            return None
        own, others = behind.release, max(behind.sequential, ahead.sequential)
        foreign |= others > own
        if max(own, others) < rank:
            rank, weakest = max(own, others), r
    return rank, foreign, weakest


def _certain(launch: Launch, barrier: BarrierEvent, release: AccessEvent) -> bool:
    """The first thread has come to the barrier where it gets to the release, in the same iterations."""
    known: set[Expr] = set()
    for c in release.guard:
        known |= {launch.bind(c.condition), launch.bind(as_first_thread(c.condition))}
    return barrier.loops == release.loops[: len(barrier.loops)] and all(
        c.kind in ("return", "assume") or launch.bind(as_first_thread(c.condition)) in known | {E.TRUE}
        for c in barrier.guard
    )
