"""Polynomials over integer variables, as plain dictionaries from monomials to coefficients.

A monomial is the sorted tuple of its variables (repeated for powers), variables are small integers; the zero
polynomial is the empty dictionary. Operations give new dictionaries and never leave a zero coefficient.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import gcd

Monomial = tuple[int, ...]
Polynomial = dict[Monomial, int]

ONE: Monomial = ()


def constant(value: int) -> Polynomial:
    return {ONE: value} if value else {}


def variable(index: int) -> Polynomial:
    return {(index,): 1}


def combine(p: Polynomial, q: Polynomial, factor: int = 1) -> Polynomial:
    """``p + factor * q``."""
    out = dict(p)
    for monomial, coefficient in q.items():
        value = out.get(monomial, 0) + factor * coefficient
        if value:
            out[monomial] = value
        else:
            out.pop(monomial, None)
    return out


def shifted(p: Polynomial, by: int) -> Polynomial:
    """``p + by``."""
    return combine(p, {ONE: by}) if by else p


def scaled(p: Polynomial, factor: int) -> Polynomial:
    return {m: c * factor for m, c in p.items()} if factor else {}


def times(p: Polynomial, q: Polynomial) -> Polynomial:
    out: Polynomial = {}
    for m, c in p.items():
        for n, d in q.items():
            monomial = tuple(sorted(m + n)) if m and n else m or n
            value = out.get(monomial, 0) + c * d
            if value:
                out[monomial] = value
            else:
                del out[monomial]
    return out


def constant_part(p: Polynomial) -> int:
    return p.get(ONE, 0)


def is_constant(p: Polynomial) -> bool:
    return not p or (len(p) == 1 and ONE in p)


def content(p: Polynomial) -> int:
    """The greatest common divisor of all coefficients but the constant one; 0 for constants."""
    g = 0
    for m, c in p.items():
        if m:
            g = gcd(g, c)
    return g


def rounded(p: Polynomial) -> Polynomial:
    """The smallest polynomial that is nonnegative (on integers) exactly where ``p`` is: divided by the content,
    rounding down."""
    g = content(p)
    if g <= 1:
        return p
    out = {m: c // g for m, c in p.items()}
    if out.get(ONE) == 0:
        del out[ONE]
    return out


def divided(m: Monomial, by: Monomial) -> Monomial | None:
    """The monomial ``m / by``, or None where it is none."""
    if not by:
        return m
    rest = list(m)
    for v in by:
        if v not in rest:
            return None
        rest.remove(v)
    return tuple(rest)


def replaced(p: Polynomial, solved: Mapping[int, Polynomial]) -> Polynomial:
    """``p`` with variables replaced by polynomials (once)."""
    if not solved or not any(v in solved for m in p for v in m):
        return p
    out: Polynomial = {}
    for m, c in p.items():
        if any(v in solved for v in m):
            term: Polynomial = {ONE: c}
            for v in m:
                term = times(term, solved.get(v) or ({} if v in solved else {(v,): 1}))
            out = combine(out, term)
        else:
            out = combine(out, {m: c})
    return out


def variables(p: Polynomial) -> set[int]:
    return {v for m in p for v in m}


def bounds(p: Polynomial, lo: Sequence[int], hi: Sequence[int]) -> tuple[int, int]:
    """Least and greatest value a sum of monomials can have when each variable is between its ``lo`` and ``hi``."""
    low = high = 0
    for m, c in p.items():
        a = b = c
        for v in m:
            x, y = lo[v], hi[v]
            if a >= 0 and x >= 0:
                a, b = a * x, b * y
            else:
                corners = (a * x, a * y, b * x, b * y)
                a, b = min(corners), max(corners)
        if a > b:
            a, b = b, a
        low += a
        high += b
    return low, high
