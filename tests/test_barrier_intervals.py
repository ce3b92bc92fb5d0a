"""Accesses that barriers keep apart wherever they go are not asked about, and everything that is said of the kernel
and of its barriers is said as if they were."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from generated_kernels import kernels
from hypothesis import HealthCheck, given, settings

from analyzers.engine import Engine
from analyzers.hostguide.contexts import default_context
from analyzers.ir.barrier_intervals import EVERY, barrier_intervals
from analyzers.ir.events import KernelEvents
from analyzers.ir.expr import TRUE
from analyzers.ir.kernel import Block, Continue, If, Kernel, Load, Loop, Stmt, Store, statements
from analyzers.ir.symbolic import TooMuchWorkError
from analyzers.races.ordering import cases
from analyzers.races.pairs import conflicting as pairs_of
from analyzers.races.threads import Launch
from analyzers.reference.generator import Flavour, GeneratedKernel
from analyzers.requests import CheckRequest
from analyzers.verdicts.kernel import conflicting, conflicts_in

TILE = """
__global__ void tile(float *out, const float *in, int n)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int i = 0; i < n; i++) {
        s[t] = in[i * 64 + t];
        %s
        for (int k = 0; k < 64; k++) sum += s[k];
        %s
    }
    out[blockIdx.x * 64 + t] = sum;
}
void run(float *out, const float *in, int n) { tile<<<4, 64>>>(out, in, n); }
"""

SYNC = "__syncthreads();"


def reads_left_out(text: str) -> int:
    (analysis,) = Engine().analyse(CheckRequest("/tile.cu", text)).kernels
    return len(conflicts_in(analysis.kernel, ()).kept_apart)


def verdict(text: str) -> str:
    (analysis,) = Engine().analyse(CheckRequest("/tile.cu", text)).kernels
    return analysis.result.verdict.value


@pytest.mark.parametrize(
    ("first", "second", "left_out", "expected"),
    [
        (SYNC, SYNC, 1, "race-free"),
        (SYNC, "", 0, "data-race"),
        ("", SYNC, 0, "data-race"),
        (f"if (t < n) {SYNC}", SYNC, 0, "data-race"),
        (SYNC, f"if (in[i] < 0.0f) break; {SYNC}", 0, "possible-data-race"),
        (SYNC, f"if (n > 9) continue; {SYNC}", 0, "data-race"),
        (SYNC, f"if (n > 9) return; {SYNC}", 1, "race-free"),
        (f"{SYNC} s[t] += 1.0f;", SYNC, 0, "data-race"),
        (f"{SYNC} s[t] += 1.0f; {SYNC}", SYNC, 1, "redundant-barrier"),
        ("__syncwarp();", SYNC, 0, "data-race"),
    ],
)
def test_reads_between_barriers_of_a_loop(first: str, second: str, left_out: int, expected: str):
    text = TILE % (first, second)
    assert reads_left_out(text) == left_out
    assert verdict(text) == expected


TESTED = """
__global__ void tested(int *out)
{
    __shared__ int s[64];
    s[threadIdx.x] = 1;
    __syncthreads();
    while (s[0] > 0) {
        __syncthreads();
        s[threadIdx.x] -= 1;
        __syncthreads();
    }
    out[threadIdx.x] = 0;
}
"""


def test_the_test_of_a_loop_is_in_all_intervals():
    (analysis,) = Engine().analyse(CheckRequest("/tested.cu", TESTED)).kernels
    intervals = barrier_intervals(analysis.kernel.body)
    assert intervals is not None
    every = list(zip(statements(analysis.kernel.body), intervals, strict=True))
    assert next(mask for x, mask in every if isinstance(x, Load)) == EVERY
    assert len({mask for x, mask in every if isinstance(x, Store)}) == 3
    assert reads_left_out(TESTED) == 0


FOREVER = """
__global__ void forever(int *out, int n)
{
    __shared__ int s[64];
    int t = threadIdx.x, i = 0;
    for (;;) {
        s[t] = i++;
        for (int k = 0; k < 1; k++) {
            if (i > n) continue;
            __syncthreads();
            out[t] = s[63 - t];
            __syncthreads();
        }
    }
}
"""


def test_a_barrier_in_the_last_statement_of_a_loop_counts_only_where_nothing_goes_past_it():
    (analysis,) = Engine().analyse(CheckRequest("/forever.cu", FOREVER)).kernels
    (around,) = [x for x in statements(analysis.kernel.body) if isinstance(x, Loop) and x.condition is TRUE]

    def continued(x: Stmt) -> Stmt:
        """The next iteration of the loop around, where that of the inner one was asked for."""
        if isinstance(x, Continue):
            return replace(x, label=around.label)
        if isinstance(x, If):
            return replace(x, then=tuple(map(continued, x.then)))
        if isinstance(x, (Loop, Block)):
            return replace(x, body=tuple(map(continued, x.body)))
        return x

    kernel = replace(analysis.kernel, body=tuple(map(continued, analysis.kernel.body)))
    assert barrier_intervals(kernel.body) is None
    assert not conflicts_in(kernel, ()).kept_apart


MANY = """
__global__ void many(float *out, const float *in)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    out[blockIdx.x * 64 + t] = s[t];
}
void run(float *out, const float *in)
{
    many<<<4, 64>>>(out, in);
    many<<<5, 64>>>(out, in);
    many<<<6, 64>>>(out, in);
}
"""


def test_all_events_are_put_together_once_for_all_launches(monkeypatch: pytest.MonkeyPatch):
    made: list[int] = []

    def counted(kernel: Kernel, together: Sequence[frozenset[str]], wraps: bool = False) -> KernelEvents:
        made.append(len(made))
        return conflicting(kernel, together, wraps)

    monkeypatch.setattr("analyzers.verdicts.kernel.conflicting", counted)
    (analysis,) = Engine().analyse(CheckRequest("/many.cu", MANY)).kernels
    assert [c.verdict.value for c in analysis.result.contexts] == ["redundant-barrier"] * 3
    assert made == [0]


def test_a_barrier_is_needed_where_all_events_are_too_much_work(monkeypatch: pytest.MonkeyPatch):
    def too_much(kernel: Kernel, together: Sequence[frozenset[str]], wraps: bool = False) -> KernelEvents:
        raise TooMuchWorkError(kernel.name)

    assert verdict(OWN % "t") == "redundant-barrier"
    monkeypatch.setattr("analyzers.verdicts.kernel.conflicting", too_much)
    assert verdict(OWN % "t") == "race-free"


OWN = """
__global__ void own(float *out, const float *in)
{
    __shared__ float s[64], r[64];
    int t = threadIdx.x;
    s[t] = in[t];
    r[t] = 2.0f * in[t];
    __syncthreads();
    out[blockIdx.x * 64 + t] = s[t] + r[%s];
}
void run(float *out, const float *in) { own<<<4, 64>>>(out, in); }
"""


@pytest.mark.parametrize(
    ("cell", "expected"), [("t", "redundant-barrier"), ("63 - t", "race-free"), ("0", "race-free")]
)
def test_a_barrier_is_needed_by_reads_that_it_alone_keeps_apart(cell: str, expected: str):
    assert reads_left_out(OWN % cell) == 2
    assert verdict(OWN % cell) == expected


CLUSTER = """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void __cluster_dims__(2) halves(int *out)
{
    __shared__ int s[64];
    cg::cluster_group cluster = cg::this_cluster();
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    int *theirs = cluster.map_shared_rank(s, 1 - cluster.block_rank());
    out[blockIdx.x * 64 + t] = theirs[63 - t];
    cluster.sync();
}
"""


def test_a_barrier_of_the_block_keeps_nothing_apart_that_other_blocks_of_the_cluster_reach():
    assert reads_left_out(CLUSTER) == 0
    assert verdict(CLUSTER) == "possible-data-race"


ASYNCHRONOUS = """
#include <cuda_pipeline.h>
__global__ void staged(float *out, const float *in)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &in[t], 4);
    __pipeline_commit();
    %s
    __syncthreads();
    out[t] = s[63 - t];
}
void run(float *out, const float *in) { staged<<<1, 64>>>(out, in); }
"""


@pytest.mark.parametrize(("wait", "expected"), [("", "data-race"), ("__pipeline_wait_prior(0);", "race-free")])
def test_a_copy_beside_the_threads_goes_on_behind_a_barrier(wait: str, expected: str):
    assert reads_left_out(ASYNCHRONOUS % wait) == 0
    assert verdict(ASYNCHRONOUS % wait) == expected


@settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
@given(kernels(Flavour(divergence=True, statements=14)))
def test_what_is_left_out_is_always_ordered(generated: GeneratedKernel):
    apart = conflicts_in(generated.kernel, ()).kept_apart
    if not apart:
        return
    launch = Launch(conflicting(generated.kernel, ()), default_context(generated.kernel))
    for pair in pairs_of(launch):
        if pair.one.id in apart or pair.two.id in apart:
            for mode in ("block", "warp"):
                assert not cases(launch, pair.one, pair.two, mode).possible
