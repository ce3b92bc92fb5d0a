"""How the repairs ask the engine's solvers about a text: within which limits, on whose account.

Takes a request, gives the checkers of its launches; counts what they spend.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from analyzers.model import CheckOptions
from analyzers.questions import settings
from analyzers.races.check import RaceChecker
from analyzers.races.threads import Launch
from analyzers.requests import CheckRequest
from analyzers.solve.effort import Effort
from analyzers.solve.ladder import Budget, Ladder

_FEW: Final = 2_000
"""Units of work for questions beside a repair."""


@dataclass(frozen=True, slots=True)
class Solving:
    """Questions that share one account."""

    options: CheckOptions
    effort: Effort
    """What was spent; where that is all, questions stay undecided."""
    poll: Callable[[], None]
    """Called between questions; may raise."""

    @staticmethod
    def of(request: CheckRequest, poll: Callable[[], None]) -> Solving:
        """With nothing spent yet."""
        return Solving(settings(request), Effort(request.options.kernel_effort), poll)

    @staticmethod
    def short(request: CheckRequest, poll: Callable[[], None]) -> Solving:
        """The same for a few questions beside a repair."""
        return Solving(settings(request), Effort(min(request.options.kernel_effort, _FEW)), poll)

    def ladder(self) -> Ladder:
        return Ladder(Budget(smt=self.options.smt_budget))

    def checker(self, launch: Launch) -> RaceChecker:
        lockstep, wrapping = self.options.warp_lockstep, self.options.wrap_around
        return RaceChecker(launch, self.ladder(), lockstep, self.poll, self.effort, wrap_around=wrapping)
