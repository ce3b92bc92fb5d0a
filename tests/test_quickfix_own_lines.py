"""Statements that share a line: they get their own where something has to stand between them, and nowhere else."""

from __future__ import annotations

import pytest
from restructured import LAUNCH, alone, edited, engine, repaired

from analyzers.model import Fix
from analyzers.requests import CheckRequest
from quickfix import answers

KERNEL = """__global__ void k(int *out, int n) {
  __shared__ int s[64];
  int t = threadIdx.x, x = n; int y = 1;
@
  out[t] = x + y;
}
"""


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        (
            "  if (t < n) { s[t] = t; x = s[n - 1 - t]; }",
            [
                "const bool taken = t < n;",
                "if (taken) {",
                "s[t] = t;",
                "}",
                "__syncthreads();",
                "if (taken) {",
                "x = s[n - 1 - t];",
                "}",
            ],
        ),
        (
            "  if (t < n) {\n    y = 2; y = 3;\n    s[t] = t; x = s[n - 1 - t];\n  }",
            [
                "const bool taken = t < n;",
                "if (taken) {",
                "y = 2; y = 3;",
                "s[t] = t;",
                "}",
                "__syncthreads();",
                "if (taken) {",
                "x = s[n - 1 - t];",
                "}",
            ],
        ),
        (
            "  y = 2; y = 3;\n  y = 4; if (t < n) {\n    s[t] = t;\n    x = s[n - 1 - t];\n  }",
            [
                "y = 2; y = 3;",
                "y = 4;",
                "const bool taken = t < n;",
                "if (taken) {",
                "s[t] = t;",
                "}",
                "__syncthreads();",
                "if (taken) {",
                "x = s[n - 1 - t];",
                "}",
            ],
        ),
        (
            "  for (int i = t; i < n; i += 64) { s[t] = i; x += s[63 - t]; }",
            [
                "for (int base = 0; base < n; base += 64) {",
                "int i = base + t;",
                "const bool taken = i < n;",
                "if (taken) {",
                "s[t] = i;",
                "}",
                "__syncthreads();",
                "if (taken) {",
                "x += s[63 - t];",
                "}",
                "__syncthreads();",
                "}",
            ],
        ),
        (
            "  if (n > 3) for (int i = 0; i < n; i++) { if (t > i) continue; s[t] = i; x += s[i - t]; }",
            [
                "if (n > 3) for (int i = 0; i < n; i++) {",
                "const bool taken = t <= i;",
                "if (taken) {",
                "s[t] = i;",
                "}",
                "__syncthreads();",
                "if (taken) {",
                "x += s[i - t];",
                "}",
                "__syncthreads();",
                "}",
            ],
        ),
    ],
    ids=["branch", "half", "begin", "loop", "jump"],
)
def test_only_what_is_taken_apart_gets_lines(code: str, lines: list[str]) -> None:
    text = LAUNCH + KERNEL.replace("@", code)
    after = edited(text, repaired(text, "k"))
    head, tail = text.index(code), len(text) - text.index(code) - len(code)
    assert [line.strip() for line in after[head : len(after) - tail].splitlines()] == lines
    for me in (0, 2, 3, 40):
        assert alone(after, "k", me) == alone(text, "k", me)


def test_a_comment_between_statements_stays_where_it_is() -> None:
    text = LAUNCH + KERNEL.replace("@", "  if (t < n) { s[t] = t; /* then */ x = s[n - 1 - t]; }")
    after = edited(text, repaired(text, "k"))
    assert "  if (taken) {\n    s[t] = t; /* then */\n  }\n  __syncthreads();\n" in after
    for me in (0, 2, 3, 40):
        assert alone(after, "k", me) == alone(text, "k", me)


def test_the_ends_of_lines_are_kept() -> None:
    text = (LAUNCH + KERNEL.replace("@", "  if (t < n) { s[t] = t; x = s[n - 1 - t]; }")).replace("\n", "\r\n")
    after = edited(text, repaired(text, "k"))
    assert after.count("\n") == after.count("\r\n") == text.count("\n") + 7


@pytest.mark.parametrize(
    "code",
    [
        "  if (t < n) { s[t] = t; __syncthreads(); }",
        "  if (t < n) { s[t] = t; __syncthreads(); } x += s[63 - t];",
    ],
)
def test_a_barrier_that_leaves_a_condition_of_its_own_line_is_said_to(code: str) -> None:
    text = LAUNCH + KERNEL.replace("@", f"{code}\n  y += s[63 - t];")
    moved = [
        a
        for a in answers(engine(), CheckRequest("/lines/a.cu", text))
        if isinstance(a, Fix) and a.kind == "move-barrier"
    ]
    assert [a.title for a in moved] == ["Move `__syncthreads()` in line 5 further out — all threads get there"]


@pytest.mark.parametrize("unit", ["    ", "\t", "   "])
def test_a_function_of_one_line_is_indented_as_the_file_is(unit: str) -> None:
    body = "{ if (t < n) { s[t] = t; o[t] = s[63 - t]; } }"
    text = f"""struct Work {{ int n; __device__ void run(int *s, int *o, int t) {body} }};
// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(int *out, Work w) {{
{unit}__shared__ int s[64];
{unit}w.run(s, out, threadIdx.x);
}}
"""
    fix = next(a for a in answers(engine(), CheckRequest("/restructured/own.cu", text)) if isinstance(a, Fix))
    after = edited(text, fix)
    assert f"\n{unit}const bool taken = t < n;\n{unit}if (taken) {{\n{unit}{unit}s[t] = t;\n{unit}}}\n" in after


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("end", ["", "   ", "\t", "  // of this thread \t", "  /* of this thread */  "])
def test_blanks_that_end_a_line_stay_in_it(end: str, newline: str) -> None:
    text = (LAUNCH + KERNEL.replace("@", f"  s[t] = t;{end}\n  x = s[63 - t];")).replace("\n", newline)
    after = edited(text, repaired(text, "k"))
    assert after == text.replace(end + newline + "  x =", f"{end}{newline}  __syncthreads();{newline}  x =")
