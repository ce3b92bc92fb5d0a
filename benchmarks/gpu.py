"""The GPU executor: the suite of 66 programs through warp records and queues, how far those are compressed, and how
long kernels take with and without logging. Without a GPU the suite is rehearsed on the CPU executor, which has no
timing to measure. Writes ``benchmarks/gpu.md``.

    python -m benchmarks gpu [--seeds 16]
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

import numpy as np

from analyzers.engine import Engine
from benchmarks.run_speed import BLOCK, GRID, SPEED
from benchmarks.run_suite import FOLDER, Ran, run
from gpu_runner.compile import Build, CompileOptions, compile_source
from gpu_runner.cpu.launch import Array, Launch
from gpu_runner.cpu.layout import RECORD_BYTES
from gpu_runner.cpu.machine import Outcome
from gpu_runner.detector.shards import ShardedDetector
from gpu_runner.gpu.decoder import Figures
from gpu_runner.gpu.driver import Device, NoGpu, find
from gpu_runner.gpu.execute import prepare
from gpu_runner.gpu.instrument import instrument, without_debugging
from gpu_runner.gpu.rehearsal import Rehearsal
from gpu_runner.ptx import model
from gpu_runner.ptx.parse import parse
from gpu_runner.ptx.render import render
from gpu_runner.session import shape_of

HERE: Final = Path(__file__).resolve().parent
_PAPER_BYTES: Final = 16 + 32 * 8
"""A record of BARRACUDA: a header and 32 addresses."""

_SECONDS: Final = 60.0
_LARGE_GRID: Final = 4096
"""Blocks of 256 threads: a million threads."""
_SLOW: Final = ("atomics",)
"""Kernels that are not run with a million threads."""
MILLION: Final = {
    "ten": """extern "C" __global__ void k(const float *a, const float *b, float *c) {
      int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
      for (int r = 0; r < 5; r++, i += n) c[i] = a[i] + 1;
    }""",
}  # fmt: skip
"""Ten accesses a thread."""

_SLOWDOWN: Final = """{cores} processors beside one {device}. Milliseconds, the best of two runs (of three without
logging). *Kernel*: as the device tells; *whole*: with copying the arrays there, and, logged, with draining, decoding
and detection. *M/s*: million accesses a second of the whole. *Same*: the logged kernel leaves in memory what the other
one does.

| kernel | build | threads | accesses | kernel | logged | times | whole | logged | times | M/s | same |
|---|---|---|---|---|---|---|---|---|---|---|---|"""

_INTRODUCTION: Final = """# The GPU executor

`python -m benchmarks gpu`. The programs of [tests/runs](../tests/runs) with their PTX rewritten so that warps log into
queues, which are drained and decoded for the detector ([decision 15](../docs/decisions/0015-logging-on-a-gpu.md)).
{where} *Right*: the scopes and lines of all races seen are those that the program names, and nothing else was found;
`-G` build, {seeds} runs each."""

_RECORDS: Final = """## Records

Of the last run of each program. *In step*: the share of accesses by warps whose addresses are an arithmetic
progression, and of writes whose values are. *Bytes*: through the queues, for every kind of record; *single*: what one
record of {single} bytes for each access of a thread would take; *paper*: what a record of {paper} bytes for each access
of a warp would, without values.

| programs | right | accesses of warps | of threads | in step | values in step | bytes | single | paper |
|---|---|---|---|---|---|---|---|---|"""


def _sum(found: Sequence[Figures]) -> Figures:
    return Figures(*(sum(getattr(each, field.name) for each in found) for field in fields(Figures)))


def _row(name: str, rows: Sequence[Ran]) -> str:
    total = _sum([row.figures for row in rows if row.figures is not None])
    right = sum(not row.wrong for row in rows)
    steps = total.progressions / max(1, total.accesses)
    values = total.value_progressions / max(1, total.valued)
    cells = [
        name,
        f"{right} of {len(rows)}",
        f"{total.accesses:,}",
        f"{total.lanes:,}",
        f"{steps:.0%}",
        f"{values:.0%}",
        f"{total.bytes:,}",
        f"{total.lanes * RECORD_BYTES:,}",
        f"{total.accesses * _PAPER_BYTES:,}",
    ]
    return f"| {' | '.join(cells)} |"


@dataclass(frozen=True, slots=True)
class Assembled:
    """What `ptxas` says of the modules of one build."""

    build: Build
    taken: int
    modules: int
    before: int
    """Instructions of kernels and what they call."""
    after: int


def _assembled(build: Build, ptxas: str | None) -> Assembled:
    before = after = 0
    texts: list[str] = []
    for file in sorted(FOLDER.glob("*.cu")):
        module = parse(compile_source(file.read_text(), file.name, CompileOptions(build, compiler="nvrtc")).ptx)
        for entry in (function.name for function in module.functions if function.kind == "entry"):
            written = instrument(module, entry).module
            reached = {function.name for function in written.functions if function.body is not None}
            before += sum(_instructions(f) for f in module.functions if f.name in reached)
            after += sum(_instructions(f) for f in written.functions)
            # An assembler may be older than the compiler; nothing newer is used.
            texts.append("\n".join([".version 8.0", *render(written).split("\n")[1:]]))
    taken = 0
    if ptxas is not None:
        with ThreadPoolExecutor() as pool:
            taken = sum(pool.map(lambda text: _is_taken(ptxas, text), texts))
    return Assembled(build, taken, len(texts), before, after)


def _is_taken(ptxas: str, text: str) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "k.ptx"
        file.write_text(text)
        command = [ptxas, "-arch=sm_80", str(file), "-o", str(file.with_suffix(".cubin"))]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _instructions(function: model.Function) -> int:
    def count(statements: Sequence[model.Statement]) -> Iterator[int]:
        for statement in statements:
            if isinstance(statement, model.Scope):
                yield from count(statement.body)
            elif isinstance(statement, model.Instruction | model.Call):
                yield 1

    return sum(count(function.body or ()))


@dataclass(frozen=True, slots=True)
class Slowdown:
    """Of a kernel and build, in seconds, the better of two runs each."""

    name: str
    build: Build
    threads: int
    accesses: int
    kernel: float
    """As it was compiled."""
    whole: float
    """With copying its arrays there."""
    logged_kernel: float
    logged_whole: float
    """With draining, decoding and detection."""
    finished: bool
    agrees: bool
    """Whether both leave the same in memory."""

    @property
    def row(self) -> str:
        cells = (
            self.name,
            self.build,
            f"{self.threads:,}",
            f"{self.accesses:,}",
            f"{1000 * self.kernel:.3f}",
            f"{1000 * self.logged_kernel:.1f}",
            f"{self.logged_kernel / max(self.kernel, 1e-9):,.0f}",
            f"{1000 * self.whole:.1f}",
            f"{1000 * self.logged_whole:.1f}" + ("" if self.finished else " (stopped)"),
            f"{self.logged_whole / max(self.whole, 1e-9):,.0f}",
            f"{self.accesses / self.logged_whole / 1e6:.0f}",
            "yes" if self.agrees else "**no**",
        )
        return f"| {' | '.join(cells)} |"


def slowdown(device: Device, name: str, source: str, build: Build, grid: int) -> Slowdown:
    """Measure one kernel of `grid` blocks of 256 threads."""
    module = parse(compile_source(source, "/k.cu", CompileOptions(build=build, compiler="nvrtc")).ptx)
    array = Array((np.arange(BLOCK * grid * 16) % 13).astype(np.float32).tobytes())
    launch = Launch((grid, 1, 1), (BLOCK, 1, 1), (array, array, array))
    alone, whole, plain = _alone(device, module, launch)
    kernel = prepare(module, "k", launch, device)
    best: Slowdown | None = None
    for _ in range(2):
        started = time.perf_counter()
        detector = ShardedDetector(shape_of(kernel, launch.blocks), kernel.sites.table(), kernel.shards)
        execution = kernel.run(detector.consumers, seconds=_SECONDS, results=False)
        detector.races()
        seconds = time.perf_counter() - started
        finished = execution.outcome is Outcome.DONE
        figures = name, build, launch.blocks * BLOCK, execution.records, alone, whole
        after = tuple(device.read(kernel.on_device(array.address), array.size) for array in kernel.arrays)
        made = Slowdown(*figures, kernel.kernel_seconds, seconds, finished, after == plain)
        best = made if best is None or made.logged_whole < best.logged_whole else best
        if not finished:
            break
    kernel.close()
    assert best is not None
    return best


def _alone(device: Device, module: model.Module, launch: Launch) -> tuple[float, float, tuple[bytes, ...]]:
    """Seconds of the kernel as it was compiled, the same with copying, and the arrays afterwards."""
    loaded = device.load(render(without_debugging(module)), "k")
    places = [device.allocate(len(array.data)) for _, array in launch.arrays]
    values = [place.to_bytes(8, "little") for place in places]
    kernel, whole = float("inf"), float("inf")
    for _ in range(3):
        started = time.perf_counter()
        for place, (_, array) in zip(places, launch.arrays, strict=True):
            device.write(place, array.data)
        device.launch(loaded, launch.grid, launch.block, 0, values, False)
        while device.running():
            pass
        whole, kernel = min(whole, time.perf_counter() - started), min(kernel, device.kernel_seconds())
    after = tuple(device.read(place, len(array.data)) for place, (_, array) in zip(places, launch.arrays, strict=True))
    for place in places:
        device.free(place)
    device.unload(loaded)
    return kernel, whole, after


def _slowdowns(device: Device) -> Iterator[str]:
    yield _SLOWDOWN.format(cores=os.cpu_count(), device=device.name)
    builds: tuple[Build, ...] = ("confirm", "shipped")
    for name, source in SPEED.items():
        for build in builds:
            yield slowdown(device, name, source, build, GRID).row
    for name, source in (MILLION | SPEED).items():
        if name not in _SLOW:
            yield slowdown(device, name, source, "shipped", _LARGE_GRID).row


def main(arguments: list[str] | None = None) -> None:
    """Run and write the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks gpu", description=__doc__)
    parser.add_argument("--seeds", type=int, default=16, help="runs of each program")
    chosen = parser.parse_args(arguments)
    try:
        real: Device | None = find()
        where = f"Run on {real.name}."
    except NoGpu as error:
        real = None
        where = f"**No GPU was at hand** ({error}): the rewritten programs ran on the CPU executor."

    def device() -> Device:
        return real or Device(Rehearsal())

    print(text := table(where, device, real, chosen.seeds))
    (HERE / "gpu.md").write_text(text)


def table(where: str, device: Callable[[], Device], real: Device | None, seeds: int) -> str:
    """The results as Markdown."""
    engine = Engine()
    out = [_INTRODUCTION.format(where=where, seeds=seeds), ""]
    out += [_RECORDS.format(single=RECORD_BYTES, paper=_PAPER_BYTES)]
    everything: list[Ran] = []
    for file in sorted(FOLDER.glob("*.cu")):
        rows = list(run(file, engine, tuple(range(seeds)), device))
        everything += rows
        out.append(_row(file.stem, rows))
    out.append(_row("all", everything))
    out += [f"- {row.program.name}: {'; '.join(row.wrong)}" for row in everything if row.wrong]
    out += [
        "",
        "## Assembled",
        "",
        "*After* counts the logging routine, once for each module.",
        "",
    ]
    out += ["| build | modules | taken by ptxas | instructions before | after |"]
    out.append("|---|---|---|---|---|")
    ptxas = shutil.which("ptxas")
    builds: tuple[Build, ...] = ("confirm", "shipped")
    for build in builds:
        found = _assembled(build, ptxas)
        taken = str(found.taken) if ptxas is not None else "no ptxas here"
        out.append(f"| {build} | {found.modules} | {taken} | {found.before:,} | {found.after:,} |")
    out += ["", "## Slowdown", ""]
    out += list(_slowdowns(real)) if real is not None else ["Not measured: no GPU was at hand."]
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    main()
