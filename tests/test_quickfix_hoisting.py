"""Barriers that may leave a loop, and those that may not. Whole edits are in `tests/golden/hoist_*.diff`."""

from __future__ import annotations

from dataclasses import replace

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
    (head,) = hint.heads
    assert (head.line, head.start_column, head.end_column) == (7, 3, 30)


def test_a_hint_is_at_the_heads_of_all_loops_that_the_barrier_leaves() -> None:
    inner = "for (int k = 0; k < 4; k++) {\n      __syncthreads();\n      sum += s[(t + k) % 256];\n    }"
    (hint,) = hints(f"for (int j = 0; j < n; j++) {{\n    {inner}\n  }}")
    assert [head.line for head in hint.heads] == [7, 8]


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
        MAY_LEAVE.format('[](int k) { printf("%d\\n", k); }(k);'),
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
        "output in what is called",
    ],
)
def test_no_hint(body: str) -> None:
    assert hints(body) == []


def test_a_first_look_at_part_of_a_large_unit_refuses_nothing_that_the_whole_allows() -> None:
    """Among many others, the hints for a kernel are those for it alone: what a first look finds wrong is wrong."""
    may, must = MAY_LEAVE.format(""), "for (int k = 0; k < n; k++) { s[t] = k; __syncthreads(); sum += s[255 - t]; }"
    texts = [
        KERNEL.format(body=body).replace("kernel(", f"kernel{n}(") for n, body in enumerate([must, may, *[must] * 6])
    ]
    request = CheckRequest("/hoisted/many.cu", "\n".join(texts))
    engine = Engine()
    (unit,) = (e.result for e in engine.check(request) if isinstance(e, UnitFinished))
    options = replace(request.options, redundancy=False, replays=False)
    looked = engine.first_look(replace(request, options=options), ["kernel1"])
    assert looked is not None
    assert [k.name for k in looked.result.kernels] == ["kernel1"]
    assert [h.at.line for h in hoisted(engine, request, unit, never) if h.at is not None] == [17]


def test_a_first_look_finds_nothing_out_in_a_unit_of_one_kernel() -> None:
    request = CheckRequest("/hoisted/a.cu", KERNEL.format(body=MAY_LEAVE.format("")))
    engine = Engine()
    list(engine.check(request))
    assert engine.first_look(request, ["kernel"]) is None


def test_hints_are_not_among_the_repairs() -> None:
    request = CheckRequest("/hoisted/a.cu", KERNEL.format(body=MAY_LEAVE.format("")))
    assert list(answers(Engine(), request)) == []
    assert not isinstance(fix_all(Engine(), request), Fix)
