"""Compiled code of ours is kept on disk, and a file that is not what was written is not run."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pytest

from gpu_runner.cpu import schedule
from gpu_runner.detector import synchronization
from gpu_runner.native import library
from gpu_runner.native.jit import object_code
from gpu_runner.native.library import Library


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch) -> Mock:
    """Stands for the compiler, and works."""
    watched = Mock(side_effect=object_code)
    monkeypatch.setattr(library, "object_code", watched)
    return watched


def _detector() -> Library:
    return Library([synchronization.consume])


def _kept(folder: Path) -> Path:
    (file,) = (folder / "native").iterdir()
    return file


def test_another_process_finds_the_code(compiler: Mock, tmp_path: Path) -> None:
    first, second = _detector(), _detector()
    assert first.load(str(tmp_path)).address("consume")
    assert second.load(str(tmp_path)).address("consume")
    assert second.address("consume") != first.address("consume")
    assert compiler.call_count == 1


def test_other_functions_and_other_sources_are_other_code(
    compiler: Mock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _detector().load(str(tmp_path))
    Library([schedule.run]).load(str(tmp_path))
    assert compiler.call_count == 2
    monkeypatch.setattr(library, "_sources", lambda: "edited")
    _detector().load(str(tmp_path))
    assert compiler.call_count == 3
    monkeypatch.setattr(library, "machine_words", lambda: "another processor")
    _detector().load(str(tmp_path))
    assert compiler.call_count == 4


def _shorten(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])


def _replace_a_byte(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(bytes(data))


def _empty(file: Path) -> None:
    file.write_bytes(b"")


def _open_to_others(file: Path) -> None:
    file.chmod(0o666)


@pytest.mark.parametrize(
    "harm",
    [
        _shorten,
        _replace_a_byte,
        _empty,
        pytest.param(_open_to_others, marks=pytest.mark.skipif(sys.platform == "win32", reason="no such permission")),
    ],
)
def test_a_file_that_is_not_what_was_written_is_replaced(
    compiler: Mock, tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    _detector().load(str(tmp_path))
    whole = _kept(tmp_path).read_bytes()
    harm(_kept(tmp_path))
    assert _detector().load(str(tmp_path)).address("consume")
    assert compiler.call_count == 2
    assert _kept(tmp_path).read_bytes() == whole
    assert _kept(tmp_path).stat().st_mode & 0o022 == 0 or sys.platform == "win32"
    _detector().load(str(tmp_path))
    assert compiler.call_count == 2


def test_without_a_folder_nothing_is_kept(compiler: Mock, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    for folder in ("", str(tmp_path / "file")):
        assert _detector().load(folder).address("consume")
    assert compiler.call_count == 2
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
