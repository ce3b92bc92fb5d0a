"""Which files the arguments name, and what happens to those that cannot be read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cuda_lsp.cli import inputs
from cuda_lsp.cli.main import main

KERNEL = "__global__ void k() {}\n"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    names = [
        "b.cu", "a.cu", "sub/c.cuh", "sub/d.cpp", ".hidden/e.cu", "build/f.cu", "third_party/g.cu",
        "cmake-build-x/h.cu", "made/CMakeCache.txt", "made/i.cu", "sub/.j.cu", "sub/K.CU",
    ]  # fmt: skip
    for name in names:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(KERNEL)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shown(paths: list[str]) -> list[str]:
    return [inputs.shown(file.path) for file in inputs.collect(paths)]


def test_a_folder_gives_its_cuda_sources_in_order(tree: Path) -> None:
    assert shown(["."]) == ["a.cu", "b.cu", "sub/K.CU", "sub/c.cuh"]


def test_what_is_named_is_taken_wherever_it_lies(tree: Path) -> None:
    assert shown(["build/f.cu", "third_party", "sub/d.cpp"]) == ["build/f.cu", "third_party/g.cu", "sub/d.cpp"]


def test_each_file_comes_once_in_the_order_of_the_arguments(tree: Path) -> None:
    assert shown(["b.cu", ".", "./b.cu", str(tree / "a.cu")]) == ["b.cu", "a.cu", "sub/K.CU", "sub/c.cuh"]
    assert [file.is_named for file in inputs.collect(["b.cu", "."])] == [True, False, False, False]


@pytest.mark.parametrize(
    ("name", "kind"),
    [("missing.cu", "unreadable"), ("wide.cu", "not-utf-8"), ("empty", "no-input"), ("pipe.cu", "unreadable")],
)
def test_what_cannot_be_read_is_a_failure(tree: Path, name: str, kind: str) -> None:
    (tree / "wide.cu").write_bytes("// ok\n".encode("utf-16"))
    os.mkfifo(tree / "pipe.cu")
    (tree / "empty").mkdir()
    (file,) = inputs.collect([name])
    assert file.text is None
    assert file.failure is not None
    assert file.failure.kind == kind


def test_bytes_that_are_not_utf_8_are_kept_and_told_of(tree: Path) -> None:
    data = b"// ok\n// caf\xe9 \xc3\xa9\n"
    (tree / "latin.cu").write_bytes(data)
    (file,) = inputs.collect(["latin.cu"])
    assert file.text is not None
    assert file.text.encode("utf-8", "surrogateescape") == data
    assert inputs.plain(file.text) == "// ok\n// caf? \u00e9\n"
    assert file.notice == "not UTF-8: byte 0xe9 on line 2; such bytes were read as question marks"


def test_a_pipe_in_a_folder_is_no_source(tree: Path) -> None:
    os.mkfifo(tree / "sub" / "pipe.cu")
    failures = [file.failure.text for file in inputs.collect(["sub"]) if file.failure is not None]
    assert failures == ["cannot be read: not a regular file"]


def test_a_pipe_among_the_sources_does_not_stop_a_check(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody writes into it: who opened it would wait for ever."""
    os.mkfifo(tree / "sub" / "pipe.cu")
    assert main(["check", "sub"]) == 3
    assert "sub/pipe.cu: not analysed: cannot be read: not a regular file" in capsys.readouterr().out


def test_a_byte_order_mark_is_not_text(tree: Path) -> None:
    (tree / "marked.cu").write_bytes(b"\xef\xbb\xbf" + KERNEL.encode())
    (file,) = inputs.collect(["marked.cu"])
    assert file.text == KERNEL


def test_line_ends_are_kept(tree: Path) -> None:
    (tree / "dos.cu").write_bytes(b"int a;\r\nint b;\r\n")
    (file,) = inputs.collect(["dos.cu"])
    assert file.text == "int a;\r\nint b;\r\n"
