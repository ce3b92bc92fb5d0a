"""Asynchronous copies and split barriers: what they do to memory, and what they order."""

from __future__ import annotations

import numpy as np
import pytest
from runner_launch import prepared, run

from gpu_runner.cpu.machine import Outcome

HEAD = """
__device__ void copy(int *to, const int *from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");
}
__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
__device__ void wait_all() { asm volatile("cp.async.wait_all;" ::: "memory"); }
template <int N> __device__ void wait() { asm volatile("cp.async.wait_group %0;" :: "n"(N) : "memory"); }
"""  # noqa: E501

TWO = "copy(&s[t], a + t); commit(); copy(&s[64 + t], a + t); commit(); "
BODIES = {
    "waited and met": ("copy(&s[t], a + t); wait_all(); __syncthreads(); out[t] = s[t ^ 33];", False),
    "own part": ("copy(&s[t], a + t); commit(); wait<0>(); out[t] = s[t];", False),
    "own part, no wait": ("copy(&s[t], a + t); commit(); out[t] = s[t]; wait_all();", True),
    "met, not waited": ("copy(&s[t], a + t); __syncthreads(); out[t] = s[t ^ 33]; __syncthreads(); wait_all();", True),
    "waited, not met": ("copy(&s[t], a + t); wait_all(); out[t] = s[t ^ 33];", True),
    "waited behind the meeting": ("copy(&s[t], a + t); __syncthreads(); wait_all(); out[t] = s[t ^ 33];", True),
    "never committed": ("copy(&s[t], a + t); wait<0>(); __syncthreads(); out[t] = s[t ^ 33];", True),
    "the group before": (
        TWO + "wait<1>(); __syncthreads(); out[t] = s[t ^ 33]; wait_all();",
        False,
    ),
    "the group that may be open": (
        TWO + "wait<1>(); __syncthreads(); out[t] = s[64 + (t ^ 33)]; wait_all();",
        True,
    ),
    "source is overwritten": ("copy(&s[t], a + t); a[t] = 5; wait_all(); __syncthreads(); out[t] = s[t ^ 33];", True),
    "source is overwritten behind": ("copy(&s[t], a + t); wait_all(); a[t] = 5; out[t] = s[t];", False),
    "target was read": ("s[t] = t; __syncthreads(); out[t] = s[t ^ 1]; copy(&s[t], a + t); wait_all();", True),
    "target was read, then met": (
        "s[t] = t; __syncthreads(); out[t] = s[t ^ 1]; __syncthreads(); copy(&s[t], a + t); wait_all();",
        False,
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_a_copy_is_ordered_by_its_wait_alone(name: str) -> None:
    body, races = BODIES[name]
    source = f"""{HEAD}
    extern "C" __global__ void k(int *a, int *out) {{
      __shared__ int s[128]; int t = threadIdx.x;
      {body}
    }}"""
    ran = run(prepared(source, [np.arange(64, dtype=np.int32) + 100, np.zeros(64, np.int32)], block=64))
    assert ran.execution.outcome is Outcome.DONE
    assert bool(ran.races) == races
    assert all(scope != "inter-block" for *_, scope in ran.races)


def test_what_is_not_taken_of_the_source_is_zero_and_not_read() -> None:
    source = """
    extern "C" __global__ void k(const int *a, int *out, int n) {
      __shared__ __align__(16) int s[8]; int t = threadIdx.x;
      unsigned at = (unsigned)__cvta_generic_to_shared(s);
      if (t == 0) asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(at), "l"(a), "r"(n) : "memory");
      if (t == 1) asm volatile("cp.async.ca.shared.global [%0], [%1], 8, 0;" :: "r"(at + 16), "l"(a + 999) : "memory");
      asm volatile("cp.async.wait_all;" ::: "memory");
      __syncthreads();
      out[t] = s[t];
    }"""
    ran = run(prepared(source, [np.arange(1, 3, dtype=np.int32), np.full(6, 9, np.int32), 8], block=6))
    assert ran.array(1).tolist() == [1, 2, 0, 0, 0, 0]
    assert (ran.races, ran.execution.seen) == (set(), ())


SPLIT = """
__device__ unsigned at(unsigned long long *b) { return (unsigned)__cvta_generic_to_shared(b); }
__device__ void init(unsigned long long *b, int n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(at(b)), "r"(n)); }
__device__ unsigned long long arrive(unsigned long long *b) {
  unsigned long long token; asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(at(b)) : "memory"); return token;
}
__device__ bool over(unsigned long long *b, unsigned long long token) {
  int done; asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }" : "=r"(done) : "r"(at(b)), "l"(token) : "memory");
  return done;
}
__device__ void wait_parity(unsigned long long *b, int parity) {
  asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra again; }" :: "r"(at(b)), "r"(parity) : "memory");
}
"""  # noqa: E501


SPLIT_BODIES = [
    ("unsigned long long n = arrive(&b); while (!over(&b, n)); out[t] = s[t ^ 33];", False),
    ("arrive(&b); wait_parity(&b, 0); out[t] = s[t ^ 33]; arrive(&b); wait_parity(&b, 1); s[t] = 0;", False),
    ("arrive(&b); wait_parity(&b, 0); out[t] = s[t ^ 33]; s[t] = 0;", True),
    ("unsigned long long n = arrive(&b); over(&b, n); out[t] = s[t ^ 33];", True),
]


@pytest.mark.parametrize(("body", "races"), SPLIT_BODIES)
def test_split_barriers(body: str, races: bool) -> None:
    source = f"""{SPLIT}
    extern "C" __global__ void k(int *out) {{
      __shared__ int s[64]; __shared__ unsigned long long b; int t = threadIdx.x;
      if (t == 0) init(&b, 64);
      __syncthreads();
      s[t] = t;
      {body}
    }}"""
    found = False
    for seed in range(3):
        ran = run(prepared(source, [np.zeros(64, np.int32)], block=64), seed)
        assert ran.execution.outcome is Outcome.DONE
        found = found or bool(ran.races)
    assert found == races


def test_a_split_barrier_before_its_initialisation_is_a_race() -> None:
    source = f"""{SPLIT}
    extern "C" __global__ void k() {{
      __shared__ unsigned long long b;
      if (threadIdx.x == 0) init(&b, 64);
      arrive(&b);
    }}"""
    kernel = prepared(source, [], block=64)
    assert any(run(kernel, seed).races for seed in range(4))  # not where the first arrival has seen the initialisation


def copied_behind_a_barrier(arrives: bool) -> str:
    """`arrives`: the barrier is told of the copy."""
    told = 'asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" :: "r"(at(&b)) : "memory");'
    return f"""{HEAD}{SPLIT}
    extern "C" __global__ void k(int *a, int *out) {{
      __shared__ int s[64]; __shared__ unsigned long long b; int t = threadIdx.x;
      if (t == 0) init(&b, 64);
      __syncthreads();
      copy(&s[t], a + t);
      {told if arrives else "arrive(&b);"}
      wait_parity(&b, 0);
      out[t] = s[t ^ 33];
    }}"""


@pytest.mark.parametrize("arrives", [True, False])
def test_copies_that_a_split_barrier_waits_for(arrives: bool) -> None:
    source = copied_behind_a_barrier(arrives)
    ran = run(prepared(source, [np.arange(64, dtype=np.int32), np.zeros(64, np.int32)], block=64))
    assert bool(ran.races) != arrives
    assert ran.array(1).tolist() == [t ^ 33 for t in range(64)]
