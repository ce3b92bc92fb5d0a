"""What the host says of the parameters of a kernel: in their names, for the very value that is passed."""

from __future__ import annotations

from analyzers.engine import Engine
from analyzers.model import KernelResult
from analyzers.requests import CheckRequest, UnitFinished

KERNEL = """#include <cassert>
struct Shape { int rows, columns; };
__global__ void scale(float *out, int n, int stride) { out[n * stride + threadIdx.x] = 1.f; }
__global__ void shaped(float *out, Shape shape) { if (threadIdx.x < shape.rows) out[threadIdx.x] = 1.f; }
"""


def kernels(host: str) -> dict[str, KernelResult]:
    for event in Engine().check(CheckRequest("/nowhere/a.cu", KERNEL + host)):
        if isinstance(event, UnitFinished):
            return {kernel.name: kernel for kernel in event.result.kernels}
    raise AssertionError("no result")


def said(host: str, kernel: str = "scale") -> list[list[str]]:
    """By launch."""
    return [[fact.text for fact in context.said] for context in kernels(host)[kernel].contexts]


def test_what_is_passed_and_what_holds_for_it() -> None:
    assert said(
        """void go(float *p, int rows, int k) {
  assert(rows >= 1);
  if (k <= 0) return;
  assert(k % 4 == 0);
  scale<<<1, 64>>>(p, rows, 2 * k);
}
"""
    ) == [["n = rows", "n >= 1", "stride = 2 * k"]]


def test_a_variable_of_the_same_name_says_nothing_of_itself() -> None:
    assert said("void go(float *p, int n) { assert(n < 100); scale<<<1, 64>>>(p, n, 3); }") == [
        ["n < 100", "stride = 3"]
    ]


def test_a_variable_of_the_same_name_is_what_it_has_been_computed_as() -> None:
    host = """void go(float *p, int rows, int columns) {
  int n = rows * (columns + 1);
  scale<<<1, 64>>>(p, n, rows);
}
"""
    assert said(host) == [["n = (columns + 1) * stride", "stride = rows"]]


def test_a_fact_about_another_value_is_not_told() -> None:
    host = """int size();
void go(float *p, int n) {
  assert(n > 0);
  n = size();
  scale<<<1, 64>>>(p, n, 3);
}
"""
    assert said(host) == [["stride = 3"]]


def test_conditions_between_parameters_name_both() -> None:
    host = "void go(float *p, int a, int b) { assert(a <= b); scale<<<1, 64>>>(p, a, b); }"
    assert said(host) == [["n = a", "n <= stride", "stride = b", "n <= stride"]]


def test_launches_are_told_apart() -> None:
    host = "void go(float *p, int a) { scale<<<1, 64>>>(p, a, 1); scale<<<1, 32>>>(p, 7, 1); }"
    assert said(host) == [["n = a", "stride = 1"], ["n = 7", "stride = 1"]]


def test_members_of_a_parameter_have_their_full_names() -> None:
    host = "void go(float *p, int a) { Shape s; s.rows = 5; s.columns = a; shaped<<<1, 64>>>(p, s); }"
    (facts,) = said(host, "shaped")
    assert "shape.rows = 5" in facts


def test_a_kernel_without_a_launch_has_none() -> None:
    assert said("") == [[]]


def test_parameters_are_found_where_they_are_declared() -> None:
    kernel = kernels("")["scale"]
    assert [(name, span.start_line, span.start_column, span.end_column) for name, span in kernel.parameters] == [
        ("out", 3, 23, 33),
        ("n", 3, 35, 40),
        ("stride", 3, 42, 52),
    ]
