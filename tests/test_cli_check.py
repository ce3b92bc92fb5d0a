"""`cuda-lsp check` end to end, with worker processes that run the tests' stand-in for the analysis."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import documented_json
import pytest

from cuda_lsp.cli import jobs
from cuda_lsp.cli.exit_codes import BROKEN_PIPE, CLEAN, FINDINGS, NOT_ANALYSED, USAGE
from cuda_lsp.cli.main import main

FAKE = "lsp.fake_engine:create"
RACY = """__global__ void shift(int *a, int i) {
  a[i] = a[i + 1];
}
void host(int *a) {
  shift<<<4, 64>>>(a, 1);
}
"""
CLEAN_KERNEL = "__global__ void fine(int *b, int i) {\n  b[i] = 1;\n}\n"
UNDECIDED = "__global__ void hard(int *b, int i) {\n  // unknown\n}\n"
USELESS = "__global__ void slow(int *b, int i) {\n  __syncthreads(); // useless\n}\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {"racy.cu": RACY, "fine.cu": CLEAN_KERNEL, "hard.cu": UNDECIDED, "slow.cu": USELESS}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def report(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["fine.cu"], CLEAN),
        (["racy.cu"], FINDINGS),
        (["hard.cu"], CLEAN),
        (["slow.cu"], CLEAN),
        (["hard.cu", "--fail-on", "unknown"], FINDINGS),
        (["slow.cu", "--fail-on", "redundant-barrier,data-race"], FINDINGS),
        (["racy.cu", "--fail-on", "never"], CLEAN),
        (["racy.cu", "--fail-on", "barrier-divergence"], CLEAN),
        (["missing.cu"], NOT_ANALYSED),
        (["racy.cu", "missing.cu"], NOT_ANALYSED),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_exit_codes(arguments: list[str], code: int) -> None:
    assert main(["check", *arguments], FAKE) == code


def test_without_a_path_this_folder_is_checked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--format", "json"], FAKE) == FINDINGS
    assert {unit["path"] for unit in report(capsys)["units"]} == {"fine.cu", "hard.cu", "racy.cu", "slow.cu"}


def test_a_kernel_that_nobody_has_is_a_mistake(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "empty.cu").write_text("int nothing;\n")
    assert main(["check", "empty.cu", "--kernel", "other"], FAKE) == USAGE
    assert "no kernel named other" in capsys.readouterr().err
    (folder / "two.cu").write_text("__global__ void a(int *p) { p[0] = 1; }\n__global__ void b() {}\n")
    for command in ("check", "fix"):
        assert main([command, "two.cu", "--kernel", "::b", "--kernel", "typo", "--kernel", "slip<4>"]) == USAGE
        captured = capsys.readouterr()
        assert captured.err == "cuda-lsp: no kernel named typo or slip<4> in these files\n"
    assert main(["check", "two.cu", "--kernel", "::b"]) == CLEAN


def test_a_unit_that_cannot_be_analysed_costs_only_itself(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "broken.cu").write_text("#error\n")
    assert main(["check", "broken.cu", "racy.cu"], FAKE) == NOT_ANALYSED
    out = capsys.readouterr().out
    assert "broken.cu: not analysed" in out
    assert "racy.cu:2" in out


@pytest.mark.parametrize("count", ["1", "2"])
def test_a_worker_that_dies_costs_its_file_only(folder: Path, count: str, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "deadly.cu").write_text("__global__ void k(int *a) {\n  // crash always\n}\n")
    files = ["racy.cu", "deadly.cu", "fine.cu"]
    assert main(["check", *files, "--jobs", count, "--format", "json"], FAKE) == NOT_ANALYSED
    units = report(capsys)["units"]
    assert [unit["path"] for unit in units] == files
    assert [bool(unit["failure"]) for unit in units] == [False, True, False]
    assert units[1]["failure"]["kind"] == "worker-died"
    assert "signal" in units[1]["failure"]["text"]


def test_a_worker_that_hangs_is_given_up(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / ".cuda-lsp.toml").write_text("hang-seconds = 1\n")
    (folder / "endless.cu").write_text("__global__ void k(int *a) {\n  // hang\n}\n")
    assert main(["check", "endless.cu", "fine.cu"], FAKE) == NOT_ANALYSED
    assert "said nothing for 1 s" in capsys.readouterr().out


def test_a_launch_with_a_parameter_that_no_kernel_has_is_a_usage_error(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "real.cu").write_text("__global__ void k(int *o, int n) { if (threadIdx.x < n) o[threadIdx.x] = 1; }\n")
    assert main(["check", "real.cu", "--launch", "block=64,nn=3"]) == USAGE
    assert "kernel k has no integer parameter 'nn' (it has: n)" in capsys.readouterr().err
    assert main(["check", "real.cu", "--launch", "block=64,n=3"]) == CLEAN


def unit_of(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    (unit,) = report(capsys)["units"]
    return unit


@pytest.mark.parametrize(("mark", "kind"), [("hang", "wall-clock"), ("crash always", "worker-died")])
def test_a_kernel_that_ends_its_worker_is_unknown_and_the_others_are_reported(
    folder: Path, mark: str, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / ".cuda-lsp.toml").write_text("hang-seconds = 1\n")
    endless = f"__global__ void endless(int *a) {{\n  // keyed\n  // {mark}\n}}\n"
    (folder / "both.cu").write_text(RACY + endless + CLEAN_KERNEL)
    assert main(["check", "both.cu", "--format", "json"], FAKE) == FINDINGS
    kernels = unit_of(capsys)["kernels"]
    assert [(k["name"], k["verdict"]) for k in kernels] == [
        ("shift", "data-race"),
        ("endless", "unknown"),
        ("fine", "race-free"),
    ]
    assert kernels[1]["contexts"][0]["reason"]["kind"] == kind


def test_a_search_for_repairs_that_hangs_costs_no_result(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / ".cuda-lsp.toml").write_text("hang-seconds = 1\n")
    (folder / "racy.cu").write_text(RACY + "// offers hang\n")
    assert main(["check", "racy.cu", "--format", "json"], FAKE) == FINDINGS
    assert [k["verdict"] for k in unit_of(capsys)["kernels"]] == ["data-race"]


def test_the_order_of_the_report_is_that_of_the_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", "slow.cu", "racy.cu", "hard.cu", "fine.cu", "--jobs", "3", "--format", "json"], FAKE)
    assert [unit["path"] for unit in report(capsys)["units"]] == ["slow.cu", "racy.cu", "hard.cu", "fine.cu"]


@pytest.mark.parametrize(("processors", "count"), [(1, 1), (3, 3), (64, 8)])
def test_by_default_each_processor_has_a_file(monkeypatch: pytest.MonkeyPatch, processors: int, count: int) -> None:
    monkeypatch.setattr(jobs.os, "sched_getaffinity", lambda _: set(range(processors)), raising=False)
    assert jobs.by_default() == count


def test_headers_are_checked_with_the_files_that_include_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sub = folder / "sub"
    sub.mkdir()
    (sub / "used.cuh").write_text(CLEAN_KERNEL)
    (sub / "alone.cuh").write_text(CLEAN_KERNEL)
    (sub / "main.cu").write_text('#include "used.cuh"\n')
    main(["check", "sub", "--format", "json"], FAKE)
    assert [unit["path"] for unit in report(capsys)["units"]] == ["sub/main.cu", "sub/alone.cuh"]
    main(["check", "sub/used.cuh", "sub", "--format", "json"], FAKE)
    assert report(capsys)["units"][0]["path"] == "sub/used.cuh"


def test_a_source_that_another_one_includes_is_checked_as_its_part(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its types and constants are declared in front of the include."""
    sub = folder / "sub"
    sub.mkdir()
    (sub / "kernels.cu").write_text(CLEAN_KERNEL)
    (sub / "main.cu").write_text('typedef float real;\n#include "kernels.cu"\n')
    main(["check", "sub", "--format", "json"], FAKE)
    assert [unit["path"] for unit in report(capsys)["units"]] == ["sub/main.cu"]
    main(["check", "sub/kernels.cu", "--format", "json"], FAKE)
    assert [unit["path"] for unit in report(capsys)["units"]] == ["sub/kernels.cu"]


@pytest.fixture
def shared_header(folder: Path) -> Path:
    """Two sources that include a racy kernel, one that is undecided and a clean one, and launch the first."""
    sub = folder / "sub"
    sub.mkdir()
    clean = CLEAN_KERNEL.replace("fine", "calm")
    (sub / "all.cuh").write_text("#pragma once\n" + RACY.replace("void host", "inline void host") + UNDECIDED + clean)
    for name in ("one.cu", "two.cu"):
        own = CLEAN_KERNEL.replace("fine", name[:3])
        (sub / name).write_text(f'#include "all.cuh"\n{own}')
    return sub


def test_what_is_found_in_a_header_is_told_once(shared_header: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "sub", "--html", "page.html"], FAKE) == FINDINGS
    out = capsys.readouterr().out
    assert out.count("data-race in shift") == 1
    assert out.count("unknown in hard") == 1
    assert "5 kernels in 2 files: 1 data-race, 1 unknown, 3 race-free" in out
    page = Path("page.html").read_text()
    assert [page.count(f'aria-label="Kernel {name}"') for name in ("shift", "hard", "calm", "one")] == [1, 1, 1, 1]
    main(["check", "sub", "--format", "github"], FAKE)
    assert capsys.readouterr().out.count("::error ") == 1
    main(["check", "sub", "--format", "sarif"], FAKE)
    (run,) = report(capsys)["runs"]
    (result,) = run["results"]
    assert len(result["properties"]["launches"]) == 1
    rules = run["tool"]["driver"]["rules"]
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == "data-race"
    texts = [(rule["shortDescription"]["text"], rule["fullDescription"]["text"]) for rule in rules]
    assert all(full.startswith(short.rstrip(".")) and not full.endswith(":.") for short, full in texts)
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["message"]["text"].startswith("hard is not decided")
    main(["check", "sub", "--format", "json"], FAKE)
    found = report(capsys)
    assert [len(unit["kernels"]) for unit in found["units"]] == [4, 4]
    assert found["summary"] == {"data-race": 1, "unknown": 1, "race-free": 3}


def test_the_text_shows_both_accesses(capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", "racy.cu", "hard.cu", "fine.cu", "slow.cu"], FAKE)
    out = capsys.readouterr().out
    assert "racy.cu:2:3: data-race in shift" in out
    assert "2 |   a[i] = a[i + 1];" in out
    assert "^^^^ write" in out
    assert "^^^^^^^^ read" in out
    assert "hard.cu:1:17: unknown in hard" in out
    assert "fine" not in out.replace("fine.cu", "")
    assert out.endswith("\n")
    assert "4 kernels in 4 files: 1 data-race, 1 unknown, 1 redundant-barrier, 1 race-free" in out


def test_json_is_as_documented(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "broken.cu").write_text("#error\n")
    (folder / "lost.cu").write_text('#include "nowhere.h"\n' + RACY)
    main(["check", "--format", "json", "."], FAKE)
    document = report(capsys)
    assert documented_json.violations(document) == []
    assert document["schema"] == 1
    assert document["summary"] == {"data-race": 2, "unknown": 1, "redundant-barrier": 1, "race-free": 1}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".cuda-lsp.toml", "use-host = 3\n"),
        (".cuda-lsp.toml", "no-such-setting = 1\n"),
        (".cuda-lsp.toml", "not toml"),
        ("compile_commands.json", "[[["),
    ],
)
def test_a_wrong_configuration_stops_the_check(
    folder: Path, name: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / name).write_text(text)
    assert main(["check", "fine.cu"], FAKE) == USAGE
    captured = capsys.readouterr()
    assert name in captured.err
    assert captured.out == ""


def test_a_named_database_must_be_one(folder: Path) -> None:
    assert main(["check", "fine.cu", "-p", "nowhere"], FAKE) == USAGE


def test_an_ineffective_flag_is_mentioned(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "fine.cu", "--extra-arg", "-Xptxas=-O3"], FAKE) == CLEAN
    assert "--extra-arg -Xptxas=-O3 has no effect" in capsys.readouterr().err


def test_no_task_is_lost_when_more_workers_die_than_run(folder: Path) -> None:
    names = [f"dead{number}.cu" for number in range(3)]
    for name in names:
        (folder / name).write_text("__global__ void k(int *a) {\n  // crash always\n}\n")
    assert main(["check", *names, "--jobs", "2"], FAKE) == NOT_ANALYSED


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python searches the working directory")
def test_modules_of_the_project_are_not_taken_for_those_of_python(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in ("signal", "struct", "types"):
        (folder / f"{name}.py").write_text("raise ImportError('not this one')\n")
    assert main(["check", "fine.cu"], FAKE) == CLEAN
    assert "not this one" not in capfd.readouterr().err
    assert "PYTHONSAFEPATH" not in os.environ


def test_nothing_to_do_starts_no_worker() -> None:
    with jobs.Pool(2, "no:where") as pool:
        assert list(pool.outcomes([], lambda _task, _progress: None)) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, a device that is always full")
@pytest.mark.parametrize(
    "arguments", [["check", "racy.cu"], ["check", "racy.cu", "--format", "json"], ["fix", "racy.cu"]]
)
def test_a_report_that_cannot_be_written_is_told_in_one_line(arguments: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = _command(arguments, full)
    assert done.returncode == NOT_ANALYSED
    assert done.stderr.splitlines()[-1] == "cuda-lsp: No space left on device"
    assert "Traceback" not in done.stderr


def test_a_reader_that_leaves_is_no_clean_result() -> None:
    read, write = os.pipe()
    os.close(read)
    try:
        done = _command(["check", "racy.cu"], write)
    finally:
        os.close(write)
    assert done.returncode == BROKEN_PIPE
    assert done.stderr == ""


def _command(arguments: list[str], out: Any) -> subprocess.CompletedProcess[str]:
    script = f"import sys; from cuda_lsp.cli.main import main; sys.exit(main({arguments!r}, {FAKE!r}))"
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    return subprocess.run(
        [sys.executable, "-c", script],
        stdout=out,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path},
    )


def test_the_findings_as_a_page(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    assert main(["check", ".", "--html", "report.html", "--color", "never"], FAKE) == FINDINGS
    assert "4 kernels in 4 files" in capsys.readouterr().out
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    for name in ("racy.cu", "fine.cu", "hard.cu", "slow.cu"):
        assert f"<h2>{name}</h2>" in page
    assert "Insert __syncthreads()" in page
    assert "something unknown is used here" in page


@pytest.mark.parametrize("target", [".", "no/such/folder/report.html"])
def test_a_page_that_cannot_be_written_is_told_before_the_analysis(
    target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "racy.cu", "--html", target], FAKE) == USAGE
    assert f"--html {target}" in capsys.readouterr().err
