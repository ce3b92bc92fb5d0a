"""Byte-addressed memory of a launch: objects, instances of them per block or thread, and contents drawn from a seed.

A pointer is one integer. Every object owns a stretch of 2**48 addresses around its first byte, so any plausible offset,
negative or past the end, still tells which object it was computed from. Shared objects have the same addresses in every
block and local ones in every thread: the instance is chosen at the access. Addresses of shared objects are below 2**31,
as the hardware's are: programs keep them in 32-bit integers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from analyzers.ir.kernel import Kernel, MemObject
from analyzers.reference.evaluate import RANK_SHIFT, own_address, text_number
from analyzers.reference.launch import ConcreteLaunch, Contents, block_at_rank, mix

_STRETCH = 48
_MIDDLE = 1 << (_STRETCH - 1)
_SHARED_STRETCH = 24
"""Many times the largest shared memory; 127 objects."""
_SHARED_END = 1 << 31


@dataclass(slots=True)
class ObjectEntry:
    """One object of the address space. ``number`` is its position there."""

    number: int
    name: str
    space: str
    size: int | None
    element: int
    base: int
    """The pointer to its first byte."""
    initial: Contents | None = None
    read_only: bool = False

    @property
    def private(self) -> bool:
        """Each thread has its own."""
        return self.space in ("local", "param")


class AddressSpace:
    """The objects of a launch and the pointers to them."""

    def __init__(self, kernel: Kernel, launch: ConcreteLaunch) -> None:
        self.entries: list[ObjectEntry] = []
        self.shared: list[ObjectEntry] = []
        self.by_name: dict[str, ObjectEntry] = {}
        self.pointers: dict[str, int] = {}
        for o in kernel.objects:
            self._declare(o, launch)
        for name, (allocation, offset) in launch.aliases.items():
            target = self.by_name.get(allocation) or self.add(allocation, "global", 4, launch.arrays.get(allocation))
            self.pointers[name] = target.base + offset

    def _declare(self, o: MemObject, launch: ConcreteLaunch) -> None:
        entry = self.add(o.name, o.space, max(o.element, 1), launch.arrays.get(o.name))
        entry.size = (launch.dynamic_shared or None) if o.kind == "dynamic" else o.size
        entry.read_only = o.read_only

    def add(self, name: str, space: str, element: int, initial: Contents | None = None) -> ObjectEntry:
        """A new object of unknown size."""
        number = len(self.entries)
        base = (number + 1 << _STRETCH) + _MIDDLE
        low = (len(self.shared) + 1 << _SHARED_STRETCH) + (1 << (_SHARED_STRETCH - 1))
        in_low = space == "shared" and low < _SHARED_END
        entry = ObjectEntry(number, name, space, None, element, low if in_low else base, initial)
        self.entries.append(entry)
        if in_low:
            self.shared.append(entry)
        self.by_name[name] = entry
        return entry

    def address(self, name: str) -> int:
        """The pointer that ``addr(name)`` stands for."""
        found = self.pointers.get(name)
        if found is None:
            entry = self.by_name.get(name) or self.add(name, "global", 4)
            found = self.pointers[name] = entry.base
        return found

    def find(self, pointer: int) -> tuple[ObjectEntry, int]:
        """The object that a pointer was computed from, and the byte offset."""
        pointer = own_address(pointer)
        if 0 <= pointer < _SHARED_END:
            number = (pointer >> _SHARED_STRETCH) - 1
            if 0 <= number < len(self.shared):
                entry = self.shared[number]
                return entry, pointer - entry.base
        number = (pointer >> _STRETCH) - 1
        if 0 <= number < len(self.entries):
            entry = self.entries[number]
        else:
            entry = self.by_name.get("<wild>") or self.add("<wild>", "global", 4)
        return entry, pointer - entry.base

    def pointee(self, entry: ObjectEntry, offset: int) -> int:
        """What a pointer points to that nobody stored at this place: an object of its own."""
        return self.address(f"{entry.name}[{offset}]")


def shared_instance(pointer: int, block: int, launch: ConcreteLaunch) -> int:
    """The block whose shared memory a pointer of ``block`` goes to, by linear number; -1 where there is none."""
    rank = (pointer >> RANK_SHIFT) - 1
    if rank < 0:
        return block
    found = block_at_rank(block, rank, launch)
    return -1 if found is None else found


class InitialBytes:
    """The initial bytes of objects, drawn from the launch's arrays and seed."""

    __slots__ = ("high", "low", "names", "seed")

    def __init__(self, launch: ConcreteLaunch) -> None:
        self.seed = launch.seed
        self.low, self.high = launch.data_range
        self.names: dict[int, int] = {}

    def byte(self, entry: ObjectEntry, offset: int, instance: int) -> int:
        """The byte that is at ``offset`` before anybody writes there."""
        given = entry.initial
        if given is not None and offset >= 0:
            if isinstance(given, bytes):
                if offset < len(given):
                    return given[offset]
            elif offset // entry.element < len(given):
                value = given[offset // entry.element]
                return value >> 8 * (offset % entry.element) & 0xFF
        name = self.names.get(entry.number)
        if name is None:
            name = self.names[entry.number] = text_number(entry.name)
        number = mix(self.seed, name, instance, offset // entry.element)
        value = self.low + number % (self.high - self.low + 1)
        return value >> 8 * (offset % entry.element) & 0xFF


class Memory:
    """Contents of every object instance, byte by byte."""

    def __init__(self, space: AddressSpace, launch: ConcreteLaunch) -> None:
        self.space = space
        self.initial = InitialBytes(launch)
        self.cells: dict[tuple[int, int], dict[int, int]] = {}

    def instance(self, entry: ObjectEntry, instance: int) -> dict[int, int]:
        key = (entry.number, instance)
        found = self.cells.get(key)
        if found is None:
            found = self.cells[key] = {}
        return found

    def written(self, entry: ObjectEntry, instance: int, offset: int, width: int) -> bool:
        """Whether any of the bytes was written, or given by the launch."""
        cells = self.instance(entry, instance)
        return entry.initial is not None or any(offset + i in cells for i in range(width))

    def read(self, entry: ObjectEntry, instance: int, offset: int, width: int) -> int:
        """The unsigned little-endian value of ``width`` bytes."""
        cells = self.instance(entry, instance)
        value = 0
        # By-value parameters are the same for every thread until one changes its copy.
        source = 0 if entry.space == "param" else instance
        for i in range(width):
            byte = cells.get(offset + i)
            if byte is None:
                byte = cells[offset + i] = self.initial.byte(entry, offset + i, source)
            value |= byte << 8 * i
        return value

    def write(self, entry: ObjectEntry, instance: int, offset: int, width: int, value: int) -> None:
        cells = self.instance(entry, instance)
        for i in range(width):
            cells[offset + i] = value >> 8 * i & 0xFF

    def final(self) -> Mapping[tuple[int, int], Mapping[int, int]]:
        """(object number, instance) -> byte offset -> byte, of every byte read or written."""
        return self.cells
