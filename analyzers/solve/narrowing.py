"""Tighter ranges of symbols from conditions that must hold: ``i < n`` and ``x == y`` pushed down to the leaves.

Takes conditions (with the tag of the fact they come from) and known ranges, narrows the ranges until nothing changes
or a few rounds have passed, and remembers which facts each narrowed symbol owes its range to. A condition that must
hold has defined operands, so signed operations in it have not overflowed where that is assumed away.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isqrt

from analyzers.ir.evaluate import atoms_below, is_atom, may_overflow_undefined, partial_operations
from analyzers.ir.expr import BOOL, Expr, IntType, lnot
from analyzers.ir.intervals import Interval, Intervals
from analyzers.solve.order import side_of

NO_TAGS: frozenset[int] = frozenset()
MAX_ROUNDS = 4


class Contradiction(Exception):
    """No values satisfy the conditions; ``tags`` of the facts involved."""

    def __init__(self, tags: frozenset[int]) -> None:
        super().__init__("contradiction")
        self.tags = tags


def is_cut_off(e: Expr) -> bool:
    """A conversion to fewer bits of what both threads have alike, as in ``int n = x.size(0)``: what is left of it
    says little about the number, and is a size like any other."""
    if e.op != "cast" or side_of(e):
        return False
    source = e.args[0].ty
    return isinstance(source, IntType) and isinstance(e.ty, IntType) and 1 < e.ty.width < source.width


def is_common_product(e: Expr) -> bool:
    """A product of numbers that both threads have alike: of its size more may be known than follows from those of its
    factors."""
    return e.op == "mul" and not side_of(e) and not any(a.op == "const" for a in e.args)


class Narrowing:
    """Ranges under construction. Raises :class:`Contradiction` when a range becomes empty."""

    def __init__(self, ranges: Mapping[Expr, tuple[int, int]], *, no_signed_overflow: bool) -> None:
        self.ranges: dict[Expr, tuple[int, int]] = dict(ranges)
        self.tags: dict[Expr, frozenset[int]] = {}
        self.no_signed_overflow = no_signed_overflow
        self.assumed = False
        """Whether a range rests on the absence of signed overflow."""
        self.intervals = Intervals(self.ranges, no_signed_overflow=no_signed_overflow)
        self._tag = NO_TAGS
        self._condition: Expr | None = None
        self._changed: set[Expr] = set()

    def run(self, conditions: Sequence[tuple[Expr, frozenset[int]]], rounds: int = MAX_ROUNDS) -> None:
        """Narrow to a fixed point (or until ``rounds`` passes are done)."""
        pending = conditions
        for _ in range(rounds):
            self._changed = set()
            for condition, tags in pending:
                self._tag, self._condition = tags, condition
                self.require(condition)
            if not self._changed:
                return
            self.intervals = Intervals(self.ranges, no_signed_overflow=self.no_signed_overflow)
            changed = self._changed
            pending = [c for c in conditions if not changed.isdisjoint(atoms_below(c[0]))]

    def owed(self, roots: Iterable[Expr]) -> frozenset[int]:
        """Tags of the facts to which the atoms below ``roots`` owe their ranges."""
        if not self.tags:
            return NO_TAGS
        return NO_TAGS.union(*(self.tags.get(a, NO_TAGS) for r in roots for a in atoms_below(r)))

    def _sources(self) -> frozenset[int]:
        return self._tag if self._condition is None else self._tag | self.owed((self._condition,))

    # --- booleans

    def require(self, e: Expr) -> None:
        """``e`` must be defined and true."""
        op = e.op
        if op == "land":
            self.require(e.args[0])
            self.require(e.args[1])
            return
        truth = self.intervals.truth(e)
        if truth is False:
            raise Contradiction(self._sources())
        if op in ("lt", "le", "eq", "ne"):
            if isinstance(e.args[0].ty, IntType):
                self._compare(op, *e.args)
        elif op == "lor":
            a, b = e.args
            if self.intervals.truth(a) is False:
                self.require(b)
            elif self.intervals.truth(b) is False:
                self.require(a)
        elif op == "lnot":
            self._refute(e.args[0])
        elif is_atom(e):
            self.narrow(e, 1, 1)

    def _refute(self, e: Expr) -> None:
        if e.op in ("lor", "lnot"):
            for a in e.args:
                self.require(lnot(a))
        elif e.op == "land":
            a, b = e.args
            if self.intervals.truth(a) is True:
                self.require(lnot(b))
            elif self.intervals.truth(b) is True:
                self.require(lnot(a))
        elif is_atom(e):
            self.narrow(e, 0, 0)

    def _require_defined(self, e: Expr) -> None:
        """``e`` is defined: divisors are not zero, shift counts below the width."""
        for node in partial_operations(e):
            count = node.args[1]
            assert isinstance(node.ty, IntType)
            if node.op in ("shl", "shr"):
                self.narrow(count, 0, node.ty.width - 1)
            else:
                known = self.intervals.of(count)
                if known.lo == 0:
                    self.narrow(count, 1, known.hi)

    def _compare(self, op: str, a: Expr, b: Expr) -> None:
        self._require_defined(a)
        self._require_defined(b)
        ia, ib = self.intervals.of(a), self.intervals.of(b)
        if op == "ne":
            for x, ix, iy in ((a, ia, ib), (b, ib, ia)):
                if iy.constant and ix.lo < ix.hi:
                    if ix.lo == iy.lo:
                        self.narrow(x, ix.lo + 1, ix.hi)
                    elif ix.hi == iy.lo:
                        self.narrow(x, ix.lo, ix.hi - 1)
            return
        gap = 1 if op == "lt" else 0
        self.narrow(a, ib.lo if op == "eq" else ia.lo, ib.hi - gap)
        self.narrow(b, ia.lo + gap, ia.hi if op == "eq" else ib.hi)

    # --- integers

    def narrow(self, e: Expr, lo: int, hi: int) -> None:
        """The value of ``e`` lies between ``lo`` and ``hi``."""
        known = self.intervals.of(e)
        if e in self.ranges:
            low, high = self.ranges[e]
            known = Interval(max(known.lo, low), min(known.hi, high))
        lo, hi = max(lo, known.lo), min(hi, known.hi)
        if lo > hi:
            raise Contradiction(self._sources())
        if lo == known.lo and hi == known.hi:
            return
        if is_atom(e):
            self._keep(e, (e,), lo, hi)
        elif e.ty == BOOL:
            if lo == 1:
                self.require(e)
            else:
                self._refute(e)
        else:
            if is_common_product(e) or (is_cut_off(e) and self.intervals.wraps(e)):
                self._keep(e, (e, *atoms_below(e)), lo, hi)
            self._descend(e, lo, hi)

    def _keep(self, e: Expr, atoms: Sequence[Expr], lo: int, hi: int) -> None:
        """The range of an atom, or of what is cut off of some; what it rests on is kept with them."""
        self.ranges[e] = (lo, hi)
        sources = self._sources()
        if sources:
            for atom in atoms:
                self.tags[atom] = self.tags.get(atom, NO_TAGS) | sources
        self._changed.update(atoms)

    def _descend(self, e: Expr, lo: int, hi: int) -> None:
        op = e.op
        of = self.intervals.of
        if op in ("add", "sub", "mul", "neg", "shl", "cast", "narrow") and isinstance(e.args[0].ty, IntType):
            before = self._before_wrap(e, lo, hi)
            if before is not None:
                self._linear(e, *before)
        elif op == "div" and of(e.args[1]).constant and of(e.args[1]).lo > 0:
            c = of(e.args[1]).lo
            self.narrow(e.args[0], lo * c if lo > 0 else lo * c - (c - 1), hi * c + (c - 1) if hi >= 0 else hi * c)
        elif op == "shr" and of(e.args[1]).constant and e.args[1].op == "const":
            k = e.args[1].value
            if 0 <= k < 64:
                self.narrow(e.args[0], lo << k, (hi << k) + (1 << k) - 1)
        elif op in ("min", "max"):
            for x, y in (e.args, e.args[::-1]):
                ix, iy = of(x), of(y)
                if op == "min":
                    self.narrow(x, lo, hi if iy.lo > hi else ix.hi)
                else:
                    self.narrow(x, lo if iy.hi < lo else ix.lo, hi)
        elif op == "select":
            c, x, y = e.args
            ix, iy = of(x), of(y)
            if ix.hi < lo or ix.lo > hi:
                self.require(lnot(c))
                self.narrow(y, lo, hi)
            elif iy.hi < lo or iy.lo > hi:
                self.require(c)
                self.narrow(x, lo, hi)

    def _before_wrap(self, e: Expr, lo: int, hi: int) -> tuple[int, int] | None:
        """Bounds of the operation's mathematical result when the wrapped one is between ``lo`` and ``hi``."""
        raw = self.intervals.raw(e)
        assert isinstance(e.ty, IntType)
        if raw.within(e.ty):
            return lo, hi
        if self.no_signed_overflow and may_overflow_undefined(e):
            self.assumed = True
            return lo, hi
        size = 1 << e.ty.width
        first, last = -((hi - raw.lo) // size), (raw.hi - lo) // size
        return None if first > last else (lo + first * size, hi + last * size)

    def _linear(self, e: Expr, lo: int, hi: int) -> None:
        op, a = e.op, e.args[0]
        ia = self.intervals.of(a)
        if op in ("cast", "narrow"):
            self.narrow(a, lo, hi)
            return
        if op == "neg":
            self.narrow(a, -hi, -lo)
            return
        b = e.args[1]
        ib = self.intervals.of(b)
        if op == "add":
            self.narrow(a, lo - ib.hi, hi - ib.lo)
            self.narrow(b, lo - ia.hi, hi - ia.lo)
        elif op == "sub":
            self.narrow(a, lo + ib.lo, hi + ib.hi)
            self.narrow(b, ia.lo - hi, ia.hi - lo)
        elif op == "shl":
            if ib.constant and 0 <= ib.lo < 64:
                self._factor(a, 1 << ib.lo, 1 << ib.lo, lo, hi)
            elif ia.constant and ia.lo > 0 and hi >= ia.lo:
                least = -(-lo // ia.lo)
                self.narrow(b, (least - 1).bit_length() if least > 1 else 0, (hi // ia.lo).bit_length() - 1)
        elif a is b:
            root = isqrt(max(hi, 0))
            self.narrow(a, max(ia.lo, -root), min(ia.hi, root))
        else:
            self._factor(a, ib.lo, ib.hi, lo, hi)
            self._factor(b, ia.lo, ia.hi, lo, hi)

    def _factor(self, x: Expr, least: int, most: int, lo: int, hi: int) -> None:
        """``x`` times a factor between ``least`` and ``most`` lies between ``lo`` and ``hi``."""
        if least < 1:
            return
        known = self.intervals.of(x)
        low = -(-lo // most) if lo > 0 else -(-lo // least)
        high = hi // least if hi >= 0 else hi // most
        self.narrow(x, max(low, known.lo), min(high, known.hi))
