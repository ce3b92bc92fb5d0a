"""A progress bar on one line of standard error, while a person watches."""

from __future__ import annotations

import time
from typing import TextIO

from cuda_lsp.cli import terminal

_CELLS = 24
_PAUSE_S = 0.1


class ProgressBar:
    """Shows how many files are done and what is being checked. Silent when the stream is no terminal."""

    def __init__(self, total: int, stream: TextIO, columns: int = 80) -> None:
        self._total = total
        self._stream = stream
        self._columns = columns
        self._is_shown = terminal.is_interactive(stream)
        self._done = 0
        self._fractions: dict[str, float] = {}
        self._last = 0.0
        self._drawn = False

    def working(self, path: str, done: int, total: int, name: str) -> None:
        """A kernel of a file is about to be checked."""
        self._fractions[path] = done / total if total else 0.0
        self._draw(f"{path}: {name}")

    def finished(self, path: str) -> None:
        self._fractions.pop(path, None)
        self._done += 1
        self._draw(path)

    def clear(self) -> None:
        """Take the bar away, before other output and at the end."""
        if self._drawn:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._drawn = False
            self._last = 0.0

    def _draw(self, what: str) -> None:
        now = time.monotonic()
        if not self._is_shown or now - self._last < _PAUSE_S:
            return
        self._last = now
        part = (self._done + sum(self._fractions.values())) / max(self._total, 1)
        filled = min(_CELLS, round(part * _CELLS))
        head = f"[{'#' * filled}{'.' * (_CELLS - filled)}] {self._done}/{self._total} "
        text = terminal.printable(what)
        room = self._columns - len(head) - 1
        if terminal.width(text) > room:
            text = "…" + text[-(room - 1) :] if room > 1 else ""
        self._stream.write(f"\r\x1b[K{head}{text}")
        self._stream.flush()
        self._drawn = True
