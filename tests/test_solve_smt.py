"""Z3 agrees with brute force."""

from __future__ import annotations

from hypothesis import HealthCheck, event, given, settings
from solve_cases import queries, solutions

from analyzers.solve import smt
from analyzers.solve.query import Proved, Query, Satisfied, Undecided


@settings(max_examples=80, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(queries())
def test_agrees_with_brute_force(query: Query) -> None:
    answer = smt.decide(query, 200_000, smaller=lambda _: False)
    event(type(answer).__name__ + (answer.kind if isinstance(answer, Undecided) else ""))
    if isinstance(answer, Proved):
        needed = tuple(f for f in query.facts if f.tag in answer.core)
        assert not solutions(
            Query(query.conjuncts, needed, query.ranges, query.overlap, query.scope, answer.used_no_overflow)
        )
    elif isinstance(answer, Satisfied):
        assert answer.values in solutions(query)
    else:
        assert answer.kind in ("budget", "unsupported-operator")
