"""Whether the text of a function by itself tells who comes to a place in it, the same in every build and instance.

Takes a function with the text of its file and the macros of the unit. What decides it are the conditions around the
place and around the jumps that may lead past it, and what the variables in these are made of. All of that has to be
written in literals, coordinates, and variables and parameters of the function: whatever else has a name (a constant, an
enumerator, a macro, a member, a function, a type of the project) is defined elsewhere, and may be so otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from analyzers.frontend.blanking import blanked, next_visible
from analyzers.frontend.gaps import Body, FunctionTree, Statement
from analyzers.frontend.uses import Use
from quickfix.edits import Layout
from quickfix.loop_jumps import refuse_hidden
from quickfix.naming import NotPossible
from quickfix.variables import Range

_COORDINATE: Final = re.compile(rb"\b(?:(?:threadIdx|blockIdx|blockDim|gridDim)\s*\.\s*[xyz]|warpSize)\b")
_BUILT_IN: Final = frozenset(b"threadIdx blockIdx blockDim gridDim warpSize".split())
_WORD: Final = re.compile(rb"\b[A-Za-z_]\w*")
_NUMBER: Final = re.compile(rb"(?<![\w.])\.?\d[\w.']*")
_INTEGER: Final = re.compile(rb"(?:0[xX][\da-fA-F']+|0[bB][01']+|\d[\d']*)[uUlL]*")
_CHOICE: Final = re.compile(rb"\?|&&|\|\||\{|\b(?:and|or)\b")
"""What keeps threads from evaluating part of an expression."""
_KEYWORDS: Final = frozenset(
    b"if else for while do switch case default const constexpr auto bool char short int long signed unsigned "
    b"size_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t static_cast true false "
    b"and or not bitand bitor xor compl not_eq".split()
)
_TEMPLATE: Final = re.compile(rb"\btemplate\s*<[^;{}]*\Z")
_DIRECTIVE: Final = re.compile(rb"^[ \t]*(?:#|%:|\?\?=)[ \t]*(?!pragma\b|\s)", re.MULTILINE)
_DECLARATOR: Final = re.compile(rb"[\w,]\s*\Z")
"""In front of the name of a variable that is neither a pointer nor a reference; behind it there is no bracket."""

_Found = Range | None
"""A range of code in which everything decides who comes to a place; None: more does, which the text does not show."""

_Placed = tuple[tuple[Statement, ...], Statement]
"""A statement and those around it, from the outside."""


def are_own(function: FunctionTree, text: bytes, macros: Collection[bytes], places: Iterable[int]) -> bool:
    """Whether what decides who comes to the places, offsets in the function, is told by itself. `macros`: all names
    that the preprocessor replaces."""
    code = blanked(text)
    if code.startswith(b"template", function.start) or _TEMPLATE.search(code[: function.start]) is not None:
        return False
    if _DIRECTIVE.search(text, function.start, function.end) is not None:
        return False
    if not _BUILT_IN.isdisjoint({*macros, *(use.name.encode() for use in function.uses if use.kind == "declared")}):
        return False
    layout = Layout(text)
    try:
        refuse_hidden(layout, function.body)
    except NotPossible:
        return False
    return _Function(function, layout, frozenset(macros), tuple(_statements(function.body))).tells(places)


@dataclass(frozen=True, slots=True)
class _Function:
    tree: FunctionTree
    layout: Layout
    macros: frozenset[bytes]
    statements: tuple[_Placed, ...]

    def tells(self, places: Iterable[int]) -> bool:
        left: list[_Found] = [found for at in places for found in self._deciding(at)]
        seen, known = set[Range](), set[int]()
        while left:
            place = left.pop()
            if place is None or (variables := self._variables(place)) is None:
                return False
            seen.add(place)
            more = {found for variable in variables - known for found in self._defining(variable)}
            known |= variables
            left += more - seen
        return True

    def _deciding(self, at: int) -> Iterator[_Found]:
        """What decides whether and how often a thread comes to a place."""
        around = [s for _, s in self.statements if s.start <= at < s.end]
        for statement in around:
            yield from self._in_statement(statement)
        end = next((s.end for s in around if s.is_loop), at)
        for outer, statement in self.statements:
            if statement.kind == "label":
                yield None
            elif statement.kind == "jump" and statement.start < end and _leads_past(statement, outer, at):
                for each in outer:
                    yield from _outside(each)

    def _in_statement(self, statement: Statement) -> Iterator[_Found]:
        """What decides it of a statement around a place."""
        if any(body.role != "lambda" for body in statement.bodies):
            yield from _outside(statement)
            return
        code = self.layout.code[statement.start : statement.end]
        if _CHOICE.search(code) is not None or not self.macros.isdisjoint(_WORD.findall(code)):
            yield statement.start, statement.end

    def _defining(self, variable: int) -> Iterator[_Found]:
        """What decides the value of a variable."""
        found = [u for u in self.tree.uses if u.variable == variable and u.kind != "read"]
        if not any(u.kind == "declared" for u in found):
            yield None
        for use in found:
            if use.kind == "declared" and use.at < self.tree.body.start:
                if not self._is_number(use):
                    yield None
                continue  # A parameter: the launch decides, for all threads.
            if use.kind == "lent" or (use.kind == "declared" and not self._is_plain(use)):
                yield None
                continue
            innermost = [s for _, s in self.statements if s.start <= use.at < s.end][-1:]
            yield from (part for s in innermost for part in _outside(s))
            yield from self._deciding(use.at)

    def _is_plain(self, declared: Use, ends: bytes = b"=;,({") -> bool:
        """Whether a variable holds its value itself, as far as its declaration shows; `ends`: what may come behind its
        name."""
        code, end = self.layout.code, declared.at + len(declared.name.encode())
        return _DECLARATOR.search(code[: declared.at]) is not None and code[next_visible(code, end)] in ends

    def _is_number(self, declared: Use) -> bool:
        """Whether a parameter has a type of the language, and is no pointer."""
        head = self.layout.code[self.tree.start : declared.at]
        words = _WORD.findall(head[max(head.rfind(b"("), head.rfind(b",")) + 1 :])
        return bool(words) and self._is_plain(declared, b"=,)") and _KEYWORDS.issuperset(words)

    def _variables(self, place: Range) -> set[int] | None:
        """The variables that code names; None where it names anything else that is not of the language."""
        code = _COORDINATE.sub(lambda m: b" " * len(m[0]), self.layout.code[slice(*place)])
        if any(_INTEGER.fullmatch(m[0]) is None for m in _NUMBER.finditer(code)):
            return None
        uses = {(u.at, u.name.encode()): u.variable for u in self.tree.uses if place[0] <= u.at < place[1]}
        found: set[int] = set()
        for match in _WORD.finditer(code):
            variable = uses.get((place[0] + match.start(), match[0]))
            if match[0] in self.macros or (variable is None and match[0] not in _KEYWORDS):
                return None
            found |= {variable} if variable is not None else set()
        return found


def _statements(body: Body, outer: tuple[Statement, ...] = ()) -> Iterator[_Placed]:
    """All of a body, from the outside; a lambda is part of the statement that it is in."""
    for statement in body.statements:
        yield outer, statement
        for inner in statement.bodies:
            if inner.role != "lambda":
                yield from _statements(inner, (*outer, statement))


def _outside(statement: Statement) -> Iterator[Range]:
    """What a statement says itself, outside of the bodies that it controls: conditions, heads of loops, labels."""
    at = statement.keyword or statement.start
    for body in sorted((b for b in statement.bodies if b.role != "lambda"), key=lambda b: b.start):
        yield at, max(at, body.start)
        at = max(at, body.end)
    yield at, statement.end


def _leads_past(jump: Statement, outer: Iterable[Statement], at: int) -> bool:
    """Whether a jump may lead past a place: it leaves the function, or what both are in."""
    if jump.call not in ("break", "continue"):
        return True
    left = [s for s in outer if s.is_loop or (s.kind == "switch" and jump.call == "break")]
    return not left or left[-1].start <= at < left[-1].end
