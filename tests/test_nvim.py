"""A person's sitting in Neovim, with the stand-in engine and with the real one."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsp.client import FAKE, ROOT, server_command

from cuda_lsp import backend

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


def sitting(nvim: str, folder: Path, file: Path, engine: str) -> dict[str, Any]:
    """Run tests/nvim/session.lua on a file; gives what it has seen."""
    report = folder / "report.json"
    wish = {
        "report": str(report),
        "plugin": str(ROOT / "editors" / "nvim" / "cuda-lsp.lua"),
        "file": str(file),
        "cmd": server_command(engine),
        "deadline_ms": DEADLINE_S * 1000,
    }
    environment = {
        **os.environ,
        "CUDA_LSP_TEST": json.dumps(wish),
        "CUDA_LSP_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": os.pathsep.join([str(ROOT / "tests"), str(ROOT)]),
        "XDG_STATE_HOME": str(folder / "state"),
        "XDG_CACHE_HOME": str(folder / "nvim-cache"),
        "XDG_DATA_HOME": str(folder / "data"),
    }
    run = subprocess.run(
        [nvim, "--clean", "--headless", "-u", str(ROOT / "tests" / "nvim" / "session.lua")],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=4 * DEADLINE_S,
        check=False,
    )
    assert report.exists(), run.stdout + run.stderr
    seen = json.loads(report.read_text())
    assert seen.get("problem") is None, f"{seen}\n{run.stderr}"
    return seen


@pytest.mark.parametrize(("engine", "text"), [(FAKE, FAKE_KERNEL), (backend.DEFAULT, KERNEL)], ids=["stand-in", "real"])
def test_see_hover_fix_save_and_gone(
    require_program: Callable[[str], str], tmp_path: Path, engine: str, text: str
) -> None:
    file = tmp_path / "shift.cu"
    file.write_text(text, encoding="utf-8")
    seen = sitting(require_program("nvim"), tmp_path, file, engine)
    assert seen["filetype"] == "cuda"
    (diagnostic,) = seen["diagnostics"]
    assert diagnostic["code"] == "data-race"
    assert (diagnostic["line"], diagnostic["column"]) == (4, 2)
    assert "a[i + 1]" in diagnostic["message"]
    assert "data-race" in seen["hover"]
    assert "thread (0, 0, 0)" in seen["hover"] or "thread (1, 0, 0)" in seen["hover"] or "thread (" in seen["hover"]
    assert any("__syncthreads()" in title for title in seen["actions"])
    barrier = "  __syncthreads();\n"
    last = text.splitlines(keepends=True)[5 if engine == backend.DEFAULT else 4]
    assert seen["text"] == text.replace(last, barrier + last)
    assert file.read_text(encoding="utf-8") == seen["text"]
    assert seen["clean"] is True
