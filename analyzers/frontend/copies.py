"""Which classes are copied as their bytes, without any code: what of a value goes through a variable is the same value.

Takes types and cursors of libclang. That nobody wrote a constructor that copies, an assignment or a destructor for a
class, nor for what it holds, its definition tells; one that is not in sight is none of them.
"""

from __future__ import annotations

import re
from typing import Any, Final

from analyzers.frontend.cindex import TypeKind, children, is_virtual_base
from analyzers.frontend.lowering.nodes import RECORDS, Kinds

VECTOR: Final = re.compile(r"(?:u?(?:char|short|int|long|longlong)|float|double)[1-4]|dim3|half2?|__half2?")
"""CUDA's own classes by their names, which the programmer copies as numbers."""
_QUALIFIERS: Final = re.compile(r"\b(?:const|volatile)\b\s*")
_ARRAYS: Final = frozenset({TypeKind.CONSTANTARRAY.value})
_ASSIGN: Final = "operator="


def is_copied_by_bytes(ty: Any) -> bool:
    """Whether a type is such a class; volatile ones are not."""
    own = ty.get_canonical()
    if own.is_volatile_qualified() or own.kind != TypeKind.RECORD:
        return False
    if VECTOR.fullmatch(_QUALIFIERS.sub("", own.spelling).strip()):
        return True
    definition = own.get_declaration().get_definition()
    if definition is None or definition._kind_id not in RECORDS:
        return False
    return all(map(_is_harmless, children(definition)))


def _is_harmless(member: Any) -> bool:
    """What is declared in a class does nothing when that is copied."""
    kind: int = member._kind_id
    if kind == Kinds.CONSTRUCTOR:
        return not (member.is_copy_constructor() or member.is_move_constructor())
    if kind == Kinds.FUNCTION_TEMPLATE:
        return member.spelling != _ASSIGN
    if kind == Kinds.METHOD:
        return member.spelling != _ASSIGN and not member.is_virtual_method()
    if kind == Kinds.BASE:
        return not is_virtual_base(member) and is_copied_by_bytes(member.type)
    if kind == Kinds.FIELD:
        held = member.type.get_canonical()
        while held.kind.value in _ARRAYS:
            held = held.get_array_element_type().get_canonical()
        if held.is_volatile_qualified():
            return False
        return held.kind != TypeKind.RECORD or is_copied_by_bytes(held)
    return kind != Kinds.DESTRUCTOR


def class_assignment(call: Any) -> tuple[Any, Any] | None:
    """The two sides of `x = y` for a class that is copied by bytes; None of other calls."""
    parts = children(call)
    if call.spelling != _ASSIGN or len(parts) != len(("target", "function", "value")):
        return None
    target, _, value = parts
    return (target, value) if is_copied_by_bytes(target.type) else None
