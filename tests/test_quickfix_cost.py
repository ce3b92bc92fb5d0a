"""What titles say that barriers cost: how often a thread comes to them, and no more than that where it is not known."""

from __future__ import annotations

import pytest

from analyzers.engine import Engine
from analyzers.model import Fix
from analyzers.requests import CheckRequest, UnitFinished, never
from quickfix import hoisted, offers

KERNEL = """// cuda-lsp: launch grid=(1) block=(64)
__global__ void kernel(float *out, int n) {{
  __shared__ float s[64];
  int t = threadIdx.x;
  {body}
}}
"""
RACE = "s[t] = i; out[t] += s[63 - t];"


def request(body: str) -> CheckRequest:
    return CheckRequest("/cost/a.cu", KERNEL.format(body=body))


@pytest.mark.parametrize(
    ("body", "cost"),
    [
        (f"for (int i = 0; i < 20; i++) {{ {RACE} }}", "+2 barriers × 20 iterations"),
        (f"for (int i = 0; i < 20; i++) if (i % 4 == 0) {{ {RACE} }}", "+2 barriers × at most 20 iterations"),
        (f"for (int i = 0; i < 20; i++) {{ if (n == 7) continue; {RACE} }}", "+2 barriers × at most 20 iterations"),
        (f"if (n > 3) for (int i = 0; i < 20; i++) {{ {RACE} }}", "+2 barriers × 20 iterations"),
        (
            f"for (int k = 0; k < 4; k++)\n  if (k != n)\n  for (int i = 0; i < 5; i++) {{ {RACE} }}",
            "+2 barriers × at most 20 iterations",
        ),
        (
            f"for (int i = 0; i < n; i++) switch (i) {{ case 3: {RACE} }}",
            "+1 barrier at most per iteration of the loop at line 5",
        ),
        (
            (
                f"for (int i = 0; i < 20; i++) {{\n"
                f"  for (int j = 0; j < n; j++) {{ if (j == 3) continue; out[t]++; }} {RACE} }}"
            ),
            "+2 barriers × 20 iterations",
        ),
    ],
)
def test_a_loop_counts_as_often_as_its_iterations_come_to_the_barrier(body: str, cost: str) -> None:
    (fix,) = (fix for fix in offers(Engine(), request(body)) if isinstance(fix, Fix) and fix.kind == "insert-barrier")
    assert fix.cost == cost
    assert fix.title.endswith(f", {cost}")


STEPS = """__device__ void step(float *s, int d) {
  float v = s[threadIdx.x + d & 63];
  s[threadIdx.x] += v;
}
__device__ void steps(float *s, int d) {
  for (int i = 0; i < 4; i++) {
    float v = s[threadIdx.x + d & 63];
    s[threadIdx.x] += v;
  }
}
"""


@pytest.mark.parametrize(
    ("calls", "cost"),
    [
        ("step(s, 32);", "+1 barrier"),
        ("for (int i = 0; i < 20; i++) step(s, 32);", "+2 barriers × 20 iterations"),
        ("step(s, 32);\n  step(s, 34);", "+1 barrier, +1 barrier in each call of step"),
        ("for (int i = 0; i < 20; i++) {\n  step(s, 32);\n  step(s, 34); }", "+2 barriers in each call of step"),
        ("steps(s, 32);\n  steps(s, 34);", "+2 barriers × 4 iterations in each call of steps"),
        (
            (
                "auto other = [&](int d) { float v = s[threadIdx.x + d & 63];\n s[threadIdx.x] += v; };\n"
                "for (int i = 0; i < 3; i++) { other(32);\n other(34); }"
            ),
            "+2 barriers in each call of the lambda",
        ),
    ],
)
def test_a_function_that_is_called_in_several_places_costs_so_much_in_each_call(calls: str, cost: str) -> None:
    unit = CheckRequest("/cost/a.cu", STEPS + KERNEL.format(body=f"s[t] = t;\n  __syncthreads();\n  {calls}"))
    fix, *_ = (fix for fix in offers(Engine(), unit) if isinstance(fix, Fix) and fix.kind == "insert-barrier")
    assert (fix.cost, fix.title.endswith(f", {cost}")) == (cost, True)


def test_a_barrier_that_leaves_one_of_two_loops_is_in_those_iterations_of_the_other_that_come_to_it() -> None:
    body = """s[t] = out[t];
  for (int i = 0; i < 8; i++) {
    if (i != n)
      for (int k = 0; k < 8; k++) { __syncthreads(); out[t] += s[63 - t]; }
  }"""
    engine = Engine()
    (unit,) = (e.result for e in engine.check(request(body)) if isinstance(e, UnitFinished))
    assert [hint.cost for hint in hoisted(engine, request(body), unit, never)] == [
        "at most 64 barriers become at most 8"
    ]


CHOSEN = """template <bool F> __global__ void kernel(float *out, int n) {{
  __shared__ float s[64];
  int t = threadIdx.x;
  {body}
}}
void go(float *p, int n) {{ kernel<true><<<1, 64>>>(p, n); kernel<false><<<1, 64>>>(p, n); }}
"""


@pytest.mark.parametrize("condition", ["constexpr (F)", "(F)", "(F && sizeof(float) + F > 4)", "(n > 3)"])
def test_a_condition_that_the_compiler_knows_is_no_branch(condition: str) -> None:
    text = CHOSEN.format(body=f"for (int i = 0; i < 20; i++) {{\n    if {condition} {{\n      {RACE}\n    }}\n  }}")
    (fix,) = offers(Engine(), CheckRequest("/cost/a.cu", text))
    assert isinstance(fix, Fix)
    sometimes = "at most " * (condition == "(n > 3)")
    assert fix.cost == f"+2 barriers × {sometimes}20 iterations"
    # No instance that has not the body pays for its barriers.
    ends = {edit.span.start_line for edit in fix.edits}
    assert max(ends) <= 7, fix.edits


def test_both_sides_of_a_known_condition_cost_as_much_as_one_place() -> None:
    body = "s[t] = n;\n  if constexpr (F) {\n    out[t] = s[63 - t];\n  } else {\n    out[t] = s[t ^ 1];\n  }"
    (fix,) = offers(Engine(), CheckRequest("/cost/a.cu", CHOSEN.format(body=body)))
    assert isinstance(fix, Fix)
    assert fix.cost == "+1 barrier"
    assert fix.title.startswith("Insert __syncthreads() after line 4 ")
