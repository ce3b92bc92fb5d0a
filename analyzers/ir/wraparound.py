"""Which loop counters may wrap around.

Closed forms assume that a counter does not wrap around; here is decided for which counters that cannot be assumed,
because the programmer counts on it: a loop that ends where its counter wraps (``for (unsigned i = 7; i <= 7; i--)``)
or one whose test is about no limit that the counter comes to. Those are followed exactly, as the machine counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from analyzers.ir import expr as E
from analyzers.ir.expr import I64, U32, Expr, IntType
from analyzers.ir.held import MAX_BLOCK
from analyzers.ir.intervals import Intervals

FEW: Final = 4
"""Values of a variable that are looked at one by one: what wraps around for them is no range."""
SIZE_BITS: Final = 62
BELOW_ALL_SIZES: Final = f"sizes of 64 bits that a kernel is given are below 2^{SIZE_BITS}"
BELOW_STEPS: Final = "numbers of 32 bits without a sign that a kernel is given, and that a loop goes by, are below 2^31"
_OPAQUE: Final = E.operations("opaque")
_BLOCKS: Final = dict.fromkeys((*E.BID, *E.GDIM), (0, 2**31 - 1))
_THREADS: Final = {**dict.fromkeys(E.TID, (0, MAX_BLOCK - 1)), **dict.fromkeys(E.BDIM, (1, MAX_BLOCK))}


def may_wrap(start: Expr, step: Expr, placeholder: Expr, condition: Expr, lasting: Expr) -> bool:
    """A variable of which it cannot be assumed that it does not wrap around: one that ends the loop by nothing else, or
    that the test asks for something else than a limit, a narrow one that does not end it, or at a single value, an
    unsigned one that ends it there and begins on either side, and one whose first step, or few steps, leave its range:
    the programmer counts on it."""
    ty = placeholder.ty
    assert isinstance(ty, IntType)
    asked, way = _asked(lasting, placeholder), _way(step)
    if _ends_by_wrapping(start, way, placeholder, asked):
        return True
    if asked and not ty.signed and not any(all(_limits(d, placeholder, way) for d in parts) for parts in asked):
        return True
    if ty.width < 32 and (not _counts(condition, placeholder) or _is_only_apart(lasting, placeholder)):
        return True
    if not ty.signed and _is_only_apart(lasting, placeholder) and _begins_anywhere(start, way):
        return True
    if ty.signed or step.op != "const":
        return False
    if abs(step.value) >> (ty.width // 2):
        return True
    return start.op == "const" and not ty.low <= start.value + step.value <= ty.high


@dataclass(frozen=True, slots=True)
class Kept:
    """Where it can be assumed that a variable does not wrap around."""

    when: Expr
    """A condition on its step."""
    sizes: frozenset[Expr] = frozenset()
    """What the kernel is given that is taken for less than 2^31 (`BELOW_STEPS`)."""


def stays_in_range(start: Expr, step: Expr, placeholder: Expr, condition: Expr, lasting: Expr) -> Kept:
    """Under which condition on its step it can be assumed that a variable does not wrap around. A step that the test
    does not bound and that may go below zero, or that is a negative number without a sign, is followed exactly."""
    ty = placeholder.ty
    assert isinstance(ty, IntType)
    asked = _asked(lasting, placeholder)
    if may_wrap(start, step, placeholder, condition, lasting):
        return Kept(E.FALSE)
    by = Intervals({**_THREADS, **_BLOCKS}).of(step)
    kept = E.TRUE
    if not ty.signed or ty.width < 32:
        either = _way(step) == 0 and by.lo < 0 < by.hi
        falling = not asked or (either and _ends_by_wrapping(start, -1, placeholder, asked))
        rising = either and _ends_by_wrapping(start, 1, placeholder, asked)
        if falling and (rising or (by.hi <= 0 and step.op != "const")):
            return Kept(E.FALSE)
        if falling and by.lo < 0:
            kept = E.compare("le", E.const(0, I64), step)
        elif rising:
            kept = E.compare("le", step, E.const(0, I64))
    half = 1 << (ty.width - 1)
    narrow = ty.signed or not asked or ty.width < 32
    # What is taken off may be the lowest number of the type, so that the step is one more than its highest.
    if ty.width > 32 or not narrow or (-half <= by.lo and by.hi < half + ty.signed):
        return Kept(kept)
    if _is_size(step):
        return Kept(kept, frozenset(s for s in E.symbols(step) if _is_given(s)))
    most = E.const(1 << ty.width // 2, I64)
    return Kept(E.land(kept, E.compare("lt", step, most), E.compare("lt", E.neg(most), step)))


def _is_size(step: Expr, counts_down: bool = True) -> bool:
    """A sum of products of sizes: `gridDim.x * blockDim.x * 4`, `n - 1`, or what sizes are divided to or chosen among.
    ``counts_down``: whether it may be negative as it is written."""
    if step.op == "const":
        return (-(1 << 16) if counts_down else 0) <= step.value < 1 << 16
    if step.op in ("add", "mul", "cast", "narrow") or (counts_down and step.op in ("sub", "neg")):
        return all(_is_size(a, counts_down) for a in step.args)
    if step.op in ("div", "rem", "shr", "shl", "min", "max", "select"):
        return all(_is_size(a, False) for a in step.args[step.op == "select" :])
    return step in _THREADS or step in _BLOCKS or _is_given(step)


def _is_given(e: Expr) -> bool:
    """A number without a sign that the kernel is given, of 32 bits."""
    return e.op == "sym" and e.ty == U32 and str(e.value).startswith("param:")


def may_be_huge(start: Expr, sized: bool = False) -> bool:
    """Whether a number of 64 bits without a sign may be a negative one that was converted: no counter comes to such by
    steps. ``sized``: the kernel is given none, as a number of that type (`BELOW_ALL_SIZES`)."""
    ty = start.ty
    if not isinstance(ty, IntType) or ty.signed or ty.width < 64:
        return False
    given = {s: (0, (1 << SIZE_BITS) - 1) for s in E.symbols(start) if sized and s.op == "sym" and s.ty == ty}
    return Intervals({**_THREADS, **_BLOCKS, **given}).of(start).hi > ty.high // 2


def _way(step: Expr) -> int:
    """Whether a step goes up (1) or down (-1): of one of which that is not known, what is added is presumed to be
    greater than zero. 0: neither."""
    by = Intervals(_THREADS).of(step)
    if by.lo >= 0 or by.hi <= 0:
        return (by.hi > 0) - (by.lo < 0)
    return _presumed(step)


def _presumed(e: Expr) -> int:
    if e.op == "const":
        return (e.value > 0) - (e.value < 0)
    if e.op in ("neg", "cast", "narrow"):
        return _presumed(e.args[0]) * (-1 if e.op == "neg" else 1)
    if e.op not in ("add", "sub", "mul", "div") or len(e.args) != 2:
        return 1
    one, two = map(_presumed, e.args)
    if e.op in ("mul", "div"):
        return one * two
    return _together(one, two if e.op == "add" else -two) or 0


def _together(one: int | None, two: int | None) -> int | None:
    """Which way a sum goes. None: neither."""
    if one is None or two is None or one * two < 0:
        return None
    return one or two


def _ends_by_wrapping(start: Expr, way: int, placeholder: Expr, asked: list[list[Expr]]) -> bool:
    """Whether the test, as far as it compares a variable that may wrap around, holds for all values from its start to
    that end of the type's range which it steps towards: ``for (unsigned i = 7; i <= 7; i--)``. ``asked``: the
    alternatives of each part of the test (`_asked`); ``way``: 1 where the variable grows, -1 where it falls."""
    ty = placeholder.ty
    assert isinstance(ty, IntType)
    if not asked or way == 0 or (ty.signed and ty.width >= 32):
        return False
    first = Intervals(_THREADS).of(start)

    def ends(count: int) -> tuple[int, int]:
        return (ty.low, ty.low + count - 1) if way < 0 else (ty.high - count + 1, ty.high)

    def within(part: Expr, low: int, high: int) -> bool | None:
        if high - low < FEW:
            values = [E.substitute(part, {placeholder: E.const(v, ty)}) for v in range(low, high + 1)]
            if all(v is E.TRUE or v is E.FALSE for v in values):
                return values[0] is E.TRUE if len(set(values)) == 1 else None
        return Intervals({**_THREADS, placeholder: (low, high)}).truth(part)

    def holds(part: Expr) -> bool:
        # It holds in the first iteration: then the variable began on the side of a limit on which it holds for all.
        fails, last = 0, ty.high - ty.low + 1
        while fails < last:  # how many values it holds for, from the end of the range on
            middle = (fails + last + 1) // 2
            fails, last = (middle, last) if within(part, *ends(middle)) is True else (fails, middle - 1)
        if last > 0:
            low, high = ends(last)
            others = (high + 1, ty.high) if way < 0 else (ty.low, low - 1)
            if (low <= first.lo and first.hi <= high) or within(part, *others) is False:
                return True
        if part.op not in ("lt", "le"):
            return False
        low, high = part.args
        # It holds in the first iteration, and more so in those behind it.
        moved, other = (low, high) if way < 0 else (high, low)
        return _is_widened(moved, placeholder) and placeholder not in E.symbols(other)

    return all(any(map(holds, parts)) for parts in asked)


def _asked(condition: Expr, placeholder: Expr) -> list[list[Expr]]:
    """What the test asks of the variable: the alternatives of each part. What memory holds may end a loop and cannot be
    counted on to."""
    asked = [
        [d for d in _disjuncts(c) if not _is_open(d)] for c in E.conjuncts(condition) if placeholder in E.symbols(c)
    ]
    return [parts for parts in asked if parts]


def _is_open(e: Expr) -> bool:
    return E.uses((e,), _OPAQUE)


def _limits(part: Expr, placeholder: Expr, way: int) -> bool:
    """Whether a part of the test is about a limit that the variable comes to: one in front of it, or a value that it
    takes on its way."""
    if part.op not in ("lt", "le", "ne"):
        return False
    low, high = (_way_of(side, placeholder) for side in part.args)
    if low is None or high is None:
        return False
    return part.op == "ne" or way == 0 or low * way > 0 or high * way < 0


def _way_of(e: Expr, placeholder: Expr) -> int | None:
    """1 or -1 where an expression grows or falls with the variable, 0 where it does not depend on it. None: neither.
    What it is multiplied or divided by is presumed to be greater than zero."""
    if placeholder not in E.symbols(e):
        return 0
    if e is placeholder:
        return 1
    if e.op == "select":
        then, otherwise = (_way_of(a, placeholder) for a in e.args[1:])
        return None if placeholder in E.symbols(e.args[0]) else _together(then, otherwise)
    ways = [_way_of(a, placeholder) for a in e.args]
    if e.op in ("cast", "narrow"):
        return ways[0]
    if len(ways) == 1 and e.op in ("neg", "not"):
        return None if ways[0] is None else -ways[0]
    if len(ways) != 2 or None in ways:
        return None
    one, two = (w or 0 for w in ways)
    if e.op in ("sub", "div", "shr"):
        two = -two
    elif e.op not in ("add", "mul", "shl", "or"):
        return None
    by = e.args[1] if one else e.args[0]
    if e.op in ("mul", "div") and by.op == "const" and by.value < 0:
        one, two = -one, -two
    return _together(one, two)


def _disjuncts(e: Expr) -> list[Expr]:
    """The parts of which one holds where ``e`` does."""
    if e.op == "lor":
        return [d for a in e.args for d in _disjuncts(a)]
    if e.op == "lnot" and e.args[0].op == "land":
        return [d for a in e.args[0].args for d in _disjuncts(E.lnot(a))]
    return [e]


def _is_widened(e: Expr, placeholder: Expr) -> bool:
    """The variable as a number of a type that holds all of its own."""
    while e is not placeholder and e.op == "cast":
        inner, outer = e.args[0].ty, e.ty
        if not (isinstance(inner, IntType) and isinstance(outer, IntType)):
            return False
        if not (outer.low <= inner.low and inner.high <= outer.high):
            return False
        e = e.args[0]
    return e is placeholder


def _is_only_apart(condition: Expr, placeholder: Expr) -> bool:
    """The loop's test asks of the variable only whether it is a value, on either side of which it may begin."""
    asked = [c for c in E.conjuncts(condition) if placeholder in E.symbols(c) and not _is_open(c)]
    return bool(asked) and all(c.op == "ne" for c in asked)


def _begins_anywhere(start: Expr, way: int) -> bool:
    """A difference of numbers of threads, which for some wraps around itself, or on the way up does so for all, and on
    the way up any one that threads take their number off: those with large ones begin on the other side."""
    ty = start.ty
    assert isinstance(ty, IntType)
    if not set(E.symbols(start)) <= set(_THREADS):
        return way > 0 and _is_less_by_threads(start, False)
    first = Intervals(_THREADS).of(start)
    return (first.lo, first.hi) == (ty.low, ty.high) or (way > 0 and first.hi > ty.high // 2)


def _is_less_by_threads(e: Expr, taken_off: bool) -> bool:
    """Whether what depends on the thread is taken off something in ``e``. ``taken_off``: whether ``e`` itself is."""
    if set(E.TID).isdisjoint(E.symbols(e)):
        return False
    if e.op == "sub":
        return any(_is_less_by_threads(a, t) for a, t in zip(e.args, (taken_off, not taken_off), strict=True))
    if e.op in ("add", "cast", "narrow"):
        return any(_is_less_by_threads(a, taken_off) for a in e.args)
    if e.op in ("neg", "not"):
        return _is_less_by_threads(e.args[0], not taken_off)
    if e.op == "mul" and any(a.op == "const" and a.value < 0 for a in e.args):
        return any(_is_less_by_threads(a, not taken_off) for a in e.args)
    return taken_off


def _counts(condition: Expr, placeholder: Expr) -> bool:
    """The loop's test compares the variable."""
    return any(
        c.op in ("lt", "le", "ne") and placeholder in E.symbols(c) and not _is_open(c) for c in E.conjuncts(condition)
    )
