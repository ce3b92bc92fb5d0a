"""What threads of a question saw, and what the first thread of a block tells the others of it.

A *sight* is an observation by one of the threads, with the fences between it and what it is to order. ``Sightings`` is
the part of a question about signals that ``counters`` and ``signals`` share.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from analyzers.ir import expr as E
from analyzers.ir.events import AccessEvent, BarrierEvent, WaitEvent
from analyzers.ir.expr import Expr, IntType
from analyzers.races.first_thread import alone
from analyzers.races.others import (
    Observation,
    Threads,
    allocation_events,
    changes_nothing,
    observations,
    passage,
)
from analyzers.races.pairs import place
from analyzers.races.threads import Launch

MAX_WRITES = 12
"""Writes of one flag that are told apart."""
MAX_BARRIERS = 3
"""Barriers between two events that are tried."""


@dataclass(frozen=True, slots=True)
class Sight:
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
class Told:
    """A number that the first thread of a block saw and stored in shared memory, where ``load`` found it."""

    seen: Observation
    load: Expr
    store: AccessEvent
    acquired: int
    sequential: int


@dataclass
class Sightings:
    """The threads of one question about signals."""

    threads: Threads
    unfenced: bool = False
    """Strong accesses come after the wait before them, without a fence."""
    assumed: set[str] = field(default_factory=set[str])
    """What the answers rest on."""

    @property
    def launch(self) -> Launch:
        return self.threads.launch

    def _told(self, second: AccessEvent) -> list[Told]:
        """What the guard of an access says of a value that the first thread of the block stored in shared memory."""
        out: list[Told] = []
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
                        out.append(Told(seen, node, store, between.acquire, sequential))
        return out

    def _telling(self, told: Told, thread: int) -> tuple[int, Expr]:
        """The first thread of the block of ``thread``, and what its store says to the other threads."""
        first = self.threads.another()
        assert told.store.value is not None
        value = equal(self.threads.side(told.load, thread), self.threads.side(told.store.value, first))
        return first, E.land(*self._first_of(first, thread, ()), E.lor(self._untold(told, first), value))

    def _untold(self, told: Told, first: int) -> Expr:
        return E.lnot(self.threads.guard(told.store, first, assumed=False))

    def _first_of(self, thread: int, other: int, loops: tuple[str, ...]) -> list[Expr]:
        """``thread`` is the first one of the block of ``other``, in the same iterations of these loops."""
        t, known = self.threads, self.launch.events.loops
        same = [E.compare("eq", t.side(known[x].counter, thread), t.side(known[x].counter, other)) for x in loops]
        return [t.exists(thread), t.is_first(thread), t.same_block(thread, other), *same]

    def _stored(self, load: Expr) -> AccessEvent | None:
        """The one store, by the first thread only, whose value a load of shared memory gives."""
        reads = [a for a in self.launch.events.accesses if a.loaded == load.value[0]]
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


def left_by(write: AccessEvent) -> Expr | None:
    """The value that a write leaves in its cell, where that is what it is given."""
    if write.value is None or not isinstance(write.value.ty, IntType):
        return None
    if write.atomic is not None and write.atomic.op not in ("exch", "store", "cas"):
        return None
    return write.value


def equal(one: Expr, two: Expr) -> Expr:
    if not isinstance(one.ty, IntType) or not isinstance(two.ty, IntType):
        return E.TRUE
    return E.compare("eq", one, E.cast(two, one.ty))


def is_cell(launch: Launch, access: AccessEvent, signal: AccessEvent) -> bool:
    """Both go to one cell in all threads of a block."""
    one, two = place(launch, access), place(launch, signal)
    same = one.allocation == two.allocation and one.offset is two.offset and not one.keys
    return same and chosen_by(launch.bind(one.offset)) is not None and access.width == signal.width


def chosen_by(offset: Expr) -> tuple[int, ...] | None:
    """The axes of the grid that choose a cell; None where something else than the block does too."""
    used = E.symbols(offset)
    known = {*E.BID, *E.GDIM, *E.BDIM}
    if any(s.op != "sym" or (s not in known and not str(s.value).startswith(("param:", "host:"))) for s in used):
        return None
    return tuple(axis for axis, b in enumerate(E.BID) if b in used)


def changes(launch: Launch, signal: AccessEvent) -> list[AccessEvent] | None:
    """All that changes the cell of a signal; None where that is more than can be told apart."""
    cell = place(launch, signal)
    writes = [a for a in allocation_events(launch, cell.allocation) if a.writes and not changes_nothing(a)]
    if len(writes) > MAX_WRITES or any(a.width != signal.width for a in writes):
        return None
    return writes


def is_zero(write: AccessEvent) -> bool:
    value = left_by(write)
    return value is not None and value.op == "const" and value.value == 0


def adds_one(a: AccessEvent) -> bool:
    return a.atomic is not None and (a.atomic.op == "inc" or (a.atomic.op == "add" and a.atomic.constant == 1))
