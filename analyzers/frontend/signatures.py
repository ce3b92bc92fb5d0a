"""What else depends on the signature of a function: its defaults, its other declarations, functions of its name, units.

Takes the cursor of a function definition, gives the facts about its parameters and who may name it; `named` finds the
functions of a name in a whole translation unit. Plain data: nothing holds a cursor.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from analyzers.frontend.cindex import TypeKind, arguments_of, children, file_key, is_inlined
from analyzers.frontend.copies import VECTOR, is_copied_by_bytes
from analyzers.frontend.lowering.nodes import Kinds
from analyzers.frontend.parse import is_bundled

_INTERNAL: Final = 2
_UNIQUE: Final = 3
"""`CXLinkage_Internal` and `CXLinkage_UniqueExternal`: what an anonymous namespace holds."""
_FRIEND: Final = 603
_PARTIAL: Final = 32
_REFERENCES: Final = (TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE)
_OVERRIDES: Final = frozenset({404, 405})  # `final`, `override`
_WRITTEN_BESIDE: Final = re.compile(r"\b(?:const|volatile|struct|class|union|enum)\b\s*")
"""What may stand beside the name of a type."""
SCOPES: Final = frozenset(
    {
        Kinds.NAMESPACE,
        Kinds.LINKAGE,
        Kinds.STRUCT,
        Kinds.CLASS,
        Kinds.UNION,
        Kinds.CLASS_TEMPLATE,
        Kinds.UNEXPOSED_DECL,
        _PARTIAL,
    }
)
"""Kinds of cursors that hold declarations of functions."""
FUNCTIONS: Final = frozenset(
    {
        Kinds.FUNCTION,
        Kinds.METHOD,
        Kinds.CONSTRUCTOR,
        Kinds.DESTRUCTOR,
        Kinds.CONVERSION,
        Kinds.FUNCTION_TEMPLATE,
    }
)


@dataclass(frozen=True, slots=True)
class Signature:
    """Of a function definition that is no kernel."""

    plain: bool
    """All parameters must be given, and their number is fixed; what is returned is said; nothing overrides it."""
    external: bool
    """Units that do not see this text may declare and call it: it is neither `static` nor `inline`, no template, and in
    no anonymous namespace."""
    alone: bool
    """No other declaration of it and no other function in the unit has its name, those in the namespaces and classes
    of CUDA's and C++'s own headers aside."""
    gives_place: bool
    """What is returned is a reference: a value in its stead would be gone before it is read."""
    nothing: str
    """How to write a value of what is returned that says nothing and that any thread may make: `0`, `Pair()`; empty
    where there is none."""
    value: str
    """The type of a variable for what is returned that is declared without a value: a number, a pointer or one of
    CUDA's vectors; empty for others."""


def signatures(unit: Any, cursors: Collection[Any]) -> list[Signature]:
    """Those of function definitions of a translation unit, in their order."""
    names = {cursor.spelling for cursor in cursors}
    found: dict[str, int] = {}
    for name in named(unit, names) if names else ():
        found[name] = found.get(name, 0) + 1
    return [_signature(cursor, found.get(cursor.spelling, 0) <= 1) for cursor in cursors]


def named(unit: Any, names: Collection[str]) -> Iterator[str]:
    """The name of each declaration of a function in a translation unit that has one of the names, friends and members
    included, as far as `Signature.alone` is about it."""
    of_language: dict[int, bool] = {}
    known = _known_names(arguments_of(unit))
    for cursor in children(unit.cursor):
        if cursor._kind_id == Kinds.LINKAGE and _is_of_language(cursor, of_language):
            place = cursor.location.file.name, cursor.location.offset
            if place not in known:
                known[place] = Counter(_functions(children(cursor), None, False, of_language))
            for name in names:
                yield from [name] * known[place][name]
        else:
            yield from _functions([cursor], names, False, of_language)


@lru_cache(maxsize=16)
def _known_names(_arguments: tuple[str, ...]) -> dict[tuple[str, int], Counter[str]]:
    """How many functions of which name the `extern "C"` blocks of bundled headers declare, by their place: thousands,
    and the same in all units of the same arguments."""
    return {}


def _functions(
    cursors: Iterable[Any], names: Collection[str] | None, scoped: bool, of_language: dict[int, bool]
) -> Iterator[str]:
    """`names`: None for all. `scoped`: the cursors are in a namespace or a class. `of_language`: whether files are
    bundled ones, by their `file_key`."""
    for cursor in cursors:
        kind: int = cursor._kind_id
        if kind in FUNCTIONS:
            name = cursor.spelling
            if (names is None or name in names) and not (scoped and _is_of_language(cursor, of_language)):
                yield name
        elif kind in SCOPES or kind == _FRIEND:
            inside = scoped or kind not in (Kinds.LINKAGE, Kinds.UNEXPOSED_DECL)
            if not (inside and _is_of_language(cursor, of_language)):
                yield from _functions(children(cursor), names, inside, of_language)


def _is_of_language(cursor: Any, known: dict[int, bool]) -> bool:
    key = file_key(cursor)
    if key not in known:
        file = cursor.location.file
        known[key] = file is not None and is_bundled(file.name)
    return known[key]


def _signature(cursor: Any, alone: bool) -> Signature:
    parameters = [c for c in children(cursor) if c._kind_id == Kinds.PARM]
    plain = (
        cursor._kind_id in (Kinds.FUNCTION, Kinds.FUNCTION_TEMPLATE, Kinds.METHOD)
        and not cursor.type.is_function_variadic()
        and not any(p.type.spelling.endswith("...") or _has_value(p) for p in parameters)
        and not _is_deduced(cursor.result_type)
        and not (cursor.is_virtual_method() or any(c._kind_id in _OVERRIDES for c in children(cursor)))
    )
    gives_place = cursor.result_type.get_canonical().kind in _REFERENCES
    return Signature(
        plain, _is_external(cursor), alone, gives_place, _nothing(cursor.result_type), _value(cursor.result_type)
    )


def _nothing(result: Any) -> str:
    own = result.get_canonical()
    if own.kind not in (TypeKind.RECORD, TypeKind.ENUM):
        return "0"
    if own.kind == TypeKind.RECORD and not (is_copied_by_bytes(own) and not _is_made_by_code(own)):
        return ""
    return _WRITTEN_BESIDE.sub("", result.spelling) + "()"


def _value(result: Any) -> str:
    own = result.get_canonical()
    number = TypeKind.BOOL.value <= own.kind.value <= TypeKind.LONGDOUBLE.value or own.kind == TypeKind.POINTER
    if not number and not VECTOR.fullmatch(_WRITTEN_BESIDE.sub("", own.spelling)):
        return ""
    pointee, star, beside = result.spelling.rpartition("*")
    written = (pointee + star + _WRITTEN_BESIDE.sub("", beside)).strip()
    return "" if "(" in written or _is_deduced(result) else written


def _is_made_by_code(record: Any) -> bool:
    """Whether somebody wrote what makes an object of nothing, for the class or for what it holds."""
    definition = record.get_declaration().get_definition()
    for member in children(definition) if definition is not None else ():
        kind: int = member._kind_id
        held = member.type.get_canonical()
        if kind == Kinds.CONSTRUCTOR and member.is_default_constructor():
            return True
        if kind in (Kinds.FIELD, Kinds.BASE) and held.kind == TypeKind.RECORD and _is_made_by_code(held):
            return True
    return False


def _is_deduced(result: Any) -> bool:
    while result.kind == TypeKind.POINTER or result.kind in _REFERENCES:
        result = result.get_pointee()
    return result.kind == TypeKind.AUTO


def _has_value(parameter: Any) -> bool:
    return any(token.spelling == "=" for token in parameter.get_tokens())


def _is_external(cursor: Any) -> bool:
    if cursor.linkage.value in (_INTERNAL, _UNIQUE) or cursor._kind_id == Kinds.FUNCTION_TEMPLATE or is_inlined(cursor):
        return False
    scope = cursor.semantic_parent
    while scope is not None and scope._kind_id in SCOPES:
        if scope._kind_id in (Kinds.CLASS_TEMPLATE, _PARTIAL):
            return False
        scope = scope.semantic_parent
    return True
