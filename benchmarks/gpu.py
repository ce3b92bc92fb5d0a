"""The GPU executor: the suite of 66 programs through warp records and queues, how far those are compressed, and how
long kernels take with and without logging. Without a GPU the suite is rehearsed on the CPU executor, which has no
timing to measure. Writes ``benchmarks/gpu.md``.

    python -m benchmarks gpu [--seeds 16]
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
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
from gpu_runner.detector.detect import Detector
from gpu_runner.gpu.decoder import Figures
from gpu_runner.gpu.driver import Device, NoGpu, find
from gpu_runner.gpu.execute import prepare
from gpu_runner.gpu.instrument import instrument
from gpu_runner.gpu.rehearsal import Rehearsal
from gpu_runner.ptx import model
from gpu_runner.ptx.parse import parse
from gpu_runner.ptx.render import render
from gpu_runner.session import shape_of

HERE: Final = Path(__file__).resolve().parent
_PAPER_BYTES: Final = 16 + 32 * 8
"""A record of BARRACUDA: a header and 32 addresses."""

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
    taken = modules = before = after = 0
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "k.ptx"
        for file in sorted(FOLDER.glob("*.cu")):
            module = parse(compile_source(file.read_text(), file.name, CompileOptions(build, compiler="nvrtc")).ptx)
            for entry in (function.name for function in module.functions if function.kind == "entry"):
                written = instrument(module, entry).module
                reached = {function.name for function in written.functions if function.body is not None}
                modules += 1
                before += sum(_instructions(f) for f in module.functions if f.name in reached)
                after += sum(_instructions(f) for f in written.functions)
                if ptxas is not None:
                    # An assembler may be older than the compiler; nothing newer is used.
                    lines = render(written).split("\n")
                    text.write_text("\n".join([".version 8.0", *lines[1:]]))
                    command = [ptxas, "-arch=sm_80", str(text), "-o", str(text.with_suffix(".cubin"))]
                    taken += subprocess.run(command, capture_output=True, check=False).returncode == 0
    return Assembled(build, taken, modules, before, after)


def _instructions(function: model.Function) -> int:
    def count(statements: Sequence[model.Statement]) -> Iterator[int]:
        for statement in statements:
            if isinstance(statement, model.Scope):
                yield from count(statement.body)
            elif isinstance(statement, model.Instruction | model.Call):
                yield 1

    return sum(count(function.body or ()))


def _slowdowns(device: Device) -> Iterator[str]:
    """Seconds of a kernel and of the whole of launch, drain and detection, against the same without logging."""
    yield "| kernel | build | accesses | kernel alone, ms | logged, ms | slowdown | with detection, ms | accesses/s |"
    yield "|---|---|---|---|---|---|---|---|"
    builds: tuple[Build, ...] = ("confirm", "shipped")
    for name, source in SPEED.items():
        for build in builds:
            module = parse(compile_source(source, "/k.cu", CompileOptions(build=build, compiler="nvrtc")).ptx)
            array = Array(np.zeros(BLOCK * GRID * 16, np.float32).tobytes())
            launch = Launch((GRID, 1, 1), (BLOCK, 1, 1), (array, array, array))
            alone = _alone(device, module, launch)
            kernel = prepare(module, "k", launch, device)
            kernel.run()
            detector = Detector(
                shape_of(kernel, launch.blocks),
                kernel.sites.table(),
            )
            started = time.perf_counter()
            records = kernel.run(detector.consume).records
            whole = time.perf_counter() - started
            yield (
                f"| {name} | {build} | {records:,} | {1000 * alone:.3f} | {1000 * kernel.kernel_seconds:.1f} "
                f"| {kernel.kernel_seconds / max(alone, 1e-9):,.0f} | {1000 * whole:.1f} | {records / whole:,.0f} |"
            )
            kernel.close()


def _alone(device: Device, module: model.Module, launch: Launch) -> float:
    """Seconds of the second launch of the kernel as it was compiled."""
    loaded = device.load(render(module), "k")
    places = [device.allocate(len(array.data)) for _, array in launch.arrays]
    values = [place.to_bytes(8, "little") for place in places]
    for _ in range(2):
        device.launch(loaded, launch.grid, launch.block, 0, values, False)
        while device.running():
            pass
    for place in places:
        device.free(place)
    device.unload(loaded)
    return device.kernel_seconds()


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
