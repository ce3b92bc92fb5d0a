"""Updates in two statements: ``int old = x; …; x = old + v;``, where a variable takes over what the cell held, and
in three: ``int sum = x; sum += v; x = sum;``.

Takes such an update, gives it as one that stands where the cell is read, and the changes after which the write behind
it is gone. The cell is then written earlier than before; nothing in between may know of that.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from analyzers.frontend.gaps import FunctionTree, Statement, Step
from analyzers.frontend.update_kinds import Range, Update
from quickfix.edits import Change, Layout, removal
from quickfix.loop_jumps import jumps_of
from quickfix.naming import NotPossible, line_of
from quickfix.paths import Level, steps_to
from quickfix.sections import refuse_parted, section
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
    refuse_parted(layout.text, update.whole[1], write[0], f"the read of the cell and the write in line {line}")
    declaration, between = body.statements[first], body.statements[first + 1 : last]
    computed = next((s for s in between if update.computed is not None and s.start == update.computed[0]), None)
    if update.computed is not None and computed is None:
        raise NotPossible(f"what is written in line {line} is computed in part of a larger statement")
    inside = declaration.end, body.statements[last].start
    rest = [inside] if computed is None else [(inside[0], computed.start), (computed.end, inside[1])]
    cell = mentioned(function, update.cell.at)
    own = {u.variable for u in function.uses if u.kind == "declared" and u.at == update.variable}
    if computed is not None:
        own |= _declared(function, (computed.start, computed.end))
    taken = mentioned(function, update.operand.at) if update.operand is not None else set[int]()
    if any(map(_acts, between)) or any(_CALL.search(layout.code, *part) for part in rest):
        raise NotPossible(
            f"what is between the read in line {line_of(layout.text, update.whole[0])} and the write may act"
        )
    stays = stay(function, cell | taken, inside) and stay(function, own, *rest)
    if not stays or mentioned(function, inside) & cell:
        raise NotPossible(f"between its read and the write in line {line} something is done with the cell")
    behind = body.statements[last].end, function.end
    used = any(u.variable in own for u in uses_in(function, *rest, behind))
    used = used or _is_named_elsewhere(layout, function, own, declaration.start, behind)
    if update.operand is not None:
        if used and not update.operand.is_plain and update.operand.is_safe and computed is not None:
            operand = layout.text[slice(*update.operand.at)].decode(errors="replace")
            raise NotPossible(f"the new value is used, and `{operand}` would be evaluated twice")
        # What is computed of the old value for further uses takes the operand once more.
        alone = not between or (len(between) == 1 and computed is not None and not used)
        safe = update.operand.is_plain or (alone and update.operand.is_safe)
        if taken & (own | cell | _declared(function, inside)) or not safe:
            operand = layout.text[slice(*update.operand.at)].decode(errors="replace")
            raise NotPossible(f"`{operand}` is not known where the cell is read")
    gone = without_write(layout, function, steps[: depth + 1])
    if used:
        return update, gone
    if computed is not None:
        index = body.statements.index(computed)
        gone = without_write(layout, function, (*steps[:depth], Step(body, index))) + gone
    return replace(update, whole=(declaration.start, update.whole[1]), yields="nothing"), gone


def _is_named_elsewhere(
    layout: Layout, function: FunctionTree, variables: Collection[int], place: int, behind: Range
) -> bool:
    """Whether code that this build leaves out may use one of the variables of a place."""
    names = {u.name.encode() for u in function.uses if u.variable in variables}
    words = (m for name in names for m in re.finditer(rb"\b" + re.escape(name) + rb"\b", layout.code[slice(*behind)]))
    own = section(layout.text, place)
    return any(section(layout.text, behind[0] + word.start()) != own for word in words)


def _declared(function: FunctionTree, inside: Range) -> set[int]:
    return {u.variable for u in uses_in(function, inside) if u.kind == "declared"}


def without_write(layout: Layout, function: FunctionTree, steps: Sequence[Step]) -> list[Change]:
    """The changes that take away the statement at the end of `steps`. A comment behind it stays, where it was."""
    statement = steps[-1].body.statements[steps[-1].index]
    end = layout.line_end(statement.end)
    rest = layout.text[statement.end : end]
    if rest.strip() and not layout.code[statement.end : end].strip() and layout.is_first(statement.start):
        return [Change(statement.start, end - len(rest.lstrip()), b"")]
    return removal(layout.text, steps)


def _acts(statement: Statement) -> bool:
    """Whether a statement may end the body, or do what the tree does not show."""
    inner = (s for body in statement.bodies for s in statements_of(body))
    return any(jumps_of(statement)) or any(s.macro or s.kind in ("label", "other") for s in (statement, *inner))
