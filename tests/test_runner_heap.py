"""Memory that kernels ask the device for."""

from __future__ import annotations

import numpy as np
import pytest
from runner_launch import prepared, run

from gpu_runner.compile import Build
from gpu_runner.cpu.heap import HEAP_BYTES
from gpu_runner.cpu.layout import Fault
from gpu_runner.cpu.machine import Outcome

BUILDS = pytest.mark.parametrize("build", ["confirm", "shipped"])


@BUILDS
def test_threads_have_memory_of_their_own(build: Build) -> None:
    source = """
    struct Node { int v; Node *next; };
    extern "C" __global__ void k(int *out) {
      Node *head = nullptr;
      for (int i = 0; i < 5; i++) { Node *n = new Node; n->v = threadIdx.x + i; n->next = head; head = n; }
      int sum = 0;
      while (head) { sum += head->v; Node *next = head->next; delete head; head = next; }
      int *p = (int *)malloc(sizeof(int) * 16);
      p[15] = sum;
      out[threadIdx.x] = p[15];
      free(p);
      free(nullptr);
    }
    """
    kernel = prepared(source, [np.zeros(32, np.int32)], build=build)
    for seed in (0, 1):
        ran = run(kernel, seed)
        assert ran.execution.outcome is Outcome.DONE
        assert not ran.execution.seen
        assert not ran.races
        assert ran.array(0).tolist() == [5 * t + 10 for t in range(32)]


def test_misuse_and_races_of_it_are_seen() -> None:
    source = """
    __device__ int *shared_by_all;
    extern "C" __global__ void k(int *out, int what) {
      int *p = (int *)malloc(40);
      if (what == 0) p[10] = 1;
      if (what == 1) { free(p); p[3] = 1; }
      if (what == 2) {
        if (threadIdx.x == 0) shared_by_all = p;
        __syncthreads();
        shared_by_all[1] = threadIdx.x;
      }
      if (what == 3) out[threadIdx.x] = malloc(1 << 23) == nullptr;
    }
    """

    def ran(what: int) -> tuple[set[Fault], int, list[int]]:
        one = run(prepared(source, [np.zeros(32, np.int32), what]))
        return {Fault(seen.op) for seen in one.execution.seen}, len(one.races), one.array(0).tolist()

    assert ran(0)[0] == {Fault.OUT_OF_BOUNDS}
    assert ran(1)[0] == {Fault.OUT_OF_BOUNDS}
    assert ran(2)[:2] == (set(), 1)
    assert HEAP_BYTES == 1 << 23
    assert ran(3) == (set(), 0, [1] * 32)
