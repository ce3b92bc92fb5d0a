"""CUDA text with what is no code taken out: the ground that plain searches of a file stand on.

Takes a text, gives equally long strings of one character per byte in which comments are blanks and literals empty, the
macro bodies apart from the rest, and the preprocessor condition around each place. Nothing is expanded.
"""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final


def source_bytes(text: str) -> bytes:
    """The bytes that stand for a text everywhere in the front end, so that all offsets agree.

    Text read with `surrogateescape` gives its original bytes back; what no file can hold becomes "?".
    """
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class MacroBody:
    """One `#define`, from its "#" on."""

    offset: int
    text: str


@dataclass(frozen=True, slots=True)
class CodeText:
    """A file without comments, the inside of literals, directives and text under `#if 0`.

    `code` is as long as the file; macro bodies are blanks in it and stand in `macros`.
    """

    code: str
    macros: tuple[MacroBody, ...]
    line_starts: tuple[int, ...]
    condition_starts: tuple[int, ...]
    conditions: tuple[str, ...]

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column, from 1, in bytes."""
        line = bisect.bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def condition(self, offset: int) -> str:
        """The innermost preprocessor condition around a place as written, "" if there is none (or an include guard)."""
        return self.conditions[bisect.bisect_right(self.condition_starts, offset) - 1]


_NO_CODE: Final = re.compile(
    r"""
    //(?:[^\n\\]|\\(?:\r?\n|.))*
  | /\*.*?(?:\*/|\Z)
  | \b(?:u8|u|U|L)?R"(?P<delimiter>[^()\\\s]{0,16})\(.*?\)(?P=delimiter)"
  | "(?:[^"\\\n]|\\.)*"?
  | (?<![0-9a-fA-F])'(?:[^'\\\n]|\\.)*'?
    """,
    re.VERBOSE | re.DOTALL,
)
_DIRECTIVE: Final = re.compile(r"^[ \t]*(\#[ \t]*(\w*)(?:[^\n\\]|\\\r?\n|\\.)*)", re.MULTILINE)
_IF_ZERO: Final = re.compile(r"#\s*if\s+(?:0|false)\s*")
_GUARD: Final = re.compile(r"\#[ \t]*ifndef[ \t]+(\w+)\s+\#[ \t]*define[ \t]+\1[ \t]*$", re.MULTILINE)
_BLANKS: Final = bytes(c if c in b"\r\n" else ord(" ") for c in range(256))
_OPENS: Final = frozenset({"if", "ifdef", "ifndef"})


def _blank(match: re.Match[str]) -> str:
    text = match.group()
    if text[0] == "/":
        return " " * len(text)
    # A literal stays one, so that `extern "C"` is told from `extern`; what it says is no code.
    return '"' + " " * (len(text) - 2) + '"' if len(text) > 1 else " "


@lru_cache(maxsize=4)
def code_text(text: str) -> CodeText:
    """Take out of a text what is no code. Every later search of the same text is free."""
    data = source_bytes(text).decode("latin-1")
    line_starts = (0, *(match.end() for match in re.finditer("\n", data)))
    plain = _NO_CODE.sub(_blank, data)
    pieces: list[str] = []
    macros: list[MacroBody] = []
    changes: list[tuple[int, str]] = [(0, "")]
    stack: list[str] = []
    position = 0
    while (match := _DIRECTIVE.search(plain, position)) is not None:
        start, end, name = match.start(1), match.end(), match.group(2)
        if name == "define":
            macros.append(MacroBody(start, plain[start:end]))
        elif name == "if" and _IF_ZERO.fullmatch(match.group(1)):
            end, live = _disabled(plain, start)
            if live:
                stack.append(live)
                changes.append((end, live))
        elif _follow(stack, name, "" if _GUARD.match(plain, start) else _one_line(match.group(1))):
            changes.append((end, stack[-1] if stack else ""))
        pieces.extend((plain[position:start], " " * (end - start)))
        position = end
    pieces.append(plain[position:])
    return CodeText(
        "".join(pieces),
        tuple(macros),
        line_starts,
        tuple(start for start, _ in changes),
        tuple(condition for _, condition in changes),
    )


def only_directives(text: str) -> bytes:
    """The bytes of a text with blanks for everything that is no directive; offsets and lines stay."""
    raw = source_bytes(text)
    plain = _NO_CODE.sub(_blank, raw.decode("latin-1"))
    blank = bytearray(raw.translate(_BLANKS))
    for match in _DIRECTIVE.finditer(plain):
        blank[match.start(1) : match.end()] = raw[match.start(1) : match.end()]
    return bytes(blank)


def _one_line(directive: str) -> str:
    return "#" + " ".join(re.sub(r"\\\r?\n", " ", directive)[1:].split())


def _follow(stack: list[str], name: str, directive: str) -> bool:
    """Keep the stack of open conditions; tells whether the directive is one of them."""
    if name in _OPENS:
        stack.append(directive)
    elif name == "elif" and stack:
        stack[-1] = directive
    elif name == "else" and stack:
        stack[-1] = f"#else of {stack[-1]}" if stack[-1] else directive
    elif name == "endif" and stack:
        stack.pop()
    else:
        return False
    return True


def _disabled(plain: str, start: int) -> tuple[int, str]:
    """Where the text under an `#if 0` ends, and the `#else` or `#elif` it ends in, "" for `#endif`."""
    depth = 0
    for match in _DIRECTIVE.finditer(plain, start):
        name = match.group(2)
        depth += (name in _OPENS) - (name == "endif")
        if depth == 0:
            return match.end(), ""
        if depth == 1 and name == "else":
            return match.end(), "#else of #if 0"
        if depth == 1 and name == "elif":
            return match.end(), _one_line(match.group(1))
    return len(plain), ""
