"""Z3 agrees with brute force."""

from __future__ import annotations

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from solve_cases import address_queries, examples, queries, solution, unsatisfiable_with
from solve_patterns import PATTERNS

from analyzers.ir import expr as E
from analyzers.ir.expr import I32, U32
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


def test_of_an_overflow_that_nobody_looks_at_nothing_is_told() -> None:
    """What bit operations give where their operands are undefined is within no bounds."""
    x, y, p, q = (E.sym(f"param:{n}", I32) for n in "xypq")
    b = E.sym("param:b", U32)

    def number(value: int) -> E.Expr:
        return E.const(value, I32)

    far = E.land(
        E.land(E.compare("eq", x, number(1 << 30)), E.compare("eq", y, number((1 << 30) + 5))),
        E.compare("eq", b, E.const(2**32 - 1, U32)),
    )
    used = E.compare("eq", E.binary("and", E.cast(E.add(x, y), U32), b), E.const(5, U32))
    conditions = (
        E.lor(far, used),
        E.lor(far, E.compare("eq", x, number(-7))),
        E.compare("eq", E.binary("and", p, q), number(0x1200)),
        E.compare("lt", number(0x20000), p),
        E.compare("lt", number(0x20000), q),
    )
    ranges = {x: (0, 1 << 30), y: (0, (1 << 30) + 9), p: (0, 1 << 20), q: (0, 1 << 20), b: (0, 2**32 - 1)}
    query = Query(conditions, ranges=ranges, no_signed_overflow=True)
    values = {x: 1 << 30, y: (1 << 30) + 5, b: 2**32 - 1, p: 0x41200, q: 0x81200}
    assert violation(query, values) is None
    assert not isinstance(smt.decide(query), Proved)


def test_what_is_told_value_by_value_is_within_the_budget() -> None:
    x, y = (E.sym(f"param:{n}", I32) for n in "xy")
    both = E.binary("and", E.mul(x, y), E.add(x, E.mul(y, y)))
    conditions = (E.compare("eq", both, E.const(0x1234, I32)), E.compare("lt", E.const(99, I32), x))
    budget, spent = 20_000, list[int]()
    check = smt._Session.check

    def counted(session: smt._Session, allowed: int) -> str:
        outcome = check(session, allowed)
        spent.append(session.spent)
        return outcome

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(smt._Session, "check", counted)
        smt.decide(Query(conditions, ranges={x: (0, 1 << 20), y: (0, 1 << 20)}), budget, smaller=lambda _: False)
    assert len(spent) > 2
    assert sum(spent) < 1.5 * budget
