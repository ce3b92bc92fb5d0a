"""A `switch` whose sections collide, split in two at the end of one of them.

Takes two sections of a `switch`, gives the changes after which what it selects by is evaluated once and kept, a first
`switch` holds the sections up to a `break` and a second one the rest. A value that one of them has a label for and that
the other would take for its `default` gets a label there that does nothing.
"""

from __future__ import annotations

import re
from typing import Final

from analyzers.frontend.gaps import Body, Statement
from quickfix.distribute import DIRECTIVE
from quickfix.edits import Change, Layout
from quickfix.naming import NotPossible, declares, fresh_name, line_of
from quickfix.paths import Chain, Level
from quickfix.session import Session
from quickfix.steps import Restructuring

_LEAVES: Final = re.compile(rb"\b(?:continue|return|goto)\b")
_DEFAULT: Final = re.compile(rb"\bdefault\b\s*:")
_CASE: Final = re.compile(rb"\bcase\b")


def parting(first: Chain, second: Chain) -> tuple[Level, Statement, int] | None:
    """The `switch` in whose sections two accesses stand, the body it is in, and which section is the earlier one."""
    for before, a, b in zip(first, first[1:], second[1:], strict=False):
        if a.identity != b.identity:
            owner = a.owner
            if owner is None or owner is not b.owner or owner.kind != "switch":
                return None
            found = [i for i, body in enumerate(owner.bodies) if body.start in (a.body.start, b.body.start)]
            return (before, owner, found[0]) if len(found) == 2 else None
    return None


def split(session: Session, level: Level, statement: Statement, last: int) -> Restructuring:
    """The first `switch` ends behind section `last`. Raises `NotPossible`."""
    text = session.trees.texts[level.function.path]
    layout = Layout(text)
    line = line_of(text, statement.keyword)
    opening = layout.code.find(b"(", statement.keyword, statement.head_end)
    selected = text[opening + 1 : statement.head_end - 1]
    _check(layout, level, statement, last, selected, line)
    name = fresh_name(level, text, "selected", session.reserved)
    indentation = layout.indentation(statement.keyword)
    newline = layout.newline + indentation
    head = b"const auto " + name + b" = "
    again = b"switch (" + name + b")"
    changes = [
        Change(
            statement.keyword,
            statement.head_end,
            head + selected + b";" + newline + again,
            moved=((len(head), opening + 1, len(selected)),),
        )
    ]
    labels = _labels(layout.code, statement)
    halves = labels[: last + 1], labels[last + 1 :]
    for own, other, section in zip(halves, halves[::-1], (statement.bodies[last], statement.bodies[-1]), strict=True):
        at = layout.line_end(section.statements[-1].end)
        inserted = b""
        cases = [label for each in other for label in each if _CASE.match(label)]
        if any(_DEFAULT.match(label) for each in own for label in each) and cases:
            deeper = layout.newline + layout.indentation(section.statements[-1].start)
            margin = layout.newline + _margin(layout, statement, indentation)
            ended = b"" if section.statements[-1].kind == "jump" else deeper + b"break;"
            inserted = ended + b"".join(margin + label for label in cases) + deeper + b"break;"
        if section is statement.bodies[last]:
            inserted += newline + b"}" + newline + again + b" {"
        if inserted:
            changes.append(Change(at, at, inserted))
    return Restructuring(level.function.path, changes, "split the switch", statement.keyword, name=name)


def _margin(layout: Layout, statement: Statement, otherwise: bytes) -> bytes:
    """How deep the labels stand."""
    found = _CASE.search(layout.code, statement.head_end, statement.end)
    return layout.indentation(found.start()) if found is not None and layout.is_first(found.start()) else otherwise


def _labels(code: bytes, statement: Statement) -> list[list[bytes]]:
    """The labels in front of each section, with blanks for literals and comments."""
    found: list[list[bytes]] = []
    at = code.find(b"{", statement.head_end) + 1
    for body in statement.bodies:
        written = code[at : body.start]
        starts = [m.start() for m in re.finditer(rb"\bcase\b|\bdefault\b", written)]
        ends = [*starts[1:], len(written)]
        found.append([written[start:end].strip() for start, end in zip(starts, ends, strict=True)])
        at = body.end
    return found


def _check(layout: Layout, level: Level, statement: Statement, last: int, selected: bytes, line: int) -> None:
    code, text = layout.code, layout.text
    if statement.macro or not level.body.braced or not layout.is_first(statement.keyword):
        raise NotPossible(f"the `switch` in line {line} is written by a macro or is a branch without braces")
    if code[statement.keyword : statement.head_end] != text[statement.keyword : statement.head_end]:
        raise NotPossible(f"there is a comment or a literal in the head of the `switch` in line {line}")
    if b"," in re.sub(rb"\([^()]*\)", b"", selected):
        raise NotPossible(f"there is a comma in the head of the `switch` in line {line}")
    if declares(layout, level.function, (statement.keyword, statement.head_end)) or b"{" in selected:
        raise NotPossible(f"the head of the `switch` in line {line} declares a variable")
    if _LEAVES.search(code, statement.start, statement.end) or DIRECTIVE.search(text, statement.start, statement.end):
        raise NotPossible(f"the `switch` in line {line} has jumps out of it or preprocessor lines in it")
    section = end = statement.bodies[last].statements[-1]
    while end.kind == "compound" and end.bodies and end.bodies[0].statements:
        end = end.bodies[0].statements[-1]
    if end.kind != "jump" or end.call != "break" or end.macro:
        raise NotPossible(f"a section of the `switch` in line {line} goes on into the next one")
    if any(each.kind in ("declaration", "other") for each in _statements(statement.bodies[: last + 1])):
        raise NotPossible(f"a section of the `switch` in line {line} declares what the next one may use")
    labels = _labels(code, statement)
    # A label with a literal or a comment in it is not to be found in the text.
    if not all(labels) or any(not label.endswith(b":") or label not in text for each in labels for label in each):
        raise NotPossible(f"the labels of the `switch` in line {line} are not plain")
    following = statement.bodies[last + 1].start
    if layout.same_line(section.end, code.find(labels[last + 1][0], section.end, following)):
        raise NotPossible(f"several sections of the `switch` in line {line} are in one line")
    if not layout.is_first(section.start):
        raise NotPossible(f"several statements of the `switch` in line {line} are in one line")


def _statements(bodies: tuple[Body, ...]) -> list[Statement]:
    return [statement for body in bodies for statement in body.statements]
