"""`analyzers.ir.falling` against every value of small types."""

from __future__ import annotations

import pytest

from analyzers.ir import expr as E
from analyzers.ir.evaluate import evaluate
from analyzers.ir.expr import Expr, IntType
from analyzers.ir.falling import never_grows

I8, U8 = IntType(8, True), IntType(8, False)
I16, U16 = IntType(16, True), IntType(16, False)


def steps(p: Expr) -> dict[str, Expr]:
    """What loops make of a variable, by how it is written."""
    ty = p.ty
    assert isinstance(ty, IntType)

    def c(value: int) -> Expr:
        return E.const(value, ty)

    wide = I16 if ty.signed else U16
    other = U8 if ty.signed else I8
    return {
        "n / 2": E.binary("div", p, c(2)),
        "(n + 1) / 2": E.binary("div", E.add(p, c(1)), c(2)),
        "(n + 1) >> 1": E.binary("shr", E.add(p, c(1)), c(1)),
        "(n + 2) / 3": E.binary("div", E.add(p, c(2)), c(3)),
        "(n + 3) / 2": E.binary("div", E.add(p, c(3)), c(2)),
        "n - n / 3": E.sub(p, E.binary("div", p, c(3))),
        "n - (n - n / 3)": E.sub(p, E.sub(p, E.binary("div", p, c(3)))),
        "n - 3": E.sub(p, c(3)),
        "n & 12": E.binary("and", p, c(12)),
        "n % 5": E.binary("rem", p, c(5)),
        "n * 2": E.binary("mul", p, c(2)),
        "n < 8 ? n : n / 2": E.select(E.compare("lt", p, c(8)), p, E.binary("div", p, c(2))),
        "n < 8 ? n : 9": E.select(E.compare("lt", p, c(8)), p, c(9)),
        "min(n, 7)": E.binary("min", p, c(7)),
        "wide(n) / 2": E.cast(E.binary("div", E.cast(p, wide), E.const(2, wide)), ty),
        "other(n) / 2": E.cast(E.binary("div", E.cast(p, other), E.const(2, other)), ty),
    }


FALL = {
    "signed": {
        "n / 2",
        "(n + 1) / 2",
        "(n + 1) >> 1",
        "(n + 2) / 3",
        "n - n / 3",
        "n - (n - n / 3)",
        "n & 12",
        "n % 5",
    },
}


@pytest.mark.parametrize("ty", [I8, U8], ids=("signed", "unsigned"))
@pytest.mark.parametrize("least", [None, 0, 1], ids=("any", "not negative", "positive"))
def test_what_is_said_to_fall_does(ty: IntType, least: int | None):
    p = E.sym("start:loop:n", ty)
    test = E.TRUE if least is None else E.compare("le", E.const(least, ty), p)
    said: set[str] = set()
    for written, end in steps(p).items():
        if never_grows(end, p, test):
            said.add(written)
            for value in range(ty.low if least is None else max(least, ty.low), ty.high + 1):
                found = evaluate(end, {p: value})
                assert found is not None, (written, value)
                assert found <= value, (written, value)
    known_sign = least is not None or not ty.signed
    assert said.issuperset(FALL["signed"]) if known_sign else not said
