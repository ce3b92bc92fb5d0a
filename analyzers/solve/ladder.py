"""The ladder of solvers: each question goes to the cheapest rung that can answer it.

Takes a :class:`Query` and a :class:`Budget`, gives the answer of the first rung that has one, with the rung's name; a
:class:`Ladder` also counts answers and time per rung.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from analyzers.solve import algebra, smt
from analyzers.solve.check import satisfies
from analyzers.solve.prepare import Prepared, prepare
from analyzers.solve.query import Answer, Proved, Query, Satisfied, Undecided

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Budget:
    """How much each rung may spend, in units that do not depend on the machine."""

    smt: int = smt.DEFAULT_BUDGET
    """Z3 resource units per query."""


@dataclass(slots=True)
class Ladder:
    """Asks the rungs in turn and keeps count."""

    budget: Budget = field(default_factory=Budget)
    answered: dict[str, int] = field(default_factory=dict[str, int])
    """Rung -> queries it answered; ``none`` for undecided ones."""
    milliseconds: dict[str, float] = field(default_factory=dict[str, float])
    """Rung -> time spent in it, answered or not."""

    def decide(self, query: Query) -> Answer:
        """The first rung's answer that is one; the last rung's reason otherwise."""
        answer = self._climb(query)
        rung = "none" if isinstance(answer, Undecided) else answer.rung
        self.answered[rung] = self.answered.get(rung, 0) + 1
        return answer

    def _climb(self, query: Query) -> Answer:
        prepared = self._timed("algebra", lambda: prepare(query))
        answer = self._timed("algebra", lambda: algebra.decide(prepared))
        if isinstance(answer, Proved):
            return self._timed("algebra", lambda: algebra.strengthen(query, answer))
        return self._timed("smt", lambda: self._smt(prepared))

    def _smt(self, prepared: Prepared) -> Answer:
        answer = smt.decide(prepared.query, self.budget.smt)
        if isinstance(answer, Proved):
            return Proved(prepared.core(answer.core), answer.used_no_overflow or prepared.assumed, answer.rung)
        if isinstance(answer, Satisfied):
            values = prepared.restore(answer.values)
            if satisfies(prepared.original, values):
                return Satisfied(values, answer.rung)
            return smt.decide(prepared.original, self.budget.smt)
        return answer

    def _timed(self, rung: str, work: Callable[[], _T]) -> _T:
        started = time.perf_counter()
        try:
            return work()
        finally:
            self.milliseconds[rung] = self.milliseconds.get(rung, 0.0) + (time.perf_counter() - started) * 1e3


def decide(query: Query, budget: Budget | None = None) -> Answer:
    """One query through the ladder."""
    return Ladder(budget or Budget()).decide(query)
