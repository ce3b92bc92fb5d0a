"""Every way the signs of sizes can be is one of the cases, and says the same."""

from __future__ import annotations

from itertools import product

import pytest

from analyzers.ir import expr as E
from analyzers.ir.evaluate import evaluate
from analyzers.ir.expr import I32, Expr
from analyzers.solve.check import satisfies
from analyzers.solve.divisor_signs import cases_of, decide_by_signs
from analyzers.solve.query import Proved, Query, Satisfied, Undecided

W, H = E.sym("param:w", I32), E.sym("param:h", I32)
ONE, TWO = (E.sym(f"tid.x@{n}", I32) for n in (1, 2))


def digits(i: Expr) -> list[Expr]:
    q, r = E.binary("div", i, W), E.binary("rem", i, W)
    nested, rest = E.binary("div", q, H), E.binary("rem", q, H)
    whole, part = (E.binary(op, i, E.mul(W, H)) for op in ("div", "rem"))
    row, column = E.binary("div", part, H), E.binary("rem", part, H)
    return [
        E.add(E.mul(q, W), r),
        E.add(E.mul(r, H), q),
        E.add(E.mul(nested, H), rest),
        whole,
        E.add(whole, E.mul(r, H)),
        part,
        E.add(E.add(E.mul(E.mul(whole, W), H), E.mul(column, W)), row),
    ]


@pytest.mark.parametrize("form", range(7))
def test_cases_cover_all_values_and_nothing_else(form: int) -> None:
    same = E.compare("eq", digits(ONE)[form], digits(TWO)[form])
    query = Query((same, E.compare("ne", ONE, TWO)), ranges={ONE: (0, 6), TWO: (0, 6)})
    made = list(cases_of(query))
    assert len(made) in (2, 4)
    for one, two, w, h in product(range(5), range(5), range(-3, 4), range(-3, 4)):
        values = {ONE: one, TWO: two, W: w, H: h}
        truth = all(evaluate(c, values) == 1 for c in query.conjuncts)
        held = []
        for case in made:
            inside = {**values, **{n: -values[d] for d, n in case.negated.items()}}
            known = case.query.ranges
            low = all(known[s][0] <= v <= known[s][1] for s, v in inside.items() if s in known)
            wrong_side = any(values[d] >= 0 for d in case.negated)
            held.append(low and not wrong_side and all(evaluate(c, inside) == 1 for c in case.query.conjuncts))
        assert any(held) == truth, (values, truth, held)


def test_a_division_that_may_not_be_made_leaves_the_size_open() -> None:
    perhaps = E.select(E.compare("ne", W, E.const(0, I32)), E.binary("rem", ONE, W), E.const(0, I32))
    assert not list(cases_of(Query((E.compare("eq", perhaps, TWO),))))


def test_one_case_without_an_answer_is_no_answer() -> None:
    query = Query((E.compare("eq", *(E.binary("rem", i, W) for i in (ONE, TWO))),))
    assert decide_by_signs(query, lambda q: Undecided("budget")) is None
    assert isinstance(decide_by_signs(query, lambda q: Proved()), Proved)


def test_a_witness_is_one_of_the_question() -> None:
    query = Query((E.compare("lt", E.binary("div", ONE, W), E.const(0, I32)),), ranges={ONE: (1, 5)})

    def ask(case: Query) -> Satisfied | Proved:
        (negated,) = [s for s in E.symbols(*case.conjuncts) if s is not ONE]
        return Proved() if negated is W else Satisfied({ONE: 4, negated: 2})

    found = decide_by_signs(query, ask)
    assert isinstance(found, Satisfied)
    assert found.values[W] == -2
    assert satisfies(query, found.values)
