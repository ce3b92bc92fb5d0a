"""The low bits that are known of an expression are those of its value, whatever its symbols are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from solve_cases import LEAVES, RANGES, TYPES, examples, integers

from analyzers.ir.evaluate import evaluate
from analyzers.ir.expr import I32, I64, U8, U32, Expr, binary, cast, compare, const, mul, select, sym
from analyzers.ir.low_bits import MAX_BITS, low_bits

T = sym("tid.x", U32)
N = sym("param:n", I32)


@given(st.sampled_from(TYPES).flatmap(lambda ty: integers(ty, 3)), st.data())
@examples(1500)
def test_every_value_ends_in_them(e: Expr, data: st.DataObject) -> None:
    bits, value = low_bits(e)
    assert 0 <= value < 1 << bits <= 1 << MAX_BITS
    found = evaluate(e, {s: data.draw(st.integers(*RANGES[s])) for s in LEAVES})
    assert found is None or found % (1 << bits) == value


@pytest.mark.parametrize(
    ("e", "known"),
    [
        (const(5, I32), (7, 5)),
        (T, (0, 0)),
        (mul(T, const(4, U32)), (2, 0)),
        (binary("add", mul(T, const(12, U32)), const(8, U32)), (2, 0)),
        (binary("sub", mul(T, const(16, U32)), const(4, U32)), (4, 12)),
        (cast(mul(N, const(8, I32)), I64), (3, 0)),
        (binary("shl", T, const(3, U32)), (3, 0)),
        (binary("and", T, const(0xFFE0, U32)), (5, 0)),
        (mul(mul(T, const(2, U32)), mul(cast(N, U32), const(4, U32))), (3, 0)),
        (select(compare("lt", N, const(4, I32)), const(12, I32), mul(N, const(8, I32))), (2, 0)),
        (cast(mul(T, const(256, U32)), U8), (7, 0)),
    ],
)
def test_known_ones(e: Expr, known: tuple[int, int]) -> None:
    assert low_bits(e) == known
