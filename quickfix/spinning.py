"""Threads that wait in a loop for what others write: a new barrier must not stand between the wait and that write.

Takes the kernels of an edited text, says where threads would wait in vain: those that write would be at the barrier,
to which those that wait never come.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from analyzers.analysed import KernelAnalysis
from analyzers.ir.events import AccessEvent, BarrierEvent, WaitEvent
from analyzers.model import CheckOptions
from analyzers.races.check import RaceChecker
from analyzers.races.conditions import guard_of, query_of
from analyzers.races.ordering import cases
from analyzers.races.others import changes_nothing, is_strong
from analyzers.races.pairs import conflicting
from analyzers.races.threads import Launch, Mode
from analyzers.solve.effort import Effort
from analyzers.solve.ladder import Budget, Ladder
from analyzers.solve.query import Proved
from quickfix.verify import Files, old_offset


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
        places = [(b, b.site.span.path, old_offset(b.site.span, files)) for b in events.barriers if b.scope != "grid"]
        new = [b for b, path, at in places if at is None or (path, at) in missed]
        if not new or not events.waits:
            continue
        old = [b for b in events.barriers if b.scope == "block" and b not in new]
        for context in analysis.contexts:
            ladder = Ladder(Budget(smt=options.smt_budget))
            checker = RaceChecker(Launch(events, context), ladder, options.warp_lockstep, poll, effort)
            for read, write, barrier in _signals_behind(checker, new, old):
                waits, writes = (f"`{e.site.text}` (line {e.site.span.line})" for e in (read, write))
                yield (
                    f"`{analysis.result.name}`: threads that wait for {waits} would not come to `{barrier.site.text}`, "
                    f"and those that write {writes} would wait there for them"
                )
            for read, write, barrier in _signals_of_blocks(checker, new, old):
                waits, writes = (f"`{e.site.text}` (line {e.site.span.line})" for e in (read, write))
                yield (
                    f"`{analysis.result.name}`: threads that wait for {waits} would not come to `{barrier.site.text}`, "
                    f"and {writes} behind it may be what other blocks wait for before they answer"
                )


def _signals_behind(
    checker: RaceChecker, new: Iterable[BarrierEvent], old: Iterable[BarrierEvent]
) -> Iterator[tuple[AccessEvent, AccessEvent, BarrierEvent]]:
    """What is read by a wait, the write of it by another thread of those that a new barrier orders, and that barrier,
    where it is behind the one and in front of the other. Where an old one is between them, too, the wait is for
    something else."""
    launch = checker.launch
    waits = _waits(launch)
    every = frozenset(b.id for b in launch.events.barriers)
    for pair in conflicting(launch):
        read, write = sorted((pair.one, pair.two), key=lambda event: event.order)
        wait = _wait_of(waits, read)
        if wait is None or not (is_strong(read) and is_strong(write) and write.writes) or wait.label in write.loops:
            continue
        for barrier in new:
            if wait.order < barrier.order < write.order and not _is_passed_before(old, wait, barrier, write):
                mode = "block" if barrier.scope == "block" else "warp"
                ways = cases(launch, pair.one, pair.two, mode, every).possible
                if checker.may_meet(pair, mode, ways, () if mode == "block" else (launch.same_warp(mode),)):
                    yield read, write, barrier


def _signals_of_blocks(
    checker: RaceChecker, new: Iterable[BarrierEvent], old: Iterable[BarrierEvent]
) -> Iterator[tuple[AccessEvent, AccessEvent, BarrierEvent]]:
    """The same by way of another block: a wait in front of a new barrier, and behind that a write by another thread
    which threads of other blocks wait for. What comes of it may be what the first wait is for."""
    launch = checker.launch
    if launch.grid == (1, 1, 1):
        return
    waits = _waits(launch)
    waiting = [(a, w) for a in launch.events.accesses if is_strong(a) and (w := _wait_of(waits, a)) is not None]
    heard = list(_heard(checker, [read for read, _ in waiting]))
    for read, wait in waiting:
        for write in heard:
            for barrier in new:
                mode: Mode = "block" if barrier.scope == "block" else "warp"
                between = wait.order < barrier.order < write.order and wait.label not in write.loops
                if not between or _is_passed_before(old, wait, barrier, write):
                    continue
                if _are_of_two_threads(checker, read, write, mode):
                    yield read, write, barrier


def _is_passed_before(old: Iterable[BarrierEvent], wait: WaitEvent, barrier: BarrierEvent, write: AccessEvent) -> bool:
    """Whether an old barrier stands between the two, too, wherever the new one does."""
    met = {c.condition for c in barrier.guard}
    return any(wait.order < b.order < write.order and {c.condition for c in b.guard} <= met for b in old)


def _waits(launch: Launch) -> dict[str, WaitEvent]:
    """By the label of the loop."""
    return {wait.label: wait for wait in launch.events.waits}


def _wait_of(waits: Mapping[str, WaitEvent], access: AccessEvent) -> WaitEvent | None:
    return next((waits[label] for label in access.loops if label in waits), None)


def _heard(checker: RaceChecker, waiting: Collection[AccessEvent]) -> Iterator[AccessEvent]:
    """What writes what waits of other blocks may read."""
    launch, reads = checker.launch, {id(read) for read in waiting}
    told: set[int] = set()
    for pair in conflicting(launch):
        for read, write in ((pair.one, pair.two), (pair.two, pair.one)):
            signals = is_strong(write) and write.writes and not changes_nothing(write)
            if id(read) not in reads or id(write) in told or not signals or not pair.crosses_blocks:
                continue
            if checker.may_meet(pair, "grid", cases(launch, pair.one, pair.two, "grid").possible):
                told.add(id(write))
                yield write


def _are_of_two_threads(checker: RaceChecker, read: AccessEvent, write: AccessEvent, mode: Mode) -> bool:
    """Whether two threads of a group may make the two accesses, one each; undecided counts as yes."""
    launch = checker.launch
    parts = [launch.distinct(mode), *guard_of(launch, read, 1, mode), *guard_of(launch, write, 2, mode)]
    parts += [launch.same_warp(mode)] if mode == "warp" else []
    query = query_of(launch, parts, mode)
    return query is not None and not isinstance(checker.asker.answer(query, "brief"), Proved)
