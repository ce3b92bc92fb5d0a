"""Checks in host code for kernels that are right under a relation which the host does not state: which check is made,
where, and when there is none to offer. Whole edits are in `tests/golden/host_*.diff`."""

from __future__ import annotations

import pytest
from edited import applied

from analyzers.engine import Engine
from analyzers.hostguide.program import HostFile, Program
from analyzers.model import Fix, FixRefusal
from analyzers.requests import CheckRequest, UnitFinished
from quickfix import answers, available, fix_all

KERNEL = """__global__ void pairs(float *a, int width) {
  int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  int y = blockIdx.y;
  if (x < width) {
    a[y * width + x] = 1.0f;
    a[y * width + x + 1] = 2.0f;
  }
}
"""
GRID = "dim3((n / 2 + 127) / 128, rows), 128"


def answered(request: CheckRequest) -> list[Fix | FixRefusal]:
    return list(answers(Engine(), request))


def checked_line(text: str) -> str:
    """The line that the only repair of a unit adds in front of the launch."""
    (fix,) = answered(CheckRequest("/host/a.cu", text))
    assert isinstance(fix, Fix), fix
    assert (fix.kind, fix.preferred) == ("assert-host", False)
    after = applied(text, fix.edits)
    return after[: after.index("pairs<<<")].rstrip().split("\n")[-1]


def test_the_argument_stands_for_the_parameter() -> None:
    line = checked_line(KERNEL + f"void run(float *a, int n, int rows) {{\n  pairs<<<{GRID}>>>(a, n);\n}}\n")
    assert line == "  assert(n % 2 == 0);"


def test_the_nearest_check_of_the_file_is_used_with_a_message_where_it_takes_one() -> None:
    macros = "#define MY_CHECK(x) assert(x)\n#define MY_ASSERT(x, text) assert((x) && text)\n"
    uses = 'void other(int n) { MY_CHECK(n > 0); }\nvoid run(float *a, int n, int rows) {\n  MY_ASSERT(n > 0, "n");\n'
    line = checked_line(f"{macros}{KERNEL}{uses}  pairs<<<{GRID}>>>(a, n);\n}}\n")
    assert line == '  MY_ASSERT(n % 2 == 0, "n % 2 == 0");'


def test_a_check_that_checks_something_else_is_not_taken_for_an_assertion() -> None:
    macros = "#define CHECK(call) do { cudaError_t e = call; if (e != cudaSuccess) return; } while (0)\n"
    uses = (
        f"void run(float *a, int n, int rows) {{\n  CHECK(cudaDeviceSynchronize());\n  pairs<<<{GRID}>>>(a, n);\n}}\n"
    )
    assert checked_line(macros + KERNEL + uses) == "  assert(n % 2 == 0);"


@pytest.mark.parametrize("use", ["CHECK(cudaMalloc(&a, 4 * n));", "VERIFY(rows > 0, 3);"], ids=["status", "code"])
def test_a_check_without_a_comparison_or_with_more_than_a_text_is_not_imitated(use: str) -> None:
    macros = '#include "nowhere.h"\n#define VERIFY(x, code) do { if (!(x)) exit(code); } while (0)\n'
    run = f"void run(float *a, int n, int rows) {{\n  {use}\n  pairs<<<{GRID}>>>(a, n);\n}}\n"
    assert checked_line(macros + KERNEL + run) == "  assert(n % 2 == 0);"


def test_the_launch_may_be_in_another_file() -> None:
    declared = "__global__ void pairs(float *a, int width);\n"
    host = f"{declared}void run(float *a, int n, int rows) {{\n  pairs<<<{GRID}>>>(a, n);\n}}\n"
    program = Program(files=(HostFile("/host/b.cu", host),), complete=True)
    (fix,) = answered(CheckRequest("/host/a.cu", KERNEL, program=program))
    assert isinstance(fix, Fix), fix
    assert {edit.span.path for edit in fix.edits} == {"/host/b.cu"}
    assert applied(host, fix.edits) == "#include <cassert>\n" + host.replace(
        "  pairs<", "  assert(n % 2 == 0);\n  pairs<"
    )
    assert fix.notes == ("Changes /host/b.cu.",)


@pytest.mark.parametrize(
    ("head", "new"),
    [
        ("#include <cstdio>\n", "#include <cassert>\n#include <cstdio>"),
        ("#include <assert.h>\n", "#include <assert.h>"),
        ("/*\n#include <a>\n*/\n#pragma once\n", "#pragma once\n#include <cassert>\n"),
        ("/* #include <cassert> */\n#include <cstdio>\n", "#include <cassert>\n#include <cstdio>"),
        ("#if 0\n#include <cassert>\n#endif\n#include <b>\n", "#endif\n#include <cassert>\n#include <b>"),
        ('namespace q {\n#include "x.inc"\n}\n', '#include <cassert>\nnamespace q {\n#include "x.inc"'),
        (
            "#ifndef A_H\n#define A_H\n#ifdef X\n#include <b>\n#endif\n#include <cstdio>\n#endif\n",
            "#endif\n#include <cassert>\n#include <cstdio>",
        ),
    ],
)
def test_where_cassert_is_included(head: str, new: str) -> None:
    text = head + KERNEL + f"void run(float *a, int n, int rows) {{\n  pairs<<<{GRID}>>>(a, n);\n}}\n"
    (fix,) = answered(CheckRequest("/host/a.cu", text))
    assert isinstance(fix, Fix), fix
    assert new in applied(text, fix.edits)
    assert applied(text, fix.edits).count("<cassert>") == new.count("<cassert>") + head.count("<cassert>")


LOCAL = "void run(float *a, int n, int rows) { %s }\n"


@pytest.mark.parametrize(
    "body",
    [
        f"if (rows > 1)\n  pairs<<<{GRID}>>>(a, n);",
        f"for (int i = 0; i < 3; pairs<<<{GRID}>>>(a, n), i++) {{}}",
        f"each([&] {{ pairs<<<{GRID}>>>(a, n); }});",
        "LAUNCH(a, n);",
        f"pairs<<<{GRID}>>>(a, n + 0);",
        f"rows > 1 ? pairs<<<{GRID}>>>(a, n) : (void)0;",
        f"rows > 1 && (pairs<<<{GRID}>>>(a, n), true);",
        f"IF_ROWS pairs<<<{GRID}>>>(a, n);",
        f"\n#pragma omp single\n  pairs<<<{GRID}>>>(a, n);",
    ],
    ids=[
        "no braces",
        "in a head",
        "in an argument",
        "in a macro",
        "not a name",
        "chosen",
        "short circuit",
        "head in a macro",
        "pragma",
    ],
)
def test_nothing_is_written_where_it_would_not_be_a_statement_of_its_own(body: str) -> None:
    macro = "#define LAUNCH(p, w) do { pairs<<<dim3((w / 2 + 127) / 128, rows), 128>>>(p, w); } while (0)\n"
    each = "#define IF_ROWS if (rows > 1)\ntemplate <typename F> void each(F f) { f(); }\n"
    text = macro + each + KERNEL + LOCAL % body
    (refusal,) = answered(CheckRequest("/host/a.cu", text))
    assert isinstance(refusal, FixRefusal), refusal
    assert "No check on the host is offered: the launch in line" in refusal.text


def test_beside_another_choice_it_is_said_why_there_is_no_check() -> None:
    kernel = """__global__ void rows(int *a, int w, int h, int pitch) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h) a[y * pitch + x] = 1 + x + y;
}
"""
    launch = "rows<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(a, w, h, pitch);"
    text = f"{kernel}void go(int *a, int w, int h, int pitch) {{ if (w) {launch} }}\n"
    choice, refusal = answered(CheckRequest("/host/a.cu", text))
    assert isinstance(choice, Fix), choice
    told = "No check on the host is offered: the launch in line 5 is no statement of its own in braces."
    assert (choice.kind, choice.notes) == ("use-atomic", (told,))
    assert isinstance(refusal, FixRefusal)
    assert refusal.text.endswith(told)


def test_it_does_not_go_into_a_condition_of_the_preprocessor() -> None:
    before = "  int unused = rows;\n#ifdef VERBOSE\n  unused = n;\n#endif\n"
    text = KERNEL + f"void run(float *a, int n, int rows) {{\n{before}  pairs<<<{GRID}>>>(a, n);\n}}\n"
    (fix,) = answered(CheckRequest("/host/a.cu", text))
    assert isinstance(fix, Fix), fix
    assert "#endif\n  assert(n % 2 == 0);\n  pairs<<<" in applied(text, fix.edits)


def test_another_variable_of_that_name_is_no_proof() -> None:
    body = "int m = n; n = rows;\n  pairs<<<dim3((m / 2 + 127) / 128, rows), 128>>>(a, m);"
    text = KERNEL + f"void run(float *a, int n, int rows) {{\n  {body}\n}}\n"
    (fix,) = answered(CheckRequest("/host/a.cu", text))
    assert isinstance(fix, Fix), fix
    assert "assert(m % 2 == 0);" in applied(text, fix.edits)


def test_it_is_listed_and_never_applied_with_others() -> None:
    text = KERNEL + f"void run(float *a, int n, int rows) {{\n  pairs<<<{GRID}>>>(a, n);\n}}\n"
    request = CheckRequest("/host/a.cu", text)
    (unit,) = (e.result for e in Engine().check(request) if isinstance(e, UnitFinished))
    assert [offer.title for offer in available(unit)] == ["Check `n % 2 == 0` before the launch"]
    assert isinstance(fix_all(Engine(), request), FixRefusal)


@pytest.mark.parametrize(
    ("head", "offered"),
    [
        ("#define NDEBUG\n", False),
        ("#  define NDEBUG 1\n#include <cassert>\n", False),
        ("#define NDEBUG\n#undef NDEBUG\n", True),
        ("// #define NDEBUG\n", True),
        ("#define NDEBUG_LEVEL 2\n", True),
    ],
)
def test_assert_is_not_offered_where_the_file_switches_it_off(head: str, offered: bool) -> None:
    text = f"{head}{KERNEL}void run(float *a, int n, int rows) {{\n  pairs<<<{GRID}>>>(a, n);\n}}\n"
    (answer,) = answered(CheckRequest("/host/a.cu", text))
    assert isinstance(answer, Fix) == offered


def test_what_another_multiple_implies_is_not_checked_too() -> None:
    text = """__global__ void vectors(short *b, int height, int width) {
      int n = blockIdx.x * 512 + threadIdx.x * 4;
      if (n >= width) return;
      for (int row = blockIdx.y * 128, end = min(row + 128, height); row < end; row += 2) {
        b[row * width + n] = 1;
        b[row * width + n + 2] = 3;
        b[(row + 1) * width + n] = 1;
      }
    }
    void host(short *b, int h, int w) { vectors<<<dim3((w + 511) / 512, (h + 127) / 128), 128>>>(b, h, w); }
    """
    fixes = [f for f in answered(CheckRequest("/host/a.cu", text)) if isinstance(f, Fix) and f.kind == "assert-host"]
    checks = [edit.new_text for f in fixes for edit in f.edits if "assert(" in edit.new_text]
    assert checks
    assert all(check.count("w %") == 1 for check in checks), checks
