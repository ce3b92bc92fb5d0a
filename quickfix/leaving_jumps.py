"""Jumps out of a loop by `return` or `goto`, made behind it: in the loop, threads only leave it.

Takes a loop that threads leave in the middle of an iteration, gives the changes after which each of them notes that it
does (``left = true; break;``), and jumps behind the loop (``if (left) return;``); what the jump leads to may stand
there already, then nothing is noted. What is returned and is not there behind the loop goes through a variable. A
thread that has left the loop does nothing in between. The same for a `switch`, which threads also leave by `continue`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from analyzers.frontend.gaps import Body, FunctionTree, Statement, Step
from quickfix.edits import Change, Layout
from quickfix.guards import result_type
from quickfix.loop_jumps import jumps_in, jumps_of, refuse_hidden
from quickfix.naming import NotPossible, fresh_name, line_of, redefines
from quickfix.own_lines import require_braces, require_lines
from quickfix.paths import Level, around
from quickfix.variables import declarations, statements_of, uses_in

_LITERAL: Final = re.compile(rb"[-+]?\.?\d[\w.]*|true|false|nullptr")
_NAME: Final = re.compile(rb"[A-Za-z_]\w*")
_OUT_OF_SWITCH: Final = frozenset({"continue", "return", "goto"})


def made_behind(level: Level, loop: Statement, layout: Layout, taken: Collection[bytes]) -> list[Change] | None:
    """The changes for the first of these jumps and all that lead to the same place; None where there is none. Raises
    `NotPossible`. `level`: the body of the loop."""
    first = next((j for j in jumps_in(level.body) if j.call in ("return", "goto")), None)
    if first is None:
        return None
    refuse_hidden(layout, level.body)
    level, loop = _innermost(level, loop, first, layout)
    line = line_of(layout.text, loop.keyword)
    outer = level.steps[-1]
    if outer.index and outer.body.statements[outer.index - 1].kind == "label":
        raise NotPossible(f"there is a label in front of the loop in line {line}")
    require_braces(layout, around(level), f"the loop in line {line} is in a body without braces")
    require_lines(layout, around(level), f"the loop in line {line} does not begin its line", loop.keyword)
    whole = _words(first, layout)
    kept = _kept_in(first, whole, level, loop, layout, taken)
    if not kept:
        _check_target(first, whole, level.function, loop, layout)
    alike = [j for j in jumps_in(level.body) if _words(j, layout) == whole and _is_directly_in(level.body, j)]
    bare = _comes_next(whole, outer, level.function, layout)
    name = b"" if bare else fresh_name(level, layout.text, "left", taken)
    changes: list[Change] = []
    for body, jump in ((body, j) for j in alike for body in _bodies_of(level.body, j)):
        if kept:
            changes += _kept_value(body, jump, name, kept, layout)
        else:
            changes.append(Change(jump.start, jump.end, _instead(body, jump, name, layout)))
    if name:
        base = layout.indentation(loop.keyword)
        at = layout.line_start(loop.start)
        declared = base + b"bool " + name + b" = false;" + layout.newline
        if kept:
            line = line_of(layout.text, first.start)
            declared += base + result_type(level.function, line) + kept + b";" + layout.newline
            whole = b"return " + kept
        changes.append(Change(at, at, declared))
        end = layout.line_end(loop.end)
        changes.append(Change(end, end, layout.newline + base + b"if (" + name + b") " + whole + b";"))
    return sorted(changes, key=lambda c: (c.start, c.end))


def made_behind_switch(
    level: Level, switch: Statement, layout: Layout, taken: Collection[bytes]
) -> list[Change] | None:
    """The same for a `switch`, a statement of the body of `level`, and also for `continue`. Raises `NotPossible`."""
    first = next((j for body in switch.bodies for j in jumps_in(body) if j.call in _OUT_OF_SWITCH), None)
    if first is None:
        return None
    line = line_of(layout.text, switch.keyword)
    for section in switch.bodies:
        refuse_hidden(layout, section)
    index = level.body.statements.index(switch)
    if index and level.body.statements[index - 1].kind == "label":
        raise NotPossible(f"there is a label in front of the `switch` in line {line}")
    require_braces(layout, level, f"the `switch` in line {line} is in a body without braces")
    require_lines(layout, level, f"the `switch` in line {line} does not begin its line", switch.keyword)
    whole = _words(first, layout)
    if first.call != "continue":
        _check_target(first, whole, level.function, switch, layout)
    alike = [j for body in switch.bodies for j in jumps_in(body) if _words(j, layout) == whole]
    if any(j.macro or not any(_is_directly_in(body, j) for body in switch.bodies) for j in alike):
        raise NotPossible(f"`{first.call}` leaves another loop or `switch` with the `switch` in line {line}")
    goes_on = first.call == "continue" and level.body.loops > 0 and index + 1 == len(level.body.statements)
    bare = goes_on or _comes_next(whole, Step(level.body, index), level.function, layout)
    name = b"" if bare else fresh_name(level, layout.text, "left", taken)
    base = layout.indentation(switch.keyword)
    changes: list[Change] = []
    if name:
        at, end = layout.line_start(switch.start), layout.line_end(switch.end)
        changes.append(Change(at, at, base + b"bool " + name + b" = false;" + layout.newline))
        changes.append(Change(end, end, layout.newline + base + b"if (" + name + b") " + whole + b";"))
    for section in switch.bodies:
        for jump in alike:
            changes += [
                Change(jump.start, jump.end, _instead(body, jump, name, layout)) for body in _bodies_of(section, jump)
            ]
    return sorted(changes, key=lambda c: (c.start, c.end))


def _kept_in(
    jump: Statement, whole: bytes, level: Level, loop: Statement, layout: Layout, taken: Collection[bytes]
) -> bytes:
    """The name of a variable for what is returned, where that is not there behind the loop and such a variable can be
    declared; empty elsewhere."""
    word, _, rest = whole.partition(b" ")
    function = level.function
    plain = layout.code[jump.start : jump.end] == layout.text[jump.start : jump.end] and not jump.macro
    if word != b"return" or not rest or not plain or function.signature is None or not function.signature.value:
        return b""
    if _LITERAL.fullmatch(rest) or _stays(rest, function, (jump.start, jump.end), loop):
        return b""
    return fresh_name(level, layout.text, "result", taken)


def _kept_value(body: Body, jump: Statement, left: bytes, kept: bytes, layout: Layout) -> list[Change]:
    """What notes that a thread leaves, and what it returns."""
    alone = body.braced or body.role == "case"
    own = alone and layout.is_first(jump.start)
    gap = layout.newline + layout.indentation(jump.start) if own else b" "
    opened, closed = (b"", b"") if alone else (b"{ ", b" }")
    head = opened + left + b" = true;" + gap + kept + b" ="
    return [
        Change(jump.start, jump.start + len(b"return"), head),
        Change(jump.end, jump.end, gap + b"break;" + closed),
    ]


def _words(jump: Statement, layout: Layout) -> bytes:
    """The statement, with one blank for each of its gaps, and without the semicolon."""
    return b" ".join(layout.code[jump.start : jump.end].strip(b"; \t\r\n").split())


def _innermost(level: Level, loop: Statement, jump: Statement, layout: Layout) -> tuple[Level, Statement]:
    """The loop that a `break` in the place of the jump leaves, with its body."""
    body, steps = level.body, level.steps
    while True:
        index = next(i for i, s in enumerate(body.statements) if s.start <= jump.start < s.end)
        statement = body.statements[index]
        if statement is jump:
            return level, loop
        if statement.kind == "switch":
            line = line_of(layout.text, jump.start)
            raise NotPossible(f"`{jump.call}` in line {line} leaves a `switch` and the loop around it")
        steps = (*steps, Step(body, index))
        body = next(b for b in statement.bodies if b.start <= jump.start < b.end)
        if statement.is_loop:
            level, loop = Level(level.function, steps, body, 0), statement


def _bodies_of(body: Body, jump: Statement) -> Sequence[Body]:
    """The innermost body that a jump is in."""
    for statement in body.statements:
        if statement is jump:
            return (body,)
        for inner in statement.bodies:
            if found := _bodies_of(inner, jump):
                return found
    return ()


def _is_directly_in(body: Body, jump: Statement) -> bool:
    """Whether a `break` in the place of the jump leaves the loop of the body."""
    for statement in body.statements:
        if statement is jump:
            return True
        if jump in jumps_of(statement):
            inside = (_is_directly_in(inner, jump) for inner in statement.bodies)
            return not statement.is_loop and statement.kind != "switch" and any(inside)
    return False


def _check_target(jump: Statement, whole: bytes, function: FunctionTree, loop: Statement, layout: Layout) -> None:
    line = line_of(layout.text, jump.start)
    if layout.code[jump.start : jump.end] != layout.text[jump.start : jump.end] or jump.macro:
        raise NotPossible(f"`{jump.call}` in line {line} is written by a macro, or there is a comment or literal in it")
    if redefines(layout.text, jump.end, loop.end, whole):
        raise NotPossible(f"macros are defined anew behind `{jump.call}` in line {line}")
    word, _, rest = whole.partition(b" ")
    if word == b"goto":
        places = [s.start for s in _labels(function, rest, layout)]
        if len(places) != 1:
            raise NotPossible(f"where `goto` in line {line} leads is not to be seen")
        if loop.start <= places[0] < loop.end:
            raise NotPossible(f"`goto` in line {line} does not leave the loop")
    elif rest and not _LITERAL.fullmatch(rest) and not _stays(rest, function, (jump.start, jump.end), loop):
        raise NotPossible(f"`return` in line {line} leaves the loop with a value that is not there behind it")


def _labels(function: FunctionTree, name: bytes, layout: Layout) -> list[Statement]:
    code = layout.code
    labels = (s for s in statements_of(function.body) if s.kind == "label")
    return [s for s in labels if re.match(rb"\s*" + re.escape(name) + rb"\s*:", code[s.start : s.end])]


def _stays(name: bytes, function: FunctionTree, place: tuple[int, int], loop: Statement) -> bool:
    """Whether that is a number or pointer of the thread that is declared in front of the loop."""
    used = {u.variable for u in uses_in(function, place)}
    lent = any(u.kind == "lent" and u.variable in used for u in function.uses)
    places = {u.at for u in function.uses if u.kind == "declared" and u.variable in used}
    found = [d for d in declarations(function) if d.at in places and d.at < loop.start and (d.assignable or d.bare)]
    return _NAME.fullmatch(name) is not None and len(used) == len(found) == 1 and not lent


def _comes_next(whole: bytes, place: Step, function: FunctionTree, layout: Layout) -> bool:
    """Whether what the jump leads to stands directly behind the loop."""
    word, _, rest = whole.partition(b" ")
    following = place.body.statements[place.index + 1 :]
    if word == b"return":
        return not rest and not following and place.body.start == function.body.start
    return bool(following) and any(s.start == following[0].start for s in _labels(function, rest, layout))


def _instead(body: Body, jump: Statement, name: bytes, layout: Layout) -> bytes:
    if not name:
        return b"break;"
    if not body.braced and body.role != "case":
        return b"{ " + name + b" = true; break; }"
    gap = layout.newline + layout.indentation(jump.start) if layout.is_first(jump.start) else b" "
    return name + b" = true;" + gap + b"break;"
