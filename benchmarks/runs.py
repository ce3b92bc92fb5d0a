"""The suite of 66 programs run under the race detector and checked, and the share of instructions that are logged.
Writes ``benchmarks/runs.md``.

    python -m benchmarks runs [--seeds 4]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from analyzers.engine import Engine
from analyzers.model import Verdict
from benchmarks.run_suite import FOLDER, Ran, run
from gpu_runner.compile import CompileOptions, compile_source
from gpu_runner.cpu import execute
from gpu_runner.detector import detect
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


def table(rows: Sequence[Ran], seeds: int) -> str:
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
    out += ["", *_shares(rows)]
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


def main(arguments: list[str] | None = None) -> None:
    """Run and write the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks runs", description=__doc__)
    parser.add_argument("--seeds", type=int, default=4, help="schedules of each program")
    chosen = parser.parse_args(arguments)
    detect.CODE.load()
    execute.SCHEDULER.load()
    engine = Engine()
    rows = [row for file in sorted(FOLDER.glob("*.cu")) for row in run(file, engine, tuple(range(chosen.seeds)))]
    text = table(rows, chosen.seeds)
    print(text)
    (HERE / "runs.md").write_text(text)


if __name__ == "__main__":
    main()
