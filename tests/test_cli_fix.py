"""`cuda-lsp fix` with the tests' stand-in for the analysis: diffs, files, and what is left alone."""

from __future__ import annotations

import errno
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from analyzers.model import Fix, SourceSpan, TextEdit, UnitResult
from analyzers.old_lines import in_old_lines
from cuda_lsp.cli import fix
from cuda_lsp.cli.exit_codes import CLEAN, FINDINGS, NOT_ANALYSED
from cuda_lsp.cli.main import main
from cuda_lsp.cli.terminal import Style

FAKE = "lsp.fake_engine:create"
RACY = "__global__ void shift(int *a, int i) {\n  a[i] = a[i + 1];\n}\n"
FIXED = "__global__ void shift(int *a, int i) {\n  __syncthreads();\n  a[i] = a[i + 1];\n}\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "racy.cu").write_text(RACY)
    return tmp_path


def test_a_diff_is_printed_and_nothing_changed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fix", "racy.cu"], FAKE) == FINDINGS
    captured = capsys.readouterr()
    assert captured.out.startswith("--- a/racy.cu\n+++ b/racy.cu\n@@ ")
    assert "+  __syncthreads();\n" in captured.out
    assert "racy.cu: " in captured.err
    assert (folder / "racy.cu").read_text() == RACY


def test_the_diff_can_be_applied(
    folder: Path, capsys: pytest.CaptureFixture[str], require_program: Callable[[str], str]
) -> None:
    patch = require_program("patch")
    main(["fix", "racy.cu", "--diff"], FAKE)
    subprocess.run(
        [patch, "-p1"], input=capsys.readouterr().out, text=True, check=True, cwd=folder, capture_output=True
    )
    assert (folder / "racy.cu").read_text() == FIXED


def test_writing_changes_the_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fix", "--write", "racy.cu"], FAKE) == CLEAN
    assert (folder / "racy.cu").read_text() == FIXED
    assert capsys.readouterr().out == ""
    assert main(["check", "racy.cu"], FAKE) == CLEAN
    assert [path.name for path in folder.iterdir()] == ["racy.cu"]


def test_what_takes_something_for_granted_is_not_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = folder / "racy.cu"
    file.write_text(f"// assuming\n{RACY}{RACY.replace('shift', 'other')}")
    before = file.read_text()
    for mode in ("--diff", "--write"):
        assert main(["fix", mode, "racy.cu"], FAKE) == FINDINGS
        assert file.read_text() == before
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.count("racy.cu: not applied, it is yours to choose: Insert __syncthreads()\n") == 2


def test_what_is_not_repaired_says_why_in_a_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = folder / "racy.cu"
    file.write_text(f"{RACY}// hopeless\n{RACY.replace('shift', 'other')}")
    assert main(["fix", "--write", "racy.cu"], FAKE) == FINDINGS
    said = capsys.readouterr().err.splitlines()
    # The repair above has moved the line; what is said of it names the line of the old text.
    assert "racy.cu:6: no repair for the data-race: In line 6 nothing helps, of racy.cu." in said
    assert said[-1] == "racy.cu: left: 1 data-race"


def test_what_is_repaired_by_choice_only_says_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel = (
        "__global__ void k(int *o) {\n  __shared__ int s;\n  s = threadIdx.x;\n  __syncthreads();\n  o[0] = s;\n}\n"
    )
    (folder / "racy.cu").write_text(f"{kernel}void go(int *o) {{ k<<<1, 64>>>(o); }}\n")
    assert main(["fix", "--diff", "racy.cu"]) == FINDINGS
    said = capsys.readouterr().err
    assert "not applied, it is yours to choose: Let only the first thread of each block write s in line 3" in said
    assert "racy.cu:3: no repair but by choice for the data-race: Threads collide in one execution of `s`" in said


def test_line_ends_mark_and_mode_are_kept(folder: Path) -> None:
    file = folder / "dos.cu"
    file.write_bytes(b"\xef\xbb\xbf" + RACY.replace("\n", "\r\n").encode())
    file.chmod(0o750)
    assert main(["fix", "--write", "dos.cu"], FAKE) == CLEAN
    data = file.read_bytes()
    assert data.startswith(b"\xef\xbb\xbf__global__")
    assert b"__syncthreads();" in data
    assert data.count(b"\xef\xbb\xbf") == 1
    assert file.stat().st_mode & 0o777 == 0o750


def test_bytes_that_are_not_utf_8_stay_as_they_are(folder: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    file = folder / "old.cu"
    file.write_bytes(b"// \xa9 caf\xe9\n" + RACY.encode())
    assert main(["fix", "old.cu"], FAKE) == FINDINGS
    captured = capsysbinary.readouterr()
    assert b" // \xa9 caf\xe9\n" in captured.out
    assert b"not UTF-8: byte 0xa9 on line 1" in captured.err
    assert main(["fix", "--write", "old.cu"], FAKE) == CLEAN
    assert file.read_bytes() == b"// \xa9 caf\xe9\n" + FIXED.encode()


def test_a_kernel_with_two_mistakes_is_repaired_in_two_turns(folder: Path) -> None:
    # More repairs in the first turn than there are turns.
    names = [f"k{number}" for number in range(12)]
    line = "  a[i] = a[i + 1];\n"
    (folder / "many.cu").write_text(
        "".join(f"__global__ void {name}(int *a, int i) {{\n{line * 2}}}\n" for name in names)
    )
    assert main(["fix", "--write", "many.cu"], FAKE) == CLEAN
    assert (folder / "many.cu").read_text().count("__syncthreads();") == 2 * len(names)


def test_all_files_are_repaired(folder: Path) -> None:
    (folder / "other.cu").write_text(RACY)
    assert main(["fix", "--write", "."], FAKE) == CLEAN
    assert (folder / "other.cu").read_text() == FIXED


def test_a_header_is_repaired_with_the_file_that_includes_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sub = folder / "sub"
    sub.mkdir()
    (sub / "used.cuh").write_text(RACY)
    (sub / "alone.cuh").write_text(RACY)
    (sub / "z.cu").write_text('#include "used.cuh"\n')
    assert main(["fix", "--write", "sub"], FAKE) == CLEAN
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(": ")[0] for line in lines] == ["sub/used.cuh", "sub/alone.cuh"]
    assert (sub / "used.cuh").read_text() == (sub / "alone.cuh").read_text() == FIXED


def test_a_file_that_cannot_be_read_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fix", "--write", "racy.cu", "missing.cu"], FAKE) == NOT_ANALYSED
    assert "missing.cu: not analysed" in capsys.readouterr().err


def test_a_file_that_changed_meanwhile_is_left_alone(folder: Path) -> None:
    file = folder / "racy.cu"
    file.write_text(RACY + "// edited\n")
    with pytest.raises(OSError, match="has changed"):
        fix.write({str(file): (RACY, FIXED)})
    assert file.read_text() == RACY + "// edited\n"


def test_a_file_that_cannot_be_written_is_told_and_left_as_it_was(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(fix, "write", full)
    assert main(["fix", "--write", "racy.cu"], FAKE) == NOT_ANALYSED
    assert "racy.cu: not written: No space left on device\n" in capsys.readouterr().err
    assert (folder / "racy.cu").read_text() == RACY


def test_a_read_only_file_is_told_and_left_as_it_was(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "other.cu").write_text(RACY)
    (folder / "racy.cu").chmod(0o444)
    assert main(["fix", "--write", "."], FAKE) == NOT_ANALYSED
    assert "racy.cu: not written: the file is read-only\n" in capsys.readouterr().err
    assert (folder / "racy.cu").read_text() == RACY
    assert (folder / "other.cu").read_text() == FIXED


def test_files_that_need_each_other_are_written_all_or_none(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "used.cuh").write_text(RACY.replace("shift", "turn"))
    (folder / "used.cuh").chmod(0o444)
    (folder / "racy.cu").write_text('#include "used.cuh"\n' + RACY)
    assert main(["fix", "--write", "."], FAKE) == NOT_ANALYSED
    said = capsys.readouterr().err
    assert "used.cuh: not written: the file is read-only\n" in said
    assert "racy.cu: not written: its repair needs that of used.cuh\n" in said
    assert (folder / "racy.cu").read_text() == '#include "used.cuh"\n' + RACY


def test_titles_name_the_lines_of_the_file_as_it_was() -> None:
    before = "a\nb\nc\nd\ne\nf\n"
    now = "a\nX\nc\nd\nnew\ne\nf\n"
    assert in_old_lines("Insert after line 7 — 2 barriers", before, now) == "Insert after line 6 — 2 barriers"
    assert in_old_lines("after lines 2, 5 and 6", before, now) == "after lines 2, 4 and 5"
    assert in_old_lines("Remove line 4", before, "c\nd\ne\nf\n") == "Remove line 6"
    assert in_old_lines("Remove line 4", before, before) == "Remove line 4"
    assert in_old_lines("in lines 2 and 3", "a\nb\n", "a\nx\ny\nb\n") == "in line 1"


def edit(start: int, end: int, text: str, path: str = "/a.cu") -> TextEdit:
    return TextEdit(SourceSpan(path, 1, 1, 1, 1, start, end), text)


def offer(*edits: TextEdit, group: str, preferred: bool = True) -> Fix:
    return Fix("t", "insert-barrier", edits, (group,), "", preferred)


def test_offsets_are_bytes() -> None:
    assert fix.apply("/* é */ab", [edit(9, 9, "|"), edit(8, 9, "A")]) == "/* é */A|b"


def test_only_repairs_that_go_together_are_taken() -> None:
    first, overlapping = offer(edit(5, 9, ""), group="a"), offer(edit(7, 7, "x"), group="b")
    second, unwanted = offer(edit(20, 20, "y"), group="c"), offer(edit(30, 30, "z"), group="d", preferred=False)
    unit = UnitResult("/a.cu", 80)
    # No kernel of the unit has these groups, so they count as one kernel's: one repair at a time.
    assert fix.compatible(unit, [first, overlapping, second, unwanted]) == [first]


def test_a_file_elsewhere_is_named_from_the_root() -> None:
    assert fix.diff("/elsewhere/k.cu", "a\n", "b\n", Style(False)).startswith("--- a/elsewhere/k.cu\n+++ b/elsewhere/")


def test_a_missing_last_line_end_shows_in_the_diff() -> None:
    text = fix.diff("/a.cu", "int a;", "int b;", Style())
    assert text.endswith("-int a;\n\\ No newline at end of file\n+int b;\n\\ No newline at end of file\n")
