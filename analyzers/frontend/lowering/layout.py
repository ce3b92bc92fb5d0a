"""C++ types as the lowering sees them: scalars with their IR type, records and arrays with byte offsets.

A `TypeTable` turns libclang types into `CType`, one object per distinct type of a unit. Half-precision and similar
classes of the bundled headers count as scalars: their values are data, so nothing is gained by looking inside.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from analyzers.frontend import captures, cindex
from analyzers.frontend.parse import is_bundled
from analyzers.ir.expr import BOOL, F16, F32, F64, I8, I16, I32, I64, PTR, U8, U16, U32, U64, FloatType, IntType, Type

_T: Final[Any] = cindex.TypeKind

_INTEGERS: Final[dict[int, bool]] = {
    _T.CHAR_U.value: False, _T.UCHAR.value: False, _T.CHAR16.value: False, _T.CHAR32.value: False,
    _T.USHORT.value: False, _T.UINT.value: False, _T.ULONG.value: False, _T.ULONGLONG.value: False,
    _T.CHAR_S.value: True, _T.SCHAR.value: True, _T.WCHAR.value: True, _T.SHORT.value: True, _T.INT.value: True,
    _T.LONG.value: True, _T.LONGLONG.value: True,
}  # fmt: skip
_FLOATS: Final = frozenset(
    {_T.FLOAT.value, _T.DOUBLE.value, _T.LONGDOUBLE.value, _T.HALF.value, _T.FLOAT128.value, 32, 39,
     # 32 and 39 are _Float16 and __bf16, which the Python class does not name.
     # 128-bit integers are wider than the IR's: their values are treated as data.
     _T.INT128.value, _T.UINT128.value}
)  # fmt: skip
# The IR's own objects: comparing types by identity is much faster.
_INTEGER_TYPES: Final[dict[tuple[int, bool], IntType]] = {
    (t.width, t.signed): t for t in (I8, I16, I32, I64, U8, U16, U32, U64)
}
_POINTER: Final = frozenset({_T.POINTER.value, _T.BLOCKPOINTER.value, _T.NULLPTR.value})
_REFERENCE: Final = frozenset({_T.LVALUEREFERENCE.value, _T.RVALUEREFERENCE.value})
_ARRAY: Final = frozenset(
    {_T.CONSTANTARRAY.value, _T.INCOMPLETEARRAY.value, _T.VARIABLEARRAY.value, _T.DEPENDENTSIZEDARRAY.value}
)
_VECTOR: Final = frozenset({_T.VECTOR.value, 176})
_FUNCTION: Final = frozenset({_T.FUNCTIONPROTO.value, _T.FUNCTIONNOPROTO.value})

#: Classes whose values are one number that the analysis never looks into.
_NUMBER_CLASSES: Final = frozenset(
    {
        "__half", "half", "__half_raw", "__nv_bfloat16", "nv_bfloat16", "__nv_bfloat16_raw", "Half", "BFloat16",
        "__nv_fp8_e4m3", "__nv_fp8_e5m2", "__nv_fp8_e8m0", "Float8_e4m3fn", "Float8_e5m2", "Float8_e4m3fnuz",
        "Float8_e5m2fnuz", "tf32",
    }
)  # fmt: skip

_BASE_CURSOR: Final[int] = cindex.CursorKind.CXX_BASE_SPECIFIER.value
_UNION_CURSOR: Final[int] = cindex.CursorKind.UNION_DECL.value
_DESTRUCTOR_CURSOR: Final[int] = cindex.CursorKind.DESTRUCTOR.value
_CONSTRUCTOR_CURSOR: Final[int] = cindex.CursorKind.CONSTRUCTOR.value
_COMPOUND_CURSOR: Final[int] = cindex.CursorKind.COMPOUND_STMT.value
_CLASS_CURSORS: Final = frozenset(
    {cindex.CursorKind.STRUCT_DECL.value, cindex.CursorKind.CLASS_DECL.value, _UNION_CURSOR}
)

#: Records with more scalar leaves than this are kept in memory instead of in variables.
SPLIT_LIMIT: Final = 32


@dataclass(frozen=True, slots=True)
class Field:
    """A data member. `key` is its declaration; `bits` the (first bit, width) of a bit-field within `offset`."""

    name: str
    key: int
    offset: int
    type: CType
    cursor: Any
    bits: tuple[int, int] | None = None


def _is_number_class(declaration: Any) -> bool:
    """Whether a class is one of the number classes, and no class of the user's with such a name."""
    name: str = declaration.spelling
    if name not in _NUMBER_CLASSES:
        return False
    file = declaration.location.file
    return name.startswith("__") or (file is not None and is_bundled(file.name))


def _data_type(size: int) -> FloatType:
    """The IR's type for values that are only data: it has floats of 16, 32 and 64 bits."""
    return F16 if size <= 2 else F32 if size <= 4 else F64


class CType:
    """One canonical type. `shape` is integer, float, pointer, reference, array, record, void, function or other."""

    __slots__ = (
        "_element",
        "_record",
        "clang",
        "const",
        "count",
        "ir",
        "shape",
        "size",
        "spelling",
        "table",
        "volatile",
    )

    def __init__(self, clang: Any, table: TypeTable) -> None:
        self.clang = clang
        self.table = table
        self._element: CType | None = None
        self._record: Record | None = None
        self.const: bool = clang.is_const_qualified()
        self.volatile: bool = clang.is_volatile_qualified()
        self.ir: Type | None = None
        self.count: int | None = None
        self.size: int = 0
        self.spelling: str = clang.spelling
        kind = clang._kind_id
        self.shape = self._classify(kind)

    def as_pointer(self) -> CType:
        """The pointer that an array's type becomes in a parameter."""
        made = CType(self.clang, self.table)
        made._element, made.shape, made.ir, made.size = self.element, "pointer", PTR, 8
        made.const = made.volatile = False
        made.count, made.spelling = None, f"{self.element.spelling} *"
        return made

    def _classify(self, kind: int) -> str:
        clang = self.clang
        if kind in _INTEGERS:
            self.size = clang.get_size()
            self.ir = _INTEGER_TYPES[self.size * 8, _INTEGERS[kind]]
            return "integer"
        if kind in _FLOATS:
            self.size = max(clang.get_size(), 1)
            self.ir = _data_type(self.size)
            return "float"
        if kind in _POINTER:
            self.size, self.ir = 8, PTR
            return "pointer"
        if kind in _REFERENCE:
            self.size, self.ir = 8, PTR
            return "reference"
        if kind == _T.BOOL.value:
            self.size, self.ir = 1, BOOL
            return "integer"
        if kind == _T.ENUM.value:
            return self._classify_enum()
        if kind == _T.RECORD.value:
            self.size = max(clang.get_size(), 0)
            if self.size in (1, 2, 4) and _is_number_class(clang.get_declaration()):
                self.ir = _data_type(self.size)
                return "float"
            return "record"
        if kind in _ARRAY:
            size = clang.get_array_size()
            self.count = size if kind == _T.CONSTANTARRAY.value and size >= 0 else None
            self.size = max(clang.get_size(), 0)
            return "array"
        if kind in _VECTOR:
            self.size = max(clang.get_size(), 1)
            self.ir = _data_type(self.size)
            return "float"
        if kind == _T.VOID.value:
            return "void"
        if kind in _FUNCTION:
            return "function"
        if kind == _T.MEMBERPOINTER.value:
            self.size, self.ir = max(clang.get_size(), 8), PTR
            return "pointer"
        return "other"

    def _classify_enum(self) -> str:
        underlying = self.clang.get_declaration().enum_type.get_canonical()
        kind = underlying._kind_id
        self.size = max(underlying.get_size(), 1)
        self.ir = BOOL if kind == _T.BOOL.value else _INTEGER_TYPES[self.size * 8, _INTEGERS.get(kind, True)]
        return "integer"

    def forget(self) -> None:
        """Drop what can be asked for again; a record refers to its type."""
        self._record = None

    @property
    def scalar(self) -> bool:
        return self.ir is not None

    @property
    def element(self) -> CType:
        """What a pointer or reference points to, or the element of an array."""
        found = self._element
        if found is None:
            clang = self.clang
            inner = clang.get_array_element_type() if self.shape == "array" else clang.get_pointee()
            found = self._element = self.table.of(inner)
        return found

    @property
    def record(self) -> Record:
        found = self._record
        if found is None:
            found = self._record = Record(self)
        return found

    @property
    def step(self) -> int:
        """Bytes from one element to the next in arithmetic on this pointer or array; 1 for void."""
        return max(self.element.size, 1)

    @property
    def align(self) -> int:
        """Bytes; 1 where the type is incomplete."""
        return 8 if self.shape == "pointer" else max(self.clang.get_align(), 1)

    def flat(self) -> tuple[CType, tuple[int, ...]]:
        """The innermost element type and the extents of a (multidimensional) array."""
        extents: list[int] = []
        inner = self
        while inner.shape == "array":
            extents.append(inner.count or 0)
            inner = inner.element
        return inner, tuple(extents)

    def leaves(self) -> tuple[tuple[int, CType], ...] | None:
        """(offset, scalar) of everything inside, in order; None when unions, bit-fields or size forbid the split."""
        if self.scalar:
            return ((0, self),)
        if self.shape == "record":
            return self.record.leaves
        if self.shape == "array" and self.count is not None:
            inner = self.element.leaves()
            if inner is None or len(inner) * self.count > 1024:
                return None
            step = self.element.size
            return tuple((i * step + offset, leaf) for i in range(self.count) for offset, leaf in inner)
        return None

    def gaps(self) -> tuple[tuple[int, int], ...]:
        """(first byte, end) of what no member has, in order: padding, and all of a class of which that is not known."""
        if self.shape == "record":
            return self.record.gaps
        inner = self.element.gaps() if self.shape == "array" and self.count else ()
        if inner and len(inner) * (self.count or 0) > 1024:
            return ((0, self.size),)
        starts = (i * self.element.size for i in range(self.count or 0)) if inner else ()
        return tuple((start + first, start + end) for start in starts for first, end in inner)

    def __repr__(self) -> str:
        return f"<{self.spelling}>"


def _head(spelling: str) -> str:
    """``Base`` of ``const ns::Base<int>``."""
    return spelling.partition("<")[0].rpartition("::")[2].rpartition(" ")[2]


def _is_expanded(base: Any) -> bool:
    """Whether a base specifier is a pack expansion, ``Base<I>...``: several bases."""
    end = base.extent.end
    text = cindex.file_contents(base.translation_unit, end.file.name) if end.file is not None else b"..."
    return text[end.offset :].lstrip().startswith(b"...")


class Record:
    """Layout of a struct, class or union."""

    def __init__(self, ctype: CType) -> None:
        table = ctype.table
        clang = ctype.clang
        declaration = clang.get_declaration()
        definition = declaration.get_definition() or declaration
        self.declaration: Any = definition
        self.name: str = definition.spelling
        self.union: bool = definition._kind_id == _UNION_CURSOR
        self.type = ctype
        self.unknown_bases: list[str] = []
        """Base classes whose types libclang does not give, as for instances of templates, and virtual ones, as they
        are written."""
        self._open_base: tuple[str, int] | None = None
        """The template of the only one of these, and where what stands before it ends."""
        self.bases: tuple[tuple[CType, int], ...] = tuple(self._bases(definition, table))
        self.captures = captures.captures(clang) if captures.is_lambda(clang) else ()
        """Of a lambda: what its data members are copies of; None where that cannot be told."""
        self.fields: tuple[Field, ...] = tuple(self._fields(clang, table))
        self.by_key: dict[int, Field] = {}
        self._index(0, self.fields)
        self._leaves: tuple[tuple[int, CType], ...] | bool | None = False
        self._splittable: bool | None = None
        self._destructor: bool | None = None
        self.defaults: bool | None = None
        """Whether default construction does anything; kept by `calls`."""
        self.file: str = definition.location.file.name if definition.location.file is not None else ""

    def _bases(self, definition: Any, table: TypeTable) -> Iterator[tuple[CType, int]]:
        # libclang 18 has no offset of a base: lay them out in order, as the Itanium ABI does for plain classes.
        offset = 0
        for child in cindex.class_members(definition):
            if child._kind_id != _BASE_CURSOR:
                continue
            base = table.of(child.type)
            if base.shape != "record" or cindex.is_virtual_base(child):
                # Where a virtual base lies depends on the complete object.
                known = base.shape == "record" or _is_expanded(child)
                self._open_base = None if known or self.unknown_bases else (_head(child.spelling), offset)
                self.unknown_bases.append(child.spelling)
                continue
            if base.size <= 1 and not base.record.fields and not base.record.bases:
                yield base, 0
                continue
            align = max(base.clang.get_align(), 1)
            offset = (offset + align - 1) // align * align
            yield base, offset
            offset += base.size

    def _fields(self, clang: Any, table: TypeTable) -> Iterator[Field]:
        names = {c.field.data[0]: c.name for c in self.captures or ()}
        for cursor in clang.get_fields():
            at = cursor.get_field_offsetof()
            bits = None
            offset = max(at, 0) // 8
            kind = table.of(cursor.type)
            if cursor.is_bitfield():
                unit = max(kind.size, 1)
                offset = at // 8 // unit * unit
                bits = (at - offset * 8, cursor.get_bitfield_width())
            name = cursor.spelling or names.get(cursor.data[0], "")
            yield Field(name, cursor.data[0], offset, kind, cursor, bits)

    def _index(self, start: int, fields: tuple[Field, ...]) -> None:
        for field in fields:
            self.by_key[field.key] = (
                field
                if not start
                else Field(field.name, field.key, field.offset + start, field.type, field.cursor, field.bits)
            )
            anonymous = not field.name or field.cursor.type.get_declaration().is_anonymous()
            if anonymous and field.type.shape == "record":
                self._index(start + field.offset, field.type.record.fields)

    def find(self, key: int, name: str) -> Field | None:
        """The field declared by `key`, searched in base classes too; by name when the declaration is another one."""
        found = self.by_key.get(key)
        if found is not None:
            return found
        for base, offset in self.bases:
            inner = base.record.find(key, "")
            if inner is not None:
                return Field(inner.name, inner.key, inner.offset + offset, inner.type, inner.cursor, inner.bits)
        if not name:
            return None
        for field in self.by_key.values():
            if field.name == name:
                return field
        for base, offset in self.bases:
            inner = base.record.find(0, name)
            if inner is not None:
                return Field(inner.name, inner.key, inner.offset + offset, inner.type, inner.cursor, inner.bits)
        return None

    def constructors(self) -> Iterator[Any]:
        """The constructors declared in the class."""
        for child in cindex.children(self.declaration):
            if child._kind_id == _CONSTRUCTOR_CURSOR:
                yield child

    def base_offset(self, wanted: str) -> int | None:
        """Byte offset of a (possibly indirect) base class given by its canonical spelling."""
        for base, offset in self.bases:
            if base.spelling.removeprefix("const ") == wanted.removeprefix("const "):
                return offset
            inner = base.record.base_offset(wanted)
            if inner is not None:
                return offset + inner
        return None

    def may_derive_from(self, other: CType, anyhow: bool = False) -> bool:
        """Whether a class may be a base of this one that is not found among the bases: ``anyhow``, or because the
        name of its template is that of an unknown base."""
        heads = {_head(name) for name in self.unknown_bases}
        if heads and (anyhow or _head(other.spelling) in heads):
            return True
        return any(base.record.may_derive_from(other, anyhow) for base, _ in self.bases)

    def open_base_offset(self, wanted: CType) -> int | None:
        """Byte offset of a base class that is an instance of the template which the only unknown base names."""
        if self._open_base is None or self._open_base[0] != _head(wanted.spelling):
            return None
        align = max(wanted.clang.get_align(), 1)
        return (self._open_base[1] + align - 1) // align * align

    @property
    def leaves(self) -> tuple[tuple[int, CType], ...] | None:
        if self._leaves is False:
            self._leaves = self._find_leaves()
        return self._leaves  # pyright: ignore[reportReturnType]

    def _find_leaves(self) -> tuple[tuple[int, CType], ...] | None:
        if self.unknown_bases:
            return None
        if self.union:
            return self._union_leaves()
        found: dict[int, CType] = {}
        parts = [(offset, base) for base, offset in self.bases] + [(f.offset, f.type) for f in self.fields]
        for offset, part in parts:
            inner = part.leaves()
            if inner is None:
                return None
            # Bit-fields share their storage unit: it is one scalar here.
            found.update((offset + at, leaf) for at, leaf in inner)
        return tuple(sorted(found.items()))

    @property
    def gaps(self) -> tuple[tuple[int, int], ...]:
        """See `CType.gaps`."""
        if self.union or self.unknown_bases or any(f.bits is not None for f in self.fields):
            return ((0, self.type.size),)
        bases = [(offset, base) for base, offset in self.bases if base.record.fields or base.record.bases]
        parts = sorted([*bases, *((f.offset, f.type) for f in self.fields)], key=lambda part: part[0])
        found: list[tuple[int, int]] = []
        at = 0
        for offset, part in parts:
            if offset > at:
                found.append((at, offset))
            found += [(offset + first, offset + end) for first, end in part.gaps()]
            at = max(at, offset + part.size)
        return tuple(found) if at >= self.type.size else (*found, (at, self.type.size))

    def _union_leaves(self) -> tuple[tuple[int, CType], ...] | None:
        """The scalars of the member that covers the most bytes, with the most integers: copies go through it."""
        best: tuple[tuple[int, CType], ...] | None = None
        rank = (-1, -1)
        for field in self.fields:
            inner = field.type.leaves()
            if inner is None:
                continue
            covered = sum(leaf.size for _, leaf in inner)
            own = (covered, sum(1 for _, leaf in inner if leaf.shape != "float"))
            if own > rank:
                best, rank = inner, own
        return best

    @property
    def splittable(self) -> bool:
        """Whether a local of this type can live in variables, one per scalar."""
        if self._splittable is None:
            self._splittable = self._find_splittable()
        return self._splittable

    def _find_splittable(self) -> bool:
        if any(f.bits is not None for f in self.fields):
            return False
        if self.union:
            return len({f.type.ir for f in self.fields}) == 1 and all(f.type.scalar for f in self.fields)
        if any(part.shape == "record" and not part.record.splittable for part, _ in self.bases):
            return False
        inner = [f.type.flat()[0] if f.type.shape == "array" else f.type for f in self.fields]
        if any(part.shape == "record" and not part.record.splittable for part in inner):
            return False
        leaves = self.leaves
        return leaves is not None and len(leaves) <= SPLIT_LIMIT

    def has_destructor(self) -> bool:
        """Whether leaving a scope runs user code for this type."""
        if self._destructor is None:
            self._destructor = self._find_destructor()
        return self._destructor

    def _find_destructor(self) -> bool:
        for child in cindex.class_members(self.declaration):
            if child._kind_id == _DESTRUCTOR_CURSOR and not child.is_default_method():
                bodies = [p for p in cindex.children(child.get_definition() or child) if p._kind_id == _COMPOUND_CURSOR]
                file = child.location.file
                if any(cindex.children(body) for body in bodies):
                    return True
                if not bodies and (file is None or not is_bundled(file.name)):
                    return True
        parts = [base for base, _ in self.bases]
        parts += [f.type.flat()[0] for f in self.fields]
        return any(part.shape == "record" and part.record.has_destructor() for part in parts)


class TypeTable:
    """The types of one unit, each once."""

    def __init__(self) -> None:
        self._known: dict[int, CType] = {}

    def of(self, clang: Any) -> CType:
        key = clang.data[0] or 0
        found = self._known.get(key)
        if found is None:
            canonical = clang.get_canonical()
            identity = canonical.data[0] or 0
            found = self._known.get(identity)
            if found is None:
                found = self._known[identity] = CType(canonical, self)
            self._known[key] = found
        return found

    def decayed(self, array: CType) -> CType:
        """The pointer to the first element that an array's type stands for in a parameter."""
        key = -(array.clang.data[0] or 0)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = array.as_pointer()
        return found

    def forget(self) -> None:
        for known in self._known.values():
            known.forget()
        self._known.clear()
