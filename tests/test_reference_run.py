"""The interpreter: values, memory, barriers, warp exchanges, limits."""

import pytest

from analyzers.ir import expr as e
from analyzers.ir import kernel as k
from analyzers.reference.builder import KernelBuilder, V, choose
from analyzers.reference.interpreter import run
from analyzers.reference.launch import ConcreteLaunch, Limits
from analyzers.reference.races import divergences, races


def final(
    kernel: k.Kernel, launch: ConcreteLaunch, name: str, count: int, width: int = 4, schedule: int = 0
) -> list[int]:
    result = run(kernel, launch, schedule)
    assert result.outcome == "finished", result.reason
    return [result.read(name, i * width, width) for i in range(count)]


def test_tree_reduction_in_shared_memory():
    b = KernelBuilder()
    s, a, out = b.shared("s", 64), b.global_("a"), b.global_("out")
    b.store(s, b.tid, b.load(a, b.tid))
    b.barrier()
    step = b.let(b.bdim // 2)
    with b.while_(step > 0):
        with b.if_(b.tid < step):
            b.store(s, b.tid, b.load(s, b.tid) + b.load(s, b.tid + step))
        b.barrier()
        b.set(step, step >> 1)
    with b.if_(b.tid.eq(0)):
        b.store(out, 0, b.load(s, 0))
    kernel = b.build()
    for schedule in range(3):
        launch = ConcreteLaunch(block=(64, 1, 1), arrays={"a": list(range(64))})
        assert final(kernel, launch, "out", 1, schedule=schedule) == [sum(range(64))]
        assert races(run(kernel, launch, schedule)) == []


@pytest.mark.parametrize(
    ("op", "ty", "a", "b", "expected"),
    [
        ("add", e.U32, 0xFFFFFFFF, 2, 1),
        ("sub", e.U32, 0, 1, 0xFFFFFFFF),
        ("mul", e.I32, 0x10000, 0x10000, 0),
        ("div", e.I32, -7, 2, -3),
        ("rem", e.I32, -7, 2, -1),
        ("rem", e.I32, 7, -2, 1),
        ("div", e.U32, 0xFFFFFFF9, 2, 0x7FFFFFFC),
        ("shr", e.I32, -8, 1, -4),
        ("shr", e.U32, 0xFFFFFFF8, 1, 0x7FFFFFFC),
        ("shl", e.U32, 0x80000001, 1, 2),
        ("xor", e.I32, -1, 5, -6),
        ("div", e.I32, 5, 0, -1),
        ("shl", e.I32, 1, 40, 0),
        ("add", e.I8, 127, 1, -128),
    ],
)
def test_integer_arithmetic_is_c(op: str, ty: e.IntType, a: int, b: int, expected: int):
    builder = KernelBuilder()
    out, x, y = builder.global_("out", ty), builder.scalar("x", ty), builder.scalar("y", ty)
    builder.store(out, 0, V(e.make(op, ty, (x.expr, y.expr))))
    launch = ConcreteLaunch(values={"x": a, "y": b})
    width = ty.width // 8
    assert ty.wrap(final(builder.build(), launch, "out", 1, width)[0]) == expected


def test_undefined_operations_are_noted():
    def undefined(op: str, a: int, b: int) -> set[str]:
        builder = KernelBuilder()
        out, x, y = builder.global_("out"), builder.scalar("x"), builder.scalar("y")
        builder.store(out, 0, V(e.make(op, e.I32, (x.expr, y.expr))))
        return run(builder.build(), ConcreteLaunch(values={"x": a, "y": b})).undefined

    assert undefined("add", 2**31 - 1, 1) == {"signed-overflow"}
    assert undefined("mul", 65536, 65536) == {"signed-overflow"}
    assert undefined("div", 1, 0) == {"division-by-zero"}
    assert undefined("shr", 1, 32) == {"shift-count"}
    assert undefined("add", 1, 1) == set()


def test_a_choice_evaluates_one_side_only():
    b = KernelBuilder()
    out, n = b.global_("out"), b.scalar("n")
    quotient = V(e.make("div", e.I32, (e.const(12), n.expr)))
    b.store(out, 0, choose(n.eq(0), V(e.const(7)), quotient))
    result = run(b.build(), ConcreteLaunch(values={"n": 0}))
    assert (result.read("out", 0, 4), result.undefined) == (7, set())


def test_narrow_stores_touch_their_bytes_only():
    b = KernelBuilder()
    out = b.global_("out", e.U8)
    b.store(out, b.tid, b.tid + 254)
    launch = ConcreteLaunch(block=(4, 1, 1))
    assert final(b.build(), launch, "out", 4, 1) == [254, 255, 0, 1]


def test_floats_are_rounded_to_their_type():
    b = KernelBuilder()
    out = b.global_("out", e.F32)
    tenth = V(e.cast(e.fconst(0.1, e.F64), e.F32))
    b.store(out, 0, V(e.make("add", e.F32, (tenth.expr, e.fconst(0.2)))))
    b.store(out, 1, V(e.call("sqrtf", e.F32, e.fconst(-1.0))))
    bits = final(b.build(), ConcreteLaunch(), "out", 2)
    assert bits[0] == 0x3E99999A
    assert bits[1] & 0x7FC00000 == 0x7FC00000


def test_memory_nobody_wrote_depends_on_the_seed_only():
    b = KernelBuilder()
    a, out = b.global_("a"), b.global_("out")
    b.store(out, b.tid, b.load(a, b.tid))
    kernel = b.build()

    def values(seed: int) -> list[int]:
        return final(kernel, ConcreteLaunch(block=(32, 1, 1), seed=seed, data_range=(3, 9)), "out", 32, schedule=seed)

    assert values(1) == values(1)
    assert values(1) != values(2)
    assert set(values(1)) <= set(range(3, 10))


def test_aliased_parameters_are_one_object():
    b = KernelBuilder()
    p, q = b.global_("p"), b.global_("q")
    b.store(p, b.tid, b.tid)
    b.store(q, b.tid, b.tid)
    kernel = b.build()
    apart = ConcreteLaunch(block=(4, 1, 1))
    together = ConcreteLaunch(block=(4, 1, 1), aliases={"p": ("buffer", 0), "q": ("buffer", 4)})
    assert races(run(kernel, apart)) == []
    assert [r.events for r in races(run(kernel, together))] == [(1, 2)]


def test_pointers_in_memory_lead_to_objects_of_their_own():
    b = KernelBuilder()
    table = b.global_("table", e.PTR)
    row = b.load(table, b.tid // 2)
    b.store(row, 0, 1)
    found = races(run(b.build(), ConcreteLaunch(block=(4, 1, 1))))
    assert [(r.events, r.first.object) for r in found] == [((2, 2), "table[0]")]


def test_local_arrays_belong_to_their_thread():
    b = KernelBuilder()
    scratch, out = b.local("scratch", 4), b.global_("out")
    with b.for_(0, 4) as (i, _):
        b.store(scratch, i, b.tid + i)
    b.store(out, b.tid, b.load(scratch, 3))
    kernel, launch = b.build(), ConcreteLaunch(block=(4, 1, 1))
    assert final(kernel, launch, "out", 4) == [3, 4, 5, 6]
    assert races(run(kernel, launch)) == []


def test_block_coordinates_in_three_dimensions():
    b = KernelBuilder()
    out = b.global_("out")
    tid, dim, bid = [[b.coordinate(s) for s in group] for group in (e.TID, e.BDIM, e.BID)]
    rank = tid[0] + dim[0] * (tid[1] + dim[1] * tid[2])
    b.store(out, bid[1] * 12 + rank, tid[0] * 100 + tid[1] * 10 + tid[2])
    expected = [x * 100 + y * 10 + z for z in range(2) for y in range(3) for x in range(2)]
    launch = ConcreteLaunch(grid=(1, 2, 1), block=(2, 3, 2))
    assert final(b.build(), launch, "out", 24) == expected * 2


def test_break_and_continue_and_labelled_blocks():
    b = KernelBuilder()
    out = b.global_("out")
    total = b.let(0)
    with b.for_(0, 100) as (i, loop):
        with b.if_((i % 2).eq(1)):
            b.continue_(loop)
        with b.if_(i > 8):
            b.exit(loop)
        with b.block() as block:
            with b.if_(i.eq(4)):
                b.exit(block)
            b.set(total, total + i)
    b.store(out, 0, total)
    assert final(b.build(), ConcreteLaunch(), "out", 1) == [0 + 2 + 6 + 8]


def test_reducing_barriers():
    b = KernelBuilder()
    out = b.global_("out")
    b.store(out, b.tid, b.reducing_barrier("count", b.tid < 3))
    b.store(out, b.tid + 8, b.reducing_barrier("or", b.tid.eq(7)))
    b.store(out, b.tid + 16, b.reducing_barrier("and", b.tid.eq(7)))
    assert final(b.build(), ConcreteLaunch(block=(8, 1, 1)), "out", 24) == [3] * 8 + [1] * 8 + [0] * 8


@pytest.mark.parametrize(
    ("name", "operands", "expected"),
    [
        ("__shfl_down_sync", (2, 8), [2, 3, 4, 5, 6, 7, 6, 7]),
        ("__shfl_up_sync", (3,), [0, 1, 2, 0, 1, 2, 3, 4]),
        ("__shfl_xor_sync", (1,), [1, 0, 3, 2, 5, 4, 7, 6]),
        ("__shfl_sync", (5,), [5] * 8),
        ("__shfl_down_sync", (1, 4), [1, 2, 3, 3, 5, 6, 7, 7]),
        ("__reduce_add_sync", (), [28] * 8),
    ],
)
def test_warp_exchanges(name: str, operands: tuple[int, ...], expected: list[int]):
    b = KernelBuilder()
    out = b.global_("out")
    b.store(out, b.tid, b.collective(name, 0xFF, b.tid, *operands))
    assert final(b.build(), ConcreteLaunch(block=(8, 1, 1)), "out", 8) == expected


def test_votes_over_the_lanes_named():
    b = KernelBuilder()
    out = b.global_("out")
    with b.if_(b.tid < 4):
        b.store(out, b.tid, b.collective("__ballot_sync", 0xF, (b.tid & 1).eq(0)))
        b.store(out, b.tid + 4, b.collective("__match_any_sync", 0xF, b.tid // 3))
    assert final(b.build(), ConcreteLaunch(block=(8, 1, 1)), "out", 8) == [5] * 4 + [7, 7, 7, 8]


def test_exchanges_order_no_memory():
    b = KernelBuilder()
    s = b.shared("s", 32)
    b.store(s, b.tid, 1)
    b.collective("__shfl_sync", 0xFFFFFFFF, b.tid, 0)
    b.load(s, b.tid ^ 1)
    assert [r.events for r in races(run(b.build(), ConcreteLaunch(block=(32, 1, 1))))] == [(1, 3)]


def test_atomics_return_distinct_tickets():
    b = KernelBuilder()
    counter, out = b.global_("counter"), b.global_("out")
    ticket = b.atomic("add", counter, 0, 1)
    b.store(out, ticket, b.tid)
    kernel = b.build()
    launch = ConcreteLaunch(grid=(2, 1, 1), block=(8, 1, 1), arrays={"counter": [0]})
    for schedule in range(4):
        result = run(kernel, launch, schedule)
        assert result.read("counter", 0, 4) == 16
        assert races(result) == []


@pytest.mark.parametrize(
    ("op", "old", "operands", "new"),
    [
        ("inc", 3, (3,), 0), ("inc", 2, (3,), 3), ("dec", 0, (5,), 5), ("dec", 4, (5,), 3), ("cas", 1, (1, 9), 9),
        ("cas", 1, (2, 9), 1), ("max", 1, (9,), 9), ("exch", 1, (9,), 9), ("and", 6, (3,), 2), ("load", 6, (), 6),
    ],
)  # fmt: skip
def test_atomic_operations(op: str, old: int, operands: tuple[int, ...], new: int):
    b = KernelBuilder()
    a, out = b.global_("a", e.U32), b.global_("out", e.U32)
    b.store(out, 0, b.atomic(op, a, 0, *operands))
    result = run(b.build(), ConcreteLaunch(arrays={"a": [old]}))
    assert (result.read("out", 0, 4), result.read("a", 0, 4)) == (old, new)


def test_a_flag_is_waited_for():
    b = KernelBuilder()
    flag, out = b.global_("flag"), b.global_("out")
    with b.if_(b.bid.eq(0)):
        b.atomic("exch", flag, 0, 1)
    with b.else_(), b.while_() as loop, b.if_(b.load(flag, 0, volatile=True).eq(1)):
        b.exit(loop)
    b.store(out, b.bid, 1)
    launch = ConcreteLaunch(grid=(2, 1, 1), arrays={"flag": [0]})
    for schedule in range(5):
        assert final(b.build(), launch, "out", 2, schedule=schedule) == [1, 1]


def test_non_termination_is_a_result():
    b = KernelBuilder()
    with b.while_():
        b.let(1)
    result = run(b.build(), ConcreteLaunch(), limits=Limits(steps=1000))
    assert (result.outcome, result.reason) == ("step-limit", "1000 steps")


def test_unsupported_code_ends_the_run():
    b = KernelBuilder()
    with b.if_(b.tid.eq(1)):
        b.emit(k.Unsupported("asm", "asm volatile", b.site()))
    kernel = b.build()
    assert run(kernel, ConcreteLaunch()).outcome == "finished"
    assert run(kernel, ConcreteLaunch(block=(2, 1, 1))).outcome == "unsupported"


def test_assumptions_and_asserts():
    b = KernelBuilder()
    out, n = b.global_("out"), b.scalar("n")
    b.assume(n < 10)
    b.assume(b.tid < n, "assert")
    b.barrier()
    b.store(out, b.tid, 1)
    kernel = b.build()
    assert run(kernel, ConcreteLaunch(values={"n": 11})).outcome == "assumption-violated"
    result = run(kernel, ConcreteLaunch(block=(4, 1, 1), values={"n": 2}))
    assert result.outcome == "finished"
    assert result.stopped == {2: "assert", 3: "assert"}
    assert divergences(result) == []
    assert {a.thread for a in result.accesses} == {0, 1}


def test_the_interleaving_depends_on_the_schedule_and_nothing_else():
    b = KernelBuilder()
    counter, out = b.global_("counter"), b.global_("out")
    b.store(out, b.tid, b.atomic("add", counter, 0, 1))
    kernel, launch = b.build(), ConcreteLaunch(block=(16, 1, 1))
    orders = {tuple(final(kernel, launch, "out", 16, schedule=s)) for s in (0, 0, 1, 2)}
    assert 2 <= len(orders) <= 3
