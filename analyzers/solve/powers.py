"""Masks of powers of two as remainders: ``x & (s - 1)`` is ``x % s`` where ``s`` is known to be a power of two.

Arithmetic says more of remainders than of bits: with a stride that halves from launch to launch,
``2 * x - (x & (s - 1))`` is ``2 * s * (x / s) + x % s``, a number with the digits ``x / s`` and ``x % s``. Takes
conditions with the facts each one rests on, gives equal ones that rest on what says that ``s`` is such a power, and not
zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from analyzers.ir.expr import Expr, IntType, binary, cast, disjuncts, rewrite, walk
from analyzers.ir.intervals import Intervals

Tags = frozenset[int]
NO_TAGS: Tags = frozenset()
Owed = Callable[[Iterable[Expr]], Tags]


def known_powers(parts: Mapping[Expr, Tags], intervals: Intervals, owed: Owed) -> dict[Expr, Tags]:
    """Numbers that conditions ``s & (s - 1) == 0`` call powers of two, or zero, with the facts these rest on; in a
    choice of conditions, where the others are impossible."""
    out: dict[Expr, Tags] = {}
    for p, tags in parts.items():
        ways = disjuncts(p)
        for s, way in ((_called_power(w), w) for w in ways):
            others = [w for w in ways if w is not way]
            if s is not None and all(intervals.truth(w) is False for w in others):
                out[s] = tags | owed(others)
    return out


def _called_power(condition: Expr) -> Expr | None:
    """``s`` of ``s & (s - 1) == 0``."""
    if condition.op == "eq":
        for mask, zero in (condition.args, condition.args[::-1]):
            s = _own_mask(mask) if zero.op == "const" and zero.value == 0 else None
            if s is not None:
                return s
    return None


_moved_memo: dict[int, bool] = {}


def has_moved_bit(e: Expr) -> bool:
    """Whether there is a mask of one bit that a size of the host moves: a power of two without any fact (memoised)."""
    found = _moved_memo.get(e.key)
    if found is None:
        masks = (_below(a) for n in walk((e,)) if n.op == "and" for a in n.args)
        found = _moved_memo[e.key] = any(m is not None and _moved_bit(_unconverted(m)) for m in masks)
    return found


def _unconverted(e: Expr) -> Expr:
    while e.op == "cast":
        e = e.args[0]
    return e


def _moved_bit(e: Expr) -> bool:
    """One bit that is moved, by what no loop of the kernel counts, and back."""
    while (by := _halving(e)) is not None:
        e = by
    if e.op != "shl" or e.args[0].op != "const":
        return False
    bit = e.args[0].value
    return bit > 0 and bit & (bit - 1) == 0 and not any(_is_counter(s) for s in walk((e.args[1],)))


def _halving(e: Expr) -> Expr | None:
    """What is halved, some times over."""
    if e.op not in ("div", "shr") or e.args[1].op != "const":
        return None
    by = e.args[1].value
    return e.args[0] if e.op == "shr" or (by > 0 and by & (by - 1) == 0) else None


def _is_counter(e: Expr) -> bool:
    return e.op == "sym" and e.value.startswith("loop:")


class Masks:
    """Rewrites expressions; the results are equal wherever the facts hold that the rewriting rests on."""

    def __init__(self, powers: Mapping[Expr, Tags], intervals: Intervals, owed: Owed) -> None:
        self._powers = powers
        self._intervals = intervals
        self._owed = owed
        self._tags: dict[Expr, Tags] = {}
        """Remainders that were made -> what they rest on."""
        self._rewritten: dict[int, Expr] = {}

    def of(self, e: Expr) -> tuple[Expr, Tags]:
        """``e`` with remainders in the place of masks, and the facts this rests on."""
        image = rewrite(e, self._remainder, self._rewritten)
        if image is e:
            return e, frozenset()
        return image, frozenset[int]().union(*(self._tags.get(n, frozenset()) for n in walk((image,))))

    def _remainder(self, e: Expr) -> Expr | None:
        if e.op != "and" or not isinstance(e.ty, IntType):
            return None
        for mask, x in (e.args, e.args[::-1]):
            size = _below(mask)
            if size is None or size is x or self._intervals.of(x)[0] < 0 or self._intervals.of(size)[0] < 1:
                continue
            tags = self._power(size)
            if tags is None:
                continue
            x, inner = self.of(x)
            made = binary("rem", x, size)
            self._tags[made] = tags | inner | self._owed((x, size))
            return made
        return None

    def _power(self, e: Expr) -> Tags | None:
        """What says that a positive number is a power of two."""
        found = self._powers.get(e)
        if found is not None:
            return found
        if _moved_bit(e):
            return NO_TAGS  # positive: not moved out
        if e.op == "cast" and isinstance(e.args[0].ty, IntType) and self._intervals.of(e.args[0])[0] >= 1:
            found = self._power(e.args[0])
            return None if found is None else found | self._owed((e.args[0],))
        # What is left of a power of two that was halved is one, as long as it is not zero.
        whole = _halving(e)
        return None if whole is None else self._power(whole)


def _below(mask: Expr) -> Expr | None:
    """``s`` of ``s - 1``, also where that is converted to another type: of a positive ``s`` in the end."""
    if mask.op == "cast" and isinstance(mask.ty, IntType):
        inner = mask.args[0]
        if isinstance(inner.ty, IntType) and inner.ty.signed and inner.ty.width <= mask.ty.width:
            size = _below(inner)
            return None if size is None else cast(size, mask.ty)
    if mask.op == "sub" and mask.args[1].op == "const" and mask.args[1].value == 1:
        return mask.args[0]
    return None


def _own_mask(e: Expr) -> Expr | None:
    """``s`` of ``s & (s - 1)``."""
    if e.op != "and":
        return None
    for one, other in (e.args, e.args[::-1]):
        if _below(other) is one:
            return one
    return None
