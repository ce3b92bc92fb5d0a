"""Where a thread reads a cell, computes with what it read, and writes the cell: what an atomic function does at once.

Takes cursors of expressions and conditionals, gives the updates in them as plain data with byte offsets. They are told
by the tree: `x += v`, `x++`, `x = v + x`, `x = max(x, v)`, `x = x < v ? v : x`, `if (v < x) x = v;`, the claim
`if (x == a) { x = b; … }`; `update_sequences` has those of several statements. A cell that is written out twice is the
same one when its text is, and nothing in it acts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from analyzers.frontend.cindex import (
    TypeKind,
    binary_operator,
    children,
    referenced,
    unary_operator,
)
from analyzers.frontend.lowering.nodes import CASTS, Kinds, written_by_macro
from analyzers.frontend.order import acts, bare, inside, is_of_language, is_ordered, reads_no_memory
from analyzers.frontend.plain import is_idle, is_plain
from analyzers.frontend.update_kinds import (
    INTEGERS,
    NARROW,
    AnyUpdate,
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
SWAPPED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_TIGHT: Final = frozenset(
    {
        *(Kinds.INTEGER, Kinds.FLOATING, Kinds.CHARACTER, Kinds.BOOLEAN, Kinds.PAREN, Kinds.DECL_REF, Kinds.MEMBER),
        *(Kinds.SUBSCRIPT, Kinds.CALL, Kinds.UNARY, *CASTS),
    }
)
_WIDE: Final = frozenset({"long", "unsigned long", "long long", "unsigned long long"})
_ARRAYS: Final = (TypeKind.CONSTANTARRAY, TypeKind.INCOMPLETEARRAY, TypeKind.DEPENDENTSIZEDARRAY)
_REFERENCES: Final = (TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE)
_QUALIFIERS: Final = re.compile(r"\b(?:const|volatile)\b\s*")


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
        if not self._is_asked_between(whole):
            return
        if test._kind_id == Kinds.UNARY and unary_operator(test) == "!":
            own = children(test)[0]
            cell = self._cell(target) if self._is_same(own, target) else None
            if cell is not None:
                self._claim(test, None, first, cell, self._places(own, target), whole if len(body) == 1 else None)
            return
        if len(sides) != 2:
            return
        for own, other, turned in ((sides[0], sides[1], False), (sides[1], sides[0], True)):
            if not self._is_same(own, target):
                continue
            operator = binary_operator(test)
            operator = SWAPPED.get(operator, operator) if turned else operator
            cell = self._cell(target)
            if cell is None:
                return
            places = self._places(own, target)
            if operator == "==":
                if is_idle(bare(other)):
                    self._claim(test, self._operand(other), first, cell, places, whole if len(body) == 1 else None)
            elif operator in SWAPPED and self._is_same(other, value):
                extreme = "max" if operator in ("<", "<=") else "min"
                operand, write, read = self._operand(value), self._range(first), self._range(own)
                self.found.append(
                    Update(whole, places, cell, extreme, operand, "nothing", is_statement=True)
                    if len(body) == 1
                    else Update(self._range(test), places, cell, extreme, operand, "old", write=write, compared=read)
                )
            return

    def _claim(
        self, test: Any, expected: Operand | None, first: Any, cell: Cell, places: frozenset[int], only: Range | None
    ) -> None:
        desired = self._operand(children(first)[1])
        self.found.append(Claim(places, cell, self._range(test), expected, desired, self._range(first), only))

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
            if len(arguments) == 2 and canonical_type(value) == canonical_type(target):
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
                types = [canonical_type(bare(part)) for part in reversed(rest)]
                together = binary_operator(inner) == "+" and _is_associative(types, canonical_type(target))
                at = self._range(second)[0], self._range(value)[1]
                plain = all(is_plain(bare(part), numbers=True) for part in rest)
                whole = Operand(at, canonical_type(bare(value)), plain)
                return ("+", whole, (first,)) if together else None
            inner = _converted(first)
        return None

    def _choice(self, target: Any, parts: Sequence[Any]) -> tuple[str, Operand, Sequence[Any]] | None:
        """`x < v ? v : x` and its likes."""
        test, then, otherwise = (bare(part) for part in parts) if len(parts) == 3 else (None, None, None)
        if test is None or test._kind_id != Kinds.BINARY or binary_operator(test) not in SWAPPED:
            return None
        for own, other, operator in (
            (*children(test), binary_operator(test)),
            (*children(test)[::-1], SWAPPED[binary_operator(test)]),
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
        return Cell(self._range(own), address, canonical_type(own), spelling)

    def _operand(self, cursor: Any) -> Operand:
        own = bare(cursor)
        tight = _converted(cursor)._kind_id in _TIGHT
        return Operand(self._range(cursor), canonical_type(own), is_plain(own, numbers=True), _is_safe(own), tight)

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


def names(cursor: Any, variable: Any) -> bool:
    named = referenced(cursor)
    return named is not None and named == variable


def _converted(cursor: Any) -> Any:
    """What is implicitly converted, with the brackets around it."""
    return inside(cursor, (Kinds.UNEXPOSED,))


def canonical_type(cursor: Any) -> str:
    """Canonical. What a template computes of a value of its parameter's type and of others that every number is
    computed with as itself has that type."""
    kind: int = cursor._kind_id
    if "dependent" in cursor.type.spelling and kind in (Kinds.BINARY, Kinds.UNARY):
        sides = children(cursor)
        computed = binary_operator(cursor) in _COMPUTES if len(sides) == 2 else unary_operator(cursor) in ("+", "-")
        types = {canonical_type(bare(side)) for side in sides} - NARROW - {"int"}
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
