"""Masks of powers of two as remainders: ``x & (s - 1)`` is ``x % s`` where ``s`` is known to be a power of two.

Arithmetic says more of remainders than of bits: with a stride that halves from launch to launch,
``2 * x - (x & (s - 1))`` is ``2 * s * (x / s) + x % s``, a number with the digits ``x / s`` and ``x % s``. Takes
conditions with the facts each one rests on, gives equal ones that rest on what says that ``s`` is such a power, and not
zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from analyzers.ir.expr import Expr, IntType, binary, rewrite, walk
from analyzers.ir.intervals import Intervals

Tags = frozenset[int]
Owed = Callable[[Iterable[Expr]], Tags]


def known_powers(parts: Mapping[Expr, Tags]) -> dict[Expr, Tags]:
    """Numbers that conditions ``s & (s - 1) == 0`` call powers of two, or zero, with the facts these rest on."""
    out: dict[Expr, Tags] = {}
    for p, tags in parts.items():
        if p.op == "eq":
            for mask, zero in (p.args, p.args[::-1]):
                s = _own_mask(mask) if zero.op == "const" and zero.value == 0 else None
                if s is not None:
                    out[s] = tags
    return out


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
        if found is None and e.op in ("div", "shr") and e.args[1].op == "const":
            # What is left of a power of two that was halved is one, as long as it is not zero.
            by = e.args[1].value
            if e.op == "shr" or (by > 0 and by & (by - 1) == 0):
                found = self._power(e.args[0])
        return found


def _below(mask: Expr) -> Expr | None:
    """``s`` of ``s - 1``."""
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
