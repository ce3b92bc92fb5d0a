"""Threads that wait in a loop for what others write: a new barrier must not stand between the wait and that write.

Takes the kernels of an edited text, says where threads would wait in vain: those that write would be at the barrier,
to which those that wait never come.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from analyzers.analysed import KernelAnalysis
from analyzers.ir.events import AccessEvent, BarrierEvent
from analyzers.model import CheckOptions
from analyzers.races.check import RaceChecker
from analyzers.races.ordering import cases
from analyzers.races.others import is_strong
from analyzers.races.pairs import conflicting
from analyzers.races.threads import Launch
from analyzers.solve.effort import Effort
from analyzers.solve.ladder import Budget, Ladder
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


def _signals_behind(
    checker: RaceChecker, new: Iterable[BarrierEvent], old: Iterable[BarrierEvent]
) -> Iterator[tuple[AccessEvent, AccessEvent, BarrierEvent]]:
    """What is read by a wait, the write of it by another thread of those that a new barrier orders, and that barrier,
    where it is behind the one and in front of the other. Where an old one is between them, too, the wait is for
    something else."""
    launch = checker.launch
    waits = {wait.label: wait for wait in launch.events.waits}
    every = frozenset(b.id for b in launch.events.barriers)
    for pair in conflicting(launch):
        read, write = sorted((pair.one, pair.two), key=lambda event: event.order)
        wait = next((waits[label] for label in read.loops if label in waits), None)
        if wait is None or not (is_strong(read) and is_strong(write) and write.writes) or wait.label in write.loops:
            continue
        if any(wait.order < b.order < write.order for b in old):
            continue
        for barrier in new:
            if wait.order < barrier.order < write.order:
                mode = "block" if barrier.scope == "block" else "warp"
                ways = cases(launch, pair.one, pair.two, mode, every).possible
                if checker.may_meet(pair, mode, ways, () if mode == "block" else (launch.same_warp(mode),)):
                    yield read, write, barrier
