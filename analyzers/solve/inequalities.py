"""Proofs of polynomial inequalities: linear arithmetic over monomials, with products of what is known.

Takes polynomials known to be nonnegative and bounds of their variables, and looks for a combination of them, of their
products with nonnegative variables and of the bounds that is impossible. Products are chosen by the monomials that
occur: from ``x < w`` and ``y >= 0`` follows ``w*y - x*y - y >= 0``, which is of use only where ``w*y`` or ``x*y`` is
spoken of.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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


@dataclass(slots=True)
class Box:
    """Bounds of variables, and the facts they rest on."""

    lo: Sequence[int]
    hi: Sequence[int]
    tags: Sequence[Tags]
    points: list[Mapping[Monomial, Number]] = field(default_factory=list[Mapping[Monomial, Number]])
    """Values of monomials that satisfied earlier inequalities, the latest first: most questions about one system fail,
    and a point that shows it for one mostly does so for the next."""


def refuted(rows: Sequence[Tagged], box: Box, limit: int) -> tuple[Tags | None, int]:
    """Facts by which the ``rows`` cannot all be nonnegative (None: not seen), and the effort spent on it. The first row
    is what the others are wanted for: first those that speak of nothing else, then those that share a variable with it,
    directly or through others."""
    if not rows:
        return None, 0
    near = _enclosed(rows)
    found, effort = _refuted(near, box, limit)
    if found is not None or effort >= limit:
        return found, effort
    chosen = _connected(rows)
    if len(chosen) == len(near):
        return None, effort
    found, more = _refuted(chosen, box, limit - effort)
    return found, effort + more


def _refuted(chosen: list[Tagged], box: Box, limit: int) -> tuple[Tags | None, int]:
    chosen = chosen + _products(chosen, box)
    effort = 1 + len(chosen) // ROWS_PER_STEP
    columns: dict[Monomial, int] = {}
    matrix: list[tuple[dict[int, int], int]] = []
    for p, _ in chosen:
        matrix.append(({columns.setdefault(m, len(columns)): c for m, c in p.items() if m}, constant_part(p)))
    spans = [bounds({m: 1}, box.lo, box.hi) for m in columns]
    if any(holds(matrix, spans, _point(known, columns, spans)) for known in box.points):
        return None, effort
    found, pivots = contradiction(matrix, spans, min(limit, MAX_PIVOTS))
    if not isinstance(found, Conflict):
        if found is not None:
            box.points.insert(0, dict(zip(columns, found, strict=True)))
            del box.points[MAX_POINTS:]
        return None, effort + pivots
    used = {i: m for m, i in columns.items()}
    tags = NO_TAGS.union(*(chosen[i][1] for i in found.rows))
    return tags.union(*(box.tags[v] for c in found.columns for v in used[c])), effort + pivots


def _point(
    known: Mapping[Monomial, Number], columns: Iterable[Monomial], spans: Iterable[tuple[int, int]]
) -> list[Number]:
    """The values of ``columns``: where one is not known, the product of what is known, within its bounds."""
    return [
        min(max(known[m] if m in known else prod(known.get((v,), 0) for v in m), lo), hi)
        for m, (lo, hi) in zip(columns, spans, strict=True)
    ]


def _enclosed(rows: Sequence[Tagged]) -> list[Tagged]:
    """The first row and those whose variables all occur in it."""
    reached = {v for m in rows[0][0] for v in m}
    return [*rows[:1], *(r for r in rows[1:] if all(v in reached for m in r[0] for v in m))]


def _connected(rows: Sequence[Tagged]) -> list[Tagged]:
    out, rest = list(rows[:1]), list(rows[1:])
    reached = {v for p, _ in out for m in p for v in m}
    while rest:
        near = [r for r in rest if any(v in reached for m in r[0] for v in m)]
        if not near:
            break
        out += near
        rest = [r for r in rest if r not in near]
        reached.update(v for p, _ in near for m in p for v in m)
    return out


def _products(rows: Sequence[Tagged], box: Box) -> list[Tagged]:
    """Products of rows and bounds that speak of the nonlinear monomials in ``rows``."""
    wanted = list(dict.fromkeys(m for p, _ in rows for m in p if len(m) > 1))
    seen: set[frozenset[tuple[Monomial, int]]] = {frozenset(p.items()) for p, _ in rows}
    out: list[Tagged] = []

    def take(p: Polynomial, tags: Tags) -> None:
        p = rounded(p)
        key = frozenset(p.items())
        if key not in seen:
            seen.add(key)
            if len(rows) + len(out) < MAX_ROWS and bounds(p, box.lo, box.hi)[0] < 0:
                out.append((p, tags))

    for m in wanted:
        for v in dict.fromkeys(m):
            rest = divided(m, (v,))
            if rest and all(box.lo[u] >= 0 for u in rest):
                owed = NO_TAGS.union(*(box.tags[u] for u in m))
                take({m: 1, rest: -box.lo[v]} if box.lo[v] else {m: 1}, owed)
                take({m: -1, rest: box.hi[v]} if box.hi[v] else {m: -1}, owed)
    speaking: dict[Monomial, list[Tagged]] = {}
    for row in rows:
        for n in row[0]:
            speaking.setdefault(n, []).append(row)
    for m in wanted:
        for n, factor in _divisions(m).items():
            if n not in speaking or any(box.lo[v] < 0 for v in factor):
                continue
            owed, least = NO_TAGS.union(*(box.tags[v] for v in factor)), prod(box.lo[v] for v in factor)
            for p, tags in speaking[n]:
                product = times(p, {factor: 1})
                take(combine(product, p, -least) if least else product, tags | owed)
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
