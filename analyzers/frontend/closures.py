"""Lambdas of host code as classes that have a name, so that a kernel that is an instance for one can be compiled alone.

The class stands where the lambda is written, with a data member for each capture in the order of clang's; the head of
the lambda becomes that of its call operator, the body stays as it is. What the function around declares and the body
names beside captures and constants is not there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, Final

from analyzers.frontend.blanking import blanked, group_end
from analyzers.frontend.captures import THIS, captures, constants
from analyzers.frontend.cindex import CursorKind, TypeKind, evaluate, namespaces_of

SPELLED: Final = re.compile(r"\(lambda at ([^()]+?):(\d+):(\d+)\)")
"""As clang writes the type of one."""
_REFERENCES: Final = frozenset({TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE})
_AUTO: Final = re.compile(rb"\bauto\b")
_MUTABLE: Final = re.compile(rb"\bmutable\b")


@dataclass(frozen=True, slots=True)
class Closure:
    """A lambda in the text of a file."""

    cursor: Any
    start: int
    end: int
    name: str
    """Of the class, with the namespaces around it."""
    blanks: tuple[tuple[int, int], ...]
    """From offset to offset: what is no part of the class."""
    insertions: Mapping[int, bytes] = field(default_factory=dict[int, bytes])
    """Text by the offset that it goes in front of."""


def closure_at(function: Any, text: bytes, file: str, line: int, column: int, number: int) -> Closure | None:
    """The lambda that begins in this place of a function's definition, the `number`-th to be named; None where there is
    none, or it holds what a class that stands outside of the function cannot: references, ``this``, arrays."""
    cursor = next(_lambdas(function, file, line, column), None)
    if cursor is None or function.kind != CursorKind.FUNCTION_DECL:
        return None
    members = _members(cursor)
    body = next((c for c in cursor.get_children() if c.kind == CursorKind.COMPOUND_STMT), None)
    if members is None or body is None:
        return None
    start, end, opened = (int(place.offset) for place in (cursor.extent.start, cursor.extent.end, body.extent.start))
    code = blanked(text)
    at = group_end(code, start)
    parameters = code.find(b"(", at, opened)
    closed = group_end(code, parameters) if parameters >= 0 else opened
    arrow = code.find(b"->", closed, opened)
    name = f"cuda_lsp_lambda_{number}"
    generic = [found.span() for found in _AUTO.finditer(code, parameters, closed)] if parameters >= 0 else []
    types = {begin: f"cuda_lsp_type_{number}_{at}" for at, (begin, _) in enumerate(generic)}
    template = f"template <{', '.join(f'class {one}' for one in types.values())}> " if types else ""
    head = f"struct {name} {{ {members} {template}__device__ auto operator()".encode()
    tail = b"" if _MUTABLE.search(code, closed, opened) else b" const "
    blanks = [*generic, (start, parameters if parameters >= 0 else opened), (closed, arrow if arrow >= 0 else opened)]
    insertions = {start: head, closed: tail, end: b" };"} | {at: type_.encode() for at, type_ in types.items()}
    if parameters < 0:
        insertions = {start: head + b"()" + tail, end: b" };"}
    return Closure(cursor, start, end, namespaces_of(function) + name, tuple(sorted(blanks)), insertions)


def _lambdas(function: Any, file: str, line: int, column: int) -> Iterator[Any]:
    for cursor in function.walk_preorder():
        if cursor.kind == CursorKind.LAMBDA_EXPR:
            at = cursor.location
            if (at.line, at.column) == (line, column) and PurePath(at.file.name).name == PurePath(file).name:
                yield cursor


def _members(cursor: Any) -> str | None:
    """The declarations of what a lambda carries with it, and of the constants that it names."""
    carried = captures(cursor.type)
    if carried is None:
        return None
    found: list[str] = []
    for one in carried:
        type_ = one.field.type
        spelled = type_.spelling
        if one.name == THIS or type_.kind in _REFERENCES or any(mark in spelled for mark in "[(&"):
            return None
        found.append(f"{spelled} {one.name};")
    for variable in constants(cursor.type):
        value = evaluate(variable)
        kind = variable.type.get_canonical().spelling.removeprefix("const ")
        if not isinstance(value, int) or any(mark in kind for mark in "[(&*:"):
            return None
        found.append(f"static constexpr {kind} {variable.spelling} = {value};")
    return " ".join(found)
