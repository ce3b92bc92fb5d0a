"""The CP-SAT rung finds witnesses and claims nothing else."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from solve_cases import address_queries, examples, queries
from solve_patterns import PATTERNS

from analyzers.ir.expr import I32, U32, U64, Expr, binary, bitnot, cast, compare, const, land, sym
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


_M, _K = sym("param:m", U64), sym("param:k", I32)
_POWER = binary("shl", const(1, U64), cast(_K, I32))


@pytest.mark.parametrize(
    ("wide", "findable"),
    [
        (_POWER, True),
        (binary("shl", _M, cast(_K, I32)), True),
        (binary("shl", _M, const(63, I32)), False),
        (binary("shr", _M, const(63, I32)), False),
        (binary("mul", _M, _POWER), False),
        (bitnot(_M), False),
    ],
    ids=["power", "shifted", "by_63", "top_bit", "product", "complement"],
)
def test_numbers_beyond_its_own_are_left_out(wide: Expr, findable: bool) -> None:
    """The solver computes in 64 bits: what does not fit costs witnesses, and the rest of them is looked for."""
    ranges = {_K: (0, 63), _M: (0, (1 << 64) - 1)}
    condition = land(compare("ne", _K, const(0, I32)), compare("eq", cast(cast(wide, U32), U64), const(8, U64)))
    answer = cpsat.decide(Query((condition,), ranges=ranges))
    assert isinstance(answer, Satisfied) == findable, answer


_ALONE = """
import sys
from analyzers.ir.expr import I32, compare, const, sym
from analyzers.solve import cpsat
from analyzers.solve.query import Query, Satisfied

x = sym("x", I32)
found = cpsat.decide(Query((compare("lt", const(3, I32), x),), (), {x: (0, 9)}), cpsat.SMALL)
assert isinstance(found, Satisfied), found
print(dict(found.values)[x], "pandas" in sys.modules)
import pandas
print(pandas.Series([1, 2]).sum())
"""


def test_the_solver_is_loaded_without_pandas_which_others_may_load_later() -> None:
    done = subprocess.run([sys.executable, "-c", _ALONE], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["4", "False", "3"], done.stderr
