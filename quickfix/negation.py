"""Conditions as parts of others: their opposite, and what needs parentheses beside ``&&``."""

from __future__ import annotations

import re
from typing import Final

_NAME: Final = re.compile(rb"(?<![\w.])[A-Za-z_]\w*")
_COMPARED: Final = re.compile(rb"([^<>=!&|?,()]+?)\s*(<=|>=|==|!=|<|>)\s*([^<>=!&|?,()]+)")
_OPPOSITE: Final = {b"<": b">=", b">=": b"<", b">": b"<=", b"<=": b">", b"==": b"!=", b"!=": b"=="}
_WHOLE: Final = rb"\b(?:const\s+)?(?:(?:unsigned|signed|long|short|int|size_t|uint|u?int(?:8|16|32|64)_t)\s+)+"
_NUMBERS: Final = frozenset(
    f"{name}.{axis}".encode() for name in ("threadIdx", "blockIdx", "blockDim", "gridDim") for axis in "xyz"
)


def negated(condition: bytes, function: bytes) -> bytes:
    """The opposite of a condition in a function (comments blanked): another comparison where both sides are integers
    (a number that is none compares with nothing), else with `!`."""
    condition = condition.strip()
    compared = _COMPARED.fullmatch(condition)
    if compared is not None and all(_is_whole(compared[side], function) for side in (1, 3)):
        return compared[1] + b" " + _OPPOSITE[compared[2]] + b" " + compared[3]
    if re.fullmatch(rb"!\s*[A-Za-z_]\w*", condition):
        return condition[1:].strip()
    if re.fullmatch(rb"[A-Za-z_]\w*", condition):
        return b"!" + condition
    return b"!(" + condition + b")"


def operand(condition: bytes) -> bytes:
    """The condition as one side of `&&`."""
    outside, depth = b"", 0
    for at in range(len(condition)):
        byte = condition[at : at + 1]
        depth -= byte in b")]}"
        outside += byte if depth == 0 else b" "
        depth += byte in b"([{"
    return b"(" + condition + b")" if re.search(rb"\|\||[?,]|(?<![=!<>])=(?!=)", outside) else condition


def _is_whole(value: bytes, function: bytes) -> bool:
    """Whether a sum or product of numbers and variables is an integer, by what declares these in the function."""
    if not re.fullmatch(rb"[\w\s+*.%-]+", value) or re.search(rb"\d\.|\.\d|\d[fF]\b", value):
        return False
    rest = value
    for known in _NUMBERS:
        rest = rest.replace(known, b"1")
    if b"." in rest:
        return False
    for name in set(_NAME.findall(rest)):
        declared = re.findall(rb"([\w>&*\]]+)[\s&*]+" + name + rb"\s*(?=[=,;)\[({])", function)
        integers = re.findall(_WHOLE + name + rb"\s*(?=[=,;)])", function)
        types = [t for t in declared if t not in (b"return", b"else", b"case")]
        if not integers or len(types) != len(integers):
            return False
    return True
