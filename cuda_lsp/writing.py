"""Files for the user, written whole or not at all: a full disk must not cost what stood there before."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path


def replace_file(path: str | Path, data: bytes) -> None:
    """Give a file this content in one step, keeping its mode; what is no regular file, as a pipe, is written to. Raises
    `OSError`, which names the file."""
    target = Path(path).resolve()
    try:
        known = target.exists()
        if known and not target.is_file():
            target.write_bytes(data)
            return
        descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            Path(temporary).chmod(target.stat().st_mode if known else 0o666 & ~_umask())
            Path(temporary).replace(target)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()
            raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def _umask() -> int:
    """It can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
