"""What rewriting a source needs beside its trees: names that are free, lines, and the word for what cannot be done."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from analyzers.frontend.gaps import FunctionTree
from quickfix.paths import Level

_MACRO: Final = re.compile(rb"^[ \t]*#[ \t]*define\b(?:[^\n\\]|\\(?:\r?\n|.))*", re.MULTILINE)


class NotPossible(Exception):
    """The source is not of the form that can be rewritten; the text says why."""


def fresh_name(level: Level, text: bytes, stem: str, taken: Collection[bytes] = ()) -> bytes:
    """A name that occurs neither in the function nor in a macro of the file, which the function may use, and is not
    one of `taken`, which are for other places of the same text."""
    name, number = stem.encode(), 2
    function = b"\n".join((text[level.function.start : level.function.end], *_MACRO.findall(text)))
    while name in taken or re.search(rb"\b" + name + rb"\b", function):
        name, number = f"{stem}{number}".encode(), number + 1
    return name


def with_macros(code: bytes, text: bytes) -> bytes:
    """Code, followed by the definitions of the text's macros that it uses, directly or through others."""
    left = {m[1]: m[0] for d in _MACRO.findall(text) if (m := re.match(rb"[ \t]*#[ \t]*define[ \t]+(\w+)[^\0]*", d))}
    while used := [name for name in left if re.search(rb"\b" + name + rb"\b", code)]:
        code = b"\n".join((code, *(left.pop(name) for name in used)))
    return code


def kept_condition(code: bytes, function: FunctionTree, place: tuple[int, int]) -> bytes | None:
    """The condition in that place, if it is a variable that keeps the value of one already, or the opposite of such a
    variable."""
    condition = code[slice(*place)].strip()
    name = re.fullmatch(rb"!?\s*([A-Za-z_]\w*)", condition)
    used = {
        u.variable
        for u in function.uses
        if place[0] <= u.at < place[1] and u.name.encode() == (name[1] if name else b"")
    }
    declared = next((u.at for u in function.uses if u.kind == "declared" and u.variable in used), None)
    if name is None or len(used) != 1 or declared is None:
        return None
    return condition if re.search(rb"\bconst\s+bool\s+\Z", code[function.start : declared]) else None


def line_of(text: bytes, offset: int) -> int:
    """The line that a byte stands in, from 1."""
    return text.count(b"\n", 0, offset) + 1
