"""How a worker process is started, and one that is started ahead.

A worker loads for most of a second, and so does the server. `Ahead` lets both load at once, so nothing here imports
more than the standard library, and little of that.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Sequence


def command(engine: str, log_level: str) -> list[str]:
    """The command that starts a worker with this process's interpreter and search path.

    Not `-m`: that would search the working directory, the user's project, for modules first."""
    paths = [path for path in sys.path if path]
    code = f"import sys; sys.path[:] = {paths!r}; from cuda_lsp.worker import main; sys.exit(main())"
    return [sys.executable, "-c", code, "--engine", engine, "--log-level", log_level]


def spawn(words: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start a worker with pipes to all its streams. Raises OSError."""
    return subprocess.Popen(
        words,
        env=_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )


def _environment() -> dict[str, str]:
    """One thread per numerical library and few malloc arenas: the work is serial, and the memory is not free."""
    return {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "MALLOC_ARENA_MAX": "2",
        "PYTHONIOENCODING": "utf-8",
    }


class Ahead:
    """A worker that was started before anybody knew how it would be wanted."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = list(words)
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        try:
            self._process = spawn(self._words)
        except OSError:
            # Whoever starts the next one meets the same error, where it can be reported.
            self._words = []

    def claim(self, words: Sequence[str]) -> subprocess.Popen[bytes] | None:
        """The process, once, if it was started with these words; one that was started with others is ended."""
        process = self._taken()
        if process is None or self._words == list(words):
            return process
        _end(process)
        return None

    def discard(self) -> None:
        """End the process unless it was claimed."""
        process = self._taken()
        if process is not None:
            _end(process)

    def _taken(self) -> subprocess.Popen[bytes] | None:
        with self._lock:
            process, self._process = self._process, None
        return process


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate()
