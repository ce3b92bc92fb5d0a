"""Whether two expressions come to the same in whichever order they are evaluated.

An assignment evaluates its right side first, the arguments of a call are evaluated in any order. Takes the cursors of a
cell and of a value, gives whether evaluating the value changes what the cell is: variables that it names, variables
that something else may refer to, memory that is read to find the cell. What the tree does not show changes everything.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Final

from analyzers.frontend.cindex import TypeKind, binary_operator, children, referenced, unary_operator, within
from analyzers.frontend.decay import is_decayed
from analyzers.frontend.lowering.nodes import Kinds
from analyzers.frontend.parse import is_bundled
from analyzers.frontend.plain import is_idle, is_plain

_READING: Final = frozenset({Kinds.UNARY, Kinds.SUBSCRIPT, Kinds.MEMBER})
_ACTING: Final = frozenset({Kinds.COMPOUND_ASSIGN, Kinds.UNARY, Kinds.BINARY})
_NAMING: Final = frozenset({Kinds.DECL_REF, Kinds.UNEXPOSED, *_ACTING})
_ARRAYS: Final = (TypeKind.CONSTANTARRAY, TypeKind.INCOMPLETEARRAY, TypeKind.DEPENDENTSIZEDARRAY)
_ELSEWHERE: Final = (TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE)
_NO_LINKAGE: Final = 1
"""`CXLinkage_NoLinkage`: a variable of a function."""
_SHOWN: Final = frozenset(
    {
        *(Kinds.INTEGER, Kinds.FLOATING, Kinds.CHARACTER, Kinds.BOOLEAN, Kinds.NULLPTR, Kinds.SIZEOF, Kinds.THIS),
        *(Kinds.DECL_REF, Kinds.MEMBER, Kinds.SUBSCRIPT, Kinds.UNARY, Kinds.BINARY, Kinds.COMPOUND_ASSIGN),
        *(Kinds.UNEXPOSED, Kinds.PAREN, Kinds.CONDITIONAL, Kinds.C_CAST, Kinds.STATIC_CAST, Kinds.FUNCTIONAL_CAST),
        *(Kinds.CALL, Kinds.TYPE_REF, Kinds.TEMPLATE_REF, Kinds.NAMESPACE_REF, Kinds.COMPOUND, Kinds.DECL_STMT),
        *(Kinds.VAR, Kinds.PARM, Kinds.IF, Kinds.FOR, Kinds.WHILE, Kinds.DO, Kinds.RETURN, Kinds.NULL_STMT),
    }
)
"""What an expression or a function may be made of for its changes to be all that the tree shows."""


def is_ordered(target: Any, value: Any) -> bool:
    """Whether it makes no difference which of the two is evaluated first."""
    if is_idle(bare(value)):
        return True
    read = {usr for c in within(target, frozenset({Kinds.DECL_REF})) if (usr := _usr(c))}
    if not read.isdisjoint(map(_usr, _open(value))):
        return False
    if not _changes_memory(value, set()):
        return True
    return reads_no_memory(target) and not any(
        _is_reached(c) for c in within(target, frozenset({Kinds.DECL_REF})) if _is_variable(c)
    )


def reads_no_memory(expression: Any) -> bool:
    """Whether what an expression means, reads or writes lies where numbers of the thread alone say."""
    reads = within(expression, _READING)
    return all(is_plain(place, numbers=True) for c in reads for place in _places_in(c))


def is_of_language(call: Any) -> bool:
    """Whether a function is CUDA's or the standard library's, not one of the same name. Open calls are not told."""
    function = referenced(call)
    file = function.location.file if function is not None else None
    return function is not None and (file is None or is_bundled(file.name))


def bare(cursor: Any) -> Any:
    """Without brackets and implicit conversions."""
    return inside(cursor, (Kinds.PAREN, Kinds.UNEXPOSED))


def inside(cursor: Any, kinds: Collection[int]) -> Any:
    """What cursors of these kinds with nothing else in them are around."""
    while cursor._kind_id in kinds:
        inner = children(cursor)
        if len(inner) != 1:
            break
        cursor = inner[0]
    return cursor


def acts(cursor: Any) -> bool:
    """Whether an expression assigns something by itself; what a call does is not looked at."""
    return any(_changes(c) for c in within(cursor, _ACTING))


def _changes(cursor: Any) -> bool:
    kind: int = cursor._kind_id
    if kind == Kinds.UNARY:
        return unary_operator(cursor).endswith(("++", "--"))
    return kind == Kinds.COMPOUND_ASSIGN or (kind == Kinds.BINARY and binary_operator(cursor) == "=")


def _usr(cursor: Any) -> str:
    declaration = referenced(cursor)
    return declaration.get_usr() if declaration is not None else ""


def _is_variable(cursor: Any) -> bool:
    declaration = referenced(cursor)
    return declaration is None or declaration._kind_id in (Kinds.VAR, Kinds.PARM)


def _open(cursor: Any) -> Iterator[Any]:
    """The names in an expression or function of which more than the value may be taken."""
    found = within(cursor, _NAMING)
    loaded = {
        (inner[0].location.offset, inner[0].spelling)
        for c in found
        if c._kind_id == Kinds.UNEXPOSED
        and len(inner := children(c)) == 1
        and inner[0]._kind_id == Kinds.DECL_REF
        # An object that is converted to its base is still the same one.
        and c.type.get_canonical().kind != TypeKind.RECORD
    }
    for c in found:
        if c._kind_id == Kinds.DECL_REF and (c.location.offset, c.spelling) not in loaded:
            yield c


def _is_reached(name: Any) -> bool:
    """Whether a variable may be changed where its name is not written: something refers to it, or it is no variable of
    the function alone."""
    declaration = referenced(name)
    if declaration is None or not _is_own(declaration):
        return True
    if declaration.type.get_canonical().is_const_qualified():
        return False
    function = declaration.semantic_parent
    if function is None:
        return True
    usr = declaration.get_usr()
    stepped = {
        (target.location.offset, target.spelling)
        for c in within(function, _ACTING)
        if _changes(c) and (target := bare(children(c)[0]))._kind_id == Kinds.DECL_REF
    }
    captured = [c for la in within(function, frozenset({Kinds.LAMBDA})) for c in _open(la)]
    elsewhere = (c for c in _open(function) if (c.location.offset, c.spelling) not in stepped)
    return any(_usr(c) == usr for c in (*captured, *elsewhere))


def _is_own(declaration: Any) -> bool:
    own = declaration._kind_id == Kinds.PARM or declaration.linkage.value == _NO_LINKAGE
    return own and declaration.type.get_canonical().kind not in _ELSEWHERE


def _changes_memory(cursor: Any, known: set[str]) -> bool:
    """Whether an expression or function may change anything but the variables that it names. `known`: functions that
    are looked at already."""
    for c in (cursor, *_below(cursor)):
        kind: int = c._kind_id
        if kind == Kinds.CALL:
            if _call_changes_memory(c, known):
                return True
        elif kind not in _SHOWN:
            return True
        elif kind in _ACTING and _changes(c):
            target = bare(children(c)[0])
            declaration = referenced(target) if target._kind_id == Kinds.DECL_REF else None
            if declaration is None or not _is_own(declaration):
                return True
    return False


def _call_changes_memory(call: Any, known: set[str]) -> bool:
    function = referenced(call)
    if function is None:
        return True
    if is_of_language(call):
        # Of what it is not given the address it changes nothing.
        given = (a for a in call.get_arguments() if a is not None)
        return any(a.type.get_canonical().kind in (TypeKind.POINTER, TypeKind.UNEXPOSED) for a in given)
    usr, definition = function.get_usr(), function.get_definition()
    if usr in known:
        return False
    known.add(usr)
    body = next((c for c in children(definition) if c._kind_id == Kinds.COMPOUND), None) if definition else None
    return body is None or _is_lambda(function) or _changes_memory(body, known)


def _is_lambda(function: Any) -> bool:
    parent = function.semantic_parent
    return function.spelling == "operator()" and parent is not None and "lambda at" in parent.type.spelling


def _below(cursor: Any) -> Iterator[Any]:
    for part in children(cursor):
        yield part
        yield from _below(part)


def _places_in(read: Any) -> Iterator[Any]:
    """The pointers and numbers that say where an expression reads; none for what is part of another one."""
    kind: int = read._kind_id
    if kind == Kinds.UNARY and unary_operator(read) != "*":
        return
    for part in map(bare, children(read)):
        type_ = part.type.get_canonical().kind
        if kind == Kinds.SUBSCRIPT:
            inner = type_ in _ARRAYS and not is_decayed(part)
        else:
            inner = kind == Kinds.MEMBER and type_ != TypeKind.POINTER
        if not inner:
            yield part
