"""Conditionals with an `else`, made two: ``if (c) A else B`` is ``const bool taken = c; if (taken) A if (!taken) B``.

The condition is evaluated once, so each thread executes what it did; between the two there is a place. A condition that
is the name of a kept one is said again. Comments around the `else` stay where they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from analyzers.frontend.blanking import without_comments
from analyzers.frontend.gaps import Body, Statement
from quickfix.edits import Change, Layout, indented
from quickfix.naming import NotPossible, fresh_name, kept_condition, line_of
from quickfix.own_lines import require_braces
from quickfix.paths import Level
from quickfix.session import Session
from quickfix.steps import Restructuring


def split_at_else(
    session: Session, level: Level, statement: Statement, condition: tuple[tuple[int, int], bytes]
) -> Restructuring:
    """The step. `level`: the body that the conditional `statement` is in; `condition`: where its condition stands, and
    that. Raises `NotPossible`."""
    text = session.trees.texts[level.function.path]
    layout = Layout(text)
    line = line_of(text, statement.keyword)
    then, otherwise = statement.bodies
    (opening, closing), written = condition
    indentation = layout.indentation(statement.keyword)
    kept = kept_condition(layout.code, level.function, (opening, closing), (statement.keyword, statement.end))
    if kept is not None:
        opposite = kept[1:].lstrip() if kept.startswith(b"!") else b"!" + kept
        halves = _second_half(layout, level, then, otherwise, indentation, opposite, line)
        return Restructuring(level.function.path, [*halves], "split the conditional", statement.keyword)
    require_braces(layout, level, f"the conditional in line {line} is in a section of a `switch` without braces")
    name = fresh_name(level, text, "taken", session.reserved_in(level.function))
    head = b"const bool " + name + b" = "
    test = Change(
        statement.keyword,
        statement.head_end,
        head + written + b";" + layout.newline + indentation + b"if (" + name + b")",
        moved=((len(head), opening, closing - opening),),
    )
    changes = [test, *_second_half(layout, level, then, otherwise, indentation, b"!" + name, line)]
    return Restructuring(level.function.path, changes, "split the conditional", statement.keyword, name=name)


def _second_half(
    layout: Layout, level: Level, then: Body, otherwise: Body, indentation: bytes, opposite: bytes, line: int
) -> Iterable[Change]:
    """The `else` as a conditional of its own under the `opposite` condition, with braces around what has none."""
    end, start = outside(then)[1], outside(otherwise)[0]
    word = place_of_else(layout, then, otherwise, line)
    again = b"if (" + opposite + b")"
    before = len(layout.text[:word].rstrip())
    if before == end or not layout.is_first(word):
        again, first = layout.newline + indentation + again, before
    else:
        first = word  # in a line behind comments
    behind = word + len(_ELSE)
    commented = bool(layout.text[behind:start].strip())
    if otherwise.braced:
        yield Change(first, behind if commented else start, again if commented else again + b" ")
        return
    unit = layout.unit(level.function)
    if layout.same_line(word, start):
        stop = start - len(layout.text[behind:start].lstrip())
        yield Change(first, stop, again + b" {" + layout.newline + indentation + unit)
        yield from (Change(at, at, unit) for at in indented(layout.text, start, otherwise.end))
    elif commented:
        yield Change(first, behind, again + b" {")
    else:
        yield Change(first, start, again + b" {" + layout.newline + layout.indentation(start))
    stop = layout.line_end(otherwise.end)
    yield Change(stop, stop, layout.newline + indentation + b"}")


_ELSE: Final = b"else"


def outside(branch: Body) -> tuple[int, int]:
    """Where a branch begins and ends, braces included."""
    return branch.start - branch.braced, branch.end + branch.braced


def place_of_else(layout: Layout, then: Body, otherwise: Body, line: int) -> int:
    """Where `else` stands between two branches with nothing but comments around it. Raises `NotPossible`; `line`: of
    the conditional."""
    end, start = outside(then)[1], outside(otherwise)[0]
    if without_comments(layout.text[end:start]).strip() != _ELSE:
        raise NotPossible(f"there is more than `else` between the branches of the conditional in line {line}")
    return layout.code.index(_ELSE, end)
