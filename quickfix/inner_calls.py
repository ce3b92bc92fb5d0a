"""A call inside of a larger statement, made in front of it: its value goes through a variable.

Takes the statement and the function that it calls, gives the changes after which the call is a statement of its own.
What it passes that is more than names and numbers goes through variables as well, which have a value in any case: other
threads may come to make the call, too.
"""

from __future__ import annotations

from typing import Final

from analyzers.frontend.blanking import blanked
from analyzers.frontend.gaps import Argument, InnerCall, Statement
from quickfix.distribute import DIRECTIVE
from quickfix.edits import Change, Layout
from quickfix.naming import NotPossible, fresh_name, line_of
from quickfix.own_lines import OneLineError, require_braces
from quickfix.paths import Level
from quickfix.session import Session
from quickfix.steps import Restructuring
from quickfix.variables import mentioned, stay, uses_in

_PART: Final = "the call in line {} is part of a larger statement"


class LargerStatementError(NotPossible):
    """A call that would have to be a statement of its own."""

    def __init__(self, callee: Level, line: int, text: str) -> None:
        super().__init__(text)
        self.callee, self.line = callee, line


def call_made_in_front(session: Session, level: Level, callee: Level) -> Restructuring:
    """`level`: of the statement; `callee`: the outermost body of the function. Raises `NotPossible`."""
    statement, text = level.statement, session.trees.texts[level.function.path]
    assert statement is not None
    layout, line = Layout(text), line_of(text, statement.start)
    call = _call_of(statement, callee)
    own = call is not None and _is_own_value(layout, statement, call)
    if call is None or not (own or call.type not in ("", "void")) or not all(a.idle for a in call.arguments):
        raise NotPossible(_PART.format(line))
    require_braces(layout, level, f"the statement in line {line} is in a body without braces")
    if not layout.is_first(statement.start):
        raise OneLineError(level, (statement.start,), f"the statement in line {line} does not begin its line")
    if DIRECTIVE.search(text[statement.start : statement.end]):
        raise NotPossible(f"the statement in line {line} contains preprocessor lines")
    _refuse_references(session, level, callee, call, line)
    reserved = session.reserved_in(level.function)
    names: list[bytes] = []

    def name() -> bytes:
        names.append(fresh_name(level, text, "value", {*reserved, *names}))
        return names[-1]

    rest = layout.newline + layout.indentation(statement.start)
    written, moved = b"", list[tuple[int, int, int]]()
    passed: list[tuple[tuple[int, int], bytes]] = []
    for argument in (a for a in call.arguments if not a.plain):
        variable = name()
        passed.append((argument.at, variable))
        written += _declared(argument, variable, line) + rest + variable + b" = "
        moved.append((len(written), argument.at[0], argument.at[1] - argument.at[0]))
        written += text[slice(*argument.at)] + b";" + rest
    if own and not passed:
        raise NotPossible(_PART.format(line))
    if own:
        changes = [Change(at[0], at[1], variable) for at, variable in passed]
    else:
        result = name()
        written += f"{call.type}{'' if call.type.endswith('*') else ' '}".encode() + result + b" = "
        at = call.at[0]
        for place, variable in (*passed, ((call.at[1], call.at[1]), b"")):
            moved.append((len(written), at, place[0] - at))
            written += text[at : place[0]] + variable
            at = place[1]
        written += b";" + rest
        changes = [Change(*call.at, result)]
    changes.insert(0, Change(statement.start, statement.start, written, moved=tuple(moved)))
    if changes[1].start == statement.start:
        changes[:2] = _in_one(changes[0], changes[1])
    return Restructuring(level.function.path, changes, "split the statement", statement.start)


def _is_own_value(layout: Layout, statement: Statement, call: InnerCall) -> bool:
    """Whether the statement is nothing but the call, or assigns or declares what that gives."""
    before = layout.code[statement.start : call.at[0]].rstrip()
    assigned = statement.assignment is not None and statement.assignment.value == call.at
    declared = statement.declares is not None and len(statement.declares) == 1 and before.endswith(b"=")
    alone = layout.code[call.at[1] : statement.end].strip() == b";"
    return alone and (not before or assigned or declared)


def _in_one(first: Change, second: Change) -> list[Change]:
    """What is put in front of a place and what takes the place of what begins there, as one change."""
    return [Change(first.start, second.end, first.text + second.text, moved=first.moved)]


def _call_of(statement: Statement, callee: Level) -> InnerCall | None:
    found = [call for call in statement.calls if call.at[0] == callee.call]
    return found[-1] if found else None


def _declared(argument: Argument, variable: bytes, line: int) -> bytes:
    """A variable of the type of an argument, with a value."""
    if argument.type in ("", "void"):
        raise NotPossible(f"the type of what the call in line {line} passes is not known")
    pointer = argument.type.endswith("*")
    return argument.type.encode() + (b"" if pointer else b" ") + variable + (b" = nullptr;" if pointer else b" = 0;")


def _refuse_references(session: Session, level: Level, callee: Level, call: InnerCall, line: int) -> None:
    """Raise where the function may change what the statement computes with, or may want the place of what it gets."""
    function, statement, text = callee.function, level.statement, session.trees.texts[level.function.path]
    assert statement is not None
    if _is_variable(level, statement, call, text):
        # What is assigned to it does not depend on what it was.
        before = set[int]()
    else:
        before = mentioned(level.function, (statement.start, call.at[0]))
    if not stay(level.function, before, call.at):
        raise NotPossible(f"the function called in line {line} may change what the statement computes with")
    head = blanked(session.trees.texts[function.path])[function.start : function.body.start]
    if not all(a.plain for a in call.arguments) and (b"&" in head or b"&" in text[slice(*call.at)]):
        raise NotPossible(f"the function called in line {line} takes references")


def _is_variable(level: Level, statement: Statement, call: InnerCall, text: bytes) -> bool:
    """Whether the statement assigns what a call gives to something that has a name."""
    assigned = statement.assignment
    if assigned is None or assigned.value != call.at:
        return False
    used = {u.name.encode() for u in uses_in(level.function, assigned.target)}
    return used == {text[slice(*assigned.target)]}
