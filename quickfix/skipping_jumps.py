"""Jumps over what is behind them, made conditions, so that all threads come to what follows: steps of a restructuring.

Takes a session and two accesses that a jump stands between or in front of, gives the changes after which what the jump
skips is under the opposite of its condition (`guards`), or, where the jump is deeper in other statements, under a flag
(`guarded_rest`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from analyzers.frontend.gaps import Statement, Step
from analyzers.model import Access
from quickfix.edits import Layout
from quickfix.guarded_rest import iteration_guarded, section_guarded
from quickfix.guards import goto_in, guarded, is_jump, jump_in, switch_in
from quickfix.leaving_jumps import made_behind_switch
from quickfix.loop_jumps import jumps_in, jumps_of
from quickfix.paths import Chain, Level
from quickfix.session import Session
from quickfix.steps import Restructuring
from quickfix.switches import ends

_CONTINUE: Final = "guard the rest of the loop instead of `continue`"


def guard_continue(
    session: Session, chains: tuple[Chain, Chain], accesses: tuple[Access, Access]
) -> Restructuring | None:
    """Put the rest of an iteration under the opposite of the condition under which threads skip it."""
    del accesses
    for a, b in reversed(list(zip(*chains, strict=False))):
        if a.identity == b.identity and a.body.loops:
            last = max(a.position, b.position)
            index = jump_in(a.body, last, "continue")
            if index is not None:
                text = session.trees.texts[a.function.path]
                at = a.body.statements[index].keyword
                return Restructuring(a.function.path, guarded(a, index, text), _CONTINUE, at)
            switch = switch_in(a.body, last, "continue")
            if switch is not None:
                return jump_behind_switch(session, a, switch)
            if a.owner is not None and a.owner.is_loop and any(map(continues, a.body.statements[: last + 1])):
                return without_continue(session, a)
    return None


def without_continue(session: Session, level: Level) -> Restructuring | None:
    """The changes for the last `continue` of a loop, if there is one; for all where it is deeper in statements that
    something follows. `level`: the body of the loop."""
    path, text = level.function.path, session.trees.texts[level.function.path]
    jumps = [jump for jump in jumps_in(level.body) if jump.call == "continue"]
    if not jumps:
        return None
    last = jumps[-1]
    for inner, index in _at_end(level, last):
        statement = inner.body.statements[index]
        if is_jump(statement, "continue") and statement.bodies[0].statements[-1] is last:
            if index + 1 < len(inner.body.statements):
                return Restructuring(path, guarded(inner, index, text), _CONTINUE, statement.keyword)
            break
    changes = iteration_guarded(level, Layout(text), session.reserved_in(level.function))
    return Restructuring(path, changes, _CONTINUE, last.start)


def _at_end(level: Level, jump: Statement) -> Iterator[tuple[Level, int]]:
    """The bodies around a jump from the loop's on, each with its statement that the jump is in, as long as nothing
    follows those around them."""
    while True:
        body = level.body
        index = next(i for i, s in enumerate(body.statements) if s.start <= jump.start < s.end)
        yield level, index
        statement = body.statements[index]
        if statement.kind not in ("if", "compound") or index + 1 < len(body.statements):
            return
        inner = next(b for b in statement.bodies if b.start <= jump.start < b.end)
        level = Level(level.function, (*level.steps, Step(body, index)), inner, 0)


def continues(statement: Statement) -> bool:
    """Whether threads end an iteration in a statement of it."""
    return any(jump.call == "continue" for jump in jumps_of(statement))


def jump_behind_switch(session: Session, level: Level, switch: Statement) -> Restructuring | None:
    """Jumps out of a `switch` made behind it, if there are any."""
    path = level.function.path
    behind = made_behind_switch(level, switch, Layout(session.trees.texts[path]), session.reserved_in(level.function))
    text = "jump out behind the switch"
    return Restructuring(path, behind, text, switch.keyword) if behind is not None else None


def without_break(session: Session, level: Level, switch: Statement, section: int, kept: int) -> Restructuring | None:
    """The changes for all `break` of a section of a `switch` but that at its end, if one is in front of its statement
    `kept`, behind which it goes on. `level`: the body that the `switch` is in."""
    body, path = switch.bodies[section], level.function.path
    jumps = [jump for statement in body.statements[:kept] for jump in jumps_of(statement) if jump.call == "break"]
    if not jumps or kept == len(body.statements) or not ends(body):
        return None
    place = Level(level.function, (*level.steps, Step(level.body, level.body.statements.index(switch))), body, 0)
    changes = section_guarded(place, Layout(session.trees.texts[path]), session.reserved_in(level.function))
    return Restructuring(path, changes, "guard the rest of the section instead of `break`", jumps[0].start)


def guard_goto(session: Session, chains: tuple[Chain, Chain], accesses: tuple[Access, Access]) -> Restructuring | None:
    """Put what threads skip by a `goto` under the opposite of its condition. Before all else: a jump must not pass the
    declarations that other steps make."""
    del accesses
    for a, b in reversed(list(zip(*chains, strict=False))):
        if a.identity == b.identity:
            text = session.trees.texts[a.function.path]
            found = goto_in(a.body, max(a.position, b.position), Layout(text))
            if found is not None:
                index, label = found
                at = a.body.statements[index].keyword
                changes = guarded(a, index, text, label)
                return Restructuring(a.function.path, changes, "guard what is skipped instead of `goto`", at)
    return None
