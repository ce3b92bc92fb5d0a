"""Conditions as parts of others: their opposite, and what needs parentheses beside ``&&``.

What a condition is made of the syntax tree says (`plain.Test`): the text may be the name of a macro.
"""

from __future__ import annotations

import re
from typing import Final

from analyzers.frontend.plain import COMPARES, Test

_COMPARED: Final = re.compile(rb"([^<>=!&|?,()]+?)\s*(<=|>=|==|!=|<|>)\s*([^<>=!&|?,()]+)")
_OPPOSITE: Final = {b"<": b">=", b">=": b"<", b">": b"<=", b"<=": b">", b"==": b"!=", b"!=": b"=="}
_NAME: Final = re.compile(rb"[A-Za-z_]\w*")


def negated(condition: bytes, test: Test) -> tuple[bytes, Test]:
    """The opposite of a condition, and what that is made of: another comparison where both sides are integers (a number
    that is none compares with nothing), else with `!`."""
    condition = condition.strip()
    compared = _COMPARED.fullmatch(condition)
    if compared is not None and test.integers and compared[2].decode() == test.operator:
        opposite = _OPPOSITE[compared[2]]
        return compared[1] + b" " + opposite + b" " + compared[3], Test(opposite.decode(), integers=True)
    bare = condition[1:].strip()
    if test.operator == "!" and condition.startswith(b"!") and _NAME.fullmatch(bare):
        return bare, Test("")
    if test.operator == "" and _NAME.fullmatch(condition):
        return b"!" + condition, Test("!")
    return b"!(" + condition + b")", Test("!")


def operand(condition: bytes, test: Test) -> bytes:
    """The condition as one side of `&&`."""
    assigns = test.operator.endswith("=") and test.operator not in COMPARES
    return b"(" + condition + b")" if test.operator in ("||", "?", ",") or assigns else condition
