"""The guess rung: what it offers satisfies the conditions, and it finds the common races at small sizes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from solve_cases import T1, T2, N, address_queries, examples, queries
from solve_patterns import PATTERNS

from analyzers.ir.evaluate import evaluate
from analyzers.ir.expr import I64, add, cast, compare
from analyzers.solve import guess
from analyzers.solve.check import satisfies
from analyzers.solve.prepare import prepare
from analyzers.solve.query import Overlap, Query

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


def test_what_only_the_address_mentions_is_drawn_too() -> None:
    left, right = (add(cast(t, I64), cast(N, I64)) for t in (T1, T2))
    query = Query((compare("ne", T1, T2),), (), {T1: (0, 3), T2: (0, 3), N: (0, 9)}, Overlap(left, right, 4, 4))
    values = next(guess.decide(prepare(query)))
    assert values[T1] != values[T2]
    assert 0 <= values[N] <= 9


def test_smaller_sizes_are_looked_for_below_what_was_found() -> None:
    query, _ = PATTERNS["row_major_unguarded"]()
    prepared = prepare(query)
    first = next(guess.decide(prepared, large=True))
    sizes = [s for s in first if "@" not in str(s.value)]
    for smaller in guess.decide(prepared, below=first):
        assert all(abs(smaller[s]) <= abs(first[s]) for s in sizes)
        assert any(abs(smaller[s]) < abs(first[s]) for s in sizes)
