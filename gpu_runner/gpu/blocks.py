"""Barriers of blocks and warps, followed from the records of those who arrive: what the scheduler does on the CPU.

A thread logs in front of a barrier, and all of a block log into one queue. So the record of the last one who arrives
stands behind everything that the others did before, and in front of everything that they do behind the barrier.
Compiled by `gpu_runner.native`.
"""

from __future__ import annotations

from typing import Final

from gpu_runner.cpu.layout import SiteKind
from gpu_runner.cpu.machine import BARRIERS, Notice, NoticeRow
from gpu_runner.detector.synchronization import Record
from gpu_runner.native.structs import Array, Struct, i32, i64, u8, u32
from gpu_runner.native.translate import native

RUNNING: Final = 0
AT_BARRIER: Final = 1
AT_WARP_SYNC: Final = 2
ENDED: Final = 3

NOT_BEGUN: Final = -1
OVER: Final = -2


class ThreadState(Struct):
    """Of a thread of a block under way."""

    site: u32
    mask: u32
    """Of the lanes that it wants to meet."""
    count: u32
    """Threads expected at the barrier, or 0 for all."""
    status: u8
    barrier: u8


class Blocks(Struct):
    """The blocks under way, each in a slot, and the records that come of them."""

    shift: i64
    threads_per_block: i64
    blocks: i64
    slots_used: i64
    free_count: i64
    notice_count: i64
    notice_limit: i64
    out_count: i64
    slot_of_block: Array[i32]
    block_of_slot: Array[i32]
    free: Array[i32]
    """Slots given back."""
    alive: Array[i32]
    """Per slot: threads that have not ended."""
    waiting: Array[i32]
    arrived: Array[i32]
    """Per slot and barrier."""
    threads: Array[ThreadState]
    """Per slot and number in the block."""
    notices: Array[NoticeRow]
    out: Array[Record]


@native
def emit(b: Blocks, thread: int, site: int, address: int, value: int) -> None:
    record = b.out[b.out_count]
    record.address = address
    record.value = value
    record.thread = thread
    record.site = site
    b.out_count += 1


@native
def note(b: Blocks, kind: int, op: int, thread: int, site: int, other: int, other_site: int, address: int) -> None:
    """Keep a notice, unless there is one of the same kind at the same places."""
    for number in range(b.notice_count):
        row = b.notices[number]
        if row.kind == kind and row.op == op and row.site == site and row.other_site == other_site:
            return
    if b.notice_count >= b.notice_limit:
        return
    row = b.notices[b.notice_count]
    b.notice_count += 1
    row.kind = kind
    row.op = op
    row.thread = thread
    row.site = site
    row.other_thread = other
    row.other_site = other_site
    row.address = address


@native
def slot_for(b: Blocks, block: int) -> int:
    """The slot of a block, which begins with its first record; -1 for one that has ended."""
    slot = b.slot_of_block[block]
    if slot != NOT_BEGUN:
        return slot if slot >= 0 else -1
    if b.free_count > 0:
        b.free_count -= 1
        slot = b.free[b.free_count]
    else:
        slot = b.slots_used
        b.slots_used += 1
    b.slot_of_block[block] = slot
    b.block_of_slot[slot] = block
    b.alive[slot] = b.threads_per_block
    for barrier in range(BARRIERS):
        b.waiting[slot * BARRIERS + barrier] = 0
        b.arrived[slot * BARRIERS + barrier] = 0
    first = slot * b.threads_per_block
    for index in range(first, first + b.threads_per_block):
        b.threads[index].status = RUNNING
    emit(b, block << b.shift, SiteKind.BLOCK_BEGIN, 0, slot)
    return slot


@native
def meet(b: Blocks, block: int, slot: int, barrier: int) -> None:
    """Everybody has come: say who met, note who stood elsewhere, and let them go."""
    first = slot * b.threads_per_block
    base = block << b.shift
    met = 0
    leader = first
    for index in range(first, first + b.threads_per_block):
        thread = b.threads[index]
        if thread.status == AT_BARRIER and thread.barrier == barrier:
            if met == 0:
                leader = index
            elif thread.count == 0 and thread.site != b.threads[leader].site:
                lead = b.threads[leader]
                note(
                    b,
                    Notice.DIVERGENT_BARRIER,
                    0,
                    base + leader - first,
                    lead.site,
                    base + index - first,
                    thread.site,
                    0,
                )
            met += 1
    at = slot * BARRIERS + barrier
    whole = met == b.alive[slot] and b.arrived[at] == 0
    for index in range(first, first + b.threads_per_block):
        thread = b.threads[index]
        if thread.status == AT_BARRIER and thread.barrier == barrier:
            if not whole:
                emit(b, base + index - first, SiteKind.JOIN_MEMBER, barrier, 0)
            thread.status = RUNNING
    emit(b, base, SiteKind.BLOCK_BARRIER if whole else SiteKind.JOIN_END, barrier, 0)
    b.waiting[at] = 0
    b.arrived[at] = 0


@native
def arrive(b: Blocks, block: int, slot: int, number: int, site: int, barrier: int, count: int, waits: int) -> None:
    """A thread has come to a barrier of its block."""
    at = slot * BARRIERS + barrier
    thread = b.threads[slot * b.threads_per_block + number]
    if waits:
        thread.status = AT_BARRIER
        thread.barrier = barrier
        thread.site = site
        thread.count = count
        b.waiting[at] += 1
    else:
        b.arrived[at] += 1
        emit(b, (block << b.shift) + number, SiteKind.JOIN_ARRIVE, barrier, 0)
    expected = count if count != 0 else b.alive[slot]
    if b.waiting[at] + b.arrived[at] >= expected:
        meet(b, block, slot, barrier)


@native
def collect(b: Blocks, block: int, slot: int, number: int) -> None:
    """See whether the lanes that a thread wants to meet are all there."""
    first = slot * b.threads_per_block
    warp = number & ~31
    own = b.threads[first + number]
    met = 0
    if not own.mask >> (number & 31) & 1:
        thread = (block << b.shift) + number
        note(b, Notice.LANE_NOT_IN_MASK, 0, thread, own.site, thread, own.site, 0)
    for lane in range(min(32, b.threads_per_block - warp)):
        if own.mask >> lane & 1 or warp + lane == number:
            other = b.threads[first + warp + lane]
            if other.status == AT_WARP_SYNC and other.mask == own.mask:
                met = met | 1 << lane
            elif other.status != ENDED:
                return
    leader = 0
    while not met >> leader & 1:
        leader += 1
    for lane in range(32):
        if met >> lane & 1:
            b.threads[first + warp + lane].status = RUNNING
    emit(b, (block << b.shift) + warp + leader, SiteKind.WARP_SYNC, 0, met)


@native
def wait_for_lanes(b: Blocks, block: int, slot: int, number: int, site: int, mask: int) -> None:
    thread = b.threads[slot * b.threads_per_block + number]
    thread.status = AT_WARP_SYNC
    thread.mask = mask
    thread.site = site
    collect(b, block, slot, number)


@native
def leave(b: Blocks, block: int, slot: int, number: int) -> None:
    """A thread has ended: those who wait for all that are left may be complete now."""
    first = slot * b.threads_per_block
    if b.threads[first + number].status == ENDED:
        return
    b.threads[first + number].status = ENDED
    b.alive[slot] -= 1
    if b.alive[slot] == 0:
        b.slot_of_block[block] = OVER
        b.block_of_slot[slot] = OVER
        b.free[b.free_count] = slot
        b.free_count += 1
        return
    for barrier in range(BARRIERS):
        at = slot * BARRIERS + barrier
        if b.waiting[at] > 0 and b.waiting[at] + b.arrived[at] >= b.alive[slot]:
            for index in range(first, first + b.threads_per_block):
                other = b.threads[index]
                if other.status == AT_BARRIER and other.barrier == barrier:
                    if other.count == 0:
                        meet(b, block, slot, barrier)
                    break
    warp = number & ~31
    for lane in range(min(32, b.threads_per_block - warp)):
        if b.threads[first + warp + lane].status == AT_WARP_SYNC:
            collect(b, block, slot, warp + lane)
