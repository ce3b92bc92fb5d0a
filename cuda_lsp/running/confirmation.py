"""From a finding of the check to a run: its witness becomes the launch, and the run's races are compared with it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from analyzers.model import Finding, Verdict, Witness
from cuda_lsp.running.arguments import arguments_for
from gpu_runner import harness
from gpu_runner.request import Argument, ArrayArgument, Focus, Request, RunRace, RunResult, ScalarArgument

_CELL: Final = re.compile(r"(\w+)\[(\d+)\]$")
_RACES: Final = (Verdict.DATA_RACE, Verdict.POSSIBLE_DATA_RACE, Verdict.BENIGN_RACE)
_GROWTH: Final = 16
_MOST_ELEMENTS: Final = 1 << 24
_DYNAMIC_SHARED: Final = 32 << 10
"""Bytes, where nobody says how many: a witness does not."""


def confirm(
    base: Request, parameters: Sequence[tuple[str, str]], given: Sequence[str], finding: Finding
) -> tuple[RunResult, RunResult | None]:
    """Run a finding's witness; the result, and what of it shows the claim. Arrays that nobody gave a size grow until
    every index that is used is inside."""
    witness = finding.witness
    assert witness is not None
    arguments, _ = arguments_for(parameters, _with_witness(parameters, given, witness), witness.grid, witness.block)
    fixed = {text.partition("=")[0] for text in given if "=" in text}
    arguments = tuple(_set(argument, name, witness) for argument, (name, _) in zip(arguments, parameters, strict=True))
    shared = base.dynamic_shared or _DYNAMIC_SHARED
    while True:
        request = replace(base, grid=witness.grid, block=witness.block, arguments=arguments, dynamic_shared=shared)
        result = harness.run(request)
        larger = tuple(
            _larger(argument) if name not in fixed else argument
            for argument, (name, _) in zip(arguments, parameters, strict=True)
        )
        outside = any(fault.kind == "out-of-bounds" for fault in result.faults)
        if outside and larger != arguments:
            arguments = larger
            continue
        seen = shown_of(finding, result)
        if seen is not None or result.status != "finished" or finding.code not in _RACES:
            return result, seen
        # Other accesses to the same cells may have been in between.
        focused = harness.run(replace(request, focus=focus_of(finding)))
        return result, shown_of(finding, focused)


def _with_witness(parameters: Sequence[tuple[str, str]], given: Sequence[str], witness: Witness) -> list[str]:
    """What the user gives wins over the witness's numbers."""
    names = {name for name, _ in parameters}
    told = {text.partition("=")[0] for text in given}
    values = [f"{name}={value}" for name, value in witness.parameters if name in names and name not in told]
    return [*values, *given]


def _set(argument: Argument, name: str, witness: Witness) -> Argument:
    """The elements that the witness speaks of."""
    if isinstance(argument, ScalarArgument):
        return argument
    cells = [(_CELL.match(cell), value) for cell, value in witness.data]
    settings = tuple((int(match[2]), float(value)) for match, value in cells if match is not None and match[1] == name)
    most = max((index + 1 for index, _ in settings), default=0)
    return replace(argument, settings=settings, count=max(argument.count, min(most, _MOST_ELEMENTS)))


def _larger(argument: Argument) -> Argument:
    if isinstance(argument, ArrayArgument) and argument.count * _GROWTH <= _MOST_ELEMENTS:
        return replace(argument, count=argument.count * _GROWTH)
    return argument


def focus_of(finding: Finding) -> tuple[Focus, ...]:
    """The two accesses of a finding, by the threads of its witness."""
    return tuple(Focus(access.span.line, access.block, access.thread) for access in finding.accesses)


def shown_of(finding: Finding, result: RunResult) -> RunResult | None:
    """The result with only what shows the finding's claim, a race between its lines or threads at different barriers;
    None where nothing does."""
    if finding.code is Verdict.BARRIER_DIVERGENCE:
        faults = tuple(fault for fault in result.faults if fault.kind == "divergent-barrier")
        return replace(result, faults=faults, races=()) if faults or result.status == "deadlock" else None
    if finding.code is Verdict.ASSERTION_FAILURE or finding.code is Verdict.POSSIBLE_ASSERTION_FAILURE:
        faults = tuple(fault for fault in result.faults if fault.kind == "assertion")
        return replace(result, faults=faults, races=()) if faults else None
    lines = [access.span.line for access in finding.accesses]
    races = tuple(race for race in result.races if is_between(lines, race))
    return replace(result, races=races, faults=()) if races else None


def is_between(lines: Sequence[int], race: RunRace) -> bool:
    """Whether a race is between accesses on these two lines, or in what is called there."""
    first, second = ({place.line for place in access.places} for access in (race.first, race.second))
    if len(lines) != 2:
        return False
    return (lines[0] in first and lines[1] in second) or (lines[1] in first and lines[0] in second)
