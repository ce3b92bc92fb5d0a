"""Grids that the host computes as a quotient by the block: how many threads there are then.

``grid = n / block`` gives at most ``n`` threads and more than ``n - block``. That is a product of two unknown numbers
for a solver, and a comparison with one here.
"""

from __future__ import annotations

from analyzers.ir import expr as E
from analyzers.ir.expr import Expr, IntType


def thread_limits(threads: Expr, block: Expr, grid: Expr) -> list[Expr]:
    """What is known of ``threads`` (U32), the threads along an axis of a launch, from the values that the host computes
    for its ``block`` and ``grid`` there (U32, both at least 1 and below 2**31)."""
    quotient = _as_computed(grid)
    if quotient.op != "div":
        return []
    dividend, divisor = quotient.args
    ty = quotient.ty
    if not isinstance(ty, IntType) or divisor.op == "const" or _number(divisor) is not _number(block):
        return []
    if ty.width > 32 and ty.signed:
        return []  # what is negative may be cut off to a grid
    total = E.cast(threads, ty if ty.width > 32 else E.I64)
    whole = E.cast(dividend, total.ty)
    limits = [E.compare("le", total, whole)]
    if ty.width == 32:
        limits.append(E.compare("lt", E.sub(whole, E.cast(block, E.I64)), total))
    return limits


def _as_computed(value: Expr) -> Expr:
    """A dimension before its conversion: it is positive, so a signed number is the same."""
    return value.args[0] if value.op == "cast" else value


def _number(value: Expr) -> Expr:
    """What a dimension or its copy was converted from without a change, given that a block has from 1 to 1,024 threads:
    255 may have been -1 with 8 bits, so that numbers of fewer bits than 32 are only looked through where they grow."""
    while value.op == "cast":
        inner = _width(value.args[0])
        if not (0 < inner < _width(value) or 32 <= inner == _width(value)):
            break
        value = value.args[0]
    return value


def _width(e: Expr) -> int:
    return e.ty.width if isinstance(e.ty, IntType) else 0
