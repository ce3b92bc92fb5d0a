"""Ends calls into a solver that go on for too long, by the processor time of the process and not by the clock: what
is decided does not depend on what else the machine is doing.

One thread of the process watches one call at a time; it needs the call to release Python's global lock, as calls
through ``ctypes`` do.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass

_INTERVAL = 0.25
"""Seconds between two looks at the time that is spent."""
_IDLE_LOOKS = 8
"""Looks at which no call was watched, after which the thread sleeps until there is one."""


@dataclass(slots=True)
class Watched:
    """A call that is watched."""

    end: float
    """By `time.process_time`."""
    interrupt: Callable[[], object]
    was_interrupted: bool = False


class _Watch:
    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._call: Watched | None = None
        self._thread: threading.Thread | None = None
        self._sleeps = False

    def begin(self, call: Watched) -> None:
        with self._changed:
            self._call = call
            if self._thread is None or not self._thread.is_alive():  # as in a process that was forked
                self._thread = threading.Thread(target=self._run, name="solver-time", daemon=True)
                self._thread.start()
            elif self._sleeps:
                self._changed.notify()

    def finish(self) -> None:
        with self._changed:
            self._call = None

    def _run(self) -> None:
        # To wake up for each of thousands of short calls would cost more than they do.
        idle = 0
        with self._changed:
            while True:
                self._sleeps = idle > _IDLE_LOOKS
                self._changed.wait(None if self._sleeps else _INTERVAL)
                call = self._call
                idle = 0 if call is not None else idle + 1
                if call is not None and time.process_time() >= call.end:
                    call.was_interrupted = True
                    call.interrupt()
                    self._call = None


_watch = _Watch()


@contextmanager
def limited(seconds: float, interrupt: Callable[[], object]) -> Generator[Watched, None, None]:
    """Watch the call that is made inside, and call ``interrupt`` from another thread when the process has spent this
    much processor time since, a quarter of a second later at most. The interrupt may come when the call has just ended:
    `Watched.was_interrupted` tells. Not for several threads at a time."""
    call = Watched(time.process_time() + seconds, interrupt)
    _watch.begin(call)
    try:
        yield call
    finally:
        _watch.finish()
