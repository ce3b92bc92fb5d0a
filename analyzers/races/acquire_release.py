"""Order by locks, flags and counters: whether two accesses that no barrier orders are ordered by acquire and release.

Puts together what ``critical_sections`` and ``signals`` say, decides which volatile accesses are data, and says in
words what is missing where there is no order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from analyzers.ir import expr as E
from analyzers.ir.events import AccessEvent
from analyzers.ir.expr import Expr
from analyzers.model import Remark
from analyzers.races import critical_sections
from analyzers.races.block_sections import block_sections
from analyzers.races.critical_sections import (
    Lock,
    Section,
    Words,
    faults,
    locks,
    made_in,
    missing_fence,
    name_of,
    needed,
    remark,
    scope_of,
    sections,
)
from analyzers.races.others import (
    Threads,
    allocation_events,
    changes_nothing,
    gives_something_away,
    is_strong,
    observations,
    passage,
    passages_of,
    rank_of,
)
from analyzers.races.pairs import Pair, place, synchronizes
from analyzers.races.signals import Signals
from analyzers.races.threads import Launch, Mode
from analyzers.races.ticket_locks import ticket_locks


@dataclass
class AcquireRelease:
    """Of one kernel under one launch."""

    launch: Launch
    _sections: dict[int, list[Section]] = field(default_factory=dict[int, list[Section]])

    @cached_property
    def applies(self) -> bool:
        """The kernel has something that locks and signals are made of."""
        return any(is_strong(a) for a in self.launch.events.accesses)

    @cached_property
    def orders(self) -> bool:
        """Also that what an atomic or volatile load gave is looked at somewhere: nobody else learns of another
        thread's progress."""
        return self.applies and gives_something_away(self.launch.events) and bool(passages_of(self.launch.events))

    @cached_property
    def _locks(self) -> list[Lock]:
        return [*locks(self.launch), *ticket_locks(self.launch)]

    @cached_property
    def _watched(self) -> frozenset[str]:
        """Allocations of which a wait or a condition depends."""
        events = self.launch.events
        seen = [o for w in events.waits for o in observations(self.launch, (w.fact,), w.loops)]
        for a in events.accesses:
            seen += observations(self.launch, [c.condition for c in a.guard], a.loops)
        return frozenset(place(self.launch, o.access).allocation for o in seen)

    @cached_property
    def _awaited(self) -> frozenset[str]:
        """Allocations for which loops wait."""
        waits = self.launch.events.waits
        seen = [o for w in waits for o in observations(self.launch, (w.fact,), w.loops)]
        return frozenset(place(self.launch, o.access).allocation for o in seen)

    def sections(self, access: AccessEvent) -> list[Section]:
        """The locks held at an access."""
        found = self._sections.get(id(access))
        if found is None:
            found = sections(self.launch, self._locks, access) + block_sections(self.launch, self._locks, access)
            self._sections[id(access)] = found
        return found

    # --- what volatile means

    def synchronizes(self, pair: Pair, mode: Mode) -> bool:
        """The two accesses do not race with each other, whatever their order: both are atomic, or volatile and not
        data."""
        if not synchronizes(pair, mode):
            return False
        if not self.applies or not (pair.one.volatile or pair.two.volatile):
            return True
        return not self._is_data(pair.first.allocation) and not self._is_mixed(pair)

    def _is_mixed(self, pair: Pair) -> bool:
        """A volatile store meets an atomic that reads and writes, on a cell that no thread waits for."""
        if pair.first.allocation in self._watched:
            return False

        def stores(a: AccessEvent) -> bool:
            return a.volatile and a.kind == "write"

        def updates(a: AccessEvent) -> bool:
            return a.atomic is not None and a.atomic.op not in ("load", "store") and not changes_nothing(a)

        return any(stores(a) and updates(b) for a, b in ((pair.one, pair.two), (pair.two, pair.one)))

    def _is_data(self, allocation: str) -> bool:
        return self.orders and allocation in self._protected

    @cached_property
    def _protected(self) -> frozenset[str]:
        """Allocations in global memory whose volatile accesses the kernel itself orders somewhere, by a lock or by a
        fence before a signal that is waited for. Those that are waited for are no data."""
        found: set[str] = set()
        events = self.launch.events
        signals = [a for a in events.accesses if is_strong(a) and a.writes and not changes_nothing(a)]
        signals = [a for a in signals if place(self.launch, a).allocation in self._awaited]
        for a in events.accesses:
            where = place(self.launch, a)
            if not a.volatile or where.space != "global" or where.allocation in self._watched:
                continue
            if self.sections(a) or any(self._published(a, s) for s in signals):
                found.add(where.allocation)
        return frozenset(found)

    def _published(self, access: AccessEvent, signal: AccessEvent) -> bool:
        sent = passage(self.launch.events, signal.id, access.id)
        return sent is not None and sent.release > 0

    # --- order

    def unordered(self, pair: Pair, mode: Mode) -> Iterator[tuple[Expr, frozenset[str]]]:
        """Conditions that hold wherever the accesses, by thread 1 and thread 2, are not ordered, and what they rest
        on: by locks, then also by signals. None where the kernel has neither."""
        if not self.orders or pair.one.asynchronous or pair.two.asynchronous:
            # Neither fences nor atomics wait for a copy.
            return
        threads = Threads(self.launch, mode)
        held = (self.sections(pair.one), self.sections(pair.two))
        apart = E.lnot(critical_sections.ordered(threads, *held))
        assumed = {text for side in held for s in side for text in s.assumed}
        if apart is not E.TRUE:
            yield apart, frozenset(assumed)
        for unfenced in (False, True) if is_strong(pair.one) or is_strong(pair.two) else (False,):
            signals = Signals(threads, unfenced)
            parts = [signals.apart(pair.one, pair.two)]
            parts.append(signals.unordered(pair.one, 1, pair.two, 2))
            parts.append(signals.unordered(pair.two, 2, pair.one, 1))
            found = E.land(*parts)
            if found is not E.TRUE:
                yield E.land(apart, found), frozenset(signals.assumed | assumed)

    # --- in words

    def missing(self, one: AccessEvent, two: AccessEvent, mode: Mode) -> tuple[Remark, ...]:
        """What keeps locks and signals of the kernel from ordering the two accesses."""
        if not self.applies:
            return ()
        out: list[Words] = [*_of_scopes(one, two, mode)]
        if not out and self.orders:
            out = [*self._of_locks(one, two, mode)]
            out = out or [*self._of_signals(one, two, mode), *self._of_signals(two, one, mode)]
        pair = Pair(one, two, place(self.launch, one), place(self.launch, two))
        if not out and synchronizes(pair, mode) and self._is_mixed(pair):
            out.append(
                ("atomic operations are atomic among each other only: one may overwrite the volatile store unseen",)
            )
        return tuple(dict.fromkeys(map(remark, out)))

    def _of_locks(self, one: AccessEvent, two: AccessEvent, mode: Mode) -> Iterator[Words]:
        first, second = self.sections(one), self.sections(two)
        common = [(a, b) for a in first for b in second if a.lock is b.lock]
        for a, b in common:
            found = [*faults(a, mode), *faults(b, mode)]
            shared = place(self.launch, a.take).space == "shared"
            if not found and shared and mode == "grid":
                found = [(f"the lock `{a.name}` is in shared memory, so each block has its own",)]
            if not found:
                one_lock, other_lock = ((f"`{s.name}`, taken", made_in(s.take)) for s in (a, b))
                both = (*one_lock, " and ", *other_lock) if one_lock != other_lock else one_lock
                found = [("the two threads can hold different locks (", *both, ")")]
            yield from found
        if common:
            return
        for held, other in ((first, two), (second, one)):
            for s in held[:1]:
                yield (
                    f"the {other.kind}",
                    made_in(other),
                    f" is not made under the lock `{s.name}`, which protects the {s.access.kind}",
                    made_in(s.access),
                )

    def _of_signals(self, first: AccessEvent, second: AccessEvent, mode: Mode) -> Iterator[Words]:
        """Why ``first`` does not come before ``second``, although a thread waits for a signal before ``second``."""
        need, events = needed(mode), self.launch.events
        for seen in observations(self.launch, [c.condition for c in second.guard], second.loops):
            where = place(self.launch, seen.access).allocation
            writes = [w for w in allocation_events(self.launch, where) if w.writes and not changes_nothing(w)]
            for write in (w for w in writes if w.id != seen.access.id and is_strong(w)):
                sent = passage(events, write.id, first.id)
                late = passage(events, first.id, write.id)
                signal = (f"the signal `{name_of(self.launch, write)}`", made_in(write))
                here = (f"the {first.kind}", made_in(first))
                if sent is None and late is not None:
                    yield (*here, " comes after ", *signal)
                elif sent is not None and sent.release < need:
                    yield missing_fence(sent.release, need, here, signal)
            received = passage(events, second.id, seen.access.id)
            if received is None or seen.access is second:
                continue
            wait = (f"the wait for `{name_of(self.launch, seen.access)}`", made_in(seen.access))
            if rank_of(seen.access) < need:
                yield (*wait, " has block scope, and the threads are in different blocks")
            if not is_strong(second) and max(received.acquire, received.sequential) < need:
                yield missing_fence(received.acquire, need, wait, (f"the {second.kind}", made_in(second)))


def _of_scopes(one: AccessEvent, two: AccessEvent, mode: Mode) -> Iterator[Words]:
    """Atomics that exclude each other in smaller scopes only."""
    if one.atomic is None or two.atomic is None:
        return
    for a in (one, two):
        if rank_of(a) < needed(mode):
            where = "in different blocks" if mode == "grid" else "different ones"
            yield ("the atomic", made_in(a), f" has {scope_of(rank_of(a))} scope, and the threads are {where}")
