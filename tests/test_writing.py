"""Files for the user are written whole or not at all, and the message names the file."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cuda_lsp.writing import replace_file, replace_files

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


def test_a_read_only_file_is_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"one")
    file.chmod(0o444)
    with pytest.raises(OSError, match="read-only"):
        replace_file(file, b"two")
    assert file.read_bytes() == b"one"


@pytest.mark.parametrize("linked", [True, False])
def test_all_files_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, linked: bool) -> None:
    """The second of three renames fails: the first file has its text again, the third never lost it."""
    paths = [tmp_path / name for name in ("a", "b", "new")]
    for path in paths[:2]:
        path.write_bytes(b"old")
    if not linked:
        monkeypatch.setattr(Path, "hardlink_to", lambda *_: _fail("no links here"))
    rename = Path.replace

    def failing(self: Path, target: Path) -> Path:
        return _fail("gone") if target.name == "b" else rename(self, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", failing)
        with pytest.raises(OSError, match="gone"):
            replace_files({paths[0]: b"1", paths[2]: b"3", paths[1]: b"2"})
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "b"]
    assert [p.read_bytes() for p in paths[:2]] == [b"old", b"old"]
    replace_files({paths[0]: b"1", paths[2]: b"3", paths[1]: b"2"})
    assert [p.read_bytes() for p in paths] == [b"1", b"2", b"3"]
    assert len(list(tmp_path.iterdir())) == 3


def _fail(text: str) -> Path:
    raise OSError(errno.EIO, text)


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
