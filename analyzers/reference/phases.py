"""Barriers in memory (``mbarrier``): threads arrive at a phase, and wait until it is complete.

A phase is complete when as many threads have arrived as the barrier is for; the next one begins. Who waits goes on
behind what these did before they arrived (PTX ISA, "mbarrier"). Where all wait for ever, those go on without that, and
it is recorded.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analyzers.reference.result import Divergence, FenceRecord, RunResult, SyncRecord

if TYPE_CHECKING:
    from analyzers.reference.synchronise import Thread


@dataclass(slots=True)
class _Barrier:
    count: int
    """Arrivals that complete a phase."""
    arrived: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """(thread, interval that ended so), in the open phase."""
    complete: list[tuple[tuple[int, int], ...]] = field(default_factory=list[tuple[tuple[int, int], ...]])
    """The arrivals of each phase that is."""
    waiting: list[tuple[Thread, int, int]] = field(default_factory=list["tuple[Thread, int, int]"])
    """Thread, phase and event."""


class Phases:
    """All barriers in memory, by block and address."""

    def __init__(self, threads: list[Thread], result: RunResult) -> None:
        self.threads = threads
        self.result = result
        self.barriers: dict[tuple[int, int], _Barrier] = {}
        self.released: list[Thread] = []
        """Those that can go on, but have not been told."""

    def _barrier(self, t: Thread, address: int, count: int) -> _Barrier:
        return self.barriers.setdefault((t.block, address), _Barrier(count))

    def arrive(self, t: Thread, address: int, count: int) -> int:
        """The number of the phase; what the thread does then is another interval."""
        barrier = self._barrier(t, address, count)
        phase = len(barrier.complete)
        barrier.arrived.append((t.number, t.sync))
        self.result.syncs.append(FenceRecord(t.number))
        t.sync += 1
        if len(barrier.arrived) == barrier.count:
            barrier.complete.append(tuple(barrier.arrived))
            barrier.arrived.clear()
            self._release(barrier)
        return phase

    def wait(self, t: Thread, address: int, count: int, event: int, awaited: int, *, parity: bool) -> bool:
        """Whether the thread goes on at once."""
        barrier = self._barrier(t, address, count)
        begun = len(barrier.complete)
        phase = awaited if not parity else begun - (begun + awaited) % 2
        barrier.waiting.append((t, phase, event))
        if phase < begun:
            self._go_on(barrier, barrier.waiting.pop())
            return True
        return False

    def _release(self, barrier: _Barrier) -> None:
        for waiting in [w for w in barrier.waiting if w[1] < len(barrier.complete)]:
            barrier.waiting.remove(waiting)
            self._go_on(barrier, waiting)
            self.released.append(waiting[0])

    def _go_on(self, barrier: _Barrier, waiting: tuple[Thread, int, int]) -> None:
        t, phase, event = waiting
        known = barrier.complete[phase] if 0 <= phase < len(barrier.complete) else ()
        self.result.syncs.append(SyncRecord("meeting", ((t.number, event),), (), known))
        t.sync += 1
        t.epoch += 1
        t.wait = None

    def force(self) -> list[Thread]:
        """The threads that wait at one barrier, where nothing else goes on."""
        for (block, _), barrier in self.barriers.items():
            if barrier.waiting:
                there = {number for number, _ in barrier.arrived}
                missing = next((t for t in self.threads if t.block == block and t.number not in there), self.threads[0])
                forced = [t for t, _, _ in barrier.waiting]
                for waiting in barrier.waiting:
                    one, event = waiting[0].number, waiting[2]
                    missed = Divergence("divergence", event, "meeting", one, missing.number, None, ())
                    self.result.divergences.append(missed)
                    self._go_on(barrier, waiting)
                barrier.waiting.clear()
                return forced
        return []
