"""Variables that a loop never makes greater: ``n = (n + 1) / 2``, ``n -= n / 3``, ``w = min(w, left)``.

Takes the value after one iteration as an expression over the value at its start, and the loop's test; says whether the
one is at most the other. Then no value at the start of an iteration is greater than that in front of the loop, which is
all that most proofs need of a variable that has no closed form.
"""

from __future__ import annotations

from analyzers.ir import expr as E
from analyzers.ir.expr import Expr, IntType


def never_grows(end: Expr, placeholder: Expr, test: Expr) -> bool:
    """Whether ``end`` is at most ``placeholder`` in every iteration that ``test`` allows, signed overflow included: a
    sum that wraps around becomes less."""
    return isinstance(placeholder.ty, IntType) and _is_not_negative(placeholder, test) and _at_most(end, placeholder)


def _at_most(e: Expr, p: Expr) -> bool:
    """``e <= p``, where ``p`` is not negative."""
    e = _unconverted(e, p)
    if e.op == "select":
        return all(_at_most(way, p) for way in e.args[1:])
    if e.op == "min":
        return e.ty == p.ty and any(_at_most(a, p) for a in e.args)
    if e.op in ("div", "shr") and e.args[1].op == "const":
        inner, by = _unconverted(e.args[0], p), _divisor(e)
        if inner.op == "add" and by > 1:
            for part, more in (inner.args, inner.args[::-1]):
                # (x + c) / d <= x for all x >= 0 where 0 <= c < d
                if more.op == "const" and 0 <= more.value < by and _is_part(part, p):
                    return True
    return _is_part(e, p)


def _is_part(e: Expr, p: Expr) -> bool:
    """``0 <= e <= p``, where ``p`` is not negative."""
    e = _unconverted(e, p)
    if e is p:
        return True
    if e.op in ("div", "shr") and e.args[1].op == "const":
        return _divisor(e) > 0 and _is_part(e.args[0], p)
    if e.op == "and":
        return any(_is_part(a, p) for a in e.args)
    if e.op == "rem":
        return _is_part(e.args[0], p)
    if e.op == "sub":
        # x - y with 0 <= y <= x
        return _is_part(e.args[0], p) and _is_part(e.args[1], _unconverted(e.args[0], p))
    if e.op == "select":
        return all(_is_part(way, p) for way in e.args[1:])
    return False


def _divisor(e: Expr) -> int:
    by = int(e.args[1].value)
    return by if e.op == "div" else 1 << by if 0 <= by < 31 else 0


def _unconverted(e: Expr, p: Expr) -> Expr:
    """Without conversions that keep all numbers from zero to ``p``."""
    assert isinstance(p.ty, IntType)
    while e.op in ("cast", "narrow"):
        if not all(isinstance(t, IntType) and t.high >= p.ty.high for t in (e.ty, e.args[0].ty)):
            break
        e = e.args[0]
    return e


def _is_not_negative(placeholder: Expr, test: Expr) -> bool:
    assert isinstance(placeholder.ty, IntType)
    return not placeholder.ty.signed or any(
        c.op in ("lt", "le") and c.args[1] is placeholder and c.args[0].op == "const" and c.args[0].value >= 0
        for c in E.conjuncts(test)
    )
