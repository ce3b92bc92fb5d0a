"""What CUDA's integer intrinsics compute: pure functions of Python integers.

Takes a ``call`` node and gives the function it stands for; the result is still to be wrapped to the node's type.
Arguments are values of the operands' C types. Meanings are those of the CUDA Math API, integer intrinsics.
"""

from __future__ import annotations

from collections.abc import Callable

from analyzers.ir.expr import Expr, IntType

_U32 = (1 << 32) - 1
_U64 = (1 << 64) - 1

Trick = Callable[[list[int]], int]


def _reversed(x: int, width: int) -> int:
    return int(format(x & ((1 << width) - 1), f"0{width}b")[::-1], 2)


def _byte_perm(v: list[int]) -> int:
    data = ((v[1] & _U32) << 32 | (v[0] & _U32)).to_bytes(8, "little")
    out = 0
    for i in range(4):
        selector = (v[2] >> (4 * i)) & 0xF
        byte = data[selector & 7]
        if selector & 8:
            byte = 0xFF if byte & 0x80 else 0
        out |= byte << (8 * i)
    return out


def _mul24(v: list[int]) -> int:
    a, b = (x & 0xFFFFFF for x in v)
    return (a - ((a >> 23) << 24)) * (b - ((b >> 23) << 24))


def _funnel(v: list[int], shift: int, left: bool) -> int:
    both = (v[1] & _U32) << 32 | (v[0] & _U32)
    return ((both << shift) >> 32 if left else both >> shift) & _U32


def _absolute(v: list[int]) -> int:
    return abs(v[0])


def _halved_sum(v: list[int]) -> int:
    return (v[0] + v[1]) >> 1


def _rounded_half_sum(v: list[int]) -> int:
    return (v[0] + v[1] + 1) >> 1


def _absolute_difference(v: list[int]) -> int:
    return abs(v[0] - v[1]) + v[2]


def _table() -> dict[str, tuple[int, Trick]]:
    out: dict[str, tuple[int, Trick]] = {
        "popc": (1, lambda v: (v[0] & _U32).bit_count()),
        "popcll": (1, lambda v: (v[0] & _U64).bit_count()),
        "clz": (1, lambda v: 32 - (v[0] & _U32).bit_length()),
        "clzll": (1, lambda v: 64 - (v[0] & _U64).bit_length()),
        "ffs": (1, lambda v: ((v[0] & -v[0]) & _U32).bit_length()),
        "ffsll": (1, lambda v: ((v[0] & -v[0]) & _U64).bit_length()),
        "brev": (1, lambda v: _reversed(v[0], 32)),
        "brevll": (1, lambda v: _reversed(v[0], 64)),
        "mulhi": (2, lambda v: (v[0] * v[1]) >> 32),
        "umulhi": (2, lambda v: ((v[0] & _U32) * (v[1] & _U32)) >> 32),
        "mul64hi": (2, lambda v: (v[0] * v[1]) >> 64),
        "umul64hi": (2, lambda v: ((v[0] & _U64) * (v[1] & _U64)) >> 64),
        "mul24": (2, _mul24),
        "umul24": (2, lambda v: (v[0] & 0xFFFFFF) * (v[1] & 0xFFFFFF)),
        "byte_perm": (3, _byte_perm),
        "funnelshift_l": (3, lambda v: _funnel(v, v[2] & 31, True)),
        "funnelshift_r": (3, lambda v: _funnel(v, v[2] & 31, False)),
        "funnelshift_lc": (3, lambda v: _funnel(v, min(v[2] & _U32, 32), True)),
        "funnelshift_rc": (3, lambda v: _funnel(v, min(v[2] & _U32, 32), False)),
    }
    for name in ("hadd", "uhadd"):
        out[name] = (2, _halved_sum)
    for name in ("rhadd", "urhadd"):
        out[name] = (2, _rounded_half_sum)
    for name in ("sad", "usad"):
        out[name] = (3, _absolute_difference)
    for name in ("abs", "labs", "llabs"):
        out[name] = (1, _absolute)
    return out


_TRICKS = _table()


def _plain(name: str) -> str:
    """``abs`` for ``std::abs``, ``popc`` for ``__popc``."""
    return name.removeprefix("::").removeprefix("std::").lstrip("_")


def bit_trick(e: Expr) -> Trick | None:
    """The integer function that the ``call`` node ``e`` stands for, or None."""
    found = _TRICKS.get(_plain(str(e.value)))
    if found is None or found[0] != len(e.args) or not isinstance(e.ty, IntType):
        return None
    return found[1] if all(isinstance(a.ty, IntType) for a in e.args) else None


def is_first_bit(e: Expr) -> bool:
    """The place of the lowest bit that is set in a mask of 32, counted from one."""
    return e.op == "call" and len(e.args) == 1 and _plain(str(e.value)) == "ffs" and isinstance(e.args[0].ty, IntType)


def is_count(e: Expr) -> bool:
    """The number of bits that are set in a mask of 32."""
    return e.op == "call" and len(e.args) == 1 and _plain(str(e.value)) == "popc" and isinstance(e.args[0].ty, IntType)
