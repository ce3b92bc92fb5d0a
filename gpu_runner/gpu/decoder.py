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
    """Of one run of an instrumented kernel."""

    def __init__(
        self,
        instrumented: Instrumented,
        launch: Launch,
        queues: int,
        granules: NDArray[np.uint16],
        mapped: Sequence[Mapped],
    ) -> None:
        """`granules`: the valid bytes of each granule of the arena (`cpu.arena`); `mapped`: where global
        memory lies."""
        self._launch = launch
        self._waiting_words: list[NDArray[np.uint64]] = [np.zeros(0, np.uint64) for _ in range(queues)]
        blocks = self._blocks = _blocks(launch)
        state = self._state = Memory(decode.Decoding)
        state.point("blocks", blocks)
        state["queue_count"] = queues
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
        word, pointer = ctypes.c_int64, ctypes.c_void_p
        self._decode = ctypes.CFUNCTYPE(word, pointer, word)(_CODE.address("decode"))

    def map_shared(self, mapped: Sequence[Mapped]) -> None:
        """Where the shared variables lie on the device, once a block has noted it."""
        self._state.attach("shared", _ranges(mapped))
        self._state["shared_count"] = len(mapped)

    def feed(self, queue: int, words: NDArray[np.uint64]) -> None:
        """More of a queue: whole records, in order."""
        row = self._state.arrays["queues"][queue]
        kept = self._waiting_words[queue][int(row["at"]) :]
        whole = np.concatenate((kept, words)) if len(kept) else np.ascontiguousarray(words)
        self._waiting_words[queue] = whole
        row["words"], row["at"], row["end"] = whole.ctypes.data, 0, len(whole)

    def run(self, consume: Consumer | None, last: bool = False) -> int:
        """Decode what can be decoded and hand it over; the number of records. `last`: nothing more will be fed."""
        total = 0
        more = 1
        while more:
            more = self._decode(self._state.address, int(last))
            count = self._blocks["out_count"]
            total += count
            if consume is not None and count:
                consume(_words(self._blocks.arrays["out"][:count]))
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


def _words(records: NDArray[Any]) -> NDArray[np.uint64]:
    """Records as rows of three words, in memory of their own."""
    words: NDArray[np.uint64] = np.frombuffer(records.tobytes(), np.uint64)
    return np.reshape(words, (len(records), 3))


def _blocks(launch: Launch) -> Memory:
    memory = Memory(Blocks)
    blocks, threads = launch.blocks, launch.threads_per_block
    memory["shift"], memory["threads_per_block"], memory["blocks"] = launch.shift, threads, blocks
    memory["notice_limit"] = _NOTICES
    memory.attach("slot_of_block", np.full(blocks, NOT_BEGUN, np.int32))
    for name in ("block_of_slot", "free", "alive"):
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


_CODE: Final = Library([decode.decode])
