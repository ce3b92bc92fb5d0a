"""The enumeration rung: exact on small domains, and minimal in its witnesses."""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from solve_cases import address_queries, examples, queries, unsatisfiable_with
from solve_patterns import PATTERNS, N, Thread, i32, question

from analyzers.ir.expr import U32, U64, Expr, add, binary, cast, compare, const, mul, opaque
from analyzers.solve import system
from analyzers.solve.check import satisfies
from analyzers.solve.enumerate import Candidate, decide
from analyzers.solve.prepare import prepare
from analyzers.solve.query import Proved, Query, Undecided


@examples(100)
@given(st.one_of(queries(), address_queries()))
def test_agrees_with_brute_force(query: Query) -> None:
    prepared = prepare(query)
    if prepared.contradiction is not None:
        return
    answer = decide(prepared)
    event(type(answer).__name__)
    if isinstance(answer, Proved):
        assert unsatisfiable_with(query, answer)
    elif isinstance(answer, Candidate):
        # Opaque values are taken as independent: equal arguments may have been given different ones.
        opaque = any(s.op == "opaque" for s in answer.values)
        assert satisfies(query, prepared.restore(answer.values)) or opaque or not answer.complete
    else:
        assert isinstance(answer, Undecided)


def test_first_threads_are_found() -> None:
    query, _ = PATTERNS["butterfly"]()
    answer = decide(prepare(query))
    assert isinstance(answer, Candidate)
    assert {s.value: v for s, v in answer.values.items()}["tid.x@1"] == 0


def test_uniform_base_cancels() -> None:
    """An address like ``base + (tid ^ 16)`` with an unbounded parameter is still enumerated."""

    def index(t: Thread) -> Expr:
        return add(N, i32(binary("and", t.x, const(0xF0, U32))))

    answer = decide(prepare(question(index)))
    assert isinstance(answer, Candidate)
    assert {s.value: v for s, v in answer.values.items()} == {"tid.x@1": 0, "tid.x@2": 1}


def test_no_proof_is_looked_for_to_see_what_cancels(monkeypatch: pytest.MonkeyPatch) -> None:
    """``(unsigned)n * 3 + tid`` may wrap around, by the same for both threads."""

    def searched(*_: object) -> NoReturn:
        raise AssertionError("an inequality was to be proved")

    prepared = prepare(question(lambda t: add(mul(cast(N, U32), const(3, U32)), t.x)))
    monkeypatch.setattr(system, "refuted", searched)
    answer = decide(prepared)
    assert isinstance(answer, Undecided)


def test_undefined_conditions_do_not_hold() -> None:
    """``6 / tid <= 6`` is undefined in thread 0."""

    def guard(t: Thread) -> list[Expr]:
        return [compare("le", binary("div", const(6, U32), t.x), const(6, U32))]

    answer = decide(prepare(question(lambda _: const(0, U32), guard=guard)))
    assert isinstance(answer, Candidate)
    assert {s.value: v for s, v in answer.values.items()} == {"tid.x@1": 1, "tid.x@2": 2}


@pytest.mark.parametrize("number", [(1 << 64) - 300, 1 << 63, 300])
def test_numbers_of_any_size_may_be_known(number: int) -> None:
    """A key of 64 bits of which the conditions leave one value, such as that of an empty cell of a hash table."""
    key = opaque("load:0", U64, (), "grid")

    def guard(t: Thread) -> list[Expr]:
        mixed = binary("xor", key, cast(t.x, U64))
        return [compare("lt", binary("and", mixed, const(3, U64)), const(2, U64))]

    asked = question(lambda _: const(0, U32), guard=guard)
    answer = decide(prepare(replace(asked, ranges={**asked.ranges, key: (number, number)})))
    assert isinstance(answer, Candidate)
