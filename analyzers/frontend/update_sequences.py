"""Updates that take several statements: a variable stands between the read and the write, or a limit in front of them.

Takes the statements of a body and conditionals as cursors, gives `int old = x; …; x = old + v;`, `int t = x; t += v; …;
x = t;`, and `if (x < most) { … x++ … }` as plain data, beside what `UpdateReader` finds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from analyzers.frontend.cindex import (
    binary_operator,
    children,
    expansion_offset,
    initializer,
    within,
)
from analyzers.frontend.lowering.nodes import Kinds, written_by_macro
from analyzers.frontend.order import bare
from analyzers.frontend.plain import is_idle
from analyzers.frontend.update_kinds import Bounded, Cell, Operand, Range, Update, Yield
from analyzers.frontend.updates import SWAPPED, RangeOf, UpdateReader, canonical_type, names

_JUMPS: Final = frozenset({Kinds.RETURN, Kinds.BREAK, Kinds.CONTINUE, Kinds.GOTO, Kinds.INDIRECT_GOTO, Kinds.LABEL})
_LEAVE: Final = frozenset({Kinds.RETURN, Kinds.BREAK, Kinds.CONTINUE})
_BRANCHES: Final = frozenset(
    {Kinds.IF, Kinds.FOR, Kinds.RANGE_FOR, Kinds.WHILE, Kinds.DO, Kinds.SWITCH, Kinds.CONDITIONAL, Kinds.LAMBDA}
)


_Count = tuple[Range, Yield, frozenset[int]]
"""Where a cell is counted up, which value of it is used, and where accesses of it begin."""


@dataclass(frozen=True, slots=True)
class _Computed:
    """What a statement makes of the value that a variable holds."""

    variable: Any
    """That holds it then."""
    operator: str
    operand: Operand | None
    at: Range


class SequenceReader(UpdateReader):
    """Reads them, and the updates of single statements, of one file."""

    def __init__(self, text: bytes, code: bytes, range_of: RangeOf, wanted: Sequence[int]) -> None:
        super().__init__(text, code, range_of, wanted)
        self.bounded: list[Bounded] = []

    def limited(self, test: Any, body: Sequence[Any], whole: Range) -> None:
        """Take in an `if` whose condition ends with a limit of a cell that its `body` counts up; after the updates in
        that."""
        if written_by_macro(test) or not self._is_asked_between(whole):
            return
        for own, bound in _limits(bare(test)):
            cell = self._cell(own)
            if cell is None or not is_idle(bare(bound)) or len(self._mentions(own, test)) != 1:
                continue
            for index, statement in enumerate(body):
                updates = [u for u in self.found if isinstance(u, Update) and self._counts(u, own, statement)]
                counts = self._counted(cell, own, statement)
                for update in updates:
                    counts.append((update.whole, update.yields, update.places))
                if len(counts) != 1 or not _is_straight(statement):
                    continue
                rest = (c for s in body[index:] for c in self._mentions(own, s))
                last = all(self._is_in(c, counts[0][0]) for c in rest)
                if last and not any(within(s, _JUMPS) for s in body[:index]):
                    before = (c for s in body[:index] for c in self._mentions(own, s))
                    reads = tuple(sorted({self._range(c) for c in before}))
                    count, yields, places = counts[0]
                    places = places.union(self._places(own), (start for start, _ in reads))
                    self.bounded.append(Bounded(places, cell, self._range(bound), count, yields, reads))

    def _counted(self, cell: Cell, own: Any, statement: Any) -> list[_Count]:
        """The calls in a statement that add one to the cell by `atomicAdd` already."""
        written = [b"&" + self._text(own), *([self._words(cell.address)] if cell.address is not None else [])]
        found: list[_Count] = []
        for call in within(statement, frozenset({Kinds.CALL})):
            arguments = [a for a in call.get_arguments() if a is not None] if call.spelling == "atomicAdd" else []
            if len(arguments) == 2 and self._text(arguments[0]) in written and self._text(arguments[1]) == b"1":
                whole = self._range(call)
                which: Yield = "nothing" if whole == self._range(bare(statement)) else "old"
                found.append((whole, which, frozenset({whole[0], self._range(arguments[0])[0]})))
        return found

    def _counts(self, update: Update, cell: Any, statement: Any) -> bool:
        """Whether an update in a statement adds one to the cell."""
        one = update.operand is None or self._written[slice(*update.operand.at)] == b"1"
        within = self._is_in(statement, update.whole, turned=True) and update.write is None
        return within and one and update.operator == "+" and self._words(update.cell.at) == self._text(cell)

    def _mentions(self, cell: Any, cursor: Any) -> list[Any]:
        own = bare(cell)
        found = within(cursor, frozenset({own._kind_id}))
        return [c for c in found if self._text(c) == self._text(own)]

    def _is_in(self, cursor: Any, at: Range, *, turned: bool = False) -> bool:
        """Whether a cursor is in a range; `turned`: whether that is in the cursor."""
        inner, outer = (at, self._range(cursor)) if turned else (self._range(cursor), at)
        return outer[0] <= inner[0] and inner[1] <= outer[1]

    def sequence(self, statements: Sequence[Any]) -> None:
        """Take in the statements of a body: variables that take over a cell, and what writes it by them later."""
        for index, statement in enumerate(statements):
            variables = children(statement) if statement._kind_id == Kinds.DECL_STMT else []
            value = initializer(variables[0]) if len(variables) == 1 and variables[0]._kind_id == Kinds.VAR else None
            if value is None or written_by_macro(statement) or not is_idle(bare(value)):
                continue
            cell = self._cell(value)
            if cell is None or canonical_type(variables[0]) != cell.type:
                continue
            computed: _Computed | None = None
            for other in statements[index + 1 :]:
                update = self._behind(variables[0], value, cell, other, computed)
                if update is not None and any(self._is_asked(each) for each in (statement, other)):
                    self.found.append(update)
                    break
                computed = computed or self._computed(variables[0], cell, other)
            self._limit_behind(variables[0], value, cell, statements[index + 1 : index + 3])

    def _limit_behind(self, variable: Any, read: Any, cell: Cell, behind: Sequence[Any]) -> None:
        """The conditional behind a variable that has taken over a cell, if it counts that up within a limit, or leaves
        where that is reached."""
        if not behind or behind[0]._kind_id != Kinds.IF or written_by_macro(behind[0]):
            return
        test, then, *other = children(behind[0])
        counted = children(then) if then._kind_id == Kinds.COMPOUND else [then]
        sides = _limits(bare(test), alone=True)
        bounds = [bound for own, bound in sides if names(bare(own), variable)]
        if len(counted) == 1 and counted[0]._kind_id in _LEAVE and not other:
            bounds, counted = [bound for bound, own in sides if names(bare(own), variable)], behind[1:]
        for statement in counted if bounds else ():
            if not _is_straight(statement) or within(statement, _JUMPS):
                return
            parts = self._assignment(statement)
            if parts is None or not self._is_same(read, parts[1]):
                continue
            _, target, value, written = parts
            found = self._combined_with(variable, value)
            one = found is not None and found[0] == "+" and self._written[slice(*found[1].at)] == b"1"
            if one and any(self._is_asked(each) for each in (read, statement)) and is_idle(bare(bounds[0])):
                places, bound, at = (
                    self._places(read, target),
                    self._range(bounds[0]),
                    expansion_offset(variable.location),
                )
                self.bounded.append(Bounded(places, cell, bound, written, "nothing", variable=at))

    def _behind(
        self, variable: Any, read: Any, cell: Cell, statement: Any, computed: _Computed | None
    ) -> Update | None:
        """The update whose old value a variable has taken over, if a statement writes the cell by it, or by what has
        been `computed` of it."""
        parts = self._assignment(statement)
        if parts is None:
            return None
        test, target, value, written = parts
        if not self._is_same(read, target):
            return None
        found, made = None, None
        if test is not None:
            found = self._extreme(variable, bare(test), value)
        elif computed is not None and names(bare(value), computed.variable):
            found, made = (computed.operator, computed.operand), computed.at
        else:
            found = self._combined_with(variable, value)
        if found is None:
            return None
        operator, operand = found
        whole, places = self._range(read), self._places(read, target)
        at = expansion_offset(variable.location)
        return Update(whole, places, cell, operator, operand, "old", write=written, variable=at, computed=made)

    def _computed(self, variable: Any, cell: Cell, statement: Any) -> _Computed | None:
        """What a statement computes of a variable as an update would: `old += v;`, `int new = old + v;` and the
        like."""
        if written_by_macro(statement):
            return None
        own, holder = bare(statement), variable
        kind: int = own._kind_id
        parts = children(own)
        found: tuple[str, Operand | None] | None = None
        if kind == Kinds.DECL_STMT:
            holder = parts[0] if len(parts) == 1 and parts[0]._kind_id == Kinds.VAR else None
            value = initializer(holder) if holder is not None and canonical_type(holder) == cell.type else None
            found = self._combined_with(variable, value) if value is not None else None
        elif kind in (Kinds.UNARY, Kinds.COMPOUND_ASSIGN) and parts and names(bare(parts[0]), variable):
            update = self._update(own, used=False)
            found = (update.operator, update.operand) if update is not None else None
        elif (assignment := self._assignment(statement)) is not None:
            test, target, value, _ = assignment
            if names(bare(target), variable):
                extreme = self._extreme(variable, bare(test), value) if test is not None else None
                found = extreme if test is not None else self._combined_with(variable, value)
        return _Computed(holder, *found, self._range(statement)) if found is not None else None

    def _assignment(self, statement: Any) -> tuple[Any, Any, Any, Range] | None:
        """The condition, or None, the two sides and the bytes of a statement that is an assignment, or a conditional
        with nothing else."""
        test, write = None, bare(statement)
        if write._kind_id == Kinds.IF:
            test, *body = children(write)
            inner = children(body[0]) if len(body) == 1 and body[0]._kind_id == Kinds.COMPOUND else body
            if len(inner) != 1:
                return None
            write = bare(inner[0])
        if write._kind_id != Kinds.BINARY or binary_operator(write) != "=" or written_by_macro(statement):
            return None
        target, value = children(write)
        return test, target, value, self._range(statement if test is not None else write)

    def _combined_with(self, variable: Any, value: Any) -> tuple[str, Operand] | None:
        """What a value does with what a variable holds."""
        old = next((c for c in within(value, frozenset({Kinds.DECL_REF})) if names(c, variable)), None)
        combined = self._combined(old, value) if old is not None else None
        return combined[:2] if combined is not None else None

    def _extreme(self, variable: Any, test: Any, value: Any) -> tuple[str, Operand] | None:
        """What `if (v > old)` keeps of the two, where `v` is assigned."""
        operator = binary_operator(test) if test._kind_id == Kinds.BINARY else ""
        if operator not in SWAPPED:
            return None
        one, two = children(test)
        for own, other, which in ((one, two, operator), (two, one, SWAPPED[operator])):
            if names(bare(own), variable) and self._is_same(other, value):
                return ("max" if which in ("<", "<=") else "min"), self._operand(value)
        return None


def _limits(test: Any, *, alone: bool = False) -> list[tuple[Any, Any]]:
    """What a condition wants to be less than what, in the last of what has to hold, or `alone`."""
    operator = binary_operator(test) if test._kind_id == Kinds.BINARY else ""
    if operator == "&&" and not alone:
        return _limits(bare(children(test)[1]))
    left, right = children(test) if operator in SWAPPED else (None, None)
    return [(left, right)] if operator in ("<", "<=") else [(right, left)] if operator in (">", ">=") else []


def _is_straight(statement: Any) -> bool:
    """Whether all of a statement is executed, once."""
    if within(statement, _BRANCHES):
        return False
    return all(binary_operator(c) not in ("&&", "||") for c in within(statement, frozenset({Kinds.BINARY})))
