"""Loops that all threads make: the same accesses, at the ends of ranges too, and what keeps a loop as it is."""

from __future__ import annotations

import pytest
from restructured import LAUNCH, edited, engine, in_a_block, refusal, repaired

from analyzers.model import Fix, FixRefusal
from analyzers.requests import CheckRequest
from quickfix import fix_all, offers

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
    body = LIMIT.replace("a[i + 1000] =", "i +=")
    text = head.replace("__global__", LAUNCH + "__global__") + body + "}\n"
    after = edited(text, repaired(text, "k"))
    assert "while (__syncthreads_or(active = active && i < limit)) {" in after
    assert after.count("< limit") == 1


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
    body = LIMIT.replace("a[i + 1000] =", "i +=")
    text = head.replace("__global__", LAUNCH + "__global__") + body + "}\n"
    after = edited(text, repaired(text, "k", unsaved=HEADER))
    assert "while (__syncthreads_or(active = active && i < limit)) {" in after
    assert after.count("< limit") == 1


def test_a_macro_of_plain_numbers_is_a_limit() -> None:
    text = "#define limit (n - EDGE)\n#define EDGE 1\n" + LAUNCH + BEGUN.replace("*n", "n") + LIMIT + "}\n"
    assert "for (int base = 0; base < limit; base += 64) {" in edited(text, repaired(text, "k"))


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


LEFT = """__global__ void k(int *out, const int *in, int b, int e) {
  __shared__ int s[64];
  int i = threadIdx.x;
  int sum = 0;
@
  out[threadIdx.x] = sum;
}
"""
WORK = """    s[threadIdx.x] = i;
    sum += s[63 - threadIdx.x];
    i += 7;
"""
COUNTED = """  for (int j = threadIdx.x; j < e; j += 7) {
    s[threadIdx.x] = j;
    sum += s[63 - threadIdx.x];
"""
LOOPS = {
    "do": f"  do {{\n{WORK}  }} while (i < e);",
    "do or": f"  do {{\n{WORK}  }} while (i < e || i == b);",
    "memory": f"  while (in[i & 15] + i < e) {{\n{WORK}  }}",
    "steps": f"  while ((i += 3) < e) {{\n{WORK}  }}",
    "counts": "  int left = threadIdx.x % 5;\n  while (left--) {\n" + WORK + "  }",
    "comment": f"  while (in[i & 15] < e /* a bound */ && i < e  // another\n  ) {{\n{WORK}  }}",
    "first": f"  while (true) {{\n    if (i >= e) break;\n{WORK}  }}",
    "for": f"  for (;;) {{\n    if (i >= e || i == 40)\n      break;\n{WORK}  }}",
    "middle": f"  while (i < e) {{\n{WORK}    if (i % 5 == 0) break;\n    out[64] = i;\n  }}",
    "last": f"  while (i < e) {{\n{WORK}    if (i % 5 == 0) {{\n      sum++;\n      break;\n    }}\n  }}",
    "else": f"  while (i < e) {{\n{WORK}    if (i & 1) {{\n      sum++;\n    }} else if (i > 90) {{\n      break;\n"
    "    }\n    sum *= 2;\n  }",
    "deep": f"  while (true) {{\n{WORK}    if (i & 1) {{\n      if (i > e) break;\n      sum++;\n    }}\n"
    "    if (i > e + 70) break;\n    sum ^= i;\n  }",
    "declared": f"  while (true) {{\n    int old = i;\n{WORK}    if (i > e) break;\n    sum += old;\n  }}",
    "step": "  for (int j = threadIdx.x; j < e; j += 7) {\n    s[threadIdx.x] = j;\n    if (j % 4 == 3) break;\n"
    "    sum += s[63 - threadIdx.x];\n  }",
    "step last": "  for (int j = threadIdx.x; j < e; j += 7) {\n    s[threadIdx.x] = j;\n"
    "    sum += s[63 - threadIdx.x];\n    if (j % 4 == 3) break;\n  }",
    "continue": f"  while (i < e) {{\n{WORK}    if (i & 1) continue;\n    sum *= 2;\n  }}",
    "inner": f"  while (in[i & 7] < e && i < e) {{\n{WORK}    for (int j = 0; j < 9; ++j) if (j == i) break;\n  }}",
    "waiting": f"  while (i < e) {{\n{WORK}    if (in[i & 7] == 0) {{ i += 64; continue; }}\n    out[64] = i;\n  }}",
    "under": f"  if (i < b) {{\n    do {{\n{WORK}    }} while (i < e);\n  }}",
    "under one": f"  if (in[i] < b)\n    while (in[i & 15] + i < e) {{\n{WORK}    }}",
    "under more": f"  if (i < b) {{\n    int old = i;\n    while (i < e) {{\n{WORK}    if (i & 8) break;\n    }}\n"
    "    sum += old;\n  }",
    "in a loop": f"  for (int r = 0; r < 2; ++r)\n    while (in[i & 15] + i < e) {{\n{WORK}    }}",
    "declared in the test": f"  while (int k = in[i & 15] + i < e) {{\n{WORK}    sum += k;\n  }}",
    "return": f"  while (i < e) {{\n{WORK}    if (i % 5 == 3) return;\n    sum *= 2;\n  }}\n  sum += 3;",
    "return deep": f"  while (i < e) {{\n{WORK}    if (i % 5 == 3) {{\n      sum++;\n      if (i > 40)\n"
    "        return;\n      else {\n        out[64] = i;\n        return;\n      }\n    }\n  }\n  sum += 3;",
    "goto": f"  while (i < e) {{\n{WORK}    if (i % 5 == 3) goto done;\n    sum *= 2;\n  }}\n  sum += 3;\ndone:",
    "goto next": f"  while (i < e) {{\n{WORK}    if (i % 5 == 3) goto done;\n    sum *= 2;\n  }}\ndone:",
    "goto and return": f"  while (i < e) {{\n    if (i % 9 == 4) return;\n{WORK}    if (i % 5 == 3) goto done;\n  }}\n"
    "  sum += 3;\ndone:",
    "return inside": f"  while (i < e) {{\n{WORK}    for (int j = 0; j < 3; ++j) {{\n"
    "      if (in[j] + i == 50) return;\n      sum += j;\n    }\n    sum *= 2;\n  }",
    "goes on": "  for (int j = threadIdx.x; j < e; j += 7 + j % 2) {\n    if (j % 4 == 3) { sum += 2; continue; }\n"
    "    s[threadIdx.x] = j;\n    sum += s[63 - threadIdx.x];\n  }",
    "goes on behind": f"{COUNTED}    if (j % 4 == 3) continue;\n    sum *= 2;\n  }}",
    "goes on deep": f"{COUNTED}    if (j & 1) {{\n      sum++;\n      if (j % 3 == 0) continue;\n      sum ^= j;\n"
    "    } else if (in[j & 7] > j) {\n      continue;\n    }\n    sum *= 2;\n  }",
    "goes on or leaves": f"{COUNTED}    if (j & 1) {{\n      if (j % 3 == 0) continue;\n      if (j > 70) break;\n"
    "      sum ^= j;\n    }\n    sum *= 2;\n  }",
    "goes on at the end": f"{COUNTED}    sum *= 2;\n    if (j & 1) {{\n      sum++;\n      continue;\n    }}\n  }}",
    "no braces": "  do\n    s[threadIdx.x] = i, sum += s[63 - threadIdx.x], i += 7;\n  while (i < e);",
}


@pytest.mark.parametrize("which", LOOPS)
def test_a_thread_does_the_same_in_a_loop_that_all_make(which: str) -> None:
    text = LEFT.replace("@", LOOPS[which])
    answer = repaired(LAUNCH + text, "k")
    after = edited(LAUNCH + text, answer)
    assert "__syncthreads_or(" in after
    for begin, end in ((0, 0), (9, 33), (40, 100)):
        assert in_a_block(after, begin, end) == in_a_block(text, begin, end), after


WALK = """__device__ int walk(int *s, const int *in, int i, int e) {{
  int t = threadIdx.x, sum = 0;
  {0}
  while (i < e) {{
    s[t] = i;
    {1}
    sum += s[63 - t];
    i += 1 + (i & 3);
  }}
  return -1;
}}
__global__ void k(int *out, const int *in, int b, int e) {{
  __shared__ int s[64];
  out[threadIdx.x] = walk(s, in, threadIdx.x, e);
}}
"""


@pytest.mark.parametrize(
    ("before", "leave", "behind"),
    [
        ("", "if (i % 5 == 3) return 7;", "if (left) return 7;"),
        ("int last = 2;", "last ^= i;\n    if (i % 5 == 3) return last;", "if (left) return last;"),
        ("", "if (i % 5 == 3) return i + t;", "if (left) return result;"),
        ("", "int now = i;\n    if (i % 5 == 3) return now;", "if (left) return result;"),
        ("", "if (i % 5 == 3) {\n      int now = i;\n      return now + in[i];\n    }", "if (left) return result;"),
    ],
)
def test_a_value_that_is_there_behind_the_loop_is_returned_there(before: str, leave: str, behind: str) -> None:
    text = WALK.format(before, leave)
    after = edited(LAUNCH + text, repaired(LAUNCH + text, "k"))
    assert behind in after
    for end in (0, 33, 100):
        assert in_a_block(after, 0, end) == in_a_block(text, 0, end), after


HIDDEN = f"  while (in[i] < e) {{\n{WORK}    LEAVE;\n  }}"


@pytest.mark.parametrize(
    ("before", "leave", "why"),
    [
        ("#define LEAVE if (i > 90) break", "LEAVE", "lead out of it"),
        ("#define LEAVE if (i > 90) return", "LEAVE", "lead out of it"),
        ('#include "leave.h"', "LEAVE", "lead out of the loop"),
        ("", "switch (i) { case 90: goto out; }", "leaves a `switch` and the loop around it"),
        ("", "if (i > 90) goto in; sum++; in: sum++", "does not leave the loop"),
        ("", "auto f = [&] { return i; }; sum += f()", "a macro or a lambda"),
    ],
)
def test_a_loop_that_threads_leave_unseen_stays(before: str, leave: str, why: str) -> None:
    text = f"{before}\n{LAUNCH}" + LEFT.replace("@", HIDDEN.replace("LEAVE", leave))
    text = text.replace(
        "  out[threadIdx.x] = sum;", "out:\n  out[threadIdx.x] = sum;" if "goto out" in leave else "  out[0];"
    )
    said = repaired(text, "k", unsaved={"/restructured/leave.h": "#define LEAVE if (i > 90) break\n"})
    assert isinstance(said, FixRefusal), edited(text, said)
    assert why in said.text


@pytest.mark.parametrize(
    "words", ["/* break; */", "// return", 'const char *text = "continue; goto x";', "int breaks = 0;"]
)
def test_words_of_jumps_that_are_none(words: str) -> None:
    text = LAUNCH + LEFT.replace("@", HIDDEN.replace("LEAVE;", words))
    assert "__syncthreads_or(active = active && in[i] < e)" in edited(text, repaired(text, "k"))


GRID = """// cuda-lsp: launch grid=(4) block=(64)
__global__ void k(float *out, const float *in, int n) {{
  __shared__ float s[64];
  const int tid = threadIdx.x, stride = gridDim.x * blockDim.x;
  float sum = 0;
{loop}
    s[tid] = in[i];
    sum += s[63 - tid];
{last}
  }}
  out[blockIdx.x * 64 + tid] = sum;
}}
"""


@pytest.mark.parametrize(
    ("loop", "last", "head"),
    [
        (
            "  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {",
            "",
            "for (int base = blockIdx.x * blockDim.x; base < n; base += gridDim.x * blockDim.x) {",
        ),
        (
            "  int i = tid + blockIdx.x * 64;\n  while (i < n) {",
            "    i += stride;",
            "for (int base = blockIdx.x * 64; base < n; base += stride) {\n",
        ),
        ("  int i = tid;\n  while (i < n) {", "    i += stride;\n    sum += i;", "for (int base = 0; base < n;"),
        ("  int i = tid;\n  while (i < n) {", "    i += stride;\n    i += 1;", ""),
        ("  int i = tid;\n  while (i < n) {", "    if (sum > 0) i += stride;", ""),
        ("  int i = tid;\n  while (i < n) {", "    i += stride;\n    n--;", ""),
        ("  int i = tid;\n  i++;\n  while (i < n) {", "    i += stride;", ""),
        ("  int i = tid * 4;\n  while (i < n) {", "    i += stride;", "for (int base = 0; base < n; base += stride)"),
        ("  int i = tid * 5;\n  while (i < n) {", "    i += stride;", ""),
        ("  int i = tid;\n  while (i < n) {", "    i += int(in[0]);", ""),
    ],
)
def test_a_grid_in_strides_has_a_bound_for_the_block(loop: str, last: str, head: str) -> None:
    text = GRID.format(loop=loop, last=last)
    answer = repaired(text, "k")
    assert head in edited(text, answer)
    assert ("base" in edited(text, answer)) == bool(head)


ROWS = """__global__ void k(float *out, const int *rows, const float *in) {{
  __shared__ float s[256];
  {0} t = threadIdx.x;
  {1} begin = rows[blockIdx.x], end = rows[blockIdx.x + 1];
  float sum = 0;
  for ({1} i = begin + t; i < end; i += blockDim.x) {{
    s[t] = in[i];
    sum += s[(t + 1) % 256];
  }}
  out[blockIdx.x * 256 + t] = sum;
}}
void run(float *out, const int *rows, const float *in) {{ k<<<4, 256>>>(out, rows, in); }}
"""


def test_a_loop_from_a_first_element_has_a_base_and_a_vote_beside_it() -> None:
    text = ROWS.format("int", "int")
    first, other = offers(engine(), CheckRequest("/restructured/r.cu", text))
    assert first.preferred
    assert "for (int base = begin; base < end; base += blockDim.x) {\n    int i = base + t;" in edited(text, first)
    assert not other.preferred
    assert other.groups == first.groups
    assert "for (int i = begin + t; __syncthreads_or(i < end);) {" in edited(text, other)


@pytest.mark.parametrize(
    ("thread", "element", "loop"),
    [
        ("unsigned", "int", "int i = begin + t; i < end"),
        ("int", "unsigned", "unsigned i = begin + t; i < end"),
        ("int", "int", "unsigned i = begin + t; i < end"),  # where `begin` is below zero
        ("int", "int", "int i = begin + t; i < unsigned(end)"),
        ("int", "long", "int i = begin + t; i < end"),
    ],
)
def test_a_sum_that_may_wrap_around_is_no_base(thread: str, element: str, loop: str) -> None:
    text = ROWS.format(thread, element).replace(f"{element} i = begin + t; i < end", loop)
    assert loop in text
    (only,) = offers(engine(), CheckRequest("/restructured/r.cu", text))
    assert f"__syncthreads_or({loop.partition('; ')[2]})" in edited(text, only)


def test_a_loop_whose_barriers_threads_miss_has_a_base_and_a_vote_beside_it() -> None:
    text = (
        LAUNCH
        + """__global__ void k(float *out, const float *in, int e) {
  __shared__ float s[64];
  int t = threadIdx.x;
  for (int i = t; i < e; i += blockDim.x) {
    s[t] = in[i];
    __syncthreads();
    out[i] = s[63 - t];
    __syncthreads();
  }
}
"""
    )
    first, other = offers(engine(), CheckRequest("/restructured/a.cu", text))
    assert (first.preferred, other.preferred) == (True, False)
    assert "for (int base = 0; base < e; base += blockDim.x) {" in edited(text, first)
    after = edited(text, other)
    assert "for (int i = t; __syncthreads_or(i < e);) {" in after
    assert after.count("__syncthreads();") == 1
    assert in_a_block(text, 0, 150) == in_a_block(after, 0, 150) == in_a_block(edited(text, first), 0, 150)


IN_EACH_OTHER = """__global__ void k(int *out, const int *in, int b, int e) {{
  __shared__ int s[64];
  int t = threadIdx.x;
  {head} {{
    for ({loop}) {{
      s[t] = c;
      out[t] += s[63 - t];
    }}
    {behind}
  }}
}}
"""


@pytest.mark.parametrize(
    ("head", "loop", "behind", "votes"),
    [
        ("for (int r = t; r < e; r += 64)", "int c = r & 3; c < 9; c++", "out[r + 64]++;", 1),
        ("for (int r = t; r < e; r += 64)", "int c = 0; c < (in[r] & 7); c++", "", 1),
        ("for (int r = t; r < e; r += 3)", "int c = 4; c < (r & 7); c++", "if (r == 9) break;", 2),
        ("for (int r = b; r < e; r += 40)", "int c = t; c < 60 + 2 * r; c += 32", "", 1),
        ("if (t < e)", "int c = in[t] & 3; c < (in[t + 1] & 7); c++", "out[t + 64]++;", 1),
    ],
)
def test_a_loop_in_another_one_that_threads_leave_is_made_by_all(head: str, loop: str, behind: str, votes: int) -> None:
    text = LAUNCH + IN_EACH_OTHER.format(head=head, loop=loop, behind=behind)
    (fix,) = (answer for answer in offers(engine(), CheckRequest("/restructured/a.cu", text)) if answer.preferred)
    after = edited(text, fix)
    assert after.count("__syncthreads_or(") == votes
    for end in (20, 130):
        was, now = in_a_block(text, 0, end), in_a_block(after, 0, end)
        assert was == now
        assert any(was)


PAST_ZERO = """__global__ void k(int *out, const int *in, int b, int e) {{
  __shared__ int s[64];
  int t = threadIdx.x;
  for ({loop}) {{
    s[t] = i;
    out[t] += s[63 - t];
  }}
}}
"""


@pytest.mark.parametrize(
    "loop",
    [
        "unsigned i = t & 7; i != 0xffffffffu; i -= 1",
        "unsigned i = t & 7; i <= 10u; i--",
        "unsigned i = 63 - t; ~i; --i",
        "signed char i = t; i <= 95; i--",
        "unsigned i = 63 - t; i + 1 > 0; i--",
        "unsigned i = t - 70; int(i) < 0; i += 3",
        "unsigned i = t + 64 * (t & 3); int(i) >= 0; i -= blockDim.x",
        "unsigned char i = 250 + (t & 3); i > 3; ++i",
    ],
)
def test_a_loop_that_ends_where_its_counter_wraps_around_is_made_by_all(loop: str) -> None:
    text = LAUNCH + PAST_ZERO.format(loop=loop)
    (fix,) = (answer for answer in offers(engine(), CheckRequest("/restructured/a.cu", text)) if answer.preferred)
    after = edited(text, fix)
    assert after.count("__syncthreads_or(") == 1
    assert in_a_block(text, 0, 0) == in_a_block(after, 0, 0)


IN_A_WARP = """__global__ void k(float *out, const float *in, int n) {
  __shared__ float s[32];
  int t = threadIdx.x;
  float sum = 0;
  if (t < 32) {
    for (int i = t; i < n; i += 32) {
      s[t] = in[i];
      sum += s[t ^ 1];
    }
    out[t] = sum;
  }
}
void run(float *out, const float *in, int n) { k<<<1, 256>>>(out, in, n); }
"""


def test_a_loop_of_one_warp_gets_the_vote_of_a_warp() -> None:
    first = next(offers(engine(), CheckRequest("/restructured/w.cu", IN_A_WARP)))
    after = edited(IN_A_WARP, first)
    assert "for (int i = t; __any_sync(0xffffffff, i < n);) {" in after
    assert "__syncthreads" not in after
    assert "+1 warp vote in each test of the loop" in first.cost
    text = IN_A_WARP.replace("t < 32", "t < 30")
    # Not all lanes of the warp would answer: they all make the loop.
    first = next(offers(engine(), CheckRequest("/restructured/w.cu", text)))
    assert "const bool taken = t < 30;\n  for (int i = t; __any_sync(0xffffffff, i < n);) {" in edited(text, first)


def test_a_vote_is_not_made_a_part_of_another_one() -> None:
    text = """__global__ void k(int *out, int n) {
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t < n) {
    s[t] = t;
    int best = 0;
    for (int i = 0; i < 4; i++) {
      best += s[t ^ 1];
      if (best > n)
        break;
      s[t] = best;
    }
    out[t] = best;
  }
}
void run(int *out, int n) { k<<<1, 32>>>(out, n); }
"""
    for fix in offers(engine(), CheckRequest("/restructured/w.cu", text)):
        for line in edited(text, fix).splitlines():
            # Threads that are through would not answer the inner one.
            assert line.count("__any_sync(") + line.count("__syncthreads_or(") <= 1, line


def test_what_is_written_in_front_of_a_pragma_is_indented_like_the_loop() -> None:
    text = """// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(float *out, int n) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = t;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 8; i++) {
    if (i > (t & 3)) break;
    float v = s[(t + i) & 63];
    s[t] = v;
  }
  if (n > 3)
#pragma unroll 2
    for (int i = 0; i < 8; i++) out[t] += s[63 - t];
}
"""
    after = edited(text, fix_all(engine(), CheckRequest("/restructured/a.cu", text)))
    assert "\n  bool active = true;\n#pragma unroll\n  for (" in after
    assert "\n__syncthreads" not in after


MEANT = """__global__ void k(int *out, int b, int e) {{
  __shared__ int s[64];
  int t = threadIdx.x, m = 1;
  {before}
    for (int i = tid; i < 96; i += 128) {{
      s[t] = i;
      out[i] = s[63 - t];
    }}
  }}
}}
"""


@pytest.mark.parametrize(
    "before",
    [
        "int lo = 1;\n  int tid = lo + 2 * t;\n  if (e > 5) {\n    float lo = 0.5f;\n    out[200] = lo;",
        "int tid = b + t;\n  {\n    int t = threadIdx.x ^ 1;",
        "int &lo = m;\n  int tid = lo + 2 * t;\n  m = 0;\n  {",
        "int tid = LO + 2 * t;\n#undef LO\n#define LO 0\n  {",
    ],
    ids=["another variable", "another thread", "a reference", "a macro"],
)
def test_a_base_is_made_of_words_that_mean_the_same_at_the_loop(before: str) -> None:
    text = "#define LO 1\n" + MEANT.format(before=before)
    after = edited(LAUNCH + text, repaired(LAUNCH + text, "k"))
    for begin, end in ((0, 40), (5, 90)):
        assert in_a_block(after, begin, end) == in_a_block(text, begin, end), after


@pytest.mark.parametrize("body", ["if (i + 1 < e) out[i + 200] = 1;", "if (t < e) out[i + 200] = 1;"])
def test_other_tests_against_the_bound_are_not_in_the_way_of_a_base(body: str) -> None:
    text = (
        MEANT.format(before="{")
        .replace("i = tid; i < 96", "i = t; i < e")
        .replace("s[t] = i;", f"s[t] = i;\n      {body}")
    )
    after = edited(LAUNCH + text, repaired(LAUNCH + text, "k"))
    assert "for (int base = 0; base < e; base += 128)" in after
    assert in_a_block(after, 0, 90) == in_a_block(text, 0, 90)


def test_a_loop_in_which_its_step_is_defined_anew_stays() -> None:
    text = MEANT.format(before="int tid = t - 5;\n  {").replace("128", "STEP")
    text = text.replace("s[t] = i;", "s[t] = i;\n#undef STEP\n#define STEP 128")
    assert "A macro of its head is defined anew in the loop in line 8" in refusal("#define STEP 64\n" + text)


def test_the_address_of_an_array_is_no_number_of_iterations() -> None:
    text = MEANT.format(before="int lo = 1;\n  int tid = lo + 2 * t;\n  {\n    int *lo = s;\n    lo[t] = 0;")
    answer = repaired(LAUNCH + text, "k")
    assert isinstance(answer, Fix)
    text = MEANT.format(before="long tid = (long)s;\n  {").replace("int i", "long i")
    assert repaired(LAUNCH + text, "k") is not None
