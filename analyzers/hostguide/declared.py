"""The functions that a unit declares, as they are listed before any is looked into.

Takes cursors, gives what the search for launches asks of them: names, scopes, whether they are templates or run on the
device.
"""

from __future__ import annotations

from dataclasses import dataclass

from analyzers.frontend.cindex import Cursor, CursorKind, children

SCOPES = frozenset(
    {
        CursorKind.NAMESPACE,
        CursorKind.LINKAGE_SPEC,
        CursorKind.UNEXPOSED_DECL,
        CursorKind.CLASS_DECL,
        CursorKind.STRUCT_DECL,
        CursorKind.CLASS_TEMPLATE,
        CursorKind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION,
    }
)
FUNCTIONS = frozenset(
    {
        CursorKind.FUNCTION_DECL,
        CursorKind.CXX_METHOD,
        CursorKind.CONSTRUCTOR,
        CursorKind.DESTRUCTOR,
        CursorKind.CONVERSION_FUNCTION,
        CursorKind.FUNCTION_TEMPLATE,
    }
)
CLASSES = SCOPES - {CursorKind.NAMESPACE, CursorKind.LINKAGE_SPEC, CursorKind.UNEXPOSED_DECL}
MEMBERS = FUNCTIONS - {CursorKind.FUNCTION_DECL, CursorKind.FUNCTION_TEMPLATE}


@dataclass(frozen=True, slots=True)
class FoundFunction:
    """A function of the unit, before it is looked into."""

    cursor: Cursor
    name: str
    path: str
    start: int
    end: int
    named_at: int
    template: bool
    defined: bool


def called_as(f: FoundFunction) -> str:
    """The word with which a function is called."""
    if f.cursor.kind in (CursorKind.CONSTRUCTOR, CursorKind.DESTRUCTOR):
        return f.name.lstrip("~").partition("<")[0]
    return "operator" if f.name.startswith("operator") else f.name.partition("<")[0]


def in_template(cursor: Cursor) -> bool:
    parent = cursor.semantic_parent
    while parent is not None and parent.kind in SCOPES:
        if parent.kind in (CursorKind.CLASS_TEMPLATE, CursorKind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION):
            return True
        parent = parent.semantic_parent
    return False


def namespaces(cursor: Cursor) -> tuple[str, ...]:
    names: list[str] = []
    parent = cursor.semantic_parent
    if parent is not None and parent.kind in CLASSES:
        parent = parent.semantic_parent
    while parent is not None and parent.kind == CursorKind.NAMESPACE:
        names.append("" if parent.is_anonymous() else parent.spelling)
        parent = parent.semantic_parent
    return tuple(reversed(names))


def on_device(f: FoundFunction) -> bool:
    """Whether a function is a kernel or runs on the device only."""
    kinds = {c.kind for c in children(f.cursor) if c.kind.is_attribute()}
    if CursorKind.CUDAGLOBAL_ATTR in kinds:
        return True
    return CursorKind.CUDADEVICE_ATTR in kinds and CursorKind.CUDAHOST_ATTR not in kinds
