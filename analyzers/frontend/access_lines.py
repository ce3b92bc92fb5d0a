"""Accesses on lines of their own.

Compilers tell of an instruction from which line of which file it comes. Here every access gets a line, between
``#line`` directives, in a file whose name says which access it is (`analyzers.model.marked_path`); columns are kept by
blanks. Of accesses that are written inside of each other the name has them all: a compiler gives the outer one the
place of what it computed last. For the same reason what is assigned belongs to the write, too: that of a structure has
the place of the value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from analyzers.frontend.blanking import blanked, group_end, next_visible
from analyzers.model import Mark, MarkedAccess, SourceSpan, marked_path

_BRACKET: Final = re.compile(rb"[(\[{)\]}]")
_WORD_END: Final = re.compile(rb"\w")
_ASSIGNS: Final = re.compile(rb"\s*((?:[-+*/%&|^]|<<|>>)?=(?!=))")
_STOPS: Final = re.compile(rb"[(\[{)\]};,]")


@dataclass(frozen=True, slots=True)
class _Written:
    """An access, from its first byte to behind its last, or what is assigned to it."""

    start: int
    end: int
    access: MarkedAccess


class AccessLines:
    """The accesses in one file, the text of which is given."""

    def __init__(
        self,
        path: str,
        text: bytes,
        spans: Mapping[SourceSpan, str],
        insertions: Mapping[int, bytes] | None = None,
    ) -> None:
        """`spans`: with what is done there (`MarkedAccess.does`). `insertions`: what else to put in front of the text
        at some offsets, none of them inside of an access."""
        self._path = path
        self._text = text
        changes = [(offset, (), inserted) for offset, inserted in (insertions or {}).items()]
        changes += [(offset, accesses, b"") for offset, accesses in self._around(_nested(text, spans))]
        self._changes = sorted(changes, key=lambda change: change[0])

    @property
    def marks(self) -> frozenset[Mark]:
        """Of the accesses that get a line."""
        return frozenset(accesses[0].mark for _, accesses, _ in self._changes if accesses)

    def between(self, start: int, end: int) -> bytes:
        """The text from one offset to another, with its accesses on lines of their own."""
        out: list[bytes] = []
        at = start
        for offset, accesses, inserted in self._changes:
            if start <= offset <= end:
                new = [inserted, b"\n"] if inserted else []
                out += [self._text[at:offset], b"\n", *new, self._position(offset, accesses)]
                at = offset
        return b"".join((*out, self._text[at:end]))

    def _around(self, accesses: Iterable[_Written]) -> Iterator[tuple[int, tuple[MarkedAccess, ...]]]:
        """Offsets from which on the code belongs to these accesses, innermost first."""
        stack: list[_Written] = []

        def closed(before: int) -> Iterator[tuple[int, tuple[MarkedAccess, ...]]]:
            while stack and stack[-1].end <= before:
                end = stack.pop().end
                if not stack or stack[-1].end > end:
                    yield end, tuple(one.access for one in reversed(stack))

        for access in accesses:
            yield from closed(access.start)
            stack.append(access)
            yield access.start, tuple(one.access for one in reversed(stack))
        yield from closed(len(self._text))

    def _position(self, offset: int, accesses: tuple[MarkedAccess, ...]) -> bytes:
        line = self._text.count(b"\n", 0, offset) + 1
        return line_directive(line, marked_path(self._path, accesses)) + b" " * (
            offset - self._text.rfind(b"\n", 0, offset) - 1
        )


def line_directive(number: int, path: str) -> bytes:
    """That the next line is this one of this file."""
    quoted = path.replace("\\", "\\\\").replace('"', '\\"')
    return b'#line %d "%s"\n' % (number, quoted.encode("utf-8", "surrogateescape"))


def _nested(text: bytes, spans: Mapping[SourceSpan, str]) -> list[_Written]:
    """Outer ones first; without those that overlap others but are in none, and those that would cut the use of a macro
    in two, because they begin among its arguments or end in front of them."""
    found: list[_Written] = []
    stack: list[_Written] = []
    written = [_Written(s.start_offset, s.end_offset, MarkedAccess(s.mark, does)) for s, does in spans.items()]
    code = blanked(text)
    written += [value for one in written if "w" in one.access.does and (value := _value(code, one)) is not None]
    for access in sorted(written, key=lambda one: (one.start, -one.end)):
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


def _value(code: bytes, write: _Written) -> _Written | None:
    """What is assigned to it, with the operator. `code`: the text without comments and strings."""
    operator = _ASSIGNS.match(code, write.end)
    if operator is None:
        return None
    at = operator.end()
    while (stop := _STOPS.search(code, at)) is not None and stop[0] in b"([{":
        at = group_end(code, stop.start())
    return _Written(operator.start(1), stop.start(), write.access) if stop is not None else None


def _is_balanced(piece: bytes) -> bool:
    """Whether every bracket has its partner."""
    code = blanked(piece)
    at = 0
    while (opened := _BRACKET.search(code, at)) is not None:
        at = group_end(code, opened.start())
        if opened[0] in b")]}" or code[at - 1] not in b")]}":
            return False
    return True
