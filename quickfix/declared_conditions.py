"""Variables that a condition declares, declared in front of it: ``if (int k = f(i))`` becomes ``int k = f(i); if (k)``.

Takes a conditional or a `while` loop and the body around it, gives the changes after which its condition is an
expression. A loop declares without a value and assigns in its test. Only numbers and pointers are moved, whose lives
end unseen, and only where their names mean nothing else behind.
"""

from __future__ import annotations

import re
from typing import Final

from analyzers.frontend.blanking import next_visible
from analyzers.frontend.gaps import Statement
from quickfix.carried import means_another
from quickfix.edits import Change, Layout
from quickfix.naming import NotPossible, line_of
from quickfix.paths import Level
from quickfix.variables import uses_in

_TYPE: Final = re.compile(
    rb"(?:const\s+)?(?:(?:(?:unsigned|signed|long|short|int|char|float|double|bool|size_t|u?int\d+_t)\b\s*)+"
    rb"|(?:[A-Za-z_]\w*\s*(?:\s+const\s*)?\*\s*))"
)


class DeclaredError(NotPossible):
    """A condition that declares a variable."""

    def __init__(self, level: Level, statement: Statement, text: str) -> None:
        super().__init__(text)
        self.level, self.statement = level, statement


def declared_in_front(level: Level, statement: Statement, text: bytes) -> list[Change]:
    """The changes; raises `NotPossible`. `level`: the body around the statement."""
    layout, function = Layout(text), level.function
    line = line_of(text, statement.keyword)
    opening = layout.code.find(b"(", statement.keyword, statement.head_end)
    low, high = next_visible(layout.code, opening + 1), layout.last_visible(statement.head_end - 1, opening)
    first = layout.code.find(b";", low, high)
    end = layout.last_visible(first, low) if first >= 0 else high
    found = [u for u in uses_in(function, (low, high)) if u.kind == "declared"]
    own = found[0] if len(found) == 1 else None
    at = own.at if own is not None else low
    name = own.name.encode() if own is not None else b""
    given = re.compile(rb"\s*=(?!=)\s*").match(layout.code, at + len(name), end)
    plain = own is not None and given is not None and layout.code.startswith(name, at)
    comments = layout.code[statement.keyword : statement.head_end] != text[statement.keyword : statement.head_end]
    if own is None or given is None or not plain or comments or not _TYPE.fullmatch(layout.code[low:at]):
        raise NotPossible(f"the condition in line {line} declares more than a number")
    behind = (statement.end, level.body.end)
    if means_another(layout, function, own.name, at, (low, high)) or means_another(
        layout, function, own.name, at, behind
    ):
        raise NotPossible(f"`{own.name}` means something else around the condition in line {line}")
    space = layout.newline + layout.indentation(statement.keyword)
    if statement.kind == "while":
        if first >= 0 or layout.code.startswith(b"const", low):
            raise NotPossible(f"the condition in line {line} declares more than a number")
        declaration = text[low:at] + name + b";" + space
        return [
            Change(statement.start, statement.start, declaration),
            Change(low, at, b"("),
            Change(high, high, b")"),
        ]
    declaration = text[low:end] + b";" + space
    moved = (0, low, end - low)
    rest = Change(low, next_visible(layout.code, first + 1), b"") if first >= 0 else Change(low, end, name)
    return [Change(statement.start, statement.start, declaration, moved=(moved,)), rest]
