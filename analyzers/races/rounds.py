"""Counters of several rounds: every block adds one in each round and waits until all have, before it adds again.

The rounds are the places of the additions in the program, and the iterations of the loop that these are in. Let n be
the number of blocks. When a thread sees (i + 1) * n or more, every block whose first thread ever makes addition i has
made it: until then such a block has made at most i additions, so that another one has made at least i + 2, the last of
them in a round behind i; this one had seen (i + 1) * n before that, and the first to see so much cannot have had
another before it. It takes that no block adds twice in one round, and that each waits for (i + 1) * n between
addition i and its next.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from analyzers.ir import expr as E
from analyzers.ir.events import AccessEvent, BarrierEvent, WaitEvent
from analyzers.ir.expr import I64, Expr, IntType
from analyzers.races.first_thread import alone, as_first_thread
from analyzers.races.others import Threads, allocation_events, changes_nothing, observations
from analyzers.races.pairs import place, starts_otherwise
from analyzers.races.threads import Launch


@dataclass(frozen=True, slots=True)
class Rounds:
    """The additions, in the order of the program, each with the wait behind it and what that has seen."""

    adds: tuple[AccessEvent, ...]
    waits: tuple[tuple[WaitEvent, Expr], ...]
    loop: str | None

    def number(self, t: Threads, add: AccessEvent, thread: int) -> Expr:
        """Of the round in which ``thread`` makes the addition (I64, from 0)."""
        return self._number(t, self.adds.index(add), thread)

    def _number(self, t: Threads, place_in_round: int, thread: int) -> Expr:
        at = E.const(place_in_round, I64)
        if self.loop is None:
            return at
        counter = t.side(t.launch.events.loops[self.loop].counter, thread)
        return E.add(E.mul(counter, E.const(len(self.adds), I64)), at)

    def behind(self, t: Threads, first: AccessEvent, one: int) -> Iterator[tuple[AccessEvent, Expr | None]]:
        """Additions that may follow on an access of thread ``one``, and the iteration in which they do."""
        for add in self.adds:
            if self.loop is None:
                yield add, None
            elif self.loop in first.loops:
                now = t.side(t.launch.events.loops[self.loop].counter, one)
                yield add, now if first.order < add.order else E.add(now, E.const(1, I64))
            elif first.order < add.order:
                yield add, E.const(0, I64)

    def comes_to(self, t: Threads, add: AccessEvent, thread: int) -> Expr:
        """The first thread of a block makes the addition, provided that its waits end."""
        ended = {c for wait, _ in self.waits for c in E.conjuncts(wait.fact)}
        return E.land(*(t.side(c.condition, thread) for c in add.guard if as_first_thread(c.condition) not in ended))

    def in_turn(self, t: Threads, thread: int, turn: Expr | None) -> list[Expr]:
        """That the thread is in this iteration of the loop."""
        if self.loop is None or turn is None:
            return []
        return [E.compare("eq", t.side(t.launch.events.loops[self.loop].counter, thread), turn)]

    def fits(self, t: Threads, seen: AccessEvent, thread: int, blocks: Expr) -> Expr:
        """Where the first thread of a block waited by ``seen``, the counter came to the end of its round without
        wrapping around."""
        for number, (wait, value) in enumerate(self.waits):
            if any(o.access is seen for o in observations(t.launch, (wait.fact,), wait.loops)):
                end = self._end(t, number, thread, blocks)
                return E.lor(E.lnot(t.is_first(thread)), E.compare("le", end, _most(value)))
        return E.TRUE

    def _end(self, t: Threads, place_in_round: int, thread: int, blocks: Expr) -> Expr:
        """What the counter is when all blocks have added in the round of a thread."""
        return E.mul(E.add(self._number(t, place_in_round, thread), E.const(1, I64)), blocks)

    def overtaken(self, t: Threads, blocks: Expr) -> Expr:
        """Some first thread goes on after one of the waits though not all blocks have been counted in its round."""
        out: list[Expr] = []
        for number, (wait, value) in enumerate(self.waits):
            some = t.another()
            enough, found = self._end(t, number, some, blocks), E.cast(t.side(value, some), I64)
            out.append(
                E.land(
                    t.exists(some, wait.loops), t.is_first(some), t.guard(wait, some), t.side(wait.fact, some),
                    E.compare("le", E.const(0, I64), found), E.compare("lt", found, enough),
                    # The counter does not wrap around.
                    E.compare("le", enough, _most(value)),
                )
            )  # fmt: skip
        return E.lor(*out)


def _most(value: Expr) -> Expr:
    assert isinstance(value.ty, IntType)
    return E.const((1 << value.ty.width - 1) - 1, I64)


def rounds(launch: Launch, signal: AccessEvent) -> Rounds | None:
    """Those of the counter that ``signal`` reads, where it is one."""
    cell = place(launch, signal)
    adds = [a for a in allocation_events(launch, cell.allocation) if a.writes and not changes_nothing(a)]
    adds.sort(key=lambda a: a.order)
    if cell.space != "global" or cell.keys or cell.offset.op != "const" or starts_otherwise(launch, cell.allocation):
        return None
    if not adds or any(not _counts(launch, a, adds[0], signal) for a in adds):
        return None
    loops = adds[0].loops
    if len(loops) > 1 or (not loops and len(adds) == 1) or signal in adds:
        return None
    waits: list[tuple[WaitEvent, Expr]] = []
    for add, following in zip(adds, [*adds[1:], None], strict=True):
        found = _wait(launch, add, following, adds)
        if found is None:
            return None
        waits.append(found)
    return Rounds(tuple(adds), tuple(waits), loops[0] if loops else None)


def _counts(launch: Launch, a: AccessEvent, other: AccessEvent, signal: AccessEvent) -> bool:
    """The first thread of a block adds one to the cell."""
    if a.atomic is None or a.atomic.op != "add" or a.atomic.constant != 1 or a.loops != other.loops:
        return False
    same = place(launch, a).offset is place(launch, signal).offset and a.width == signal.width
    return same and alone(launch, a.guard)


def _wait(
    launch: Launch, add: AccessEvent, following: AccessEvent | None, adds: list[AccessEvent]
) -> tuple[WaitEvent, Expr] | None:
    """The wait for the counter that a thread comes to between this addition and its next, and what ends it."""
    known = {c for a in add.guard for c in (a.condition, as_first_thread(a.condition))}
    for wait in launch.events.waits:
        if wait.loops != add.loops or wait.order < add.order:
            continue
        if following is not None and wait.order > following.order:
            continue
        # Who returns in between adds no more.
        certain = all(
            c.kind in ("return", "assume") or c.condition in known or as_first_thread(c.condition) is E.TRUE
            for c in wait.guard
        )
        for seen in observations(launch, (wait.fact,), wait.loops) if certain else ():
            where, cell = place(launch, seen.access), place(launch, add)
            same = where.allocation == cell.allocation and where.offset is cell.offset and seen.access not in adds
            if same and seen.access.width == add.width and isinstance(seen.value.ty, IntType):
                return wait, seen.value
    return None


def comes_by(launch: Launch, barrier: BarrierEvent, add: AccessEvent) -> bool:
    """The first thread comes to the barrier in each iteration in which it makes the addition."""
    known = {launch.bind(c) for a in add.guard for c in (a.condition, as_first_thread(a.condition))}
    return all(
        c.kind in ("return", "assume") or launch.bind(as_first_thread(c.condition)) in known | {E.TRUE}
        for c in barrier.guard
    )
