"""The suite of 66 programs run under the race detector and checked, the share of instructions that are logged, and how
fast the CPU executor is. Writes ``benchmarks/runs.md``.

    python -m benchmarks runs [--seeds 4]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from analyzers.engine import Engine
from analyzers.model import Verdict
from benchmarks.run_suite import FOLDER, Ran, run
from gpu_runner.compile import Build, CompileOptions, compile_source
from gpu_runner.cpu import execute
from gpu_runner.cpu.execute import prepare, resident_blocks
from gpu_runner.cpu.launch import Array, Launch
from gpu_runner.cpu.layout import GLOBAL_BASE, SHARED_BASE
from gpu_runner.detector import detect
from gpu_runner.detector.detect import Detector, Shape
from gpu_runner.ptx import model
from gpu_runner.ptx.logged import Pruning, flat, logged
from gpu_runner.ptx.parse import parse

HERE: Final = Path(__file__).resolve().parent

_INTRODUCTION = """# Runs under the race detector

`python -m benchmarks runs`. 66 small programs ([tests/runs](../tests/runs)) in the spirit of BARRACUDA's suite: shared
and global memory, within and across warps and blocks, locks, barriers of the whole grid, flags, fences and atomics of
each scope, most with a twin that differs in one thing. What is true of a program its source says, with the lines that
race. *Run* is right when the scopes and the lines of all races that were seen are those, and nothing else was found;
CPU executor, `-G` build, {seeds} schedules each. *Check* is what the analysis says of the same source without running
it."""

_SPEED: Final = {
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
}  # fmt: skip
_BLOCK: Final = 256
_GRID: Final = 256


@dataclass(frozen=True, slots=True)
class Share:
    """Static instructions of a program, and how many of them are logged."""

    instructions: int
    before: int
    after: int
    paper: int
    """As the paper prunes."""


def share(module: model.Module, kernel: str) -> Share:
    """Of a kernel and all that it calls."""
    names, todo = {kernel}, [kernel]
    counts = [0, 0, 0, 0]
    while todo:
        function = module.definition(todo.pop())
        if function is None:
            continue
        plans = [logged(function, pruning) for pruning in Pruning]
        counts[0] += plans[0].instructions
        for at, plan in enumerate(plans, 1):
            counts[at] += len(plan.positions)
        for statement in flat(function.body or ()):
            match statement:
                case model.Call(model.Symbol(name)) if name not in names:
                    names.add(name)
                    todo.append(name)
                case _:
                    pass
    return Share(*counts)


@dataclass(frozen=True, slots=True)
class Speed:
    """Of one kernel and build."""

    name: str
    build: Build
    accesses: int
    logged_only: float
    """Seconds without the detector."""
    checked: float
    """Seconds with it."""


def speed(name: str, build: Build) -> Speed:
    """Run a kernel of 65,536 threads with and without the detector, each after a first run that is not counted."""
    text = compile_source(_SPEED[name], "/k.cu", CompileOptions(build=build, compiler="nvrtc")).ptx
    array = Array(np.zeros(_BLOCK * _GRID * 16, np.float32).tobytes())
    launch = Launch((_GRID, 1, 1), (_BLOCK, 1, 1), (array, array, array))
    kernel = prepare(parse(text), "k", launch)
    shape = Shape(
        launch.blocks,
        launch.threads_per_block,
        launch.shift,
        GLOBAL_BASE,
        kernel.arena.size,
        SHARED_BASE,
        kernel.shared_size,
        resident_blocks(launch),
    )
    seconds: list[float] = []
    records = 0
    for checks in (False, True):
        best = float("inf")
        for _ in range(3):
            detector = Detector(shape, kernel.sites.table())
            started = time.perf_counter()
            records = kernel.run(detector.consume if checks else None).records
            best = min(best, time.perf_counter() - started)
        seconds.append(best)
    return Speed(name, build, records, *seconds)


def table(rows: Sequence[Ran], speeds: Iterable[Speed], seeds: int) -> str:
    """The results as Markdown."""
    right = sum(not row.wrong for row in rows)
    agree = sum(row.check_agrees for row in rows)
    out = [_INTRODUCTION.format(seeds=seeds), ""]
    out.append(f"**Runs: {right} of {len(rows)} right. The check alone: {agree} of {len(rows)}; ")
    out[-1] += f"{sum(is_false_proof(row) for row in rows)} races or missed barriers called absent.**"
    out += ["", "| program | truth | run | check | run, ms | check, ms |", "|---|---|---|---|---|---|"]
    for row in rows:
        program = row.program
        truth = " ".join((program.truth, *sorted(program.scopes)))
        said = row.verdict.value if row.check_agrees else f"**{row.verdict.value}**"
        out.append(
            f"| {program.file.stem}: {program.name} | {truth} | {'; '.join(row.wrong) or 'right'} | {said} "
            f"| {1000 * row.run_seconds:.0f} | {1000 * row.check_seconds:.0f} |"
        )
    differing = [row for row in rows if not row.check_agrees]
    if differing:
        out += ["", "Where the check does not say what is true, and why:", ""]
        out += [
            f"- {r.program.name}: `{r.verdict.value}`, {r.program.because or '**not explained**'}" for r in differing
        ]
    out += ["", *_shares(rows), "", *_speeds(speeds)]
    return "\n".join(out) + "\n"


def is_false_proof(row: Ran) -> bool:
    """Whether the check calls a program free of what it has."""
    proofs = (Verdict.RACE_FREE, Verdict.REDUNDANT_BARRIER, Verdict.BARRIER_AFTER_EXIT)
    return row.program.truth in ("race", "divergence") and row.verdict in proofs


_SHARES: Final = """## Instructions that are logged

As in the paper's figure 9: static PTX instructions of the kernels and of what they call, and the share of them that is
logged: accesses to memory that threads share, fences, barriers. *Pruned*: without reads that repeat one of the same
line, which changes nothing in what is told; *paper*: without all accesses through a register that has not changed since
the last one. No order is derived from branches, so that points of convergence need no record.

| programs | build | instructions | logged | pruned | paper |
|---|---|---|---|---|---|"""


def _shares(rows: Sequence[Ran]) -> list[str]:
    out = [_SHARES]
    everything: dict[str, list[Share]] = {"-G": [], "optimised": []}
    for file in dict.fromkeys(row.program.file for row in rows):
        mine = [row for row in rows if row.program.file == file]
        shipped = parse(compile_source(file.read_text(), file.name, CompileOptions("shipped", compiler="nvrtc")).ptx)
        for build, all_of_build in everything.items():
            found = [share(row.module if build == "-G" else shipped, row.mangled) for row in mine]
            all_of_build.extend(found)
            out.append(_share_row(file.stem, build, found))
    return out + [_share_row("all", build, found) for build, found in everything.items()]


def _share_row(name: str, build: str, found: Sequence[Share]) -> str:
    total = sum(one.instructions for one in found)
    parts = [sum(part) / total for part in zip(*((one.before, one.after, one.paper) for one in found), strict=True)]
    return f"| {name} | {build} | {total} | {' | '.join(f'{part:.1%}' for part in parts)} |"


def _speeds(speeds: Iterable[Speed]) -> list[str]:
    out = [
        "## Speed of the CPU executor",
        "",
        (
            f"{_GRID} blocks of {_BLOCK} threads, seed 0, best of three runs, million accesses per second, beside "
            "other work. *stream* touches each cell once: what it measures is how fast the system hands out memory."
        ),
        "",
        "| kernel | build | accesses | logged only | with the detector |",
        "|---|---|---|---|---|",
    ]
    for one in speeds:
        rates = (one.accesses / seconds / 1e6 for seconds in (one.logged_only, one.checked))
        out.append(f"| {one.name} | {one.build} | {one.accesses:,} | {' | '.join(f'{rate:.1f}' for rate in rates)} |")
    return out


def main(arguments: list[str] | None = None) -> None:
    """Run and write the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks runs", description=__doc__)
    parser.add_argument("--seeds", type=int, default=4, help="schedules of each program")
    chosen = parser.parse_args(arguments)
    detect.compiled_code()
    execute.scheduler_code()
    engine = Engine()
    rows = [row for file in sorted(FOLDER.glob("*.cu")) for row in run(file, engine, tuple(range(chosen.seeds)))]
    builds: tuple[Build, ...] = ("confirm", "shipped")
    text = table(rows, [speed(name, build) for name in _SPEED for build in builds], chosen.seeds)
    print(text)
    (HERE / "runs.md").write_text(text)


if __name__ == "__main__":
    main()
