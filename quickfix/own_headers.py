"""The headers that belong to a source file's project: those that it, or another of them, includes by `"..."`.

Takes the text of a file and what was included, gives the texts of such headers. What is included by `<...>` is a
library's, whose builds are not the project's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

from analyzers.frontend.lexical import source_bytes

_INCLUDE: Final = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)


def own_headers(text: bytes, included: Iterable[str], text_of: Callable[[str], str]) -> dict[str, bytes]:
    """By path; `included`: the paths of all files that the unit includes."""
    left = list(included)
    found: dict[str, bytes] = {}
    todo = [text]
    while todo and left:
        ends = tuple("/" + name.split("../")[-1] for name in _names(todo.pop()))
        mine = [path for path in left if path.endswith(ends)] if ends else []
        left = [path for path in left if path not in mine]
        for path in mine:
            found[path] = source_bytes(text_of(path))
            todo.append(found[path])
    return found


def _names(text: bytes) -> list[str]:
    return [name.decode("utf-8", "surrogateescape").removeprefix("./") for name in _INCLUDE.findall(text)]
