"""Members of classes that go with each other: where they are declared, and which class lacks one."""

from __future__ import annotations

import re

from analyzers.frontend import cindex
from analyzers.frontend.cindex import Cursor, CursorKind, Type, TypeKind
from analyzers.hostguide.declared import CLASSES
from analyzers.hostguide.written import Code, Write

_BINDING = re.compile(rb"(?<!const )\bauto\s*&&?\s*\[([^\[\]]*)\]\s*[=:({]")
_INTEGERS = frozenset(
    {
        TypeKind.SCHAR,
        TypeKind.CHAR_S,
        TypeKind.UCHAR,
        TypeKind.SHORT,
        TypeKind.USHORT,
        TypeKind.INT,
        TypeKind.UINT,
        TypeKind.LONG,
        TypeKind.ULONG,
        TypeKind.LONGLONG,
        TypeKind.ULONGLONG,
    }
)

FieldPlace = tuple[str, int]
"""The file and offset of the name that a member is declared with, the same in all instances of a template."""


def bases_of(record: Cursor) -> list[Cursor]:
    found: list[Cursor] = []
    for child in cindex.class_members(record):
        if child.kind == CursorKind.CXX_BASE_SPECIFIER:
            named = [
                c.referenced for c in child.get_children() if c.kind in (CursorKind.TEMPLATE_REF, CursorKind.TYPE_REF)
            ]
            for meant in named:
                defined = meant.get_definition() or meant if meant is not None else None
                if defined is not None and defined.kind in CLASSES:
                    found.append(defined)
    return found


def lacks(write: Write, member: str) -> bool:
    """Whether the class that a write belongs to is known not to have another member."""
    f = write.function
    if f is None or write.holder:
        if f is None:
            return False
        found = cindex.cursor_at(f.cursor.translation_unit, write.path, write.at)
        meant = found.referenced if found is not None and found.kind == CursorKind.MEMBER_REF_EXPR else None
        parent = meant.semantic_parent if meant is not None and meant.kind == CursorKind.FIELD_DECL else None
    else:
        parent = f.cursor.semantic_parent
    waiting = [parent] if parent is not None and parent.kind in CLASSES else []
    if not waiting:
        return False
    while waiting:
        top = waiting.pop()
        if any(c.kind == CursorKind.FIELD_DECL and c.spelling == member for c in cindex.class_members(top)):
            return False
        bases = bases_of(top)
        if len(bases) != sum(c.kind == CursorKind.CXX_BASE_SPECIFIER for c in cindex.class_members(top)):
            return False
        waiting += bases
    return True


def fields_of(record: Cursor | None, stride: str, columns: str) -> tuple[FieldPlace, FieldPlace, int] | None:
    """Where a class declares two members that may hold a pitch and a width, and how many it has."""
    if record is None:
        return None
    fields = {c.spelling: c for c in cindex.class_members(record) if c.kind == CursorKind.FIELD_DECL}
    if stride not in fields or columns not in fields or not _holds(fields[stride].type, fields[columns].type):
        return None
    found = [place_of_field(fields[name]) for name in (stride, columns)]
    return (found[0], found[1], len(fields)) if found[0] and found[1] else None


def _holds(stride: Type, columns: Type) -> bool:
    """Whether what a pitch fits in is not narrower than an ``int``, nor than the width."""
    kinds = [t.get_canonical().kind for t in (stride, columns)]
    return all(kind in _INTEGERS for kind in kinds) and stride.get_size() >= max(4, columns.get_size())


def place_of_field(cursor: Cursor) -> FieldPlace | None:
    """Where a member is declared that a cursor declares or refers to."""
    field = cursor if cursor.kind == CursorKind.FIELD_DECL else cursor.referenced
    if field is None or field.kind != CursorKind.FIELD_DECL or field.location.file is None:
        return None
    return field.location.file.name, field.location.offset


def bound_together(code: Code) -> set[int]:
    """How many members at once are given names of their own somewhere, through which they can be written."""
    return {1 + names.count(b",") for text in code.texts.values() for names in _BINDING.findall(text)}
