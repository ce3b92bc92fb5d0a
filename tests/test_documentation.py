"""The pages of the diagnostics say what is true: their examples are checked, and there is one for every verdict."""

from __future__ import annotations

import json
import re
import sys
import typing
from pathlib import Path

import pytest
from expectations import check
from pygls import uris

from analyzers.engine import Engine
from analyzers.model import Fix, Verdict
from analyzers.requests import CheckRequest
from cuda_lsp import config, documentation
from cuda_lsp.adoption.comments import CommentCode
from cuda_lsp.cli.main import main
from cuda_lsp.features import run_results
from gpu_runner.request import FaultKind
from quickfix import answers

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DOCS = Path(__file__).parent.parent / "docs"
ALL_PAGES = sorted((DOCS / "diagnostics").glob("*.md"))
OF_COMMENTS = {code.value for code in CommentCode}
OF_RUNS = set(run_results.CODES.values()) - {verdict.value for verdict in Verdict}
PAGES = [page for page in ALL_PAGES if page.stem not in OF_COMMENTS | OF_RUNS]
RUN_PAGES = [page for page in ALL_PAGES if page.stem in OF_RUNS | {Verdict.LANE_NOT_IN_MASK.value}]
_SECTION = re.compile(r"^## (.+?)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"^```cuda\n(.*?)^```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


def example(page: Path, section: str) -> str | None:
    sections = {match[1]: match[2] for match in _SECTION.finditer(page.read_text(encoding="utf-8"))}
    code = _CODE.search(sections.get(section, ""))
    return code[1] if code else None


def verdicts(text: str) -> set[Verdict]:
    return {kernel.verdict for kernel in check(text).unit.kernels}


def test_there_is_a_page_for_every_verdict() -> None:
    assert {page.stem for page in PAGES} == {verdict.value for verdict in Verdict}
    assert {page.stem for page in ALL_PAGES} == {verdict.value for verdict in Verdict} | OF_COMMENTS | OF_RUNS


def test_everything_that_a_run_sees_has_a_code() -> None:
    assert set(run_results.CODES) == {*typing.get_args(FaultKind), "deadlock"}


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: page.stem)
def test_a_page_says_what_why_how_and_where_it_ends(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    what = text.removeprefix(f"# {page.stem}\n\n").split("\n## ")[0]
    sections = {match[1]: match[2].strip() for match in _SECTION.finditer(text)}
    # A proof is no diagnostic: there is nothing to repair.
    parts = (
        ["Example", "Limits"] if page.stem == "race-free" else ["Example", "Why it matters", "How to fix it", "Limits"]
    )
    assert [name for name in sections if name in parts] == parts
    for part in (what, *(sections[name] for name in parts)):
        assert len(part) > 40, part


def seen_in_a_run(text: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> set[str]:
    """The codes of the faults and of the end of a run with the inputs that stand above the kernel."""
    file = folder / "page.cu"
    file.write_text(text, encoding="utf-8")
    name = re.search(r"__global__ void (\w+)", text)
    assert name is not None
    main(["run", f"{file}:{name[1]}", "--seeds", "1", "--format", "json"])
    found: set[str] = set()
    for each in json.loads(capsys.readouterr().out)["inputs"]:
        assert each["run"]["races"] == []
        found |= {run_results.CODES[fault["kind"]] for fault in each["run"]["faults"]}
        found |= {each["run"]["status"]} - {"finished"}
    return found


@pytest.mark.usefixtures("lasting_workers")
@pytest.mark.parametrize("page", RUN_PAGES, ids=lambda page: page.stem)
def test_the_example_of_a_run_shows_it_and_the_repaired_one_does_not(
    page: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, repaired = example(page, "Example"), example(page, "Repaired")
    assert text is not None
    assert repaired is not None
    assert seen_in_a_run(text, tmp_path, capsys) == {page.stem}
    assert seen_in_a_run(repaired, tmp_path, capsys) == set()


@pytest.mark.parametrize("page", [page for page in ALL_PAGES if page.stem in OF_COMMENTS], ids=lambda page: page.stem)
def test_the_example_of_a_comment_is_told_to_be_wrong(
    page: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = example(page, "Example")
    assert text is not None
    (tmp_path / "a.cu").write_text(text)
    main(["check", str(tmp_path / "a.cu"), "--format", "json"])
    assert [issue["code"] for issue in json.loads(capsys.readouterr().out)["comments"]] == [page.stem]


def test_diagnostics_link_to_their_pages() -> None:
    for verdict in Verdict:
        address = documentation.diagnostic_page(verdict.value)
        path = uris.to_fs_path(address) if address is not None else None
        assert path is not None
        assert Path(path).read_text(encoding="utf-8").startswith(f"# {verdict.value}\n")
        elsewhere = documentation.diagnostic_page(verdict.value, "https://h/x")
        assert elsewhere == f"https://h/x/diagnostics/{verdict.value}.md"
    assert documentation.diagnostic_page("cli") is None


def test_every_page_can_be_read_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    """What only developers read is left out."""
    pages = {
        page.stem: page for page in [*ALL_PAGES, *DOCS.glob("*.md")] if page.stem not in ("README", "architecture")
    }
    for name, page in pages.items():
        assert main(["docs", name]) == 0
        assert capsys.readouterr().out == page.read_text(encoding="utf-8")
    assert main(["docs"]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert sorted(listed) == sorted(pages)
    assert main(["docs", "--path", "data-race"]) == 0
    assert capsys.readouterr().out == f"{DOCS / 'diagnostics' / 'data-race.md'}\n"
    assert main(["docs", "no-such-page"]) == 2


def test_the_page_of_the_command_line_has_every_option_and_no_other(capsys: pytest.CaptureFixture[str]) -> None:
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    there: set[str] = set()
    for command in ("check", "fix", "explain", "run", "doctor", "docs", "completion", "serve"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        there |= set(re.findall(r"--[a-z][a-z-]*", capsys.readouterr().out))
    # In code, the page also names options of `cuda-lsp` itself and of other programs.
    told = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", page))
    assert there - {"--help"} <= told
    assert set(re.findall(r"^\| `(--[a-z-]+)", page, re.MULTILINE)) <= there


def test_the_index_leads_to_every_page() -> None:
    links = {(DOCS / link).resolve() for link in _LINK.findall((DOCS / "README.md").read_text(encoding="utf-8"))}
    assert {page for page in [*ALL_PAGES, *DOCS.glob("*.md")] if page.name != "README.md"} <= links


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_example_has_the_verdict_of_its_page(page: Path) -> None:
    text = example(page, "Example")
    assert text is not None
    assert verdicts(text) == {Verdict(page.stem)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_repaired_example_is_race_free(page: Path) -> None:
    text = example(page, "Repaired")
    assert (text is None) == (page.stem == "race-free")
    if text is not None:
        assert verdicts(text) == {Verdict.RACE_FREE}


FIXES = {
    "barrier-after-exit": "a choice",
    "barrier-divergence": "another text",
    "data-race": "the page's",
    "possible-data-race": "the page's",
    "redundant-barrier": "the page's",
}
"""Whose example the quick fix repairs, and whether into what the page shows."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_quick_fix_repairs_the_example(page: Path) -> None:
    text, repaired = example(page, "Example"), example(page, "Repaired")
    assert text is not None
    engine, request = Engine(), CheckRequest("/pages/a.cu", text)
    list(engine.check(request))
    fixes = [answer for answer in answers(engine, request) if isinstance(answer, Fix)]
    assert len(fixes) == (page.stem in FIXES), [fix.title for fix in fixes]
    for fix in fixes:
        edited = text
        for edit in sorted(fix.edits, key=lambda e: e.span.start_offset, reverse=True):
            edited = edited[: edit.span.start_offset] + edit.new_text + edited[edit.span.end_offset :]
        assert (edited == repaired) == (FIXES[page.stem] == "the page's")
        assert fix.preferred == (FIXES[page.stem] != "a choice")
        assert verdicts(edited) == {Verdict.RACE_FREE}


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: page.relative_to(DOCS).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    links = _LINK.findall(page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_the_report_that_is_explained_is_the_one_that_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Lines may be shortened with an ellipsis."""
    monkeypatch.chdir(DOCS.parent)
    main(["check", "examples/center_rows.cu"])
    printed = capsys.readouterr().out.split("\n\n2 kernels")[0].splitlines()
    page = (DOCS / "reading-a-verdict.md").read_text(encoding="utf-8")
    shown = page[page.index("    examples/center_rows.cu:35:3") : page.index("\n\n- **The two accesses**")]
    lines = [line.removeprefix("    ") for line in shown.splitlines()]
    assert len(lines) == len(printed)
    for line, real in zip(lines, printed, strict=True):
        assert real.startswith(line[:-1]) if line.endswith("…") else real == line


def test_the_snippets_for_editors_are_of_their_formats_and_start_the_server() -> None:
    page = (DOCS / "editors.md").read_text(encoding="utf-8")
    snippets = re.findall(r"^```(\w+)\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    formats = {name for name, _ in snippets}
    assert formats == {"lua", "elisp", "toml", "kak", "json", "vim"}
    for name, text in snippets:
        if name == "json":
            json.loads(text)
        if name == "toml":
            tomllib.loads(text)
        if name in ("json", "toml", "kak", "vim"):
            assert "cuda-lsp" in text
            assert "serve" in text
    settings = {option.name for option in config.OPTIONS}
    assert set(re.findall(r"(?<=[\"':. ])check-on(?=[\"' ])", page)) <= settings
