"""Repairs of a header are judged in the other units that include it: `cuda-lsp fix` on a tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuda_lsp.cli.exit_codes import CLEAN, FINDINGS
from cuda_lsp.cli.main import main

HEADER = """\
#pragma once
__device__ inline int swapped(int *s, int t) {
  s[t] = t;
  return s[63 - t];
}
"""
FIXED = HEADER.replace("s[t] = t;\n", "s[t] = t;\n  __syncthreads();\n")
UNIT = """\
#include "tile.cuh"
__global__ void NAME(int *out) {
  __shared__ int s[64];
  CALL
}
void run_NAME(int *out) { NAME<<<1, 64>>>(out); }
"""
ALL = "out[threadIdx.x] = swapped(s, threadIdx.x);"
SOME = "if (threadIdx.x < 32) out[threadIdx.x] = swapped(s, threadIdx.x);"


def unit(name: str, call: str = ALL) -> str:
    return UNIT.replace("NAME", name).replace("CALL", call)


@pytest.fixture(autouse=True)
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".cuda-lsp.toml").write_text("disk-cache = false\n")
    (tmp_path / "tile.cuh").write_text(HEADER)
    (tmp_path / "a.cu").write_text(unit("a"))
    return tmp_path


def fixed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(["fix", "--write", *(arguments or (".",))])
    return code, capsys.readouterr().err


def told(capsys: pytest.CaptureFixture[str], path: str) -> str:
    main(["check", path])
    return capsys.readouterr().out


CHOICE = "Assumes that no other unit runs what changes in tile.cuh: others may include it."


def test_a_repair_of_a_header_is_for_the_user_to_choose(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = fixed(capsys)
    assert code == FINDINGS
    assert (tree / "tile.cuh").read_text() == HEADER
    assert "it is yours to choose: Insert __syncthreads() after line 3" in said
    assert CHOICE in told(capsys, "a.cu")


def test_the_units_in_which_it_is_right_are_named(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "b.cu").write_text(unit("b"))
    (tree / "c.cu").write_text("#include <vector>\n")
    said = told(capsys, "a.cu")
    assert "  Checked in another unit that includes tile.cuh: b.cu.\n" in said
    assert CHOICE in said


def test_what_is_wrong_in_one_is_refused_and_named(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "b.cu").write_text(unit("b", SOME))
    code, said = fixed(capsys, "a.cu")
    assert code == FINDINGS
    assert (tree / "tile.cuh").read_text() == HEADER
    (line,) = [line for line in said.splitlines() if "no repair" in line]
    assert "The repair would edit tile.cuh, which b.cu includes, too, and be wrong there: " in line
    assert "miss" in line


def test_it_is_wrong_by_way_of_another_header(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "deep").mkdir()
    (tree / "deep" / "all.h").write_text('#include "../tile.cuh"\n')
    (tree / "deep" / "b.cu").write_text(unit("b", SOME).replace("tile.cuh", "all.h"))
    code, said = fixed(capsys, "a.cu")
    assert code == FINDINGS
    assert "which b.cu includes, too" in said


def test_what_another_unit_does_not_run_is_no_matter(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "b.cu").write_text(unit("b", "out[threadIdx.x] = s[threadIdx.x];"))
    said = told(capsys, "a.cu")
    assert CHOICE in said
    assert "Checked in" not in said


def test_a_unit_that_does_not_compile_keeps_the_assumption(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "b.cu").write_text(unit("b") + "void broken( { nowhere }\n")
    code, said = fixed(capsys, "a.cu")
    assert code == FINDINGS
    assert (tree / "tile.cuh").read_text() == HEADER
    assert "not applied, it is yours to choose: Insert __syncthreads() after line 3" in said
    assert "assumes that no other unit runs what changes in tile.cuh" in said


def test_errors_in_host_code_without_kernels_do_not_matter(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "b.cpp").write_text('#include "tile.cuh"\nunknown::thing f(another);\n')
    assert CHOICE in told(capsys, "a.cu")


def test_a_header_that_is_missing_elsewhere_does_not_matter(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "b.cu").write_text('#include "nowhere.h"\n' + unit("b"))
    assert "Checked in another unit that includes tile.cuh: b.cu." in told(capsys, "a.cu")


def test_a_kernel_that_is_unknown_elsewhere_keeps_the_assumption(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = f"{ALL} s[0] = missing(s);"
    (tree / "b.cu").write_text('#include "nowhere.h"\n' + unit("b", call))
    code, said = fixed(capsys, "a.cu")
    assert code == FINDINGS
    assert "assumes that no other unit" in said


def test_a_rewriting_that_another_unit_has_no_reason_for_keeps_the_assumption(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # What is updated may be of a type that only the other unit knows.
    header = "#pragma once\n__device__ inline void count(COUNTER *c) {\n  *c += 1;\n}\n"
    (tree / "tile.cuh").write_text(header)
    kernel = '#define COUNTER TYPE\n#include "tile.cuh"\n__global__ void NAME(TYPE *c) { count(c); }\n'
    kernel += "void run_NAME(TYPE *c) { NAME<<<1, THREADS>>>(c); }\n"

    def counting(name: str, kind: str, threads: int) -> None:
        text = kernel.replace("NAME", name).replace("TYPE", kind).replace("THREADS", str(threads))
        (tree / f"{name}.cu").write_text(text)

    counting("a", "int", 64)
    counting("b", "short", 1)
    assert fixed(capsys, "a.cu")[0] == FINDINGS
    assert (tree / "tile.cuh").read_text() == header
    counting("b", "int", 64)
    assert "Checked in another unit" in told(capsys, "a.cu")


def test_more_units_than_are_checked_keep_the_assumption(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for i in range(9):
        (tree / f"b{i}.cu").write_text(unit(f"b{i}"))
    assert fixed(capsys, "a.cu")[0] == FINDINGS
    assert (tree / "tile.cuh").read_text() == HEADER


def test_without_a_project_nobody_knows_the_units(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / ".cuda-lsp.toml").unlink()
    code, said = fixed(capsys, "a.cu")
    assert code == FINDINGS
    assert "assumes that no other unit runs what changes in tile.cuh" in said


def test_a_header_that_is_checked_by_itself_may_be_included(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = unit("a").replace('#include "tile.cuh"\n', HEADER)
    (tree / "whole.cuh").write_text(text)
    (tree / "a.cu").unlink()
    (tree / "b.cu").write_text(unit("b", SOME).replace("tile.cuh", "whole.cuh"))
    code, said = fixed(capsys, "whole.cuh")
    assert code == FINDINGS
    assert (tree / "whole.cuh").read_text() == text
    assert "The repair would edit whole.cuh, which b.cu includes, too, and be wrong there: " in said
    (tree / "b.cu").write_text(unit("b").replace("tile.cuh", "whole.cuh"))
    code, said = fixed(capsys, "whole.cuh")
    assert code == CLEAN
    assert "  Checked in another unit that includes whole.cuh: b.cu.\n" in said


def test_a_race_that_another_unit_has_already_is_no_objection(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "b.cu").write_text(unit("b", ALL + " out[0] += 1;"))
    assert "Checked in another unit that includes tile.cuh: b.cu." in told(capsys, "a.cu")


def test_flags_of_other_units_count(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = unit("b").replace(ALL, f"#ifdef SOME\n{SOME}\n#else\n{ALL}\n#endif\n")
    (tree / "b.cu").write_text(text)
    command = '{"directory": "%s", "file": "%s", "command": "nvcc %s -c %s"}'
    commands = [command % (tree, f, flag, f) for f, flag in (("a.cu", ""), ("b.cu", "-DSOME"))]
    (tree / "compile_commands.json").write_text(f"[{','.join(commands)}]")
    code, said = fixed(capsys, "a.cu")
    assert code == FINDINGS
    assert "which b.cu includes, too, and be wrong there" in said


def test_a_header_of_that_name_beside_an_includer_is_not_what_angle_brackets_mean(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree / "sub").mkdir()
    (tree / "sub" / "tile.cuh").write_text("#error not this one\n")
    (tree / "sub" / "b.cu").write_text(unit("b", SOME).replace('"tile.cuh"', "<tile.cuh>"))
    code, said = fixed(capsys, "a.cu", "--extra-arg=-I.")
    assert code == FINDINGS
    assert "which b.cu includes, too, and be wrong there" in said


def test_a_command_may_include_a_header(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "b.cu").write_text(unit("b", SOME).replace('#include "tile.cuh"\n', ""))
    command = '{"directory": "%s", "file": "%s", "command": "clang++ %s -c %s"}'
    commands = [command % (tree, f, flag, f) for f, flag in (("a.cu", ""), ("b.cu", "-include tile.cuh"))]
    (tree / "compile_commands.json").write_text(f"[{','.join(commands)}]")
    code, said = fixed(capsys, "a.cu")
    assert code == FINDINGS
    assert "which b.cu includes, too, and be wrong there" in said


@pytest.mark.parametrize(
    "include",
    [
        '#include /* the kernels */ "a.cu"',
        '/**/ # include "a.cu"',
        '#include \\\n  "a.cu"',
        '%:include "a.cu"',
        '#import "a.cu"',
        '\f#include "a.cu"',
    ],
)
@pytest.mark.parametrize("name", ["b.cu", "b.cuh"])
def test_a_unit_that_another_one_includes_is_judged_there(
    include: str, name: str, tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = unit("a").replace('#include "tile.cuh"\n', HEADER.replace("#pragma once\n", ""))
    (tree / "a.cu").write_text(own)
    (tree / "tile.cuh").unlink()
    (tree / name).write_text(unit("b", SOME).replace('#include "tile.cuh"', include))
    fixed(capsys, "a.cu")
    assert (tree / "a.cu").read_text() == own


OWN = """\
__global__ void a(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t < LIMIT) {
    s[t] = t;
    out[t] = s[t ^ 63];
  }
}
void run_a(int *out) { a<<<1, 64>>>(out); }
"""


def compiled(tree: Path, *flags: str) -> None:
    command = '{"directory": "%s", "file": "a.cu", "command": "nvcc %s -c a.cu -o %d.o"}'
    commands = [command % (tree, flag, i) for i, flag in enumerate(flags)]
    (tree / "compile_commands.json").write_text(f"[{','.join(commands)}]")
    (tree / "a.cu").write_text(OWN)


def test_a_repair_is_right_by_each_command_of_a_file(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compiled(tree, "-DLIMIT=64", "-DLIMIT=99", "-DLIMIT=64")
    said = told(capsys, "a.cu")
    assert "  Checked for a.cu compiled with -DLIMIT=99, too.\n" in said
    assert "Assumes" not in said
    code, _ = fixed(capsys, "a.cu")
    assert code == CLEAN
    assert "s[t] = t;\n    __syncthreads();" in (tree / "a.cu").read_text()


@pytest.mark.parametrize("limits", [(64, 99, 32), (64, 32)])
def test_what_is_wrong_by_another_command_is_refused(
    limits: tuple[int, ...], tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compiled(tree, *(f"-DLIMIT={limit}" for limit in limits))
    code, said = fixed(capsys, "a.cu")
    assert code == FINDINGS
    assert (tree / "a.cu").read_text() == OWN
    (line,) = [line for line in said.splitlines() if "no repair" in line]
    assert "The repair would edit a.cu, which is compiled with -DLIMIT=32, too, and be wrong there: " in line


def test_a_command_by_which_a_file_does_not_compile_keeps_an_assumption(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compiled(tree, "-DLIMIT=64", "-DLIMIT=nowhere")
    code, said = fixed(capsys, "a.cu")
    assert code == FINDINGS
    assert (tree / "a.cu").read_text() == OWN
    assert "assumes that it is right for a.cu compiled with -DLIMIT=nowhere, too, which does not compile here" in said


def test_more_commands_than_are_checked_keep_an_assumption(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compiled(tree, *(f"-DLIMIT=64 -DCASE={i}" for i in range(10)))
    assert "Assumes that it is right for 9 other commands of a.cu, too many to check." in told(capsys, "a.cu")
    fixed(capsys, "a.cu")
    assert (tree / "a.cu").read_text() == OWN


def test_a_header_is_judged_by_each_command_of_the_units_that_include_it(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree / "b.cu").write_text(unit("b").replace(ALL, f"#ifdef SOME\n{SOME}\n#else\n{ALL}\n#endif\n"))
    command = '{"directory": "%s", "file": "b.cu", "command": "nvcc %s -c b.cu"}'
    commands = [command % (tree, flag) for flag in ("", "-DSOME")]
    (tree / "compile_commands.json").write_text(f"[{','.join(commands)}]")
    code, said = fixed(capsys, "a.cu")
    assert code == FINDINGS
    assert "which b.cu includes, too, and be wrong there" in said


LINKED = """\
HEAD int swapped(int *s, int t) {
  s[t] = t;
  return s[63 - t];
}
__device__ int twice(int *s, int t) { return 2 * swapped(s, t); }
__global__ void a(int *out) {
  __shared__ int s[64];
  out[threadIdx.x] = swapped(s, threadIdx.x);
}
void run_a(int *out) { a<<<1, 64>>>(out); }
"""
ELSEWHERE = unit("b", SOME).replace('#include "tile.cuh"\n', "extern __device__ int swapped(int *s, int t);\n")


@pytest.mark.parametrize(
    ("head", "other", "name"),
    [
        ("__device__", ELSEWHERE, "swapped"),
        ('extern "C" __device__', ELSEWHERE, "swapped"),
        ("__device__", ELSEWHERE.replace("t);", "t) noexcept(true);", 1), "swapped"),
        ("__device__", ELSEWHERE.replace("t);", "t) __attribute__((noinline));", 1), "swapped"),
        ("static __device__", ELSEWHERE.replace("swapped", "twice"), "twice"),
    ],
    ids=["itself", "as C", "that throws nothing", "with an attribute", "by way of another"],
)
def test_a_function_that_another_unit_calls_is_for_the_user_to_choose(
    head: str, other: str, name: str, tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree / "a.cu").write_text(LINKED.replace("HEAD", head))
    (tree / "b.cu").write_text(other)
    told_of = f"Assumes that it is right for the calls of `{name}` in other units: b.cu declares it."
    assert told_of in told(capsys, "a.cu")
    fixed(capsys, ".")
    assert (tree / "a.cu").read_text() == LINKED.replace("HEAD", head)


def test_a_header_may_declare_what_another_unit_calls(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "tile.cuh").write_text("#pragma once\n__device__ int swapped(int *s, int t);\n")
    (tree / "a.cu").write_text('#include "tile.cuh"\n' + LINKED.replace("HEAD", "__device__"))
    (tree / "b.cu").write_text(unit("b", SOME))
    (tree / "c.cu").write_text('#include "tile.cuh"\n')
    assert "in other units: b.cu declares it." in told(capsys, "a.cu")


@pytest.mark.parametrize(
    ("head", "other"),
    [
        ("static __device__", ELSEWHERE),
        ("__device__", ELSEWHERE.replace("int *s, int t);", "int *s, int t) { return t; }")),
        ("__device__", ELSEWHERE.replace("swapped(s, threadIdx.x)", "1")),
        ("__device__", "int total(int swapped) { return swapped; }\n"),
    ],
    ids=["its own", "defined there", "not called", "another word"],
)
def test_a_function_that_no_other_unit_calls_is_repaired(
    head: str, other: str, tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree / "a.cu").write_text(LINKED.replace("HEAD", head))
    (tree / "b.cu").write_text(other)
    fixed(capsys, "a.cu")
    assert "  s[t] = t;\n  __syncthreads();" in (tree / "a.cu").read_text()
