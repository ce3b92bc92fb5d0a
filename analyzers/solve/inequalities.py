"""Proofs of polynomial inequalities: linear arithmetic over monomials, with products of what is known.

Takes polynomials known to be nonnegative and bounds of their variables, and looks for a combination of them, of their
products with nonnegative variables and of the bounds that is impossible. Products are chosen by the monomials that
occur: from ``x < w`` and ``y >= 0`` follows ``w*y - x*y - y >= 0``, which is of use only where ``w*y`` or ``x*y`` is
spoken of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import prod

from analyzers.solve.linear import Conflict, Number, contradiction, holds
from analyzers.solve.narrowing import NO_TAGS
from analyzers.solve.polynomial import (
    Monomial,
    Polynomial,
    bounds,
    combine,
    constant_part,
    divided,
    rounded,
    times,
)  # fmt: skip

MAX_PIVOTS = 60
"""Pivots of one proof."""
MAX_ROWS = 60
"""Inequalities in one proof, products included."""
ROWS_PER_STEP = 8
"""So many rows cost as much as a pivot."""

MAX_POINTS = 8
"""Points kept, the latest."""

Tags = frozenset[int]
Tagged = tuple[Polynomial, Tags]


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """Values of monomials. What was found out about it is remembered by the object."""

    values: Mapping[Monomial, Number]


@dataclass(slots=True)
class Box:
    """Bounds of variables, and the facts they rest on."""

    lo: Sequence[int]
    hi: Sequence[int]
    tags: Sequence[Tags]
    points: list[Point] = field(default_factory=list[Point])
    """Values of monomials that satisfied earlier inequalities, the latest first: most questions about one system fail,
    and a point that shows it for one mostly does so for the next."""
    spoken: dict[int, tuple[Tagged, int]] = field(default_factory=dict[int, "tuple[Tagged, int]"])
    """By identity, the rows that were asked about with their variables, one bit each."""

    def variables(self, row: Tagged) -> int:
        """The variables of a row, one bit each."""
        known = self.spoken.get(id(row))
        if known is None:
            known = self.spoken[id(row)] = row, _variables(row[0])
        return known[1]


def refuted(rows: Sequence[Tagged], box: Box, limit: int) -> tuple[Tags | None, int]:
    """Facts by which the ``rows`` cannot all be nonnegative (None: not seen), and the effort spent on it. The first row
    is what the others are wanted for: first those that speak of nothing else, then those that share a variable with it,
    directly or through others."""
    if not rows:
        return None, 0
    spoken = [_variables(rows[0][0]), *[box.variables(row) for row in rows[1:]]]
    near = [row for row, own in zip(rows, spoken, strict=True) if not own & ~spoken[0]]
    found, effort = _refuted(near, box, limit)
    if found is not None or effort >= limit:
        return found, effort
    chosen = _connected(rows, spoken)
    if len(chosen) == len(near):
        return None, effort
    found, more = _refuted(chosen, box, limit - effort)
    return found, effort + more


def _refuted(chosen: list[Tagged], box: Box, limit: int) -> tuple[Tags | None, int]:
    problem = _problem_of([p for p, _ in chosen], box)
    effort = 1 + len(problem.matrix) // ROWS_PER_STEP
    if any(problem.is_satisfied_by(known) for known in box.points):
        return None, effort
    found, pivots = problem.solved(min(limit, MAX_PIVOTS))
    if not isinstance(found, Conflict):
        if found is not None:
            box.points.insert(0, problem.point(found))
            del box.points[MAX_POINTS:]
        return None, effort + pivots
    used = {i: m for m, i in problem.columns.items()}
    tags = NO_TAGS.union(*(box.tags[v] for c in found.columns for v in used[c]))
    for i in found.rows:
        row, factors = problem.origins[i]
        tags = tags.union(chosen[row][1] if row is not None else NO_TAGS, *(box.tags[v] for v in factors))
    return tags, effort + pivots


Origin = tuple[int | None, Monomial]
"""Which of the rows asked about an inequality comes from (None: from bounds alone), and the variables whose bounds
were used for it."""


@dataclass(slots=True)
class _Problem:
    """Inequalities with the products that may help, as linear arithmetic over their monomials. Which facts they rest on
    is left out: many questions ask about the same inequalities."""

    columns: dict[Monomial, int]
    matrix: list[tuple[dict[int, int], int]]
    origins: list[Origin]
    """Of each row of the matrix."""
    spans: list[tuple[int, int]]
    _point: Point | None = None
    _satisfied: dict[Point, bool] = field(default_factory=dict[Point, bool])
    """Whether points that were tried satisfy it: questions that are asked again try the same ones."""
    _limit: int = -1
    """The pivots that were allowed when it was solved last; negative: never."""
    _found: tuple[Conflict | list[Number] | None, int] = (None, 0)

    def solved(self, limit: int) -> tuple[Conflict | list[Number] | None, int]:
        """`contradiction` with so many pivots; found once, and again only with more pivots where too few were
        allowed."""
        found, pivots = self._found
        if self._limit < limit and (self._limit < 0 or (found is None and pivots >= self._limit)):
            self._limit = limit
            found, pivots = self._found = contradiction(self.matrix, self.spans, limit)
        return (found, pivots) if pivots <= limit else (None, limit)

    def point(self, found: Sequence[Number]) -> Point:
        """What `solved` found in place of a contradiction, always the same object."""
        if self._point is None:
            self._point = Point(dict(zip(self.columns, found, strict=True)))
        return self._point

    def is_satisfied_by(self, point: Point) -> bool:
        """Whether a point shows that there is no contradiction. The value of a monomial that it does not know is the
        product of what it knows; values are moved within their bounds."""
        known = self._satisfied.get(point)
        if known is None:
            if len(self._satisfied) >= MAX_TRIED:
                self._satisfied.clear()
            known = self._satisfied[point] = self._holds_at(point.values)
        return known

    def _holds_at(self, known: Mapping[Monomial, Number]) -> bool:
        point: list[Number] = []
        for m, (lo, hi) in zip(self.columns, self.spans, strict=True):
            value = known.get(m)
            if value is None:
                value = prod(known.get((v,), 0) for v in m)
            point.append(lo if value < lo else min(value, hi))
        return holds(self.matrix, self.spans, point)


MAX_PROBLEMS = 4_000
"""Problems remembered."""
MAX_TRIED = 200
"""Points of which one problem remembers whether they satisfy it."""
_problems: dict[tuple[object, ...], _Problem] = {}
"""By the inequalities, each in the order of its monomials, and the bounds of their variables."""


def _problem_of(rows: Sequence[Polynomial], box: Box) -> _Problem:
    key: tuple[object, ...] = (
        tuple([tuple(p.items()) for p in rows]),
        tuple([(box.lo[v], box.hi[v]) for v in dict.fromkeys(v for p in rows for m in p for v in m)]),
    )
    found = _problems.get(key)
    if found is None:
        if len(_problems) >= MAX_PROBLEMS:
            _problems.clear()
        found = _problems[key] = _problem(rows, box)
    return found


def _problem(rows: Sequence[Polynomial], box: Box) -> _Problem:
    products = _products(rows, box)
    columns: dict[Monomial, int] = {}
    matrix: list[tuple[dict[int, int], int]] = []
    for p in (*rows, *(p for p, _ in products)):
        matrix.append(({columns.setdefault(m, len(columns)): c for m, c in p.items() if m}, constant_part(p)))
    spans = [bounds({m: 1}, box.lo, box.hi) for m in columns]
    origins: list[Origin] = [(i, ()) for i in range(len(rows))]
    return _Problem(columns, matrix, [*origins, *(origin for _, origin in products)], spans)


def _variables(p: Polynomial) -> int:
    """The variables of ``p``, one bit each."""
    found = 0
    for m in p:
        for v in m:
            found |= 1 << v
    return found


def _connected(rows: Sequence[Tagged], spoken: Sequence[int]) -> list[Tagged]:
    """The first row and those that share a variable with it, directly or through others; nearer ones first."""
    out, rest, reached = [rows[0]], list(range(1, len(rows))), spoken[0]
    while True:
        near = [i for i in rest if spoken[i] & reached]
        if not near:
            return out
        out += [rows[i] for i in near]
        rest = [i for i in rest if not spoken[i] & reached]
        for i in near:
            reached |= spoken[i]


def _products(rows: Sequence[Polynomial], box: Box) -> list[tuple[Polynomial, Origin]]:
    """Products of rows and bounds that speak of the nonlinear monomials in ``rows``."""
    wanted = list(dict.fromkeys(m for p in rows for m in p if len(m) > 1))
    seen: set[frozenset[tuple[Monomial, int]]] = {frozenset(p.items()) for p in rows}
    out: list[tuple[Polynomial, Origin]] = []

    def take(p: Polynomial, origin: Origin) -> None:
        p = rounded(p)
        key = frozenset(p.items())
        if key not in seen:
            seen.add(key)
            if len(rows) + len(out) < MAX_ROWS and bounds(p, box.lo, box.hi)[0] < 0:
                out.append((p, origin))

    for m in wanted:
        for v in dict.fromkeys(m):
            rest = divided(m, (v,))
            if rest and all(box.lo[u] >= 0 for u in rest):
                take({m: 1, rest: -box.lo[v]} if box.lo[v] else {m: 1}, (None, m))
                take({m: -1, rest: box.hi[v]} if box.hi[v] else {m: -1}, (None, m))
    speaking: dict[Monomial, list[int]] = {}
    for i, p in enumerate(rows):
        for n in p:
            speaking.setdefault(n, []).append(i)
    for m in wanted:
        for n, factor in _divisions(m).items():
            if n not in speaking or any(box.lo[v] < 0 for v in factor):
                continue
            least = prod(box.lo[v] for v in factor)
            for i in speaking[n]:
                product = times(rows[i], {factor: 1})
                take(combine(product, rows[i], -least) if least else product, (i, factor))
    return out


def _divisions(m: Monomial) -> dict[Monomial, Monomial]:
    """The proper divisors of ``m``, each with the rest."""
    out: dict[Monomial, Monomial] = {}
    for size in range(1, len(m)):
        for n in combinations(m, size):
            rest = divided(m, n)
            assert rest is not None
            out[n] = rest
    return out
