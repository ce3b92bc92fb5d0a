"""Repairs of random kernels, held against executions (`benchmarks.generated.repairs`)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from analyzers.engine import Engine
from analyzers.model import Fix
from analyzers.requests import CheckRequest
from benchmarks.generated import repairs
from benchmarks.generated.repairs import PATH, judged, kernel_of
from benchmarks.repairs import Batch, table
from quickfix import answers

BATCHES, PER_BATCH, STATEMENTS = 10, 10, 3


@pytest.mark.parametrize("batch", range(BATCHES))
def test_no_repair_contradicts_an_execution(batch: int) -> None:
    engine = Engine()
    found = [judged(engine, seed, STATEMENTS) for seed in range(batch * PER_BATCH, (batch + 1) * PER_BATCH)]
    assert not [(j.seed, text) for j in found for text in j.contradictions]


def first_with(kind: str) -> tuple[int, Fix]:
    for seed in range(200):
        fixes = answers(Engine(), CheckRequest(PATH, kernel_of(seed, STATEMENTS).text))
        fix = next((f for f in fixes if isinstance(f, Fix) and f.kind == kind), None)
        if fix is not None:
            return seed, fix
    raise AssertionError(kind)


def test_a_barrier_too_many_is_a_contradiction(monkeypatch: pytest.MonkeyPatch) -> None:
    seed, fix = first_with("insert-barrier")
    doubled = tuple(replace(e, new_text=repairs.BARRIER.sub(r"\g<0>\g<0>", e.new_text)) for e in fix.edits)
    monkeypatch.setattr(repairs, "answers", lambda *_: iter([replace(fix, edits=doubled)]))
    assert any("no race comes back" in text for text in judged(Engine(), seed, STATEMENTS).contradictions)


def test_an_access_too_many_is_a_contradiction(monkeypatch: pytest.MonkeyPatch) -> None:
    seed, fix = first_with("insert-barrier")
    text = kernel_of(seed, STATEMENTS).text
    name = text.split("generated(")[1].split("*")[1].split(",")[0].split(")")[0].strip()
    more = tuple(replace(e, new_text=repairs.BARRIER.sub(rf"\g<0> {name}[0] = 1;", e.new_text)) for e in fix.edits)
    monkeypatch.setattr(repairs, "answers", lambda *_: iter([replace(fix, edits=more)]))
    assert any("other accesses" in text for text in judged(Engine(), seed, STATEMENTS).contradictions)


def test_the_table_counts_what_was_found() -> None:
    one = Batch(3, "a1b2c3d", 30.0, (repairs.Judged(3, ("insert-barrier",), ("it | races",)),))
    two = Batch(4, "a1b2c3d", 30.0, (repairs.Judged(4, (), ()),))
    text = table([one, two], 5)
    assert "Judged: seeds 3–4 at a1b2c3d." in text
    assert "**2 kernels (of 5 asked for, as many as the time allowed), 1 repairs, 1 contradictions**" in text
    assert "| 3 | it ¦ races |" in text
