"""The setting `severity` on the command line: what is shown, what fails, and the levels of SARIF."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cuda_lsp.cli.exit_codes import CLEAN, FINDINGS
from cuda_lsp.cli.main import main

FAKE = "lsp.fake_engine:create"
RACE = "a[i] = a[i + 1];"
USELESS = "__syncthreads(); // useless"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "race.cu").write_text(f"__global__ void k(int *a) {{\n  {RACE}\n}}\n")
    (tmp_path / "slow.cu").write_text(f"__global__ void k(int *a) {{\n  {USELESS}\n}}\n")
    return tmp_path


@pytest.mark.parametrize(
    ("severity", "arguments", "code"),
    [
        ("", ["race.cu"], FINDINGS),
        ("", ["slow.cu"], CLEAN),
        ('data-race = "warning"', ["race.cu"], FINDINGS),
        ('data-race = "information"', ["race.cu"], CLEAN),
        ('data-race = "hint"', ["race.cu"], CLEAN),
        ('data-race = "off"', ["race.cu"], CLEAN),
        ('data-race = "off"', ["race.cu", "--fail-on", "data-race"], CLEAN),
        ('data-race = "hint"', ["race.cu", "--fail-on", "data-race"], FINDINGS),
        ('redundant-barrier = "error"', ["slow.cu"], FINDINGS),
        ('redundant-barrier = "warning"', ["slow.cu"], FINDINGS),
        ('redundant-barrier = "error"', ["slow.cu", "--fail-on", "data-race"], CLEAN),
        ('redundant-barrier = "error"', ["slow.cu", "--fail-on", "never"], CLEAN),
    ],
)
def test_what_fails(folder: Path, severity: str, arguments: list[str], code: int) -> None:
    (folder / ".cuda-lsp.toml").write_text(f"[severity]\n{severity}\n")
    assert main(["check", *arguments], FAKE) == code


def test_what_is_off_is_not_shown_and_not_proved(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / ".cuda-lsp.toml").write_text('[severity]\ndata-race = "off"\n')
    main(["check", "race.cu"], FAKE)
    out = capsys.readouterr().out
    assert "is written while" not in out
    assert "1 kernel in 1 file: 1 off (" in out
    assert "not shown: 1 finding switched off by severity" in out
    main(["check", "race.cu", "--format", "json"], FAKE)
    (kernel,) = json.loads(capsys.readouterr().out)["units"][0]["kernels"]
    assert (kernel["verdict"], kernel["counts_as"]) == ("data-race", "off")
    main(["check", "race.cu", "--format", "sarif"], FAKE)
    assert json.loads(capsys.readouterr().out)["runs"][0]["results"] == []
    main(["fix", "race.cu"], FAKE)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(("severity", "level"), [("error", "error"), ("warning", "warning"), ("information", "note")])
def test_levels_of_sarif_and_severities_of_json(
    folder: Path, capsys: pytest.CaptureFixture[str], severity: str, level: str
) -> None:
    (folder / ".cuda-lsp.toml").write_text(f'[severity]\nredundant-barrier = "{severity}"\n')
    main(["check", "slow.cu", "--format", "sarif"], FAKE)
    assert json.loads(capsys.readouterr().out)["runs"][0]["results"][0]["level"] == level
    main(["check", "slow.cu", "--format", "json"], FAKE)
    (kernel,) = json.loads(capsys.readouterr().out)["units"][0]["kernels"]
    assert kernel["contexts"][0]["findings"][0]["severity"] == severity
