"""`cuda-lsp explain`: print one stage of the analysis of one kernel."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, TextIO

from analyzers.frontend.scan import scan_kernels
from cuda_lsp.cli import exit_codes, inputs, jobs
from cuda_lsp.cli.exit_codes import UsageError
from cuda_lsp.cli.inputs import tell_notices
from cuda_lsp.cli.requests import Requests, Selection

PASSES: Final = ("ir", "events", "lockstep", "pairs", "conditions")


@dataclass(frozen=True, slots=True)
class ExplainArguments:
    """The arguments of `explain`: `target` is FILE:KERNEL."""

    target: str
    stage: str
    selection: Selection


def explain(arguments: ExplainArguments, backend: str, out: TextIO, err: TextIO) -> int:
    """Run the command; the exit code."""
    path, kernel = split_target(arguments.target)
    file = inputs.read(Path(path))
    if file.text is None:
        assert file.failure is not None
        print(f"cuda-lsp: {path}: {file.failure.text}", file=err)
        return exit_codes.NOT_ANALYSED
    tell_notices([file], err)
    requests = Requests(arguments.selection)
    task = jobs.Task("explain", requests.request(file, file.text), kernel, arguments.stage)
    with jobs.Pool(1, backend, requests.hang_seconds([file])) as pool:
        (outcome,) = pool.outcomes([task], lambda _task, _progress: None)
    if outcome.refusal:
        raise UsageError(outcome.refusal)
    if outcome.unit is not None and outcome.unit.failure is not None:
        print(f"cuda-lsp: {path}: {outcome.unit.failure.text}", file=err)
        return exit_codes.NOT_ANALYSED
    out.write(outcome.text.rstrip("\n") + "\n")
    return exit_codes.CLEAN


def split_target(target: str) -> tuple[str, str]:
    """`FILE:KERNEL` in two. Both may contain colons (`C:\\a.cu:ns::k<4>`): the file is the longest part that exists, or
    ends before the first colon behind a suffix."""
    splits = [(target[:i], target[i + 1 :]) for i, c in enumerate(target) if c == ":" and target[i + 1 :]]
    for path, kernel in reversed(splits):
        if Path(path).is_file():
            return path, kernel
    for path, kernel in splits:
        if Path(path).suffix:
            return path, kernel
    whole = Path(target.removesuffix(":"))
    if whole.is_file():
        names = dict.fromkeys(kernel.name for kernel in scan_kernels(inputs.read(whole).text or ""))
        there = f": {', '.join(list(names)[:8])}{', …' * (len(names) > 8)}" if names else ", if there is one in it"
        raise UsageError(f"which kernel of {whole}? Name one behind the file, as in {whole}:KERNEL{there}")
    for path, kernel in splits:
        if Path(path).is_dir():
            raise UsageError(f"{path} is a folder: name the file that {kernel} stands in, as in FILE:{kernel}")
    raise UsageError(f"“{target}” is not of the form FILE:KERNEL")
