"""The decoder as Python sees it: bytes of the queues in, batches of records out, and what was noticed on the way."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gpu_runner.cpu.handover import Consumer
from gpu_runner.cpu.launch import Launch, Seen, Waiting
from gpu_runner.cpu.layout import FIRST_SITE, Status
from gpu_runner.cpu.machine import BARRIERS, Notice, NoticeRow
from gpu_runner.detector.detect import Memory
from gpu_runner.detector.synchronization import Record
from gpu_runner.gpu import decode
from gpu_runner.gpu.blocks import AT_BARRIER, AT_WARP_SYNC, NOT_BEGUN, Blocks, ThreadState
from gpu_runner.gpu.instrument import Instrumented
from gpu_runner.gpu.layout import LOCKS, UNIT, What
from gpu_runner.gpu.queues import Taken
from gpu_runner.native.library import Library
from gpu_runner.native.structs import allocate

_OUT: Final = 1 << 16
_NOTICES: Final = 64


@dataclass(frozen=True, slots=True)
class Mapped:
    """`size` bytes that lie at `start` on the device (in shared memory: of the block's) and at `target` here."""

    start: int
    size: int
    target: int


@dataclass(frozen=True, slots=True)
class Figures:
    """Of the records of one run."""

    records: int
    """Of warps, of every kind."""
    accesses: int
    """Of them with addresses of memory."""
    progressions: int
    """Of them with addresses in arithmetic progression: no address is listed."""
    valued: int
    value_progressions: int
    bytes: int
    """That went through the queues."""
    lanes: int
    """Single accesses in them."""


class Decoder:
    """Of one run of an instrumented kernel, or of a shard of it: of the memory whose number, pages of global and blocks
    of shared memory counted, is `shard` modulo `shards`."""

    def __init__(
        self,
        instrumented: Instrumented,
        launch: Launch,
        queues: int,
        granules: NDArray[np.uint16],
        mapped: Sequence[Mapped],
        shard: int = 0,
        shards: int = 1,
    ) -> None:
        """`granules`: the valid bytes of each granule of the arena (`cpu.arena`); `mapped`: where global
        memory lies."""
        self._launch = launch
        self._fed: object = None
        """What the rows of the queues point into."""
        blocks = self._blocks = _blocks(launch)
        state = self._state = Memory(decode.Decoding)
        state.point("blocks", blocks)
        state["queue_count"] = queues
        state["shard"], state["shards"] = shard, shards
        state["out_limit"] = _OUT
        state["arena_size"] = len(granules) * 256
        state["agents"] = launch.blocks << launch.shift
        state.attach("queues", allocate(decode.Queue, queues))
        state.attach("granules", granules)
        state.attach("what", _what(instrumented))
        state.attach("sizes", np.ascontiguousarray(instrumented.sites.table()["size"]))
        state.attach("tickets", np.zeros(LOCKS, np.int64))
        state.attach("ranges", _ranges(mapped))
        state["range_count"] = len(mapped)
        state.attach("shared", _ranges(()))
        words: NDArray[np.uint64] = np.frombuffer(blocks.arrays["out"], np.uint64)
        self._out: NDArray[np.uint64] = np.reshape(words, (-1, 3))
        word, pointer = ctypes.c_int64, ctypes.c_void_p
        self._settle = ctypes.CFUNCTYPE(word, pointer)(_CODE.address("settle"))
        self._decode = ctypes.CFUNCTYPE(word, pointer, word)(_CODE.address("decode"))

    def map_shared(self, mapped: Sequence[Mapped]) -> None:
        """Where the shared variables lie on the device, once a block has noted it."""
        self._state.attach("shared", _ranges(mapped))
        self._state["shared_count"] = len(mapped)

    def feed(self, taken: Taken) -> None:
        """More of some queues: whole records, in order. What is left of what was fed before stands in front of it."""
        rows, words = self._state.arrays["queues"], taken.words
        left = {number: self._left(number) for number in np.flatnonzero(rows["at"] < rows["end"]).tolist()}
        rows["words"][taken.queues] = int(words.ctypes.data) + 8 * taken.starts
        rows["end"][taken.queues] = taken.ends - taken.starts
        rows["at"][taken.queues] = 0
        places = np.searchsorted(taken.queues, list(left)).tolist()
        for place, (number, rest) in zip(places, left.items(), strict=True):
            if place < len(taken.queues) and taken.queues[place] == number:
                rest = left[number] = np.concatenate((rest, words[taken.starts[place] : taken.ends[place]]))
            rows["words"][number], rows["at"][number], rows["end"][number] = rest.ctypes.data, 0, len(rest)
        self._fed = words, left

    def _left(self, number: int) -> NDArray[np.uint64]:
        """A copy of the words of a queue that are still to be decoded."""
        row = self._state.arrays["queues"][number]
        at, end = int(row["at"]), int(row["end"])
        words = (ctypes.c_uint64 * (end - at)).from_address(int(row["words"]) + 8 * at)
        return np.array(np.ctypeslib.as_array(words))

    def run(self, consume: Consumer | None, last: bool = False) -> int:
        """Decode what can be decoded and hand it over, in memory that is used again behind it; the number of records.
        `last`: nothing more will be fed."""
        total = 0
        more = 1
        while more:
            more = self._decode(self._state.address, int(last))
            count = self._blocks["out_count"]
            total += count
            if consume is not None and count:
                consume(self._out[:count])
            self._blocks["out_count"] = 0
        return total

    def seen(self) -> tuple[Seen, ...]:
        found: list[Seen] = []
        for row in self._blocks.arrays["notices"][: self._blocks["notice_count"]].tolist():
            kind, op, thread, site, other_thread, other_site, address = row
            found.append(Seen(Notice(kind), op, thread, site, other_thread, other_site, address))
        return tuple(found)

    def waiting(self) -> tuple[Waiting, ...]:
        """The threads that wait at a barrier now."""
        found: list[Waiting] = []
        blocks, launch = self._blocks, self._launch
        self._settle(self._state.address)
        status = {AT_BARRIER: Status.BARRIER, AT_WARP_SYNC: Status.COLLECTIVE}
        for slot in range(blocks["slots_used"]):
            block = int(blocks.arrays["block_of_slot"][slot])
            if block < 0:
                continue
            first = slot * launch.threads_per_block
            rows = blocks.arrays["threads"][first : first + launch.threads_per_block]
            for number in np.flatnonzero(np.isin(rows["status"], (AT_BARRIER, AT_WARP_SYNC))).tolist():
                thread = (block << launch.shift) + number
                found.append(Waiting(thread, int(rows["site"][number]), status[int(rows["status"][number])]))
        return tuple(found)

    def all_wait(self) -> bool:
        """Whether every thread that has begun and not ended waits at a barrier, so that none can go on."""
        blocks = self._blocks
        alive = int(blocks.arrays["alive"][blocks.arrays["slot_of_block"][blocks.arrays["slot_of_block"] >= 0]].sum())
        return alive > 0 and len(self.waiting()) == alive

    @property
    def own(self) -> int:
        """How many of the records that were handed over no other shard has."""
        return self._state["own"]

    @property
    def figures(self) -> Figures:
        state = self._state
        return Figures(
            state["records"],
            state["accesses"],
            state["progressions"],
            state["valued"],
            state["value_progressions"],
            state["units"] * UNIT,
            state["lanes"],
        )


def _blocks(launch: Launch) -> Memory:
    memory = Memory(Blocks)
    blocks, threads = launch.blocks, launch.threads_per_block
    memory["shift"], memory["threads_per_block"], memory["blocks"] = launch.shift, threads, blocks
    memory["notice_limit"] = _NOTICES
    memory["warps"] = warps = -(-threads // 32)
    for name in ("smooth_site", "smooth_barrier"):
        memory.attach(name, np.zeros(blocks, np.uint32))
    memory.attach("lanes", np.zeros(blocks * warps, np.uint32))
    memory.attach("slot_of_block", np.full(blocks, NOT_BEGUN, np.int32))
    for name in ("block_of_slot", "free", "alive", "held", "smooth", "told_slot", "told_free"):
        memory.attach(name, np.zeros(blocks, np.int32))
    for name in ("waiting", "arrived"):
        memory.attach(name, np.zeros(blocks * BARRIERS, np.int32))
    memory.attach("threads", allocate(ThreadState, blocks * threads))
    memory.attach("notices", allocate(NoticeRow, _NOTICES))
    memory.attach("out", allocate(Record, _OUT))
    return memory


def _what(instrumented: Instrumented) -> NDArray[np.uint8]:
    what = np.zeros(FIRST_SITE + len(instrumented.what), np.uint8)
    what[:FIRST_SITE] = What.EVENT
    what[FIRST_SITE:] = [int(each) for each in instrumented.what]
    return what


def _ranges(mapped: Sequence[Mapped]) -> NDArray[Any]:
    rows = allocate(decode.Range, max(1, len(mapped)))
    for number, each in enumerate(mapped):
        rows[number] = (each.start, each.size, each.target)
    return rows


_CODE: Final = Library([decode.decode, decode.settle])
