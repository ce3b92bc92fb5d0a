"""Barriers of the lanes that a condition lets through."""

from __future__ import annotations

import pytest

from analyzers.engine import Engine
from analyzers.model import Fix, FixRefusal
from analyzers.requests import CheckRequest, never
from quickfix import answers, fix_all, offers
from quickfix.lane_masks import lane_mask
from quickfix.named_lanes import named_otherwise
from quickfix.session import Session
from quickfix.verify import RACES, findings_of

KERNEL = """#define HALF 16
// cuda-lsp: launch grid=(1) block={block}
__global__ void k(float *out, int n) {{
  __shared__ float s[128];
  int t = threadIdx.x + 16 * threadIdx.y;
  {head} {{
    s[t] = t;
    out[t] = s[t ^ 1];
  }}
}}
"""


def mask_of(head: str, block: str = "(64)") -> int | None:
    return mask_in(KERNEL.format(head=head, block=block))


def mask_in(text: str) -> int | None:
    session = Session.open(Engine(), CheckRequest("/lanes/a.cu", text), never)
    races = [f for a in session.kernels for f in findings_of(a.result) if f.code in RACES]
    assert races
    return lane_mask(session, session.kernels, races)


@pytest.mark.parametrize(
    ("head", "block", "mask"),
    [
        ("if (t < 16)", "(64)", 0xFFFF),
        ("if (t % 32 < 8)", "(64)", 0xFF),
        ("if (n > 3 && (t & 31) >= 30)", "(64)", 0xC0000000),
        ("if (threadIdx.y == 1)", "(16,4)", 0xFFFF0000),
        ("if (threadIdx.x < 2)", "(16,4)", 0x30003),
        ("if (t >= 16) return; else", "(64)", 0xFFFF),
        ("for (int i = 0; i < n; ++i) if (t < 4)", "(64)", 0xF),
        ("if (t < HALF)", "(64)", None),
        ("if (t < int(blockDim.x) / 4)", "(64)", None),
        ("if (t < 48)", "(64)", None),
        ("if (t < 32)", "(64)", None),
        ("if (t % 32 < 16)", "(40)", None),
        ("if (t < n)", "(64)", None),
        ("for (int i = t; i < 40; ++i)", "(64)", None),
        ("if (t < 16)", "(n)", None),
    ],
)
def test_the_mask_is_of_the_lanes_that_come_whatever_the_warp(head: str, block: str, mask: int | None) -> None:
    assert mask_of(head, block) == mask


def test_a_barrier_of_all_lanes_comes_first_where_all_come_to_a_place() -> None:
    text = KERNEL.format(head="if (t < 16)", block="(64)").replace("    out", "  }\n  if (t < 16) {\n    out")
    fix = next(offers(Engine(), CheckRequest("/lanes/a.cu", text)))
    assert fix.title.startswith("Insert __syncwarp() after line")


TWICE = """__device__ void ex(float *s, float *out, int w) {
  int t = threadIdx.x;
  if (t < w) {
    s[t] = t;
    out[t] = s[t ^ 1];
  }
}
// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(float *out) {
  __shared__ float s[64];
  ex(s, out, 16);
  __syncthreads();
  ex(s, out, 1);
}
"""
OF_A_TEMPLATE = """template <int W> __global__ void k(float *out) {
  __shared__ float s[64];
  int t = threadIdx.x;
  if (t < W) {
    s[t] = t;
    out[t] = s[t ^ 1];
  }
}
void run(float *out) { k<16><<<1, 64>>>(out); }
"""
BUILDS = """// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(float *out) {
  __shared__ float s[64];
  int t = threadIdx.x;
#ifdef HALF
  if (t % 32 < 16) {
#else
  if (t % 32 < 8) {
#endif
    s[t] = t;
    out[t] = s[t ^ 1];
  }
}
"""


IN_SECTIONS = """enum { SECOND = 1 };
// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(float *out) {
  __shared__ float s[64];
  int t = threadIdx.x;
  switch (t >> 4) {
    case SECOND:
      s[t] = t;
      out[t] = s[t ^ 1];
      break;
  }
}
"""


@pytest.mark.parametrize(
    ("text", "repair"),
    [
        (TWICE, "Split the conditional in line 3 and insert __syncwarp() after line 4"),
        (OF_A_TEMPLATE, "Split the conditional in line 4 and insert __syncwarp() after line 5"),
        (IN_SECTIONS, "Split the switch in line 6 and insert __syncwarp() after line 8"),
    ],
)
def test_no_lanes_are_named_where_the_text_leaves_open_which_come(text: str, repair: str) -> None:
    fixes = list(offers(Engine(), CheckRequest("/lanes/a.cu", text)))
    assert fixes[0].title.startswith(repair)
    assert not any("__syncwarp(0x" in edit.new_text for fix in fixes for edit in fix.edits)


def test_no_lanes_are_named_and_nothing_is_split_where_another_build_has_another_condition() -> None:
    (answer,) = answers(Engine(), CheckRequest("/lanes/a.cu", BUILDS))
    assert isinstance(answer, FixRefusal)
    assert answer.text == "Preprocessor lines cut the code around line 10."


OPEN = """#ifndef HALF
#define HALF 16
#endif
#define CHANGED(x) x = HALF
#ifdef BIG
const int half_ = 8;
#else
const int half_ = 16;
#endif
constexpr int W = 16;
enum {{ E = 16 }};
typedef int Number;
struct Config {{
  static const int lanes = 16;
  int own = 16;
}};
constexpr int operator""_lanes(unsigned long long n) {{ return n; }}
__device__ bool leads(int t) {{ return t < HALF; }}
// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(float *out, int n) {{
  __shared__ float s[64];
  int t = threadIdx.x;
  {before}
  if ({condition}) {{
    s[t] = t;
    out[t] = s[t ^ 1];
  }}
}}
"""


@pytest.mark.parametrize(
    ("before", "condition"),
    [
        # Names of what is defined elsewhere.
        ("", "t < half_"),
        ("", "t < W"),
        ("", "t < E"),
        ("", "t < Config::lanes"),
        ("", "leads(t)"),
        ("", "t < 2 * sizeof(double)"),
        ("", "t < 16_lanes"),
        # Variables that are made of them.
        ("const bool active = t < HALF;", "active"),
        ("const bool active = leads(t);", "active"),
        ("const int w = half_; const int v = w; const bool active = t < v;", "active"),
        ("Number x = t;", "x < 16"),
        ("Config c;", "t < c.own"),
        ("const int warpSize = HALF;", "t < warpSize"),
        ("const struct { int x; } blockDim = { HALF };", "t < blockDim.x"),
        ("n = W;", "t < n"),
        ("int w = 1; w *= W;", "t < w"),
        ("int w = 8; CHANGED(w);", "t < w"),
        ("int w = 8; if (W > 8) w = 16;", "t < w"),
        ("int w = 1; for (int i = 0; i < W / 4; ++i) w *= 2;", "t < w"),
        ("auto f = [=](int x) { return x < W; };", "f(t)"),
        # And what changes without being named.
        ("int w = 8; int &r = w; r = W;", "t < w"),
        ("int w = 8; int *r = &w; *r = W;", "t < w"),
        ("int w = 8; auto f = [&] { w = W; }; f();", "t < w"),
        ("int a[1]; int *q = a; *q = W;", "t < *q"),
        ("int a[2] = {{8, W}};", "t < a[1]"),
        # Another build has another line.
        ("int w = 8;\n#ifndef BIG\n  w = 16;\n#endif", "t < w"),
        ("const int w =\n#ifdef BIG\n    8;\n#else\n    16;\n#endif", "t < w"),
    ],
)
def test_a_condition_is_split_that_rests_on_what_is_defined_elsewhere(before: str, condition: str) -> None:
    text = OPEN.format(before=before.replace("{{", "{").replace("}}", "}"), condition=condition)
    fixes = list(offers(Engine(), CheckRequest("/lanes/a.cu", text)))
    line = text[: text.index(f"if ({condition}) {{")].count("\n") + 1
    assert fixes[0].title.startswith(
        f"Split the conditional in line {line} and insert __syncwarp() after line {line + 1}"
    )
    assert not any("__syncwarp(0x" in edit.new_text for fix in fixes for edit in fix.edits)


@pytest.mark.parametrize(
    ("before", "condition"),
    [
        ("const bool active = t < 16;", "active"),
        ("const unsigned lane = threadIdx.x % warpSize;", "lane < 16"),
        ("int a = 3, b = threadIdx.x;", "b < 16"),
        ("int w = 8; w += 8;", "t < w"),
        ("int w = 1; for (int i = 0; i < 4; ++i) w *= 2;", "t < w"),
        ("", "static_cast<int>(threadIdx.x) < 0x10u"),
        ("if (n > 3) return;", "t < 16"),
        ("out[t] = HALF;", "t < 16"),
        ("for (int i = 0; i < W; ++i) if (n == i) break;", "t < 16"),
    ],
)
def test_variables_of_the_kernel_are_what_they_are_made_of(before: str, condition: str) -> None:
    text = OPEN.format(before=before, condition=condition)
    fix = next(offers(Engine(), CheckRequest("/lanes/a.cu", text)))
    assert fix.title.startswith("Insert __syncwarp(0xffff) after line")


@pytest.mark.parametrize("parameter", ["Number n", "Config n", "const Number n", "int *n", "unsigned n"])
def test_parameters_settle_who_comes_where_their_types_are_of_the_language(parameter: str) -> None:
    condition = (
        "t < 16 + 0 * *n" if "*" in parameter else "t < 16 + 0 * n.own" if "Config" in parameter else "t < 16 + 0 * n"
    )
    text = OPEN.format(before="", condition=condition).replace("int n)", f"{parameter})")
    fixes = list(offers(Engine(), CheckRequest("/lanes/a.cu", text)))
    assert fixes
    named = any("__syncwarp(0xffff)" in edit.new_text for fix in fixes for edit in fix.edits)
    assert named == (parameter == "unsigned n")


LED_PAST = """constexpr int W = 16;
// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(float *out, int n) {{
  __shared__ float s[64];
  int t = threadIdx.x;
  for (int i = 0; i < n; ++i) {{
    {before}
    s[t] = t;
    out[t] = s[t ^ 1];
    {behind}
  }}
}}
"""


@pytest.mark.parametrize(
    ("before", "behind", "mask"),
    [
        ("if (t >= 16) continue;", "", 0xFFFF),
        ("if (t >= W) continue;", "", None),
        ("if (t >= W) break;", "", None),
        ("if (t >= 16) continue;", "if (t >= W) break;", None),
        ("if (t >= 16) continue;", "for (int j = 0; j < n; ++j) if (t >= W) break;", 0xFFFF),
        ("if (t >= 16) continue;", "switch (n) { case W: break; }", 0xFFFF),
        ("if (t >= 16) continue;", "({ if (t >= W) break; });", None),
    ],
)
def test_jumps_past_a_place_decide_who_comes_to_it(before: str, behind: str, mask: int | None) -> None:
    assert mask_in(LED_PAST.format(before=before, behind=behind)) == mask


TWO_SIDES = """// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(float *out) {
  __shared__ float s[64];
  int t = threadIdx.x;
  if (t % 32 < 16) {
    s[t] = t;
    out[t] = s[t ^ 1];
  } else {
    s[t] = 3 * t;
    out[t] = s[t ^ 1];
  }
}
"""


def test_each_side_of_a_branch_gets_a_barrier_of_its_own_lanes() -> None:
    first, second = offers(Engine(), CheckRequest("/lanes/a.cu", TWO_SIDES))
    assert first.title.startswith("Insert __syncwarp(0xffff) after line 6")
    (note,) = first.notes
    assert note == (
        "Not repaired: other lanes than `__syncwarp(0xffff)` names may come to `s[t]` (line 9) and `s[t ^ 1]` "
        "(line 10): that takes a barrier of its own"
    )
    assert second.title.startswith("Insert __syncwarp(0xffff0000) after line 9")
    whole = fix_all(Engine(), CheckRequest("/lanes/a.cu", TWO_SIDES))
    assert isinstance(whole, Fix)
    assert [edit.new_text.strip() for edit in whole.edits] == ["__syncwarp(0xffff);", "__syncwarp(0xffff0000);"]


ONE_OPEN = """#define HALF 16
// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(float *out) {
  __shared__ float s[64];
  __shared__ float r[64];
  int t = threadIdx.x;
  if (t < 16) {
    s[t] = t;
    out[t] = s[t ^ 1];
  }
  if (t < HALF) {
    r[t] = t;
    out[t] += r[t ^ 1];
  }
}
"""


def test_a_race_that_goes_along_names_no_lanes_either_where_the_text_leaves_them_open() -> None:
    first, second = offers(Engine(), CheckRequest("/lanes/a.cu", ONE_OPEN))
    assert first.title.startswith("Insert __syncwarp(0xffff) after line 8 — orders s[t] and s[t ^ 1], ")
    assert second.title.startswith("Split the conditional in line 11 and insert __syncwarp() after line 12")
    (note,) = second.notes
    assert note == (
        "Not repaired: every place between `s[t]` (line 8) and `s[t ^ 1]` (line 9) is one that not all lanes of a warp "
        "reach together"
    )


BESIDE_A_BLOCK = """// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(float *out) {
  __shared__ float s[64];
  int t = threadIdx.x;
  if (t % 32 < 16) {
    s[t] = t;
    out[t] = s[t ^ 32];
    s[t ^ 1] = 3;
    out[t] += s[t];
  }
}
"""


def test_barriers_of_a_block_say_nothing_of_the_lanes_of_a_warp() -> None:
    fix = next(offers(Engine(), CheckRequest("/lanes/a.cu", BESIDE_A_BLOCK)))
    assert [note.rpartition(" is one that ")[2] for note in fix.notes] == [
        "not all threads of the block reach together",
        "not all threads reach together",
    ]


@pytest.mark.parametrize(("mask", "said"), [(0xFFFF, False), (0xFF, True), (0xFFFFFF, True)])
def test_a_barrier_names_the_lanes_that_come_and_no_others(mask: int, said: bool) -> None:
    barrier = f"__syncwarp(0x{mask:x});"
    text = KERNEL.format(head="if (t % 32 < 16)", block="(64)").replace("    out", f"    {barrier}\n    out")
    kernels = Engine().analyse(CheckRequest("/lanes/a.cu", text)).kernels
    assert (named_otherwise(kernels, barrier.encode()) is not None) == said
