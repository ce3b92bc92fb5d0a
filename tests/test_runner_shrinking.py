"""Runs that do not come to their end: numbers that were made up become smaller, and a fault ends the waiting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from cuda_lsp.cli import main
from cuda_lsp.running.arguments import arguments_for
from gpu_runner.harness import run
from gpu_runner.request import (
    ArrayArgument,
    Part,
    PointersArgument,
    RecordArgument,
    Request,
    RunAccess,
    RunFault,
    RunResult,
    ScalarArgument,
)
from gpu_runner.session import serve
from gpu_runner.shrinking import sized

RECORD = RecordArgument((Part("r.rounds", 0, ScalarArgument(4096, "i32")),))
REQUEST = Request("k", (1, 1, 1), (32, 1, 1), (ScalarArgument(2048), RECORD, ScalarArgument(900)), ("n", "r", "given"))


def tried(answer: Callable[[Request], RunResult], shrinking: tuple[str, ...]) -> tuple[list[Request], RunResult]:
    asked: list[Request] = []

    def once(request: Request, _watch: object) -> RunResult:
        asked.append(request)
        return answer(request)

    request, result = sized(replace(REQUEST, shrinking=shrinking, seconds=36.0), once)
    assert request.arguments == asked[-1].arguments
    assert request.seconds == 36.0
    return asked, result


def numbers(request: Request) -> list[float]:
    first, record, given = request.arguments
    assert isinstance(first, ScalarArgument)
    assert isinstance(record, RecordArgument)
    assert isinstance(given, ScalarArgument)
    inner = record.parts[0].argument
    assert isinstance(inner, ScalarArgument)
    return [first.value, inner.value, given.value]


def test_numbers_shrink_until_a_run_comes_to_its_end() -> None:
    def answer(request: Request) -> RunResult:
        if numbers(request)[0] > 1000:
            raise MemoryError
        return RunResult("time" if numbers(request)[0] > 100 else "finished", ended=numbers(request)[0] <= 100)

    asked, result = tried(answer, ("n", "r.rounds"))
    assert [numbers(one) for one in asked] == [[2048, 4096, 900], [128, 256, 900], [8, 16, 900]]
    assert [one.seconds for one in asked] == pytest.approx([6, 10, 20 / 3])
    assert result.status == "finished"


def test_the_last_attempt_has_the_time_that_is_left_and_numbers_that_are_given_stay() -> None:
    asked, result = tried(lambda _: RunResult("time"), ("n",))
    assert [numbers(one) for one in asked] == [[2048, 4096, 900], [128, 4096, 900], [8, 4096, 900]]
    assert [one.seconds for one in asked] == pytest.approx([6, 10, 20])
    assert result.status == "time"
    asked, _ = tried(lambda _: RunResult("time"), ())
    assert [one.seconds for one in asked] == [36]


def test_numbers_shrink_where_no_array_is_large_enough() -> None:
    access = RunAccess("read", (0, 0, 0), (0, 0, 0), (), "ld")

    def answer(most: int) -> Callable[[Request], RunResult]:
        def judged(request: Request) -> RunResult:
            outside = (RunFault("out-of-bounds", "outside", access, behind=""),)
            return RunResult("finished", faults=outside if numbers(request)[0] > most else (), ended=1)

        return judged

    asked, result = tried(answer(200), ("n",))
    assert [numbers(one)[0] for one in asked] == [2048, 128]
    assert not result.faults
    asked: list[Request] = []

    def never(request: Request, _watch: object) -> RunResult:
        asked.append(request)
        return answer(0)(request)

    request, result = sized(replace(REQUEST, shrinking=("n",)), never)
    assert [numbers(one)[0] for one in asked] == [2048, 128, 8]
    assert numbers(request)[0] == 2048  # smaller ones help as little
    assert result.faults


def test_memory_that_no_smaller_number_helps() -> None:
    def answer(_request: Request) -> RunResult:
        raise MemoryError

    with pytest.raises(MemoryError):
        tried(answer, ("n",))


SLOW = """__global__ void slow(const int *in, int *out, int n) {
  int s = 0;
  for (int a = 0; a < n; a++) for (int b = 0; b < n; b++) for (int c = 0; c < n; c++) s += in[a & 7] ^ c;
  out[threadIdx.x] = s;
}
void go(const int *in, int *out, int n) { slow<<<1, 256>>>(in, out, n); }
"""


def test_the_command_says_which_numbers_it_took(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "slow.cu"
    path.write_text(SLOW)
    told = "n = 16, as 256 is too large for a run"
    assert main.main(["run", f"{path}:slow", "--seeds", "1", "--seconds", "12"]) == 0
    shown = capsys.readouterr()
    assert told in shown.out
    assert "no race seen in 1 run (" in shown.out
    launch = ["--grid", "1", "--block", "256", "--seeds", "1"]
    assert main.main(["run", f"{path}:slow", *launch, "--seconds", "12"]) == 0
    assert f"cuda-lsp: {told}\n" in capsys.readouterr().err
    assert main.main(["run", f"{path}:slow", *launch, "--seconds", "1", "--arg", "n=256"]) == 4
    assert "did not come to its end" in capsys.readouterr().out


WAITING = """extern "C" __global__ void k(int *a, volatile int *flag) {
  if (threadIdx.x == 0) { a[70] = 1; *flag = 1; }
  while (*flag == 0) {}
}"""


def test_nobody_waits_for_a_thread_that_a_fault_has_ended() -> None:
    arguments = (ArrayArgument("i32", 64), ArrayArgument("i32", 1))
    request = Request("k", (1, 1, 1), (64, 1, 1), arguments, ("a", "flag"), WAITING, compiler="nvrtc")
    result = run(replace(request, seconds=60.0))
    assert [fault.text for fault in result.faults] == ["access outside of every array: a[70], which has 64 elements"]
    assert result.status == "time"
    assert result.message == "given up: 63 threads went on waiting after a fault had ended another"
    assert serve(replace(request, growing=("a",))).status == "finished"


def test_arrays_of_many_pointers_fit_into_memory() -> None:
    """One pointer for each thread, and less behind each the more there are."""
    for blocks, behind in ((1, 1024), (60, 17)):
        (pointers,), notes = arguments_for([("rows", "float **")], [], (blocks, 1, 1), (256, 1, 1))
        assert pointers == PointersArgument(256 * blocks, ArrayArgument("f32", behind, "random"))
        assert notes == [f"rows: {256 * blocks} pointers to {behind} elements, random"]
