"""Linear arithmetic and products: contradictions are real, and the ones address arithmetic needs are found."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from solve_cases import examples

from analyzers.solve import inequalities
from analyzers.solve.inequalities import Box, Tagged, refuted
from analyzers.solve.linear import Conflict, Simplex, contradiction, holds
from analyzers.solve.polynomial import Monomial, Polynomial

N = 3
MONOMIALS: tuple[Monomial, ...] = ((), (0,), (1,), (2,), (0, 1), (1, 2), (0, 0))


def value(p: Polynomial, at: tuple[int, ...]) -> int:
    total = 0
    for m, c in p.items():
        for v in m:
            c *= at[v]
        total += c
    return total


@st.composite
def systems(draw: st.DrawFn) -> tuple[list[Tagged], Box]:
    polynomials = st.dictionaries(st.sampled_from(MONOMIALS), st.integers(-4, 4).filter(bool), min_size=1, max_size=4)
    rows = [(draw(polynomials), frozenset((10 + i,))) for i in range(draw(st.integers(1, 5)))]
    lo = [draw(st.integers(-2, 1)) for _ in range(N)]
    hi = [x + draw(st.integers(0, 4)) for x in lo]
    return rows, Box(lo, hi, [frozenset((v,)) for v in range(N)])


@examples(200)
@given(systems())
def test_a_contradiction_has_no_solution_within_what_it_cites(system: tuple[list[Tagged], Box]) -> None:
    rows, box = system
    tags, effort = refuted(rows, box, 1000)
    assert effort >= 0
    if tags is None:
        return
    cited = [p for p, own in rows if own <= tags]
    for at in product(*(range(a, b + 1) for a, b in zip(box.lo, box.hi, strict=True))):
        assert any(value(p, at) < 0 for p in cited)


@examples(150)
@given(systems(), st.lists(st.integers(1, 12), min_size=1, max_size=4))
def test_what_was_asked_before_is_answered_alike_with_any_patience(
    system: tuple[list[Tagged], Box], limits: list[int]
) -> None:
    rows, box = system

    def answers(*, remember: bool) -> list[tuple[frozenset[int] | None, int]]:
        found: list[tuple[frozenset[int] | None, int]] = []
        tried = Box(box.lo, box.hi, box.tags)
        inequalities._problems.clear()
        for limit in limits:
            if not remember:
                inequalities._problems.clear()
            found += [refuted(rows, tried, limit), refuted(rows, Box(box.lo, box.hi, box.tags), limit)]
        return found

    assert answers(remember=True) == answers(remember=False)


def test_the_same_inequalities_are_worked_out_once_whatever_they_rest_on(monkeypatch: pytest.MonkeyPatch) -> None:
    worked_out: list[int] = []

    def counted(*given: Any) -> Any:
        worked_out.append(len(given[0]))
        return contradiction(*given)

    monkeypatch.setattr(inequalities, "contradiction", counted)
    inequalities._problems.clear()
    for tag in (7, 8):
        rows: list[Tagged] = [({(0,): 1, (1,): -1}, frozenset((tag,))), ({(1,): 1, (0,): -1, (): -1}, frozenset((9,)))]
        tags, _ = refuted(rows, Box([0, 0], [50, 50], [frozenset(), frozenset()]), 100)
        assert tags == {tag, 9}
    assert len(worked_out) == 1


@examples(150)
@given(
    st.lists(st.tuples(st.lists(st.integers(-3, 3), min_size=2, max_size=2), st.integers(-6, 6)), max_size=4),
    st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 3)), min_size=2, max_size=2),
)
def test_linear_contradictions_are_found_and_true(
    rows: list[tuple[list[int], int]], spans: list[tuple[int, int]]
) -> None:
    bounds = [(lo, lo + size) for lo, size in spans]
    sparse = [({j: a for j, a in enumerate(row) if a}, c) for row, c in rows]
    found, _ = contradiction(sparse, bounds, 1000)
    # Enough points to see every vertex of a two-dimensional polygon with such coefficients: denominators up to 18.
    scale = 2 * 2 * 2 * 3 * 3 * 5 * 7 * 11 * 13 * 17
    vertices = [(scale * x, scale * y) for x in bounds[0] for y in bounds[1]]
    lines = [(row[0], row[1], c) for row, c in rows]
    lines += [(1, 0, -b) for b in bounds[0]] + [(0, 1, -b) for b in bounds[1]]
    for i, (a, b, c) in enumerate(lines):
        for d, e, f in lines[:i]:
            determinant = a * e - b * d
            if determinant:
                vertices.append((scale * (b * f - c * e) // determinant, scale * (c * d - a * f) // determinant))
    possible = any(
        all(row[0] * x + row[1] * y + c * scale >= 0 for row, c in rows)
        and all(lo * scale <= v <= hi * scale for v, (lo, hi) in zip((x, y), bounds, strict=True))
        for x, y in vertices
    )
    assert isinstance(found, Conflict) == (not possible)
    if isinstance(found, Conflict):
        kept = [r for i, r in enumerate(sparse) if i in found.rows]
        assert isinstance(contradiction(kept, bounds, 1000)[0], Conflict)
    else:
        assert found is not None
        assert holds(sparse, bounds, found)


@examples(150)
@given(
    st.lists(
        st.tuples(st.dictionaries(st.integers(0, 5), st.integers(-5, 5).filter(bool), min_size=1), st.integers(-9, 9)),
        min_size=1,
        max_size=8,
    ),
    st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 9)), min_size=6, max_size=6),
    st.integers(0, 12),
)
def test_every_pivot_keeps_the_sums(
    rows: list[tuple[dict[int, int], int]], spans: list[tuple[int, int]], pivots: int
) -> None:
    """Every basic column is the sum of the others, and stands where they put it; the rows stay what they were."""
    n = len(spans)
    start = [lo for lo, _ in spans]
    simplex = Simplex(
        [*start, *[-c for _, c in rows]],
        [*[lo + size for lo, size in spans], *[None] * len(rows)],
        n,
        [*start, *[0] * len(rows)],
    )
    for i, (row, _) in enumerate(rows):
        simplex.table[n + i], simplex.scale[n + i] = dict(row), 1
        simplex.total[n + i] = sum(a * start[j] for j, a in row.items())
    simplex.check(pivots)
    at = {j: Fraction(v) for j, v in enumerate(simplex.value) if j not in simplex.table}
    for b, row in simplex.table.items():
        assert 0 not in row.values()
        assert simplex.total[b] == sum(a * at[j] for j, a in row.items())
    at |= {b: Fraction(simplex.total[b], simplex.scale[b]) for b in simplex.table}
    for i, (row, _) in enumerate(rows):
        assert at[n + i] == sum(a * at[j] for j, a in row.items())


W, H, X, Y = range(4)
BOX = Box([1, 1, 0, 0], [2**31 - 1] * 4, [frozenset[int]()] * 4)
BELOW: list[Tagged] = [({(W,): 1, (X,): -1, (): -1}, frozenset((1,))), ({(H,): 1, (Y,): -1, (): -1}, frozenset((2,)))]


@pytest.mark.parametrize(
    ("impossible", "facts"),
    [
        # y*w + x >= w*h, with x < w and y < h
        ({(W, Y): 1, (X,): 1, (W, H): -1}, {1, 2}),
        # (y - h)*w >= 0
        ({(W, Y): 1, (W, H): -1}, {2}),
        # x*y >= w*h
        ({(X, Y): 1, (W, H): -1}, {1, 2}),
    ],
)
def test_products_of_what_is_known(impossible: Polynomial, facts: set[int]) -> None:
    tags, _ = refuted([(impossible, frozenset()), *BELOW], BOX, 1000)
    assert tags == facts


def test_what_is_possible_is_not_refuted() -> None:
    # y*w + x >= (w - 1)*(h - 1), with x < w and y < h
    row: Polynomial = {(W, Y): 1, (X,): 1, (W, H): -1, (W,): 1, (H,): 1, (): -1}
    assert refuted([(row, frozenset()), *BELOW], BOX, 1000)[0] is None


def test_effort_is_limited() -> None:
    tags, effort = refuted([({(W, Y): 1, (X,): 1, (W, H): -1}, frozenset()), *BELOW], BOX, 0)
    assert tags is None
    assert effort <= 3


def test_a_point_that_satisfied_earlier_inequalities_is_tried_on_the_next() -> None:
    box = Box([0, 0, 0], [9, 9, 9], [frozenset[int]()] * 3)
    known: list[Tagged] = [({(0,): 1, (1,): -1}, frozenset())]
    _, first = refuted([({(0,): 1, (1,): 1, (): -5}, frozenset()), *known], box, 1000)
    assert len(box.points) == 1
    _, second = refuted([({(0,): 2, (1,): 1, (): -4}, frozenset()), *known], box, 1000)
    assert len(box.points) == 1
    assert second < first
    tags, _ = refuted([({(1,): 1, (0,): -1, (): -1}, frozenset()), *known], box, 1000)
    assert tags is not None
