"""Guards instead of jumps: what stands behind ``if (c) continue;`` or ``if (c) return;`` goes under the opposite of it.

What stands in front of the jump under its condition stays there, and the rest goes under `else`.

Takes a body and the jump in it, gives the changes after which all threads get to the end of the body, each with the old
statements under the old condition. The declarations behind the jump keep their scope: nothing follows them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from analyzers.frontend.gaps import Body, Statement
from quickfix.edits import Change, Layout, indented, outside_conditionals
from quickfix.loop_jumps import jumps_of
from quickfix.naming import NotPossible, declares, line_of
from quickfix.own_lines import first_word, require_lines
from quickfix.paths import Level
from quickfix.sections import balanced


def jump_in(body: Body, end: int, word: str) -> int | None:
    """The first statement of the body in front of `end` that is nothing but ``if (…)`` with the jump `word` at its end,
    and no other jump."""
    for index, statement in enumerate(body.statements[:end]):
        if statement.kind == "if" and len(statement.bodies) == 1:
            inner, jumps = statement.bodies[0], list(jumps_of(statement))
            if len(jumps) == 1 and jumps[0].call == word and inner.statements[-1] is jumps[0]:
                return index
    return None


def switch_in(body: Body, end: int, word: str) -> Statement | None:
    """The first `switch` of the body in front of `end` that threads leave by the jump `word`."""
    switches = (s for s in body.statements[:end] if s.kind == "switch")
    return next((s for s in switches if any(j.call == word for j in jumps_of(s))), None)


def guarded(level: Level, index: int, text: bytes) -> list[Change]:
    """The changes for the jump at `index` of the body of `level`; raises `NotPossible`."""
    layout = Layout(text)
    body, statement = level.body, level.body.statements[index]
    line = line_of(text, statement.keyword)
    *others, jump = statement.bodies[0].statements
    rest = body.statements[index + 1 :]
    if statement.macro or jump.macro or not body.braced or not rest:
        raise NotPossible(f"the jump in line {line} is written by a macro, or nothing is behind it")
    places = statement.keyword, first_word(rest[0]), body.end
    require_lines(layout, level, f"the jump in line {line} does not have its line to itself", *places)
    if layout.text[jump.start : jump.end].rpartition(b"]]")[2].strip(b"; \t") not in (b"continue", b"return"):
        raise NotPossible(f"the jump in line {line} returns a value")
    function = layout.code[level.function.start : level.function.end]
    if re.search(rb"\bgoto\b", function) or any(s.kind == "label" for s in _all(body)):
        raise NotPossible("there are labels behind it, and `goto` may lead to them")
    opening = layout.code.find(b"(", statement.keyword, statement.head_end)
    condition = text[opening + 1 : statement.head_end - 1]
    inside = opening + 1, statement.head_end - 1
    if layout.code[statement.keyword + 2 : opening].strip() or declares(layout, level.function, inside):
        raise NotPossible(f"the condition in line {line} declares a variable or is not plain")
    place = slice(others[-1].end if others else statement.keyword, statement.end)
    if layout.code[place] != text[place]:
        raise NotPossible(f"there is a comment between the condition and the jump in line {line}")
    if b"#" in condition or not balanced(text, statement.start, body.end):
        raise NotPossible(f"preprocessor lines separate the jump in line {line} from what is behind it")
    if b'R"' in text[statement.end : body.end]:
        raise NotPossible("there is a raw string behind the jump, which cannot be indented")
    unit, indentation = layout.unit(level.function), layout.indentation(statement.keyword)
    end = outside_conditionals(layout, rest[-1].end, body.end)
    inner = [Change(each, each, unit) for each in indented(text, statement.end, end)]
    closing = Change(end, end, layout.newline + indentation + b"}")
    if others:
        # The jump goes, and what is behind it becomes the other side.
        return [
            Change(others[-1].end, jump.end, b""),
            Change(statement.end, statement.end, b" else {"),
            *inner,
            closing,
        ]
    simple = statement.test.operator == "" and re.fullmatch(rb"\s*\w+\s*", condition) is not None
    head, tail = (b"if (!", b") {") if simple else (b"if (!(", b")) {")
    at = (len(head), opening + 1, len(condition))
    return [Change(statement.keyword, statement.end, head + condition + tail, moved=(at,)), *inner, closing]


def _all(body: Body) -> Iterable[Statement]:
    for statement in body.statements:
        yield statement
        if statement.kind != "switch":
            for inner in statement.bodies:
                yield from _all(inner)
