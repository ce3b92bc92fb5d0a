"""Reading files that somebody named or that lie in a folder: whatever has the name of a source."""

from __future__ import annotations

import errno
import stat
from pathlib import Path


def regular_bytes(path: str | Path, limit: int = -1) -> bytes:
    """The bytes of a file, of a long one the first `limit`. Raises `OSError`, also for what is no regular file: a pipe
    or a device would keep us waiting for ever."""
    if not stat.S_ISREG(Path(path).stat().st_mode):
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    with Path(path).open("rb") as file:
        return file.read(limit)
