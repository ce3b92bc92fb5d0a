"""What happens between a click and a run: no more is loaded and decided than the run needs, and side by side."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from analyzers.explain import launchable
from analyzers.model import Verdict
from analyzers.requests import CheckRequest
from cuda_lsp.running import plan
from gpu_runner import harness
from gpu_runner.request import ArrayArgument, Request

REQUEST = Request(
    "k", (1, 1, 1), (32, 1, 1), (ArrayArgument("i32", 32),), ("a",),
    'extern "C" __global__ void k(int *a) { a[threadIdx.x] = a[threadIdx.x ^ 1]; }', compiler="nvrtc", seeds=(0,),
)  # fmt: skip


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """The processes that are started for runs."""
    found: list[subprocess.Popen[bytes]] = []
    start = harness._started  # pyright: ignore[reportPrivateUsage]

    def noted() -> subprocess.Popen[bytes]:
        found.append(start())
        return found[-1]

    monkeypatch.setattr(harness, "_started", noted)
    return found


def test_the_process_of_a_run_is_there_before_it_is_known_what_is_run(started: list[subprocess.Popen[bytes]]) -> None:
    with harness.begun():
        assert len(started) == 1
        assert len(harness.run(REQUEST).races) == 1
        assert len(started) == 1
        assert len(harness.run(REQUEST).races) == 1
        assert len(started) == 2
    assert [process.returncode for process in started] == [0, 0]


def test_a_process_that_is_not_needed_or_has_died_is_no_trouble(started: list[subprocess.Popen[bytes]]) -> None:
    with harness.begun():
        pass
    assert started[0].returncode is not None
    with harness.begun():
        started[1].kill()
        started[1].wait()
        assert harness.run(REQUEST).status == "finished"
    assert len(started) == 3
    assert started[1].stdout is not None
    assert started[1].stdout.closed


def test_nothing_is_imported_from_the_folder_that_a_run_is_started_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "numpy.py").write_text("raise ImportError('not this one')\n")
    monkeypatch.chdir(tmp_path)
    assert harness.run(REQUEST).status == "finished"


def test_a_process_that_gets_no_request_ends_without_an_answer() -> None:
    ended = subprocess.run([sys.executable, "-m", "gpu_runner.worker"], input=b"", capture_output=True, check=True)
    assert ended.stdout == ended.stderr == b""


def test_the_command_loads_neither_numbers_nor_an_event_loop() -> None:
    told = "import sys, cuda_lsp.cli.run; print(*sorted({'numpy', 'asyncio', 'llvmlite', 'z3'} & set(sys.modules)))"
    printed = subprocess.run([sys.executable, "-c", told], capture_output=True, check=True, text=True).stdout
    assert printed.split() == []


def test_barriers_that_order_nothing_are_not_looked_for_and_with_given_inputs_nothing_is() -> None:
    text = """
    __global__ void racy(int *a) { a[threadIdx.x] = a[threadIdx.x ^ 1]; }
    __global__ void needless(int *a) { __syncthreads(); a[threadIdx.x] = 1; }
    void go(int *a) { racy<<<1, 64>>>(a); needless<<<1, 64>>>(a); }"""
    request = CheckRequest("/project/k.cu", text)
    for name, code in (("racy", Verdict.DATA_RACE), ("needless", Verdict.REDUNDANT_BARRIER)):
        whole = launchable(request, name)
        for_findings = launchable(plan.check_for_runs(request, of_findings=True), name)
        given = launchable(plan.check_for_runs(request, of_findings=False), name)
        assert {f.code for f in whole.findings} == {code}
        assert for_findings.findings == (whole.findings if code is Verdict.DATA_RACE else ())
        assert given.findings == ()
        assert (given.text, given.launches, given.parameters) == (whole.text, whole.launches, whole.parameters)
