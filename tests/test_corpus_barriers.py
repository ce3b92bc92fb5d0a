"""What the corpus says of barriers and of benign races is what executions of its kernels show.

That its races and its divergence are real is tested in `test_reference_corpus.py`; here it is about the quieter
verdicts: barriers called needless are, barriers behind an early return are met by threads that have left, and writes
called benign leave one value. Executions use what the reference interpreter finds, never the analysis.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import pytest
from expectations import Case, cases

from analyzers.frontend.flags import CompileFlags
from analyzers.frontend.lower import lower_unit
from analyzers.frontend.parse import ParsedUnit, UnitParser
from analyzers.hostguide.comments import comment_directives, directives_for
from analyzers.ir.kernel import Atomic, Barrier, Kernel, Load, Store, statements
from analyzers.model import Verdict
from analyzers.reference.interpreter import run
from analyzers.reference.launch import ConcreteLaunch
from analyzers.reference.races import divergences, orders_nothing, races
from analyzers.reference.result import RunResult

FILES = sorted((Path(__file__).parent / "corpus").rglob("*.cu"))
QUIET = frozenset({Verdict.BENIGN_RACE, Verdict.REDUNDANT_BARRIER, Verdict.BARRIER_AFTER_EXIT})
CONTENTS = ((0, 0), (0, 7), (-3, 40))
"""Ranges of what memory holds, one execution each: all equal, colliding, spread."""


def _is_quiet(case: Case) -> bool:
    """What is unknown besides is not executed to its end."""
    verdicts = {e.verdict for e in case.expected}
    return not verdicts.isdisjoint(QUIET) and Verdict.UNKNOWN not in verdicts


@pytest.mark.parametrize(
    "path", [path for path in FILES if any(map(_is_quiet, cases(path.read_text("utf-8"))))], ids=lambda path: path.stem
)
def test_quiet_verdicts_hold_in_executions(path: Path) -> None:
    wrong = [
        f"{case.name} (line {case.first_line}): {text}"
        for case, results in _executions(path)
        for text in _contradictions(case, results)
    ]
    assert not wrong, "\n".join(wrong)


def _executions(path: Path) -> Iterator[tuple[Case, list[RunResult]]]:
    """The cases in question whose launches are given in full, each with all its executions."""
    text = path.read_text(encoding="utf-8")
    parser = UnitParser()

    def parse(probes: Sequence[str] = ()) -> ParsedUnit:
        return parser.parse(str(path), text, CompileFlags(), {}, probes)

    kernels = {kernel.span.line: kernel for kernel in lower_unit(parse(), parse).kernels}
    directives, _ = comment_directives(text, str(path))
    for case in filter(_is_quiet, cases(text)):
        kernel = kernels[case.first_line]
        results = [
            run(kernel, ConcreteLaunch(d.launch.grid, d.launch.block, dict(d.launch.values), data_range=contents))
            for d in directives_for(kernel, directives)
            if d.launch is not None and d.launch.grid is not None and d.launch.block is not None
            for contents in CONTENTS
        ]
        if results:
            yield case, results


def _read_and_atomic(kernel: Kernel, events: Collection[int]) -> bool:
    """What the plain read of a compare-and-swap loop sees may differ: its value is checked."""
    kinds = {type(s) for s in statements(kernel.body) if isinstance(s, (Load, Store, Atomic)) and s.id in events}
    return kinds == {Load, Atomic}


def _contradictions(case: Case, results: list[RunResult]) -> Iterator[str]:
    assert all(result.outcome == "finished" for result in results)
    lines = _lines(results[0].kernel)
    places = {verdict: {e.line for e in case.expected if e.verdict is verdict} for verdict in QUIET}
    left = {lines[d.barrier] for result in results for d in divergences(result) if d.kind == "after-exit"}
    if left != places[Verdict.BARRIER_AFTER_EXIT]:
        yield f"threads have returned before the barriers on lines {sorted(left)}"
    needed = {lines[b] for result in results for b in _barriers(result.kernel) if not orders_nothing(result, b)}
    if needed & places[Verdict.REDUNDANT_BARRIER]:
        yield f"the barriers on lines {sorted(needed & places[Verdict.REDUNDANT_BARRIER])} are needed"
    found = [race for result in results for race in races(result) if race.in_bounds]
    swaps = [race for race in found if _read_and_atomic(results[0].kernel, race.events)]
    harmful = {lines[event] for race in found if not race.benign and race not in swaps for event in race.events}
    if harmful & places[Verdict.BENIGN_RACE]:
        yield f"the races on lines {sorted(harmful & places[Verdict.BENIGN_RACE])} leave different values"
    if places[Verdict.BENIGN_RACE] and not found:
        yield "no execution has a race"


def _barriers(kernel: Kernel) -> list[int]:
    return [s.id for s in statements(kernel.body) if isinstance(s, Barrier)]


def _lines(kernel: Kernel) -> dict[int, int]:
    return {s.id: s.site.span.line for s in statements(kernel.body) if isinstance(s, Load | Store | Atomic | Barrier)}
