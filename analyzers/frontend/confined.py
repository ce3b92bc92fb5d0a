"""Whether the body of a function matters only to device code that calls it.

Other code may depend on it: host code, where it runs there too; constant expressions, as in template arguments and
array bounds; and types, where the body gives the type of the result.
"""

from __future__ import annotations

import re
from typing import Final

from analyzers.frontend import cindex
from analyzers.frontend.cindex import Cursor, CursorKind, TypeKind
from analyzers.frontend.parse import ParsedUnit

_FUNCTIONS: Final = frozenset(
    {
        CursorKind.FUNCTION_DECL,
        CursorKind.FUNCTION_TEMPLATE,
        CursorKind.CXX_METHOD,
        CursorKind.CONSTRUCTOR,
        CursorKind.DESTRUCTOR,
        CursorKind.CONVERSION_FUNCTION,
    }
)
_CONSTANT: Final = re.compile(r"\b(?:constexpr|consteval)\b")


def is_confined(unit: ParsedUnit, path: str, end: int) -> bool:
    """`end`: the byte behind the function's definition in a file of the unit. False in doubt."""
    # At its closing brace a body has no other cursor than its own.
    cursor = cindex.cursor_at(unit.device, path, end - 1)
    while cursor is not None and cursor.kind not in _FUNCTIONS:
        cursor = cursor.semantic_parent
    if cursor is None or cursor.extent.end.offset != end:
        return False
    kinds = {child.kind for child in cursor.get_children() if child.kind.is_attribute()}
    if CursorKind.CUDAGLOBAL_ATTR in kinds:
        return True
    if CursorKind.CUDADEVICE_ATTR not in kinds or CursorKind.CUDAHOST_ATTR in kinds or _is_deduced(cursor):
        return False
    return _CONSTANT.search(cindex.declaration_text(cursor)) is None


def _is_deduced(function: Cursor) -> bool:
    """Whether the body gives the type of the result."""
    kind = function.result_type
    while kind.kind in (TypeKind.POINTER, TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE):
        kind = kind.get_pointee()
    return kind.kind == TypeKind.AUTO
