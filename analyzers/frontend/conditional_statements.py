"""Statements that are nothing but a conditional expression: ``c ? (s[t] = 1) : (x = s[t + 1]);``, which `if` and `else`
may say as well.

Takes the cursor of an expression whose value is not used, gives the byte ranges of its condition and its sides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from analyzers.frontend.cindex import TypeKind, binary_operator, children
from analyzers.frontend.lowering.nodes import Kinds, written_by_macro
from analyzers.frontend.order import bare

Range = tuple[int, int]
Choice = tuple[Range, Range, Range]

_NUMBERS: Final = frozenset(range(TypeKind.VOID.value, TypeKind.LONGDOUBLE.value + 1)) | {
    TypeKind.HALF.value,
    TypeKind.POINTER.value,
    TypeKind.ENUM.value,
}
"""Kinds of types that are converted to each other without code, and those of no value."""


def choice_of(expression: Any, code: bytes, range_of: Callable[[Any], Range]) -> Choice | None:
    """Where the condition, the first side and the second one stand, without brackets and casts to `void` around them.
    None where it is something else, a part of it is written by a macro, or code converts what is dropped."""
    own = _dropped(expression)
    parts = children(own) if own._kind_id == Kinds.CONDITIONAL else []
    if len(parts) != 3 or any(map(written_by_macro, (own, *parts))):
        return None
    if not all(part.type.get_canonical().kind.value in _NUMBERS for part in (own, *parts[1:])):
        return None
    test, one, other = map(range_of, parts)
    if code[test[1] : one[0]].strip() != b"?" or code[one[1] : other[0]].strip() != b":":
        return None
    condition = bare(parts[0])
    if condition._kind_id == Kinds.BINARY and binary_operator(condition) == ",":
        condition = parts[0]
    return range_of(condition), range_of(_dropped(parts[1])), range_of(_dropped(parts[2]))


def _dropped(expression: Any) -> Any:
    """Without brackets, conversions that the source does not write, and casts to `void`."""
    while True:
        inner = bare(expression)
        void = inner._kind_id == Kinds.C_CAST and inner.type.spelling == "void"
        parts = children(inner) if void else []
        if not parts:
            return inner
        expression = parts[-1]
