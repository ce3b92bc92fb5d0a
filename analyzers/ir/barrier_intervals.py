"""Which statements of a kernel threads of one block may execute in the same barrier interval.

A barrier interval begins where the kernel does or at a barrier that all threads of the block come to: one that stands
in no branch, in a loop or not. A statement is in each interval from whose beginning it is reached without another such
barrier in between. What shares no interval is ordered for the threads of a block by what `analyzers.races.ordering`
asks of barriers; here it is seen from the structure alone, before anything is computed. A thread that has returned
counts as having arrived, as there. Barriers that a thread may go past otherwise, because it leaves or continues the
construct that they stand in, begin no interval here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field

from analyzers.ir import kernel as k
from analyzers.ir.clusters import is_in_block
from analyzers.ir.expr import PTR, TRUE, walk

EVERY = -1
"""In all intervals: of what a loop's test needs a thread may come to no barrier any more."""

_NONE = 0
_START = 1


def barrier_intervals(body: tuple[k.Stmt, ...], together: bool = False) -> list[int] | None:
    """By statement, as `kernel.statements` orders them: a bit mask of its intervals, 0 for what is not reached. None
    where no barrier separates any. ``together``: all threads that come to a branch, or the test of a loop, on which it
    depends whether they come to a barrier, go the same way: then a barrier begins an interval wherever it stands."""
    every = k.statements(body)
    if not any(_is_of_all(s) for s in every):
        return None
    intervals = _Intervals([EVERY] * len(every), together)
    intervals.run(body, _START, counted=True)
    return intervals.found if intervals.begun else None


@dataclass(frozen=True, slots=True)
class Apart:
    """Which accesses to shared memory are in no barrier interval with a write of the same object."""

    intervals: Sequence[int]
    written: Mapping[str, int]
    """Shared object -> the intervals in which it is written."""

    @staticmethod
    def of(shared: Set[str], intervals: Sequence[int], writes: Iterable[tuple[int, Set[str], bool]]) -> Apart:
        """``writes``: number, objects that may be meant (``?`` and ``*``: any), and whether it may go on at any
        time."""
        written = dict.fromkeys(shared, 0)
        for number, touched, always in writes:
            for name in shared if touched & {"?", "*"} else touched & shared:
                written[name] |= EVERY if always else intervals[number]
        return Apart(intervals, written)

    def holds(self, number: int, touched: Set[str]) -> bool:
        """Of the access with this number, to these objects."""
        return touched <= self.written.keys() and not any(self.intervals[number] & self.written[n] for n in touched)


def reaches_clusters(every: Collection[k.Stmt]) -> bool:
    """Shared memory of other blocks is touched, for which barriers of the block say nothing."""
    pointers = [s.pointer for s in every if isinstance(s, (k.Load, k.Store, k.Atomic))]
    pointers += [s.value for s in every if isinstance(s, k.Assign) and s.value.ty == PTR]
    return any(map(is_in_block, walk(pointers)))


def _is_of_all(s: k.Stmt) -> bool:
    return (
        isinstance(s, k.Barrier)
        and s.scope in ("block", "cluster", "grid")
        and s.mask is None
        and s.number is None
        and not s.within
    )


@dataclass(slots=True)
class _Intervals:
    """The intervals that have begun and not ended (a bit mask) are handed from statement to statement."""

    found: list[int]
    together: bool
    begun: dict[int, int] = field(default_factory=dict[int, int])
    """Number of a barrier -> the bit of its interval."""
    _at: int = 0
    """The number of the next statement."""
    _left: dict[str, int] = field(default_factory=dict[str, int])
    """Label of a construct around -> the intervals that it is left in."""
    _continued: dict[str, int] = field(default_factory=dict[str, int])

    def run(self, body: tuple[k.Stmt, ...], live: int, counted: bool, known: bool = True) -> int:
        """The intervals behind ``body``. ``counted``: its barriers are; ``known``: else it is in all intervals."""
        for s in body:
            number = self._at
            self._at += 1
            self.found[number] = live if known else EVERY
            match s:
                case k.Barrier() if counted and _is_of_all(s):
                    bit = self.begun.setdefault(number, _START << (len(self.begun) + 1))
                    live = bit if live else _NONE
                case k.If(then=then, orelse=orelse):
                    ways = [self.run(part, live, counted and self.together, known) for part in (then, orelse)]
                    live = ways[0] | ways[1]
                case k.Block():
                    self._left[s.label] = _NONE
                    through = self.together or s.label == k.KERNEL_BLOCK or not _is_left(s.label, s.body)
                    live = self.run(s.body, live, counted and through, known)
                    live |= self._left.pop(s.label)
                case k.Loop():
                    live = self._loop(s, live, counted, known)
                case k.Exit(label=label):
                    self._left[label] = self._left.get(label, _NONE) | live
                    live = _NONE
                case k.Continue(label=label):
                    self._continued[label] = self._continued.get(label, _NONE) | live
                    live = _NONE
                case _:
                    pass
        return live

    def _loop(self, s: k.Loop, live: int, counted: bool, known: bool) -> int:
        everything = (*s.head, *s.body, *s.latch)
        counted = counted and any(map(_is_of_all, k.statements(everything)))
        if not self.together:
            left_by = everything[:-1] if _ends_with_test(s, everything) else everything
            counted = counted and not _is_left(s.label, left_by)
        self._left[s.label] = self._continued[s.label] = _NONE
        first, entered = self._at, live
        while True:
            self._at = first
            tested = self.run(s.head, entered, counted, known and (self.together or not counted))
            ends = self.run(s.body, tested, counted, known) | self._continued[s.label]
            again = entered | self.run(s.latch, ends, counted, known)
            if again == entered or not counted:
                break
            entered = again
        del self._continued[s.label]
        left = self._left.pop(s.label)
        return left if s.condition is TRUE else left | tested


def _ends_with_test(s: k.Loop, everything: tuple[k.Stmt, ...]) -> bool:
    """A do-while: where it is left there is no barrier to go past."""
    return s.condition is TRUE and not any(map(_is_of_all, k.statements(everything[-1:])))


def _is_left(label: str, body: tuple[k.Stmt, ...]) -> bool:
    """Something in ``body`` leaves the construct with this label, or goes on with its next iteration."""
    return any(isinstance(s, (k.Exit, k.Continue)) and s.label == label for s in k.statements(body))
