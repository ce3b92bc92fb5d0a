"""Happens-before truth of one execution: races, benign pairs, divergent barriers, needless barriers."""

import pytest

from analyzers.ir import expr as e
from analyzers.ir import kernel as k
from analyzers.reference.builder import KernelBuilder, choose
from analyzers.reference.interpreter import run
from analyzers.reference.launch import ConcreteLaunch
from analyzers.reference.races import ConcreteRace, divergences, orders_nothing, races


def block(threads: int, blocks: int = 1) -> ConcreteLaunch:
    return ConcreteLaunch(grid=(blocks, 1, 1), block=(threads, 1, 1))


def found(kernel: k.Kernel, launch: ConcreteLaunch) -> list[ConcreteRace]:
    result = run(kernel, launch)
    assert result.outcome == "finished", result.reason
    return races(result)


def pairs(kernel: k.Kernel, launch: ConcreteLaunch) -> list[tuple[tuple[int, int], str]]:
    return [(r.events, r.scope) for r in found(kernel, launch)]


def shift(barrier: bool) -> k.Kernel:
    b = KernelBuilder()
    s, out = b.shared("s", 65), b.global_("out")
    b.store(s, b.tid, b.tid)
    if barrier:
        b.barrier()
    b.store(out, b.tid, b.load(s, b.tid + 1))
    return b.build()


def test_a_barrier_orders_the_threads_of_its_block():
    assert pairs(shift(barrier=False), block(64)) == [((1, 2), "intra-block"), ((1, 2), "intra-warp")]
    assert pairs(shift(barrier=False), block(32)) == [((1, 2), "intra-warp")]
    assert pairs(shift(barrier=True), block(64)) == []


def test_nothing_in_a_block_orders_other_blocks():
    b = KernelBuilder()
    out = b.global_("out")
    b.store(out, b.tid, b.bid)
    b.barrier()
    b.load(out, b.tid)
    kernel = b.build()
    assert pairs(kernel, block(2)) == []
    assert pairs(kernel, block(2, 2)) == [((1, 1), "inter-block"), ((1, 3), "inter-block")]


def test_shared_memory_belongs_to_its_block():
    b = KernelBuilder()
    s = b.shared("s", 1)
    b.store(s, 0, b.bid)
    assert pairs(b.build(), block(1, 4)) == []


def test_a_grid_barrier_orders_blocks():
    b = KernelBuilder()
    out = b.global_("out")
    b.store(out, b.bid, 1)
    b.barrier("grid")
    b.load(out, b.bid ^ 1)
    assert pairs(b.build(), block(1, 2)) == []


def test_a_sometimes_executed_barrier_in_a_loop():
    b = KernelBuilder()
    s = b.shared("s", 64)
    with b.for_(0, 3) as (i, _):
        b.store(s, b.tid, i)
        with b.if_((i % 2).eq(0)):
            b.barrier()
        b.load(s, b.tid ^ 1)
    assert pairs(b.build(), block(4)) == [((1, 3), "intra-warp")]


def test_overlap_is_by_bytes():
    b = KernelBuilder()
    s = b.shared("s", 16, e.U8)
    b.store(s, b.tid * 4, 1)
    wide = e.ptradd(e.addr("s"), e.const(0, e.I64))
    with b.if_(b.tid.eq(1)):
        b.emit(k.Load(9, "w", e.I32, wide, 4, b.site()))
    assert [r.events for r in found(b.build(), block(2))] == [(1, 9)]


def test_atomics_exclude_each_other_within_their_scope():
    def counts(scope: k.Scope, plain: bool) -> k.Kernel:
        b = KernelBuilder()
        a = b.global_("a")
        b.atomic("add", a, 0, 1, scope=scope)
        if plain:
            b.load(a, 0)
        return b.build()

    assert pairs(counts("grid", plain=False), block(2, 2)) == []
    assert pairs(counts("block", plain=False), block(2, 2)) == [((1, 1), "inter-block")]
    assert pairs(counts("block", plain=False), block(2)) == []
    assert pairs(counts("warp", plain=False), block(33)) == [((1, 1), "intra-block")]
    assert pairs(counts("grid", plain=True), block(2)) == [((1, 2), "intra-warp")]


def test_atomics_of_different_size_race():
    b = KernelBuilder()
    a = b.global_("a", e.U64)
    b.atomic("add", a, 0, 1)
    b.emit(k.Atomic(7, None, "add", e.U32, e.addr("a"), (e.const(1, e.U32),), 4, "grid", "relaxed", b.site()))
    assert pairs(b.build(), block(2)) == [((1, 7), "intra-warp")]


def test_volatile_accesses_do_not_race_with_each_other():
    b = KernelBuilder()
    flag = b.global_("flag")
    b.store(flag, 0, 1, volatile=True)
    b.load(flag, 0, volatile=True)
    b.load(flag, 0)
    assert [r.events for r in found(b.build(), block(2, 2))] == [(1, 3), (1, 3)]


def test_writes_of_one_value_are_benign_until_somebody_reads():
    def kernel(value_of_thread: bool, read: bool) -> k.Kernel:
        b = KernelBuilder()
        done = b.global_("done")
        b.store(done, 0, b.tid if value_of_thread else 1)
        if read:
            b.load(done, 0)
        return b.build()

    assert [r.benign for r in found(kernel(value_of_thread=False, read=False), block(4))] == [True]
    assert [r.benign for r in found(kernel(value_of_thread=True, read=False), block(4))] == [False]
    assert [r.benign for r in found(kernel(value_of_thread=False, read=True), block(4))] == [False, False]


def test_benign_is_judged_byte_by_byte():
    """A harmful neighbour in the same word does not make the other cell harmful."""
    b = KernelBuilder()
    a = b.global_("a")
    b.store(a, 0, 1)
    b.store(a, 1, b.tid)
    assert [(r.events, r.benign) for r in found(b.build(), block(2))] == [((1, 1), True), ((2, 2), False)]


def test_warp_barriers_order_the_lanes_they_name():
    def kernel(mask: int) -> k.Kernel:
        b = KernelBuilder()
        s = b.shared("s", 64)
        with b.if_(b.tid < 4):
            b.store(s, b.tid, 1)
            b.barrier("warp", mask)
            b.load(s, b.tid ^ 2)
        return b.build()

    assert pairs(kernel(0xF), block(32)) == []
    result = run(kernel(0x3), block(32))
    assert [r.events for r in races(result)] == [(1, 3)]


def test_a_warp_barrier_orders_one_warp():
    b = KernelBuilder()
    s = b.shared("s", 64)
    b.store(s, b.tid, 1)
    b.barrier("warp")
    b.load(s, (b.tid + 1) % 64)
    assert pairs(b.build(), block(64)) == [((1, 3), "intra-block")]


def test_order_is_transitive_over_barriers_of_different_groups():
    """Lane 0 learns of lane 1's write at the warp barrier and passes it on to the other warp at the tile barrier."""
    b = KernelBuilder()
    s = b.shared("s", 4)
    with b.if_(b.tid.eq(1)):
        b.store(s, 0, 1)
    b.barrier("warp")
    b.barrier("tile", tile=64)
    with b.if_(b.tid.eq(40)):
        b.load(s, 0)
    assert pairs(b.build(), block(64)) == []


def test_what_a_thread_did_before_it_returned_comes_before_the_next_barrier():
    b = KernelBuilder()
    s = b.shared("s", 4)
    write = b.store(s, 0, b.tid)
    with b.if_(b.tid < 2):
        b.return_()
    barrier = b.barrier()
    with b.if_(b.tid.eq(2)):
        b.load(s, 0)
    result = run(b.build(), block(4))
    assert [r.events for r in races(result)] == [(write, write)]
    assert len(races(result, frozenset({barrier}))) == 2


@pytest.mark.parametrize(("tile", "expected"), [(4, [((1, 3), "intra-warp")]), (8, [])])
def test_tiles(tile: int, expected: list[object]):
    b = KernelBuilder()
    s = b.shared("s", 32)
    b.store(s, b.tid, 1)
    b.barrier("tile", tile=tile)
    b.load(s, b.tid ^ 4)
    assert pairs(b.build(), block(32)) == expected


def test_lock_step_orders_different_instructions_of_a_warp():
    result = run(shift(barrier=False), block(64))
    assert [r.scope for r in races(result, warp_lockstep=True)] == ["intra-block"]


def test_a_barrier_that_orders_nothing():
    b = KernelBuilder()
    s = b.shared("s", 64)
    b.store(s, b.tid, 1)
    needless = b.barrier()
    b.load(s, b.tid)
    needed = b.barrier()
    b.store(s, b.tid ^ 1, 2)
    result = run(b.build(), block(64))
    assert races(result) == []
    assert orders_nothing(result, needless)
    assert not orders_nothing(result, needed)
    assert {r.events for r in races(result, frozenset({needed}))} == {(3, 5)}
    assert {r.events for r in races(result, frozenset({needless, needed}))} == {(1, 5), (3, 5)}


def test_leaving_the_array_named_is_marked():
    b = KernelBuilder()
    s = b.shared("s", 4)
    b.store(s, b.tid + b.bdim // 2, b.tid)
    b.load(s, b.tid)
    assert {(r.events, r.in_bounds) for r in found(b.build(), block(8))} == {((1, 2), False)}


# --- divergence ------------------------------------------------------------------------------------------------


def diverging(b: KernelBuilder, launch: ConcreteLaunch) -> list[tuple[str, int, str]]:
    result = run(b.build(), launch)
    assert result.outcome == "finished"
    return [(d.kind, d.barrier, d.scope) for d in divergences(result)]


def test_a_barrier_under_a_thread_dependent_condition():
    b = KernelBuilder()
    with b.if_(b.tid < 2):
        inside = b.barrier()
    assert diverging(b, block(4)) == [("divergence", inside, "block")]
    assert diverging(b, block(2)) == []


def test_threads_waiting_at_different_barriers():
    b = KernelBuilder()
    with b.if_(b.tid < 2):
        first = b.barrier()
    with b.else_():
        second = b.barrier()
    assert diverging(b, block(4)) == [("divergence", first, "block"), ("divergence", second, "block")]


def test_a_barrier_that_others_come_to_later_is_not_missed():
    b = KernelBuilder()
    with b.if_(b.tid < 2):
        inside = b.barrier()
    b.barrier()
    assert diverging(b, block(4)) == [("divergence", inside, "block")]


def test_an_early_return_is_told_apart():
    b = KernelBuilder()
    n = b.scalar("n")
    with b.if_(b.tid >= n):
        b.return_()
    after = b.barrier()
    launch = ConcreteLaunch(block=(4, 1, 1), values={"n": 3})
    assert diverging(b, launch) == [("after-exit", after, "block")]


def test_a_return_in_the_other_branch_is_an_early_return():
    b = KernelBuilder()
    with b.if_(b.tid < 2):
        inside = b.barrier()
    with b.else_():
        b.return_()
    assert diverging(b, block(4)) == [("after-exit", inside, "block")]


def test_a_return_past_the_barrier_is_a_divergence():
    b = KernelBuilder()
    with b.if_(b.tid < 2):
        inside = b.barrier()
    with b.if_(b.tid >= 2):
        b.return_()
    assert diverging(b, block(4)) == [("divergence", inside, "block")]


def test_a_return_in_a_loop_before_the_next_barrier():
    b = KernelBuilder()
    with b.for_(0, 3) as (i, _):
        inside = b.barrier()
        with b.if_(b.tid.eq(i)):
            b.return_()
    assert diverging(b, block(4)) == [("after-exit", inside, "block")]


def test_a_thread_dependent_number_of_iterations():
    b = KernelBuilder()
    with b.for_(0, b.tid + 1):
        inside = b.barrier()
    assert diverging(b, block(4)) == [("divergence", inside, "block")]


def test_the_same_barrier_in_different_iterations():
    b = KernelBuilder()
    with b.for_(0, 4) as (i, _), b.if_(((i + b.tid) % 2).eq(0)):
        inside = b.barrier()
    assert ("divergence", inside, "block") in diverging(b, block(2))


def test_a_warp_barrier_waits_for_no_thread_that_has_ended():
    b = KernelBuilder()
    with b.if_(b.tid >= 4):
        b.return_()
    b.barrier("warp")
    assert diverging(b, block(32)) == []


def test_a_warp_barrier_some_lanes_go_past():
    b = KernelBuilder()
    with b.if_(b.tid < 4):
        inside = b.barrier("warp")
    b.let(choose(b.tid < 3, b.tid, 0))
    assert diverging(b, block(32)) == [("divergence", inside, "warp")]


def test_a_warp_barrier_against_a_block_barrier():
    b = KernelBuilder()
    with b.if_(b.tid < 4):
        warp = b.barrier("warp")
    b.barrier()
    assert ("divergence", warp, "warp") in diverging(b, block(32))


def test_lanes_at_a_vote_have_missed_the_warp_barrier_before_it():
    """Not the vote: the others come to that once they are let go."""
    b = KernelBuilder()
    with b.if_(b.tid < 2):
        warp = b.barrier("warp")
    b.collective("__any_sync", 0xFFFFFFFF, b.tid)
    b.barrier("warp")
    assert diverging(b, block(4)) == [("divergence", warp, "warp")]


def test_lanes_at_a_vote_have_missed_the_barrier_before_it():
    b = KernelBuilder()
    with b.if_(b.tid < 2):
        whole = b.barrier()
    b.collective("__any_sync", 0xFFFFFFFF, b.tid)
    assert diverging(b, block(4)) == [("divergence", whole, "block")]
