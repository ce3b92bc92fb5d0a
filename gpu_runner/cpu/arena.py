"""Global and constant memory of a run: one piece of this process's memory, and which bytes of it are allocated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpu_runner.cpu.layout import GLOBAL_BASE, GRANULE
from gpu_runner.cpu.variables import aligned


@dataclass(frozen=True, slots=True)
class Allocation:
    """An array of global memory: the buffer of a parameter, or a variable."""

    name: str
    address: int
    """Generic."""
    size: int


class Arena:
    """Memory for allocations of known sizes. Each begins at a granule, with an invalid granule or more behind it."""

    def __init__(self, size: int) -> None:
        self.size = aligned(max(size, GRANULE), GRANULE)
        self._memory = np.zeros(self.size + 64, np.uint8)
        self._skew = -self._memory.ctypes.data % 64
        self.granules = np.zeros(self.size // GRANULE, np.uint16)
        self.allocations: list[Allocation] = []
        self._top = 0

    @property
    def machine_address(self) -> int:
        return self._memory.ctypes.data + self._skew

    @staticmethod
    def space_for(size: int) -> int:
        """What an allocation of `size` bytes takes of the arena. A large one gets as much again behind it, so that an
        index that is off by a row does not fall into the next array."""
        return aligned(max(size, 1), GRANULE) + GRANULE * max(1, min(size // GRANULE, 256))

    def allocate(self, name: str, size: int) -> Allocation:
        found = Allocation(name, GLOBAL_BASE + self._top, size)
        self._top += self.space_for(size)
        if self._top > self.size:
            raise MemoryError("the arena is full")
        self.mark(found)
        return found

    def reserve(self, size: int) -> int:
        """The address of so many bytes of which none is valid yet."""
        address = GLOBAL_BASE + self._top
        self._top += aligned(size, GRANULE)
        if self._top > self.size:
            raise MemoryError("the arena is full")
        return address

    def unmark(self, allocation: Allocation) -> None:
        """Make the bytes of an allocation invalid."""
        first = (allocation.address - GLOBAL_BASE) // GRANULE
        self.granules[first : first + -(-allocation.size // GRANULE)] = 0

    def mark(self, allocation: Allocation) -> None:
        """Make the bytes of an allocation valid."""
        first = (allocation.address - GLOBAL_BASE) // GRANULE
        full, rest = divmod(allocation.size, GRANULE)
        self.granules[first : first + full] = GRANULE
        if rest:
            self.granules[first + full] = rest
        self.allocations.append(allocation)
        self._top = max(self._top, allocation.address - GLOBAL_BASE + self.space_for(allocation.size))

    def write(self, address: int, data: bytes) -> None:
        start = address - GLOBAL_BASE + self._skew
        self._memory[start : start + len(data)] = np.frombuffer(data, np.uint8)

    def read(self, address: int, size: int) -> bytes:
        start = address - GLOBAL_BASE + self._skew
        return self._memory[start : start + size].tobytes()

    def text(self, address: int, limit: int = 4096) -> str:
        """A string that ends with a zero; what cannot be read is left out."""
        offset = address - GLOBAL_BASE
        if not 0 <= offset < self.size:
            return ""
        data = self.read(address, min(limit, self.size - offset))
        return data.split(b"\0")[0].decode("utf-8", "replace")

    def find(self, address: int) -> Allocation | None:
        """The allocation that holds an address, or the last one before it within its surroundings."""
        best: Allocation | None = None
        for allocation in self.allocations:
            if allocation.address <= address < allocation.address + self.space_for(allocation.size):
                best = allocation
        return best

    def nearest(self, address: int) -> Allocation | None:
        """The same, or the one that begins behind an address which is in none, where that is nearer."""
        before = self.find(address)
        if before is not None and address < before.address + before.size:
            return before
        behind = min((a for a in self.allocations if a.address > address), key=lambda a: a.address, default=None)
        if behind is None or behind.address - address > GRANULE:
            return before
        if before is not None and address - before.address - before.size < behind.address - address:
            return before
        return behind
