"""The reading of expectations and their comparison with results, on results built by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pytest
from expectations import Found, cases, disagreements, found_in

from analyzers.model import (
    Access,
    ContextResult,
    FactNote,
    Finding,
    KernelResult,
    LaunchSummary,
    Reason,
    Severity,
    SourceSpan,
    UnitResult,
    Verdict,
)

KERNEL_LINE = 1
Scope = Literal["intra-warp", "intra-block", "inter-block"]


def span(line: int) -> SourceSpan:
    return SourceSpan("/unit.cu", line, 1, line, 2, 0, 1)


def race(first: int, second: int, code: Verdict = Verdict.DATA_RACE, scope: Scope = "intra-block") -> Finding:
    accesses = (Access(1, span(second), "read", 4, "s[t + 1]"), Access(2, span(first), "write", 4, "s[t]"))
    return Finding(code, Severity.ERROR, "two threads meet", span(first), accesses, "g", scope=scope)


def barrier(line: int, code: Verdict = Verdict.BARRIER_DIVERGENCE) -> Finding:
    return Finding(code, Severity.ERROR, "not reached", span(line), (Access(1, span(line), "barrier", 0, ""),), "b")


def kernels(*findings: Finding, reasons: tuple[str, ...] = (), facts: tuple[int, ...] = ()) -> dict[int, Found]:
    verdict = min((f.code for f in findings), key=lambda v: v.rank, default=Verdict.RACE_FREE)
    if reasons and Verdict.UNKNOWN.rank < verdict.rank:
        verdict = Verdict.UNKNOWN
    context = ContextResult(
        LaunchSummary("launch", None, ("1", "1", "1"), ("64", "1", "1")),
        verdict,
        findings,
        tuple(Reason(kind, "because", None) for kind in reasons),
        facts=tuple(FactNote("n > 0", span(line), "assert") for line in facts),
    )
    kernel = KernelResult("k", "_Zk", span(KERNEL_LINE), span(KERNEL_LINE), verdict, (context,))
    return found_in(UnitResult("/unit.cu", 80, (kernel,)))


def wrong(source: str, table: dict[int, Found]) -> list[str]:
    (case,) = cases(source)
    return disagreements(case, table)


RACY = "__global__ void k(int *s) {\n  s[0] = 1;  // expect: data-race intra-block with +1\n  s[1] = 2;\n}\n"
CLEAN = "__global__ void k(int *s) {  // expect: race-free\n}\n"


def test_the_expected_race_is_accepted() -> None:
    assert wrong(RACY, kernels(race(2, 3))) == []


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (kernels(), "missing data-race on line 2 with line 3"),
        (kernels(race(2, 2)), "unexpected data-race on line 2 with line 2"),
        (kernels(race(2, 3), race(3, 3)), "unexpected data-race on line 3"),
        (kernels(race(2, 3, Verdict.POSSIBLE_DATA_RACE)), "missing data-race"),
        (kernels(race(2, 3, scope="inter-block")), "is inter-block, not intra-block"),
        (kernels(race(2, 3), reasons=("smt-budget",)), "unexpected unknown"),
        ({}, "was not seen"),
    ],
)
def test_anything_else_is_not(table: dict[int, Found], message: str) -> None:
    assert message in "\n".join(wrong(RACY, table))


def test_a_race_in_one_warp_is_one_in_the_block() -> None:
    assert wrong(RACY, kernels(race(2, 3, scope="intra-warp"))) == []
    assert wrong(RACY.replace("intra-block", "intra-warp"), kernels(race(2, 3))) != []


def test_race_free_means_free_of_all_findings_and_doubts() -> None:
    assert wrong(CLEAN, kernels()) == []
    assert wrong(CLEAN, kernels(barrier(1, Verdict.REDUNDANT_BARRIER))) != []
    assert wrong(CLEAN, kernels(reasons=("asm",))) != []


def test_a_barrier_is_named_by_its_line() -> None:
    source = "__global__ void k(int *s) {\n  __syncthreads();  // expect: barrier-divergence\n}\n"
    assert wrong(source, kernels(barrier(2))) == []
    assert wrong(source, kernels(barrier(2, Verdict.BARRIER_AFTER_EXIT))) != []


def test_unknown_has_to_give_the_reason() -> None:
    source = "__global__ void k(int *s) {  // expect: unknown(asm)\n}\n"
    assert wrong(source, kernels(reasons=("asm",))) == []
    assert wrong(source, kernels(reasons=("recursion",))) != []
    assert wrong(source, kernels()) != []


def test_a_proof_has_to_cite_the_fact() -> None:
    source = CLEAN.replace("race-free", "race-free, cites +6")
    assert wrong(source, kernels(facts=(7,))) == []
    assert "is not cited" in wrong(source, kernels(facts=(6,)))[0]


def test_a_limitation_is_asserted_until_it_is_gone() -> None:
    source = "// today: unknown(goto) because jumps are not followed\n" + CLEAN
    table = kernels(reasons=("goto",))
    moved = {2: table[KERNEL_LINE]}
    assert wrong(source, moved) == []
    assert "limitation is gone" in wrong(source, {2: kernels()[KERNEL_LINE]})[0]
    assert wrong(source, {2: kernels(reasons=("asm",))[KERNEL_LINE]}) != []


def test_all_instances_of_a_template_count() -> None:
    unit = UnitResult("/unit.cu", 80, tuple(_instances()))
    assert wrong(RACY, found_in(unit)) == []


def _instances() -> list[KernelResult]:
    clean = ContextResult(LaunchSummary("launch", None, ("1", "1", "1"), ("64", "1", "1")), Verdict.RACE_FREE)
    racy = replace(clean, verdict=Verdict.DATA_RACE, findings=(race(2, 3),))
    return [
        KernelResult(f"k<{n}>", f"_Zk{n}", span(KERNEL_LINE), span(KERNEL_LINE), context.verdict, (context,))
        for n, context in enumerate((clean, racy))
    ]
