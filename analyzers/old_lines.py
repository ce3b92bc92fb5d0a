"""Words about lines of a text that edits have made, as words about lines of the text before them."""

from __future__ import annotations

import difflib
import re
from typing import Final

_LINES: Final = re.compile(r"\blines? \d+(?:(?:, | and )\d+)*(?!\d|(?:, | and )\d| of \S+\.\w)")
"""None of headers (`line 4 of tile.cuh`)."""


def lines_of(text: str) -> list[str]:
    """The lines with their ends: a form feed, for one, ends none."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def in_old_lines(title: str, before: str, now: str) -> str:
    """A title that names lines of the text as it is now, with the lines of the text before all repairs."""
    if before == now or _LINES.search(title) is None:
        return title
    old, new = lines_of(before), lines_of(now)
    lines = [0]
    for tag, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        # What was inserted stands behind the line before it; what was changed, where it was.
        lines += [a + 1 + i if tag != "insert" and a + i < b else max(b, 1) for i in range(d - c)]

    def renamed(found: re.Match[str]) -> str:
        named = map(int, re.findall(r"\d+", found[0]))
        # What a repair has made of one line is named once.
        *first, last = dict.fromkeys(str(lines[n] if n < len(lines) else n) for n in named)
        return f"lines {', '.join(first)} and {last}" if first else f"line {last}"

    return _LINES.sub(renamed, title)
