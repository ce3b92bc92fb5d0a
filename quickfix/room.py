"""Room for a step of a restructuring: lines, braces or a declaration of its own that it has found missing.

Takes a session and what the step raised, gives the changes after which it can be made.
"""

from __future__ import annotations

from quickfix.braces import braces
from quickfix.declared_conditions import DeclaredError, declared_in_front
from quickfix.naming import NotPossible
from quickfix.own_lines import OneLineError, UnbracedError, own_lines
from quickfix.sections import refuse_halves
from quickfix.session import Session
from quickfix.steps import Restructuring


def made_room(session: Session, reason: OneLineError | UnbracedError | DeclaredError) -> Restructuring | None:
    """None where that cannot be."""
    level, done, at = reason.level, "", reason.level.body.start
    path = level.function.path
    text = session.trees.texts[path]
    try:
        if isinstance(reason, DeclaredError):
            changes, at = declared_in_front(level, reason.statement, text), reason.statement.keyword
            done = "take the declaration out of the condition"
        elif isinstance(reason, UnbracedError):
            changes = braces(level, text)
        else:
            changes = own_lines(level, text, reason.places)
        refuse_halves(session.trees, path, changes)
    except NotPossible:
        return None
    return Restructuring(path, changes, done, at) if changes else None
