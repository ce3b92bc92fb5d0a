"""Macros that come to one assignment, by the arguments that its value is made of: ``SET(s, t, s[255 - t]);``.

Takes the cursor of a statement that is the use of a macro, gives the places of those arguments.
"""

from __future__ import annotations

from typing import Any, Final

from analyzers.frontend.blanking import WORD, group_end, next_visible
from analyzers.frontend.cindex import TypeKind, binary_operator, children, evaluate, expansion_offset
from analyzers.frontend.lowering.nodes import Kinds
from analyzers.frontend.order import bare
from analyzers.frontend.plain import is_idle

_ADDRESSES: Final = frozenset(
    {TypeKind.POINTER, TypeKind.CONSTANTARRAY, TypeKind.INCOMPLETEARRAY, TypeKind.DEPENDENTSIZEDARRAY}
)
_CONDITIONAL: Final = frozenset({Kinds.CONDITIONAL, Kinds.LAMBDA})
_PARTS: Final = frozenset({Kinds.PAREN, Kinds.UNEXPOSED, Kinds.SUBSCRIPT, Kinds.MEMBER})
_WRAPPERS: Final = frozenset({Kinds.UNEXPOSED_STMT, Kinds.UNEXPOSED, Kinds.PAREN, Kinds.COMPOUND})


def values_by_arguments(statement: Any, code: bytes, use: tuple[int, int]) -> list[tuple[tuple[int, int], Any]]:
    """Where the arguments stand that are evaluated for the value of the assignment which the use of a macro at `use`
    comes to, each with its expression, before conversions. Only those that change nothing and are evaluated whatever
    else is: in front of the use, they have to come to the same. None that is what the assignment writes, too."""
    inner = _alone(statement)
    kind: int = inner._kind_id
    if kind != Kinds.COMPOUND_ASSIGN and (kind != Kinds.BINARY or binary_operator(inner) != "="):
        return []
    target, value = children(inner)
    found: dict[tuple[int, int], Any] = {}
    arguments = _arguments(code, use)
    waiting = [value]
    while waiting:
        one = waiting.pop()
        start, end = one.extent.start, one.extent.end
        place = start.offset, end.offset
        if expansion_offset(start) == use[0] and place in arguments:
            own = bare(one)
            # What an array or a pointer is asked for is read behind the argument.
            if is_idle(one) and (own._kind_id != Kinds.DECL_REF or own.type.get_canonical().kind not in _ADDRESSES):
                found[place] = own
            continue
        if one._kind_id in _CONDITIONAL or (one._kind_id == Kinds.BINARY and binary_operator(one) in ("&&", "||")):
            continue
        waiting += children(one)
    written = _written(target)
    return sorted(((at, own) for at, own in found.items() if at not in written), key=lambda item: item[0])


def _written(target: Any) -> set[tuple[int, int]]:
    """Where the expressions stand that a target is, or is a part of."""
    found: set[tuple[int, int]] = set()
    while True:
        found.add((target.extent.start.offset, target.extent.end.offset))
        parts = children(target)
        if target._kind_id not in _PARTS or not parts:
            return found
        target = parts[0]


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
    if code[opened : opened + 1] != b"(":
        return set()
    end = group_end(code, opened)
    if code[end : use[1]].strip() not in (b"", b";"):
        return set()
    found: set[tuple[int, int]] = set()
    depth, first = 0, opened + 1
    for at in range(opened, end):
        depth += (code[at] in b"([{") - (code[at] in b")]}")
        if (code[at] == 0x2C and depth == 1) or depth == 0:
            written = code[first:at]
            begin = at - len(written.lstrip())
            found.add((begin, begin + len(written.strip())))
            first = at + 1
    return found
