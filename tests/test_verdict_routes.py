"""The barriers on the way of the two threads of a finding, as they were executed, and the bytes that each touches."""

from __future__ import annotations

import pytest

from analyzers.engine import Engine
from analyzers.model import Finding, KernelResult, Route
from analyzers.requests import CheckRequest, UnitFinished


def only_kernel(text: str) -> KernelResult:
    for event in Engine().check(CheckRequest("/nowhere/a.cu", text)):
        if isinstance(event, UnitFinished):
            (kernel,) = event.result.kernels
            return kernel
    raise AssertionError("no result")


def findings(text: str) -> list[Finding]:
    return [finding for context in only_kernel(text).contexts for finding in context.findings]


def passed(route: Route | None) -> list[tuple[int, tuple[int, ...], bool]]:
    """Line, iterations and whether the other thread takes part, of the barriers before."""
    assert route is not None
    assert len(route.last) == min(route.passed, 8)
    return [(a.span.line, a.iterations, a.common) for a in route.last]


LOOP = """// cuda-lsp: launch grid=(1) block=(64)
__global__ void steps(float *out) {
  __shared__ float s[66];
  int t = threadIdx.x;
  s[t + 1] = 0.f;
  __syncthreads();
  for (int i = 0; i < 4; ++i) {
    float v = s[t];
    __syncthreads();
    s[t + 1] += v;
  }
  out[t] = s[t + 1];
}
"""


def test_both_threads_have_passed_the_same_barriers() -> None:
    race = next(f for f in findings(LOOP) if {a.text for a in f.accesses} == {"s[t]", "s[t + 1]"})
    read, write = race.accesses
    later = read.route
    assert later is not None
    assert later.next is not None
    assert passed(read.route) == passed(write.route) == [(6, (), True), (9, (0,), True)]
    assert later.next.span.line == 9
    assert later.next.iterations == (1,)
    assert read.offset == write.offset == 4 * (read.thread or (0,))[0]
    assert race.witness is not None
    assert (race.witness.element, race.witness.extents) == (4, (66,))


def test_barriers_of_other_blocks_are_told_apart() -> None:
    (race,) = findings(
        """// cuda-lsp: launch grid=(2) block=(64)
__global__ void total(float *out) {
  __shared__ float s[64];
  s[threadIdx.x] = 1.f;
  __syncthreads();
  if (threadIdx.x == 0) *out = s[63];
}
"""
    )
    one, two = race.accesses
    assert race.scope == "inter-block"
    assert passed(one.route) == passed(two.route) == [(5, (), False)]
    assert one.route is not None
    assert one.route.next is None
    assert one.route.ended


def test_only_the_last_of_many_barriers_are_kept() -> None:
    race = findings(LOOP.replace("i < 4", "i < 40").replace("float v = s[t];", "float v = i == 30 ? s[t] : 0.f;"))[0]
    route = race.accesses[0].route
    assert route is not None
    assert route.passed > 20
    assert len(passed(route)) == 8


def test_where_a_thread_waits_that_misses_a_barrier() -> None:
    (divergence,) = findings(
        """// cuda-lsp: launch grid=(1) block=(64)
__global__ void two(float *out) {
  __syncthreads();
  if (threadIdx.x < 40) {
    __syncthreads();
  } else {
    out[threadIdx.x] = 1.f;
    __syncthreads();
  }
}
"""
    )[:1]
    waits, misses = (access.route for access in divergence.accesses)
    assert passed(waits) == passed(misses) == [(3, (), True)]
    assert waits is not None
    assert misses is not None
    assert waits.next is not None
    assert misses.next is not None
    assert {waits.next.span.line, misses.next.span.line} == {5, 8}


def test_a_thread_that_ends_without_the_barrier() -> None:
    (divergence,) = findings(
        """// cuda-lsp: launch grid=(1) block=(64)
__global__ void half() {
  if (threadIdx.x < 40) __syncthreads();
}
"""
    )
    waits, misses = (access.route for access in divergence.accesses)
    assert waits is not None
    assert misses is not None
    assert waits.next is not None
    assert misses == Route(passed=0, ended=True)


def test_the_way_of_a_race_that_data_decides_is_told_where_it_was_executed() -> None:
    text = """// cuda-lsp: launch grid=(1) block=(64)
__global__ void mark(const int *wanted, int *out) {
  __syncthreads();
  if (wanted[threadIdx.x] == 3) *out = threadIdx.x;
}
"""
    (race,) = findings(text)
    assert race.witness is not None
    assert race.witness.data
    assert passed(race.accesses[0].route) == [(3, (), True)]


def test_a_pointer_into_an_allocation_counts_from_where_it_points() -> None:
    text = """__global__ void fill(int *p) { p[threadIdx.x / 2] = threadIdx.x; }
#include <cuda_runtime.h>
int main() {
  int *a;
  cudaMalloc(&a, 4096);
  fill<<<1, 64>>>(a + 16);
}
"""
    (race,) = findings(text)
    assert race.witness is not None
    assert race.witness.address == "p[0]"
    assert [access.offset for access in race.accesses] == [0, 0]


def test_a_kernel_lists_its_barriers_once() -> None:
    kernel = only_kernel(
        """__device__ void wait() { __syncthreads(); }
// cuda-lsp: launch grid=(1) block=(64)
__global__ void twice() {
  wait();
  __syncthreads();
  wait();
}
"""
    )
    assert [span.line for span in kernel.barrier_sites] == [1, 5]


@pytest.mark.parametrize("body", ["a[t] = 1; int v = b[t + 20]; b[t + 4000] = v;", "int v = b[t + 20]; a[t] = v;"])
def test_bytes_count_from_where_the_address_does_when_two_pointers_meet(body: str) -> None:
    text = f"""#include <cuda_runtime.h>
__global__ void both(int *a, int *b) {{ int t = threadIdx.x; {body} }}
int main() {{
  int *p;
  cudaMalloc(&p, 1 << 20);
  both<<<1, 64>>>(p + 16, p);
}}
"""
    race = findings(text)[0]
    assert race.witness is not None
    index = int(race.witness.address.partition("[")[2].rstrip("]"))
    assert [access.offset for access in race.accesses] == [4 * index, 4 * index]


def test_bytes_without_a_name_are_not_told() -> None:
    text = """// cuda-lsp: launch grid=(1) block=(64)
__global__ void behind(int **lists) { lists[0][threadIdx.x / 2] = threadIdx.x; }
"""
    race = findings(text)[0]
    assert [access.offset for access in race.accesses] == [None, None]
