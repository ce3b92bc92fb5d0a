"""Source text with everything blanked that is not code, and the brackets and words in it.

Takes and gives bytes of equal length, so that offsets into the one are offsets into the other.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_NOT_CODE: Final = re.compile(
    rb"""
    //(?:[^\n\\]|\\(?:\r?\n|.))*
  | /\*.*?(?:\*/|\Z)
  | (?:u8|u|U|L)?R"(?P<delimiter>[^()\\\s]{0,16})\(.*?\)(?P=delimiter)"
  | (?<![0-9a-fA-F])'(?:[^'\\\n]|\\.)*'
  | "(?:[^"\\\n]|\\.)*"
    """,
    re.VERBOSE | re.DOTALL,
)
_DIRECTIVE: Final = re.compile(rb"^[ \t]*\#(?:[^\n\\]|\\(?:\r?\n|.))*", re.MULTILINE | re.DOTALL)
_VISIBLE: Final = re.compile(rb"[^\s]")
_TEXTS: Final = 64
"""Texts that are kept: each file of a program is looked at once for each unit that includes it."""


def _spaces(match: re.Match[bytes]) -> bytes:
    found = match.group()
    if found[:2] in (b"//", b"/*") or found.lstrip()[:1] == b"#":
        return re.sub(rb"[^\n\r]", b" ", found)
    # A literal is code: it stays visible, but no bracket or semicolon inside it does.
    return b'"' + b"_" * (len(found) - 2) + b'"'


@lru_cache(maxsize=_TEXTS)
def blanked(text: bytes) -> bytes:
    """The text with comments and preprocessor lines as blanks and literals without content; offsets and lines stay."""
    return _DIRECTIVE.sub(_spaces, without_comments(text))


@lru_cache(maxsize=_TEXTS)
def without_comments(text: bytes) -> bytes:
    """The text with comments as blanks and literals without content; preprocessor lines, offsets and lines stay."""
    return _NOT_CODE.sub(_spaces, text)


def uncommented(text: bytes) -> bytes:
    """The text with comments as blanks; literals, preprocessor lines, offsets and lines stay."""
    return _NOT_CODE.sub(lambda m: _spaces(m) if m[0].startswith((b"//", b"/*")) else m[0], text)


def next_visible(code: bytes, at: int) -> int:
    """The offset of the first byte of code at or behind `at`; the length of the text when there is none."""
    found = _VISIBLE.search(code, at)
    return found.start() if found else len(code)


def group_end(code: bytes, opened: int) -> int:
    """The offset behind the bracket that closes the one at `opened`."""
    depth = 0
    for at in range(opened, len(code)):
        if code[at] in b"([{":
            depth += 1
        elif code[at] in b")]}":
            depth -= 1
            if depth == 0:
                return at + 1
    return len(code)


WORD: Final = re.compile(rb"[A-Za-z_$\x80-\xff][\w$\x80-\xff]*")


def macro_use_end(code: bytes, start: int) -> int:
    """The end of the word at `start` and, when one follows, of its bracketed arguments."""
    word = WORD.match(code, start)
    end = word.end() if word else start + 1
    following = next_visible(code, end)
    return group_end(code, following) if code[following : following + 1] == b"(" else end


def for_parts(code: bytes, opened: int, end: int) -> tuple[int, int] | None:
    """The offsets of the two semicolons of a `for` header between `opened` and `end`; None when it has others."""
    depth = 0
    found: list[int] = []
    for at in range(opened, end):
        if code[at] in b"([{":
            depth += 1
        elif code[at] in b")]}":
            depth -= 1
        elif code[at] == 0x3B and depth == 1:
            found.append(at)
    return (found[0], found[1]) if len(found) == 2 else None
