"""Conditionals that hold nothing but another one, made one: ``if (a) { if (b) { … } }`` is ``if (a && b) { … }``.

Takes the two bodies and the one around them, gives the changes. The conditions are evaluated as before, the second one
only where the first one holds.
"""

from __future__ import annotations

from collections.abc import Callable

from quickfix.edits import Change, Layout
from quickfix.naming import NotPossible, line_of
from quickfix.negation import operand
from quickfix.paths import Level
from quickfix.sections import balanced

_ConditionOf = Callable[[Layout, Level, Level], tuple[int, int]]


def holds_another(outer: Level, inner: Level) -> bool:
    """Whether the body `outer` is that of a conditional without `else` which holds nothing but the one of `inner`."""
    first, second = outer.owner, inner.owner
    if first is None or second is None or (outer.body.role, inner.body.role) != ("then", "then"):
        return False
    one = len(first.bodies) == len(second.bodies) == 1 and outer.body.statements == (second,)
    return one and outer.body.braced and inner.body.braced


def joined(text: bytes, around: Level, outer: Level, inner: Level, condition_of: _ConditionOf) -> list[Change]:
    """The changes; `condition_of` tells where the condition of a body in another one stands. Raises `NotPossible`."""
    layout = Layout(text)
    first, second = outer.owner, inner.owner
    assert first is not None
    assert second is not None
    line = line_of(text, first.keyword)
    begin, end = inner.body.start, inner.body.end
    ranges = condition_of(layout, outer, around), condition_of(layout, inner, outer)
    if layout.code[first.keyword : begin] != text[first.keyword : begin] or text[end + 1 : outer.body.end].strip():
        raise NotPossible(f"there is a comment between the conditional in line {line} and the one in it")
    if not (layout.is_first(end) and layout.is_first(outer.body.end)) or b'R"' in text[begin:end]:
        raise NotPossible(f"the conditional in line {line} does not end in a line of its own")
    if not balanced(text, first.keyword, outer.body.end):
        raise NotPossible(f"preprocessor lines cut the conditional in line {line}")
    head, moved = b"if (", list[tuple[int, int, int]]()
    for (start, stop), test in zip(ranges, (first.test, second.test), strict=True):
        condition = text[start:stop]
        written = operand(condition, test)
        moved.append((len(head) + written.index(condition), start, stop - start))
        head += written + b" && "
    changes = [Change(first.keyword, begin, head.removesuffix(b" && ") + b") {", moved=tuple(moved))]
    deeper, less = layout.indentation(second.keyword), layout.indentation(first.keyword)
    at, last = text.find(b"\n", begin) + 1, layout.line_start(end)
    while 0 < at < last:
        if deeper.startswith(less) and text.startswith(deeper, at):
            changes.append(Change(at, at + len(deeper) - len(less), b""))
        at = text.find(b"\n", at) + 1
    return [*changes, Change(last, text.find(b"\n", end) + 1, b"")]
