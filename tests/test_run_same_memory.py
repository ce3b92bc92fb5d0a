"""Runs of launches that pass the same memory through several parameters."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzers.hostguide.contexts import shared_pointers
from analyzers.ir.context import LaunchContext, PointerArgument
from analyzers.ir.expr import I64, const
from analyzers.model import LaunchSummary
from cuda_lsp.cli import main
from gpu_runner.request import ArrayArgument, Request, SharedArgument, from_json, to_json

pytestmark = pytest.mark.usefixtures("lasting_workers")

SHIFT = "__global__ void shift(float *out, const float *in, int n) {{ {} }}\n"
GUARDED = "int i = blockIdx.x * 64 + threadIdx.x; if (i < n) out[i] = in[i] + 1;"


def confirmed(folder: Path, capsys: pytest.CaptureFixture[str], text: str, *more: str) -> str:
    path = folder / "a.cu"
    path.write_text(text)
    main.main(["run", f"{path}:shift", "--seconds", "20", *more])
    return capsys.readouterr().out


@pytest.mark.parametrize(("first", "second"), [("p + 1", "p"), ("p", "p + 2"), ("p + 3", "p + 2")])
def test_arrays_that_overlap_in_the_launch_do_in_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], first: str, second: str
) -> None:
    host = f"void host(float *p, int n) {{ shift<<<(n + 63) / 64, 64>>>({first}, {second}, n); }}\n"
    said = confirmed(tmp_path, capsys, SHIFT.format(GUARDED) + host)
    assert "\nconfirmed\n" in said
    assert "data race on global" in said


def test_what_the_user_gives_is_an_array_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    host = "void host(float *p, int n) { shift<<<(n + 63) / 64, 64>>>(p + 1, p, n); }\n"
    said = confirmed(tmp_path, capsys, SHIFT.format(GUARDED) + host, "--arg", "in=256")
    assert "\nconfirmed\n" not in said


def test_distances_are_from_the_pointer_in_front() -> None:
    def at(allocation: str | None, offset: int) -> PointerArgument:
        return PointerArgument(allocation, const(offset, I64))

    pointers = (("a", at("x", 8)), ("b", at("x", 0)), ("c", at(None, 0)), ("d", at("y", 4)), ("e", at(None, 0)))
    summary = LaunchSummary("default", None, ("1", "1", "1"), ("64", "1", "1"))
    assert shared_pointers(LaunchContext(summary, pointers=pointers)) == (("a", "b", 8),)


def test_such_an_argument_is_kept_in_a_request() -> None:
    request = Request("k", (1, 1, 1), (64, 1, 1), (ArrayArgument("f32", 8), SharedArgument(0, 4)), ("a", "b"))
    assert from_json(Request, to_json(request)) == request
