"""Copies and assignments that the compiler makes: those that run written code for a part of the object are not copies
of bytes (C++ [class.copy.ctor], [class.copy.assign])."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from analyzers.frontend.cindex import class_members
from analyzers.frontend.lowering.context import Context
from analyzers.frontend.lowering.invocation import Facts, describe
from analyzers.frontend.lowering.layout import CType
from analyzers.frontend.lowering.nodes import Kinds, Node, NodeTable, stripped
from analyzers.frontend.parse import is_bundled


def check_copy(ctx: Context, ctype: CType, node: Node, *, assigned: bool = False) -> None:
    """Give up where the copy that the compiler makes of such an object runs code that is not followed here."""
    part = running_code(ctx.table, ctype, assigned=assigned)
    if part is not None:
        what = "assigning" if assigned else "copying"
        ctx.unsupported("constructor", f"{what} {ctype.spelling} runs code of its part {part}", node)


def running_code(table: NodeTable, ctype: CType, *, assigned: bool = False) -> str | None:
    """The class of a part, at any depth, that copies itself by written code; None where there is none, or that only
    copies the members."""
    if ctype.shape != "record":
        return None
    for part in _parts(ctype):
        if any(not _only_copies(table, part, f) for f in _written(part, assigned)):
            return part.spelling
        inner = running_code(table, part, assigned=assigned)
        if inner is not None:
            return inner
    return None


def runs_code(table: NodeTable, ctype: CType) -> bool:
    """Whether a copy of an object runs code, its own or that of a part."""
    own = ctype.shape == "record" and any(
        not _only_copies(table, ctype, function) for function in _written(ctype, False)
    )
    return own or running_code(table, ctype) is not None


def _parts(ctype: CType) -> Iterator[CType]:
    yield from (base for base, _ in ctype.record.bases)
    for field in ctype.record.fields:
        inner = field.type.flat()[0]
        if inner.shape == "record":
            yield inner


def _written(ctype: CType, assigned: bool) -> Iterator[Any]:
    """The copy and move functions of a class that somebody wrote."""
    file = ctype.record.declaration.location.file
    if file is None or is_bundled(file.name):
        return
    for child in class_members(ctype.record.declaration):
        if assigned:
            found = child._kind_id == Kinds.METHOD and child.spelling == "operator="
        else:
            found = child._kind_id == Kinds.CONSTRUCTOR and (child.is_copy_constructor() or child.is_move_constructor())
        if found and not child.is_default_method() and not child.is_deleted_method():
            yield child


def _only_copies(table: NodeTable, ctype: CType, function: Any) -> bool:
    """Whether a constructor does what one of the compiler's does: each member from that of the other object."""
    if function._kind_id != Kinds.CONSTRUCTOR or ctype.record.bases or ctype.record.unknown_bases:
        return False
    facts = describe(table, table.declaration(function))
    if facts.body is None or facts.body.kids or len(facts.parameters) != 1:
        return False
    copied = {member.reference.key for member, _ in _copied_members(facts) if member.reference is not None}
    return len(copied) == len(facts.initializers) and copied == {f.key for f in ctype.record.fields}


def _copied_members(facts: Facts) -> Iterator[tuple[Node, Node]]:
    for member, given in facts.initializers:
        bare = stripped(given)
        if member is None or member.reference is None or bare.kind != Kinds.MEMBER or bare.reference is None:
            continue
        of_other = len(bare.kids) == 1 and _is(stripped(bare.kids[0]).reference, facts.parameters[0])
        if of_other and bare.reference.key == member.reference.key and bare.type.scalar:
            yield member, given


def _is(named: Node | None, parameter: Node) -> bool:
    return named is not None and named.key == parameter.key
