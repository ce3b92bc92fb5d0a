"""Loops whose bound depends on the thread, made by all threads as often as the one makes them that has most to do.

Takes a loop ``for (int i = 0; i < t / 32 + 2; i++)`` whose counter is the same for all threads; gives the changes after
which it runs up to the bound of the last thread of the block, or of the first one, its old body under its old test.
What that thread computes for its bound is written anew, of the declarations that lead from the number of the thread to
it: ``const int last = blockDim.x - 1;`` for ``int t = threadIdx.x``, with its type, so that the thread itself finds the
same value there. That its bound is the one that does for all, the engine proves (`farthest`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from analyzers.frontend.gaps import Declared, Statement
from quickfix.edits import Change, Layout
from quickfix.flagged_loops import test_range
from quickfix.loop_jumps import jumps_in
from quickfix.naming import NotPossible, constant, fresh_name, line_of
from quickfix.own_lines import require_braces
from quickfix.paths import Level, around
from quickfix.sections import balanced
from quickfix.steps import Farthest
from quickfix.uniform_loops import guarded_body
from quickfix.variables import Range, declarations, others_of_the_name, scope_of, stay, uses_in

_NAME: Final = re.compile(rb"[A-Za-z_]\w*")
_COORDINATE: Final = re.compile(rb"threadIdx\s*\.\s*[xyz]\b")
_GIVEN: Final = re.compile(rb"\s*=\s*(?P<value>[^;,]+?)\s*[;,]")
_FACTOR: Final = re.compile(rb"\s*(?:\w+|(?:threadIdx|blockIdx|blockDim|gridDim)\s*\.\s*[xyz])\s*")
_OF_LAUNCH: Final = re.compile(rb"(?:\s|[()*+-]|\d+|(?:blockIdx|blockDim|gridDim)\s*\.\s*[xyz])*")
_UNSIGNED: Final = re.compile(rb"\s*\b(?:blockIdx|blockDim|gridDim)\s*\.\s*[xyz]\s*")
"""A number without a sign, as that of the thread is."""
_MINUS: Final = re.compile(rb"(?<=[\w)\]])\s*-\s*(?:\d+\s*\*\s*)*\Z")
"""In front of what is taken away from something, with the numbers that it is multiplied by."""
_BEHIND: Final = re.compile(rb"((?:\s*[*/]\s*\d+\b)*)\s*(?:\Z|[=)+-]|!=|&&|<(?!<)|>(?!>))")
"""The same behind it."""
_SIDE: Final = re.compile(rb"[<>=!]=?|&&")
_SUM: Final = re.compile(rb"[\w\s.+*-]*")
"""Operands that are added, subtracted and multiplied, none of them in brackets."""
_OPEN: Final = re.compile(rb"(?:\A|[=(]|&&|(?<!<)<|(?<!>)>)\s*\Z")
"""In front of a side of a comparison."""
_OPEN_SUM: Final = re.compile(rb"(?:\A|[=(]|&&|(?<!<)<|(?<!>)>|(?<!\+)\+)\s*\Z")
"""The same, or of the last term of a sum."""
_CLOSED: Final = re.compile(rb"\s*(?:\Z|[=)]|!=|&&|<(?!<)|>(?!>))")
"""Behind it."""
_LOOSER: Final = re.compile(rb"\s*(?:\Z|[=)+-]|!=|&&|<(?!<)|>(?!>))")
"""Behind a term."""


def up_to_bound_of(
    which: Farthest, level: Level, loop: Statement, text: bytes, taken: Collection[bytes]
) -> Bounded | None:
    """The loop with the bound of that thread; None where the bound does not follow from the number of the thread in a
    way that can be written down, or threads do more in the head than to count."""
    layout, function, body = Layout(text), level.function, level.body
    test, head = test_range(layout, loop), slice(loop.keyword, loop.head_end)
    if loop.kind != "for" or test is None or not {"test", "step"} <= loop.plain or any(jumps_in(body)):
        return None
    if layout.code[head] != text[head]:
        return None
    step = (test[1] + 1, loop.head_end - 1)
    counters = {u.variable for u in uses_in(function, step) if u.kind == "changed"}
    others = {u.variable for u in uses_in(function, test, step)} - counters
    if len(counters) != 1 or not stay(function, counters, (body.start, body.end)) or not _is_own(loop, level, counters):
        return None
    if not stay(function, others, (loop.start, loop.end)):
        return None
    values = _Values(which, level, loop, layout, taken)
    try:
        changes = values.in_test(test)
    except _Unknown:
        return None
    return Bounded(which, level, loop, layout, test, tuple(changes), tuple(values.declared)) if changes else None


@dataclass(frozen=True, slots=True)
class Bounded:
    """A loop with the bound of one thread for all."""

    which: Farthest
    level: Level
    loop: Statement
    layout: Layout
    test: Range
    head: tuple[Change, ...]
    declared: tuple[bytes, ...]
    """What is declared in front."""

    def changes(self) -> list[Change]:
        """In order; raises `NotPossible`."""
        layout, loop, level = self.layout, self.loop, self.level
        line = line_of(layout.text, loop.keyword)
        changes = [*self.head, *guarded_body(level, layout, layout.text[slice(*self.test)].strip())]
        if self.declared:
            outer = level.steps[-1]
            require_braces(layout, around(level), f"the loop in line {line} is in a body without braces")
            if outer.index and outer.body.statements[outer.index - 1].kind == "label":
                raise NotPossible(f"there is a label in front of the loop in line {line}")
            if not balanced(layout.text, loop.start, loop.end):
                raise NotPossible(f"preprocessor lines cut the loop in line {line}")
            at, indentation = layout.line_start(loop.start), layout.indentation(loop.start)
            written = b"".join(indentation + each + b";" + layout.newline for each in self.declared)
            changes.append(Change(at, at, written))
        return sorted(changes, key=lambda c: (c.start, c.end))


def _is_own(loop: Statement, level: Level, counter: Collection[int]) -> bool:
    """Whether nobody looks at a counter when its loop is over."""
    outside = (u for u in level.function.uses if u.variable in counter and not loop.start <= u.at < loop.end)
    bare = {d.at for d in declarations(level.function) if d.bare}
    return all(u.kind == "declared" and u.at in bare for u in outside)


class _Unknown(Exception):
    """What a thread computes cannot be written for another one."""


@dataclass(frozen=True, slots=True)
class _Value:
    """What a variable is in that thread."""

    declared: Declared
    stem: str
    """Of a name for it."""
    written: bytes

    @property
    def is_zero(self) -> bool:
        return self.written == b"0"


Part = tuple[int, int, _Value | None]
"""Where code mentions something that follows from the number of the thread: a variable, or None for the number."""


class _Values:
    """What the variables of a function are in that thread, as far as they follow from its number."""

    def __init__(
        self, which: Farthest, level: Level, loop: Statement, layout: Layout, taken: Collection[bytes]
    ) -> None:
        self.which, self.level, self.loop, self.layout = which, level, loop, layout
        self.function = level.function
        self.taken = set(taken)
        self.declared: list[bytes] = []
        """What has to be declared, in order."""
        self._names: dict[int, bytes] = {}
        """By where the variable is declared: of that for the other thread."""

    def in_test(self, place: Range) -> list[Change]:
        """The changes of a test after which it is that of the thread. Raises `_Unknown`."""
        return [self._without(place, part) or Change(*part[:2], self._put(place, part)) for part in self._parts(place)]

    def _without(self, place: Range, part: Part) -> Change | None:
        """What takes zero out of a test: what is taken away from something goes with its sign, if that leaves the type
        what it was."""
        at, end, value = part
        kind = "unsigned int" if value is None else value.declared.type
        if self.which == "last" or not (value is None or value.is_zero) or kind not in ("int", "unsigned int"):
            return None
        code = self.layout.code
        minus, behind = _MINUS.search(code[place[0] : at]), _BEHIND.match(code[end : place[1]])
        if minus is not None and behind is not None:
            # In front, an operand without a sign makes all of the side one.
            left = code[place[0] : place[0] + minus.start()]
            if kind == "int" or (_SUM.fullmatch(side := _SIDE.split(left)[-1]) and _UNSIGNED.search(side)):
                return Change(place[0] + minus.start(), end + behind.end(1), b"")
        alone = _OPEN.search(code[place[0] : at]) and _CLOSED.match(code[end : place[1]])
        return Change(at, end, b"0" if kind == "int" else b"0u") if alone else None

    def _put(self, place: Range, part: Part) -> bytes:
        """What stands for a part of that code in the other thread."""
        at, end, value = part
        if self.which == "first" and (value is None or value.is_zero):
            raise _Unknown
        if value is not None:
            return self._name(value)
        code = self.layout.code
        bare = _OPEN_SUM.search(code[place[0] : at]) and _LOOSER.match(code[end : place[1]])
        axis = code[end - 1 : end]
        return b"blockDim." + axis + b" - 1" if bare else b"(blockDim." + axis + b" - 1)"

    def _name(self, value: _Value) -> bytes:
        """Of a variable with the value, which is declared when it is first asked for."""
        at = value.declared.at
        if at not in self._names and (known := self._declared_already(value)) is not None:
            self._names[at] = known
        if at not in self._names:
            name = self._names[at] = fresh_name(self.level, self.layout.text, value.stem, self.taken)
            self.taken.add(name)
            self.declared.append(constant(value.declared.type, name) + b" = " + value.written)
        return self._names[at]

    def _declared_already(self, value: _Value) -> bytes | None:
        """A variable around the loop that has the value, if that is made of numbers of the launch."""
        code, function = self.layout.code, self.function
        if not _OF_LAUNCH.fullmatch(value.written):
            return None
        for other in declarations(function):
            given = _GIVEN.match(code, other.at + len(other.name.encode()))
            here = other.at < self.loop.start and scope_of(function.body, other.at).end >= self.loop.end
            if not here or other.type != value.declared.type or given is None or given["value"] != value.written:
                continue
            own = {u.variable for u in function.uses if u.kind == "declared" and u.at == other.at}
            hidden = any(others_of_the_name(function, other.name, number, (other.at, self.loop.end)) for number in own)
            if len(own) == 1 and not hidden and stay(function, own, (function.start, function.end)):
                return other.name.encode()
        return None

    def _parts(self, place: Range) -> list[Part]:
        """In order. Raises `_Unknown` where one is not written there as it is."""
        found = list[Part]()
        for use in sorted(uses_in(self.function, place), key=lambda u: u.at):
            value = None if use.name == "threadIdx" else self._value(use.variable)
            if use.name != "threadIdx" and value is None:
                continue
            spelled = (_COORDINATE if value is None else _NAME).match(self.layout.code, use.at, place[1])
            if spelled is None or (value is not None and spelled.group() != use.name.encode()):
                raise _Unknown
            found.append((use.at, spelled.end(), value))
        return found

    def _value(self, variable: int) -> _Value | None:
        """None of a variable that does not follow from the number of the thread, as far as its declaration tells.
        Raises `_Unknown`."""
        places = {u.at for u in self.function.uses if u.kind == "declared" and u.variable == variable}
        declared = next((d for d in declarations(self.function) if d.at in places), None)
        at = declared.at + len(declared.name.encode()) if declared is not None else 0
        given = _GIVEN.match(self.layout.code, at) if declared is not None else None
        if declared is None or given is None:
            return None
        place = given.span("value")
        parts = self._parts(place)
        if not parts:
            return None
        if not declared.plain or not self._is_the_same(variable, declared, place):
            raise _Unknown
        written = self._in_first(place, parts) if self.which == "first" else self._in_last(place, parts)
        number = _COORDINATE.fullmatch(self.layout.code, *place) is not None
        return _Value(declared, self.which if number else f"{self.which}_{declared.name}", written)

    def _is_the_same(self, variable: int, declared: Declared, place: Range) -> bool:
        """Whether the variable, and what its value is made of, are at the loop what they were where it is declared."""
        function = self.function
        used = {(u.name, u.variable) for u in uses_in(function, place)}
        scope = scope_of(function.body, declared.at)
        until = declared.at, self.loop.start
        return (
            stay(function, {variable}, (function.start, function.end))
            and stay(function, {number for _, number in used}, (scope.start, scope.end))
            and not any(others_of_the_name(function, name, number, until) for name, number in used)
        )

    def _in_last(self, place: Range, parts: Iterable[Part]) -> bytes:
        text, at, written = self.layout.text, place[0], b""
        for part in parts:
            written += text[at : part[0]] + self._put(place, part)
            at = part[1]
        return written + text[at : place[1]]

    def _in_first(self, place: Range, parts: Iterable[Part]) -> bytes:
        """A sum without the terms that are zero there, if its type stays what it was."""
        code, kept, start = self.layout.code, list[bytes](), place[0]
        zeros = [at for at, _, value in parts if value is None or value.is_zero]
        if len(zeros) != len(list(parts)):
            raise _Unknown
        for term in code[slice(*place)].split(b"+"):
            factors = term.split(b"*")
            if not all(map(_FACTOR.fullmatch, factors)):
                raise _Unknown
            if not any(start <= at < start + len(term) for at in zeros):
                if not any(map(_UNSIGNED.fullmatch, factors)):
                    raise _Unknown
                kept.append(term.strip())
            start += len(term) + 1
        return b" + ".join(kept) or b"0"
