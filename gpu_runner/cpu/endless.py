"""Threads that wait in loops for ever: found by states that come again, not by the time that has passed.

While no thread arrives anywhere or ends, and nothing is written but what memory holds already, what a thread does
depends on its own state alone, in whatever order threads run. One that comes back to a state it was in goes round for
ever; where all do that can go on, no thread ever ends. A *window* is some turns of the scheduler between two looks:
what is written in one, from the records, is known to be there already if it is no more than what was written in the
window before and found in memory at the end of that. Loops that count their rounds, or look at the clock, are never in
one state twice, and none is said to be endless; nor is one that reads nothing, in which threads do not give way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gpu_runner.cpu.layout import FLAG_NO_WRITE, Collective, SiteKind, Status

_MOST_WRITES: Final = 4096
"""Different ones in a window: threads that wait write few."""
_ROUNDS: Final = 64
"""Looks at most until all threads have come back: they give way at several places of a loop, in turn."""
_LONGEST_PAUSE: Final = 64
_MOST_BYTES: Final = 1 << 26
"""Of the threads' own memory."""
_UNTOUCHED: Final = 0x7FFFFFFF
"""Fuel that the scheduler gives nobody: a thread that has it has not run."""

Write = tuple[int, int, int, int]
"""Generic address, value, bytes, thread."""
Read = tuple[int, int, int]
"""Generic address, bytes, thread."""


@dataclass(slots=True)
class _Moment:
    """What everything was like, and which threads have been in the same state again since."""

    writes: frozenset[Write]
    counters: tuple[int, ...]
    threads: NDArray[np.void]
    """Without their fuel."""
    own: Sequence[NDArray[np.uint8]]
    """Frames and local memory, a row for each thread."""
    again: NDArray[np.bool_]
    looks: int = 0


class Endless:
    """Of one run, since somebody has arrived somewhere for the last time."""

    def __init__(
        self,
        threads: NDArray[np.void],
        own: Sequence[NDArray[np.uint8]],
        sites: NDArray[np.void],
        holds: Callable[[Write], bool],
    ) -> None:
        """`threads`: rows of `layout.THREAD`, resident ones. `own`: what each has for itself, a row for each. `holds`:
        whether memory holds what was written."""
        self._threads, self._own, self._sites, self._holds = threads, own, sites, holds
        self._writes: set[Write] | None = None
        """In the window so far; None where that has not been noted, or where there are too many."""
        self._noting = False
        self.reads: set[Read] = set()
        """Since the threads are looked at, which then read the same again and again."""
        self._moment: _Moment | None = None
        self._pause, self._left = 1, 0

    def note(self, records: NDArray[np.uint64]) -> None:
        """Take the records of a window, some at a time."""
        if self._writes is None or not len(records):
            return
        sites = (records[:, 2] >> np.uint64(32)).astype(np.int64)
        row = self._sites[sites & 0xFFFFFF]
        threads = records[:, 2] & np.uint64(0xFFFFFFFF)
        if self._moment is not None:
            reading = (row["kind"] == SiteKind.READ) | (row["kind"] == SiteKind.ATOMIC)
            read = np.unique(np.column_stack((records[:, 0], row["size"], threads))[reading], axis=0)
            self.reads.update((a, n, t) for a, n, t in read.tolist())
        writing = (row["kind"] == SiteKind.WRITE) | (row["kind"] == SiteKind.ATOMIC)
        writing &= sites >> 24 & FLAG_NO_WRITE == 0
        if not writing.any():
            return
        found = np.column_stack(
            (records[writing, :2], row["size"][writing], records[writing, 2] & np.uint64(0xFFFFFFFF))
        )
        self._writes.update((a, v, n, t) for a, v, n, t in np.unique(found, axis=0)[: _MOST_WRITES + 1].tolist())
        if len(self._writes) > _MOST_WRITES:
            self._writes = None

    def look(self, counters: tuple[int, ...]) -> bool:
        """At the end of a window in which nobody has arrived anywhere: whether all that can go on will do so for ever.
        `counters`: what else changes where something happens."""
        if self._left:
            self._left -= 1
            return False
        writes, noted = self._writes, self._noting
        self._writes, self._noting = set(), True
        if not noted:
            return False
        if self._moment is None:
            if (
                writes is None
                or not all(map(self._holds, writes))
                or sum(own.nbytes for own in self._own) > _MOST_BYTES
            ):
                self._give_up()
            else:
                self._moment = self._now(frozenset(writes), counters)
            return False
        moment = self._moment
        if writes is None or not writes <= moment.writes or counters != moment.counters:
            self._give_up()
            return False
        going = self._going()
        ran = self._threads["fuel"] != _UNTOUCHED
        now: NDArray[np.void] = np.array(self._threads)
        now["fuel"] = 0
        same = now == moment.threads
        for before, own in zip(moment.own, self._own, strict=True):
            same &= (own == before).all(axis=1)
        moment.again |= same & ran
        if going.any() and moment.again[going].all():
            return True
        moment.looks += 1
        if moment.looks >= _ROUNDS:
            self._give_up()
        return False

    def _going(self) -> NDArray[np.bool_]:
        """Threads that can go on."""
        status = self._threads["status"]
        stepping = (status == Status.COLLECTIVE) & (self._threads["op"] == Collective.LOCK_STEP)
        return (status == Status.READY) | stepping

    def _now(self, writes: frozenset[Write], counters: tuple[int, ...]) -> _Moment:
        going = self._going()
        threads: NDArray[np.void] = np.array(self._threads)
        threads["fuel"] = 0
        self._threads["fuel"][going] = _UNTOUCHED
        own: list[NDArray[np.uint8]] = [np.array(part) for part in self._own]
        self.reads = set()
        return _Moment(writes, counters, threads, own, np.zeros(len(threads), np.bool_))

    def _give_up(self) -> None:
        """For a time: what the threads do takes longer."""
        self._moment, self._writes, self._noting = None, None, False
        self._left = self._pause
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)
