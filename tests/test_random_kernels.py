"""What is said of random kernels, from their source text, is true of their executions."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from analyzers.engine import Engine
from analyzers.model import Verdict
from analyzers.reference.agreement import Executions, context_disagreements
from analyzers.requests import CheckRequest
from benchmarks import random_kernels
from benchmarks.generated.compare import PATH, Outcome, compare
from benchmarks.generated.kernels import Sample, sample, text_of
from benchmarks.noted import Notes
from benchmarks.random_kernels import table

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
def test_no_verdict_contradicts_an_execution(batch: int) -> None:
    samples = [sample(seed, STATEMENTS) for seed in range(batch * SIZE, (batch + 1) * SIZE)]
    wrong = {o.seed: o.contradictions for o in compare(engine(), samples) if o.contradictions}
    assert not wrong


def test_a_seed_is_one_kernel() -> None:
    assert sample(3) == sample(3)
    assert len({sample(seed).kernel.replace(f"k{seed}", "k") for seed in range(50)}) == 50


def doctored(one: Sample, drop: Verdict, verdict: Verdict) -> list[str]:
    """What executions say if the findings of one kind are left out."""
    analysis = engine().analyse(CheckRequest(PATH, text_of([one])))
    (kernel,) = analysis.kernels
    executions = Executions(kernel.kernel)
    wrong: list[str] = []
    for given, context in zip(one.launches, kernel.result.contexts, strict=True):
        findings = tuple(f for f in context.findings if f.code is not drop)
        assert findings != context.findings
        wrong += context_disagreements(
            replace(context, findings=findings, verdict=verdict), executions, given.concrete, not one.steered
        )
    return wrong


def first(verdict: Verdict) -> Sample:
    """A kernel of one launch, in which memory steers nothing, with this verdict."""
    for start in range(0, 500, SIZE):
        samples = [sample(seed, STATEMENTS) for seed in range(start, start + SIZE)]
        samples = [s for s in samples if not s.steered and len(s.launches) == 1]
        for one, outcome in zip(samples, compare(engine(), samples), strict=True):
            if outcome.verdict == verdict.value:
                return one
    raise AssertionError(verdict)


def test_a_race_that_is_not_reported_is_a_contradiction() -> None:
    racy = first(Verdict.DATA_RACE)
    assert doctored(racy, Verdict.DATA_RACE, Verdict.POSSIBLE_DATA_RACE)
    assert doctored(racy, Verdict.DATA_RACE, Verdict.RACE_FREE)


def test_a_missed_barrier_that_is_not_reported_is_a_contradiction() -> None:
    divergent = first(Verdict.BARRIER_DIVERGENCE)
    assert doctored(divergent, Verdict.BARRIER_DIVERGENCE, Verdict.RACE_FREE)
    assert doctored(divergent, Verdict.BARRIER_DIVERGENCE, Verdict.POSSIBLE_DATA_RACE)


def test_the_table_counts_what_was_found() -> None:
    outcomes = [
        Outcome(0, "race-free", "clean", (), (), (), 1, 0.1, 0.1),
        Outcome(1, "race-free", "races", ("race-free, but it races",), (), (), 2, 0.1, 0.1),
        Outcome(2, "unknown", "clean", (), ("goto",), (), 1, 0.1, 0.1),
    ]
    text = table(outcomes, 5, {o.seed: "abc" for o in outcomes})
    assert "**3 kernels (of 5 asked for, as many as the time allowed), 1 contradictions.**" in text
    assert "| `race-free` | 1 |  |  | 1 |  | 2 |" in text
    assert "| goto | 1 |" in text
    assert "| 1 | race-free, but it races |" in text
    assert "Judged: seeds 0–2 at abc." in text


def test_a_stopped_run_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[int] = []

    def measured(seeds: list[int], *_: object) -> list[Outcome]:
        ran.extend(seeds)
        return [Outcome(seed, "race-free", "clean", (), ("goto",), (), 1, 0.1, 0.1) for seed in seeds]

    monkeypatch.setattr(random_kernels, "measured", measured)
    monkeypatch.setattr(random_kernels, "HERE", tmp_path)
    notes = tmp_path / "notes.jsonl"
    random_kernels.main(["--count", "3", "--notes", str(notes)])
    kept = notes.read_text()
    notes.write_text(kept[: kept.index('"seed": 2')])
    random_kernels.main(["--count", "5", "--notes", str(notes), "--resume"])
    assert ran == [0, 1, 2, 2, 3, 4]
    assert "| goto | 5 |" in (tmp_path / "random.md").read_text()
    assert sorted(Notes(notes, Outcome).known) == [0, 1, 2, 3, 4]  # a line that was cut spoils no other
