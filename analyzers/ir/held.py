"""Variables that a loop steps only as long as they have not reached a limit: ``if (i < n) { …; i += c; }``.

Takes the value after one iteration as an expression over the value at its start, gives the value after so many
iterations. It moves towards the limit with each of them until it has met or passed that, and stays there. That a rising
one does not wrap around behind a limit that is no constant is assumed, as of other counters, unless the caller says
that it may (``wraps``: the option ``wrap-around``); one that may pass the end of its type otherwise
(`if (i > 0) i -= 2;` for an unsigned one) is none of these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from analyzers.ir import expr as E
from analyzers.ir.expr import I64, Expr, IntType


@dataclass(frozen=True, slots=True)
class Held:
    """``limit`` is compared with the variable by ``lt`` or ``le``; ``step`` (not zero) leads to it."""

    limit: Expr
    strict: bool
    step: int

    def at(self, start: Expr, k: Expr) -> Expr:
        """The value after ``k`` iterations, in I64."""
        base, limit = E.cast(start, I64), E.cast(self.limit, I64)
        moved = E.add(base, E.mul(E.const(self.step, I64), k))
        near, far = (E.const(abs(self.step) - 1, I64), E.const(abs(self.step), I64))
        distance = E.sub(limit, base) if self.step > 0 else E.sub(base, limit)
        if self.strict:
            steps = E.binary("div", E.add(distance, near), far)
        else:
            steps = E.add(E.binary("div", distance, far), E.const(1, I64))
        stays = E.add(base, E.mul(E.const(self.step, I64), steps))
        return E.select(self._moves(moved, limit), moved, E.select(self._moves(base, limit), stays, base))

    def _moves(self, value: Expr, limit: Expr) -> Expr:
        op = "lt" if self.strict else "le"
        return E.compare(op, value, limit) if self.step > 0 else E.compare(op, limit, value)


def held(
    end: Expr,
    placeholder: Expr,
    invariant: Callable[[Expr], bool],
    delta: Callable[[Expr], Expr | None],
    wraps: bool = False,
) -> Held | None:
    """What such a variable becomes in an iteration; None for others. ``delta``: by how much a value is more than that
    at the start of the iteration."""
    ty = placeholder.ty
    if end.op != "select" or not isinstance(ty, IntType) or placeholder not in end.args[1:]:
        return None
    if ty.width == 64 and not ty.signed:
        return None  # the comparison is one of 64 bits without a sign
    test, then, otherwise = end.args
    if then is placeholder:
        test, then = E.lnot(test), otherwise
    step = delta(then)
    if step is None or step.op != "const" or step.value == 0 or test.op not in ("lt", "le"):
        return None
    low, high = test.args
    rising = low is placeholder and step.value > 0
    if not rising and not (high is placeholder and step.value < 0):
        return None
    limit = high if rising else low
    if not _stays_in_type(limit, ty, step.value, strict=test.op == "lt", wraps=wraps):
        return None
    return Held(limit, test.op == "lt", step.value) if invariant(limit) else None


def _stays_in_type(limit: Expr, ty: IntType, step: int, *, strict: bool, wraps: bool) -> bool:
    """Whether a variable of the type that has passed the limit by its last step is still a number of that type, or that
    is assumed."""
    beyond = abs(step) - (1 if strict else 0)
    if beyond == 0:
        return True
    if limit.op == "const":
        value = int(limit.value)
        return value + beyond <= ty.high if step > 0 else value - beyond >= ty.low
    computed_signed = ty.signed and ty.width >= 32  # an overflow that C++ leaves undefined
    return computed_signed or (step > 0 and not wraps)
