"""The CUDA sources below a folder, as a person means it: without hidden, build and vendored folders, and without what
git ignores.

`Sources` gives the files and counts what it leaves out, by the reason.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from cuda_lsp.workspace.ignored import Ignored
from cuda_lsp.workspace.suffixes import CUDA_SUFFIXES

_BUILT: Final = frozenset({"__pycache__", "_build", "build", "builddir", "cmakefiles", "dist", "out", "target"})
_VENDORED: Final = frozenset(
    {
        "_deps", "external", "extern", "node_modules", "site-packages", "third-party", "third_party", "thirdparty",
        "vendor", "vendored", "venv",
    }
)  # fmt: skip
_MOST_COUNTED: Final = 20_000
"""Files and folders that are looked at for the sake of a figure."""

VENDORED: Final = "in vendored folders"
BUILT: Final = "in build folders"
IGNORED: Final = "ignored by git"


class Sources:
    """One walk below a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._budget = _MOST_COUNTED
        self.left_out: Counter[str] = Counter()
        """How many CUDA sources were left out for which reason. Hidden files are not counted, and of enormous folders
        only a part."""

    def files(self) -> Iterator[Path]:
        """The files, sorted, symbolic links to folders not followed."""
        ignored = Ignored(self._folder)
        for parent, folders, names in os.walk(self._folder):
            kept: list[str] = []
            for name in sorted(folders):
                why = _reason_to_skip(Path(parent) / name)
                if why is None and ignored.folder(Path(parent) / name):
                    why = IGNORED
                if why is None:
                    kept.append(name)
                elif why:
                    self._count(Path(parent) / name, why)
            folders[:] = kept
            for name in sorted(names):
                if _is_source(name):
                    if ignored.file(Path(parent) / name):
                        self.left_out[IGNORED] += 1
                    else:
                        yield Path(parent) / name

    def _count(self, folder: Path, why: str) -> None:
        for _, folders, names in os.walk(folder):
            self._budget -= len(folders) + len(names)
            if self._budget < 0:
                return
            self.left_out[why] += sum(map(_is_source, names))


def told(left_out: Mapping[str, int]) -> str:
    """`12 in vendored folders, 1 ignored by git`."""
    return ", ".join(f"{number} {why}" for why, number in Counter(left_out).most_common())


def walk(folder: Path) -> Iterator[Path]:
    """The CUDA sources below a folder."""
    return Sources(folder).files()


def _is_source(name: str) -> bool:
    return Path(name).suffix.lower() in CUDA_SUFFIXES and not name.startswith(".")


def _reason_to_skip(folder: Path) -> str | None:
    """Why a folder is not entered; empty for hidden ones, of which nobody wants to hear."""
    name = folder.name.lower()
    if name.startswith("."):
        return ""
    if name in _VENDORED:
        return VENDORED
    # A CMake build folder may have any name.
    if name in _BUILT or name.startswith("cmake-build-") or _has(folder, "CMakeCache.txt"):
        return BUILT
    return None


def _has(folder: Path, name: str) -> bool:
    try:
        return (folder / name).exists()
    except OSError:
        # A folder that cannot be read is not entered either.
        return False
