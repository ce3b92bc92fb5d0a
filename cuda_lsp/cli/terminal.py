"""What the terminal can show: colours, and the width of text in columns."""

from __future__ import annotations

import os
import unicodedata
from dataclasses import dataclass
from typing import Final, Literal, TextIO

ColorChoice = Literal["auto", "always", "never"]
Role = Literal["error", "warning", "information", "hint", "good", "strong", "faint", "added", "removed", "hunk"]

_CODES: Final[dict[Role, str]] = {
    "error": "1;31",
    "warning": "1;33",
    "information": "1;36",
    "hint": "1;34",
    "good": "1;32",
    "strong": "1",
    "faint": "2",
    "added": "32",
    "removed": "31",
    "hunk": "36",
}


@dataclass(frozen=True, slots=True)
class Style:
    """Paints text, or leaves it alone."""

    is_colored: bool = False

    def paint(self, role: Role, text: str) -> str:
        return f"\x1b[{_CODES[role]}m{text}\x1b[0m" if self.is_colored and text else text


def style_for(choice: ColorChoice, stream: TextIO) -> Style:
    """`auto` colours for a terminal, unless NO_COLOR is set (https://no-color.org) or the terminal is a dumb one."""
    if choice == "auto":
        return Style(is_interactive(stream) and not os.environ.get("NO_COLOR"))
    return Style(choice == "always")


def is_interactive(stream: TextIO) -> bool:
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def width(text: str) -> int:
    """Columns that a text takes; East Asian wide characters take two, combining ones none."""
    return sum(_width(character) for character in text)


def _width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def printable(text: str) -> str:
    """Without tabs, whose width depends on the place, and without characters that would steer the terminal."""
    return "".join(c if c.isprintable() else "�" for c in text.expandtabs(4))
