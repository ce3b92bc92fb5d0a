"""What a barrier costs, to choose between placements and to tell the user.

The model is that of AutoSync: a factor per enclosing loop and per enclosing condition, other than one that the compiler
knows. Among places of equal cost those that fewer instances of a template have win, and of them the later one, as long
as it reads well.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Final

from analyzers.analysed import KernelAnalysis
from analyzers.frontend.gaps import Body, FunctionTree, Gap, Statement, falls_through
from analyzers.ir.evaluate import evaluate
from analyzers.ir.events import KernelEvents, LoopInstance
from analyzers.ir.expr import Expr, symbols
from analyzers.model import SourceSpan
from analyzers.races.threads import Launch
from quickfix.file_names import FileNames
from quickfix.paths import Candidate, Key

LOOP_COST: Final = 100
CONDITIONAL_COST: Final = Fraction(1, 2)
VARYING_COST: Final = 10**6
"""Factor for places that, as far as the events of the kernel show, not all threads reach together: a last resort."""
MAX_TRIPS: Final = 4096
"""Loops that iterate more often are not counted."""


def price(candidate: Candidate) -> Fraction:
    """Expected executions: LC^loops x IC^conditionals."""
    return Fraction(LOOP_COST) ** len(candidate.loops) * CONDITIONAL_COST**candidate.conditionals


def weights(candidates: Sequence[Candidate], varying: frozenset[Key] = frozenset()) -> dict[Key, int]:
    """Integer weights in which price comes first and readability only decides between places of equal price."""
    ordered = sorted(candidates, key=lambda c: _source_order(c.gap))
    deepest = max((c.conditionals for c in ordered), default=0)
    most = max((c.chosen for c in ordered), default=0)
    points = {c.key: _awkwardness(c) + 10 * (most - c.chosen) for c in ordered}
    ties = {c.key: points[c.key] * len(ordered) + rank for rank, c in enumerate(reversed(ordered))}
    unit = sum(ties.values()) + 1
    return {
        c.key: int(price(c) * 2**deepest) * (VARYING_COST if c.key in varying else 1) * unit + ties[c.key]
        for c in ordered
    }


def _source_order(gap: Gap) -> tuple[str, int, int]:
    before = gap.before
    return (gap.function.path, before.end if before else gap.body.start, gap.index)


def _awkwardness(candidate: Candidate) -> int:
    """What speaks against a place: threads may have returned, braces are needed, it is not in the kernel itself, or
    other threads come to it by a label of their own."""
    gap = candidate.gap
    before, after = gap.before, gap.after
    points = 16 * _after_return(gap) + 8 * (not gap.body.braced) + 4 * candidate.called
    if before is not None and after is not None:
        points += 2 * (before.kind == after.kind == "declaration")
    if before is not None and before.kind == "label":
        points += 1
    return points + _fallen_into(gap)


def _fallen_into(gap: Gap) -> bool:
    """It is in a section of a `switch` that the one in front of it goes on into."""
    bodies = [*(step.body for step in gap.steps[1:]), gap.body]
    return any(_is_fallen_into(step.statement, body) for step, body in zip(gap.steps, bodies, strict=False))


def _is_fallen_into(owner: Statement, body: Body) -> bool:
    if body.role != "case":
        return False
    index = next(i for i, section in enumerate(owner.bodies) if section.start == body.start)
    return index > 0 and falls_through(owner.bodies[index - 1])


def _after_return(gap: Gap) -> bool:
    """A thread may have left the function before it gets here."""
    ways: Iterable[tuple[Body, int]] = [*((step.body, step.index) for step in gap.steps), (gap.body, gap.index)]
    return any(_returns(body, index) for body, index in ways)


def _returns(body: Body, end: int) -> bool:
    return any(
        (statement.kind == "jump" and statement.call == "return")
        or any(_returns(inner, len(inner.statements)) for inner in statement.bodies)
        for statement in body.statements[:end]
    )


# --- in words -------------------------------------------------------------------------------------------------


AT_MOST: Final = "at most "
NO_MORE: Final = "no barrier more"
"""What as many barriers cost that are executed as often as those whose place they take."""

Trips = Mapping[tuple[str, int], int]
"""How often loops iterate, where that is known: (path, line of the loop) -> iterations."""


def trips_of(kernels: Iterable[KernelAnalysis]) -> Trips:
    """The loops that iterate equally often in every kernel and launch, as far as their own test tells."""
    counts: dict[tuple[str, int], set[int | None]] = {}
    for analysis in kernels:
        events = analysis.events
        tests = {label: _own_tests(events, label) for label in events.loops}
        for context in analysis.contexts:
            launch = Launch(events, context)
            for label, loop in events.loops.items():
                place = (loop.site.span.path, loop.site.span.line)
                counts.setdefault(place, set()).add(_iterations(launch, loop, tests[label]))
    return {place: found for place, (found, *more) in counts.items() if found is not None and not more}


def _own_tests(events: KernelEvents, label: str) -> Expr | None:
    """The test of a loop in terms of its counter; None when the loop can also be left in another way."""
    depth = next((len(e.loops[: e.loops.index(label)]) + 1 for e in events.accesses if label in e.loops), 0)
    counter = events.loops[label].counter
    found: set[Expr] = set()
    for event in (*events.accesses, *events.barriers):
        if label not in event.loops:
            continue
        for conjunct in event.guard:
            if conjunct.kind == "break" and conjunct.depth >= depth:
                return None
            if conjunct.kind == "loop" and counter in symbols(conjunct.condition):
                found.add(conjunct.condition)
    return found.pop() if len(found) == 1 else None


def _iterations(launch: Launch, loop: LoopInstance, test: Expr | None) -> int | None:
    if test is None:
        return None
    bound = launch.bind(test)
    if symbols(bound) != frozenset({loop.counter}):
        return None
    for count in range(MAX_TRIPS):
        if not evaluate(bound, {loop.counter: count}):
            return count
    return None


Called = tuple[str, int]
"""A function: its path, and the offset at which it starts."""


def called_often(
    barriers: Iterable[Candidate],
    kernels: Iterable[KernelAnalysis],
    function_at: Callable[[str, int], FunctionTree | None],
) -> frozenset[Called]:
    """The functions with some of the barriers that a kernel calls in several places; ``function_at``: path and offset
    in the text that was analysed -> the function around it."""
    wanted = {_called(c) for c in barriers if c.called}
    found: set[Called] = set()
    for analysis in kernels if wanted else ():
        calls: dict[Called, set[tuple[SourceSpan, ...]]] = {}
        for site in {e.site for e in (*analysis.events.accesses, *analysis.events.barriers)}:
            for depth, inner in enumerate((*site.calls, site.span)[1:], 1):
                function = function_at(inner.path, inner.start_offset)
                if function is not None and (function.path, function.start) in wanted:
                    calls.setdefault((function.path, function.start), set()).add(site.calls[:depth])
        found.update(called for called, chains in calls.items() if len(chains) > 1)
    return frozenset(found)


def _called(candidate: Candidate) -> Called:
    return candidate.gap.function.path, candidate.gap.function.start


def words(
    barriers: Iterable[Candidate],
    trips: Trips,
    names: FileNames,
    kind: str = "barrier",
    often: Container[Called] = frozenset(),
    sign: str = "+",
) -> str:
    """`+1 barrier × 8 iterations`, `+2 barriers, +1 barrier per iteration of the loop at line 7`; `at most` that many
    where some iterations do not come to it. ``often``: functions that are called in several places (`called_often`),
    of which it is said what a call costs. ``sign``: another one for what is no longer there."""

    def shape(c: Candidate) -> tuple[tuple[tuple[str, int], ...], bool, str]:
        if _called(c) not in often:
            return c.loops, c.sometimes, ""
        name = "the lambda" if c.gap.function.is_lambda else c.gap.function.name
        return c.loops[c.outside :], c.sometimes, f" in each call of {name}"

    alike = Counter(map(shape, barriers))
    return ", ".join(
        f"{sign}{_many(count, kind)}{_times(loops, trips, names, AT_MOST * sometimes)}{where}"
        for (loops, sometimes, where), count in sorted(alike.items())
    )


def of_several(costs: Mapping[str, int]) -> str:
    """What several repairs cost together. `costs`: how many of them cost the same."""
    more = [each for each in costs.items() if each[0] not in ("", NO_MORE)]
    found = (cost if count == 1 else f"{count} times {cost}" for cost, count in more)
    return ", ".join(found) or NO_MORE * (NO_MORE in costs)


def executions(loops: Sequence[tuple[str, int]], trips: Trips) -> tuple[int, tuple[tuple[str, int], ...]]:
    """How often a thread comes to a place in these loops: that many times in each iteration of those loops of which it
    is not known how often they iterate."""
    unknown = tuple(loop for loop in loops if trips.get(loop) is None)
    return math.prod(trips.get(loop) or 1 for loop in loops if loop not in unknown), unknown


def less_often(
    before: Sequence[tuple[str, int]],
    after: Sequence[tuple[str, int]],
    trips: Trips,
    names: FileNames,
    *,
    sometimes: bool = False,
) -> str:
    """Of a barrier that leaves loops: `64 barriers become 1`; `at most` that many where some iterations of the loops
    that it stays in do not come to it."""
    (many, inner), (few, outer) = executions(before, trips), executions(after, trips)
    here, there = (f" per iteration of {_loop(loops[-1], names)}" if loops else "" for loops in (inner, outer))
    become = "becomes" if many == 1 else "become"
    limit = AT_MOST * sometimes
    return f"{limit}{_many(many, 'barrier')}{here if inner != outer else ''} {become} {limit}{few}{there}"


def _times(loops: Sequence[tuple[str, int]], trips: Trips, names: FileNames, limit: str) -> str:
    if not loops:
        return ""
    counts = [trips.get(loop) for loop in loops]
    known = [c for c in counts if c is not None]
    if len(known) == len(counts):
        return f" × {limit}{_many(math.prod(known), 'iteration')}"
    return f" {limit}per iteration of {_loop(loops[-1], names)}"


def _loop(loop: tuple[str, int], names: FileNames) -> str:
    return f"the loop at {names.at(*loop)}"


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"
