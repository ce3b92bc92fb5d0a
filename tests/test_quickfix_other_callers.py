"""A function that must not get a barrier because of another caller: the reason names that one."""

from __future__ import annotations

import pytest

from analyzers.engine import Engine
from analyzers.model import FixRefusal
from analyzers.requests import CheckRequest
from quickfix import answers

SHIFT = """__device__ int shift(int *s, int t) {
  s[t] = t;
  return s[63 - t];
}
"""
ALL = """__global__ void all(int *out) {
  __shared__ int s[64];
  out[threadIdx.x] = shift(s, threadIdx.x);
}
"""
CALLERS = {
    "`other` also calls `shift` in line 12,": SHIFT
    + ALL
    + """__global__ void other(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t == 5) out[t] = shift(s, t);
}
void run(int *o) { all<<<1, 64>>>(o); other<<<1, 64>>>(o); }
""",
    "`all` also comes to `shift` by the call in line 7,": SHIFT
    + """__device__ int lone(int *s, int t) {
  int x = 0;
  if (t == 9) x = shift(s, t);
  return x + 1;
}
__global__ void all(int *out) {
  __shared__ int s[64], r[64];
  out[threadIdx.x] = shift(s, threadIdx.x);
  out[threadIdx.x] += lone(r, threadIdx.x);
}
void run(int *o) { all<<<1, 64>>>(o); }
""",
    "`other` also comes to `shift` by the call in line 15,": SHIFT
    + """__device__ int twice(int *s, int t) {
  int x = shift(s, t);
  return x + x;
}
__global__ void all(int *out) {
  __shared__ int s[64];
  out[threadIdx.x] = twice(s, threadIdx.x);
}
__global__ void other(int *out) {
  __shared__ int s[64];
  if (threadIdx.x == 5) out[0] = twice(s, 5);
}
void run(int *o) { all<<<1, 64>>>(o); other<<<1, 64>>>(o); }
""",
}


def reasons(text: str) -> list[str]:
    return [a.text for a in answers(Engine(), CheckRequest("/callers/a.cu", text)) if isinstance(a, FixRefusal)]


@pytest.mark.parametrize("said", CALLERS)
def test_the_other_caller_is_named(said: str) -> None:
    (reason,) = reasons(CALLERS[said])
    assert f"would be wrong for another caller: {said} and some of its threads would not come to the barrier." in reason


def test_a_kernel_whose_own_threads_do_not_come_there_blames_no_other() -> None:
    lone = ALL.replace("  out", "  if (threadIdx.x < 40) out").replace("all", "lone")
    text = f"{SHIFT}{lone}void run(int *o) {{ lone<<<1, 64>>>(o); }}\n"
    for reason in reasons(text):
        assert "caller" not in reason
