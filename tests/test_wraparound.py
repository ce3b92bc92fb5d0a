"""Which counters may begin at what was a negative number."""

import pytest

from analyzers.engine import Engine
from analyzers.ir import expr as E
from analyzers.ir.expr import I32, U32, U64, Expr
from analyzers.ir.wraparound import BELOW_ALL_SIZES, may_be_huge
from analyzers.requests import CheckRequest

OFF = E.sym("param:off", U64)
N = E.sym("param:n", I32)
TID = E.cast(E.TID[0], U64)


@pytest.mark.parametrize(
    ("start", "huge", "even_so"),
    [
        (OFF, True, False),
        (E.add(OFF, TID), True, False),
        (E.add(OFF, E.cast(E.add(E.mul(E.BID[0], E.BDIM[0]), E.TID[0]), U64)), True, False),
        (E.cast(E.sub(E.cast(E.TID[0], I32), E.const(5, I32)), U64), True, True),
        (E.sub(OFF, TID), True, True),
        (E.cast(N, U64), True, True),
        (TID, False, False),
        (E.sub(E.TID[0], E.const(5, U32)), False, False),
    ],
)
def test_where_a_counter_of_64_bits_may_begin_below_zero(start: Expr, huge: bool, even_so: bool):
    assert may_be_huge(start) == huge
    assert may_be_huge(start, sized=True) == even_so


SIZED = """
__global__ void sized(float *a, size_t off, size_t end)
{
    for (size_t i = off + blockIdx.x * blockDim.x + threadIdx.x; i < end; i += blockDim.x * gridDim.x)
        a[i] *= 2.0f;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void beyond(float *out, size_t start, size_t n)
{
    __shared__ float s[64];
    for (size_t i = start; i < n && i != 7; i += blockDim.x)
        if (i > 0x9000000000000000ull) s[0] = threadIdx.x;
    out[threadIdx.x] = 1.0f;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void negative(float *out, int start, size_t n)
{
    __shared__ float s[64];
    for (size_t i = start; i < n && i != 7; i += blockDim.x)
        if (i > 0x9000000000000000ull) s[0] = threadIdx.x;
    out[threadIdx.x] = 1.0f;
}
"""


def test_what_a_counter_begins_at_is_a_size_as_the_proof_says():
    sized, beyond, negative = (a.result for a in Engine().analyse(CheckRequest("/sized.cu", SIZED)).kernels)
    for result in (sized, beyond):
        assert result.verdict.value == "race-free"
        assert all(BELOW_ALL_SIZES in c.assumptions for c in result.contexts)
    assert negative.verdict.value == "data-race"


PASSED = """
__global__ void needed(float *out, size_t start)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    for (size_t i = start; i > 0x9000000000000000ull; i -= 0x1000) out[t] += s[63 - t];
}
void go(float *o) { needed<<<1, 64>>>(o, %s); }
"""


@pytest.mark.parametrize("passed", ["(size_t)-1", "-300", "1ull << 62"])
def test_a_launch_that_passes_no_size_is_not_taken_to_pass_one(passed: str):
    (analysis,) = Engine().analyse(CheckRequest("/passed.cu", PASSED % passed)).kernels
    result = analysis.result
    assert result.verdict.value == "unknown"
    assert [r.kind for c in result.contexts for r in c.reasons] == ["beyond-sizes"]


CALLED = PASSED[: PASSED.index("void go")]


@pytest.mark.parametrize(
    "host",
    [
        "void go(float *o, size_t n) { if (n == (size_t)-1) needed<<<1, 64>>>(o, n); }",
        "void go(float *o, size_t n) { needed<<<1, 64>>>(o, n ? (size_t)-1 : 0); }",
        "void go(float *o, size_t n) { size_t s = 0; if (n > 7) s = ~0ull; needed<<<1, 64>>>(o, s); }",
        "void go(float *o, int n) { assert(n > 0); needed<<<1, 64>>>(o, -n); }",
        "void go(float *o, int n) { assert(n < 0); needed<<<1, 64>>>(o, n); }",
        "void go(float *o, size_t n) { assert(n > 1ull << 63); needed<<<1, 64>>>(o, n); }",
    ],
)
def test_what_is_known_of_a_launch_may_contradict_that_it_passes_a_size(host: str):
    (analysis,) = Engine().analyse(CheckRequest("/passed.cu", f"#include <cassert>\n{CALLED}{host}\n")).kernels
    assert [r.kind for c in analysis.result.contexts for r in c.reasons] == ["beyond-sizes"]


@pytest.mark.parametrize(
    "host",
    [
        "void go(float *o, size_t n, size_t m) { if (n < m) needed<<<1, 64>>>(o, n * m); }",
        "void go(float *o, size_t n, int m) { assert(m < 0); needed<<<1, 64>>>(o, n + m); }",
        "void go(float *o, int n, bool b) { needed<<<1, 64>>>(o, b ? n : 0); }",
        (
            "int look(int n) { return n > 3 ? n : -1; } void go(float *o, int n) { int p = look(n); if (p < 0) return; "
            "needed<<<1, 64>>>(o, p); }"
        ),
        (
            "void go(float *o, size_t n, bool all) { size_t most = all ? (size_t)-1 : 16; "
            "needed<<<1, 64>>>(o, most < n ? most : n); }"
        ),
        "void go(float *o, size_t n, size_t mask) { assert(mask > 1ull << 63); needed<<<1, 64>>>(o, n % mask); }",
        "void go(float *o, size_t n) { if (n > 7) if (n < 3) needed<<<1, 64>>>(o, n); }",
    ],
)
def test_what_may_be_a_size_is_taken_for_one(host: str):
    (analysis,) = Engine().analyse(CheckRequest("/passed.cu", f"#include <cassert>\n{CALLED}{host}\n")).kernels
    assert analysis.result.verdict.value != "unknown"
    assert all(BELOW_ALL_SIZES in c.assumptions for c in analysis.result.contexts)


@pytest.mark.parametrize(
    "host",
    [
        "void go(float *o, bool none) { size_t n = none ? 0 : 1; needed<<<1, 64>>>(o, n - 1); }",
        "void go(float *o, int n) { if (n > 1) return; needed<<<1, 64>>>(o, n - 1); }",
    ],
)
def test_no_barrier_is_redundant_because_a_number_that_is_computed_may_be_no_size(host: str):
    (analysis,) = Engine().analyse(CheckRequest("/passed.cu", CALLED + host)).kernels
    assert analysis.result.verdict.value != "redundant-barrier"


def test_nor_because_of_reads_that_barriers_keep_apart():
    """They are not among the events that verdicts are made from, and the loop with them is not."""
    reads = CALLED.replace("out[t] += s[63 - t];", "sum += s[63 - t];").replace(
        "    for", "    float sum = 0;\n    for"
    )
    reads = reads.rstrip().removesuffix("}") + "    atomicAdd(out, sum);\n}\n"
    host = "void go(float *o, bool none) { size_t n = none ? 0 : 1; needed<<<1, 64>>>(o, n - 1); }"
    (analysis,) = Engine().analyse(CheckRequest("/passed.cu", reads + host)).kernels
    assert analysis.result.verdict.value == "race-free"


def test_a_launch_that_passes_a_size_is_checked():
    (analysis,) = Engine().analyse(CheckRequest("/passed.cu", PASSED % "4096")).kernels
    assert analysis.result.verdict.value != "unknown"
