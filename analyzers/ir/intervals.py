"""Which values an expression can take: bounds and stride, sound about wrap-around.

Takes the ranges of symbols (and of any other node that is known to be bounded) and gives for every node the smallest
``lo, lo + stride, ..., hi`` this analysis finds. Where an operation might leave its type, the result is wrapped exactly
when the whole interval wraps alike, else it is the type's range. Signed 32- and 64-bit overflow can be assumed away;
:meth:`Intervals.assumed` tells whether that mattered.

An interval speaks of the values of an expression where it is defined (C, and no signed overflow when that is assumed).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import gcd
from typing import NamedTuple

from analyzers.ir.bittricks import bit_trick
from analyzers.ir.evaluate import may_overflow_undefined
from analyzers.ir.expr import Expr, IntType, trunc_div, walk


class Interval(NamedTuple):
    """The integers ``lo, lo + stride, ..., hi``; ``stride`` is 0 exactly when ``lo == hi``. Empty when ``lo > hi``."""

    lo: int
    hi: int
    stride: int = 1

    @property
    def constant(self) -> bool:
        return self.lo == self.hi

    @property
    def empty(self) -> bool:
        return self.lo > self.hi

    @property
    def size(self) -> int:
        """How many integers."""
        return 0 if self.lo > self.hi else 1 if self.lo == self.hi else (self.hi - self.lo) // self.stride + 1

    def within(self, ty: IntType) -> bool:
        limits = type_range(ty)
        return limits.lo <= self.lo and self.hi <= limits.hi


EMPTY = Interval(1, 0)
_TRUE, _FALSE, _EITHER = Interval(1, 1, 0), Interval(0, 0, 0), Interval(0, 1)


def interval(lo: int, hi: int, stride: int = 1) -> Interval:
    """The interval on the lattice ``lo + k * stride``."""
    if lo >= hi:
        return Interval(lo, lo, 0) if lo == hi else EMPTY
    if stride > 1:
        hi -= (hi - lo) % stride
        if lo == hi:
            return Interval(lo, lo, 0)
    return Interval(lo, hi, stride or 1)


_type_ranges: dict[int, Interval] = {}


def type_range(ty: IntType) -> Interval:
    key = -ty.width if ty.signed else ty.width
    found = _type_ranges.get(key)
    if found is None:
        found = _type_ranges[key] = Interval(ty.low, ty.high)
    return found


def join(a: Interval, b: Interval) -> Interval:
    """The smallest interval holding both."""
    if a.empty:
        return b
    if b.empty:
        return a
    return interval(min(a.lo, b.lo), max(a.hi, b.hi), gcd(a.stride, b.stride, a.lo - b.lo))


def clamp(a: Interval, lo: int, hi: int) -> Interval:
    """The values of ``a`` between ``lo`` and ``hi``."""
    if a.lo >= lo and a.hi <= hi:
        return a
    stride = a.stride or 1
    low = a.lo if a.lo >= lo else lo + (a.lo - lo) % stride
    return interval(low, min(a.hi, hi), stride)


# --- operations in mathematical integers ------------------------------------------------------------------


def add(a: Interval, b: Interval) -> Interval:
    return interval(a.lo + b.lo, a.hi + b.hi, gcd(a.stride, b.stride))


def neg(a: Interval) -> Interval:
    return Interval(-a.hi, -a.lo, a.stride)


def sub(a: Interval, b: Interval) -> Interval:
    return interval(a.lo - b.hi, a.hi - b.lo, gcd(a.stride, b.stride))


def mul(a: Interval, b: Interval) -> Interval:
    corners = (a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi)
    return interval(min(corners), max(corners), gcd(a.lo * b.stride, b.lo * a.stride, a.stride * b.stride))


def _nonzero_parts(b: Interval) -> list[Interval]:
    if b.lo > 0 or b.hi < 0:
        return [b]
    return [p for p in (Interval(b.lo, -1), Interval(1, b.hi)) if not p.empty]


def div(a: Interval, b: Interval) -> Interval:
    """Truncating division, where the divisor is not zero."""
    out = EMPTY
    for part in _nonzero_parts(b):
        corners = [trunc_div(x, y) for x in (a.lo, a.hi) for y in (part.lo, part.hi)]
        stride = 1
        if part.constant and a.stride % part.lo == 0 and a.lo % part.lo == 0:
            stride = a.stride // abs(part.lo)
        out = join(out, interval(min(corners), max(corners), stride))
    return out


def rem(a: Interval, b: Interval) -> Interval:
    """C remainder (sign of the dividend), where the divisor is not zero."""
    largest = max(abs(b.lo), abs(b.hi))
    if largest == 0:
        return EMPTY
    if b.constant and a.lo >= 0 and a.lo // largest == a.hi // largest:
        base = a.lo // largest * largest
        return Interval(a.lo - base, a.hi - base, a.stride)
    lo = 0 if a.lo >= 0 else max(a.lo, 1 - largest)
    hi = 0 if a.hi <= 0 else min(a.hi, largest - 1)
    smallest = 0 if b.lo <= 0 <= b.hi else min(abs(b.lo), abs(b.hi))
    if smallest > max(abs(a.lo), abs(a.hi)):
        return a
    stride = gcd(a.stride, b.lo) if b.constant and (a.lo >= 0 or a.lo % gcd(a.stride, b.lo) == 0) else 1
    if stride > 1:
        residue = a.lo % stride
        lo += (residue - lo) % stride
    return interval(lo, hi, stride)


def shl(a: Interval, count: Interval) -> Interval:
    lo, hi = 1 << count.lo, 1 << count.hi
    return mul(a, interval(lo, hi, lo))


def shr(a: Interval, count: Interval) -> Interval:
    corners = [x >> c for x in (a.lo, a.hi) for c in (count.lo, count.hi)]
    stride = 1
    if count.constant and a.stride % (1 << count.lo) == 0 and a.lo % (1 << count.lo) == 0:
        stride = a.stride >> count.lo
    return interval(min(corners), max(corners), stride)


def trailing_zeros(a: Interval) -> int:
    """How many low bits are zero in every value (63 for zero)."""
    together = gcd(a.lo, a.stride)
    return 63 if together == 0 else (together & -together).bit_length() - 1


def _below_power(hi: int) -> int:
    return (1 << hi.bit_length()) - 1


def bit_and(a: Interval, b: Interval, ty: IntType) -> Interval:
    for x, m in ((a, b), (b, a)):
        if not m.constant:
            continue
        mask = m.lo & ((1 << ty.width) - 1)
        low = (mask & -mask).bit_length() - 1
        if mask and mask + (1 << low) == 1 << ty.width:
            # Clears the low bits only: rounds down.
            return interval(
                x.lo >> low << low,
                x.hi >> low << low,
                max(1 << low, x.stride if x.lo % (1 << low) == 0 and x.stride % (1 << low) == 0 else 0),
            )
        if mask and mask & (mask + 1) == 0 and mask <= ty.high:
            if x.lo >= 0 and x.hi <= mask:
                return x
            stride = gcd(x.stride, mask + 1)
            return (
                interval(x.lo % stride if stride else x.lo & mask, mask, stride or 1)
                if not x.constant
                else interval(x.lo & mask, x.lo & mask)
            )
    if a.lo < 0 and b.lo < 0:
        return type_range(ty)
    hi = min(v.hi for v in (a, b) if v.lo >= 0)
    zeros = min(max(trailing_zeros(a), trailing_zeros(b)), 62)
    return interval(0, hi, 1 << zeros)


def bit_or(a: Interval, b: Interval, ty: IntType) -> Interval:
    if a.lo < 0 or b.lo < 0:
        return type_range(ty)
    if disjoint_bits(a, b):
        return add(a, b)
    zeros = min(trailing_zeros(a), trailing_zeros(b), 62)
    return _from_zero(max(a.lo, b.lo), _below_power(max(a.hi, b.hi)), 1 << zeros)


def bit_xor(a: Interval, b: Interval, ty: IntType) -> Interval:
    if a.lo < 0 or b.lo < 0:
        return type_range(ty)
    if disjoint_bits(a, b):
        return add(a, b)
    zeros = min(trailing_zeros(a), trailing_zeros(b), 62)
    return interval(0, _below_power(max(a.hi, b.hi)), 1 << zeros)


def _from_zero(lo: int, hi: int, stride: int) -> Interval:
    """The multiples of ``stride`` between ``lo`` and ``hi``."""
    return interval(lo + -lo % stride, hi, stride)


def disjoint_bits(a: Interval, b: Interval) -> bool:
    """Whether no bit can be set in both (nonnegative) values, by their sizes and trailing zeros."""
    if a.lo < 0 or b.lo < 0:
        return False
    return b.hi >> trailing_zeros(a) == 0 or a.hi >> trailing_zeros(b) == 0


def wrap(a: Interval, ty: IntType) -> Interval:
    """The values modulo 2**width, in ``ty``'s range."""
    if a.empty or a.within(ty):
        return a
    lo, hi = ty.wrap(a.lo), ty.wrap(a.hi)
    if hi - lo == a.hi - a.lo:
        return Interval(lo, hi, a.stride)
    stride = gcd(a.stride, 1 << ty.width)
    return interval(ty.low + (a.lo - ty.low) % stride, ty.high, stride)


# --- expressions --------------------------------------------------------------------------------------------


class Intervals:
    """Intervals of the nodes of expressions, memoised, under given ``ranges`` of nodes."""

    def __init__(self, ranges: Mapping[Expr, tuple[int, int]], *, no_signed_overflow: bool = True) -> None:
        self.ranges = ranges
        self.no_signed_overflow = no_signed_overflow
        self._memo: dict[int, Interval] = {}
        self._raw: dict[int, Interval] = {}
        self._congruent: dict[int, Interval] = {}
        """For nodes that may wrap: values congruent to theirs modulo 2**width, often in a smaller interval."""
        self._assuming: set[int] = set()

    def of(self, e: Expr) -> Interval:
        """The values of ``e``; of an integer or boolean expression only."""
        memo = self._memo
        found = memo.get(e.key)
        if found is not None:
            return found
        stack = [e]
        while stack:
            node = stack[-1]
            ready = True
            if node.op != "opaque":
                for a in node.args:
                    if a.key not in memo and isinstance(a.ty, IntType):
                        stack.append(a)
                        ready = False
            if ready:
                stack.pop()
                if node.key not in memo:
                    memo[node.key] = self._node(node)
        return memo[e.key]

    def raw(self, e: Expr) -> Interval:
        """The result of the operation (or the operand of the conversion) ``e`` before it is wrapped to its type."""
        known = self.of(e)
        return self._raw.get(e.key, known)

    def wraps(self, e: Expr) -> bool:
        """Whether the operation or conversion ``e`` may leave its type's range."""
        assert isinstance(e.ty, IntType)
        return not self.raw(e).within(e.ty)

    @property
    def relied(self) -> bool:
        """Whether any interval asked for so far rests on signed arithmetic not overflowing."""
        return bool(self._assuming)

    def assumed(self, *roots: Expr) -> bool:
        """Whether the interval of a node below ``roots`` rests on signed arithmetic not overflowing."""
        for node in walk(roots):
            if isinstance(node.ty, IntType):
                self.of(node)
        return bool(self._assuming) and any(node.key in self._assuming for node in walk(roots))

    def truth(self, e: Expr) -> bool | None:
        """The only value a boolean can have, or None."""
        found = self.of(e)
        return bool(found.lo) if found.constant else None

    def _node(self, e: Expr) -> Interval:
        ty = e.ty
        assert isinstance(ty, IntType), e
        result = self._operation(e, ty)
        known = self.ranges.get(e)
        return clamp(result, *known) if known is not None else result

    def _operation(self, e: Expr, ty: IntType) -> Interval:
        op = e.op
        if op == "const":
            return Interval(e.value, e.value, 0)
        if op in _LEAVES:
            return type_range(ty)
        if op == "call":
            return _call(e, ty, [self._memo[a.key] for a in e.args if isinstance(a.ty, IntType)])
        try:
            args = [self._memo[a.key] for a in e.args]
        except KeyError:  # an operand is no integer
            return type_range(ty)
        if op in _LOGIC:
            return _boolean(op, args)
        if op == "select":
            c, x, y = args
            return x if c == _TRUE else y if c == _FALSE else join(x, y)
        if EMPTY in args:
            return EMPTY
        if op in _COMPARISONS:
            return _comparison(op, *args)
        if op == "cast":
            if ty.width == 1:
                return _TRUE if args[0].lo > 0 or args[0].hi < 0 else _FALSE if args[0] == _FALSE else _EITHER
            raw = args[0]
        else:
            found = _arithmetic(op, args, ty)
            if found is None:
                return type_range(ty)
            raw = found
        limits = type_range(ty)
        if limits.lo <= raw.lo and raw.hi <= limits.hi:
            return raw
        self._raw[e.key] = raw
        if self.no_signed_overflow and may_overflow_undefined(e):
            self._assuming.add(e.key)
            return clamp(raw, limits.lo, limits.hi)
        return self._wrapped(e, ty, raw, args)

    def congruent(self, e: Expr) -> Interval:
        """An interval that holds, for each value of ``e``, a number congruent to it modulo 2**width.

        ``threadIdx.x - 1`` is congruent to -1, 0, 1, ... although its unsigned value may be anything."""
        known = self.of(e)
        return self._congruent.get(e.key, known)

    def _wrapped(self, e: Expr, ty: IntType, raw: Interval, args: list[Interval]) -> Interval:
        """The interval of an operation that may wrap, from its operands' values or from numbers congruent to them."""
        result = wrap(raw, ty)
        congruent = raw
        if e.op in _RING and any(a.key in self._congruent for a in e.args):
            # A conversion to more bits needs the value itself.
            others = [
                self._congruent.get(a.key, i) if isinstance(a.ty, IntType) and a.ty.width >= ty.width else i
                for a, i in zip(e.args, args, strict=True)
            ]
            found = others[0] if e.op in ("cast", "narrow") else _arithmetic(e.op, others, ty)
            if found is not None and found.hi - found.lo < raw.hi - raw.lo:
                congruent = found
                again = wrap(found, ty)
                if again.hi - again.lo < result.hi - result.lo:
                    result = again
        self._congruent[e.key] = congruent
        return result


_RING = frozenset({"add", "sub", "mul", "neg", "cast", "narrow"})
_LEAVES = frozenset({"sym", "opaque", "var"})
_LOGIC = frozenset({"land", "lor", "lnot"})
_COMPARISONS = frozenset({"eq", "ne", "lt", "le"})


def _boolean(op: str, args: list[Interval]) -> Interval:
    if op == "lnot":
        a = args[0]
        return a if a.empty else Interval(1 - a.hi, 1 - a.lo, a.stride)
    a, b = args
    if op == "land":
        return _FALSE if _FALSE in args else _TRUE if a == b == _TRUE else _EITHER
    return _TRUE if _TRUE in args else _FALSE if a == b == _FALSE else _EITHER


def _comparison(op: str, a: Interval, b: Interval) -> Interval:
    if op == "lt":
        return _TRUE if a.hi < b.lo else _FALSE if a.lo >= b.hi else _EITHER
    if op == "le":
        return _TRUE if a.hi <= b.lo else _FALSE if a.lo > b.hi else _EITHER
    stride = gcd(a.stride, b.stride)
    apart = a.hi < b.lo or b.hi < a.lo or (stride != 0 and (a.lo - b.lo) % stride != 0)
    equal = a.constant and a.lo == b.lo and b.constant
    if not apart and not equal:
        return _EITHER
    return _TRUE if equal == (op == "eq") else _FALSE


def _arithmetic(op: str, args: list[Interval], ty: IntType) -> Interval | None:
    """The operation in mathematical integers (bit operations: in the type); None where nothing is known."""
    a = args[0]
    if op == "narrow":
        return a
    if op == "neg":
        return neg(a)
    if op == "not":
        return (
            Interval(-1 - a.hi, -1 - a.lo, a.stride)
            if ty.signed
            else Interval(ty.high - a.hi, ty.high - a.lo, a.stride)
        )
    b = args[1]
    if op in ("shl", "shr"):
        count = clamp(b, 0, ty.width - 1)
        if count.empty:
            return EMPTY
        return shl(a, count) if op == "shl" else shr(a, count)
    plain = _PLAIN.get(op)
    if plain is not None:
        return plain(a, b)
    bits = _BITS.get(op)
    return bits(a, b, ty) if bits is not None else None


def _min(a: Interval, b: Interval) -> Interval:
    return a if a.hi <= b.lo else b if b.hi <= a.lo else clamp(join(a, b), min(a.lo, b.lo), min(a.hi, b.hi))


def _max(a: Interval, b: Interval) -> Interval:
    return a if a.lo >= b.hi else b if b.lo >= a.hi else clamp(join(a, b), max(a.lo, b.lo), max(a.hi, b.hi))


_PLAIN = {"add": add, "sub": sub, "mul": mul, "div": div, "rem": rem, "min": _min, "max": _max}
_BITS = {"and": bit_and, "or": bit_or, "xor": bit_xor}


def _call(e: Expr, ty: IntType, args: list[Interval]) -> Interval:
    name = str(e.value).removeprefix("::").removeprefix("std::").lstrip("_")
    if bit_trick(e) is None or any(a.empty for a in args):
        return type_range(ty)
    if name in ("popc", "clz", "ffs"):
        return Interval(0, 32)
    if name in ("popcll", "clzll", "ffsll"):
        return Interval(0, 64)
    if name in ("abs", "labs", "llabs") and args[0].lo > ty.low:
        a = args[0]
        return a if a.lo >= 0 else interval(0 if a.hi >= 0 else -a.hi, max(-a.lo, a.hi))
    return type_range(ty)


def union(parts: Iterable[Interval]) -> Interval:
    """The smallest interval holding all ``parts``."""
    out = EMPTY
    for p in parts:
        out = join(out, p)
    return out
