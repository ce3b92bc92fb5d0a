"""Positions in text: libclang's UTF-8 bytes on one side, the client's position encoding on the other.

Takes a text and gives a `LineIndex` of it, which converts byte offsets and `SourceSpan`s to LSP positions and back.
This is the only module that converts. Lines end at LF, CRLF or CR, as both LSP and clang count them. Positions beyond
the end of a line or of the text are clamped, as LSP asks.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from enum import Enum
from itertools import accumulate

from lsprotocol import types

from analyzers.model import SourceSpan

_LINE_END = re.compile(r"\r\n|\n|\r")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class Encoding(str, Enum):
    """In which units a client counts the columns of a line."""

    UTF8 = "utf-8"
    UTF16 = "utf-16"
    UTF32 = "utf-32"


def negotiated(offered: Iterable[str] | None) -> Encoding:
    """The first encoding of the client's list that we know; UTF-16, which every client must speak, without one."""
    for name in offered or ():
        for encoding in Encoding:
            if name == encoding.value:
                return encoding
    return Encoding.UTF16


def well_formed(text: str) -> str:
    """The text with lone surrogates, which have no UTF-8 form, replaced by U+FFFD, of the same width everywhere."""
    return text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text)


def _lines(text: str) -> tuple[list[int], list[int]]:
    """Where the lines start and where they end."""
    if "\r" not in text:
        # Four times as fast: this is done after every change of a document.
        starts = list(accumulate((len(line) + 1 for line in text.split("\n")), initial=0))
        return starts[:-1], [start - 1 for start in starts[1:]]
    starts, ends = [0], list[int]()
    for match in _LINE_END.finditer(text):
        ends.append(match.start())
        starts.append(match.end())
    return starts, [*ends, len(text)]


class LineIndex:
    """Where the lines of one well-formed text start; converts positions in it."""

    __slots__ = ("_ascii", "_byte_starts", "_ends", "_starts", "byte_length", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._ascii = text.isascii()
        self._starts, self._ends = _lines(text)
        if self._ascii:
            self._byte_starts = self._starts
            self.byte_length = len(text)
        else:
            following = [*self._starts[1:], len(text)]
            sizes = (len(text[start:end].encode()) for start, end in zip(self._starts, following, strict=True))
            *self._byte_starts, self.byte_length = accumulate(sizes, initial=0)

    @property
    def line_count(self) -> int:
        return len(self._starts)

    @property
    def line_end(self) -> str:
        """How the first line ends, and new ones should."""
        first = self.text.find("\n")
        return "\r\n" if first > 0 and self.text[first - 1] == "\r" else "\n"

    def line(self, number: int) -> str:
        """The text of a 0-based line without its end; empty beyond the last."""
        return self.text[self._starts[number] : self._ends[number]] if 0 <= number < len(self._starts) else ""

    def byte_offset(self, position: types.Position, encoding: Encoding) -> int:
        """The 0-based UTF-8 byte offset of a client's position."""
        if position.line >= len(self._starts):
            return self.byte_length
        line = max(position.line, 0)
        return self._byte_starts[line] + self._bytes_before(line, max(position.character, 0), encoding)

    def text_offset(self, position: types.Position, encoding: Encoding) -> int:
        """The index into `text` of a client's position."""
        if position.line >= len(self._starts):
            return len(self.text)
        line, character = max(position.line, 0), max(position.character, 0)
        content = self.line(line)
        if encoding is Encoding.UTF32 or content.isascii():
            return self._starts[line] + min(character, len(content))
        return self._starts[line] + len(content.encode()[: self._bytes_before(line, character, encoding)].decode())

    def position(self, byte_offset: int, encoding: Encoding) -> types.Position:
        """The client's position of a UTF-8 byte offset; inside a character or a line end, where that starts."""
        offset = min(max(byte_offset, 0), self.byte_length)
        line = bisect_right(self._byte_starts, offset) - 1
        return types.Position(line, self._units(line, offset - self._byte_starts[line], encoding))

    def range(self, start: int, end: int, encoding: Encoding) -> types.Range:
        """The client's range between two UTF-8 byte offsets."""
        return types.Range(self.position(start, encoding), self.position(end, encoding))

    def span(self, path: str, start: int, end: int) -> SourceSpan:
        """The span between two UTF-8 byte offsets of this very text."""
        (line, column), (end_line, end_column) = self._place(start), self._place(end)
        return SourceSpan(path, line, column, end_line, end_column, start, end)

    def _place(self, byte_offset: int) -> tuple[int, int]:
        """Line and byte column, both 1-based."""
        offset = min(max(byte_offset, 0), self.byte_length)
        line = bisect_right(self._byte_starts, offset) - 1
        return line + 1, offset - self._byte_starts[line] + 1

    def span_range(self, span: SourceSpan, encoding: Encoding) -> types.Range:
        """The client's range of a span of this very text, from its lines and columns."""
        return types.Range(
            self._at(span.start_line, span.start_column, encoding), self._at(span.end_line, span.end_column, encoding)
        )

    def _at(self, line: int, column: int, encoding: Encoding) -> types.Position:
        number = min(max(line - 1, 0), len(self._starts) - 1)
        return types.Position(number, self._units(number, max(column - 1, 0), encoding))

    def _units(self, line: int, byte_column: int, encoding: Encoding) -> int:
        """Client units before a byte column of a line."""
        content = self.line(line)
        if self._ascii or content.isascii():
            return min(byte_column, len(content))
        before = content.encode()[:byte_column].decode("utf-8", "ignore")
        if encoding is Encoding.UTF8:
            return len(before.encode())
        return len(before) if encoding is Encoding.UTF32 else _utf16_length(before)

    def _bytes_before(self, line: int, character: int, encoding: Encoding) -> int:
        """Bytes before a client column of a line; inside a character, where that starts."""
        content = self.line(line)
        if self._ascii or content.isascii():
            return min(character, len(content))
        if encoding is Encoding.UTF8:
            return len(content.encode()[:character].decode("utf-8", "ignore").encode())
        if encoding is Encoding.UTF32:
            return len(content[:character].encode())
        units = content.encode("utf-16-le")[: 2 * character]
        return len(units.decode("utf-16-le", "ignore").encode())


def _utf16_length(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def unchecked_range(span: SourceSpan) -> types.Range:
    """The range of a span in a file whose text is not at hand: right in every encoding where the lines are ASCII."""
    return types.Range(
        types.Position(max(span.start_line - 1, 0), max(span.start_column - 1, 0)),
        types.Position(max(span.end_line - 1, 0), max(span.end_column - 1, 0)),
    )
