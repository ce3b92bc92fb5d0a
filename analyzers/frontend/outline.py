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
    scope: str = ""
    """The class or namespace right around it, as far as the text says."""
    parameters: int | None = None
    """How many it has; None for a macro and where there may be any number."""


class Outline:
    """The functions and macros of one text."""

    def __init__(self, text: str) -> None:
        code = code_text(text)
        found = list(_functions(code.code))
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
_NAME: Final = re.compile(r"(operator\s*(?:\(\s*\)|[^\s\w(]+)|~?[A-Za-z_]\w*)\s*(?:<[^()]{0,200}>\s*)?\(")
_SCOPE: Final = re.compile(r"([A-Za-z_]\w*)\s*(?:<[^<>()]{0,200}>\s*)?::\s*\Z")
_SCOPE_REACH: Final = 250
_SPACE: Final = re.compile(r"\s*")
_NO_NAME: Final = frozenset(
    {
        "__launch_bounds__", "__attribute__", "__declspec", "__cluster_dims__", "__maxnreg__", "alignas", "decltype",
        "noexcept", "requires", "explicit", "if", "for", "while", "switch", "catch", "sizeof", "__align__",
    }
)  # fmt: skip
_CLASS: Final = re.compile(r"\b(?:class|struct|union)\b")
_CLASS_NAME: Final = re.compile(r"([A-Za-z_]\w*)\s*(?:<[^{}]*>\s*)?(?:final\s*)?(?::[^{}]*)?\Z")
_TEMPLATE: Final = re.compile(r"^\s*template\s*<")


@dataclass(slots=True)
class _Scope:
    end: int
    name: str
    inside_class: bool
    internal: bool


def _functions(code: str) -> Iterator[OutlinedFunction]:
    """The functions of a text, in one pass over its brackets."""
    closing = _closing(code)
    scopes = [_Scope(len(code), "", inside_class=False, internal=False)]
    head = position = 0
    while True:
        scope = scopes[-1]
        match = _BRACE.search(code, position, scope.end)
        if match is None:
            if len(scopes) == 1:
                return
            head = position = scopes.pop().end
            continue
        position = match.end()
        if match.group() != "{":
            head = position
            continue
        closed = min(closing.get(match.start(), len(code)), scope.end)
        written = code[head : match.start()]
        text = _without_template(written)
        if re.search(r"\bnamespace\b", text) and "(" not in text:
            names = text.split("namespace")[-1].replace("::", " ").split()
            unnamed = text.split() == ["namespace"]
            scopes.append(
                _Scope(closed, names[-1] if names else "", inside_class=False, internal=scope.internal or unnamed)
            )
        elif text.rstrip().endswith('"') and "extern" in text:
            scopes.append(_Scope(closed, scope.name, inside_class=False, internal=scope.internal))
        elif (found := _name(text)) is not None:
            own = scope.internal or (not scope.inside_class and re.search(r"\bstatic\b", text) is not None)
            spaces = _SPACE.match(code, head)
            start = spaces.end() if spaces is not None else head
            within = _SCOPE.search(text, max(0, found.start() - _SCOPE_REACH), found.start())
            yield OutlinedFunction(
                re.sub(r"\s", "", found[1]), start, closed, own,
                within[1] if within is not None else scope.name, _parameters(text, found.end()),
            )  # fmt: skip
            head = position = closed
        elif _CLASS.search(text):
            named = _CLASS_NAME.search(text)
            scopes.append(
                _Scope(closed, named[1] if named is not None else "", inside_class=True, internal=scope.internal)
            )
        else:
            head = position = closed
        if scopes[-1] is not scope:
            head = position


def _closing(code: str) -> dict[int, int]:
    """For each brace that opens, what is behind the one that closes it; those that none closes are absent."""
    found: dict[int, int] = {}
    opened: list[int] = []
    for match in re.compile(r"[{}]").finditer(code):
        if match.group() == "{":
            opened.append(match.start())
        elif opened:
            found[opened.pop()] = match.end()
    return found


def _parameters(head: str, start: int) -> int | None:
    """How many parameters stand behind an opened parenthesis."""
    depth, count, at = 1, 1, start
    while at < len(head) and depth:
        sign = head[at]
        depth += (sign in "([{<") - (sign in ")]}>")
        count += sign == "," and depth == 1
        at += 1
    inside = head[start : at - 1].strip()
    if "..." in inside:
        return None
    return 0 if inside in ("", "void") else count


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


def _name(head: str) -> re.Match[str] | None:
    """Where a head names what it defines, when it is one of a function."""
    if "=" in head.partition("(")[0]:
        return None
    return next((match for match in _NAME.finditer(head) if match[1] not in _NO_NAME), None)
