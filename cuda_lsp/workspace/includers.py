"""Which units include a header: a quick scan of the workspace for `#include` lines, nothing preprocessed.

`scan` reads the files below a folder, within bounds; `unit_for` picks, for a header, the source file through which it
is checked. A directive is resolved as a compiler would (beside the including file, then in the include folders), and
failing that by the end of the path, because the include folders are often unknown.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from cuda_lsp.workspace.regular import regular_bytes
from cuda_lsp.workspace.suffixes import CUDA_SUFFIXES, HEADER_SUFFIXES, SOURCE_SUFFIXES

_MAXIMAL_FILES = 5_000
_MAXIMAL_FOLDERS = 20_000
_MAXIMAL_BYTES = 512 << 10
_SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "site-packages", "CMakeFiles"})
_BLANK = rb"(?:[ \t\f\v]|\\\r?\n|/\*(?:[^*]|\*(?!/))*\*/)*"
_INCLUDE = re.compile(
    b"^" + _BLANK + b"(?:#|%:)" + _BLANK + b"(?:include|include_next|import)" + _BLANK + rb'[<"]([^>"\r\n]+)[>"]',
    re.MULTILINE,
)
_SUFFIXES = CUDA_SUFFIXES | HEADER_SUFFIXES | SOURCE_SUFFIXES


@dataclass(frozen=True, slots=True)
class IncludeGraph:
    """Who includes whom, among the files of a workspace."""

    includers: Mapping[str, frozenset[str]]
    """Path -> paths of the files that include it directly."""
    complete: bool
    """False when the workspace is larger than what was scanned."""


def scan(
    top: str | None, texts: Mapping[str, str], folders: Iterable[str] = (), extra: Iterable[str] = ()
) -> IncludeGraph:
    """Scan the files below `top` and the `extra` files; `texts` of open documents shadow the disk, `folders` are
    include folders."""
    paths: dict[str, None] = dict.fromkeys((*texts, *extra))
    complete = True
    if top is not None:
        for path in source_files(top):
            if len(paths) >= _MAXIMAL_FILES:
                complete = False
                break
            paths[path] = None
    names = {path: _includes(path, texts) for path in paths}
    return IncludeGraph(_resolved(names, tuple(folders)), complete)


class Folder:
    """The source files below a folder, and whether that was all of them."""

    def __init__(self, top: str, *, recursive: bool = True) -> None:
        self._top = top
        self._recursive = recursive
        self.whole = True
        """False once a folder was met that could not be read, or that a symbolic link leads to out of this one, or
        when there are too many."""

    def files(self) -> Iterator[str]:
        """Files that may hold or include device or host code, nearest to the top first; hidden and build folders are
        skipped."""
        waiting = deque([self._top])
        visited = 0
        while waiting:
            if visited >= _MAXIMAL_FOLDERS:
                self.whole = False
                return
            folder = waiting.popleft()
            visited += 1
            try:
                entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
            except OSError:
                self.whole = False
                continue
            for entry in entries:
                if entry.name.startswith(".") or entry.name in _SKIPPED_FOLDERS:
                    continue
                try:
                    if entry.is_dir(follow_symlinks=False):
                        if self._recursive:
                            waiting.append(entry.path)
                    elif entry.is_symlink() and entry.is_dir():
                        inside = Path(entry.path).resolve().is_relative_to(Path(self._top).resolve())
                        self.whole = self.whole and inside
                    elif Path(entry.name).suffix.lower() in _SUFFIXES and entry.is_file():
                        yield entry.path
                except OSError:
                    # A link in a circle, or to where nobody may look.
                    self.whole = False


def source_files(top: str) -> Iterator[str]:
    """The files of `Folder`."""
    return Folder(top).files()


def _includes(path: str, texts: Mapping[str, str]) -> list[str]:
    text = texts.get(path)
    if text is not None:
        data = text.encode()
    else:
        try:
            data = regular_bytes(path, _MAXIMAL_BYTES)
        except OSError:
            return []
    return directives(data)


def directives(data: bytes) -> list[str]:
    """The names in the `#include` lines of a file."""
    return [match.decode("utf-8", "replace") for match in _INCLUDE.findall(data)]


def _resolved(names: Mapping[str, list[str]], folders: tuple[str, ...]) -> dict[str, frozenset[str]]:
    by_name: defaultdict[str, list[str]] = defaultdict(list)
    for path in names:
        by_name[Path(path).name].append(path)
    found: defaultdict[str, set[str]] = defaultdict(set)
    for includer, included in names.items():
        for name in included:
            for target in targets(includer, name, folders, names, by_name):
                found[target].add(includer)
    return {path: frozenset(includers) for path, includers in found.items()}


def targets(
    includer: str, name: str, folders: tuple[str, ...], known: Mapping[str, object], by_name: Mapping[str, list[str]]
) -> list[str]:
    """The files that a directive may mean, `by_name` being the known files by their last component."""
    for folder in (str(Path(includer).parent), *folders):
        path = os.path.normpath(Path(folder) / name)
        if path in known:
            return [path]
    wanted = PurePosixPath(os.path.normpath(name).replace("\\", "/"))
    parts = tuple(part for part in wanted.parts if part != "..")
    return [path for path in by_name.get(wanted.name, ()) if Path(path).parts[-len(parts) :] == parts]


def includers_of(header: str, graph: IncludeGraph) -> list[str]:
    """All files that include a header, directly or not, nearest first."""
    found: dict[str, None] = {}
    waiting = deque([header])
    while waiting:
        for includer in sorted(graph.includers.get(waiting.popleft(), ())):
            if includer != header and includer not in found:
                found[includer] = None
                waiting.append(includer)
    return list(found)


def unit_for(header: str, graph: IncludeGraph, open_paths: frozenset[str]) -> str | None:
    """The source file through which a header is checked: an open one before others, CUDA before C++, the same folder
    before others, then the shortest chain of includes, then by name. None where nothing includes it."""
    order = includers_of(header, graph)
    units = [path for path in order if Path(path).suffix.lower() in SOURCE_SUFFIXES]

    def rank(path: str) -> tuple[bool, bool, bool, bool, int]:
        suffix = Path(path).suffix.lower()
        same_stem = Path(path).stem == Path(header).stem
        same_folder = Path(path).parent == Path(header).parent
        return path not in open_paths, suffix != ".cu", not same_stem, not same_folder, order.index(path)

    return min(units, key=rank, default=None)
