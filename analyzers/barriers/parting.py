"""How two threads of a group part on the way to a barrier: one comes to it, the other one is kept away by a condition.

The two follow the same way, in equal iterations of the loops around the condition, up to the condition. Where that is
what keeps a thread in a loop, the second thread may have left the loop in an earlier iteration than the one in which
the first thread comes to the barrier: it parts in that iteration, which the first thread goes on from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from analyzers.ir import expr as E
from analyzers.ir.evaluate import evaluate
from analyzers.ir.events import BarrierEvent, Conjunct
from analyzers.ir.expr import I64, Expr
from analyzers.races.threads import Launch, Mode

MAX_TURNS: Final = 4096
"""Iterations that are looked at from the first one on, beside the last ones before."""

MAX_LEFT_BEFORE: Final = 16
"""Values that are tried, one after the other, where the thread had left a loop around the barrier before."""

_ONE_BY_ONE: Final = 4
"""Of these; then the first iterations are excluded together."""
_TOGETHER: Final = 64
"""Iterations that are, and the last ones before that are looked at."""

_STAYING: Final = ("loop", "break", "return")


def guard_of(barrier: BarrierEvent) -> list[Conjunct]:
    """The conditions on the way to a barrier, with those that a thread has not returned in a branch beside it."""
    found: list[Conjunct] = []
    for i, c in enumerate(barrier.guard):
        found += [departure for place, departure in barrier.departures if place == i]
        found.append(c)
    return found


def parting(launch: Launch, barrier: BarrierEvent, guard: Sequence[Conjunct], mode: Mode, index: int) -> list[Expr]:
    """Thread 1 executes the barrier; thread 2 follows the same way up to the condition ``guard[index]``, which is false
    for it."""
    loops, cause = launch.events.loops, guard[index]
    parts: list[Expr] = [launch.distinct(mode)]
    if mode == "warp":
        parts.append(launch.same_warp("warp"))
    around = barrier.loops[: cause.depth]
    parts += [E.compare("eq", *(launch.side(loops[ell].counter, t, mode) for t in (1, 2))) for ell in around]
    parts += [launch.side(c.condition, 1, mode) for c in guard]
    met, missed = [c.condition for c in guard[:index]], cause.condition
    if around and cause.kind in _STAYING:
        counter = loops[around[-1]].counter
        turn = E.sym(f"turn:{around[-1]}", I64)
        then = E.substitution({counter: turn})
        met, missed = [then(c) for c in met], then(missed)
        last = launch.side(counter, 1, mode)
        parts += [E.compare("le", E.const(0, I64), turn), E.compare("le", turn, last)]
        parts += [launch.side(then(c.condition), 1, mode) for c in guard[: index + 1] if c.depth == cause.depth]
    parts += [launch.side(c, 2, mode) for c in met]
    parts.append(E.lnot(launch.side(missed, 2, mode)))
    return parts


def that_stayed(
    launch: Launch,
    barrier: BarrierEvent,
    guard: Sequence[Conjunct],
    mode: Mode,
    parts: Sequence[Expr],
    ask: Callable[[Sequence[Expr]], Mapping[Expr, int] | None],
) -> tuple[Mapping[Expr, int] | None, bool]:
    """Values that ``ask`` finds for ``parts`` with which thread 1 has not left a loop around the barrier in an earlier
    iteration; where there are none, whether that is certain."""
    certain = True
    for rounds in range(MAX_LEFT_BEFORE):
        values = ask(parts)
        if values is None:
            return None, certain
        excluded = _left_before(launch, barrier, guard, mode, values)
        if excluded is None:
            return values, True
        condition, known = excluded
        certain = certain and known
        parts = [*parts, condition]
        if rounds == _ONE_BY_ONE:
            stayed = _staying(launch, barrier, guard)
            parts += [_stays(launch, c, counter, turn, mode) for c, counter in stayed for turn in range(_TOGETHER)]
    return None, False


def _stays(launch: Launch, c: Conjunct, counter: Expr, turn: int, mode: Mode) -> Expr:
    """Thread 1 stays in a loop in an iteration, or comes to the barrier before."""
    stayed = launch.side(E.substitute(c.condition, {counter: E.const(turn, I64)}), 1, mode)
    return E.lor(stayed, E.compare("le", launch.side(counter, 1, mode), E.const(turn, I64)))


def _left_before(
    launch: Launch, barrier: BarrierEvent, guard: Sequence[Conjunct], mode: Mode, values: Mapping[Expr, int]
) -> tuple[Expr, bool] | None:
    """A condition that does not hold for thread 1 with these values, and whether it does for whoever comes to the
    barrier: that the thread stayed in a loop in an iteration before. Of too many iterations not all are looked at, and
    the condition is that there are fewer."""
    for c, counter in _staying(launch, barrier, guard):
        mine = launch.side(counter, 1, mode)
        last = values.get(mine, 0)
        for turn in (*range(last - 1, max(last - _TOGETHER, 0) - 1, -1), *range(min(last - _TOGETHER, MAX_TURNS))):
            stayed = _stays(launch, c, counter, turn, mode)
            if evaluate(stayed, values) == 0:
                return stayed, True
        if last - _TOGETHER > MAX_TURNS:
            return E.compare("le", mine, E.const(MAX_TURNS, I64)), False
    return None


def _staying(launch: Launch, barrier: BarrierEvent, guard: Sequence[Conjunct]) -> Iterator[tuple[Conjunct, Expr]]:
    """The conditions that every iteration of a loop around a barrier begins with, and the loop's counter: those before
    any branch in it."""
    branched: set[int] = set()
    for c in guard:
        if c.kind == "branch":
            branched.add(c.depth)
        elif c.kind in _STAYING and c.depth and c.depth not in branched:
            yield c, launch.events.loops[barrier.loops[c.depth - 1]].counter
