"""What a text declares outside of functions, and what a function is made of by all that it names.

Takes texts in which preprocessor conditionals may cut the code, and words. Names are looked up as words, without
scopes: what is found may be too much.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from analyzers.frontend.blanking import blanked, without_comments
from quickfix.directives import Conditional, conditionals
from quickfix.naming import definitions

INCLUDED: Final = b"#include"
"""The name of what the project's headers define."""
_OPERATOR: Final = b"operator"
"""The name of all operators: where they are used they have none."""
_WORD: Final = re.compile(rb"[A-Za-z_]\w*")
_DECLARATOR: Final = re.compile(
    rb"\benum\b[^{};()]*\{|(?P<operator>\boperator\b)|(?P<name>\b[A-Za-z_]\w*)(?=\s*(?:[(\[{};=,:<]|final\b))"
    rb"|(?P<open>[({])|(?P<close>[)}])"
)
"""The head of an enumeration; what may be a name that is declared, by what is behind it."""
_BUILT_IN: Final = frozenset(
    b"bool char short int long float double unsigned signed void auto const alignas decltype extern struct class enum "
    b"union template typename static __launch_bounds__ __attribute__ __align__ __declspec public private "
    b"protected final".split()
)
_INCLUDE: Final = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*(?:"|(?P<name>[A-Za-z_]\w*))', re.MULTILINE)
_MARK: Final = re.compile(rb"[(){};]")
_TRANSPARENT: Final = re.compile(rb'(?:\bnamespace\b[\w:\s]*|\bextern\s*"_*"\s*)\Z')
"""What stands in front of a brace in which declarations are as outside of it."""
_FUNCTION: Final = re.compile(rb"\)\s*(?:(?:const|noexcept|override|final)\s*|->[\s\w:<>,*&]*)*\Z")
"""What stands in front of the body of a function."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """One outside of functions, with its body: a function, a type, a number; or the definition of a macro."""

    start: int
    end: int
    names: frozenset[bytes]
    words: frozenset[bytes]


def named_by(texts: Iterable[bytes], words: Iterable[bytes]) -> set[bytes]:
    """The words, and those of what is declared by them, and so on."""
    left = [d for text in texts for d in declarations(text)]
    said, before = {*words, INCLUDED, _OPERATOR}, -1
    while len(said) > before:
        before = len(said)
        for each in left:
            if not said.isdisjoint(each.names):
                said |= each.words
        left = [d for d in left if said.isdisjoint(d.names)]
    return said


def words_in(text: bytes, start: int, end: int) -> set[bytes]:
    """The words of the code in a part of the text, in whichever branches of conditionals."""
    return set(_WORD.findall(_code(text), start, end))


def declared_in(text: bytes, start: int, end: int) -> Iterator[bytes]:
    """The functions, types, numbers and macros that are declared in a part of the text, outside of all braces and
    parentheses that open there; as often as they are."""
    yield from (name for name, at, _ in definitions(text) if start <= at < end)
    yield from (INCLUDED for _ in _INCLUDE.finditer(text, start, end))
    depth = 0
    for match in _DECLARATOR.finditer(blanked(text), start, end):
        if not depth and match["operator"]:
            yield _OPERATOR
        elif not depth and match["name"] and match["name"] not in _BUILT_IN:
            yield match["name"]
        depth = depth + 1 if match["open"] else max(depth - 1, 0) if match["close"] else depth


@lru_cache(maxsize=16)
def declarations(text: bytes) -> tuple[Declaration, ...]:
    """All, in whichever branches of conditionals."""
    found = [
        Declaration(start, end, frozenset((name,)), frozenset(words_in(text, start, end)))
        for name, start, end in definitions(text)
    ]
    found += [
        Declaration(m.start(), m.end(), frozenset((INCLUDED,)), frozenset((m["name"],)))
        for m in _INCLUDE.finditer(text)
        if m["name"]
    ]
    code = blanked(text)
    for start, end in _extents(text):
        names = frozenset(declared_in(text, start, end))
        found.append(Declaration(start, end, names, frozenset(_WORD.findall(code, start, end))))
    return tuple(found)


def up_to(text: bytes, declaration: Declaration, words: Collection[bytes]) -> tuple[int, int]:
    """The part of a function in which the last of these words stands, with the whole of the statement of its body that
    this is in: what follows does not come before it again."""
    start, end = declaration.start, declaration.end
    code = blanked(text)
    last = max((m.start() for m in _WORD.finditer(code, start, end) if m[0] in words), default=end)
    if any(_is_torn(code, each) for each in conditionals(text) if start < each.end < end):
        return start, end
    depth = code.count(b"{", start, last) - code.count(b"}", start, last)
    for mark in re.compile(rb"[{};]").finditer(code, last, end):
        if depth == 1 and mark[0] == b";":
            return start, mark.end()
        depth += 1 if mark[0] == b"{" else -1 if mark[0] == b"}" else 0
        if depth == 1 and mark[0] == b"}":
            return start, mark.end()
    return start, end


def _is_torn(code: bytes, conditional: Conditional) -> bool:
    """Whether a branch opens braces that it does not close, or the other way round."""
    parts = pairwise(conditional.directives)
    return any(code.count(b"{", *part) != code.count(b"}", *part) for part in parts)


@lru_cache(maxsize=16)
def _code(text: bytes) -> bytes:
    return without_comments(text)


def _extents(text: bytes) -> Iterator[tuple[int, int]]:
    """Where declarations begin and end. Where several branches of a conditional open braces, those of the first one
    count."""
    code = blanked(text)
    depth, begin, opener = 0, 0, 0
    cut: list[tuple[int, int | None]] = []
    for at, mark in _marks(text, code):
        if mark == "if":
            cut.append((depth, None))
        elif mark in ("else", "endif"):
            before, first = cut.pop()
            first = depth if first is None else first
            depth = first if mark == "endif" else before
            if mark == "else":
                cut.append((before, first))
        elif mark in "({":
            if depth == 0 and mark == "{" and _TRANSPARENT.search(code, begin, at):
                begin = at + 1
                continue
            opener = at if depth == 0 else opener
            depth += 1
        else:
            ends = depth == 0 if mark in ";}" else False
            if mark in ")}":
                ends = ends or (mark == "}" and depth == 1 and _FUNCTION.search(code, begin, opener) is not None)
                depth = max(depth - 1, 0)
            if ends:
                yield from _trimmed(code, begin, at + 1)
                begin = at + 1
    yield from _trimmed(code, begin, len(code))


def _trimmed(code: bytes, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Without blanks in front, if there is anything."""
    visible = len(code[begin:end].lstrip())
    if visible:
        yield end - visible, end


def _marks(text: bytes, code: bytes) -> list[tuple[int, str]]:
    """Brackets, semicolons and directives, in order."""
    found = [(m.start(), m[0].decode()) for m in _MARK.finditer(code)]
    for each in conditionals(text):
        start, *others = (b.start for b in each.branches)
        found += [(start, "if"), *((at, "else") for at in others), (each.end, "endif")]
    return sorted(found)
