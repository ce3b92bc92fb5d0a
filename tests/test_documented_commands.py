"""The commands that the pages show are run as they stand there, in a project with the files that they name."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from lsp.client import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
_COMMAND = re.compile(r"^    (?:\$ )?(cuda-lsp .*?)(?:  +#.*|   .*)?$", re.MULTILINE)
_PLACEHOLDER = re.compile(r"…|\[[A-Z]|\bFILE\b|\bSHELL\b|\bserve\b")
KERNEL = """\
__global__ void reduce(const float *in, float *out, int n) {
  __shared__ float part[256];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  part[t] = i < n ? in[i] : 0.0f;
  for (int stride = 128; stride > 0; stride /= 2) {
    if (t < stride) part[t] += part[t + stride];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = part[0];
}
void go(const float *in, float *out, int n) { reduce<<<(n + 255) / 256, 256>>>(in, out, n); }
"""
EXTENSION = """\
#include <torch/extension.h>
template <typename T>
__global__ void rowsum(torch::PackedTensorAccessor32<T, 2> x, torch::PackedTensorAccessor32<T, 1> out) {
  if (threadIdx.x < x.size(1)) out[blockIdx.x] += x[blockIdx.x][threadIdx.x];
}
void go(torch::Tensor x, torch::Tensor out) {
  rowsum<float><<<x.size(0), 128>>>(x.packed_accessor32<float, 2>(), out.packed_accessor32<float, 1>());
}
"""


def shown() -> list[str]:
    """Each command once, a pipe to another program without it."""
    found = (command for page in PAGES for command in _COMMAND.findall(page.read_text(encoding="utf-8")))
    return list(dict.fromkeys(c.split(" | ")[0].strip() for c in found if not _PLACEHOLDER.search(c)))


def test_commands_work_as_they_are_shown(tmp_path: Path) -> None:
    for folder in (
        "src",
        "path/to",
        "bin",
        ".local/share/bash-completion/completions",
        ".zfunc",
        ".config/fish/completions",
    ):
        (tmp_path / folder).mkdir(parents=True)
    for name in ("src/reduce.cu", "reduce.cu", "path/to/file.cu"):
        (tmp_path / name).write_text(KERNEL)
    (tmp_path / "ext.cu").write_text(EXTENSION)
    program = tmp_path / "bin" / "cuda-lsp"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m cuda_lsp "$@"\n')
    program.chmod(0o755)
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "CUDA_LSP_CACHE_DIR": str(tmp_path / "cache"),
        "NO_COLOR": "1",
    }
    commands = shown()
    assert len(commands) >= 8
    for command in commands:
        done = subprocess.run(
            ["sh", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        # 1: something was found.
        assert done.returncode in (0, 1), f"$ {command}\n{done.stdout}{done.stderr}"
        assert done.stderr == "" or done.returncode == 1 or "baseline" in command, f"$ {command}\n{done.stderr}"
    assert (tmp_path / "report.html").stat().st_size > 10_000
    assert (tmp_path / "races.json").stat().st_size > 1000
    assert "cuda-lsp" in (tmp_path / ".zfunc" / "_cuda-lsp").read_text()
