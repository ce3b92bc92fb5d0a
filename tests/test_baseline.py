"""The baseline: what makes a finding known, what does not, and what is said of entries that no longer occur."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cuda_lsp.cli.exit_codes import CLEAN, FINDINGS, NOT_ANALYSED, USAGE
from cuda_lsp.cli.main import main

FAKE = "lsp.fake_engine:create"
RACE = "a[i] = a[i + 1];"
FILE = "known.json"


def kernel(name: str, *lines: str) -> str:
    return f"__global__ void {name}(int *a, int i) {{\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, text: str, *arguments: str) -> None:
    (folder / "a.cu").write_text(text)
    assert main(["check", ".", "--write-baseline", FILE, *arguments], FAKE) == CLEAN


def check(folder: Path, capsys: pytest.CaptureFixture[str], text: str, *arguments: str) -> tuple[int, str]:
    (folder / "a.cu").write_text(text)
    capsys.readouterr()
    code = main(["check", ".", "--baseline", FILE, *arguments], FAKE)
    return code, capsys.readouterr().out


def entries(folder: Path) -> list[dict[str, Any]]:
    return json.loads((folder / FILE).read_text())["findings"]


@pytest.mark.parametrize(
    "text",
    [
        kernel("k", RACE),
        "// more\n\nint n;\n" + kernel("other") + kernel("k", "int j = 0;", f"{RACE}  // said"),
        kernel("k", RACE) + "void go(int *p) {\n  k<<<1, 32>>>(p, 0);\n  k<<<2, 64>>>(p, 0);\n}\n",
    ],
    ids=["same", "moved", "launched"],
)
def test_what_is_known_is_not_shown_whatever_else_changes(
    folder: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    write(folder, kernel("k", RACE))
    code, out = check(folder, capsys, text)
    assert code == CLEAN
    assert "is written while" not in out
    assert "1 known" in out
    assert "race-free" not in out.replace("1 race-free", "") or "other" in text
    assert "not shown: 1 finding known from the baseline" in out
    assert "no longer" not in out


@pytest.mark.parametrize(
    "text",
    [
        kernel("k", RACE) + kernel("l", RACE),
        kernel("k", RACE, "__syncthreads(); // useless"),
        kernel("k", RACE, "f();", RACE),
    ],
    ids=["kernel", "code", "one more of the same"],
)
def test_what_is_new_is_shown(folder: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    write(folder, kernel("k", RACE))
    code, out = check(folder, capsys, text, "--fail-on", "data-race,redundant-barrier")
    assert code == FINDINGS
    assert "1 finding known from the baseline" in out


def test_a_kernel_whose_only_useless_barrier_is_hidden_does_not_count_by_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = kernel("k", "__syncthreads(); // useless")
    write(folder, text)
    assert "1 kernel in 1 file: 1 known (" in check(folder, capsys, text)[1]
    two = kernel("k", "__syncthreads(); // useless", "__syncthreads(); // useless")
    assert "1 kernel in 1 file: 1 redundant-barrier (" in check(folder, capsys, two)[1]
    (folder / ".cuda-lsp.toml").write_text('[severity]\nredundant-barrier = "off"\n')
    main(["check", ".", "--no-baseline"], FAKE)
    assert "1 kernel in 1 file: 1 off (" in capsys.readouterr().out


def test_a_file_of_another_name_is_new(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder, kernel("k", RACE))
    (folder / "b.cu").write_text(kernel("k", RACE))
    code, out = check(folder, capsys, kernel("k", RACE))
    assert code == FINDINGS
    assert "b.cu:2:3: data-race" in out
    assert "a.cu:2:3: data-race" not in out


def test_entries_that_no_longer_occur_are_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder, kernel("k", RACE) + kernel("l", RACE))
    repaired = kernel("k", RACE) + kernel("l", "f();")
    _, out = check(folder, capsys, repaired)
    assert "baseline: no longer in the code is 1 entry of known.json; --write-baseline drops them:" in out
    assert "  a.cu: data-race in l: write a[i], read a[i + 1]" in out
    document = json.loads(check(folder, capsys, repaired, "--format", "json")[1])
    assert document["baseline"]["known"] == 1
    assert [(each["kernel"], each["path"]) for each in document["baseline"]["gone"]] == [("l", "a.cu")]
    (run,) = json.loads(check(folder, capsys, repaired, "--format", "sarif")[1])["runs"]
    assert [result["baselineState"] for result in run["results"]] == ["unchanged", "absent"]
    assert run["results"][1]["partialFingerprints"]["cudaLsp/v1"] in {each["fingerprint"] for each in entries(folder)}
    write(folder, repaired)
    assert [each["kernel"] for each in entries(folder)] == ["k"]


def test_nothing_is_called_gone_that_was_not_looked_at(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder, kernel("k", RACE) + kernel("l", RACE))
    assert "no longer" not in check(folder, capsys, kernel("k", RACE) + kernel("l", "// unknown"))[1]
    assert "no longer" not in check(folder, capsys, kernel("k", RACE) + kernel("l", "f();"), "--kernel", "k")[1]
    assert "no longer" not in check(folder, capsys, "#error\n")[1]
    (folder / "b.cu").write_text(kernel("k"))
    main(["check", "b.cu", "--baseline", FILE], FAKE)
    assert "no longer" not in capsys.readouterr().out


def test_a_run_on_a_part_keeps_what_the_file_says_of_the_rest(folder: Path) -> None:
    (folder / "b.cu").write_text(kernel("m", RACE))
    write(folder, kernel("k", RACE))
    (folder / "b.cu").write_text(kernel("m", "f();"))
    assert main(["check", "a.cu", "--write-baseline", FILE], FAKE) == CLEAN
    assert [each["path"] for each in entries(folder)] == ["a.cu", "b.cu"]
    (folder / "b.cu").unlink()
    assert main(["check", "a.cu", "--write-baseline", FILE], FAKE) == CLEAN
    assert [each["path"] for each in entries(folder)] == ["a.cu"]


def test_what_is_known_of_a_kernel_stays_while_it_is_unknown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder, kernel("k", RACE) + kernel("l", RACE))
    write(folder, kernel("k", "f();") + kernel("l", "// unknown"))
    assert [each["kernel"] for each in entries(folder)] == ["l"]
    assert check(folder, capsys, kernel("k", "f();") + kernel("l", RACE))[0] == CLEAN


def test_suppressed_findings_are_not_written(folder: Path) -> None:
    write(folder, kernel("k", f"{RACE}  // cuda-lsp: ignore[data-race] why") + kernel("l", RACE))
    assert [each["kernel"] for each in entries(folder)] == ["l"]


def test_the_settings_can_name_it_relative_to_them(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / ".cuda-lsp.toml").write_text(f'baseline = "{FILE}"\n')
    (folder / "sub").mkdir()
    (folder / "sub" / "b.cu").write_text(kernel("m", RACE))
    write(folder, kernel("k", RACE))
    assert {each["path"] for each in entries(folder)} == {"a.cu", "sub/b.cu"}
    monkeypatch.chdir(folder / "sub")
    assert main(["check", "b.cu"], FAKE) == CLEAN
    assert main(["check", "b.cu", "--no-baseline"], FAKE) == FINDINGS


def test_what_is_wrong_is_told_before_anything_is_checked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.cu").write_text(kernel("k", RACE))
    (folder / "other.json").write_text("{}")
    (folder / "old.json").write_text('{"schema": 0, "findings": []}')
    for arguments, part in [
        (["--baseline", "missing.json"], "--baseline missing.json: cannot be read"),
        (["--baseline", "a.cu"], "not a JSON file"),
        (["--baseline", "other.json"], "not a baseline of cuda-lsp"),
        (["--baseline", "old.json"], "a baseline of schema 0"),
        (["--write-baseline", "no/where.json"], "there is no folder"),
        (["--write-baseline", FILE, "--kernel", "k"], "takes a check of everything"),
    ]:
        assert main(["check", "a.cu", *arguments], FAKE) == USAGE
        assert part in capsys.readouterr().err
    assert not (folder / FILE).exists()


def test_a_file_that_cannot_be_analysed_still_ends_the_run_so(folder: Path) -> None:
    (folder / "a.cu").write_text(kernel("k", RACE))
    (folder / "b.cu").write_text("#error\n")
    assert main(["check", ".", "--write-baseline", FILE], FAKE) == NOT_ANALYSED
    assert [each["path"] for each in entries(folder)] == ["a.cu"]
