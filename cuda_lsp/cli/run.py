"""`cuda-lsp run FILE:KERNEL`: execute a kernel under the race detector and print what was seen."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TextIO

from cuda_lsp.cli import exit_codes, inputs, jobs, terminal
from cuda_lsp.cli.check import tell_notices
from cuda_lsp.cli.exit_codes import UsageError
from cuda_lsp.cli.explain import split_target
from cuda_lsp.cli.render_run import is_bad, is_unable, text_of
from cuda_lsp.cli.requests import Requests, Selection
from cuda_lsp.cli.run_arguments import arguments_for, dimensions
from cuda_lsp.cli.terminal import ColorChoice
from gpu_runner import harness
from gpu_runner.request import Request, RunResult, to_json

_FORWARDED: Final = ("-D", "-U", "-I", "-std", "--std")


@dataclass(frozen=True, slots=True)
class RunArguments:
    """The arguments of `run`: `target` is FILE:KERNEL."""

    target: str
    selection: Selection
    grid: str
    block: str
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
    grid, block = dimensions(arguments.grid, "--grid"), dimensions(arguments.block, "--block")
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
    given, notes = arguments_for(launchable.parameters, arguments.arguments, grid, block)
    for note in notes:
        print(f"cuda-lsp: not given: {note}", file=err)
    request = Request(
        kernel=launchable.mangled,
        grid=grid,
        block=block,
        arguments=given,
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
    result = harness.run(request)
    if arguments.format == "json":
        document = {"kernel": launchable.name, "path": path, "grid": grid, "block": block, **to_json(result)}
        out.write(json.dumps(document, indent=2) + "\n")
    else:
        style = terminal.style_for(arguments.color, out)
        out.write(text_of(result, path, file.text.splitlines(), style))
    return _code(result)


def _code(result: RunResult) -> int:
    if is_unable(result):
        return exit_codes.NOT_ANALYSED
    return exit_codes.FINDINGS if is_bad(result) else exit_codes.CLEAN


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
