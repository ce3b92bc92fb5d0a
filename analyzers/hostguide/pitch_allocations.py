"""Allocations of rows: calls that get the bytes of a row and give a pitch, by the runtime or by functions around it.

Takes the texts and functions of a program. Where a function that gives the pitch is defined in sight it has to hand the
request on, or to round the bytes up; one that is not in sight is taken at its word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from analyzers.hostguide.brackets import arguments, flat
from analyzers.hostguide.declared import FoundFunction
from analyzers.hostguide.written import Code, parameters

_OUT = re.compile(rb"&\s*((?:[A-Za-z_]\w*\s*(?:->|\.)\s*)*)([A-Za-z_]\w*)\s*(?=[,)])")
_CALLEE = re.compile(rb"([A-Za-z_]\w*)\s*$")
_PITCH = re.compile(r"pitch|stride", re.IGNORECASE)
SIZE = r"sizeof\(([\w:<> ]+)\)"
_ROW_BYTES = re.compile(rf"^(?:\(?(?P<a>[\w.]+)\)?\*{SIZE}|{SIZE}\*\(?(?P<b>[\w.]+)\)?)$")


@dataclass(frozen=True, slots=True)
class Allocation:
    function: FoundFunction
    at: int
    callee: str
    count: int
    """How many arguments it gets."""
    out: str
    """What receives the pitch, flat."""
    out_index: int
    out_at: int
    """Offset of its last name."""
    width: str
    """What is multiplied with the size of an element, flat."""
    element: str
    bytes_index: int


class Allocations:
    """The allocations of rows in a program."""

    def __init__(self, code: Code) -> None:
        self.code = code
        self._trusted: set[tuple[str, int, int, int]] = set()
        """Allocating functions that were looked into; one that calls itself gives what it gives otherwise."""

    def find(self) -> Iterator[Allocation]:
        for path, text in self.code.texts.items():
            for match in _OUT.finditer(text):
                f = self.code.around(path, match.start())
                if f is None or not f.defined:
                    continue
                found = self._allocation(f, text, match)
                if found is None:
                    continue
                self._trusted.clear()
                if self._gives_pitch(found.callee, found.count, found.out_index, found.bytes_index):
                    yield found

    def _allocation(self, f: FoundFunction, text: bytes, match: re.Match[bytes]) -> Allocation | None:
        opened = _opening(text, match.start(), f.start)
        called = _CALLEE.search(text[max(0, opened - 100) : opened]) if opened >= 0 else None
        if called is None:
            return None
        callee = called[1].decode()
        if not _PITCH.search(callee) and not _PITCH.search(match[2].decode()):
            return None
        given, _ = arguments(text, opened)
        out = flat(match[0])[1:]
        if out not in (g.lstrip("&") for g in given):
            return None
        out_index = next(n for n, g in enumerate(given) if g.lstrip("&") == out)
        for index, value in enumerate(given):
            row = self._row(f, value, match.start())
            if row is not None and index != out_index:
                at = opened - len(called[1])
                return Allocation(f, at, callee, len(given), out, out_index, match.start(2), *row, index)
        return None

    def _row(self, f: FoundFunction, value: str, at: int) -> tuple[str, str] | None:
        """(how many elements, their type) where a value is the bytes of a row."""
        match = _ROW_BYTES.match(value)
        if match is not None:
            return match["a"] or match["b"], match[2] or match[3]
        if not value.isidentifier() or value in parameters(f):
            return None
        given, places = assignments(self.code.text(f), value), assigned_at(self.code.text(f), value)
        match = _ROW_BYTES.match(given[0]) if len(given) == 1 else None
        if not self.code.keeps(f, value, [f.start + place for place in places]):
            return None
        return (match["a"] or match["b"], match[2] or match[3]) if match is not None else None

    def _gives_pitch(self, callee: str, count: int, out: int, width: int) -> bool:
        """Whether no definition in sight of an allocating function gives a pitch below the bytes of a row; ``out`` and
        ``width``: the numbers of their arguments."""
        if callee == "cudaMallocPitch":
            return (out, width) == (1, 2)
        for f in self.code.named.get(callee, ()):
            names = parameters(f)
            key = (f.path, f.start, out, width)
            if not f.defined or len(names) != count or key in self._trusted:
                continue
            self._trusted.add(key)
            if not self._keeps_pitch(f, names[out], names[width]):
                return False
        return True

    def _keeps_pitch(self, f: FoundFunction, out: str, width: str) -> bool:
        start = self.code.body(f)
        body = self.code.texts[f.path][start : f.end]
        if not all(rounds_up(value, width) for value in assignments(body, width)):
            return False
        if not self.code.keeps(f, width, [start + place for place in assigned_at(body, width)], (start, f.end)):
            return False
        seen = False
        for match in re.finditer(rb"\b" + re.escape(out.encode()) + rb"\b", body):
            front = body[: match.start()].rstrip()
            given = re.match(rb"\s*=(?!=)([^;]*);", body[match.end() :])
            if given is not None:
                value = flat(given[1])
                if front[-1:] != b"*" or not (value == width or rounds_up(value, width)):
                    return False
                seen = True
                continue
            opened = _opening(body, match.start(), 0)
            called = _CALLEE.search(body[:opened]) if opened >= 0 else None
            values, _ = arguments(body, opened) if opened >= 0 else ([], 0)
            if called is None or out not in values:
                return False
            rows = [n for n, v in enumerate(values) if v == width or (v.startswith(f"{width}+") and "-" not in v)]
            inner = called[1].decode()
            if not rows or not self._gives_pitch(inner, len(values), values.index(out), rows[0]):
                return False
            seen = True
        return seen


def rounds_up(value: str, base: str) -> bool:
    """Whether a value is ``base`` rounded up to a multiple of something."""
    start = re.escape(base)
    mask = rf"\(({start})\+\(?(\w+?)(-1)?\)?\)&~\(*(?:\(\w+\)|\w+\()?\(?\2(-1)?\)*"
    quotient = rf"\(*{start}\+\(?(\w+)-1\)*/\1\)*\*\1"
    found = re.fullmatch(mask, value)
    return (found is not None and found[3] == found[4]) or re.fullmatch(quotient, value) is not None


def assignments(text: bytes, name: str) -> list[str]:
    """The values that a variable is given, by its declaration or later."""
    found = re.findall(_assignment(name), text)
    return [flat(value) if not sign else "?" for sign, value in found]


def assigned_at(text: bytes, name: str) -> list[int]:
    """Where those assignments name the variable."""
    return [match.start() for match in re.finditer(_assignment(name), text)]


def _assignment(name: str) -> bytes:
    return rb"(?<![\w.>])" + re.escape(name.encode()) + rb"\s*([-+*/%&|^]|<<|>>)?=(?!=)([^;]*)"


def _opening(text: bytes, at: int, stop: int) -> int:
    """The round bracket around an offset, -1 where there is none."""
    depth = 0
    for back in range(at - 1, stop - 1, -1):
        sign = text[back : back + 1]
        if sign == b")":
            depth += 1
        elif sign == b"(":
            if depth == 0:
                return back
            depth -= 1
        elif sign in b";{}":
            break
    return -1
