"""The types of expressions that clang leaves open in a template though no parameter of it is in them.

Of `float s[N]` in a template over `N` clang says that elements, and what is computed with them, depend on the template.
Takes cursors of expressions, gives their types: those of elements of arrays and of what pointers point to, and of
arithmetic with numbers whose types are known by then.
"""

from __future__ import annotations

import re
from typing import Any, Final

from analyzers.frontend.cindex import TypeKind, binary_operator, children, unary_operator
from analyzers.frontend.lowering.nodes import Kinds
from analyzers.frontend.settled import operator_of

_QUALIFIERS: Final = re.compile(r"\b(?:const|volatile)\b\s*")
_ARRAYS: Final = frozenset({TypeKind.CONSTANTARRAY, TypeKind.INCOMPLETEARRAY, TypeKind.DEPENDENTSIZEDARRAY})
_FLOATING: Final = (TypeKind.FLOAT, TypeKind.DOUBLE)
"""Each wider than those before it."""
_WIDE: Final = frozenset(
    {TypeKind.INT, TypeKind.UINT, TypeKind.LONG, TypeKind.ULONG, TypeKind.LONGLONG, TypeKind.ULONGLONG}
)
"""Integers that are promoted to no others."""
_SMALL: Final = frozenset(
    {TypeKind.BOOL, TypeKind.CHAR_U, TypeKind.UCHAR, TypeKind.CHAR_S, TypeKind.SCHAR, TypeKind.SHORT, TypeKind.USHORT}
)
_ARITHMETIC: Final = frozenset("+-*/")
_OF_INTEGERS: Final = frozenset("%&|^")
_OF_ONE: Final = frozenset("+-~")


def without_wrapper(cursor: Any) -> Any:
    """Through the wrapper that `#pragma unroll` or an attribute puts around a statement, and implicit conversions."""
    while cursor._kind_id in (Kinds.UNEXPOSED_STMT, Kinds.UNEXPOSED):
        inner = children(cursor)
        if not inner or (cursor._kind_id == Kinds.UNEXPOSED and len(inner) > 1):
            return cursor
        cursor = inner[-1]
    return cursor


def without_qualifiers(spelling: str) -> str:
    return _QUALIFIERS.sub("", spelling)


def unqualified(spelling: str) -> str:
    """A type without the qualifiers of the value itself: those of what a pointer points to stay."""
    pointee, star, own = spelling.rpartition("*")
    return (pointee + star + without_qualifiers(own)).strip()


def type_of(expression: Any) -> Any:
    """The type of an expression; open ones that are not known stay as clang has them."""
    own = without_wrapper(expression)
    if "dependent" not in own.type.spelling:
        return expression.type
    kind: int = own._kind_id
    if kind == Kinds.SUBSCRIPT:
        base, *_ = children(own)
        outer = type_of(base)
        if outer.kind in _ARRAYS:
            return outer.element_type
        return outer.get_pointee() if outer.kind == TypeKind.POINTER else expression.type
    if kind == Kinds.PAREN:
        return type_of(children(own)[0])
    if kind == Kinds.UNARY:
        operator, parts = unary_operator(own), children(own)
    elif kind == Kinds.BINARY:
        operator, parts = binary_operator(own), children(own)
    else:
        operator, parts = operator_of(own) if kind == Kinds.CALL else ("", [])
    return _computed(operator, parts) or expression.type


def _computed(operator: str, parts: list[Any]) -> Any | None:
    """The type of arithmetic with numbers, if it is that of an operand."""
    types = [type_of(part) for part in parts]
    kinds = [ty.get_canonical().kind for ty in types]
    floating = [kind for kind in kinds if kind in _FLOATING]
    known = _OF_ONE if len(parts) == 1 else _ARITHMETIC | _OF_INTEGERS
    if operator not in known or not all(kind in (*_FLOATING, *_WIDE, *_SMALL) for kind in kinds):
        return None
    if floating:
        return types[kinds.index(max(floating, key=_FLOATING.index))] if operator in _ARITHMETIC else None
    # A field may be narrower than its type, and is promoted to another one then.
    plain = all(without_wrapper(part)._kind_id != Kinds.MEMBER for part in parts)
    return types[0] if plain and len(set(kinds)) == 1 and kinds[0] in _WIDE else None
