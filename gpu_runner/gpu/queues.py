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


@dataclass(frozen=True, slots=True)
class Segment:
    """What was taken out of a queue, as 64-bit words."""

    queue: int
    words: NDArray[np.uint64]


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
        self._ring = device.pinned(ring_units * UNIT)
        self._taken = [0] * count
        self._symbols = symbols

    def close(self) -> None:
        device = self._device
        device.free(self._memory)
        for array in (self._heads, self._reads, self._ring):
            device.unpin(int(array.ctypes.data))

    def reset(self) -> None:
        """Begin anew, for another run."""
        self._device.write(self._memory, bytes(self._begin))
        noted = np.full(self._symbols, NOT_NOTED, np.uint64)
        self._device.write(self._memory + self._places["symbols"], noted.tobytes())
        self._reads[:] = 0
        self._taken = [0] * self.count

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

    def drain(self, stopped: bool = False) -> list[Segment]:
        """Take what has been published, and give the room back."""
        device = self._device
        device.fetch(int(self._heads.ctypes.data), self._memory + self._places["heads"], self._heads.nbytes)
        device.settle()
        commits = _as_words(self._heads)[COMMIT // 8 :: HEAD_BYTES // 8]
        found: list[Segment] = []
        for queue in np.flatnonzero(commits != np.array(self._taken, np.uint64)).tolist():
            found.append(Segment(queue, self._take(queue, int(commits[queue]))))
        if found and not stopped:
            self._reads[:] = self._taken
            self._give_back()
        return found

    def _take(self, queue: int, end: int) -> NDArray[np.uint64]:
        """Copy units out of the ring, in one or two pieces."""
        units, at = self._ring_units, self._taken[queue]
        ring = self._memory + self._places["rings"] + queue * units * UNIT
        host, done = int(self._ring.ctypes.data), 0
        while at < end:
            place = at % units
            count = min(end - at, units - place)
            self._device.fetch(host + done * UNIT, ring + place * UNIT, count * UNIT)
            at, done = at + count, done + count
        self._device.settle()
        self._taken[queue] = end
        words: NDArray[np.uint64] = np.array(_as_words(self._ring)[: done * UNIT // 8])
        return words


def _as_words(array: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """The same memory, 8 bytes at a time."""
    words: NDArray[np.uint64] = np.frombuffer(array, np.uint64)
    return words
