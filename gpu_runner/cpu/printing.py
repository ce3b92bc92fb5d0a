"""``printf`` of a kernel: the format string and the packed arguments that PTX passes, as text."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import Final

_CONVERSION: Final = re.compile(r"%([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+))?(hh|h|ll|l|z|j|t|L)?([diouxXeEfFgGaAcsp%])")


def formatted(form: str, arguments: bytes, text_at: Callable[[int], str]) -> str:
    """C's formatting of the device's argument buffer: values lie at multiples of their size, 4 or 8 bytes each."""
    at = 0

    def take(code: str, size: int) -> int | float:
        nonlocal at
        at = -(-at // size) * size
        if at + size > len(arguments):
            return 0
        (value,) = struct.unpack_from(f"<{code}", arguments, at)
        at += size
        return value

    def replaced(match: re.Match[str]) -> str:
        flags, width, precision, length, conversion = match.groups()
        if conversion == "%":
            return "%"
        width = str(take("i", 4)) if width == "*" else width or ""
        precision = str(take("i", 4)) if precision == "*" else precision
        spec = f"%{flags}{width}" + (f".{precision}" if precision is not None else "")
        if conversion == "s":
            return f"{spec}s" % text_at(int(take("Q", 8)))
        if conversion == "p":
            return f"0x{int(take('Q', 8)):x}"
        if conversion in "eEfFgGaA":
            value = float(take("d", 8))
            return value.hex() if conversion in "aA" else f"{spec}{conversion}" % value
        if conversion == "c":
            return f"{spec}c" % (int(take("i", 4)) & 255)
        wide = length in ("l", "ll", "z", "j", "t")
        code = ("q" if wide else "i") if conversion in "di" else ("Q" if wide else "I")
        value = int(take(code, 8 if wide else 4))
        if length in ("h", "hh"):
            bits = 16 if length == "h" else 8
            value &= (1 << bits) - 1
            if conversion in "di" and value >> bits - 1:
                value -= 1 << bits
        return f"{spec}{'d' if conversion in 'iu' else conversion}" % value

    return _CONVERSION.sub(replaced, form)
