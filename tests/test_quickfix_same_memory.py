"""Barriers that only matter where two pointers are the same: their removal is a choice that says so."""

from __future__ import annotations

import pytest
from restructured import edited, engine

from analyzers.model import Fix
from analyzers.requests import CheckRequest
from quickfix import answers, fix_all, remove_redundant

REVERSED = """\
// cuda-lsp: launch grid=({blocks}) block=(64)
__global__ void reverse({out}, {given}, int n) {{
  int t = blockIdx.x * 64 + threadIdx.x;
  float v = in[{at}];
  __syncthreads();
  out[t] = v;
}}
"""
OUT, IN = "float *out", "const float *in"
TOLD = "Assumes that `out` and `in` point to different memory: if the kernel works in place, the barrier is needed."


def removals(text: str) -> list[Fix]:
    found = answers(engine(), CheckRequest("/redundant/same.cu", text))
    return [a for a in found if isinstance(a, Fix) and a.kind == "remove-barrier"]


def test_a_kernel_that_may_work_in_place_keeps_its_barrier_unasked() -> None:
    text = REVERSED.format(blocks=1, out=OUT, given=IN, at="63 - t")
    (fix,) = removals(text)
    assert fix.assumes == (TOLD,)
    assert not fix.applies_unasked
    assert fix.title.endswith(", assumes that `out` and `in` point to different memory")
    request = CheckRequest("/redundant/same.cu", text)
    assert not isinstance(fix_all(engine(), request), Fix)
    assert not isinstance(remove_redundant(engine(), request), Fix)


@pytest.mark.parametrize(
    ("blocks", "out", "given", "at"),
    [
        (1, OUT, IN, "t"),
        (1, "float *__restrict__ out", IN, "63 - t"),
        (1, OUT, "const double *in", "63 - t"),
        # in place, blocks would race whatever the barrier does
        (2, OUT, IN, "127 - t"),
    ],
    ids=["own cells", "restrict", "other types", "blocks"],
)
def test_what_cannot_work_in_place_loses_its_barrier(blocks: int, out: str, given: str, at: str) -> None:
    text = REVERSED.format(blocks=blocks, out=out, given=given, at=at)
    (fix,) = removals(text)
    assert fix.applies_unasked
    assert "__syncthreads" not in edited(text, fix)


def test_what_the_host_passes_is_known() -> None:
    text = REVERSED.format(blocks=1, out=OUT, given=IN, at="63 - t").split("\n", 1)[1]
    text += """\
int main() {
  float *a, *b;
  cudaMalloc(&a, 256);
  cudaMalloc(&b, 256);
  reverse<<<1, 64>>>(a, b, 64);
}
"""
    (fix,) = removals(text)
    assert fix.applies_unasked
    assert not removals(text.replace("(a, b, 64)", "(a, a, 64)"))


def test_of_two_barriers_that_do_the_same_one_is_kept() -> None:
    text = REVERSED.format(blocks=1, out=OUT, given=IN, at="63 - t")
    text = text.replace("  __syncthreads();\n", "  __syncthreads();\n  n += 1;\n  __syncthreads();\n")
    fix = remove_redundant(engine(), CheckRequest("/redundant/same.cu", text))
    assert edited(text, fix).count("__syncthreads") == 1


def test_one_of_several_barriers_is_needed_in_place() -> None:
    text = """\
// cuda-lsp: launch grid=(1) block=(64)
__global__ void shift(float *out, const float *in) {
  int t = threadIdx.x;
  float v = in[t + 1];
  __syncthreads();
  out[t] = v;
  __syncthreads();
  out[t] += 1;
}
"""
    fix = remove_redundant(engine(), CheckRequest("/redundant/same.cu", text))
    after = edited(text, fix)
    assert after.index("in[t + 1]") < after.index("__syncthreads") < after.index("out[t] = v")
    assert after.count("__syncthreads") == 1
