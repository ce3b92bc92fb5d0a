"""Shadow memory: for every word the last write and the reads since, and the rules by which an access races with them.

A cell stands for four bytes as long as all accesses to them are whole words, and for one byte otherwise: then it is
split into four, and nothing is lost by it. The last write and the last read are epochs (time and thread); reads that
are not ordered with each other, and atomic writes that are not, are kept besides in a list of (warp, time, lanes).
Compiled by `gpu_runner.native`."""

from __future__ import annotations

from typing import Final

from gpu_runner.detector import clocks
from gpu_runner.detector.clocks import Clocks
from gpu_runner.native.structs import Array, Struct, i64, u32, u64
from gpu_runner.native.translate import logical_shift, native, prefetch

# Flags of an access, in the high byte of its site.
STRONG: Final = 1
"""Volatile or atomic."""
DEVICE: Final = 2
"""Of a scope beyond the block."""
ATOMIC: Final = 4
"""A read-modify-write."""
WRITES: Final = 8
"""Of a node: it stands for writes, not reads."""
SPLIT: Final = 128
"""Of a cell's `write_site`: the word is split."""
WIDE: Final = 64
"""Volatile or atomic, of eight bytes: it is not atomic to such accesses of fewer bytes, nor they to it."""
LISTED_WEAK: Final = 16
"""Of a cell's `read_site`: the list has accesses that may race with atomic ones (see `weak`)."""
LISTED_WRITES: Final = 32
"""Of a cell's `read_site`: the list has writes."""
LISTED_WIDE: Final = 128
"""Of a cell's `read_site`: what the list has is wide. It has some of both sizes only where it is `LISTED_WEAK`."""

FLAG: Final = 24
"""Where flags stand in a site."""
SITE_MASK: Final = (1 << FLAG) - 1
EPOCH_THREAD: Final = (1 << 32) - 1
_LIST_FLAGS: Final = LISTED_WEAK | LISTED_WRITES | LISTED_WIDE
_KIND: Final = STRONG | DEVICE | WIDE
"""What of an access's flags decides which others it races with."""
_NODE_BITS: Final = SITE_MASK | (_KIND | ATOMIC) << FLAG

# Kinds of accesses in a report.
READ: Final = 1
WRITE: Final = 2
ATOMIC_WRITE: Final = 3
UNWRITTEN: Final = 4
"""As the first: shared memory that nobody in the block has written before the read."""

# Relations of two threads in a report.
SAME_WARP: Final = 0
SAME_BLOCK: Final = 1
OTHER_BLOCK: Final = 2
SAME_VALUE: Final = 16
"""Added: both wrote the same to this cell. Wide writes that differ elsewhere have a row without it, too."""


class Cell(Struct):
    """Epochs are ``time << 32 | thread``, 0 for none."""

    writer: u64
    reader: u64
    plain_writer: u64
    """The last plain write, where `writer` is an atomic one that came after it: others of those do not race with
    `writer`, and may with this."""
    plain_site: u32
    write_site: u32
    read_site: u32
    value: u32
    """Last written."""
    link: u32
    """1 + the first node of the list, or 1 + the first of four cells where the word is split."""


class Node(Struct):
    """Accesses of the lanes of one warp at one time and site."""

    warp: u32
    time: u32
    lanes: u32
    site: u32
    next: u32
    """1 + the following node, 0 for none."""


class Race(Struct):
    """A pair of sites that raced, as first seen; `count` 0: a free row."""

    address: u64
    count: u64
    first: u32
    first_site: u32
    second: u32
    second_site: u32
    first_value: u32
    second_value: u32
    kinds: u32
    """That of the first access, and four bits up that of the second."""
    relation: u32
    width: u32
    """Bytes of the second access."""


class Shadow(Struct):
    """Of one memory: the global one, or the shared ones of all slots."""

    split_used: i64
    nodes_used: i64
    free_node: i64
    """1 + the first node given back, 0 for none."""
    private: i64
    """Whether only the threads of one block get to a cell."""
    base: i64
    """The address of the first byte of a block's shared memory."""
    placements: u64
    """Ways in which shared memory may be divided, a bit each: those that all reads of what nobody has written fit."""
    silent: Array[u64]
    """By byte of a block's shared memory: with which of them it means nothing that such a read finds it."""
    race_rows: i64
    """Rows of the table; one more counts what did not fit."""
    cells: Array[Cell]
    split: Array[Cell]
    """Cells of single bytes, by fours."""
    nodes: Array[Node]
    races: Array[Race]


class Access(Struct):
    """The access that is being checked."""

    thread: i64
    epoch: i64
    site: i64
    """With flags."""
    flags: i64
    address: i64
    width: i64
    value: i64
    """What is written."""


@native
def exempt(c: Clocks, a: Access, other_flags: int, other: int) -> int:
    """Two volatile or atomic accesses of one size whose scopes have both threads in them do not race."""
    if not a.flags & other_flags & STRONG or (a.flags ^ other_flags) & WIDE:
        return 0
    return a.thread >> c.shift == other >> c.shift or a.flags & other_flags & DEVICE


@native
def ordered(c: Clocks, thread: int, epoch: int) -> int:
    """Whether what happened at an epoch happened before all that the thread does from now on."""
    other = epoch & EPOCH_THREAD
    time = epoch >> 32
    if other == thread or (other >> c.shift == thread >> c.shift and time <= c.block[thread >> c.shift]):
        return 1
    if c.longest == 0:  # nobody has acquired anything so far: only lanes of a warp can have met besides
        return other >> 5 == thread >> 5 and clocks.met(c, thread, other) >= time
    return clocks.knows(c, thread, other) >= time


@native
def races(c: Clocks, a: Access, epoch: int, other_flags: int) -> int:
    """Whether the access races with what happened at an epoch that is not `ordered` before it. What the thread has
    read of and not yet fenced is before an atomic or volatile access, though not before plain ones to come."""
    other = epoch & EPOCH_THREAD
    if a.flags & STRONG and c.longest != 0 and clocks.may_know(c, a.thread, other) >= epoch >> 32:
        return 0
    return not exempt(c, a, other_flags, other)


@native
def kind_of(flags: int, writes: int) -> int:
    if flags & ATOMIC:
        return ATOMIC_WRITE
    return WRITE if writes else READ


@native
def report(
    s: Shadow,
    c: Clocks,
    a: Access,
    kind: int,
    first: int,
    first_site: int,
    first_kind: int,
    first_value: int,
    same: int,
) -> None:
    """Note a race of an earlier access with this one, once per pair of sites and relation of the threads."""
    relation = OTHER_BLOCK
    if first >> 5 == a.thread >> 5:
        relation = SAME_WARP
    elif first >> c.shift == a.thread >> c.shift:
        relation = SAME_BLOCK
    if same:
        relation = relation | SAME_VALUE
    kinds = first_kind | kind << 4
    old = first_site & SITE_MASK
    new = a.site & SITE_MASK
    at = (old * 31 + new * 17 + relation * 7 + kinds) % s.race_rows
    for _ in range(s.race_rows):
        row = s.races[at]
        if row.count == 0:
            row.address = a.address
            row.first = first
            row.first_site = old
            row.second = a.thread
            row.second_site = new
            row.first_value = first_value
            row.second_value = a.value
            row.kinds = kinds
            row.relation = relation
            row.width = a.width
        if row.first_site == old and row.second_site == new and row.relation == relation and row.kinds == kinds:
            row.count += 1
            return
        at = (at + 1) % s.race_rows
    s.races[s.race_rows].count += 1


@native
def weak(s: Shadow, site: int) -> int:
    """Whether there may be atomic accesses that race with one of this site: it is plain, or its scope is too small for
    the memory."""
    flags = site >> FLAG
    return not (flags & STRONG and (flags & DEVICE or s.private))


@native
def expect_size(cell: Cell, flags: int) -> None:
    """Where an atomic or volatile access is of another size than those of the list, they may race."""
    listed = cell.read_site >> FLAG
    if cell.link != 0 and flags & STRONG and (listed & LISTED_WIDE != 0) != (flags & WIDE != 0):
        cell.read_site = cell.read_site | LISTED_WEAK << FLAG


@native
def push(s: Shadow, cell: Cell, epoch: int, site: int, writes: int) -> None:
    """Add an access to the cell's list: to one of the first nodes where that is of the same warp, time and site.
    Threads that wait for each other take turns at atomic and volatile ones. Plain ones of one warp mostly come
    together, and in memory that is read at random each node that is looked at takes longer than all else."""
    thread = epoch & EPOCH_THREAD
    time = epoch >> 32
    mark = (site & _NODE_BITS) | (WRITES << FLAG if writes else 0)
    at = cell.link
    looked = 0 if site >> FLAG & STRONG else 3
    while at != 0 and looked < 4:
        node = s.nodes[at - 1]
        if node.warp == thread >> 5 and node.time == time and node.site == mark:
            node.lanes = node.lanes | 1 << (thread & 31)
            return
        at = node.next
        looked += 1
    index = s.free_node
    if index != 0:
        s.free_node = s.nodes[index - 1].next
    else:
        s.nodes_used += 1
        index = s.nodes_used
    node = s.nodes[index - 1]
    node.warp = thread >> 5
    node.time = time
    node.lanes = 1 << (thread & 31)
    node.site = mark
    node.next = cell.link
    if cell.link == 0:
        others = cell.read_site & ~(LISTED_WIDE << FLAG)
        cell.read_site = others | (LISTED_WIDE << FLAG if site >> FLAG & WIDE else 0)
    cell.link = index
    expect_size(cell, site >> FLAG)
    if writes:
        cell.read_site = cell.read_site | LISTED_WRITES << FLAG
    if weak(s, site):
        cell.read_site = cell.read_site | LISTED_WEAK << FLAG


@native
def release_list(s: Shadow, cell: Cell) -> None:
    """Give the nodes of a cell back."""
    at = cell.link
    while at != 0:
        node = s.nodes[at - 1]
        following = node.next
        node.next = s.free_node
        s.free_node = at
        at = following
    cell.link = 0


@native
def check_list(s: Shadow, c: Clocks, a: Access, cell: Cell, kind: int, writes: int) -> int:
    """Look for listed accesses that race with this one (reads only with writes); whether all are ordered before it."""
    all_ordered = 1
    at = cell.link
    while at != 0:
        node = s.nodes[at - 1]
        flags = node.site >> FLAG
        if node.warp << 5 >> c.shift == a.thread >> c.shift and node.time <= c.block[a.thread >> c.shift]:
            pass  # before the last barrier of the block: all its lanes are ordered
        elif writes or flags & WRITES:
            for lane in range(32):
                if node.lanes >> lane & 1:
                    other = node.warp * 32 + lane
                    epoch = node.time << 32 | other
                    if not ordered(c, a.thread, epoch):
                        all_ordered = 0
                        if races(c, a, epoch, flags):
                            report(s, c, a, kind, other, node.site, kind_of(flags, flags & WRITES), 0, 0)
        else:
            all_ordered = 0
        at = node.next
    return all_ordered


@native
def settled(s: Shadow, c: Clocks, a: Access, cell: Cell) -> int:
    """Whether nothing of before can race with anything to come, because all of the block have met since."""
    known = c.block[a.thread >> c.shift]
    if not s.private or cell.reader >> 32 > known or cell.writer >> 32 > known:
        return 0
    at = cell.link
    while at != 0:
        if s.nodes[at - 1].time > known:
            return 0
        at = s.nodes[at - 1].next
    return 1


@native
def check_plain_writer(s: Shadow, c: Clocks, a: Access, cell: Cell, kind: int) -> None:
    if cell.plain_writer != 0 and not ordered(c, a.thread, cell.plain_writer) and races(c, a, cell.plain_writer, 0):
        report(s, c, a, kind, cell.plain_writer & EPOCH_THREAD, cell.plain_site, WRITE, 0, 0)


@native
def read_cell(s: Shadow, c: Clocks, a: Access, cell: Cell) -> None:
    if cell.writer != 0 and not ordered(c, a.thread, cell.writer):
        other = cell.writer & EPOCH_THREAD
        flags = cell.write_site >> FLAG
        if races(c, a, cell.writer, flags):
            report(s, c, a, READ, other, cell.write_site, kind_of(flags, 1), cell.value, 0)
    check_plain_writer(s, c, a, cell, READ)
    listed = cell.read_site >> FLAG
    if listed & LISTED_WRITES and (weak(s, a.site) or listed & LISTED_WEAK):
        check_list(s, c, a, cell, READ, 0)
    same_kind = (cell.read_site >> FLAG & _KIND) == (a.flags & _KIND)
    if cell.reader != 0 and not (same_kind and (cell.reader == a.epoch or ordered(c, a.thread, cell.reader))):
        push(s, cell, cell.reader, cell.read_site, 0)
    cell.reader = a.epoch
    cell.read_site = a.site | (cell.read_site & _LIST_FLAGS << FLAG)


@native
def write_cell(s: Shadow, c: Clocks, a: Access, cell: Cell, value: int) -> None:
    kind = kind_of(a.flags, 1)
    strong = a.flags & STRONG
    a.value = value
    write_ordered = 1
    if cell.writer != 0 and not ordered(c, a.thread, cell.writer):
        write_ordered = 0
        other = cell.writer & EPOCH_THREAD
        flags = cell.write_site >> FLAG
        if races(c, a, cell.writer, flags):
            same = cell.value == value and not (a.flags | flags) & ATOMIC
            report(s, c, a, kind, other, cell.write_site, kind_of(flags, 1), cell.value, same)
    check_plain_writer(s, c, a, cell, kind)
    listed_ordered = 1
    if cell.link != 0:
        listed_ordered = 0
        if weak(s, a.site) or cell.read_site >> FLAG & LISTED_WEAK:
            listed_ordered = check_list(s, c, a, cell, kind, 1)
    read_ordered = 1
    if cell.reader != 0 and not ordered(c, a.thread, cell.reader):
        read_ordered = 0
        other = cell.reader & EPOCH_THREAD
        flags = cell.read_site >> FLAG
        if races(c, a, cell.reader, flags):
            report(s, c, a, kind, other, cell.read_site, READ, cell.value, 0)
    written = cell.write_site >> FLAG
    read = cell.read_site >> FLAG
    weak_writer = cell.writer != 0 and written & STRONG and (weak(s, cell.write_site) or (written ^ a.flags) & WIDE)
    weak_reader = cell.reader != 0 and (weak(s, cell.read_site) or (read ^ a.flags) & WIDE)
    kept = weak_writer or weak_reader or read & LISTED_WEAK
    if not (write_ordered and listed_ordered and read_ordered):
        kept = 1
    if strong and kept and not settled(s, c, a, cell):
        # What is not ordered before an atomic write stays of interest to plain accesses to come, and what is weak, or
        # of another size, to other atomic writes.
        if cell.reader != 0:
            push(s, cell, cell.reader, cell.read_site, 0)
        if weak_writer or (not write_ordered and cell.write_site >> FLAG & STRONG):
            push(s, cell, cell.writer, cell.write_site, 1)
        cell.read_site = cell.read_site & _LIST_FLAGS << FLAG
    else:
        release_list(s, cell)
        cell.read_site = 0
    cell.reader = 0
    if not strong:
        cell.plain_writer = 0
    elif not cell.write_site >> FLAG & STRONG:
        cell.plain_writer = cell.writer
        cell.plain_site = cell.write_site
    cell.writer = a.epoch
    cell.write_site = a.site
    cell.value = value


@native
def split(s: Shadow, cell: Cell) -> None:
    """One cell for each byte, with the same history."""
    first = s.split_used
    s.split_used += 4
    for byte in range(4):
        part = s.split[first + byte]
        part.writer = cell.writer
        part.reader = cell.reader
        part.plain_writer = cell.plain_writer
        part.plain_site = cell.plain_site
        part.write_site = cell.write_site
        part.read_site = cell.read_site
        part.value = cell.value >> 8 * byte & 255
        part.link = 0
        at = cell.link
        while at != 0:
            node = s.nodes[at - 1]
            for lane in range(32):
                if node.lanes >> lane & 1:
                    push(s, part, node.time << 32 | node.warp * 32 + lane, node.site, node.site >> FLAG & WRITES)
            at = node.next
    release_list(s, cell)
    cell.write_site = SPLIT << FLAG
    cell.link = first + 1


@native
def has_meaning(s: Shadow, a: Access, count: int) -> int:
    """Whether any of `count` bytes from the address on, which nobody has written, had to be before a read."""
    first = a.address - s.base
    for at in range(first, first + count):
        fitting = s.placements & s.silent[at]
        if fitting == 0:
            return 1
        s.placements = fitting
    return 0


@native
def one(s: Shadow, c: Clocks, a: Access, cell: Cell, reads: int, writes: int, value: int, check_written: int) -> None:
    """`check_written`: bytes of the cell, if reads of what nobody has written are reported."""
    if reads and check_written and cell.writer == 0 and has_meaning(s, a, check_written):
        report(s, c, a, READ, a.thread, a.site, UNWRITTEN, 0, 0)
    expect_size(cell, a.flags)
    if writes:
        write_cell(s, c, a, cell, value)
    else:
        read_cell(s, c, a, cell)


@native
def access(s: Shadow, c: Clocks, a: Access, byte: int, reads: int, writes: int, bits: int, check_written: int) -> None:
    """An access of ``a.width`` bytes from byte `byte` of the memory on, writing `bits`.

    `check_written`: report reads of what nobody has written.
    """
    address = a.address
    left = a.width
    start = byte & 3
    at = byte >> 2
    while left > 0:
        cell = s.cells[at]
        here = min(left, 4 - start)
        if here == 4 and not cell.write_site >> FLAG & SPLIT:
            one(s, c, a, cell, reads, writes, bits & EPOCH_THREAD, 4 * check_written)
        else:
            if not cell.write_site >> FLAG & SPLIT:
                split(s, cell)
            base = cell.link - 1
            for number in range(here):
                part = s.split[base + start + number]
                one(s, c, a, part, reads, writes, logical_shift(bits, 8 * number) & 255, check_written)
                a.address += 1
        bits = logical_shift(bits, 8 * here)
        left = left - here
        start = 0
        at += 1
        a.address = address + a.width - left


@native
def fetch_cell(s: Shadow, byte: int) -> None:
    prefetch(s.cells[byte >> 2])


@native
def fetch_node(s: Shadow, byte: int) -> None:
    cell = s.cells[byte >> 2]
    if cell.link != 0 and not cell.write_site >> FLAG & SPLIT:
        prefetch(s.nodes[cell.link - 1])


@native
def forget(s: Shadow, first: int, words: int) -> None:
    """Begin anew with a range of words: the shared memory of a block that begins."""
    for at in range(first, first + words):
        cell = s.cells[at]
        if cell.write_site >> FLAG & SPLIT:
            for byte in range(4):
                release_list(s, s.split[cell.link - 1 + byte])
            cell.link = 0
        else:
            release_list(s, cell)
        cell.writer = 0
        cell.reader = 0
        cell.plain_writer = 0
        cell.write_site = 0
        cell.read_site = 0
        cell.value = 0
