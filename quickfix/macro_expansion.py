"""Uses of a macro written out, and what was changed in the text that comes of it as a change of the definition.

Takes the text of a file and the definition of a macro in it, gives `Expansion`s: the text that a use stands for, on one
line, with where in the definition each part of it is from. Only plain macros are written out: of a fixed number of
arguments, without `#`, and not of themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from analyzers.frontend.blanking import blanked, without_comments
from quickfix.edits import Change
from quickfix.macro_places import Macro
from quickfix.naming import NotPossible

_WORD: Final = re.compile(rb"[A-Za-z_]\w*")
_HEAD: Final = re.compile(rb"\(\s*((?:[A-Za-z_]\w*\s*(?:,\s*)?)*)\)")
_SPLICE: Final = re.compile(rb"\\\r?\n")
_OPENING, _CLOSING = b"([{", b")]}"


@dataclass(frozen=True, slots=True)
class Use:
    """One use of a macro in the code of a file; byte offsets."""

    start: int
    end: int
    arguments: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of what a use stands for, and where in the file its definition has it."""

    start: int
    end: int
    defined: tuple[int, int]
    is_argument: bool


@dataclass(frozen=True, slots=True)
class Expansion:
    """What a use stands for."""

    use: Use
    text: bytes
    parts: tuple[_Part, ...]

    def in_definition(self, change: Change, at: int, text: bytes) -> Change:
        """A change of the expansion, which begins at the offset `at` of the edited file, as one of the definition, that
        `text` has. A parameter that is by itself gets brackets where it is no argument. Raises `NotPossible`."""
        start = self._defined(change.start - at, is_end=False)
        end = self._defined(change.end - at, is_end=True)
        written, done = b"", 0
        for place, old, length in sorted(change.moved):
            low, high = self._defined(old - at, is_end=False), self._defined(old - at + length, is_end=True)
            said = re.sub(rb"\\?\s+", b" ", text[low:high])
            written += change.text[done:place]
            alone = _WORD.fullmatch(said) is not None and written.rstrip()[-1:] not in (b"", b"(", b",")
            written += b"(" + said + b")" if alone else said
            done = place + length
        return Change(start, end, written + change.text[done:])

    def is_argument(self, start: int, end: int) -> bool:
        """Whether a range of the expansion is all that a parameter stands for."""
        return any(part.is_argument and (part.start, part.end) == (start, end) for part in self.parts)

    def _defined(self, place: int, *, is_end: bool) -> int:
        for part in self.parts:
            if part.is_argument and place == (part.end if is_end else part.start):
                return part.defined[is_end]
            inside = part.start < place <= part.end if is_end else part.start <= place < part.end
            if inside and not part.is_argument:
                return part.defined[0] + place - part.start
        raise NotPossible("what is updated is part of an argument of the macro")


def uses_in_code(text: bytes, name: bytes) -> list[Use]:
    """All uses of a macro with arguments in the code of a file. Raises `NotPossible` where one cannot be told."""
    code = blanked(text)
    return [_use(text, code, found) for found in re.finditer(rb"\b" + re.escape(name) + rb"\b", code)]


def _use(text: bytes, code: bytes, name: re.Match[bytes]) -> Use:
    opening = re.compile(rb"\s*\(").match(code, name.end())
    if opening is None:
        raise NotPossible("it is named without arguments")
    depth, start, arguments = 1, opening.end(), list[bytes]()
    for at in range(opening.end(), len(code)):
        sign = code[at]
        depth += (sign in _OPENING) - (sign in _CLOSING)
        if not depth or (depth == 1 and sign == ord(",")):
            arguments.append(text[start:at].strip())
            start = at + 1
        if not depth:
            said = text[opening.end() : at]
            if without_comments(said) != said or b"#" in said or b"\n" in said:
                raise NotPossible("there are comments, lines or directives in its arguments")
            return Use(name.start(), at + 1, tuple(arguments))
    raise NotPossible("it is used in a part of the text that does not end")


def expanded(text: bytes, macro: Macro, use: Use) -> Expansion:
    """What a use stands for. Raises `NotPossible`."""
    head = _HEAD.match(text, macro.start, macro.end)
    if head is None:
        raise NotPossible("it has no arguments, or any number of them")
    parameters = [name.strip() for name in head[1].split(b",")] if head[1].strip() else []
    if len(parameters) != len(use.arguments):
        raise NotPossible("it is used with another number of arguments than it has")
    body = without_comments(text[head.end() : macro.end])
    body = _SPLICE.sub(lambda found: b" " * len(found.group()), body)
    if b"#" in body or re.search(rb"\b" + re.escape(macro.name.encode()) + rb"\b", body):
        raise NotPossible("it makes new words of its arguments, or names itself")
    if b'"' in body or b"'" in body:
        raise NotPossible("there is text in quotes in it")
    begin = head.end() + len(body) - len(body.lstrip())
    written, parts = b"", list[_Part]()
    for start, end, name in _words(body.strip()):
        is_argument = name in parameters
        said = use.arguments[parameters.index(name)] if is_argument else body.strip()[start:end]
        place = (begin + start, begin + end)
        parts.append(_Part(len(written), len(written) + len(said), place, is_argument))
        written += said
    return Expansion(use, written, tuple(parts))


def _words(body: bytes) -> Iterator[tuple[int, int, bytes]]:
    """The words of a definition, and what is between them: from where, to where, and the word."""
    at = 0
    for word in _WORD.finditer(body):
        if word.start() > at:
            yield at, word.start(), b""
        yield *word.span(), word.group()
        at = word.end()
    if at < len(body):
        yield at, len(body), b""
