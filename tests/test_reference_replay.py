"""Replaying two threads alone: what is certain, what memory decides, what does not happen."""

import pytest

from analyzers.ir import expr as e
from analyzers.ir import kernel as k
from analyzers.reference.builder import KernelBuilder, V, both
from analyzers.reference.interpreter import run
from analyzers.reference.launch import ConcreteLaunch
from analyzers.reference.races import races
from analyzers.reference.replay import Replay, replay, replay_assertion, replay_divergence, replay_unnamed
from analyzers.reference.trace import Data

BLOCK = (0, 0, 0)


def block(threads: int, blocks: int = 1, **values: int) -> ConcreteLaunch:
    return ConcreteLaunch(grid=(blocks, 1, 1), block=(threads, 1, 1), values=values)


def one(
    kernel: k.Kernel, launch: ConcreteLaunch, t1: int, t2: int, event1: int, event2: int, data: Data | None = None
) -> Replay:
    return replay(kernel, launch, (BLOCK, (t1, 0, 0)), (BLOCK, (t2, 0, 0)), event1, event2, data)


def test_a_collision_without_any_data():
    b = KernelBuilder()
    s, n = b.shared("s", 1025), b.scalar("n")
    with b.if_(b.tid < n):
        write = b.store(s, b.tid, 1)
    b.load(s, b.tid + 1)
    found = one(b.build(), block(1024, n=600), 500, 499, write, 2)
    assert (found.outcome, found.object, found.address) == ("confirmed", "s", 2000)
    assert one(b.build(), block(1024, n=500), 500, 499, write, 2).text == "thread 1 does not come to the access"
    assert one(b.build(), block(1024, n=600), 500, 400, write, 2).text == "the accesses do not overlap"


def test_barriers_count_for_the_threads_of_their_group():
    b = KernelBuilder()
    s, out = b.shared("s", 64), b.global_("out")
    w, g = b.store(s, b.tid, 1), b.store(out, b.tid, 1)
    b.barrier()
    r, h = b.events + 1, b.events + 2
    b.load(s, b.tid ^ 1)
    b.load(out, b.tid)
    kernel = b.build()
    assert one(kernel, block(64), 0, 1, w, r).text == "barriers separate the accesses"
    launch = block(64, 2)
    assert replay(kernel, launch, (BLOCK, BLOCK), ((1, 0, 0), BLOCK), g, h).outcome == "confirmed"
    assert replay(kernel, launch, (BLOCK, BLOCK), ((1, 0, 0), (1, 0, 0)), w, r).outcome == "not-reached"


@pytest.mark.parametrize(("mask", "outcome"), [(0x3, "not-reached"), (0xC, "confirmed")])
def test_warp_barriers_count_for_the_lanes_they_name(mask: int, outcome: str):
    b = KernelBuilder()
    s = b.shared("s", 64)
    w = b.store(s, b.tid, 1)
    b.barrier("warp", mask)
    b.load(s, b.tid ^ 1)
    assert one(b.build(), block(64), 0, 1, w, 3).outcome == outcome


def test_tiles_count_for_their_threads():
    b = KernelBuilder()
    s = b.shared("s", 64)
    w = b.store(s, b.tid, 1)
    b.barrier("tile", tile=4)
    b.load(s, (b.tid + 3) % 64)
    assert one(b.build(), block(64), 3, 0, w, 3).outcome == "not-reached"
    assert one(b.build(), block(64), 6, 3, w, 3).outcome == "confirmed"


def test_a_guard_that_data_decides():
    b = KernelBuilder()
    a, s = b.global_("a"), b.shared("s", 1)
    with b.if_(b.load(a, b.tid) > 0):
        w = b.store(s, 0, b.tid)
    kernel = b.build()
    assert one(kernel, block(64), 0, 1, w, w).outcome == "not-reached"
    assert one(kernel, block(64), 0, 1, w, w, lambda name, offset, width: 5).outcome == "data-dependent"


def test_an_address_that_data_decides():
    b = KernelBuilder()
    index, a = b.global_("index"), b.global_("a")
    w = b.store(a, b.load(index, b.tid), 1)
    contents = {0: 7, 4: 7, 8: 6}

    def data(name: str, offset: int, width: int) -> int | None:
        return contents.get(offset) if name == "index" else None

    assert one(b.build(), block(64), 0, 1, w, w, data).outcome == "data-dependent"
    assert one(b.build(), block(64), 0, 2, w, w, data).outcome == "not-reached"


def test_a_stored_value_may_come_from_anywhere():
    b = KernelBuilder()
    a, s = b.global_("a"), b.shared("s", 1)
    w = b.store(s, 0, b.load(a, b.tid))
    assert one(b.build(), block(64), 0, 1, w, w).outcome == "confirmed"


def test_what_comes_after_a_branch_is_certain_again():
    b = KernelBuilder()
    a, s = b.global_("a"), b.shared("s", 64)
    chosen, other = b.let(b.tid), b.let(b.tid)
    with b.if_(b.load(a, b.tid) > 0):
        b.set(chosen, chosen + 1)
    plain = b.store(s, other // 2, 1)
    moved = b.store(s, chosen // 2, 1)
    kernel = b.build()
    assert one(kernel, block(64), 0, 1, plain, plain).outcome == "confirmed"
    assert one(kernel, block(64), 0, 1, moved, moved).outcome == "data-dependent"


def test_a_return_that_data_decides_casts_doubt_on_the_rest():
    b = KernelBuilder()
    a, s = b.global_("a"), b.shared("s", 64)
    with b.if_(b.load(a, b.tid) > 0):
        b.return_()
    w = b.store(s, 0, 1)
    assert one(b.build(), block(64), 0, 1, w, w).outcome == "data-dependent"


def test_a_continue_that_data_decides_casts_doubt_on_one_pass():
    b = KernelBuilder()
    a, s, t = b.global_("a"), b.shared("s", 64), b.shared("t", 64)
    with b.for_(0, 4) as (i, loop):
        before = b.store(s, i, b.tid)
        with b.if_(b.load(a, b.tid) > 0):
            b.continue_(loop)
        after = b.store(t, i, b.tid)
    kernel = b.build()
    assert one(kernel, block(64), 0, 1, before, before).outcome == "confirmed"
    assert one(kernel, block(64), 0, 1, after, after).outcome == "data-dependent"


def test_after_a_loop_that_data_ends():
    """However long the loop takes, both threads come to the store, in one interval."""
    b = KernelBuilder()
    s, t = b.shared("s", 64), b.shared("t", 64)
    with b.while_() as loop:
        inside = b.store(s, 0, b.tid)
        b.barrier()
        with b.if_(b.load(t, 0).ne(0)):
            b.exit(loop)
    after = b.store(s, 1, b.tid)
    kernel = b.build()
    assert one(kernel, block(64), 0, 1, after, after).outcome == "confirmed"
    assert one(kernel, block(64), 0, 1, inside, inside).outcome == "confirmed"


def test_iterations_of_one_interval_meet():
    b = KernelBuilder()
    s = b.shared("s", 64)
    with b.for_(0, 4) as (i, _):
        w = b.store(s, b.tid, i)
        with b.if_((i % 3).eq(0)):
            b.barrier()
        b.load(s, b.tid ^ 1)
    found = one(b.build(), block(64), 0, 1, w, 3)
    assert found.outcome == "confirmed"
    assert found.epochs == (1, 1)
    label = found.iterations[0][0][0]
    chosen = replay(
        b.build(), block(64), (BLOCK, BLOCK), (BLOCK, (1, 0, 0)), w, 3, iterations=(((label, 2),), ((label, 1),))
    )
    assert chosen.iterations == (((label, 2),), ((label, 1),))


def test_atomics_exchanges_and_reductions_are_data():
    def kernel(value: str) -> k.Kernel:
        b = KernelBuilder()
        a, s = b.global_("a"), b.shared("s", 64)
        if value == "atomic":
            v = b.atomic("add", a, 0, 1)
        elif value == "exchange":
            v = b.collective("__shfl_sync", 0xFFFFFFFF, b.tid, 0)
        else:
            v = b.reducing_barrier("or", b.tid < 1)
        b.store(s, v * 0 + v // 64, 1)
        return b.build()

    for value in ("atomic", "exchange", "reduction"):
        assert one(kernel(value), block(64), 0, 1, 2, 2).outcome == "data-dependent"


def test_local_arrays_keep_what_is_certain():
    b = KernelBuilder()
    a, s, known, unknown = b.global_("a"), b.shared("s", 64), b.local("known", 4), b.local("unknown", 4)
    b.store(known, 1, b.tid // 2)
    b.store(unknown, 1, b.load(a, 0))
    certain = b.store(s, b.load(known, 1), 1)
    loose = b.store(s, b.load(unknown, 1), 1)
    blank = b.store(s, b.load(known, 2) * 0, 1)
    b.store(known, b.load(a, 0) % 4, 0)
    smeared = b.store(s, b.load(known, 1), 1)
    kernel = b.build()
    outcomes = [one(kernel, block(64), 0, 1, w, w).outcome for w in (certain, loose, blank, smeared)]
    assert outcomes == ["confirmed", "data-dependent", "confirmed", "data-dependent"]


def test_the_decisive_side_of_a_connective_is_enough():
    b = KernelBuilder()
    a, s, n = b.global_("a"), b.shared("s", 64), b.scalar("n")
    v = b.load(a, b.tid)
    with b.if_(both(n > 10, v > 3)):
        b.return_()
    w = b.store(s, 0, 1)
    assert one(b.build(), block(64, n=5), 0, 1, w, w).outcome == "confirmed"
    assert one(b.build(), block(64, n=50), 0, 1, w, w).outcome == "data-dependent"


def test_pointers_from_memory_that_nobody_writes():
    def kernel(read_only: bool) -> k.Kernel:
        b = KernelBuilder()
        table = b.global_("table", e.PTR)
        if read_only:
            o = b.objects[0]
            b.objects[0] = k.MemObject(o.name, o.space, o.kind, o.size, o.element, read_only=True)
        row = b.load(table, b.tid // 2)
        b.store(row, 0, 1)
        return b.build()

    assert one(kernel(read_only=True), block(64), 0, 1, 2, 2).outcome == "confirmed"
    assert one(kernel(read_only=True), block(64), 1, 2, 2, 2).outcome == "not-reached"
    assert one(kernel(read_only=False), block(64), 0, 1, 2, 2).outcome == "data-dependent"


def test_assumptions_on_data_hold():
    b = KernelBuilder()
    a, s, n = b.global_("a"), b.shared("s", 64), b.scalar("n")
    b.assume(b.load(a, 0) > 3, "assert")
    b.assume(n > 3)
    w = b.store(s, 0, 1)
    assert one(b.build(), block(64, n=4), 0, 1, w, w).outcome == "confirmed"
    assert one(b.build(), block(64, n=3), 0, 1, w, w).text == "thread 1 violates an assumption (assume)"


def test_endless_loops_and_undefined_arithmetic():
    b = KernelBuilder()
    s, n = b.shared("s", 64), b.scalar("n")
    w = b.store(s, V(e.make("mul", e.I32, (n.expr, n.expr))) * 0, 1)
    with b.while_():
        b.let(1)
    x = b.store(s, 0, 1)
    kernel = b.build()
    assert one(kernel, block(64, n=70000), 0, 1, w, w).outcome == "confirmed"
    assert one(kernel, block(64, n=70000), 0, 1, x, x).text == "thread 1 did not end within 100000 steps"


def test_overflow_on_the_way_is_reported():
    b = KernelBuilder()
    s, n = b.shared("s", 64), b.scalar("n")
    w = b.store(s, (n * n) % 2 * b.tid // 64, 1)
    assert one(b.build(), block(64, n=70000), 0, 1, w, w).undefined == ("signed-overflow",)
    assert one(b.build(), block(64, n=70), 0, 1, w, w).undefined == ()


def test_what_comes_after_the_collision_does_not_matter():
    b = KernelBuilder()
    s, n = b.shared("s", 64), b.scalar("n")
    w = b.store(s, 0, 1)
    b.let(n * n)
    with b.while_():
        b.let(1)
    found = one(b.build(), block(64, n=70000), 0, 1, w, w)
    assert (found.outcome, found.undefined) == ("confirmed", ())


def test_divergence():
    b = KernelBuilder()
    a, n = b.global_("a"), b.scalar("n")
    with b.if_(b.tid >= n):
        b.return_()
    first = b.barrier()
    with b.if_(b.tid < 4):
        second = b.barrier()
    with b.if_(b.load(a, b.tid) > 0):
        third = b.barrier()
    kernel = b.build()

    def diverges(t1: int, t2: int, barrier: int, data: Data | None = None) -> str:
        return replay_divergence(
            kernel, block(64, n=8), (BLOCK, (t1, 0, 0)), (BLOCK, (t2, 0, 0)), barrier, data
        ).outcome

    assert diverges(0, 8, first) == "after-exit"
    assert diverges(0, 7, first) == "not-reached"
    assert diverges(0, 7, second) == "confirmed"
    assert diverges(0, 1, second) == "not-reached"
    assert diverges(0, 1, third, lambda name, offset, width: int(offset == 0)) == "data-dependent"


def test_threads_that_pass_the_same_barriers():
    def outcome(data: bool, within: bool) -> str:
        b = KernelBuilder()
        s = b.shared("s", 64)
        with b.if_(b.load(s, 7) > 0 if data else b.tid < 50):
            b.store(s, b.tid, 1)
            if within:
                b.barrier()
        barrier = b.barrier()
        return replay_divergence(b.build(), block(64), (BLOCK, (1, 0, 0)), (BLOCK, (41, 0, 0)), barrier).outcome

    assert outcome(data=False, within=False) == "refuted"
    assert outcome(data=False, within=True) == "refuted"
    assert outcome(data=True, within=False) == "refuted", "no barrier depends on the data"
    assert outcome(data=True, within=True) == "not-reached"


def test_agrees_with_the_full_execution():
    """A confirmed collision of two threads is a race of every execution, whatever the memory holds."""
    b = KernelBuilder()
    s, a = b.shared("s", 64), b.global_("a")
    v = b.load(a, b.tid)
    with b.if_(v > 3):
        b.store(s, b.tid, 1)
    b.store(s, b.tid ^ 1, 2)
    with b.for_(0, 3) as (i, _):
        b.load(s, (b.tid + i) % 8)
        b.barrier()
    kernel, launch = b.build(), block(8)
    seen = [{r.events for r in races(run(kernel, ConcreteLaunch(block=(8, 1, 1), seed=s)))} for s in range(6)]
    events = (2, 3, 4)
    for x in events:
        for y in events:
            confirmed = any(
                one(kernel, launch, t, u, x, y).outcome == "confirmed" for t in range(8) for u in range(8) if t != u
            )
            writes = {2, 3} & {x, y}
            if confirmed and writes:
                assert all((min(x, y), max(x, y)) in found for found in seen)


def asserting(thread: int, guard: str, **values: int) -> str:
    b = KernelBuilder()
    s, n = b.shared("s", 64), b.scalar("n")
    read = b.load(s, b.tid)
    with b.if_({"none": b.tid >= 0, "own": b.tid > 4, "data": read > 0}[guard]):
        b.assume(b.tid < n, "assert")
    kernel = b.build()
    (statement,) = [x for x in k.statements(kernel.body) if isinstance(x, k.Assume)]
    return replay_assertion(kernel, block(32, **values), (BLOCK, (thread, 0, 0)), statement.site).outcome


def test_an_assertion_that_a_thread_fails():
    assert asserting(9, "none", n=9) == "confirmed"
    assert asserting(8, "none", n=9) == "not-reached"
    assert asserting(9, "own", n=9) == "confirmed"
    assert asserting(3, "own", n=2) == "not-reached"


def test_an_assertion_that_memory_leads_to():
    assert asserting(9, "data", n=9) in ("data-dependent", "not-reached")


def unnamed(thread: int, form: str, mask: int, guard: str = "none") -> str:
    b = KernelBuilder()
    s = b.shared("s", 64)
    read = b.load(s, b.tid)
    with b.if_({"none": b.tid >= 0, "own": b.tid < 16, "data": read > 0}[guard]):
        if form == "barrier":
            b.barrier("warp", mask)
        else:
            b.collective("__shfl_sync", mask, b.tid, 0)
    kernel = b.build()
    (event,) = [x.id for x in k.statements(kernel.body) if isinstance(x, (k.Barrier, k.Collective))]
    return replay_unnamed(kernel, block(64), (BLOCK, (thread, 0, 0)), event).outcome


@pytest.mark.parametrize("form", ["barrier", "exchange"])
def test_a_mask_that_does_not_name_the_thread(form: str) -> None:
    assert unnamed(8, form, 0xFF) == "confirmed"
    assert unnamed(7, form, 0xFF) == "not-reached"
    assert unnamed(39, form, 0xFF) == "not-reached"
    assert unnamed(40, form, 0xFF) == "confirmed"
    assert unnamed(15, form, 0xFF, "own") == "confirmed"
    assert unnamed(16, form, 0xFF, "own") == "not-reached"
    assert unnamed(8, form, 0xFF, "data") in ("data-dependent", "not-reached")


@pytest.mark.parametrize(("rounds", "outcome"), [(2, "not-reached"), (1, "confirmed")])
def test_lanes_meet_at_a_barrier_of_the_warp_in_different_rounds(rounds: int, outcome: str) -> None:
    """Of the two none misses it, where both come to it once; that says nothing of others."""
    b = KernelBuilder()
    with b.for_(0, rounds) as (i, _), b.if_(i.eq(b.tid)):
        barrier = b.barrier("warp")
    found = replay_divergence(b.build(), block(32), (BLOCK, (0, 0, 0)), (BLOCK, (1, 0, 0)), barrier)
    assert found.outcome == outcome
