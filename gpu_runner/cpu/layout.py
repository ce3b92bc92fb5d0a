"""What generated code and scheduler share: structures in memory, address windows, statuses and codes.

Structures are NumPy dtypes with C alignment, so that compiled Python sees fields by name and generated code by offset.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Final

import numpy as np

from gpu_runner.native.structs import Struct, dtype_of, field_offset, i32, u32, u64

MAX_THREADS: Final = 1024
"""Of a block."""
MAX_BLOCK: Final = (1024, 1024, 64)
MAX_GRID: Final = ((1 << 31) - 1, 65_535, 65_535)
"""In each direction (CUDA C++ Programming Guide, technical specifications per compute capability)."""
MAX_SHARED: Final = 227 << 10
"""Bytes of a block, of the newest GPUs and where the program asks for more than 48 KiB."""
MAX_BLOCKS: Final = 1 << 22
"""Threads are numbered in 32 bits."""

SHARED_BASE: Final = 1 << 32
"""Generic addresses of shared memory; the same for all blocks, as on a GPU."""
CLUSTER_SHIFT: Final = 24
"""In addresses of shared memory: 1 + the rank of another block of the cluster stands above so many bits of offset, 0 is
the own block. In records 1 + the slot of the block stands there."""
CLUSTER_BARRIER: Final = 16
"""In place of a barrier of the block."""
LOCAL_BASE: Final = 2 << 32
PARAM_BASE: Final = 3 << 32
CODE_BASE: Final = 4 << 32
"""Numbers of functions, where pointers to them are in use: no memory is there."""
GLOBAL_BASE: Final = 16 << 32
"""Global and constant memory. Addresses are numbers of our own, so that runs repeat exactly wherever memory lies."""
GRANULE: Final = 256
"""Allocations start at multiples of this; a table tells how many bytes of each granule are valid."""

FRAME_ALIGN: Final = 64
PRODUCT_CELLS: Final = 512
"""Elements of a factor of a product of matrices, at most. The workspace of a warp has room for two factors, twice."""


class Status(IntEnum):
    """What a thread waits for. Written by the generated code before it suspends."""

    READY = 0
    BARRIER = 1
    """At a barrier of its block: `a` is the barrier, `b` the number of threads or 0 for all, `op` a `BarrierOp`."""
    COLLECTIVE = 2
    """At a warp collective: `op` says which, `mask` who takes part."""
    EXITED = 3
    FAULTED = 4
    """Ended by a `Fault` in `op`, at address `a`."""


class BarrierOp(IntEnum):
    SYNC = 0
    ARRIVE = 1
    POPC = 2
    AND = 3
    OR = 4
    CLUSTER_ARRIVE = 5
    CLUSTER_WAIT = 6


class Collective(IntEnum):
    SYNC = 0
    SHFL_UP = 1
    SHFL_DOWN = 2
    SHFL_BFLY = 3
    SHFL_IDX = 4
    VOTE_ALL = 5
    VOTE_ANY = 6
    VOTE_UNI = 7
    VOTE_BALLOT = 8
    MATCH_ANY = 9
    MATCH_ALL = 10
    REDUX_ADD = 11
    REDUX_MIN_U = 12
    REDUX_MAX_U = 13
    REDUX_MIN_S = 14
    REDUX_MAX_S = 15
    REDUX_AND = 16
    REDUX_OR = 17
    REDUX_XOR = 18
    ACTIVE_MASK = 19
    ELECT = 20
    LOCK_STEP = 21
    """In front of an access of a warp in lock-step: `b` is the place in the order of the text."""
    PRODUCT = 22
    """A product of matrices, of which every lane has a part: what they hold is in the warp's workspace."""


class Fault(IntEnum):
    OUT_OF_BOUNDS = 1
    MISALIGNED = 2
    ASSERTION = 3
    TRAP = 4
    UNREACHABLE = 5
    CALL = 6
    STACK = 7


class SiteKind(IntEnum):
    """What a record is. Sites below `FIRST_SITE` are the scheduler's own records and have these numbers."""

    NONE = 0
    BLOCK_BARRIER = 1
    """All threads of block `thread` have met."""
    WARP_SYNC = 2
    """The lanes in `value` of the warp of `thread` have met."""
    JOIN_MEMBER = 3
    """`thread` takes part in a meeting at barrier `address` of its block, with some of the others."""
    JOIN_ARRIVE = 4
    """`thread` arrives at barrier `address` of its block for the others to meet, and does not wait."""
    JOIN_END = 7
    """The meeting at barrier `address` of the block of `thread` is over."""
    BLOCK_BEGIN = 5
    """Block `thread` begins in the slot `value`: its shared memory is not initialised."""
    GRID_BARRIER = 6
    ASYNC_ISSUE = 8
    """`thread` hands a copy to its agent, whose accesses follow."""
    ASYNC_COMMIT = 9
    """The copies of `thread` so far are a group."""
    ASYNC_WAIT = 10
    """All groups of `thread` but the last `value` are complete."""
    ASYNC_ARRIVE = 11
    """The agent of `thread` arrives at the split barrier at `address` when its copies so far are complete."""
    READ = 16
    WRITE = 17
    ATOMIC = 18
    FENCE = 19


FIRST_SITE: Final = 32


class Thread(Struct):
    """One per resident thread. `shared`, `local`, `frame`, `handle` and `workspace`, which all lanes of a warp have in
    common, are machine addresses; `products` of matrices were computed so far."""

    tid_x: u32
    tid_y: u32
    tid_z: u32
    ctaid_x: u32
    ctaid_y: u32
    ctaid_z: u32
    thread: u32
    lane: u32
    warp: u32
    status: u32
    site: u32
    op: u32
    mask: u32
    fuel: i32
    a: u64
    b: u64
    c: u64
    result: u64
    predicate: u32
    products: u32
    shared: u64
    local: u64
    frame: u64
    handle: u64
    workspace: u64
    cluster_first: u32
    """The slot of the first block of its cluster."""
    cluster_rank: u32
    cluster_phase: u32
    """1 + the phase of the cluster's barrier in which it arrived last."""
    cluster_arrivals: u32
    cluster_key: u64
    """Generic address, behind all memory, that stands for the cluster's barrier in records."""


THREAD: Final = dtype_of(Thread)


class Run(Struct):
    """One per run. `cursor` is where the next record goes, `limit` the end of the buffer, `flush` what to call there;
    `printer` takes what ``printf`` is given, `allocator` and `releaser` what ``malloc`` and ``free`` are."""

    cursor: u64
    limit: u64
    flush: u64
    frame_size: u64
    ntid_x: u32
    ntid_y: u32
    ntid_z: u32
    nctaid_x: u32
    nctaid_y: u32
    nctaid_z: u32
    shared_size: u32
    dynamic_shared: u32
    clock: u64
    printer: u64
    allocator: u64
    releaser: u64
    arena: u64
    arena_size: u64
    granules: u64
    """Where global memory lies, and the valid bytes of each of its granules, as unsigned 16-bit numbers."""
    agents: u32
    """Added to the number of a thread: that of its agent, which makes its asynchronous copies."""
    shared_stride: u64
    """Bytes from the shared memory of a slot to that of the next."""
    slot_alive: u64
    """Where the numbers of the threads that have not ended are, by slot."""
    stop: u32
    """Not 0: the time is over, and threads give the processor back at the next jump back."""


RUN: Final = dtype_of(Run)

RECORD_BYTES: Final = 24
"""A record: address, value, and thread in the low half of a word with site and flags in the high half (24 + 8 bits)."""

FLAG_NO_WRITE: Final = 1
"""An atomic that did not write: a compare-and-swap that failed."""


def offset(structure: np.dtype[Any], field: str) -> int:
    """Byte offset of a field."""
    return field_offset(structure, field)
