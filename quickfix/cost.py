"""What a barrier costs, to choose between placements and to tell the user.

The model is that of AutoSync: a factor per enclosing loop and per enclosing condition. Among places of equal cost the
later one wins, as long as it reads well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from analyzers.frontend.gaps import Body, Gap
from quickfix.paths import Candidate

LOOP_COST: Final = 100
CONDITIONAL_COST: Final = Fraction(1, 2)
VARYING_COST: Final = 10**6
"""Factor for places that, as far as the events of the kernel show, not all threads reach together: a last resort."""

Key = tuple[str, int, int]


def price(candidate: Candidate) -> Fraction:
    """Expected executions: LC^loops x IC^conditionals."""
    return Fraction(LOOP_COST) ** candidate.loops * CONDITIONAL_COST**candidate.conditionals


def weights(candidates: Sequence[Candidate], varying: frozenset[Key] = frozenset()) -> dict[Key, int]:
    """Integer weights in which price comes first and readability only decides between places of equal price."""
    ordered = sorted(candidates, key=lambda c: _source_order(c.gap))
    deepest = max((c.conditionals for c in ordered), default=0)
    ties = {c.key: _awkwardness(c.gap) * len(ordered) + rank for rank, c in enumerate(reversed(ordered))}
    unit = sum(ties.values()) + 1
    return {
        c.key: int(price(c) * 2**deepest) * (VARYING_COST if c.key in varying else 1) * unit + ties[c.key]
        for c in ordered
    }


def _source_order(gap: Gap) -> tuple[str, int, int]:
    before = gap.before
    return (gap.function.path, before.end if before else gap.body.start, gap.index)


def _awkwardness(gap: Gap) -> int:
    """What speaks against a place: some threads may have returned, braces are needed, declarations are torn apart."""
    before, after = gap.before, gap.after
    points = 8 * _after_return(gap) + 4 * (not gap.body.braced)
    if before is not None and after is not None:
        points += 2 * (before.kind == after.kind == "declaration")
    if before is not None and before.kind == "label":
        points += 1
    return points


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


@dataclass(frozen=True, slots=True)
class Trips:
    """How often loops iterate where that is known: (path, line of the loop) -> iterations."""

    known: Mapping[tuple[str, int], int]


def words(barriers: Sequence[tuple[Candidate, Sequence[int]]], path: str, trips: Trips) -> str:
    """`+1 barrier x 8 iterations`, for barriers with the lines of the loops around them, outermost first."""
    plain = sum(not lines for _, lines in barriers)
    parts = [_count(plain)] if plain else []
    by_loops: dict[tuple[int, ...], int] = {}
    for _, lines in barriers:
        if lines:
            by_loops[tuple(lines)] = by_loops.get(tuple(lines), 0) + 1
    for lines, count in by_loops.items():
        counts = [trips.known.get((path, line)) for line in lines]
        if all(c is not None for c in counts):
            total = 1
            for c in counts:
                total *= c or 0
            parts.append(f"{_count(count)} × {total} iteration{'s' * (total != 1)}")
        else:
            parts.append(f"{_count(count)} per iteration of the loop at line {lines[-1]}")
    return ", ".join(parts)


def _count(barriers: int) -> str:
    return f"+{barriers} barrier{'s' * (barriers != 1)}"
