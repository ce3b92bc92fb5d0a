"""Clusters of blocks: who is where, shared memory of other blocks, and what the cluster's barrier orders."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from runner_launch import Ran, module_of, prepared, run

from gpu_runner.compile import Build
from gpu_runner.cpu.body import Unsupported
from gpu_runner.cpu.launch import LaunchError
from gpu_runner.cpu.machine import Outcome
from gpu_runner.gpu.instrument import instrument
from gpu_runner.request import ArrayArgument, Request
from gpu_runner.session import serve

HEAD = """
__device__ unsigned rank() { unsigned r; asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); return r; }
__device__ unsigned size() { unsigned r; asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(r)); return r; }
template <class T> __device__ T *of(T *p, unsigned r) {
  unsigned long long a;
  asm("mapa.u64 %0, %1, %2;" : "=l"(a) : "l"(p), "r"(r));
  return (T *)a;
}
__device__ void arrive() { asm volatile("barrier.cluster.arrive.aligned;" ::: "memory"); }
__device__ void wait() { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }
__device__ void sync() { arrive(); wait(); }
"""
BUILDS = pytest.mark.parametrize("build", ["confirm", "shipped"])


def of(source: str, *arguments: object, grid: tuple[int, int, int], block: int = 32, build: Build = "confirm") -> Ran:
    return run(prepared(HEAD + source, arguments, grid, block, build, arch=90), seed=1)  # pyright: ignore[reportArgumentType]


@BUILDS
def test_ranks_go_along_x_first(build: Build) -> None:
    source = """extern "C" __global__ void __cluster_dims__(2, 3, 1) k(unsigned *out) {
      unsigned x, y, cx, n;
      asm("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(x));
      asm("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(y));
      asm("mov.u32 %0, %%clusterid.x;" : "=r"(cx));
      asm("mov.u32 %0, %%nclusterid.y;" : "=r"(n));
      if (threadIdx.x == 0) {
        unsigned block = blockIdx.x + gridDim.x * blockIdx.y;
        out[block] = rank() + 10 * x + 100 * y + 1000 * cx + 10000 * n + 100000 * size();
      }
    }"""
    ran = of(source, np.zeros(4 * 6, np.uint32), grid=(4, 6, 1), build=build)
    y, x = np.mgrid[0:6, 0:4]
    wanted = x % 2 + y % 3 * 2 + 10 * (x % 2) + 100 * (y % 3) + 1000 * (x // 2) + 20000 + 600000
    assert (ran.array(0, np.uint32).reshape(6, 4) == wanted).all()


EXCHANGE = """extern "C" __global__ void __cluster_dims__(4, 1, 1) k(int *out) {
  __shared__ int s[32];
  s[threadIdx.x] = 100 * blockIdx.x + threadIdx.x;
  FIRST
  out[blockIdx.x * 32 + threadIdx.x] = of(s, (rank() + 1) % 4)[threadIdx.x];
  SECOND
}"""


@BUILDS
@pytest.mark.parametrize("blocks", [4, 64])
def test_shared_memory_of_the_next_block(blocks: int, build: Build) -> None:
    source = EXCHANGE.replace("FIRST", "sync();").replace("SECOND", "sync();")
    ran = of(source, np.zeros(32 * blocks, np.int32), grid=(blocks, 1, 1), build=build)
    block, thread = np.mgrid[0:blocks, 0:32]
    assert (ran.array(0).reshape(blocks, 32) == 100 * (block // 4 * 4 + (block + 1) % 4) + thread).all()
    assert ran.races == set()
    assert ran.execution.seen == ()


def test_without_the_barrier_blocks_race_on_shared_memory() -> None:
    ran = of(
        EXCHANGE.replace("FIRST", "__syncthreads();").replace("SECOND", "sync();"),
        np.zeros(128, np.int32),
        grid=(4, 1, 1),
    )
    assert {(kinds, relation) for *_, kinds, relation in ran.races} >= {("rw", "grid")}


def test_arrivals_that_do_not_wait_order_what_was_before() -> None:
    """What is written between arrival and wait is not ordered."""
    source = """extern "C" __global__ void __cluster_dims__(2, 1, 1) k(int *out) {
      __shared__ int s[32], u[32];
      s[threadIdx.x] = 1;
      arrive();
      u[threadIdx.x] = 2;
      wait();
      out[blockIdx.x * 32 + threadIdx.x] = of(s, 1 - rank())[threadIdx.x] + WHERE;
      sync();
    }"""
    clean = of(source.replace("WHERE", "u[threadIdx.x]"), np.zeros(64, np.int32), grid=(2, 1, 1))
    assert clean.races == set()
    racy = of(source.replace("WHERE", "of(u, 1 - rank())[threadIdx.x]"), np.zeros(64, np.int32), grid=(2, 1, 1))
    assert {kinds for *_, kinds, _ in racy.races} == {"rw"}


def test_relaxed_arrivals_order_nothing() -> None:
    source = EXCHANGE.replace("FIRST", 'asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); wait();')
    ran = of(source.replace("SECOND", "sync();"), np.zeros(128, np.int32), grid=(4, 1, 1))
    assert {(kinds, relation) for *_, kinds, relation in ran.races} == {("rw", "grid")}


def test_threads_that_have_ended_are_not_waited_for() -> None:
    source = """extern "C" __global__ void __cluster_dims__(2, 1, 1) k(int *out, int n) {
      __shared__ int s[32];
      s[threadIdx.x] = 7;
      if (blockIdx.x * 32 + threadIdx.x >= n) return;
      for (int i = 0; i < 3; i++) { arrive(); if (threadIdx.x == i + 3) return; wait(); }
      out[blockIdx.x * 32 + threadIdx.x] = of(s, 0)[threadIdx.x];
      sync();
    }"""
    ran = of(source, np.zeros(64, np.int32), 40, grid=(2, 1, 1))
    assert ran.execution.outcome is Outcome.DONE
    told = np.full(64, 7)
    told[40:] = told[[3, 4, 5, 35, 36, 37]] = 0
    assert (ran.array(0) == told).all()


def test_atomics_of_several_blocks_on_one_cell_do_not_race() -> None:
    source = """extern "C" __global__ void __cluster_dims__(8, 1, 1) k(int *out) {
      __shared__ int total;
      if (threadIdx.x == 0) total = 0;
      sync();
      atomicAdd(of(&total, 0), 1);
      sync();
      if (threadIdx.x == 0) out[blockIdx.x] = total;
    }"""
    ran = of(source, np.zeros(16, np.int32), grid=(16, 1, 1))
    assert list(ran.array(0)) == ([256] + 7 * [0]) * 2
    assert ran.races == set()


def test_flags_in_shared_memory_of_another_block_order() -> None:
    source = """extern "C" __global__ void __cluster_dims__(2, 1, 1) k(int *out) {
      __shared__ int data, flag;
      if (threadIdx.x == 0) flag = 0;
      sync();
      if (threadIdx.x == 0 && rank() == 1) {
        *of(&data, 0) = 5;
        FENCE;
        *(volatile int *)of(&flag, 0) = 1;
      }
      if (threadIdx.x == 0 && rank() == 0) {
        while (*(volatile int *)&flag == 0) {}
        FENCE;
        out[0] = data;
      }
      sync();
    }"""
    fenced = of(source.replace("FENCE", "__threadfence()"), np.zeros(1, np.int32), grid=(2, 1, 1))
    assert fenced.races == set()
    assert fenced.array(0)[0] == 5
    bare = of(source.replace("FENCE", ""), np.zeros(1, np.int32), grid=(2, 1, 1))
    assert {kinds for *_, kinds, _ in bare.races} == {"rw"}


def told(source: str, blocks: int) -> set[str]:
    arguments = (ArrayArgument("i32", 32 * blocks),)
    request = Request("k", (blocks, 1, 1), (32, 1, 1), arguments, ("out",), HEAD + source, compiler="nvrtc", arch=90)
    return {fault.text for fault in serve(replace(request, seeds=(0, 1, 2, 3))).faults}


def test_memory_of_a_block_that_has_ended_and_behind_its_end() -> None:
    ended = told(EXCHANGE.replace("FIRST", "sync();").replace("SECOND", ""), 4)
    assert ended
    assert all(text.startswith("access outside of every array: s") and "which has ended" in text for text in ended)
    far = told(EXCHANGE.replace("FIRST", "sync();").replace("SECOND", "sync();").replace("[threadIdx.x];", "[999];"), 4)
    assert all("where the block has 128 bytes of shared memory, in the block with rank" in text for text in far)
    assert far


def test_a_grid_that_is_not_made_of_whole_clusters() -> None:
    with pytest.raises(LaunchError, match=r"made of clusters of \(4, 1, 1\) blocks"):
        of(EXCHANGE.replace("FIRST", "").replace("SECOND", ""), np.zeros(192, np.int32), grid=(6, 1, 1))


def test_a_gpu_does_not_run_what_it_could_not_log() -> None:
    source = HEAD + EXCHANGE.replace("FIRST", "sync();").replace("SECOND", "sync();")
    with pytest.raises(Unsupported, match="cluster"):
        instrument(module_of(source, arch=90), "k")
