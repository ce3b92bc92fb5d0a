"""Units that declare device functions of another one and call them, as relocatable device code does.

Takes a view of the workspace and the names of functions that a unit defines, gives the units that mention them, have a
declaration and no definition of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from analyzers.frontend.lexical import code_text
from cuda_lsp.workspace.program_index import View

_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_STATEMENTS: Final = frozenset(
    [
        "return",
        "if",
        "while",
        "for",
        "switch",
        "else",
        "do",
        "case",
        "goto",
        "throw",
        "new",
        "delete",
        "co_return",
        "co_yield",
    ]
)
_TAIL: Final = re.compile(
    r"(?:\s|const\b|volatile\b|(?:noexcept|throw)\b(?:\s*\([^()]*\))?|__attribute__\s*\(\([^;{}]*?\)\)|\[\[[^\]]*\]\]"
    r"|->[\s\w:<>,*&]+|[A-Z_][A-Z0-9_]*\b(?:\([^()]*\))?)*;"
)
"""What may follow the parameters: specifications, attributes, a type."""


def device_callers(view: View, unit: str, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The names, each with a unit that calls it."""
    for name in names:
        files = frozenset(view.mentioning(name))
        declaring = [path for path in sorted(files) if declares(view.text(path), name)]
        for path in sorted({u for file in declaring for u in view.units_with(file)} - {unit}):
            own = view.closure(path)
            if any(name in view.outline(file).defined for file in own & files):
                continue
            if any(name in view.callers(file, (name,))[0] for file in own & files):
                yield name, path


def declares(text: str, name: str) -> bool:
    """Whether a text declares a function by a name without its body, as far as words and brackets tell."""
    code = code_text(text).code
    for match in re.finditer(rf"\b{re.escape(name)}\s*\(", code):
        start = max(code.rfind(sign, 0, match.start()) for sign in ";{}") + 1
        head = code[start : match.start()]
        words = _WORD.findall(head)
        if not words or not _STATEMENTS.isdisjoint(words) or any(sign in head for sign in ("=", ".", "?", "<<", "->")):
            continue
        if _TAIL.match(code, _closed(code, match.end())):
            return True
    return False


def _closed(code: str, at: int) -> int:
    """Behind the bracket that closes the one in front of a place."""
    depth = 1
    while at < len(code) and depth:
        depth += (code[at] == "(") - (code[at] == ")")
        at += 1
    return at
