"""How much of real CUDA code gets a final verdict.

Checks every ``.cu`` of the three packages, each with the files of its package that launch its kernels, as a user's
workspace would be checked, and writes ``benchmarks/coverage.md``: kernels found, verdicts, launches resolved, the
reasons of every ``unknown``, and every alarm with what became of it when somebody read the code.

    python -m benchmarks coverage [--jobs N]
    python -m benchmarks coverage --rewrite
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from analyzers.engine import Engine
from analyzers.frontend.flags import translate
from analyzers.frontend.scan import scan_kernels, scan_launches
from analyzers.model import KernelResult, Verdict
from analyzers.requests import CheckRequest, KernelFinished, Progress, UnitFinished
from benchmarks.alarms import section
from benchmarks.looked_at import LOOKED_AT
from benchmarks.sources import PACKAGES, cuda_files, package_sources
from cuda_lsp.workspace.program_index import ProgramIndex

HERE = Path(__file__).resolve().parent
ROWS = HERE / ".cache" / "coverage.json"


@dataclass
class FileReport:
    """What one file gave; plain data."""

    package: str
    path: str
    seconds: float = 0.0
    failure: str = ""
    scanned_kernels: int = 0
    scanned_launches: int = 0
    skipped: list[str] = field(default_factory=list[str])
    syntax_errors: int = 0
    kernels: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    processor_ms: list[float] = field(default_factory=list[float])
    """Processor time of each kernel, lowering included (but for the first one), in the order of checking."""


def check_file(package: str, folder: str, path: str) -> dict[str, Any]:
    """Check one file with the package's folders on the include path and the other files as its workspace."""
    root = Path(folder)
    includes = sorted({str(p.parent) for p in root.rglob("*.cuh")} | {str(p.parent) for p in root.rglob("*.h")})
    flags = translate([f"-I{i}" for i in includes], folder)
    text = Path(path).read_text(errors="replace")
    report = FileReport(package, os.path.relpath(path, folder))
    report.scanned_kernels = len(scan_kernels(text))
    report.scanned_launches = len(scan_launches(text))
    started = time.perf_counter()
    program = ProgramIndex(folder).refresh({}).program(path, lambda _: flags, ())
    spent: list[float] = []
    last = time.process_time()
    for event in Engine().check(CheckRequest(path, text, flags, program=program)):
        if isinstance(event, Progress) and not event.done:
            last = time.process_time()  # the first kernel is lowered by now: what came before is parsing, mostly
        if isinstance(event, KernelFinished):
            now = time.process_time()
            spent.append((now - last) * 1e3)
            last = now
        if isinstance(event, UnitFinished):
            result = event.result
            report.failure = result.failure.text if result.failure else ""
            report.skipped = [s.what for s in result.skipped]
            report.syntax_errors = len(result.syntax)
            report.kernels = [_kernel_row(k) for k in result.kernels]
            report.processor_ms = [round(ms, 1) for ms in spent]
    report.seconds = round(time.perf_counter() - started, 3)
    return asdict(report)


def _kernel_row(k: KernelResult) -> dict[str, Any]:
    alarms = [
        f"{f.code.value} {f.severity.value} line {f.span.line}: {f.message}"
        for c in k.contexts
        for f in c.findings
        if f.code.rank < Verdict.UNKNOWN.rank
    ]
    return {
        "name": k.name,
        "line": k.span.line,
        "verdict": k.verdict.value,
        "contexts": len(k.contexts),
        "launched": sum(c.launch.source == "launch" for c in k.contexts),
        "shared": k.shared_accesses,
        "global": k.global_accesses,
        "ms": round(sum(c.milliseconds for c in k.contexts), 1),
        "reasons": sorted({f"{r.kind}: {r.text}" for c in k.contexts for r in c.reasons}),
        "alarms": sorted(set(alarms)),
    }


def run(jobs: int, after_each: Callable[[list[dict[str, Any]], int], None]) -> list[dict[str, Any]]:
    """Every file of every package; a file whose process dies is reported as such. ``after_each`` gets what is known so
    far and the number of files."""
    work = [
        (name, str(folder), str(path))
        for name in PACKAGES
        for folder in [package_sources(name)]
        for path in cuda_files(folder)
    ]
    reports: list[dict[str, Any]] = []
    context = get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        futures = {pool.submit(check_file, *w): w for w in work}
        for future in as_completed(futures):
            name, folder, path = futures[future]
            try:
                reports.append(future.result())
            except BrokenProcessPool:
                reports.append(asdict(FileReport(name, os.path.relpath(path, folder), failure="the process died")))
            print(".", end="", flush=True)
            after_each(sorted(reports, key=lambda r: (r["package"], r["path"])), len(work))
    print()
    return sorted(reports, key=lambda r: (r["package"], r["path"]))


def table(reports: list[dict[str, Any]], files: int) -> str:
    """The results as Markdown; ``files`` in all."""
    out = [
        "# Coverage on real sources",
        "",
        "`python -m benchmarks coverage`; the sources are fetched from the package index, none is in this repository.",
        "",
        *([f"**{len(reports)} of {files} files so far.**", ""] if len(reports) < files else []),
        "| package | files | kernels | final verdict | unknown | launches seen | launches not taken in |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in [*PACKAGES, "all"]:
        chosen = [r for r in reports if name in (r["package"], "all")]
        kernels = [k for r in chosen for k in r["kernels"]]
        unknown = [k for k in kernels if k["verdict"] == "unknown" or not (k["shared"] or k["global"])]
        final = len(kernels) - len(unknown)
        lost = sum(1 for r in chosen for s in r["skipped"] if "launch" in s)
        launches = sum(r["scanned_launches"] for r in chosen)
        share = f"{final} ({100 * final / max(1, len(kernels)):.1f} %)"
        out.append(f"| {name} | {len(chosen)} | {len(kernels)} | {share} | {len(unknown)} | {launches} | {lost} |")
    kernels = [k for r in reports for k in r["kernels"]]
    templates: dict[tuple[str, str, int], list[float]] = {}
    for r in reports:
        for k in r["kernels"]:
            templates.setdefault((r["path"], k["name"].split("<")[0], k["line"]), []).append(k["ms"])
    out += [
        "",
        "| milliseconds | median | 95th percentile | worst |",
        "|---|---|---|---|",
        _spread(
            "processor time of a kernel, from its tree to its verdict", [t for r in reports for t in r["processor_ms"]]
        ),
        _spread("deciding alone, by the clock", [k["ms"] for k in kernels]),
        _spread(
            "the same, the median of each kernel in the source", [statistics.median(t) for t in templates.values()]
        ),
        "",
        f"{len(templates)} kernels stand in the sources; the others are instances of templates.",
        "",
        "## Verdicts",
        "",
        "| verdict | kernels |",
        "|---|---|",
    ]
    out += [f"| {v} | {n} |" for v, n in Counter(k["verdict"] for k in kernels).most_common()]
    out += ["", "## Why kernels are unknown", "", "| reason | kernels |", "|---|---|"]
    reasons = Counter(r.split(":")[0] for k in kernels for r in {x.split(":")[0] for x in k["reasons"]})
    out += [f"| {r} | {n} |" for r, n in reasons.most_common()]
    failures = [f"| {r['path']} | {r['failure']} |" for r in reports if r["failure"]]
    if failures:
        out += ["", "## Files not analysed", "", "| file | why |", "|---|---|", *failures]
    lost = sorted({f"| {r['path']} | {s} |" for r in reports for s in r["skipped"] if "header" not in s})
    if lost:
        out += ["", "## Kernels and launches not taken in", "", "| file | what |", "|---|---|", *lost]
    out += ["", *section(reports, LOOKED_AT, complete=len(reports) == files)]
    return "\n".join(out) + "\n"


def _spread(what: str, times: list[float]) -> str:
    ordered = sorted(times) or [0.0]
    late = ordered[int(0.95 * (len(ordered) - 1))]
    return f"| {what} | {statistics.median(ordered):.0f} | {late:.0f} | {ordered[-1]:.0f} |"


def main(arguments: list[str] | None = None) -> None:
    """Run and write the table (and the raw rows beside the cache)."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks coverage", description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rewrite", action="store_true", help="write the table anew from the raw rows of the last run")
    options = parser.parse_args(arguments)

    def write(reports: list[dict[str, Any]], files: int) -> None:
        ROWS.write_text(json.dumps(reports, indent=1))
        if len(reports) == files:  # a run that is stopped leaves the table of the last whole one
            (HERE / "coverage.md").write_text(table(reports, files))

    if options.rewrite:
        reports: list[dict[str, Any]] = json.loads(ROWS.read_text())
        files = sum(len(cuda_files(package_sources(name))) for name in PACKAGES)
        (HERE / "coverage.md").write_text(table(reports, files))
    else:
        reports = run(options.jobs, write)
    text = table(reports, len(reports))
    print(text[: text.index("## Alarms")])
