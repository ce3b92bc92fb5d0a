"""`cuda-lsp check`: analyse files, print what was found, and say by the exit code whether that is acceptable."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TextIO

from analyzers.ir.names import base_word
from analyzers.model import Fix, FixRefusal, Skipped, UnitResult
from analyzers.requests import UNFIT, CheckRequest, Progress
from cuda_lsp.cli import baselines, exit_codes, inputs, jobs, render_github, render_json, render_sarif, report, terminal
from cuda_lsp.cli.exit_codes import UsageError
from cuda_lsp.cli.inputs import Input, shown, tell_notices
from cuda_lsp.cli.judging import Judge, JudgedUnit, Report
from cuda_lsp.cli.progress import ProgressBar
from cuda_lsp.cli.render_text import TextRenderer, lines_of
from cuda_lsp.cli.repeats import Repeats
from cuda_lsp.cli.requests import Requests, Selection, ineffective
from cuda_lsp.cli.summary import fails
from cuda_lsp.cli.terminal import ColorChoice
from cuda_lsp.workspace import includers

_REPAIR_EFFORT = 15_000
"""Units of work for the repairs of one file, which are told beside its findings; `fix` and editors look further."""

Format = Literal["text", "json", "sarif", "github"]
Result = tuple[UnitResult, tuple[Fix | FixRefusal, ...]]


@dataclass(frozen=True, slots=True)
class CheckArguments:
    """The arguments of `check`, already read."""

    paths: tuple[str, ...]
    selection: Selection
    format: Format = "text"
    fail_on: frozenset[str] | None = None
    """Codes that make the exit code 1; None: as the settings and `summary.DEFAULT_FAIL_ON` say."""
    jobs: int | None = None
    """Files at a time; None: as many as the machine is for."""
    color: ColorChoice = "auto"
    verbose: bool = False
    html: str | None = None
    """Where to write the findings as a page."""
    baseline: str | None = None
    """The file with the findings that are known, in place of the one that the settings name; empty for none."""
    write_baseline: str | None = None
    """Where to write the findings as known ones."""


def check(arguments: CheckArguments, backend: str, out: TextIO, err: TextIO) -> int:
    """Run the command; the exit code."""
    started = time.monotonic()
    if arguments.html is not None:
        report.require_writable(arguments.html)
    if arguments.write_baseline is not None:
        baselines.require_writable(arguments.write_baseline)
        if arguments.selection.is_partial:
            raise UsageError("--write-baseline takes a check of everything, without --kernel, --launch and --no-host")
    for note in ineffective(arguments.selection):
        print(f"cuda-lsp: {note}", file=err)
    left_out: Counter[str] = Counter()
    files = inputs.collect(arguments.paths, left_out)
    tell_notices(files, err)
    requests = Requests(arguments.selection, arguments.paths)
    texts = {file.path: file.text for file in files if file.text is not None}
    named = baselines.named(arguments.baseline) if arguments.baseline else None
    judge = Judge(
        requests.settings,
        texts,
        partial=arguments.selection.is_partial,
        baseline_of=requests.baseline if arguments.baseline is None else lambda _: named,
    )
    repeats = Repeats()
    units: list[JudgedUnit] = []
    renderer = TextRenderer(terminal.style_for(arguments.color, out), lines_of, arguments.verbose)
    for unit, answers in results_of(files, requests, arguments.jobs or jobs.by_default(), backend, err):
        judged = repeats.left_out(judge.judge(unit, answers))
        units.append(judged)
        if arguments.format in ("text", "github"):
            text = renderer.judged(judged) if arguments.format == "text" else render_github.of_unit(judged)
            out.write(text + "\n" if text and arguments.format == "text" else text)
            out.flush()
    issues = judge.issues_in_headers(requests.folders, [judged.unit.path for judged in units])
    gone = baselines.gone(units, requests.folders) if not arguments.selection.is_partial else []
    found = Report(tuple(units), tuple(issues), tuple(gone), left_out)
    if arguments.format == "json":
        out.write(render_json.render(found))
    elif arguments.format == "sarif":
        out.write(render_sarif.render(found))
    else:
        if arguments.format == "github":
            out.write("".join(f"{render_github.of_issue(issue)}\n" for issue in issues))
        else:
            out.write(renderer.issues(issues))
        out.write(renderer.summary(units, time.monotonic() - started))
        out.write(renderer.left_out(found))
        out.write(renderer.gone(found))
    if arguments.html is not None:
        report.write(arguments.html, units)
    require_known_kernels(arguments.selection, [judged.unit for judged in units])
    _require_fitting_launches(arguments.selection, [judged.unit for judged in units])
    if arguments.write_baseline is not None:
        number = baselines.write(arguments.write_baseline, units, requests.folders)
        print(f"cuda-lsp: {number} {'finding' if number == 1 else 'findings'} in {arguments.write_baseline}", file=err)
        return exit_code(found, frozenset())
    return exit_code(found, arguments.fail_on)


def results_of(
    files: Sequence[Input], requests: Requests, job_count: int, backend: str, err: TextIO
) -> Iterator[Result]:
    """The result of every file, in their order; headers found below a folder come last, those that another file of the
    run includes not at all."""
    bar = ProgressBar(len(files), err)
    main_files, headers = apart(files)
    seen: set[str] = set()
    try:
        with jobs.Pool(job_count, backend, requests.hang_seconds(files)) as pool:
            for unit, answers in _run(main_files, requests, pool, bar):
                seen.update({*unit.dependencies} - {*unit.linked})
                yield unit, answers
            alone = [file for file in headers if file.path not in seen]
            yield from _run(alone, requests, pool, bar)
    finally:
        bar.clear()


def apart(files: Sequence[Input]) -> tuple[list[Input], list[Input]]:
    """Files to check in any case, and those found below a folder that another file includes, or may."""
    graph = includers.scan(None, {file.path: inputs.plain(file.text) for file in files if file.text is not None})
    parts = {path for path, by in graph.includers.items() if by - {path}}
    main_files: list[Input] = []
    headers: list[Input] = []
    for file in files:
        may_be_part = not file.is_named and (Path(file.path).suffix.lower() == ".cuh" or file.path in parts)
        (headers if may_be_part else main_files).append(file)
    return main_files, headers


def _with_less_repair(request: CheckRequest) -> CheckRequest:
    return replace(request, options=replace(request.options, repair_effort=_REPAIR_EFFORT))


def _run(files: Sequence[Input], requests: Requests, pool: jobs.Pool, bar: ProgressBar) -> Iterator[Result]:
    readable = [(file, file.text) for file in files if file.text is not None]
    asked = [(_with_less_repair(requests.request(f, text)), requests.workspace(f.path)) for f, text in readable]
    tasks = [jobs.Task("check-and-repair", request, workspace=workspace) for request, workspace in asked]

    def report(task: jobs.Task, progress: Progress) -> None:
        bar.working(shown(task.request.path), progress.done, progress.total, progress.name)

    outcomes = pool.outcomes(tasks, report)
    for file in files:
        if file.text is None:
            result: Result = UnitResult(file.path, 0, failure=file.failure), ()
        else:
            outcome = next(outcomes)
            assert outcome.unit is not None
            result = _with_notice(outcome.unit, file.notice), outcome.answers
        bar.finished(shown(file.path))
        bar.clear()
        yield result


def _with_notice(unit: UnitResult, notice: str) -> UnitResult:
    return replace(unit, skipped=(*unit.skipped, Skipped(notice, None))) if notice else unit


def exit_code(found: Report, fail_on: frozenset[str] | None) -> int:
    """The worst of: an input that could not be analysed, something that `fail_on` names, nothing."""
    if any(judged.unit.failure is not None for judged in found.units):
        return exit_codes.NOT_ANALYSED
    failing = any(fails(judged, fail_on) for judged in found.units)
    failing = failing or any(issue.code.value in (fail_on or ()) for issue in found.issues)
    return exit_codes.FINDINGS if failing else exit_codes.CLEAN


def require_known_kernels(selection: Selection, units: Sequence[UnitResult]) -> None:
    """A name that no kernel has is a typing error, and would pass for a check that found nothing."""
    if any(unit.failure for unit in units):
        return
    there = {base_word(kernel.name) for unit in units for kernel in unit.kernels}
    missing = [name for name in selection.kernels if base_word(name) not in there]
    if missing:
        raise UsageError(f"no kernel named {' or '.join(missing)} in these files")


def _require_fitting_launches(selection: Selection, units: Sequence[UnitResult]) -> None:
    """A parameter that no kernel has is a typing error, and would pass for a check that found nothing."""
    checked = [unit for unit in units if unit.kernels]
    for launch in selection.launches:
        begin = f"{UNFIT} {launch.notation}: "
        why = [s.what.removeprefix(begin) for unit in checked for s in unit.skipped if s.what.startswith(begin)]
        if checked and len(why) == len(checked):
            raise UsageError(f"--launch {launch.notation}: {'; '.join(dict.fromkeys(why))}")
