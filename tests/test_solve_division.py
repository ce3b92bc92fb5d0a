"""Flat indices that are taken apart by sizes and put together again: proofs against brute force, and that there are."""

from __future__ import annotations

from functools import reduce

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from solve_cases import examples, unsatisfiable_with

from analyzers.ir.expr import I32, I64, Expr, add, binary, cast, compare, const, mul, sub, substitute, sym
from analyzers.ir.expr import U32 as U
from analyzers.ir.intervals import Intervals
from analyzers.solve import algebra
from analyzers.solve.narrowing import NO_TAGS
from analyzers.solve.polynomial import combine, scaled, shifted
from analyzers.solve.prepare import prepare
from analyzers.solve.query import Overlap, Proved, Query
from analyzers.solve.system import System
from analyzers.solve.translate import Translation

T1, T2 = sym("tid.x@1", U), sym("tid.x@2", U)
B1 = sym("bid.x", U)
SIZES = A, B, C = tuple(sym(f"param:{n}", I64) for n in "abc")
NUMBERS = {T1: (0, 11), T2: (0, 11), B1: (0, 1)}


def product(*factors: Expr) -> Expr:
    return reduce(mul, factors, const(1, I64))


def query(index: Expr, flat: Expr, sizes: tuple[int, int], bounded: bool) -> Query:
    """Two threads of a block that differ, within ``a * b * c``."""
    other = {T1: T2}
    conditions = [compare("ne", T1, T2)]
    if bounded:
        conditions += [compare("lt", f, product(*SIZES)) for f in (flat, substitute(flat, other))]
    conditions.append(compare("eq", index, substitute(index, other)))
    ranges = NUMBERS | dict.fromkeys(SIZES, sizes)
    return Query(tuple(conditions), (), ranges, Overlap(index, substitute(index, other), 1, 1), "block", True)


@st.composite
def chains(draw: st.DrawFn) -> Query:
    """Digits by products of sizes, in any order, and sums of them with strides that may or may not fit."""
    flat = cast(T1, I64)
    if draw(st.booleans()):
        flat = add(mul(cast(B1, I64), const(12, I64)), flat)
    parts = [flat]
    for _ in range(draw(st.integers(1, 4))):
        whole = draw(st.sampled_from(parts))
        by = product(*draw(st.lists(st.sampled_from((*SIZES, const(2, I64))), min_size=1, max_size=3)))
        kind = draw(st.integers(0, 3))
        if kind == 3:
            parts.append(sub(whole, mul(binary("div", whole, by), by)))
        else:
            parts.append(binary("div" if kind else "rem", whole, by))
    index = const(0, I64)
    for part in draw(st.lists(st.sampled_from(parts), min_size=1, max_size=4)):
        stride = product(*draw(st.lists(st.sampled_from((*SIZES, const(2, I64))), max_size=3)))
        index = add(index, mul(part, stride))
    return query(index, flat, draw(st.sampled_from(((1, 2), (1, 3), (0, 2), (-2, 2)))), draw(st.booleans()))


@examples(400)
@given(chains())
def test_proofs_agree_with_brute_force(query: Query) -> None:
    answer = algebra.decide(prepare(query))
    event(type(answer).__name__)
    if isinstance(answer, Proved):
        assert unsatisfiable_with(query, answer)


def div(p: Expr, q: Expr) -> Expr:
    return binary("div", p, q)


def rem(p: Expr, q: Expr) -> Expr:
    return binary("rem", p, q)


F = add(mul(cast(B1, I64), const(12, I64)), cast(T1, I64))
BC = mul(B, C)
FIRST, MIDDLE, LAST = div(F, BC), rem(div(F, C), B), rem(F, C)
LEFT = sub(F, mul(FIRST, BC))
FREE = {
    "as it was": add(mul(add(mul(FIRST, B), MIDDLE), C), LAST),
    "turned around": add(mul(add(mul(LAST, B), MIDDLE), A), FIRST),
    "every second": add(mul(FIRST, product(BC, const(4, I64))), add(mul(MIDDLE, mul(C, const(4, I64))), LAST)),
    "by subtraction": add(mul(add(mul(div(LEFT, C), A), FIRST), C), sub(LEFT, mul(div(LEFT, C), C))),
    "by remainders of remainders": add(mul(add(mul(div(rem(F, BC), C), A), FIRST), C), rem(rem(F, BC), C)),
}
RACY = {
    "rows counted in the wrong size": add(mul(add(mul(FIRST, B), MIDDLE), B), LAST),
    "a digit left out": add(mul(FIRST, C), LAST),
    "half as many": div(F, const(2, I64)),
    "planes one too close": add(mul(FIRST, sub(BC, const(1, I64))), add(mul(MIDDLE, C), LAST)),
}


@pytest.mark.parametrize("name", FREE)
def test_digits_are_put_together_again(name: str) -> None:
    assert isinstance(algebra.decide(prepare(query(FREE[name], F, (1, 1 << 20), bounded=True))), Proved)


@pytest.mark.parametrize("name", RACY)
def test_digits_that_meet_are_not_proved(name: str) -> None:
    assert not isinstance(algebra.decide(prepare(query(RACY[name], F, (1, 1 << 20), bounded=True))), Proved)


ROW, COLUMN = div(cast(T1, I64), const(4, I64)), rem(cast(T1, I64), const(4, I64))


def vectors(row: Expr, column: Expr, size: int, limit: Expr) -> Query:
    """Elements of a matrix with rows of ``A``, as places of vectors of ``size``; columns stay below ``limit``."""
    other = {T1: T2}
    index = div(add(mul(row, A), column), const(size, I64))
    conditions = [compare("lt", c, limit) for c in (column, substitute(column, other))]
    conditions += [compare("ne", T1, T2), compare("eq", index, substitute(index, other))]
    overlap = Overlap(index, substitute(index, other), 1, 1)
    return Query(tuple(conditions), (), {**NUMBERS, A: (1, 40)}, overlap, "block", True)


@st.composite
def vector_queries(draw: st.DrawFn) -> Query:
    row = add(mul(ROW, const(draw(st.integers(1, 3)), I64)), const(draw(st.integers(0, 2)), I64))
    column = add(mul(COLUMN, const(draw(st.integers(1, 4)), I64)), const(draw(st.integers(-1, 2)), I64))
    limit = draw(st.sampled_from((A, div(A, const(2, I64)), sub(A, const(1, I64)), const(7, I64))))
    return vectors(row, column, draw(st.integers(2, 4)), limit)


@examples(200)
@given(vector_queries())
def test_proofs_about_vectors_agree_with_brute_force(query: Query) -> None:
    answer = algebra.decide(prepare(query))
    event(type(answer).__name__)
    if isinstance(answer, Proved):
        assert unsatisfiable_with(query, answer)


def test_equal_quotients_are_of_numbers_close_together() -> None:
    even = mul(COLUMN, const(2, I64))
    assert isinstance(algebra.decide(prepare(vectors(ROW, even, 2, div(A, const(2, I64))))), Proved)
    assert not isinstance(algebra.decide(prepare(vectors(ROW, even, 2, A))), Proved), "a row of odd length"


def test_a_digit_of_a_digit_owes_its_bounds_to_what_bounds_that_one() -> None:
    n = sym("param:n", U)
    quarter, part = div(n, const(4, U)), div(n, const(20, U))
    system = System()
    translation = Translation(system, Intervals({n: (0, 1000)}), lambda e: NO_TAGS)
    translation.expect((quarter, part))
    above, _ = translation.of(quarter)
    system.require_at_least_zero(shifted(scaled(above, -1), 30), frozenset({7}))
    digit, tags = translation.of(part)
    assert system.bounds(digit) == (0, 6)
    assert 7 in tags | system.owed(digit)


def test_what_bounds_a_digit_counts_for_all_dividends_that_are_one() -> None:
    """Of `m - n`, and of the same as an unsigned number, where a fact keeps it from wrapping around."""
    n, m = sym("param:n", I32), sym("param:m", I32)
    apart = sub(m, n)
    system = System()
    intervals = Intervals({n: (0, 1000), m: (0, 1000)})
    translation = Translation(system, intervals, lambda e: NO_TAGS)
    translation.defer = False
    (p, _), (q, _) = translation.of(m), translation.of(n)
    system.require_at_least_zero(combine(p, q, -1), frozenset({7}))
    translation.of(binary("div", cast(apart, U), const(8, U)))
    digit, tags = translation.of(binary("shr", apart, const(3, I32)))
    assert system.bounds(digit)[0] < 0 or 7 in tags | system.owed(digit)
