"""Threads that wait in a loop for what others write: a new barrier must not stand between the wait and that write.

Takes the kernels of an edited text, says where threads would wait in vain: those that write would be at the barrier,
to which those that wait never come. What a loop waits for is what it reads again and again and goes on by (`spins`),
however it was written.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from analyzers.analysed import KernelAnalysis
from analyzers.ir import expr as E
from analyzers.ir.events import AccessEvent, BarrierEvent, LoopInstance
from analyzers.ir.expr import Expr, walk
from analyzers.ir.spins import Deciding, deciding_reads
from analyzers.model import CheckOptions
from analyzers.races.check import RaceChecker
from analyzers.races.conditions import guard_of, query_of
from analyzers.races.critical_sections import held, locks, one_cell
from analyzers.races.ordering import cases
from analyzers.races.others import changes_nothing, is_strong, passage
from analyzers.races.pairs import Pair, conflicting
from analyzers.races.threads import Launch, Mode
from analyzers.solve.effort import Effort
from analyzers.solve.ladder import Budget, Ladder
from analyzers.solve.query import Proved
from quickfix.naming import line_of
from quickfix.verify import Files, is_written, old_offset


def waits_in_vain(
    kernels: Iterable[KernelAnalysis],
    files: Files,
    missed: Collection[tuple[str, int]],
    options: CheckOptions,
    effort: Effort,
    poll: Callable[[], None],
) -> Iterator[str]:
    """A sentence for each place. `missed`: where barriers stood in the old text that some threads did not come to, and
    may now. `poll` may raise."""
    for analysis in kernels:
        events = analysis.events
        places = [(b, b.site.span) for b in events.barriers]
        new = [b for b, at in places if is_written(at, files) or (at.path, old_offset(at, files)) in missed]
        waits = _waits(analysis) if new else []
        if not waits:
            continue
        old = [b for b in events.barriers if b.scope in ("block", "grid") and b not in new]
        for context in analysis.contexts:
            ladder = Ladder(Budget(smt=options.smt_budget))
            checker = RaceChecker(Launch(events, context), ladder, options.warp_lockstep, poll, effort)
            spinning = _Spinning(checker, waits, new, old)
            for found, others in ((spinning.for_the_group(), False), (spinning.by_way_of_others(), True)):
                for wait, write, barrier in found:
                    read, written = (_in_words(e, files) for e in (wait.read, write))
                    in_vain = (
                        f"and {written} behind it may be what others wait for before they answer"
                        if others
                        else f"and those that write {written} would wait there for them"
                    )
                    stays = f"threads that wait for {read} would not come to `{barrier.site.text}`"
                    yield f"`{analysis.result.name}`: {stays}, {in_vain}"


def _in_words(access: AccessEvent, files: Files) -> str:
    """With its line in the old text, if it stood there."""
    span = access.site.span
    old = old_offset(span, files)
    line = span.line if old is None or span.path not in files else line_of(files[span.path].before, old)
    return f"`{access.site.text}` (line {line})"


@dataclass(frozen=True, eq=False)
class _Wait:
    """A loop that goes on by what a read in it gives."""

    read: AccessEvent
    loop: LoopInstance
    around: tuple[str, ...]
    """The loops around it, from the outermost."""


def _waits(analysis: KernelAnalysis) -> list[_Wait]:
    events = analysis.events
    deciding = deciding_reads(events.kernel)
    inside = ((a, label) for a in events.accesses for label in a.loops if label in deciding)
    return [
        _Wait(access, events.loops[label], access.loops[: access.loops.index(label)])
        for access, label in inside
        if access.id in deciding[label].reads and _may_stay(access, events.loops[label], deciding[label])
    ]


def _may_stay(read: AccessEvent, loop: LoopInstance, deciding: Deciding) -> bool:
    """Whether a thread may read the same again and again. What is neither atomic nor volatile is taken for data where
    the loop itself moves on."""
    moves = deciding.advances or any(e is loop.counter for e in walk((read.root, read.offset)))
    return is_strong(read) or not moves


def _taken_and_given_back(launch: Launch, waits: Sequence[_Wait]) -> set[int]:
    """The accesses, by id, that take locks which whoever has them gives back without having waited for anybody."""
    found = set[int]()
    for lock in locks(launch):
        sections = [(t, r) for t in lock.takes for r in lock.releases if one_cell(r, t) and held(launch, lock, r, t)]
        if not (lock.others or lock.gates or any(_waits_inside(launch, waits, t, r) for t, r in sections)):
            found.update(t.id for t in lock.takes)
    return found


def _waits_inside(launch: Launch, waits: Sequence[_Wait], take: AccessEvent, release: AccessEvent) -> bool:
    between = passage(launch.events, release.id, take.id)
    at_barriers = between is None or any(b.id in between.passed for b in launch.events.barriers)
    return at_barriers or any(take.order < w.read.order < release.order for w in waits if w.read is not take)


_Found = tuple[_Wait, AccessEvent, BarrierEvent]


@dataclass(eq=False)
class _Spinning:
    """The waits of a kernel in one launch."""

    checker: RaceChecker
    waits: Sequence[_Wait]
    new: Sequence[BarrierEvent]
    old: Sequence[BarrierEvent]
    """Those of the block and the grid that were there."""
    pairs: list[Pair] = field(init=False)

    def __post_init__(self) -> None:
        free = _taken_and_given_back(self.checker.launch, self.waits)
        self.waits = [w for w in self.waits if w.read.id not in free]
        reads = {id(w.read) for w in self.waits}
        self.pairs = [p for p in conflicting(self.checker.launch) if not reads.isdisjoint((id(p.one), id(p.two)))]

    def for_the_group(self) -> Iterator[_Found]:
        """A wait, what another thread of those that a new barrier orders writes for it, and that barrier, where it is
        behind the one and in front of the other."""
        for wait, write, pair in self._signals():
            for barrier in self.new:
                if not self._stands_between(wait, barrier, write):
                    continue
                if any(self._meet(pair, mode) for mode in _modes(barrier)):
                    yield wait, write, barrier

    def by_way_of_others(self) -> Iterator[_Found]:
        """The same by way of other threads: behind the barrier is a write that they wait for, and what comes of it may
        be what the first wait is for."""
        signals = list(self._signals())
        writes = {write.id: write for _, write, _ in signals}.values()
        if not any(self._stands_between(w, b, write) for w in self.waits for b in self.new for write in writes):
            return
        ends = [(wait, write) for wait, write, pair in signals if self._meet(pair, "block")]
        far = [(wait, write, pair) for wait, write, pair in signals if self._meet(pair, "grid")]
        if not self._goes_one_way([pair if pair.one is wait.read else _turned(pair) for wait, _, pair in far]):
            ends += [(wait, write) for wait, write, _ in far]
        for wait in self.waits:
            for write in self._asked_for_by(wait, ends):
                for barrier in self.new:
                    between = self._stands_between(wait, barrier, write)
                    if between and any(self._of_two_threads(wait.read, write, mode) for mode in _modes(barrier)):
                        yield wait, write, barrier

    def _signals(self) -> Iterator[tuple[_Wait, AccessEvent, Pair]]:
        """What may end a wait."""
        for pair in self.pairs:
            for read, write in ((pair.one, pair.two), (pair.two, pair.one)):
                for wait in self.waits:
                    if wait.read is read and not changes_nothing(write) and wait.loop.label not in write.loops:
                        yield wait, write, pair

    def _meet(self, pair: Pair, mode: Mode, *extra: Expr) -> bool:
        """Whether two threads of a group may meet there, wherever barriers stand."""
        launch = self.checker.launch
        if mode == "grid" and (not pair.crosses_blocks or launch.grid == (1, 1, 1)):
            return False
        every = frozenset(b.id for b in launch.events.barriers)
        ways = cases(launch, pair.one, pair.two, mode, every).possible
        together = (launch.same_warp(mode),) if mode == "warp" else ()
        return self.checker.may_meet(pair, mode, ways, (*together, *extra))

    def _goes_one_way(self, pairs: Sequence[Pair]) -> bool:
        """Whether blocks wait for blocks of lower numbers only, or of higher ones: none waits for itself then, however
        many are in between. The pairs begin with what is read."""
        launch = self.checker.launch
        if launch.grid[1:] != (1, 1):
            return False
        first, second = (launch.side(E.BID[0], thread, "grid") for thread in (1, 2))
        directions = E.compare("lt", first, second), E.compare("lt", second, first)
        return any(not any(self._meet(pair, "grid", way) for pair in pairs) for way in directions)

    def _asked_for_by(self, wait: _Wait, ends: Sequence[tuple[_Wait, AccessEvent]]) -> list[AccessEvent]:
        """The writes without which a wait may not end, by way of others: a thread that writes for it waits itself
        in front of that."""
        reached, found = [wait], list[AccessEvent]()
        for one in reached:
            answers = [write for other, write in ends if other is one]
            behind = [w for w in self.waits if any(self._way(_at(w.read), _at(a)) is not None for a in answers)]
            reached += [w for w in behind if w not in reached]
            found += [write for w, write in ends if w in behind and write not in found]
        return found

    def _stands_between(self, wait: _Wait, barrier: BarrierEvent, write: AccessEvent) -> bool:
        """Whether threads come by a new barrier from the wait to the write, and no old one is on that way wherever the
        new one is: then the wait is for something else."""
        there, on = self._way(_behind(wait), _at(barrier)), self._way(_at(barrier), _at(write))
        if there is None or on is None:
            return False
        met = {c.condition for c in barrier.guard}
        # A barrier of the block keeps no other block from anything.
        old = (b for b in self.old if b.scope == "grid" or barrier.scope != "grid")
        passed = (b for b in old if any(first < b.order < last for first, last in (*there, *on)))
        return not any({c.condition for c in b.guard} <= met for b in passed)

    def _way(self, start: _Place, end: _Place) -> list[tuple[int, int]] | None:
        """The intervals of order numbers that a thread goes through at least, None where there is no way: forward, or
        by another iteration of a loop around both."""
        if start[0] < end[0]:
            return [(start[0], end[0])]
        around = [label for label in start[1] if label in end[1]]
        if not around:
            return None
        loop = self.checker.launch.events.loops[around[-1]]
        return [(start[0], loop.last), (loop.first, end[0])]

    def _of_two_threads(self, read: AccessEvent, write: AccessEvent, mode: Mode) -> bool:
        """Whether two threads of a group may make the two accesses, one each; undecided counts as yes."""
        launch = self.checker.launch
        parts = [launch.distinct(mode), *guard_of(launch, read, 1, mode), *guard_of(launch, write, 2, mode)]
        parts += [launch.same_warp(mode)] if mode == "warp" else []
        query = query_of(launch, parts, mode)
        return query is not None and not isinstance(self.checker.asker.answer(query, "brief"), Proved)


def _modes(barrier: BarrierEvent) -> tuple[Mode, ...]:
    """The pairs of threads that it keeps together."""
    if barrier.scope == "grid":
        return "block", "grid"
    return ("block",) if barrier.scope == "block" else ("warp",)


def _turned(pair: Pair) -> Pair:
    return Pair(pair.two, pair.one, pair.second, pair.first)


_Place = tuple[int, tuple[str, ...]]
"""An order number, and the loops around from the outermost."""


def _behind(wait: _Wait) -> _Place:
    return wait.loop.last, wait.around


def _at(event: AccessEvent | BarrierEvent) -> _Place:
    return event.order, event.loops
