"""Pointers that libclang shows with the type of an array.

A parameter that is written as an array (``float row[]``, ``int tile[4][8]``) is a pointer. libclang gives it, and what
is computed from it, the type as it is written, with nothing in it that tells it from that of an array.
"""

from __future__ import annotations

from typing import Any

from analyzers.frontend import cindex
from analyzers.frontend.cindex import CursorKind, TypeKind

_ARRAYS = frozenset(
    {TypeKind.CONSTANTARRAY, TypeKind.INCOMPLETEARRAY, TypeKind.VARIABLEARRAY, TypeKind.DEPENDENTSIZEDARRAY}
)
_OF_THE_LAST = frozenset(
    kind.value
    for kind in (
        CursorKind.UNEXPOSED_EXPR,
        CursorKind.PAREN_EXPR,
        CursorKind.CONDITIONAL_OPERATOR,
        CursorKind.CSTYLE_CAST_EXPR,
        CursorKind.CXX_STATIC_CAST_EXPR,
        CursorKind.CXX_CONST_CAST_EXPR,
        CursorKind.CXX_FUNCTIONAL_CAST_EXPR,
        CursorKind.CXX_REINTERPRET_CAST_EXPR,
        CursorKind.VAR_DECL,
    )
)
"""Of the type of their last part. A variable has that of its initialiser: no array is made from a pointer."""


def is_decayed(cursor: Any) -> bool:
    """Whether a declaration or expression that libclang shows with the type of an array is a pointer to the first
    element of one."""
    if cindex.type_of(cursor).get_canonical().kind not in _ARRAYS:
        return False
    kind = cursor._kind_id
    if kind == CursorKind.PARM_DECL.value:
        return True
    if kind == CursorKind.DECL_REF_EXPR.value:
        named = cindex.referenced(cursor)
        declared = (CursorKind.PARM_DECL.value, CursorKind.VAR_DECL.value)
        return named is not None and named._kind_id in declared and is_decayed(named)
    if kind == CursorKind.UNARY_OPERATOR.value:
        return cindex.unary_operator(cursor) != "*"
    if kind == CursorKind.COMPOUND_ASSIGNMENT_OPERATOR.value:
        return True
    if kind == CursorKind.BINARY_OPERATOR.value and cindex.binary_operator(cursor) != ",":
        return True
    if kind not in _OF_THE_LAST and kind != CursorKind.BINARY_OPERATOR.value:
        return False
    parts = [c for c in cindex.children(cursor) if c.kind.is_expression()]
    return bool(parts) and (cindex.type_of(parts[-1]).get_canonical().kind == TypeKind.POINTER or is_decayed(parts[-1]))
