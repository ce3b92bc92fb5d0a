"""What of a run's result shows what: races between two accesses, the memory they are on, and how large arrays are.

Plain comparisons of requests and results, for those who ask for runs as for those who make them."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from typing import Final

from gpu_runner.request import (
    Argument,
    ArrayArgument,
    Focus,
    Goal,
    Place,
    PointersArgument,
    RecordArgument,
    RunFault,
    RunRace,
    RunResult,
    Side,
)

MOST_ELEMENTS: Final = 1 << 24
MOST_POINTERS: Final = 1 << 14
_ROOT: Final = re.compile(r"(\w+(?:\.\w+)*)(?:\[| \+ |$)")
"""The array or variable in an address: ``q.data`` of ``q.data[5]``, ``s`` of ``s`` and of ``s + 20 bytes``."""


def elements(argument: Argument) -> int:
    """How many numbers there are in memory behind an argument."""
    if isinstance(argument, PointersArgument):
        return argument.count * elements(argument.target)
    return argument.count if isinstance(argument, ArrayArgument) else 0


def array_names(arguments: Sequence[Argument], names: Sequence[str]) -> Iterator[str]:
    """Of the arguments that lead to memory, parts of records included."""
    for argument, name in zip(arguments, names, strict=True):
        if isinstance(argument, RecordArgument):
            yield from (part.name for part in argument.parts if elements(part.argument))
        elif elements(argument):
            yield name


def is_between(sides: Sequence[Side], race: RunRace) -> bool:
    """Whether a race is between these two accesses, or in what is called in their lines."""
    if len(sides) != 2:
        return False
    one, other = sides
    first, second = race.first.places, race.second.places
    return (is_at(one, first) and is_at(other, second)) or (is_at(other, first) and is_at(one, second))


def is_at(wanted: Side | Focus, places: Sequence[Place]) -> bool:
    """Whether something that is made at these places, innermost first, may be what is wanted: the access, or where that
    is not told, what is in its line or is called there."""
    inner, *callers = places or (None,)
    if wanted.mark is not None and inner is not None and inner.marks:
        return wanted.mark in inner.marks or any(place.line == wanted.line for place in callers)
    return any(place.line == wanted.line for place in places)


def memory_of(address: str) -> str:
    """The array or variable that an address of a report is in; empty where it is in none that has a name."""
    found = _ROOT.match(address)
    return found[1] if found is not None else ""


def is_on(memory: str, arrays: Container[str], race: RunRace) -> bool:
    """Whether a race may be on the memory of this name, which may be empty: several accesses of one line are told apart
    by the arguments that they are to. `arrays`: names of the arguments; variables may have several names."""
    root = memory_of(race.address)
    return not memory or memory == root or (memory not in arrays and root not in arrays)


def is_stuck(result: RunResult) -> bool:
    """Whether a run ended with threads that wait for each other at barriers, and not in loops."""
    return result.status == "deadlock" and not result.spinning


def shows(goal: Goal, result: RunResult, arrays: Container[str]) -> bool:
    """Whether a run has shown the goal. `arrays`: names of the arguments."""
    if goal.kind == "race":
        return any(not (goal.values_differ and race.same_value) for race in meetings(goal, result, arrays))
    if goal.kind == "mask":
        return bool(unnamed_at(goal.sides, result))
    if goal.kind == "divergence":
        return is_stuck(result) or any(fault.kind == "divergent-barrier" for fault in result.faults)
    return any(fault.kind == "assertion" for fault in result.faults)


def unnamed_at(sides: Sequence[Side], result: RunResult) -> tuple[RunFault, ...]:
    """What a run saw of threads that came to one of these collectives with a mask that does not name them."""
    found = (fault for fault in result.faults if fault.kind == "lane-not-in-mask")
    return tuple(fault for fault in found if any(is_at(side, fault.access.places) for side in sides))


def meetings(goal: Goal, result: RunResult, arrays: Container[str]) -> list[RunRace]:
    """The races of a run that are between the accesses of the goal."""
    return [race for race in result.races if is_between(goal.sides, race) and is_on(goal.memory, arrays, race)]
