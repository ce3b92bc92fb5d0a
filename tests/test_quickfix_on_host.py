"""Functions that the host runs, too: nothing is written into them that only the device has."""

from __future__ import annotations

import pytest
from edited import applied

from analyzers.engine import Engine
from analyzers.model import Fix, FixRefusal
from analyzers.requests import CheckRequest
from quickfix import answers

PATH = "/on_host/a.cu"
REASON = "the host runs it, too, which has no barriers and no atomics"
UPDATE = """// cuda-lsp: launch grid=(4) block=(64)
WHERE void add(int *m, int v) {
  *m += v;
}
__global__ void k(int *m) {
  add(m, threadIdx.x);
}
"""
METHOD = """// cuda-lsp: launch grid=(4) block=(64)
struct Sum {
  int *m;
  WHERE void operator()(int v) const;
};
WHERE void Sum::operator()(int v) const {
  *m += v;
}
__global__ void k(Sum sum) {
  sum(threadIdx.x);
}
"""
TEMPLATE = """// cuda-lsp: launch grid=(4) block=(64)
template <class T> WHERE void add(T *m, T v) {
  *m += v;
}
__global__ void k(int *m) {
  add(m, (int)threadIdx.x);
}
"""
LAMBDA = """template <class F> __global__ void k(F f) {
  f(threadIdx.x);
}
void h(int *m) {
  auto f = [=] WHERE (int v) { *m += v; };
  k<<<4, 64>>>(f);
}
"""
CHOICE = """// cuda-lsp: launch grid=(1) block=(64)
WHERE void set(int *m, int v) {
  *m = v;
}
__global__ void k(int *m) {
  set(m, threadIdx.x);
}
"""
BARRIER = """// cuda-lsp: launch grid=(1) block=(64)
WHERE void turn(int *s, int *out, int t) {
  s[t] = t;
  out[t] = s[63 - t];
}
__global__ void k(int *out) {
  __shared__ int s[64];
  turn(s, out, threadIdx.x);
}
"""
FENCE = """// cuda-lsp: launch grid=(2) block=(1)
WHERE void send(int *data, volatile int *flag) {
  *data = 1;
  *flag = 1;
}
__global__ void k(int *data, volatile int *flag, int *out) {
  if (blockIdx.x == 0) {
    send(data, flag);
  } else if (blockIdx.x == 1) {
    while (*flag == 0) {
    }
    __threadfence();
    *out = *data;
  }
}
"""


def answered(text: str, where: str) -> tuple[list[Fix], str]:
    found = list(answers(Engine(), CheckRequest(PATH, text.replace("WHERE", where))))
    return [a for a in found if isinstance(a, Fix)], " ".join(a.text for a in found if isinstance(a, FixRefusal))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (UPDATE, "atomicAdd(m, v);"),
        (METHOD, "atomicAdd(m, v);"),
        (TEMPLATE, "atomicAdd(m, v);"),
        (LAMBDA, "atomicAdd(m, v);"),
        (BARRIER, "__syncthreads();"),
        (CHOICE, "if (threadIdx.x == 0) *m = v;"),
        (FENCE, "*data = 1;\n  __threadfence();"),
    ],
    ids=["update", "method", "template", "lambda", "barrier", "choice", "fence"],
)
def test_what_only_the_device_has_is_written_for_the_device_only(text: str, written: str) -> None:
    fixes, _ = answered(text, "__device__")
    assert written in applied(text.replace("WHERE", "__device__"), fixes[0].edits)
    fixes, why = answered(text, "__host__ __device__")
    assert not fixes
    assert REASON in why or text in (CHOICE, FENCE)


def test_a_barrier_around_the_calls_of_such_functions_is_for_the_kernel() -> None:
    text = """// cuda-lsp: launch grid=(1) block=(64)
__host__ __device__ void put(int *s, int t) {
  s[t] = t;
}
__host__ __device__ int get(const int *s, int t) {
  return s[63 - t];
}
__global__ void k(int *out) {
  __shared__ int s[64];
  put(s, threadIdx.x);
  out[threadIdx.x] = get(s, threadIdx.x);
}
"""
    (fix,), _ = answered(text, "")
    assert "  put(s, threadIdx.x);\n  __syncthreads();\n" in applied(text, fix.edits)
