"""`cuda-lsp run FILE:KERNEL`: execute a kernel under the race detector and print what was seen."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TextIO

from cuda_lsp.cli import exit_codes, gpu, inputs, jobs, terminal
from cuda_lsp.cli.exit_codes import UsageError
from cuda_lsp.cli.explain import split_target
from cuda_lsp.cli.inputs import tell_notices
from cuda_lsp.cli.render_run import confirmed_text, in_own_files, is_bad, is_cut_short, is_unable, opinion_text, text_of
from cuda_lsp.cli.requests import Requests, Selection
from cuda_lsp.cli.terminal import ColorChoice, Style
from cuda_lsp.running import plan
from cuda_lsp.running.arguments import ArgumentError, arguments_for, dimensions
from cuda_lsp.running.arguments import named as with_names
from cuda_lsp.running.confirmation import made_up, made_up_numbers
from cuda_lsp.running.fixtures import fixtures_of
from gpu_runner import harness
from gpu_runner.compile import CompileError, NoCompiler
from gpu_runner.request import Request, RunResult, to_json
from gpu_runner.sanitizer import Tool
from gpu_runner.sanitizer.opinion import NoSanitizer, find_sanitizer, opinion, with_ptx

if TYPE_CHECKING:
    from analyzers.explain import Launchable


@dataclass(frozen=True, slots=True)
class RunArguments:
    """The arguments of `run`: `target` is FILE:KERNEL."""

    target: str
    selection: Selection
    grid: str | None
    """None, like `block`: what fixtures and the findings of the check say."""
    block: str | None
    arguments: tuple[str, ...] = ()
    inputs: str | None = None
    """A TOML file with inputs."""
    shared: int | None = None
    """Bytes; None: what it takes is made up."""
    seeds: int = 4
    build: Literal["confirm", "shipped"] = "confirm"
    arch: int | None = None
    """None: that of the project's flags."""
    seconds: float = 30.0
    device: Literal["cpu", "gpu", "auto"] = "cpu"
    sanitizer: tuple[Tool, ...] = ()
    """Tools of ``compute-sanitizer`` that are asked as well."""
    format: Literal["text", "json"] = "text"
    color: ColorChoice = "auto"


def run(arguments: RunArguments, backend: str, out: TextIO, err: TextIO) -> int:
    """Run the command; the exit code."""
    path, kernel = split_target(arguments.target)
    if (arguments.grid is None) != (arguments.block is None):
        raise UsageError("--grid and --block are given together, or neither to confirm what `check` finds")
    if arguments.grid is not None and arguments.inputs is not None:
        raise UsageError("--inputs says the grid and the block: leave --grid and --block out")
    file = inputs.read(Path(path))
    if file.text is None:
        assert file.failure is not None
        print(f"cuda-lsp: {path}: {file.failure.text}", file=err)
        return exit_codes.NOT_ANALYSED
    if Path(path).suffix in (".py", ".ipynb"):
        raise UsageError(
            f"{path}: kernels in the text of a Python program are not read; put them into a file of their own"
        )
    tell_notices([file], err)
    with harness.begun():
        return _run(arguments, file, file.text, kernel, backend, out, err)


def _run(
    arguments: RunArguments, file: inputs.Input, text: str, kernel: str, backend: str, out: TextIO, err: TextIO
) -> int:
    path, _ = split_target(arguments.target)
    requests = Requests(arguments.selection)
    asked = plan.check_for_runs(requests.request(file, text), of_findings=arguments.grid is None)
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
    if launchable.others:
        rest = f" and {len(launchable.others) - 4} more" if len(launchable.others) > 4 else ""
        print(f"cuda-lsp: {launchable.name} is run; there are also {', '.join(launchable.others[:4])}{rest}", file=err)
    base = plan.base_request(
        launchable,
        file.path,
        asked.flags.arguments,
        build=arguments.build,
        arch=asked.flags.arch if arguments.arch is None else arguments.arch,
        seeds=arguments.seeds,
        seconds=arguments.seconds,
        lock_step=asked.options.warp_lockstep,
        device=arguments.device,
    )
    own = frozenset({file.path, *launchable.files})
    style = terminal.style_for(arguments.color, out)
    shown = Shown(path, text.splitlines(), style, arguments.format, own)
    second = Second(arguments.sanitizer)
    if second.missing:
        print(f"cuda-lsp: {second.missing}", file=err)
    try:
        texts = with_names(launchable.parameters, arguments.arguments, launchable.records)
        if arguments.grid is None or arguments.block is None:
            if arguments.inputs is not None:
                named = tuple(fixtures_of(Path(arguments.inputs), launchable.name))
                if not named:
                    raise UsageError(f"{arguments.inputs}: no run in it is for {launchable.name}")
            else:
                named = plan.fixtures(launchable, file.path)
            runs = plan.outcomes(launchable, base, texts, named=named, shared=arguments.shared)
            return _confirm(launchable, runs, shown, second, out)
        grid, block = dimensions(arguments.grid, "--grid"), dimensions(arguments.block, "--block")
        given, notes = arguments_for(launchable.parameters, texts, grid, block, launchable.records)
    except ArgumentError as error:
        raise UsageError(str(error)) from None
    size, said = plan.shared_bytes(launchable, grid, block, arguments.shared)
    if said:
        notes.append(f"--shared: {said}")
    for note in notes:
        print(f"cuda-lsp: not given: {note}", file=err)
    names = [name for name, _ in launchable.parameters]
    request = replace(
        base,
        grid=grid,
        block=block,
        arguments=given,
        dynamic_shared=size,
        growing=made_up(given, names, texts),
        shrinking=made_up_numbers(given, names, texts),
    )
    result = harness.run(request)
    for note in (*plan.smaller_numbers(notes, request, result), *plan.larger_arrays(request, result)):
        if note not in notes:
            print(f"cuda-lsp: {note}", file=err)
    request = plan.launched(request, result)
    if shown.format == "text":
        out.write(text_of(in_own_files(result, shown.files), path, shown.source, shown.style))
        out.flush()
    opinions = second.asked(request)
    if shown.format == "json":
        document = {"kernel": launchable.name, "path": path, "grid": grid, "block": block, **to_json(result)}
        document |= _opinions_json(opinions)
        out.write(json.dumps(document, indent=2) + "\n")
    else:
        _print_opinions(opinions, shown, out)
    return _code([result, *opinions.values()], second)


@dataclass(slots=True)
class Second:
    """The second opinion that ``compute-sanitizer`` gives, where the user wants it and it is installed."""

    tools: tuple[Tool, ...]
    program: str = ""
    missing: str = ""
    """Why there is none."""
    told: list[Request] = field(default_factory=list[Request])
    """The launches that were looked at."""

    def __post_init__(self) -> None:
        if not self.tools:
            return
        try:
            program = find_sanitizer()
        except NoSanitizer as error:
            self.missing = str(error)
            return
        found = gpu.find()
        if found.devices:
            self.program = program
        else:
            self.missing = f"{program} needs a GPU: {found.trouble or 'none is here'}"

    def asked(self, request: Request | None) -> dict[Tool, RunResult]:
        """What each tool finds in a launch; nothing of one that was looked at before."""
        if not self.program or request is None or request in self.told:
            return {}
        self.told.append(request)
        try:
            request = with_ptx(request)
        except (CompileError, NoCompiler):
            return {}  # the run has said so
        return {tool: opinion(self.program, request, tool) for tool in self.tools}


def _opinions_json(opinions: Mapping[Tool, RunResult]) -> dict[str, Any]:
    return {"sanitizer": {tool: to_json(result) for tool, result in opinions.items()}} if opinions else {}


def _print_opinions(opinions: Mapping[Tool, RunResult], shown: Shown, out: TextIO) -> None:
    for tool, result in opinions.items():
        own = in_own_files(result, shown.files)
        out.write(opinion_text(tool, own, shown.path, shown.source, shown.style))
        out.flush()


@dataclass(frozen=True, slots=True)
class Shown:
    """How results are printed."""

    path: str
    source: list[str]
    style: Style
    format: Literal["text", "json"]
    files: frozenset[str]
    """The user's, among those that the kernel was compiled from."""


def _confirm(launchable: Launchable, runs: Iterable[plan.Outcome], shown: Shown, second: Second, out: TextIO) -> int:
    """Say of each finding whether it was seen in the runs of its witness or of the inputs that the user names, and what
    else was."""
    results: list[RunResult] = []
    confirmed: list[dict[str, Any]] = []
    others: list[dict[str, Any]] = []
    for outcome in runs:
        results.append(outcome.result)
        result = in_own_files(outcome.result, shown.files)
        seen = in_own_files(outcome.seen, shown.files) if outcome.seen is not None else None
        finding = outcome.finding
        opinions = second.asked(outcome.request)
        results += opinions.values()
        if finding is None:
            others.append({"inputs": outcome.title, "run": to_json(outcome.result), **_opinions_json(opinions)})
            text = f"{outcome.title}\n" + text_of(result, shown.path, shown.source, shown.style)
        else:
            confirmed.append(
                {
                    "code": finding.code.value,
                    "lines": [access.span.line for access in finding.accesses],
                    "confirmed": outcome.confirmed,
                    "runs": outcome.result.runs,
                    "run": to_json(outcome.result),
                    **_opinions_json(opinions),
                }
            )
            text = confirmed_text(finding, result, seen, shown.path, shown.source, shown.style)
        if shown.format == "text":
            out.write(text)
            _print_opinions(opinions, shown, out)
            out.flush()
    if shown.format == "json":
        document = {"kernel": launchable.name, "path": shown.path, "findings": confirmed, "inputs": others}
        out.write(json.dumps(document, indent=2) + "\n")
    return _code(results, second)


def _code(results: Sequence[RunResult], second: Second) -> int:
    if second.missing or any(is_unable(result) for result in results):
        return exit_codes.NOT_ANALYSED
    if any(is_bad(result) for result in results):
        return exit_codes.FINDINGS
    return exit_codes.CUT_SHORT if any(is_cut_short(result) for result in results) else exit_codes.CLEAN
