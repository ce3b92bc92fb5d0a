"""Variables that a loop steps only as long as they have not reached a limit: ``if (i < n) { …; i += c; }``.

Takes the value after one iteration as an expression over the value at its start, gives the value after so many
iterations. It moves towards the limit with each of them until it has met or passed that, and stays there. Or it moves
as long as a flag of the thread is set, which is never set again (`flags`, `moved_under`). That a rising one does not
wrap around behind a limit that is no constant is assumed, as of other counters, unless the caller says that it may
(``wraps``: the option ``wrap-around``); one that may pass the end of its type otherwise (`if (i > 0) i -= 2;` for an
unsigned one) is none of these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from analyzers.ir import expr as E
from analyzers.ir.expr import BOOL, I64, Expr, IntType

MAX_FACTOR: Final = 1 << 16
"""The greatest number of rows of a block in one step."""
MAX_BLOCK: Final = 1024
"""Threads of a block along an axis."""


@dataclass(frozen=True, slots=True)
class Held:
    """``limit`` is compared with the variable by ``lt`` or ``le``; it goes ``up`` to it, or down, in strides, which are
    greater than zero (I64)."""

    limit: Expr
    strict: bool
    stride: Expr
    up: bool

    def at(self, start: Expr, k: Expr) -> Expr:
        """The value after ``k`` iterations, in I64."""
        base, limit = E.cast(start, I64), E.cast(self.limit, I64)
        step = self.stride if self.up else E.neg(self.stride)
        moved = E.add(base, E.mul(step, k))
        near, far = E.sub(self.stride, E.const(1, I64)), self.stride
        distance = E.sub(limit, base) if self.up else E.sub(base, limit)
        if self.strict:
            steps = E.binary("div", E.add(distance, near), far)
        else:
            steps = E.add(E.binary("div", distance, far), E.const(1, I64))
        stays = E.add(base, E.mul(step, steps))
        return E.select(self._moves(moved, limit), moved, E.select(self._moves(base, limit), stays, base))

    def _moves(self, value: Expr, limit: Expr) -> Expr:
        op = "lt" if self.strict else "le"
        return E.compare(op, value, limit) if self.up else E.compare(op, limit, value)


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
    if step is None or test.op not in ("lt", "le"):
        return None
    low, high = test.args
    longest = _longest(step)
    up = longest > 0
    if longest == 0 or (low if up else high) is not placeholder:
        return None
    limit = high if up else low
    if not _stays_in_type(limit, ty, longest, strict=test.op == "lt", wraps=wraps) or not invariant(limit):
        return None
    return Held(limit, test.op == "lt", step if up else E.neg(step), up)


def _longest(step: Expr) -> int:
    """The most that a step may be: a number, or so many rows of the block; zero of another one, which may stand
    still."""
    factor = 1
    while step.op in ("neg", "mul", "cast", "narrow"):
        if step.op == "neg":
            if step.ty != I64:
                return 0  # without a sign it is a great number
            factor, step = -factor, step.args[0]
        elif step.op == "mul":
            one, two = step.args if step.args[0].op == "const" else step.args[::-1]
            if one.op != "const":
                return 0
            factor, step = factor * int(one.value), two
        elif not isinstance(step.ty, IntType) or step.ty.width < 32:
            return 0
        else:
            step = step.args[0]
    if step.op == "const":
        return factor * int(step.value)
    return factor * MAX_BLOCK if step in E.BDIM and 0 < abs(factor) <= MAX_FACTOR else 0


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


def flags(ends: Mapping[Expr, Expr]) -> list[Expr]:
    """The placeholders of variables that are true in front of an iteration only if they were in front of all earlier
    ones; ``ends``: placeholder -> value after the iteration."""
    return [p for p, end in ends.items() if p.ty == BOOL and end is not p and p in E.conjuncts(end)]


def moved_under(
    end: Expr, placeholder: Expr, flag: Expr, delta: Callable[[Expr], Expr | None], wraps: bool
) -> tuple[Expr, Expr] | None:
    """The step of a variable that makes it in each iteration after which a flag is still set, and its value after that;
    None of others. ``end``, ``flag``: the values of the two after an iteration. If the flag is set at the start of
    iteration ``k``, there have been ``k`` steps.

    Whether they stay in the type is the caller's to ask: the flag may be set until the variable wraps around."""
    ty = placeholder.ty
    if end.op != "select" or not isinstance(ty, IntType) or placeholder not in end.args[1:]:
        return None
    tests: list[Expr] = []
    while end.op == "select" and placeholder in end.args[1:]:  # ``if (a) { if (b) i += c; }``
        test, then, otherwise = end.args
        tests += E.conjuncts(E.lnot(test) if then is placeholder else test)
        end = otherwise if then is placeholder else then
    kept = E.conjuncts(flag)
    step = delta(end) if all(c in kept for c in tests) else None
    if step is None or (step.op == "const" and step.value == 0):
        return None
    # Overflow is undefined with a sign, and without one it is assumed away, like that of other counters.
    signed = ty.signed and ty.width >= 32
    return (step, end) if signed or (ty.width >= 32 and _longest(step) > 0 and not wraps) else None
