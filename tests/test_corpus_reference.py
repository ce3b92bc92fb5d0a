"""The corpus itself is right: what it expects is what executions of its kernels show.

Every kernel whose launch a comment gives in full is executed by the reference interpreter with different contents of
memory. Nothing here depends on the analysis that the corpus is meant to test.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from expectations import RACES, Case, cases

from analyzers.frontend.flags import CompileFlags
from analyzers.frontend.lower import lower_unit
from analyzers.frontend.parse import ParsedUnit, UnitParser
from analyzers.hostguide.comments import comment_directives, directives_for
from analyzers.ir.kernel import Atomic, Barrier, Kernel, Load, Store, statements
from analyzers.model import Dim3, Verdict
from analyzers.reference.interpreter import run
from analyzers.reference.launch import ConcreteLaunch
from analyzers.reference.races import divergences, orders_nothing, races
from analyzers.reference.result import RunResult

FILES = sorted((Path(__file__).parent / "corpus").rglob("*.cu"))
EXECUTIONS = (((0, 0), 1), ((0, 7), 3), ((-3, 40), 64))
"""What memory holds (all equal, colliding, spread) and the value of parameters that the launch leaves open."""

RARELY_NEEDED = frozenset({"odd_even_sort", "barrier_under_a_vote", "iterate_until_all_agree"})
"""Kernels with a barrier that orders something only for contents of memory that are not among these."""

Pair = tuple[int, int]


@dataclass(slots=True)
class Observed:
    """What the executions of one kernel showed, by source line."""

    races: dict[Pair, bool]
    """Pair of lines -> whether it was benign in every execution that had it."""
    divergent: set[int]
    after_exit: set[int]
    idle: set[int]
    """Barriers without which no execution would have had another race, votes left aside."""
    needed: set[int]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_expectations_hold_in_executions(path: Path) -> None:
    wrong = [
        f"{case.name} (line {case.first_line}): {text}"
        for case, results in _executions(path)
        for text in _contradictions(case, results)
    ]
    assert not wrong, "\n".join(wrong)


def test_most_of_the_corpus_is_executed() -> None:
    texts = [path.read_text(encoding="utf-8") for path in FILES]
    assert sum(text.count("// cuda-lsp: launch grid=") for text in texts) >= 350


def _executions(path: Path) -> Iterator[tuple[Case, list[RunResult]]]:
    """The cases of a file with complete launches, each with all its executions that came to an end."""
    text = path.read_text(encoding="utf-8")
    parser = UnitParser()

    def parse(probes: Sequence[str] = ()) -> ParsedUnit:
        return parser.parse(str(path), text, CompileFlags(), {}, probes)

    kernels = {kernel.span.line: kernel for kernel in lower_unit(parse(), parse).kernels}
    directives, _ = comment_directives(text, str(path))
    for case in cases(text):
        kernel = kernels.get(case.first_line)
        if kernel is None or any(e.verdict is Verdict.UNKNOWN for e in case.expected):
            continue
        given = [d.launch for d in directives_for(kernel, directives) if d.launch is not None]
        launches = [(launch.grid, launch.block, dict(launch.values)) for launch in given]
        results = [
            run(kernel, _launch(kernel, grid, block, values, seed), seed)
            for grid, block, values in launches
            if grid is not None and block is not None
            for seed in range(len(EXECUTIONS))
        ]
        finished = [result for result in results if result.outcome == "finished"]
        if finished:
            yield case, finished


def _launch(kernel: Kernel, grid: Dim3, block: Dim3, values: dict[str, int], seed: int) -> ConcreteLaunch:
    contents, default = EXECUTIONS[seed]
    missing = {p.name: default for p in kernel.parameters if p.object is None and p.name not in values}
    return ConcreteLaunch(grid, block, {**missing, **values}, seed=seed, data_range=contents)


def _observed(results: list[RunResult]) -> Observed:
    seen = Observed({}, set(), set(), set(), set())
    body = statements(results[0].kernel.body)
    lines = {s.id: s.site.span.line for s in body if isinstance(s, Load | Store | Atomic | Barrier)}
    barriers = [s for s in body if isinstance(s, Barrier)]
    for result in results:
        for race in races(result):
            if race.in_bounds:
                first, second = sorted(lines[event] for event in race.events)
                seen.races[first, second] = seen.races.get((first, second), True) and race.benign
        for divergence in divergences(result):
            if divergence.scope != "collective":
                target = seen.divergent if divergence.kind == "divergence" else seen.after_exit
                target.add(lines[divergence.barrier])
        seen.needed |= {lines[barrier.id] for barrier in barriers if not orders_nothing(result, barrier.id)}
    # What a barrier does for atomic and volatile accesses is not a matter of races.
    if not any(isinstance(s, Atomic) for s in body):
        seen.idle = {lines[barrier.id] for barrier in barriers if barrier.reduce is None} - seen.needed
    return seen


def _contradictions(case: Case, results: list[RunResult]) -> Iterator[str]:
    seen = _observed(results)
    expected = {(e.line, e.other): e.verdict for e in case.expected if e.verdict in RACES}
    for pair, benign in seen.races.items():
        if pair not in expected:
            yield f"an execution has the race {pair}, which is not expected"
        elif expected[pair] is Verdict.BENIGN_RACE and not benign:
            yield f"the race {pair} is not benign in an execution"
    for pair, verdict in expected.items():
        if verdict is Verdict.DATA_RACE and seen.races.get((pair[0], pair[1] or 0)) is not False:
            yield f"no execution has the race {pair}"
    places = {verdict: {e.line for e in case.expected if e.verdict is verdict} for verdict in Verdict}
    yield from _differences("misses the barrier", seen.divergent, places[Verdict.BARRIER_DIVERGENCE])
    yield from _differences("has exited before the barrier", seen.after_exit, places[Verdict.BARRIER_AFTER_EXIT])
    for line in sorted(places[Verdict.REDUNDANT_BARRIER] & seen.needed):
        yield f"the barrier on line {line} is needed in an execution"
    if case.is_race_free and case.name not in RARELY_NEEDED:
        for line in sorted(seen.idle):
            yield f"the barrier on line {line} orders nothing in any execution"


def _differences(what: str, seen: set[int], expected: set[int]) -> Iterator[str]:
    for line in sorted(seen - expected):
        yield f"some thread {what} on line {line}, which is not expected"
    for line in sorted(expected - seen):
        yield f"no thread {what} on line {line}"


def test_a_wrong_expectation_is_noticed() -> None:
    path = next(path for path in FILES if path.name == "straight_line.cu")
    for case, results in _executions(path):
        if case.is_race_free:
            turned = tuple(replace(e, verdict=Verdict.BARRIER_DIVERGENCE) for e in case.expected)
            assert list(_contradictions(replace(case, expected=turned), results))
        else:
            turned = tuple(replace(e, verdict=Verdict.RACE_FREE) for e in case.expected)
            assert list(_contradictions(replace(case, expected=turned), results))
