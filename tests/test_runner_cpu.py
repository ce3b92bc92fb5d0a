"""The CPU executor computes what CUDA defines: both builds of each kernel, against NumPy or by hand."""

from __future__ import annotations

import numpy as np
import pytest
from runner_launch import module_of, prepared, run

from gpu_runner.compile import Build
from gpu_runner.cpu.body import Unsupported
from gpu_runner.cpu.execute import prepare
from gpu_runner.cpu.launch import Array, Launch, LaunchError, Scalar
from gpu_runner.cpu.layout import Fault
from gpu_runner.cpu.machine import Notice, Outcome

BUILDS = pytest.mark.parametrize("build", ["confirm", "shipped"])
RNG = np.random.default_rng(7)


@BUILDS
def test_integer_arithmetic(build: Build) -> None:
    source = """
    extern "C" __global__ void k(const int *a, const int *b, int *out, long long *wide) {
      int i = threadIdx.x; int x = a[i], y = b[i]; unsigned u = x, v = y;
      int *o = out + i * 20;
      o[0] = x + y; o[1] = x - y; o[2] = x * y; o[3] = y ? x / y : 0; o[4] = y ? x % y : 0;
      o[5] = u / (v | 1); o[6] = u % (v | 1); o[7] = x >> (y & 31); o[8] = u >> (v & 31); o[9] = x << (y & 31);
      o[10] = min(x, y); o[11] = max(u, v); o[12] = __popc(x); o[13] = __clz(x); o[14] = __brev(x);
      o[15] = __mulhi(x, y); o[16] = __umulhi(u, v); o[17] = abs(x); o[18] = __ffs(x);
      o[19] = __byte_perm(x, y, 0x5146);
      wide[i] = (long long)x * y + (u ^ v);
    }
    """
    a = RNG.integers(-(2**31), 2**31, 64, np.int64).astype(np.int32)
    b = RNG.integers(-(2**31), 2**31, 64, np.int64).astype(np.int32)
    a[:4], b[:4] = [0, -1, 2**31 - 1, -(2**31)], [1, 3, -7, 5]
    kernel = prepared(source, [a, b, np.zeros(64 * 20, np.int32), np.zeros(64, np.int64)], block=64, build=build)
    ran = run(kernel)
    assert ran.execution.outcome is Outcome.DONE
    out = ran.array(2).reshape(64, 20)
    x, y = a.astype(np.int64), b.astype(np.int64)
    u, v = a.astype(np.uint32).astype(np.int64), b.astype(np.uint32).astype(np.int64)
    quotient = np.trunc(x / np.where(y == 0, 1, y)).astype(np.int64)
    expected = [
        x + y, x - y, x * y, quotient, x - quotient * y, u // (v | 1), u % (v | 1), x >> (y & 31), u >> (v & 31),
        x << (y & 31), np.minimum(x, y), np.maximum(u, v), [int(n).bit_count() for n in u],
        [32 - int(n).bit_length() for n in u], [int(f"{int(n):032b}"[::-1], 2) for n in u], x * y >> 32, u * v >> 32,
        np.abs(x), [(int(n) & -int(n)).bit_length() for n in u],
    ]  # fmt: skip
    for column, values in enumerate(expected):
        truth = np.array(values, np.int64).astype(np.uint32)
        assert (out[:, column].astype(np.uint32) == truth).all(), column
    bytes_ = np.concatenate([a.view(np.uint8).reshape(64, 4), b.view(np.uint8).reshape(64, 4)], axis=1)
    assert (out[:, 19].view(np.uint32) == bytes_[:, [6, 4, 1, 5]].copy().view(np.uint32).reshape(64)).all()
    assert (ran.array(3, np.int64) == x * y + (u ^ v)).all()


def nth_set(mask: int, base: int, offset: int) -> int:
    """As the PTX manual has it, step by step."""
    if offset == 0:
        return base if mask >> base & 1 else -1
    left = abs(offset)
    for at in range(base, 32) if offset > 0 else range(base, -1, -1):
        left -= mask >> at & 1
        if left == 0:
            return at
    return -1


@BUILDS
def test_the_nth_bit_that_is_set(build: Build) -> None:
    source = """
    extern "C" __global__ void k(const int *mask, const int *base, const int *n, int *out) {
      int i = threadIdx.x;
      out[i] = __fns(mask[i], base[i], n[i]);
    }"""
    mask = RNG.integers(-(2**31), 2**31, 512, np.int64).astype(np.int32)
    base, n = RNG.integers(0, 32, 512, np.int32), RNG.integers(-33, 34, 512, np.int32)
    mask[:4], base[:4], n[:4] = [-1, -1, -1, 0], [0, 31, 0, 5], [32, -32, 33, 1]
    n[100:300] = RNG.integers(-5, 6, 200)
    ran = run(prepared(source, [mask, base, n, np.zeros(512, np.int32)], block=512, build=build))
    wanted = [nth_set(int(m) & 0xFFFFFFFF, int(b), int(o)) for m, b, o in zip(mask, base, n, strict=True)]
    assert ran.array(3).tolist() == wanted


@BUILDS
def test_parameters_that_have_addresses(build: Build) -> None:
    """A ``__grid_constant__`` parameter may be pointed to, and read through the pointer."""
    source = """
    struct Args { int first; int table[6]; };
    __device__ __noinline__ int at(const int *p, int i) { return p[i]; }
    extern "C" __global__ void k(int n, const __grid_constant__ Args a, int *out) {
      int i = threadIdx.x;
      out[i] = at(a.table, i % n) + a.table[(i + 1) % n] + a.first;
    }"""
    table = np.arange(10, 16, dtype=np.int32)
    record = np.concatenate([np.array([1000], np.int32), table]).tobytes()
    ran = run(prepared(source, [6, record, np.zeros(32, np.int32)], block=32, build=build))
    assert (ran.execution.outcome, ran.execution.seen, ran.races) == (Outcome.DONE, (), set())
    assert ran.array(0).tolist() == [int(table[i % 6] + table[(i + 1) % 6]) + 1000 for i in range(32)]
    beyond = run(prepared(source, [900, record, np.zeros(32, np.int32)], block=32, build=build))
    assert Fault.OUT_OF_BOUNDS in {seen.op for seen in beyond.execution.seen}


@BUILDS
def test_floating_point(build: Build) -> None:
    source = """
    extern "C" __global__ void k(const float *a, const float *b, float *out, double *wide, int *whole) {
      int i = threadIdx.x; float x = a[i], y = b[i]; float *o = out + i * 12;
      o[0] = x + y; o[1] = x * y; o[2] = x / y; o[3] = sqrtf(fabsf(x)); o[4] = fmaf(x, y, 1.f); o[5] = fminf(x, y);
      o[6] = expf(x * .1f); o[7] = sinf(x); o[8] = floorf(x); o[9] = __fadd_rz(x, y);
      o[10] = logf(fabsf(x)); o[11] = powf(fabsf(x), .3f);
      wide[i] = sqrt(fabs((double)x)) + exp((double)y * .01) / 3.0;
      whole[i] = (int)x + __float2int_rn(y) * 1000;
    }
    """
    a = (RNG.standard_normal(64) * 50).astype(np.float32)
    b = (RNG.standard_normal(64) * 50 + 0.1).astype(np.float32)
    arguments = [a, b, np.zeros(64 * 12, np.float32), np.zeros(64), np.zeros(64, np.int32)]
    ran = run(prepared(source, arguments, block=64, build=build))
    out = ran.array(2, np.float32).reshape(64, 12)
    x, y = a.astype(np.float64), b.astype(np.float64)
    exact = [a + b, a * b, a / b, np.sqrt(np.abs(a)), (x * y + 1).astype(np.float32), np.minimum(a, b)]
    for column, values in enumerate(exact):
        assert (out[:, column] == values).all(), column
    near = {6: np.exp(x * np.float32(0.1)), 7: np.sin(x), 10: np.log(np.abs(x)), 11: np.abs(x) ** 0.3}
    for column, values in near.items():
        assert np.allclose(out[:, column], values, rtol=3e-6, atol=3e-7), column
    assert (out[:, 8] == np.floor(a)).all()
    total = x + y
    toward_zero = np.where(
        np.abs((a + b).astype(np.float64)) > np.abs(total), np.nextafter(a + b, np.float32(0)), a + b
    )
    assert (out[:, 9] == toward_zero).all()
    assert np.allclose(ran.array(3, np.float64), np.sqrt(np.abs(x)) + np.exp(y * 0.01) / 3, rtol=1e-14)
    assert (ran.array(4) == np.trunc(a).astype(np.int32) + np.rint(b).astype(np.int32) * 1000).all()


@BUILDS
def test_blocks_shared_memory_and_barriers(build: Build) -> None:
    source = """
    extern "C" __global__ void k(const float *a, const float *b, float *c, int n) {
      __shared__ float sa[8][8], sb[8][8];
      int x = threadIdx.x, y = threadIdx.y, col = blockIdx.x * 8 + x, row = blockIdx.y * 8 + y;
      float v = 0;
      for (int t = 0; t < n / 8; t++) {
        sa[y][x] = a[row * n + t * 8 + x]; sb[y][x] = b[(t * 8 + y) * n + col];
        __syncthreads();
        for (int j = 0; j < 8; j++) v += sa[y][j] * sb[j][x];
        __syncthreads();
      }
      c[row * n + col] = v;
    }
    """
    n = 32
    a, b = (RNG.standard_normal((n, n)).astype(np.float32) for _ in range(2))
    arguments = [a, b, np.zeros((n, n), np.float32), n]
    ran = run(prepared(source, arguments, (n // 8, n // 8, 1), (8, 8, 1), build))
    assert np.allclose(ran.array(2, np.float32).reshape(n, n), a @ b, atol=1e-4)
    assert ran.races == set()


@BUILDS
def test_warp_collectives(build: Build) -> None:
    source = """
    extern "C" __global__ void k(int *out) {
      int t = threadIdx.x, lane = t & 31; unsigned all = 0xffffffffu; int *o = out + t * 12;
      o[0] = __shfl_sync(all, t * 3, 5); o[1] = __shfl_up_sync(all, t, 2); o[2] = __shfl_down_sync(all, t, 3, 8);
      o[3] = __shfl_xor_sync(all, t, 1); o[4] = __ballot_sync(all, lane % 3 == 0); o[5] = __all_sync(all, lane < 40);
      o[6] = __any_sync(all, lane == 50); o[7] = __match_any_sync(all, lane / 4); o[8] = __reduce_add_sync(all, lane);
      o[9] = __reduce_max_sync(all, -lane);
      if (lane & 1) { o[10] = __ballot_sync(0xaaaaaaaau, lane > 16); o[11] = __activemask(); }
      else o[11] = __shfl_sync(0x55555555u, t, 2, 4);
    }
    """
    ran = run(prepared(source, [np.zeros(64 * 12, np.int32)], block=64, build=build))
    assert ran.execution.outcome is Outcome.DONE
    out = ran.array(0).reshape(64, 12)
    for t in range(64):
        lane, base = t & 31, t & ~31
        expected = [(base + 5) * 3, t - 2 if lane >= 2 else t, t + 3 if lane % 8 < 5 else t, t ^ 1]
        expected += [sum(1 << i for i in range(0, 32, 3)), 1, 0, 15 << lane // 4 * 4, 496, 0]
        assert (out[t, :10].view(np.uint32) == np.array(expected, np.int64).astype(np.uint32)).all(), t
        if lane & 1:
            assert out[t, 10].view(np.uint32) == 0xAAAA0000
            assert out[t, 11].view(np.uint32) == 0xAAAAAAAA
        else:
            assert out[t, 11] == (t & ~3) + 2


@BUILDS
def test_atomics(build: Build) -> None:
    source = """
    extern "C" __global__ void k(int *i, float *f, unsigned *u, unsigned long long *w) {
      int t = threadIdx.x + blockIdx.x * blockDim.x;
      atomicAdd(i, t); atomicMax(i + 1, t); atomicMin(i + 2, -t); atomicOr(i + 3, 1 << (t & 31)); atomicXor(i + 4, t);
      atomicExch(i + 5, 7); atomicSub(i + 6, 2); atomicAnd(i + 7, ~(1 << (t & 7)));
      atomicAdd(f, 0.5f); atomicInc(u, 9); atomicDec(u + 1, 9); atomicAdd(w, 1ull << 33);
      int seen, want = i[8]; do { seen = want; want = atomicCAS(i + 8, seen, seen + 2); } while (want != seen);
    }
    """
    arguments = [np.array([0, 0, 0, 0, 0, 0, 0, 255, 0], np.int32), np.zeros(1, np.float32)]
    arguments += [np.zeros(2, np.uint32), np.zeros(1, np.uint64)]
    for seed in (0, 1):
        ran = run(prepared(source, arguments, 4, 64, build), seed)
        t = np.arange(256)
        xor = int(np.bitwise_xor.reduce(t))
        assert ran.array(0).tolist() == [t.sum(), 255, -255, -1, xor, 7, -512, 0, 512]
        assert ran.array(1, np.float32)[0] == 128
        assert ran.array(2, np.uint32).tolist() == [256 % 10, (10 - 256 % 10) % 10]
        assert ran.array(3, np.uint64)[0] == 256 << 33


@BUILDS
def test_atomics_of_vectors(build: Build) -> None:
    """Each element is added to by itself; 16 bytes are exchanged as one."""
    source = """
    struct alignas(16) Wide { unsigned long long low, high; };
    extern "C" __global__ void k(float2 *a, float4 *b, float *seen, Wide *w) {
      int t = threadIdx.x;
      atomicAdd(a, make_float2(1, t));
      float4 old = atomicAdd(b + t, make_float4(t, 2, 3, 4));
      seen[t] = old.x + old.y + old.z + old.w;
      Wide mine; mine.low = t; mine.high = ~0ull;
      Wide before = atomicExch(w, mine);
      if (before.high != 0 && before.high != ~0ull) seen[t] = -1;
    }
    """
    arguments = [np.zeros(2, np.float32), np.arange(128, dtype=np.float32), np.zeros(32, np.float32)]
    ran = run(prepared(source, [*arguments, np.zeros(2, np.uint64)], 1, 32, build, arch=90))
    t = np.arange(32)
    assert ran.array(0, np.float32).tolist() == [32, t.sum()]
    b = np.arange(128).reshape(32, 4)
    assert (ran.array(1, np.float32).reshape(32, 4) == b + np.stack([t, 0 * t + 2, 0 * t + 3, 0 * t + 4], 1)).all()
    assert (ran.array(2, np.float32) == b.sum(1)).all()
    assert ran.array(3, np.uint64)[1] == 2**64 - 1


@BUILDS
def test_half_precision_vectors_and_structures(build: Build) -> None:
    source = """
    struct Item { short a; char b; double c; };
    __constant__ int table[4] = {10, 20, 30, 40};
    __device__ int total = 5;
    extern "C" __global__ void k(Item *items, float4 *v, Item by_value, unsigned char *bytes) {
      int t = threadIdx.x;
      items[t].a = -t; items[t].b = t + by_value.b; items[t].c = by_value.c * table[t & 3];
      float4 x = v[t]; v[t] = make_float4(x.w, x.z, x.y, x.x + total);
      bytes[t] = t * 3;
    }
    """
    item = np.dtype([("a", np.int16), ("b", np.int8), ("c", np.float64)], align=True)
    items = np.zeros(32, item)
    one = np.zeros(1, item)
    one["b"], one["c"] = 3, 0.5
    vectors = np.arange(128, dtype=np.float32)
    arguments = (Array(items.tobytes()), Array(vectors.tobytes()), Scalar(one.tobytes()), Array(bytes(32)))
    execution = prepare(module_of(source, build), "k", Launch((1, 1, 1), (32, 1, 1), arguments)).run()
    after = np.frombuffer(execution.arrays[0], item)
    t = np.arange(32)
    assert (after["a"] == -t).all()
    assert (after["b"] == t + 3).all()
    assert (after["c"] == 0.5 * np.array([10, 20, 30, 40])[t & 3]).all()
    swapped = vectors.reshape(32, 4)[:, ::-1].copy()
    swapped[:, 3] += 5
    assert (np.frombuffer(execution.arrays[1], np.float32).reshape(32, 4) == swapped).all()
    assert list(execution.arrays[2]) == [3 * n & 255 for n in range(32)]


@BUILDS
def test_waiting_in_loops_across_blocks(build: Build) -> None:
    source = """
    extern "C" __global__ void k(int *turn, int *out) {
      if (threadIdx.x == 0) {
        while (*(volatile int *)turn != gridDim.x - 1 - blockIdx.x) { }
        out[blockIdx.x] = atomicAdd(turn + 1, 1);
        __threadfence();
        *(volatile int *)turn = gridDim.x - blockIdx.x;
      }
      __syncthreads();
    }
    """
    for seed in (0, 3):
        ran = run(prepared(source, [np.zeros(2, np.int32), np.zeros(6, np.int32)], 6, 64, build), seed)
        assert ran.execution.outcome is Outcome.DONE
        assert ran.array(1).tolist() == [5, 4, 3, 2, 1, 0]


def test_a_seed_gives_one_run_and_another_seed_another() -> None:
    source = 'extern "C" __global__ void k(int *order, int *next) { order[atomicAdd(next, 1)] = threadIdx.x; }'
    kernel = prepared(source, [np.zeros(256, np.int32), np.zeros(1, np.int32)], 1, 256)
    orders = [tuple(run(kernel, seed).array(0).tolist()) for seed in (0, 0, 1, 1, 2)]
    assert orders[0] == orders[1] == tuple(range(256))
    assert orders[2] == orders[3]
    assert len(set(orders)) == 3
    assert sorted(orders[4]) == list(range(256))


def test_printf_and_assert() -> None:
    source = r"""
    extern "C" __global__ void k(int n) {
      if (threadIdx.x < 2) printf("%s %d %5.2f %llx%%\n", "lane", threadIdx.x, n * .5, 1ull << 40);
      assert(threadIdx.x < n);
    }
    """
    ran = run(prepared(source, [3], 1, 8))
    assert ran.execution.printed == "lane 0  1.50 10000000000%\nlane 1  1.50 10000000000%\n"
    (seen,) = ran.execution.seen
    assert (seen.kind, seen.op, seen.thread) == (Notice.FAULT, Fault.ASSERTION, 3)
    assert ran.kernel.arena.text(seen.address) == "threadIdx.x < n"
    assert ran.line(seen.site) == 4


@BUILDS
@pytest.mark.parametrize(
    ("body", "fault", "thread"),
    [
        ("a[threadIdx.x] = 1;", Fault.OUT_OF_BOUNDS, 10),
        ("a[-1 - (int)threadIdx.x] = 1;", Fault.OUT_OF_BOUNDS, 0),
        ("a[threadIdx.x >> 5 << 20] = s[threadIdx.x + 30] + a[0];", Fault.OUT_OF_BOUNDS, 2),
        ("*(int *)((char *)a + threadIdx.x % 3) = 1;", Fault.MISALIGNED, 1),
        ("*(int *)(size_t)threadIdx.x = 1;", Fault.OUT_OF_BOUNDS, 0),
    ],
)
def test_bad_accesses_end_a_thread_and_are_noted(body: str, fault: Fault, thread: int, build: Build) -> None:
    source = f'extern "C" __global__ void k(int *a) {{ __shared__ int s[32]; s[threadIdx.x & 31] = 0; {body} }}'
    ran = run(prepared(source, [np.zeros(10, np.int32)], 1, 32, build))
    first = ran.execution.seen[0]
    assert (first.kind, first.op, first.thread) == (Notice.FAULT, fault, thread)


def test_divergent_and_deadlocked_barriers() -> None:
    divergent = """
    extern "C" __global__ void k(int *a) {
      if (threadIdx.x & 1) { a[0] = 1; __syncthreads(); }
      else { __syncthreads(); a[0] = 2; }
    }
    """
    ran = run(prepared(divergent, [np.zeros(1, np.int32)], 1, 64))
    (seen,) = ran.execution.seen
    assert seen.kind is Notice.DIVERGENT_BARRIER
    assert {ran.line(seen.site), ran.line(seen.other_site)} == {3, 4}

    stuck = """
    extern "C" __global__ void k(int *a) {
      if (threadIdx.x < 4) __syncwarp(0xff);
      else if (threadIdx.x < 8) __syncthreads();
    }
    """
    ran = run(prepared(stuck, [np.ones(1, np.int32)], 1, 64))
    assert ran.execution.outcome is Outcome.STUCK
    assert [(waiting.thread, ran.line(waiting.site)) for waiting in ran.execution.waiting] == [
        *((thread, 3) for thread in range(4)),
        *((thread, 4) for thread in range(4, 8)),
    ]


def test_a_barrier_completes_with_the_threads_that_are_left() -> None:
    source = (
        'extern "C" __global__ void k(int *a) { if (threadIdx.x > 40) return; __syncthreads(); a[threadIdx.x] = 1; }'
    )
    ran = run(prepared(source, [np.zeros(64, np.int32)], 1, 64))
    assert ran.execution.outcome is Outcome.DONE
    assert ran.array(0).sum() == 41


def test_a_thread_that_waits_for_ever_is_stopped_and_named() -> None:
    source = """extern "C" __global__ void k(int *a) {
  unsigned rounds = 0;
  while (*(volatile int *)a == 0) rounds++;
  a[1] = rounds;
}"""
    ran = run(prepared(source, [np.zeros(2, np.int32)], 1, 32), seconds=0.2)
    assert ran.execution.note == "stopped after 0.2 s"
    assert len(ran.execution.waiting) == 32


def test_what_cannot_be_run_is_named_before_it_starts() -> None:
    source = """
    __device__ int deep(int n) { __syncwarp(); return n < 2 ? n : deep(n - 1) + deep(n - 2); }
    extern "C" __global__ void k(int *a) {
      a[0] = deep(a[0]);
      asm volatile("tex.1d.v4.f32.s32 {%0, %0, %0, %0}, [%1, {%0}];" : "+r"(a[1]) : "l"(0ull));
    }
    """
    with pytest.raises(Unsupported) as error:
        prepared(source, [np.zeros(2, np.int32)], build="confirm")
    text = "\n".join(error.value.reasons)
    assert "recursion through deep, which waits for other threads (k.cu:2, called in line 4)" in text
    assert "textures: a run has none; give the kernel the data as an array (line 5)" in text


def test_launches_that_do_not_fit_are_refused() -> None:
    source = 'extern "C" __global__ void __launch_bounds__(64) k(int *a) { a[0] = 1; }'
    with pytest.raises(LaunchError, match="300000 bytes of shared memory: at most 232448 are possible"):
        prepared(source, [np.zeros(1, np.int32)], dynamic_shared=300_000)
    with pytest.raises(LaunchError, match="launch bounds allow 64"):
        prepared(source, [np.zeros(1, np.int32)], block=96)
    with pytest.raises(LaunchError, match="0 arguments for 1 parameters"):
        prepared(source)
    with pytest.raises(LaunchError, match="argument 0 has 4 bytes"):
        prepared(source, [1])


@BUILDS
def test_the_size_of_a_warp(build: Build) -> None:
    source = 'extern "C" __global__ void k(int *a) { a[threadIdx.x] = warpSize + threadIdx.x % warpSize; }'
    ran = run(prepared(source, [np.zeros(64, np.int32)], block=64, build=build))
    assert (ran.array(0) == 32 + np.arange(64) % 32).all()


@BUILDS
def test_lanes_outside_of_their_mask_wait_for_nobody(build: Build) -> None:
    source = """extern "C" __global__ void k(int *a) {
      int t = threadIdx.x;
      int v = __shfl_down_sync(0x55555555, t, 2) + 100 * __shfl_down_sync(0x11111111, t, 4);
      if (t % 4 == 0) a[t] = v;
    }"""
    ran = run(prepared(source, [np.zeros(32, np.int32)], build=build))
    assert ran.execution.outcome is Outcome.DONE
    t = np.arange(0, 32, 4)
    assert (ran.array(0)[::4] == np.minimum(t + 2, 30) + 100 * np.minimum(t + 4, 28)).all()
    assert {(seen.kind, seen.thread) for seen in ran.execution.seen} == {(Notice.LANE_NOT_IN_MASK, 1)}


def test_another_launch_needs_no_translation() -> None:
    source = """__device__ int total = 5; __constant__ int one = 1;
    extern "C" __global__ void k(int *a, int *b, int n) {
      for (int i = threadIdx.x; i < n; i += blockDim.x) b[i] = a[i] + one;
      atomicAdd(&total, 1); b[0] = total > 5;
    }"""
    kernel = prepared(source, [np.zeros(4, np.int32), np.zeros(4, np.int32), 64])
    assert {(seen.kind, seen.op) for seen in run(kernel).execution.seen} == {(Notice.FAULT, Fault.OUT_OF_BOUNDS)}
    data = np.arange(1000, dtype=np.int32)
    arguments = (Array(data.tobytes()), Array(bytes(4000)), Scalar((1000).to_bytes(4, "little")))
    kernel.relaunch(Launch((1, 1, 1), (64, 1, 1), arguments))
    for _ in range(2):
        ran = run(kernel)
        assert not ran.execution.seen
        assert (ran.array(1)[1:] == data[1:] + 1).all()
