"""Where headers of a unit could turn up: files that do not exist, and whose coming would change what is included.

Takes a checked unit and gives paths. A header that was not found may appear in any folder that the compiler searched,
and one that was found may be shadowed by a file in a folder that is searched earlier. Directives are read from the
texts, nothing is preprocessed: what is inside of an `#if` counts, so there are rather too many paths than too few.
"""

from __future__ import annotations

import itertools
import logging
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from analyzers.model import SyntaxIssue, UnitResult
from analyzers.requests import CheckRequest
from cuda_lsp import cache
from cuda_lsp.workspace.regular import regular_bytes

_MISSING_FILE = re.compile(r"'([^']+)' file not found")
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include(?:_next)?[ \t]*([<"])([^>"\r\n]+)[>"]', re.MULTILINE)
_FOLDER_FLAGS = ("-I", "-isystem", "-iquote")
_MAXIMAL_PATHS = 5_000

_log = logging.getLogger(__name__)

Directive = tuple[bool, str]
"""Whether the name stands in quotes, and the name."""


class Lookups:
    """Remembers the directives of files that have not changed."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[object, tuple[Directive, ...]]] = {}

    def absent(self, unit: UnitResult, request: CheckRequest, started_ns: int) -> list[str]:
        """The paths. One that came into being since a check has started, and was not read, is among them."""
        folders = tuple(include_folders(request.flags.arguments))
        read = {request.path, *unit.dependencies}
        found: dict[str, None] = {}
        listings: dict[str, frozenset[str]] = {}

        def exists(path: str) -> bool:
            folder, name = os.path.split(path)
            if folder not in listings:
                listings[folder] = _names(folder)
            return name in listings[folder]

        for includer, (quoted, name) in self._directives(request, unit.dependencies, unit.syntax):
            own = [str(Path(includer).parent)] if quoted else []
            for folder in (*own, *(path for flag, path in folders if quoted or flag != "-iquote")):
                path = os.path.normpath(f"{folder}/{name}")
                if path in read:
                    break
                if not exists(path) or cache.changed_since(path, started_ns):
                    found[path] = None
            if len(found) > _MAXIMAL_PATHS:
                _log.info("%s: too many places where headers could turn up, not all are watched", request.path)
                break
        return list(found)

    def _directives(
        self, request: CheckRequest, dependencies: Sequence[str], syntax: Iterable[SyntaxIssue]
    ) -> Iterator[tuple[str, Directive]]:
        """Those of all files of a unit; what the compiler missed first, for its name may come from a macro."""
        for issue in syntax:
            match = _MISSING_FILE.search(issue.message)
            if match is not None:
                yield issue.span.path, (True, match[1])
                yield request.path, (True, match[1])
        texts = {**request.unsaved, request.path: request.text}
        for path in (request.path, *dependencies):
            for directive in self._of_file(path, texts):
                yield path, directive

    def _of_file(self, path: str, texts: Mapping[str, str]) -> tuple[Directive, ...]:
        text = texts.get(path)
        stamp: object = text if text is not None else cache.file_stamp(path)
        known = self._known.get(path)
        if known is None or known[0] != stamp:
            try:
                data = text.encode() if text is not None else regular_bytes(path)
            except OSError:
                return ()
            matches = _INCLUDE.findall(data)
            known = stamp, tuple((mark == b'"', name.decode("utf-8", "replace")) for mark, name in matches)
            self._known[path] = known
        return known[1]

    def forget(self, path: str) -> None:
        self._known.pop(path, None)


def _names(folder: str) -> frozenset[str]:
    try:
        return frozenset(path.name for path in Path(folder).iterdir())
    except OSError:
        return frozenset()


def include_folders(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The include flags that `flags.translate` gives, flag and folder as two arguments, in the order of the search."""
    given = [(flag, value) for flag, value in itertools.pairwise(arguments) if flag in _FOLDER_FLAGS]
    return iter(sorted(given, key=lambda each: ("-iquote", "-I", "-isystem").index(each[0])))
