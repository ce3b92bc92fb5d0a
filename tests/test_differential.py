"""What is said of random kernels, from their source text, is true of runs of what a CUDA compiler makes of it."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest

from analyzers.engine import Engine
from analyzers.model import Verdict
from benchmarks.differential import table
from benchmarks.generated import executed
from benchmarks.generated.executed import RunOutcome, compare_runs
from benchmarks.generated.kernels import sample

BATCHES = 20
SIZE = 25
STATEMENTS = 3


@cache
def engine() -> Engine:
    return Engine()


@pytest.fixture(autouse=True, scope="module")
def _free_engine() -> Generator[None, None, None]:
    yield
    engine.cache_clear()


@pytest.mark.parametrize("batch", range(BATCHES))
def test_no_verdict_contradicts_a_run(batch: int) -> None:
    outcomes = compare_runs(engine(), [sample(n, STATEMENTS) for n in range(batch * SIZE, (batch + 1) * SIZE)])
    assert {o.seed: o.contradictions for o in outcomes if o.contradictions} == {}
    assert sum(o.proofs for o in outcomes) >= SIZE / 2
    assert sum(o.witnesses for o in outcomes) >= 1


def test_a_race_or_witness_that_is_wrong_is_a_contradiction(monkeypatch: pytest.MonkeyPatch) -> None:
    """The analysis is made to deny all that it found, and to name other lines."""
    real = engine().analyse

    def denying(request: Any) -> Any:
        analysis = real(request)
        kernels = [
            SimpleNamespace(
                kernel=k.kernel,
                result=replace(
                    k.result,
                    contexts=tuple(replace(c, verdict=Verdict.RACE_FREE, findings=()) for c in k.result.contexts),
                ),
            )
            for k in analysis.kernels
        ]
        return SimpleNamespace(kernels=kernels)

    samples = [sample(n, STATEMENTS) for n in range(SIZE)]
    outcomes = compare_runs(SimpleNamespace(analyse=denying), samples)  # pyright: ignore[reportArgumentType]
    assert any("race-free, but" in text for o in outcomes for text in o.contradictions)
    monkeypatch.setattr(executed, "is_between", lambda _lines, _race: False)
    outcomes = compare_runs(engine(), samples)
    assert any("is not seen at its witness" in text for o in outcomes for text in o.contradictions)
    assert any("but no finding for" in text for o in outcomes for text in o.contradictions)


def test_the_table_counts_what_was_run() -> None:
    outcomes = [
        RunOutcome(0, [], 2, 0, [], 0.5, 0.5),
        RunOutcome(1, ["race-free, but it races"], 1, 3, ["out-of-bounds"], 0.5, 1.5),
    ]
    text = table(outcomes, 10, 2, 60.0)
    assert "**2 kernels (of 10 asked for, as many as the time allowed), 1 contradictions.**" in text
    assert "3 launches that were called free of races" in text
    assert "3 witnesses" in text
    assert "| out-of-bounds | 1 |" in text
    assert "| 1 | race-free, but it races |" in text
