"""The pure functions that kernels call (bit tricks, integer and floating-point math), on Python numbers.

``apply(name, ty, arguments)`` gives the value, or None for a function not known here: its result is then an arbitrary,
but fixed, value of the arguments. Integers follow C exactly; floating-point results are rounded to the result type.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from typing import Any

from analyzers.ir.expr import FloatType, IntType, Type

Number = int | float

_FORMATS = {16: "<e", 32: "<f", 64: "<d"}


def round_float(value: float, width: int) -> float:
    """``value`` rounded to a floating-point type of 16, 32 or 64 bits; too large becomes infinity."""
    if width == 64:
        return value
    try:
        return struct.unpack(_FORMATS[width], struct.pack(_FORMATS[width], value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def float_bits(value: float, width: int) -> int:
    """The bit pattern of a float."""
    return int.from_bytes(struct.pack(_FORMATS[width], round_float(value, width)), "little")


def float_of_bits(bits: int, width: int) -> float:
    """Inverse of :func:`float_bits`."""
    return struct.unpack(_FORMATS[width], bits.to_bytes(width // 8, "little"))[0]


def float_to_int(value: float, ty: IntType) -> int:
    """Conversion as the hardware does it: towards zero, saturating, zero for NaN."""
    if value != value:
        return 0
    if math.isinf(value):
        return ty.high if value > 0 else ty.low
    return max(ty.low, min(ty.high, int(value)))


def divide(a: float, b: float) -> float:
    if b:
        try:
            return a / b
        except OverflowError:
            return math.copysign(math.inf, a) * math.copysign(1.0, b)
    if a == 0 or a != a:
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def _total(function: Callable[[float], float]) -> Callable[[float], float]:
    """Outside its domain a math function is NaN, beyond its range infinity."""

    def guarded(x: float) -> float:
        try:
            return function(x)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return guarded


def _total2(function: Callable[[float, float], float]) -> Callable[[float, float], float]:
    def guarded(x: float, y: float) -> float:
        return _total(lambda first: function(first, y))(x)

    return guarded


def _rsqrt(x: float) -> float:
    return math.inf if x == 0 else 1.0 / math.sqrt(x)


def _round(x: float) -> float:
    return math.copysign(math.floor(abs(x) + 0.5), x) if math.isfinite(x) else x


def _whole(function: Callable[[float], int]) -> Callable[[float], float]:
    return lambda x: float(function(x)) if math.isfinite(x) else x


def _fmin(a: float, b: float) -> float:
    return b if a != a else a if b != b else min(a, b)


def _fmax(a: float, b: float) -> float:
    return b if a != a else a if b != b else max(a, b)


Unary = Callable[[float], float]
Binary = Callable[[float, float], float]
Ternary = Callable[[float, float, float], float]

_FLOAT1: dict[str, Unary] = {
    "sqrt": _total(math.sqrt), "rsqrt": _total(_rsqrt), "exp": _total(math.exp), "exp2": _total(lambda x: 2.0**x),
    "exp10": _total(lambda x: 10.0**x), "expm1": _total(math.expm1), "log": _total(math.log), "log2": _total(math.log2),
    "log10": _total(math.log10), "log1p": _total(math.log1p), "sin": _total(math.sin), "cos": _total(math.cos),
    "tan": _total(math.tan), "asin": _total(math.asin), "acos": _total(math.acos), "atan": _total(math.atan),
    "sinh": _total(math.sinh), "cosh": _total(math.cosh), "tanh": _total(math.tanh), "fabs": abs,
    "floor": _whole(math.floor), "ceil": _whole(math.ceil), "trunc": _whole(math.trunc), "rint": _whole(round),
    "nearbyint": _whole(round), "round": _round, "erf": _total(math.erf), "erfc": _total(math.erfc),
    "cbrt": lambda x: math.copysign(abs(x) ** (1 / 3), x),
}  # fmt: skip

_FLOAT2: dict[str, Binary] = {
    "pow": _total2(math.pow), "atan2": math.atan2, "fmin": _fmin, "fmax": _fmax, "fmod": _total2(math.fmod),
    "hypot": math.hypot, "copysign": math.copysign, "fdim": lambda a, b: max(a - b, 0.0), "fdivide": divide,
}  # fmt: skip

_FLOAT3: dict[str, Ternary] = {"fma": lambda a, b, c: a * b + c}


def _low_bits(value: int, width: int) -> int:
    return value & ((1 << width) - 1)


def _reverse(value: int, width: int) -> int:
    return int(format(_low_bits(value, width), f"0{width}b")[::-1], 2)


def _first_set(value: int, width: int) -> int:
    value = _low_bits(value, width)
    return (value & -value).bit_length()


def _byte_perm(a: int, b: int, selector: int) -> int:
    source = (_low_bits(b, 32) << 32 | _low_bits(a, 32)).to_bytes(8, "little")
    out = 0
    for i in range(4):
        nibble = selector >> 4 * i & 0xF
        byte = source[nibble & 7]
        if nibble & 8:
            byte = 0xFF if byte & 0x80 else 0
        out |= byte << 8 * i
    return out


def _funnel(low: int, high: int, shift: int, left: bool) -> int:
    joined = _low_bits(high, 32) << 32 | _low_bits(low, 32)
    shift &= 31
    return _low_bits(joined << shift >> 32 if left else joined >> shift, 32)


_INTEGER1: dict[str, Callable[[int], int]] = {
    "__popc": lambda a: _low_bits(a, 32).bit_count(), "__popcll": lambda a: _low_bits(a, 64).bit_count(),
    "__clz": lambda a: 32 - _low_bits(a, 32).bit_length(), "__clzll": lambda a: 64 - _low_bits(a, 64).bit_length(),
    "__ffs": lambda a: _first_set(a, 32), "__ffsll": lambda a: _first_set(a, 64),
    "__brev": lambda a: _reverse(a, 32), "__brevll": lambda a: _reverse(a, 64),
    "abs": abs, "labs": abs, "llabs": abs,
}  # fmt: skip

_INTEGER2: dict[str, Callable[[int, int], int]] = {
    "__mulhi": lambda a, b: a * b >> 32, "__umulhi": lambda a, b: a * b >> 32,
    "__mul64hi": lambda a, b: a * b >> 64, "__umul64hi": lambda a, b: a * b >> 64,
    "__mul24": lambda a, b: _signed24(a) * _signed24(b), "__umul24": lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF),
    "__hadd": lambda a, b: (a + b) >> 1, "__uhadd": lambda a, b: (a + b) >> 1,
    "__rhadd": lambda a, b: (a + b + 1) >> 1, "__urhadd": lambda a, b: (a + b + 1) >> 1,
}  # fmt: skip

_INTEGER3: dict[str, Callable[[int, int, int], int]] = {
    "__byte_perm": _byte_perm,
    "__sad": lambda a, b, c: abs(a - b) + c,
    "__usad": lambda a, b, c: abs(a - b) + c,
    "__funnelshift_l": lambda low, high, shift: _funnel(low, high, shift, left=True),
    "__funnelshift_r": lambda low, high, shift: _funnel(low, high, shift, left=False),
}


def _signed24(a: int) -> int:
    a &= 0xFFFFFF
    return a - (1 << 24) if a >> 23 else a


def _bit_casts(name: str, ty: Type, argument: Any) -> Number | None:
    if name in ("__float_as_int", "__float_as_uint", "__double_as_longlong", "__half_as_ushort", "__half_as_short"):
        assert isinstance(ty, IntType)
        return ty.wrap(float_bits(argument, ty.width))
    if name in ("__int_as_float", "__uint_as_float", "__longlong_as_double", "__ushort_as_half", "__short_as_half"):
        assert isinstance(ty, FloatType)
        return float_of_bits(argument & ((1 << ty.width) - 1), ty.width)
    return None


def _float_name(name: str) -> str | None:
    """``sqrt`` for ``sqrtf``, ``__fsqrt``-like intrinsics and ``sqrt`` itself; None for what is not known."""
    for candidate in (name, name.removesuffix("f"), name.removeprefix("__").removesuffix("f")):
        if candidate in _FLOAT1 or candidate in _FLOAT2 or candidate in _FLOAT3:
            return candidate
    return None


_CLASSIFY: dict[str, Callable[[float], bool]] = {
    "isnan": math.isnan, "isinf": math.isinf, "isfinite": math.isfinite, "signbit": lambda x: math.copysign(1.0, x) < 0,
}  # fmt: skip


def _plain(name: str) -> str:
    return name.removeprefix("std::").removeprefix("::")


def known(name: str, ty: Type) -> bool:
    """Whether :func:`apply` can give a value."""
    name = _plain(name)
    if name.startswith("__") and "_as_" in name:
        return True
    if isinstance(ty, IntType):
        return name in _INTEGER1 or name in _INTEGER2 or name in _INTEGER3 or name in _CLASSIFY
    return isinstance(ty, FloatType) and _float_name(name) is not None


def apply(name: str, ty: Type, arguments: Sequence[Any]) -> Number | None:
    """The value of ``name(arguments)`` in type ``ty``, None where the function is not known."""
    name = _plain(name)
    if len(arguments) == 1 and "_as_" in name:
        cast = _bit_casts(name, ty, arguments[0])
        if cast is not None:
            return cast
    if isinstance(ty, IntType):
        found = _integer(name, arguments)
        return None if found is None else ty.wrap(found)
    if isinstance(ty, FloatType):
        value = _floating(name, arguments)
        return None if value is None else round_float(value, ty.width)
    return None


def _integer(name: str, arguments: Sequence[Any]) -> int | None:
    if name in _CLASSIFY:
        return int(_CLASSIFY[name](arguments[0]))
    if len(arguments) == 1 and name in _INTEGER1:
        return _INTEGER1[name](arguments[0])
    if len(arguments) == 2 and name in _INTEGER2:
        return _INTEGER2[name](arguments[0], arguments[1])
    if len(arguments) == 3 and name in _INTEGER3:
        return _INTEGER3[name](arguments[0], arguments[1], arguments[2])
    return None


def _floating(name: str, arguments: Sequence[Any]) -> float | None:
    plain = _float_name(name)
    if plain is None:
        return None
    if len(arguments) == 1 and plain in _FLOAT1:
        return float(_FLOAT1[plain](arguments[0]))
    if len(arguments) == 2 and plain in _FLOAT2:
        return _FLOAT2[plain](arguments[0], arguments[1])
    if len(arguments) == 3 and plain in _FLOAT3:
        return _FLOAT3[plain](arguments[0], arguments[1], arguments[2])
    return None
