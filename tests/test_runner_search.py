"""Inputs that show a finding: arrays that grow, contents that are searched, and what is said where none is found."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from pathlib import Path

import pytest

from gpu_runner.compile import CompileOptions, compile_source, find_nvrtc
from gpu_runner.nvrtc_headers import installed, texts_by_name
from gpu_runner.request import ArrayArgument, Goal, Part, RecordArgument, Request, RunResult, ScalarArgument, Side
from gpu_runner.session import serve


def asked(
    source: str, *arguments: ArrayArgument | ScalarArgument | RecordArgument, goal: Goal | None = None
) -> RunResult:
    names = tuple("abcd"[: len(arguments)])
    request = Request("k", (1, 1, 1), (64, 1, 1), arguments, names, source, compiler="nvrtc", growing=names, goal=goal)
    return serve(request)


def test_arrays_grow_until_every_access_is_inside() -> None:
    source = 'extern "C" __global__ void k(int *a, int n) { a[threadIdx.x * n] = 1; }'
    assert asked(source, ArrayArgument("i32", 4), ScalarArgument(100)).faults == ()
    result = asked(source, ArrayArgument("i32", 4), ScalarArgument(1 << 25))
    assert {fault.kind for fault in result.faults} == {"out-of-bounds"}
    inside = RecordArgument((Part("v.p", 8, ArrayArgument("i32", 4)), Part("v.n", 0, ScalarArgument(3, "i32"))))
    source = 'struct V { int n; int *p; }; extern "C" __global__ void k(V v) { v.p[threadIdx.x * v.n] = 1; }'
    request = Request("k", (1, 1, 1), (64, 1, 1), (inside,), ("v",), source, compiler="nvrtc", growing=("v.p",))
    assert serve(request).faults == ()
    (fault,) = serve(replace(request, growing=())).faults
    assert "v.p[" in fault.text


BY_CONSTANT = """extern "C" __global__ void k(const int *a, int *b) {
  if (a[threadIdx.x] == 917)
    b[0] = threadIdx.x;
}"""
BY_INDEX = """extern "C" __global__ void k(const int *a, int *b) {
  int i = a[threadIdx.x];
  if (i > 4 && i < 64 && a[63 - threadIdx.x] != i)
    b[i] = threadIdx.x;
}"""
BY_TWO = """extern "C" __global__ void k(const int *a, int *b) {
  if (threadIdx.x == 3 && a[3] == 41) b[0] = 1;
  if (threadIdx.x == 40 && a[4] == 17) b[0] = 2;
}"""


@pytest.mark.parametrize(("source", "lines"), [(BY_CONSTANT, (3, 3)), (BY_INDEX, (4, 4)), (BY_TWO, (2, 3))])
def test_contents_are_found_that_lead_to_the_race(source: str, lines: tuple[int, int]) -> None:
    goal = Goal("race", tuple(map(Side, lines)), "", (), 200, ("a", "b"))
    arguments = ArrayArgument("i32", 64), ArrayArgument("i32", 64)
    assert asked(source, *arguments).races == ()
    result = asked(source, *arguments, goal=goal)
    assert {tuple(sorted(side.places[0].line for side in (r.first, r.second))) for r in result.races} >= {lines}
    assert result.runs > 1
    assert any(text.startswith("a: 64 elements") for text in result.inputs)
    again = asked(source, *arguments, goal=goal)
    assert (again.runs, again.inputs) == (result.runs, result.inputs)


def test_arrays_that_the_user_gave_stay_and_the_number_of_runs_is_told() -> None:
    goal = Goal("race", (Side(3), Side(3)), "", (), 20, ("b",))
    result = asked(BY_CONSTANT, ArrayArgument("i32", 64), ArrayArgument("i32", 64), goal=goal)
    assert (result.races, result.runs, result.inputs) == ((), 21, ())
    goal = replace(goal, searched=())
    assert asked(BY_CONSTANT, ArrayArgument("i32", 64), ArrayArgument("i32", 64), goal=goal).runs == 1


def test_a_barrier_that_data_let_threads_miss() -> None:
    source = """extern "C" __global__ void k(const int *a) {
      if (a[threadIdx.x] == 9) __syncthreads(); else if (a[threadIdx.x] == 8) __syncthreads();
    }"""
    goal = Goal("divergence", (), "", (), 200, ("a",))
    result = asked(source, ArrayArgument("i32", 64), goal=goal)
    assert {fault.kind for fault in result.faults} == {"divergent-barrier"}


@pytest.mark.parametrize(("number", "faults"), [(0, {"divergent-barrier"}), (1, set[str]())])
def test_threads_may_come_to_a_number_from_several_places(number: int, faults: set[str]) -> None:
    """But not to the barrier of `__syncthreads`, which is number 0."""
    source = f"""extern "C" __global__ void k(int *a) {{
      __shared__ int s[64];
      int t = threadIdx.x;
      s[t] = t;
      if (t < 32) asm volatile("bar.sync {number};" ::: "memory"); else asm volatile("bar.sync {number};" ::: "memory");
      a[t] = s[63 - t];
    }}"""
    result = asked(source, ArrayArgument("i32", 64))
    assert ({fault.kind for fault in result.faults}, result.races) == (faults, ())


def test_the_compiler_has_headers_of_its_own(tmp_path: Path) -> None:
    """Cooperative groups, half precision and the C++ library without a toolkit."""
    path = find_nvrtc()
    assert path is not None
    folder = installed(ctypes.CDLL(path), str(tmp_path))
    if isinstance(folder, str):
        assert not hasattr(ctypes.CDLL(path), "nvrtcInstallBundledHeaders")
        return
    assert "type_traits" in texts_by_name(folder, b"")
    assert texts_by_name(folder, b"std::sin")["cmath"] != texts_by_name(folder, b"sin")["cmath"] == ""
    source = """#include <cooperative_groups.h>
    #include <cuda_fp16.h>
    #include <type_traits>
    namespace cg = cooperative_groups;
    extern "C" __global__ void k(int *a, half *h) {
      static_assert(std::is_same<int, int>::value, "");
      int t = cg::this_grid().thread_rank();
      a[t] = t + __half2int_rn(h[t]);
      cg::this_grid().sync();
      a[127 - t] += 1;
    }
    """
    options = CompileOptions(compiler="nvrtc", headers=str(tmp_path))
    ptx = compile_source(source, "/k.cu", options).ptx
    request = Request("k", (2, 1, 1), (64, 1, 1), (ArrayArgument("i32", 128), ArrayArgument("f16", 128)), ptx=ptx)
    result = serve(replace(request, names=("a", "h")))
    assert (result.status, result.races, result.faults) == ("finished", (), ())
    without = compile_source(source.replace("cg::this_grid().sync();", ""), "/k.cu", options).ptx
    assert {race.address[:2] for race in serve(replace(request, ptx=without, names=("a", "h"))).races} == {"a["}
