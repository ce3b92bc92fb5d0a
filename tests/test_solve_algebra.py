"""The algebra rung: sound against brute force, and able to prove the patterns it is for."""

from __future__ import annotations

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from solve_cases import address_queries, examples, queries, unsatisfiable_with
from solve_patterns import PATTERNS

from analyzers.ir.expr import I32, I64, U32, Expr, binary, cast, compare, const, lor, mul, narrow, sym
from analyzers.solve import algebra
from analyzers.solve.prepare import prepare
from analyzers.solve.query import Fact, Proved, Query
from analyzers.solve.system import Tags


@examples(200)
@given(st.one_of(queries(), address_queries()))
def test_proofs_agree_with_brute_force(query: Query) -> None:
    answer = algebra.decide(prepare(query))
    event(type(answer).__name__)
    if isinstance(answer, Proved):
        assert unsatisfiable_with(query, answer)


@pytest.mark.parametrize("name", PATTERNS)
def test_common_patterns(name: str) -> None:
    query, expected = PATTERNS[name]()
    answer = algebra.decide(prepare(query))
    if expected == "free":
        assert isinstance(answer, Proved), answer
    else:
        assert not isinstance(answer, Proved)


def test_no_cases_are_distinguished_when_the_steps_are_spent_but_for_the_last_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spent: list[bool] = []
    cases = algebra._Proof._cases

    def noted(self: algebra._Proof) -> list[tuple[list[Expr], Tags]] | None:
        spent.append(self.state.system.allowance[0] <= 0)
        return cases(self)

    monkeypatch.setattr(algebra._Proof, "_cases", noted)
    for name in PATTERNS:
        algebra.decide(prepare(PATTERNS[name]()[0]), 1)
    assert not any(spent)
    monkeypatch.setattr(algebra, "MAX_TOTAL_STEPS", 1)
    for name in PATTERNS:
        algebra.decide(prepare(PATTERNS[name]()[0]), 1)
    assert any(spent)


def test_a_contradiction_cites_the_facts_behind_constants() -> None:
    """By the fact the factors have one value each, with which the product is no number of the range."""
    one, two = sym("param:b", U32), sym("param:w", U32)
    times, value = sym("tid.y@1", I32), sym("param:m", I32)
    product = mul(one, two)
    query = Query(
        (compare("eq", mul(product, cast(times, U32)), cast(value, U32)),),
        (Fact(compare("le", two, product), 7),),
        {one: (1 << 16, (1 << 16) + 1), two: ((1 << 31) - 1, (1 << 31) + 1), times: (0, 2), value: (65536, 65537)},
    )
    answer = algebra.decide(prepare(query))
    assert isinstance(answer, Proved)
    assert answer.core == {7}
    assert unsatisfiable_with(query, answer)


def test_what_has_no_value_in_an_alternative_that_is_not_taken_is_no_contradiction() -> None:
    """As of the iteration before the first one, which sets nothing: ``x < 0 || 4 < 1 % ((narrow(x) & 3) + 1)``."""
    x = sym("loop:a@1", I64)
    low = binary("and", narrow(x, U32), const(3, U32))
    rest = binary("rem", const(1, U32), binary("add", low, const(1, U32)))
    law = lor(compare("lt", x, const(0, I64)), compare("lt", const(4, U32), rest))
    for bounds in ((-1, -1), (-1, 1)):
        query = Query((law,), ranges={x: bounds}, no_signed_overflow=True)
        assert not isinstance(algebra.decide(prepare(query)), Proved)
    assert isinstance(algebra.decide(prepare(Query((law,), ranges={x: (0, 1)}, no_signed_overflow=True))), Proved)
