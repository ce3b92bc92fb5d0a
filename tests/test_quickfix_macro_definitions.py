"""Barriers inside of macros: where all uses agree, and why not elsewhere."""

from __future__ import annotations

import pytest
from edited import applied
from restructured import LAUNCH, engine

from analyzers.model import CheckOptions, Fix, FixRefusal
from analyzers.requests import CheckRequest
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
