"""Barriers that may leave a loop, and those that may not. Whole edits are in `tests/golden/hoist_*.diff`."""

from __future__ import annotations

import pytest

from analyzers.engine import Engine
from analyzers.model import Fix
from analyzers.requests import CheckRequest, UnitFinished, never
from quickfix import answers, fix_all, hoisted

KERNEL = """// cuda-lsp: launch grid=(4) block=(256)
__global__ void kernel(float *out, const float *in, int *count, int n) {{
  __shared__ float s[256];
  int t = threadIdx.x;
  float sum = 0;
  s[t] = in[t];
  {body}
  out[blockIdx.x * 256 + t] = sum;
}}
"""
MAY_LEAVE = "for (int k = 0; k < n; k++) {{ {0} __syncthreads(); sum += s[(t + k) % 256]; }}"


def hints(body: str) -> list[Fix]:
    request = CheckRequest("/hoisted/a.cu", KERNEL.format(body=body))
    engine = Engine()
    (unit,) = (e.result for e in engine.check(request) if isinstance(e, UnitFinished))
    assert not any(f.code.value.endswith("race") for k in unit.kernels for c in k.contexts for f in c.findings)
    return list(hoisted(engine, request, unit, never))


def test_a_hint_tells_the_cost_before_and_after_and_is_about_no_finding() -> None:
    (hint,) = hints(MAY_LEAVE.format(""))
    assert hint.cost == "1 barrier per iteration of the loop at line 7 becomes 1"
    assert (hint.groups, hint.preferred, hint.kind) == ((), False, "move-barrier")
    assert hint.at is not None
    assert hint.at.line == 7


@pytest.mark.parametrize(
    "body",
    [
        "for (int k = 0; k < n; k++) { s[t] = k; __syncthreads(); sum += s[255 - t]; __syncthreads(); }",
        "for (int k = 0; k < 1; k++) { __syncthreads(); sum += s[255 - t]; }",
        "if (t < 32) for (int k = 0; k < n; k++) sum += s[t];\n  __syncthreads();\n  sum += s[255 - t];",
        MAY_LEAVE.format("atomicAdd(count, 1);"),
        MAY_LEAVE.format("sum += *(volatile int *)count;"),
        MAY_LEAVE.format("__threadfence();"),
        MAY_LEAVE.format("if (k % 2) continue;"),
        "for (int k = 0; k < 64; k++) { if (k == 63) { __syncthreads(); sum += s[(t + k) % 256]; } }",
        MAY_LEAVE.format("sum += clock64();"),
    ],
    ids=[
        "needed",
        "one iteration",
        "in no loop",
        "atomics",
        "volatile",
        "fences",
        "not every one",
        "only the last",
        "clocks",
    ],
)
def test_no_hint(body: str) -> None:
    assert hints(body) == []


def test_hints_are_not_among_the_repairs() -> None:
    request = CheckRequest("/hoisted/a.cu", KERNEL.format(body=MAY_LEAVE.format("")))
    assert list(answers(Engine(), request)) == []
    assert not isinstance(fix_all(Engine(), request), Fix)
