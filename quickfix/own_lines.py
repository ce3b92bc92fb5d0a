"""Statements that share a line, broken into lines: what is put between or around them stands in lines.

Takes a body with braces and the places that have to begin a line, gives the changes after which they do; of a body that
is all in one line every statement gets its own. Only blanks are replaced, and comments stay where they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from analyzers.frontend.gaps import Statement
from quickfix.edits import Change, Layout
from quickfix.naming import NotPossible, line_of
from quickfix.paths import Level


class OneLineError(NotPossible):
    """Places in a body that do not begin a line, and would have to."""

    def __init__(self, level: Level, places: Collection[int], text: str) -> None:
        super().__init__(text)
        self.level, self.places = level, places


class UnbracedError(NotPossible):
    """A statement in a body without braces, which would have to have another one, or a declaration, beside it."""

    def __init__(self, level: Level, text: str) -> None:
        super().__init__(text)
        self.level = level


def require_lines(layout: Layout, level: Level, text: str, *places: int) -> None:
    """Raise `OneLineError` with the text where one of the places, beginnings of statements of the body or its end, does
    not begin a line."""
    if level.body.braced and not all(map(layout.is_first, places)):
        raise OneLineError(level, places, text)


def require_braces(layout: Layout, level: Level, text: str) -> None:
    """Raise `UnbracedError` with the text where the body has no braces of its own around what is to be declared in it:
    past the declarations of a section of a `switch` other threads would jump to the labels behind it."""
    body, owner = level.body, level.owner
    if not body.braced:
        raise UnbracedError(level, text)
    if body.role == "case" and owner is not None and owner.bodies[-1].start != body.start:
        together = layout.same_line(body.start, body.statements[-1].end)
        require_lines(layout, level, text, *map(first_word, body.statements if together else body.statements[:1]))
        raise UnbracedError(level, text)


def own_lines(level: Level, text: bytes, places: Collection[int]) -> list[Change]:
    """The changes; raises `NotPossible`."""
    layout, body, owner = Layout(text), level.body, level.owner
    outer = owner.keyword if owner is not None and body.role != "case" else layout.last_visible(body.start, 0) - 1
    base = layout.indentation(outer)
    first = next((s for s in body.statements if layout.is_first(first_word(s))), None)
    inner = layout.indentation(first_word(first)) if first is not None else base + layout.unit(level.function)
    whole = layout.same_line(body.start, body.end)
    wanted = {*map(first_word, body.statements), body.end} if whole else {*places}
    return list(_changes(level, layout, inner, base, wanted))


def _changes(level: Level, layout: Layout, inner: bytes, base: bytes, wanted: Collection[int]) -> Iterator[Change]:
    body, text = level.body, layout.text
    ends = [body.start, *(s.end for s in body.statements)]
    starts = [*(s.start for s in body.statements), body.end]
    for index, (end, start) in enumerate(zip(ends, starts, strict=True)):
        statement = body.statements[index] if index < len(body.statements) else None
        at = first_word(statement) if statement is not None else start
        if at not in wanted or layout.is_first(at):
            continue
        line = line_of(text, start)
        if b"#" in text[end:start] or (body.role == "case" and statement is None):
            raise NotPossible(f"there is more than blanks between the statements in line {line}")
        # Comments stay in the line that they are in.
        end += len(text[end:start].rstrip())
        whole = statement is None or layout.same_line(statement.start, statement.end)
        if not whole and inner != layout.indentation(start):
            raise NotPossible(f"the statements in line {line} are in one line, and do not end there")
        yield Change(end, start, layout.newline + (inner if statement is not None else base))


def first_word(statement: Statement) -> int:
    """Where a statement begins, behind pragmas and attributes."""
    return statement.keyword or statement.start
