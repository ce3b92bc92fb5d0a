"""`cuda-lsp explain` on the real analysis, and `serve` handing over to the server."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from cuda_lsp.cli.exit_codes import CLEAN, NOT_ANALYSED, USAGE
from cuda_lsp.cli.explain import PASSES
from cuda_lsp.cli.main import main

SOURCE = """// cuda-lsp: launch grid=(1) block=(64)
__global__ void shift(int *out) {
  __shared__ int s[65];
  s[threadIdx.x] = 1;
  out[threadIdx.x] = s[threadIdx.x + 1];
}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "shift.cu"
    path.write_text(SOURCE)
    return path


@pytest.mark.parametrize("stage", PASSES)
def test_every_stage_is_printed(file: Path, stage: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", f"{file}:shift", "--pass", stage]) == CLEAN
    captured = capsys.readouterr()
    assert "s" in captured.out
    assert captured.out.endswith("\n")
    assert captured.err == ""


def test_events_are_shown_as_they_are_written(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", f"{file}:shift", "--pass", "events"]) == CLEAN
    assert re.search(r"line \d+ +(read|write) `\w+\[.*?\]` at &", capsys.readouterr().out)


def test_an_unknown_kernel_is_a_mistake(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", f"{file}:other", "--pass", "ir"]) == USAGE
    assert "shift" in capsys.readouterr().err


def test_a_missing_file_cannot_be_analysed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", f"{tmp_path / 'gone.cu'}:k", "--pass", "ir"]) == NOT_ANALYSED
    assert "cannot be read" in capsys.readouterr().err


def test_check_without_a_stand_in_gives_a_verdict(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(file), "--launch", "grid=1,block=1"]) == CLEAN
    assert "1 race-free" in capsys.readouterr().out


def test_serve_ends_when_its_input_does() -> None:
    command = [sys.executable, "-m", "cuda_lsp", "serve"]
    run = subprocess.run(command, input=b"", capture_output=True, check=False, timeout=60)
    assert run.stdout == b""
    assert run.returncode == 1
