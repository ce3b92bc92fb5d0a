"""C expressions as polynomials over bounded integer variables, exact about wrap-around.

Takes expressions and the ranges of their symbols, adds variables and what is known of them to a
:class:`~analyzers.solve.system.System`. An operation becomes polynomial arithmetic where its result provably fits its
type; where it may wrap, ``2**width`` times a bounded quotient is subtracted, a digit like any other. Division and
remainder by ``c`` introduce quotient and remainder with ``dividend = c * quotient + remainder``. What has no such
meaning is a variable of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy

from analyzers.ir.evaluate import is_atom, may_overflow_undefined
from analyzers.ir.expr import BOOL, Expr, IntType, walk
from analyzers.ir.intervals import Interval, Intervals, disjoint_bits, type_range
from analyzers.ir.intervals import rem as rem_interval
from analyzers.solve.division import Digits
from analyzers.solve.narrowing import NO_TAGS, is_cut_off
from analyzers.solve.order import side_of
from analyzers.solve.polynomial import (
    Monomial,
    Polynomial,
    combine,
    constant,
    constant_part,
    is_constant,
    scaled,
    shifted,
    times,
    variable,
)
from analyzers.solve.system import Quotient, System, Tagged, Tags


class Deferred(Exception):
    """Translating this needs inequalities that are not known yet."""


class Translation:
    """Expressions and conditions of one query as parts of ``system``."""

    def __init__(
        self,
        system: System,
        intervals: Intervals,
        owed: Callable[[Expr], Tags],
        *,
        only_sums: bool = False,
    ) -> None:
        """``only_sums``: whatever is not a sum or product stays a variable of its own."""
        self.system = system
        self._open = _PLAIN if only_sums else _OPENED
        self.owed = owed
        self.intervals = intervals
        self.no_signed_overflow = intervals.no_signed_overflow
        self.defer = True
        """Raise :class:`Deferred` rather than prove that something does not wrap."""
        self.assumed = False
        """Whether the absence of signed overflow was used here (see also ``intervals.assumed``)."""
        self.atoms: dict[Expr, int] = {}
        self.choices: list[tuple[int, Expr]] = []
        """Variables that stand for a select, min or max."""
        self.speculative = False
        """Translating a condition that need not hold: nothing may be concluded from its operands being defined."""
        self._tainted: set[int] = set()
        """Nodes translated speculatively whose form presumes that signed arithmetic below has not overflowed."""
        self._congruent: dict[int, Polynomial] = {}
        """For nodes that wrap: what they are congruent to, without the quotient."""
        self._memo: dict[int, Tagged] = {}
        self._digits: dict[tuple[int, int], tuple[Tagged, Tagged]] = {}
        self._splits: dict[tuple[frozenset[tuple[Monomial, int]], int], tuple[Tagged, Tagged]] = {}
        """The same by what the dividends are."""
        self._divisors: dict[int, set[int]] = {}
        """Of each dividend, the numbers that it is divided by."""
        self.digits = Digits(system)

    def copy(self, system: System) -> Translation:
        """For one case of a distinction: what is translated there may rest on that case."""
        other = copy(self)
        other.system, other.digits = system, self.digits.copy(system)
        other.atoms, other.choices = dict(self.atoms), list(self.choices)
        other._tainted = set(self._tainted)
        other._congruent, other._memo, other._digits = dict(self._congruent), dict(self._memo), dict(self._digits)
        other._splits = dict(self._splits)
        return other

    def expect(self, roots: Iterable[Expr]) -> None:
        """Note by what the numbers in these expressions are divided: the divisions of one number share its digits."""
        for node in walk(roots):
            if node.op in ("div", "rem") and node.args[1].op == "const" and node.args[1].value > 1:
                self._divisors.setdefault(node.args[0].key, set()).add(node.args[1].value)

    def of(self, e: Expr) -> Tagged:
        """The integer value of ``e`` (0 or 1 for booleans), and the facts its form rests on."""
        memo = self._memo
        found = memo.get(e.key)
        if found is not None:
            return found
        stack = [e]
        while stack:
            node = stack[-1]
            if node.key in memo:
                stack.pop()
                continue
            if not self._opened(node):
                memo[node.key] = self._atom(node)
                stack.pop()
                continue
            missing = [a for a in self._parts(node) if a.key not in memo]
            if missing:
                stack.extend(missing)
                continue
            memo[node.key] = self._node(node)
            stack.pop()
        return memo[e.key]

    def _opened(self, e: Expr) -> bool:
        """Whether the operands of ``e`` are translated too."""
        if e.op == "const":
            return True
        if is_atom(e) or e.ty == BOOL:
            return False
        if e.op == "cast":
            return e.args[0].ty != BOOL
        return e.op in self._open

    def _parts(self, e: Expr) -> tuple[Expr, ...]:
        """What is translated before ``e``: its operands, and of a quotient of a quotient by sizes that are not known
        the first dividend and all divisors. ``f / H / W`` is ``f / (H * W)``, whose digits ``f / W`` shares."""
        if e.op != "div" or e.args[0].op != "div":
            return e.args
        divisors: list[Expr] = []
        at = e
        while at.op == "div":
            size = self.intervals.of(at.args[1])
            if size.lo < 1 or size.constant:
                return e.args
            divisors.append(at.args[1])
            at = at.args[0]
        return (at, *divisors)

    def _atom(self, e: Expr) -> Tagged:
        known = self.intervals.of(e)
        if known.empty:
            # It has no value: what has to hold of it does not, whatever that is (see `algebra`).
            assert isinstance(e.ty, IntType)
            known = type_range(e.ty)
        if known.constant:
            return constant(known.lo), self.owed(e)
        index = self.atoms.get(e)
        if index is None:
            index = self.atoms[e] = self.system.new(known.lo, known.hi, side_of(e), self.owed(e))
            if e.op == "select":
                self.choices.append((index, e))
        return variable(index), NO_TAGS

    def _node(self, e: Expr) -> Tagged:
        op, ty = e.op, e.ty
        assert isinstance(ty, IntType)
        if op == "const":
            return constant(e.value), NO_TAGS
        if self.intervals.of(e).empty:
            return self._atom(e)
        parts = self._parts(e)
        p, tags = self._memo[parts[0].key]
        if self._tainted and any(a.key in self._tainted for a in parts):
            if op not in _PLAIN:
                # Its defining relation would constrain values that overflow where nobody looks at them.
                return self._atom(e)
            self._tainted.add(e.key)
        if op in _RING:
            return self._ring(e, ty)
        if op == "not":
            return shifted(scaled(p, -1), -1 if ty.signed else ty.high), tags
        if parts is not e.args:
            return self._quotient(e, parts)
        q, more = self._memo[e.args[1].key]
        tags |= more
        second = self.intervals.of(e.args[1])
        if op in ("shl", "shr"):
            if second.constant and 0 <= second.lo < ty.width:
                if op == "shl":
                    return self._ring(e, ty)
                return self._digit(e, e.args[0], 1 << second.lo, 0, tags | self.owed(e.args[1]))
        elif op in ("div", "rem"):
            known = self.intervals.of(e.args[0])
            if known.lo >= 0 and second.lo >= 1 and second.constant:
                return self._digit(e, e.args[0], second.lo, int(op == "rem"), tags | self.owed(e))
            sign = NO_TAGS if known.lo >= 0 else self._sign(p)
            if sign is not None and second.lo >= 1 and not second.constant:
                return self._symbolic_digit(e, int(op == "rem"), tags | self.owed(e) | sign)
        elif op in ("min", "max"):
            return self._extreme(e, p, q, tags)
        else:
            found = self._bits(e, ty, tags)
            if found is not None:
                return found
        return self._atom(e)

    # --- wrap-around

    def _ring(self, e: Expr, ty: IntType) -> Tagged:
        """An operation that commutes with reduction modulo 2**width."""
        values = [self._memo[a.key] for a in e.args]
        tags = NO_TAGS.union(*(t for _, t in values))
        exact = self._combined(e, [p for p, _ in values])
        if not any(a.key in self._congruent for a in e.args):
            return self._fit(e, ty, exact, exact, tags)
        # A conversion to more bits needs the value itself.
        reduced = [
            self._congruent.get(a.key, p) if isinstance(a.ty, IntType) and a.ty.width >= ty.width else p
            for a, (p, _) in zip(e.args, values, strict=True)
        ]
        return self._fit(e, ty, exact, self._combined(e, reduced), tags)

    def _combined(self, e: Expr, operands: list[Polynomial]) -> Polynomial:
        p = operands[0]
        if e.op in ("cast", "narrow"):
            return p
        if e.op == "neg":
            return scaled(p, -1)
        if e.op == "shl":
            return scaled(p, 1 << self.intervals.of(e.args[1]).lo)
        q = operands[1]
        return times(p, q) if e.op == "mul" else combine(p, q, 1 if e.op == "add" else -1)

    def _fit(self, e: Expr, ty: IntType, exact: Polynomial, p: Polynomial, tags: Tags) -> Tagged:
        """The value of type ``ty``: ``exact`` is the operation on its operands' values, ``p`` congruent to that."""
        raw = self.intervals.raw(e)
        if raw.within(ty):
            return exact, tags | self.owed(e)
        lo, hi = self.system.bounds(p)
        if p is exact:
            lo, hi = max(lo, raw.lo), min(hi, raw.hi)
        owed = tags | self.owed(e) | self.system.owed(p)
        if ty.low <= lo and hi <= ty.high:
            return p, owed
        if self.no_signed_overflow and may_overflow_undefined(e):
            self.assumed = True
            if self.speculative:
                self._tainted.add(e.key)
            elif e.op == "narrow":
                # An induction variable: that it stays in its type bounds how far iterations can be apart.
                self.system.require_at_least_zero(shifted(exact, -ty.low), tags)
                self.system.require_at_least_zero(shifted(scaled(exact, -1), ty.high), tags)
            return exact, tags
        if self.defer:
            raise Deferred
        size = 1 << ty.width
        first, last = (lo - ty.low) // size, (hi - ty.low) // size
        if first < 0:
            found = self.system.nonnegative(shifted(p, -ty.low))
            if found is not None:
                first, owed = 0, owed | found
        if last > 0:
            found = self.system.nonnegative(shifted(scaled(p, -1), ty.high))
            if found is not None:
                last, owed = 0, owed | found
        if first >= last:
            return shifted(p, -size * first), owed
        if e.key in self._tainted:
            self._tainted.remove(e.key)
            return self._atom(e)
        quotient = self.system.new(first, last, side_of(e), owed)
        if is_cut_off(e):
            value, own = self._atom(e)
            self.system.identities.append((combine(combine(p, value, -1), {(quotient,): -size}), owed))
            self._congruent[e.key] = p
            return value, own
        wrapped = combine(p, {(quotient,): -size})
        self.system.require_at_least_zero(shifted(wrapped, -ty.low), owed)
        self.system.require_at_least_zero(shifted(scaled(wrapped, -1), ty.high), owed)
        self._congruent[e.key] = p
        return wrapped, owed

    # --- division

    def _digit(self, e: Expr, dividend: Expr, divisor: int, which: int, tags: Tags) -> Tagged:
        """Quotient (``which`` 0) or remainder (1) of floor division by a positive constant."""
        q, own = self._both(dividend, divisor, tags)[which]
        return q, tags | own

    def _both(self, dividend: Expr, divisor: int, tags: Tags) -> tuple[Tagged, Tagged]:
        key = (dividend.key, divisor)
        found = self._digits.get(key)
        if found is None:
            p, _ = self._memo[dividend.key]
            factors = (c for c in self._divisors.get(dividend.key, ()) if c < divisor and divisor % c == 0)
            factor = max(factors, default=1)
            if factor == 1:
                found = self._split(p, dividend, divisor, tags)
            else:
                (above, more), (low, own) = self._both(dividend, factor, tags)
                (q, a), (r, b) = self._split(above, dividend, divisor // factor, tags | more, self.system.bounds(above))
                found = (q, a | more), (combine(scaled(r, factor), low), b | more | own)
            self._digits[key] = found
        return found

    def _split(
        self, p: Polynomial, dividend: Expr, divisor: int, tags: Tags, within: tuple[int, int] | None = None
    ) -> tuple[Tagged, Tagged]:
        """Quotient and remainder of ``p``, which is ``dividend`` or, ``within`` these bounds, a digit of it."""
        key = (frozenset(p.items()), divisor)
        if key not in self._splits:
            self._splits[key] = self._newly_split(p, dividend, divisor, tags, within)
        (q, a), (r, b) = self._splits[key]
        return (q, a | tags), (r, b | tags)

    def _newly_split(
        self, p: Polynomial, dividend: Expr, divisor: int, tags: Tags, within: tuple[int, int] | None
    ) -> tuple[Tagged, Tagged]:
        multiple = {m: c // divisor for m, c in p.items() if m and c % divisor == 0}
        rest = {m: c for m, c in p.items() if m and c % divisor}
        base = constant_part(p)
        lo, hi = self.system.bounds(rest)
        if (lo + base) // divisor == (hi + base) // divisor:
            # p = divisor * multiple + rest + base with rest + base inside one block of the divisor.
            block = (lo + base) // divisor
            sure = self.system.owed(rest)
            return (shifted(multiple, block), sure), (shifted(rest, base - block * divisor), sure)
        known = self.intervals.of(dividend) if within is None else Interval(*within)
        remainder = rem_interval(known, Interval(divisor, divisor, 0)) if known.lo >= 0 else Interval(0, divisor - 1)
        # Another dividend that is the same polynomial gets the same digits: they owe their bounds to what made it one.
        side, owed = side_of(dividend), tags | (self.owed(dividend) if within is None else self.system.owed(p))
        q = variable(self.system.new(known.lo // divisor, known.hi // divisor, side, owed))
        r = variable(self.system.new(remainder.lo, remainder.hi, side, owed))
        if not self.system.define(p, combine(scaled(q, divisor), r), tags) and side in (1, 2):
            self.system.quotients.append(Quotient(p, divisor, q, r, side, tags))
        if side == 0:
            below = combine(p, q, -divisor)
            self.system.require_at_least_zero(below, tags)
            self.system.require_at_least_zero(shifted(scaled(below, -1), divisor - 1), tags)
        return (q, NO_TAGS), (r, NO_TAGS)

    def _sign(self, p: Polynomial) -> Tags | None:
        """What a number rests on not to be negative; what is left of one without its lower digits is a product."""
        short, tags = self.digits.shorter(p, NO_TAGS)
        sign = self.system.nonnegative(short)
        return None if sign is None else tags | sign

    def _symbolic_digit(self, e: Expr, which: int, tags: Tags) -> Tagged:
        a, b = e.args
        key = (a.key, -b.key - 1)
        found = self._digits.get(key)
        if found is None:
            side = side_of(a) | side_of(b)
            found = self._digits[key] = self.digits.of(self._memo[a.key][0], self._memo[b.key][0], side, tags)
        q, own = found[which]
        return q, tags | own

    def _quotient(self, e: Expr, parts: tuple[Expr, ...]) -> Tagged:
        """By several divisors, one after the other."""
        (p, tags), *divisors = (self._memo[part.key] for part in parts)
        known = self.intervals.of(parts[0])
        sign = NO_TAGS if known.lo >= 0 else self._sign(p)
        if sign is None:
            return self._atom(e)
        product: Polynomial = constant(1)
        for divisor, more in divisors:
            product, tags = times(product, divisor), tags | more
        (q, own), _ = self.digits.of(p, product, side_of(e), tags | self.owed(e) | sign)
        return q, own

    # --- the rest

    def _extreme(self, e: Expr, p: Polynomial, q: Polynomial, tags: Tags) -> Tagged:
        m, own = self._atom(e)
        sign = 1 if e.op == "min" else -1
        for other in (p, q):
            self.system.require_at_least_zero(scaled(combine(other, m, -1), sign), tags)
        if not is_constant(m):
            self.choices.append((next(iter(m))[0], e))
        return m, own

    def _bits(self, e: Expr, ty: IntType, tags: Tags) -> Tagged | None:
        a, b = e.args
        ia, ib = self.intervals.of(a), self.intervals.of(b)
        tags |= self.owed(e)
        if e.op in ("or", "xor"):
            if disjoint_bits(ia, ib):
                return combine(self._memo[a.key][0], self._memo[b.key][0]), tags
            for x, ix, iy in ((a, ia, ib), (b, ib, ia)):
                ones = iy.lo
                if e.op == "xor" and iy.constant and ones & (ones + 1) == 0 and ix.lo >= 0 and ix.hi <= ones:
                    return shifted(scaled(self._memo[x.key][0], -1), ones), tags
            return None
        if ia.constant:
            a, b, ia, ib = b, a, ib, ia
        if not ib.constant:
            return None
        mask = ib.lo & ((1 << ty.width) - 1)
        low = (mask & -mask).bit_length() - 1
        if mask and mask & (mask + 1) == 0 and mask <= ty.high:
            return self._digit(e, a, mask + 1, 1, tags)
        if mask and mask + (1 << low) == 1 << ty.width:
            q, own = self._digit(e, a, 1 << low, 0, tags)
            return scaled(q, 1 << low), tags | own
        return None


_RING = frozenset({"add", "sub", "mul", "neg", "cast", "narrow"})
_PLAIN = _RING | {"not", "shl"}
_OPENED = frozenset(
    {"add", "sub", "mul", "neg", "not", "shl", "shr", "div", "rem", "and", "or", "xor", "min", "max", "cast", "narrow"}
)
