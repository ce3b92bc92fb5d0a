"""Jumps out of the iterations of a loop, as the syntax tree shows them, and whether it shows all that there are.

Takes the body of a loop, gives its own `break` and `continue` statements and what else leads out of it. What a macro or
a lambda hides is found by its word, so that nothing is taken for absent that is only not seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from analyzers.frontend.blanking import WORD
from analyzers.frontend.gaps import Body, Statement
from quickfix.edits import Layout
from quickfix.naming import NotPossible, defines, line_of, with_macros
from quickfix.variables import statements_of

_JUMP: Final = re.compile(rb"\b(?:break|continue|return|goto)\b")
QUIET: Final = frozenset({"expression", "declaration", "empty"})
"""Statements that do not jump even if a macro wrote them."""


def jumps_in(body: Body) -> Iterator[Statement]:
    """The jumps of a body that lead out of an iteration of the loop around it."""
    for statement in body.statements:
        yield from jumps_of(statement)


def jumps_of(statement: Statement) -> Iterator[Statement]:
    """The jumps in a statement that lead out of it."""
    own = frozenset({"break", "continue"}) if statement.is_loop else frozenset[str]()
    own |= {"break"} if statement.kind == "switch" else set[str]()
    if statement.kind == "jump":
        yield statement
    for inner in statement.bodies:
        yield from (jump for jump in jumps_in(inner) if jump.call not in own)


def refuse_hidden(layout: Layout, body: Body) -> None:
    """Raise `NotPossible` where the body may jump in a way that the tree does not show."""
    text, every = layout.text, list(statements_of(body))
    shown = {layout.code.find(s.call.encode(), s.start, s.end) for s in every if s.kind == "jump" and not s.macro}
    code = layout.code[body.start : body.end]
    hidden = next((body.start + m.start() for m in _JUMP.finditer(code) if body.start + m.start() not in shown), -1)
    if hidden >= 0 or _JUMP.search(with_macros(code, text)[len(code) :]):
        line = line_of(text, max(hidden, body.start))
        raise NotPossible(f"what a macro or a lambda does in the loop in line {line} may lead out of it")
    for statement in every:
        word = WORD.match(layout.code, statement.start) if statement.macro and statement.kind not in QUIET else None
        if word is not None and not defines(text, word.group()):
            line = line_of(text, statement.start)
            raise NotPossible(f"the macro in line {line} may lead out of the loop, and is defined elsewhere")
