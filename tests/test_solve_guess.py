"""The guess rung: what it offers satisfies the conditions, and it finds the common races at small sizes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from solve_cases import address_queries, examples, queries
from solve_patterns import PATTERNS

from analyzers.ir.evaluate import evaluate
from analyzers.solve import guess
from analyzers.solve.check import satisfies
from analyzers.solve.prepare import prepare
from analyzers.solve.query import Query

NOT_AT_SMALL_SIZES = "multiplicative_hash"


def found(query: Query, large: bool) -> bool:
    prepared = prepare(query)
    if prepared.contradiction is not None:
        return False
    return any(satisfies(query, prepared.restore(values)) for values in guess.decide(prepared, large))


@examples(150)
@given(st.one_of(queries(), address_queries()), st.booleans())
def test_what_is_offered_satisfies_every_condition(query: Query, large: bool) -> None:
    prepared = prepare(query)
    if prepared.contradiction is not None:
        return
    simplified = prepared.query
    offered = list(guess.decide(prepared, large))
    for values in offered:
        for c in (*simplified.conjuncts, *(f.condition for f in simplified.facts)):
            assert evaluate(c, values, no_signed_overflow=simplified.no_signed_overflow) == 1
    assert offered == list(guess.decide(prepared, large))


@pytest.mark.parametrize("name", PATTERNS)
def test_common_patterns(name: str) -> None:
    query, expected = PATTERNS[name]()
    got = found(query, False) or found(query, True)
    assert got == (expected == "race" and name != NOT_AT_SMALL_SIZES)
