"""How many kernels of real CUDA code compile and run under the race detector, with inputs that are made up.

Takes every kernel that stands in the sources of the three packages (``--corpus``: of ``tests/corpus``), in the first of
its instances that is in sight, slices it out of its file, compiles the slice with NVRTC (``-G``) and runs it on the
processor under the detector: at a launch whose sizes are all known, or at 2 blocks of 64 threads, arrays and numbers as
``cuda-lsp run`` makes them up. Writes ``benchmarks/runnable.md``, with the reasons of what does not run.

    python -m benchmarks runnable [--jobs 2] [--corpus] [--package NAME] [--minutes M]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

from analyzers.engine import Engine
from analyzers.explain import launchable_of
from analyzers.frontend.flags import translate
from analyzers.frontend.lower import find_kernels
from analyzers.frontend.parse import ParseFailure, UnitParser
from analyzers.model import CheckOptions
from analyzers.requests import CheckRequest
from benchmarks.sources import CACHE, PACKAGES, cuda_files, package_sources
from cuda_lsp.running import plan

HERE: Final = Path(__file__).resolve().parent
CORPUS: Final = HERE.parent / "tests" / "corpus"
_UNDECIDED: Final = CheckOptions(kernel_effort=0, smt_budget=1, redundancy=False)
"""What the check says of the kernels is not asked here."""
_SECONDS: Final = 30.0
_RAN: Final = ("finished",)

_INTRODUCTION = """# Which kernels run

`python -m benchmarks runnable`. Every kernel that stands in the sources of three packages, each in the first instance
that is in sight, cut out of its file with what it reaches, compiled by NVRTC (`-G`) without the packages' own libraries
(PyTorch's headers are not installed), and executed on the processor under the race detector with made-up inputs: the
launch of the host code where its sizes are numbers, else 2 blocks of 64 threads; arrays that grow until no access is
outside, numbers equal to the number of threads. *Ends*: all threads came to their end. An access that is outside of an
array, or a failed assertion, ends a thread too: inputs that nobody chose need not fit the kernel."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What became of one kernel; plain data."""

    package: str
    file: str
    kernel: str
    stage: str
    """A `RunResult.status`, ``parse`` or ``instance``."""
    reason: str = ""
    details: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    races: int = 0
    accesses: int = 0
    seconds: float = 0.0
    at: int = 0
    """Where its definition begins in the file."""


def try_file(
    package: str, folder: str, path: str, headers: str, known: frozenset[tuple[str, int]] = frozenset()
) -> list[dict[str, Any]]:
    """Every kernel that the file or one of its headers defines, but for those that are `known` by file and place."""
    root = Path(folder)
    includes = sorted({str(p.parent) for p in root.rglob("*.cuh")} | {str(p.parent) for p in root.rglob("*.h")})
    includes += sorted(str(p) for p in root.rglob("third_party/*") if p.is_dir())
    flags = translate([f"-I{i}" for i in includes], folder)
    name = os.path.relpath(path, folder)
    request = CheckRequest(path, Path(path).read_text(errors="replace"), flags, options=_UNDECIDED)
    try:
        unit = UnitParser().parse(path, request.text, flags, {}, ())
        first: dict[tuple[str, int], str] = {}
        for found in find_kernels(unit).kernels:
            place = found.extent.path, found.extent.start_offset
            if place not in first or "<…>" in first[place]:
                first[place] = found.name
        first = {p: n for p, n in first.items() if (os.path.relpath(p[0], folder), p[1]) not in known}
        if not first:
            return []
        options = replace(_UNDECIDED, kernels=tuple(first.values()))
        analysis = Engine().analyse(replace(request, options=options))
    except ParseFailure as error:
        return [asdict(Tried(package, name, "", "parse", str(error)))]
    rows: list[dict[str, Any]] = []
    for one in analysis.kernels:
        where, at = os.path.relpath(one.kernel.extent.path, folder), one.kernel.extent.start_offset
        if one.kernel.name not in first.values():
            continue
        if "<…>" in one.kernel.name:
            rows.append(asdict(Tried(package, where, one.kernel.name, "instance", "no instance is in sight", at=at)))
            continue
        started = time.perf_counter()
        launchable = launchable_of(analysis.unit, one)
        base = plan.base_request(launchable, path, flags.arguments, seeds=1, seconds=_SECONDS)
        base = replace(base, compiler="nvrtc", folder=headers)
        unbound = replace(launchable, findings=(), runs=())
        (outcome,) = plan.outcomes(unbound, base)
        result = outcome.result
        rows.append(
            asdict(
                Tried(
                    package,
                    where,
                    one.kernel.name,
                    result.status,
                    result.message,
                    result.details,
                    tuple(sorted({fault.kind for fault in result.faults})),
                    len(result.races),
                    result.accesses,
                    round(time.perf_counter() - started, 2),
                    at,
                )
            )
        )
    return rows


def measured(
    work: Sequence[tuple[str, str, str]], jobs: int, headers: str, deadline: float
) -> Iterator[tuple[list[dict[str, Any]], int]]:
    """After each file the rows so far, each kernel of a header once, with an instance where one file has one; and the
    number of files. No file is begun after the deadline."""
    found: dict[tuple[str, str, int], dict[str, Any]] = {}
    files = iter(work)
    done = 0
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        waiting: set[Future[list[dict[str, Any]]]] = set()
        while True:
            while len(waiting) < jobs and time.monotonic() < deadline and (one := next(files, None)) is not None:
                known = frozenset(
                    (f, at) for (p, f, at), r in found.items() if p == one[0] and r["stage"] != "instance"
                )
                waiting.add(pool.submit(try_file, *one, headers, known))
            if not waiting:
                return
            ended, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in ended:
                done += 1
                for row in future.result():
                    key = row["package"], row["file"], row["at"]
                    if key not in found or found[key]["stage"] == "instance":
                        found[key] = row
                yield [found[key] for key in sorted(found)], done


def table(rows: Sequence[dict[str, Any]], packages: Sequence[str], done: int, files: int) -> str:
    """The results as Markdown; `done` of so many files."""
    out = [_INTRODUCTION, ""]
    if done < files:
        out += [f"**{done} of {files} files, the shortest first, as many as the time allowed.**", ""]
    out += ["| sources | kernels | compile | run to an end | of these with findings |", "|---|---|---|---|---|"]
    for name in [*packages, "all"]:
        mine = [row for row in rows if name in (row["package"], "all")]
        compiled = [row for row in mine if row["stage"] not in ("parse", "instance", "compile")]
        ended = [row for row in mine if row["stage"] in _RAN]
        flagged = sum(bool(row["races"] or row["faults"]) for row in ended)
        shares = " | ".join(f"{len(part)} ({100 * len(part) / max(1, len(mine)):.0f} %)" for part in (compiled, ended))
        out.append(f"| {name} | {len(mine)} | {shares} | {flagged} |")
    out += ["", "## What does not run", "", "| why | kernels |", "|---|---|"]
    reasons = Counter(text for row in rows if row["stage"] not in _RAN for text in _reasons(row))
    out += [f"| {text} | {count} |" for text, count in reasons.most_common()]
    out += ["", "## What was found", "", "| finding | kernels |", "|---|---|"]
    kinds = Counter(kind for row in rows for kind in row["faults"])
    kinds["race"] = sum(row["races"] > 0 for row in rows)
    out += [f"| {kind} | {count} |" for kind, count in kinds.most_common() if count]
    out += ["", "## Kernels", "", "| file | kernel | result | accesses | s |", "|---|---|---|---|---|"]
    for row in rows:
        said = "; ".join((row["stage"], *row["faults"])) + (f"; {row['races']} races" if row["races"] else "")
        kernel = row["kernel"].replace("|", "\\|")
        out.append(f"| {row['file']} | `{kernel}` | {said} | {row['accesses']:,} | {row['seconds']} |")
    return "\n".join(out) + "\n"


def _reasons(row: dict[str, Any]) -> Iterator[str]:
    """Why a kernel does not run, without what is particular to it."""
    if row["stage"] == "unsupported":
        yield from {re.sub(r" \(line.*", "", text) for text in row["details"]}
    else:
        lines = [line for line in row["reason"].splitlines() if "error" in line] or row["reason"].splitlines() or [""]
        text = re.sub(r"^\S*\(\d+\): ", "", lines[0])[:120]
        yield f"{row['stage']}: {re.sub(r'[0-9]+ threads', 'threads', text)}".replace("|", "\\|")


def main(arguments: list[str] | None = None) -> None:
    """Run and write the table, with the raw rows beside the cache."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks runnable", description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--corpus", action="store_true", help="the kernels of tests/corpus; only printed")
    parser.add_argument("--package", choices=sorted(PACKAGES), help="only this one; the others as they were last time")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no file after so many")
    chosen = parser.parse_args(arguments)
    deadline = time.monotonic() + 60 * chosen.minutes
    if chosen.corpus:
        packages = ["corpus"]
        work = [("corpus", str(CORPUS), str(path)) for path in sorted(CORPUS.glob("*.cu"))]
    else:
        packages = list(PACKAGES)
        work = [(p, str(package_sources(p)), str(path)) for p in packages for path in cuda_files(package_sources(p))]
    CACHE.mkdir(exist_ok=True)
    kept = CACHE / f"runnable-{'corpus' if chosen.corpus else 'packages'}.json"
    others: list[dict[str, Any]] = []
    if chosen.package is not None:
        before = json.loads(kept.read_text()) if kept.exists() else []
        others = [row for row in before if row["package"] != chosen.package]
        work = [one for one in work if one[0] == chosen.package]
    work.sort(key=lambda one: Path(one[2]).stat().st_size)
    rows: list[dict[str, Any]] = []
    done = 0
    for rows, done in measured(work, chosen.jobs, str(CACHE), deadline):  # noqa: B007 - the last ones are of all files
        rows = sorted([*others, *rows], key=lambda row: (row["package"], row["file"], row["at"]))
        kept.write_text(json.dumps(rows, indent=1))
        print(".", end="", flush=True)
    print()
    text = table(rows, packages, done, len(work))
    print(text[: text.index("## Kernels")])
    if not chosen.corpus:
        (HERE / "runnable.md").write_text(text)


if __name__ == "__main__":
    main()
