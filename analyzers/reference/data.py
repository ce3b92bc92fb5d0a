"""Values as bits in memory, and the read-modify-write of atomics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from analyzers.ir.expr import FloatType, IntType, Type
from analyzers.reference.functions import float_bits, float_of_bits, round_float


def decode(bits: int, ty: Type, width: int) -> Any:
    """The value of type ``ty`` read from ``width`` bytes. What is wider than its type (a vector, a structure) stays the
    integer of its bits; ``lane`` takes it apart."""
    if isinstance(ty, IntType):
        return int(bits & 0xFF != 0) if ty.width == 1 else ty.wrap(bits)
    if isinstance(ty, FloatType):
        return float_of_bits(bits, ty.width) if 8 * width == ty.width else bits
    return bits & 0xFFFFFFFFFFFFFFFF


def encode(value: Any, ty: Type, width: int) -> int:
    """``value`` of type ``ty`` as ``width`` bytes."""
    bits = float_bits(value, ty.width) if isinstance(value, float) and isinstance(ty, FloatType) else int(value)
    return bits & ((1 << 8 * width) - 1)


def size_of(ty: Type) -> int:
    """Bytes of a scalar in memory."""
    return max(ty.width // 8, 1) if isinstance(ty, (IntType, FloatType)) else 8


def lane(whole: Any, offset: int, ty: Type) -> Any:
    """The part of type ``ty`` at a byte offset of a wide value."""
    bits = whole if isinstance(whole, int) else float_bits(whole, 64)
    size = size_of(ty)
    return decode(bits >> 8 * offset & ((1 << 8 * size) - 1), ty, size)


def pack(parts: Sequence[tuple[Any, Type]]) -> int:
    """A wide value from its parts, lowest first."""
    bits = at = 0
    for value, ty in parts:
        size = size_of(ty)
        at = (at + size - 1) // size * size
        bits |= encode(value, ty, size) << 8 * at
        at += size
    return bits


def _clamp(ty: Type, value: Any) -> Any:
    if isinstance(ty, IntType):
        return ty.wrap(value)
    return round_float(value, ty.width) if isinstance(ty, FloatType) else value


def modify(op: str, ty: Type, old: Any, operands: Sequence[Any]) -> Any:
    """What an atomic stores. Raises ValueError for an operation that is not known."""
    if op == "load":
        return old
    if op == "cas":
        return operands[1] if old == operands[0] else old
    x = operands[0]
    if op in ("exch", "store"):
        return x
    if op == "add":
        return _clamp(ty, old + x)
    if op == "sub":
        return _clamp(ty, old - x)
    if op == "min":
        return min(old, x)
    if op == "max":
        return max(old, x)
    if op == "and":
        return _clamp(ty, old & x)
    if op == "or":
        return _clamp(ty, old | x)
    if op == "xor":
        return _clamp(ty, old ^ x)
    if op == "inc":
        return 0 if old >= x else old + 1
    if op == "dec":
        return x if old == 0 or old > x else old - 1
    raise ValueError(f"atomic operation {op}")
