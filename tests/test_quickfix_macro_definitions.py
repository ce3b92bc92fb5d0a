"""Barriers inside of macros: where all uses agree, and why not elsewhere."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from edited import applied
from restructured import LAUNCH, engine

from analyzers.model import CheckOptions, Fix, FixRefusal
from analyzers.requests import CheckRequest, Including
from quickfix import answers

USE = "  EXCHANGE(threadIdx.x);"
KERNEL = """__global__ void {name}(int *out, const int *in, int n) {{
  __shared__ int s[64];
  int t = threadIdx.x;
{body}
}}
"""
ONE_LINE = "#define EXCHANGE(i) s[t] = in[i]; out[i] = s[63 - t]\n"


def answered(text: str) -> list[Fix | FixRefusal]:
    return list(answers(engine(), CheckRequest("/macros/a.cu", text)))


@pytest.mark.parametrize(
    ("macro", "after"),
    [
        (ONE_LINE, "s[t] = in[i]; __syncthreads(); out[i]"),
        ('#define EXCHANGE(i) s[t] = in[i + (";" [0] == 0)]; out[i] = s[63 - t]\n', "]; __syncthreads(); out[i]"),
        (
            "#define EXCHANGE(i) \\\n  do { /* ; */ \\\n    s[t] = in[i];   \\\n    out[i] = s[63 - t]; } while (0)\n",
            "    s[t] = in[i];   \\\n    __syncthreads();\\\n    out[i]",
        ),
    ],
)
def test_the_barrier_is_in_the_definition(macro: str, after: str) -> None:
    text = macro + LAUNCH + KERNEL.format(name="k", body=USE)
    (fix,) = answered(text)
    assert isinstance(fix, Fix)
    assert after in applied(text, fix.edits).replace("();  ", "();").replace(" \\\n    out", "\\\n    out")
    assert "into the macro EXCHANGE" in fix.title


@pytest.mark.parametrize(
    ("definition", "after"),
    [
        (
            "for (int d = 32; d > 0; d /= 2) { if (t < d) a[t] += a[t + d]; }",
            "for (int d = 32; d > 0; d /= 2) { if (t < d) a[t] += a[t + d]; __syncthreads(); }",
        ),
        (
            "do { for (int d = 32; d > 0; d /= 2) { if (t < d) { a[t] += a[t + d]; } } } while (0)",
            "do { for (int d = 32; d > 0; d /= 2) { if (t < d) { a[t] += a[t + d]; } __syncthreads(); } } while (0)",
        ),
        (
            "{ int d = 32; do { if (t < d) { a[t] += a[t + d]; } d /= 2; } while (d > 0); }",
            "{ int d = 32; do { if (t < d) { a[t] += a[t + d]; } __syncthreads(); d /= 2; } while (d > 0); }",
        ),
    ],
)
def test_the_barrier_ends_the_iterations_of_a_loop_of_the_definition(definition: str, after: str) -> None:
    text = f"#define SUM(a) {definition}\n{LAUNCH}" + SHIFTED.format("SUM(s);", "")
    (fix,) = answered(text)
    assert isinstance(fix, Fix)
    assert f"#define SUM(a) {after}\n" in applied(text, fix.edits)
    assert fix.cost == "+1 barrier per iteration in each use"


@pytest.mark.parametrize(
    "use",
    [
        "if (n > 3) SUM(s);",
        "for (int i = 0; i < n; ++i) SUM((s));",
        "if (n > 3) { } else SUM(s)",
        "if (TWICE(n) > 3) SUM(s);",
        "if (n > 3) /* TWICE( */ SUM(/* :) */ s);",
        'if (n > 3 && "TWICE("[n & 3] != 7) SUM(s);',
    ],
)
def test_a_use_may_be_the_whole_body_of_a_branch_or_loop(use: str) -> None:
    definition = "for (int d = 32; d > 0; d /= 2) { if (t < d) a[t] += a[t + d]; }"
    macros = f"#define SUM(a) {definition}\n#define TWICE(n) ((n) + (n))\n"
    (fix,) = answered(macros + LAUNCH + SHIFTED.format(use, ""))
    assert isinstance(fix, Fix)
    assert fix.title.startswith("Insert __syncthreads() into the macro SUM in line 1 — ")


def test_a_barrier_behind_a_branch_without_braces_is_not_indented_as_if_in_it() -> None:
    lines = [
        "#define SUM(a)",
        "  for (int d = 32; d > 0; d /= 2) {",
        "    if (t < d)",
        "      a[t] += a[t + d];",
        "  }",
    ]
    macro = "".join(f"{line:<40}\\\n" for line in lines[:-1]) + f"{lines[-1]}\n"
    text = macro + LAUNCH + SHIFTED.format("SUM(s);", "")
    (fix,) = answered(text)
    assert isinstance(fix, Fix)
    assert f"{lines[3]:<40}\\\n{'    __syncthreads();':<40}\\\n  }}\n" in applied(text, fix.edits)


def test_a_loop_of_a_definition_that_some_threads_do_not_come_to_gets_none() -> None:
    definition = "for (int d = 32; d > 0; d /= 2) { if (t < d) a[t] += a[t + d]; }"
    text = f"#define SUM(a) {definition}\n{LAUNCH}" + SHIFTED.format("SUM(s);", "if (t < 40) { SUM(out); }")
    assert all(isinstance(answer, FixRefusal) for answer in answered(text))


def test_a_barrier_stands_between_a_conditional_and_what_follows() -> None:
    macro = "#define EXCHANGE(i) if (i < 9) { s[t] = in[i]; } else { s[t] = 0; } out[i] = s[63 - t]\n"
    (fix,) = answered(macro + LAUNCH + KERNEL.format(name="k", body=USE))
    assert isinstance(fix, Fix)
    assert "s[t] = 0; } __syncthreads(); out[i]" in applied(macro, fix.edits)
    assert fix.cost == "+1 barrier in each use"


@pytest.mark.parametrize(
    ("definition", "after"),
    [
        ("a[t] = a[t + 1]", "do { auto shift_value = a[t + 1]; __syncthreads(); a[t] = shift_value; } while (0)"),
        ("a[t] = a[t + 1];", "do { auto shift_value = a[t + 1]; __syncthreads(); a[t] = shift_value; } while (0);"),
        (
            "{ int j = t; a[t] = a[j + 1]; }",
            "{ int j = t; auto shift_value = a[j + 1]; __syncthreads(); a[t] = shift_value; }",
        ),
    ],
)
def test_an_assignment_of_the_definition_is_split_where_its_array_is_a_parameter(definition: str, after: str) -> None:
    text = f"#define SHIFT(a) {definition}\n{LAUNCH}" + SHIFTED.format("SHIFT(s);", "SHIFT(out);")
    found = answered(text)
    assert all(isinstance(fix, Fix) for fix in found), found
    fix = found[0]
    assert isinstance(fix, Fix)
    assert f"#define SHIFT(a) {after}\n" in applied(text, fix.edits)


@pytest.mark.parametrize(
    "definition",
    [
        "if (n) a[t] = a[t + 1]",
        "a[t] = a[t + 1], n++",
        "a[t] = a[t + 1]; n++",
        "(a[t] = a[t + 1])",
    ],
)
def test_what_is_more_than_an_assignment_is_not_split(definition: str) -> None:
    text = f"#define SHIFT(a) {definition}\n{LAUNCH}" + SHIFTED.format("SHIFT(s);", "")
    (said,) = answered(text)
    assert isinstance(said, FixRefusal)
    assert "written by the macro `SHIFT` (line 1)" in said.text


def test_an_assignment_is_not_split_where_a_use_needs_its_value() -> None:
    text = f"#define SHIFT(a) a[t] = a[t + 1]\n{LAUNCH}" + SHIFTED.format("SHIFT(s);", "n = SHIFT(out);")
    assert all(isinstance(answer, FixRefusal) for answer in answered(text))


SHIFTED = """__global__ void k(int *out, const int *in, int n) {{
  __shared__ int s[65];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  {0}
  __syncthreads();
  {1}
}}
"""


@pytest.mark.parametrize(
    ("macro", "other"),
    [
        (ONE_LINE, "  if (t < 7) { EXCHANGE(t); }"),
        ("#define EXCHANGE(i) if (i < n) s[i] = s[(i + 1) % 64];\n", USE),
        ("#define EXCHANGE(i) (s[i] = 1, s[63 - i] += 1)\n", USE),
    ],
)
def test_a_macro_that_cannot_take_one_is_named(macro: str, other: str) -> None:
    text = macro + LAUNCH + KERNEL.format(name="k", body=USE) + LAUNCH + KERNEL.format(name="other", body=other)
    said = [a for a in answered(text) if isinstance(a, FixRefusal)]
    assert said
    assert any("written by the macro `EXCHANGE` (line 1)" in refusal.text for refusal in said), said


def test_kernels_that_nobody_asked_about_have_a_say() -> None:
    wrapped = ONE_LINE + "#define BOTH(i) EXCHANGE(i); EXCHANGE(i)\n"
    for macro, use in ((ONE_LINE, "EXCHANGE"), (wrapped, "BOTH")):
        text = macro + LAUNCH + KERNEL.format(name="k", body=USE) + LAUNCH
        only = CheckOptions(kernels=("k",))
        for condition, possible in (("n < 7", True), ("t < 7", False)):
            whole = text + KERNEL.format(name="other", body=f"  if ({condition}) {{ {use}(t); }}")
            found = list(answers(engine(), CheckRequest("/macros/a.cu", whole, options=only)))
            assert any(isinstance(a, Fix) for a in found) == possible, found


def test_of_a_macro_with_two_meanings_the_one_that_is_used_is_edited() -> None:
    text = f"#if N\n{ONE_LINE}#else\n{ONE_LINE}#endif\n" + LAUNCH + KERNEL.format(name="k", body=USE)
    (fix,) = answered(text)
    assert isinstance(fix, Fix)
    after = applied(text, fix.edits)
    first, second = after[: after.index("#else")], after[after.index("#else") : after.index("#endif")]
    assert first == text[: text.index("#else")]
    assert "__syncthreads();" in second
    assert "The definition of EXCHANGE in line 2, of another build, stays as it is." in fix.notes


def test_of_a_macro_that_is_defined_again_the_uses_that_get_the_barrier_are_named() -> None:
    again = f"#undef EXCHANGE\n{ONE_LINE}"
    text = ONE_LINE + LAUNCH + KERNEL.format(name="k", body=USE) + again + LAUNCH + KERNEL.format(name="k2", body=USE)
    first, second = (a for a in answered(text) if isinstance(a, Fix))
    line = text[: text.index(again)].count("\n") + 2
    for fix, own, other in ((first, 1, line), (second, line, 1)):
        assert f"All uses of EXCHANGE as line {own} defines it get the barrier." in fix.notes
        assert f"The definition of EXCHANGE in line {other} stays as it is." in fix.notes


SWAP = """#define SWAP(a)                     \\
  do {                              \\
    int v_ = (a)[63 - threadIdx.x]; \\
    (a)[threadIdx.x] = v_;          \\
  } while (0)
"""
WITHIN = "    int v_ = (a)[63 - threadIdx.x]; \\\n    __syncthreads();                \\\n"
USES = """__global__ void k(int *out, const int *in, int n) {{
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
{0}
}}
"""


@pytest.mark.parametrize(
    ("uses", "after"),
    [
        ("  SWAP(s);\n  SWAP(s);", "  SWAP(s);\n  __syncthreads();\n  SWAP(s);"),
        (
            "  for (int j = 0; j < n; ++j) SWAP(s);",
            "  for (int j = 0; j < n; ++j) {\n    SWAP(s);\n    __syncthreads();\n  }",
        ),
        ("  while (n--) {\n    SWAP(s);\n  }", "  while (n--) {\n    SWAP(s);\n    __syncthreads();\n  }"),
    ],
)
def test_uses_that_race_with_each_other_get_a_barrier_between_them(uses: str, after: str) -> None:
    text = SWAP + LAUNCH + USES.format(uses)
    (fix,) = (answer for answer in answered(text) if isinstance(answer, Fix))
    found = applied(text, fix.edits)
    assert WITHIN in found
    assert found.endswith(USES.format(after))
    assert fix.title.startswith("Insert __syncthreads() into the macro SWAP in line 3 and insert __syncthreads() after")
    assert fix.cost.endswith("+1 barrier in each use")
    assert "All uses of SWAP get the barrier." in fix.notes
    assert fix.preferred


@pytest.mark.parametrize(
    ("more", "use"),
    [
        ("#define BOTH(a, b) do { SWAP(a); SWAP(b); } while (0)\n", "BOTH(s, s);"),
        ("#define REPEAT(n, what) for (int j_ = 0; j_ < n; ++j_) what\n", "REPEAT(n, SWAP(s));"),
    ],
)
def test_uses_with_no_place_between_them_get_a_barrier_at_the_end_of_the_definition(more: str, use: str) -> None:
    text = SWAP + more + LAUNCH + USES.format(f"  {use}")
    (fix,) = answered(text)
    assert isinstance(fix, Fix)
    found = applied(text, fix.edits)
    assert WITHIN in found
    assert "    (a)[threadIdx.x] = v_;          \\\n    __syncthreads();                \\\n  } while (0)" in found
    assert more in found
    assert fix.title.startswith("Insert __syncthreads() into the macro SWAP in lines 3 and 4 — ")
    assert fix.cost == "+2 barriers in each use"


@pytest.mark.parametrize("condition", ["t < 7", "in[t] > 0"])
def test_a_use_in_a_branch_forbids_what_uses_in_a_row_need(condition: str) -> None:
    uses = f"  SWAP(s);\n  SWAP(s);\n  __syncthreads();\n  if ({condition}) {{ SWAP(out); }}"
    text = SWAP + LAUNCH + USES.format(uses)
    answers = answered(text)
    assert answers
    assert all(isinstance(answer, FixRefusal) for answer in answers), answers


def test_a_definition_in_a_header_is_a_choice_and_checked_where_the_header_is_included(tmp_path: Path) -> None:
    (tmp_path / "swap.cuh").write_text(f"#pragma once\n{SWAP}")
    text = '#include "swap.cuh"\n' + LAUNCH + USES.format("  SWAP(s);\n  SWAP(s);")
    here = CheckRequest(str(tmp_path / "a.cu"), text)
    (fix,) = answers(engine(), here)
    assert isinstance(fix, Fix)
    assert not fix.preferred
    assert {Path(edit.span.path).name for edit in fix.edits} == {"a.cu", "swap.cuh"}
    assert "into the macro SWAP in line 4 of swap.cuh" in fix.title
    assert any("swap.cuh" in granted for granted in fix.assumes)
    for condition, possible in (("n < 7", True), ("threadIdx.x < 7", False)):
        body = f"__global__ void k(int *out, int n) {{ if ({condition}) SWAP(out); }}\n"
        other = CheckRequest(str(tmp_path / "b.cu"), '#include "swap.cuh"\n' + LAUNCH + body)
        asked = replace(here, including=lambda *_, other=other: Including(requests=(other,), count=1))
        found = list(answers(engine(), asked))
        assert any(isinstance(answer, Fix) for answer in found) == possible, found


def test_a_definition_that_the_host_uses_stays(tmp_path: Path) -> None:
    host = "void host(int *x) { struct { int x; } threadIdx = {0}; SWAP(x); }\n"
    text = SWAP + LAUNCH + USES.format("  SWAP(s);") + host
    assert not any(isinstance(answer, Fix) for answer in answered(text))
    (tmp_path / "swap.cuh").write_text(f"#pragma once\n{SWAP}")
    text = '#include "swap.cuh"\n' + LAUNCH + USES.format("  SWAP(s);")
    other = CheckRequest(str(tmp_path / "b.cu"), f'#include "swap.cuh"\n{host}')
    including = Including(requests=(other,), count=1)
    (fix,) = answers(engine(), CheckRequest(str(tmp_path / "a.cu"), text, including=lambda *_: including))
    assert isinstance(fix, Fix)
    assert any("b.cu includes it and uses a macro that changes outside of kernels" in note for note in fix.assumes)


def test_kernels_that_nobody_asked_about_have_a_say_about_headers(tmp_path: Path) -> None:
    (tmp_path / "swap.cuh").write_text(f"#pragma once\n{SWAP}")
    text = '#include "swap.cuh"\n' + LAUNCH + USES.format("  SWAP(s);") + LAUNCH
    text += "__global__ void other(int *out) { if (threadIdx.x < 7) SWAP(out); }\n"
    asked = CheckRequest(str(tmp_path / "a.cu"), text, options=CheckOptions(kernels=("k",)))
    assert not any(isinstance(answer, Fix) for answer in answers(engine(), asked))
