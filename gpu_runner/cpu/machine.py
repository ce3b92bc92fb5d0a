"""The memory of the scheduler: resident blocks, their threads and barriers, and what was noticed."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from gpu_runner.cpu.layout import Thread
from gpu_runner.native.structs import Array, Struct, dtype_of, i64, u32, u64

BARRIERS: Final = 16
"""Of a block."""


class Outcome(IntEnum):
    """Why the scheduler gave control back."""

    DONE = 0
    PAUSED = 1
    """The number of turns asked for is over."""
    STUCK = 2
    """Threads are left and none of them can go on."""


class Notice(IntEnum):
    """What the scheduler noticed."""

    FAULT = 1
    DIVERGENT_BARRIER = 2
    """Threads of one block met at different barriers."""
    LANE_NOT_IN_MASK = 3
    """A thread took part in a collective whose mask it is not in."""
    UNDEFINED_LANE = 4
    """A shuffle read from a lane that took no part in it: PTX leaves open what it got."""


class NoticeRow(Struct):
    kind: u32
    op: u32
    thread: u32
    site: u32
    other_thread: u32
    other_site: u32
    address: u64


NOTICE: Final = dtype_of(NoticeRow)


class Machine(Struct):
    """Blocks live in slots; thread `number` of the block in slot s is ``threads[s * threads_per_block + number]``."""

    next_block: i64
    blocks: i64
    threads_per_block: i64
    warps: i64
    """Of a block."""
    shift: i64
    admitted: i64
    """Slots in use at most."""
    random: u64
    shuffle: i64
    """0: in order."""
    fuel: i64
    """What a thread may use up in one go where nothing is shuffled."""
    notice_count: i64
    notice_limit: i64
    grid_x: i64
    grid_y: i64
    block_x: i64
    block_y: i64
    cluster: i64
    """Blocks of a cluster, which are in as many slots one behind the other; and its extents."""
    cluster_x: i64
    cluster_y: i64
    cluster_z: i64
    cluster_base: u64
    shared_stride: i64
    local_stride: i64
    frame_stride: i64
    workspace_stride: i64
    shared_base: u64
    local_base: u64
    frame_base: u64
    workspace_base: u64
    kernel: u64
    resume: u64
    log: u64
    moved: i64
    """Arrivals and exits so far, which a thread that only waits in a loop does not cause."""
    stop: i64
    """Not 0: the time is over, and no thread is resumed any more."""
    undefined_site: i64
    """The shuffle in which lanes get `undefined` from lanes that take no part; from all others of these it is 0."""
    undefined: u64
    slot_block: Array[i64]
    """The block in a slot, -1 where it is free."""
    slot_alive: Array[i64]
    """Its threads that have not ended."""
    waiting: Array[i64]
    arrived: Array[i64]
    """Per slot and barrier: threads that wait there, and those that have only announced themselves."""
    cluster_arrived: Array[i64]
    cluster_phase: Array[i64]
    """Per cluster under way: threads that have arrived at its barrier in this phase, and the number of the phase."""
    stepped: Array[i64]
    """Per slot and warp in lock-step: the lanes that made the last access together."""
    alive: Array[i64]
    """Per slot and warp: the lanes that have not ended."""
    threads: Array[Thread]
    shared: Array[u64]
    """Shared memory of all slots."""
    notices: Array[NoticeRow]


MACHINE: Final = dtype_of(Machine)
