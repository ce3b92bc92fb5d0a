"""The disk cache of results: JSON files in the user's cache directory, one per checked unit, named by content.

A key covers everything that goes into a check but the files that the unit includes; those are listed in the entry with
their hashes and compared when it is read. Two servers may use the cache at once: files are written whole and renamed
into place, and whatever cannot be read is a miss. A full disk or a read-only directory only turns the cache off.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import sys
import tempfile
import zlib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

DIRECTORY_VARIABLE = "CUDA_LSP_CACHE_DIR"
_MAXIMAL_BYTES = 64 << 20
_MAXIMAL_AGE_S = 60 * 24 * 3600

_log = logging.getLogger(__name__)


def default_directory() -> Path:
    """Where this user's caches live, by the custom of the system; the environment variable above overrides it."""
    named = os.environ.get(DIRECTORY_VARIABLE)
    if named:
        return Path(named)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "cuda-lsp"


@cache
def program_stamp() -> str:
    """A hash that changes whenever the code that computes results does, so that no result outlives it."""
    root = Path(__file__).parent.parent
    digest = hashlib.sha256(sys.version.encode())
    for package in ("analyzers", "quickfix"):
        for path in sorted((root / package).rglob("*")):
            if path.is_file() and path.suffix != ".pyc":
                state = path.stat()
                digest.update(f"{path.relative_to(root)} {state.st_size} {state.st_mtime_ns}\n".encode())
    # What makes an entry of a result.
    for name in (
        "wire.py",
        "worker.py",
        "lookups.py",
        "workspace/sought.py",
        "workspace/includers.py",
        "workspace/program_index.py",
        "workspace/programs.py",
    ):
        digest.update((root / "cuda_lsp" / name).read_bytes())
    return digest.hexdigest()


def key_of(*parts: object) -> str:
    """A name for the JSON-able parts of a request."""
    text = json.dumps([program_stamp(), *parts], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def file_digest(path: str) -> str | None:
    """The hash of a file's bytes, the same as of its text in a buffer; None where there is no such file."""
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError:
        return None


def changed_since(path: str, nanoseconds: int) -> bool:
    """Whether a file was modified, moved here or deleted at or after a time of `time.time_ns()`, allowing for coarse
    file times."""
    try:
        state = Path(path).stat()
    except OSError:
        return True
    # On Windows the second is the time of creation, which does no harm.
    return max(state.st_mtime_ns, state.st_ctime_ns) >= nanoseconds - 20_000_000


def digest_seen(path: str, nanoseconds: int) -> str | None:
    """The hash of a file that was read after a time of `time.time_ns()`; `UNSURE` where it may have changed since then,
    so that who read it may have seen other bytes, or be gone."""
    digest = file_digest(path)
    # Only now: a change between two questions is seen by the second.
    return UNSURE if changed_since(path, nanoseconds) else digest


def file_stamp(path: str) -> tuple[int, int, int] | None:
    """What differs after a file has changed; None where there is none."""
    try:
        state = Path(path).stat()
    except OSError:
        return None
    return state.st_mtime_ns, state.st_ctime_ns, state.st_size


class DiskCache:
    """Entries by key. Every operation succeeds; failures are misses."""

    def __init__(self, directory: Path | None) -> None:
        """None: no cache."""
        self._directory = directory

    def read(self, kind: str, key: str) -> Any:
        """The entry, or None."""
        if self._directory is None:
            return None
        path = self._path(kind, key)
        try:
            data = json.loads(zlib.decompress(path.read_bytes()))
            os.utime(path)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, zlib.error) as error:
            _log.info("unreadable cache entry %s: %s", path, error)
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        return data

    def write(self, kind: str, key: str, entry: Any) -> None:
        if self._directory is None:
            return
        path = self._path(kind, key)
        data = zlib.compress(json.dumps(entry, separators=(",", ":")).encode(), 1)
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(data)
                Path(temporary).replace(path)
            except OSError:
                with contextlib.suppress(OSError):
                    Path(temporary).unlink()
                raise
        except OSError as error:
            _log.warning("the cache in %s is off: %s", self._directory, error.strerror or error)
            self._directory = None

    def prune(self) -> None:
        """Delete the entries used longest ago until the cache has its size; meant for an idle moment."""
        if self._directory is None:
            return
        try:
            found = [
                (state.st_mtime, state.st_size, path)
                for path in self._directory.rglob("*")
                if path.is_file() and (state := path.stat())
            ]
        except OSError:
            return
        newest = max((mtime for mtime, _, _ in found), default=0.0)
        total = 0
        for mtime, size, path in sorted(found, reverse=True):
            total += size
            if total > _MAXIMAL_BYTES or newest - mtime > _MAXIMAL_AGE_S:
                with contextlib.suppress(OSError):
                    path.unlink()

    def _path(self, kind: str, key: str) -> Path:
        assert self._directory is not None
        return self._directory / kind / key[:2] / f"{key[2:]}.json.z"


UNSURE = ""
"""In place of a hash: nobody knows which text of a file was read. It equals no hash."""


def still_holds(dependencies: Iterable[tuple[str, str | None]], unsaved: Mapping[str, str]) -> bool:
    """Whether files have the hashes that an entry lists; `unsaved` gives the hashes of open buffers by path."""
    return all((unsaved.get(path) or file_digest(path)) == digest for path, digest in dependencies)
