"""Many programs that nobody here wrote: what is said of their kernels, and how long it takes.

Takes a folder with one program in each folder below, such as the ``src`` of HeCBench, checks each with its own host
code in a process of its own, without looking for repairs, and writes ``benchmarks/collection.md``.

    git clone https://github.com/zjin-lcf/HeCBench
    python -m benchmarks collection HeCBench/src --pattern '*-cuda' --jobs 2
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from statistics import median, quantiles
from typing import TypeVar

from analyzers.engine import Engine
from analyzers.model import KernelResult
from analyzers.requests import CheckRequest, KernelFinished, UnitFinished
from benchmarks.revisions import revision
from cuda_lsp.cli import inputs
from cuda_lsp.cli.check import apart
from cuda_lsp.cli.requests import Requests, Selection

_T = TypeVar("_T")

HERE = Path(__file__).resolve().parent
LIMIT = 100
"""Seconds of processor time for one program."""


@dataclass
class Program:
    """What the check of one program gave; plain data."""

    name: str
    kernels: list[tuple[str, str, float]] = field(default_factory=list[tuple[str, str, float]])
    """Name, verdict and seconds of processor time."""
    reasons: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Kernels without a verdict, each with the kinds of its reasons."""
    failures: list[str] = field(default_factory=list[str])
    seconds: float = 0.0


def check(folder: str) -> Program:
    """Check the files of one program in this process."""
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT + 5))
    os.chdir(Path(folder).parent)
    name = Path(folder).name
    found = Program(name)
    Engine().check(CheckRequest("/warm.cu", "__global__ void k() {}"))
    started = last = time.process_time()
    files = inputs.collect((name,), Counter())
    requests = Requests(Selection(), (name,))
    main_files, _ = apart(files)
    for file in main_files:
        if file.text is None:
            found.failures.append(f"{file.path}: {file.failure}")
            continue
        for event in Engine().check(requests.request(file, file.text)):
            if isinstance(event, KernelFinished):
                now = time.process_time()
                _add(found, event.result, now - last)
                last = now
            elif isinstance(event, UnitFinished) and event.result.failure is not None:
                found.failures.append(f"{file.path}: {event.result.failure.text}")
    found.seconds = round(time.process_time() - started, 2)
    return found


def _add(found: Program, kernel: KernelResult, seconds: float) -> None:
    found.kernels.append((kernel.name, kernel.verdict.value, round(seconds, 3)))
    if kernel.verdict.value == "unknown":
        kinds = sorted({reason.kind for context in kernel.contexts for reason in context.reasons})
        found.reasons.append((kernel.name, ", ".join(kinds)))


def in_processes(
    work: Callable[[str], _T], folders: Sequence[Path], jobs: int, failed: Callable[[Path], _T]
) -> Iterator[_T]:
    """What comes of the programs as they are done, each in a process of its own; one whose process dies, or takes too
    long, has `failed`."""

    def in_a_process(folder: Path) -> _T:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
            try:
                return process.submit(work, str(folder)).result()
            except BrokenProcessPool:
                return failed(folder)

    with ThreadPoolExecutor(jobs) as pool:
        for done in as_completed([pool.submit(in_a_process, folder) for folder in folders]):
            yield done.result()


def _failed(folder: Path) -> Program:
    return Program(folder.name, failures=[f"no answer in {LIMIT} s of processor time"])


def table(programs: Sequence[Program], source: str) -> str:
    """The results as Markdown."""
    kernels = [k for program in programs for k in program.kernels]
    verdicts = Counter(verdict for _, verdict, _ in kernels)
    seconds = sorted(s for *_, s in kernels)
    unknown = [(p.name, *reason) for p in programs for reason in p.reasons]
    kinds = Counter(kind for *_, kinds in unknown for kind in kinds.split(", "))
    total = sum(p.seconds for p in programs)
    middle, most = f"{1000 * median(seconds):.0f} ms (median)", f"{seconds[-1]:.1f} s at most"
    spread = f"{middle}, {quantiles(seconds, n=20)[-1]:.1f} s (95 %), {most}"
    lines = [
        "# A collection of programs",
        "",
        f"`python -m benchmarks collection`; {source}. Each program is checked with its own host code and without",
        "compiler flags: what its makefile defines is missing, and such kernels are unknown (`parse-error`). Measured",
        f"at revision {revision()}.",
        "",
        f"**{len(programs)} programs, {len(kernels)} kernels (with instances of templates), {total / 60:.0f} minutes",
        f"of processor time.** A kernel takes {spread};",
        "the first of a file comes with its parsing and host code.",
        "",
        "| verdict | kernels |",
        "|---|---|",
        *(f"| {verdict} | {count} |" for verdict, count in verdicts.most_common()),
        "",
        "## Why kernels are unknown",
        "",
        "| reason | kernels |",
        "|---|---|",
        *(f"| {kind} | {count} |" for kind, count in kinds.most_common()),
        "",
        "## Not parse errors",
        "",
        *(f"- {program}: `{kernel}`: {why}" for program, kernel, why in unknown if "parse-error" not in why),
        "",
        "## Failed",
        "",
        *(f"- {p.name}: {failure}" for p in programs for failure in p.failures),
        "",
    ]
    return "\n".join(lines)


def source_of(folder: Path) -> str:
    """The commit that the folder is of, where git knows."""
    done = subprocess.run(
        ["git", "-C", str(folder), "log", "-1", "--format=%h"], capture_output=True, text=True, check=False
    )
    commit = f" at {done.stdout.strip()}" if done.returncode == 0 else ""
    return f"the programs in `{folder.parent.name}/{folder.name}`{commit}"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="benchmarks collection")
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--pattern", default="*", help="of the programs' folders")
    parser.add_argument("--source", default="", help="how the table calls the collection")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args(arguments)
    if given.folder is None:
        print("collection: left out, as it takes a folder with programs")
        return
    root = given.folder.resolve()
    folders = sorted(f for f in root.glob(given.pattern) if f.is_dir())
    programs: list[Program] = []
    for program in in_processes(check, folders, given.jobs, _failed):
        programs.append(program)
        print(f"{program.seconds:8.1f} s  {len(program.kernels):4}  {program.name}", flush=True)
    programs.sort(key=lambda p: p.name)
    (HERE / "collection.md").write_text(table(programs, given.source or source_of(root)))


if __name__ == "__main__":
    main()
