"""The heap of the device: what ``malloc``, ``free``, ``new`` and ``delete`` of a kernel give and take.

Pieces lie one behind the other and no address is given twice in a run, so that an access to what was freed is one
outside of every array, and no two owners of a piece seem to race.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gpu_runner.cpu.arena import Allocation, Arena
from gpu_runner.ptx import model
from gpu_runner.ptx.logged import flat

HEAP_BYTES: Final = 8 << 20
"""As CUDA has it where the program does not say otherwise (``cudaLimitMallocHeapSize``)."""


def allocates(module: model.Module) -> bool:
    """Whether a function of the module asks for memory."""
    return any(
        isinstance(statement, model.Call) and statement.target == model.Symbol("malloc")
        for function in module.functions
        for statement in flat(function.body or ())
    )


class Heap:
    """A part of global memory."""

    def __init__(self, arena: Arena, size: int) -> None:
        self._arena = arena
        self._begin = self._top = arena.reserve(size)
        self._end = self._begin + size
        self._first = len(arena.allocations)

    def clear(self) -> None:
        """As at the beginning of a run."""
        for piece in self._arena.allocations[self._first :]:
            self._arena.unmark(piece)
        del self._arena.allocations[self._first :]
        self._top = self._begin

    def allocate(self, size: int) -> int:
        """The address of so many bytes; 0 where there is no room."""
        space = Arena.space_for(size)
        if space > self._end - self._top:
            return 0
        piece = Allocation("memory of the device's heap", self._top, size)
        self._arena.mark(piece)
        self._arena.write(piece.address, bytes(size))
        self._top += space
        return piece.address

    def release(self, address: int) -> None:
        """What was not given is not taken."""
        pieces = self._arena.allocations
        for number in range(self._first, len(pieces)):
            if pieces[number].address == address:
                self._arena.unmark(pieces[number])
                pieces[number] = replace(pieces[number], name="freed memory of the device's heap")
