"""What is said of random kernels, from their source text, is true of runs of what a CUDA compiler makes of it."""

from __future__ import annotations

import json
from collections.abc import Generator
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from analyzers.engine import Engine
from analyzers.model import Verdict
from benchmarks import differential
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


def test_what_comes_behind_a_missed_barrier_need_not_be_seen_to_race() -> None:
    """One thread waits where the others do not come: what it does then is after all that they did until they ended."""
    (outcome,) = compare_runs(engine(), [sample(528, 12)])
    assert (outcome.contradictions, outcome.witnesses) == ([], 0)
    assert "a barrier that threads are said to miss" in outcome.not_run


def test_the_table_counts_what_was_run() -> None:
    outcomes = [
        RunOutcome(0, [], 2, 0, [], 0.5, 0.5),
        RunOutcome(1, ["race-free, but it races"], 1, 3, ["out-of-bounds"], 0.5, 1.5),
    ]
    text = table(outcomes, 10, ("abc", "def"))
    assert "of the revisions abc, def" in text
    assert "**2 kernels (of 10 asked for, as many as the time allowed), 1 contradictions.**" in text
    assert "3 launches that were called free of races" in text
    assert "3 witnesses" in text
    assert "| out-of-bounds | 1 |" in text
    assert "| 1 | race-free, but it races |" in text


def test_what_is_noted_is_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A benchmark that was interrupted, in the middle of a line even, goes on where it stopped."""
    ran: list[int] = []

    def measured(seeds: list[int], *_: object) -> list[RunOutcome]:
        ran.extend(seeds)
        return [RunOutcome(seed, [], 1, 0, [], 0.5, 0.5) for seed in seeds]

    monkeypatch.setattr(differential, "measured", measured)
    monkeypatch.setattr(differential, "HERE", tmp_path)
    notes = tmp_path / "notes.jsonl"
    differential.main(["--count", "4", "--notes", str(notes)])
    kept = notes.read_text()
    assert [json.loads(line)["outcome"]["seed"] for line in kept.splitlines()] == [0, 1, 2, 3]
    notes.write_text(kept[: kept.index('"seed": 2')] + "\n")
    ran.clear()
    differential.main(["--first", "1", "--count", "6", "--notes", str(notes), "--resume"])
    assert ran == [2, 3, 4, 5]
    assert "**6 kernels, 0 contradictions.**" in (tmp_path / "differential.md").read_text()
    ran.clear()
    differential.main(["--count", "3", "--most", "5", "--notes", str(notes), "--resume"])
    assert ran == [0, 1, 2]  # kernels of another size have other texts
