"""Warp records of the queues → records of single threads, in an order that the detector may take them in.

Each queue is consumed in its order, which keeps that of every thread and of every block. Between blocks only atomic and
volatile accesses order anything, and those have tickets: a queue stops at one whose turn has not come, and the others
go on. Compiled by `gpu_runner.native`.
"""

from __future__ import annotations

from typing import Final

from gpu_runner.cpu.layout import GLOBAL_BASE, GRANULE, SHARED_BASE, Fault
from gpu_runner.cpu.machine import Notice
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
def ours(d: Decoding, address: int) -> int:
    """An address of a record as the detector has it."""
    if address < 0:
        offset = address & _OFFSET
        for number in range(d.shared_count):
            row = d.shared[number]
            if offset >= row.start and offset < row.start + row.size:
                return SHARED_BASE + row.target + offset - row.start
        return SHARED_BASE + offset
    for number in range(d.range_count):
        row = d.ranges[number]
        if address >= row.start and address < row.start + row.size:
            return row.target + address - row.start
    return address


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
def touch(
    d: Decoding, b: Blocks, thread: int, site: int, unwritten: int, address: int, value: int, chunks: int
) -> None:
    """An access of one thread, in pieces."""
    size = d.sizes[site]
    for piece in range(chunks):
        at = ours(d, address + piece * _WORD)
        if not is_valid(d, at, size):
            blocks.note(b, Notice.FAULT, Fault.OUT_OF_BOUNDS, thread, site, thread, site, at)
            return
        blocks.emit(b, thread, site | unwritten << 24, at, value)


@native
def one(
    d: Decoding, b: Blocks, first: int, lane: int, site: int, unwritten: int, address: int, value: int, options: int
) -> None:
    """What a record says of one lane."""
    thread = first + lane
    block = thread >> b.shift
    number = thread & ((1 << b.shift) - 1)
    slot = blocks.slot_for(b, block)
    if slot < 0 or number >= b.threads_per_block:
        return
    if b.threads[slot * b.threads_per_block + number].status == ENDED:
        return
    fault = options >> FAULT & 15
    what = d.what[site]
    if fault != 0:
        where = ours(d, address) if what == What.ACCESS else address
        blocks.note(b, Notice.FAULT, fault, thread, site, thread, site, where)
        blocks.leave(b, block, slot, number)
    elif what == What.ACCESS:
        touch(d, b, thread, site, unwritten, address, value, options >> CHUNKS & 255)
    elif what == What.AGENT_ACCESS:
        touch(d, b, thread + d.agents, site, 0, address, value, options >> CHUNKS & 255)
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
def count(d: Decoding, form: int, units: int, lanes: int, what: int) -> None:
    """Take a record into the figures."""
    d.records += 1
    d.units += units
    if what != What.ACCESS and what != What.AGENT_ACCESS:
        return
    d.accesses += 1
    for lane in range(32):
        d.lanes += lanes >> lane & 1
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
        leader = first_lane(lanes)
        for lane in range(q.lane, 32):
            if lanes >> lane & 1:
                if d.out_limit - b.out_count < ROOM:
                    q.lane = lane
                    return -1
                address = address_of_lane(q, form, lane, leader)
                value = value_of_lane(q, form, lane, leader)
                one(d, b, second & 0xFFFFFFFF, lane, site, unwritten >> lane & 1, address, value, options)
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
