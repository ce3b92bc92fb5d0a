"""The narrow, typed door to libclang.

Nothing else in the project imports `clang`. The protocols below name the part of `clang.cindex` that the front end
uses; the objects behind them are libclang's own, so there is no cost per cursor. Three C functions that the Python
class does not wrap are registered here: the operator kinds and `clang_Cursor_Evaluate`.
"""

from __future__ import annotations

import atexit
import ctypes
import importlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Protocol, TypeVar, cast

from analyzers.model import SourceSpan

# By name, because the package has no type information that a checker could use.
_module: Any = importlib.import_module("clang.cindex")

CursorKind: Any = _module.CursorKind
TypeKind: Any = _module.TypeKind
TokenKind: Any = _module.TokenKind
StorageClass: Any = _module.StorageClass
TLSKind: Any = _module.TLSKind
TemplateArgumentKind: Any = _module.TemplateArgumentKind
AccessSpecifier: Any = _module.AccessSpecifier


class File(Protocol):
    @property
    def name(self) -> str: ...


class SourceLocation(Protocol):
    """A place in a file; line and column count from 1, columns and offsets are UTF-8 bytes."""

    @property
    def file(self) -> File | None: ...
    @property
    def line(self) -> int: ...
    @property
    def column(self) -> int: ...
    @property
    def offset(self) -> int: ...
    @property
    def is_in_system_header(self) -> bool: ...


class SourceRange(Protocol):
    @property
    def start(self) -> SourceLocation: ...
    @property
    def end(self) -> SourceLocation: ...


class Token(Protocol):
    @property
    def spelling(self) -> str: ...
    @property
    def kind(self) -> Any: ...
    @property
    def location(self) -> SourceLocation: ...
    @property
    def extent(self) -> SourceRange: ...
    @property
    def cursor(self) -> Cursor: ...


class Type(Protocol):
    @property
    def kind(self) -> Any: ...
    @property
    def spelling(self) -> str: ...
    @property
    def element_type(self) -> Type: ...
    @property
    def element_count(self) -> int: ...
    def get_canonical(self) -> Type: ...
    def get_pointee(self) -> Type: ...
    def get_array_element_type(self) -> Type: ...
    def get_array_size(self) -> int: ...
    def get_declaration(self) -> Cursor: ...
    def get_result(self) -> Type: ...
    def get_class_type(self) -> Type: ...
    def get_named_type(self) -> Type: ...
    def get_size(self) -> int: ...
    def get_align(self) -> int: ...
    def get_offset(self, fieldname: str) -> int: ...
    def get_fields(self) -> Iterator[Cursor]: ...
    def get_num_template_arguments(self) -> int: ...
    def get_template_argument_type(self, num: int) -> Type: ...
    def argument_types(self) -> Sequence[Type]: ...
    def is_const_qualified(self) -> bool: ...
    def is_volatile_qualified(self) -> bool: ...
    def is_restrict_qualified(self) -> bool: ...


class Cursor(Protocol):
    @property
    def kind(self) -> Any: ...
    @property
    def spelling(self) -> str: ...
    @property
    def displayname(self) -> str: ...
    @property
    def mangled_name(self) -> str: ...
    @property
    def location(self) -> SourceLocation: ...
    @property
    def extent(self) -> SourceRange: ...
    @property
    def type(self) -> Type: ...
    @property
    def result_type(self) -> Type: ...
    @property
    def underlying_typedef_type(self) -> Type: ...
    @property
    def enum_type(self) -> Type: ...
    @property
    def enum_value(self) -> int: ...
    @property
    def storage_class(self) -> Any: ...
    @property
    def linkage(self) -> Any: ...
    @property
    def referenced(self) -> Cursor | None: ...
    @property
    def canonical(self) -> Cursor: ...
    @property
    def semantic_parent(self) -> Cursor | None: ...
    @property
    def lexical_parent(self) -> Cursor | None: ...
    @property
    def translation_unit(self) -> TranslationUnit: ...
    @property
    def hash(self) -> int: ...
    @property
    def access_specifier(self) -> Any: ...
    @property
    def raw_comment(self) -> str | None: ...
    def get_children(self) -> Iterator[Cursor]: ...
    def walk_preorder(self) -> Iterator[Cursor]: ...
    def get_tokens(self) -> Iterator[Token]: ...
    def get_arguments(self) -> Iterator[Cursor | None]: ...
    def get_definition(self) -> Cursor | None: ...
    def get_usr(self) -> str: ...
    def get_num_template_arguments(self) -> int: ...
    def get_template_argument_kind(self, num: int) -> Any: ...
    def get_template_argument_type(self, num: int) -> Type: ...
    def get_template_argument_value(self, num: int) -> int: ...
    def get_template_argument_unsigned_value(self, num: int) -> int: ...
    def get_field_offsetof(self) -> int: ...
    def get_bitfield_width(self) -> int: ...
    def is_bitfield(self) -> bool: ...
    def is_definition(self) -> bool: ...
    def is_static_method(self) -> bool: ...
    def is_virtual_method(self) -> bool: ...
    def is_const_method(self) -> bool: ...
    def is_default_method(self) -> bool: ...
    def is_anonymous(self) -> bool: ...


class FileInclusion(Protocol):
    @property
    def source(self) -> File: ...
    @property
    def include(self) -> File: ...
    @property
    def location(self) -> SourceLocation: ...
    @property
    def depth(self) -> int: ...


class ClangDiagnostic(Protocol):
    @property
    def severity(self) -> int: ...
    @property
    def spelling(self) -> str: ...
    @property
    def location(self) -> SourceLocation: ...
    @property
    def ranges(self) -> Sequence[SourceRange]: ...
    @property
    def children(self) -> Sequence[ClangDiagnostic]: ...
    @property
    def category_name(self) -> str: ...
    @property
    def option(self) -> str: ...


class TranslationUnit(Protocol):
    @property
    def cursor(self) -> Cursor: ...
    @property
    def spelling(self) -> str: ...
    @property
    def diagnostics(self) -> Sequence[ClangDiagnostic]: ...
    def get_includes(self) -> Iterator[FileInclusion]: ...
    def get_extent(self, filename: str, locations: Sequence[object]) -> SourceRange: ...
    def get_tokens(self, locations: object = None, extent: SourceRange | None = None) -> Iterator[Token]: ...


class Index(Protocol):
    """libclang's set of translation units; not thread-safe."""


class LibclangError(Exception):
    """libclang gave no translation unit; the text says which of its few reasons it named."""


class PrecompiledError(LibclangError):
    """A precompiled header is not of the files as they are now."""


# clang-c/CXErrorCode.h
_UNREADABLE: Final = 4
_ERRORS: Final = {
    1: "no reason given",
    2: "libclang crashed",
    3: "invalid arguments",
    _UNREADABLE: "unreadable precompiled part",
}


#: CXTranslationUnit_PrecompiledPreamble | CXTranslationUnit_CreatePreambleOnFirstParse | CXTranslationUnit_KeepGoing
PARSE_OPTIONS: Final = 0x004 | 0x100 | 0x200
#: The same, but what the file begins with is precompiled when it is parsed a second time: the first time is for nothing
#: where there is no second.
PARSE_ONCE: Final = 0x004 | 0x200
#: CXTranslationUnit_Incomplete | CXTranslationUnit_ForSerialization | CXTranslationUnit_KeepGoing
FOR_PRECOMPILING: Final = 0x002 | 0x010 | 0x200

_TERSE_OUTPUT: Final = 17
_EVAL_INT: Final = 1
_EVAL_FLOAT: Final = 2
_EVAL_STRING: Final = 4

# clang-c/Index.h, enum CXBinaryOperatorKind and CXUnaryOperatorKind (since LLVM 17); 0 is "not an operator".
BINARY_OPERATORS: Final[tuple[str, ...]] = (
    "", ".*", "->*", "*", "/", "%", "+", "-", "<<", ">>", "<=>", "<", ">", "<=", ">=", "==", "!=", "&", "^", "|", "&&",
    "||", "=", "*=", "/=", "%=", "+=", "-=", "<<=", ">>=", "&=", "^=", "|=", ",",
)  # fmt: skip
UNARY_OPERATORS: Final[tuple[str, ...]] = (
    "", "post++", "post--", "++", "--", "&", "*", "+", "-", "~", "!", "__real", "__imag", "__extension__", "co_await",
)  # fmt: skip

_DEVICE_STUB: Final = re.compile(r"(\d+)__device_stub__")


def _registered_library() -> Any:
    lib: Any = _module.conf.lib
    cursor: Any = _module.Cursor
    for name, arguments, result in (
        ("clang_getCursorBinaryOperatorKind", [cursor], ctypes.c_int),
        ("clang_getCursorUnaryOperatorKind", [cursor], ctypes.c_int),
        ("clang_Cursor_Evaluate", [cursor], ctypes.c_void_p),
        ("clang_EvalResult_getKind", [ctypes.c_void_p], ctypes.c_int),
        ("clang_EvalResult_getAsLongLong", [ctypes.c_void_p], ctypes.c_longlong),
        ("clang_EvalResult_isUnsignedInt", [ctypes.c_void_p], ctypes.c_uint),
        ("clang_EvalResult_getAsUnsigned", [ctypes.c_void_p], ctypes.c_ulonglong),
        ("clang_EvalResult_getAsDouble", [ctypes.c_void_p], ctypes.c_double),
        ("clang_EvalResult_getAsStr", [ctypes.c_void_p], ctypes.c_char_p),
        ("clang_EvalResult_dispose", [ctypes.c_void_p], None),
        ("clang_parseTranslationUnit2", None, ctypes.c_int),
        ("clang_saveTranslationUnit", None, ctypes.c_int),
        ("clang_Cursor_getVarDeclInitializer", [cursor], cursor),
        ("clang_Cursor_getNumArguments", [cursor], ctypes.c_int),
        ("clang_getCursorPrintingPolicy", [cursor], ctypes.c_void_p),
        ("clang_PrintingPolicy_setProperty", [ctypes.c_void_p, ctypes.c_int, ctypes.c_uint], None),
        ("clang_PrintingPolicy_dispose", [ctypes.c_void_p], None),
        ("clang_getCursorPrettyPrinted", [cursor, ctypes.c_void_p], _module._CXString),
        ("clang_createIndexWithOptions", [ctypes.c_void_p], _module.c_object_p),
        ("clang_getFileContents", [_module.TranslationUnit, ctypes.c_void_p, ctypes.c_void_p], ctypes.c_void_p),
    ):
        function = getattr(lib, name)
        if arguments is not None:
            function.argtypes = arguments
        function.restype = result
    lib.clang_getFileLocation.argtypes = lib.clang_getInstantiationLocation.argtypes
    lib.clang_getExpansionLocation.argtypes = lib.clang_getInstantiationLocation.argtypes
    return lib


_lib: Any = _registered_library()


def _file_location(location: Any) -> tuple[Any, int, int, int]:
    """File, line, column and offset as `clang.cindex.SourceLocation` caches them.

    For an argument of a macro this is where the argument is written, not where the macro's name is: the lines inside
    `AT_DISPATCH_…(…, [&] { … })` stay apart. For what a macro's body writes it is the place where the macro is used.
    """
    if location._data is None:
        file, line, column, offset = _module.c_object_p(), ctypes.c_uint(), ctypes.c_uint(), ctypes.c_uint()
        _lib.clang_getFileLocation(
            location, ctypes.byref(file), ctypes.byref(line), ctypes.byref(column), ctypes.byref(offset)
        )
        known = _module.File(file) if file else None
        location._data = (known, int(line.value), int(column.value), int(offset.value))
    return location._data


_module.SourceLocation._get_instantiation = _file_location


_module.SourceLocation._unit = None
_module.SourceLocation._place = None
_module.SourceRange._unit = None
_module.SourceRange._ends = None
_module.TranslationUnit._files = None
_module.File._name = None
_place_of_location: Any = _lib["clang_getFileLocation"]
_place_of_location.argtypes = [
    _module.SourceLocation,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.POINTER(ctypes.c_uint),
]
_place_of_location.restype = None


def _place(location: Any) -> tuple[int | None, int]:
    """The address of what clang knows of the file, and the offset: what most ask, without counting lines."""
    found = location._place
    if found is None:
        file, offset = ctypes.c_void_p(), ctypes.c_uint()
        _place_of_location(location, ctypes.byref(file), None, None, ctypes.byref(offset))
        found = location._place = (file.value, offset.value)
    return found


def _file_of(location: Any) -> Any:
    """The file of a location, None for none: one object for each file of a unit, as long as nothing is parsed anew."""
    unit = location._unit
    if unit is None:  # one that a callback was handed: gone with the callback, but for what is taken at once
        return _file_location(location)[0]
    address, _ = _place(location)
    if not address:
        return None
    files = cast("dict[int, Any] | None", unit._files)
    if files is None:
        files = unit._files = dict[int, Any]()
    found = files.get(address)
    if found is None:
        found = files[address] = _module.File(ctypes.cast(address, _module.c_object_p))
    return found


def _offset_of(location: Any) -> int:
    return _file_location(location)[3] if location._unit is None else _place(location)[1]


_KINDS: Final[dict[int, Any]] = {number: kind for number, kind in enumerate(CursorKind._kinds) if kind is not None}
_TYPE_KINDS: Final[dict[int, Any]] = {number: kind for number, kind in enumerate(TypeKind._kinds) if kind is not None}


def _kind_of(cursor: Any) -> Any:
    return _KINDS.get(cursor._kind_id) or CursorKind.from_id(cursor._kind_id)


def _kind_of_type(ty: Any) -> Any:
    return _TYPE_KINDS.get(ty._kind_id) or TypeKind.from_id(ty._kind_id)


def _cursor_location(cursor: Any) -> Any:
    found = cursor.__dict__.get("_loc")
    if found is None:
        found = cursor._loc = _lib.clang_getCursorLocation(cursor)
        found._unit = cursor.__dict__.get("_tu")
    return found


def _cursor_extent(cursor: Any) -> Any:
    found = cursor.__dict__.get("_extent")
    if found is None:
        found = cursor._extent = _lib.clang_getCursorExtent(cursor)
        found._unit = cursor.__dict__.get("_tu")
    return found


def _range_ends(part: Any) -> Any:
    found = part._ends
    if found is None:
        found = part._ends = (_lib.clang_getRangeStart(part), _lib.clang_getRangeEnd(part))
        for end in found:
            end._unit = part._unit
    return found


_module.SourceLocation.file = property(_file_of)
_module.SourceLocation.offset = property(_offset_of)
_module.SourceRange.start = property(lambda part: _range_ends(part)[0])
_module.SourceRange.end = property(lambda part: _range_ends(part)[1])
_module.Cursor.kind = property(_kind_of)
_module.Type.kind = property(_kind_of_type)
_module.Cursor.location = property(_cursor_location)
_module.Cursor.extent = property(_cursor_extent)


def _normal_name(file: Any) -> str:
    """The name of a file without the `..` that an `#include "../x.h"` leaves in it: one file has one name."""
    name = cast("str | None", file._name)
    if name is None:
        name = cast(str, _lib.clang_getFileName(file))
        name = file._name = os.path.normpath(name) if "/." in name or "//" in name else name
    return name


_module.File.name = property(_normal_name)


def expansion_offset(location: SourceLocation) -> int:
    """The offset of a location outside of all macros: for what a macro wrote, arguments included, that of its name."""
    file, line, column, offset = _module.c_object_p(), ctypes.c_uint(), ctypes.c_uint(), ctypes.c_uint()
    _lib.clang_getExpansionLocation(
        location, ctypes.byref(file), ctypes.byref(line), ctypes.byref(column), ctypes.byref(offset)
    )
    return int(offset.value)


def is_inlined(function: Cursor) -> bool:
    """Whether a function is `inline`, said or implied: by `constexpr`, or by a definition in its class."""
    return bool(_lib.clang_Cursor_isFunctionInlined(function))


def in_macro(unit: TranslationUnit, location: SourceLocation) -> bool:
    """Whether a macro, in its definition or in an argument, wrote what stands at a location."""
    file = location.file
    if file is None:
        return False
    plain = _lib.clang_getLocationForOffset(unit, file, location.offset)
    return not _lib.clang_equalLocations(plain, location)


def binary_operator(cursor: Cursor) -> str:
    """The operator of a `BINARY_OPERATOR` or `COMPOUND_ASSIGNMENT_OPERATOR` cursor as written in C; "" for others."""
    return BINARY_OPERATORS[int(_lib.clang_getCursorBinaryOperatorKind(cursor))]


def unary_operator(cursor: Cursor) -> str:
    """The operator of a `UNARY_OPERATOR` cursor; `post++` and `post--` are told apart; "" for other cursors."""
    return UNARY_OPERATORS[int(_lib.clang_getCursorUnaryOperatorKind(cursor))]


def is_virtual_base(specifier: Cursor) -> bool:
    """Whether a base specifier says ``virtual``."""
    return bool(_lib.clang_isVirtualBase(specifier))


def argument_count(cursor: Cursor) -> int:
    """How many arguments a call or a construction has; -1 for other cursors.

    They are its last children: before them stand the callee, and of ``T<N - 1>(a, b)`` the template's arguments too.
    """
    return int(_lib.clang_Cursor_getNumArguments(cursor))


def evaluate(cursor: Cursor) -> int | float | str | None:
    """The compile-time value of an expression or of a variable's initialiser, or None where clang finds none.

    Covers literals, enumerators, `sizeof`, constexpr calls, static members and substituted template arguments.
    """
    result = _lib.clang_Cursor_Evaluate(cursor)
    if not result:
        return None
    try:
        kind = _lib.clang_EvalResult_getKind(result)
        if kind == _EVAL_INT:
            if _lib.clang_EvalResult_isUnsignedInt(result):
                return int(_lib.clang_EvalResult_getAsUnsigned(result))
            return int(_lib.clang_EvalResult_getAsLongLong(result))
        if kind == _EVAL_FLOAT:
            return float(_lib.clang_EvalResult_getAsDouble(result))
        if kind == _EVAL_STRING:
            return cast(bytes, _lib.clang_EvalResult_getAsStr(result)).decode("utf-8", "replace")
        return None
    finally:
        _lib.clang_EvalResult_dispose(result)


def initializer(cursor: Cursor) -> Cursor | None:
    """The initialiser of a variable declaration, None without one. Among its children it could not be told from the
    expressions inside its type (`Tile<4>::type x;`).
    """
    found = _module.Cursor.from_cursor_result(_lib.clang_Cursor_getVarDeclInitializer(cursor), None, (cursor,))
    return cast("Cursor | None", found)


_VISITOR: Final[Any] = ctypes.CFUNCTYPE(ctypes.c_int, _module.Cursor, _module.Cursor, ctypes.c_void_p)
_visit: Any = _lib["clang_visitChildren"]
_visit.argtypes = [_module.Cursor, _VISITOR, ctypes.c_void_p]
_visit.restype = ctypes.c_uint
_collected: list[Any] = []


@_VISITOR
def _collect(child: Any, _parent: Any, _data: Any) -> int:
    _collected.append(child)
    return 1  # CXChildVisit_Continue


def children(cursor: Cursor) -> list[Any]:
    """The direct children; three times as fast as `Cursor.get_children`, which makes a callback for each call."""
    unit: Any = getattr(cursor, "_tu")  # noqa: B009
    _collected.clear()
    _visit(cursor, _collect, None)
    found = _collected.copy()
    for child in found:
        child._tu = unit  # keeps the unit alive, as the Python class expects
    return found


_wanted: set[int] = set()


@_VISITOR
def _collect_below(child: Any, _parent: Any, _data: Any) -> int:
    if child._kind_id in _wanted:
        _collected.append(child)
    return 2  # CXChildVisit_Recurse


def within(cursor: Cursor, kinds: frozenset[int]) -> list[Any]:
    """The cursor itself and all below it that are of one of the `kinds` (numbers of `CursorKind`), outer ones first;
    several times as fast as `Cursor.walk_preorder`."""
    unit: Any = getattr(cursor, "_tu")  # noqa: B009
    _wanted.clear()
    _wanted.update(kinds)
    _collected.clear()
    _visit(cursor, _collect_below, None)
    found = _collected.copy()
    for child in found:
        child._tu = unit
    own: Any = cursor
    return [own, *found] if own._kind_id in kinds else found


_raw_type: Any = _lib["clang_getCursorType"]
_raw_type.argtypes = [_module.Cursor]
_raw_type.restype = _module.Type
_raw_referenced: Any = _lib["clang_getCursorReferenced"]
_raw_referenced.argtypes = [_module.Cursor]
_raw_referenced.restype = _module.Cursor
_raw_invalid: Any = _lib["clang_isInvalidDeclaration"]
_raw_invalid.argtypes = [_module.Cursor]
_raw_invalid.restype = ctypes.c_uint
_FIRST_INVALID, _LAST_INVALID = 70, 73  # CXCursor_FirstInvalid … LastInvalid


def is_invalid(declaration: Any) -> bool:
    """Whether there is an error in a declaration: what uses it is not in the tree."""
    return bool(_raw_invalid(declaration))


def type_of(cursor: Any) -> Any:
    """`Cursor.type` without its checks; for walks over whole bodies."""
    found = _raw_type(cursor)
    found._tu = cursor._tu
    return found


def referenced(cursor: Any) -> Any:
    """`Cursor.referenced` without its checks; for walks over whole bodies. Of a constructor that a class inherits, the
    one that somebody wrote, None where that is not found: what clang puts into the class for `using B::B;` is empty."""
    found = _raw_referenced(cursor)
    if _FIRST_INVALID <= found._kind_id <= _LAST_INVALID:
        return None
    found._tu = cursor._tu
    return _written(found) if found._kind_id == _CONSTRUCTOR else found


_CONSTRUCTOR = CursorKind.CONSTRUCTOR.value
_USING = CursorKind.USING_DECLARATION.value
_BASE = CursorKind.CXX_BASE_SPECIFIER.value


def _written(constructor: Any) -> Any:
    """The constructor itself, or the one of a base class that it is inherited from."""
    owner = constructor.semantic_parent
    if argument_count(constructor) <= 0 or owner is None:
        return constructor
    if any(c._kind_id == CursorKind.PARM_DECL.value for c in children(constructor)):
        return constructor
    start = constructor.extent.start.offset
    uses = (c.extent for c in class_members(owner) if c._kind_id == _USING)
    if not any(use.start.offset <= start < use.end.offset for use in uses):
        return constructor
    return _of_bases(owner, constructor.type.get_canonical().spelling)


def _of_bases(declaration: Any, shown: str) -> Any:
    """The constructor of a base class with a type, those that the bases inherit included."""
    for member in class_members(declaration):
        if member._kind_id != _BASE:
            continue
        base = member.type.get_canonical().get_declaration()
        parts = class_members(base)
        own = (c for c in parts if c._kind_id == _CONSTRUCTOR and c.type.get_canonical().spelling == shown)
        found = next(own, None)
        if found is None and any(c._kind_id == _USING for c in parts):
            found = _of_bases(base, shown)
        if found is not None:
            return found
    return None


_raw_location: Any = _lib["clang_getCursorLocation"]
_raw_location.argtypes = [_module.Cursor]
_raw_location.restype = _module.SourceLocation
_raw_file: Any = _lib["clang_getFileLocation"]
_raw_file.argtypes = [_module.SourceLocation, ctypes.POINTER(ctypes.c_void_p), *[ctypes.c_void_p] * 3]
_raw_file.restype = None
_file_handle = ctypes.c_void_p()
_file_handle_reference: Any = ctypes.byref(_file_handle)


def file_key(cursor: Any) -> int:
    """A number for the file a declaration stands in, the same for all of the unit; 0 for none."""
    _raw_file(_raw_location(cursor), _file_handle_reference, None, None, None)
    return _file_handle.value or 0


def specialized_template(cursor: Cursor) -> Cursor | None:
    """The template that a function or class was instantiated from, None for anything else."""
    return cast("Cursor | None", _lib.clang_getSpecializedCursorTemplate(cursor))


_Fact = TypeVar("_Fact")


def fact_of(unit: TranslationUnit, name: str, found: Callable[[], _Fact]) -> _Fact:
    """What is found out about a unit once, until it is parsed again: plain data, no cursors."""
    whole = cast(Any, unit)
    facts: dict[str, Any] | None = getattr(whole, "_facts", None)
    if facts is None:
        facts = whole._facts = {}
    if name not in facts:
        facts[name] = found()
    return facts[name]


def class_members(declaration: Any) -> list[Any]:
    """The children of a class; of its template for an implicit instantiation, which libclang shows as empty.

    What they depend on is then the template's parameters: `Type.get_fields` gives the data members of the instance.
    """
    found = children(declaration)
    if not found:
        template = specialized_template(declaration)
        if template is not None:
            return children(template)
    return found


def file_contents(unit: TranslationUnit, path: str) -> bytes:
    """A file of the unit as clang read it, unsaved buffers included; empty when it is none of the unit's."""
    handle = _lib.clang_getFile(unit, path)
    if not handle:
        return b""
    size = ctypes.c_size_t()
    text = _lib.clang_getFileContents(unit, handle, ctypes.byref(size))
    return ctypes.string_at(text, size.value) if text else b""


def is_of_library(unit: TranslationUnit, path: str) -> bool:
    """Whether a file of the unit is what clang calls a system header: found by `-isystem`, clang's own, or one that
    says so itself. False when it is none of the unit's."""
    handle = _lib.clang_getFile(unit, path)
    if not handle:
        return False
    size = ctypes.c_size_t()
    _lib.clang_getFileContents(unit, handle, ctypes.byref(size))
    # At its end: a pragma says it of what follows.
    location: SourceLocation = _lib.clang_getLocationForOffset(unit, _module.File(handle), max(size.value - 1, 0))
    return location.is_in_system_header


def cursor_at(unit: TranslationUnit, path: str, offset: int) -> Cursor | None:
    """The innermost cursor that covers a byte of a file: for code the preprocessor left out, what stands around it."""
    file = _lib.clang_getFile(unit, path)
    if not file:
        return None
    found = _module.Cursor.from_location(unit, _lib.clang_getLocationForOffset(unit, _module.File(file), offset))
    return cast("Cursor | None", found)


def declaration_text(cursor: Cursor) -> str:
    """A declaration as clang prints it, macros expanded, without the bodies of functions."""
    policy = _lib.clang_getCursorPrintingPolicy(cursor)
    try:
        _lib.clang_PrintingPolicy_setProperty(policy, _TERSE_OUTPUT, 1)
        text = _lib.clang_getCursorPrettyPrinted(cursor, policy)
    finally:
        _lib.clang_PrintingPolicy_dispose(policy)
    return cast("str", _module._CXString.from_result(text, None, None))


def span(part: SourceRange) -> SourceSpan:
    """A clang range as the project's own; an empty path stands for a range without a file."""
    start, end = part.start, part.end
    path = start.file.name if start.file is not None else ""
    return SourceSpan(path, start.line, start.column, end.line, end.column, start.offset, end.offset)


def kernel_identity(cursor: Cursor) -> str:
    """The mangled name of a function, the same in the device and the host pass.

    clang's host pass mangles a kernel as its launch stub (`_Z18__device_stub__run…` for `_Z3run…`).
    """
    return unstubbed(cursor.mangled_name)


def namespaces_of(cursor: Cursor) -> str:
    """Those around a declaration, each with its ``::``; those without a name are left out."""
    names: list[str] = []
    parent = cursor.semantic_parent
    while parent is not None and parent.kind == CursorKind.NAMESPACE:
        if not parent.is_anonymous():
            names.insert(0, f"{parent.spelling}::")
        parent = parent.semantic_parent
    return "".join(names)


def scope_of(cursor: Cursor) -> Cursor | None:
    """The namespace, class or function that a declaration belongs to, or the whole unit, whatever its linkage."""
    parent = cursor.semantic_parent
    while parent is not None and parent.kind == CursorKind.LINKAGE_SPEC:
        parent = parent.semantic_parent
    return parent


def unstubbed(mangled: str) -> str:
    """A mangled name with clang's host launch-stub prefix taken out."""
    if mangled.startswith("__device_stub__"):
        return mangled.removeprefix("__device_stub__")
    return _DEVICE_STUB.sub(lambda match: str(int(match.group(1)) - len("__device_stub__")), mangled, count=1)


class _IndexOptions(ctypes.Structure):
    """`CXIndexOptions` of clang-c/Index.h, LLVM 18."""

    # The flags are bit fields of an `unsigned`, which shares its word with the bytes in front; Microsoft's does not.
    _fields_ = (
        ("size", ctypes.c_uint),
        ("background_priority_for_indexing", ctypes.c_ubyte),
        ("background_priority_for_editing", ctypes.c_ubyte),
        ("flags", ctypes.c_uint if os.name == "nt" else ctypes.c_ushort),
        ("preamble_storage_path", ctypes.c_char_p),
        ("invocation_emission_path", ctypes.c_char_p),
    )


_STORE_PREAMBLES_IN_MEMORY: Final = 1 << 2


@atexit.register
def _leave_to_the_system() -> None:
    """When Python ends it takes modules apart before what they hold: clang's objects that live until then would look
    for the library in a module that has no names any more. Their memory goes with the process."""
    for name in dir(_module):
        each = getattr(_module, name)
        if isinstance(each, type) and "__del__" in vars(each):
            del each.__del__


def create_index() -> Index:
    """A fresh index. Declarations of precompiled preambles are included when its units are walked.

    Preambles are kept in memory: as files they would stay behind in the temporary folder whenever a process is ended.
    """
    options = _IndexOptions(size=ctypes.sizeof(_IndexOptions), flags=_STORE_PREAMBLES_IN_MEMORY)
    made = _lib.clang_createIndexWithOptions(ctypes.byref(options))
    return cast(Index, _module.Index(made) if made else _module.Index.create())


def parse(
    index: Index,
    path: str,
    arguments: Sequence[str],
    unsaved: Sequence[tuple[str, bytes]],
    options: int = PARSE_OPTIONS,
) -> TranslationUnit:
    """Parse `path` with clang driver arguments; `unsaved` shadows files on disk. Raises `LibclangError`."""
    words = (ctypes.c_char_p * len(arguments))(*[word.encode("utf-8", "surrogateescape") for word in arguments])
    made = _module.c_object_p()
    code = _lib.clang_parseTranslationUnit2(
        index,
        path.encode("utf-8", "surrogateescape"),
        words,
        len(arguments),
        _unsaved_files(unsaved),
        len(unsaved),
        options,
        ctypes.byref(made),
    )
    if code != 0 or not made:
        kind = PrecompiledError if code == _UNREADABLE else LibclangError
        raise kind(_ERRORS.get(code, f"error {code}"))
    unit = cast(TranslationUnit, _module.TranslationUnit(made, index=index))
    cast(Any, unit)._arguments = tuple(arguments)
    return unit


def arguments_of(unit: TranslationUnit) -> tuple[str, ...]:
    """What a unit was parsed with: what is included before its text is the same in all units of the same arguments."""
    return cast(Any, unit)._arguments


def save(unit: TranslationUnit, path: str) -> None:
    """Write a unit that was parsed `FOR_PRECOMPILING` as a precompiled header. Raises `LibclangError`."""
    code = _lib.clang_saveTranslationUnit(unit, path.encode("utf-8", "surrogateescape"), 0)
    if code != 0:
        raise LibclangError(f"the precompiled header could not be written (error {code})")


def _unsaved_files(unsaved: Sequence[tuple[str, bytes]]) -> Any:
    array = (_module._CXUnsavedFile * len(unsaved))()
    for slot, (name, text) in zip(array, unsaved, strict=True):
        slot.name = name.encode("utf-8", "surrogateescape")
        slot.contents = text
        slot.length = len(text)
    return array


def reparse(unit: TranslationUnit, unsaved: Sequence[tuple[str, bytes]]) -> None:
    """Parse again with new text. All cursors of the unit become invalid. After `LibclangError` the unit is unusable."""
    cast(Any, unit)._files = cast(Any, unit)._facts = None
    code = _lib.clang_reparseTranslationUnit(unit, len(unsaved), _unsaved_files(unsaved), PARSE_OPTIONS)
    if code != 0:
        raise LibclangError(_ERRORS.get(code, f"error {code}"))
