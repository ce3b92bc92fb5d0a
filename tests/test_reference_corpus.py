"""What the corpus says of its kernels is true of their executions, whatever the analysis answers."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path

import pytest
from expectations import RACES, Case, cases

from analyzers.frontend.flags import CompileFlags
from analyzers.frontend.lower import lower_unit
from analyzers.frontend.parse import UnitParser
from analyzers.hostguide.comments import comment_directives, directives_for
from analyzers.ir.expr import IntType
from analyzers.ir.kernel import Atomic, Barrier, Fence, Kernel, Load, Store, statements
from analyzers.model import UserLaunch, Verdict
from analyzers.reference.interpreter import run
from analyzers.reference.launch import ConcreteLaunch, Limits
from analyzers.reference.races import divergences, races
from analyzers.reference.result import RunResult

CORPUS = Path(__file__).parent / "corpus"
FILES = sorted(CORPUS.rglob("*.cu"))
MOST_THREADS = 256
LIMITS = Limits(steps=150_000, accesses=20_000)

CONSEQUENCES = {"on_unordered_flag"}
"""Kernels whose barrier diverges only because of the race reported: without it the condition is uniform."""


UNSEEN = {"matrix_rows_racy"}
"""Kernels with accesses that the program form does not have yet; the corpus says so with ``today``."""


@cache
def parser() -> UnitParser:
    return UnitParser()


@pytest.fixture(autouse=True, scope="module")
def _free_parser() -> Generator[None, None, None]:
    yield
    parser.cache_clear()


def executions(kernel: Kernel, launch: UserLaunch) -> Iterator[RunResult]:
    """A few runs at a launch: parameters that are not given small, large and different; memory equal and spread."""
    assert launch.grid is not None
    assert launch.block is not None
    given = dict(launch.values)
    unknown = [p.name for p in kernel.parameters if isinstance(p.ty, IntType) and p.name not in given]
    same: list[tuple[dict[str, int], tuple[int, int]]]
    same = [(dict.fromkeys(unknown, value), contents) for value, contents in ((1, (0, 7)), (3, (-3, 40)), (64, (0, 0)))]
    rising = (dict(zip(unknown, range(2, 2 + len(unknown)), strict=True)), (-3, 40))
    runs = [*same, rising] if len(unknown) > 1 else same if unknown else [({}, (-3, 40))]
    if any(isinstance(s, Fence) or (isinstance(s, Atomic) and s.order != "relaxed") for s in statements(kernel.body)):
        # Locks and flags begin with zero, which proofs list as an assumption.
        runs = [(dict.fromkeys(unknown, 3), (0, 0))] * 4
    for seed, (chosen, contents) in enumerate(runs):
        values = {**chosen, **given}
        concrete = ConcreteLaunch(
            launch.grid,
            launch.block,
            values,
            dynamic_shared=launch.dynamic_shared or 0,
            seed=seed,
            data_range=contents,
            cluster=kernel.bounds.cluster or (1, 1, 1),
        )

        result = run(kernel, concrete, seed, LIMITS)
        if result.outcome == "finished":
            yield result


def wrong(case: Case, kernel: Kernel, launches: list[UserLaunch]) -> Iterator[str]:
    """What executions contradict in the expectations of one kernel."""
    line = {s.id: s.site.span.line for s in statements(kernel.body) if isinstance(s, (Load, Store, Atomic, Barrier))}
    raced: set[tuple[int, int]] = set()
    missed: set[int] = set()
    for launch in launches:
        for result in executions(kernel, launch):
            if any(d.barrier not in line for d in divergences(result)):
                continue  # lanes that a shuffle names do not come to it: anything may follow
            for race in races(result):
                if race.in_bounds:
                    one, two = line[race.first.event], line[race.second.event]
                    raced.add((min(one, two), max(one, two)))
            missed |= {line[d.barrier] for d in divergences(result) if d.kind == "divergence"}
    listed = {(e.line, e.other) for e in case.expected if e.verdict in RACES}
    certain = {(e.line, e.other) for e in case.expected if e.verdict is Verdict.DATA_RACE}
    barriers = {e.line for e in case.expected if e.verdict is Verdict.BARRIER_DIVERGENCE}
    if not barriers and raced - listed:
        yield f"{case.name}: races on lines {sorted(raced - listed)} are not listed"
    if certain - raced:
        yield f"{case.name}: races on lines {sorted(certain - raced, key=str)} do not happen"
    if missed - barriers and case.name not in CONSEQUENCES:
        yield f"{case.name}: barriers on lines {sorted(missed - barriers)} are missed by some threads"
    if barriers - missed:
        yield f"{case.name}: barriers on lines {sorted(barriers - missed)} are missed by nobody"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_expectations_hold_when_executed(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    name, flags = str(path), CompileFlags()
    parsed = parser().parse(name, text, flags)
    unit = lower_unit(parsed, lambda probes: parser().parse(name, text, flags, None, probes))
    directives, _ = comment_directives(text, name)
    found: list[str] = []
    for case in cases(text):
        if case.name in UNSEEN or any(e.verdict is Verdict.UNKNOWN for e in case.expected):
            continue
        for kernel in unit.kernels:
            if kernel.pipelines:
                continue  # executions do not wait for stages
            if kernel.base_name != case.name or not case.first_line <= kernel.span.line <= case.last_line:
                continue
            mine = directives_for(kernel, directives)
            launches = [d.launch for d in mine if d.launch is not None]
            if any(d.kind == "assume" for d in mine) or not all(_small(launch) for launch in launches):
                continue
            if launches:
                found += wrong(case, kernel, launches)
    assert not found, "\n".join(found)


def _small(launch: UserLaunch) -> bool:
    if launch.grid is None or launch.block is None:
        return False
    threads = 1
    for extent in (*launch.grid, *launch.block):
        threads *= extent
    return threads <= MOST_THREADS
