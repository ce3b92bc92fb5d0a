"""How much work an analysis may do, counted in units that are the same on every machine.

A unit is about what one millisecond of a current processor does. What is charged depends on the questions alone: on
which rung answered, never on a clock and never on whether the answer was known already. The same kernel is therefore
given up at the same question wherever it is checked, and however often.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from analyzers.solve.query import WRAPS, Answer, Undecided

#: Units for an answer of each rung: what it takes, and the cheaper rungs that were tried before.
PRICES: Final[Mapping[str, int]] = {
    "algebra": 2,
    "enumerate": 6,
    "guess": 20,
    "cpsat": 20,
    "smt": 60,
    "cpsat-long": 500,
    "smt-long": 1000,
    "enumerate-long": 2500,
}
UNDECIDED: Final = 1000
"""Units for a question on which every rung spent its budget."""
INAPPLICABLE: Final = 150
"""Units for a question that the rungs were not made for."""


def price(answer: Answer) -> int:
    """The units that an answer of the ladder costs."""
    if isinstance(answer, Undecided) and answer.kind == WRAPS:
        return PRICES["enumerate"] + 2 * PRICES["algebra"]
    if isinstance(answer, Undecided):
        return UNDECIDED if answer.kind == "budget" else INAPPLICABLE
    return PRICES.get(answer.rung, PRICES["smt"])


@dataclass(slots=True)
class Effort:
    """What may be spent and what has been."""

    limit: int
    spent: int = 0

    def charge(self, units: int) -> None:
        self.spent += units

    @property
    def is_spent(self) -> bool:
        return self.spent >= self.limit

    @property
    def reason(self) -> Undecided:
        """Why what is left is not asked."""
        return Undecided("budget", f"the kernel takes more work than the {self.limit:,} units it may (`kernel-effort`)")
