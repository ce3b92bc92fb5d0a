"""`cuda-lsp run FILE:KERNEL`: execute a kernel under the race detector and print what was seen."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal, TextIO

from analyzers.explain import Launchable
from cuda_lsp.cli import confirmation, exit_codes, inputs, jobs, terminal
from cuda_lsp.cli.check import tell_notices
from cuda_lsp.cli.exit_codes import UsageError
from cuda_lsp.cli.explain import split_target
from cuda_lsp.cli.render_run import confirmed_text, is_bad, is_unable, text_of
from cuda_lsp.cli.requests import Requests, Selection
from cuda_lsp.cli.run_arguments import arguments_for, dimensions
from cuda_lsp.cli.terminal import ColorChoice, Style
from gpu_runner import harness
from gpu_runner.request import Request, RunResult, to_json

_FORWARDED: Final = ("-D", "-U", "-I", "-std", "--std")


@dataclass(frozen=True, slots=True)
class RunArguments:
    """The arguments of `run`: `target` is FILE:KERNEL."""

    target: str
    selection: Selection
    grid: str | None
    """None, like `block`: what the findings of the check say."""
    block: str | None
    arguments: tuple[str, ...] = ()
    shared: int = 0
    seeds: int = 4
    build: Literal["confirm", "shipped"] = "confirm"
    arch: int = 80
    seconds: float = 30.0
    format: Literal["text", "json"] = "text"
    color: ColorChoice = "auto"


def run(arguments: RunArguments, backend: str, out: TextIO, err: TextIO) -> int:
    """Run the command; the exit code."""
    path, kernel = split_target(arguments.target)
    if (arguments.grid is None) != (arguments.block is None):
        raise UsageError("--grid and --block are given together, or neither to confirm what `check` finds")
    file = inputs.read(Path(path))
    if file.text is None:
        assert file.failure is not None
        print(f"cuda-lsp: {path}: {file.failure.text}", file=err)
        return exit_codes.NOT_ANALYSED
    tell_notices([file], err)
    requests = Requests(arguments.selection)
    asked = requests.request(file, file.text)
    task = jobs.Task("launchable", asked, kernel)
    with jobs.Pool(1, backend, requests.hang_seconds([file])) as pool:
        (outcome,) = pool.outcomes([task], lambda _task, _progress: None)
    if outcome.refusal:
        raise UsageError(outcome.refusal)
    launchable = outcome.launchable
    if launchable is None:
        reason = outcome.unit.failure.text if outcome.unit is not None and outcome.unit.failure is not None else ""
        print(f"cuda-lsp: {path}: {reason or 'the kernel could not be taken in'}", file=err)
        return exit_codes.NOT_ANALYSED
    base = Request(
        kernel=launchable.mangled,
        grid=(1, 1, 1),
        block=(1, 1, 1),
        names=tuple(name for name, _ in launchable.parameters),
        source=launchable.text,
        path=file.path,
        build=arguments.build,
        arch=arguments.arch,
        flags=_flags(asked.flags.arguments),
        instances=(launchable.name,) if launchable.is_template else (),
        dynamic_shared=arguments.shared,
        seeds=tuple(range(arguments.seeds)),
        seconds=arguments.seconds,
    )
    shown = Shown(path, file.text.splitlines(), terminal.style_for(arguments.color, out), arguments.format)
    if arguments.grid is None or arguments.block is None:
        return _confirm(launchable, base, arguments.arguments, shown, out)
    grid, block = dimensions(arguments.grid, "--grid"), dimensions(arguments.block, "--block")
    given, notes = arguments_for(launchable.parameters, arguments.arguments, grid, block)
    for note in notes:
        print(f"cuda-lsp: not given: {note}", file=err)
    result = harness.run(replace(base, grid=grid, block=block, arguments=given))
    if shown.format == "json":
        document = {"kernel": launchable.name, "path": path, "grid": grid, "block": block, **to_json(result)}
        out.write(json.dumps(document, indent=2) + "\n")
    else:
        out.write(text_of(result, path, shown.source, shown.style))
    return _code([result])


@dataclass(frozen=True, slots=True)
class Shown:
    """How results are printed."""

    path: str
    source: list[str]
    style: Style
    format: Literal["text", "json"]


def _confirm(launchable: Launchable, base: Request, given: tuple[str, ...], shown: Shown, out: TextIO) -> int:
    """Run the witness of each finding, and say of each whether it was seen."""
    results: list[RunResult] = []
    documents: list[dict[str, Any]] = []
    findings = [finding for finding in launchable.findings if finding.witness is not None]
    for finding in findings:
        result, seen = confirmation.confirm(base, launchable.parameters, given, finding)
        results.append(result)
        documents.append(
            {
                "code": finding.code.value,
                "lines": [access.span.line for access in finding.accesses],
                "confirmed": seen is not None,
                "runs": result.runs,
                "run": to_json(result),
            }
        )
        if shown.format == "text":
            out.write(confirmed_text(finding, result, seen, shown.path, shown.source, shown.style))
            out.flush()
    if shown.format == "json":
        document = {"kernel": launchable.name, "path": shown.path, "findings": documents}
        out.write(json.dumps(document, indent=2) + "\n")
    elif not findings:
        out.write("the check found nothing that a run could confirm\n")
    return _code(results)


def _code(results: Sequence[RunResult]) -> int:
    if any(is_unable(result) for result in results):
        return exit_codes.NOT_ANALYSED
    return exit_codes.FINDINGS if any(is_bad(result) for result in results) else exit_codes.CLEAN


def _flags(flags: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the front end's flags that CUDA compilers know as well."""
    found: list[str] = []
    following = iter(flags)
    for flag in following:
        if flag in ("-D", "-U", "-I"):
            found.append(flag + next(following, ""))
        elif flag in ("-include", "-isystem", "-iquote"):
            value = next(following, "")
            found.append(f"-I{value}" if flag != "-include" else f"-include={value}")
        elif flag.startswith(_FORWARDED):
            found.append(flag)
    return tuple(found)
