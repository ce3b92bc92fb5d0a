"""What a command is asked when it checks as an editor does: `--settings` and `--workspace`."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzers.requests import CheckRequest
from cuda_lsp.cli.exit_codes import CLEAN, FINDINGS
from cuda_lsp.cli.inputs import Input
from cuda_lsp.cli.main import main
from cuda_lsp.cli.requests import Requests, Selection

FAKE = "lsp.fake_engine:create"
USELESS = "__global__ void k(int *a) {\n  __syncthreads(); // useless\n}\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "slow.cu").write_text(USELESS)
    (tmp_path / "host").mkdir()
    return tmp_path


def request(folder: Path, selection: Selection) -> CheckRequest:
    file = Input(str(folder / "kernels" / "slow.cu"), USELESS)
    return Requests(selection).request(file, USELESS)


def test_a_project_file_is_stronger_than_settings(folder: Path) -> None:
    command = ["check", "kernels/slow.cu", "--settings", '{"severity": {"redundant-barrier": "error"}}']
    assert main(command, FAKE) == FINDINGS
    (folder / ".cuda-lsp.toml").write_text('[severity]\nredundant-barrier = "hint"\n')
    assert main(command, FAKE) == CLEAN


def test_paths_in_settings_are_relative_to_the_workspace(folder: Path) -> None:
    settings = {"arch": "sm_90", "extraArgs": ["-Iinclude"], "compileCommands": ""}
    flags = request(folder, Selection(settings=settings, workspace=".")).flags
    assert flags.arch == 90
    assert str(folder / "include") in " ".join(flags.arguments)
    alone = request(folder, Selection(settings=settings)).flags
    assert str(folder / "kernels" / "include") in " ".join(alone.arguments)


def test_a_file_outside_of_the_workspace_stands_alone(folder: Path) -> None:
    flags = request(folder, Selection(settings={"extra-args": ["-Iinclude"]}, workspace="host")).flags
    assert str(folder / "kernels" / "include") in " ".join(flags.arguments)


def test_a_setting_that_is_none_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", "kernels/slow.cu", "--settings", '{"archh": "sm_90"}'], FAKE)
    assert "--settings: there is no setting “archh”: did you mean “arch”?" in capsys.readouterr().err
