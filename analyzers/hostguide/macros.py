"""The macros that the texts of a program define, and where."""

from __future__ import annotations

import re
from collections.abc import Mapping

_DEFINE = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:[^\n\\]|\\(?:\r?\n|.))*)", re.MULTILINE)


class Macros:
    """Of blanked texts, by path."""

    def __init__(self, texts: Mapping[str, bytes]) -> None:
        self._texts = texts
        self._known: dict[str, list[tuple[str, int, int]]] = {}

    def of(self, path: str) -> list[tuple[str, int, int]]:
        """Name and extent of each definition in a file."""
        known = self._known.get(path)
        if known is None:
            known = [(m.group(1).decode(), m.start(), m.end()) for m in _DEFINE.finditer(self._texts[path])]
            self._known[path] = known
        return known

    def at(self, path: str, offset: int) -> str | None:
        """The macro in whose definition an offset lies."""
        return next((name for name, start, end in self.of(path) if start <= offset < end), None)

    def by_name(self) -> dict[str, list[tuple[str, int, int]]]:
        """File and extent of the definitions of each."""
        found: dict[str, list[tuple[str, int, int]]] = {}
        for path in self._texts:
            for name, start, end in self.of(path):
                found.setdefault(name, []).append((path, start, end))
        return found
