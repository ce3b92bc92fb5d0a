"""Calls through pointers: tables of functions, virtual functions, constructors of arrays."""

from __future__ import annotations

import numpy as np
import pytest
from runner_launch import prepared, run

from gpu_runner.compile import Build
from gpu_runner.cpu.layout import Fault
from gpu_runner.cpu.machine import Notice, Outcome

BUILDS = pytest.mark.parametrize("build", ["confirm", "shipped"])

POINTERS = """
struct H { int v; __device__ H() { v = 3; } };
typedef int (*F)(int, float);
__device__ __noinline__ int sum(int a, float b) { return a + (int)b; }
__device__ __noinline__ int doubled(int a, float b) { return a * 2; }
__device__ F table[2] = {sum, doubled};
struct Base { __device__ virtual int next(int x) { return x; } };
struct Derived : Base { __device__ int next(int x) override { return x + 1; } };
__device__ __noinline__ int use(Base *b, int x) { return b->next(x); }
extern "C" __global__ void k(int *a, int *out) {
  int t = threadIdx.x;
  H h[4];
  F f = a[t] ? sum : doubled;
  Derived d; Base b;
  out[t] = h[t & 3].v * 1000 + f(5, 2.f) * 100 + table[t & 1](4, 3.f) * 10 + use(t >= 16 ? &d : &b, t);
}
"""


@BUILDS
def test_calls_through_pointers(build: Build) -> None:
    chosen = np.arange(32, dtype=np.int32) % 3 % 2
    ran = run(prepared(POINTERS, [chosen, np.zeros(32, np.int32)], build=build))
    assert ran.execution.outcome is Outcome.DONE
    assert not ran.execution.seen
    t = np.arange(32)
    f = np.where(chosen != 0, 7, 10)
    assert (ran.array(1) == 3000 + f * 100 + np.where(t & 1, 8, 7) * 10 + t + (t >= 16)).all()


@BUILDS
def test_barriers_and_races_behind_a_pointer(build: Build) -> None:
    source = """
    typedef void (*F)(int *, int);
    __device__ __noinline__ void left(int *a, int t) { __syncthreads(); a[t] = a[t + 1]; }
    __device__ __noinline__ void right(int *a, int t) { __syncthreads(); a[t] = 1; }
    extern "C" __global__ void k(int *a, int which) {
      F f = which ? left : right;
      f(a, threadIdx.x);
    }
    """
    racy = run(prepared(source, [np.zeros(65, np.int32), 1], block=64, build=build))
    clean = run(prepared(source, [np.zeros(65, np.int32), 0], block=64, build=build))
    assert {race[2:] for race in racy.races} == {("rw", "warp"), ("rw", "block")}
    assert not clean.races


def test_a_pointer_to_no_function_is_a_fault() -> None:
    source = """
    typedef int (*F)(int);
    __device__ __noinline__ int one(int a) { return a + 1; }
    __device__ F set[2] = {one, 0};
    extern "C" __global__ void k(int *a) { a[threadIdx.x] = set[threadIdx.x](7); }
    """
    ran = run(prepared(source, [np.zeros(2, np.int32)], block=2))
    assert ran.array(0).tolist() == [8, 0]
    assert [(seen.kind, seen.op, seen.thread) for seen in ran.execution.seen] == [(Notice.FAULT, Fault.CALL, 1)]


def test_a_function_that_calls_itself_through_a_pointer_is_a_fault() -> None:
    source = """
    typedef int (*F)(int);
    __device__ F step;
    __device__ __noinline__ int down(int a) { return a > 0 ? step(a - 1) : 5; }
    extern "C" __global__ void k(int *a) { step = down; a[0] = step(0); a[1] = step(1); }
    """
    ran = run(prepared(source, [np.zeros(2, np.int32)], block=1))
    assert ran.array(0).tolist() == [5, 0]
    assert [seen.op for seen in ran.execution.seen] == [Fault.CALL]
