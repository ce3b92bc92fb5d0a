"""What rewriting a source needs beside its trees: names that are free, lines, and the word for what cannot be done."""

from __future__ import annotations

import re

from quickfix.paths import Level


class NotPossible(Exception):
    """The source is not of the form that can be rewritten; the text says why."""


def fresh_name(level: Level, text: bytes, stem: str) -> bytes:
    """A name that does not occur in the function."""
    name, number = stem.encode(), 2
    function = text[level.function.start : level.function.end]
    while re.search(rb"\b" + name + rb"\b", function):
        name, number = f"{stem}{number}".encode(), number + 1
    return name


def line_of(text: bytes, offset: int) -> int:
    """The line that a byte stands in, from 1."""
    return text.count(b"\n", 0, offset) + 1
