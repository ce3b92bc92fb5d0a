"""The type of a value as a person would write it for a new variable, right in other builds as well.

Takes the cursor of an expression with the code of its file, gives the name of a type. A name that a macro or a typedef
gives to it where a variable is declared (``#define REAL float``) is that of what is computed with the variable, too.
"""

from __future__ import annotations

import re
from typing import Any, Final

from analyzers.frontend.cindex import children, expansion_offset, file_key, referenced, unary_operator
from analyzers.frontend.declared_variables import unqualified
from analyzers.frontend.lowering.nodes import Kinds
from analyzers.frontend.open_types import type_of, without_wrapper

AUTO: Final = "auto"
_HEAD: Final = re.compile(
    rb"(?:(?:__shared__|extern|static|const|volatile)\s+)*(?P<name>[A-Za-z_]\w*)\b\s*(?P<stars>\**)\s*"
    rb"(?:const\s+|__restrict(?:__)?\s+)*"
)
_EXTENTS: Final = re.compile(rb"\s*(?:\[[^\[\]]*\]\s*)*")
_DECLARED: Final = (Kinds.VAR, Kinds.PARM)
_INTO: Final = (Kinds.SUBSCRIPT, Kinds.PAREN)
_COMPUTED: Final = (Kinds.PAREN, Kinds.BINARY, Kinds.CONDITIONAL)


def written_type(typed: Any, code: bytes) -> str:
    """The type; `auto` also where a template leaves it open."""
    spelling = unqualified(type_of(typed).spelling)
    if not spelling or "dependent" in spelling:
        return AUTO
    result = unqualified(typed.type.get_canonical().spelling)
    if spelling != result:
        return spelling
    leaves = _leaves(typed)
    named = [(name, unqualified(leaf.type.get_canonical().spelling)) for leaf in leaves if (name := _name(leaf, code))]
    alike = {name for name, canonical in named if canonical == result}
    if len(alike) == 1:
        return alike.pop()
    return AUTO if named and len(named) == len(leaves) else spelling


def _leaves(expression: Any) -> list[Any]:
    """What an expression is computed of."""
    own = without_wrapper(expression)
    kind: int = own._kind_id
    if kind == Kinds.UNARY and unary_operator(own) in "+-~":
        return _leaves(children(own)[0])
    if kind not in _COMPUTED:
        return [own]
    parts = children(own)
    return [leaf for part in (parts[1:] if kind == Kinds.CONDITIONAL else parts) for leaf in _leaves(part)]


def _name(leaf: Any, code: bytes) -> str:
    """That of the type of a value, where it is not the one that the language has for it; else nothing."""
    spelling = unqualified(leaf.type.spelling)
    return _by_macro(leaf, code) or (spelling if spelling != unqualified(leaf.type.get_canonical().spelling) else "")


def _by_macro(place: Any, code: bytes) -> str:
    """The macro that writes the type of a variable, or of the elements of one, where its declaration stands; else
    nothing."""
    own, depth = without_wrapper(place), 0
    while own._kind_id in (Kinds.SUBSCRIPT, Kinds.PAREN) or (
        own._kind_id == Kinds.UNARY and unary_operator(own) == "*"
    ):
        depth += own._kind_id != Kinds.PAREN
        own = without_wrapper(children(own)[0])
    declaration = referenced(own) if own._kind_id == Kinds.DECL_REF else None
    if declaration is None or declaration._kind_id not in _DECLARED or file_key(declaration) != file_key(place):
        return ""
    at = expansion_offset(declaration.location)
    head = _HEAD.fullmatch(code[expansion_offset(declaration.extent.start) : at])
    extents = _EXTENTS.match(code, at + len(declaration.spelling))
    if head is None or extents is None or len(head["stars"]) + extents[0].count(b"[") != depth:
        return ""
    name = head["name"].decode()
    return "" if name == AUTO or name in re.findall(r"\w+", declaration.type.spelling) else name
