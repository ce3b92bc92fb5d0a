"""Threads that wait in loops for what never comes: the run ends and says so, before its time is over."""

from __future__ import annotations

import numpy as np
import pytest
from runner_launch import prepared, run

from gpu_runner.cpu.machine import Outcome
from gpu_runner.request import Goal, RunResult
from gpu_runner.shown import is_stuck, shows

LOCKS = """
__device__ void acquire(int *l) { while (atomicCAS(l, 0, 1)) ; }
__device__ void release(int *l) { __threadfence(); atomicExch(l, 0); }
"""
NEVER = {
    "a lock that nobody releases": "while (atomicCAS(a, 0, 1)) ; a[1] += 1;",
    "the same with an exchange": "while (atomicExch(a, 1)) __nanosleep(100); a[1] += 1;",
    "a count that one thread leaves out": "if (i) atomicAdd(a, 1); while (atomicAdd(a, 0) < n) ;",
    "a flag in shared memory": """
        __shared__ volatile int go;
        if (t == 0) go = 0;
        __syncthreads();
        if (t == 5) while (go != 1) ;
        __syncthreads();""",
    "locks in different orders": """
        int w = i / 32 & 1;
        if (i % 32 == 0 && i < 64) {
          acquire(&a[w]); atomicAdd(&a[2], 1); while (atomicAdd(&a[2], 0) < 2) ;
          acquire(&a[1 - w]); release(&a[1 - w]); release(&a[w]);
        }""",
    "a longer and longer pause": "int ns = 1; while (atomicExch(a, 1)) { __nanosleep(ns); if (ns < 256) ns *= 2; }",
}
OF_THE_HOST = {
    "an input": "while (*(volatile int *)a == 0) ; a[1] = 1;",
    "an input that others do not wait for": "if (t == 7) while (atomicAdd(a, 0) < 100) ; __syncthreads();",
    "an input beside what is the block's own": """
        __shared__ volatile int head;
        if (t == 0) head = 0;
        __syncthreads();
        while (*(volatile int *)a == 0) if (head != 0) a[3] = 1;""",
    "an input that is written as it was": "while (*(volatile int *)a == 0) a[3] = 0;",
}
GOES_ON = {
    "a slow thread": """
        if (i == 63) {
          unsigned x = 1;
          for (int k = 0; k < 12000; k++) x = x * 1664525u + *(volatile unsigned *)&a[2];
          a[1] = x; __threadfence(); atomicExch(a, 1);
        } else while (atomicAdd(a, 0) == 0) ;""",
    "the clock": "long long s = clock64(); while (*(volatile int *)a == 0 && clock64() - s < 3000000) ;",
    "rounds that are counted": "int k = 0; while (*(volatile int *)a == 0 && ++k < 30000) ;",
    "a lock": "for (int k = 0; k < 20; k++) { if (t % 32 == 0) { acquire(a); a[1] += 1; release(a); } }",
    "two that take turns": """
        if (i < 2)
          for (int k = 0; k < 2000; k++) { while (atomicAdd(a, 0) % 2 != i) ; atomicAdd(a, 1); }""",
    "what a third one brings at last": """
        if (i == 0) for (int k = 0; k < 30000; k++) { atomicExch(a, 1); atomicExch(a, 0); }
        if (i == 0) atomicExch(a + 1, 1);
        if (i == 1) while (atomicAdd(a + 1, 0) == 0) ;""",
}


def source(body: str) -> str:
    return f"""{LOCKS}
    extern "C" __global__ void k(int *a, int n) {{
      int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
      {body}
    }}"""


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", [*NEVER, *OF_THE_HOST, *GOES_ON])
def test_who_waits_for_ever(name: str, seed: int) -> None:
    body = {**NEVER, **OF_THE_HOST, **GOES_ON}[name]
    kernel = prepared(source(body), [np.zeros(64, np.int32), 64], grid=2, block=32)
    execution = run(kernel, seed, seconds=60).execution
    assert execution.endless == (name not in GOES_ON)
    assert execution.own == (name in NEVER)
    assert execution.outcome is (Outcome.DONE if name in GOES_ON else Outcome.PAUSED)
    assert bool(execution.waiting) == (name not in GOES_ON)


def test_threads_in_loops_do_not_show_that_a_barrier_was_missed() -> None:
    goal = Goal("divergence", ())
    stuck = RunResult("deadlock", "2 threads wait for each other")
    spinning = RunResult("deadlock", "1 thread waits in a loop", spinning=True)
    assert shows(goal, stuck, ())
    assert is_stuck(stuck)
    assert not shows(goal, spinning, ())
    assert not is_stuck(spinning)
