"""The headers that belong to a source file's project: those beside or below it, and those that it, or another of them,
includes by `"..."`.

Takes a file and what was included, gives the texts of such headers. What else is included by `<...>` is a library's,
whose builds are not the project's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final

from analyzers.frontend.lexical import source_bytes

_INCLUDE: Final = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)


def own_headers(path: str, text: bytes, included: Collection[str], text_of: Callable[[str], str]) -> dict[str, bytes]:
    """By path; `included`: the paths of all files that the unit includes."""
    folder = Path(path).parent
    beside = [each for each in included if folder in Path(each).parents]
    found = {each: source_bytes(text_of(each)) for each in beside}
    left = [each for each in included if each not in found]
    todo = [text, *found.values()]
    while todo and left:
        ends = tuple("/" + name.split("../")[-1] for name in _names(todo.pop()))
        mine = [each for each in left if each.endswith(ends)] if ends else []
        left = [each for each in left if each not in mine]
        for each in mine:
            found[each] = source_bytes(text_of(each))
            todo.append(found[each])
    return found


def _names(text: bytes) -> list[str]:
    return [name.decode("utf-8", "surrogateescape").removeprefix("./") for name in _INCLUDE.findall(text)]
