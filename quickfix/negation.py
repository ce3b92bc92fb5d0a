"""Conditions as parts of others: their opposite, and what needs parentheses beside ``&&``.

What a condition is made of the syntax tree says (`plain.Test`): the text may be the name of a macro.
"""

from __future__ import annotations

import re
from typing import Final

from analyzers.frontend.blanking import group_end, next_visible
from analyzers.frontend.plain import COMPARES, UNKNOWN_TEST, Test

Replacement = tuple[int, int, bytes]
"""What stands from one place to another, and what takes its place."""

_TOKEN: Final = re.compile(rb"->|<<=?|>>=?|<=|>=|==|!=|[<>]|[()\[\]{}]")
_OPPOSITE: Final = {b"<": b">=", b">=": b"<", b">": b"<=", b"<=": b">", b"==": b"!=", b"!=": b"=="}


def opposite(code: bytes, place: tuple[int, int], test: Test) -> tuple[list[Replacement], Test]:
    """What makes the opposite of the condition in that place of a code, and what that is made of: another comparison
    where both sides are integers (a number that is none compares with nothing), else with `!`."""
    start = min(next_visible(code, place[0]), place[1])
    end = start + len(code[start : place[1]].rstrip())
    at = _comparison(code, start, end) if test.integers else None
    if at is not None and code[slice(*at)].decode() == test.operator:
        written = _OPPOSITE[code[slice(*at)]]
        return [(*at, written)], Test(written.decode(), integers=True)
    if test.operator == "!" and code.startswith(b"!", start):
        first = next_visible(code, start + 1)
        if not code.startswith(b"(", first):
            return [(start, first, b"")], Test("")
        if group_end(code, first) == end:
            return [(start, next_visible(code, first + 1), b""), (end - 1, end, b"")], UNKNOWN_TEST
    if test.operator == "":
        return [(start, start, b"!")], Test("!")
    return [(start, start, b"!("), (end, end, b")")], Test("!")


def negated(condition: bytes, test: Test) -> tuple[bytes, Test]:
    """The opposite of a condition, and what that is made of."""
    condition = condition.strip()
    replacements, made = opposite(condition, (0, len(condition)), test)
    for start, end, written in reversed(replacements):
        condition = condition[:start] + written + condition[end:]
    return condition, made


def _comparison(code: bytes, start: int, end: int) -> tuple[int, int] | None:
    """The only comparison outside of all brackets."""
    depth, found = 0, list[tuple[int, int]]()
    for token in _TOKEN.finditer(code, start, end):
        depth += (token[0] in b"([{") - (token[0] in b")]}")
        if depth == 0 and token[0] not in (b"->", b")", b"]", b"}"):
            found.append(token.span())
    return found[0] if len(found) == 1 and code[slice(*found[0])] in _OPPOSITE else None


def operand(condition: bytes, test: Test) -> bytes:
    """The condition as one side of `&&`."""
    assigns = test.operator.endswith("=") and test.operator not in COMPARES
    return b"(" + condition + b")" if test.operator in ("||", "?", ",") or assigns else condition
