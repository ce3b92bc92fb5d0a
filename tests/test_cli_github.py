"""`check --format github`: workflow commands that a runner takes apart as they were meant."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cuda_lsp.cli.exit_codes import FINDINGS, NOT_ANALYSED
from cuda_lsp.cli.main import main

FAKE = "lsp.fake_engine:create"
RACE = "a[i] = a[i + 1];"
_COMMAND = re.compile(r"::(\w+) ([^:]*)::(.*)")


def kernel(name: str, *lines: str) -> str:
    return f"__global__ void {name}(int *a, int i) {{\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


def commands(out: str) -> list[tuple[str, dict[str, str], str]]:
    """Read as the runner does: split first, then unescape."""
    found: list[tuple[str, dict[str, str], str]] = []
    for line in out.splitlines():
        match = _COMMAND.fullmatch(line)
        if match is not None:
            pairs = [pair.split("=", 1) for pair in match[2].split(",")]
            found.append((match[1], {name: plain(value) for name, value in pairs}, plain(match[3])))
    return found


def plain(text: str) -> str:
    for code, character in (("%2C", ","), ("%3A", ":"), ("%0A", "\n"), ("%0D", "\r"), ("%25", "%")):
        text = text.replace(code, character)
    return text


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_each_mistake_is_an_annotation_at_its_place(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.cu").write_text(kernel("k", RACE, "__syncthreads(); // useless"))
    assert main(["check", "a.cu", "--format", "github"], FAKE) == FINDINGS
    race, barrier = commands(capsys.readouterr().out)
    assert (race[0], barrier[0]) == ("error", "notice")
    assert race[1] == {
        "file": "a.cu",
        "line": "2",
        "endLine": "2",
        "col": "3",
        "endColumn": "6",
        "title": "data-race in k",
    }
    assert race[2].splitlines()[1:3] == [
        "a.cu:2: a[i]: write of 4 bytes by thread (1, 0, 0) of block (0, 0, 0)",
        "a.cu:2: a[i + 1]: read of 4 bytes by thread (0, 0, 0) of block (0, 0, 0)",
    ]
    assert race[2].endswith("fix: Insert __syncthreads()")


def test_names_with_separators_are_escaped(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = "100%,a:b.cu"
    (folder / name).write_text(kernel("k", RACE))
    main(["check", name, "--format", "github"], FAKE)
    out = capsys.readouterr().out
    assert "file=100%25%2Ca%3Ab.cu,line=2" in out
    ((_, properties, message),) = commands(out)
    assert properties["file"] == name
    assert f"{name}:2: a[i]" in message


def test_severities_suppressions_and_failures_are_annotations_too(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / ".cuda-lsp.toml").write_text('[severity]\ndata-race = "warning"\n')
    (folder / "a.cu").write_text(kernel("k", RACE, "f(); // cuda-lsp: ignore[data-race] why"))
    (folder / "b.cu").write_text("#error\n")
    assert main(["check", "a.cu", "b.cu", "--format", "github"], FAKE) == NOT_ANALYSED
    out = capsys.readouterr().out
    found = [(command, properties["title"]) for command, properties, _ in commands(out)]
    assert found == [("warning", "data-race in k"), ("notice", "unused-suppression"), ("error", "not analysed")]
    assert out.splitlines()[-1].startswith("1 kernel in 2 files: 1 data-race")


def test_what_is_muted_is_no_annotation(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.cu").write_text(kernel("k", f"{RACE}  // cuda-lsp: ignore[data-race] why"))
    main(["check", "a.cu", "--format", "github"], FAKE)
    assert commands(capsys.readouterr().out) == []
