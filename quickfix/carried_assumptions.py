"""What is taken for granted where variables of a conditional that is taken apart are made, assigned or ended elsewhere.

Takes declarations with how they are carried over (`carried`), gives a sentence, or nothing.
"""

from __future__ import annotations

import re
from typing import Final

from analyzers.frontend.gaps import Declared, FunctionTree, Statement
from quickfix.carried import Cut
from quickfix.edits import Layout
from quickfix.paths import Level

_CONST: Final = re.compile(rb"\bconst\b")


def taken_for_granted(layout: Layout, level: Level, cut: Cut) -> str:
    """What is assumed about variables that are assigned apart from their declarations, a sentence or nothing."""
    apart = ((level.body.statements[i], d) for i, ds in cut.apart.items() if i not in cut.constants for d in ds)
    said = (assumed_of(layout, level.function, statement, declared) for statement, declared in apart)
    ends = (
        ends_earlier(s)
        for i, s in enumerate(level.body.statements[cut.whole : cut.at], cut.whole)
        if i not in cut.apart
    )
    made = map(made_by_all, level.body.statements[: cut.whole])
    return next(filter(None, (*said, *made, *ends)), "")


def made_by_all(statement: Statement) -> str:
    """What is assumed where threads make the variables of a declaration that did not before, a sentence or nothing."""
    return _of_open(statement, "all threads may make `{}`")


def ends_earlier(statement: Statement) -> str:
    """What is assumed where the variables of a declaration end with the first half, a sentence or nothing."""
    return _of_open(statement, "the end of `{}` does nothing")


def _of_open(statement: Statement, what: str) -> str:
    """That as an assumption about the first variable of a declaration whose type is open, or nothing."""
    name = next((d.name for d in statement.declares or () if d.open), "")
    return f"Assumes that {what.format(name)}: its type is only known where the template is used." if name else ""


def assumed_of(layout: Layout, function: FunctionTree, statement: Statement, declared: Declared) -> str:
    """What is assumed where a constant becomes a variable, a sentence or nothing: templates may do another thing with
    that."""
    own = {u.variable for u in function.uses if u.kind == "declared" and u.at == declared.at}
    if declared.open:
        return (
            f"Assumes that `{declared.name}` may as well be assigned where it was declared: its type is only known "
            "where the template is used."
        )
    typed = re.compile(rb"\b(?:decltype|typeof|__typeof|__typeof__)\s*\(\s*\(?\s*" + declared.name.encode() + rb"\b")
    unresolved = any(u.unresolved and u.variable in own for u in function.uses)
    unresolved = unresolved or typed.search(layout.code, statement.start, function.body.end) is not None
    if not unresolved or _CONST.search(layout.code, statement.start, declared.at) is None:
        return ""
    what = f"what `{declared.name}` is handed to does the same where that is no constant"
    return f"Assumes that {what}: which function it is, the text does not show."
