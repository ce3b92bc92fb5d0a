"""What a function does with its variables: where each is read, changed, or lent to what may change it later.

Takes the cursor of a function definition, gives its uses in the order of the tree, with the byte offsets of its file;
what a macro wrote is used where the macro is. Whatever the tree does not show is taken for a change.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

from analyzers.frontend.cindex import TypeKind, binary_operator, children, expansion_offset, referenced, unary_operator
from analyzers.frontend.lowering.nodes import CASTS, REFERENCES, Kinds

UseKind = Literal["declared", "read", "changed", "lent"]


@dataclass(frozen=True, slots=True)
class Use:
    """One mention of a variable. `lent`: from there on something else may change it, a reference or a pointer."""

    at: int
    name: str
    variable: int
    """The same number for all uses of one variable, of fields aside: those are uses of the variable they are in."""
    kind: UseKind


_VARIABLES: Final = frozenset({Kinds.VAR, Kinds.PARM})
_IN_ONE_PIECE: Final = frozenset(
    {Kinds.UNEXPOSED, Kinds.PAREN, Kinds.INIT_LIST, Kinds.COMPOUND_LITERAL, Kinds.STATEMENT_EXPR, *CASTS}
)
_UNEVALUATED: Final = frozenset({Kinds.SIZEOF, Kinds.SIZEOF_PACK, Kinds.TYPEID})
_REFERENCE: Final = (TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE)


def uses_of(function: Any) -> tuple[Use, ...]:
    """All uses in a function, its lambdas included."""
    return tuple(_Walk().uses(function, "read"))


class _Walk:
    def __init__(self) -> None:
        self.lambdas = 0

    def uses(self, cursor: Any, kind: UseKind) -> Iterator[Use]:
        """`kind`: what becomes of the value of the cursor."""
        which: int = cursor._kind_id
        if which in _VARIABLES:
            yield from self._declaration(cursor)
        elif which == Kinds.DECL_REF:
            variable = referenced(cursor)
            if variable is not None and variable._kind_id not in (Kinds.FUNCTION, Kinds.METHOD):
                # What a lambda changes is changed whenever it is called.
                own: UseKind = "lent" if kind == "changed" and self.lambdas else kind
                yield Use(expansion_offset(cursor.location), variable.spelling, number_of(variable), own)
        elif which == Kinds.LAMBDA:
            self.lambdas += 1
            yield from self._all(cursor, "read")
            self.lambdas -= 1
        elif which == Kinds.CALL:
            yield from self._call(cursor)
        elif which in (Kinds.UNARY, Kinds.BINARY, Kinds.COMPOUND_ASSIGN, Kinds.CONDITIONAL):
            yield from self._operation(cursor, kind)
        elif which in (Kinds.MEMBER, Kinds.SUBSCRIPT):
            first, *rest = children(cursor) or [None]
            if first is not None:
                yield from self.uses(first, "read" if _is_pointer(first) else kind)
            for part in rest:
                yield from self.uses(part, "read")
        elif which in _IN_ONE_PIECE:
            yield from self._all(cursor, kind)
        elif which == Kinds.RANGE_FOR:
            yield from self._range_for(cursor)
        elif which not in _UNEVALUATED and which not in REFERENCES:
            unknown = 100 <= which < 200 or which in (Kinds.ASM, Kinds.MS_ASM, Kinds.UNEXPOSED_DECL)
            yield from self._all(cursor, "lent" if unknown else "read")

    def _all(self, cursor: Any, kind: UseKind) -> Iterator[Use]:
        for child in children(cursor):
            yield from self.uses(child, kind)

    def _declaration(self, cursor: Any) -> Iterator[Use]:
        yield Use(expansion_offset(cursor.location), cursor.spelling, number_of(cursor), "declared")
        yield from self._all(cursor, _given(cursor.type))

    def _operation(self, cursor: Any, kind: UseKind) -> Iterator[Use]:
        parts = children(cursor)
        if cursor._kind_id == Kinds.UNARY:
            operator = unary_operator(cursor)
            own: UseKind = "read"
            if operator.endswith(("++", "--")):
                own = "lent" if kind == "lent" else "changed"
            elif operator == "&":
                own = "lent"
            yield from self._all(cursor, own)
            return
        operator = "?" if cursor._kind_id == Kinds.CONDITIONAL else binary_operator(cursor)
        if cursor._kind_id == Kinds.COMPOUND_ASSIGN or operator == "=":
            yield from self.uses(parts[0], "lent" if kind == "lent" else "changed")
            parts = parts[1:]
            kind = "read"
        elif operator in ("?", ","):
            yield from self.uses(parts[0], "read")
            parts = parts[1:]
        elif operator:
            kind = "read"
        else:
            kind = "lent"
        for part in parts:
            yield from self.uses(part, kind)

    def _call(self, cursor: Any) -> Iterator[Use]:
        function = referenced(cursor)
        arguments = [a for a in cursor.get_arguments() if a is not None]
        if function is None or function._kind_id not in (
            Kinds.FUNCTION,
            Kinds.METHOD,
            Kinds.CONSTRUCTOR,
            Kinds.CONVERSION,
        ):
            yield from self._all(cursor, "lent")
            return
        method = function._kind_id in (Kinds.METHOD, Kinds.CONVERSION)
        own: UseKind = "read" if method and function.is_const_method() else "lent"
        taken: list[UseKind] = [_given(p.type) for p in function.get_arguments() if p is not None]
        if method and len(arguments) == len(taken) + 1:
            taken.insert(0, own)  # an operator, called on its first operand
        for part in children(cursor):
            index = next((i for i, a in enumerate(arguments) if a == part), None)
            if index is not None:
                yield from self.uses(part, taken[index] if index < len(taken) else "lent")
            elif part._kind_id == Kinds.MEMBER and method:
                for each in children(part):
                    yield from self.uses(each, "read" if _is_pointer(each) else own)
            else:
                yield from self.uses(part, "read")

    def _range_for(self, cursor: Any) -> Iterator[Use]:
        parts = children(cursor)
        variable = next((p for p in parts if p._kind_id == Kinds.VAR), None)
        kind: UseKind = _given(variable.type) if variable is not None else "lent"
        for part in parts:
            yield from self.uses(part, kind if 100 <= part._kind_id < 200 else "read")


def number_of(variable: Any) -> int:
    """The same for all cursors of one variable."""
    return variable.canonical.data[0] or 0


def _given(ty: Any) -> UseKind:
    """What becomes of a value that something of this type is made of."""
    own = ty.get_canonical()
    if own.kind not in _REFERENCE:
        return "read"
    return "read" if own.get_pointee().is_const_qualified() else "lent"


def _is_pointer(expression: Any) -> bool:
    """A pointer that is no array: what is behind it is no part of the variable."""
    while expression._kind_id in (Kinds.UNEXPOSED, Kinds.PAREN):
        inner = children(expression)
        if len(inner) != 1:
            break
        expression = inner[0]
    return expression.type.get_canonical().kind == TypeKind.POINTER
