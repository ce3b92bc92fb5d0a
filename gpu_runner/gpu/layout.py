"""What instrumented code and host share: the control block, the heads of a queue, and the records in it.

A record is made of units of 32 bytes, all counters of a queue count units since the launch. The first unit is

    u32 site | form << 24      which instruction, in which chain of calls; what follows (`Form`)
    u32 lanes                  who executed it
    u32 thread                 number of the warp's lane 0: ``block << shift | thread``
    u32 units | chunks << 8 | fault << 16
    u64 address                of the first lane
    i32 stride                 bytes from one lane to the next
    u32 unwritten              the lanes whose compare-and-swap failed

and behind it, as the form says, the addresses of all 32 lanes where they are no arithmetic progression, the values as
a progression (u64 first, i32 stride) or one by one, and the ticket of the one lane that there is then. Addresses of
global memory are those of the device; shared memory is the offset in the block's with bit 63 set.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag
from typing import Final

UNIT: Final = 32
LISTED_UNITS: Final = 8
"""32 lanes of 8 bytes."""
HEAD_BYTES: Final = 128
"""Of the two counters that the device keeps for a queue."""
WRITE_HEAD: Final = 0
"""Units reserved."""
COMMIT: Final = 32
"""Units that are written and may be read: it moves in the order of reservation."""
STOP: Final = 1 << 63
"""In place of the units that the host has taken: all threads that log end."""
LOCKS: Final = 1024
"""Each is held while an atomic or volatile access to one of its addresses is performed and logged."""
LOCK_BYTES: Final = 16
"""The next ticket, and at 8 the ticket whose turn it is."""
NO_LOCK: Final = LOCKS
"""That of accesses which turn out to be to memory of the thread's own."""
STOP_LOCK: Final = LOCKS + 1
"""No lock: not zero once all threads that wait for a lock are to end."""
LOCK_SHIFT: Final = 4
"""No access to fewer than 16 bytes is to addresses of two locks."""
LOCK_SHIFT_2: Final = 14
SHARED: Final = 1 << 63
"""Added to offsets in shared memory."""
MOST_RECORD_UNITS: Final = 1 + 2 * LISTED_UNITS + 1
MOST_SITES: Final = 1 << 24

CONTROL: Final = "cuda_lsp_control"


class Control(IntEnum):
    """The words of the control block, a constant variable of the module."""

    HEADS = 0
    RINGS = 1
    RING_UNITS = 2
    """Of one queue, a power of two."""
    QUEUE_MASK = 3
    """Queues less one, a power of two less one."""
    LOCKS = 4
    ARENA = 5
    ARENA_SIZE = 6
    RANGES = 7
    """Address of pairs (start, size): module variables, which do not lie in the arena."""
    RANGE_COUNT = 8
    SHARED_BEGIN = 9
    SHARED_END = 10
    SYMBOLS = 11
    """Where the offsets of the shared variables are noted, 8 bytes each."""
    SHIFT = 12
    WORKSPACE = 13
    """Of a cooperative launch: the barrier of the grid is in it."""
    READS = 14
    """Address of the units that the host has taken, 8 bytes for each queue."""
    SEED = 15
    """Of the delays: 0 for none."""
    WORDS = 16


class Form(IntFlag):
    """What is in a record. `VALUES` and `TICKETS` are asked for, the others come of the lanes."""

    VALUES = 1
    TICKETS = 2
    LISTED = 4
    VALUES_LISTED = 8
    MORE = 16
    """Asked for with `TICKETS`: the next record of the lane has the same ticket."""


class What(IntEnum):
    """What the decoder does with the records of a site."""

    NOTHING = 0
    ACCESS = 1
    FENCE = 2
    BARRIER = 3
    """Addresses are barriers, values the threads expected or 0 for all."""
    BARRIER_ARRIVE = 4
    WARP_SYNC = 5
    """Addresses are masks."""
    EXIT = 6
    FAULT = 7
    """Ends the thread; the fault is in the record."""
    AGENT_ACCESS = 8
    """By the agent that makes the thread's asynchronous copies."""
    EVENT = 9
    """Handed to the detector as it is."""


CHUNKS: Final = 8
"""Where the number of 8-byte pieces of an access stands in the word of options, and in the record."""
FAULT: Final = 16
NO_WRITE: Final = 1 << 24
"""Option of one lane: its compare-and-swap failed."""
