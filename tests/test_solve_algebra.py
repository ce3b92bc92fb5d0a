"""The algebra rung: sound against brute force, and able to prove the patterns it is for."""

from __future__ import annotations

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from solve_cases import address_queries, examples, queries, unsatisfiable_with
from solve_patterns import PATTERNS

from analyzers.solve import algebra
from analyzers.solve.prepare import prepare
from analyzers.solve.query import Proved, Query


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
