"""The scheduler: which thread runs next, until it waits, and what happens when the last one has arrived.

All its state is in memory (`machine.Machine`), so that a run can be stopped for a look at the clock and continued. A
seed gives an order; the same seed gives the same run. Compiled by `gpu_runner.native`."""

from __future__ import annotations

from gpu_runner.cpu.collectives import complete
from gpu_runner.cpu.layout import CLUSTER_BARRIER, BarrierOp, Collective, SiteKind, Status, Thread
from gpu_runner.cpu.machine import BARRIERS, Machine, Notice, Outcome
from gpu_runner.cpu.notices import note
from gpu_runner.native.translate import address_of, call, logical_shift, native

_SHORT = 64
_LONG = 4096
"""Most fuel of a turn when the order is shuffled: both interleavings within a loop and whole phases are tried."""
_PATIENCE = 16
"""After so many turns lanes that ask who is active are answered although others of their block can go on: those may
wait for them in a loop."""
_STAYS = 4
"""One of so many blocks, and warps, is left out of a turn when the order is shuffled."""


@native
def draw(m: Machine, below: int) -> int:
    """A number from 0 on (xorshift64*)."""
    x = m.random
    x = x ^ logical_shift(x, 12)
    x = x ^ x << 25
    x = x ^ logical_shift(x, 27)
    m.random = x
    return logical_shift(x * 2685821657736338717, 33) % below


@native
def log(m: Machine, index: int, address: int, value: int, kind: int) -> None:
    """A record of the scheduler's own."""
    call(m.log, address_of(m.threads[index]), address, value, kind)


@native
def begin_thread(m: Machine, slot: int, block: int, number: int) -> None:
    """Set up a thread; it stops before its first instruction."""
    index = slot * m.threads_per_block + number
    thread = m.threads[index]
    thread.tid_x = number % m.block_x
    thread.tid_y = number // m.block_x % m.block_y
    thread.tid_z = number // (m.block_x * m.block_y)
    thread.ctaid_x = block % m.grid_x
    thread.ctaid_y = block // m.grid_x % m.grid_y
    thread.ctaid_z = block // (m.grid_x * m.grid_y)
    thread.thread = (block << m.shift) + number
    thread.lane = number & 31
    thread.warp = number >> 5
    thread.status = Status.READY
    thread.shared = m.shared_base + slot * m.shared_stride
    thread.local = m.local_base + index * m.local_stride
    thread.frame = m.frame_base + index * m.frame_stride
    thread.workspace = m.workspace_base + (slot * m.warps + thread.warp) * m.workspace_stride
    thread.products = 0
    thread.cluster_first = slot // m.cluster * m.cluster
    thread.cluster_rank = slot % m.cluster
    thread.cluster_phase = 0
    thread.cluster_arrivals = 0
    thread.cluster_key = m.cluster_base + ((m.next_block // m.cluster) << 4)
    thread.handle = call(m.kernel, address_of(thread))


@native
def begin_block(m: Machine, slot: int, block: int) -> None:
    """Put a block into a slot."""
    m.slot_block[slot] = block
    m.slot_alive[slot] = m.threads_per_block
    for barrier in range(BARRIERS):
        m.waiting[slot * BARRIERS + barrier] = 0
        m.arrived[slot * BARRIERS + barrier] = 0
    words = m.shared_stride >> 3
    for word in range(slot * words, (slot + 1) * words):
        m.shared[word] = 0
    for warp in range(m.warps):
        m.stepped[slot * m.warps + warp] = 0
        m.alive[slot * m.warps + warp] = (1 << min(32, m.threads_per_block - warp * 32)) - 1
    for number in range(m.threads_per_block):
        begin_thread(m, slot, block, number)
    log(m, slot * m.threads_per_block, 0, slot, SiteKind.BLOCK_BEGIN)


@native
def begin_cluster(m: Machine, slot: int) -> None:
    """Put the blocks of the next cluster, by their ranks, into slots from this one on, where these are free."""
    for other in range(slot, slot + m.cluster):
        if m.slot_block[other] >= 0:
            return
    group = slot // m.cluster
    m.cluster_arrived[group] = 0
    m.cluster_phase[group] = 0
    number = m.next_block // m.cluster
    wide = m.grid_x // m.cluster_x
    deep = m.grid_y // m.cluster_y
    x = number % wide * m.cluster_x
    y = number // wide % deep * m.cluster_y
    z = number // (wide * deep) * m.cluster_z
    for rank in range(m.cluster):
        own_x = x + rank % m.cluster_x
        own_y = y + rank // m.cluster_x % m.cluster_y
        own_z = z + rank // (m.cluster_x * m.cluster_y)
        begin_block(m, slot + rank, own_x + m.grid_x * (own_y + m.grid_y * own_z))
    m.next_block += m.cluster


@native
def meet_cluster(m: Machine, group: int) -> None:
    """See whether everybody is at the barrier of a cluster that has not ended, and let them go then."""
    alive = 0
    for slot in range(group * m.cluster, (group + 1) * m.cluster):
        alive += m.slot_alive[slot]
    if m.cluster_arrived[group] == 0 or m.cluster_arrived[group] < alive:
        return
    m.cluster_arrived[group] = 0
    m.cluster_phase[group] += 1
    count = m.cluster * m.threads_per_block
    for index in range(group * count, (group + 1) * count):
        thread = m.threads[index]
        if thread.status == Status.BARRIER and thread.a == CLUSTER_BARRIER:
            thread.status = Status.READY


@native
def arrive_in_cluster(m: Machine, slot: int, index: int) -> None:
    """A thread has come to the barrier of its cluster, or waits for those who have not."""
    thread = m.threads[index]
    group = slot // m.cluster
    if thread.op == BarrierOp.CLUSTER_ARRIVE:
        thread.status = Status.READY
        thread.cluster_phase = m.cluster_phase[group] + 1
        m.cluster_arrived[group] += 1
        meet_cluster(m, group)
    elif thread.cluster_phase != m.cluster_phase[group] + 1:
        thread.status = Status.READY


@native
def meet(m: Machine, slot: int, barrier: int) -> None:
    """Everybody has come to a barrier of the block: give results, note who stood elsewhere, and let them go. Threads
    may come to a number from several places (PTX ISA, "bar"), but not to that of ``__syncthreads``."""
    first = slot * m.threads_per_block
    total = 0
    met = 0
    leader = first
    for index in range(first, first + m.threads_per_block):
        thread = m.threads[index]
        if thread.status == Status.BARRIER and thread.a == barrier:
            if met == 0:
                leader = index
            elif barrier == 0 and thread.b == 0 and thread.site != m.threads[leader].site:
                note(m, Notice.DIVERGENT_BARRIER, m.threads[leader], thread, 0, 0)
            met += 1
            total += thread.c != 0
    whole = met == m.slot_alive[slot] and m.arrived[slot * BARRIERS + barrier] == 0
    for index in range(first, first + m.threads_per_block):
        thread = m.threads[index]
        if thread.status == Status.BARRIER and thread.a == barrier:
            if not whole:
                log(m, index, barrier, 0, SiteKind.JOIN_MEMBER)
            if thread.op == BarrierOp.POPC:
                thread.result = total
            elif thread.op == BarrierOp.AND:
                thread.result = total == met
            elif thread.op == BarrierOp.OR:
                thread.result = total != 0
            thread.status = Status.READY
    log(m, first, barrier, 0, SiteKind.BLOCK_BARRIER if whole else SiteKind.JOIN_END)
    m.waiting[slot * BARRIERS + barrier] = 0
    m.arrived[slot * BARRIERS + barrier] = 0


@native
def arrive(m: Machine, slot: int, index: int) -> None:
    """A thread has come to a barrier of its block, or its cluster."""
    thread = m.threads[index]
    if thread.op >= BarrierOp.CLUSTER_ARRIVE:
        arrive_in_cluster(m, slot, index)
        return
    barrier = thread.a & (BARRIERS - 1)
    at = slot * BARRIERS + barrier
    if thread.op == BarrierOp.ARRIVE:
        m.arrived[at] += 1
        thread.status = Status.READY
        log(m, index, barrier, 0, SiteKind.JOIN_ARRIVE)
    else:
        m.waiting[at] += 1
    expected = thread.b if thread.b != 0 else m.slot_alive[slot]
    if m.waiting[at] + m.arrived[at] >= expected:
        meet(m, slot, barrier)


@native
def finish(m: Machine, first: int, lanes: int, op: int, ended: int) -> None:
    """The lanes of a collective are together. `ended`: those that it names besides and that have ended, which count as
    there."""
    complete(m, first, lanes, op)
    leader = 32
    for lane in range(32):
        if lanes >> lane & 1:
            m.threads[first + lane].status = Status.READY
            leader = min(leader, lane)
    if op == Collective.SYNC:
        log(m, first + leader, 0, lanes | ended, SiteKind.WARP_SYNC)


@native
def collect(m: Machine, slot: int, index: int) -> None:
    """See whether the collective that a thread waits for has everybody in it. A lane that is not in its own mask waits
    for nobody: what it gets is undefined."""
    thread = m.threads[index]
    first = index - thread.lane
    named = thread.mask & ((1 << min(32, m.threads_per_block - thread.warp * 32)) - 1)
    mask = named & m.alive[slot * m.warps + thread.warp]
    if not thread.mask >> thread.lane & 1:
        note(m, Notice.LANE_NOT_IN_MASK, thread, thread, thread.op, 0)
        finish(m, first, 1 << thread.lane, thread.op, 0)
        return
    for lane in range(32):
        if mask >> lane & 1:
            other = m.threads[first + lane]
            if other.status != Status.COLLECTIVE or other.op != thread.op or other.mask != thread.mask:
                return
    finish(m, first, mask, thread.op, named & ~mask)


@native
def waits_for_lanes(thread: Thread) -> int:
    """Whether a thread at a collective waits for those in its mask."""
    return thread.op != Collective.ACTIVE_MASK and thread.op != Collective.LOCK_STEP


@native
def leave(m: Machine, slot: int, index: int) -> None:
    """A thread has ended: those who wait for all that are left may be complete now."""
    thread = m.threads[index]
    if thread.status == Status.FAULTED:
        note(m, Notice.FAULT, thread, thread, thread.op, thread.a)
    m.slot_alive[slot] -= 1
    warp = slot * m.warps + thread.warp
    m.alive[warp] = m.alive[warp] & ~(1 << thread.lane)
    group = slot // m.cluster
    if thread.cluster_phase == m.cluster_phase[group] + 1:
        m.cluster_arrived[group] -= 1
    meet_cluster(m, group)
    for barrier in range(BARRIERS):
        at = slot * BARRIERS + barrier
        if m.waiting[at] > 0 and m.waiting[at] + m.arrived[at] >= m.slot_alive[slot]:
            for number in range(m.threads_per_block):
                other = m.threads[slot * m.threads_per_block + number]
                if other.status == Status.BARRIER and other.a == barrier:
                    if other.b == 0:
                        meet(m, slot, barrier)
                    break
    first = index - thread.lane
    for lane in range(32):
        if m.alive[warp] >> lane & 1:
            other = m.threads[first + lane]
            if other.status == Status.COLLECTIVE and waits_for_lanes(other):
                collect(m, slot, first + lane)


@native
def settle_active_masks(m: Machine, slot: int) -> int:
    """Nobody of the block can go on: lanes that ask who is active are answered, by the instruction they are at."""
    settled = 0
    for warp in range(m.warps):
        first = slot * m.threads_per_block + warp * 32
        lanes = 1
        while lanes != 0:
            lanes = 0
            site = -1
            for lane in range(32):
                if m.alive[slot * m.warps + warp] >> lane & 1:
                    thread = m.threads[first + lane]
                    if thread.status == Status.COLLECTIVE and thread.op == Collective.ACTIVE_MASK:
                        if site < 0:
                            site = thread.site
                        if thread.site == site:
                            lanes = lanes | 1 << lane
            if lanes != 0:
                finish(m, first, lanes, Collective.ACTIVE_MASK, 0)
                settled = 1
    return settled


@native
def step_together(m: Machine, slot: int) -> int:
    """Nobody of the block can go on: of each warp in lock-step, the lanes that are behind all others in the text make
    their access. What these lanes did before is ordered before it, and it is before whatever any of them does next."""
    stepped = 0
    for warp in range(m.warps):
        first = slot * m.threads_per_block + warp * 32
        alive = m.alive[slot * m.warps + warp]
        lanes = 0
        place = 0
        leader = 0
        for lane in range(32):
            if alive >> lane & 1:
                thread = m.threads[first + lane]
                if thread.status == Status.COLLECTIVE and thread.op == Collective.LOCK_STEP:
                    if lanes == 0 or thread.b < place:
                        lanes = 0
                        place = thread.b
                        leader = lane
                    if thread.b == place:
                        lanes = lanes | 1 << lane
        if lanes != 0:
            stepped = 1
            for lane in range(32):
                if lanes >> lane & 1:
                    m.threads[first + lane].status = Status.READY
            before = m.stepped[slot * m.warps + warp]
            if before != lanes and before != 0:
                log(m, first, 0, before, SiteKind.WARP_SYNC)
            log(m, first + leader, 0, lanes, SiteKind.WARP_SYNC)
            m.stepped[slot * m.warps + warp] = lanes
    return stepped


@native
def run_thread(m: Machine, slot: int, index: int) -> None:
    """Resume a thread that is ready and see to what it waits for then."""
    thread = m.threads[index]
    thread.fuel = m.fuel
    if m.shuffle:
        thread.fuel = 1 + draw(m, _SHORT if draw(m, 2) else _LONG)
    call(m.resume, thread.handle)
    if thread.status == Status.READY or (thread.status == Status.COLLECTIVE and thread.op == Collective.LOCK_STEP):
        return
    m.moved += 1
    if thread.status == Status.BARRIER:
        arrive(m, slot, index)
    elif thread.status == Status.COLLECTIVE:
        if waits_for_lanes(thread):
            collect(m, slot, index)
    else:
        leave(m, slot, index)


@native
def run_block(m: Machine, slot: int) -> int:
    """Run every thread of a block that is ready, each until it waits; whether there was one. In a shuffled order blocks
    and warps stay behind for a turn now and then."""
    ran = 0
    start = draw(m, m.warps) if m.shuffle else 0
    block_stays = m.shuffle and draw(m, _STAYS) == 0
    for step in range(m.warps):
        warp = (start + step) % m.warps
        stays = block_stays or (m.shuffle and draw(m, _STAYS) == 0)
        lanes = min(32, m.threads_per_block - warp * 32)
        first = slot * m.threads_per_block + warp * 32
        begin = draw(m, lanes) if m.shuffle else 0
        for turn in range(lanes):
            index = first + (begin + turn) % lanes
            if m.threads[index].status == Status.READY:
                ran = 1
                if not stays and m.stop == 0:
                    run_thread(m, slot, index)
    return ran


@native
def run(m: Machine, turns: int) -> int:
    """Give so many turns to the resident blocks; an `Outcome`."""
    for turn in range(turns):
        busy = 0
        ran = 0
        start = draw(m, m.admitted) if m.shuffle else 0
        for step in range(m.admitted):
            slot = (start + step) % m.admitted
            if slot % m.cluster == 0 and m.next_block < m.blocks:
                begin_cluster(m, slot)
            if m.slot_block[slot] >= 0:
                busy = 1
                if run_block(m, slot):
                    ran = 1
                    if turn % _PATIENCE == _PATIENCE - 1:
                        settle_active_masks(m, slot)
                elif settle_active_masks(m, slot) or step_together(m, slot):
                    ran = 1
                if m.slot_alive[slot] == 0:
                    m.slot_block[slot] = -1
                    ran = 1
        if not busy:
            return Outcome.DONE
        if not ran:
            return Outcome.STUCK
    return Outcome.PAUSED
