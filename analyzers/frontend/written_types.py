"""The type of a value as a person would write it for a new variable, right in other builds as well.

Takes the cursor of an expression with the code of its file and the macros that are defined there, gives the name of a
type. A name that a macro or a typedef gives to it where a variable is declared (``#define REAL float``) is that of what
is computed with such variables alone, too; with others, the type is `auto`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from analyzers.frontend.cindex import children, expansion_offset, file_key, referenced, unary_operator
from analyzers.frontend.lowering.nodes import CASTS, Kinds
from analyzers.frontend.open_types import type_of, unqualified, without_wrapper

AUTO: Final = "auto"
_HEAD: Final = re.compile(
    rb"(?:(?:__shared__|extern|static|const|volatile)\s+)*(?P<name>[A-Za-z_]\w*)\b\s*(?P<stars>\**)\s*"
    rb"(?:const\s+|__restrict(?:__)?\s+)*"
)
_EXTENTS: Final = re.compile(rb"\s*(?:\[[^\[\]]*\]\s*)*")
_DECLARED: Final = (Kinds.VAR, Kinds.PARM)
_DEFINED: Final = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(?P<name>\w+)\b(?P<means>[^\n]*)", re.MULTILINE)
_ONE_TYPE: Final = re.compile(
    rb"[ \t]+(?!(?:const|volatile|static|extern|__\w+__)\b)(?:(?:unsigned|signed|long|short)[ \t]+)*[A-Za-z_]\w*"
    rb"(?:[ \t]*/[/*].*|\s*)"
)
"""What a macro may mean that is only used as a type: the name of one."""
WORDS: Final = frozenset(
    {AUTO, "bool", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "void"}
)
"""What the language calls types."""
_FLOATING: Final = ("float", "double")
_WORD: Final = re.compile(rb"[A-Za-z_]\w*")
_INTO: Final = (Kinds.SUBSCRIPT, Kinds.PAREN)
_COMPUTED: Final = (Kinds.PAREN, Kinds.BINARY, Kinds.CONDITIONAL)


def macro_types(text: bytes) -> dict[str, bool]:
    """The macros that a file defines, and whether each is the name of a type wherever it does."""
    found: dict[str, bool] = {}
    for definition in _DEFINED.finditer(text):
        name = definition["name"].decode()
        found[name] = found.get(name, True) and _ONE_TYPE.fullmatch(definition["means"]) is not None
    return found


def spelled_type(typed: Any) -> str:
    """The type as clang has it; `auto` where a template leaves it open."""
    spelling = unqualified(type_of(typed).spelling)
    return AUTO if not spelling or "dependent" in spelling else spelling


def written_type(typed: Any, code: bytes, macros: Mapping[str, bool]) -> str:
    """The type; `auto` also where a template leaves it open. `macros`: as `macro_types` gives them."""
    spelling = spelled_type(typed)
    if spelling == AUTO:
        return AUTO
    leaves = _leaves(typed)
    named = [(leaf, _name(leaf, code, macros)) for leaf in leaves]
    names = {name for _, name in named if name}
    if not names:
        return spelling
    # What is computed with whole numbers may be another type than they are; with floating ones it is the widest.
    result = unqualified(type_of(typed).get_canonical().spelling)
    floating = result in _FLOATING and all(
        unqualified(leaf.type.get_canonical().spelling) == result if name else leaf._kind_id == Kinds.INTEGER
        for leaf, name in named
    )
    return names.pop() if len(names) == 1 and (floating or _is_place(typed)) else AUTO


def _is_place(expression: Any) -> bool:
    """Whether nothing is computed."""
    own = without_wrapper(expression)
    while own._kind_id == Kinds.PAREN:
        own = without_wrapper(children(own)[0])
    return own._kind_id not in (Kinds.UNARY, *_COMPUTED) or (own._kind_id == Kinds.UNARY and unary_operator(own) == "*")


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


def _name(leaf: Any, code: bytes, macros: Mapping[str, bool]) -> str:
    """That of the type of a value, where it is not the one that the language has for it, else nothing; `auto` for one
    that may mean nothing elsewhere."""
    spelling = unqualified(leaf.type.spelling)
    name = _declared(leaf, code)
    if name in WORDS:
        return ""
    if _is_made_of_named(leaf, code, macros):
        return AUTO
    if spelling != unqualified(leaf.type.get_canonical().spelling):
        return spelling if name == spelling else AUTO
    if not name or name in spelling.split():
        return ""
    return name if macros.get(name, False) else AUTO


def _is_made_of_named(leaf: Any, code: bytes, macros: Mapping[str, bool]) -> bool:
    """Whether what a call is handed decides about its type, or a cast says one, that may be another elsewhere."""
    kind: int = leaf._kind_id
    if kind == Kinds.CALL:
        arguments = (a for a in leaf.get_arguments() if a is not None)
        return any(_name(inner, code, macros) for a in arguments for inner in _leaves(a))
    if kind not in CASTS:
        return False
    words = _WORD.findall(code[expansion_offset(leaf.extent.start) : expansion_offset(children(leaf)[-1].extent.start)])
    return any(word.decode() not in (*WORDS, "const", "static_cast", *leaf.type.spelling.split()) for word in words)


def _declared(place: Any, code: bytes) -> str:
    """What stands for the type of a variable, or of the elements of one, in its declaration in this file; nothing where
    that is more than a word."""
    own, depth = without_wrapper(place), 0
    while (kind := own._kind_id) in _INTO or (kind == Kinds.UNARY and unary_operator(own) == "*"):
        depth += kind != Kinds.PAREN
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
    return "" if name == AUTO else name
