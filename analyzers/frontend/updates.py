"""Where a thread reads a cell, computes with what it read, and writes the cell: what an atomic function does at once.

Takes cursors of expressions and conditionals, gives the updates in them as plain data with byte offsets. They are told
by the tree: `x += v`, `x++`, `x = v + x`, `x = max(x, v)`, `x = x < v ? v : x`, `if (v < x) x = v;`, the claim
`if (x == a) { x = b; … }`, and what a variable stands between: `int old = x; …; x = old + v;`, or
`int t = x; t += v; …; x = t;`. A cell that is written out twice is the same one when its text is, and nothing in it
acts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from analyzers.frontend.cindex import (
    TypeKind,
    binary_operator,
    children,
    expansion_offset,
    initializer,
    referenced,
    unary_operator,
    within,
)
from analyzers.frontend.lowering.nodes import CASTS, Kinds, written_by_macro
from analyzers.frontend.order import acts, bare, inside, is_of_language, is_ordered, reads_no_memory
from analyzers.frontend.plain import is_idle, is_plain
from analyzers.frontend.update_kinds import (
    INTEGERS,
    NARROW,
    AnyUpdate,
    Bounded,
    Cell,
    Claim,
    Operand,
    Range,
    Store,
    Update,
    Yield,
)

_SPACES: Final = b" \t\r\n\v\f"
_COMMUTATIVE: Final = frozenset({"+", "*", "&", "|", "^"})
_EXTREMES: Final = {"max": "max", "min": "min", "umax": "max", "umin": "min", "llmax": "max", "llmin": "min"} | {
    "ullmax": "max",
    "ullmin": "min",
    "fmax": "fmax",
    "fmin": "fmin",
    "fmaxf": "fmax",
    "fminf": "fmin",
}
"""Functions of two arguments -> the operator they stand for."""
_COMPUTES: Final = frozenset({"+", "-", "*", "/", "%", "&", "|", "^"})
_SWAPPED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_TIGHT: Final = frozenset(
    {
        *(Kinds.INTEGER, Kinds.FLOATING, Kinds.CHARACTER, Kinds.BOOLEAN, Kinds.PAREN, Kinds.DECL_REF, Kinds.MEMBER),
        *(Kinds.SUBSCRIPT, Kinds.CALL, Kinds.UNARY, *CASTS),
    }
)
_JUMPS: Final = frozenset({Kinds.RETURN, Kinds.BREAK, Kinds.CONTINUE, Kinds.GOTO, Kinds.INDIRECT_GOTO, Kinds.LABEL})
_BRANCHES: Final = frozenset(
    {Kinds.IF, Kinds.FOR, Kinds.RANGE_FOR, Kinds.WHILE, Kinds.DO, Kinds.SWITCH, Kinds.CONDITIONAL, Kinds.LAMBDA}
)
_WIDE: Final = frozenset({"long", "unsigned long", "long long", "unsigned long long"})
_ARRAYS: Final = (TypeKind.CONSTANTARRAY, TypeKind.INCOMPLETEARRAY, TypeKind.DEPENDENTSIZEDARRAY)
_REFERENCES: Final = (TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE)
_QUALIFIERS: Final = re.compile(r"\b(?:const|volatile)\b\s*")


@dataclass(frozen=True, slots=True)
class _Computed:
    """What a statement makes of the value that a variable holds."""

    variable: Any
    """That holds it then."""
    operator: str
    operand: Operand | None
    at: Range


RangeOf = Callable[[Any], Range]
"""The bytes of a cursor, whole uses of macros where it begins or ends in one."""


class UpdateReader:
    """Reads the updates of one file. `code`: its text as `blanked` leaves it. `wanted`: offsets that somebody asks
    about; elsewhere nothing is looked for."""

    def __init__(self, text: bytes, code: bytes, range_of: RangeOf, wanted: Sequence[int]) -> None:
        self._written = text
        self._code = code
        self._range = range_of
        self._wanted = tuple(wanted)
        self.found: list[AnyUpdate] = []
        self.stores: list[Store] = []
        self.bounded: list[Bounded] = []

    def expression(self, cursor: Any, *, used: bool) -> None:
        """Take in an expression. `used`: its value is. The statements of a lambda are none of it."""
        if cursor._kind_id == Kinds.LAMBDA or not self._is_asked(cursor):
            return
        update = self._update(cursor, used)
        if update is not None:
            self.found.append(update)
        kind: int = cursor._kind_id
        parts = children(cursor)
        for part in parts:
            last = part is parts[-1]
            through = kind in (Kinds.PAREN, Kinds.UNEXPOSED) or (kind == Kinds.BINARY and _is_comma(cursor) and last)
            dropped = kind == Kinds.BINARY and _is_comma(cursor) and not last
            void = kind in CASTS and cursor.type.spelling == "void"
            self.expression(part, used=used if through else not (dropped or void))

    def conditional(self, test: Any, body: Sequence[Any], whole: Range, *, alone: bool) -> None:
        """Take in an `if`. `body`: the statements it controls; `alone`: it has no `else`."""
        if not body or not alone or written_by_macro(test):
            return
        first = bare(body[0])
        if first._kind_id != Kinds.BINARY or binary_operator(first) != "=" or written_by_macro(first):
            return
        test = bare(test)
        sides = children(test) if test._kind_id == Kinds.BINARY else []
        target, value = children(first)
        if len(sides) != 2 or not self._is_asked_between(whole):
            return
        for own, other, turned in ((sides[0], sides[1], False), (sides[1], sides[0], True)):
            if not self._is_same(own, target):
                continue
            operator = binary_operator(test)
            operator = _SWAPPED.get(operator, operator) if turned else operator
            cell = self._cell(target)
            if cell is None:
                return
            places = self._places(own, target)
            if operator == "==":
                only = whole if len(body) == 1 else None
                expected, desired = self._operand(other), self._operand(value)
                if is_idle(bare(other)):
                    self.found.append(
                        Claim(places, cell, self._range(test), expected, desired, self._range(first), only)
                    )
            elif operator in _SWAPPED and len(body) == 1 and self._is_same(other, value):
                extreme = "max" if operator in ("<", "<=") else "min"
                self.found.append(
                    Update(whole, places, cell, extreme, self._operand(value), "nothing", is_statement=True)
                )
            return

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
                counts = [u for u in self.found if isinstance(u, Update) and self._counts(u, own, statement)]
                before = [c for s in body[:index] for c in self._mentions(own, s)]
                rest = [c for s in body[index:] for c in self._mentions(own, s)]
                last = all(self._is_in(c, counts[0].whole) for c in rest) if len(counts) == 1 else False
                if last and _is_straight(statement) and not any(within(s, _JUMPS) for s in body[:index]):
                    reads = tuple(sorted({self._range(c) for c in before}))
                    places = counts[0].places.union(self._places(own), (start for start, _ in reads))
                    count = counts[0]
                    self.bounded.append(Bounded(places, cell, self._range(bound), count.whole, count.yields, reads))

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
            if cell is None or _type(variables[0]) != cell.type:
                continue
            computed: _Computed | None = None
            for other in statements[index + 1 :]:
                update = self._behind(variables[0], value, cell, other, computed)
                if update is not None and any(self._is_asked(each) for each in (statement, other)):
                    self.found.append(update)
                    break
                computed = computed or self._computed(variables[0], cell, other)
            self._limit_behind(variables[0], value, cell, statements[index + 1 : index + 2])

    def _limit_behind(self, variable: Any, read: Any, cell: Cell, behind: Sequence[Any]) -> None:
        """The conditional behind a variable that has taken over a cell, if it counts that up within a limit."""
        if not behind or behind[0]._kind_id != Kinds.IF or written_by_macro(behind[0]):
            return
        test, then, *_ = children(behind[0])
        bounds = [bound for own, bound in _limits(bare(test), alone=True) if _names(bare(own), variable)]
        for statement in children(then) if then._kind_id == Kinds.COMPOUND else [then]:
            parts = self._assignment(statement) if bounds and _is_straight(statement) else None
            if parts is None or not self._is_same(read, parts[1]):
                continue
            _, target, value, written = parts
            found = self._combined_with(variable, value)
            one = found is not None and found[0] == "+" and self._written[slice(*found[1].at)] == b"1"
            if one and any(self._is_asked(each) for each in (read, statement)) and is_idle(bare(bounds[0])):
                places, bound = self._places(read, target), self._range(bounds[0])
                self.bounded.append(Bounded(places, cell, bound, written, "nothing", taken_over=True))

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
        elif computed is not None and _names(bare(value), computed.variable):
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
            value = initializer(holder) if holder is not None and _type(holder) == cell.type else None
            found = self._combined_with(variable, value) if value is not None else None
        elif kind in (Kinds.UNARY, Kinds.COMPOUND_ASSIGN) and parts and _names(bare(parts[0]), variable):
            update = self._update(own, used=False)
            found = (update.operator, update.operand) if update is not None else None
        elif (assignment := self._assignment(statement)) is not None:
            test, target, value, _ = assignment
            if _names(bare(target), variable):
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
        old = next((c for c in within(value, frozenset({Kinds.DECL_REF})) if _names(c, variable)), None)
        combined = self._combined(old, value) if old is not None else None
        return combined[:2] if combined is not None else None

    def _extreme(self, variable: Any, test: Any, value: Any) -> tuple[str, Operand] | None:
        """What `if (v > old)` keeps of the two, where `v` is assigned."""
        operator = binary_operator(test) if test._kind_id == Kinds.BINARY else ""
        if operator not in _SWAPPED:
            return None
        one, two = children(test)
        for own, other, which in ((one, two, operator), (two, one, _SWAPPED[operator])):
            if _names(bare(own), variable) and self._is_same(other, value):
                return ("max" if which in ("<", "<=") else "min"), self._operand(value)
        return None

    def _is_asked(self, cursor: Any) -> bool:
        return self._is_asked_between(self._range(cursor))

    def _is_asked_between(self, at: Range) -> bool:
        return any(at[0] <= offset < at[1] for offset in self._wanted)

    def _update(self, cursor: Any, used: bool) -> Update | None:
        kind: int = cursor._kind_id
        parts = children(cursor)
        if kind not in (Kinds.UNARY, Kinds.BINARY, Kinds.COMPOUND_ASSIGN) or not parts or written_by_macro(cursor):
            return None
        cell = self._cell(parts[0])
        if cell is None:
            return None
        whole, places = self._range(cursor), self._places(parts[0])
        if kind == Kinds.UNARY:
            operator = unary_operator(cursor)
            if not operator.endswith(("++", "--")):
                return None
            which: Yield = "old" if operator.startswith("post") else "new"
            return Update(whole, places, cell, operator[-1], None, which if used else "nothing")
        if len(parts) != 2:
            return None
        which = "new" if used else "nothing"
        operator = binary_operator(cursor)
        if kind == Kinds.COMPOUND_ASSIGN:
            if not is_ordered(parts[0], parts[1]):
                return None
            return Update(whole, places, cell, operator[:-1], self._operand(parts[1]), which)
        combined = self._combined(parts[0], parts[1]) if operator == "=" else None
        if combined is None:
            if operator == "=" and not used:
                idle = is_idle(bare(parts[0])) and is_idle(bare(parts[1]))
                ordered = is_ordered(parts[0], parts[1])
                self.stores.append(Store(whole, places, cell, self._operand(parts[1]), idle, ordered))
            return None
        if not is_ordered(parts[0], parts[1]):
            return None
        operator, operand, reads = combined
        value = bare(parts[1])
        call = (self._range(value), self._range(reads[0])) if value._kind_id == Kinds.CALL else None
        return Update(whole, self._places(parts[0], *reads), cell, operator, operand, which, call)

    def _combined(self, target: Any, value: Any) -> tuple[str, Operand, Sequence[Any]] | None:
        """What the value of `target = value` does with the old one: the operator, the other operand, and the reads."""
        value = bare(value)
        kind: int = value._kind_id
        if kind == Kinds.BINARY:
            return self._sum(target, value)
        if kind == Kinds.CALL and value.spelling in _EXTREMES and is_of_language(value):
            arguments = [a for a in value.get_arguments() if a is not None]
            if len(arguments) == 2 and _type(value) == _type(target):
                for own, other in (arguments, arguments[::-1]):
                    if self._is_same(own, target):
                        return _EXTREMES[value.spelling], self._operand(other), (own,)
            return None
        if kind == Kinds.CONDITIONAL:
            return self._choice(target, children(value))
        return None

    def _sum(self, target: Any, value: Any) -> tuple[str, Operand, Sequence[Any]] | None:
        operator = binary_operator(value)
        left, right = children(value)
        if self._is_same(left, target):
            return operator, self._operand(right), (left,)
        if operator in _COMMUTATIVE and self._is_same(right, target):
            return operator, self._operand(left), (right,)
        # x + a - b + …: what is added is all behind the first plus.
        inner, rest = _converted(left), [right]
        if operator not in ("+", "-"):
            return None
        while inner._kind_id == Kinds.BINARY and binary_operator(inner) in ("+", "-"):
            first, second = children(inner)
            rest.append(second)
            if self._is_same(first, target):
                types = [_type(bare(part)) for part in reversed(rest)]
                together = binary_operator(inner) == "+" and _is_associative(types, _type(target))
                at = self._range(second)[0], self._range(value)[1]
                plain = all(is_plain(bare(part), numbers=True) for part in rest)
                whole = Operand(at, _type(bare(value)), plain)
                return ("+", whole, (first,)) if together else None
            inner = _converted(first)
        return None

    def _choice(self, target: Any, parts: Sequence[Any]) -> tuple[str, Operand, Sequence[Any]] | None:
        """`x < v ? v : x` and its likes."""
        test, then, otherwise = (bare(part) for part in parts) if len(parts) == 3 else (None, None, None)
        if test is None or test._kind_id != Kinds.BINARY or binary_operator(test) not in _SWAPPED:
            return None
        for own, other, operator in (
            (*children(test), binary_operator(test)),
            (*children(test)[::-1], _SWAPPED[binary_operator(test)]),
        ):
            if not self._is_same(own, target):
                continue
            grows = operator in ("<", "<=")
            for kept, taken, extreme in (
                (otherwise, then, "max" if grows else "min"),
                (then, otherwise, "min" if grows else "max"),
            ):
                if self._is_same(kept, target) and self._is_same(taken, other):
                    return extreme, self._operand(other), (own, kept)
        return None

    def _cell(self, cursor: Any) -> Cell | None:
        own = bare(cursor)
        kind: int = own._kind_id
        if kind not in (Kinds.UNARY, Kinds.SUBSCRIPT, Kinds.MEMBER, Kinds.DECL_REF) or acts(own):
            return None
        if kind == Kinds.UNARY and unary_operator(own) != "*":
            return None
        if kind == Kinds.MEMBER and (field := referenced(own)) is not None and field.is_bitfield():
            return None
        if kind == Kinds.DECL_REF and referenced(own) is None:
            return None
        if not _is_aligned(own):
            return None
        if written_by_macro(own) and kind == Kinds.UNARY:
            return None
        address = self._range(bare(children(own)[0])) if kind == Kinds.UNARY else None
        type_ = _typed(own)
        if type_.get_canonical().is_volatile_qualified():
            return None
        spelling = _QUALIFIERS.sub("", type_.spelling).strip()
        return Cell(self._range(own), address, _type(own), spelling)

    def _operand(self, cursor: Any) -> Operand:
        own = bare(cursor)
        tight = _converted(cursor)._kind_id in _TIGHT
        return Operand(self._range(cursor), _type(own), is_plain(own, numbers=True), _is_safe(own), tight)

    def _places(self, *cursors: Any) -> frozenset[int]:
        return frozenset(start for c in cursors for start in (self._range(c)[0], self._range(bare(c))[0]))

    def _is_same(self, one: Any, other: Any) -> bool:
        """Whether two expressions are written alike and change nothing."""
        one, other = bare(one), bare(other)
        return one._kind_id == other._kind_id and self._text(one) == self._text(other) and is_idle(one)

    def _text(self, cursor: Any) -> bytes:
        """Without comments and spaces; those in literals count."""
        return self._words(self._range(cursor))

    def _words(self, at: Range) -> bytes:
        start, end = at
        shown = zip(self._written[start:end], self._code[start:end], strict=True)
        return bytes(byte for byte, code in shown if code not in _SPACES)


def _limits(test: Any, *, alone: bool = False) -> list[tuple[Any, Any]]:
    """What a condition wants to be less than what, in the last of what has to hold, or `alone`."""
    operator = binary_operator(test) if test._kind_id == Kinds.BINARY else ""
    if operator == "&&" and not alone:
        return _limits(bare(children(test)[1]))
    left, right = children(test) if operator in _SWAPPED else (None, None)
    return [(left, right)] if operator in ("<", "<=") else [(right, left)] if operator in (">", ">=") else []


def _is_straight(statement: Any) -> bool:
    """Whether all of a statement is executed, once."""
    if within(statement, _BRANCHES):
        return False
    return all(binary_operator(c) not in ("&&", "||") for c in within(statement, frozenset({Kinds.BINARY})))


def _names(cursor: Any, variable: Any) -> bool:
    named = referenced(cursor)
    return named is not None and named == variable


def _converted(cursor: Any) -> Any:
    """What is implicitly converted, with the brackets around it."""
    return inside(cursor, (Kinds.UNEXPOSED,))


def _type(cursor: Any) -> str:
    """Canonical. What a template computes of a value of its parameter's type and of others that every number is
    computed with as itself has that type."""
    kind: int = cursor._kind_id
    if "dependent" in cursor.type.spelling and kind in (Kinds.BINARY, Kinds.UNARY):
        sides = children(cursor)
        computed = binary_operator(cursor) in _COMPUTES if len(sides) == 2 else unary_operator(cursor) in ("+", "-")
        types = {_type(bare(side)) for side in sides} - NARROW - {"int"}
        if computed and len(types) == 1:
            return next(iter(types))
    return _QUALIFIERS.sub("", _typed(cursor).get_canonical().spelling).strip()


def _typed(cursor: Any) -> Any:
    """The type of an lvalue; where a template leaves that open, what it is taken from."""
    kind: int = cursor._kind_id
    if "dependent" not in cursor.type.spelling or kind not in (Kinds.UNARY, Kinds.SUBSCRIPT):
        return cursor.type
    written = bare(children(cursor)[0]).type
    # Canonical types of parameters have no names.
    base = written if written.kind == TypeKind.POINTER else written.get_canonical()
    if base.kind == TypeKind.POINTER:
        return base.get_pointee()
    return base.get_array_element_type() if base.kind in _ARRAYS else cursor.type


def _is_aligned(lvalue: Any) -> bool:
    """Whether no class that an lvalue is a member of is packed, so that it may lie at any address: loads and stores are
    made in pieces then, atomic operations are not."""
    wanted: int = _typed(lvalue).get_canonical().get_align()
    while lvalue._kind_id in (Kinds.MEMBER, Kinds.SUBSCRIPT, Kinds.PAREN, Kinds.UNEXPOSED):
        if lvalue._kind_id != Kinds.UNEXPOSED and lvalue.type.get_canonical().kind == TypeKind.POINTER:
            break
        field = referenced(lvalue) if lvalue._kind_id == Kinds.MEMBER else None
        if field is not None and field.type.get_canonical().kind not in _REFERENCES:
            own: int = field.semantic_parent.type.get_align()
            if 0 < own < wanted:
                return False
        inner = children(lvalue)
        if not inner:
            break
        lvalue = inner[0]
    return True


def _is_comma(cursor: Any) -> bool:
    return binary_operator(cursor) == ","


def _is_safe(expression: Any) -> bool:
    """Whether an expression changes nothing, and reads memory at places only that are the thread's own numbers: a
    place that was read from memory itself may be none before it was checked."""
    return is_idle(expression) and reads_no_memory(expression)


def _is_associative(types: Sequence[str], target: str) -> bool:
    """Whether terms may be added up before they are added to a cell: integers that wrap round where the cell does or
    later, or real numbers of its own type, whose sum is as good."""
    if target not in INTEGERS:
        return set(types) == {target}
    # The first two are added up as what is the wider one of them, and the others are added to that.
    wide = target not in _WIDE or not _WIDE.isdisjoint({t for t in types[:2] if t == target or "long long" in t})
    return wide and INTEGERS.issuperset(types)
