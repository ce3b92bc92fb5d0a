"""What is said of random kernels with roles is true of their executions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from generated_roles import HEADER, kernel

from analyzers.engine import Engine
from analyzers.frontend.flags import CompileFlags
from analyzers.frontend.lower import lower_unit
from analyzers.frontend.parse import UnitParser
from analyzers.hostguide.comments import comment_directives, directives_for
from analyzers.ir.kernel import Kernel
from analyzers.model import KernelResult, UserLaunch, Verdict
from analyzers.reference.interpreter import run
from analyzers.reference.launch import ConcreteLaunch, Limits
from analyzers.reference.races import divergences, races
from analyzers.requests import CheckRequest, UnitFinished

BATCHES = 8
SIZE = 24
SCHEDULES = 3
PATH = "/roles.cu"
LIMITS = Limits(steps=200_000, accesses=50_000)
PROVED = frozenset({Verdict.RACE_FREE, Verdict.REDUNDANT_BARRIER})


def text_of(seeds: Sequence[int]) -> str:
    return HEADER + "\n".join(kernel(seed) for seed in seeds)


def verdicts(text: str) -> dict[str, KernelResult]:
    events = Engine().check(CheckRequest(PATH, text))
    unit = next(e.result for e in events if isinstance(e, UnitFinished))
    return {k.name: k for k in unit.kernels}


def lowered(text: str) -> Iterator[tuple[Kernel, UserLaunch]]:
    parser, flags = UnitParser(), CompileFlags()
    parsed = parser.parse(PATH, text, flags)
    unit = lower_unit(parsed, lambda probes: parser.parse(PATH, text, flags, None, probes))
    directives, _ = comment_directives(text, PATH)
    for found in unit.kernels:
        yield found, next(d.launch for d in directives_for(found, directives) if d.launch is not None)


def faults(roles: Kernel, launch: UserLaunch) -> set[str]:
    """What goes wrong in some execution."""
    assert launch.grid is not None
    assert launch.block is not None
    found: set[str] = set()
    for seed in range(SCHEDULES):
        concrete = ConcreteLaunch(launch.grid, launch.block, dict(launch.values), seed=seed)
        result = run(roles, concrete, seed, LIMITS)
        if result.outcome != "finished":
            return {result.reason}
        found |= {"race" for _ in races(result)} | {"waits for ever" for _ in divergences(result)}
    return found


def contradictions(seeds: Sequence[int]) -> tuple[list[str], int, int]:
    """What was proved and is not true; how many kernels were proved, and how many have no fault but were not."""
    text = text_of(seeds)
    known = verdicts(text)
    wrong: list[str] = []
    proved = missed = 0
    for found, launch in lowered(text):
        bad = faults(found, launch)
        if known[found.name].verdict in PROVED:
            proved += 1
            if bad:
                wrong.append(f"{found.name}: {known[found.name].verdict.value}, but {bad}")
        elif not bad:
            missed += 1
    return wrong, proved, missed


@pytest.mark.parametrize("batch", range(BATCHES))
def test_what_is_proved_is_true(batch: int) -> None:
    wrong, proved, _ = contradictions(range(batch * SIZE, (batch + 1) * SIZE))
    assert not wrong
    assert proved >= SIZE // 8
