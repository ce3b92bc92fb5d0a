"""Which counters may begin at what was a negative number."""

import pytest

from analyzers.ir import expr as E
from analyzers.ir.expr import I32, U32, U64, Expr
from analyzers.ir.wraparound import may_be_huge

OFF = E.sym("param:off", U64)
N = E.sym("param:n", I32)
TID = E.cast(E.TID[0], U64)


@pytest.mark.parametrize(
    ("start", "huge"),
    [
        (OFF, False),
        (E.add(OFF, TID), False),
        (E.add(OFF, E.cast(E.add(E.mul(E.BID[0], E.BDIM[0]), E.TID[0]), U64)), False),
        (E.cast(E.sub(E.cast(E.TID[0], I32), E.const(5, I32)), U64), True),
        (E.sub(OFF, TID), True),
        (E.cast(N, U64), True),
        (E.sub(E.TID[0], E.const(5, U32)), False),
    ],
)
def test_where_a_counter_of_64_bits_may_begin_below_zero(start: Expr, huge: bool):
    assert may_be_huge(start) == huge
