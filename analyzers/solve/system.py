"""A small prover for systems of polynomial equalities, inequalities and windows over bounded integer variables.

Takes polynomials known to be zero, nonnegative, non-zero or within a window, and derives consequences until the
system is seen to be impossible (:class:`Refuted`, with the facts used) or nothing follows any more. The reasoning is
what address arithmetic needs:

* bounds: a sum whose largest value is below what it must be;
* residues: ``c0 + g * q`` in a window that holds no such number;
* mixed radix: from ``c * q + r`` within ``(-c, c)`` of ``r`` follows ``q = 0``, for symbolic ``c`` too (``w * y + x``
  with ``0 <= x < w``);
* elimination of variables with coefficient one.

Inequalities with symbolic bounds are left to :mod:`~analyzers.solve.inequalities`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import gcd

from analyzers.solve.inequalities import Box, Point, refuted
from analyzers.solve.narrowing import NO_TAGS
from analyzers.solve.polynomial import (
    ONE,
    Monomial,
    Polynomial,
    bounds,
    combine,
    constant_part,
    content,
    divided,
    is_constant,
    replaced,
    rounded,
    scaled,
    shifted,
    times,
    variables,
)

MAX_TOTAL_STEPS = 1_000
"""Effort (about the pivots) of all proofs of inequalities about one query, unless less is allowed."""

HARDLY_BOUNDED = 1 << 32

Tags = frozenset[int]


class Refuted(Exception):
    """The system has no solution; ``tags`` of the facts used."""

    def __init__(self, tags: Tags) -> None:
        super().__init__("refuted")
        self.tags = tags


@dataclass(frozen=True, slots=True)
class Window:
    """``lo <= poly <= hi``."""

    poly: Polynomial
    lo: int
    hi: int
    tags: Tags = NO_TAGS
    address: bool = False
    """Whether this is the address difference (or a digit of it): used before other equations."""


@dataclass(frozen=True, slots=True)
class Quotient:
    """``dividend == divisor * quotient + remainder``, all of one thread."""

    dividend: Polynomial
    divisor: int
    quotient: Polynomial
    remainder: Polynomial
    side: int
    tags: Tags


Tagged = tuple[Polynomial, Tags]


@dataclass(slots=True)
class System:
    """Variables are indices into ``lo``, ``hi``, ``tags`` (facts their bounds rest on) and ``shared`` (same for both
    threads)."""

    lo: list[int] = field(default_factory=list[int])
    hi: list[int] = field(default_factory=list[int])
    tags: list[Tags] = field(default_factory=list[Tags])
    side: list[int] = field(default_factory=list[int])
    """0: common to both threads, 1 and 2: of one thread, 3: mixed."""
    at_least: list[Tagged] = field(default_factory=list[Tagged])
    """Polynomials known to be nonnegative."""
    not_zero: list[Tagged] = field(default_factory=list[Tagged])
    windows: list[Window] = field(default_factory=list[Window])
    identities: list[Tagged] = field(default_factory=list[Tagged])
    """Polynomials that are zero by the definition of a quotient and remainder."""
    quotients: list[Quotient] = field(default_factory=list[Quotient])
    """Divisions by constants, as far as those of both threads were not compared."""
    solved: dict[int, Polynomial] = field(default_factory=dict[int, Polynomial])
    solved_tags: dict[int, Tags] = field(default_factory=dict[int, Tags])
    allowance: list[int] = field(default_factory=lambda: [MAX_TOTAL_STEPS])
    """Proof steps left, shared by all states of the query."""
    points: list[Point] = field(default_factory=list[Point])
    """What satisfied the inequalities of some state (``inequalities.Box``), shared by all states of the query."""
    spoken: dict[int, tuple[Tagged, int]] = field(default_factory=dict[int, tuple[Tagged, int]])
    """Of the same, and shared too."""
    recentred: set[int] = field(default_factory=set[int])
    """The sizes that stand for others, counted from another number: they stay, or two windows that want different
    numbers would take turns for ever."""

    def copy(self) -> System:
        """The system as it is now, to go on with in another way."""
        return System(
            list(self.lo),
            list(self.hi),
            list(self.tags),
            list(self.side),
            list(self.at_least),
            list(self.not_zero),
            list(self.windows),
            list(self.identities),
            list(self.quotients),
            dict(self.solved),
            dict(self.solved_tags),
            self.allowance,
            self.points,
            self.spoken,
            set(self.recentred),
        )

    # --- building

    def new(self, lo: int, hi: int, side: int, tags: Tags = NO_TAGS) -> int:
        self.lo.append(lo)
        self.hi.append(hi)
        self.tags.append(tags)
        self.side.append(side)
        return len(self.lo) - 1

    def bounds(self, p: Polynomial) -> tuple[int, int]:
        return bounds(p, self.lo, self.hi)

    def owed(self, p: Polynomial) -> Tags:
        """The facts that the bounds of the variables in ``p`` rest on."""
        out = NO_TAGS
        for m in p:
            for v in m:
                if self.tags[v]:
                    out |= self.tags[v]
        return out

    def reduced(self, p: Polynomial, tags: Tags) -> Tagged:
        """``p`` with solved variables replaced."""
        if self.solved and any(v in self.solved for m in p for v in m):
            for m in p:
                for v in m:
                    tags |= self.solved_tags.get(v, NO_TAGS)
            p = replaced(p, self.solved)
        return p, tags

    def require_at_least_zero(self, p: Polynomial, tags: Tags) -> None:
        p, tags = self.reduced(p, tags)
        lo, hi = self.bounds(p)
        if hi < 0:
            raise Refuted(tags | self.owed(p))
        if lo >= 0:
            return
        p = rounded(p)
        if len(p) == 1 or (len(p) == 2 and ONE in p):
            m, c = next((m, c) for m, c in p.items() if m)
            if len(m) == 1 and c in (1, -1):
                self._bound(m[0], c, -constant_part(p) * c, tags)
                return
        self._join(p, tags)
        self.at_least.append((p, tags))
        self._unproved.clear()
        self._raise_bounds(p, tags)

    def _join(self, p: Polynomial, tags: Tags) -> None:
        """``p >= 0`` and ``-p >= 0`` are ``p = 0``."""
        reverse = scaled(p, -1)
        for q, more in self.at_least:
            if q == reverse:
                self.require_zero(p, tags | more)
                return

    def _bound(self, v: int, sign: int, value: int, tags: Tags) -> None:
        """``v >= value`` (``sign`` positive) or ``v <= value``."""
        if sign > 0 and value > self.lo[v]:
            self.lo[v] = value
        elif sign < 0 and value < self.hi[v]:
            self.hi[v] = value
        else:
            return
        self.tags[v] |= tags
        self._unproved.clear()
        if self.lo[v] > self.hi[v]:
            raise Refuted(self.tags[v])

    def _raise_bounds(self, p: Polynomial, tags: Tags) -> None:
        """From ``p >= 0``: lower bounds of common variables that might not be positive (widths, strides), and upper
        bounds of those that have hardly one (numbers of iterations)."""
        for m, c in p.items():
            if len(m) != 1 or self.side[m[0]] != 0:
                continue
            is_open = self.lo[m[0]] < 1 if c > 0 else self.hi[m[0]] >= HARDLY_BOUNDED
            if not is_open:
                continue
            rest = {n: d for n, d in p.items() if n != m}
            limit = self.bounds(rest)[1]
            if c > 0 and -(limit // c) > self.lo[m[0]]:
                self._bound(m[0], 1, -(limit // c), tags | self.owed(rest))
            elif c < 0 and limit // -c < self.hi[m[0]]:
                self._bound(m[0], -1, limit // -c, tags | self.owed(rest))

    def require_zero(self, p: Polynomial, tags: Tags) -> None:
        self.windows.append(Window(p, 0, 0, tags))

    def solve_for(self, v: int, p: Polynomial, tags: Tags) -> None:
        """From now on ``v`` stands for ``p`` (in which it does not occur)."""
        p, tags = self.reduced(p, tags)
        single = {v: p}
        for u, old in self.solved.items():
            new = replaced(old, single)
            if new is not old:
                self.solved[u] = new
                self.solved_tags[u] |= tags
        self.solved[v] = p
        self._unproved.clear()
        self.solved_tags[v] = tags
        pending = [g for g in self.at_least if any(v in m for m in g[0])]
        if pending:
            self.at_least = [g for g in self.at_least if not any(v in m for m in g[0])]
            for g, own in pending:
                self.require_at_least_zero(g, own)
        tags |= self.tags[v]
        lo, hi = self.bounds(p)
        if lo < self.lo[v]:
            self.require_at_least_zero(shifted(p, -self.lo[v]), tags)
        if hi > self.hi[v]:
            self.require_at_least_zero(shifted(scaled(p, -1), self.hi[v]), tags)
        if hi < self.lo[v] or lo > self.hi[v]:
            raise Refuted(tags | self.owed(p))

    def define(self, p: Polynomial, value: Polynomial, tags: Tags) -> bool:
        """``p`` equals ``value``, whose variables are new. Replace ``p`` where it is a variable, else remember; whether
        it was one."""
        reduced, more = self.reduced(p, tags)
        for m, c in reduced.items():
            if (
                len(reduced) == 1
                and self.side[m[0] if m else 0] != 0
                and c == 1
                and len(m) == 1
                and m[0] not in variables(value)
            ):
                self.solve_for(m[0], value, more)
                return True
        self.identities.append((combine(p, value, -1), tags))
        return False

    # --- consequences

    def run(self) -> None:
        """Derive until nothing changes. Raises :class:`Refuted`."""
        while True:
            before = len(self.solved)
            self._take_windows(eager=False)
            self._refresh()
            if len(self.solved) != before or self._compare_quotients():
                continue
            self._take_windows(eager=True)
            self._refresh()
            if len(self.solved) == before:
                return

    def _take_windows(self, eager: bool) -> None:
        """Use the windows; solving an equation of many terms, which hides its structure, only when ``eager``."""
        pending = sorted(self.windows, key=lambda w: (len(w.poly) > 2 and not w.address, len(w.poly)))
        self.windows = []
        stuck: list[Window] = []
        while pending:
            w = pending.pop(0)
            more = self._window(w, eager)
            if more is None:
                stuck.append(w)
            else:
                pending = more + pending + stuck
                stuck = []
            if self.windows:
                pending, self.windows = self.windows + pending, []
        self.windows = stuck

    def _refresh(self) -> None:
        """Hold what is known against what was solved."""
        pending, self.identities = self.identities, []
        for p, tags in pending:
            p, tags = self.reduced(p, tags)
            if not self._settle(p, tags):
                self.identities.append((p, tags))
        self.not_zero = [self.reduced(*d) for d in self.not_zero]
        for p, tags in self.not_zero:
            if self.is_zero(p):
                raise Refuted(tags | self.owed(p))
            self._without_zero_factors(p, tags)
            self._one_is_positive(p, tags)
        equations = self._equations() if self.not_zero else {}
        for p, tags in self.not_zero:
            equal = equations.get(_primitive(p))
            if equal is not None:
                raise Refuted(tags | equal)

    def _without_zero_factors(self, p: Polynomial, tags: Tags) -> None:
        """No factor of what is not zero is zero: one that is not negative is positive."""
        for v in set(next(iter(p))):
            if all(v in m for m in p):
                if self.lo[v] == 0:
                    self._bound(v, 1, 1, tags)
                elif self.hi[v] == 0:
                    self._bound(v, -1, -1, tags)

    def _one_is_positive(self, p: Polynomial, tags: Tags) -> None:
        """Of two numbers that differ and are not negative one is positive."""
        if len(p) == 2 and sorted(p.values()) == [-1, 1] and all(len(m) == 1 and self.lo[m[0]] == 0 for m in p):
            both = dict.fromkeys(p, 1)
            total = shifted(both, -1)
            if all(q != total for q, _ in self.at_least):
                self.require_at_least_zero(total, tags | self.owed(both))

    def weigh_identities(self) -> bool:
        """Take what common numbers are by definition as inequalities too (a counter behind its loop is how often that
        was gone through, but for turns around its type); whether there is any."""
        found = [(p, tags) for p, tags in self.identities if not any(self.side[v] for v in variables(p))]
        for p, tags in found:
            self.at_least += [(p, tags), (scaled(p, -1), tags)]
        self._unproved.clear()
        return bool(found)

    def _equations(self) -> dict[frozenset[tuple[Monomial, int]], Tags]:
        """What is known to be zero and was solved for no variable, but for a factor."""
        reduced = (self.reduced(shifted(w.poly, -w.lo), w.tags) for w in self.windows if w.lo == w.hi)
        return {_primitive(p): tags for p, tags in reduced}

    def _compare_quotients(self) -> bool:
        """Numbers with equal quotients (or quotients with a known distance) are less than the divisor apart."""
        found = False
        ours, theirs = ([q for q in self.quotients if q.side == side] for side in (1, 2))
        for one in ours:
            for two in theirs:
                if one.divisor != two.divisor:
                    continue
                apart, tags = self.reduced(combine(one.quotient, two.quotient, -1), one.tags | two.tags)
                if not is_constant(apart):
                    continue
                rest, tags = self.reduced(combine(one.remainder, two.remainder, -1), tags)
                (lo, hi), base = self.bounds(rest), one.divisor * constant_part(apart)
                body = combine(one.dividend, two.dividend, -1)
                self.windows.append(Window(body, base + lo, base + hi, tags | self.owed(rest), address=True))
                self.quotients = [q for q in self.quotients if q is not one and q is not two]
                found = True
                break
        return found

    def is_zero(self, p: Polynomial) -> bool:
        return not p or self.bounds(p) == (0, 0)

    def _settle(self, p: Polynomial, tags: Tags) -> bool:
        """Use ``p = 0`` where it gives a common variable the value of one monomial (or constant)."""
        if is_constant(p):
            if p:
                raise Refuted(tags)
            return True
        if len(p) - (ONE in p) > 2:
            return False
        for m, c in p.items():
            if len(m) == 1 and c in (1, -1) and not any(m[0] in n for n in p if n != m):
                self.solve_for(m[0], scaled({n: d for n, d in p.items() if n != m}, -c), tags)
                return True
        return False

    def _window(self, w: Window, eager: bool) -> list[Window] | None:
        """What follows from a window: windows to put in its place (after solving a variable, perhaps), None:
        nothing."""
        p, tags = self.reduced(w.poly, w.tags)
        lo, hi = w.lo, w.hi
        base = constant_part(p)
        if base:
            p = {m: c for m, c in p.items() if m}
            lo, hi = lo - base, hi - base
        if not p:
            if not lo <= 0 <= hi:
                raise Refuted(tags)
            return []
        g = content(p)
        if g > 1:
            p = {m: c // g for m, c in p.items()}
            lo, hi = -(-lo // g), hi // g
        if lo > hi:
            raise Refuted(tags)
        low, high = self.bounds(p)
        if low > hi or high < lo:
            raise Refuted(tags | self.owed(p))
        if lo == hi == 0:
            p, tags = self._without_common_factor(p, tags)
        if self._meets(p):
            found = self._radix(p, lo, hi, tags, eager)
            if found is not None:
                return [Window(d.poly, d.lo, d.hi, d.tags, w.address) for d in found]
            if w.address and self._recentre(p):
                return [w]
        if lo == hi and (eager or len(p) <= 2) and self._eliminate(p, lo, tags):
            return []
        if self._proves_outside(p, lo, hi, tags):
            raise Refuted(tags | self._last)
        return None

    _last: Tags = NO_TAGS
    _unproved: set[frozenset[tuple[Monomial, int]]] = field(default_factory=set[frozenset[tuple[Monomial, int]]])
    """Polynomials that could not be proved nonnegative from what is known now."""

    def _without_common_factor(self, p: Polynomial, tags: Tags) -> Tagged:
        """``p`` divided by variables that are in every monomial and cannot be zero."""
        first = next(iter(p))
        for v in sorted(set(first)):
            while (self.lo[v] > 0 or self.hi[v] < 0) and all(v in m for m in p):
                p = {divided(m, (v,)) or ONE: c for m, c in p.items()}
                tags |= self.tags[v]
        return p, tags

    def _eliminate(self, p: Polynomial, value: int, tags: Tags) -> bool:
        """Solve ``p = value`` for a variable of one thread."""
        best: tuple[int, int, int] | None = None
        for m, c in p.items():
            if len(m) == 1 and c in (1, -1) and not any(m[0] in n for n in p if n is not m):
                rank = (self.side[m[0]], m[0], c)
                if best is None or rank > best:
                    best = rank
        if best is None:
            return False
        if best[0] == 0:
            return self._settle(shifted(p, -value), tags)
        _, v, c = best
        rest = {m: d for m, d in p.items() if m != (v,)}
        self.solve_for(v, shifted(scaled(rest, -c), c * value), tags)
        return True

    def spans(self) -> list[Window]:
        """The polynomials of both threads that inequalities keep between two numbers: what an equation became when it
        was solved for a variable. Where a case says more about the sizes in them, they split into digits again."""
        least: dict[frozenset[tuple[Monomial, int]], tuple[int, Tags]] = {}
        found: list[Window] = []
        for p, tags in self.at_least:
            base = constant_part(p)
            body = {m: c for m, c in p.items() if m}
            least[frozenset(body.items())] = (-base, tags)
            low = least.get(frozenset(scaled(body, -1).items()))
            if low is not None and self._meets(body):
                found.append(Window(scaled(body, -1), low[0], base, tags | low[1]))
        return found

    # --- mixed radix

    def _recentre(self, p: Polynomial) -> bool:
        """Count a common size from another number, or from another size, where that makes products of sums:
        ``w*y + 2*y`` is ``v*y`` for ``v = w + 2``. Rows with a border, or of two parts, are digits of such sizes."""
        common = [v for v in sorted(variables(p)) if self.side[v] == 0]
        for v in common:
            inner = {rest: c for m, c in p.items() if (rest := divided(m, (v,))) is not None}
            if v in self.recentred or any(v in m for m in inner):
                continue
            others = {m: c for m, c in p.items() if v not in m}
            shifts: list[Polynomial] = [{(u,): 1} for u in common if u != v]
            ratios = {others[m] // c for m, c in inner.items() if m in others and others[m] % c == 0}
            shifts += [{ONE: k} for k in sorted(ratios)]
            for shift in shifts:
                if len(inner) + len(combine(others, times(inner, shift), -1)) < len(p):
                    low, high = self.bounds(shift)
                    size = self.new(self.lo[v] + low, self.hi[v] + high, 0, self.tags[v] | self.owed(shift))
                    self.recentred.add(size)
                    self.solve_for(v, combine({(size,): 1}, shift, -1), NO_TAGS)
                    return True
        return False

    def _meets(self, p: Polynomial) -> bool:
        """Whether both threads occur in ``p``: what is said of one alone has no digits to compare."""
        sides = 0
        for m in p:
            for v in m:
                sides |= self.side[v]
        return sides == 3

    def _radix(self, p: Polynomial, lo: int, hi: int, tags: Tags, eager: bool) -> list[Window] | None:
        """Split ``p`` into ``c * q + r`` with ``q`` forced, for some coefficient ``c``."""
        for size, unit in self._coefficients(p):
            q: Polynomial = {}
            r: Polynomial = {}
            for m, k in p.items():
                rest = divided(m, unit) if k % size == 0 else None
                if rest is None:
                    r[m] = k
                else:
                    q[rest] = k // size
            if not r and size == 1 and not unit:
                continue
            found = self._numeric_digit(q, r, size, lo, hi, tags) if not unit else None
            if found is None and (unit or eager):
                found = self._symbolic_digit(q, r, {unit: size}, lo, hi, tags)
            if found is not None:
                return found
        return None

    def _coefficients(self, p: Polynomial) -> list[tuple[int, Monomial]]:
        """Candidates for ``c``: number times product of common variables, largest first. For one product also the
        greatest number in all of its terms: rows may lie several apart, by different ways."""
        out: set[tuple[int, Monomial]] = set()
        for m, k in p.items():
            out.add((abs(k), tuple([v for v in m if self.side[v] == 0])))
        for unit in {unit for _, unit in out if unit}:
            out.add((gcd(*(k for m, k in p.items() if divided(m, unit) is not None)), unit))
        ranked = sorted(out, key=lambda c: (len(c[1]), c[0], c[1]), reverse=True)
        return [c for c in ranked if c != (1, ONE)]

    def _numeric_digit(
        self, q: Polynomial, r: Polynomial, size: int, lo: int, hi: int, tags: Tags
    ) -> list[Window] | None:
        low, high = self.bounds(r)
        first, last = -((high - lo) // size), (hi - low) // size
        owed = tags | self.owed(r)
        if first > last:
            raise Refuted(owed)
        if first != last:
            return self._coprime_digit(q, r, size, tags) if lo == hi == 0 else None
        return [Window(q, first, first, owed), Window(r, lo - size * first, hi - size * first, owed)]

    def _coprime_digit(self, q: Polynomial, r: Polynomial, size: int, tags: Tags) -> list[Window] | None:
        """``size * q + g * r' = 0`` makes ``r'`` a multiple of ``size / gcd(size, g)``; zero when it is smaller than
        that."""
        g = content(r)
        if not g or ONE in r:
            return None
        part = {m: c // g for m, c in r.items()}
        low, high = self.bounds(part)
        modulus = size // gcd(size, g)
        if low <= -modulus or high >= modulus:
            return None
        owed = tags | self.owed(part)
        return [Window(part, 0, 0, owed), Window(q, 0, 0, owed)]

    def _symbolic_digit(
        self, q: Polynomial, r: Polynomial, c: Polynomial, lo: int, hi: int, tags: Tags
    ) -> list[Window] | None:
        above = self.nonnegative(combine(shifted(c, -1 - hi), r))
        if above is None:
            return None
        below = self.nonnegative(combine(shifted(c, -1 + lo), r, -1))
        if below is None:
            return None
        used = tags | above | below
        return [Window(q, 0, 0, used), Window(r, lo, hi, used)]

    # --- inequalities

    def _proves_outside(self, p: Polynomial, lo: int, hi: int, tags: Tags) -> bool:
        """Whether ``p < lo`` or ``p > hi`` always."""
        for q in (shifted(scaled(p, -1), lo - 1), shifted(p, -hi - 1)):
            found = self.nonnegative(q)
            if found is not None:
                self._last = found
                return True
        return False

    def nonnegative(self, p: Polynomial) -> Tags | None:
        """The facts that prove ``p >= 0``, or None."""
        p, tags = self.reduced(p, NO_TAGS)
        lo, hi = self.bounds(p)
        if lo >= 0:
            return tags | self.owed(p)
        if hi < 0 or not self.at_least:
            return None
        key = frozenset(p.items())
        if key in self._unproved:
            return None
        found = self.contradictory((shifted(scaled(p, -1), -1), NO_TAGS))
        if found is None:
            self._unproved.add(key)
        return None if found is None else found | tags

    def contradictory(self, *more: Tagged) -> Tags | None:
        """Facts by which what is known to be nonnegative cannot be, together with ``more``."""
        if self.allowance[0] <= 0:
            return None
        found, effort = refuted(
            [*more, *self.at_least], Box(self.lo, self.hi, self.tags, self.points, self.spoken), self.allowance[0]
        )
        self.allowance[0] -= effort
        return found


def _primitive(p: Polynomial) -> frozenset[tuple[Monomial, int]]:
    """``p`` but for a factor."""
    g = gcd(*p.values())
    if p and p[min(p)] < 0:
        g = -g
    return frozenset((m, c // g) for m, c in p.items())
