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
from analyzers.ir import expr as E
from analyzers.ir.events import AccessEvent, BarrierEvent, Guard
from analyzers.ir.expr import Expr
from analyzers.model import Finding, FixRefusal
from analyzers.races.check import RaceChecker
from analyzers.races.conditions import query_of, split
from analyzers.races.pairs import conflicting
from analyzers.races.threads import Launch
from analyzers.solve.effort import price
from analyzers.solve.query import Proved, Query
from quickfix.session import Session
from quickfix.solving import Solving
from quickfix.verify import PairKey


def turned_round(
    session: Session,
    kernels: Sequence[KernelAnalysis],
    missed: Sequence[Finding],
    races: Collection[PairKey] | None = None,
) -> FixRefusal | None:
    """None: no two accesses, or none of those that `races` are about, as far as the barriers tell what was meant."""
    places = {(a.span.path, a.span.start_offset) for f in missed for a in f.accesses[:1]}
    for which, checker in _checkers(session, kernels):
        known = session.exclusions.setdefault(which, {})
        found = next(_turned(checker, places, races, known), None)
        if found is not None:
            return _said(found)
    return None


def orders_more(session: Session, kernels: Sequence[KernelAnalysis], missed: Sequence[Finding]) -> FixRefusal | None:
    """None: nothing that is no race without the barriers."""
    places = {(a.span.path, a.span.start_offset) for f in missed for a in f.accesses[:1]}
    for _, checker in _checkers(session, kernels):
        every = checker.launch.events.barriers
        barriers = [b for b in every if (b.site.span.path, b.site.span.start_offset) in places]
        if orders_beyond_races(checker, barriers):
            one = len(places) == 1
            return FixRefusal(
                f"The {'barrier orders' if one else 'barriers order'} more than races: atomic or volatile accesses, or "
                f"what threads print, would come in any order without {'it' if one else 'them'}."
            )
    return None


def _checkers(session: Session, kernels: Sequence[KernelAnalysis]) -> Iterator[tuple[tuple[str, int], RaceChecker]]:
    """Of each launch of the kernels, with the name of the kernel and the number of the launch. What they spend is
    counted."""
    solving = Solving.of(session.request, session.poll)
    try:
        for analysis in kernels:
            for number, context in enumerate(analysis.contexts):
                yield (analysis.kernel.mangled, number), solving.checker(Launch(analysis.events, context))
    finally:
        session.charge(solving.effort.spent)


@dataclass(frozen=True, slots=True)
class _Turned:
    later: AccessEvent
    """Behind a barrier, and first in the text."""
    earlier: AccessEvent
    """In front of the other one."""
    barriers: tuple[BarrierEvent, BarrierEvent]


def _turned(
    checker: RaceChecker,
    missed: Collection[tuple[str, int]],
    races: Collection[PairKey] | None,
    known: dict[frozenset[Expr], bool],
) -> Iterator[_Turned]:
    """`known`: what has been asked about conditions already."""
    launch = checker.launch
    barriers = [b for b in launch.events.barriers if b.scope in ("block", "warp", "tile") and not b.within]
    passed: dict[int, list[BarrierEvent]] = {}

    def passed_by(access: AccessEvent) -> list[BarrierEvent]:
        if access.id not in passed:
            passed[access.id] = [b for b in barriers if _passes(checker, access, b, known)]
        return passed[access.id]

    own = [b for b in barriers if (b.site.span.path, b.site.span.start_offset) in missed]
    for pair in conflicting(launch) if len(barriers) > 1 else ():
        first, last = sorted((pair.one, pair.two), key=lambda event: event.order)
        if not any(b.order < first.order for b in own) or not any(b.order > last.order for b in barriers):
            continue
        if races is not None and ("race", frozenset({_place(first), _place(last)})) not in races:
            continue
        behind = [b for b in passed_by(first) if b.order < first.order]
        if len(behind) <= sum(b.order < last.order for b in passed_by(last)):
            continue
        ahead = [b for b in passed_by(last) if b.order > last.order]
        found = ((a, b) for a in behind if a in own for b in ahead if _exclude(checker, a.guard, b.guard, known))
        matched = next(found, None)
        absent = frozenset(b.id for b in (*own, *(matched or ())))
        if matched is not None and not checker.is_proved_without(pair, absent, together=True):
            yield _Turned(first, last, matched)


def _place(event: AccessEvent) -> tuple[tuple[str, int], ...]:
    return tuple((span.path, span.start_offset) for span in (*event.site.calls, event.site.span))


def _passes(
    checker: RaceChecker, access: AccessEvent, barrier: BarrierEvent, known: dict[frozenset[Expr], bool]
) -> bool:
    """Whether each thread that gets to the access gets to the barrier, in the same iterations, as far as known."""
    if access.loops[: len(barrier.loops)] != barrier.loops:
        return False
    met = dict.fromkeys(c.condition for c in access.guard)
    more = {c.condition: E.lnot(c.condition) for c in barrier.guard if c.kind != "return" and c.condition not in met}
    if any(opposite in met for opposite in more.values()):
        return False
    return all(_is_never(checker, (*met, opposite), known) for opposite in more.values())


def _exclude(checker: RaceChecker, one: Guard, two: Guard, known: dict[frozenset[Expr], bool]) -> bool:
    """Whether no thread meets the conditions of both, as far as known."""
    return _is_never(checker, [c.condition for c in (*one, *two)], known)


def _is_never(checker: RaceChecker, every: Sequence[Expr], known: dict[frozenset[Expr], bool]) -> bool:
    """Whether no thread meets all conditions; False where that takes too much work."""
    conditions = frozenset(every)
    if conditions not in known:
        sides = (checker.launch.side(c, 1, "block") for c in dict.fromkeys(every))
        query = query_of(checker.launch, sides, "block")
        known[conditions] = query is None or (not checker.effort.is_spent and all(_holds_not(checker, query)))
    return known[conditions]


def _holds_not(checker: RaceChecker, query: Query) -> Iterator[bool]:
    """Of the parts of a question, whether they are proved to have no answer."""
    for part in split(query):
        answer = checker.ladder.decide(part)
        checker.effort.charge(price(answer))
        yield isinstance(answer, Proved)


def _said(found: _Turned) -> FixRefusal:
    (one, two), later, earlier = (b.site.span.line for b in found.barriers), found.later.site, found.earlier.site
    return FixRefusal(
        f"Threads that wait at the barrier in line {one} and others at that in line {two} may wait for each other: "
        f"`{earlier.text}` (line {earlier.span.line}), in front of the one, would come after `{later.text}` "
        f"(line {later.span.line}), behind the other."
    )
