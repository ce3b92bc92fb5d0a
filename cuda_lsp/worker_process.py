"""The parent's side of one worker process: start it, send frames, hear frames, notice its end.

Nothing here imports the analysis: the server stays small. All callbacks run on the event loop; reading, decoding and
writing happen in threads of their own, so a slow or hung worker never blocks the loop. Frames are handed over in slices
of a few milliseconds.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import queue
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import BinaryIO, cast

from cuda_lsp import frames

_SLICE_S = 0.0015
_STDERR_KEPT = 40

_log = logging.getLogger(__name__)
_worker_log = logging.getLogger("cuda_lsp.worker.output")


class WorkerProcess:
    """One process, which `start` gives, called in a thread; it may raise OSError. `on_exit` is called exactly once,
    after the last frame, with the exit status and its last words."""

    def __init__(
        self,
        start: Callable[[], subprocess.Popen[bytes]],
        on_frame: Callable[[frames.Frame], None],
        on_exit: Callable[[int, str], None],
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._start = start
        self._on_frame = on_frame
        self._on_exit = on_exit
        self._process: subprocess.Popen[bytes] | None = None
        self._outgoing: queue.SimpleQueue[frames.Frame | None] = queue.SimpleQueue()
        self._incoming: deque[frames.Frame | tuple[int, str]] = deque()
        self._drain_scheduled = False
        self._lock = threading.Lock()
        self._killed = False
        self._last_words: deque[str] = deque(maxlen=_STDERR_KEPT)
        threading.Thread(target=self._live, name="worker", daemon=True).start()

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    def send(self, frame: frames.Frame) -> None:
        """Queue a frame; frames for a process that has ended are dropped."""
        self._outgoing.put(frame)

    def kill(self) -> None:
        """End the process now, whatever it does."""
        # The flag first: either this sees the process, or the thread that has just started it sees the flag.
        self._killed = True
        if self._process is not None:
            self._process.kill()

    def close(self) -> None:
        """Let the process end by itself: its input ends after the frames already queued."""
        self._outgoing.put(None)

    # Threads

    def _live(self) -> None:
        """The life of the process: started, read until its output ends, waited for."""
        try:
            # Started here, not on the loop: creating a process can take longer than the loop may wait.
            process = self._process = self._start()
            if self._killed:
                process.kill()
        except OSError as error:
            self._arrive((-1, f"cannot start {error.filename or 'it'}: {error}"))
            return
        errors = threading.Thread(
            target=self._listen, args=(cast(BinaryIO, process.stderr),), name="worker log", daemon=True
        )
        errors.start()
        threading.Thread(
            target=self._write, args=(cast(BinaryIO, process.stdin),), name="worker input", daemon=True
        ).start()
        try:
            for frame in frames.read(cast(BinaryIO, process.stdout)):
                self._arrive(frame)
        except frames.FrameError as error:
            _log.error("a worker sent no frame: %s", error)
            process.kill()
        status = process.wait()
        self._outgoing.put(None)
        errors.join(timeout=1.0)
        self._arrive((status, "\n".join(self._last_words)))

    def _write(self, stream: BinaryIO) -> None:
        with contextlib.suppress(OSError):
            while (frame := self._outgoing.get()) is not None:
                stream.write(frames.encode(frame))
                stream.flush()
        with contextlib.suppress(OSError):
            stream.close()

    def _listen(self, stream: BinaryIO) -> None:
        for line in stream:
            text = line.decode("utf-8", "replace").rstrip()
            self._last_words.append(text)
            _worker_log.info("%s", text)

    def _arrive(self, item: frames.Frame | tuple[int, str]) -> None:
        self._incoming.append(item)
        with self._lock:
            if self._drain_scheduled:
                return
            self._drain_scheduled = True
        # The loop is closed when the server is already gone.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._drain)

    def _drain(self) -> None:
        """On the loop: hand over what has come, for a few milliseconds at a time."""
        until = time.perf_counter() + _SLICE_S
        while True:
            with self._lock:
                if not self._incoming:
                    self._drain_scheduled = False
                    return
                item = self._incoming.popleft()
            if isinstance(item, tuple):
                self._on_exit(*item)
            else:
                self._on_frame(item)
            if time.perf_counter() > until:
                self._loop.call_soon(self._drain)
                return
