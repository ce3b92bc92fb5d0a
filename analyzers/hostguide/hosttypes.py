"""Host types as the guide sees them: exact C integers, and just enough of everything else.

Takes libclang types, gives small comparable values. Types that depend on a name clang did not find (it silently
turns them into ``int``) come out as :data:`OTHER`, because a width that nobody wrote must not enter a fact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from analyzers.frontend import cindex
from analyzers.frontend.cindex import Cursor, Type, TypeKind
from analyzers.frontend.decay import is_decayed
from analyzers.ir.expr import BOOL, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, FloatType, IntType


@dataclass(frozen=True, slots=True)
class PointerTo:
    """A data pointer; ``size`` is the bytes of the pointee, None where incomplete or void."""

    target: HostType
    size: int | None
    const: bool


@dataclass(frozen=True, slots=True)
class ReferenceTo:
    target: HostType
    const: bool
    rvalue: bool = False


@dataclass(frozen=True, slots=True)
class ArrayOf:
    element: HostType
    count: int | None


@dataclass(frozen=True, slots=True)
class RecordType:
    """A class, by its canonical spelling; ``head`` is the name without template arguments and namespaces."""

    name: str
    head: str


@dataclass(frozen=True, slots=True)
class OtherType:
    """Neither data that is tracked nor anything a fact can speak of."""

    name: str


VOID = OtherType("void")
FUNCTION = OtherType("function")
OTHER = OtherType("?")

HostType = IntType | FloatType | PointerTo | ReferenceTo | ArrayOf | RecordType | OtherType

_SCALARS: dict[Any, HostType] = {
    TypeKind.VOID: VOID,
    TypeKind.BOOL: BOOL,
    TypeKind.CHAR_U: U8,
    TypeKind.UCHAR: U8,
    TypeKind.CHAR16: U16,
    TypeKind.CHAR32: U32,
    TypeKind.USHORT: U16,
    TypeKind.UINT: U32,
    TypeKind.ULONG: U64,
    TypeKind.ULONGLONG: U64,
    TypeKind.CHAR_S: I8,
    TypeKind.SCHAR: I8,
    TypeKind.WCHAR: I32,
    TypeKind.SHORT: I16,
    TypeKind.INT: I32,
    TypeKind.LONG: I64,
    TypeKind.LONGLONG: I64,
    TypeKind.HALF: F16,
    TypeKind.FLOAT: F32,
    TypeKind.DOUBLE: F64,
    TypeKind.FUNCTIONPROTO: FUNCTION,
    TypeKind.FUNCTIONNOPROTO: FUNCTION,
}
_REFERENCES = (TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE)
_SUGAR = (TypeKind.TYPEDEF, TypeKind.ELABORATED)
_ARRAYS = (TypeKind.INCOMPLETEARRAY, TypeKind.VARIABLEARRAY, TypeKind.DEPENDENTSIZEDARRAY)


class HostTypes:
    """The types of one translation unit. ``suspect`` tells whether a declaration contains a compile error."""

    def __init__(self, suspect: Callable[[Cursor], bool] | None = None) -> None:
        self._suspect = suspect
        self._known: dict[tuple[Any, Any], HostType] = {}

    def of(self, ty: Type) -> HostType:
        raw: Any = ty
        key = (raw._kind_id, raw.data[0])
        found = self._known.get(key)
        if found is None:
            self._known[key] = OTHER  # ends recursive types
            found = self._known[key] = self._classify(ty)
        return found

    def at(self, cursor: Cursor) -> HostType:
        """The type of a declaration or expression."""
        ty: Type = cindex.type_of(cursor)
        found = self.of(ty)
        if isinstance(found, ArrayOf) and is_decayed(cursor):
            element = ty.get_canonical().get_array_element_type()
            size = element.get_size()
            return PointerTo(found.element, size if size > 0 else None, element.is_const_qualified())
        return found

    def _classify(self, ty: Type) -> HostType:
        kind = ty.kind
        scalar = _SCALARS.get(kind)
        if scalar is not None:
            return scalar
        if kind == TypeKind.POINTER:
            pointee = ty.get_pointee()
            target = self.of(pointee)
            size = None if target in (VOID, FUNCTION, OTHER) else pointee.get_size()
            return PointerTo(target, size if size is not None and size > 0 else None, pointee.is_const_qualified())
        if kind in _REFERENCES:
            pointee = ty.get_pointee()
            return ReferenceTo(self.of(pointee), pointee.is_const_qualified(), kind == TypeKind.RVALUEREFERENCE)
        if kind == TypeKind.CONSTANTARRAY:
            return ArrayOf(self.of(ty.element_type), ty.element_count)
        if kind in _ARRAYS:
            return ArrayOf(self.of(ty.get_array_element_type()), None)
        if kind == TypeKind.RECORD:
            name = ty.get_canonical().spelling.removeprefix("const ").removeprefix("volatile ")
            declaration = ty.get_declaration()
            return OTHER if self._is_suspect(declaration) else RecordType(name, declaration.spelling)
        if kind == TypeKind.ENUM:
            return self.of(ty.get_declaration().enum_type)
        if self._suspect is not None and kind in _SUGAR:
            return self._through_sugar(ty)
        canonical = ty.get_canonical()
        return self.of(canonical) if canonical.kind != kind else OTHER

    def _through_sugar(self, ty: Type) -> HostType:
        """One step at a time: an alias of an unknown name is declared with an error, and is ``int`` for clang."""
        if ty.kind == TypeKind.ELABORATED:
            return self.of(ty.get_named_type())
        declaration = ty.get_declaration()
        return OTHER if self._is_suspect(declaration) else self.of(declaration.underlying_typedef_type)

    def _is_suspect(self, declaration: Cursor) -> bool:
        return self._suspect is not None and self._suspect(declaration)


def usual(a: IntType, b: IntType) -> IntType:
    """The type both operands of an arithmetic operator are converted to (C++17 [expr.arith.conv])."""
    a, b = promoted(a), promoted(b)
    if a == b:
        return a
    if a.signed == b.signed:
        return a if a.width > b.width else b
    signed, unsigned = (a, b) if a.signed else (b, a)
    return signed if signed.width > unsigned.width else unsigned


def promoted(a: IntType) -> IntType:
    return I32 if a.width < 32 else a
