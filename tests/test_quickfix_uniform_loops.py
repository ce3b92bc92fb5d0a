"""Loops that all threads make: the same accesses, at the ends of ranges too, and what keeps a loop as it is."""

from __future__ import annotations

import pytest
from restructured import LAUNCH, edited, in_a_block, refusal, repaired

from analyzers.model import Fix, FixRefusal

LIMIT = """  int i = threadIdx.x;
  while (i < limit) {
    s[threadIdx.x] = a[i];
    a[i + 1000] = s[63 - threadIdx.x];
    i += 64;
  }
"""


@pytest.mark.parametrize(
    "head",
    [
        "__global__ void k(int *a, int n) {\n  __shared__ int s[64], limit;\n  limit = n;\n  __syncthreads();\n",
        "__device__ int limit;\n__global__ void k(int *a) {\n  __shared__ int s[64];\n",
        "__global__ void k(int *a, int *n) {\n  __shared__ int s[64];\n  int &limit = *n;\n",
        "#define limit (a[7])\n__global__ void k(int *a) {\n  __shared__ int s[64];\n",
    ],
)
def test_a_limit_that_other_threads_may_change_is_not_asked_again(head: str) -> None:
    text = head.replace("__global__", LAUNCH + "__global__") + LIMIT + "}\n"
    said = repaired(text, "k")
    assert isinstance(said, FixRefusal), edited(text, said)
    assert "read memory" in said.text


HEADER = {"/restructured/limit.cuh": "__device__ int limit;\ntypedef int &Ref;\n"}
BEGUN = "__global__ void k(int *a, int *n) {\n  __shared__ int s[64];\n"


@pytest.mark.parametrize(
    "head",
    [
        f'#include "limit.cuh"\n{BEGUN}',
        f'#include "limit.cuh"\n{BEGUN}  Ref limit = *n;\n',
        f"struct P {{ int first, second; }};\n{BEGUN}  auto &[other, limit] = *(P *)n;\n",
        f"struct L {{ int *p; __device__ operator int() const {{ return *p; }} }};\n{BEGUN}  L limit{{n}};\n",
    ],
    ids=["header", "typedef", "binding", "conversion"],
)
def test_what_only_the_syntax_tree_says_of_a_limit(head: str) -> None:
    text = head.replace("__global__", LAUNCH + "__global__") + LIMIT + "}\n"
    said = repaired(text, "k", unsaved=HEADER)
    assert isinstance(said, FixRefusal), edited(text, said)
    assert "read memory" in said.text


def test_a_macro_of_plain_numbers_is_a_limit() -> None:
    text = "#define limit (n - EDGE)\n#define EDGE 1\n" + LAUNCH + BEGUN.replace("*n", "n") + LIMIT + "}\n"
    assert "__syncthreads_or(i < limit)" in edited(text, repaired(text, "k"))


def test_a_step_does_not_move_to_where_its_names_are_hidden() -> None:
    said = refusal("""__global__ void k(const int *a, int *out, int n, int d) {
  __shared__ int s[64];
  for (int i = threadIdx.x * 2; i < n; i += d) {
    int d = a[i];
    s[threadIdx.x] = d;
    out[threadIdx.x] = s[63 - threadIdx.x];
  }
}
""")
    assert "hides" in said


def test_a_number_that_may_wrap_around_is_no_base() -> None:
    text = (
        LAUNCH
        + """__global__ void k(int *a, int n) {
  __shared__ int s[64];
  signed char t = threadIdx.x;
  for (int i = t; i < n; i += 64) {
    s[threadIdx.x] = a[i];
    a[i + 1000] = s[63 - threadIdx.x];
  }
}
"""
    )
    answer = repaired(text, "k")
    assert isinstance(answer, FixRefusal) or "base" not in edited(text, answer)


UNEVEN = """__global__ void k(int *out, {0} b, {0} e) {{
  __shared__ int s[64];
  for ({0} i = b + {1}threadIdx.x; {2}) {{
    s[threadIdx.x] = i;
    out[threadIdx.x] = s[63 - threadIdx.x];
  }}
}}
"""


@pytest.mark.parametrize(
    ("kind", "head", "begin", "end"),
    [
        ("unsigned", "i < e; i++", 2**32 - 10, 5),
        ("unsigned", "i < e; i++", 2**32 - 70, 2**32 - 1),
        ("unsigned", "i < e; i += 7", 2**32 - 90, 2**32 - 20),
        ("unsigned", "i <= e; i++", 2**32 - 80, 2**32 - 2),
        ("int", "i < e; i++", 2**31 - 90, 2**31 - 1),
        ("int", "i <= e; i++", 2**31 - 70, 2**31 - 2),
        ("int", "e > i; i += 2", 2**31 - 90, 2**31 - 4),
    ],
)
def test_a_loop_made_by_all_threads_does_the_same_near_the_end_of_the_range(
    kind: str, head: str, begin: int, end: int
) -> None:
    text = UNEVEN.format(kind, "(int)" if kind == "int" else "", head)
    after = edited(LAUNCH + text, repaired(LAUNCH + text, "k"))
    assert in_a_block(after, begin, end) == in_a_block(text, begin, end)


def test_a_base_is_for_strides_of_whole_rows_only() -> None:
    """With `i += 32` the number of a thread may wrap around above a base that has not come to its end."""
    heads = {"blockDim.x": True, "64": True, "128": True, "32": False, "n": False}
    for step, based in heads.items():
        text = LAUNCH + UNEVEN.format("unsigned", "", f"i < e; i += {step}").replace("b + ", "").replace(" b,", " n,")
        answer = repaired(text, "k")
        assert not isinstance(answer, Fix) or ("base" in edited(text, answer)) == based, step


STRIDED = """{before}
// cuda-lsp: launch grid=(1) block=(128)
__global__ void k(float *out, const float *in, int n, int m) {{
  __shared__ float s[128];
  int tid = threadIdx.x;
  float sum = 0;
  for (int i = tid; i < n; i += blockDim.x) {{
    s[threadIdx.x] = in[i];
    sum += s[(threadIdx.x + 64) % 128];
    {last};
  }}
  out[threadIdx.x] = sum;
}}
"""


@pytest.mark.parametrize(
    ("before", "last", "based"),
    [
        ("", "sum += 1", True),
        ("__device__ void advance(int &x) { x++; }", "advance(tid)", False),
        ("", "int &r = tid; r += 1", False),
        ("#define BUMP tid += 1", "BUMP", False),
    ],
)
def test_a_number_of_a_thread_that_others_may_change_is_no_start(before: str, last: str, based: bool) -> None:
    text = STRIDED.format(before=before, last=last)
    answer = repaired(text, "k")
    assert ("base + tid" in edited(text, answer) if isinstance(answer, Fix) else False) == based


def test_a_macro_that_goes_on_with_the_next_iteration_is_seen() -> None:
    text = STRIDED.format(before="#define SKIP_IF(c) if (c) continue", last="SKIP_IF(m == 5); sum += 1")
    assert not isinstance(repaired(text, "k"), Fix)
