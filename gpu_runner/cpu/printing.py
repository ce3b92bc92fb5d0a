"""``printf`` of a kernel: the format string and the packed arguments that PTX passes, as text."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable
from typing import Final

_CONVERSION: Final = re.compile(r"%([-+ #0]*)(\*|\d+)?(?:\.(\*|\d*))?(hh|h|ll|l|z|j|t|L)?([diouxXeEfFgGaAcsp%])")
_BASES: Final = {"o": "o", "x": "x", "X": "X"}


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
        flags, width_text, precision_text, length, conversion = match.groups()
        if conversion == "%":
            return "%"
        width = int(take("i", 4) if width_text == "*" else width_text or 0)
        if width < 0:
            flags, width = flags + "-", -width
        precision = None
        if precision_text is not None:
            precision = int(take("i", 4) if precision_text == "*" else precision_text or 0)
            precision = precision if precision >= 0 else None
        if conversion == "s":
            return _filled("", text_at(int(take("Q", 8)))[:precision], flags, width, zeros=False)
        if conversion == "p":
            return _filled("", f"0x{int(take('Q', 8)):x}", flags, width, zeros=False)
        if conversion == "c":
            return _filled("", chr(int(take("i", 4)) & 255), flags, width, zeros=False)
        if conversion in "eEfFgGaA":
            value = float(take("d", 8))
            # What invalid operations give has a sign bit on some processors and none on GPUs.
            sign = _sign(math.copysign(1.0, value) < 0 and not math.isnan(value), flags)
            prefix, digits = _digits_of_float(abs(value), "#" if "#" in flags else "", precision, conversion)
            return _filled(sign + prefix, digits, flags, width, zeros=math.isfinite(value))
        wide = length in ("l", "ll", "z", "j", "t")
        code = ("q" if wide else "i") if conversion in "di" else ("Q" if wide else "I")
        value = int(take(code, 8 if wide else 4))
        if length in ("h", "hh"):
            bits = 16 if length == "h" else 8
            value &= (1 << bits) - 1
            if conversion in "di" and value >> bits - 1:
                value -= 1 << bits
        sign = _sign(value < 0, flags) if conversion in "di" else ""
        prefix, digits = _digits(abs(value), "#" in flags, precision, conversion)
        return _filled(sign + prefix, digits, flags, width, zeros=precision is None)

    return _CONVERSION.sub(replaced, form)


def _sign(negative: bool, flags: str) -> str:
    return "-" if negative else "+" if "+" in flags else " " if " " in flags else ""


def _filled(front: str, digits: str, flags: str, width: int, *, zeros: bool) -> str:
    """To the width: on the right, or with zeros behind the sign and ``0x``, or on the left."""
    missing = max(0, width - len(front) - len(digits))
    if "-" in flags:
        return front + digits + " " * missing
    if "0" in flags and zeros:
        return front + "0" * missing + digits
    return " " * missing + front + digits


def _digits(value: int, alternate: bool, precision: int | None, conversion: str) -> tuple[str, str]:
    """What stands in front of an unsigned number, and the number with at least so many digits: none of a 0 with 0."""
    digits = "" if precision == 0 and value == 0 else format(value, _BASES.get(conversion, "d"))
    digits = digits.rjust(precision or 0, "0")
    if alternate and conversion == "o" and not digits.startswith("0"):
        digits = "0" + digits
    return f"0{conversion}" if alternate and value and conversion in "xX" else "", digits


def _digits_of_float(value: float, alternate: str, precision: int | None, conversion: str) -> tuple[str, str]:
    """The same of a number that is not negative."""
    if conversion not in "aA" or not math.isfinite(value):
        spelled = conversion.replace("a", "e").replace("A", "E")
        return "", f"%{alternate}{'' if precision is None else f'.{precision}'}{spelled}" % value
    mantissa, _, exponent = value.hex()[2:].partition("p")
    lead, _, fraction = mantissa.partition(".")
    if precision is None:
        fraction = fraction.rstrip("0")
    elif precision < len(fraction):
        # To the nearest, and of two to the even one, as all rounding here.
        rest = 4 * (len(fraction) - precision)
        kept, half = int(lead + fraction, 16), 1 << rest - 1
        kept = (kept + half - 1 + (kept >> rest & 1)) >> rest
        lead, fraction = f"{kept:0{precision + 1}x}"[0], f"{kept:0{precision + 1}x}"[1:]
    else:
        fraction = fraction.ljust(precision, "0")
    text = f"{lead}{'.' if fraction or alternate else ''}{fraction}p{exponent}"
    return ("0X", text.upper()) if conversion == "A" else ("0x", text)
