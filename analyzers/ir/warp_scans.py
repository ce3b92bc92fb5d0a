"""Scans that the lanes of a warp make with shuffles: what a lane has added up after log2(32) steps.

``y = __shfl_up_sync(~0u, x, d); if (lane >= d) x += y;`` for d = 1, 2, 4, 8, 16 leaves in ``x`` the sum of what the
lane and all below it began with. Takes values as they arise, gives the same values with a :class:`Scan` in them where
the last step was made. That each step was made by the lanes that have so many below is for the reader of the Scan to
check (``steps``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from analyzers.ir import expr as E
from analyzers.ir.events import Scan
from analyzers.ir.expr import Expr, IntType

WARP = 32


@dataclass(frozen=True, slots=True)
class _Partial:
    """A sum of the values of ``reach`` lanes, or of as many as there are."""

    value: Expr
    """What the lane began with."""
    reach: int
    steps: tuple[tuple[Expr, int], ...]


_Guard: TypeAlias = tuple[Expr, ...]


@dataclass
class WarpScans:
    """The shuffles and sums of one thread so far."""

    shuffled: dict[Expr, tuple[Expr, int, _Guard]] = field(default_factory=dict[Expr, "tuple[Expr, int, _Guard]"])
    """Result of a shuffle from below in which whole warps took part: the value, from how many lanes below, and the
    conditions under which it stands."""
    partial: dict[Expr, _Partial] = field(default_factory=dict[Expr, _Partial])
    inclusive: dict[Expr, tuple[Scan, Scan]] = field(default_factory=dict[Expr, tuple[Scan, Scan]])
    """A sum of all lanes up to this one: the scan without the lane's own value, and the total."""
    found: dict[str, Scan] = field(default_factory=dict[str, Scan])
    """By the identity of the result."""

    def forget(self, result: Expr) -> None:
        """The exchange is looked at again, and less may be known of who takes part."""
        self.shuffled.pop(result, None)
        name = result.value[0]
        for identity in (name, f"{name}:before", f"{name}:total"):
            self.found.pop(identity, None)

    def shuffle(self, result: Expr, value: Expr, distance: Expr, reached: _Guard) -> None:
        """Whole warps shuffled ``value`` up, under the conditions ``reached``."""
        if distance.op == "const" and isinstance(value.ty, IntType) and value.ty == result.ty:
            self.shuffled[result] = value, int(distance.value), reached

    def broadcast(self, result: Expr, lane: Expr, value: Expr, reached: _Guard) -> None:
        """Whole warps got ``value`` from one lane, under the conditions ``reached``."""
        known = self.inclusive.get(value)
        if known is not None and lane.op == "const" and lane.value == WARP - 1 and result.args == known[0].result.args:
            total = known[1]
            scan = Scan(result, total.value, "warp", total.size, True, total.steps, reached)
            self.found[result.value[0]] = scan

    def summed(self, value: Expr) -> Expr:
        """``value``, or the sum that it is the last step of."""
        if not self.shuffled or value.op not in ("select", "add"):
            return value
        step = self._step(value)
        if step is None:
            return self._without_own(value)
        before, shuffled, condition = step
        given, distance, guard = self.shuffled[shuffled]
        known = self.partial.get(before) or _Partial(before, 1, ())
        if given is not before or distance != known.reach:
            return value
        reached = _Partial(known.value, 2 * known.reach, (*known.steps, (condition, distance)))
        if reached.reach < WARP:
            self.partial[value] = reached
            return value
        name = shuffled.value[0]
        before, total = (E.opaque(f"{name}:{part}", value.ty, shuffled.args, level)
                         for part, level in (("before", "thread"), ("total", "warp")))  # fmt: skip
        scans = [Scan(r, known.value, "warp", (WARP,), r is total, reached.steps, guard) for r in (before, total)]
        for scan in scans:
            self.found[scan.result.value[0]] = scan
        whole = E.add(before, known.value)
        self.inclusive[whole] = scans[0], scans[1]
        return whole

    def _step(self, value: Expr) -> tuple[Expr, Expr, Expr] | None:
        """(x, what was shuffled, condition) of ``condition ? x + shuffled : x``."""
        if value.op == "select":
            condition, then, other = value.args
            for taken, left, holds in ((then, other, condition), (other, then, E.lnot(condition))):
                if taken.op == "add" and left in taken.args:
                    shuffled = taken.args[1] if taken.args[0] is left else taken.args[0]
                    if shuffled in self.shuffled:
                        return left, shuffled, holds
            return None
        for part, left in (value.args, value.args[::-1]):
            found = self._or_nothing(part)
            if found is not None:
                return left, *found
        return None

    def _or_nothing(self, e: Expr) -> tuple[Expr, Expr] | None:
        """(what was shuffled, condition) of ``condition ? shuffled : 0``."""
        if e.op != "select":
            return None
        condition, then, other = e.args
        for taken, left, holds in ((then, other, condition), (other, then, E.lnot(condition))):
            if left.op == "const" and left.value == 0 and taken in self.shuffled:
                return taken, holds
        return None

    def _without_own(self, value: Expr) -> Expr:
        """``value``, or the scan without the own value where it is the inclusive one of the lane below."""
        found = self._or_nothing(value)
        if found is None:
            return value
        shuffled, condition = found
        given, distance, guard = self.shuffled[shuffled]
        known = self.inclusive.get(given)
        if known is None or distance != 1 or shuffled.args != known[0].result.args:
            return value
        scan = known[0]
        result = E.opaque(f"{shuffled.value[0]}:before", value.ty, shuffled.args)
        steps = (*scan.steps, (condition, 1))
        self.found[result.value[0]] = Scan(result, scan.value, "warp", scan.size, False, steps, guard)
        return result
