"""Lines as repairs name them: those of the file at hand by their numbers, those of headers with the header.

Takes paths and lines, gives words: `line 4`, `lines 4 and 6 and line 2 of tile.cuh`. A header is named by as much of
its path as tells it from other files.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from analyzers.frontend.gaps import SourceTrees
from analyzers.model import Access, SourceSpan, UnitResult


@dataclass(frozen=True, slots=True)
class FileNames:
    own: str
    """The path of the file at hand."""
    others: Collection[str]
    """Those of others that may be named."""

    @staticmethod
    def among(trees: SourceTrees) -> FileNames:
        """Of the files that have statement trees."""
        return FileNames(trees.path, trees.texts.keys())

    @staticmethod
    def of_unit(result: UnitResult) -> FileNames:
        """Of all files of a unit."""
        return FileNames(result.path, result.dependencies)

    def of(self, path: str) -> str:
        """What is said behind a line: ` of tile.cuh`; nothing of the file at hand."""
        return "" if path == self.own else f" of {self.name(path)}"

    def name(self, path: str) -> str:
        """As much of the path as tells it from the others."""
        parts = PurePath(path).parts
        others = [PurePath(other).parts for other in {self.own, *self.others} - {path}]
        alike = (n for n in range(1, len(parts)) if not any(other[-n:] == parts[-n:] for other in others))
        return str(PurePath(*parts[-next(alike, len(parts)) :]))

    def line(self, span: SourceSpan) -> str:
        """Where a part of the source begins."""
        return self.at(span.path, span.line)

    def at(self, path: str, line: int) -> str:
        """One line."""
        return f"line {line}{self.of(path)}"

    def lines(self, places: Iterable[tuple[str, int]]) -> str:
        """Each line once, by path: those of the file at hand come first."""
        by_path: dict[str, list[int]] = {}
        for path, line in places:
            by_path.setdefault(path, []).append(line)
        every = sorted(by_path, key=lambda path: (path != self.own, path))
        return " and ".join(numbered(by_path[path]) + self.of(path) for path in every)

    def shown(self, access: Access) -> str:
        """An access with its line."""
        return f"`{access.text}` ({self.line(access.span)})"

    def pair(self, one: Access, two: Access) -> str:
        """Two accesses with their lines."""
        return f"{self.shown(one)} and {self.shown(two)}"


def listed(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]


def numbered(lines: Iterable[int]) -> str:
    """`line 4`, `lines 4, 6 and 7`, each once and in order."""
    found = [str(line) for line in sorted(set(lines))]
    return f"line{'s' * (len(found) > 1)} {listed(found)}"
