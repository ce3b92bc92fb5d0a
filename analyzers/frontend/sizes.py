"""Which numbers are known to be greater than zero: constants, dimensions of the launch, products of these.

Takes cursors of expressions; gives the variables that have to keep the value they are declared with for it to hold (the
numbers of `uses.Use`), or None where it is not known. Macros are what they stand for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from analyzers.frontend.cindex import TypeKind, binary_operator, children, evaluate, initializer, referenced, within
from analyzers.frontend.lowering.nodes import CASTS, Kinds
from analyzers.frontend.parse import is_bundled
from analyzers.frontend.uses import number_of

Values = Mapping[str, Collection[int]]
"""Of the parameters of a template, in all instances."""

_TEMPLATE_VALUE: Final = 28
_DIMENSIONS: Final = frozenset({"blockDim", "gridDim"})
_WIDE: Final = frozenset(
    kind.value
    for kind in (
        TypeKind.INT,
        TypeKind.UINT,
        TypeKind.LONG,
        TypeKind.ULONG,
        TypeKind.LONGLONG,
        TypeKind.ULONGLONG,
    )
)


def size_of(expression: Any, values: Values) -> frozenset[int] | None:
    """Whether a number is greater than zero; see the module."""
    inner = _bare(expression)
    if inner is None:
        return None
    value = evaluate(inner)
    if isinstance(value, int):
        return frozenset() if value > 0 else None
    kind: int = inner._kind_id
    if kind == Kinds.DECL_REF:
        return _of_variable(referenced(inner), values)
    parts = children(inner)
    if kind == Kinds.MEMBER and len(parts) == 1:
        declaration = referenced(parts[0]) if parts[0]._kind_id == Kinds.DECL_REF else None
        return frozenset() if declaration is not None and _is_dimension(declaration) else None
    if kind == Kinds.BINARY and binary_operator(inner) == "*":
        return _all(size_of(part, values) for part in parts)
    return None


def divisors(expression: Any, values: Values) -> frozenset[int] | None:
    """Whether an expression divides by sizes only."""
    found = within(expression, frozenset({Kinds.BINARY, Kinds.COMPOUND_ASSIGN}))
    divided = (children(each)[1] for each in found if binary_operator(each) in ("/", "%", "/=", "%="))
    return _all(size_of(each, values) for each in divided)


def _is_dimension(declaration: Any) -> bool:
    file = declaration.location.file
    return declaration.spelling in _DIMENSIONS and file is not None and is_bundled(file.name)


def _of_variable(variable: Any, values: Values) -> frozenset[int] | None:
    if variable is None or variable.type.get_canonical().kind.value not in _WIDE:
        return None
    if variable._kind_id == _TEMPLATE_VALUE:
        found = values.get(variable.spelling, ())
        return frozenset() if found and min(found) > 0 else None
    given = initializer(variable) if variable._kind_id == Kinds.VAR else None
    known = size_of(given, values) if given is not None else None
    return known | {number_of(variable)} if known is not None else None


def _bare(expression: Any) -> Any:
    """Without parentheses, and casts that leave a number what it is."""
    while expression._kind_id in (Kinds.UNEXPOSED, Kinds.PAREN, *CASTS):
        if expression.type.get_canonical().kind.value not in _WIDE:
            return None
        inner = [c for c in children(expression) if 100 <= c._kind_id < 200]
        if len(inner) != 1:
            break
        expression = inner[0]
    return expression


def _all(found: Iterable[frozenset[int] | None]) -> frozenset[int] | None:
    every = frozenset[int]()
    for each in found:
        if each is None:
            return None
        every |= each
    return every
