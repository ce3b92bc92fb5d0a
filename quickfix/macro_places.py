"""Where barriers may stand in the definition of a macro: behind its statements, and between the sides of an assignment.

Takes the text that defines the macro and where the definition is, gives places and `Change`s. What the statements mean
is not known here: whether a barrier is right there is for the engine to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from quickfix.edits import Change, Layout

_MOST_PLACES: Final = 6


@dataclass(frozen=True, slots=True)
class Macro:
    path: str
    name: str
    start: int
    end: int
    """The bytes of its definition, behind the name."""


@dataclass(frozen=True, slots=True)
class Place:
    at: int
    """Where the barrier is written."""
    code: bytes
    repeated: bool = False
    """In a loop of the definition."""


def split_assignments(text: bytes, macro: Macro, barrier: bytes) -> Iterator[list[Change]]:
    """An assignment of the definition as one of its value to a variable, the barrier, and that of the variable. Where
    it is all of the definition, in braces that make one statement of it."""
    code = _VISIBLE.sub(lambda m: re.sub(rb"[^\n]", b" ", m.group()), text[macro.start : macro.end])
    parameters = re.match(rb"\([^()]*\)", code)
    begin = parameters.end() if parameters is not None else 0
    name = macro.name.lower().encode() + b"_value"
    if re.search(rb"\b" + name + rb"\b", text) or b"#" in code:
        return
    for start, end in _statements(code, begin):
        found = _ASSIGNS.match(code, start, end)
        if found is None or found.end() != len(code[:end].rstrip(b"\\ \t\r\n")) or _has_comma(found[1]):
            continue
        low, high = macro.start + found.start(1), macro.start + found.end(1)
        at, stop = macro.start + found.start(), macro.start + found.end()
        whole = not code[begin:start].strip(b"\\ \t\r\n") and not code[end:].strip(b";\\ \t\r\n")
        opened, closed = (b"do { ", b"; } while (0)") if whole else (b"", b"")
        head = opened + b"auto " + name + b" = " + text[low:high] + b"; " + barrier + b" "
        moved = ((len(head) - len(barrier) - 3 - (high - low), low, high - low),)
        yield [Change(at, at, head, moved=moved), Change(low, stop, name + closed)]


_INDEX: Final = rb"\[(?:[^][=;{}]|\[[^][=;{}]*\])*\]"
_ASSIGNS: Final = re.compile(
    rb"(?:\w+|\(\s*\w+\s*\))(?:\s*(?:" + _INDEX + rb"|(?:\.|->)\s*\w+))+\s*=(?!=)[\s\\]*([^;{}]*[^;{}\s\\])"
)
"""`x[i] = v`, with nothing in front of it and nothing in it that ends a statement."""


def _has_comma(code: bytes) -> bool:
    """Outside of all brackets."""
    depth = 0
    for sign in code:
        depth += (sign in b"([") - (sign in b")]")
        if sign == ord(",") and not depth:
            return True
    return False


def _statements(code: bytes, begin: int) -> Iterator[tuple[int, int]]:
    """Where the statements of a definition stand that are alone in it or in braces, without their semicolons."""
    depth = nested = 0
    start = begin
    for at in range(begin, len(code)):
        sign = code[at]
        depth += (sign in b"([") - (sign in b")]")
        if sign in b";{}" and not depth:
            if sign == ord(";") and nested:
                yield _visible_from(code, start, at), at
            nested += (sign == ord("{")) - (sign == ord("}"))
            start = at + 1
    alone = start == begin or not code[start:].strip(b"\\ \t\r\n")
    end = len(code) if start == begin else start - 1
    if not nested and alone and b";" not in code[begin:end]:
        yield _visible_from(code, begin, end), end


def _visible_from(code: bytes, start: int, end: int) -> int:
    """The first place that is neither blank nor the end of a line that goes on."""
    return end - len(code[start:end].lstrip(b"\\ \t\r\n"))


def places_behind_statements(layout: Layout, macro: Macro, barrier: bytes) -> list[Place]:
    """Behind statements of the definition: first those between two, then those that end an iteration of a loop in
    it."""
    between, last, _ = _behind_statements(layout, macro, barrier)
    return (between + last)[:_MOST_PLACES]


def place_at_end(layout: Layout, macro: Macro, barrier: bytes) -> Place | None:
    """Behind the last statement of a definition in braces, or of one that is several statements."""
    between, _, ends = _behind_statements(layout, macro, barrier)
    if ends or not between:
        return ends[-1] if ends else None
    end = macro.end - len(layout.text[macro.start : macro.end]) + len(layout.code[macro.start : macro.end].rstrip())
    if layout.code[end - 1 : end] == b"}":
        return None
    closed = layout.code[end - 1 : end] == b";"
    return Place(end, b" " + barrier if closed else b"; " + barrier.removesuffix(b";"))


def _behind_statements(layout: Layout, macro: Macro, barrier: bytes) -> tuple[list[Place], list[Place], list[Place]]:
    """The places behind statements of the definition: between two, at the end of an iteration of a loop in it, and at
    the end of outermost braces that are no loop's."""
    text = layout.text
    code = _VISIBLE.sub(lambda m: re.sub(rb"[^\n]", b" ", m.group()), text[macro.start : macro.end])
    between, last, outermost = list[Place](), list[Place](), list[Place]()
    depth, start = 0, _closing(code, 0, b"(", b")") + 1 if code.startswith(b"(") else 0
    loops = list[bool]()
    """Of the braces that are open, whether they are a loop's."""
    for at, sign in enumerate(code):
        depth += (sign in b"([") - (sign in b")]")
        if sign not in b";{}" or depth:
            continue
        first, start = _visible_from(code, start, at), at + 1
        if sign == ord("{"):
            loops.append(_is_loop(code, at))
        elif sign == ord("}") and loops:
            loops.pop()
        behind = code[at + 1 :].replace(b"\\", b" ").strip()
        if sign == ord("{") or not behind or _GOES_ON[sign].match(behind):
            continue
        place = Place(*_written(layout, macro.start + first, macro.start + at + 1, barrier), any(loops))
        if not behind.startswith(b"}"):
            between.append(place)
        elif loops and loops[-1]:
            last.append(place)
        elif len(loops) == 1:
            outermost.append(place)
    return between, last, outermost


def _written(layout: Layout, first: int, place: int, barrier: bytes) -> tuple[int, bytes]:
    """Where a barrier behind a statement is written, and how. ``first``: where what ends there begins, that a branch
    without braces is part of."""
    text = layout.text
    rest = text[place : text.find(b"\n", place)]
    if rest.strip() != b"\\":
        return place, b" " + barrier
    # A line of its own, with its backslash below the one above.
    stop = place + rest.index(b"\\") + 1
    line = (layout.indentation(first) + barrier + b" ").ljust(stop - 1 - layout.line_start(place))
    return stop, layout.newline + line + b"\\"


def _is_loop(code: bytes, brace: int) -> bool:
    """Whether a brace opens the body of a loop; one that is made once, to be a single statement, is none."""
    before = code[:brace].rstrip(b"\\ \t\r\n")
    if _DO.search(before):
        end = _closing(code, brace, b"{", b"}")
        return _ONCE.match(code, end + 1) is None
    if not before.endswith(b")"):
        return False
    opened = len(before) - 1 - _closing(before[::-1], 0, b")", b"(")
    return _LOOP.search(before[:opened]) is not None


def _closing(code: bytes, at: int, opening: bytes, closing: bytes) -> int:
    """Where what opens at a place is closed; the end, where it is not."""
    depth = 0
    for here in range(at, len(code)):
        depth += (code[here] == opening[0]) - (code[here] == closing[0])
        if not depth:
            return here
    return len(code) - 1


_DO: Final = re.compile(rb"\bdo$")
_LOOP: Final = re.compile(rb"\b(?:for|while)\s*$")
_ONCE: Final = re.compile(rb"[\s\\]*while\s*\(\s*(?:0|false)\s*\)")
_GOES_ON: Final = {
    ord(";"): re.compile(rb"else\b"),
    ord("}"): re.compile(rb"(?:else|while|catch)\b|[;,).\[]"),
}
"""Behind a semicolon or a brace: a barrier there would part it from what belongs to it."""
_VISIBLE: Final = re.compile(rb"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'", re.DOTALL)
