"""Records on their way from the executor to the detector, which works through them in a thread of its own.

Both are machine code that runs without the interpreter's lock, so on two cores the one executes while the other checks.
The records stay in order; what is found does not depend on who is faster.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gpu_runner.cpu.layout import RECORD_BYTES

Consumer = Callable[[NDArray[np.uint64]], None]

RECORDS: Final = 1 << 16
"""Records per batch."""
_BUFFERS: Final = 3


class Handover:
    """Buffers of records that the executor fills one after another, and a consumer of what is in them."""

    def __init__(self, consume: Consumer | None) -> None:
        self.records = 0
        """Handed over so far."""
        self._consume = consume
        self._free: SimpleQueue[NDArray[np.uint64]] = SimpleQueue()
        self._full: SimpleQueue[NDArray[np.uint64] | None] = SimpleQueue()
        self._failure: BaseException | None = None
        self._buffer = _buffer()
        self._thread: threading.Thread | None = None
        if consume is not None:
            for _ in range(_BUFFERS - 1):
                self._free.put(_buffer())
            self._thread = threading.Thread(target=self._work, args=(consume,), name="detector", daemon=True)
            self._thread.start()

    @property
    def begin(self) -> int:
        """Machine address of the buffer to be filled."""
        return int(self._buffer.ctypes.data)

    @property
    def end(self) -> int:
        return self.begin + self._buffer.nbytes

    def records_here(self, count: int) -> NDArray[np.uint64]:
        """The first `count` of the buffer that is being filled."""
        return self._buffer[:count]

    def give(self, count: int) -> None:
        """The first `count` records of the buffer are there; waits until another one is free."""
        self.records += count
        if self._thread is not None and count:
            self._full.put(self._buffer[:count])
            self._buffer = self._free.get()

    def close(self) -> None:
        """Wait until all is consumed. Raises what the consumer raised."""
        if self._thread is not None:
            self._full.put(None)
            self._thread.join()
            self._thread = None
        if self._failure is not None:
            raise self._failure

    def _work(self, consume: Consumer) -> None:
        while (records := self._full.get()) is not None:
            if self._failure is None:
                try:
                    consume(records)
                except BaseException as error:  # noqa: BLE001 - raised in `close`, where somebody can see it
                    self._failure = error
            base = records.base
            assert base is not None
            self._free.put(base)


def _buffer() -> NDArray[np.uint64]:
    return np.zeros((RECORDS, RECORD_BYTES // 8), np.uint64)
