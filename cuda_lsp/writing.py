"""Files for the user, written whole or not at all: a full disk must not cost what stood there before."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path


def replace_file(path: str | Path, data: bytes) -> None:
    """Give a file this content in one step, keeping its mode; what is no regular file, as a pipe, is written to. Raises
    `OSError`, which names the file; a file that is read-only is left as it is."""
    replace_files({path: data})


def replace_files(contents: Mapping[str | Path, bytes]) -> None:
    """The same for several files, all or none of them: every text is on the disk before the first file is replaced, and
    when one cannot be, those before it get back what they had. Raises like `replace_file`."""
    temporary: list[Path] = []
    replaced: list[tuple[Path, Path | None]] = []
    at: str | Path = ""
    try:
        staged: list[tuple[str | Path, Path, Path, Path | None]] = []
        for path, data in contents.items():
            at, target = path, Path(path).resolve()
            if target.exists() and not target.is_file():
                target.write_bytes(data)
                continue
            _refuse_read_only(target)
            new = _beside(target, temporary)
            new.write_bytes(data)
            new.chmod(target.stat().st_mode if target.exists() else 0o666 & ~_umask())
            staged.append((path, target, new, _kept(target, temporary) if len(contents) > 1 else None))
        for path, target, new, old in staged:
            at = path
            new.replace(target)
            replaced.append((target, old))
    except BaseException as failure:
        _restore(replaced)
        if isinstance(failure, OSError):
            raise OSError(failure.errno, failure.strerror or str(failure), str(at)) from failure
        raise
    finally:
        for path in temporary:
            with contextlib.suppress(OSError):
                path.unlink()


def _restore(replaced: Sequence[tuple[Path, Path | None]]) -> None:
    for target, old in reversed(replaced):
        with contextlib.suppress(OSError):
            if old is None:
                target.unlink()
            else:
                old.replace(target)


def _beside(target: Path, temporary: list[Path]) -> Path:
    """A new empty file in the folder of another one."""
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    os.close(descriptor)
    temporary.append(Path(name))
    return Path(name)


def _kept(target: Path, temporary: list[Path]) -> Path | None:
    """What the file has now, under another name; None where it does not exist."""
    if not target.exists():
        return None
    path = _beside(target, temporary)
    path.unlink()
    try:
        path.hardlink_to(target)
    except (OSError, NotImplementedError):
        shutil.copy2(target, path)
    return path


def _refuse_read_only(target: Path) -> None:
    """A new file in its place would not ask whether the old one may be written: neither would the superuser."""
    if target.exists() and not (target.stat().st_mode & 0o222 and os.access(target, os.W_OK)):
        raise OSError(errno.EACCES, "the file is read-only")


def _umask() -> int:
    """It can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
