"""Braces around the one statement of a loop or a conditional that has none, a place for more, or around a section of a
`switch`, for what is declared there."""

from __future__ import annotations

from typing import Final

from analyzers.frontend.blanking import next_visible
from quickfix.edits import Change, Layout, indented
from quickfix.naming import NotPossible, line_of
from quickfix.paths import Level
from quickfix.sections import balanced

DECLARING: Final = frozenset({"declaration", "other"})
"""Kinds of statements that may declare what is seen behind them."""


def braces(level: Level, text: bytes) -> list[Change]:
    """The changes for the body of `level`. Raises `NotPossible`."""
    layout, owner, body = Layout(text), level.owner, level.body
    assert owner is not None
    if body.role == "case":
        return _around_section(level, layout)
    outer, what = layout.indentation(owner.keyword), "loop" if owner.is_loop else "conditional"
    line = line_of(text, owner.keyword)
    head, end = layout.last_visible(body.start, owner.start), layout.line_end(body.end)
    between = text[head : body.start]
    if (
        owner.macro
        or not _begins_line(layout, owner.keyword)
        or layout.code[head : body.start].strip()
        or b"#" in between
    ):
        raise NotPossible(f"the {what} in line {line} has no braces")
    if not balanced(text, owner.keyword, end):
        raise NotPossible(f"preprocessor lines cut the {what} in line {line}")
    closing = _closed(layout, end, outer, before_else=body.role == "then" and len(owner.bodies) > 1)
    unit = layout.unit(level.function)
    more = [Change(each, each, unit) for each in indented(text, body.start, body.end)]
    if layout.same_line(head, body.start):
        # Comments stay in the line of the head.
        at = head + len(between.rstrip())
        opened = [Change(head, head, b" {")] if between.strip() else []
        broken = layout.newline + outer + unit
        return [*opened, Change(at, body.start, broken if opened else b" {" + broken), *more, closing]
    if len(layout.indentation(body.start)) <= len(outer):
        # As deep as the head, as `if` below `else` is.
        lines = indented(text, head, body.end)
        return [Change(head, head, b" {"), *(Change(each, each, unit) for each in lines), closing]
    return [Change(head, head, b" {"), closing]


def _begins_line(layout: Layout, keyword: int) -> bool:
    """Whether nothing is in front of a statement in its line, an `else` aside that it is the branch of."""
    return b"".join(layout.text[layout.line_start(keyword) : keyword].split()) in (b"", b"else", b"}else")


def _closed(layout: Layout, end: int, outer: bytes, *, before_else: bool) -> Change:
    """The brace behind what ends at an offset, in the line of the `else` that follows, if one does."""
    follows = next_visible(layout.code, end)
    if before_else and not layout.text[end:follows].strip():
        return Change(end, follows, layout.newline + outer + b"} ")
    return Change(end, end, layout.newline + outer + b"}")


def _around_section(level: Level, layout: Layout) -> list[Change]:
    """The section begins a line of its own."""
    body, owner = level.body, level.owner
    is_last = owner is not None and owner.bodies[-1].start == body.start
    label = layout.last_visible(body.statements[0].start, 0)
    line = line_of(layout.text, label)
    end = layout.line_end(body.statements[-1].end)
    if any(each.kind == "label" or (not is_last and each.kind in DECLARING) for each in body.statements):
        raise NotPossible(f"the section in line {line} declares what the next one may use, or has labels")
    if not balanced(layout.text, label, end) or layout.text[end : layout.text.find(b"\n", end)].strip():
        raise NotPossible(f"preprocessor lines cut the section in line {line}, or others share its lines")
    closing = layout.newline + layout.indentation(label - 1) + b"}"
    return [Change(label, label, b" {"), Change(end, end, closing)]
