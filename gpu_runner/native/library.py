"""Our own native functions: compiled when they are needed first, and kept on disk for the next process.

To compile the detector and the scheduler takes longer than most runs of a kernel.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from gpu_runner.native.jit import Code, linked, machine_words, object_code
from gpu_runner.native.translate import ir_of

_LEVEL: Final = 2
_SUM_BYTES: Final = hashlib.sha256().digest_size


class Library:
    """The functions `exported` and what they call."""

    def __init__(self, exported: Sequence[Callable[..., Any]]) -> None:
        self._exported = tuple(exported)
        self._code: Code | None = None

    def load(self, folder: str = "") -> Code:
        """Compiled at the first call, or taken from a file in `folder` where this version has been compiled for this
        processor before; with no folder, or one that cannot be written, nothing is kept."""
        if self._code is None:
            place = Path(folder) / "native" / f"{self._key()}.o" if folder else None
            data = _read(place) if place is not None else None
            if data is None:
                data = object_code(ir_of(self._exported), _LEVEL)
                if place is not None:
                    _write(place, data)
            self._code = linked(data)
        return self._code

    def address(self, name: str) -> int:
        return self.load().address(name)

    def _key(self) -> str:
        names = ",".join(f"{each.__module__}.{each.__qualname__}" for each in self._exported)
        return hashlib.sha256(f"{_sources()} {machine_words()} {_LEVEL} {names}".encode()).hexdigest()[:32]


@cache
def _sources() -> str:
    """A hash of every source file of this package: which of them code is made of is nobody's to list."""
    digest = hashlib.sha256()
    root = Path(__file__).parent.parent
    for path in sorted(root.rglob("*.py")):
        digest.update(f"{path.relative_to(root).as_posix()}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def _read(path: Path) -> bytes | None:
    """What `_write` wrote; None for a file that somebody else may have written, or that is damaged."""
    try:
        with path.open("rb") as file:
            state = os.fstat(file.fileno())
            if hasattr(os, "getuid") and (state.st_uid != os.getuid() or state.st_mode & 0o022):
                return None
            data = file.read()
    except OSError:
        return None
    digest, code = data[:_SUM_BYTES], data[_SUM_BYTES:]
    if hashlib.sha256(code).digest() != digest:
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # what was used last is kept longest
    return code


def _write(path: Path, code: bytes) -> None:
    """Whole or not at all, also with several processes at once."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    except OSError:
        return
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(hashlib.sha256(code).digest() + code)
        Path(temporary).replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
