"""Functions that threads return from in front of a place where a barrier is missing: what is behind the return is
guarded instead, and all threads that call the function get to the end of it.

Takes two accesses in one call of a function or a lambda, gives the changes for one return in front of them; None where
there is none. A return in a loop or a `switch` is made behind that first. In a kernel nothing has to be done: threads
that have returned count as arrived.
"""

from __future__ import annotations

from collections.abc import Collection

from analyzers.frontend.gaps import Statement, Step
from analyzers.model import Access
from quickfix.edits import Layout
from quickfix.guards import guarded, jump_in
from quickfix.leaving_jumps import made_behind, made_behind_switch
from quickfix.loop_jumps import jumps_of
from quickfix.naming import NotPossible, line_of
from quickfix.paths import Chain, Level
from quickfix.session import Session
from quickfix.steps import Restructuring
from quickfix.verify import findings_of


def guard_return(
    session: Session, chains: tuple[Chain, Chain], accesses: tuple[Access, Access]
) -> Restructuring | None:
    """The change for the last return in front of the accesses in the innermost function that both are in. Raises
    `NotPossible`."""
    del accesses
    for a, b in reversed(list(zip(*chains, strict=False))[1:]):
        if a.identity == b.identity and a.body.start == a.function.body.start:
            end = max(a.position, b.position)
            index = next((i for i in reversed(range(end)) if _returns(a.body.statements[i])), None)
            if index is not None:
                return _without(session, a, index, end)
    return None


def _returns(statement: Statement) -> bool:
    return any(jump.call == "return" for jump in jumps_of(statement))


def _without(session: Session, level: Level, index: int, end: int) -> Restructuring:
    path, statement = level.function.path, level.body.statements[index]
    text, taken = session.trees.texts[path], session.reserved_in(level.function)
    if jump_in(level.body, end, "return") == index:
        _is_not_raced_for(session, level, statement.bodies[0].statements[-1])
        what = f"guard the rest of {_name(level)} instead of `return`"
        return Restructuring(path, guarded(level, index, text, taken=taken), what, statement.keyword)
    if statement.is_loop or statement.kind == "switch":
        return _behind(level, index, Layout(text), taken)
    jump = next(j for j in jumps_of(statement) if j.call == "return")
    line = line_of(text, jump.start)
    by = "not by a statement of its body by itself"
    raise NotPossible(f"some threads return from {_name(level)} in line {line}, {by}")


def _is_not_raced_for(session: Session, level: Level, jump: Statement) -> None:
    """Raise `NotPossible` where others write what is returned: behind a barrier all of them would have written it."""
    path = level.function.path
    found = [f for a in session.kernels for f in findings_of(a.result)]
    spans = [a.span for f in (*found, *session.learnt([a.kernel.mangled for a in session.kernels])) for a in f.accesses]
    if any(s.path == path and jump.start <= s.start_offset < jump.end for s in spans):
        line = line_of(session.trees.texts[path], jump.start)
        raise NotPossible(f"other threads access what is returned in line {line}, and would be ordered before it")


def _behind(level: Level, index: int, layout: Layout, taken: Collection[bytes]) -> Restructuring:
    statement = level.body.statements[index]
    inside = Level(level.function, (*level.steps, Step(level.body, index)), statement.bodies[-1], 0)
    if statement.kind == "switch":
        changes, what = made_behind_switch(level, statement, layout, taken), "the switch"
    else:
        changes, what = made_behind(inside, statement, layout, taken), "the loop"
    if changes is None:
        raise NotPossible(f"`return` leaves {what} in line {line_of(layout.text, statement.keyword)}")
    return Restructuring(level.function.path, changes, f"jump out behind {what}", statement.keyword)


def _name(level: Level) -> str:
    return "the lambda" if level.function.is_lambda else f"`{level.function.name}`"
