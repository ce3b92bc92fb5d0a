"""Low bits of integers that are the same whatever the symbols in them stand for.

Takes an expression, gives how many of its low bits are known, and their value: ``64 * i + 4`` ends in ``000100``, six
known bits. Sums, products and conversions that wrap around keep them, for a power of two divides what they wrap at.
"""

from __future__ import annotations

from typing import Final

from analyzers.ir import node as E
from analyzers.ir.node import BOOL, Expr, IntType

MAX_BITS: Final = 7
"""Low bits that are looked for: accesses are aligned to 128 bytes at most."""
_MAX_KNOWN: Final = 200_000

LowBits = tuple[int, int]
"""(how many, their value): the value is below two to the power of their number."""

_NONE: Final[LowBits] = (0, 0)
_known: dict[int, LowBits] = {}
"""By key: offsets of one kernel have most of their parts in common, and each is asked about for many pairs."""


def low_bits(e: Expr) -> LowBits:
    """The low bits of ``e`` that are known, up to `MAX_BITS`."""
    found = _known.get(e.key)
    if found is None:
        if len(_known) >= _MAX_KNOWN:
            _known.clear()
        for node in E.walk((e,), _known):
            _known[node.key] = _of(node)
        found = _known[e.key]
    return found


def _of(e: Expr) -> LowBits:
    """The same, from what is known of the operands."""
    ty, op = e.ty, e.op
    if not isinstance(ty, IntType) or ty == BOOL:
        return _NONE
    if op == "const":
        bits = min(MAX_BITS, ty.width)
        return bits, int(e.value) % (1 << bits)
    if op in ("sym", "opaque", "var", "call") or not all(isinstance(a.ty, IntType) for a in e.args):
        return _NONE
    parts = [_known[a.key] for a in e.args]
    match op:
        case "add":
            return _same(parts, parts[0][1] + parts[1][1])
        case "sub":
            return _same(parts, parts[0][1] - parts[1][1])
        case "neg":
            return _same(parts, -parts[0][1])
        case "mul":
            return _product(*parts)
        case "shl" if e.args[1].op == "const" and 0 <= e.args[1].value < ty.width:
            bits, value = parts[0]
            return _cut(bits + e.args[1].value, value << e.args[1].value)
        case "and":
            return _conjunction(*parts)
        case "or" | "xor":
            return _same(parts, parts[0][1] | parts[1][1] if op == "or" else parts[0][1] ^ parts[1][1])
        case "cast" | "narrow":
            return _cut(min(parts[0][0], ty.width), parts[0][1])
        case "select":
            (one, left), (two, right) = parts[1:]
            return _cut(min(one, two, _zeros(left ^ right)), left)
        case _:
            return _NONE


def _cut(bits: int, value: int) -> LowBits:
    bits = min(bits, MAX_BITS)
    return bits, value % (1 << bits)


def _same(parts: list[LowBits], value: int) -> LowBits:
    """As many bits as of every operand."""
    return _cut(min(bits for bits, _ in parts), value)


def _zeros(value: int) -> int:
    """How many zeros a known value ends in."""
    return (value & -value).bit_length() - 1 if value else MAX_BITS


def _product(one: LowBits, two: LowBits) -> LowBits:
    # (x + i * 2^a) * (y + j * 2^b) is x * y and multiples of x * 2^b, y * 2^a and 2^(a + b).
    (a, x), (b, y) = one, two
    return _cut(min(a + _zeros(y) if y else a + b, b + _zeros(x) if x else a + b, a + b), x * y)


def _conjunction(one: LowBits, two: LowBits) -> LowBits:
    zeros = max(min(bits, _zeros(value)) for bits, value in (one, two))
    shared = _same([one, two], one[1] & two[1])
    return shared if shared[0] >= zeros else (zeros, 0)
