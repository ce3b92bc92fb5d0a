"""Braces around the one statement of a loop or a conditional that has none: a place for more."""

from __future__ import annotations

from quickfix.edits import Change, Layout, indented
from quickfix.naming import NotPossible, line_of
from quickfix.paths import Level
from quickfix.sections import balanced


def braces(level: Level, text: bytes) -> list[Change]:
    """The changes for the body of `level`, the last one of its statement. Raises `NotPossible`."""
    layout, owner, body = Layout(text), level.owner, level.body
    assert owner is not None
    outer, what = layout.indentation(owner.keyword), "loop" if owner.is_loop else "conditional"
    line = line_of(text, owner.keyword)
    head, end = layout.last_visible(body.start, owner.start), layout.line_end(body.end)
    if owner.macro or not layout.is_first(owner.keyword) or text[head : body.start].strip():
        raise NotPossible(f"the {what} in line {line} has no braces")
    if not balanced(text, owner.keyword, end):
        raise NotPossible(f"preprocessor lines cut the {what} in line {line}")
    closing = Change(end, end, layout.newline + outer + b"}")
    if not layout.same_line(head, body.start):
        return [Change(head, head, b" {"), closing]
    unit = layout.unit(level.function)
    more = [Change(each, each, unit) for each in indented(text, body.start, body.end)]
    return [Change(head, body.start, b" {" + layout.newline + outer + unit), *more, closing]
