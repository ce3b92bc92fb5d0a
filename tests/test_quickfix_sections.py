"""Edits around preprocessor lines: whole under the condition that nobody has analysed, too."""

from __future__ import annotations

import pytest
from restructured import LAUNCH, edited, engine, refusal, repaired

from analyzers.model import Fix
from analyzers.requests import CheckRequest, UnitFinished

CONDITION = """__global__ void k(int *a, int n) {
  int t = threadIdx.x;
#ifdef OTHER
  if (t < 64)
#else
  if (t < n)
#endif
  {
    a[t] = t;
    a[t + 64] = a[(t + 1) % 64];
  }
}
"""
BODY = """__global__ void k(int *a, int *o, int n) {{
  __shared__ int s[64];
  int t = threadIdx.x;
  {head} {{
    s[t] = a[t];
#ifdef OTHER
    s[t] += 1;
#else
    s[t] += 2;
#endif
    o[t] = s[63 - t];
#ifdef OTHER
    o[t] += 1;
#else
    o[t] += 2;
#endif
  }}
}}
"""
JUMP = """__global__ void k(int *a, int *o, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  for (int i = 0; i < 3; i++) {
    if (t == n) continue;
    s[t] = a[i];
#ifdef OTHER
    o[i] = s[t];
#else
    o[t + 64 * i] = s[63 - t];
#endif
  }
}
"""
CALLED = """__device__ void step(int *s, int t) {
  s[t] = t;
  __syncthreads();
#ifdef OTHER
  s[t] = 3;
#else
  s[t + 64] = s[(t + 1) % 64];
#endif
}
// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(int *a, int n) {
  int t = threadIdx.x;
  if (t < n) step(a, t);
}
"""


def compiles(text: str) -> bool:
    (unit,) = [e.result for e in engine().check(CheckRequest("/sections/a.cu", text)) if isinstance(e, UnitFinished)]
    return not unit.syntax


@pytest.mark.parametrize(
    "text",
    [
        LAUNCH + BODY.format(head="if (t < n)"),
        LAUNCH + BODY.format(head="for (int i = t; i < n; i += 64)"),
        LAUNCH + BODY.format(head="for (int i = t * 2; i < n; i += 64)"),
        LAUNCH + JUMP,
        CALLED,
    ],
    ids=["conditional", "base", "vote", "jump", "called"],
)
def test_the_text_compiles_under_the_other_condition(text: str) -> None:
    answer = repaired(text, "k")
    assert isinstance(answer, Fix), answer
    assert compiles("#define OTHER\n" + edited(text, answer))


def test_what_only_one_condition_sees_is_not_needed_outside_of_it() -> None:
    assert "Preprocessor lines cut" in refusal(CONDITION)


def test_a_comment_in_front_of_a_condition_is_not_lost() -> None:
    assert "comment" in refusal(
        CONDITION.partition("#ifdef")[0] + "  if /* some */ (t < n)" + CONDITION.partition("#endif")[2]
    )


@pytest.mark.parametrize("other", ["if (t == 0) {", "for (int i = 0; i < t; i++) {"])
def test_a_barrier_stands_in_front_of_what_another_build_does_under_a_condition(other: str) -> None:
    text = f"""{LAUNCH}__global__ void k(int *a, int *o, int n) {{
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = a[t];
#ifdef OTHER
  {other}
#else
  {{
#endif
    o[t] = s[63 - t];
  }}
}}
"""
    assert edited(text, repaired(text, "k")) == text.replace("  s[t] = a[t];\n", "  s[t] = a[t];\n  __syncthreads();\n")
