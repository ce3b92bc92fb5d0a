"""Sums that C computes with unsigned numbers and takes as signed ones, without the way through unsigned.

``int x = blockIdx.x * 8 - 1;`` wraps around in block 0, and the conversion back to ``int`` undoes that: as long as no
part of the sum, computed with the signed values of what it is made of, leaves the signed type, the result is that sum.
Takes an expression and intervals, gives the expression with such conversions replaced by signed arithmetic that the
intervals show not to overflow.
"""

from __future__ import annotations

from collections.abc import Sequence

from analyzers.ir.expr import BOOL, Expr, IntType, cast, const, rebuild, rewrite, walk
from analyzers.ir.intervals import Intervals

_RING = frozenset({"add", "sub", "mul", "neg"})

_candidate_memo: dict[int, bool] = {}


def is_candidate(e: Expr) -> bool:
    """Whether there is a conversion to look at below ``e`` (memoised)."""
    found = _candidate_memo.get(e.key)
    if found is None:
        found = _candidate_memo[e.key] = any(_is_conversion(n) for n in walk((e,)))
    return found


class SignedSums:
    """Rewrites expressions; the results are equal wherever what the intervals rest on holds."""

    def __init__(self, intervals: Intervals) -> None:
        self._intervals = intervals
        self._rewritten: dict[int, Expr] = {}
        self._sums: dict[tuple[int, int], Expr | None] = {}

    def of(self, e: Expr) -> Expr:
        """``e`` with signed sums in the place of converted unsigned ones."""
        return rewrite(e, self._conversion, self._rewritten) if is_candidate(e) else e

    def _conversion(self, e: Expr) -> Expr | None:
        if not _is_conversion(e) or not self._wraps(e):
            return None
        assert isinstance(e.ty, IntType)
        found = self._sum(e.args[0], e.ty)
        # What the sum is made of may hold further conversions.
        return None if found is None else self.of(found)

    def _wraps(self, e: Expr) -> bool:
        """Whether the conversion or the unsigned arithmetic below it may wrap around; elsewhere it is plain as it
        is."""
        stack = [e]
        while stack:
            node = stack.pop()
            if (node.op in _RING or node.op == "cast") and isinstance(node.args[0].ty, IntType):
                if self._intervals.wraps(node):
                    return True
                stack += node.args
        return False

    def _sum(self, e: Expr, ty: IntType) -> Expr | None:
        """An expression of the signed type ``ty`` that is congruent to ``e`` modulo its size and does not overflow;
        None where there is none."""
        key = (e.key, ty.width)
        if key not in self._sums:
            self._sums[key] = self._new_sum(e, ty)
        return self._sums[key]

    def _new_sum(self, e: Expr, ty: IntType) -> Expr | None:
        if e.op == "const":
            return const(e.value, ty)
        if _is_unsigned(e, ty.width):
            if e.op in _RING:
                parts = [self._sum(a, ty) for a in e.args]
                present = [p for p in parts if p is not None]
                if len(present) < len(parts):
                    return None
                found = rebuild(e, tuple(present))
                return found if self._stays(found, present) else None
            if e.op == "cast" and isinstance(e.args[0].ty, IntType) and e.args[0].ty != BOOL:
                # Neither extending a number nor cutting off high bits changes it modulo 2**width.
                return self._sum(e.args[0], ty)
        return cast(e, ty) if self._intervals.of(e).within(ty) else None

    def _stays(self, e: Expr, parts: Sequence[Expr]) -> bool:
        """No operation between ``e`` and ``parts`` leaves its type; folding may have put others there than were asked
        for."""
        known = {p.key for p in parts}
        stack = [e]
        while stack:
            node = stack.pop()
            if node.key in known or node.op not in _RING:
                continue
            if self._intervals.wraps(node):
                return False
            stack += node.args
        return True


def _is_conversion(e: Expr) -> bool:
    if e.op != "cast" or not isinstance(e.ty, IntType) or not e.ty.signed:
        return False
    return e.args[0].op in _RING and _is_unsigned(e.args[0], e.ty.width)


def _is_unsigned(e: Expr, width: int) -> bool:
    return isinstance(e.ty, IntType) and not e.ty.signed and e.ty != BOOL and e.ty.width >= width
