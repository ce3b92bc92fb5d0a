"""Flags and counters: what a thread did before it signalled comes before what another does after it saw the signal.

A thread *sees* a signal when what an atomic or a volatile load gave decides that it gets to an access: in the test of
a loop that waits, or in a condition. The value came from some write of the cell, by any thread of the launch, or was
there from the start. So an access A of one thread comes before an access B of another if it comes before *every* write
that could have ended B's wait: by the order of the writing thread, with a fence between; through a barrier of its block
and a fence behind it; or because the writing thread itself waited for such a signal (PTX ISA, causality order). This is
said as a condition under which A and B are *unordered*, in which the writing threads are threads of their own
(``others``).

The wait may be that of the first thread of B's block, with a barrier between. A counter that every block adds one to,
once, tells more: who sees that all others have added comes after all of them ("last block").
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from analyzers.ir import expr as E
from analyzers.ir.events import AccessEvent, BarrierEvent, WaitEvent
from analyzers.ir.expr import I64, Expr, IntType
from analyzers.races.first_thread import alone, executes_before, of_first_thread, unconverted
from analyzers.races.others import (
    SYSTEM,
    Observation,
    Threads,
    allocation_events,
    changes_nothing,
    is_strong,
    observations,
    passage,
    passages_of,
    rank_of,
)
from analyzers.races.pairs import place, starts_otherwise
from analyzers.races.threads import Launch

STARTS_AT_ZERO = "flags and counters that threads wait for are zero when the kernel starts"
AFTER_WAIT = (
    "volatile and atomic accesses behind a wait for a flag are performed after it, without a fence between "
    "(the hardware does not run ahead of a condition)"
)

MAX_WRITES = 12
"""Writes of one flag that are told apart."""
MAX_BARRIERS = 3
"""Barriers between two events that are tried."""
MAX_CHAIN = 3
"""Threads that pass a signal on, one to the next."""


@dataclass(frozen=True, slots=True)
class _Sight:
    """A thread of the question that saw something, before the access in question."""

    seen: Observation
    thread: int
    acquired: int
    """Rank of the fence between the observation and the access."""
    sequential: int
    """Rank of a sequentially consistent one, which may stand behind a barrier."""
    conditions: tuple[Expr, ...] = ()
    """What is known where it saw it, not renamed."""
    waived: bool = False
    """The access is strong: it and the signals before it are performed one after the other without fences."""
    reach: tuple[int, ...] = ()
    """Threads that the signal is passed on to without a fence: the fence in front of it has to reach them."""


@dataclass(frozen=True, slots=True)
class _Told:
    """A number that the first thread of a block saw and stored in shared memory, where ``load`` found it."""

    seen: Observation
    load: Expr
    store: AccessEvent
    acquired: int
    sequential: int


@dataclass
class Signals:
    """Asks one question: in which case two accesses are not ordered by signals."""

    threads: Threads
    unfenced: bool = False
    """Strong accesses come after the wait before them, without a fence."""
    assumed: set[str] = field(default_factory=set[str])
    """What the answers rest on."""
    _depth: int = 0

    @property
    def launch(self) -> Launch:
        return self.threads.launch

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
                sight = _Sight(seen, two, between.acquire, between.sequential, conditions)
                parts.append(self._beyond(first, one, second, sight))
        return E.land(*parts)

    def _through_barrier(self, first: AccessEvent, one: int, second: AccessEvent, two: int) -> Expr:
        """Signals that the first thread of the block waited for, before a barrier that ``second`` is behind."""
        parts: list[Expr] = []
        for wait in self.launch.events.waits:
            for barrier in self._barriers(wait, second):
                for seen in observations(self.launch, (wait.fact,), wait.loops):
                    between = passage(self.launch.events, barrier.id, seen.access.id)
                    if between is None:
                        continue
                    waiting = self.threads.another()
                    after = passage(self.launch.events, second.id, barrier.id)
                    sequential = max(between.sequential, after.sequential if after is not None else 0)
                    sight = _Sight(seen, waiting, between.acquire, sequential, (wait.fact,))
                    formula = E.lor(
                        E.lnot(self.threads.guard(wait, waiting, assumed=False)),
                        E.land(
                            self.threads.side(wait.fact, waiting),
                            self._beyond(first, one, second, sight),
                        ),
                    )
                    parts.append(E.land(*self._first_of(waiting, two, wait.loops), formula))
        return E.land(*parts)

    def _broadcast(self, first: AccessEvent, one: int, second: AccessEvent, two: int) -> Expr:
        """Signals that the first thread of the block saw and told the others through shared memory."""
        parts: list[Expr] = []
        for told in self._told(second):
            waiting, facts = self._telling(told, two)
            sight = _Sight(told.seen, waiting, told.acquired, told.sequential)
            parts.append(E.land(facts, E.lor(self._untold(told, waiting), self._beyond(first, one, second, sight))))
        return E.land(*parts)

    def _told(self, second: AccessEvent) -> list[_Told]:
        """What the guard of an access says of a value that the first thread of the block stored in shared memory."""
        out: list[_Told] = []
        for node in E.symbols(*(c.condition for c in second.guard)):
            store = self._stored(node) if node.op == "opaque" and node.value[0].startswith("load:") else None
            if store is None or store.value is None or store.loops:
                continue
            for seen in observations(self.launch, (store.value,), store.loops):
                for barrier in self._barriers(store, second):
                    between = passage(self.launch.events, barrier.id, seen.access.id)
                    after = passage(self.launch.events, second.id, barrier.id)
                    if between is not None:
                        sequential = max(between.sequential, after.sequential if after is not None else 0)
                        out.append(_Told(seen, node, store, between.acquire, sequential))
        return out

    def _telling(self, told: _Told, thread: int) -> tuple[int, Expr]:
        """The first thread of the block of ``thread``, and what its store says to the other threads."""
        first = self.threads.another()
        assert told.store.value is not None
        value = _equal(self.threads.side(told.load, thread), self.threads.side(told.store.value, first))
        return first, E.land(*self._first_of(first, thread, ()), E.lor(self._untold(told, first), value))

    def _untold(self, told: _Told, first: int) -> Expr:
        return E.lnot(self.threads.guard(told.store, first, assumed=False))

    def _first_of(self, thread: int, other: int, loops: tuple[str, ...]) -> list[Expr]:
        """``thread`` is the first one of the block of ``other``, in the same iterations of these loops."""
        t, known = self.threads, self.launch.events.loops
        same = [E.compare("eq", t.side(known[x].counter, thread), t.side(known[x].counter, other)) for x in loops]
        return [t.exists(thread), t.is_first(thread), t.same_block(thread, other), *same]

    def _stored(self, load: Expr) -> AccessEvent | None:
        """The one store, by the first thread only, whose value a load of shared memory gives."""
        number = int(load.value[0].split(":")[1])
        reads = [a for a in self.launch.events.accesses if a.id == number]
        if len(reads) != 1:
            return None
        where = place(self.launch, reads[0])
        stores = [a for a in allocation_events(self.launch, where.allocation) if a.writes]
        if where.space != "shared" or len(stores) != 1 or stores[0].kind != "write":
            return None
        store = stores[0]
        same = store.offset is reads[0].offset and store.width == reads[0].width and store.offset.op == "const"
        return store if same and store.order < reads[0].order and alone(self.launch, store.guard) else None

    def _barriers(self, first: AccessEvent | WaitEvent, second: AccessEvent) -> list[BarrierEvent]:
        """Barriers that every thread of the block passes between the two, in the same iterations of common loops."""
        out: list[BarrierEvent] = []
        known = [c.condition for c in second.guard]
        for b in self.launch.events.barriers:
            if b.scope not in ("block", "cluster", "grid") or not first.order < b.order < second.order:
                continue
            if b.loops != first.loops[: len(b.loops)] or b.loops != second.loops[: len(b.loops)]:
                continue
            if all(c.kind in ("return", "assume") or c.condition in known for c in b.guard):
                out.append(b)
        return out[:MAX_BARRIERS]

    # --- where it came from

    def _beyond(self, first: AccessEvent, one: int, second: AccessEvent, sight: _Sight) -> Expr:
        """Unordered, as far as this observation tells."""
        if not isinstance(sight.seen.value.ty, IntType):
            return E.TRUE
        if self.unfenced and is_strong(second):
            strong = replace(sight, acquired=SYSTEM, sequential=SYSTEM, waived=True)
            self.assumed.add(AFTER_WAIT)
            return E.land(self._sources(first, one, strong), self._counted(first, one, strong))
        if max(sight.acquired, sight.sequential) == 0 and not _is_cell(self.launch, second, sight.seen.access):
            return E.TRUE
        return E.land(self._sources(first, one, sight), self._counted(first, one, sight))

    def _sources(self, first: AccessEvent, one: int, sight: _Sight) -> Expr:
        """The value was there from the start, or came from a write that ``first`` does not come before."""
        seen, ty = sight.seen, sight.seen.value.ty
        writes = _changes(self.launch, seen.access)
        if writes is None or not self._starts_at_zero(seen.access, writes) or not isinstance(ty, IntType):
            return E.TRUE
        ends = [self._ended_by(write, first, one, sight) for write in writes]
        if all(before is E.FALSE for _, before in ends):
            return E.TRUE
        self.assumed.add(STARTS_AT_ZERO)
        start = E.compare("eq", self.threads.side(seen.value, sight.thread), E.const(0, ty))
        return E.lor(start, *(E.land(happens, E.lnot(before)) for happens, before in ends))

    def _starts_at_zero(self, signal: AccessEvent, writes: Iterable[AccessEvent]) -> bool:
        """Nothing but zero is in the cell before the writes that are told apart. Of global memory that is assumed,
        unless the source says otherwise; shared memory holds anything when a block starts."""
        cell = place(self.launch, signal)
        if cell.space != "shared":
            return not starts_otherwise(self.launch, cell.allocation)
        return any(_is_zero(w) and self._writes_first(w, signal) for w in writes)

    def _writes_first(self, write: AccessEvent, signal: AccessEvent) -> bool:
        """The first thread of the block writes the one cell of the signal, before a barrier that it is behind."""
        cell, there = (self.launch.bind(a.offset) for a in (write, signal))
        if there.op != "const" or of_first_thread(self.launch, cell) is not there:
            return False
        if write.loops != signal.loops[: len(write.loops)] or not self._barriers(write, signal):
            return False
        return executes_before(self.launch, write, signal)

    def _ended_by(self, write: AccessEvent, first: AccessEvent, one: int, sight: _Sight) -> tuple[Expr, Expr]:
        """That the value came from this write by some thread, and that ``first`` comes before it then."""
        t, seen = self.threads, sight.seen
        new = _left_by(write)
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
            parts.append(_equal(t.side(seen.value, sight.thread), t.side(new, writer)))
        if not set(write.loops) & set(seen.access.loops) and write.order > seen.access.order:
            parts.append(E.lnot(t.same_thread(writer, sight.thread)))
        happens = E.land(*parts)
        if happens is E.FALSE:
            return E.FALSE, E.FALSE
        rank = min(rank_of(write), rank_of(seen.access))
        return happens, self._before(first, one, write, writer, sight, rank)

    def _before(self, first: AccessEvent, one: int, write: AccessEvent, writer: int, sight: _Sight, rank: int) -> Expr:
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
                before = _Sight(seen, writer, between.acquire, between.sequential, conditions)
                enough = seen_with(between.release, between.sequential)
                yield E.land(enough, E.lnot(self._sources(first, one, before)))

    def _passed_unfenced(
        self, first: AccessEvent, one: int, write: AccessEvent, writer: int, sight: _Sight, rank: int
    ) -> Iterator[Expr]:
        """The same without a fence, for the sake of a strong access at the end."""
        if not sight.waived:
            return
        for seen, conditions in self._waited_before(write):
            if passage(self.launch.events, write.id, seen.access.id) is not None:
                reach = (*sight.reach, sight.thread)
                before = _Sight(seen, writer, SYSTEM, SYSTEM, conditions, waived=True, reach=reach)
                enough = self.threads.covered(rank, writer, sight.thread)
                yield E.land(enough, E.lnot(self._sources(first, one, before)))

    def _waited_before(self, write: AccessEvent) -> Iterator[tuple[Observation, tuple[Expr, ...]]]:
        conditions = tuple(c.condition for c in write.guard)
        for seen in observations(self.launch, conditions, write.loops):
            if seen.access is not write:
                yield seen, conditions

    # --- counters

    def _counted(self, first: AccessEvent, one: int, sight: _Sight) -> Expr:
        """Unordered, as far as the number that a counter has reached tells."""
        t, seen = self.threads, sight.seen
        add = self._counter(seen.access) if t.mode == "grid" else None
        if add is None:
            return E.TRUE
        self.assumed.add(STARTS_AT_ZERO)
        blocks = self._blocks()
        own = t.another()
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
            E.lor(executed, E.compare("lt", reached, most)),
        ]  # fmt: skip
        if seen.access is add:
            definitions.append(E.lor(t.same_block(own, sight.thread), E.compare("ne", ticket, reached)))
        rank = min(rank_of(add), rank_of(seen.access))
        before = self._before(first, one, add, own, sight, rank)
        if first is add:
            # What comes after the reading in its thread comes, in this cell, after what was read.
            before = E.lor(before, E.land(t.same_thread(one, own), t.covered(rank, own, sight.thread)))
        if before is E.FALSE:
            return E.TRUE
        ordered = E.land(executed, E.compare("lt", ticket, reached), before)
        # Up to its limit, an increment counts as an addition does.
        return E.lor(self._starts_again(add), E.land(*definitions, E.lnot(ordered)))

    def _counter(self, signal: AccessEvent) -> AccessEvent | None:
        """The one addition by which each block counts itself, once, in the cell of the signal, from zero on."""
        launch, cell = self.launch, place(self.launch, signal)
        writes = [a for a in allocation_events(launch, cell.allocation) if a.writes and not changes_nothing(a)]
        adds = [a for a in writes if is_strong(a)]
        if len(adds) != 1 or not _adds_one(adds[0]) or adds[0].loops or cell.keys or cell.space != "global":
            return None
        add, where = adds[0], place(launch, adds[0])
        if where.offset.op != "const" or where.offset is not cell.offset or add.width != signal.width:
            return None
        if starts_otherwise(launch, cell.allocation) or not alone(launch, add.guard):
            return None
        plain = (a for a in writes if a is not add)
        return add if all(self._sets_to_zero_before(a, add) or self._told_last(a, add) for a in plain) else None

    def _sets_to_zero_before(self, write: AccessEvent, add: AccessEvent) -> bool:
        """A barrier of the grid is between the writing of zero and all additions."""
        return _is_zero(write) and any(b.scope == "grid" for b in self._barriers(write, add))

    def _told_last(self, write: AccessEvent, add: AccessEvent) -> bool:
        """Only who was told that all others have been counted gets to the write: no addition comes after it."""
        conditions = [c.condition for c in write.guard]
        told = [t for t in self._told(write) if t.seen.access is add and executes_before(self.launch, t.store, write)]
        known = {t.load: E.cast(t.store.value, t.load.ty) for t in told if t.store.value is not None}
        conditions += [E.substitute(c, known) for c in conditions]
        counts = {self.launch.bind(o.value) for o in observations(self.launch, conditions, write.loops)
                  if o.access is add}  # fmt: skip
        for c in E.conjuncts(self.launch.bind(E.land(*conditions))):
            if c.op == "eq" and any(unconverted(a) in counts and self._is_last(b) for a, b in (c.args, c.args[::-1])):
                return True
        return False

    def _is_last(self, e: Expr) -> bool:
        """It is the number of blocks less one."""
        if e.op == "const":
            return E.cast(e, I64) is E.sub(self._blocks(), E.const(1, I64))
        several = [d for axis, d in enumerate(E.GDIM) if self.launch.grid[axis] != 1]
        one = E.const(1, E.U32)
        return len(several) == 1 and unconverted(e) is unconverted(E.sub(self.launch.bind(several[0]), one))

    def _blocks(self) -> Expr:
        blocks = E.const(1, I64)
        for d in E.GDIM:
            blocks = E.mul(blocks, E.cast(self.launch.bind(d), I64))
        return blocks

    def _starts_again(self, add: AccessEvent) -> Expr:
        """Some block makes the counter wrap around before all have been counted."""
        if add.atomic is None or add.atomic.op != "inc" or add.value is None:
            return E.FALSE
        t = self.threads
        some, top = t.another(), E.sub(self._blocks(), E.const(1, I64))
        low = E.compare("lt", E.cast(t.side(add.value, some), I64), top)
        return E.land(t.exists(some), t.guard(add, some), low)

    def apart(self, first: AccessEvent, second: AccessEvent) -> Expr:
        """What is known of two blocks that were both told a number by one counter: the numbers differ."""
        if self.threads.mode != "grid":
            return E.TRUE
        parts: list[Expr] = []
        for a in self._told(first):
            for b in self._told(second):
                if a.seen.access is not b.seen.access or self._counter(a.seen.access) is not a.seen.access:
                    continue
                facts = [self._telling(a, 1), self._telling(b, 2)]
                differ = E.compare(
                    "ne", *(self.threads.side(s.seen.value, n) for s, (n, _) in zip((a, b), facts, strict=True))
                )
                parts += [*(f for _, f in facts), E.lor(self._starts_again(a.seen.access), differ)]
        return E.land(*parts)


def _left_by(write: AccessEvent) -> Expr | None:
    """The value that a write leaves in its cell, where that is what it is given."""
    if write.value is None or not isinstance(write.value.ty, IntType):
        return None
    if write.atomic is not None and write.atomic.op not in ("exch", "store", "cas"):
        return None
    return write.value


def _equal(one: Expr, two: Expr) -> Expr:
    if not isinstance(one.ty, IntType) or not isinstance(two.ty, IntType):
        return E.TRUE
    return E.compare("eq", one, E.cast(two, one.ty))


def _is_cell(launch: Launch, access: AccessEvent, signal: AccessEvent) -> bool:
    """Both go to one cell in every thread."""
    one, two = place(launch, access), place(launch, signal)
    same = one.allocation == two.allocation and one.offset is two.offset and not one.keys
    return same and one.offset.op == "const" and access.width == signal.width


def _changes(launch: Launch, signal: AccessEvent) -> list[AccessEvent] | None:
    """All that changes the cell of a signal; None where that is more than can be told apart."""
    cell = place(launch, signal)
    writes = [a for a in allocation_events(launch, cell.allocation) if a.writes and not changes_nothing(a)]
    if len(writes) > MAX_WRITES or any(a.width != signal.width for a in writes):
        return None
    return writes


def _is_zero(write: AccessEvent) -> bool:
    value = _left_by(write)
    return value is not None and value.op == "const" and value.value == 0


def _adds_one(a: AccessEvent) -> bool:
    return a.atomic is not None and (a.atomic.op == "inc" or (a.atomic.op == "add" and a.atomic.constant == 1))
