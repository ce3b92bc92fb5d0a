"""The ladder of solvers: each question goes to the cheapest rung that can answer it.

Takes a :class:`Query` and a :class:`Budget`, gives the answer of the first rung that has one, with the rung's name; a
:class:`Ladder` also counts answers and time per rung.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from analyzers.solve import smt
from analyzers.solve.query import Answer, Query, Undecided


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
        started = time.perf_counter()
        answer = smt.decide(query, self.budget.smt)
        self.milliseconds["smt"] = self.milliseconds.get("smt", 0.0) + (time.perf_counter() - started) * 1e3
        rung = "none" if isinstance(answer, Undecided) else answer.rung
        self.answered[rung] = self.answered.get(rung, 0) + 1
        return answer


def decide(query: Query, budget: Budget | None = None) -> Answer:
    """One query through the ladder."""
    return Ladder(budget or Budget()).decide(query)
