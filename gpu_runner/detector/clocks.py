"""Vector clocks of threads, compressed along the hierarchy of a grid (BARRACUDA, section 4.3.1).

What thread t knows of thread u is the greatest of: the clock of u's block in t's *block form* (set by block
barriers), of its warp in the *warp form* (set where a whole warp meets), of its lane in the *lane form* (where some
lanes meet), and of a *sparse* clock, a sorted map from groups to times (set by acquires). The first two are one
number a thread, the third 32, the last as many as were acquired; nothing is lost, because a meeting gives all who
take part a time above every one that was in use among them. All threads of a block have the same block form, which is
kept once, and no thread's time is below it: so a block whose threads only meet at barriers has one number to change at
each.

A sparse clock is a slot of a pool: sorted keys with values. A key is a group: its kind (`THREAD`, `WARP`, `BLOCK`)
above 32 bits of number. Slots and rows are counted from 1, and everything is zero at first, so that memory of threads
of which there is nothing to tell is never touched. Compiled by `gpu_runner.native`; `has_room` is to be asked before
everything that makes clocks grow."""

from __future__ import annotations

from typing import Final

from gpu_runner.native.structs import Array, Struct, i32, i64, u8, u32, u64
from gpu_runner.native.translate import native

THREAD: Final = 0
WARP: Final = 1
BLOCK: Final = 2

SYNC: Final = 0
"""What is known for certain: part of the thread's clock."""
RELEASE_CTA: Final = 1
"""What a later atomic or volatile write makes known to the own block: the clock at the last fence."""
RELEASE_GPU: Final = 2
"""The same, to the whole grid: the last fence was of device scope."""
PENDING_CTA: Final = 3
"""What was read from such writes in the own block, and becomes certain at the next fence."""
PENDING_GPU: Final = 4
ROLES: Final = 5


class Clocks(Struct):
    """Threads are numbered ``block << shift | thread``."""

    shift: i64
    threads_per_block: i64
    pool_used: i64
    pool_size: i64
    longest: i64
    """Entries of the longest sparse clock so far."""
    slots_used: i64
    slots_size: i64
    rows_used: i64
    rows_size: i64
    free_row: i64
    """The first row given back, 0 for none; the next one stands in its first number."""
    own: Array[u32]
    """Per thread: the last time at which it made something known by itself."""
    block: Array[u32]
    """Per block: up to which time its threads know each other."""
    latest: Array[u32]
    """Per block: the greatest of its threads' `own`."""
    scattered: Array[u8]
    """Per block: whether some thread may have a sparse clock with something in it."""
    warp: Array[u32]
    """Per thread: up to which time it knows those of its warp."""
    row: Array[i32]
    """Per thread: row of `lanes`, or 0; says nothing new behind a meeting of the block. Only threads that met have one
    in common: what is written in it, all know of whom it is."""
    lanes: Array[u32]
    """32 times in a row."""
    sparse: Array[i32]
    """Per thread and role: slot of the pool, or 0."""
    common: Array[i32]
    """Per block and role: what all its threads have in common since their last meeting."""
    start: Array[i64]
    length: Array[i64]
    capacity: Array[i64]
    keys: Array[u64]
    values: Array[u32]


@native
def has_room(c: Clocks, entries: int) -> int:
    """Whether a synchronization that writes so many entries of the pool fits. It makes a clock for each thread of the
    block at most, or for each role of each lane of a warp."""
    return (
        c.pool_used + entries < c.pool_size
        and c.slots_used + c.threads_per_block + 33 * ROLES + 16 < c.slots_size
        and c.rows_used + 32 < c.rows_size
    )


@native
def held(c: Clocks, first: int, members: int) -> int:
    """Entries of the sparse clocks of these lanes of the warp that begins at thread `first`."""
    found = 0
    for lane in range(32):
        if members >> lane & 1:
            for role in range(ROLES):
                slot = c.sparse[(first + lane) * ROLES + role]
                if slot != 0:
                    found += c.length[slot]
    return found


@native
def held_in_block(c: Clocks, block: int) -> int:
    """Entries of the sparse clocks of all threads of a block, and of what they have in common."""
    found = 0
    for role in range(ROLES):
        slot = c.common[block * ROLES + role]
        if slot != 0:
            found += c.length[slot]
    if c.scattered[block]:
        first = block << c.shift
        end = first + c.threads_per_block
        while first < end:
            found += held(c, first, lanes_of(c, first))
            first += 32
    return found


@native
def find(c: Clocks, slot: int, key: int) -> int:
    """Where the key is in the pool, or belongs."""
    low = c.start[slot]
    high = low + c.length[slot]
    while low < high:
        middle = (low + high) >> 1
        if c.keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


@native
def entry(c: Clocks, slot: int, key: int) -> int:
    at = find(c, slot, key)
    return c.values[at] if at < c.start[slot] + c.length[slot] and c.keys[at] == key else 0


@native
def lookup(c: Clocks, slot: int, thread: int) -> int:
    """What a sparse clock (0: none) knows of a thread."""
    if slot == 0 or c.length[slot] == 0:
        return 0
    return max(
        entry(c, slot, thread),
        entry(c, slot, WARP << 32 | thread >> 5),
        entry(c, slot, BLOCK << 32 | thread >> c.shift),
    )


@native
def now(c: Clocks, thread: int) -> int:
    """A thread's own time, 1 at first."""
    return max(c.own[thread], c.block[thread >> c.shift]) + 1


@native
def advance(c: Clocks, thread: int, time: int) -> None:
    """The thread's time goes on to behind `time`, which it has reached."""
    block = thread >> c.shift
    c.own[thread] = time
    c.latest[block] = max(c.latest[block], time)


@native
def row_of(c: Clocks, thread: int) -> int:
    """The row of `lanes` with what the thread knows, or 0."""
    return c.row[thread] if c.own[thread] > c.block[thread >> c.shift] else 0


@native
def met(c: Clocks, thread: int, other: int) -> int:
    """The last time of another lane of the warp before a meeting of the warp or of lanes of it."""
    found = c.warp[thread]
    row = row_of(c, thread)
    if row != 0:
        found = max(found, c.lanes[row * 32 + (other & 31)])
    return found


@native
def knows(c: Clocks, thread: int, other: int) -> int:
    """The last time of `other` that happened before what `thread` does now (0: none)."""
    found = 0
    if thread >> c.shift == other >> c.shift:
        found = c.block[thread >> c.shift]
        if thread >> 5 == other >> 5:
            found = max(found, met(c, thread, other))
    found = max(found, lookup(c, c.sparse[thread * ROLES + SYNC], other))
    return max(found, lookup(c, c.common[(thread >> c.shift) * ROLES + SYNC], other))


@native
def may_know(c: Clocks, thread: int, other: int) -> int:
    """The same with what was read from releasing writes and not yet fenced: a volatile or atomic access behind a wait
    is performed after it."""
    found = knows(c, thread, other)
    block = thread >> c.shift
    for role in range(PENDING_CTA, ROLES):
        found = max(found, lookup(c, c.sparse[thread * ROLES + role], other))
        found = max(found, lookup(c, c.common[block * ROLES + role], other))
    return found


@native
def new_slot(c: Clocks) -> int:
    c.slots_used += 1
    slot = c.slots_used
    c.start[slot] = c.pool_used
    c.length[slot] = 0
    c.capacity[slot] = 0
    return slot


@native
def reserve(c: Clocks, slot: int, wanted: int) -> None:
    """Room for so many entries; the clock moves to the end of the pool where it has to grow."""
    if c.capacity[slot] >= wanted:
        return
    size = max(4, c.capacity[slot] * 2)
    while size < wanted:
        size = size * 2
    source = c.start[slot]
    target = c.pool_used
    for number in range(c.length[slot]):
        c.keys[target + number] = c.keys[source + number]
        c.values[target + number] = c.values[source + number]
    c.start[slot] = target
    c.capacity[slot] = size
    c.pool_used += size


@native
def put(c: Clocks, slot: int, key: int, value: int) -> None:
    """Raise one entry."""
    if value == 0:
        return
    at = find(c, slot, key)
    if at < c.start[slot] + c.length[slot] and c.keys[at] == key:
        c.values[at] = max(c.values[at], value)
        return
    offset = at - c.start[slot]
    reserve(c, slot, c.length[slot] + 1)
    at = c.start[slot] + offset
    end = c.start[slot] + c.length[slot]
    while end > at:
        c.keys[end] = c.keys[end - 1]
        c.values[end] = c.values[end - 1]
        end = end - 1
    c.keys[at] = key
    c.values[at] = value
    c.length[slot] += 1
    c.longest = max(c.longest, c.length[slot])


@native
def join(c: Clocks, into: int, other: int) -> None:
    """Raise a sparse clock to the other's."""
    if other == 0 or other == into:
        return
    extra = 0
    begin = c.start[other]
    end = begin + c.length[other]
    # Few keys are looked for one by one, many by going through both.
    stepwise = c.length[other] * 8 > c.length[into]
    found = c.start[into]
    last = found + c.length[into]
    for at in range(begin, end):
        if stepwise:
            while found < last and c.keys[found] < c.keys[at]:
                found += 1
        else:
            found = find(c, into, c.keys[at])
        if found < last and c.keys[found] == c.keys[at]:
            c.values[found] = max(c.values[found], c.values[at])
        else:
            extra += 1
    if extra == 0:
        return
    held = c.length[into]
    reserve(c, into, held + extra)
    base = c.start[into]
    left = held - 1
    right = end - 1
    target = held + extra - 1
    while right >= begin:
        # Merged from the end; equal keys are settled already.
        if left >= 0 and c.keys[base + left] == c.keys[right]:
            right = right - 1
        elif left >= 0 and c.keys[base + left] > c.keys[right]:
            c.keys[base + target] = c.keys[base + left]
            c.values[base + target] = c.values[base + left]
            left = left - 1
            target = target - 1
        else:
            c.keys[base + target] = c.keys[right]
            c.values[base + target] = c.values[right]
            right = right - 1
            target = target - 1
    c.length[into] = held + extra
    c.longest = max(c.longest, c.length[into])


@native
def thread_slot(c: Clocks, thread: int, role: int) -> int:
    """A sparse clock of the thread, made where there is none."""
    c.scattered[thread >> c.shift] = 1
    if c.sparse[thread * ROLES + role] == 0:
        c.sparse[thread * ROLES + role] = new_slot(c)
    return c.sparse[thread * ROLES + role]


@native
def learn(c: Clocks, thread: int, role: int, slot: int) -> None:
    """Join a sparse clock (0: none) into one of the thread's."""
    if slot != 0 and c.length[slot] > 0:
        join(c, thread_slot(c, thread, role), slot)


@native
def write_clock(c: Clocks, thread: int, slot: int) -> None:
    """Join all that the thread knows, itself included, into a sparse clock."""
    put(c, slot, thread, now(c, thread))
    put(c, slot, WARP << 32 | thread >> 5, c.warp[thread])
    put(c, slot, BLOCK << 32 | thread >> c.shift, c.block[thread >> c.shift])
    row = row_of(c, thread)
    if row != 0:
        for lane in range(32):
            put(c, slot, (thread & ~31) | lane, c.lanes[row * 32 + lane])
    join(c, slot, c.sparse[thread * ROLES + SYNC])
    join(c, slot, c.common[(thread >> c.shift) * ROLES + SYNC])


@native
def fence(c: Clocks, thread: int, device: int, releases: int, acquires: int) -> None:
    """What was read becomes certain; what is known now is what later writes make known. Time goes on behind a
    release."""
    block = thread >> c.shift
    if acquires:
        learn(c, thread, SYNC, c.sparse[thread * ROLES + PENDING_CTA])
        learn(c, thread, SYNC, c.common[block * ROLES + PENDING_CTA])
        if device:
            learn(c, thread, SYNC, c.sparse[thread * ROLES + PENDING_GPU])
            learn(c, thread, SYNC, c.common[block * ROLES + PENDING_GPU])
    if releases:
        for role in range(RELEASE_CTA, RELEASE_GPU + 1):
            if role == RELEASE_CTA or device:
                slot = thread_slot(c, thread, role)
                c.length[slot] = 0
                write_clock(c, thread, slot)
        advance(c, thread, now(c, thread))


@native
def meet_block(c: Clocks, block: int) -> None:
    """All threads of a block meet: everything before is known to all, and time goes on for all."""
    c.block[block] = max(c.block[block], c.latest[block]) + 1
    if not c.scattered[block]:
        return
    c.scattered[block] = 0
    first = block << c.shift
    for thread in range(first, first + c.threads_per_block):
        for role in range(ROLES):
            slot = c.sparse[thread * ROLES + role]
            if slot != 0 and c.length[slot] > 0:
                if c.common[block * ROLES + role] == 0:
                    c.common[block * ROLES + role] = new_slot(c)
                join(c, c.common[block * ROLES + role], slot)
                c.length[slot] = 0


@native
def lanes_of(c: Clocks, first: int) -> int:
    """The lanes that the warp beginning at thread `first` has."""
    in_block = first & ((1 << c.shift) - 1)
    return (1 << min(32, c.threads_per_block - in_block)) - 1


@native
def own_row(c: Clocks, first: int, members: int) -> int:
    """A row of `lanes` for these lanes of a warp: one that nobody else has, or a fresh one. What is in it already, one
    of the lanes knows."""
    for lane in range(32):
        row = c.row[first + lane] if members >> lane & 1 else 0
        if row != 0 and not is_held(c, first, lanes_of(c, first) & ~members, row):
            return row
    row = c.free_row
    if row != 0:
        c.free_row = c.lanes[row * 32]
    else:
        c.rows_used += 1
        row = c.rows_used
    for lane in range(32):
        c.lanes[row * 32 + lane] = 0
    return row


@native
def is_held(c: Clocks, first: int, lanes: int, row: int) -> int:
    """Whether one of these lanes of a warp has that row."""
    for lane in range(32):
        if lanes >> lane & 1 and c.row[first + lane] == row:
            return 1
    return 0


@native
def put_row(c: Clocks, first: int, lane: int, row: int) -> None:
    """Give a lane of a warp a row, or none; the one that it had goes back with the last who has it."""
    old = c.row[first + lane]
    c.row[first + lane] = row
    if old != 0 and old != row and not is_held(c, first, lanes_of(c, first), old):
        c.lanes[old * 32] = c.free_row
        c.free_row = old


@native
def share(c: Clocks, first: int, members: int, role: int) -> None:
    """Give every one of the lanes what any of them has in a sparse clock of this role."""
    gathered = 0
    holders = 0
    for lane in range(32):
        if members >> lane & 1:
            slot = c.sparse[(first + lane) * ROLES + role]
            if slot != 0 and c.length[slot] > 0:
                holders += 1
                gathered = slot
    if holders == 0:
        return
    if holders > 1:
        gathered = new_slot(c)
        for lane in range(32):
            if members >> lane & 1:
                join(c, gathered, c.sparse[(first + lane) * ROLES + role])
    for lane in range(32):
        if members >> lane & 1:
            learn(c, first + lane, role, gathered)


@native
def meet_lanes(c: Clocks, first: int, members: int) -> None:
    """Some lanes of the warp that begins at thread `first` meet."""
    top = 0
    warp_time = 0
    for lane in range(32):
        if members >> lane & 1:
            top = max(top, now(c, first + lane))
            warp_time = max(warp_time, c.warp[first + lane])
    everyone = members == lanes_of(c, first)
    row = 0
    if not everyone:
        row = own_row(c, first, members)
        for lane in range(32):
            old = row_of(c, first + lane) if members >> lane & 1 else 0
            if old != 0 and old != row:
                for other in range(32):
                    c.lanes[row * 32 + other] = max(c.lanes[row * 32 + other], c.lanes[old * 32 + other])
        for lane in range(32):
            if members >> lane & 1:
                c.lanes[row * 32 + lane] = top
    for lane in range(32):
        if members >> lane & 1:
            thread = first + lane
            advance(c, thread, top)
            c.warp[thread] = top if everyone else warp_time
            put_row(c, first, lane, row)
    if c.scattered[first >> c.shift]:
        for role in range(ROLES):
            share(c, first, members, role)


@native
def arrive(c: Clocks, thread: int, slot: int) -> None:
    """Bring what the thread knows to a meeting of some threads; its time goes on."""
    write_clock(c, thread, slot)
    advance(c, thread, now(c, thread))
