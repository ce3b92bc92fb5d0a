"""Calls through pointers: tables of functions, virtual functions, constructors of arrays; functions that are translated
once for all their calls, and such as call themselves."""

from __future__ import annotations

import numpy as np
import pytest
from runner_launch import module_of, prepared, run

from gpu_runner.compile import Build
from gpu_runner.cpu import translate
from gpu_runner.cpu.layout import Fault
from gpu_runner.cpu.machine import Notice, Outcome
from gpu_runner.cpu.outlined import called

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


CHAINS = """
struct Pair { int x; int y[3]; };
__device__ Pair pair(const int *a, int i) {
  Pair p = {a[i], {1, 2, 3}};
  p.y[i & 1] += a[i + 1];
  return p;
}
__device__ int total(Pair p) { p.x += p.y[0] + p.y[1] + p.y[2]; return p.x; }
__device__ int both(int *a, int i) {
  int v = total(pair(a, i)) + total(pair(a, i + 1));
  a[i] = v;
  return v;
}
extern "C" __global__ void k(int *a, int *out) {
  int i = threadIdx.x;
  out[i] = both(a, i);
  __syncthreads();
  out[i] += both(a, i + 32);
  if (i == 3) out[i + 1000] = total(pair(a, i + 100000));
}
"""


def test_functions_with_one_translation_do_and_tell_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def shown() -> tuple[object, ...]:
        ran = run(prepared(CHAINS, [np.arange(80, dtype=np.int32), np.zeros(32, np.int32)]))
        chains = {
            tuple(location.position.line for location in ran.kernel.sites[int(race[side])].stack if location)
            for race in ran.detector.races()
            for side in ("first_site", "second_site")
        }
        faults = {(Fault(seen.op), seen.thread, ran.kernel.sites[seen.site].functions) for seen in ran.execution.seen}
        return ran.array(0).tolist(), ran.array(1).tolist(), ran.races, chains, faults, ran.execution.records

    assert called(module_of(CHAINS), "k") == frozenset()  # a small one
    copied = shown()
    monkeypatch.setattr(translate, "called", lambda module, kernel: called(module, kernel, 0))
    assert len(called(module_of(CHAINS), "k", 0)) >= 2
    assert shown() == copied
    *_, faults, _ = copied
    assert {(fault, thread) for fault, thread, _ in faults} == {(Fault.OUT_OF_BOUNDS, 3)}  # pyright: ignore[reportGeneralTypeIssues, reportUnknownVariableType]


@BUILDS
def test_functions_that_call_themselves(build: Build) -> None:
    source = """
    __device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    __device__ __noinline__ void sort(int *a, int l, int r) {
      if (l >= r) return;
      int p = a[(l + r) / 2], i = l, j = r;
      while (i <= j) {
        while (a[i] < p) i++;
        while (a[j] > p) j--;
        if (i <= j) { int t = a[i]; a[i] = a[j]; a[j] = t; i++; j--; }
      }
      sort(a, l, j);
      sort(a, i, r);
    }
    extern "C" __global__ void k(int *out, int *rows) {
      int row[7];
      for (int i = 0; i < 7; i++) row[i] = rows[threadIdx.x * 7 + i];
      sort(row, 0, 6);
      out[threadIdx.x] = fib(threadIdx.x % 12);
      sort(rows + threadIdx.x * 7, 0, 6);
      for (int i = 0; i < 7; i++) if (row[i] != rows[threadIdx.x * 7 + i]) out[threadIdx.x] = -1;
    }
    """
    rows = np.array([(31 * n + 17) % 101 for n in range(32 * 7)], np.int32)
    ran = run(prepared(source, [np.zeros(32, np.int32), rows], build=build))
    assert ran.execution.outcome is Outcome.DONE
    assert not ran.execution.seen
    assert not ran.races
    numbers = [0, 1]
    while len(numbers) < 12:
        numbers.append(numbers[-1] + numbers[-2])
    assert ran.array(0).tolist() == [numbers[t % 12] for t in range(32)]
    assert (ran.array(1).reshape(32, 7) == np.sort(rows.reshape(32, 7))).all()


def test_accesses_of_functions_that_call_themselves_are_told_with_their_first_call() -> None:
    source = """
    __device__ void fill(int *a, int n) {
      a[n] = threadIdx.x;
      if (n > 0) fill(a, n - 1);
    }
    extern "C" __global__ void k(int *a) {
      fill(a, 3);
    }
    """
    ran = run(prepared(source, [np.zeros(4, np.int32)]))
    assert ran.races == {(7, 7, "ww", "warp")}
    endless = source.replace("n > 0", "n < 9").replace("n - 1", "n")
    assert {Fault(seen.op) for seen in run(prepared(endless, [np.zeros(4, np.int32)])).execution.seen} == {Fault.STACK}
