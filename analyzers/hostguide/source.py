"""The text behind a program: slices as the user wrote them, and the places where clang lost code.

Takes host passes and their diagnostics. A statement that names something unknown is deleted by clang without a trace in
the tree, so every function with an error in it needs a look at its text too.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from analyzers.frontend import cindex
from analyzers.frontend.cindex import Cursor, TranslationUnit

_LINE = 120
_BLANK = re.compile(rb"\s+")
_TOKEN = re.compile(
    rb"""(?P<skip>\s+|//(?:[^\n\\]|\\.)*|/\*.*?(?:\*/|\Z)
        |(?:u8|u|U|L)?R"(?P<raw>[^()\\\s]{0,16})\(.*?\)(?P=raw)"
        |(?:u8|u|U|L)?"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?)
    |(?P<word>[A-Za-z_]\w*)|(?P<number>\d(?:'?\w)*)|(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)


class SourceTexts:
    """Texts of the files of some translation units, fetched when first asked for."""

    def __init__(self, units: Sequence[TranslationUnit], errors: Iterable[tuple[str, int]] = ()) -> None:
        """``errors``: (path, offset) of compile errors. A file that several units read is taken from the first."""
        self._units = units
        self._texts: dict[str, bytes] = {}
        self._errors: dict[str, list[int]] = {}
        for path, offset in errors:
            self._errors.setdefault(path, []).append(offset)
        for offsets in self._errors.values():
            offsets.sort()

    @property
    def has_errors(self) -> bool:
        return bool(self._errors)

    def text(self, path: str) -> bytes:
        found = self._texts.get(path)
        if found is None:
            contents = (cindex.file_contents(unit, path) for unit in self._units)
            found = self._texts[path] = next(filter(None, contents), b"")
        return found

    def error_in(self, path: str, start: int, end: int) -> bool:
        """Whether a compile error is located in these bytes."""
        offsets = self._errors.get(path)
        if not offsets:
            return False
        at = bisect_left(offsets, start)
        return at < len(offsets) and offsets[at] <= end

    def is_broken(self, cursor: Cursor) -> bool:
        if not self._errors:
            return False
        path, start, end = extent(cursor)
        return self.error_in(path, start, end)

    def slice(self, path: str, start: int, end: int) -> str:
        """The text as written, on one line and cut to a readable length."""
        raw = _BLANK.sub(b" ", self.text(path)[start:end]).strip().decode("utf-8", "replace")
        return raw if len(raw) <= _LINE else raw[: _LINE - 1] + "…"

    def words(self, path: str, start: int, end: int) -> frozenset[str]:
        """Identifiers in these bytes, comments and literals left out."""
        return words_of(self.text(path)[start:end])


def words_of(text: bytes) -> frozenset[str]:
    return frozenset(m.group("word").decode() for m in _TOKEN.finditer(text) if m.lastgroup == "word")


def word_places(text: bytes) -> Iterable[tuple[str, int]]:
    """(identifier, offset) outside of comments and literals."""
    for match in _TOKEN.finditer(text):
        if match.lastgroup == "word":
            yield match.group().decode(), match.start()


def punctuation(text: bytes, start: int) -> Iterator[tuple[str, int]]:
    """(character, offset) of everything that is no word, blank, comment or literal, from ``start`` on."""
    for match in _TOKEN.finditer(text, start):
        if match.lastgroup == "other":
            yield match.group().decode("latin-1"), match.start()


_COMMENTS_AND_STRINGS = rb"""//(?:[^\n\\]|\\.)*|/\*.*?(?:\*/|\Z)|"(?:[^"\\\n]|\\.)*"?"""
_CHARACTERS = rb"""'(?:[^'\\\n]|\\.)*'?"""
_SILENT = re.compile(_COMMENTS_AND_STRINGS + rb"|" + _CHARACTERS, re.DOTALL)
_SILENT_WITH_RAW = re.compile(
    rb"""\b(?:u8|u|U|L)?R"(?P<raw>[^()\\\s]{0,16})\(.*?\)(?P=raw)"|(?P<number>\b\d(?:'?\w)*)|"""
    + _COMMENTS_AND_STRINGS
    + rb"|"
    + _CHARACTERS,
    re.DOTALL,
)
_UNUSUAL = re.compile(rb"""\w'\w|R\"""")
"""Where quotes may be separators of digits, or those of a raw string."""
_NOT_NEWLINE = re.compile(rb"[^\n]")


@lru_cache(maxsize=256)
def blanked(text: bytes) -> bytes:
    """The text with comments and literals replaced by blanks; offsets and lines stay."""
    pattern = _SILENT_WITH_RAW if _UNUSUAL.search(text) is not None else _SILENT
    return pattern.sub(_blank, text)


def _blank(match: re.Match[bytes]) -> bytes:
    return match.group() if match.lastgroup == "number" else _NOT_NEWLINE.sub(b" ", match.group())


def closing(text: bytes, start: int) -> int:
    """After the bracket that closes the first round one from ``start`` on; ``start`` where none follows at once."""
    depth = 0
    for sign, at in punctuation(text, start):
        if sign == "(":
            depth += 1
        elif sign == ")":
            depth -= 1
            if depth == 0:
                return at + 1
        elif depth == 0:
            return start
    return start


def has_code(text: bytes) -> bool:
    """Whether anything but blanks, comments and semicolons is there."""
    return any(m.lastgroup != "skip" and m.group() != b";" for m in _TOKEN.finditer(text))


def extent(cursor: Cursor) -> tuple[str, int, int]:
    """(file, first byte, end byte) of a cursor; code from a macro lies where the macro is used."""
    where = cursor.extent
    start = where.start
    return (start.file.name if start.file is not None else "", start.offset, where.end.offset)
