"""Answers to the questions of one launch that witnesses of earlier questions suggest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from analyzers.ir.expr import Expr
from analyzers.races.asking import Asker
from analyzers.races.precedents import Places, Precedents, Question
from analyzers.solve.effort import PRICES
from analyzers.solve.query import Query, Satisfied


@dataclass
class Recall:
    """Of one launch context."""

    asker: Asker
    precedents: Precedents
    _chosen: Mapping[Expr, int] = field(default_factory=dict[Expr, int], init=False)
    """What was suggested last and this launch allows: so it is chosen for other questions too."""

    def answer(self, places: Places, question: Question, query: Query) -> Satisfied | None:
        """The answer that an earlier instance, or another pair, suggests."""
        whole = self.asker.whole(query)
        values = self.precedents.values(places, question, whole, self.asker.ladder.values, self._chosen)
        if values is None:
            return None
        self._chosen = values
        self.asker.effort.charge(PRICES["guess"])
        return Satisfied(values, "precedent")
