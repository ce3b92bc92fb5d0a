"""What the command line accepts, and that everything else is a usage error."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuda_lsp import __version__
from cuda_lsp.cli import explain
from cuda_lsp.cli.exit_codes import USAGE, UsageError
from cuda_lsp.cli.main import main

FAKE = "lsp.fake_engine:create"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["chek", "a.cu"],
        ["check", "a.cu", "--format", "xml"],
        ["check", "a.cu", "--jobs", "0"],
        ["check", "a.cu", "--launch", "grid=zero"],
        ["check", "a.cu", "--fail-on", "everything"],
        ["check", "a.cu", "--fail-on", ""],
        ["check", "a.cu", "--fail-on", "race-free"],
        ["check", "a.cu", "--settings", "{"],
        ["check", "a.cu", "--settings", "3"],
        ["check", "a.cu", "--workspace", "nowhere"],
        ["fix", "a.cu", "--diff", "--write"],
        ["explain", "a.cu:k"],
        ["explain", "no-colon", "--pass", "pairs"],
        ["serve", "--tcp", "nowhere"],
    ],
    ids=" ".join,
)
def test_wrong_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments, FAKE) == USAGE
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "cuda-lsp" in captured.err


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"cuda-lsp {__version__}\n"


def test_the_target_of_explain_is_split_at_the_right_colon(tmp_path: Path) -> None:
    file = tmp_path / "a:b.cu"
    file.touch()
    assert explain.split_target(f"{file}:ns::k<4>") == (str(file), "ns::k<4>")
    assert explain.split_target("missing.cu:ns::k") == ("missing.cu", "ns::k")
    for target, message in (
        ("k", "“k” is not of the form FILE:KERNEL"),
        (f"{tmp_path}:k", f"{tmp_path} is a folder: name the file that k stands in, as in FILE:k"),
        (f"{file}", f"which kernel of {file}? Name one behind the file, as in {file}:KERNEL, if there is one in it"),
    ):
        with pytest.raises(UsageError) as wrong:
            explain.split_target(target)
        assert str(wrong.value) == message
    file.write_text("__global__ void first(int *a) {}\n__global__ void second(int *a) {}\n")
    with pytest.raises(UsageError, match=r"as in .*:KERNEL: first, second$"):
        explain.split_target(f"{file}:")
