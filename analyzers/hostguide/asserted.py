"""Assertions whose macro clang does not know: ``KALDI_ASSERT(rows == cols)`` without Kaldi's headers.

clang drops such a statement, but its meaning stands in its name. Takes the text of a lost statement, gives the
condition as text; only names that end in a word for "assert" count, and only conditions that compare something, because
``CHECK(status)`` may well mean that the status is zero.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from analyzers.hostguide.source import blanked

_ASSERTION = re.compile(
    r"^(?:[A-Z]\w*_)?(?:ASSERT|ASSERTM|CHECK|ICHECK|DCHECK|REQUIRE|REQUIRES|ENFORCE|EXPECTS|VERIFY|Assert)"
    r"(?:_(?P<operator>EQ|NE|LT|LE|GT|GE))?$"
)
_STATEMENT = re.compile(r"^\s*(?P<name>[A-Za-z_]\w*)\s*\((?P<rest>.*)$", re.DOTALL)
_OPERATORS = {"EQ": "==", "NE": "!=", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}
_COMPARES = re.compile(r"==|!=|<=|>=|&&|\|\||(?<![<-])<(?!<)|(?<![>-])>(?!>)|!")


@dataclass(frozen=True, slots=True)
class LostCode:
    """Code that clang could not read: the names in it, and where it stands."""

    words: frozenset[str]
    path: str
    start: int
    end: int


def is_assertion(name: str) -> bool:
    """Whether a macro of this name takes one condition that holds behind it, by its name."""
    match = _ASSERTION.match(name)
    return match is not None and match.group("operator") is None


def asserted(statement: bytes) -> str | None:
    """The condition that a lost statement asserts, None when it is no assertion."""
    text = blanked(statement).decode("utf-8", "replace")
    match = _STATEMENT.match(text)
    if match is None:
        return None
    kind = _ASSERTION.match(match.group("name"))
    if kind is None:
        return None
    arguments, after = _arguments(match.group("rest"))
    if arguments is None or not (after.strip(" \t\r\n;") == "" or after.lstrip().startswith("<<")):
        return None
    operator = kind.group("operator")
    if operator is not None:
        return f"({arguments[0]}) {_OPERATORS[operator]} ({arguments[1]})" if len(arguments) >= 2 else None
    return arguments[0].strip() if _COMPARES.search(arguments[0]) else None


def _arguments(rest: str) -> tuple[list[str] | None, str]:
    """Arguments up to the closing bracket, and what follows it."""
    depth, start = 0, 0
    found: list[str] = []
    for at, sign in enumerate(rest):
        if sign in "([{":
            depth += 1
        elif sign in ")]}":
            if depth == 0:
                found.append(rest[start:at])
                return found, rest[at + 1 :]
            depth -= 1
        elif sign == "," and depth == 0:
            found.append(rest[start:at])
            start = at + 1
    return None, ""


def statements_in(text: bytes, start: int, end: int) -> list[tuple[int, int]]:
    """Ranges of the statements in a stretch of lost code, split at semicolons outside of brackets."""
    plain = blanked(text[start:end])
    depth, begin = 0, 0
    found: list[tuple[int, int]] = []
    for at, sign in enumerate(plain):
        if sign in b"([{":
            depth += 1
        elif sign in b")]}":
            depth -= 1
        elif sign == 0x3B and depth == 0:
            found.append((start + begin, start + at + 1))
            begin = at + 1
    if plain[begin:].strip():
        found.append((start + begin, end))
    return [(a, b) for a, b in found if plain[a - start : b - start].strip(b"; \t\r\n")]


def in_scope(text: bytes, declared_at: int, at: int) -> bool:
    """Whether a local variable declared at one offset is still in scope at a later one, judged by brackets alone."""
    braces = brackets = 0
    for sign in blanked(text[declared_at:at]):
        if sign == 0x7B:
            braces += 1
        elif sign == 0x7D:
            braces -= 1
        elif sign == 0x28:
            brackets += 1
        elif sign == 0x29:
            brackets -= 1
        if braces < 0 or brackets < 0:
            return False
    return declared_at < at
