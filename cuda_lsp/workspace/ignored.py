"""What git ignores below a folder, by the `.gitignore` files there and those above it up to the top of the repository.

Patterns mean what gitignore(5) says; pathspec reads them. The index of the repository is not looked at: a file that is
tracked although a pattern names it counts as ignored.
"""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path

from pathspec import GitIgnoreSpec

_NAME = ".gitignore"
_EXCLUDE = Path(".git", "info", "exclude")


class Ignored:
    """Asked from the outside to the inside: a folder before what lies in it, nothing in a folder that is ignored."""

    def __init__(self, folder: Path) -> None:
        """`folder`: where the walk begins. What ignores this one itself does not count: somebody has named it."""
        self._top = Path(os.path.normpath(Path.cwd() / folder))
        self._specs: dict[Path, GitIgnoreSpec | None] = {}

    def folder(self, path: Path) -> bool:
        return self._is_ignored(path, "/")

    def file(self, path: Path) -> bool:
        return self._is_ignored(path, "")

    def _is_ignored(self, path: Path, end: str) -> bool:
        """The nearest `.gitignore` that says something decides, in it the last line."""
        absolute = Path(os.path.normpath(Path.cwd() / path))
        for folder in absolute.parents:
            if folder in self._above or folder.is_relative_to(self._top):
                spec = self._spec(folder)
                said = _said(spec, absolute, folder, end) if spec is not None else None
                if said is not None:
                    return said
        return False

    @cached_property
    def _above(self) -> frozenset[Path]:
        """The folders above whose patterns count: those of the repository, unless they ignore where the walk begins."""
        parents = list(self._top.parents)
        tops = [number for number, folder in enumerate(parents) if (folder / ".git").exists()]
        if (self._top / ".git").exists() or not tops:
            return frozenset()
        found = parents[: tops[0] + 1]
        for depth, place in enumerate((self._top, *found[:-1])):
            for folder in found[depth:]:
                spec = self._spec(folder)
                said = _said(spec, place, folder, "/") if spec is not None else None
                if said:
                    return frozenset()
                if said is not None:
                    break
        return frozenset(found)

    def _spec(self, folder: Path) -> GitIgnoreSpec | None:
        if folder not in self._specs:
            lines = [*_lines(folder / _EXCLUDE), *_lines(folder / _NAME)]
            self._specs[folder] = GitIgnoreSpec.from_lines(lines) if lines else None
        return self._specs[folder]


def _said(spec: GitIgnoreSpec, path: Path, folder: Path, end: str) -> bool | None:
    """What the patterns of a folder say of a path below it; None for nothing."""
    return spec.check_file(path.relative_to(folder).as_posix() + end).include


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
