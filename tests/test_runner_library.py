"""What NVRTC's own C++ library makes of pipelines and barriers runs, and a wait that is missing is a race."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_runner import session
from gpu_runner.compile import CompileOptions, compile_source
from gpu_runner.kernel import AnyKernel
from gpu_runner.ptx import model
from gpu_runner.ptx.parse import parse
from gpu_runner.request import ArrayArgument, Request, RunResult, ScalarArgument

SOURCE = """\
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
template <bool waits> __device__ void staged(const int *in, int *out, int n) {
  __shared__ int s[2][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int sum = 0;
  pipe.producer_acquire();
  cuda::memcpy_async(block, s[0], in, sizeof(int) * 64, pipe);
  pipe.producer_commit();
  for (int i = 0; i < n; i++) {
    if (i + 1 < n) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, s[(i + 1) & 1], in + (i + 1) * 64, sizeof(int) * 64, pipe);
      pipe.producer_commit();
    }
    if (waits) pipe.consumer_wait();
    sum += s[i & 1][63 - threadIdx.x];
    pipe.consumer_release();
  }
  out[threadIdx.x] = sum;
}
extern "C" __global__ void waiting(const int *in, int *out, int n) { staged<true>(in, out, n); }
extern "C" __global__ void too_early(const int *in, int *out, int n) { staged<false>(in, out, n); }
template <bool waits> __device__ void met(int *out) {
  __shared__ int s[64];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  s[threadIdx.x] = threadIdx.x;
  auto token = bar.arrive();
  if (waits) bar.wait(static_cast<decltype(token) &&>(token));
  out[threadIdx.x] = s[63 - threadIdx.x];
}
extern "C" __global__ void meeting(const int *, int *out, int) { met<true>(out); }
// The barriers of such tiles are in shared memory that the system keeps for them, and clears.
template <bool waits> __device__ void tiled(int *out) {
  __shared__ int s[64];
  __shared__ cg::block_tile_memory<64> memory;
  auto tile = cg::tiled_partition<64>(cg::this_thread_block(memory));
  s[threadIdx.x] = threadIdx.x;
  if (waits) tile.sync();
  out[threadIdx.x] = s[63 - threadIdx.x] + 0;
}
extern "C" __global__ void together(const int *, int *out, int) { tiled<true>(out); }
extern "C" __global__ void apart(const int *, int *out, int) { tiled<false>(out); }
extern "C" __global__ void passing(const int *, int *out, int) { met<false>(out); }
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> model.Module:
    headers: Path = tmp_path_factory.mktemp("headers")
    options = CompileOptions(compiler="nvrtc", flags=("-std=c++17",), headers=str(headers))
    return parse(compile_source(SOURCE, "/k.cu", options).ptx)


def run(module: model.Module, kernel: str) -> RunResult:
    known: dict[str, AnyKernel] = {}
    arguments = (ArrayArgument("i32", 256, "iota"), ArrayArgument("i32", 64), ScalarArgument(4))
    request = Request(kernel, (1, 1, 1), (64, 1, 1), arguments, ("in", "out", "n"), seeds=(0, 1), seconds=60.0)
    return session.run_module(request, module, known)


@pytest.mark.parametrize("kernel", ["waiting", "meeting", "together"])
def test_what_waits_is_free_of_races(module: model.Module, kernel: str) -> None:
    result = run(module, kernel)
    assert (result.status, result.races, result.faults) == ("finished", (), ())


@pytest.mark.parametrize(("kernel", "text"), [("too_early", "sum += s["), ("passing", "= s[63"), ("apart", "+ 0;")])
def test_what_does_not_wait_races(module: model.Module, kernel: str, text: str) -> None:
    result = run(module, kernel)
    line = next(number for number, each in enumerate(SOURCE.splitlines(), 1) if text in each)
    told = {place.line for race in result.races for side in (race.first, race.second) for place in side.places}
    assert line in told, result
