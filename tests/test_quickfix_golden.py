"""Repairs of whole files against golden diffs in `tests/golden`.

Each `NAME.cu` is repaired as a whole; `NAME.diff` holds the title, the cost and the edit. The edited text must be free
of findings, and taking the edits back must give the old text. `CUDA_LSP_UPDATE_GOLDEN=1` writes the diffs anew.
"""

from __future__ import annotations

import difflib
import os
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from edited import applied

from analyzers.engine import Engine
from analyzers.model import Fix, FixRefusal, TextEdit, UnitResult, Verdict
from analyzers.requests import CheckRequest, UnitFinished, never
from quickfix import answers, fix_all, fix_for, hoisted, offers, remove_redundant

GOLDEN = Path(__file__).parent / "golden"
FILES = sorted(GOLDEN.glob("*.cu"))
UPDATE = os.environ.get("CUDA_LSP_UPDATE_GOLDEN") == "1"


@cache
def engine() -> Engine:
    return Engine()


def request(path: Path) -> CheckRequest:
    return CheckRequest(str(path), path.read_bytes().decode())


def result(of: CheckRequest) -> UnitResult:
    for event in engine().check(of):
        if isinstance(event, UnitFinished):
            return event.result
    raise AssertionError("no result")


def undone(before: str, after: str, edits: tuple[TextEdit, ...]) -> str:
    """The edited text with every edit taken back by its position alone."""
    old, new = before.encode(), after.encode()
    shift = 0
    ranges: list[tuple[int, int, bytes]] = []
    for edit in sorted(edits, key=lambda e: e.span.start_offset):
        start, end = edit.span.start_offset, edit.span.end_offset
        written = len(edit.new_text.encode())
        ranges.append((start + shift, start + shift + written, old[start:end]))
        shift += written - (end - start)
    for start, end, text in reversed(ranges):
        new = new[:start] + text + new[end:]
    return new.decode()


def shown(path: Path, fix: Fix, after: str) -> str:
    before = path.read_bytes().decode()
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=1)
    head = [f"title: {fix.title}", f"kind:  {fix.kind}", f"cost:  {fix.cost}", *(f"note:  {n}" for n in fix.notes)]
    return "\n".join([*head, *list(lines)[2:], ""])


def repair(path: Path) -> Fix:
    if path.stem.startswith("host"):
        (group,) = {f.group for k in result(request(path)).kernels for c in k.contexts for f in c.findings}
        fix = fix_for(engine(), request(path), group)
    elif path.stem.startswith(("kept", "assuming")):
        found = [f for k in result(request(path)).kernels for c in k.contexts for f in c.findings]
        group = next(f.group for f in found if f.code.value.startswith("barrier"))
        fix = fix_for(engine(), request(path), group)
    elif path.stem.startswith("choice"):
        fix = next(a for a in offers(engine(), request(path), result(request(path))) if not a.preferred)
    elif path.stem.startswith("hoist"):
        (fix,) = hoisted(engine(), request(path), result(request(path)), never)
    else:
        make = remove_redundant if path.stem.startswith("redundant") else fix_all
        fix = make(engine(), request(path))
    assert isinstance(fix, Fix), fix.text
    return fix


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_golden(path: Path):
    fix = repair(path)
    of = request(path)
    after = applied(of.text, fix.edits)
    text = shown(path, fix, after)
    golden = path.with_suffix(".diff")
    if UPDATE:
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")
    assert undone(of.text, after, fix.edits) == of.text
    spans = [e.span for e in fix.edits]
    assert all(a.end_offset <= b.start_offset for a, b in pairwise(spans))
    checked = result(CheckRequest(of.path, after))
    assert not checked.syntax
    left = {f.code for k in checked.kernels for c in k.contexts for f in c.findings}
    # Barriers that are kept for all threads may have been needless before.
    needless = {Verdict.REDUNDANT_BARRIER} if path.stem.startswith("kept") else set[Verdict]()
    assert left <= {Verdict.BARRIER_AFTER_EXIT} | needless, left
    assert all(k.verdict in {Verdict.RACE_FREE, Verdict.BARRIER_AFTER_EXIT} | needless for k in checked.kernels)


def test_each_file_has_a_diff():
    assert {p.stem for p in FILES} == {p.stem for p in GOLDEN.glob("*.diff")}


SEVERAL = ["template", "two_races_one_barrier", "divergent", "redundant_pair", "device_function"]


@pytest.mark.parametrize("stem", SEVERAL)
def test_offers_cover_each_group_once(stem: str):
    of = request(GOLDEN / f"{stem}.cu")
    unit = result(of)
    groups = {f.group for k in unit.kernels for c in k.contexts for f in c.findings}
    found = list(offers(engine(), of, unit))
    assert {g for f in found for g in f.groups} == groups
    for group in groups:
        fix = fix_for(engine(), of, group)
        assert isinstance(fix, Fix)
        assert group in fix.groups


def test_what_has_no_repair_says_why():
    text = """
    __global__ void k(int *out) {
      __shared__ int s[65];
      s[threadIdx.x] = 1;
      out[threadIdx.x] = s[threadIdx.x + 1];
    }
    __global__ void lost(int *sum) { *sum = threadIdx.x; }
    __global__ void total(int *sum) { if (threadIdx.x == 0) sum[0] = blockIdx.x; }
    void run(int *p) { k<<<1, 64>>>(p); lost<<<1, 64>>>(p); total<<<2, 64>>>(p); }
    """
    of = CheckRequest("/answers/a.cu", text)
    unit = result(of)
    found = list(answers(engine(), of, unit))
    fix, *choices = (a for a in found if isinstance(a, Fix))
    assert {c.kind for c in choices} <= {"use-atomic", "restructure"}
    assert not any(c.preferred for c in choices)
    reasons = {a.group.split(":")[2].split("+")[0]: a.text for a in found if isinstance(a, FixRefusal)}
    assert "one execution" in reasons["lost"]
    assert "ifferent blocks" in reasons["total"]
    groups = {f.group for k in unit.kernels for c in k.contexts for f in c.findings}
    assert {*fix.groups, *(a.group for a in found if isinstance(a, FixRefusal))} == groups


def test_a_title_names_both_accesses_of_one_expression():
    of = request(GOLDEN / "braceless.cu")
    titles = [fix.title for fix in offers(engine(), of, result(of))]
    assert any("orders the writes of a[(t + k) % 64] in different iterations" in title for title in titles), titles
