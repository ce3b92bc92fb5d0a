"""Macros that come to one assignment, by the argument that is all of its value: ``SET(s, t, s[255 - t]);``.

Takes the cursor of a statement that is the use of a macro, gives the place of that argument.
"""

from __future__ import annotations

from typing import Any, Final

from analyzers.frontend.blanking import WORD, group_end, next_visible
from analyzers.frontend.cindex import binary_operator, children, evaluate, expansion_offset
from analyzers.frontend.lowering.nodes import Kinds
from analyzers.frontend.plain import is_idle

_WRAPPERS: Final = frozenset({Kinds.UNEXPOSED_STMT, Kinds.UNEXPOSED, Kinds.PAREN, Kinds.COMPOUND})


def value_by_argument(statement: Any, code: bytes, use: tuple[int, int]) -> tuple[tuple[int, int], Any] | None:
    """Where the argument stands that is the value of the assignment which the use of a macro at `use` comes to, and an
    expression of the type that it has when it is assigned; None where it is none, or changes something: evaluated in
    front of the use, it has to come to the same."""
    inner = _alone(statement)
    kind: int = inner._kind_id
    plain = kind == Kinds.BINARY and binary_operator(inner) == "="
    if not plain and kind != Kinds.COMPOUND_ASSIGN:
        return None
    target, value = children(inner)
    arguments = _arguments(code, use)
    while True:
        start, end = value.extent.start, value.extent.end
        if expansion_offset(start) == use[0] and (start.offset, end.offset) in arguments:
            return ((start.offset, end.offset), target if plain else value) if is_idle(value) else None
        inside = children(value)
        if value._kind_id not in (Kinds.PAREN, Kinds.UNEXPOSED) or len(inside) != 1:
            return None
        value = inside[0]


def _alone(cursor: Any) -> Any:
    """The one statement in braces, and in `do { … } while (0)`."""
    while True:
        inner = children(cursor)
        once = cursor._kind_id == Kinds.DO and len(inner) == 2 and evaluate(inner[1]) == 0
        if not once and (cursor._kind_id not in _WRAPPERS or len(inner) != 1):
            return cursor
        cursor = inner[0]


def _arguments(code: bytes, use: tuple[int, int]) -> set[tuple[int, int]]:
    """Where the arguments of a use stand, without the blanks around them; none where that is not all of `use`."""
    word = WORD.match(code, use[0])
    opened = next_visible(code, word.end()) if word else use[1]
    if code[opened : opened + 1] != b"(" or group_end(code, opened) != use[1]:
        return set()
    found: set[tuple[int, int]] = set()
    depth, first = 0, opened + 1
    for at in range(opened, use[1]):
        depth += (code[at] in b"([{") - (code[at] in b")]}")
        if (code[at] == 0x2C and depth == 1) or depth == 0:
            written = code[first:at]
            begin = at - len(written.lstrip())
            found.add((begin, begin + len(written.strip())))
            first = at + 1
    return found
