"""Floating-point roundings of integer quotients, as integers: ``(int)ceil(n / 256.0)``.

A ``double`` holds every 32-bit integer, and the rounded quotient of two of them is an integer only where the exact one
is, so ceiling and truncation can be read as integer arithmetic. For ``float`` that holds below 2**23 only.
"""

from __future__ import annotations

from typing import Protocol

from analyzers.ir import expr as ex
from analyzers.ir.expr import I64, Expr, FloatType, IntType


class Symbols(Protocol):
    def symbol(self, name: str, ty: IntType) -> Expr: ...


def float_to_int(symbols: Symbols, value: Expr, ty: IntType) -> Expr:
    """The C conversion of a floating-point host value to an integer; a fresh symbol where it is not exact integers."""
    folded = ex.cast(value, ty)
    if folded.op == "const":
        return folded
    rounding = str(value.value) if value.op == "call" else "trunc"
    inner = value.args[0] if value.op == "call" and value.args else value
    quotient = _quotient(inner)
    if quotient is None:
        return symbols.symbol("rounded", ty)
    numerator, denominator = quotient
    below = ex.binary("div", numerator, denominator)
    zero, one = ex.const(0, I64), ex.const(1, I64)
    remainder = ex.compare("ne", ex.binary("rem", numerator, denominator), zero)
    positive = ex.compare("lt", zero, numerator)
    if rounding == "ceil":
        up = ex.add(ex.binary("div", ex.sub(numerator, one), denominator), one)
        result = ex.select(positive, up, below)
    elif rounding == "floor":
        negative = ex.land(ex.lnot(positive), remainder)
        result = ex.select(negative, ex.sub(below, one), below)
    elif rounding == "trunc":
        result = below
    else:
        return symbols.symbol("rounded", ty)
    return ex.cast(result, ty)


def _quotient(value: Expr) -> tuple[Expr, Expr] | None:
    """(integer numerator, positive constant denominator) as I64, where the value is exactly their rounded quotient."""
    exact = _exact_integer(value)
    if exact is not None:
        return exact, ex.const(1, I64)
    if value.op != "div" or value.ty != FloatType(64):
        return None
    numerator, denominator = _exact_integer(value.args[0]), _exact_integer(value.args[1])
    if numerator is None or denominator is None or denominator.op != "const":
        return None
    return (numerator, denominator) if 0 < denominator.value < 2**31 else None


def _exact_integer(value: Expr) -> Expr | None:
    if value.ty != FloatType(64):
        return None
    if value.op == "const" and float(value.value).is_integer() and abs(value.value) < 2**31:
        return ex.const(int(value.value), I64)
    if value.op == "cast":
        inner = value.args[0]
        if isinstance(inner.ty, IntType) and inner.ty.width <= 32:
            return ex.cast(inner, I64)
    return None
