"""Fences and scopes: none more than is needed, and none where nothing signals (what they look like is for the golden
tests)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from edited import applied

from analyzers.engine import Engine
from analyzers.model import CheckOptions, Fix, FixRefusal, Verdict
from analyzers.requests import CheckRequest
from quickfix import answers, fix_all

TEXT = (Path(__file__).parent / "golden" / "fences.cu").read_text()
NAMES = re.findall(r"__global__ void (\w+)", TEXT)


def verdict(text: str, name: str) -> Verdict:
    request = CheckRequest("/fences/a.cu", text, options=CheckOptions(kernels=(name,)))
    (kernel,) = Engine().analyse(request).result.kernels
    return kernel.verdict


@pytest.mark.parametrize("name", NAMES)
def test_each_edit_is_needed(name: str) -> None:
    request = CheckRequest("/fences/a.cu", TEXT, options=CheckOptions(kernels=(name,)))
    fix = fix_all(Engine(), request)
    assert isinstance(fix, Fix)
    assert fix.kind in ("insert-fence", "widen-scope")
    assert verdict(applied(TEXT, fix.edits), name) is Verdict.RACE_FREE
    if len(fix.edits) > 1:
        for edit in fix.edits:
            others = tuple(e for e in fix.edits if e is not edit)
            assert verdict(applied(TEXT, others), name) is not Verdict.RACE_FREE


def test_no_fence_where_nothing_signals() -> None:
    text = """// cuda-lsp: launch grid=(4) block=(64)
__global__ void k(int *count, int *out) {
  atomicAdd(count, 1);
  out[threadIdx.x] = blockIdx.x;
}
"""
    found = list(answers(Engine(), CheckRequest("/fences/b.cu", text)))
    assert any(isinstance(a, FixRefusal) and "ifferent blocks" in a.text for a in found)
    assert not any(isinstance(a, Fix) and "fence" in a.title for a in found)


def test_no_fence_orders_a_signal_that_comes_first() -> None:
    text = """// cuda-lsp: launch grid=(2) block=(1)
__global__ void k(int *data, int *flag, int *out) {
  if (blockIdx.x == 0) {
    atomicExch(flag, 1);
    data[0] = 42;
  } else {
    while (atomicAdd(flag, 0) == 0) {}
    __threadfence();
    out[0] = data[0];
  }
}
"""
    assert isinstance(fix_all(Engine(), CheckRequest("/fences/c.cu", text)), FixRefusal)


def test_what_decides_who_is_last_is_repaired_with_what_the_last_reads() -> None:
    text = """// cuda-lsp: launch grid=(8) block=(64)
__device__ unsigned int count = 0;
__global__ void total(const float *in, float *partial, float *result) {
  __shared__ bool last;
  int t = threadIdx.x;
  if (t == 0) {
    partial[blockIdx.x] = in[blockIdx.x];
    last = atomicInc(&count, gridDim.x) == gridDim.x - 1;
  }
  if (last) {
    result[t] = t < gridDim.x ? partial[t] : 0;
  }
}
"""
    (repair,) = answers(Engine(), CheckRequest("/fences/last.cu", text))
    assert isinstance(repair, Fix)
    assert repair.cost == "+1 barrier, +2 fences"
    fix = fix_all(Engine(), CheckRequest("/fences/last.cu", text))
    assert isinstance(fix, Fix)
    after = applied(text, fix.edits)
    assert after.count("__syncthreads();") == 1
    assert "__threadfence();" in after
    assert [k.verdict for k in Engine().analyse(CheckRequest("/fences/last.cu", after)).result.kernels] == [
        Verdict.RACE_FREE
    ]


def test_many_signals_in_loops_leave_places_for_fences() -> None:
    locked = "".join(
        f"      while (atomicCAS(&lock{n}, 0, 1) != 0) ;\n      a[j + 4 * {n}] = a[j + 4 * {n}] * 2 + i;\n"
        f"      atomicExch(&lock{n}, 0);\n"
        for n in range(3)
    )
    text = f"""__device__ int lock0, lock1, lock2;
__global__ void k(float *a, int n) {{
  if (threadIdx.x != 0) return;
  for (int i = 0; i < n; ++i) {{
    for (int j = 0; j < 4; ++j) {{
{locked}    }}
  }}
}}
void go(float *a, int n) {{ k<<<2, 64>>>(a, n); }}
"""
    fix = fix_all(Engine(), CheckRequest("/fences/a.cu", text))
    assert isinstance(fix, Fix)
    assert applied(text, fix.edits).count("__threadfence();") == 6
