"""The queues of one run: their memory on the device, and how they are drained while the kernel runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gpu_runner.gpu.driver import Device
from gpu_runner.gpu.layout import COMMIT, HEAD_BYTES, LOCK_BYTES, MOST_RECORD_UNITS, STOP, STOP_LOCK, UNIT, Control

_LEAST_RING_UNITS: Final = 4 * MOST_RECORD_UNITS
RING_UNITS: Final = 1 << 15
"""1 MiB for each queue."""
NOT_NOTED: Final = (1 << 64) - 1
"""In place of the offset of a shared variable that no thread has noted yet."""


STAGING_BYTES: Final = 1 << 25
"""Of pinned memory, through which the queues are copied."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What was taken out of some queues at one time, as 64-bit words."""

    words: NDArray[np.uint64]
    queues: NDArray[np.int64]
    starts: NDArray[np.int64]
    """By position in `queues`: where its words begin."""
    ends: NDArray[np.int64]


class Queues:
    """A power of two of queues, of a power of two of units each; a block's records are in the queue of its number."""

    def __init__(self, device: Device, count: int, ring_units: int = RING_UNITS, symbols: int = 0) -> None:
        assert count & (count - 1) == 0
        assert ring_units & (ring_units - 1) == 0
        assert ring_units >= _LEAST_RING_UNITS
        self.count = count
        self._device = device
        self._ring_units = ring_units
        sizes = {
            "heads": count * HEAD_BYTES,
            "reads": count * 8,
            "locks": (STOP_LOCK + 1) * LOCK_BYTES,
            "symbols": max(8, symbols * 8),
            "rings": count * ring_units * UNIT,
        }
        self._places: dict[str, int] = {}
        total = 0
        for name, size in sizes.items():
            self._places[name] = total
            total += -(-size // 256) * 256
        self._begin = self._places["rings"]
        self._memory = device.allocate(total)
        self._heads = device.pinned(count * HEAD_BYTES)
        self._reads = _as_words(device.pinned(count * 8))
        self._staging = device.pinned(max(ring_units * UNIT, min(count * ring_units * UNIT, STAGING_BYTES)))
        self._taken: NDArray[np.int64] = np.zeros(count, np.int64)
        self._symbols = symbols

    def close(self) -> None:
        device = self._device
        device.free(self._memory)
        for array in (self._heads, self._reads, self._staging):
            device.unpin(int(array.ctypes.data))

    def reset(self) -> None:
        """Begin anew, for another run."""
        self._device.write(self._memory, bytes(self._begin))
        noted = np.full(self._symbols, NOT_NOTED, np.uint64)
        self._device.write(self._memory + self._places["symbols"], noted.tobytes())
        self._reads[:] = 0
        self._taken[:] = 0

    def control(self) -> dict[Control, int]:
        """The words of the control block that tell where all this is."""
        at = {name: self._memory + place for name, place in self._places.items()}
        return {
            Control.HEADS: at["heads"],
            Control.READS: at["reads"],
            Control.RINGS: at["rings"],
            Control.RING_UNITS: self._ring_units,
            Control.QUEUE_MASK: self.count - 1,
            Control.LOCKS: at["locks"],
            Control.SYMBOLS: at["symbols"],
        }

    def noted_symbols(self) -> list[int]:
        """The offsets of the shared variables, as the kernel has noted them."""
        data = self._device.read(self._memory + self._places["symbols"], self._symbols * 8)
        return [int(value) for value in np.frombuffer(data, np.uint64)]

    def stop(self) -> None:
        """All threads that log end. The queues are worth nothing then but for what was published before."""
        self._reads[:] = STOP
        self._give_back()
        self._device.send(
            self._memory + self._places["locks"] + STOP_LOCK * LOCK_BYTES, int(self._reads.ctypes.data), 8
        )
        self._device.settle()

    def _give_back(self) -> None:
        place = self._memory + self._places["reads"]
        self._device.send(place, int(self._reads.ctypes.data), self._reads.nbytes)
        self._device.settle()

    def drain(self, stopped: bool = False) -> Taken | None:
        """Take what has been published, as much as there is room for, and give the room in the queues back; None where
        there is nothing."""
        device = self._device
        device.fetch(int(self._heads.ctypes.data), self._memory + self._places["heads"], self._heads.nbytes)
        device.settle()
        commits = _as_words(self._heads)[COMMIT // 8 :: HEAD_BYTES // 8].astype(np.int64)
        changed = np.flatnonzero(commits != self._taken)
        ends = np.cumsum(commits[changed] - self._taken[changed])
        fits = int(np.searchsorted(ends, len(self._staging) // UNIT, side="right"))
        changed, ends = changed[:fits], ends[:fits]
        if not fits:
            return None
        done = 0
        for queue in changed.tolist():
            done = self._fetch(queue, int(commits[queue]), done)
        device.settle()
        self._taken[changed] = commits[changed]
        words: NDArray[np.uint64] = np.array(_as_words(self._staging)[: done * UNIT // 8])
        if not stopped:
            self._reads[:] = self._taken
            self._give_back()
        starts = np.concatenate(([0], ends[:-1]))
        return Taken(words, changed, starts * (UNIT // 8), ends * (UNIT // 8))

    def _fetch(self, queue: int, end: int, done: int) -> int:
        """Begin to copy units out of a ring, in one or two pieces, behind the `done` units there are; how many there
        are then."""
        units, at = self._ring_units, int(self._taken[queue])
        ring = self._memory + self._places["rings"] + queue * units * UNIT
        host = int(self._staging.ctypes.data)
        while at < end:
            place = at % units
            count = min(end - at, units - place)
            self._device.fetch(host + done * UNIT, ring + place * UNIT, count * UNIT)
            at, done = at + count, done + count
        return done


def _as_words(array: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """The same memory, 8 bytes at a time."""
    words: NDArray[np.uint64] = np.frombuffer(array, np.uint64)
    return words
