"""PTX text into tokens, without whitespace and comments."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final


class PtxSyntaxError(ValueError):
    """The text is not PTX as this parser knows it; the message gives the line."""


@dataclass(frozen=True, slots=True)
class Token:
    """`kind`: word, dot (a directive or type, dot included), number, float, string, mark, end."""

    kind: str
    text: str
    line: int


_TOKEN: Final = re.compile(
    r"""
      (?P<space> \s+ | //[^\n]* | /\*.*?\*/ )
    | (?P<string> "(?:[^"\\]|\\.)*" )
    | (?P<float> 0[fF][0-9a-fA-F]{8}(?!\w) | 0[dD][0-9a-fA-F]{16}(?!\w)
        | \d+\.\d*(?:[eE][+-]?\d+)? | \d+[eE][+-]?\d+ )
    | (?P<number> 0[xX][0-9a-fA-F]+U? | 0[bB][01]+U? | \d+U? )
    | (?P<word> (?:[A-Za-z] [\w$]* | [_$%] [\w$]*) (?: \.[A-Za-z0-9_]\w* (?: ::\w+ )* )* )
    | (?P<dot> \.[A-Za-z_]\w* (?: ::\w+ )* )
    | (?P<mark> [{}()\[\]<>;,:|+\-!@=*] )
    """,
    re.VERBOSE | re.DOTALL,
)


def tokens(text: str) -> list[Token]:
    """All tokens and a last one of kind ``end``. Raises `PtxSyntaxError` at a character that begins none."""
    found: list[Token] = []
    position, line = 0, 1
    match = _TOKEN.match
    while position < len(text):
        hit = match(text, position)
        if hit is None:
            raise PtxSyntaxError(f"line {line}: unexpected {text[position : position + 20]!r}")
        kind = hit.lastgroup or ""
        piece = hit.group()
        if kind != "space":
            found.append(Token(kind, piece, line))
        line += piece.count("\n")
        position = hit.end()
    found.append(Token("end", "", line))
    return found
