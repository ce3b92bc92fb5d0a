"""Facts as a reader finds them in the source: the text to cite and where it stands."""

from __future__ import annotations

from typing import Literal, cast

from analyzers.frontend import cindex
from analyzers.frontend.cindex import Cursor
from analyzers.hostguide.source import SourceTexts, extent, punctuation
from analyzers.hostguide.values import NoteSource
from analyzers.model import FactNote, SourceSpan

Kind = Literal["assert", "dimension", "relation", "loop-bound", "allocation", "user"]
_SHORT = 90


def note_of(sources: SourceTexts, origin: NoteSource) -> FactNote:
    where = _span_at(sources, *origin.place) if origin.place is not None else cindex.span(origin.cursor.extent)
    path, start, end = where.path, where.start_offset, where.end_offset
    whole = sources.slice(path, start, end)
    style = origin.style
    if style in ("statement", "text"):
        text = whole
        if text.startswith(("assert(", "assert (")):
            text += " (off under NDEBUG)"
    elif style == "case":
        text = whole.partition(":")[0]
    else:
        header = sources.slice(path, start, _header_end(sources.text(path), start, end))
        if style in ("if", "loop"):
            text = header
        elif style == "exit":
            text = f"after {header}"
        else:
            text = whole if len(whole) <= _SHORT else f"not taken: {header}"
    return FactNote(text, where, cast(Kind, origin.kind))


def _span_at(sources: SourceTexts, path: str, start: int, end: int) -> SourceSpan:
    text = sources.text(path)
    start += len(text[start:end]) - len(text[start:end].lstrip())
    first, last = (text.count(b"\n", 0, at) + 1 for at in (start, end))
    columns = (at - text.rfind(b"\n", 0, at) for at in (start, end))
    return SourceSpan(path, first, next(columns), last, next(columns), start, end)


def text_of(sources: SourceTexts, cursor: Cursor) -> str:
    """The expression as written; of one that begins in a macro's argument and ends in its body, the whole line."""
    path, start, end = extent(cursor)
    found = sources.slice(path, start, end)
    if found.count("(") == found.count(")"):
        return found
    text = sources.text(path)
    return sources.slice(path, text.rfind(b"\n", 0, start) + 1, max(end, text.find(b"\n", end)))


def span(cursor: Cursor) -> SourceSpan:
    return cindex.span(cursor.extent)


def _header_end(text: bytes, start: int, end: int) -> int:
    """After the bracket that closes the first one, as of ``if (…)``."""
    depth = 0
    for sign, at in punctuation(text, start):
        if at >= end:
            break
        if sign == "(":
            depth += 1
        elif sign == ")":
            depth -= 1
            if depth == 0:
                return at + 1
    return end
