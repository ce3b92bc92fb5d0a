"""Barriers beside signals to other blocks, and wider barriers where they take more along."""

from __future__ import annotations

import pytest
from edited import applied

from analyzers.engine import Engine
from analyzers.model import Fix, FixRefusal, Verdict
from analyzers.requests import CheckRequest
from quickfix import answers, fix_all

SIGNALLED = """__device__ int ready;
__device__ int cells[128];
__global__ void hand_over(int *out) {{
  int lane = threadIdx.x;
  if (blockIdx.x == 0) {{
    cells[lane] = lane + 3;
    __threadfence();
    {0}
    if (lane == 0) atomicExch(&ready, 1);
  }} else {{
    if (lane == 0) while (atomicAdd(&ready, 0) == 0) {{}}
    {1}
    __threadfence();
    out[lane] = cells[127 - lane];
  }}
}}
void go(int *out) {{ hand_over<<<2, 128>>>(out); }}
"""
BARRIER = "__syncthreads();"


def verdict(text: str) -> Verdict:
    (kernel,) = Engine().analyse(CheckRequest("/signals/a.cu", text)).result.kernels
    return kernel.verdict


@pytest.mark.parametrize(
    ("before", "behind", "cost"), [("", BARRIER, "+1 barrier"), (BARRIER, "", "+1 barrier"), ("", "", "+2 barriers")]
)
def test_one_thread_signals_for_its_block(before: str, behind: str, cost: str) -> None:
    text = SIGNALLED.format(before, behind)
    (fix,) = answers(Engine(), CheckRequest("/signals/a.cu", text))
    assert isinstance(fix, Fix)
    assert fix.cost == cost
    assert fix.title.endswith(" — orders cells[lane] and cells[127 - lane]: one thread signals for its block")
    repaired = applied(text, fix.edits)
    assert repaired.split() == SIGNALLED.format(BARRIER, BARRIER).split()
    assert verdict(repaired) is Verdict.RACE_FREE


def test_none_where_nothing_signals() -> None:
    text = (
        SIGNALLED.format("", "").replace("atomicExch(&ready, 1)", "atomicAdd(&ready, 2)").replace("== 0) {}", "> 9) {}")
    )
    found = list(answers(Engine(), CheckRequest("/signals/a.cu", text)))
    assert found
    assert all(isinstance(a, FixRefusal) for a in found), found


LAST = """__device__ unsigned finished;
__global__ void last_adds_up(float *partial, float *total, const float *in) {
  __shared__ bool is_last;
  int lane = threadIdx.x;
  if (lane == 0) {
    partial[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    is_last = atomicAdd(&finished, 1) == gridDim.x - 1;
  }
  if (is_last && lane == 0) {
    __threadfence();
    float sum = 0;
    for (int b = 0; b < gridDim.x; b++) sum += partial[b];
    *total = sum;
  }
}
void go(float *p, float *t, const float *i) { last_adds_up<<<3, 32>>>(p, t, i); }
"""


def test_the_wider_barrier_comes_first_where_it_takes_races_between_blocks_along() -> None:
    fix = fix_all(Engine(), CheckRequest("/signals/b.cu", LAST))
    assert isinstance(fix, Fix)
    assert "__syncthreads()" in fix.title
    assert verdict(applied(LAST, fix.edits)) is Verdict.RACE_FREE


def test_a_title_says_in_which_line_a_barrier_goes_and_not_after_which() -> None:
    text = """__global__ void k(int *o, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  for (int j = 0; j < n; j++) {
    s[t] = j;
    if (j & 1) o[t] += s[63 - t];
    __syncthreads();
  }
}
void go(int *o) { k<<<1, 64>>>(o, 5); }
"""
    (fix,) = answers(Engine(), CheckRequest("/signals/c.cu", text))
    assert isinstance(fix, Fix)
    assert fix.title.startswith("Insert __syncthreads() in line 6 — ")
