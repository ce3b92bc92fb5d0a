"""Device assertions that can fail: a thread that comes to one and finds its condition false.

Asked of one arbitrary thread per assertion, under everything the launch says. What hangs on memory contents is left
alone: an assertion about data is there because its author did not know either.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from analyzers.ir import expr as E
from analyzers.ir.events import AssertionEvent
from analyzers.ir.expr import Expr
from analyzers.races.check import RaceChecker
from analyzers.races.conditions import query_of, split
from analyzers.races.threads import Launch
from analyzers.solve.query import Answer, Proved, Satisfied

_OPEN = ("param:", "host:", "bdim.", "gdim.", "smem.")
"""How the names of values begin that a launch may leave open."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An assertion, by its place in the events, and values under which a thread fails it."""

    assertion: int
    values: Mapping[Expr, int]
    open: bool
    """It depends on values that the launch does not fix."""


@dataclass
class Assertions:
    """What is known of all of them."""

    failures: list[Failure] = field(default_factory=list[Failure])
    all_hold: bool = True
    """Each was proved to hold for every thread that comes to it."""
    proofs: list[Proved] = field(default_factory=list[Proved])


def check_assertions(checker: RaceChecker) -> Assertions:
    """Every assertion of the kernel under the checker's launch context."""
    out = Assertions()
    for i, assertion in enumerate(checker.launch.events.assertions):
        found = _failing(checker, assertion)
        if isinstance(found, list):
            out.proofs += found
            continue
        out.all_hold = False
        if found is not None:
            out.failures.append(Failure(i, found.values, _is_open(checker.launch, assertion)))
    return out


def _failing(checker: RaceChecker, assertion: AssertionEvent) -> Satisfied | list[Proved] | None:
    """Values under which a thread fails it, or proofs that none does; nothing where that is not known or data
    decides."""
    launch = checker.launch
    # That subscripts on data stay in bounds is no way to the assertion: the replay finds out who comes there.
    way = [c.condition for c in assertion.guard if not (c.kind == "assume" and _has_data(launch, c.condition))]
    parts = [launch.side(c, 1, "block") for c in (*way, E.lnot(assertion.condition))]
    query = query_of(launch, parts, "block")
    if query is None:
        return []
    answers: list[Answer] = []
    for part in split(query):
        if checker.effort.is_spent:
            return None
        answers.append(checker.asker.answer(part))
    failing = next((a for a in answers if isinstance(a, Satisfied)), None)
    if failing is not None:
        return None if any(_has_data(launch, c) for c in (*way, assertion.condition)) else failing
    proofs = [a for a in answers if isinstance(a, Proved)]
    return proofs if len(proofs) == len(answers) else None


def _has_data(launch: Launch, condition: Expr) -> bool:
    return any(s.op == "opaque" for s in E.symbols(launch.bind(condition)))


def _is_open(launch: Launch, assertion: AssertionEvent) -> bool:
    conditions = [launch.bind(c) for c in (*(c.condition for c in assertion.guard), assertion.condition)]
    return any(str(s.value).startswith(_OPEN) for s in E.symbols(*conditions) if s.op == "sym")
