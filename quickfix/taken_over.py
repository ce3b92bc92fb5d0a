"""Updates in two statements: ``int old = x; …; x = old + v;``, where a variable takes over what the cell held.

Takes such an update, gives it as one that stands where the cell is read, and the changes after which the write behind
it is gone. The cell is then written earlier than before; nothing in between may know of that.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from analyzers.frontend.gaps import FunctionTree, Statement, Step
from analyzers.frontend.updates import Range, Update
from quickfix.edits import Change, Layout, removal
from quickfix.loop_jumps import jumps_of
from quickfix.naming import NotPossible, line_of
from quickfix.paths import Level, steps_to
from quickfix.variables import mentioned, statements_of, stay, uses_in

_CALL: Final = re.compile(rb"\b(?!(?:if|for|while|switch|sizeof|return)\b)[A-Za-z_]\w*\s*(?:<[^;<>]*>\s*)?\(")


def taken_over(level: Level, update: Update, write: Range, layout: Layout) -> tuple[Update, list[Change]]:
    """`level`: of the write. Raises `NotPossible`."""
    function, steps = level.function, steps_to(level)
    line = line_of(layout.text, write[0])
    depth = next((i for i, step in enumerate(steps) if step.statement.start == write[0]), None)
    if depth is None:
        raise NotPossible(f"the write in line {line} is part of a larger statement")
    body, last = steps[depth].body, steps[depth].index
    first = next((i for i, s in enumerate(body.statements[:last]) if s.start <= update.whole[0] < s.end), None)
    if first is None:
        raise NotPossible(f"the cell is read elsewhere than it is written in line {line}")
    declaration, between = body.statements[first], body.statements[first + 1 : last]
    inside = declaration.end, body.statements[last].start
    cell = mentioned(function, update.cell.at)
    own = {u.variable for u in function.uses if u.kind == "declared" and u.at == update.variable}
    taken = mentioned(function, update.operand.at) if update.operand is not None else set[int]()
    if any(map(_acts, between)) or _CALL.search(layout.code, *inside):
        raise NotPossible(
            f"what is between the read in line {line_of(layout.text, update.whole[0])} and the write may act"
        )
    if not stay(function, cell | own | taken, inside) or mentioned(function, inside) & cell:
        raise NotPossible(f"between its read and the write in line {line} something is done with the cell")
    if update.operand is not None:
        made = {u.variable for u in uses_in(function, inside) if u.kind == "declared"}
        safe = update.operand.is_plain or (not between and update.operand.is_safe)
        if taken & (own | cell | made) or not safe:
            operand = layout.text[slice(*update.operand.at)].decode(errors="replace")
            raise NotPossible(f"`{operand}` is not known where the cell is read")
    if not any(u.variable in own for u in uses_in(function, inside, (body.statements[last].end, function.end))):
        update = replace(update, whole=(declaration.start, update.whole[1]), yields="nothing")
    return update, without_write(layout, function, steps[: depth + 1])


def without_write(layout: Layout, function: FunctionTree, steps: Sequence[Step]) -> list[Change]:
    """The changes that take away the statement at the end of `steps`. A comment behind it stays, where it was."""
    statement = steps[-1].body.statements[steps[-1].index]
    end = layout.line_end(statement.end)
    rest = layout.text[statement.end : end]
    if rest.strip() and not layout.code[statement.end : end].strip() and layout.is_first(statement.start):
        return [Change(statement.start, end - len(rest.lstrip()), b"")]
    return removal(layout.text, function, steps)


def _acts(statement: Statement) -> bool:
    """Whether a statement may end the body, or do what the tree does not show."""
    inner = (s for body in statement.bodies for s in statements_of(body))
    return any(jumps_of(statement)) or any(s.macro or s.kind in ("label", "other") for s in (statement, *inner))
