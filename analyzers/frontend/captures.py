"""What a lambda carries with it: the data members of its class, by the variables they hold copies of.

clang gives the class of a lambda one data member without a name for each capture, placed where the capture is written
or, with a default capture, where the variable is first used. Which variable it is a copy of follows from the name that
stands there and from the variables that the body names. What cannot be told this way is said so, never guessed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from analyzers.frontend import cindex
from analyzers.frontend.cindex import CursorKind, TypeKind

THIS: Final = "this"
_CALL: Final = "operator()"
# The names of a structured binding are of no kind of their own.
_VARIABLES: Final = frozenset({CursorKind.VAR_DECL, CursorKind.PARM_DECL, CursorKind.UNEXPOSED_DECL})
_FUNCTIONS: Final = frozenset(
    {CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD, CursorKind.CONSTRUCTOR, CursorKind.DESTRUCTOR,
     CursorKind.CONVERSION_FUNCTION, CursorKind.FUNCTION_TEMPLATE}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Capture:
    """One data member of a lambda's class."""

    name: str
    """That of the variable; `this` for the object around; unique in the lambda."""
    field: Any
    """Cursor of the data member."""
    variable: Any
    """Cursor of the variable it is a copy of, or of the one that an init-capture declares; None for `this`, and where
    the body does not name it."""


def is_lambda(ty: Any) -> bool:
    """Whether a type is the class of a lambda."""
    return ty.spelling.removeprefix("const ").startswith("(lambda at")


def captures(ty: Any) -> tuple[Capture, ...] | None:
    """The captures of a lambda, given its class, in the order of the data members; None where they cannot be told."""
    call = next((c for c in ty.get_declaration().get_children() if c.spelling == _CALL), None)
    body = None if call is None else next((c for c in call.get_children() if c.kind == CursorKind.COMPOUND_STMT), None)
    if call is None or body is None:
        return None
    named = list(_outer_variables(call, body))
    variables = {v.spelling: v for v in named}
    if len(variables) < len(named):
        return None
    found: list[Capture] = []
    for field in ty.get_fields():
        name = _name_at(field)
        variable = variables.pop(name, None) if name is not None else None
        if name is not None and variable is None and _holds_object(field.type, name):
            name = THIS
        if name is None or any(name == known.name for known in found):
            return None
        found.append(Capture(name, field, variable))
    # Of constants the value is used, and nothing is carried.
    if any(not v.type.get_canonical().is_const_qualified() or cindex.evaluate(v) is None for v in variables.values()):
        return None
    return tuple(found)


def constants(ty: Any) -> tuple[Any, ...]:
    """The local constants of which the body of a lambda uses the value and that it does not carry, given its class."""
    carried = captures(ty)
    call = next((c for c in ty.get_declaration().get_children() if c.spelling == _CALL), None)
    body = None if call is None else next((c for c in call.get_children() if c.kind == CursorKind.COMPOUND_STMT), None)
    if carried is None or body is None:
        return ()
    names = {one.name for one in carried}
    return tuple(v for v in _outer_variables(call, body) if v.spelling not in names)


def _holds_object(ty: Any, name: str) -> bool:
    """Whether a member that holds none of the variables holds the object around, or its address."""
    if name == THIS:
        return True
    ty = ty.get_canonical()
    pointed = ty.get_pointee() if ty.kind == TypeKind.POINTER else ty if name == "*" else None
    return pointed is not None and pointed.get_canonical().kind == TypeKind.RECORD


def _name_at(field: Any) -> str | None:
    """The word where a data member is placed."""
    first = next(iter(field.translation_unit.get_tokens(extent=field.extent)), None)
    return first.spelling if first is not None else None


def _outer_variables(call: Any, body: Any) -> Iterator[Any]:
    """The local variables that a body names and does not declare, those of init-captures among them."""
    start = body.extent.start.offset
    seen: set[int] = set()
    for use in _below(body):
        if use.kind != CursorKind.DECL_REF_EXPR:
            continue
        variable = cindex.referenced(use)
        if variable is None or variable.kind not in _VARIABLES or variable.hash in seen:
            continue
        seen.add(variable.hash)
        around = variable.semantic_parent
        if around is None or around.kind not in _FUNCTIONS or variable.storage_class == cindex.StorageClass.STATIC:
            continue
        if around == call:
            made_by_capture = variable.kind == CursorKind.VAR_DECL and variable.location.offset < start
            if made_by_capture:
                yield variable
        elif not _is_inside(around, call):
            yield variable


def _is_inside(function: Any, call: Any) -> bool:
    """Whether a function is written in the body of a lambda's call operator: a lambda in it, or a local class."""
    while function is not None and not function.kind.is_translation_unit():
        if function == call:
            return True
        function = function.semantic_parent
    return False


def _below(cursor: Any) -> Iterator[Any]:
    for child in cindex.children(cursor):
        yield child
        yield from _below(child)
