"""How a kernel writes its barriers: as a call of the group they are of, or by a macro.

Takes barriers that are to be moved, gives the statement that they all are, where that is another one than the plain
call. Whether it means the same elsewhere is for a trial to say.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from analyzers.frontend.gaps import Statement
from analyzers.model import Access
from quickfix.paths import chain_to
from quickfix.removal import BARRIER_CALLS
from quickfix.session import Session

_GROUP_BARRIER: Final = re.compile(rb"\w+\.sync\(\);")
_MACRO: Final = re.compile(rb"[A-Za-z_]\w*(?:\([ \t0-9]*\))?;?")
"""With no arguments but numbers: names may mean something else where the barrier goes."""


def spelled_alike(session: Session, barriers: Collection[Access]) -> bytes:
    """The statement that all barriers are, if it is one of a named group (``block.sync();``) or of a macro
    (``SYNC();``)."""
    written = {_written(session, barrier) for barrier in barriers}
    return written.pop() if len(written) == 1 else b""


def calls_of(session: Session, barriers: Collection[Access]) -> set[str]:
    """The functions that the barriers call, by a macro or not."""
    statements = (_statement(session, barrier) for barrier in barriers)
    return {statement[0].call if statement is not None else "" for statement in statements}


def _written(session: Session, barrier: Access) -> bytes:
    found = _statement(session, barrier)
    if found is None or found[0].call not in BARRIER_CALLS:
        return b""
    statement, text = found
    pattern = _MACRO if statement.macro else _GROUP_BARRIER
    return text if pattern.fullmatch(text) else b""


def _statement(session: Session, barrier: Access) -> tuple[Statement, bytes] | None:
    """The statement of a barrier and its text."""
    chain = chain_to(session.trees, barrier)
    statement = chain[-1].statement if chain else None
    if chain is None or statement is None:
        return None
    return statement, session.trees.texts[chain[-1].function.path][statement.start : statement.end]
