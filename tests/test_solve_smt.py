"""Z3 agrees with brute force."""

from __future__ import annotations

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from solve_cases import address_queries, examples, queries, solution, unsatisfiable_with
from solve_patterns import PATTERNS

from analyzers.ir import expr as E
from analyzers.ir.expr import I32
from analyzers.solve import smt
from analyzers.solve.check import violation
from analyzers.solve.query import Proved, Query, Satisfied, Undecided


@examples(80)
@given(st.one_of(queries(), address_queries()))
def test_agrees_with_brute_force(query: Query) -> None:
    answer = smt.decide(query, 200_000, smaller=lambda _: False)
    event(type(answer).__name__ + (answer.kind if isinstance(answer, Undecided) else ""))
    if isinstance(answer, Proved):
        assert unsatisfiable_with(query, answer)
    elif isinstance(answer, Satisfied):
        assert violation(query, answer.values) is None
        assert solution(query) is not None
    else:
        assert answer.kind in ("budget", "unsupported-operator")


@pytest.mark.parametrize("name", [n for n in PATTERNS if "nobody" in n or "neighbour" in n or "element" in n])
def test_common_patterns(name: str) -> None:
    query, expected = PATTERNS[name]()
    assert isinstance(smt.decide(query), Proved if expected == "free" else Satisfied)


@pytest.mark.parametrize(("common", "total", "expected"), [(4, 10, Satisfied), (3, 9, Proved)])
def test_what_bit_operations_give_is_told_value_by_value(common: int, total: int, expected: type) -> None:
    x, y = (E.sym(f"param:{n}", I32) for n in "xy")
    conditions = (
        E.compare("eq", E.binary("and", x, y), E.const(common, I32)),
        E.compare("eq", E.add(x, y), E.const(total, I32)),
    )
    assert isinstance(smt.decide(Query(conditions, ranges={x: (0, 1 << 20), y: (0, 1 << 20)})), expected)
