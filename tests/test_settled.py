"""What is plain in the pattern of a template: what is plain in all instances, whatever clang leaves open."""

from __future__ import annotations

import pytest
from restructured import repaired

from analyzers.engine import Engine
from analyzers.frontend.flags import CompileFlags
from analyzers.frontend.function_trees import function_trees
from analyzers.frontend.parse import UnitParser
from analyzers.ir.kernel import Instances
from analyzers.model import CheckOptions, Fix
from analyzers.requests import CheckRequest
from quickfix import answers

PATH = "/settled/a.cu"
PARSER = UnitParser()
PATTERN = """#include <cuda_runtime.h>
#include <cuda_fp16.h>
template <typename T> struct Param {{
  T *ptr, value;
  int dims[4], &reference;
  volatile int word;
  static int all;
}};
{before}
template <typename T> __device__ void g(T *p, int n);
enum E {{ ONE }};
template <typename T, int N> __device__ void k(Param<T> A, T x, T *q, int n, E e, const Param<T> *B, Param<T> &C) {{
  __shared__ T acc[N];
  {statement}
}}
"""


def is_plain(statement: str, *, numbers: bool, before: str = "") -> bool:
    text = PATTERN.format(before=before, statement=statement)
    unit = PARSER.parse(PATH, text, CompileFlags())
    trees = function_trees(unit.device, [(PATH, text.index(statement))], Instances() if numbers else None)
    found = trees.functions[0].body.statements[1]
    return found.declares[0].plain if found.declares else "arguments" in found.plain


@pytest.mark.parametrize(
    "statement",
    [
        "g(A.ptr, 9);",
        "g(acc + 256, N);",
        "g(256 + acc, n);",
        "g((acc + n) + 1, n);",
        "g(A.ptr + n, n);",
        "T *p = acc + 256;",
        "T *p = q;",
        "int i = n % 4;",
    ],
)
def test_addresses_and_integers_are_plain_in_every_instance(statement: str) -> None:
    assert is_plain(statement, numbers=False)


@pytest.mark.parametrize("statement", ["T y = x;", "T y = 0;", "T y = x + 1;", "T y = (T)n;", "g(q, (int)x);"])
def test_computing_with_a_parameter_is_plain_where_it_stands_for_numbers(statement: str) -> None:
    assert is_plain(statement, numbers=True)
    assert not is_plain(statement, numbers=False)


@pytest.mark.parametrize(
    "statement",
    [
        "g(q, A.reference);",
        "g(q, A.word);",
        "g(q, A.all);",
        "g(q, A.value);",
        "g(q, A.size());",
        "g(q, C.dims[0]);",
        "g(C.ptr, 1);",
        "g(B->ptr, 1);",
        "g(q, q[0] + 1);",
        "g(q, x + e);",
        "g(q, A);",
        "T y = T(n);",
        "typename T::type y = 0;",
    ],
)
def test_what_an_instance_may_read_elsewhere_or_call_is_not_plain(statement: str) -> None:
    assert not is_plain(statement, numbers=True)


def test_a_specialisation_may_mean_something_else_by_a_member() -> None:
    for other in ("template <> struct Param<int> { static int *ptr; };", "template <class U> struct Param<U *> {};"):
        assert not is_plain("g(A.ptr, 9);", numbers=False, before=other)


CALLED = """{before}template <typename T> __device__ void halve(float *s, int t, T by) {{
  if (t < 32) s[t] += s[t + 32];
  __syncthreads();
  if (t < 16) s[t] += s[t + 16] + by;
}}
template <typename T> __global__ void k(float *out, const float *in, T n) {{
  __shared__ float s[64];
  int t = threadIdx.x;
  if (t < 48) {{
    s[t] = in[t];
    __syncthreads();
    halve<T>(s, t, n + 1);
    __syncthreads();
    out[t] = s[t % 16];
  }}
}}
// cuda-lsp: launch grid=(1) block=(64)
template __global__ void k<{type}>(float *, const float *, {type});
"""
COUNTED = """struct Counted {
  int *calls;
  __device__ operator float() const { return 1; }
  __device__ friend Counted operator+(Counted a, int) {
    atomicAdd(a.calls, 1);
    return a;
  }
};
"""


def test_arguments_are_not_evaluated_by_more_threads_where_an_instance_counts_them() -> None:
    assert isinstance(repaired(CALLED.format(before="", type="float"), "k"), Fix)
    assert not isinstance(repaired(CALLED.format(before=COUNTED, type="Counted"), "k"), Fix)


def test_an_instance_that_nobody_asked_about_counts() -> None:
    text = CALLED.format(before=COUNTED, type="float")
    assert found(text, "k<float>")
    assert not found(text + "template __global__ void k<Counted>(float *, const float *, Counted);\n", "k<float>")


def found(text: str, kernel: str) -> bool:
    request = CheckRequest("/settled/b.cu", text, options=CheckOptions(kernels=(kernel,)))
    return all(isinstance(answer, Fix) for answer in answers(Engine(), request))
