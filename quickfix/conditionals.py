"""Conditionals that only some threads enter, opened up where a barrier is missing in them.

Takes a race and the bodies that some threads do not enter, gives the changes that take a place between its accesses out
of the innermost body around it: a conditional is closed in front of the place and opened again behind it; where the
place is in a loop, the loop is left alone in its conditional, then turned inside out (`distribute`), or made as long as
any thread under the condition has work (`flagged_loops`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Final

from analyzers.frontend.gaps import Body, Gap, Statement, Step
from analyzers.model import Finding
from quickfix.braces import braces
from quickfix.carried import (
    Cut,
    assigned,
    cut_with_least,
    declared_again,
    declared_in_front,
    keep_scopes,
    moved_out,
)
from quickfix.carried_assumptions import taken_for_granted
from quickfix.declared_conditions import DeclaredError
from quickfix.distribute import DIRECTIVE, inside_out
from quickfix.edits import Change, Layout, outside_conditionals
from quickfix.flagged_loops import flagged_under
from quickfix.joined import holds_another, joined
from quickfix.left_lanes import refuse_votes
from quickfix.naming import NotPossible, declares, fresh_name, kept_condition, line_of
from quickfix.own_lines import OneLineError, UnbracedError, first_word, require_braces, require_lines
from quickfix.paths import Candidate, Level
from quickfix.search import ways_between
from quickfix.session import Session
from quickfix.split_branches import split_at_else
from quickfix.steps import VOTES, WARP_VOTES, Restructuring


def has_place(session: Session, finding: Finding, varying: Collection[tuple[str, int]]) -> bool:
    """Whether some place between the accesses of a race is in no body that only some threads enter."""
    return any(
        all((c.gap.function.path, body.start) not in varying for body in bodies_around(c.gap))
        for c in ways_between(session, finding).candidates
    )


def bodies_around(gap: Gap) -> tuple[Body, ...]:
    """The bodies that a place is in, from that of its function on."""
    return (*(step.body for step in gap.steps), gap.body)


def opened_up(session: Session, finding: Finding, varying: Collection[tuple[str, int]]) -> Restructuring | None:
    """Take a place between the accesses out of the innermost body around it, if not all threads get there.

    The place in the fewest bodies that only some threads enter is chosen. A conditional is closed before the place and
    opened again behind it; of a loop in a conditional the body is what stays under the condition."""
    places = [c for c in ways_between(session, finding).candidates if not _is_called_by_some(c, varying)]
    ways = [(c, _entered(c, varying)) for c in places if not _at_end(c.gap)]
    if not ways or any(not around for _, around in ways):
        return None
    fewest = min((len(around), len(c.gap.steps)) for c, around in ways)
    chosen = [c.gap for c, around in ways if (len(around), len(c.gap.steps)) == fewest]
    gap = chosen[-1]
    levels = _levels(gap)
    level = levels[-1]
    if len(levels) > 2 and holds_another(levels[-2], level) and _is_entered_by_some(levels[-2], varying):
        try:
            return _joined(session, levels[-3], levels[-2], level)
        except NotPossible:
            pass  # each of the two is opened up by itself
    if level.body.role in ("then", "else") and len(levels) > 1:
        inside = sorted(g.index for g in chosen if g.body is gap.body and g.index)
        return _halved(session, levels[-2], level, inside) if inside else _kept(session, levels[-2], level)
    if level.body.role != "loop" or len(levels) < 3 or levels[-2].body.role not in ("then", "else"):
        return None
    if session.orders_warps and not _is_entered_by_some(levels[-2], varying):
        return None  # the threads of a warp come to the loop together
    return _into_loop(session, levels[-3], levels[-2])


def _is_called_by_some(candidate: Candidate, varying: Collection[tuple[str, int]]) -> bool:
    """In a function that only some threads come to: what is to be opened up is around its call."""
    path = candidate.gap.function.path
    return any(b.role == "function" and (path, b.start) in varying for b in bodies_around(candidate.gap))


def _is_entered_by_some(level: Level, varying: Collection[tuple[str, int]]) -> bool:
    return (level.function.path, level.body.start) in varying


def _joined(session: Session, around: Level, outer: Level, inner: Level) -> Restructuring:
    text = session.trees.texts[outer.function.path]

    def where(layout: Layout, of: Level, inside: Level) -> tuple[int, int]:
        assert of.owner is not None
        return condition_of(layout, of.owner, inside, line_of(text, of.owner.keyword))[0]

    changes = joined(text, around, outer, inner, where)
    assert outer.owner is not None
    return Restructuring(outer.function.path, changes, "join the conditionals", outer.owner.keyword)


def _at_end(gap: Gap) -> bool:
    """Behind the last statement of a branch: the place behind the conditional is the same, and in fewer bodies."""
    return gap.body.role in ("then", "else") and gap.index == len(gap.body.statements)


def _kept(session: Session, outer: Level, level: Level) -> Restructuring:
    """Evaluate a condition in a statement of its own, so that there is a place between it and the conditional."""
    statement = level.owner
    text = session.trees.texts[level.function.path]
    layout = Layout(text)
    assert statement is not None
    line = line_of(text, statement.keyword)
    (opening, closing), condition = condition_of(layout, statement, outer, line)
    if kept_condition(layout.code, level.function, (opening, closing), (statement.keyword, statement.end)) is not None:
        raise NotPossible(f"nothing is between the condition in line {line} and its body")
    require_braces(layout, outer, f"the conditional in line {line} is in a section of a `switch` without braces")
    name = fresh_name(level, text, "taken", session.reserved_in(level.function))
    head = b"const bool " + name + b" = "
    opened = head + condition + b";" + layout.newline + layout.indentation(statement.keyword) + b"if (" + name + b")"
    moved = ((len(head), opening, closing - opening),)
    change = Change(statement.keyword, statement.head_end, opened, moved=moved)
    return Restructuring(level.function.path, [change], "keep the condition", statement.keyword, name=name)


def _entered(candidate: Candidate, varying: Collection[tuple[str, int]]) -> list[Body]:
    """The bodies around a place that only some threads enter, loops that they leave early aside."""
    gap = candidate.gap
    return [b for b in bodies_around(gap) if (gap.function.path, b.start) in varying and b.role in ("then", "else")]


def _levels(gap: Gap) -> list[Level]:
    """The bodies around a place, from its function's on, each with the statement that the place is in."""
    bodies = [(step.body, step.index) for step in gap.steps] + [(gap.body, gap.index)]
    return [Level(gap.function, gap.steps[:depth], body, index) for depth, (body, index) in enumerate(bodies)]


def _halved(session: Session, outer: Level, level: Level, cuts: Iterable[int]) -> Restructuring:
    """Close a conditional in front of one of the statements `cuts` of its body, and open it again for the rest: the
    condition is evaluated once, what is declared in the first half and used in the second is declared in front. An
    `else` stays behind the second half."""
    statement, body = level.owner, level.body
    text = session.trees.texts[level.function.path]
    layout = Layout(text)
    assert statement is not None
    line = line_of(text, statement.keyword)
    (opening, closing), condition = condition_of(layout, statement, outer, line)
    if any(s.kind == "label" for s in body.statements):
        raise NotPossible(f"the conditional in line {line} contains labels")
    inside = [c for c in cuts if 0 < c < len(body.statements)]
    if not inside or not body.braced:
        raise NotPossible(f"the conditional in line {line} cannot be split where it would have to be")
    cut = cut_with_least(layout, level, inside)
    second = first_word(body.statements[cut.at])
    require_lines(layout, level, f"several statements of the conditional in line {line} are in one line", second)
    keep_scopes(layout, outer, level, cut)
    kept = (
        kept_condition(layout.code, level.function, (opening, closing), (statement.keyword, statement.end))
        if body.role == "then"
        else None
    )
    if kept is None or cut.apart or cut.whole:
        require_braces(layout, outer, f"the conditional in line {line} is in a section of a `switch` without braces")
    name = kept or fresh_name(level, text, "taken", session.reserved_in(level.function))
    indentation = layout.indentation(statement.keyword)
    newline = layout.newline + indentation
    declared = b"".join(each + b";" + newline for each in declared_in_front(layout, outer, level, cut))
    head = b"const bool " + name + b" = "
    opened = declared + b"if (" + (name if kept is None else condition) + b")"
    changes = [*assigned(layout, level, cut), *moved_out(layout, level, cut, indentation)]
    begin = newline + b"if (" + (name if body.role == "then" else b"!" + name) + b") {"
    if not cut.whole:
        moved = (len(head), opening, closing - opening)
        if kept is None:
            opened = head + condition + b";" + newline + opened
        else:
            moved = (len(declared) + 4, opening, closing - opening)
        changes.append(Change(statement.keyword, statement.head_end, opened, moved=(moved,)))
    else:
        changes += _first_half_later(layout, level, cut, newline + opened + b" {", (opening, closing), kept, head)
    at = outside_conditionals(layout, body.statements[cut.at - 1].end, body.statements[cut.at].start)
    blank = _BLANK_LINES.match(text, at)
    begin += declared_again(layout, level, cut, newline + layout.unit(level.function))
    between = begin if cut.whole == cut.at else newline + b"}" + begin
    changes.append(Change(at, blank.end() if blank else at, between))
    changes = sorted(changes, key=lambda c: (c.start, c.end))
    granted = taken_for_granted(layout, level, cut)
    return Restructuring(
        level.function.path, changes, "split the conditional", statement.keyword, granted=granted, name=name
    )


def _first_half_later(
    layout: Layout,
    level: Level,
    cut: Cut,
    opened: bytes,
    condition: tuple[int, int],
    kept: bytes | None,
    head: bytes,
) -> Iterable[Change]:
    """Begin a conditional behind the declarations at its head. `opened`: how it begins; `head`: the declaration of what
    keeps the condition, if nothing does yet."""
    statement, body, text = level.owner, level.body, layout.text
    assert statement is not None
    start, end = condition
    if kept is None:
        value = text[start:end]
        yield Change(statement.keyword, body.start, head + value + b";", moved=((len(head), start, end - start),))
    else:
        stop = text.find(b"\n", body.start) + 1
        if text[body.start : stop].strip():
            raise NotPossible(f"a comment follows the conditional in line {line_of(text, statement.keyword)}")
        yield Change(layout.line_start(statement.keyword), stop, b"")
    if cut.whole < cut.at:
        at = layout.line_end(body.statements[cut.whole - 1].end)
        yield Change(at, at, opened)


def condition_of(layout: Layout, statement: Statement, around: Level, line: int) -> tuple[tuple[int, int], bytes]:
    """Where the condition of a plain `if` stands, and the condition; raises `NotPossible`."""
    text = layout.text
    if statement.macro:
        raise NotPossible(f"the conditional in line {line} is written by a macro")
    if not around.body.braced:
        raise UnbracedError(around, f"the conditional in line {line} is a branch without braces")
    if not layout.is_first(statement.keyword):
        why = f"the conditional in line {line} does not begin its line"
        require_lines(layout, around, why, statement.keyword)
        raise NotPossible(f"the conditional in line {line} does not begin its line")
    opening = layout.code.find(b"(", statement.keyword, statement.head_end)
    start, end = trimmed(layout, opening + 1, statement.head_end - 1)
    condition = text[start:end]
    between = layout.code[statement.keyword + 2 : opening].strip()
    if declares(layout, around.function, (start, end)):
        raise DeclaredError(around, statement, f"the condition in line {line} declares a variable or is not plain")
    if between or DIRECTIVE.search(condition):
        raise NotPossible(f"the condition in line {line} declares a variable or is not plain")
    if text[statement.keyword + 2 : opening].strip():
        raise NotPossible(f"there is a comment in front of the condition in line {line}")
    if _has_comma(layout.code[start:end]):
        raise NotPossible(f"the condition in line {line} contains a comma operator")
    return (start, end), condition


def trimmed(layout: Layout, start: int, end: int) -> tuple[int, int]:
    """A range without the blanks around it; the end of a line stays behind a comment that it ends."""
    text = layout.text
    start = end - len(text[start:end].lstrip())
    line = max(text.rfind(b"\n", start, start + len(text[start:end].rstrip())) + 1, start)
    comment = layout.code[line:end].rstrip() != text[line:end].rstrip()
    return start, end if comment else start + len(text[start:end].rstrip())


def _has_comma(condition: bytes) -> bool:
    """Whether a comma stands outside of all brackets: in a declaration it would begin another variable."""
    depth = 0
    for byte in condition:
        depth += (byte in b"([{") - (byte in b")]}")
        if byte in b"," and depth == 0:
            return True
    return False


def left_alone(session: Session, outer: Level, level: Level) -> Restructuring:
    """Split a conditional behind the statement at the position of `level`, else in front of it."""
    last = level.position == len(level.body.statements) - 1
    return _halved(session, outer, level, [level.position + (not last)])


def _into_loop(session: Session, outer: Level, level: Level) -> Restructuring:
    """Leave a loop alone in its conditional, then let all threads make it, with its body under the condition.

    `level` is the branch, in it the position of the loop; `outer` the body around the conditional."""
    if len(level.body.statements) != 1:
        return left_alone(session, outer, level)
    text = session.trees.texts[level.function.path]
    layout, statement, loop = Layout(text), level.owner, level.body.statements[0]
    assert statement is not None
    line = line_of(text, loop.keyword)
    if loop.kind in ("while", "do") and level.body.role == "then" and len(statement.bodies) == 1:
        if not level.body.braced:
            return Restructuring(level.function.path, braces(level, text), "", statement.keyword)
        condition = condition_of(layout, statement, outer, line_of(text, statement.keyword))
        return _under_flag(session, level, layout, condition[0])
    if len(statement.bodies) > 1:
        condition = condition_of(layout, statement, outer, line_of(text, statement.keyword))
        return split_at_else(session, outer, statement, condition)
    if level.body.role != "then" or loop.kind != "for":
        raise NotPossible(f"the loop in line {line} is not a plain `for`")
    if not level.body.braced:
        return Restructuring(level.function.path, braces(level, text), "", statement.keyword)
    condition = condition_of(layout, statement, outer, line_of(text, statement.keyword))
    try:
        changes, granted = inside_out(outer, level, text, condition, session.reserved_in(level.function))
    except (OneLineError, UnbracedError, DeclaredError):
        raise
    except NotPossible as reason:
        # Threads that do not meet the condition cannot count with the others: they have no work.
        return _under_flag(session, level, layout, condition[0], reason)
    return Restructuring(
        level.function.path,
        sorted(changes, key=lambda c: (c.start, c.end)),
        _LOOP_OF_ALL,
        loop.keyword,
        granted=granted,
    )


def _under_flag(
    session: Session, level: Level, layout: Layout, condition: tuple[int, int], otherwise: NotPossible | None = None
) -> Restructuring:
    """A loop alone in a conditional, made as long as any thread that meets the condition has work. `otherwise`: why it
    is done this way, and raised where that is not possible, too."""
    loop = level.body.statements[0]
    inner = Level(level.function, (*level.steps, Step(level.body, 0)), loop.bodies[0], 0)
    if not inner.body.braced:
        return Restructuring(level.function.path, braces(inner, layout.text), "", loop.keyword)
    try:
        refuse_votes(session.kernels, level.function.path, layout, loop)
        changes = flagged_under(inner, loop, layout, condition, session.vote, session.reserved_in(inner.function))
    except (OneLineError, UnbracedError, DeclaredError):
        raise
    except NotPossible as reason:
        raise otherwise or reason from None
    cost = WARP_VOTES if session.orders_warps else VOTES
    return Restructuring(level.function.path, changes, _LOOP_OF_ALL, loop.keyword, cost)


_LOOP_OF_ALL: Final = "let all threads make the loop"
_BLANK_LINES: Final = re.compile(rb"(?:\r?\n[ \t]*)+(?=\r?\n)")
