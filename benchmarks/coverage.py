"""How much of real CUDA code gets a final verdict.

Checks every ``.cu`` of the three packages, each with the files of its package that launch its kernels, as a user's
workspace would be checked, and writes ``benchmarks/coverage.md``: kernels found, verdicts, launches resolved, the
reasons of every ``unknown``, and every alarm with what became of it when somebody read the code.

    python -m benchmarks coverage [--jobs N]
    python -m benchmarks coverage --missing
    python -m benchmarks coverage --only '*/cache.cu' --only 'gsplat/*'
    python -m benchmarks coverage --rewrite

A run may be stopped and go on with ``--missing``; ``--only`` checks some files again. What is known of each file is
kept beside the sources with the revision it was measured at, and the table names every revision that it is made of.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatchcase
from multiprocessing import get_context
from multiprocessing.context import SpawnContext
from pathlib import Path
from typing import Any

from analyzers.engine import Engine
from analyzers.frontend.flags import translate
from analyzers.frontend.scan import scan_kernels, scan_launches
from analyzers.model import KernelResult, Verdict
from analyzers.requests import CheckRequest, KernelFinished, Progress, UnitFinished
from analyzers.solve.ladder import tally
from benchmarks.alarms import section
from benchmarks.looked_at import LOOKED_AT
from benchmarks.revisions import revision
from benchmarks.sources import PACKAGES, cuda_files, package_sources
from cuda_lsp.workspace.program_index import ProgramIndex

HERE = Path(__file__).resolve().parent
ROWS = HERE / ".cache" / "coverage"
"""The raw rows of each file, in one JSON file for each."""


@dataclass
class FileReport:
    """What one file gave; plain data."""

    package: str
    path: str
    revision: str = ""
    """Of this repository, when the file was checked."""
    seconds: float = 0.0
    """Processor time of the whole check, parsing and host code included."""
    failure: str = ""
    scanned_kernels: int = 0
    scanned_launches: int = 0
    skipped: list[str] = field(default_factory=list[str])
    syntax_errors: int = 0
    kernels: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    processor_ms: list[float] = field(default_factory=list[float])
    """Processor time of each kernel, lowering included (but for the first one), in the order of checking."""
    rungs: dict[str, tuple[int, float]] = field(default_factory=dict[str, tuple[int, float]])
    """Rung of the solvers' ladder -> questions it answered, milliseconds spent in it."""


def check_file(package: str, folder: str, path: str) -> dict[str, Any]:
    """Check one file with the package's folders on the include path and the other files as its workspace."""
    root = Path(folder)
    includes = sorted({str(p.parent) for p in root.rglob("*.cuh")} | {str(p.parent) for p in root.rglob("*.h")})
    flags = translate([f"-I{i}" for i in includes], folder)
    text = Path(path).read_text(errors="replace")
    report = FileReport(package, os.path.relpath(path, folder))
    report.scanned_kernels = len(scan_kernels(text))
    report.scanned_launches = len(scan_launches(text))
    started = time.process_time()
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
    report.seconds = round(time.process_time() - started, 3)
    report.rungs = tally()
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


def work() -> list[tuple[str, str, str]]:
    """Package, folder of the package and path of every file, in the order of the table."""
    return [
        (name, str(folder), str(path))
        for name in sorted(PACKAGES)
        for folder in [package_sources(name)]
        for path in cuda_files(folder)
    ]


def run(jobs: int, chosen: list[tuple[str, str, str]], measured: str) -> None:
    """Check the chosen files, each in a process of its own, and keep the rows of each as soon as it is done; a file
    whose process dies is reported as such."""
    context = get_context("spawn")
    with ThreadPoolExecutor(jobs) as pool:
        futures = {pool.submit(_in_a_process, context, w): w for w in chosen}
        for future in as_completed(futures):
            name, folder, path = futures[future]
            report = future.result() or asdict(FileReport(name, os.path.relpath(path, folder), failure="it died"))
            report["revision"] = measured
            _rows_of(folder, path).write_text(json.dumps(report, indent=1))
            print(f"{report['seconds']:9.1f} s  {len(report['kernels']):4}  {report['path']}", flush=True)


def _in_a_process(context: SpawnContext, file: tuple[str, str, str]) -> dict[str, Any] | None:
    """`check_file`; none where the process died."""
    with ProcessPoolExecutor(1, mp_context=context) as process:
        try:
            return process.submit(check_file, *file).result()
        except BrokenProcessPool:
            return None


def _rows_of(folder: str, path: str) -> Path:
    return ROWS / (os.path.relpath(path, folder).replace("/", "+") + ".json")


def known(files: list[tuple[str, str, str]]) -> list[dict[str, Any]]:
    """What earlier runs found in these files, in their order."""
    kept = [_rows_of(folder, path) for _, folder, path in files]
    return [json.loads(p.read_text()) for p in kept if p.is_file()]


def table(reports: list[dict[str, Any]], files: int) -> str:
    """The results as Markdown; ``files`` in all."""
    out = [
        "# Coverage on real sources",
        "",
        "`python -m benchmarks coverage`; the sources are fetched from the package index, none is in this repository.",
        "",
        *([f"**{len(reports)} of {files} files so far.**", ""] if len(reports) < files else []),
        *_revisions(reports),
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
        f"All files together took {sum(r['seconds'] for r in reports) / 60:.0f} minutes of processor time.",
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
    out += _rungs([r.get("rungs", {}) for r in reports])
    failures = [f"| {r['path']} | {r['failure']} |" for r in reports if r["failure"]]
    if failures:
        out += ["", "## Files not analysed", "", "| file | why |", "|---|---|", *failures]
    lost = sorted({f"| {r['path']} | {s} |" for r in reports for s in r["skipped"] if "header" not in s})
    if lost:
        out += ["", "## Kernels and launches not taken in", "", "| file | what |", "|---|---|", *lost]
    out += ["", *section(reports, LOOKED_AT, complete=len(reports) == files)]
    return "\n".join(out) + "\n"


def _rungs(measured: list[dict[str, tuple[int, float]]]) -> list[str]:
    """Which rung answered how much, and at what cost."""
    answers = Counter[str]()
    spent = Counter[str]()
    for rungs in measured:
        for rung, (answered, milliseconds) in rungs.items():
            answers[rung] += answered
            spent[rung] += round(milliseconds)
    asked = max(1, sum(answers.values()))
    out = [
        "",
        "## Which rung answers",
        "",
        "The solvers' ladder: each rung is asked what those before it left open, and *none* counts what all left open.",
        "A question that was answered before, or by the witness of another instance, is not asked again and does not",
        "count.",
        "Seconds by the clock, of all questions that came to the rung.",
        "",
        "| rung | answers | share | seconds | ms an answer |",
        "|---|---|---|---|---|",
    ]
    for rung, answered in sorted(answers.items(), key=lambda item: -item[1]):
        seconds = f"{spent[rung] / 1e3:.1f}" if spent[rung] else ""
        each = f"{spent[rung] / answered:.1f}" if seconds and answered else ""
        out.append(f"| {rung} | {answered} | {100 * answered / asked:.1f} % | {seconds} | {each} |")
    return out


def _revisions(reports: list[dict[str, Any]]) -> list[str]:
    """What the table is made of: one line, and an empty one."""
    counted = Counter(str(r["revision"]) for r in reports)
    if len(counted) == 1:
        return [f"Measured at revision {next(iter(counted))}.", ""]
    return ["Measured at several revisions: " + ", ".join(f"{r} ({n} files)" for r, n in counted.items()) + ".", ""]


def _spread(what: str, times: list[float]) -> str:
    ordered = sorted(times) or [0.0]
    late = ordered[int(0.95 * (len(ordered) - 1))]
    return f"| {what} | {statistics.median(ordered):.0f} | {late:.0f} | {ordered[-1]:.0f} |"


def main(arguments: list[str] | None = None) -> None:
    """Run and write the table (and the raw rows beside the cache)."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks coverage", description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rewrite", action="store_true", help="check nothing: write the table of what is known so far")
    parser.add_argument("--missing", action="store_true", help="check the files of which nothing is known")
    parser.add_argument("--only", action="append", metavar="PATTERN", help="check the files whose paths match")
    parser.add_argument("--skip", action="append", metavar="PATTERN", default=[], help="but not those")
    options = parser.parse_args(arguments)
    ROWS.mkdir(parents=True, exist_ok=True)
    files = work()
    if not options.rewrite:
        run(options.jobs, _chosen(files, options.only or ["*"], options.skip, missing=options.missing), revision())
    reports = known(files)
    text = table(reports, len(files))
    if options.rewrite or len(reports) == len(files):  # a run that is stopped leaves the table of the last whole one
        (HERE / "coverage.md").write_text(text)
    print(text[: text.index("## Alarms")])


def _chosen(
    files: list[tuple[str, str, str]], only: list[str], skip: list[str], *, missing: bool
) -> list[tuple[str, str, str]]:
    """The files to check. What was known of them is forgotten first, so that a stopped run leaves nothing older."""

    def matches(file: tuple[str, str, str], patterns: list[str]) -> bool:
        return any(fnmatchcase(os.path.relpath(file[2], file[1]), pattern) for pattern in patterns)

    files = [f for f in files if matches(f, only) and not matches(f, skip)]
    if missing:
        return [f for f in files if not _rows_of(f[1], f[2]).is_file()]
    for _, folder, path in files:
        _rows_of(folder, path).unlink(missing_ok=True)
    return files
