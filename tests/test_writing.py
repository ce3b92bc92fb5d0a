"""Files for the user are written whole or not at all, and the message names the file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cuda_lsp.writing import replace_file

KERNEL = "__global__ void k(int *a) { a[threadIdx.x] = a[threadIdx.x + 1]; }\nvoid go(int *a) { k<<<1, 64>>>(a); }\n"
_LIMITED = """
import resource, sys
from cuda_lsp.cli.main import main
resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))
raise SystemExit(main(sys.argv[1:]))
"""


def test_content_and_mode(tmp_path: Path) -> None:
    file = tmp_path / "a"
    replace_file(file, b"one")
    assert file.read_bytes() == b"one"
    file.chmod(0o600)
    replace_file(file, b"two")
    assert (file.read_bytes(), file.stat().st_mode & 0o777) == (b"two", 0o600)
    link = tmp_path / "link"
    link.symlink_to(file)
    replace_file(link, b"three")
    assert link.is_symlink()
    assert file.read_bytes() == b"three"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_the_error_names_the_file() -> None:
    with pytest.raises(OSError, match="/dev/full"):
        replace_file("/dev/full", b"x")


@pytest.mark.skipif(sys.platform == "win32", reason="limits of processes are POSIX's")
@pytest.mark.parametrize("option", ["--html", "--write-baseline"])
def test_what_stood_there_outlives_a_disk_that_fills_up(tmp_path: Path, option: str) -> None:
    (tmp_path / "a.cu").write_text(KERNEL)
    target = tmp_path / "out"
    before = '{"schema": 1, "tool": "cuda-lsp", "findings": []}\n'
    target.write_text(before)
    environment = {**os.environ, "CUDA_LSP_CACHE_DIR": str(tmp_path / "cache"), "NO_COLOR": "1"}
    command = [sys.executable, "-c", _LIMITED, "check", "a.cu", option, "out"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "cuda-lsp: out: File too large" in done.stderr.replace(f"{tmp_path}/", "")
    assert target.read_text() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.cu", "cache", "out"]
