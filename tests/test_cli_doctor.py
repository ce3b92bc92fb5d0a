"""`cuda-lsp doctor` and `cuda-lsp completion`: what they find, and that nothing that is missing stops them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cuda_lsp.cli import examination, gpu
from cuda_lsp.cli.exit_codes import CLEAN, FINDINGS
from cuda_lsp.cli.main import main

FAKE = "lsp.fake_engine:create"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CUDA_LSP_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path


def entries(capsys: pytest.CaptureFixture[str]) -> dict[tuple[str, str], dict[str, Any]]:
    document = json.loads(capsys.readouterr().out)
    assert document["problems"] == sum(entry["problem"] for entry in document["entries"])
    return {(entry["section"], entry["name"]): entry for entry in document["entries"]}


def test_a_sound_installation_has_no_problem(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == CLEAN
    out = capsys.readouterr().out
    assert "a race in a small kernel was found" in out
    assert "  libclang       18.1.1\n" in out
    assert out.endswith("no problem found\n")


def test_an_analysis_that_does_not_work_is_a_problem(capsys: pytest.CaptureFixture[str]) -> None:
    # The stand-in sees nothing in the kernel that is tried.
    assert main(["doctor", "--format", "json"], FAKE) == FINDINGS
    found = entries(capsys)["program", "trial"]
    assert found["problem"]
    assert "was not found: race-free" in found["value"]
    assert "install it again" in found["advice"]


def test_a_file_has_its_settings_and_flags(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.cu").write_text("")
    (folder / "made").mkdir()
    command = {
        "directory": str(folder),
        "file": "a.cu",
        "arguments": ["nvcc", "-arch=sm_90", "-DX=1", "-Imade", "-Igone", "-Xptxas", "-O3", "-c", "a.cu"],
    }
    (folder / "compile_commands.json").write_text(json.dumps([command]))
    (folder / ".cuda-lsp.toml").write_text('baseline = "known.json"\nworker = 1\n')
    main(["doctor", "a.cu", "--format", "json"], FAKE)
    document = json.loads(capsys.readouterr().out)
    mine = [entry for entry in document["entries"] if entry["section"] == "file a.cu"]
    told = {(entry["name"], entry["value"]): entry for entry in mine}
    assert ("settings", str(folder / ".cuda-lsp.toml")) in told
    assert any("there is no setting “worker”" in entry["value"] and entry["problem"] for entry in mine)
    assert ("baseline", f"{folder / 'known.json'}, 0 findings") in told
    assert ("flags from", str(folder / "compile_commands.json")) in told
    (flags,) = [entry["value"] for entry in mine if entry["name"] == "flags"]
    assert flags.startswith("sm_90 ")
    assert "-DX=1" in flags
    assert any(entry["name"] == "not used" and "-Xptxas" in entry["value"] for entry in mine)
    missing = [entry["value"] for entry in mine if entry["name"] == "include folder"]
    assert len(missing) == 1
    assert "gone does not exist" in missing[0]


def test_a_file_that_is_not_there_is_a_problem(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "no.cu", "--format", "json"], FAKE) == FINDINGS
    assert entries(capsys)["file no.cu", "text"]["problem"]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="nothing is read-only to an administrator")
def test_a_cache_that_cannot_be_written_is_a_problem(folder: Path) -> None:
    (folder / "cache").mkdir(mode=0o500)
    assert [entry.is_problem for entry in examination.disk_cache()] == [False, False, True]


def test_a_cache_that_is_no_folder_is_a_problem(folder: Path) -> None:
    (folder / "cache").write_text("")
    *_, last = examination.disk_cache()
    assert last.is_problem
    assert "CUDA_LSP_CACHE_DIR" in last.advice


@pytest.mark.parametrize(
    ("script", "trouble"),
    [
        ("import os; os.abort()", "ended with code"),
        ("import time; time.sleep(60)", "did not answer within"),
    ],
)
def test_a_driver_that_crashes_or_hangs_is_an_answer(
    folder: Path, monkeypatch: pytest.MonkeyPatch, script: str, trouble: str
) -> None:
    (folder / "driver.py").write_text(script)
    monkeypatch.setattr(gpu, "__file__", str(folder / "driver.py"))
    monkeypatch.setattr(gpu, "WAIT_S", 1.0)
    assert trouble in gpu.find().trouble


def test_without_a_compiler_the_way_to_one_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examination, "find_nvcc", lambda: None)
    monkeypatch.setattr(examination, "find_nvrtc", lambda: None)
    found = {entry.name: entry for entry in examination.cuda()}
    assert "pip install 'cuda-lsp[run]'" in found["NVRTC"].advice
    assert not any(entry.is_problem for entry in found.values())


# --- completion -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_command_is_completed(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == CLEAN
    out = capsys.readouterr().out
    for word in ("check", "fix", "explain", "run", "serve", "docs", "doctor", "completion", "write-baseline", "sarif"):
        assert word in out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["do"], {"docs", "doctor"}),
        (["check", "--format", "s"], {"sarif"}),
        (["check", "--write"], {"--write-baseline"}),
        (["check", "only"], {"only.cu"}),
        (["explain", "a.cu:k", "--pass", "e"], {"events"}),
    ],
)
def test_bash_completes(
    folder: Path, require_program: Callable[[str], str], words: list[str], expected: set[str]
) -> None:
    (folder / "only.cu").write_text("")
    code = "from cuda_lsp.cli.main import main; main(['completion', 'bash'])"
    script = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    line = " ".join(["cuda-lsp", *words])
    ask = f"COMP_WORDS=({line}); COMP_CWORD={len(words)}; _shtab_cuda_lsp; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    said = subprocess.run(
        [require_program("bash"), "-c", f"{script}\n{ask}"], capture_output=True, text=True, check=False
    )
    assert set(said.stdout.split()) == expected, said.stderr
