"""Flags and counters: what a thread did before it signalled comes before what another does after it saw the signal.

A thread *sees* a signal when what an atomic or a volatile load gave decides that it gets to an access: in the test of
a loop that waits, or in a condition. The value came from some write of the cell, by any thread of the launch, or was
there from the start. So an access A of one thread comes before an access B of another if it comes before *every* write
that could have ended B's wait: by the order of the writing thread, with a fence between; through a barrier of its block
and a fence behind it; or because the writing thread itself waited for such a signal (PTX ISA, causality order). This is
said as a condition under which A and B are *unordered*, in which the writing threads are threads of their own
(``others``).

The wait may be that of the first thread of B's block, with a barrier between. Counters tell more (``counters``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from analyzers.ir import expr as E
from analyzers.ir.events import AccessEvent, BarrierEvent, WaitEvent
from analyzers.ir.expr import I64, Expr, IntType
from analyzers.races.counters import Counters
from analyzers.races.first_thread import executes_before, limit_of, of_thread, scaled
from analyzers.races.others import (
    STARTS_AT_ZERO,
    SYSTEM,
    Observation,
    is_strong,
    observations,
    passage,
    passages_of,
    rank_of,
)
from analyzers.races.pairs import place, starts_otherwise
from analyzers.races.sightings import Sight, changes, equal, is_cell, is_zero, left_by

AFTER_WAIT = (
    "volatile and atomic accesses behind a wait for a flag are performed after it, without a fence between "
    "(the hardware does not run ahead of a condition)"
)

MAX_CHAIN = 3
"""Threads that pass a signal on, one to the next."""


@dataclass
class Signals(Counters):
    """Asks one question: in which case two accesses are not ordered by signals."""

    _depth: int = 0

    def unordered(self, first: AccessEvent, one: int, second: AccessEvent, two: int) -> Expr:
        """A condition that holds wherever ``first`` in thread ``one`` does not come before ``second`` in thread
        ``two``."""
        if not passages_of(self.launch.events):
            return E.TRUE
        parts = [self._own(first, one, second, two), self._through_barrier(first, one, second, two)]
        parts.append(self._broadcast(first, one, second, two))
        return E.land(*parts)

    # --- who saw what

    def _own(self, first: AccessEvent, one: int, second: AccessEvent, two: int) -> Expr:
        """Signals that the thread of ``second`` saw itself."""
        conditions = tuple(c.condition for c in second.guard)
        parts: list[Expr] = []
        for seen in observations(self.launch, conditions, second.loops):
            between = passage(self.launch.events, second.id, seen.access.id)
            if between is not None and seen.access is not second:
                sight = Sight(seen, two, between.acquire, between.sequential, conditions)
                parts.append(self._beyond(first, one, second, sight))
        return E.land(*parts)

    def _through_barrier(self, first: AccessEvent, one: int, second: AccessEvent, two: int) -> Expr:
        """Signals that the first thread of the block waited for, before a barrier that ``second`` is behind."""
        parts: list[Expr] = []
        for wait in self.launch.events.waits:
            parts += self._from_earlier_iteration(first, one, second, two, wait)
            for barrier in self._barriers(wait, second):
                for seen in observations(self.launch, (wait.fact,), wait.loops):
                    between = passage(self.launch.events, barrier.id, seen.access.id)
                    if between is None:
                        continue
                    waiting = self.threads.another()
                    after = passage(self.launch.events, second.id, barrier.id)
                    sequential = max(between.sequential, after.sequential if after is not None else 0)
                    sight = Sight(seen, waiting, between.acquire, sequential, (wait.fact,))
                    formula = self._after_wait(first, one, second, wait, sight)
                    parts.append(E.land(*self._first_of(waiting, two, wait.loops), formula))
        return E.land(*parts)

    def _after_wait(self, first: AccessEvent, one: int, second: AccessEvent, wait: WaitEvent, sight: Sight) -> Expr:
        """Unordered, though the thread of the sight comes to the wait."""
        return E.lor(
            E.lnot(self.threads.guard(wait, sight.thread, assumed=False)),
            E.land(self.threads.side(wait.fact, sight.thread), self._beyond(first, one, second, sight)),
        )

    def _from_earlier_iteration(
        self, first: AccessEvent, one: int, second: AccessEvent, two: int, wait: WaitEvent
    ) -> Iterator[Expr]:
        """Signals that the first thread of the block waited for in the iteration before, in front of a barrier at the
        end of that one or at the start of this one."""
        t, events = self.threads, self.launch.events
        if not wait.loops or wait.loops != second.loops[: len(wait.loops)]:
            return
        counter = events.loops[wait.loops[-1]].counter
        for barrier in events.barriers:
            here = barrier.order < second.order
            if barrier.scope not in ("block", "cluster", "grid") or barrier.loops != wait.loops:
                continue
            if not here and barrier.order < wait.order:
                continue
            if not self._surely_passed(barrier, second, None if here else counter):
                continue
            for seen in observations(self.launch, (wait.fact,), wait.loops):
                between = passage(events, barrier.id, seen.access.id)
                after = passage(events, second.id, barrier.id)
                if between is None or after is None:
                    continue
                waiting = t.another()
                sequential = max(between.sequential, after.sequential)
                sight = Sight(seen, waiting, between.acquire, sequential, (wait.fact,))
                around = self._first_of(waiting, two, wait.loops[:-1])
                mine, theirs = t.side(counter, two), t.side(counter, waiting)
                formula = self._after_wait(first, one, second, wait, sight)
                if formula is not E.TRUE:
                    before = E.compare("eq", E.add(theirs, E.const(1, I64)), mine)
                    none = E.compare("eq", mine, E.const(0, I64))
                    yield E.lor(none, E.land(*around, before, formula))

    def _surely_passed(self, barrier: BarrierEvent, second: AccessEvent, counter: Expr | None) -> bool:
        """A thread that gets to ``second`` came by the barrier, in the same iterations, or, with the counter of the
        loop, in the one before."""
        known = [c.condition for c in second.guard]
        ended = {part for w in self.launch.events.waits for part in E.conjuncts(w.fact)}
        for c in barrier.guard:
            if c.kind in ("return", "assume") or (c.kind == "loop" and counter is not None):
                continue
            if c.condition in known and (counter is None or counter not in E.symbols(c.condition)):
                continue
            if counter is None or not _has_waited(c.condition, ended):
                return False
        return True

    def _broadcast(self, first: AccessEvent, one: int, second: AccessEvent, two: int) -> Expr:
        """Signals that the first thread of the block saw and told the others through shared memory."""
        parts: list[Expr] = []
        for told in self._told(second):
            waiting, facts = self._telling(told, two)
            sight = Sight(told.seen, waiting, told.acquired, told.sequential)
            parts.append(E.land(facts, E.lor(self._untold(told, waiting), self._beyond(first, one, second, sight))))
        return E.land(*parts)

    # --- where it came from

    def _beyond(self, first: AccessEvent, one: int, second: AccessEvent, sight: Sight) -> Expr:
        """Unordered, as far as this observation tells."""
        if not isinstance(sight.seen.value.ty, IntType):
            return E.TRUE
        if self.unfenced and is_strong(second):
            strong = replace(sight, acquired=SYSTEM, sequential=SYSTEM, waived=True)
            self.assumed.add(AFTER_WAIT)
            return E.land(self._sources(first, one, strong), self._counted(first, one, strong))
        if max(sight.acquired, sight.sequential) == 0 and not is_cell(self.launch, second, sight.seen.access):
            return E.TRUE
        return E.land(self._sources(first, one, sight), self._counted(first, one, sight))

    def _sources(self, first: AccessEvent, one: int, sight: Sight) -> Expr:
        """The value was there from the start, or came from a write that ``first`` does not come before."""
        seen, ty = sight.seen, sight.seen.value.ty
        writes = changes(self.launch, seen.access)
        zero = self._starts_at_zero(seen.access, writes, sight.thread) if writes is not None else E.FALSE
        if writes is None or zero is E.FALSE or not isinstance(ty, IntType):
            return E.TRUE
        ends = [self._ended_by(write, first, one, sight) for write in writes]
        if all(before is E.FALSE for _, before in ends):
            return E.TRUE
        self.assumed.add(STARTS_AT_ZERO)
        start = E.compare("eq", self.threads.side(seen.value, sight.thread), E.const(0, ty))
        return E.lor(start, E.lnot(zero), *(E.land(happens, E.lnot(before)) for happens, before in ends))

    def _starts_at_zero(self, signal: AccessEvent, writes: Iterable[AccessEvent], thread: int) -> Expr:
        """When nothing but zero is in the cell before the writes that are told apart. Of global memory that is assumed,
        unless the source says otherwise; shared memory holds anything when a block starts."""
        cell = place(self.launch, signal)
        if cell.space != "shared":
            return E.FALSE if starts_otherwise(self.launch, cell.allocation) else E.TRUE
        ways: list[Expr] = []
        for w in writes:
            if is_zero(w) and self._writes_first(w, signal):
                return E.TRUE
            if is_zero(w) and w.loops == signal.loops[: len(w.loops)] and self._barriers(w, signal):
                ways.append(self._written_by_all(w, self.threads.side(cell.offset, thread)))
        return E.lor(*ways) if ways else E.FALSE

    def _written_by_all(self, write: AccessEvent, offset: Expr) -> Expr:
        """When ``offset`` is one of those that the threads of a block, numbered along x, all write to."""
        launch = self.launch
        found = scaled(launch.bind(place(launch, write).offset), E.TID[0])
        limits = [E.cast(launch.bind(E.BDIM[0]), I64)]
        for c in write.guard:
            condition = launch.bind(c.condition)
            limit = limit_of(condition, E.TID[0])
            if c.kind == "assume" or limit is not None:
                limits += [E.const(limit, I64)] if limit is not None and c.kind != "assume" else []
            else:
                return E.FALSE
        if found is None:
            return E.FALSE
        scale, base = (E.const(n, I64) for n in found)
        distance = E.sub(offset, base)
        exact = E.compare("eq", E.binary("rem", distance, scale), E.const(0, I64))
        within = [E.compare("lt", distance, E.mul(scale, n)) for n in limits]
        return E.land(E.compare("le", E.const(0, I64), distance), exact, *within)

    def _writes_first(self, write: AccessEvent, signal: AccessEvent) -> bool:
        """The first thread of the block writes the one cell of the signal, before a barrier that it is behind."""
        cell, there = (self.launch.bind(a.offset) for a in (write, signal))
        if there.op != "const" or of_thread(self.launch, cell) is not there:
            return False
        if write.loops != signal.loops[: len(write.loops)] or not self._barriers(write, signal):
            return False
        return executes_before(self.launch, write, signal)

    def _ended_by(self, write: AccessEvent, first: AccessEvent, one: int, sight: Sight) -> tuple[Expr, Expr]:
        """That the value came from this write by some thread, and that ``first`` comes before it then."""
        t, seen = self.threads, sight.seen
        new = left_by(write)
        if new is not None and new.op == "const" and isinstance(seen.value.ty, IntType):
            known = {seen.value: E.cast(new, seen.value.ty)}
            if any(E.substitute(c, known) is E.FALSE for c in sight.conditions):
                return E.FALSE, E.FALSE
        writer = t.another()
        where, there = place(self.launch, write), place(self.launch, seen.access)
        if where.allocation != there.allocation or where.space != there.space:
            return E.TRUE, E.FALSE
        parts = [t.exists(writer, write.loops), t.guard(write, writer)]
        parts.append(t.same_place(where, writer, there, sight.thread))
        if new is not None and isinstance(seen.value.ty, IntType):
            parts.append(equal(t.side(seen.value, sight.thread), t.side(new, writer)))
        if not set(write.loops) & set(seen.access.loops) and write.order > seen.access.order:
            parts.append(E.lnot(t.same_thread(writer, sight.thread)))
        happens = E.land(*parts)
        if happens is E.FALSE:
            return E.FALSE, E.FALSE
        rank = min(rank_of(write), rank_of(seen.access))
        return happens, self._before(first, one, write, writer, sight, rank)

    def _before(self, first: AccessEvent, one: int, write: AccessEvent, writer: int, sight: Sight, rank: int) -> Expr:
        """``first`` comes before the signal ``write``, and with it before what its reader does."""
        t, events = self.threads, self.launch.events
        ways: list[Expr] = []

        def seen_with(release: int, sequential_release: int) -> Expr:
            known = max(min(release, sight.acquired), min(sequential_release, sight.sequential))
            return E.land(*(t.covered(min(rank, known), writer, n) for n in (sight.thread, *sight.reach)))

        sent = passage(events, write.id, first.id)
        if sent is not None and sent.release:
            enough = seen_with(sent.release, sent.sequential)
            ways.append(E.land(t.same_thread(one, writer), t.before(first, one, write, writer), enough))
        for barrier in self._barriers(first, write):
            behind = passage(events, write.id, barrier.id)
            ahead = passage(events, barrier.id, first.id)
            if behind is None or ahead is None:
                continue
            enough = seen_with(behind.release, max(behind.sequential, ahead.sequential))
            same = E.TRUE if barrier.scope == "grid" else t.same_block(one, writer)
            loops = [events.loops[x].counter for x in barrier.loops]
            turns = [E.compare("eq", t.side(c, one), t.side(c, writer)) for c in loops]
            ways.append(E.land(same, *turns, enough))
        if t.last < 2 + 8 * MAX_CHAIN and self._depth < MAX_CHAIN:
            self._depth += 1
            ways += self._passed_on(first, one, write, writer, seen_with)
            ways += self._passed_unfenced(first, one, write, writer, sight, rank)
            self._depth -= 1
        return E.lor(*ways)

    def _passed_on(
        self,
        first: AccessEvent,
        one: int,
        write: AccessEvent,
        writer: int,
        seen_with: Callable[[int, int], Expr],
    ) -> Iterator[Expr]:
        """The writing thread itself waited for a signal behind ``first``, with a fence before it signals on."""
        for seen, conditions in self._waited_before(write):
            between = passage(self.launch.events, write.id, seen.access.id)
            if between is not None and min(between.acquire, between.release):
                before = Sight(seen, writer, between.acquire, between.sequential, conditions)
                enough = seen_with(between.release, between.sequential)
                yield E.land(enough, E.lnot(self._sources(first, one, before)))

    def _passed_unfenced(
        self, first: AccessEvent, one: int, write: AccessEvent, writer: int, sight: Sight, rank: int
    ) -> Iterator[Expr]:
        """The same without a fence, for the sake of a strong access at the end."""
        if not sight.waived:
            return
        for seen, conditions in self._waited_before(write):
            if passage(self.launch.events, write.id, seen.access.id) is not None:
                reach = (*sight.reach, sight.thread)
                before = Sight(seen, writer, SYSTEM, SYSTEM, conditions, waived=True, reach=reach)
                enough = self.threads.covered(rank, writer, sight.thread)
                yield E.land(enough, E.lnot(self._sources(first, one, before)))

    def _waited_before(self, write: AccessEvent) -> Iterator[tuple[Observation, tuple[Expr, ...]]]:
        conditions = tuple(c.condition for c in write.guard)
        for seen in observations(self.launch, conditions, write.loops):
            if seen.access is not write:
                yield seen, conditions


def _has_waited(condition: Expr, ended: set[Expr]) -> bool:
    """That the first thread of the block, or whoever comes here, has ended a wait, which all threads know behind it."""
    others = {E.compare("ne", t, E.const(0, E.U32)) for t in E.TID}
    parts = E.disjuncts(condition)
    return any(p in ended for p in parts) and all(p in ended or p in others for p in parts)
