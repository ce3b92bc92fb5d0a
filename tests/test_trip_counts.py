"""Loops that go round a constant number of times."""

from __future__ import annotations

import pytest

from analyzers.ir import expr as E
from analyzers.ir.expr import I32, I64, U8, Expr
from analyzers.ir.trip_counts import MAX_TRIPS, constant_trips

K = E.sym("loop:l", I64)


def at(start: int, step: int) -> Expr:
    return E.narrow(E.add(E.const(start, I64), E.mul(E.const(step, I64), K)), I32)


@pytest.mark.parametrize(
    ("test", "trips"),
    [
        (E.compare("lt", at(0, 1), E.const(3, I32)), 3),
        (E.compare("lt", at(0, 2), E.const(5, I32)), 3),
        (E.compare("le", E.const(1, I32), at(4, -1)), 4),
        (E.compare("lt", at(7, 1), E.const(3, I32)), 0),
        (E.compare("ne", E.binary("shr", E.const(8, I32), at(0, 1)), E.const(0, I32)), 4),
        (E.compare("lt", at(0, 1), E.const(MAX_TRIPS, I32)), MAX_TRIPS),
        (E.compare("lt", at(0, 1), E.const(MAX_TRIPS + 1, I32)), None),
        (E.compare("lt", at(0, 1), E.sym("param:n", I32)), None),
        (E.compare("lt", E.cast(K, U8), E.const(255, U8)), None),
        # The shift by 32 is undefined before the test fails.
        (E.compare("eq", E.binary("shr", E.const(0, I32), at(30, 1)), E.const(0, I32)), None),
    ],
)
def test_the_first_iteration_that_does_not_take_place(test: Expr, trips: int | None) -> None:
    assert constant_trips(test, K) == trips
