"""Conditional expressions that are statements of their own, written as conditionals: ``c ? a : b;`` is
``if (c) { a; } else { b; }``, which other steps take apart.

Takes the body that the statement is in, gives `Change`s of what is around the condition and the two sides.
"""

from __future__ import annotations

from analyzers.frontend.gaps import Statement
from quickfix.edits import Change, Layout
from quickfix.naming import NotPossible, line_of
from quickfix.own_lines import UnbracedError, require_lines
from quickfix.paths import Level


def as_conditional(layout: Layout, level: Level, statement: Statement) -> list[Change]:
    """The changes for a statement that is a choice. Raises `NotPossible`."""
    assert statement.choice is not None
    line = line_of(layout.text, statement.start)
    if not level.body.braced:
        raise UnbracedError(level, f"the statement in line {line} is a branch without braces")
    require_lines(layout, level, f"the statement in line {line} does not begin its line", statement.start)
    ends = (statement.start, *(place for part in statement.choice for place in part), statement.end)
    around = list(zip(ends[::2], ends[1::2], strict=True))
    if any(layout.code[low:high] != layout.text[low:high] for low, high in around):
        raise NotPossible(f"there is a comment around a side of the conditional expression in line {line}")
    if not layout.code[: statement.end].endswith(b";"):
        raise NotPossible(f"the conditional expression in line {line} does not end where its statement does")
    outer = layout.newline + layout.indentation(statement.start)
    inner = outer + layout.unit(level.function)
    written = (b"if (", b") {" + inner, b";" + outer + b"} else {" + inner, b";" + outer + b"}")
    return [Change(low, high, text) for (low, high), text in zip(around, written, strict=True)]
