"""`cuda-lsp doctor` and `cuda-lsp completion`: what they find, and that nothing that is missing stops them."""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import subprocess
import sys
import time
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


def test_commands_that_cannot_be_read_are_not_told_as_missing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.cu").write_text("")
    database = folder / "compile_commands.json"
    database.write_text("[{")
    main(["doctor", "a.cu", "--format", "json"], FAKE)
    found = entries(capsys)
    assert found["file a.cu", "flags from"]["value"] == f"defaults: nothing could be taken from {database}"
    assert found["file a.cu", "flags from"]["advice"] is None


def test_a_file_that_is_not_there_is_a_problem(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "no.cu", "--format", "json"], FAKE) == FINDINGS
    assert entries(capsys)["file no.cu", "text"]["problem"]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="nothing is read-only to an administrator")
def test_a_cache_that_cannot_be_written_is_a_problem(folder: Path) -> None:
    (folder / "cache").mkdir(mode=0o500)
    assert [entry.is_problem for entry in examination.disk_cache()] == [False, False, True]


def test_a_cache_in_which_nothing_can_be_written_to_files_is_a_problem(folder: Path) -> None:
    # As on a full disk: files can be made.
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, limits[1]))
    try:
        *_, last = examination.disk_cache()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert last.is_problem
    assert "results are not kept" in last.advice


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


COMPLETED = [
    (["do"], {"docs", "doctor"}),
    (["docs", "data"], {"data-race"}),
    (["check", "--format", "s"], {"sarif"}),
    (["check", "--write"], {"--write-baseline"}),
    (["check", "--fail-on", "ne"], {"never"}),
    (["check", "--fail-on", "barrier-"], {"barrier-after-exit", "barrier-divergence"}),
    (["check", "only"], {"only.cu"}),
    (["explain", "a.cu:k", "--pass", "e"], {"events"}),
]


def completion_script(shell: str) -> str:
    code = f"from cuda_lsp.cli.main import main; main(['completion', '{shell}'])"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(("words", "expected"), COMPLETED)
def test_bash_completes(
    folder: Path, require_program: Callable[[str], str], words: list[str], expected: set[str]
) -> None:
    (folder / "only.cu").write_text("")
    script = completion_script("bash")
    line = " ".join(["cuda-lsp", *words])
    ask = f"COMP_WORDS=({line}); COMP_CWORD={len(words)}; _shtab_cuda_lsp; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    said = subprocess.run(
        [require_program("bash"), "-c", f"{script}\n{ask}"], capture_output=True, text=True, check=False
    )
    assert set(said.stdout.split()) == expected, said.stderr


@pytest.mark.parametrize(("words", "expected"), COMPLETED)
def test_fish_completes(
    folder: Path, require_program: Callable[[str], str], words: list[str], expected: set[str]
) -> None:
    (folder / "only.cu").write_text("")
    (folder / "cuda-lsp.fish").write_text(completion_script("fish"))
    ask = f"source cuda-lsp.fish; complete -C '{' '.join(['cuda-lsp', *words])}'"
    said = subprocess.run(
        [require_program("fish"), "--no-config", "-c", ask], capture_output=True, text=True, check=False, cwd=folder
    )
    assert {line.split("\t")[0] for line in said.stdout.splitlines()} == expected, said.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(("words", "expected"), [c for c in COMPLETED if len(c[1]) == 1])
def test_zsh_completes(
    folder: Path, require_program: Callable[[str], str], words: list[str], expected: set[str]
) -> None:
    """At a terminal, with the tab key: what the line is then, a key tells that writes it to a file."""
    import pty

    zsh = require_program("zsh")
    (folder / "only.cu").write_text("")
    (folder / "_cuda-lsp").write_text(completion_script("zsh"))
    (folder / ".zshrc").write_text(
        "fpath=($PWD $fpath)\nautoload -Uz compinit\ncompinit -u -D\n"
        "line-to-file() { print -r -- $BUFFER > line.part; mv line.part line }\n"
        "zle -N line-to-file\nbindkey '^X' line-to-file\nprint ready > ready\n"
    )
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(folder)
        os.execve(zsh, [zsh, "-i"], {**os.environ, "ZDOTDIR": str(folder), "TERM": "dumb"})
    try:
        wait_for(folder / "ready", terminal)
        os.write(terminal, f"cuda-lsp {' '.join(words)}\t\x18".encode())
        line = wait_for(folder / "line", terminal)
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(terminal)
    assert {line.split()[-1]} == expected


def wait_for(path: Path, terminal: int, seconds: float = 30) -> str:
    """The text of a file that a shell is about to write; what it prints meanwhile is read and dropped."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if path.exists():
            return path.read_text()
        if select.select([terminal], [], [], 0.05)[0]:
            os.read(terminal, 4096)
    raise AssertionError(f"{path.name} was not written")
