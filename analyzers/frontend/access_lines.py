"""Accesses on lines of their own.

Compilers tell of an instruction from which line of which file it comes. Here every access gets a line, between
``#line`` directives, in a file whose name says which access it is (`analyzers.model.marked_path`); columns are kept by
blanks. Of accesses that are written inside of each other the name has them all: a compiler gives the outer one the
place of what it computed last."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from analyzers.frontend.blanking import blanked, group_end, next_visible
from analyzers.model import Mark, SourceSpan, marked_path

_BRACKET: Final = re.compile(rb"[(\[{)\]}]")
_WORD_END: Final = re.compile(rb"\w")


@dataclass(frozen=True, slots=True)
class _Written:
    """An access, from its first byte to behind its last."""

    start: int
    end: int
    mark: Mark


class AccessLines:
    """The accesses in one file, the text of which is given."""

    def __init__(self, path: str, text: bytes, spans: Iterable[SourceSpan]) -> None:
        self._path = path
        self._text = text
        self._changes = list(self._around(_nested(text, spans)))

    @property
    def marks(self) -> frozenset[Mark]:
        """Of the accesses that get a line."""
        return frozenset(marks[0] for _, marks in self._changes if marks)

    def between(self, start: int, end: int) -> bytes:
        """The text from one offset to another, with its accesses on lines of their own."""
        out: list[bytes] = []
        at = start
        for offset, marks in self._changes:
            if start <= offset <= end:
                out += [self._text[at:offset], b"\n", self._position(offset, marks)]
                at = offset
        return b"".join((*out, self._text[at:end]))

    def _around(self, accesses: Iterable[_Written]) -> Iterator[tuple[int, tuple[Mark, ...]]]:
        """Offsets from which on the code belongs to these accesses, innermost first."""
        stack: list[_Written] = []

        def closed(before: int) -> Iterator[tuple[int, tuple[Mark, ...]]]:
            while stack and stack[-1].end <= before:
                end = stack.pop().end
                if not stack or stack[-1].end > end:
                    yield end, tuple(one.mark for one in reversed(stack))

        for access in accesses:
            yield from closed(access.start)
            stack.append(access)
            yield access.start, tuple(one.mark for one in reversed(stack))
        yield from closed(len(self._text))

    def _position(self, offset: int, marks: tuple[Mark, ...]) -> bytes:
        line = self._text.count(b"\n", 0, offset) + 1
        return line_directive(line, marked_path(self._path, marks)) + b" " * (
            offset - self._text.rfind(b"\n", 0, offset) - 1
        )


def line_directive(number: int, path: str) -> bytes:
    """That the next line is this one of this file."""
    quoted = path.replace("\\", "\\\\").replace('"', '\\"')
    return b'#line %d "%s"\n' % (number, quoted.encode("utf-8", "surrogateescape"))


def _nested(text: bytes, spans: Iterable[SourceSpan]) -> list[_Written]:
    """Outer ones first; without those that overlap others but are in none, and those that would cut the use of a macro
    in two, because they begin among its arguments or end in front of them."""
    found: list[_Written] = []
    stack: list[_Written] = []
    for span in sorted(set(spans), key=lambda s: (s.start_offset, -s.end_offset)):
        access = _Written(span.start_offset, span.end_offset, span.mark)
        while stack and stack[-1].end <= access.start:
            stack.pop()
        if access.end <= access.start or (stack and access.end > stack[-1].end):
            continue
        following = next_visible(text, access.end)
        is_cut = _WORD_END.match(text, access.end - 1) and text[following : following + 1] == b"("
        if is_cut or not _is_balanced(text[access.start : access.end]):
            continue
        stack.append(access)
        found.append(access)
    return found


def _is_balanced(piece: bytes) -> bool:
    """Whether every bracket has its partner."""
    code = blanked(piece)
    at = 0
    while (opened := _BRACKET.search(code, at)) is not None:
        at = group_end(code, opened.start())
        if opened[0] in b")]}" or code[at - 1] not in b")]}":
            return False
    return True
