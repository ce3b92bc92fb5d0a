"""The check of verdicts against executions: it must object to wrong ones and accept right ones."""

from dataclasses import replace

import pytest

from analyzers.ir import kernel as k
from analyzers.model import Access, ContextResult, Finding, KernelResult, LaunchSummary, Severity, Verdict, Witness
from analyzers.reference.agreement import disagreements
from analyzers.reference.builder import KernelBuilder
from analyzers.reference.launch import ConcreteLaunch

LAUNCH = ConcreteLaunch(block=(8, 1, 1), values={"n": 8})


def shift(barrier: bool) -> k.Kernel:
    b = KernelBuilder()
    s, n = b.shared("s", 65), b.scalar("n")
    with b.if_(b.tid < n):
        b.store(s, b.tid, 1)
    if barrier:
        b.barrier()
    b.load(s, b.tid + 1)
    return b.build()


def result(kernel: k.Kernel, verdict: Verdict, *findings: Finding, **parts: tuple[str, ...]) -> KernelResult:
    summary = LaunchSummary("user", None, ("1", "1", "1"), ("8", "1", "1"))
    context = ContextResult(summary, verdict, findings, assumptions=parts.get("assumptions", ()))
    return KernelResult("kernel", "kernel", kernel.span, kernel.extent, verdict, (context,))


def finding(kernel: k.Kernel, code: Verdict, *events: int, kind: str = "read", n: int = 8) -> Finding:
    accesses = tuple(
        [Access(i, kernel.span, kind, 4, "") for i in events]  # pyright: ignore[reportArgumentType]
    )
    witness = Witness((1, 1, 1), (8, 1, 1), (("n", n),))
    return Finding(code, Severity.ERROR, "", kernel.span, accesses, "", witness=witness)


def test_right_verdicts_are_accepted():
    ordered, racy = shift(barrier=True), shift(barrier=False)
    assert disagreements(result(ordered, Verdict.RACE_FREE), ordered, LAUNCH) == []
    definite = finding(racy, Verdict.DATA_RACE, 2, 1)
    assert disagreements(result(racy, Verdict.DATA_RACE, definite), racy, LAUNCH, every_pair=True) == []
    assert disagreements(result(racy, Verdict.UNKNOWN), racy, LAUNCH) == []


@pytest.mark.parametrize("verdict", [Verdict.RACE_FREE, Verdict.BENIGN_RACE, Verdict.REDUNDANT_BARRIER])
def test_a_race_in_a_kernel_called_free_of_them(verdict: Verdict):
    racy = shift(barrier=False)
    found = disagreements(result(racy, verdict), racy, LAUNCH)
    assert len(found) == 1
    assert found[0].startswith(f"{verdict.value}, but intra-warp race of events (1, 2) on s+4")


def test_a_definite_race_that_does_not_happen():
    ordered, racy = shift(barrier=True), shift(barrier=False)
    claim = finding(ordered, Verdict.DATA_RACE, 1, 3)
    assert "does not happen" in disagreements(result(ordered, Verdict.DATA_RACE, claim), ordered, LAUNCH)[0]
    elsewhere = finding(racy, Verdict.DATA_RACE, 1, 2, n=0)
    assert "'n': 0" in disagreements(result(racy, Verdict.DATA_RACE, elsewhere), racy, LAUNCH)[0]


def parted() -> k.Kernel:
    """Threads that find little in their cells wait where the others do not come, and what is behind races."""
    b = KernelBuilder()
    s, n = b.shared("s", 65), b.scalar("n")
    b.store(s, b.tid, b.tid)
    v = b.load(s, b.tid)
    with b.if_(v < n):
        b.barrier()
    with b.if_(b.tid < 2):
        b.store(s, b.tid, 1)
        b.load(s, b.tid + 1)
    return b.build()


def test_what_is_behind_a_missed_barrier_need_not_happen():
    kernel = parted()
    race = finding(kernel, Verdict.DATA_RACE, 4, 5, n=1)
    missed = finding(kernel, Verdict.BARRIER_DIVERGENCE, 3, kind="barrier", n=1)
    assert disagreements(result(kernel, Verdict.DATA_RACE, race, missed), kernel, LAUNCH) == []
    together = finding(kernel, Verdict.DATA_RACE, 1, 2, n=8)
    assert "does not happen" in disagreements(result(kernel, Verdict.DATA_RACE, together, missed), kernel, LAUNCH)[0]


def test_a_race_that_needs_data_is_not_definite():
    b = KernelBuilder()
    a = b.global_("a")
    b.store(a, b.load(a, b.tid) + 8, 1)
    kernel = b.build()
    claim = finding(kernel, Verdict.DATA_RACE, 1, 1)
    assert "executions" in disagreements(result(kernel, Verdict.DATA_RACE, claim), kernel, LAUNCH)[0]
    possible = finding(kernel, Verdict.POSSIBLE_DATA_RACE, 1, 1)
    assert disagreements(result(kernel, Verdict.POSSIBLE_DATA_RACE, possible), kernel, LAUNCH) == []


def test_a_race_without_a_finding_of_its_own():
    b = KernelBuilder()
    s = b.shared("s", 8)
    b.store(s, 0, b.tid)
    b.store(s, 1, b.tid)
    kernel = b.build()
    half = result(kernel, Verdict.DATA_RACE, finding(kernel, Verdict.DATA_RACE, 1, 1))
    assert disagreements(half, kernel, LAUNCH) == []
    assert "no finding for intra-warp race of events (2, 2)" in disagreements(half, kernel, LAUNCH, every_pair=True)[0]


def test_a_missed_barrier():
    b = KernelBuilder()
    with b.if_(b.tid < 3):
        barrier = b.barrier()
    kernel = b.build()
    assert "is missed by thread" in disagreements(result(kernel, Verdict.RACE_FREE), kernel, LAUNCH)[0]
    claim = finding(kernel, Verdict.BARRIER_DIVERGENCE, barrier, kind="barrier")
    assert disagreements(result(kernel, Verdict.BARRIER_DIVERGENCE, claim), kernel, LAUNCH) == []
    wrong = finding(kernel, Verdict.BARRIER_DIVERGENCE, 99, kind="barrier")
    assert disagreements(result(kernel, Verdict.BARRIER_DIVERGENCE, wrong), kernel, LAUNCH) != []


def test_an_assertion_that_does_not_fail_and_one_that_does():
    b = KernelBuilder()
    b.assume(b.tid < b.scalar("n"), "assert")
    kernel = b.build()
    claim = finding(kernel, Verdict.ASSERTION_FAILURE, -1, kind="assertion")
    assumed = ("device assertions hold",)
    fails, holds = replace(LAUNCH, values={"n": 7}), LAUNCH
    right = result(kernel, Verdict.ASSERTION_FAILURE, replace(claim, witness=None), assumptions=assumed)
    assert disagreements(right, kernel, fails) == []
    assert "does not happen" in disagreements(result(kernel, Verdict.ASSERTION_FAILURE, claim), kernel, holds)[0]
    assert "are not assumed to hold" in disagreements(result(kernel, Verdict.RACE_FREE), kernel, fails)[0]


def test_a_needed_barrier_called_redundant():
    kernel = shift(barrier=True)
    claim = finding(kernel, Verdict.REDUNDANT_BARRIER, 2, kind="barrier")
    found = disagreements(result(kernel, Verdict.REDUNDANT_BARRIER, claim), kernel, LAUNCH)
    assert "barrier 2 is called redundant" in found[0]


def test_overflow_that_is_assumed_away():
    b = KernelBuilder()
    a, n = b.global_("a"), b.scalar("n")
    b.store(a, (b.tid * n) * n, 1)
    kernel, launch = b.build(), ConcreteLaunch(block=(8, 1, 1), values={"n": 65536})
    assert disagreements(result(kernel, Verdict.RACE_FREE), kernel, launch) != []
    lenient = result(kernel, Verdict.RACE_FREE, assumptions=("signed arithmetic does not overflow",))
    assert disagreements(lenient, kernel, launch) == []
