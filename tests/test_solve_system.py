"""The polynomial prover and the narrowing of ranges, against brute force."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from solve_cases import address_queries, examples, queries, satisfying

from analyzers.ir.expr import I32, I64, U32, IntType, add, binary, compare, const, sym
from analyzers.solve.narrowing import NO_TAGS, Contradiction, Narrowing
from analyzers.solve.polynomial import Polynomial, bounds, combine, replaced, rounded, times
from analyzers.solve.prepare import prepare
from analyzers.solve.query import Fact, Query
from analyzers.solve.system import Refuted, System, Window


def value(p: Polynomial, point: tuple[int, ...]) -> int:
    total = 0
    for m, c in p.items():
        for v in m:
            c *= point[v]
        total += c
    return total


@st.composite
def polynomials(draw: st.DrawFn, variables: int) -> Polynomial:
    out: Polynomial = {}
    for _ in range(draw(st.integers(1, 4))):
        monomial = tuple(sorted(draw(st.lists(st.integers(0, variables - 1), min_size=0, max_size=2))))
        out[monomial] = draw(st.integers(-5, 5).filter(bool))
    return out


@st.composite
def systems(draw: st.DrawFn) -> tuple[System, list[tuple[str, Polynomial, int, int]]]:
    """A system and what it was told, with four variables of few values."""
    system = System()
    told: list[tuple[str, Polynomial, int, int]] = []
    for v in range(4):
        lo = draw(st.integers(-2, 2))
        hi = lo + draw(st.integers(0, 4))
        system.new(lo, hi, draw(st.sampled_from((0, 1, 2))))
        told += [("at least", {(v,): 1, (): -lo}, 0, 0), ("at least", {(v,): -1, (): hi}, 0, 0)]
    try:
        for _ in range(draw(st.integers(0, 3))):
            p = draw(polynomials(4))
            told.append(("at least", p, 0, 0))
            system.require_at_least_zero(p, NO_TAGS)
        for _ in range(draw(st.integers(0, 2))):
            p, lo = draw(polynomials(4)), draw(st.integers(-3, 1))
            hi = lo + draw(st.sampled_from((0, 0, 3)))
            told.append(("window", p, lo, hi))
            system.windows.append(Window(p, lo, hi))
        if draw(st.booleans()):
            apart = {(draw(st.integers(0, 1)),): 1, (draw(st.integers(2, 3)),): -1}
            p = draw(st.one_of(st.just(apart), polynomials(4)))
            told.append(("not zero", p, 0, 0))
            system.not_zero.append((p, NO_TAGS))
    except Refuted:
        told.append(("refuted", {}, 0, 0))
    return system, told


def points(told: list[tuple[str, Polynomial, int, int]]) -> list[tuple[int, ...]]:
    """All solutions of what a system was told."""

    def holds(kind: str, n: int, lo: int, hi: int) -> bool:
        return n >= 0 if kind == "at least" else lo <= n <= hi if kind == "window" else n != 0

    return [
        point
        for point in product(range(-2, 7), repeat=4)
        if all(holds(kind, value(p, point), lo, hi) for kind, p, lo, hi in told if kind != "refuted")
    ]


@examples(150)
@given(systems(), polynomials(4))
def test_conclusions_hold_in_every_solution(
    case: tuple[System, list[tuple[str, Polynomial, int, int]]], p: Polynomial
) -> None:
    system, told = case
    found = points(told)
    if told[-1][0] == "refuted":
        assert not found
        return
    try:
        before = system.nonnegative(p)
        system.run()
    except Refuted:
        assert not found
        return
    if before is not None:
        assert all(value(p, point) >= 0 for point in found)
    if system.nonnegative(p) is not None:
        assert all(value(p, point) >= 0 for point in found)
    for v, q in system.solved.items():
        assert all(point[v] == value(q, point) for point in found)
    for v in range(4):
        assert all(system.lo[v] <= point[v] <= system.hi[v] for point in found)


@examples(100)
@given(polynomials(3), polynomials(3), st.tuples(*[st.integers(-3, 3)] * 3))
def test_polynomials_compute(p: Polynomial, q: Polynomial, point: tuple[int, ...]) -> None:
    assert value(combine(p, q, -3), point) == value(p, point) - 3 * value(q, point)
    assert value(times(p, q), point) == value(p, point) * value(q, point)
    assert value(replaced(p, {0: q}), point) == value(p, (value(q, point), *point[1:]))
    assert (value(rounded(p), point) >= 0) == (value(p, point) >= 0)
    lo, hi = bounds(p, [-3] * 3, [3] * 3)
    assert lo <= value(p, point) <= hi


def test_symbolic_radix() -> None:
    """``w*y1 + x1 == w*y2 + x2`` with ``0 <= x < w`` makes the ys and xs equal; w is unbounded."""
    system = System()
    w = system.new(0, 1 << 31, 0)
    x1, y1, x2, y2 = (system.new(0, 1 << 31, 1 + i // 2) for i in range(4))
    for x in (x1, x2):
        system.require_at_least_zero({(w,): 1, (x,): -1, (): -1}, NO_TAGS)
    system.require_zero({(w, y1): 1, (x1,): 1, (w, y2): -1, (x2,): -1}, NO_TAGS)
    system.run()
    assert system.reduced({(x1,): 1, (x2,): -1}, NO_TAGS)[0] == {}
    assert system.reduced({(y1,): 1, (y2,): -1}, NO_TAGS)[0] == {}


def test_factors_must_not_be_negative() -> None:
    """``x * (y - z)`` is not known to be nonnegative where x may be negative, though ``y >= z``."""
    system = System()
    x, y, z = system.new(-5, 5, 0), system.new(0, 10, 0), system.new(0, 10, 0)
    system.require_at_least_zero({(y,): 1, (z,): -1}, NO_TAGS)
    assert system.nonnegative({(x, y): 1, (x, z): -1}) is None
    system.require_at_least_zero({(x,): 1}, NO_TAGS)
    assert system.nonnegative({(x, y): 1, (x, z): -1}) is not None


def test_common_variables_are_solved_with_their_constant() -> None:
    """``n - 2*m = 3``"""
    system = System()
    n, m = system.new(0, 100, 0), system.new(0, 100, 0)
    system.windows.append(Window({(n,): 1, (m,): -2}, 3, 3))
    system.run()
    assert system.reduced({(n,): 1}, NO_TAGS)[0] == {(m,): 2, (): 3}


# --- narrowing and preparing ------------------------------------------------------------------------------------


@examples(120)
@given(st.one_of(queries(), address_queries()))
def test_narrowed_ranges_hold_every_solution(query: Query) -> None:
    narrowing = Narrowing(query.ranges, no_signed_overflow=query.no_signed_overflow)
    found = satisfying(query)
    try:
        narrowing.run([(c, NO_TAGS) for c in (*query.conjuncts, *(f.condition for f in query.facts))])
    except Contradiction:
        assert not any(v.size for v in found.values())
        return
    for symbol, values in found.items():
        if values.size:
            lo, hi = narrowing.ranges.get(symbol, (values.min(), values.max()))
            assert lo <= values.min()
            assert values.max() <= hi


@examples(120)
@given(st.one_of(queries(), address_queries()))
def test_prepared_queries_lose_nothing(query: Query) -> None:
    """Every solution of a query is one of the prepared query too."""
    prepared = prepare(query)
    before = satisfying(query)
    if prepared.contradiction is not None:
        assert not any(v.size for v in before.values())
        return
    after = satisfying(prepared.query)
    solutions = {s: set(np.unique(v).tolist()) for s, v in after.items()}
    for symbol, values in before.items():
        if symbol in solutions and not any(d.symbol is symbol for d in prepared.substituted):
            assert set(np.unique(values).tolist()) <= solutions[symbol]


def narrowed(condition_op: str, e_op: str, c: int, bound: int, lo: int, hi: int, ty: IntType = I32) -> tuple[int, int]:
    x = sym("x", ty)
    n = Narrowing({x: (lo, hi)}, no_signed_overflow=True)
    n.run([(compare(condition_op, binary(e_op, x, const(c, ty)), const(bound, ty)), NO_TAGS)])
    return n.ranges[x]


def test_narrowing_through_operations() -> None:
    assert narrowed("ge", "div", 4, 0, -100, 100) == (-3, 100), "truncation: -3/4 is 0"
    assert narrowed("le", "div", 4, 0, -100, 100) == (-100, 3)
    assert narrowed("le", "div", 4, -1, -100, 100) == (-100, -4)
    assert narrowed("ge", "shr", 2, 0, -100, 100) == (0, 100), "a right shift rounds down"
    assert narrowed("lt", "mul", 3, 10, 0, 100) == (0, 3)
    assert narrowed("lt", "add", 5, 10, 0, 100) == (0, 4)
    assert narrowed("lt", "sub", 1, 10, 0, 100, U32) == (1, 10), "0 - 1 wraps and is not below 10"
    assert narrowed("le", "add", -1 & 0xFFFFFFFF, 5, 0, 100, U32) == (1, 6), "adding 2**32 - 1 is subtracting 1"


def test_equalities_are_substituted_with_their_facts() -> None:
    n, m, t = sym("param:n", I64), sym("host:1:m", I64), sym("tid.x@1", U32)
    query = Query(
        (compare("lt", add(n, const(1, I64)), const(5, I64)),),
        (Fact(compare("eq", n, add(m, const(7, I64))), 3), Fact(compare("eq", t, const(2, U32)), 4)),
        {m: (0, 100), n: (0, 50), t: (0, 9)},
    )
    prepared = prepare(query)
    assert prepared.contradiction == frozenset({3})


def test_a_factor_of_what_is_not_zero_is_not_zero() -> None:
    system = System()
    size, count = system.new(1, 1000, 0), system.new(0, 1000, 1)
    system.not_zero.append(({(size, count): 3}, NO_TAGS))
    system.run()
    assert system.lo[count] == 1


def test_a_size_is_counted_from_one_other_number_only() -> None:
    """Windows that want different ones would take turns for ever."""
    system = System()
    size, y1, y2 = system.new(10, 100, 0), system.new(0, 7, 1), system.new(0, 7, 2)
    for border in (2, -3):
        z1, z2 = system.new(0, 5000, 1), system.new(0, 5000, 2)
        apart: Polynomial = {(size, y1): 1, (size, y2): -1, (y1,): border, (y2,): -border, (z1,): 1, (z2,): -1}
        system.windows.append(Window(apart, -3, 3, address=True))
    system.run()
    assert len(system.windows) == 2
