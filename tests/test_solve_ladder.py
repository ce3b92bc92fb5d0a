"""The whole ladder: right on common kernels and on random queries, whatever rung answers."""

from __future__ import annotations

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from solve_cases import address_queries, examples, queries, unsatisfiable_with
from solve_patterns import PATTERNS

from analyzers.ir.expr import BOOL, I32, I64, U32, Expr, binary, cast, compare, const, lor, mul, opaque, sub, sym
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


def test_little_is_spent_on_what_takes_wrap_around() -> None:
    """``w * h * (a - b)`` is zero modulo 2**32 for some sizes, which no rung finds with nothing to spend."""
    w, h, a, b = (sym(f"param:{n}", U32) for n in ("w", "h", "a@1", "b@2"))
    product = mul(mul(mul(w, w), mul(h, h)), sub(mul(a, a), mul(b, b)))
    query = Query(
        (compare("eq", product, const(77, U32)), compare("lt", mul(cast(a, I64), const(3, I64)), cast(b, I64))),
        ranges={w: (1 << 20, 1 << 31), h: (1 << 20, 1 << 31)},
    )
    asked: list[int] = []

    def only_wraps() -> bool:
        asked.append(1)
        return True

    answer = Ladder(Budget(smt=1600, rows=16, many_rows=16)).decide(query, only_wraps)
    assert asked == [1]
    assert isinstance(answer, Undecided)
    assert answer.rung == "smt", "the last rungs are not asked"
    easy = Query((compare("lt", a, const(0, U32)),))
    assert isinstance(Ladder().decide(easy, only_wraps), Proved)
    assert asked == [1], "not asked where the cheap rungs have an answer"


def _read_at_square(row: Expr) -> Expr:
    return opaque("mem:a", I32, (cast(mul(row, row), I64),), "grid")


def test_what_is_read_has_an_index_that_does_not_overflow() -> None:
    row = sym("param:row", I32)
    found = compare("eq", _read_at_square(row), const(5, I32))
    far = compare("lt", const(1 << 20, I32), row)
    answer = decide(Query((found, far)))
    assert isinstance(answer, Proved)
    assert answer.used_no_overflow
    assert isinstance(decide(Query((found, far), no_signed_overflow=False)), Satisfied)
    assert isinstance(decide(Query((found,))), Satisfied)


def test_only_what_is_read_needs_an_index() -> None:
    row, flag = sym("param:row", I32), sym("param:flag", I32)
    found = lor(compare("eq", flag, const(1, I32)), compare("eq", _read_at_square(row), const(5, I32)))
    answer = decide(Query((found, compare("lt", const(1 << 20, I32), row))))
    assert isinstance(answer, Satisfied)
    assert answer.values[flag] == 1


def test_values_with_which_an_index_overflows_are_refused() -> None:
    row, column = sym("param:row", I32), sym("tid.x@1", I32)
    read = opaque("mem:a", I32, (cast(mul(row, column), I64),), "grid")
    query = Query(
        (compare("eq", read, const(5, I32)), compare("lt", const(0, I32), column)), ranges={column: (0, 1023)}
    )
    huge = {row: 1 << 30, column: 7, read: 5}
    assert violation(query, huge) is not None
    assert violation(query, {**huge, row: 1 << 20}) is None


def test_a_choice_has_a_value_where_what_is_not_chosen_has_none() -> None:
    """``(n ? in[m / n] : 0.0f) > 1``: with ``n`` zero, nothing is divided."""
    n, m = sym("param:n", I32), sym("param:m", I32)
    operands = (compare("ne", n, const(0, I32)), cast(binary("div", m, n), I64))
    none = compare("eq", n, const(0, I32))
    for name in ("chosen0", "hash:0"):
        assert isinstance(decide(Query((opaque(name, BOOL, operands, "grid"), none))), Satisfied)
    assert isinstance(decide(Query((opaque("datum0", BOOL, operands, "grid"), none))), Proved)
