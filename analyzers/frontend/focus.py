"""A text with most function bodies taken out: all that an edit inside one function needs to have parsed again.

Takes the places of function bodies as the check of the whole unit found them, and gives a text of equal length: what
stays has its offsets and lines. A parse of it takes a tenth of the time. Code that is left out may still matter in
ways that no list of callers shows, so what comes of it is for a first look only: the whole text has the last word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from analyzers.frontend.lexical import source_bytes

Range = tuple[int, int]
"""Bytes [start, end) of the unit's file."""

# Where the body says what type there is, or is evaluated by the compiler.
_DECISIVE: Final = re.compile(rb"\b(?:constexpr|consteval|auto)\b")
_BLANKS: Final = bytes(c if c in b"\r\n" else ord(" ") for c in range(256))


def bodies(path: str, text: str, functions: Iterable[tuple[Any, Any]]) -> tuple[Range, ...]:
    """The insides of the function bodies in the file that can be left out. `functions`: cursors of function definitions
    outside of classes, each with the cursor of its body."""
    raw = source_bytes(text)
    out: list[Range] = []
    for function, body in functions:
        extent = body.extent
        start, end = extent.start.offset + 1, extent.end.offset - 1
        file = function.location.file
        if file is None or file.name != path or raw[start - 1 : start] != b"{" or raw[end : end + 1] != b"}":
            continue  # in a header, or made by a macro
        head = raw[function.extent.start.offset : start]
        if start < end and b"#" not in raw[start:end] and not _DECISIVE.search(head):
            out.append((start, end))
    return tuple(out)


def without(text: str, ranges: Sequence[Range]) -> str:
    """The text with blanks in these ranges, which do not overlap and are in order."""
    raw = source_bytes(text)
    parts: list[bytes] = []
    at = 0
    for start, end in ranges:
        parts += (raw[at:start], raw[start:end].translate(_BLANKS))
        at = end
    parts.append(raw[at:])
    return b"".join(parts).decode("utf-8", "surrogateescape")


def left_out(ranges: Iterable[Range], text: str, kept: Sequence[Range], words: Iterable[str]) -> tuple[Range, ...]:
    """Of some bodies, in order, those that overlap with none of the kept ranges and contain none of the words."""
    raw = source_bytes(text)
    spelled = [w.encode() for w in words]
    return tuple(
        (start, end)
        for start, end in sorted(set(ranges))
        if not any(first < end and start < last for first, last in kept)
        and not any(raw.find(w, start, end) >= 0 for w in spelled)
    )
