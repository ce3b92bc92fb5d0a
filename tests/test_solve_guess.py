"""The guess rung: what it offers satisfies the conditions, and it finds the common races at small sizes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from solve_cases import T1, T2, N, address_queries, examples, queries
from solve_patterns import PATTERNS

from analyzers.ir.evaluate import evaluate
from analyzers.ir.expr import I32, I64, add, cast, compare, const, sym
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


def test_of_the_pairs_of_one_size_the_smallest_is_offered_first() -> None:
    """Indices from memory may be anything: 0 and 1 tell more than the ends of the type."""
    one, two = (sym(f"data:k@{n}", I32) for n in (1, 2))
    full = (-(1 << 31), (1 << 31) - 1)
    ranges = {T1: (0, 63), T2: (0, 63), N: (0, 1), one: full, two: full}
    overlap = Overlap(add(cast(one, I64), const(1, I64)), cast(two, I64), 1, 1)
    offered = list(guess.decide(prepare(Query((compare("ne", T1, T2), compare("le", N, T1)), (), ranges, overlap))))
    assert len(offered) == 2
    assert all(max(abs(values[one]), abs(values[two])) == 1 for values in offered)


def test_smaller_sizes_are_looked_for_below_what_was_found() -> None:
    query, _ = PATTERNS["row_major_unguarded"]()
    prepared = prepare(query)
    first = next(guess.decide(prepared, large=True))
    sizes = [s for s in first if "@" not in str(s.value)]
    for smaller in guess.decide(prepared, below=first):
        assert all(abs(smaller[s]) <= abs(first[s]) for s in sizes)
        assert any(abs(smaller[s]) < abs(first[s]) for s in sizes)
