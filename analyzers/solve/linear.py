"""Linear arithmetic, exact: whether inequalities between sums of bounded quantities contradict one another.

Takes rows ``sum of coefficient * column + constant >= 0`` and integer bounds of the columns, and runs the simplex
method of Dutertre and de Moura ("A fast linear-arithmetic solver for DPLL(T)", 2006) on integer rows. Gives the rows
and columns of a contradiction, or a point that shows that there is none, as far as it finds one within so many pivots.
What a column stands for is the caller's business: the algebra rung uses monomials, so that products count as quantities
of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd

STEADY_AFTER = 24
"""Pivots after which the choice is Bland's, which cannot cycle."""


Number = int | Fraction


@dataclass(frozen=True, slots=True)
class Conflict:
    """The rows (by index) and columns whose bounds contradict one another."""

    rows: frozenset[int]
    columns: frozenset[int]


@dataclass(slots=True)
class Simplex:
    """Columns ``0 .. n-1`` are the caller's; column ``n + i`` is the slack of row ``i`` (its sum without the constant).

    A basic column ``b`` is given by ``scale[b] * b = sum of table[b]``; the others stand at one of their bounds."""

    low: list[int]
    high: list[int | None]
    given: int
    value: list[int]
    """Of columns that are not basic."""
    table: dict[int, dict[int, int]] = field(default_factory=dict[int, dict[int, int]])
    scale: dict[int, int] = field(default_factory=dict[int, int])
    total: dict[int, int] = field(default_factory=dict[int, int])
    """``scale[b]`` times the value of the basic column ``b``."""
    pivots: int = 0

    def check(self, limit: int) -> Conflict | None:
        """A contradiction, or None after at most ``limit`` pivots."""
        while True:
            leaving = self._violated()
            if leaving is None:
                return None
            entering, up = self._entering(leaving)
            if entering is None:
                used = {leaving, *self.table[leaving]}
                return Conflict(
                    frozenset(c - self.given for c in used if c >= self.given),
                    frozenset(c for c in used if c < self.given),
                )
            if self.pivots >= limit:
                return None
            self.pivots += 1
            self._pivot(leaving, entering, up)

    def point(self) -> list[Number] | None:
        """Values of the caller's columns that satisfy everything, where they are known."""
        if self._violated() is not None:
            return None
        return [
            self.value[j] if j not in self.table else _quotient(self.total[j], self.scale[j]) for j in range(self.given)
        ]

    def _violated(self) -> int | None:
        """A basic column outside its bounds: the first one, or (in the beginning) the one furthest out."""
        worst, unit, found = 0, 1, None
        for b in sorted(self.table):
            total, scale, high = self.total[b], self.scale[b], self.high[b]
            below = self.low[b] * scale - total
            beyond = below if below > 0 else total - high * scale if high is not None else 0
            if beyond > 0:
                if self.pivots >= STEADY_AFTER:
                    return b
                if beyond * unit > worst * scale:
                    worst, unit, found = beyond, scale, b
        return found

    def _entering(self, leaving: int) -> tuple[int | None, bool]:
        """A column that can move the violated one towards its bounds, and whether that is upwards."""
        up = self.total[leaving] < self.low[leaving] * self.scale[leaving]
        for j in sorted(self.table[leaving]):
            rising = (self.table[leaving][j] > 0) == up
            high = self.high[j]
            if (high is None or self.value[j] < high) if rising else self.value[j] > self.low[j]:
                return j, up
        return None, up

    def _pivot(self, leaving: int, entering: int, up: bool) -> None:
        high = self.high[leaving]
        assert up or high is not None
        row, scale = self.table.pop(leaving), self.scale.pop(leaving)
        before, after = self.total.pop(leaving), self.low[leaving] if up or high is None else high
        stood = self.value[entering]
        self.value[leaving] = after
        factor = row.pop(entering)
        # factor * entering = scale * leaving - the rest of the row
        sign = 1 if factor > 0 else -1
        solved = {j: -sign * a for j, a in row.items()}
        solved[leaving] = sign * scale
        self._store(entering, solved, abs(factor), sign * (scale * after - before + factor * stood))
        mine, own, total = list(self.table[entering].items()), self.scale[entering], self.total[entering]
        for b, other in self.table.items():
            k = other.get(entering)
            if k is None or b == entering:
                continue
            del other[entering]
            g = gcd(own, k)
            k, m = k // g, own // g
            if m != 1:
                for j in other:
                    other[j] *= m
            for j, a in mine:
                new = other.get(j, 0) + k * a
                if new:
                    other[j] = new
                else:
                    del other[j]
            self._store(b, other, self.scale[b] * m, m * self.total[b] - own * k * stood + k * total)

    def _store(self, basic: int, row: dict[int, int], scale: int, total: int) -> None:
        g = gcd(scale, *row.values()) if scale != 1 else 1
        if g > 1:
            row, scale, total = {j: a // g for j, a in row.items()}, scale // g, total // g
        self.table[basic], self.scale[basic], self.total[basic] = row, scale, total


def _quotient(total: int, scale: int) -> Number:
    whole, rest = divmod(total, scale)
    return Fraction(total, scale) if rest else whole


def holds(
    rows: Sequence[tuple[Mapping[int, int], int]], bounds: Sequence[tuple[int, int]], point: Sequence[Number]
) -> bool:
    """Whether a point satisfies the rows and bounds of `contradiction`, so that there is none."""
    for (lo, hi), x in zip(bounds, point, strict=True):
        if not lo <= x <= hi:
            return False
    for coefficients, total in rows:
        for j, a in coefficients.items():
            total += a * point[j]
        if total < 0:
            return False
    return True


def contradiction(
    rows: Sequence[tuple[Mapping[int, int], int]], bounds: Sequence[tuple[int, int]], limit: int
) -> tuple[Conflict | list[Number] | None, int]:
    """A contradiction between the rows ``(coefficients by column, constant)``, each at least zero, and the bounds of
    the columns, or a point that satisfies them all, or neither; and the pivots it took to find it, or to give up."""
    n = len(bounds)
    simplex = Simplex(
        [lo for lo, _ in bounds] + [-constant for _, constant in rows],
        [*[hi for _, hi in bounds], *[None] * len(rows)],
        n,
        [lo if abs(lo) <= abs(hi) else hi for lo, hi in bounds] + [0] * len(rows),
    )
    for i, (coefficients, _) in enumerate(rows):
        simplex.table[n + i] = dict(coefficients)
        simplex.scale[n + i] = 1
        simplex.total[n + i] = sum(a * simplex.value[j] for j, a in coefficients.items())
    return simplex.check(limit) or simplex.point(), simplex.pivots
