"""Includes that an edit needs, beside those of the file."""

from __future__ import annotations

import re
from typing import Final

from quickfix.edits import Change, Layout

_INCLUDE: Final = re.compile(rb"^[ \t]*#[ \t]*include[ \t]*[<\"](?P<name>[^>\"\n]+)[>\"]", re.MULTILINE)
DIRECTIVE: Final = re.compile(rb"^[ \t]*#[ \t]*(?P<word>\w+)[ \t]*(?P<rest>[^\n]*)", re.MULTILINE)
COMMENT: Final = re.compile(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)


def included(text: bytes, header: bytes, *others: bytes) -> Change | None:
    """An include of a header in front of the first include that no condition is around; None where it is there, or one
    of the `others`, which come to the same."""
    layout = Layout(text)
    code = COMMENT.sub(lambda match: re.sub(rb"[^\n]", b" ", match.group()), text)
    guard = re.match(rb"\s*#[ \t]*ifndef[ \t]+(\w+)\s*\n\s*#[ \t]*define[ \t]+\1\b[^\n]*\n", code)
    depth = -1 if guard is not None else 0
    at = top = guard.end() if guard is not None else 0
    first: int | None = None
    for match in DIRECTIVE.finditer(code):
        word = match["word"]
        depth += word.startswith(b"if") - (word == b"endif")
        if word == b"include" and depth == 0:
            found = _INCLUDE.match(code, match.start())
            if found is not None and found["name"] in (header, *others):
                return None
            first = match.start() if first is None else first
        if word == b"pragma" and match["rest"].startswith(b"once") and depth == 0:
            at = top = text.find(b"\n", match.start()) + 1 or len(text)
    if first is not None:
        at = first if code[:first].count(b"{") == code[:first].count(b"}") else top
    return Change(at, at, b"#include <" + header + b">" + layout.newline)
