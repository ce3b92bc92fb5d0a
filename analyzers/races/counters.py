"""Counters that every block adds one to: who sees how many were counted knows who came before.

A counter that is added to once tells who sees that all others have been counted that it comes after all of them ("last
block"). One of several rounds (``rounds``) tells who sees the number at the end of a round.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from analyzers.ir import expr as E
from analyzers.ir.events import AccessEvent
from analyzers.ir.expr import I64, Expr, IntType
from analyzers.races.first_thread import alone, executes_before, unconverted
from analyzers.races.others import (
    STARTS_AT_ZERO,
    allocation_events,
    changes_nothing,
    is_strong,
    observations,
    passage,
    rank_of,
)
from analyzers.races.pairs import place, starts_otherwise
from analyzers.races.rounds import comes_by, rounds
from analyzers.races.sightings import Sight, Sightings, adds_one, chosen_by, is_zero
from analyzers.races.tickets import NO_WRAP


@dataclass(frozen=True, slots=True)
class Counter:
    """A counter of blocks, or one for each group of blocks: those that have its axes in common."""

    add: AccessEvent
    """By which each block counts itself, once, from zero on."""
    axes: tuple[int, ...] = ()


class Counters(Sightings):
    """Asks what the number that a counter has reached tells."""

    @abstractmethod
    def _before(self, first: AccessEvent, one: int, write: AccessEvent, writer: int, sight: Sight, rank: int) -> Expr:
        """``first`` comes before the signal ``write``, and with it before what its reader does."""

    def _counted(self, first: AccessEvent, one: int, sight: Sight) -> Expr:
        """Unordered, as far as the number that a counter has reached tells."""
        t, seen = self.threads, sight.seen
        counter = self._counter(seen.access) if t.mode == "grid" else None
        if counter is None:
            return self._in_rounds(first, one, sight) if t.mode == "grid" else E.TRUE
        self.assumed.add(STARTS_AT_ZERO)
        add, blocks = counter.add, self._blocks(counter.axes)
        own = t.another()
        together = self._in_group(counter, own, sight.thread)
        got = E.opaque(f"atomic:{add.id}", seen.value.ty)
        ticket, reached = (E.cast(t.side(e, n), I64) for e, n in ((got, own), (seen.value, sight.thread)))
        zero, top = E.const(0, I64), E.sub(blocks, E.const(1, I64))
        # What is seen by an addition is the number of those before it; by a read, of all so far.
        most = top if seen.access is add else blocks
        executed = t.guard(add, own)
        definitions = [
            t.exists(own), t.same_block(own, one), t.is_first(own),
            E.compare("le", zero, ticket), E.compare("le", ticket, top),
            E.compare("le", zero, reached), E.compare("le", reached, most),
            E.lor(E.lnot(together), executed, E.compare("lt", reached, most)),
        ]  # fmt: skip
        if seen.access is add:
            differ = E.compare("ne", ticket, reached)
            definitions.append(E.lor(E.lnot(together), t.same_block(own, sight.thread), differ))
        rank = min(rank_of(add), rank_of(seen.access))
        before = self._before(first, one, add, own, sight, rank)
        if first is add:
            # What comes after the reading in its thread comes, in this cell, after what was read.
            before = E.lor(before, E.land(t.same_thread(one, own), t.covered(rank, own, sight.thread)))
        if before is E.FALSE:
            return E.TRUE
        ordered = E.land(together, executed, E.compare("lt", ticket, reached), before)
        # Up to its limit, an increment counts as an addition does.
        return E.lor(self._starts_again(counter), self._mixed(counter), E.land(*definitions, E.lnot(ordered)))

    def _in_rounds(self, first: AccessEvent, one: int, sight: Sight) -> Expr:
        """The same for a counter to which every block adds one in each round, waiting for all others before the
        next."""
        t, seen = self.threads, sight.seen
        counter = rounds(self.launch, seen.access) if isinstance(seen.value.ty, IntType) else None
        if counter is None:
            return E.TRUE
        reached = E.cast(t.side(seen.value, sight.thread), I64)
        fits = counter.fits(t, seen.access, sight.thread, self._blocks())
        known = [E.compare("le", E.const(0, I64), reached), fits]
        unordered: list[Expr] = []
        for add, turn in counter.behind(t, first, one):
            own = t.another()
            known += [t.exists(own), t.same_block(own, one), t.is_first(own), *counter.in_turn(t, own, turn)]
            rank = min(rank_of(add), rank_of(seen.access))
            before = E.lor(
                self._before(first, one, add, own, sight, rank), self._a_round_before(first, one, add, own, sight, rank)
            )
            needed = E.mul(E.add(counter.number(t, add, own), E.const(1, I64)), self._blocks())
            comes = counter.comes_to(t, add, own)
            unordered.append(E.lnot(E.land(comes, E.compare("le", needed, reached), before)))
        if all(u is E.TRUE for u in unordered):
            return E.TRUE
        self.assumed |= {STARTS_AT_ZERO, NO_WRAP}
        return E.land(*known, E.lor(counter.overtaken(t, self._blocks()), E.land(*unordered)))

    def _a_round_before(
        self, first: AccessEvent, one: int, add: AccessEvent, writer: int, sight: Sight, rank: int
    ) -> Expr:
        """``first`` is in an earlier iteration than ``add``, or in front of its loop, and a barrier of the block is in
        front of ``add`` in each."""
        t, events = self.threads, self.launch.events
        ways: list[Expr] = []
        for barrier in events.barriers:
            if barrier.scope not in ("block", "grid") or barrier.loops != add.loops or barrier.order > add.order:
                continue
            behind, ahead = passage(events, add.id, barrier.id), passage(events, barrier.id, first.id)
            if behind is None or ahead is None or not comes_by(self.launch, barrier, add):
                continue
            sequential = max(behind.sequential, ahead.sequential)
            known = max(min(behind.release, sight.acquired), min(sequential, sight.sequential))
            enough = [t.covered(min(rank, known), writer, n) for n in (sight.thread, *sight.reach)]
            common = [events.loops[x].counter for x in add.loops if x in first.loops]
            if not common and first.order > barrier.order:
                continue
            earlier = [E.compare("lt", t.side(c, one), t.side(c, writer)) for c in common]
            ways.append(E.land(t.same_block(one, writer), *earlier, *enough))
        return E.lor(*ways)

    def _counter(self, signal: AccessEvent) -> Counter | None:
        """The counter that the cell of the signal is."""
        launch, cell = self.launch, place(self.launch, signal)
        writes = [a for a in allocation_events(launch, cell.allocation) if a.writes and not changes_nothing(a)]
        adds = [a for a in writes if is_strong(a)]
        if len(adds) != 1 or not adds_one(adds[0]) or adds[0].loops or cell.keys or cell.space != "global":
            return None
        add, where = adds[0], place(launch, adds[0])
        axes = chosen_by(launch.bind(where.offset))
        if axes is None or where.offset is not cell.offset or add.width != signal.width:
            return None
        if starts_otherwise(launch, cell.allocation) or not alone(launch, add.guard):
            return None
        counter = Counter(add, axes)
        plain = (a for a in writes if a is not add)
        known = all(self._sets_to_zero_before(a, add) or self._told_last(a, counter) for a in plain)
        return counter if known else None

    def _in_group(self, counter: Counter, one: int, two: int) -> Expr:
        """The blocks of two threads are counted together."""
        return E.land(*(E.compare("eq", *(self.threads.side(E.BID[a], n) for n in (one, two))) for a in counter.axes))

    def _mixed(self, counter: Counter) -> Expr:
        """Blocks of two groups are counted in one cell."""
        t, where = self.threads, place(self.launch, counter.add)
        if not counter.axes or _tells_apart(where.offset):
            return E.FALSE
        one, two = t.another(), t.another()
        common = t.same_place(where, one, where, two)
        return E.land(t.exists(one), t.exists(two), common, E.lnot(self._in_group(counter, one, two)))

    def _sets_to_zero_before(self, write: AccessEvent, add: AccessEvent) -> bool:
        """A barrier of the grid is between the writing of zero and all additions."""
        return is_zero(write) and any(b.scope == "grid" for b in self._barriers(write, add))

    def _told_last(self, write: AccessEvent, counter: Counter) -> bool:
        """Only who was told that all others have been counted gets to the write: no addition comes after it."""
        add = counter.add
        if counter.axes and place(self.launch, write).offset is not place(self.launch, add).offset:
            return False
        conditions = [c.condition for c in write.guard]
        told = [t for t in self._told(write) if t.seen.access is add and executes_before(self.launch, t.store, write)]
        known = {t.load: E.cast(t.store.value, t.load.ty) for t in told if t.store.value is not None}
        conditions += [E.substitute(c, known) for c in conditions]
        counts = {self.launch.bind(o.value) for o in observations(self.launch, conditions, write.loops)
                  if o.access is add}  # fmt: skip
        for c in E.conjuncts(self.launch.bind(E.land(*conditions))):
            if c.op == "eq" and any(
                unconverted(a) in counts and self._is_last(b, counter) for a, b in (c.args, c.args[::-1])
            ):
                return True
        return False

    def _is_last(self, e: Expr, counter: Counter) -> bool:
        """It is the number of blocks less one."""
        if e.op == "const":
            return E.cast(e, I64) is E.sub(self._blocks(counter.axes), E.const(1, I64))
        several = [d for a, d in enumerate(E.GDIM) if self.launch.grid[a] != 1 and a not in counter.axes]
        one = E.const(1, E.U32)
        return len(several) == 1 and unconverted(e) is unconverted(E.sub(self.launch.bind(several[0]), one))

    def _blocks(self, axes: tuple[int, ...] = ()) -> Expr:
        """How many blocks have their places along these axes in common."""
        blocks = E.const(1, I64)
        for axis, d in enumerate(E.GDIM):
            if axis not in axes:
                blocks = E.mul(blocks, E.cast(self.launch.bind(d), I64))
        return blocks

    def _starts_again(self, counter: Counter) -> Expr:
        """Some block makes the counter wrap around before all have been counted."""
        add = counter.add
        if add.atomic is None or add.atomic.op != "inc" or add.value is None:
            return E.FALSE
        t = self.threads
        some, top = t.another(), E.sub(self._blocks(counter.axes), E.const(1, I64))
        low = E.compare("lt", E.cast(t.side(add.value, some), I64), top)
        return E.land(t.exists(some), t.guard(add, some), low)

    def apart(self, first: AccessEvent, second: AccessEvent) -> Expr:
        """What is known of two blocks that were both told a number by one counter: the numbers differ."""
        if self.threads.mode != "grid":
            return E.TRUE
        parts: list[Expr] = []
        for a in self._told(first):
            for b in self._told(second):
                counter = self._counter(a.seen.access)
                if a.seen.access is not b.seen.access or counter is None or counter.add is not a.seen.access:
                    continue
                facts = [self._telling(a, 1), self._telling(b, 2)]
                differ = E.compare(
                    "ne", *(self.threads.side(s.seen.value, n) for s, (n, _) in zip((a, b), facts, strict=True))
                )
                other = E.lnot(self._in_group(counter, 1, 2))
                parts += [*(f for _, f in facts)]
                parts.append(E.lor(self._starts_again(counter), self._mixed(counter), other, differ))
        return E.land(*parts)


def _tells_apart(offset: Expr) -> bool:
    """Blocks at different places along the axis that chooses a cell choose different ones: it is a multiple of the
    place, which is less than 2^31."""
    scaled = (
        offset.op == "mul" and offset.ty == I64 and E.is_const(offset.args[1]) and 0 < offset.args[1].value < 1 << 16
    )
    return scaled and unconverted(offset.args[0]) in E.BID
