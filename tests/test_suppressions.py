"""Suppressions in comments: how they are read, what they hide, and what is said about them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from analyzers.model import Verdict
from cuda_lsp.adoption.comments import CommentCode, read
from cuda_lsp.cli.exit_codes import CLEAN, FINDINGS
from cuda_lsp.cli.main import main

FAKE = "lsp.fake_engine:create"
RACE = "a[i] = a[i + 1];"


def kernel(name: str, *lines: str) -> str:
    return f"__global__ void {name}(int *a, int i) {{\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


def only(text: str) -> Any:
    (suppression,) = read(text, "a.cu").suppressions
    return suppression


# --- reading ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("f();\na[i] = 0;  // cuda-lsp: ignore[data-race] why\nb();", (2, 2)),
        ("// cuda-lsp: ignore[data-race] why\n\n// more\na[i] =\n   b[i];\nc();", (4, 5)),
        ("/* cuda-lsp: ignore[data-race] why */ a[i] = 0;\nb();", (1, 1)),
        ("f();  /* cuda-lsp: ignore[data-race] why\n */\na[i] = 0;", (1, 1)),
        ("// cuda-lsp: ignore[data-race] why\ntemplate <class T>\n__global__ void k(T *a,\n T b) {\n", (2, 4)),
        ("{ a();\n  // cuda-lsp: ignore[data-race] why\n}\n__global__ void next() {", (3, 3)),
        ("// cuda-lsp: ignore[data-race] why\n", (0, 0)),
        ("int n = 1'000;  // cuda-lsp: ignore[data-race] why\nf();", (1, 1)),
    ],
)
def test_what_a_comment_is_about(text: str, lines: tuple[int, int]) -> None:
    suppression = only(text)
    assert suppression.lines == lines
    assert suppression.codes == (Verdict.DATA_RACE,)
    assert suppression.reason.startswith("why")


@pytest.mark.parametrize("written", ["why", ": why", " - why", "  — why"])
def test_the_reason_is_what_follows_the_bracket(written: str) -> None:
    assert only(f"f();  // cuda-lsp: ignore[ data-race , benign-race ]{written}").reason == "why"


@pytest.mark.parametrize(
    ("text", "code", "part"),
    [
        ("// cuda-lsp: ignore[data-races] why", CommentCode.INVALID, "did you mean data-race?"),
        ("// cuda-lsp: ignore[warp] why", CommentCode.INVALID, "there are data-race, barrier-divergence"),
        ("// cuda-lsp: ignore[unknown] why", CommentCode.INVALID, "a verdict without a finding"),
        ("// cuda-lsp: ignore data-race", CommentCode.INVALID, "name the codes"),
        ("// cuda-lsp: ignore[] why", CommentCode.INVALID, "name the codes"),
        ("// cuda-lsp: ignore[data-race]", CommentCode.UNEXPLAINED, "No reason"),
        ("// cuda-lsp: ignore-file[data-race] --", CommentCode.UNEXPLAINED, "No reason"),
    ],
)
def test_what_is_wrong_with_a_comment(text: str, code: CommentCode, part: str) -> None:
    (issue,) = read(text + "\nf();\n", "a.cu").issues
    assert issue.code is code
    assert part in issue.message


def test_a_comment_with_a_good_and_a_bad_code_ignores_the_good_one() -> None:
    found = read("f();  // cuda-lsp: ignore[data-race, nonsense] why", "a.cu")
    assert found.suppressions[0].codes == (Verdict.DATA_RACE,)
    assert [issue.code for issue in found.issues] == [CommentCode.INVALID]


def test_strings_are_no_comments() -> None:
    assert read('const char *s = "// cuda-lsp: ignore[data-race] why";', "a.cu").suppressions == ()


# --- the command line -------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(["check", *arguments], FAKE)
    return code, capsys.readouterr().out


def issues(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[tuple[str, str, int]]:
    document = json.loads(check(capsys, *arguments, "--format", "json")[1])
    return [(issue["code"], issue["path"], issue["line"]) for issue in document["comments"]]


@pytest.mark.parametrize(
    "text",
    [
        kernel("k", f"{RACE}  // cuda-lsp: ignore[data-race] why"),
        kernel("k", "// cuda-lsp: ignore[data-race] why", RACE),
        "// cuda-lsp: ignore[data-race] why\n" + kernel("k", RACE),
        kernel("k", RACE).replace("{\n", "{  // cuda-lsp: ignore[data-race] why\n", 1),
        kernel("k", RACE) + "// cuda-lsp: ignore-file[data-race] why\n",
    ],
    ids=["line", "before", "kernel", "signature", "file"],
)
def test_an_ignored_finding_is_not_shown_and_does_not_fail(
    folder: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    (folder / "a.cu").write_text(text)
    code, out = check(capsys, "a.cu")
    assert code == CLEAN
    assert "is written while" not in out
    assert "1 kernel in 1 file: 1 suppressed (" in out
    assert "not shown: 1 finding suppressed by comments (listed with -v)" in out
    assert "race-free" not in out
    code, out = check(capsys, "a.cu", "-v")
    assert "data-race in k, suppressed: why (a.cu:" in out
    assert "race-free" not in out


@pytest.mark.parametrize(
    "text",
    [
        kernel("k", "// cuda-lsp: ignore[benign-race] why", RACE),
        kernel("k", "f();  // cuda-lsp: ignore[data-race] why", RACE),
        "// cuda-lsp: ignore[data-race] why\n" + kernel("other", "f();") + kernel("k", RACE),
        kernel("k", "// cuda-lsp: ignore[data-race] why") + kernel("next", RACE),
    ],
    ids=["code", "line", "kernel", "brace"],
)
def test_what_a_comment_is_not_about_is_shown(folder: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    (folder / "a.cu").write_text(text)
    code, out = check(capsys, "a.cu")
    assert code == FINDINGS
    assert "is written while" in out
    assert "unused-suppression" in out


def test_a_comment_is_unused_where_that_is_sure(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.cu").write_text(kernel("k", "f();  // cuda-lsp: ignore[data-race, redundant-barrier] why"))
    assert issues(capsys, "a.cu") == [("unused-suppression", "a.cu", 2)]
    assert issues(capsys, "a.cu", "--kernel", "k") == []
    assert issues(capsys, "a.cu", "--no-host") == []
    (folder / "b.cu").write_text(kernel("k", "f();  // cuda-lsp: ignore[data-race] why", "// unknown"))
    assert issues(capsys, "b.cu") == []
    (folder / "c.cu").write_text("#if X\n" + kernel("k", "f();  // cuda-lsp: ignore[data-race] why") + "#endif\n")
    assert issues(capsys, "c.cu") == []
    (folder / "d.cu").write_text(kernel("k", "f();  // cuda-lsp: ignore[redundant-barrier] why"))
    (folder / ".cuda-lsp.toml").write_text("redundant-barriers = false\n")
    assert issues(capsys, "d.cu") == []


def test_what_is_found_instead_of_the_code_in_a_comment_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "a.cu").write_text(kernel("k", f"{RACE}  // cuda-lsp: ignore[benign-race] why"))
    assert "There is no benign-race here to ignore: what is found here is data-race\n" in check(capsys, "a.cu")[1]
    (folder / "a.cu").write_text(kernel("k", f"{RACE}  // cuda-lsp: ignore[data-race, benign-race] why"))
    assert "There is no benign-race here to ignore\n" in check(capsys, "a.cu")[1]


def test_a_comment_in_a_header_is_unused_when_its_folder_was_checked(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "h.cuh").write_text(kernel("k", f"{RACE}  // cuda-lsp: ignore[data-race] why"))
    (folder / "i.cuh").write_text(kernel("l", "f();  // cuda-lsp: ignore[data-race] why"))
    (folder / "a.cu").write_text('#include "h.cuh"\n#include "i.cuh"\n')
    assert issues(capsys, "a.cu") == []
    assert issues(capsys, ".") == [("unused-suppression", "i.cuh", 2)]


def test_issues_can_fail_a_check_and_be_switched_off(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.cu").write_text(kernel("k", "f();  // cuda-lsp: ignore[data-race]"))
    assert check(capsys, "a.cu")[0] == CLEAN
    assert check(capsys, "a.cu", "--fail-on", "unused-suppression")[0] == FINDINGS
    (folder / ".cuda-lsp.toml").write_text(
        '[severity]\nunused-suppression = "off"\nunexplained-suppression = "error"\n'
    )
    document = json.loads(check(capsys, "a.cu", "--format", "json")[1])
    assert [(issue["code"], issue["severity"]) for issue in document["comments"]] == [
        ("unexplained-suppression", "error")
    ]


def test_json_has_what_is_ignored(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.cu").write_text(kernel("k", f"{RACE}  // cuda-lsp: ignore[data-race] why"))
    document = json.loads(check(capsys, "a.cu", "--format", "json")[1])
    (found,) = document["units"][0]["kernels"]
    assert (found["verdict"], found["counts_as"]) == ("data-race", "suppressed")
    assert found["contexts"][0]["findings"][0]["muted"] == {
        "how": "suppressed",
        "reason": "why",
        "path": "a.cu",
        "line": 2,
    }
    assert document["summary"] == {"suppressed": 1}


def test_sarif_has_what_is_ignored_with_its_justification(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = kernel("k", f"{RACE}  // cuda-lsp: ignore[data-race] wäre egal", RACE)
    (folder / "a.cu").write_text("// é\n" + text, encoding="utf-8")
    code, out = check(capsys, "a.cu", "--format", "sarif")
    assert code == FINDINGS
    (run,) = json.loads(out)["runs"]
    hidden, shown = run["results"]
    (suppression,) = hidden["suppressions"]
    assert (suppression["kind"], suppression["justification"]) == ("inSource", "wäre egal")
    assert suppression["location"]["physicalLocation"]["region"]["startLine"] == 3
    assert "suppressions" not in shown
    assert run["tool"]["driver"]["rules"][shown["ruleIndex"]]["id"] == shown["ruleId"] == "data-race"
    region = shown["locations"][0]["physicalLocation"]["region"]
    assert (region["startLine"], region["startColumn"], region["endColumn"]) == (4, 3, 7)
    assert len(shown["codeFlows"][0]["threadFlows"]) == 2
    prints = {result["partialFingerprints"]["cudaLsp/v1"] for result in run["results"]}
    assert len(prints) == 2


def test_fix_leaves_ignored_findings_alone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.cu").write_text(kernel("k", f"{RACE}  // cuda-lsp: ignore[data-race] why") + kernel("l", RACE))
    main(["fix", "a.cu"], FAKE)
    assert [line for line in capsys.readouterr().out.splitlines() if line.startswith("+  ")] == ["+  __syncthreads();"]
