"""What every parse begins with, the bundled shim, parsed once for all files that have the same arguments.

Takes the arguments of a pass that include the shim, gives arguments that read it precompiled. libclang writes and reads
that as a file only; it is moved at once into one without a name, which goes with the process, however that ends. Where
the system has no such files, and where something else must be read before the shim, there is nothing to give.
"""

from __future__ import annotations

import os
import tempfile
import weakref
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Final

from analyzers.frontend import cindex

_CAPACITY: Final = 16
"""For how many lists of arguments it is kept: a megabyte and a half each."""


class Precompiled:
    """A precompiled shim, there as long as somebody refers to it: a unit is parsed again with the arguments that it
    was parsed with."""

    def __init__(self, arguments: tuple[str, ...], descriptor: int) -> None:
        self.arguments = (*arguments, "-include-pch", f"/proc/self/fd/{descriptor}")
        """What to parse with."""
        weakref.finalize(self, os.close, descriptor)


@dataclass(slots=True)
class _Entry:
    made: Precompiled | None = None
    is_tried: bool = False
    busy: Lock = field(default_factory=Lock)


class PrecompiledShims:
    """Those made in this process, by arguments. Several threads may ask at a time."""

    def __init__(self, shim: str) -> None:
        """`shim`: the absolute path of the file."""
        self._shim = shim
        self._entries: OrderedDict[tuple[str, ...], _Entry] = OrderedDict()
        self._taking = Lock()

    def of(self, arguments: Sequence[str]) -> Precompiled | None:
        """The shim for arguments of clang that contain ``-include`` and its name; None where there is none."""
        at = arguments.index("-include")
        if Path(self._shim).name != arguments[at + 1] or not hasattr(os, "memfd_create"):
            return None  # what others want included comes first
        key = (*arguments[:at], *arguments[at + 2 :])
        with self._taking:
            entry = self._entries.setdefault(key, _Entry())
            self._entries.move_to_end(key)
            while len(self._entries) > _CAPACITY:
                self._entries.popitem(last=False)
        with entry.busy:
            if not entry.is_tried:
                entry.is_tried, entry.made = True, _made(self._shim, key)
        return entry.made

    def forget(self, unusable: Precompiled) -> None:
        """Drop one that cannot be read, as when the files that it was made of have changed."""
        with self._taking:
            for key, entry in list(self._entries.items()):
                if entry.made is unusable:
                    del self._entries[key]


def _made(shim: str, arguments: tuple[str, ...]) -> Precompiled | None:
    """None where the shim has errors with these arguments, or the system no room for a file."""
    try:
        with tempfile.TemporaryDirectory(prefix="cuda-lsp-") as folder:
            path = Path(folder, "shim.pch")
            cindex.precompile(shim, arguments, str(path))
            content = path.read_bytes()
        descriptor = os.memfd_create("cuda-lsp-shim")
        made = Precompiled(arguments, descriptor)
        with open(descriptor, "wb", closefd=False) as file:
            file.write(content)
    except (OSError, cindex.LibclangError):
        return None
    return made
