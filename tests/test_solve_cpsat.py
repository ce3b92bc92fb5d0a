"""The CP-SAT rung finds witnesses and claims nothing else."""

from __future__ import annotations

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from solve_cases import address_queries, examples, queries
from solve_patterns import PATTERNS

from analyzers.solve import cpsat
from analyzers.solve.check import violation
from analyzers.solve.query import Query, Satisfied, Undecided


@examples(25)
@given(st.one_of(queries(), address_queries()))
def test_witnesses_hold(query: Query) -> None:
    answer = cpsat.decide(query)
    event(type(answer).__name__)
    if isinstance(answer, Satisfied):
        assert violation(query, answer.values) is None
    else:
        assert isinstance(answer, Undecided)


@pytest.mark.parametrize(
    "name",
    ["neighbour", "tile_too_narrow", "tonemapping_without_fact", "histogram", "butterfly", "row_major_unguarded"],
)
def test_finds_races(name: str) -> None:
    query, _ = PATTERNS[name]()
    answer = cpsat.decide(query)
    assert isinstance(answer, Satisfied), answer
    assert violation(query, answer.values) is None


@pytest.mark.parametrize("name", ["tile_2d", "one_dimensional", "transpose_loop_rows"])
def test_never_proves(name: str) -> None:
    query, _ = PATTERNS[name]()
    assert isinstance(cpsat.decide(query), Undecided)
