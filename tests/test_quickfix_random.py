"""Repairs of random kernels, held against executions (`benchmarks.generated.repairs`)."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from generated_kernels import racing_threads

from analyzers.engine import Engine
from analyzers.model import Fix
from analyzers.reference.interpreter import run
from analyzers.requests import CheckRequest
from benchmarks.generated import repairs
from benchmarks.generated.repairs import PATH, judged, kernel_of
from benchmarks.repairs import BATCH, SIZE, Batch, keep, kept, left_to_judge, table
from benchmarks.revisions import revision
from quickfix import answers

BATCHES, PER_BATCH, STATEMENTS = 10, 10, 3


@pytest.mark.parametrize("blocks", [1, 2])
@pytest.mark.parametrize("batch", range(BATCHES))
def test_no_repair_contradicts_an_execution(batch: int, blocks: int) -> None:
    engine, seeds = Engine(), range(batch * PER_BATCH, (batch + 1) * PER_BATCH)
    found = [judged(engine, seed, STATEMENTS, blocks=blocks) for seed in seeds]
    assert not [(j.seed, text) for j in found for text in j.contradictions]


def test_a_barrier_that_the_kernel_had_is_none_too_many() -> None:
    found = judged(Engine(), 3, 4, blocks=2)
    assert "restructure" in found.kinds
    assert not found.contradictions


def test_races_between_the_blocks_are_seen_and_repaired() -> None:
    repaired: set[str] = set()
    for seed in range(60):
        generated = kernel_of(seed, STATEMENTS, blocks=2)
        size = generated.launch.threads_per_block
        racing = racing_threads(run(generated.kernel, generated.launch))
        if any(one // size != two // size for _, one, _, two in racing):
            repaired.update(judged(Engine(), seed, STATEMENTS, blocks=2).kinds)
    assert "use-atomic" in repaired


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


def test_what_exchanges_leave_may_depend_on_the_schedule() -> None:
    seed = 74
    found = [a for a in answers(Engine(), CheckRequest(PATH, kernel_of(seed, SIZE).text)) if isinstance(a, Fix)]
    assert any("any of the values is left" in fix.title for fix in found)
    assert not judged(Engine(), seed, SIZE).contradictions


def test_the_table_counts_what_was_found() -> None:
    one = Batch(3, "a1b2c3d", 30.0, (repairs.Judged(3, ("insert-barrier",), ("it | races",)),))
    two = Batch(4, "a1b2c3d", 30.0, (repairs.Judged(4, (), ()),))
    text = table([one, two], 5)
    assert "Judged: seeds 3–4 at a1b2c3d." in text
    assert "**2 kernels (of 5 asked for, as many as the time allowed), 1 repairs, 1 contradictions**" in text
    assert "| 3 | it ¦ races |" in text


def test_a_batch_cut_short_is_judged_again() -> None:
    def first(count: int) -> dict[int, Batch]:
        return {0: Batch(0, "a1b2c3d", 1.0, tuple(repairs.Judged(seed, (), ()) for seed in range(count)))}

    assert left_to_judge(first(3), 3) == []
    assert left_to_judge(first(3), BATCH) == [0]
    assert left_to_judge(first(BATCH), BATCH + 1) == [BATCH]


def test_a_line_cut_short_costs_no_other(tmp_path: Path) -> None:
    one, two = (Batch(start, "a1b2c3d", 1.0, (repairs.Judged(start, (), ()),)) for start in (0, BATCH))
    file = tmp_path / "repairs.jsonl"
    keep(file, one)
    file.write_bytes(file.read_bytes() + b'{"start": 10, "revi')
    assert kept(file) == {0: one}
    keep(file, two)
    assert kept(file) == {0: one, BATCH: two}


def test_a_changed_tree_is_not_its_commit(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(["git", "-C", str(tmp_path), *arguments], check=True, capture_output=True)

    assert revision(tmp_path) == "unknown"
    git("init", "-q")
    (tmp_path / "a.py").write_text("1")
    git("add", ".")
    git("-c", "user.name=a", "-c", "user.email=a@example", "commit", "-qm", "one")
    clean = revision(tmp_path)
    assert len(clean) >= 4
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "repairs.md").write_text("a table")
    assert revision(tmp_path) == clean
    (tmp_path / "b.py").write_text("2")
    assert revision(tmp_path) == f"{clean} + changes"


def test_no_barrier_is_put_along_for_a_race_that_stays_between_blocks() -> None:
    text = """\
// cuda-lsp: launch grid=(2) block=(64)
__global__ void generated(int *a, int *o) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  o[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x] + a[threadIdx.x + 1];
  a[threadIdx.x] = 1;
}
"""
    found = [a for a in answers(Engine(), CheckRequest(PATH, text)) if isinstance(a, Fix) and a.applies_unasked]
    (fix,) = [fix for fix in found if fix.kind == "insert-barrier"]
    assert len(fix.edits) == 1
    assert fix.edits[0].span.start_line == 5
    assert any("different blocks, too" in note for note in fix.notes)
