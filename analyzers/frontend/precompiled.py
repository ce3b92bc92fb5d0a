"""The header that is included before every file, compiled once for each set of compiler arguments.

Parsing it takes ten times as long as parsing a small file behind it. The compiled form lies in a file without a name,
which ends with this process however that ends; where the system has no such files (it needs `/proc`), and for arguments
that include files of the user, nothing is precompiled.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Final

from analyzers.frontend import cindex

_MAXIMAL: Final = 12
"""Sets of arguments; a compiled form takes 1.3 MB."""
_INCLUDES_FILES: Final = ("-include", "-imacros")
_DIRECTORY: Final = Path("/proc/self/fd")
_ERROR: Final = 3
_ROOM: Final = 8 << 20
"""Bytes, several times what a compiled form takes."""


class Precompiled:
    """What was compiled of one header."""

    def __init__(self, header: str) -> None:
        """`header`: its path."""
        self._header = header
        self._lock = Lock()
        self._found: dict[tuple[str, ...], str] = {}
        """By the arguments: the compiled form, or the empty text while there is none."""

    def included(self, arguments: Sequence[str]) -> tuple[str, ...]:
        """What to add to the arguments of a parse so that the file begins with the header. The compiled form is made
        when arguments come for the first time. Safe for several threads."""
        key = tuple(arguments)
        plain = ("-include", self._header)
        if sys.platform != "linux" or any(word.startswith(_INCLUDES_FILES) for word in key):
            return plain
        with self._lock:
            known = key in self._found
            found = self._found.get(key, "")
            if not known:
                if len(self._found) == _MAXIMAL:
                    return plain
                self._found[key] = ""  # for other threads, until it is there
        if not known:
            found = _compiled(self._header, key)
            with self._lock:
                self._found[key] = found
        return ("-include-pch", found) if found else plain

    def give_up(self) -> None:
        """The header is not as it was any more: from now on nothing is used that was compiled of it."""
        with self._lock:
            self._found.update(dict.fromkeys(self._found, ""))


def _require_room(path: Path) -> None:
    """Raises OSError where no file of this size can be written: libclang would end the process."""
    with path.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, _ROOM)
    path.unlink()


def _compiled(header: str, arguments: Sequence[str]) -> str:
    """The path of the compiled form; empty where there is none, for whatever reason: then the header is parsed."""
    try:
        unit = cindex.parse(cindex.create_index(), header, arguments, (), cindex.FOR_PRECOMPILING)
        if any(d.severity >= _ERROR for d in unit.diagnostics):
            return ""
        with tempfile.TemporaryDirectory(prefix="cuda-lsp-") as folder:
            path = Path(folder, "header.pch")
            _require_room(path)
            cindex.save(unit, str(path))
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except (cindex.LibclangError, OSError):
        return ""
    named = _DIRECTORY / str(descriptor)
    if not named.exists():
        os.close(descriptor)
        return ""
    return str(named)
