"""The whole ladder: right on common kernels and on random queries, whatever rung answers."""

from __future__ import annotations

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from solve_cases import address_queries, examples, queries, unsatisfiable_with
from solve_patterns import PATTERNS

from analyzers.solve.check import violation
from analyzers.solve.ladder import Budget, Ladder, decide
from analyzers.solve.query import Proved, Query, Satisfied, Undecided

SMALL = Budget(smt=200_000, rows=512, many_rows=1 << 14)


@pytest.mark.parametrize("name", PATTERNS)
def test_common_patterns(name: str) -> None:
    query, expected = PATTERNS[name]()
    ladder = Ladder()
    answer = ladder.decide(query)
    if expected == "free":
        assert isinstance(answer, Proved), answer
    else:
        assert isinstance(answer, Satisfied), answer
        assert violation(query, answer.values) is None
    assert ladder.answered == {answer.rung: 1}
    assert decide(query) == answer


def test_facts_are_cited() -> None:
    query, _ = PATTERNS["tonemapping_rounded_up"]()
    answer = decide(query)
    assert isinstance(answer, Proved)
    assert 7 in answer.core


@examples(80)
@given(st.one_of(queries(), address_queries()))
def test_agrees_with_brute_force(query: Query) -> None:
    answer = decide(query, SMALL)
    event(f"{type(answer).__name__} {answer.rung}")
    if isinstance(answer, Proved):
        assert unsatisfiable_with(query, answer)
    elif isinstance(answer, Satisfied):
        assert violation(query, answer.values) is None
    else:
        assert isinstance(answer, Undecided)
        assert answer.kind in ("budget", "unsupported-operator", "not-applicable")
