"""What barriers that some threads miss were meant to order, beside races.

Takes a session, kernels and such barriers. Says which two accesses would change their order where the text decides
about it, once the barriers are gone or all threads get to each of them: threads of different branches wait for each
other at different barriers, and what is in front of the one comes before what is behind the other, wherever they stand
(`turned_round`). Says whether barriers order what is no race without them: atomic operations, output (`orders_more`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from analyzers.analysed import KernelAnalysis
from analyzers.barriers.redundancy import orders_beyond_races
from analyzers.ir.events import AccessEvent, BarrierEvent, Guard
from analyzers.model import Finding, FixRefusal
from analyzers.questions import settings
from analyzers.races.check import RaceChecker
from analyzers.races.conditions import query_of, split
from analyzers.races.pairs import conflicting
from analyzers.races.threads import Launch
from analyzers.requests import CancelledError
from analyzers.solve.effort import Effort
from analyzers.solve.ladder import Budget, Ladder
from analyzers.solve.query import Proved
from quickfix.session import Session
from quickfix.verify import PairKey


def turned_round(
    session: Session,
    kernels: Sequence[KernelAnalysis],
    missed: Sequence[Finding],
    races: Collection[PairKey] | None = None,
) -> FixRefusal | None:
    """None: no two accesses, or none of those that `races` are about, as far as the barriers tell what was meant."""
    places = {(a.span.path, a.span.start_offset) for f in missed for a in f.accesses[:1]}
    for checker in _checkers(session, kernels):
        found = next(_turned(checker, places, races), None)
        if found is not None:
            return _said(found)
    return None


def orders_more(session: Session, kernels: Sequence[KernelAnalysis], missed: Sequence[Finding]) -> FixRefusal | None:
    """None: nothing that is no race without the barriers."""
    places = {(a.span.path, a.span.start_offset) for f in missed for a in f.accesses[:1]}
    for checker in _checkers(session, kernels):
        every = checker.launch.events.barriers
        barriers = [b for b in every if (b.site.span.path, b.site.span.start_offset) in places]
        if orders_beyond_races(checker, barriers):
            one = len(places) == 1
            return FixRefusal(
                f"The {'barrier orders' if one else 'barriers order'} more than races: atomic or volatile accesses, or "
                f"what threads print, would come in any order without {'it' if one else 'them'}."
            )
    return None


def _checkers(session: Session, kernels: Sequence[KernelAnalysis]) -> Iterator[RaceChecker]:
    """Of each launch of the kernels. What they spend is counted."""
    options, effort = settings(session.request), Effort(session.request.options.kernel_effort)

    def poll() -> None:
        if session.stop():
            raise CancelledError

    try:
        for analysis in kernels:
            for context in analysis.contexts:
                launch = Launch(analysis.events, context)
                ladder = Ladder(Budget(smt=options.smt_budget))
                yield RaceChecker(launch, ladder, options.warp_lockstep, poll, effort)
    finally:
        session.charge(effort.spent)


@dataclass(frozen=True, slots=True)
class _Turned:
    later: AccessEvent
    """Behind a barrier, and first in the text."""
    earlier: AccessEvent
    """In front of the other one."""
    barriers: tuple[BarrierEvent, BarrierEvent]


def _turned(
    checker: RaceChecker, missed: Collection[tuple[str, int]], races: Collection[PairKey] | None
) -> Iterator[_Turned]:
    launch = checker.launch
    barriers = [b for b in launch.events.barriers if b.scope in ("block", "warp") and not b.within]
    own = [b for b in barriers if (b.site.span.path, b.site.span.start_offset) in missed]
    matched = [(a, b) for a in own for b in barriers if a.order < b.order and _exclude(checker, a.guard, b.guard)]
    absent = frozenset(b.id for b in (*own, *(b for pair in matched for b in pair)))
    for pair in conflicting(launch) if matched else ():
        first, last = sorted((pair.one, pair.two), key=lambda event: event.order)
        if races is not None and ("race", frozenset({_place(first), _place(last)})) not in races:
            continue
        for one, two in matched:
            between = one.order < first.order < last.order < two.order
            if not (between and _passes(first, one) and _passes(last, two)):
                continue
            counts = [sum(b.order < e.order and _passes(e, b) for b in barriers) for e in (first, last)]
            if counts[0] > counts[1] and not checker.is_proved_without(pair, absent):
                yield _Turned(first, last, (one, two))


def _place(event: AccessEvent) -> tuple[tuple[str, int], ...]:
    return tuple((span.path, span.start_offset) for span in (*event.site.calls, event.site.span))


def _passes(access: AccessEvent, barrier: BarrierEvent) -> bool:
    """Whether each thread that gets to the access gets to the barrier, in the same iterations."""
    conditions = {c.condition for c in access.guard}
    within = access.loops[: len(barrier.loops)] == barrier.loops
    return within and all(c.condition in conditions for c in barrier.guard if c.kind != "return")


def _exclude(checker: RaceChecker, one: Guard, two: Guard) -> bool:
    """Whether no thread meets the conditions of both."""
    conditions = dict.fromkeys(c.condition for c in (*one, *two))
    query = query_of(checker.launch, [checker.launch.side(c, 1, "block") for c in conditions], "block")
    return query is None or all(isinstance(checker.ladder.decide(part), Proved) for part in split(query))


def _said(found: _Turned) -> FixRefusal:
    (one, two), later, earlier = (b.site.span.line for b in found.barriers), found.later.site, found.earlier.site
    return FixRefusal(
        f"Threads that wait at the barrier in line {one} and others at that in line {two} may wait for each other: "
        f"`{earlier.text}` (line {earlier.span.line}), in front of the one, would come after `{later.text}` "
        f"(line {later.span.line}), behind the other."
    )
