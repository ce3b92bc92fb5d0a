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
    told_used: i64
    told_free_count: i64
    told_slot: Array[i32]
    """Per slot: 1 + that of the shared memory as the detector has it, 0 where another shard watches it."""
    told_free: Array[i32]
    alive: Array[i32]
    """Per slot: threads that have not ended."""
    held: Array[i32]
    """Per slot: threads that wait for others."""
    waiting: Array[i32]
    arrived: Array[i32]
    """Per slot and barrier."""
    threads: Array[ThreadState]
    """Per slot and number in the block."""
    warps: i64
    """Of a block."""
    smooth: Array[i32]
    """Per slot: threads that wait in whole records at one barrier, for all of the block, where nobody waits elsewhere.
    Of them only `lanes` are kept; what is in `threads` is that they run."""
    smooth_site: Array[u32]
    smooth_barrier: Array[u32]
    lanes: Array[u32]
    """Per slot and warp: those who wait so."""
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
def begin(b: Blocks, block: int, told: int) -> int:
    """The slot of a block, which begins with its first record. `told`: its shared memory is watched here."""
    if b.free_count > 0:
        b.free_count -= 1
        slot = b.free[b.free_count]
    else:
        slot = b.slots_used
        b.slots_used += 1
    b.slot_of_block[block] = slot
    b.block_of_slot[slot] = block
    b.alive[slot] = b.threads_per_block
    b.held[slot] = 0
    b.smooth[slot] = 0
    for warp in range(slot * b.warps, slot * b.warps + b.warps):
        b.lanes[warp] = 0
    for barrier in range(BARRIERS):
        b.waiting[slot * BARRIERS + barrier] = 0
        b.arrived[slot * BARRIERS + barrier] = 0
    first = slot * b.threads_per_block
    for index in range(first, first + b.threads_per_block):
        b.threads[index].status = RUNNING
    b.told_slot[slot] = 0
    if told:
        tell(b, block, slot)
    return slot


@native
def tell(b: Blocks, block: int, slot: int) -> None:
    """The detector of this shard watches the shared memory of the block: it has slots for such blocks alone."""
    if b.told_free_count > 0:
        b.told_free_count -= 1
        number = b.told_free[b.told_free_count]
    else:
        number = b.told_used
        b.told_used += 1
    b.told_slot[slot] = number + 1
    emit(b, block << b.shift, SiteKind.BLOCK_BEGIN, 0, number)


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
            b.held[slot] -= 1
    emit(b, base, SiteKind.BLOCK_BARRIER if whole else SiteKind.JOIN_END, barrier, 0)
    b.waiting[at] = 0
    b.arrived[at] = 0


@native
def arrive(b: Blocks, block: int, slot: int, number: int, site: int, barrier: int, count: int, waits: int) -> None:
    """A thread has come to a barrier of its block."""
    settle(b, slot)
    at = slot * BARRIERS + barrier
    thread = b.threads[slot * b.threads_per_block + number]
    if waits:
        thread.status = AT_BARRIER
        thread.barrier = barrier
        thread.site = site
        thread.count = count
        b.waiting[at] += 1
        b.held[slot] += 1
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
    ended = 0
    if not own.mask >> (number & 31) & 1:
        thread = (block << b.shift) + number
        note(b, Notice.LANE_NOT_IN_MASK, 0, thread, own.site, thread, own.site, 0)
    for lane in range(min(32, b.threads_per_block - warp)):
        if own.mask >> lane & 1 or warp + lane == number:
            other = b.threads[first + warp + lane]
            if other.status == AT_WARP_SYNC and other.mask == own.mask:
                met = met | 1 << lane
            elif other.status == ENDED:
                ended = ended | 1 << lane
            else:
                return
    leader = 0
    while not met >> leader & 1:
        leader += 1
    for lane in range(32):
        if met >> lane & 1:
            b.threads[first + warp + lane].status = RUNNING
            b.held[slot] -= 1
    # Who has ended counts as there.
    emit(b, (block << b.shift) + warp + leader, SiteKind.WARP_SYNC, 0, met | ended)


@native
def wait_for_lanes(b: Blocks, block: int, slot: int, number: int, site: int, mask: int) -> None:
    thread = b.threads[slot * b.threads_per_block + number]
    thread.status = AT_WARP_SYNC
    b.held[slot] += 1
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
    release(b, block, slot)
    if b.held[slot] == 0:
        return
    settle(b, slot)
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


@native
def release(b: Blocks, block: int, slot: int) -> None:
    """Give the slot of a block back whose threads have all ended."""
    if b.alive[slot] == 0:
        b.slot_of_block[block] = OVER
        b.block_of_slot[slot] = OVER
        b.free[b.free_count] = slot
        b.free_count += 1
        if b.told_slot[slot] != 0:
            b.told_free[b.told_free_count] = b.told_slot[slot] - 1
            b.told_free_count += 1


@native
def leave_together(b: Blocks, block: int, slot: int, first: int, lanes: int) -> None:
    """Lanes of a warp have ended, in a block in which nobody waits; `first`: the number of the warp's lane 0."""
    base = slot * b.threads_per_block + first
    for lane in range(32):
        if lanes >> lane & 1 and b.threads[base + lane].status != ENDED:
            b.threads[base + lane].status = ENDED
            b.alive[slot] -= 1
    release(b, block, slot)


@native
def ones(word: int) -> int:
    """How many of 32 bits are set."""
    word = word - (word >> 1 & 0x55555555)
    word = (word & 0x33333333) + (word >> 2 & 0x33333333)
    word = (word + (word >> 4)) & 0x0F0F0F0F
    return word * 0x01010101 >> 24 & 255


@native
def settle(b: Blocks, slot: int) -> None:
    """Write down of each thread what is known of all who wait alike."""
    if b.smooth[slot] == 0:
        return
    b.smooth[slot] = 0
    for number in range(b.threads_per_block):
        warp = slot * b.warps + (number >> 5)
        if b.lanes[warp] >> (number & 31) & 1:
            thread = b.threads[slot * b.threads_per_block + number]
            thread.status = AT_BARRIER
            thread.barrier = b.smooth_barrier[slot]
            thread.site = b.smooth_site[slot]
            thread.count = 0
    for warp in range(slot * b.warps, slot * b.warps + b.warps):
        b.lanes[warp] = 0


@native
def arrive_together(b: Blocks, block: int, slot: int, first: int, lanes: int, site: int, barrier: int) -> int:
    """Lanes of a warp have come to a barrier for all of their block; 0, and nothing is done, where others wait
    elsewhere, or have come there without waiting: then fewer lanes than these may be missing."""
    smooth = b.smooth[slot]
    warp = slot * b.warps + (first >> 5)
    at = slot * BARRIERS + barrier
    if b.held[slot] != smooth or b.arrived[at] != 0 or b.lanes[warp] & lanes:
        return 0
    if smooth != 0 and (b.smooth_site[slot] != site or b.smooth_barrier[slot] != barrier):
        return 0
    count = ones(lanes)
    b.lanes[warp] = b.lanes[warp] | lanes
    b.smooth_site[slot] = site
    b.smooth_barrier[slot] = barrier
    b.smooth[slot] = smooth + count
    b.held[slot] += count
    b.waiting[at] += count
    if b.waiting[at] < b.alive[slot]:
        return 1
    b.waiting[at] = 0
    b.held[slot] = 0
    b.smooth[slot] = 0
    for number in range(slot * b.warps, slot * b.warps + b.warps):
        b.lanes[number] = 0
    emit(b, block << b.shift, SiteKind.BLOCK_BARRIER, barrier, 0)
    return 1


@native
def sync_together(b: Blocks, thread: int, slot: int, first: int, lanes: int) -> int:
    """The lanes of a warp that name each other have come all at once; 0, and nothing is done, where one waits
    elsewhere. `thread`: the warp's lane 0."""
    base = slot * b.threads_per_block + first
    leader = -1
    for lane in range(32):
        if lanes >> lane & 1:
            if b.threads[base + lane].status != RUNNING:
                return 0
            if leader < 0:
                leader = lane
    emit(b, thread + leader, SiteKind.WARP_SYNC, 0, lanes)
    return 1
