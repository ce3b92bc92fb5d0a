"""Where a header lies that no include path leads to: the folders in which projects keep their own and others' headers.

Takes an `#include` that found nothing, gives the folder that would have to be on the include path. A build system would
have named it; without its flags the code behind the header would be unknown. Looks upwards from given files,
up to the top of their project.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_OWN: Final = ("", "include", "inc", "src", "csrc", "common", "Common")
_OTHERS: Final = (
    "third_party", "third-party", "thirdparty", "3rdparty", "3rd_party", "external", "externals", "extern", "ext",
    "deps", "dependencies", "vendor", "submodules", "contrib", "lib", "libs",
)  # fmt: skip
_TOP: Final = (".git", ".hg", "compile_commands.json", ".cuda-lsp.toml")
_MOST_LEVELS: Final = 5
_MOST_PROJECTS: Final = 200
"""Entries of one folder for others' projects that are looked into."""


@dataclass(frozen=True, slots=True)
class SoughtHeader:
    """A header by the name it is included with, and the folder it was found in."""

    name: str
    folder: str


def search(name: str, files: Iterable[str]) -> SoughtHeader | None:
    """Look for a header around each of these files, those around it from the inside out; the first place wins."""
    if Path(name).is_absolute():
        return None
    starts = dict.fromkeys(Path(file).parent for file in files)
    for folder in dict.fromkeys(folder for start in starts for folder in _candidates(start)):
        if (folder / name).is_file():
            return SoughtHeader(name, str(folder))
    return None


def _candidates(start: Path) -> Iterator[Path]:
    for level in _levels(start):
        for own in _OWN:
            yield level / own
        for others in _OTHERS:
            folder = level / others
            if folder.is_dir():
                yield folder
                for project in _projects(folder):
                    yield project
                    yield project / "include"


def _levels(start: Path) -> Iterator[Path]:
    """A folder and those around it, up to the top of its project."""
    level = start
    for _ in range(_MOST_LEVELS):
        if not level.is_dir():
            return
        yield level
        if level.parent == level or any((level / mark).exists() for mark in _TOP):
            return
        level = level.parent


def _projects(folder: Path) -> Iterable[Path]:
    try:
        return sorted(folder.iterdir())[:_MOST_PROJECTS]
    except OSError:
        return ()
