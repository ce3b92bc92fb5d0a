"""Masks by powers of two as remainders: where they are taken for such, and what that rests on."""

from __future__ import annotations

import pytest

from analyzers.ir.expr import I32, U32, Expr, IntType, add, binary, compare, const, land, lor, mul, sub, sym
from analyzers.solve.ladder import Budget, Ladder
from analyzers.solve.prepare import prepare
from analyzers.solve.query import Fact, Proved, Query

LOW, HIGH = 1, 1 << 20


def _power(s: Expr) -> Expr:
    assert isinstance(s.ty, IntType)
    return compare("eq", binary("and", s, sub(s, const(1, s.ty))), const(0, s.ty))


def _masked(x: Expr, s: Expr) -> Expr:
    assert isinstance(s.ty, IntType)
    return binary("and", x, sub(s, const(1, s.ty)))


def _position(x: Expr, s: Expr) -> Expr:
    """``x`` with a zero bit put in at ``s``."""
    assert isinstance(s.ty, IntType)
    return sub(mul(const(2, s.ty), x), _masked(x, s))


def _meeting(facts: tuple[Expr, ...], stride: Expr, ty: IntType = U32) -> Query:
    one, two = sym("x@1", ty), sym("x@2", ty)
    meet = compare("eq", _position(one, stride), add(_position(two, stride), stride))
    ranges = {one: (0, HIGH), two: (0, HIGH), stride: (LOW, HIGH)}
    tagged = tuple(Fact(f, i) for i, f in enumerate(facts))
    return Query((compare("ne", one, two), meet), tagged, ranges)


@pytest.mark.parametrize("ty", [U32, I32])
def test_the_halves_of_a_butterfly_are_apart_and_the_proof_says_why(ty: IntType) -> None:
    stride = sym("stride", ty)
    other = compare("le", stride, sym("n", ty))
    answer = Ladder(Budget()).decide(_meeting((other, _power(stride)), stride, ty))
    assert isinstance(answer, Proved)
    assert answer.rung == "algebra"
    assert answer.core == {1}


def test_half_of_a_power_is_one_and_any_number_is_not() -> None:
    whole = sym("whole", U32)
    half = binary("div", whole, const(2, U32))
    query = _meeting((_power(whole),), half)
    query = Query((*query.conjuncts, compare("le", const(1, U32), half)), query.facts, query.ranges)
    answer = Ladder(Budget()).decide(query)
    assert isinstance(answer, Proved)
    assert answer.core == {0}
    third = binary("div", whole, const(3, U32))
    assert _masked_forms(_meeting((_power(whole),), third)) > 0


def _masked_forms(query: Query) -> int:
    """Bit masks that are left after simplification, but for the fact's own."""
    left = prepare(query).query
    return sum(str(c).count("&") for c in left.conjuncts)


def test_nothing_is_taken_for_a_remainder_that_may_be_none() -> None:
    stride, x = sym("stride", U32), sym("x", U32)
    asked = compare("eq", _masked(x, stride), const(5, U32))
    fact = Fact(_power(stride), 0)

    def forms(low: int, x_low: int, s: Expr = stride, y: Expr = x) -> int:
        condition = compare("eq", _masked(y, s), const(5, s.ty)) if isinstance(s.ty, IntType) else asked
        tagged = (Fact(_power(s), 0),)
        prepared = prepare(Query((condition,), tagged, {s: (low, HIGH), y: (x_low, HIGH)})).query
        return sum(str(c).count("&") for c in (*prepared.conjuncts, *(f.condition for f in prepared.facts)))

    assert forms(1, 0) == 1, "only what the fact says is left"
    assert forms(0, 0) == 2, "zero takes nothing away"
    signed, negative = sym("s", I32), sym("y", I32)
    assert forms(1, 0, signed, negative) == 1
    assert forms(1, -4, signed, negative) == 2, "of a negative number the remainder is negative"
    either = Fact(lor(fact.condition, compare("lt", x, const(9, U32))), 0)
    unsure = prepare(Query((asked,), (either,), {stride: (1, HIGH)})).query
    assert any("&" in str(f.condition) for f in unsure.facts)
    assert any("&" in str(c) for c in unsure.conjuncts), "a fact that may not hold says nothing"


def test_two_masks_by_one_power_are_the_digits_of_two_numbers() -> None:
    stride, one, two = sym("stride", U32), sym("x@1", U32), sym("x@2", U32)
    same_low = compare("eq", _masked(one, stride), _masked(two, stride))
    same_high = compare("eq", binary("div", one, stride), binary("div", two, stride))
    ranges = {stride: (1, HIGH), one: (0, HIGH), two: (0, HIGH)}
    query = Query((land(same_low, same_high), compare("ne", one, two)), (Fact(_power(stride), 0),), ranges)
    assert isinstance(Ladder(Budget()).decide(query), Proved)
