"""How fast the CPU executor and the detector are. Writes ``benchmarks/run_speed.md``.

python -m benchmarks run_speed
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gpu_runner.compile import Build, CompileOptions, compile_source
from gpu_runner.cpu.execute import prepare, resident_blocks
from gpu_runner.cpu.launch import Array, Launch
from gpu_runner.detector.detect import Detector
from gpu_runner.ptx.parse import parse
from gpu_runner.session import shape_of

HERE: Final = Path(__file__).resolve().parent

SPEED: Final = {
    "stream": """extern "C" __global__ void k(const float *a, const float *b, float *c) {
      int n = gridDim.x * blockDim.x;
      for (int r = 0, i = blockIdx.x * blockDim.x + threadIdx.x; r < 16; r++, i += n) c[i] = a[i] + 2 * b[i];
    }""",
    "tile": """extern "C" __global__ void k(const float *a, const float *b, float *c) {
      __shared__ float s[256];
      float sum = 0;
      for (int r = 0; r < 16; r++) {
        s[threadIdx.x] = a[(r * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 4; j++) sum += s[(threadIdx.x + j) & 255];
        __syncthreads();
      }
      c[blockIdx.x * blockDim.x + threadIdx.x] = sum;
    }""",
    "broadcast": """extern "C" __global__ void k(const float *a, const float *b, float *c) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      float sum = 0;
      for (int j = 0; j < 48; j++) sum += a[j];
      c[i] = sum;
    }""",
    "atomics": """extern "C" __global__ void k(const float *a, const float *b, float *c) {
      int *bins = (int *)c;
      for (int r = 0; r < 16; r++) atomicAdd(&bins[(threadIdx.x * 7 + r) & 255], 1);
    }""",
    "reduction": """extern "C" __global__ void k(const float *a, const float *b, float *c) {
      __shared__ float s[256];
      for (int r = 0; r < 4; r++) {
        s[threadIdx.x] = a[(r * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x];
        __syncthreads();
        for (int w = 128; w > 0; w /= 2) {
          if (threadIdx.x < w) s[threadIdx.x] += s[threadIdx.x + w];
          __syncthreads();
        }
        if (threadIdx.x == 0) c[r * gridDim.x + blockIdx.x] = s[0];
      }
    }""",
    "scan": """extern "C" __global__ void k(const float *a, const float *b, float *c) {
      __shared__ float s[256];
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      s[threadIdx.x] = a[i];
      __syncthreads();
      for (int d = 1; d < 256; d *= 2) {
        float left = threadIdx.x >= d ? s[threadIdx.x - d] : 0;
        __syncthreads();
        s[threadIdx.x] += left;
        __syncthreads();
      }
      c[i] = s[threadIdx.x];
    }""",
    "stencil": """extern "C" __global__ void k(const float *a, const float *b, float *c) {
      int width = 1024, n = gridDim.x * blockDim.x;
      for (int r = 0, i = blockIdx.x * blockDim.x + threadIdx.x; r < 8; r++, i += n) {
        float sum = a[i];
        if (i % width > 0) sum += a[i - 1];
        if (i % width < width - 1) sum += a[i + 1];
        if (i >= width) sum += a[i - width];
        if (i + width < 8 * n) sum += a[i + width];
        c[i] = sum;
      }
    }""",
    "transpose": """extern "C" __global__ void k(const float *a, const float *b, float *c) {
      __shared__ float s[32][33];
      int column = threadIdx.x % 32, row = threadIdx.x / 32, side = 32 * 16;
      int across = blockIdx.x % 16 * 32, down = blockIdx.x / 16 % 16 * 32, base = blockIdx.x / 256 * side * side;
      for (int k = row; k < 32; k += 8) s[k][column] = a[base + (down + k) * side + across + column];
      __syncthreads();
      for (int k = row; k < 32; k += 8) c[base + (across + k) * side + down + column] = s[column][k];
    }""",
    "product": """extern "C" __global__ void k(const float *a, const float *b, float *c) {
      __shared__ float left[16][16], right[16][16];
      int x = threadIdx.x % 16, y = threadIdx.x / 16, n = 256, base = blockIdx.x / 256 * n * n;
      int column = blockIdx.x % 16 * 16 + x, row = blockIdx.x / 16 % 16 * 16 + y;
      float sum = 0;
      for (int tile = 0; tile < 64; tile += 16) {
        left[y][x] = a[base + row * n + tile + x];
        right[y][x] = b[base + (tile + y) * n + column];
        __syncthreads();
        for (int j = 0; j < 16; j++) sum += left[y][j] * right[j][x];
        __syncthreads();
      }
      c[base + row * n + column] = sum;
    }""",
    "gather": """extern "C" __global__ void k(const float *a, const float *b, float *c) {
      unsigned n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x, at = i;
      float sum = 0;
      for (int r = 0; r < 16; r++) {
        at = (at * 1664525u + 1013904223u) % n;
        sum += a[at];
      }
      c[i] = sum;
    }""",
}  # fmt: skip
BLOCK: Final = 256
GRID: Final = 256
_RUNS: Final = 5

_INTRODUCTION = f"""# Speed of runs

`python -m benchmarks run_speed`. {GRID} blocks of {BLOCK} threads, seed 0. The kernel runs in one thread, the
detector in another; what counts on two processors is the slower one. Nanoseconds of processor time per access of
each, the smallest of {_RUNS} runs (the machine is shared, so that elapsed time says little), and from them the million
accesses per second, detection included, that two free processors come to. *Elapsed* is what it was beside other work.
*stream* touches each cell once: what it measures is how fast the system hands out memory. A gigabyte is touched before
the first run, because a virtual machine gets its memory from the host at the first touch."""


@dataclass(frozen=True, slots=True)
class Speed:
    """Of one kernel and build; seconds of processor time."""

    name: str
    build: Build
    accesses: int
    executing: float
    detecting: float
    elapsed: float

    @property
    def rate(self) -> float:
        """Million accesses per second on two processors."""
        return self.accesses / max(self.executing, self.detecting) / 1e6


def speed(name: str, build: Build) -> Speed:
    """Run a kernel of 65,536 threads."""
    text = compile_source(SPEED[name], "/k.cu", CompileOptions(build=build, compiler="nvrtc")).ptx
    array = Array(np.zeros(BLOCK * GRID * 16, np.float32).tobytes())
    launch = Launch((GRID, 1, 1), (BLOCK, 1, 1), (array, array, array))
    kernel = prepare(parse(text), "k", launch)
    shape = shape_of(kernel, resident_blocks(launch))
    best = [float("inf")] * 3
    records = 0
    for _ in range(_RUNS):
        detector = Detector(shape, kernel.sites.table())
        detecting = [0.0]

        def consume(batch: NDArray[np.uint64], detector: Detector = detector, spent: list[float] = detecting) -> None:
            before = time.thread_time()
            detector.consume(batch)
            spent[0] += time.thread_time() - before

        own, started = time.thread_time(), time.perf_counter()
        records = kernel.run([consume]).records
        now = time.thread_time() - own, detecting[0], time.perf_counter() - started
        best = [min(pair) for pair in zip(best, now, strict=True)]
    return Speed(name, build, records, *best)


def table(speeds: Iterable[Speed]) -> str:
    """The results as Markdown."""
    out = [_INTRODUCTION, ""]
    out += ["| kernel | build | accesses | executing, ns | detecting, ns | M/s on 2 processors | M/s elapsed |"]
    out += ["|---|---|---|---|---|---|---|"]
    for one in speeds:
        nanoseconds = (1e9 * seconds / one.accesses for seconds in (one.executing, one.detecting))
        out.append(
            f"| {one.name} | {one.build} | {one.accesses:,} | {' | '.join(f'{n:.1f}' for n in nanoseconds)} "
            f"| **{one.rate:.1f}** | {one.accesses / one.elapsed / 1e6:.1f} |"
        )
    return "\n".join(out) + "\n"


def main(arguments: list[str] | None = None) -> None:
    """Run and write the table."""
    argparse.ArgumentParser(prog="python -m benchmarks run_speed", description=__doc__).parse_args(arguments)
    np.ones(1 << 27)
    builds: tuple[Build, ...] = ("confirm", "shipped")
    text = table(speed(name, build) for name in SPEED for build in builds)
    print(text)
    (HERE / "run_speed.md").write_text(text)


if __name__ == "__main__":
    main()
