"""Threads that wait in a loop for what others write: a new barrier must not stand between the wait and that write.

Takes the kernels of an edited text, says where threads would wait in vain: those that write would be at the barrier,
to which those that wait never come. What a loop waits for is what it reads again and again and goes on by (`spins`),
however it was written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from analyzers.analysed import KernelAnalysis
from analyzers.ir import expr as E
from analyzers.ir.events import AccessEvent, BarrierEvent, KernelEvents, LoopInstance
from analyzers.ir.expr import I64, Expr
from analyzers.ir.spins import Deciding, deciding_reads
from analyzers.ir.staying import Staying, staying
from analyzers.model import SourceSpan, UnitResult, Verdict
from analyzers.races.check import RaceChecker
from analyzers.races.conditions import guard_of, query_of
from analyzers.races.critical_sections import held, locks, one_cell
from analyzers.races.ordering import cases
from analyzers.races.others import changes_nothing, is_strong, passage
from analyzers.races.pairs import Pair, conflicting
from analyzers.races.threads import Launch, Mode
from analyzers.solve.ladder import Ladder
from analyzers.solve.query import Answer, Proved, Query, Satisfied, Undecided
from quickfix.file_names import FileNames
from quickfix.naming import line_of
from quickfix.solving import Solving
from quickfix.verify import Files, findings_of, is_written, old_offset

_MOST_PARTS: Final = 2_000
"""Of the condition under which an iteration leaves everything as it was, before nobody is asked."""


def waits_in_vain(
    kernels: Iterable[KernelAnalysis], files: Files, before: UnitResult, solving: Solving
) -> Iterator[tuple[str, SourceSpan]]:
    """A sentence for each place, and the barrier there. `before`: the result of the old text."""
    for analysis in kernels:
        events = analysis.events
        new = new_barriers(analysis, before, files)
        old = [b for b in events.barriers if b.scope in ("block", "grid") and b not in new]
        waits = _waits(events, old, solving.ladder(), solving.poll) if new else []
        if not waits:
            continue
        for context in analysis.contexts:
            spinning = _Spinning(solving.checker(Launch(events, context)), waits, new, old)
            for found, others in ((spinning.for_the_group(), False), (spinning.by_way_of_others(), True)):
                for wait, write, barrier in found:
                    read, written = (in_words(e, files, before) for e in (wait.read, write))
                    in_vain = (
                        f"and {written} behind it may be what others wait for before they answer"
                        if others
                        else f"and those that write {written} would wait there for them"
                    )
                    stays = f"threads that wait for {read} would not come to `{barrier.site.text}`"
                    yield f"`{analysis.result.name}`: {stays}, {in_vain}", barrier.site.span


_MISSED: Final = frozenset({Verdict.BARRIER_DIVERGENCE})
_MISSED_BY_RETURN: Final = _MISSED | {Verdict.BARRIER_AFTER_EXIT}


def new_barriers(
    analysis: KernelAnalysis, result: UnitResult, files: Files, *, returned: bool = False
) -> list[BarrierEvent]:
    """Those that the old text, of which the `result` is, had not, where they stand or in what a macro stands for, and
    those that were missed there: some threads may come to them only now. `returned`: by threads that had returned,
    too."""
    events = analysis.events
    codes = _MISSED_BY_RETURN if returned else _MISSED
    findings = (f for k in result.kernels for f in findings_of(k) if f.code in codes)
    missed = {(f.accesses[0].span.path, f.accesses[0].span.start_offset) for f in findings}
    before = next((k for k in result.kernels if k.mangled == analysis.kernel.mangled), None)
    known = before.barrier_sites if before is not None else ()
    sites = {(s.path, s.start_offset) for s in known}.difference(missed)
    places = [(b, b.site.span) for b in events.barriers]
    new = [b for b, at in places if is_written(at, files) or (at.path, old_offset(at, files)) not in sites]
    more = len({b.id for b in events.barriers}) - (before.barriers if before is not None else 0)
    if len({b.id for b in new}) < more:
        new += [b for b in events.barriers if b.in_macro and b not in new]
    return new


def in_words(event: AccessEvent | BarrierEvent, files: Files, before: UnitResult) -> str:
    """With its line in the old text, if it stood there."""
    span = event.site.span
    old = old_offset(span, files)
    line = span.line if old is None or span.path not in files else line_of(files[span.path].before, old)
    return f"`{event.site.text}` (line {line}{FileNames.of_unit(before).of(span.path)})"


@dataclass(frozen=True, eq=False)
class _Wait:
    """A loop that goes on by what a read in it gives."""

    read: AccessEvent
    loop: LoopInstance
    around: tuple[str, ...]
    """The loops around it, from the outermost."""
    together: bool
    """Each iteration passes a barrier of the block: none of its threads is elsewhere meanwhile."""
    goes_on: _Loop


def _waits(events: KernelEvents, old: Iterable[BarrierEvent], ladder: Ladder, poll: Callable[[], None]) -> list[_Wait]:
    loops = {label: _Loop(deciding, ladder, poll) for label, deciding in deciding_reads(events.kernel).items()}
    together = {label for b in old for label in b.loops[-1:] if _in_each(label, b)}
    inside = ((a, label) for a in events.accesses for label in a.loops if label in loops)
    return [
        _Wait(access, events.loops[label], access.loops[: access.loops.index(label)], label in together, loops[label])
        for access, label in inside
        if loops[label].waits_with(access)
    ]


def _in_each(label: str, barrier: BarrierEvent) -> bool:
    """Whether whoever stays in the loop comes to the barrier in each iteration."""
    inside = barrier.loops.index(label)
    return not any(c.kind == "branch" for c in barrier.guard if c.depth > inside)


@dataclass(eq=False)
class _Loop:
    """A loop that goes on by what it reads."""

    deciding: Deciding
    ladder: Ladder
    poll: Callable[[], None]
    _ending: dict[tuple[int, Expr, Expr], bool] = field(default_factory=dict[tuple[int, Expr, Expr], bool], init=False)
    """By read, value and what is known of that: whether it may end by it."""
    _searching: set[int] = field(default_factory=set[int], init=False)
    """The reads of those asked about that look for a free place."""

    @cached_property
    def _staying(self) -> Staying:
        return staying(self.deciding.loop, self.deciding.flow)

    def waits_with(self, read: AccessEvent) -> bool:
        """Whether a thread may stay in it as long as nobody else writes. What is read neither atomically nor as
        volatile is taken for data, unless it certainly may. What asks again and again by atomics waits, with a limit of
        its own or at one place after the other, too, but not along links."""
        if read.id not in self.deciding.reads:
            return False
        if is_strong(read) and changes_nothing(read):
            return True
        loop, strong = self._staying, is_strong(read)
        answer = self._answer(loop.stays_with(read.id))
        if isinstance(answer, Satisfied) or (strong and not isinstance(answer, Proved)):
            return True
        if not strong:
            return isinstance(self._answer(loop.goes_on_with(read.id)), Satisfied)
        if loop.moves(read.id, loop.links):
            return False
        if read.atomic is not None and read.atomic.op == "cas" and loop.moves(read.id, loop.steps):
            self._searching.add(read.id)
        return not isinstance(self._answer(loop.comes_around_with(read.id)), Proved)

    def may_end_by(self, read: AccessEvent, write: AccessEvent) -> bool:
        """Whether it may be what this access writes that ends the loop, which `waits_with` the read. A `cas` that looks
        for a free place, as in a hash table, finds one as it goes: plain writes to places of certain numbers, as where
        the table is cleared, are no signals to it; those to a place that was found may give it back."""
        if read.id in self._searching and not (is_strong(write) or _was_found(write)):
            return False
        put = _put(write) if write.width == read.width else None
        if put is None:
            return True
        asked = read.id, *put
        if asked not in self._ending:
            value, known = put
            answer = self._answer(E.land(known, self._staying.ends_with(read.id, value)))
            self._ending[asked] = not isinstance(answer, Proved)
        return self._ending[asked]

    def _answer(self, condition: Expr) -> Answer:
        self.poll()
        if condition is E.FALSE:
            return Proved()
        if sum(1 for _ in E.walk((condition,))) > _MOST_PARTS:
            return Undecided("budget", "an iteration has too many ways")
        return self.ladder.decide(Query(E.conjuncts(condition)))


def _was_found(write: AccessEvent) -> bool:
    """Whether it depends on what was read where a write goes."""
    return any(e.op == "opaque" for e in E.walk((write.offset,)))


def _put(write: AccessEvent) -> tuple[Expr, Expr] | None:
    """What a write puts there and what is known of it: a constant, or with `cas` something new; None for anything."""
    atomic = write.atomic
    if atomic is None:
        return (write.value, E.TRUE) if write.value is not None and write.value.op == "const" else None
    if atomic.op in ("exch", "store", "cas") and atomic.constant is not None:
        return E.const(atomic.constant, I64), E.TRUE
    if atomic.op != "cas" or atomic.expected is None:
        return None
    ty = E.IntType(8 * write.width, True)
    new = E.sym("written", ty)
    return new, E.compare("ne", new, E.const(atomic.expected, ty))


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
        takes = {id(take) for lock in locks(self.checker.launch) for take in lock.takes}
        found = [p for p in conflicting(self.checker.launch) if not reads.isdisjoint((id(p.one), id(p.two)))]
        # What is waited for inside of a lock says more than the lock.
        self.pairs = sorted(found, key=lambda p: not takes.isdisjoint((id(p.one), id(p.two))))

    def for_the_group(self) -> Iterator[_Found]:
        """A wait, what another thread of those that a new barrier orders writes for it, and that barrier, where it is
        behind the one and in front of the other."""
        for wait, write, pair in self._signals():
            for barrier in self.new:
                if not self._stands_between(wait, barrier, write):
                    continue
                if any(self._meet(pair, mode) for mode in _modes(barrier) if mode == "grid" or not wait.together):
                    yield wait, write, barrier

    def by_way_of_others(self) -> Iterator[_Found]:
        """The same by way of other threads: behind the barrier is a write that they wait for, and what comes of it may
        be what the first wait is for."""
        signals = list(self._signals())
        writes = {write.id: write for _, write, _ in signals}.values()
        if not any(self._stands_between(w, b, write) for w in self.waits for b in self.new for write in writes):
            return
        ends = [(wait, write) for wait, write, pair in signals if not wait.together and self._meet(pair, "block")]
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
                    if wait.read is not read or changes_nothing(write) or _only_inside(wait, write):
                        continue
                    if wait.goes_on.may_end_by(read, write):
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
        """Whether blocks wait for blocks of lower numbers only, or of higher ones, or for what stands in front of what
        they write there themselves: none waits for itself then, however many are in between. The pairs begin with what
        is read."""
        launch = self.checker.launch
        if self._goes_by_cells(pairs):
            return True
        if launch.grid[1:] != (1, 1):
            return False
        first, second = (launch.side(E.BID[0], thread, "grid") for thread in (1, 2))
        directions = E.compare("lt", first, second), E.compare("lt", second, first)
        return any(not any(self._meet(pair, "grid", way) for pair in pairs) for way in directions)

    def _goes_by_cells(self, pairs: Sequence[Pair]) -> bool:
        """As where blocks take numbers of their own, in the order in which they come."""
        reads, writes = {id(p.one): p.one for p in pairs}.values(), {id(p.two): p.two for p in pairs}.values()
        if len({e.root for e in (*reads, *writes)}) > 1:
            return False
        return any(all(self._in_front(r, w, op) for r in reads for w in writes) for op in ("lt", "gt"))

    def _in_front(self, read: AccessEvent, write: AccessEvent, op: str) -> bool:
        """Whether the cell that a block reads is always on one side of those that it writes in the same iteration of
        the loops around both and in later ones: the others are written by then."""
        launch = self.checker.launch
        around = [launch.events.loops[label].counter for label in read.loops if label in write.loops]
        for writer in (1, 2):
            cells = launch.side(read.offset, 1, "block"), launch.side(write.offset, writer, "block")
            parts = [*guard_of(launch, read, 1, "block"), *guard_of(launch, write, writer, "block")]
            parts += [_not_before(launch, around)] if writer == 2 else []
            query = query_of(launch, [*parts, E.lnot(E.compare(op, *cells))], "block")
            if query is not None and not isinstance(self.checker.asker.answer(query, "brief"), Proved):
                return False
        return True

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
        # In which iteration a part of the way is, what is known of that tells.
        known = (*(barrier if part == there[-1] else wait.read for part in there), *(barrier, write)[: len(on)])
        # A barrier of the block keeps no other block from anything.
        old = [b for b in self.old if b.scope == "grid" or barrier.scope != "grid"]
        for (first, last), event in zip((*there, *on), known, strict=True):
            met = {c.condition for c in event.guard}
            if any(first < b.order < last and _apart(b) <= met for b in old):
                return False
        return True

    def _way(self, start: _Place, end: _Place) -> list[tuple[int, int]] | None:
        """The intervals of order numbers that a thread goes through at least, None where there is no way: forward, or
        by another iteration of a loop around both."""
        if start[0] < end[0]:
            return [(start[0], end[0])]
        around = [label for label in start[1] if label in end[1]]
        if not around:
            return None
        loop = self.checker.launch.events.loops[around[-1]]
        return [(start[0], loop.last + 1), (loop.first - 1, end[0])]

    def _of_two_threads(self, read: AccessEvent, write: AccessEvent, mode: Mode) -> bool:
        """Whether two threads of a group may make the two accesses, one each; undecided counts as yes."""
        launch = self.checker.launch
        parts = [launch.distinct(mode), *guard_of(launch, read, 1, mode), *guard_of(launch, write, 2, mode)]
        parts += [launch.same_warp(mode)] if mode == "warp" else []
        query = query_of(launch, parts, mode)
        return query is not None and not isinstance(self.checker.asker.answer(query, "brief"), Proved)


def _not_before(launch: Launch, counters: Sequence[Expr]) -> Expr:
    """That thread 2 is in the same iteration of nested loops as thread 1, or in a later one."""
    found = E.TRUE
    for counter in reversed(counters):
        one, two = (launch.side(counter, thread, "block") for thread in (1, 2))
        found = E.lor(E.compare("lt", one, two), E.land(E.compare("eq", one, two), found))
    return found


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


def _apart(barrier: BarrierEvent) -> set[Expr]:
    """What decides who comes there, of those that go on: they have ended the waits in front of it."""
    return {c.condition for c in barrier.guard if c.kind not in ("assume", "return")}


def _only_inside(wait: _Wait, write: AccessEvent) -> bool:
    """Whether a write is made in the loop that waits, and no loop around both makes it again behind that."""
    return wait.loop.label in write.loops and not wait.around
