"""From a finding of the check to a run: its witness becomes the launch, and the run's races are compared with it."""

from __future__ import annotations

import os
import re
from collections.abc import Container, Sequence
from dataclasses import replace
from typing import Final

from analyzers.ir.kernel import Layout
from analyzers.model import Access, Finding, Mark, Verdict, Witness
from cuda_lsp.running.arguments import arguments_for
from gpu_runner import harness
from gpu_runner.request import (
    Argument,
    ArrayArgument,
    Focus,
    Goal,
    Part,
    PointersArgument,
    RecordArgument,
    Request,
    RunRace,
    RunResult,
    ScalarArgument,
    SharedArgument,
    Side,
)
from gpu_runner.shown import MOST_ELEMENTS, array_names, is_between, is_on, is_stuck, memory_of, unnamed_at

_CELL: Final = re.compile(r"(\w+(?:\.\w+)*)\[(\d+)\]$")
_RACES: Final = (Verdict.DATA_RACE, Verdict.POSSIBLE_DATA_RACE, Verdict.BENIGN_RACE)
ATTEMPTS: Final = 200
"""Inputs that are tried for a finding whose witness alone does not show it."""


def confirm(
    base: Request,
    parameters: Sequence[tuple[str, str]],
    given: Sequence[str],
    finding: Finding,
    records: Sequence[Layout] = (),
    marks: Container[tuple[str, Mark]] = (),
    host: Sequence[tuple[str, int]] = (),
    together: Sequence[tuple[str, str, int]] = (),
) -> tuple[Request, RunResult, RunResult | None]:
    """Run a finding's witness; what was asked, the result, and what of it shows the claim. Arrays that nobody gave a
    size grow until every index that is used is inside, and where the witness alone does not show the claim, others
    of their contents are looked for (`gpu_runner.search`). `host`: the numbers that the launch passes; `together`:
    the pointers that it passes into the memory of others, (name, name of the other, bytes behind it)."""
    witness = finding.witness
    assert witness is not None
    texts = _with_witness(parameters, given, witness, records)
    texts = [*passed(parameters, records, host, texts), *texts]
    arguments, _ = arguments_for(parameters, texts, witness.grid, witness.block, records)
    arguments = tuple(_set(argument, name, witness) for argument, (name, _) in zip(arguments, parameters, strict=True))
    arguments = _together(arguments, [name for name, _ in parameters], given, together)
    free = made_up(arguments, [name for name, _ in parameters], given)
    request = replace(
        base,
        grid=witness.grid,
        block=witness.block,
        arguments=arguments,
        growing=free,
        shrinking=made_up_numbers(arguments, [name for name, _ in parameters], texts),
        goal=_goal(finding, _memory(finding, arguments, [name for name, _ in parameters]), free, marks),
    )
    result = harness.run(request)
    return request, result, shown_of(finding, result, request, marks)


def made_up(arguments: Sequence[Argument], names: Sequence[str], given: Sequence[str]) -> tuple[str, ...]:
    """The arrays, parts of records included, of which the user says nothing."""
    told = {text.partition("=")[0] for text in given if "=" in text}
    found: list[str] = []
    for argument, name in zip(arguments, names, strict=True):
        inner = argument.parts if isinstance(argument, RecordArgument) else ()
        found += (part.name for part in inner if isinstance(part.argument, ArrayArgument | PointersArgument))
        found += [name] if isinstance(argument, ArrayArgument | PointersArgument) else []
    return tuple(name for name in found if name not in told and name.partition(".")[0] not in told)


def made_up_numbers(arguments: Sequence[Argument], names: Sequence[str], given: Sequence[str]) -> tuple[str, ...]:
    """The numbers, parts of records included, of which nothing is said."""
    told = {text.partition("=")[0] for text in given if "=" in text}
    parts = [
        (part.name, part.argument)
        for argument, name in zip(arguments, names, strict=True)
        if not isinstance(argument, SharedArgument)
        for part in (argument.parts if isinstance(argument, RecordArgument) else (Part(name, 0, argument),))
    ]
    free = (name for name, argument in parts if isinstance(argument, ScalarArgument) and name not in told)
    return tuple(name for name in free if name.partition(".")[0] not in told)  # a tensor that is given has its sizes


def _together(
    arguments: Sequence[Argument], names: Sequence[str], given: Sequence[str], together: Sequence[tuple[str, str, int]]
) -> tuple[Argument, ...]:
    """The arguments with one array for those that lead to the same memory, but for what the user gives."""
    free = {*made_up(arguments, names, given)}
    found = list(arguments)
    for name, other, offset in together:
        if name in free and other in free and {name, other} <= set(names):
            found[names.index(name)] = SharedArgument(names.index(other), offset)
    return tuple(found)


def _goal(finding: Finding, memory: str, free: tuple[str, ...], marks: Container[tuple[str, Mark]]) -> Goal:
    if finding.code in _RACES:
        differ = finding.code is not Verdict.BENIGN_RACE
        return Goal("race", sides_of(finding, marks), memory, focus_of(finding, marks), ATTEMPTS, free, differ)
    if finding.code is Verdict.LANE_NOT_IN_MASK:
        return Goal("mask", sides_of(finding, marks), attempts=ATTEMPTS, searched=free)
    kind = "divergence" if finding.code in (Verdict.BARRIER_DIVERGENCE, Verdict.MISSING_LANES) else "assertion"
    return Goal(kind, attempts=ATTEMPTS, searched=free)


def _memory(finding: Finding, arguments: Sequence[Argument], names: Sequence[str]) -> str:
    """The array or variable that a finding's witness is about, empty where its name does not tell: of parameters that
    lead to one array, the one that a run calls it after."""
    memory = memory_of(finding.witness.address) if finding.witness is not None else ""
    argument = dict(zip(names, arguments, strict=False)).get(memory)
    return names[argument.of] if isinstance(argument, SharedArgument) else memory


def passed(
    parameters: Sequence[tuple[str, str]],
    records: Sequence[Layout],
    host: Sequence[tuple[str, int]],
    given: Sequence[str],
) -> list[str]:
    """The numbers that the host passes, as arguments, for what is not given: by name, as what is given without one goes
    by its place."""
    if any("=" not in text for text in given):
        return []
    names = {name for name, _ in parameters} | {part for record in records for part, _, _ in record.parts}
    told = {text.partition("=")[0] for text in given}
    return [f"{name}={value}" for name, value in host if name in names and name not in told]


def _with_witness(
    parameters: Sequence[tuple[str, str]], given: Sequence[str], witness: Witness, records: Sequence[Layout]
) -> list[str]:
    """What the user gives wins over the witness's numbers."""
    names = {name for name, _ in parameters} | {part for record in records for part, _, _ in record.parts}
    told = {text.partition("=")[0] for text in given}
    values = [f"{name}={value}" for name, value in witness.parameters if name in names and name not in told]
    return [*values, *given]


def _set(argument: Argument, name: str, witness: Witness) -> Argument:
    """The elements that the witness speaks of."""
    if isinstance(argument, RecordArgument):
        return RecordArgument(
            tuple(replace(part, argument=_set(part.argument, part.name, witness)) for part in argument.parts)  # pyright: ignore[reportArgumentType]
        )
    if not isinstance(argument, ArrayArgument):
        return argument
    cells = [(_CELL.match(cell), value) for cell, value in witness.data]
    settings = tuple((int(match[2]), float(value)) for match, value in cells if match is not None and match[1] == name)
    most = max((index + 1 for index, _ in settings), default=0)
    return replace(argument, settings=settings, count=max(argument.count, min(most, MOST_ELEMENTS)))


def sides_of(finding: Finding, marks: Container[tuple[str, Mark]] = ()) -> tuple[Side, ...]:
    """The two accesses of a finding."""
    return tuple(Side(access.span.line, _mark(access, marks)) for access in finding.accesses)


def focus_of(finding: Finding, marks: Container[tuple[str, Mark]] = ()) -> tuple[Focus, ...]:
    """The same, by the threads of the finding's witness."""
    return tuple(Focus(a.span.line, a.block, a.thread, _mark(a, marks)) for a in finding.accesses)


def _mark(access: Access, marks: Container[tuple[str, Mark]]) -> Mark | None:
    mark = access.span.mark
    return mark if (os.path.normpath(access.span.path), mark) in marks else None


def shown_of(
    finding: Finding, result: RunResult, request: Request, marks: Container[tuple[str, Mark]] = ()
) -> RunResult | None:
    """The result with only what shows the finding's claim, a race between its accesses, first one of its scope, threads
    at different barriers, or a thread that a mask does not name; None where nothing does. Writes of the same value show
    no race that is only possible: whether one that is definite is benign was decided by what else touches the cell.
    `marks`: the accesses that the compiled text tells from others in their lines, by file."""
    if finding.code in (Verdict.BARRIER_DIVERGENCE, Verdict.MISSING_LANES):
        faults = tuple(fault for fault in result.faults if fault.kind == "divergent-barrier")
        return replace(result, faults=faults, races=()) if faults or is_stuck(result) else None
    if finding.code is Verdict.LANE_NOT_IN_MASK:
        faults = unnamed_at(sides_of(finding, marks), result)
        return replace(result, faults=faults, races=()) if faults else None
    if finding.code is Verdict.ASSERTION_FAILURE or finding.code is Verdict.POSSIBLE_ASSERTION_FAILURE:
        faults = tuple(fault for fault in result.faults if fault.kind == "assertion")
        return replace(result, faults=faults, races=()) if faults else None
    sides = sides_of(finding, marks)
    memory = _memory(finding, request.arguments, request.names)
    arrays = frozenset(array_names(request.arguments, request.names))
    races = [race for race in result.races if is_between(sides, race) and is_on(memory, arrays, race)]
    races.sort(key=lambda race: (race.same_value, race.scope != finding.scope, not _is_witness(finding, race)))
    if finding.code is Verdict.POSSIBLE_DATA_RACE and all(race.same_value for race in races):
        return None
    return replace(result, races=tuple(races), faults=()) if races else None


def rest_of(result: RunResult, seen: RunResult) -> RunResult:
    """What a run showed beside what shows the finding: all but its first race, or its faults."""
    races = tuple(race for race in result.races if not seen.races or race != seen.races[0])
    return replace(result, races=races, faults=tuple(fault for fault in result.faults if fault not in seen.faults))


def _is_witness(finding: Finding, race: RunRace) -> bool:
    """Whether the two threads are those of the finding's witness."""
    threads = {(access.block, access.thread) for access in finding.accesses}
    return {(access.block, access.thread) for access in (race.first, race.second)} == threads
