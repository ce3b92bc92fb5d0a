"""The detector as Python sees it: memory for its state, `consume` for batches of records, `races` for the result."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gpu_runner.detector import shadow, synchronization
from gpu_runner.detector.clocks import ROLES, Clocks
from gpu_runner.detector.synchronization import BARRIERS, PAGE_BITS, Batch, Kind, Location, State
from gpu_runner.native.library import Library
from gpu_runner.native.structs import Struct, allocate, dtype_of

CELL = dtype_of(shadow.Cell)
RACES = 1024
"""Pairs of sites that are listed; further ones are counted."""


PLACEMENTS: Final = 64
"""Ways in which memory may be divided that are told apart: bits of a word."""


@dataclass(frozen=True, slots=True)
class Silent:
    """What of the shared memory of a block may be read before anybody has written it, in ranges (first byte, end)."""

    always: tuple[tuple[int, int], ...] = ()
    placed: tuple[tuple[tuple[int, int], ...], ...] = ()
    """What else, if memory is divided in one way or another, of at most `PLACEMENTS`: all that is read has to fit one
    of them."""


NOTHING_SILENT: Final = Silent()


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of what is watched."""

    blocks: int
    threads_per_block: int
    shift: int
    """Threads are numbered ``block << shift | thread``."""
    global_base: int
    global_size: int
    shared_base: int
    shared_size: int
    slots: int
    """Blocks that may be under way at once; each has shared memory of its own."""
    clustered: bool = False
    """Blocks get to the shared memory of others."""
    agents: bool = False
    """Every thread has an agent for its asynchronous copies, numbered ``blocks + block << shift | thread``."""
    silent: Silent = NOTHING_SILENT


def _pages(size: int, large: bool = True) -> mmap.mmap:
    """So many bytes of zeros, of which the system gives what is touched; `large`: in large pages where it has them. In
    small ones the first touch of shadow memory, a page for 85 words, takes longer than all that is checked there.
    Raises MemoryError."""
    if not hasattr(mmap, "MAP_PRIVATE"):
        return mmap.mmap(-1, size)
    # What is shared, which is Python's choice, ends where it ended when it was made, however large the map becomes.
    try:
        pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        raise MemoryError(f"{size} bytes of shadow memory") from error
    if large and hasattr(mmap, "MADV_HUGEPAGE"):
        with contextlib.suppress(OSError):
            pages.madvise(mmap.MADV_HUGEPAGE)
    return pages


class Memory:
    """A structure with the arrays that its fields point to."""

    def __init__(self, struct: type[Struct]) -> None:
        self.struct = struct
        self.value = allocate(struct)
        self.arrays: dict[str, NDArray[Any]] = {}
        self._pages: dict[str, mmap.mmap] = {}

    @property
    def address(self) -> int:
        return int(self.value.ctypes.data)

    def attach(self, name: str, array: NDArray[Any]) -> None:
        self.arrays[name] = array
        self.value[name] = array.ctypes.data

    def point(self, name: str, other: Memory) -> None:
        self.value[name] = other.address

    def grow(self, name: str, count: int, used: int) -> None:
        """At least so many elements, of which the first `used` are kept; those behind have to be zero, and are. The
        system gives memory for what is touched only, and larger pieces of the address space without copying."""
        held = len(self.arrays[name])
        if held >= count:
            return
        dtype = self.arrays[name].dtype
        count = max(2 * held, count)
        pages = self._pages.get(name)
        kept = None
        if pages is not None:
            # Nobody else may look at the pages while they move; where somebody does, or the system cannot, they are
            # copied.
            self.arrays[name] = np.empty(0, dtype)
            with contextlib.suppress(BufferError, OSError, SystemError, ValueError):
                pages.resize(count * dtype.itemsize)
            kept = np.frombuffer(pages, dtype)
        else:
            kept = self.arrays[name]
        if len(kept) < count:
            pages = self._pages[name] = _pages(count * dtype.itemsize)
            bigger = np.frombuffer(pages, dtype)
            bigger[:used] = kept[:used]
            kept = bigger
        self.attach(name, kept)

    def __getitem__(self, name: str) -> int:
        return int(self.value[name][0])

    def __setitem__(self, name: str, value: int) -> None:
        self.value[name] = value


class Detector:
    """One run's detector, or one of several for a run (`detector.shards`). `sites` has the kind, size, order, scope
    and width of each site (see `gpu_runner.cpu.sites`)."""

    def __init__(self, shape: Shape, sites: NDArray[np.void], shards: int = 1) -> None:
        self.records = 0
        self._shape = shape
        blocks = shape.blocks * (1 + shape.agents)
        self.table = allocate(shadow.Race, RACES + 1)
        self.clocks = _clocks(shape)
        words = -(-shape.shared_size // 4)
        pages = -(-shape.global_size >> PAGE_BITS)
        self._main = self._shadow(-(-pages // shards) << PAGE_BITS - 2)
        # The blocks are dealt out, and each detector has slots for its own.
        slots = -(-shape.slots // shards)
        self._shared = self._shadow(max(1, words * slots), large=shards == 1)
        # Agents count as of another block: their times are not among those that a barrier of the block makes known.
        self._shared["private"] = int(not shape.agents and not shape.clustered)
        self._main["private"] = int(shape.blocks == 1 and not shape.agents)
        self._shared["base"] = shape.shared_base
        self._shared["placements"] = (1 << max(1, len(shape.silent.placed))) - 1
        self._shared.attach("silent", _silent(shape.silent, 4 * words))
        self._access = Memory(shadow.Access)
        state = self._state = Memory(State)
        for name, memory in (("main", self._main), ("shared", self._shared), ("clocks", self.clocks)):
            state.point(name, memory)
        state.point("access", self._access)
        state["global_base"], state["global_size"] = shape.global_base, shape.global_size
        state["shards"] = shards
        state["shared_base"], state["shared_words"] = shape.shared_base, words
        state.attach("slot_of_block", np.zeros(blocks, np.int32))
        state.attach("block_of_slot", np.zeros(slots, np.int32))
        state["has_agents"], state["agents"] = int(shape.agents), shape.blocks
        state.attach("arrivals", np.zeros(shape.blocks << shape.shift if shape.agents else 1, np.int32))
        state.attach("meetings", np.zeros(shape.blocks * BARRIERS, np.int32))
        state.attach("members", np.zeros(shape.threads_per_block, np.uint32))
        state.attach("locations", allocate(Location, 1 << 12))
        state["location_mask"] = (1 << 12) - 1
        for name in ("kind", "size", "order"):
            state.attach(f"{name}s", np.ascontiguousarray(sites[name]))
        state.attach("flags", _flags(sites))
        self._batch = Memory(Batch)
        address = CODE.address("consume")
        word, pointer = ctypes.c_int64, ctypes.c_void_p
        self._consume = ctypes.CFUNCTYPE(word, pointer, pointer, word, word)(address)

    def _shadow(self, words: int, large: bool = True) -> Memory:
        memory = Memory(shadow.Shadow)
        memory.attach("cells", np.frombuffer(_pages(max(1, words) * CELL.itemsize, large), CELL))
        memory.attach("split", allocate(shadow.Cell, 1024))
        memory.attach("nodes", allocate(shadow.Node, 1024))
        memory.attach("races", self.table)
        memory["race_rows"] = RACES
        return memory

    def consume(self, records: NDArray[np.uint64]) -> None:
        """Take a batch of records, three 64-bit words each, in order."""
        self.records += len(records)
        self._batch.attach("records", np.ascontiguousarray(records))
        # A record touches at most three words and leaves at most 5 nodes for each of their bytes; splitting a word
        # copies its list four times, which is what the rest is for.
        for memory in (self._main, self._shared):
            room = 12 * len(records) + 4096
            split, nodes = memory["split_used"], memory["nodes_used"]
            memory.grow("split", split + room, split)
            memory.grow("nodes", 5 * nodes + 2 * room, nodes)
        at = 0
        while at < len(records):
            at = int(self._consume(self._state.address, self._batch.address, at, len(records)))
            if at < len(records):
                self._make_room()

    def _make_room(self) -> None:
        state, clocks = self._state, self.clocks
        if 2 * (state["locations_used"] + 4) >= state["location_mask"]:
            _rehash(state)
            return
        for name in ("keys", "values", "start", "length", "capacity", "lanes"):
            length = len(clocks.arrays[name])
            clocks.grow(name, 2 * length, length)
        _sizes(clocks)

    def races(self) -> NDArray[np.void]:
        """Rows of `shadow.Race`, in the order of their sites. Writes count as of the same value where all bytes agree,
        and a read of unwritten memory only where nobody writes it at the same time, which is a race already."""
        return worth_telling(self.rows())

    def rows(self) -> NDArray[np.void]:
        """All that was seen, in the order of sites."""
        found = self._told(self.table[:-1])
        return np.sort(found[found["count"] > 0], order=["first_site", "second_site", "relation"])

    def _told(self, rows: NDArray[np.void]) -> NDArray[np.void]:
        """Agents told as their threads."""
        if not self._shape.agents:
            return rows
        agents, shift = self._shape.blocks << self._shape.shift, self._shape.shift
        told: NDArray[np.void] = np.array(rows)
        for number in range(len(rows)):
            first, second = int(rows["first"][number]), int(rows["second"][number])
            if max(first, second) < agents:
                continue
            first, second = first % agents, second % agents
            relation = shadow.SAME_BLOCK if first >> shift == second >> shift else shadow.OTHER_BLOCK
            relation = shadow.SAME_WARP if first >> 5 == second >> 5 else relation
            told["first"][number], told["second"][number] = first, second
            told["relation"][number] = (int(rows["relation"][number]) & ~15) | relation
        return told

    @property
    def not_listed(self) -> int:
        """Races for which the table had no room."""
        return int(self.table[-1]["count"])


def worth_telling(found: NDArray[np.void]) -> NDArray[np.void]:
    """The rows of a run that say more than others do: see `Detector.races`."""
    pairs = {_pair(row) for row in found}
    racing = {int(row["second_site"]) for row in found if int(row["kinds"]) & 15 != shadow.UNWRITTEN}
    racing |= {int(row["first_site"]) for row in found if int(row["kinds"]) & 15 != shadow.UNWRITTEN}
    kept = [
        not (int(row["relation"]) & shadow.SAME_VALUE and _pair(row, shadow.SAME_VALUE) in pairs)
        and not (int(row["kinds"]) & 15 == shadow.UNWRITTEN and int(row["second_site"]) in racing)
        for row in found
    ]
    return found[np.array(kept, bool)]


def merged(parts: Sequence[NDArray[np.void]]) -> NDArray[np.void]:
    """The rows of several detectors as those of one: each pair once, as the first of them saw it, with all counts."""
    if len(parts) == 1:
        return parts[0]
    found = np.concatenate(parts)
    first: dict[tuple[int, int, int, int], int] = {}
    for at in range(len(found)):
        known = first.setdefault(_pair(found[at]), at)
        if known != at:
            found["count"][known] += found["count"][at]
    return np.sort(found[list(first.values())], order=["first_site", "second_site", "relation"])


def _pair(row: np.void, without: int = 0) -> tuple[int, int, int, int]:
    """What makes two races the same one, with some bits of the relation left out."""
    relation = int(row["relation"]) & ~without
    return int(row["first_site"]), int(row["second_site"]), int(row["kinds"]), relation


def _silent(silent: Silent, size: int) -> NDArray[np.uint64]:
    """By byte: the placements with which it may be read unwritten, a bit each."""
    found = np.zeros(max(1, size), np.uint64)
    for number, ranges in enumerate(silent.placed):
        for first, end in ranges:
            found[first:end] |= np.uint64(1 << number)
    for first, end in silent.always:
        found[first:end] = np.uint64((1 << PLACEMENTS) - 1)
    return found


def _flags(sites: NDArray[np.void]) -> NDArray[np.uint8]:
    flags = np.where(sites["order"] > 0, shadow.STRONG, 0)
    flags |= np.where(sites["scope"] > 1, shadow.DEVICE, 0)
    flags |= np.where(sites["kind"] == Kind.ATOMIC, shadow.ATOMIC, 0)
    flags |= np.where((sites["order"] > 0) & (sites["wide"] > 0), shadow.WIDE, 0)
    return flags.astype(np.uint8)


def _clocks(shape: Shape) -> Memory:
    """Every thread is at time 1 and knows nothing of the others."""
    memory = Memory(Clocks)
    blocks = shape.blocks * (1 + shape.agents)
    threads = blocks << shape.shift
    memory["shift"], memory["threads_per_block"] = shape.shift, shape.threads_per_block
    for name in ("own", "warp"):
        memory.attach(name, np.zeros(threads, np.uint32))
    for name in ("block", "latest"):
        memory.attach(name, np.zeros(blocks, np.uint32))
    memory.attach("scattered", np.zeros(blocks, np.uint8))
    memory.attach("row", np.zeros(threads, np.int32))
    memory.attach("lanes", np.zeros(32 * 256, np.uint32))
    memory.attach("sparse", np.zeros(threads * ROLES, np.int32))
    memory.attach("common", np.zeros(blocks * ROLES, np.int32))
    slots = 4 * shape.threads_per_block + 1024
    for name in ("start", "length", "capacity"):
        memory.attach(name, np.zeros(slots, np.int64))
    memory.attach("keys", np.zeros(1 << 16, np.uint64))
    memory.attach("values", np.zeros(1 << 16, np.uint32))
    _sizes(memory)
    return memory


def _sizes(clocks: Memory) -> None:
    clocks["pool_size"], clocks["slots_size"] = len(clocks.arrays["keys"]), len(clocks.arrays["start"])
    clocks["rows_size"] = len(clocks.arrays["lanes"]) // 32


def _rehash(state: Memory) -> None:
    old = state.arrays["locations"]
    fresh = allocate(Location, 2 * len(old))
    mask = len(fresh) - 1
    for row in old[old["key"] != 0]:
        at = _hash(int(row["key"]), int(row["block"])) & mask
        while fresh["key"][at] != 0:
            at = (at + 1) & mask
        fresh[at] = row
    state.attach("locations", fresh)
    state["location_mask"] = mask


def _hash(key: int, block: int) -> int:
    """As `synchronization.row_of` has it, in 64 bits with sign."""
    value = (key * 0x9E3779B97F4A7C1 + block * 977) & (1 << 64) - 1
    return (value - (1 << 64) if value >> 63 else value) >> 20


CODE: Final = Library([synchronization.consume])
"""The detector."""


RECORD_DTYPE = dtype_of(synchronization.Record)
