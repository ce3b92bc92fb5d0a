"""Barriers that pairs of accesses need: without one of them the pair is seen to collide.

Takes the events of a kernel, its launches and the pairs that matter, says of sets of barriers whether a witness is
found at little cost. No witness proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from analyzers.ir.context import LaunchContext
from analyzers.ir.events import KernelEvents
from analyzers.model import CheckOptions
from analyzers.races.check import RaceChecker
from analyzers.races.ordering import cases
from analyzers.races.pairs import Pair, conflicting
from analyzers.races.threads import Launch, Mode
from analyzers.solve.effort import Effort
from analyzers.solve.ladder import Budget, Ladder

_MODES: tuple[Mode, ...] = ("block", "warp", "thread", "grid")


class Necessity:
    """Of one kernel under some of its launches."""

    def __init__(
        self,
        events: KernelEvents,
        contexts: Iterable[LaunchContext],
        options: CheckOptions,
        wanted: Callable[[Pair], bool],
        poll: Callable[[], None] = lambda: None,
    ) -> None:
        """`wanted`: the pairs that matter. `poll` is called between questions and may raise."""
        self.effort = Effort(options.kernel_effort)
        self._pairs: list[tuple[RaceChecker, Pair]] = []
        for context in contexts:
            launch = Launch(events, context)
            ladder = Ladder(Budget(smt=options.smt_budget))
            checker = RaceChecker(
                launch, ladder, options.warp_lockstep, poll, self.effort, wrap_around=options.wrap_around
            )
            self._pairs += [(checker, pair) for pair in conflicting(launch) if wanted(pair)]

    def is_needed(self, barriers: Collection[int]) -> bool:
        """Whether one of the pairs is seen to collide where the barriers with these numbers are absent."""
        gone = frozenset(barriers)
        ordered = (entry for entry in self._pairs if _orders(entry[0].launch, entry[1], gone))
        return any(checker.collides_without(pair, gone) for checker, pair in ordered)


def _orders(launch: Launch, pair: Pair, barriers: frozenset[int]) -> bool:
    return any(cases(launch, pair.one, pair.two, mode).ordering & barriers for mode in _MODES)
