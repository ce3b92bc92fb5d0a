"""Records → clocks and shadow memory: what each kind of record does. Compiled by `gpu_runner.native`.

Acquire and release are inferred as in BARRACUDA, from fences and atomic or volatile accesses, after the rules of the
PTX memory model: a fence followed by a volatile or atomic write releases, such a read followed by a fence acquires,
and the explicit forms (``.release``, ``.acquire``) are both in one. Scopes count on both sides. A synchronization
location holds one clock for the readers of each block and one for those of the whole grid."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from gpu_runner.detector import clocks, shadow
from gpu_runner.detector.clocks import PENDING_CTA, PENDING_GPU, RELEASE_CTA, ROLES, SYNC, Clocks
from gpu_runner.detector.shadow import Access, Shadow
from gpu_runner.native.structs import Array, Struct, i32, i64, u8, u32, u64
from gpu_runner.native.translate import native

BARRIERS: Final = 16
CLUSTER_SHIFT: Final = 24
"""In an address of the shared memory of another block of a cluster: 1 + its slot is above so many bits of offset."""
GRID: Final = -1
"""In place of a block: the clock at a location that is for all."""


class Kind(IntEnum):
    """Kinds of records. Those below `READ` are their own sites."""

    BLOCK_BARRIER = 1
    WARP_SYNC = 2
    JOIN_MEMBER = 3
    JOIN_ARRIVE = 4
    BLOCK_BEGIN = 5
    JOIN_END = 7
    ASYNC_ISSUE = 8
    ASYNC_COMMIT = 9
    ASYNC_WAIT = 10
    ASYNC_ARRIVE = 11
    READ = 16
    WRITE = 17
    ATOMIC = 18
    FENCE = 19


class Order(IntEnum):
    """Memory orders, as numbered in the table of sites."""

    WEAK = 0
    RELAXED = 1
    ACQUIRE = 2
    RELEASE = 3
    ACQ_REL = 4
    SC = 5


class Record(Struct):
    """What the executor logs."""

    address: u64
    value: u64
    thread: u32
    site: u32
    """With flags in the high byte."""


NO_WRITE: Final = 1 << 24
"""Flag of a record: a compare-and-swap that failed."""
ELSEWHERE: Final = 1 << 25
"""Flag of a record: the access orders threads here too, and another detector checks it for races."""


CELL_AHEAD: Final = 24
NODE_AHEAD: Final = 12
"""So many records before one is worked through, its cell is fetched from memory, and the first node of its list."""

PAGE_BITS: Final = 10
"""Bits of an address within a page: where memory is dealt out to several detectors, each has every so-manieth page. No
access crosses the end of one: it is aligned, and smaller."""


class Location(Struct):
    """A row of the hash table of synchronization locations; `key` 0: free."""

    key: u64
    block: i32
    slot: i32


class State(Struct):
    """Everything; parts that are structures of their own are arrays of one."""

    clocks: Array[Clocks]
    main: Array[Shadow]
    shared: Array[Shadow]
    access: Array[Access]
    global_base: i64
    global_size: i64
    shards: i64
    """Detectors among which the memory is dealt out."""
    shared_base: i64
    shared_words: i64
    """Of a slot."""
    has_agents: i64
    agents: i64
    """Blocks; the agents of threads are numbered as if they were of blocks behind these."""
    arrivals: Array[i32]
    """Per thread that may have an agent: a slot of the clocks' pool, or 0. From the number of groups that the agent has
    closed to how often it has arrived at barriers up to then, as of the last arrival before the next group ends."""
    slot_of_block: Array[i32]
    block_of_slot: Array[i32]
    meetings: Array[i32]
    """Per block and barrier: clock of the meeting under way, or 0."""
    members: Array[u32]
    member_count: i64
    """Threads of the meeting under way."""
    locations: Array[Location]
    location_mask: i64
    """Rows of the table less 1; a power of two."""
    locations_used: i64
    kinds: Array[u8]
    sizes: Array[u8]
    orders: Array[u8]
    flags: Array[u8]
    """By site."""


@native
def row_of(st: State, key: int, block: int) -> int:
    """The row of a location, or the free one where it belongs."""
    at = (key * 0x9E3779B97F4A7C1 + block * 977 >> 20) & st.location_mask
    while st.locations[at].key != 0:
        if st.locations[at].key == key and st.locations[at].block == block:
            return at
        at = (at + 1) & st.location_mask
    return at


@native
def clock_at(st: State, key: int, block: int) -> int:
    """The clock of a location, or 0."""
    row = st.locations[row_of(st, key, block)]
    return row.slot if row.key != 0 else 0


@native
def observe(st: State, c: Clocks, thread: int, key: int, device: int, acquires: int) -> None:
    """A volatile or atomic read: what releasing writes have left there is on its way to the thread."""
    if st.locations_used == 0:
        return
    clocks.learn(c, thread, SYNC if acquires else PENDING_CTA, clock_at(st, key, thread >> c.shift))
    if device:
        clocks.learn(c, thread, SYNC if acquires else PENDING_GPU, clock_at(st, key, GRID))


@native
def publish_to(st: State, c: Clocks, thread: int, key: int, whom: int, role: int, keeps: int) -> None:
    own = c.sparse[thread * ROLES + role]
    common = c.common[(thread >> c.shift) * ROLES + role]
    has = (own != 0 and c.length[own] > 0) or (common != 0 and c.length[common] > 0)
    if not has and st.locations_used == 0:
        return
    at = row_of(st, key, whom)
    row = st.locations[at]
    if row.key == 0:
        if not has:
            return
        row.key = key
        row.block = whom
        row.slot = clocks.new_slot(c)
        st.locations_used += 1
    if not keeps:
        c.length[row.slot] = 0
    if has:
        clocks.join(c, row.slot, own)
        clocks.join(c, row.slot, common)


@native
def publish(st: State, c: Clocks, thread: int, key: int, device: int, keeps: int) -> None:
    """A volatile or atomic write: leaves what the last fence before it released. A plain store ends what was there; a
    read-modify-write (`keeps`) goes on with it."""
    if c.longest == 0:  # nobody has released anything so far: all clocks are empty
        return
    publish_to(st, c, thread, key, thread >> c.shift, RELEASE_CTA, keeps)
    if device:
        publish_to(st, c, thread, key, GRID, RELEASE_CTA + 1, keeps)
    elif not keeps and st.locations_used != 0:
        slot = clock_at(st, key, GRID)
        if slot != 0:
            c.length[slot] = 0


@native
def meeting(st: State, c: Clocks, block: int, barrier: int) -> int:
    at = block * BARRIERS + barrier
    if st.meetings[at] == 0:
        st.meetings[at] = clocks.new_slot(c)
    return st.meetings[at]


@native
def synchronize(st: State, c: Clocks, kind: int, thread: int, address: int, value: int) -> None:
    block = thread >> c.shift
    if kind == Kind.BLOCK_BARRIER:
        clocks.meet_block(c, block)
    elif kind == Kind.WARP_SYNC:
        clocks.meet_lanes(c, thread & ~31, value)
    elif kind == Kind.JOIN_MEMBER:
        clocks.arrive(c, thread, meeting(st, c, block, address))
        st.members[st.member_count] = thread
        st.member_count += 1
    elif kind == Kind.JOIN_ARRIVE:
        clocks.arrive(c, thread, meeting(st, c, block, address))
    elif kind == Kind.JOIN_END:
        slot = meeting(st, c, block, address)
        for at in range(st.member_count):
            clocks.learn(c, st.members[at], SYNC, slot)
        st.member_count = 0
        c.length[slot] = 0
    elif kind == Kind.BLOCK_BEGIN:
        st.slot_of_block[block] = value
        st.block_of_slot[value] = block
        if st.has_agents:
            st.slot_of_block[st.agents + block] = value
        shadow.forget(st.shared[0], value * st.shared_words, st.shared_words)


@native
def arrived(c: Clocks, arrivals: int, group: int) -> int:
    """How often an agent has arrived at barriers before it closed the `group`-th of its groups."""
    if arrivals == 0:
        return 0
    at = clocks.find(c, arrivals, group)
    return c.values[at - 1] if at > c.start[arrivals] else 0


@native
def asynchronous(st: State, c: Clocks, kind: int, thread: int, address: int, value: int) -> None:
    """What a thread does with its agent. The agent's time goes on with each group that it closes and each arrival; a
    wait makes known what it did until the group in question ended."""
    agent = (st.agents << c.shift) + thread
    if kind == Kind.ASYNC_ISSUE:
        clocks.write_clock(c, thread, clocks.thread_slot(c, agent, SYNC))
        clocks.advance(c, thread, clocks.now(c, thread))
    elif kind == Kind.ASYNC_COMMIT:
        clocks.advance(c, agent, clocks.now(c, agent))
    elif kind == Kind.ASYNC_WAIT:
        arrivals = st.arrivals[thread]
        group = clocks.now(c, agent) - 1 - arrived(c, arrivals, 1 << 32) - value
        complete = group + arrived(c, arrivals, group)
        if group > 0:
            clocks.put(c, clocks.thread_slot(c, thread, SYNC), agent, complete)
    else:
        # What arrives knows both of the copies and of what the thread did before.
        clocks.write_clock(c, thread, clocks.thread_slot(c, agent, SYNC))
        clocks.advance(c, thread, clocks.now(c, thread))
        if st.arrivals[thread] == 0:
            st.arrivals[thread] = clocks.new_slot(c)
        before = arrived(c, st.arrivals[thread], 1 << 32)
        clocks.put(c, st.arrivals[thread], clocks.now(c, agent) - 1 - before, before + 1)
        clocks.fence(c, agent, 0, 1, 0)
        block = thread >> c.shift
        publish_to(st, c, agent, location_key(st, block, address), block, RELEASE_CTA, 1)


@native
def location_key(st: State, thread_block: int, address: int) -> int:
    """Shared memory is another one in every block."""
    if address < st.global_base:
        return thread_block << 34 | address - st.shared_base << 2 | 3
    return address << 2 | 1


@native
def has_room(st: State, c: Clocks, kind: int, thread: int, lanes: int) -> int:
    """Whether there is room for all that one record may add to clocks. A clock that grows to so many entries takes up
    to four times as many of the pool on its way, and one that is made as long at once up to twice as many."""
    entries = 1024 + 160 * c.longest
    if kind == Kind.WARP_SYNC:
        if c.scattered[thread >> c.shift]:
            entries += 34 * (4 * ROLES + 2 * clocks.held(c, thread & ~31, lanes))
    elif kind == Kind.BLOCK_BARRIER:
        entries += 4 * clocks.held_in_block(c, thread >> c.shift)
    elif kind == Kind.JOIN_END:
        entries += 4 * c.threads_per_block * (c.longest + 1)
    return clocks.has_room(c, entries) and 2 * (st.locations_used + 4) < st.location_mask


@native
def touch(st: State, c: Clocks, record: Record, kind: int, order: int) -> None:
    """An access to memory."""
    site = record.site & shadow.SITE_MASK
    thread = record.thread
    address = record.address
    reads = kind != Kind.WRITE
    writes = kind != Kind.READ and not record.site & NO_WRITE
    flags = st.flags[site]
    device = flags & shadow.DEVICE
    key = 0
    owner = thread >> c.shift
    slot = 0
    if address < st.global_base:
        slot = st.slot_of_block[owner]
        above = address - st.shared_base >> CLUSTER_SHIFT
        if above != 0:
            slot = above - 1
            owner = st.block_of_slot[slot]
            address = address - (above << CLUSTER_SHIFT)
    if order > Order.WEAK:
        key = location_key(st, owner, address)
        if reads:
            observe(st, c, thread, key, device, order == Order.ACQUIRE or order >= Order.ACQ_REL)
        if writes and order >= Order.RELEASE:
            clocks.fence(c, thread, device, 1, 0)
    if not record.site & ELSEWHERE:
        check(st, c, record, slot, flags, address, reads, writes)
    if order > Order.WEAK and writes:
        publish(st, c, thread, key, device, reads)


@native
def place_of(st: State, offset: int) -> int:
    """Where a byte of global memory is in the shadow, which has the pages of this detector only."""
    if st.shards == 1:
        return offset
    return (offset >> PAGE_BITS) // st.shards << PAGE_BITS | offset & ((1 << PAGE_BITS) - 1)


@native
def check(st: State, c: Clocks, record: Record, slot: int, flags: int, address: int, reads: int, writes: int) -> None:
    """Whether the access races with others."""
    site = record.site & shadow.SITE_MASK
    thread = record.thread
    a = st.access[0]
    a.thread = thread
    a.epoch = clocks.now(c, thread) << 32 | thread
    a.site = site | flags << shadow.FLAG
    a.flags = flags
    a.address = address
    a.width = st.sizes[site]
    a.value = 0
    if address >= st.global_base:
        offset = address - st.global_base
        if offset + a.width <= st.global_size:
            shadow.access(st.main[0], c, a, place_of(st, offset), reads, writes, record.value, 0)
    else:
        offset = slot * st.shared_words * 4 + address - st.shared_base
        shadow.access(st.shared[0], c, a, offset, reads, writes, record.value, 1)


class Batch(Struct):
    """Records to be worked through."""

    records: Array[Record]


@native
def fetch_cell(st: State, record: Record) -> None:
    """Have the cell of an access fetched. Memory that is read at random is in no cache, and to wait for one cell after
    the other would take longer than all that is checked; of a record that is no access the address means nothing."""
    if record.address >= st.global_base:
        shadow.fetch_cell(st.main[0], place_of(st, record.address - st.global_base))


@native
def fetch_node(st: State, record: Record) -> None:
    """Have the first node of the list of a cell fetched, which is there by now."""
    offset = record.address - st.global_base
    if offset >= 0 and offset < st.global_size:
        shadow.fetch_node(st.main[0], place_of(st, offset))


@native
def consume(st: State, batch: Batch, begin: int, count: int) -> int:
    """Work through records from `begin` on; how far it came: less than `count` where there is no room for clocks."""
    c = st.clocks[0]
    for at in range(begin, count):
        if at + CELL_AHEAD < count:
            fetch_cell(st, batch.records[at + CELL_AHEAD])
            fetch_node(st, batch.records[at + NODE_AHEAD])
        record = batch.records[at]
        site = record.site & shadow.SITE_MASK
        kind = st.kinds[site]
        order = st.orders[site]
        if kind < Kind.READ:
            if not has_room(st, c, kind, record.thread, record.value):
                return at
            if kind >= Kind.ASYNC_ISSUE:
                asynchronous(st, c, kind, record.thread, record.address, record.value)
            else:
                synchronize(st, c, kind, record.thread, record.address, record.value)
        elif kind == Kind.FENCE:
            if not has_room(st, c, kind, record.thread, 0):
                return at
            acquires = order != Order.RELEASE
            clocks.fence(c, record.thread, st.flags[site] & shadow.DEVICE, order != Order.ACQUIRE, acquires)
        else:
            # A relaxed access adds to clocks what it finds in others.
            if (
                order > Order.WEAK
                and (c.longest or order >= Order.RELEASE)
                and not has_room(st, c, kind, record.thread, 0)
            ):
                return at
            touch(st, c, record, kind, order)
    return count
