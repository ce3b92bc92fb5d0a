"""Which copies and assignments of host objects are of their members alone."""

from __future__ import annotations

from typing import Any

from analyzers.frontend.cindex import CursorKind, TypeKind, class_members
from analyzers.frontend.parse import is_bundled
from analyzers.hostguide.build import is_written_by_compiler


def copies_members(function: Any, ty: Any) -> bool:
    """Whether a constructor or ``operator=`` is the compiler's, and runs no written code for a part of the object."""
    return is_written_by_compiler(function) and not _runs_code(ty, function.kind != CursorKind.CONSTRUCTOR)


def _runs_code(ty: Any, assigned: bool) -> bool:
    """Of a part of an object of a class, at any depth."""
    ty = ty.get_canonical()
    declaration = ty.get_declaration()
    parts = [f.type for f in ty.get_fields()]
    parts += [c.type for c in class_members(declaration) if c.kind == CursorKind.CXX_BASE_SPECIFIER]
    return any(_copied_by_code(part, assigned) for part in parts)


def _copied_by_code(ty: Any, assigned: bool) -> bool:
    ty = ty.get_canonical()
    while ty.kind == TypeKind.CONSTANTARRAY:
        ty = ty.element_type.get_canonical()
    if ty.kind != TypeKind.RECORD:
        return False
    declaration = ty.get_declaration()
    file = declaration.location.file
    if file is None or is_bundled(file.name):
        return False
    for child in class_members(declaration):
        if assigned:
            found = child.kind == CursorKind.CXX_METHOD and child.spelling == "operator="
        else:
            found = child.kind == CursorKind.CONSTRUCTOR and (
                child.is_copy_constructor() or child.is_move_constructor()
            )
        if found and not child.is_default_method() and not child.is_deleted_method():
            return True
    return _runs_code(ty, assigned)
