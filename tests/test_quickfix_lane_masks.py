"""Barriers of the lanes that a condition lets through."""

from __future__ import annotations

import pytest

from analyzers.engine import Engine
from analyzers.requests import CheckRequest, never
from quickfix import offers
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
    session = Session.open(Engine(), CheckRequest("/lanes/a.cu", KERNEL.format(head=head, block=block)), never)
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


@pytest.mark.parametrize("text", [TWICE, OF_A_TEMPLATE, BUILDS])
def test_no_lanes_are_named_where_the_text_leaves_open_which_come(text: str) -> None:
    for fix in offers(Engine(), CheckRequest("/lanes/a.cu", text)):
        assert all("__syncwarp(0x" not in edit.new_text for edit in fix.edits)


@pytest.mark.parametrize(("mask", "said"), [(0xFFFF, False), (0xFF, True), (0xFFFFFF, True)])
def test_a_barrier_names_the_lanes_that_come_and_no_others(mask: int, said: bool) -> None:
    barrier = f"__syncwarp(0x{mask:x});"
    text = KERNEL.format(head="if (t % 32 < 16)", block="(64)").replace("    out", f"    {barrier}\n    out")
    kernels = Engine().analyse(CheckRequest("/lanes/a.cu", text)).kernels
    assert (named_otherwise(kernels, barrier.encode()) is not None) == said
