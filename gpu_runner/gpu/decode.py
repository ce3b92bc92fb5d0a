"""Warp records of the queues → records of single threads, in an order that the detector may take them in.

Each queue is consumed in its order, which keeps that of every thread and of every block. Between blocks only atomic and
volatile accesses order anything, and those have tickets: a queue stops at one whose turn has not come, and the others
go on.

Several may decode the same queues side by side, each for a shard of the memory: global memory is dealt out by pages,
shared memory by blocks. A shard gets the accesses to its memory, and all that orders threads. Compiled by
`gpu_runner.native`.
"""

from __future__ import annotations

from typing import Final

from gpu_runner.cpu.layout import GLOBAL_BASE, GRANULE, SHARED_BASE, Fault
from gpu_runner.cpu.machine import Notice
from gpu_runner.detector.synchronization import ELSEWHERE, PAGE_BITS
from gpu_runner.gpu import blocks
from gpu_runner.gpu.blocks import ENDED, Blocks
from gpu_runner.gpu.layout import CHUNKS, FAULT, LISTED_UNITS, LOCK_SHIFT, LOCK_SHIFT_2, LOCKS, Form, What
from gpu_runner.native.structs import Array, Struct, i64, u8, u16, u64
from gpu_runner.native.translate import logical_shift, native

ROOM: Final = 4096
"""Records that one warp record may become: 32 lanes of 8 pieces, or a meeting of 1024 threads, for each lane that ends
one."""
_WORD: Final = 8
_UNIT_WORDS: Final = 4
_GRANULE_BITS: Final = GRANULE.bit_length() - 1
_OFFSET: Final = (1 << 63) - 1


class Range(Struct):
    """Addresses on the device that stand for addresses of ours."""

    start: i64
    size: i64
    target: i64


class Queue(Struct):
    """What has been taken out of a queue, as 64-bit words."""

    at: i64
    end: i64
    lane: i64
    """Where to go on in the record at `at`."""
    words: Array[u64]


class Decoding(Struct):
    """Everything; `blocks` is an array of one."""

    queue_count: i64
    out_limit: i64
    range_count: i64
    shared_count: i64
    arena_size: i64
    shard: i64
    shards: i64
    """Which shard of the memory this decodes, and of how many."""
    agents: i64
    """Added to the number of a thread: that of its agent."""
    records: i64
    """Warp records so far."""
    accesses: i64
    """Of them with addresses."""
    progressions: i64
    """Of them with addresses in arithmetic progression."""
    valued: i64
    value_progressions: i64
    units: i64
    """Units of the queues taken so far."""
    lanes: i64
    """Threads in all records with addresses."""
    own: i64
    """Records handed out that no other shard has: of accesses to its memory, and of blocks that begin."""
    blocks: Array[Blocks]
    queues: Array[Queue]
    ranges: Array[Range]
    """The arena first, then module variables."""
    shared: Array[Range]
    what: Array[u8]
    sizes: Array[u8]
    """By site."""
    tickets: Array[i64]
    """By lock: the one whose turn it is."""
    granules: Array[u16]
    """Valid bytes of each granule of the arena."""


@native
def signed(word: int) -> int:
    """32 bits as a signed number."""
    return word - (1 << 32) if word >> 31 & 1 else word


@native
def range_of(d: Decoding, address: int) -> int:
    """The row of the table that an address is in, or -1."""
    if address < 0:
        offset = address & _OFFSET
        for number in range(d.shared_count):
            row = d.shared[number]
            if offset >= row.start and offset < row.start + row.size:
                return number
        return -1
    for number in range(d.range_count):
        row = d.ranges[number]
        if address >= row.start and address < row.start + row.size:
            return number
    return -1


@native
def moved(d: Decoding, address: int, number: int) -> int:
    """An address of a record, in that row of its table, as the detector has it."""
    if address < 0:
        offset = address & _OFFSET
        if number < 0:
            return SHARED_BASE + offset
        return SHARED_BASE + d.shared[number].target + offset - d.shared[number].start
    if number < 0:
        return address
    return d.ranges[number].target + address - d.ranges[number].start


@native
def ours(d: Decoding, address: int) -> int:
    """An address of a record as the detector has it."""
    return moved(d, address, range_of(d, address))


@native
def is_own(d: Decoding, b: Blocks, address: int, thread: int) -> int:
    """Whether the memory at the detector's address is of this shard."""
    if d.shards == 1:
        return 1
    if address < GLOBAL_BASE:
        return (thread >> b.shift) % d.shards == d.shard
    return (address - GLOBAL_BASE >> PAGE_BITS) % d.shards == d.shard


@native
def is_valid(d: Decoding, address: int, size: int) -> int:
    """Whether the bytes belong to an array or variable. The device has checked that they are in memory of the run."""
    if address < GLOBAL_BASE:
        return 1
    offset = address - GLOBAL_BASE
    if offset >= d.arena_size:
        return 0
    return (offset & (GRANULE - 1)) + size <= d.granules[offset >> _GRANULE_BITS]


@native
def pieces(
    d: Decoding, b: Blocks, thread: int, site: int, flags: int, address: int, value: int, chunks: int, orders: int
) -> None:
    """An access of one thread, in pieces; `address` is the detector's. One that orders threads is in all shards."""
    size = d.sizes[site]
    for piece in range(chunks):
        at = address + piece * _WORD
        if not is_valid(d, at, size):
            blocks.note(b, Notice.FAULT, Fault.OUT_OF_BOUNDS, thread, site, thread, site, at)
            return
        blocks.emit(b, thread, site | flags, at, value)
        d.own += not orders


@native
def touch(
    d: Decoding, b: Blocks, thread: int, site: int, flags: int, address: int, value: int, chunks: int, orders: int
) -> None:
    """An access of one thread; `address` is the detector's. One that orders threads goes to all shards."""
    if not is_own(d, b, address, thread):
        if not orders:
            return
        flags = flags | ELSEWHERE
    pieces(d, b, thread, site, flags, address, value, chunks, orders)


@native
def one(
    d: Decoding,
    b: Blocks,
    first: int,
    lane: int,
    site: int,
    unwritten: int,
    address: int,
    value: int,
    options: int,
    orders: int,
) -> None:
    """What a record says of one lane."""
    thread = first + lane
    block = thread >> b.shift
    number = thread & ((1 << b.shift) - 1)
    slot = slot_for(d, b, block)
    if slot < 0 or number >= b.threads_per_block:
        return
    if b.threads[slot * b.threads_per_block + number].status == ENDED:
        return
    fault = options >> FAULT & 15
    what = d.what[site]
    if fault != 0:
        blocks.note(b, Notice.FAULT, fault, thread, site, thread, site, ours(d, address))
        blocks.leave(b, block, slot, number)
    elif what == What.ACCESS:
        touch(d, b, thread, site, unwritten << 24, ours(d, address), value, options >> CHUNKS & 255, orders)
    elif what == What.AGENT_ACCESS:
        at = ours(d, address)
        if is_own(d, b, at, thread):
            pieces(d, b, thread + d.agents, site, 0, at, value, options >> CHUNKS & 255, 0)
    elif what == What.FENCE:
        blocks.emit(b, thread, site, 0, 0)
    elif what == What.EVENT:
        blocks.emit(b, thread, site, ours(d, address) if address < 0 else address, value)
    elif what == What.BARRIER or what == What.BARRIER_ARRIVE:
        blocks.arrive(b, block, slot, number, site, address & 15, value, what == What.BARRIER)
    elif what == What.WARP_SYNC:
        blocks.wait_for_lanes(b, block, slot, number, site, address & 0xFFFFFFFF)
    elif what == What.EXIT:
        blocks.leave(b, block, slot, number)


@native
def slot_for(d: Decoding, b: Blocks, block: int) -> int:
    """The slot of a block, or -1 for one that has ended."""
    slot = b.slot_of_block[block]
    if slot >= 0:
        return slot
    if slot != blocks.NOT_BEGUN:
        return -1
    told = d.shards == 1 or block % d.shards == d.shard
    d.own += told
    return blocks.begin(b, block, told)


@native
def address_of_lane(q: Queue, form: int, lane: int, leader: int) -> int:
    if form & Form.LISTED:
        return q.words[q.at + _UNIT_WORDS + lane]
    return q.words[q.at + 2] + signed(q.words[q.at + 3] & 0xFFFFFFFF) * (lane - leader)


@native
def value_of_lane(q: Queue, form: int, lane: int, leader: int) -> int:
    if not form & Form.VALUES:
        return 0
    at = q.at + _UNIT_WORDS + (LISTED_UNITS * _UNIT_WORDS if form & Form.LISTED else 0)
    if form & Form.VALUES_LISTED:
        return q.words[at + lane]
    return q.words[at] + signed(q.words[at + 1] & 0xFFFFFFFF) * (lane - leader)


@native
def plain(d: Decoding, b: Blocks, q: Queue, form: int, lanes: int, first: int, site: int, options: int) -> int:
    """A plain access: all lanes at once. 0, and nothing is done, where the record is another one."""
    if d.what[site] != What.ACCESS or form & Form.TICKETS or options >> FAULT & 15:
        return 0
    leader = first_lane(lanes)
    last = last_lane(lanes)
    low = address_of_lane(q, form, leader, leader)
    stride = signed(q.words[q.at + 3] & 0xFFFFFFFF)
    row = range_of(d, low)
    target = moved(d, low, row)
    together = 0
    if not form & Form.LISTED:
        high = low + stride * (last - leader)
        together = row == range_of(d, high)
        together = together and (d.shards == 1 or target >> PAGE_BITS == moved(d, high, row) >> PAGE_BITS)
        if together and not is_own(d, b, target, first):
            return 1
    block = first >> b.shift
    slot = slot_for(d, b, block)
    number = first & ((1 << b.shift) - 1)
    if slot < 0 or number + last >= b.threads_per_block:
        return 0
    index = slot * b.threads_per_block + number
    chunks = options >> CHUNKS & 255
    for lane in range(leader, last + 1):
        if lanes >> lane & 1:
            at = target + stride * (lane - leader)
            if not together:
                at = ours(d, address_of_lane(q, form, lane, leader))
            if (together or is_own(d, b, at, first)) and b.threads[index + lane].status != ENDED:
                pieces(d, b, first + lane, site, 0, at, value_of_lane(q, form, lane, leader), chunks, 0)
    return 1


@native
def together(d: Decoding, b: Blocks, q: Queue, form: int, lanes: int, first: int, site: int, options: int) -> int:
    """Lanes that end, or come to the barrier of their block or of just them, all at once. 0, and nothing is done, where
    the record is another one."""
    what = d.what[site]
    if form & (Form.LISTED | Form.VALUES_LISTED | Form.TICKETS) or options >> FAULT & 15:
        return 0
    if what != What.EXIT and what != What.BARRIER and what != What.WARP_SYNC:
        return 0
    block = first >> b.shift
    slot = slot_for(d, b, block)
    number = first & ((1 << b.shift) - 1)
    if slot < 0 or number + last_lane(lanes) >= b.threads_per_block:
        return 0
    address = q.words[q.at + 2]
    step = q.words[q.at + 3] & 0xFFFFFFFF
    if what == What.EXIT:
        if b.held[slot] != 0:
            return 0
        blocks.leave_together(b, block, slot, number, lanes)
        return 1
    if step != 0:
        return 0
    if what == What.WARP_SYNC:
        return address & 0xFFFFFFFF == lanes and blocks.sync_together(b, first, slot, number, lanes)
    leader = first_lane(lanes)
    if value_of_lane(q, form, leader, leader) != 0 or value_of_lane(q, form, leader + 1, leader) != 0:
        return 0
    return blocks.arrive_together(b, block, slot, number, lanes, site, address & 15)


@native
def ticket_of(q: Queue, units: int) -> int:
    """A ticket is the last thing in a record, which is of one lane then."""
    return q.words[q.at + (units - 1) * _UNIT_WORDS]


@native
def lock_of(address: int) -> int:
    return (logical_shift(address, LOCK_SHIFT) ^ logical_shift(address, LOCK_SHIFT_2)) & (LOCKS - 1)


@native
def first_lane(lanes: int) -> int:
    lane = 0
    while not lanes >> lane & 1:
        lane += 1
    return lane


@native
def last_lane(lanes: int) -> int:
    lane = 31
    while not lanes >> lane & 1:
        lane = lane - 1
    return lane


@native
def count(d: Decoding, form: int, units: int, lanes: int, what: int) -> None:
    """Take a record into the figures."""
    d.records += 1
    d.units += units
    if what != What.ACCESS and what != What.AGENT_ACCESS:
        return
    d.accesses += 1
    d.lanes += blocks.ones(lanes)
    if not form & Form.LISTED:
        d.progressions += 1
    if form & Form.VALUES:
        d.valued += 1
        if not form & Form.VALUES_LISTED:
            d.value_progressions += 1


@native
def consume_queue(d: Decoding, b: Blocks, q: Queue) -> int:
    """How many records were taken, or -1 where there is no room for what comes of the next one."""
    steps = 0
    while q.at < q.end:
        head = q.words[q.at]
        site = head & 0xFFFFFF
        form = head >> 24 & 255
        lanes = logical_shift(head, 32)
        second = q.words[q.at + 1]
        options = logical_shift(second, 32)
        units = options & 255
        unwritten = logical_shift(q.words[q.at + 3], 32)
        if d.out_limit - b.out_count < ROOM:
            return -1
        if form & Form.TICKETS:
            lock = lock_of(q.words[q.at + 2])
            if ticket_of(q, units) != d.tickets[lock]:
                return steps
            if not form & Form.MORE:
                d.tickets[lock] += 1
        first = second & 0xFFFFFFFF
        whole = q.lane == 0 and plain(d, b, q, form, lanes, first, site, options)
        if not whole and q.lane == 0:
            whole = together(d, b, q, form, lanes, first, site, options)
        if not whole:
            leader = first_lane(lanes)
            for lane in range(q.lane, 32):
                if lanes >> lane & 1:
                    if d.out_limit - b.out_count < ROOM:
                        q.lane = lane
                        return -1
                    address = address_of_lane(q, form, lane, leader)
                    value = value_of_lane(q, form, lane, leader)
                    orders = form & Form.TICKETS
                    one(d, b, first, lane, site, unwritten >> lane & 1, address, value, options, orders)
        count(d, form, units, lanes, d.what[site])
        q.at += units * _UNIT_WORDS
        q.lane = 0
        steps += 1
    return steps


@native
def pass_over(d: Decoding) -> int:
    """Give the turn to the lowest ticket of some lock at the head of a queue, and say whether there was one: those in
    front were taken by threads that ended before they could log."""
    lock = -1
    lowest = 0
    for number in range(d.queue_count):
        q = d.queues[number]
        if q.at < q.end:
            of = lock_of(q.words[q.at + 2])
            ticket = ticket_of(q, logical_shift(q.words[q.at + 1], 32) & 255)
            if lock < 0 or (of == lock and ticket < lowest):
                lock = of
                lowest = ticket
    if lock >= 0:
        d.tickets[lock] = lowest
    return lock >= 0


@native
def settle(d: Decoding) -> int:
    """Write down of each thread where it waits."""
    b = d.blocks[0]
    for slot in range(b.slots_used):
        if b.block_of_slot[slot] >= 0:
            blocks.settle(b, slot)
    return b.slots_used


@native
def decode(d: Decoding, last: int) -> int:
    """Go on until nothing can (0) or there is no room for more records (1). `last`: nothing more will come, so that a
    ticket that nobody has is passed over."""
    b = d.blocks[0]
    steps = 1
    while steps > 0:
        steps = 0
        for number in range(d.queue_count):
            done = consume_queue(d, b, d.queues[number])
            if done < 0:
                return 1
            steps += done
        if steps == 0 and last:
            steps = pass_over(d)
    return 0
