"""Which functions a text defines, and where: an outline by brackets and words, nothing preprocessed or parsed.

Meant for searches over many files, most of which are never parsed. Where macros or conditions upset the brackets, names
may be missing or wrong: what is built on this may be incomplete, and has to say so by other means.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from analyzers.frontend.lexical import code_text


@dataclass(frozen=True, slots=True)
class OutlinedFunction:
    """A function definition, or a macro that may hold code; offsets in bytes."""

    name: str
    """Without scopes and template arguments."""
    start: int
    """Of the head, behind whatever stands before it."""
    end: int
    internal: bool
    """Only its own file can call it by name."""


class Outline:
    """The functions and macros of one text."""

    def __init__(self, text: str) -> None:
        code = code_text(text)
        found = list(_functions(code.code, 0, len(code.code), inside_class=False, internal=False))
        for body in code.macros:
            name = _MACRO.match(body.text)
            if name is not None:
                found.append(OutlinedFunction(name[1], body.offset, body.offset + len(body.text), internal=False))
        self.functions = tuple(sorted(found, key=lambda f: f.start))
        self.defined = frozenset(f.name for f in self.functions)
        self._starts = [f.start for f in self.functions]

    def around(self, offset: int) -> OutlinedFunction | None:
        """The function or macro whose head or body holds a byte."""
        at = bisect_right(self._starts, offset) - 1
        return self.functions[at] if at >= 0 and offset < self.functions[at].end else None


_MACRO: Final = re.compile(r"#\s*define\s+(\w+)")
_BRACE: Final = re.compile(r"[{};]")
_NAME: Final = re.compile(r"(operator\s*(?:\(\s*\)|[^\s\w(]+)|~?[A-Za-z_]\w*)\s*(?:<[^()]*>\s*)?\(")
_NO_NAME: Final = frozenset(
    {
        "__launch_bounds__", "__attribute__", "__declspec", "__cluster_dims__", "__maxnreg__", "alignas", "decltype",
        "noexcept", "requires", "explicit", "if", "for", "while", "switch", "catch", "sizeof", "__align__",
    }
)  # fmt: skip
_CLASS: Final = re.compile(r"\b(?:class|struct|union)\b")
_TEMPLATE: Final = re.compile(r"^\s*template\s*<")


def _functions(code: str, start: int, end: int, *, inside_class: bool, internal: bool) -> Iterator[OutlinedFunction]:
    """The functions of one scope between two offsets."""
    head = start
    position = start
    while (match := _BRACE.search(code, position, end)) is not None:
        position = match.end()
        if match.group() != "{":
            head = position
            continue
        closed = _closing(code, match.start(), end)
        text = _without_template(code[head : match.start()])
        inner = (match.end(), closed)
        if re.search(r"\bnamespace\b", text) and "(" not in text:
            unnamed = text.split() == ["namespace"]
            yield from _functions(code, *inner, inside_class=False, internal=internal or unnamed)
        elif text.rstrip().endswith('"') and "extern" in text:
            yield from _functions(code, *inner, inside_class=False, internal=internal)
        elif (name := _name(text)) is not None:
            own = internal or (not inside_class and re.search(r"\bstatic\b", text) is not None)
            yield OutlinedFunction(name, head + _blanks(code[head:]), closed, own)
        elif _CLASS.search(text):
            yield from _functions(code, *inner, inside_class=True, internal=internal)
        head = position = closed


def _closing(code: str, opened: int, end: int) -> int:
    """Behind the brace that closes the one at an offset; the end where none does."""
    depth = 0
    for match in re.compile(r"[{}]").finditer(code, opened, end):
        depth += 1 if match.group() == "{" else -1
        if depth == 0:
            return match.end()
    return end


def _without_template(head: str) -> str:
    """The head of a declaration without its `template <…>`."""
    while (match := _TEMPLATE.match(head)) is not None:
        depth, brackets, at = 1, 0, match.end()
        while at < len(head) and depth:
            brackets += {"(": 1, ")": -1}.get(head[at], 0)
            depth += {"<": 1, ">": -1}.get(head[at], 0) if not brackets else 0
            at += 1
        head = head[at:]
    return head


def _name(head: str) -> str | None:
    """What a head names when it is one of a function."""
    if "=" in head.partition("(")[0]:
        return None
    for match in _NAME.finditer(head):
        if match[1] not in _NO_NAME:
            return re.sub(r"\s", "", match[1])
    return None


def _blanks(text: str) -> int:
    return len(text) - len(text.lstrip())
