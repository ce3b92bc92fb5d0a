"""The corpus of kernels: what each source says about itself is what the analysis finds."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from expectations import (
    Checked,
    ExpectationError,
    cases,
    check,
    disagreements,
    fix_disagreements,
    found_in,
    unseen,
)

from analyzers.model import CheckOptions

WITH_WRAP_AROUND = "// check with: wrap-around"
"""First line of a source that is checked with this setting."""

CORPUS = Path(__file__).parent / "corpus"
PROGRAMS = CORPUS / "programs"
"""Each folder in it is one program of several files."""
FILES = sorted(CORPUS.rglob("*.cu"))


def _name(path: Path) -> str:
    return f"{path.parent.name}-{path.stem}" if path.is_relative_to(PROGRAMS) else path.stem


def _check(path: Path) -> Checked:
    folder = str(path.parent) if path.is_relative_to(PROGRAMS) else ""
    text = path.read_text(encoding="utf-8")
    options = CheckOptions(wrap_around=text.startswith(WITH_WRAP_AROUND))
    return check(text, str(path), options, folder=folder)


@pytest.mark.parametrize("path", FILES, ids=_name)
def test_findings_and_repairs(path: Path) -> None:
    """One test, for one process to check the file once."""
    checked = _check(path)
    kernels = found_in(checked.unit)
    known = cases(path.read_text(encoding="utf-8"))
    wrong = [text for case in known for text in disagreements(case, kernels)]
    wrong += [f"{kernel.name} (line {kernel.span.line}) has no expectation" for kernel in unseen(known, checked.unit)]
    wrong += [text for case in known for text in fix_disagreements(case, checked, kernels)]
    assert not wrong, "\n".join(wrong)


def test_the_corpus_is_large_and_has_as_many_traps_as_races() -> None:
    """Race-free kernels that look as if they were not, and the racy ones that a proof of those must not take in."""
    known = [case for path in FILES for case in cases(path.read_text(encoding="utf-8"))]
    traps = sum(case.is_race_free for case in known)
    assert len(known) >= 450
    assert 0.4 * len(known) <= traps <= 0.6 * len(known)


def test_names_are_unique_within_a_file() -> None:
    for path in FILES:
        counts = Counter(case.name for case in cases(path.read_text(encoding="utf-8")))
        assert [name for name, count in counts.items() if count > 1] == [], path.name


GOOD = """
// cuda-lsp: launch grid=(1) block=(64)
__global__ void shift(int *a) {
  int t = threadIdx.x;
  a[t] = t;  // expect: data-race intra-block with +1, fix: yes
  a[t + 1] = 0;
}
"""


def test_a_pair_is_named_by_its_lines() -> None:
    (case,) = cases(GOOD)
    assert (case.name, case.first_line, case.last_line) == ("shift", 3, 7)
    (expected,) = case.expected
    assert (expected.verdict.value, expected.line, expected.other) == ("data-race", 5, 6)
    assert (expected.scope, expected.fix) == ("intra-block", True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("int host;\n", "no kernel"),
        ("__global__ void k(int *a) {\n  a[0] = 1;\n}\n", "has no expectation"),
        ("__global__ void k(int *a) {  // expect: data-rice with self\n}\n", "no verdict"),
        ("__global__ void k(int *a) {  // expect: data-race\n}\n", "`with` belongs to races"),
        ("__global__ void k(int *a) {  // expect: barrier-divergence with +1\n}\n", "`with` belongs to races"),
        ("__global__ void k(int *a) {  // expect: race-free, maybe\n}\n", "cannot read"),
        (
            "__global__ void k(int *a) {  // expect: race-free\n}\n// today: race-free because of the moon\n",
            "behind the last",
        ),
        ("// today: race-free\n__global__ void k(int *a) {  // expect: race-free\n}\n", "without a reason"),
    ],
)
def test_what_cannot_be_read_is_an_error(text: str, message: str) -> None:
    with pytest.raises(ExpectationError, match=message):
        cases(text)


def test_declarations_and_macros_are_no_kernels() -> None:
    text = "__global__ void later(int *a);\n#define K __global__ void m(int *a) {}\n" + GOOD
    assert [case.name for case in cases(text)] == ["shift"]
