"""Masks that do not name the lane which comes: how sure that is, and with which values (tests/corpus has who)."""

from __future__ import annotations

import pytest
from expectations import check

from analyzers.model import CheckOptions, Finding, Severity, Verdict

LAUNCH = "// cuda-lsp: launch grid=(1) block=(64) n=12\n"
KERNEL = "__global__ void k(const int *in, int *out, int n) {\n  int t = threadIdx.x, v = 0;\n  %s\n  out[t] = v;\n}\n"
SHUFFLE = "v = __shfl_sync(0xff, t, 0);"


def found(text: str, options: CheckOptions | None = None) -> Finding:
    (kernel,) = check(text, options=options).unit.kernels
    (finding,) = [f for c in kernel.contexts for f in c.findings if f.code is Verdict.LANE_NOT_IN_MASK]
    return finding


@pytest.mark.parametrize(
    ("body", "thread"),
    [
        (SHUFFLE, (8, 0, 0)),
        (f"if (t < n) {SHUFFLE}", (8, 0, 0)),
        (f"if (t >= 40 && in[blockIdx.x] < 3) {SHUFFLE}", (40, 0, 0)),
        ("if (t < n) __syncwarp(0xfff & ~(1u << 5));", (5, 0, 0)),
    ],
)
def test_what_the_launch_fixes_is_an_error(body: str, thread: tuple[int, int, int]) -> None:
    finding = found(LAUNCH + KERNEL % body)
    assert finding.severity is Severity.ERROR
    (access,) = finding.accesses
    assert access.thread == thread
    assert f"its lane, {thread[0] % 32}" in finding.message
    assert ", with " not in finding.message


def test_what_nobody_executed_is_a_warning() -> None:
    finding = found(LAUNCH + KERNEL % SHUFFLE, CheckOptions(replays=False))
    assert finding.severity is Severity.WARNING
    assert finding.witness is not None
    assert not finding.witness.replayed
    # The thread does not come where memory holds zeros.
    assert found(LAUNCH + KERNEL % f"if (in[0] > 3) {SHUFFLE}").severity is Severity.WARNING


def test_what_depends_on_open_values_is_a_warning_that_names_them() -> None:
    finding = found(KERNEL % f"if (t < n) {SHUFFLE}" + "void go(int *a, int n) { k<<<2, 64>>>(a, a, n); }\n")
    assert finding.severity is Severity.WARNING
    assert "its lane, 8, with n = " in finding.message
    finding = found(KERNEL % f"if (t % 32 < 12) {SHUFFLE}")
    assert finding.severity is Severity.WARNING
    assert any("No launch of this kernel is in sight" in remark.text for remark in finding.explanation)


def test_how_often_lanes_come_is_no_open_value() -> None:
    body = f"for (int i = 0; i < n; i++) {SHUFFLE}"
    finding = found(KERNEL % body + "void go(int *a, int n) { k<<<2, 64>>>(a, a, n); }\n")
    assert finding.severity is Severity.ERROR


def test_a_search_that_ran_out_says_nothing() -> None:
    text = LAUNCH + KERNEL % f"if (t < n) {SHUFFLE}"
    (kernel,) = check(text, options=CheckOptions(kernel_effort=0)).unit.kernels
    assert not [f for c in kernel.contexts for f in c.findings]


def test_behind_such_a_mask_no_barrier_is_called_redundant() -> None:
    text = LAUNCH + KERNEL % f"__syncthreads(); {SHUFFLE}"
    (kernel,) = check(text).unit.kernels
    assert kernel.verdict is Verdict.LANE_NOT_IN_MASK
    assert {f.code for c in kernel.contexts for f in c.findings} == {Verdict.LANE_NOT_IN_MASK}
    (kernel,) = check(text.replace("0xff,", "0xffffffff,")).unit.kernels
    assert kernel.verdict is Verdict.REDUNDANT_BARRIER
