"""Quotients and remainders of polynomials by sizes that are not known: the digits that a flat index is taken into.

Takes a nonnegative polynomial and a positive one, gives polynomials for quotient and remainder. Divisions of one number
share their digits: ``f / W``, ``f / (H * W) % C`` and ``f - f / W * W`` are all in terms of ``((c * H) + i) * W + j``,
whatever is asked for first, and so is what the digits are put together to again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import gcd

from analyzers.solve.polynomial import (
    Monomial,
    Polynomial,
    combine,
    constant_part,
    divided,
    replaced,
    scaled,
    shifted,
    times,
    variable,
)
from analyzers.solve.system import System, Tagged, Tags

_Key = frozenset[tuple[Monomial, int]]
_Size = tuple[int, Monomial]
"""A number times variables."""
_UNIT: _Size = (1, ())


@dataclass(slots=True)
class Digits:
    """The divisions made so far in one system."""

    system: System
    _made: dict[tuple[_Key, _Key], tuple[Polynomial, Polynomial, Tags]] = field(
        default_factory=dict[tuple[_Key, _Key], tuple[Polynomial, Polynomial, Tags]]
    )
    """Quotient, remainder and what they rest on, by dividend and divisor."""
    _limits: dict[_Key, tuple[_Size, Tags]] = field(default_factory=dict[_Key, "tuple[_Size, Tags]"])
    """What digits are smaller than."""
    _spelled: dict[int, Tagged] = field(default_factory=dict[int, Tagged])
    """A variable of each dividend that is a sum, in terms of the digits and of the other variables."""

    def copy(self, system: System) -> Digits:
        return Digits(system, dict(self._made), dict(self._limits), dict(self._spelled))

    def of(self, p: Polynomial, divisor: Polynomial, side: int, tags: Tags) -> tuple[Tagged, Tagged]:
        """Quotient and remainder of ``p >= 0`` by ``divisor >= 1``, which hold by ``tags``."""
        p, tags = self._in_digits(p, tags)
        divisor, tags = self.system.reduced(divisor, tags)
        size = _size(divisor)
        if size is not None:
            limit = self._limit(p)
            if limit is not None and _divides(limit[0], size):
                used = tags | limit[1]
                return ({}, used), (p, used)
            found = self._taken_apart(p, size, side, tags)
            if found is not None:
                return found
        key = (_key(p), _key(divisor))
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = (*self._new(p, divisor, side, tags), tags)
        return (made[0], tags | made[2]), (made[1], tags | made[2])

    def shorter(self, p: Polynomial, tags: Tags) -> Tagged:
        """In digits, where that has fewer terms: what a remainder by subtraction is a part of."""
        spelled = self._in_digits(p, tags) if self._spelled else (p, tags)
        return spelled if len(spelled[0]) < len(p) else (p, tags)

    def _in_digits(self, p: Polynomial, tags: Tags) -> Tagged:
        p, tags = self.system.reduced(p, tags)
        for v, (meaning, owed) in self._spelled.items():
            if any(v in m for m in p):
                p, tags = self.system.reduced(replaced(p, {v: meaning}), tags | owed)
        return p, tags

    def _taken_apart(self, p: Polynomial, size: _Size, side: int, tags: Tags) -> tuple[Tagged, Tagged] | None:
        """By a division of ``p`` by a factor of ``size``, where its digits are known."""
        for factor in _common(p, size):
            multiple, rest = _split(p, factor)
            whole = factor == size
            if not multiple:
                continue
            above = self.system.nonnegative(rest)
            if above is None:
                continue
            below = self.system.nonnegative(shifted(combine(_poly(factor), rest, -1), -1))
            if below is not None:
                used = tags | above | below
                if whole:
                    return (multiple, used), (rest, used)
                (q, more), (r, _) = self.of(multiple, _poly(_over(size, factor)), side, used)
                return (q, more), (combine(times(_poly(factor), r), rest), more)
            if whole:
                (q, more), remainder = self.of(rest, _poly(size), side, tags | above)
                return (combine(multiple, q), more), remainder
        for (dividend, by), (q, r, owed) in list(self._made.items()):
            factor = _size(dict(by))
            if dividend != _key(p) or factor is None or factor in (size, _UNIT):
                continue
            if _divides(factor, size):
                (q, more), (higher, _) = self.of(q, _poly(_over(size, factor)), side, tags | owed)
                return (q, more), (combine(times(_poly(factor), higher), r), more)
        return None

    def _new(self, p: Polynomial, divisor: Polynomial, side: int, tags: Tags) -> tuple[Polynomial, Polynomial]:
        system = self.system
        (_, high), (least, most) = system.bounds(p), system.bounds(divisor)
        owed = tags | system.owed(p) | system.owed(divisor)
        high, least, most = max(high, 0), max(least, 1), max(most, 1)
        q = variable(system.new(0, high // least, side, owed))
        r = variable(system.new(0, min(high, most - 1), side, owed))
        system.require_at_least_zero(shifted(combine(divisor, r, -1), -1), tags)
        product = times(divisor, q)
        # divisor * quotient <= dividend and < + divisor, for proofs that do not see the remainder
        system.require_at_least_zero(combine(p, product, -1), tags)
        system.require_at_least_zero(shifted(combine(combine(product, divisor), p, -1), -1), tags)
        size, limit = _size(divisor), self._limit(p)
        if size is not None:
            self._limits[_key(r)] = size, owed
            if limit is not None and _divides(size, limit[0]):
                most_of_it = _over(limit[0], size)
                self._limits[_key(q)] = most_of_it, owed | limit[1]
                system.require_at_least_zero(shifted(combine(_poly(most_of_it), q, -1), -1), owed | limit[1])
        whole = combine(product, r)
        if not system.define(p, whole, tags):
            self._spell(p, whole, tags)
        return q, r

    def _limit(self, p: Polynomial) -> tuple[_Size, Tags] | None:
        """A size that a dividend is smaller than: as a digit, or by a guard (``i < H * W``)."""
        known = self._limits.get(_key(p))
        if known is not None:
            return known
        for row, tags in self.system.at_least:
            above = combine(row, p)
            base = constant_part(above)
            size = _size({m: c for m, c in above.items() if m}) if base < 0 else None
            if size is not None:
                return size, tags
        return None

    def _spell(self, p: Polynomial, digits: Polynomial, tags: Tags) -> None:
        """Note what ``p = digits`` says of a variable of one thread."""
        for monomial, coefficient in p.items():
            if len(monomial) != 1 or coefficient not in (1, -1) or self.system.side[monomial[0]] == 0:
                continue
            if not any(monomial[0] in other for other in p if other != monomial):
                rest = {m: c for m, c in p.items() if m != monomial}
                self._spelled[monomial[0]] = scaled(combine(digits, rest, -1), coefficient), tags
                return


def _key(p: Polynomial) -> _Key:
    return frozenset(p.items())


def _size(p: Polynomial) -> _Size | None:
    """A polynomial of one positive term as a size."""
    if len(p) != 1:
        return None
    ((monomial, coefficient),) = p.items()
    return (coefficient, monomial) if coefficient > 0 else None


def _poly(size: _Size) -> Polynomial:
    return {size[1]: size[0]}


def _divides(factor: _Size, size: _Size) -> bool:
    return size[0] % factor[0] == 0 and divided(size[1], factor[1]) is not None


def _over(size: _Size, factor: _Size) -> _Size:
    rest = divided(size[1], factor[1])
    assert rest is not None
    return size[0] // factor[0], rest


def _common(p: Polynomial, size: _Size) -> Iterator[_Size]:
    """Factors of ``size`` that terms of ``p`` have, largest first."""
    found: set[_Size] = set()
    for monomial, coefficient in p.items():
        shared: list[int] = []
        rest = list(monomial)
        for v in size[1]:
            if v in rest:
                rest.remove(v)
                shared.append(v)
        found.add((gcd(coefficient, size[0]), tuple(shared)))
    yield from sorted(found - {_UNIT}, key=lambda f: (len(f[1]), f[0], f[1]), reverse=True)


def _split(p: Polynomial, size: _Size) -> tuple[Polynomial, Polynomial]:
    """``multiple`` and ``rest`` of ``size * multiple + rest``."""
    multiple: Polynomial = {}
    rest: Polynomial = {}
    for monomial, coefficient in p.items():
        without = divided(monomial, size[1]) if coefficient % size[0] == 0 else None
        if without is None:
            rest[monomial] = coefficient
        else:
            multiple[without] = coefficient // size[0]
    return multiple, rest
