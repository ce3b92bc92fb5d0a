"""Loops that leave the conditional around them: as they are where their heads end without it, else with a vote."""

from __future__ import annotations

import pytest
from restructured import LAUNCH, alone, edited, engine, refusal, repaired

from analyzers.model import Fix, FixRefusal
from analyzers.requests import CheckRequest
from quickfix import answers, fix_all
from quickfix.steps import VOTES


def counts_for_all(answer: Fix | FixRefusal) -> bool:
    """Whether threads without work make the loop as the others do; where its head needs the condition, they vote."""
    assert isinstance(answer, Fix), answer
    return VOTES not in answer.cost


def does_the_same(text: str, answer: Fix | FixRefusal) -> bool:
    after = edited(text, answer)
    return all(alone(text, "k", me) == alone(after, "k", me) for me in (0, 1, 39, 40, 47, 48, 63))


INSIDE_OUT = """constexpr int ONE = 1, TILE = 16;
__global__ void k(int *a, int *out, int n, int m, unsigned u) {{
  __shared__ int s[64];
  const int t = threadIdx.x;
  if (t < 48) {{
    for ({0}) {{
      s[t] = a[i] + t;
      __syncthreads();
      out[t] += s[47 - t];
      __syncthreads();
    }}
  }}
}}
"""


@pytest.mark.parametrize(
    ("head", "ends"),
    [
        ("int i = 0; i < n; i++", True),
        ("int i = 0; i < 100; i += 3", True),
        ("int i = 32; i > 0; i >>= 1", True),
        ("int i = 32; i; i >>= 1", True),
        ("int i = 32; i != 0; i /= 2", True),
        ("int i = n; i; i >>= 1", False),
        ("int i = 32; i; i /= 1", False),
        ("int i = 32; i; i /= ONE", False),
        ("int i = 0; i <= n; i++", False),
        ("int i = 0; i < n; i += 2", True),
        ("int i = 0; i < n; i += TILE", True),
        ("int i = 0; i <= n; i += 2", False),
        ("int i = 0; i < n; i += 1 << 20", False),
        ("unsigned i = 0; i < (unsigned)n; i += 2", False),
        ("unsigned i = 0; i < u; i += 2", True),
        ("unsigned i = 0; i < n; i += 2", False),
        ("int i = 0; i < u; i += 2", False),
        ("unsigned i = 0; i < u; i += m", False),
        ("int i = 0; i < n; i += 2u", False),
        ("unsigned long long i = 0; i < u; i += 2", True),
        ("int i = 0; i < n; i += m", False),
        ("int i = 1; i < n; i *= 2", False),
        ("int i = 0; i != n; i++", False),
        ("unsigned char i = 0; i < 300; i++", False),
        ("int i = 0; i < (unsigned)n; i++", False),
    ],
)
def test_a_loop_leaves_its_condition_only_if_it_ends_without_it(head: str, ends: bool) -> None:
    found = answers(engine(), CheckRequest("/restructured/a.cu", LAUNCH + INSIDE_OUT.format(head)))
    assert [counts_for_all(answer) for answer in found] == [ends]


@pytest.mark.parametrize(
    ("head", "most"),
    [
        ("unsigned i = 0; i < u; i += 2", "`u` is at most 4294967294"),
        ("unsigned i = 0; i < u; i += TILE", "`u` is at most 4294967280"),
        ("unsigned i = 0; i < u; i++", ""),
        ("int i = 0; i < n; i += 2", ""),
        ("unsigned long long i = 0; i < u; i += 2", ""),
    ],
)
def test_what_ends_only_for_limits_within_the_range_says_so(head: str, most: str) -> None:
    text = LAUNCH + INSIDE_OUT.format(head)
    (answer,) = (a for a in answers(engine(), CheckRequest("/restructured/a.cu", text)) if isinstance(a, Fix))
    assumed = (f"Assumes that {most}: beyond, the loop in line 7 would not end.",) if most else ()
    assert (answer.assumes, answer.applies_unasked) == (assumed, not most)
    assert [note for note in answer.notes if "Assumes" in note] == [*assumed]
    assert answer.title.endswith(f", assumes that {most}") if most else "assumes" not in answer.title
    everything = repaired(text, "k")
    assert isinstance(everything, FixRefusal if most else Fix), everything
    assert isinstance(everything, Fix) or all(text in everything.text for text in assumed)


TEMPLATE = """template <int STEP> __global__ void k(int *a, int *out, int n) {{
  __shared__ int s[64];
  const int t = threadIdx.x;
  if (t < 48) {{
    for (int i = 0; i < n; i += STEP) {{
      s[t] = a[i] + t;
      __syncthreads();
      out[t] += s[47 - t];
      __syncthreads();
    }}
  }}
}}
void run(int *a, int *out, int n) {{
  k<4><<<1, 64>>>(a, out, n);
  k<{other}><<<1, 64>>>(a, out, n);
}}
"""


@pytest.mark.parametrize(("other", "ends"), [("8", True), ("0", False), ("-4", False), ("1 << 20", False)])
def test_a_step_that_a_template_is_made_for_counts_in_all_instances(other: str, ends: bool) -> None:
    answer = fix_all(engine(), CheckRequest("/restructured/a.cu", TEMPLATE.format(other=other)))
    assert counts_for_all(answer) == ends


@pytest.mark.parametrize(
    ("condition", "ends"),
    [
        ("t < n", True),
        ("t < n && m > t", True),
        ("own < n && n > own && t < m", True),
        ("n < 1000 && t < n", False),
        ("t < n || n == 3", False),
        ("n > 1000 && t < n", True),
        ("1000 > n && t < 48", False),
        ("small && t < 48", False),
        ("late && t < 48", False),
        ("a[n] < t", False),
    ],
)
def test_a_loop_with_wide_steps_stays_where_its_condition_may_bound_its_limit(condition: str, ends: bool) -> None:
    text = LAUNCH + INSIDE_OUT.format("int i = 0; i < n; i += 2").replace("t < 48", condition)
    own = "const bool small = n < 1000;\n  bool late = false;\n  late = n < 1000;\n  int own = t + 1;\n  if ("
    answer = repaired(text.replace("if (", own), "k")
    assert counts_for_all(answer) == ends


def test_a_return_that_protects_the_head_of_a_loop_stays_in_front_of_it() -> None:
    text = (
        LAUNCH
        + """__global__ void k(int *out, int n) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  if (n == 0 || t >= 48) return;
  for (int i = 0; i < 1024; i += n) {
    s[t] = i + t;
    __syncthreads();
    out[t] += s[47 - t];
    __syncthreads();
  }
}
"""
    )
    (answer,) = answers(engine(), CheckRequest("/restructured/a.cu", text))
    assert not counts_for_all(answer)
    assert does_the_same(text, answer)


PROTECTED = """__global__ void k(int *out, const int *in, int n) {{
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = n;
  __syncthreads();
  int own = {own};
  if ({condition}) {{
    for (int i = {start}; {test}; {step}) {{
      s[t] = in[t + i];
      out[t] += s[(t + 1) % 40];
    }}
  }}
}}
"""


@pytest.mark.parametrize(
    ("own", "condition", "start", "test", "step", "written"),
    [
        ("0", "n > 0 && t < 40", "0", "i < 64", "i += n", "int i = 0; "),
        ("t < 40 ? 4 : 0", "t < 40", "0", "i < 64", "i += own", "int i = 0; "),
        ("0", "n > 0 && t < 40", "n", "i < 64", "i *= 2", "int i = n; "),
        ("0", "n > 0 && t < 40", "0", "i < 1024 / n", "i++", "int i = 0; "),
        ("0", "n > 0 && t < 40", "in[t] & 7", "i < in[t + 1] & 15", "i++", "int i = active ? in[t] & 7 : 0; "),
        ("0", "n > 0 && t < 40", "64 / n", "i < in[t + 1] & 31", "i++", "int i = active ? 64 / n : 0; "),
        ("0", "t < 40", "t > 3 ? n : 0", "i < in[t] & 15", "i++", "int i = t > 3 ? n : 0; "),
        ("0", "t < 40", "t > 3 ? in[t] & 3 : 0", "i < 9", "i++", "int i = active ? (t > 3 ? in[t] & 3 : 0) : 0; "),
    ],
)
def test_a_condition_that_protects_the_head_of_a_loop_stays_around_it(
    own: str, condition: str, start: str, test: str, step: str, written: str
) -> None:
    text = LAUNCH + PROTECTED.format(own=own, condition=condition, start=start, test=test, step=step)
    answer = repaired(text, "k")
    assert not counts_for_all(answer)
    assert f"for ({written}__syncthreads_or(active = active && " in edited(text, answer)
    assert does_the_same(text, answer)


@pytest.mark.parametrize("start", ["auto i = in[t]", "i = in[t]", "int i = in[t], j = 3", "int i{{in[t]}}"])
def test_what_a_loop_begins_with_is_one_number_of_its_own(start: str) -> None:
    head = PROTECTED.replace("int i = {start}", start).replace(
        "int own", "int i, own" if start[0] == "i" else "int own"
    )
    reason = refusal(head.format(own="0", condition="t < 40", test="i < in[t + 1]", step="i++"))
    assert reason in (
        "The head of the loop in line 9 may act or read memory.",
        "The loop in line 9 does more than count.",
    )


@pytest.mark.parametrize("start", ["i = 2", "i++"])
def test_threads_without_work_keep_a_counter_that_is_read_behind_the_loop(start: str) -> None:
    text = PROTECTED.replace("int i = {start}", start).replace("int own", "int i = 9, own")
    text = text.format(own="0", condition="t < 40", test="i < in[t + 1]", step="i++")
    reason = refusal(text.rstrip().removesuffix("}") + "  out[t + 64] = i;\n}\n")
    assert reason in (
        "The head of the loop in line 9 may act or read memory.",
        "The loop in line 9 does more than count.",
    )


IN_A_HEADER = """#if 0
#define STEP 4
#endif
#include "step.h"
#define HALF(x) ((x) / m)
#define COUNTER(c) int c = s[t]
// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(int *out, const int *in, int n, int m) {{
  __shared__ int s[64];
  int t = threadIdx.x, c = 7;
  s[t] = n;
  __syncthreads();
  if (n > 0 && m > 0 && t < 40) {{
    for (int i = 0; i < {limit}; i += {step}) {{
      {begin}
      s[t] = in[t + i];
      out[t] += s[(t + 1) % 40];
      {end}
    }}
  }}
  out[t] += c;
}}
"""


@pytest.mark.parametrize(
    ("parts", "header", "possible"),
    [
        ({}, "#define STEP 4", True),
        ({}, "#define STEP blockDim.x", True),
        ({}, "#define STEP n", False),
        ({"limit": "HALF(64)"}, "#define STEP 4", False),
        ({"begin": "COUNTER(c);", "end": "out[t] += c;"}, "#define STEP 4", False),
    ],
)
def test_macros_are_what_they_stand_for(parts: dict[str, str], header: str, possible: bool) -> None:
    text = IN_A_HEADER.format(**{"limit": "64", "step": "STEP", "begin": "", "end": "", **parts})
    answer = repaired(text, "k", unsaved={"/restructured/step.h": header})
    assert (isinstance(answer, Fix) and counts_for_all(answer)) == possible


COUNTED = """typedef unsigned char Small;
__global__ void other(int n, int i, float m) {{}}
{0}__global__ void k(int *a, int *out, {1} n) {{
  __shared__ int s[64];
  const int t = threadIdx.x;
  if (t < 48) {{
    for ({2} i = 0; i < n; i++) {{
      s[t] = a[i] + t;
      __syncthreads();
      out[t] += s[47 - t];
      __syncthreads();
    }}
  }}
}}
"""


@pytest.mark.parametrize(
    ("limit", "counter", "ends"),
    [
        ("int", "int", True),
        ("unsigned", "unsigned", True),
        ("int", "long", True),
        ("float", "int", False),
        ("int", "Small", False),
        ("int", "unsigned", False),
        ("long", "int", False),
    ],
)
def test_types_of_counters_and_limits_are_those_of_the_syntax_tree(limit: str, counter: str, ends: bool) -> None:
    answer = repaired(COUNTED.format(LAUNCH, limit, counter), "k")
    assert counts_for_all(answer) == ends


@pytest.mark.parametrize("change", ["LESS;", "m--;", "Ref r = m; r = 3;", "p.x--;"])
def test_a_limit_that_the_body_changes_by_another_name_keeps_its_condition(change: str) -> None:
    head = "#define LESS m--\nusing Ref = int &;\nstruct P { int x; };\n"
    text = head + LAUNCH + INSIDE_OUT.format("int i = 0; i < m; i++").replace("out[t] +=", f"{change} out[t] +=")
    if change.startswith("p"):
        text = text.replace("  const int t", "  P p = {m};\n  const int t").replace("i < m", "i < p.x")
    answer = repaired(text, "k")
    assert not counts_for_all(answer)
    assert does_the_same(text, answer)
