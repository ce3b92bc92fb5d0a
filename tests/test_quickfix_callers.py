"""With some kernels selected, an edit is still judged by all that run the code it changes."""

from __future__ import annotations

import pytest

from analyzers.engine import Engine
from analyzers.model import CheckOptions, Fix, FixRefusal
from analyzers.requests import CheckRequest
from quickfix import answers, fix_all, fix_for

FUNCTION = """__device__ int swapped(int *s, int t) {
  s[t] = t;
  return s[63 - t];
}
// cuda-lsp: launch grid=(1) block=(64)
__global__ void all(int *out) {
  __shared__ int s[64];
  out[threadIdx.x] = swapped(s, threadIdx.x);
}
// cuda-lsp: launch grid=(1) block=(64)
__global__ void other(int *out) {
  __shared__ int s[64];
  %sout[threadIdx.x] = swapped(s, threadIdx.x);
}
"""
TEMPLATE = """template <bool HALF> __global__ void k(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  if (HALF && t < 32) return;
  if (!HALF || t > 40) {
    s[t] = t;
    out[t] = s[HALF ? t : 63 - t];
  }
}
void run(int *out) {
  k<false><<<1, 64>>>(out);
  k<true><<<1, 64>>>(out);
}
"""


def selecting(text: str, name: str) -> CheckRequest:
    return CheckRequest("/callers/a.cu", text, options=CheckOptions(kernels=(name,)))


@pytest.mark.parametrize(("guard", "possible"), [("", True), ("if (threadIdx.x < 32) ", False)])
def test_another_caller_has_to_agree(guard: str, possible: bool) -> None:
    request = selecting(FUNCTION % guard, "all")
    found = [fix_all(Engine(), request), *answers(Engine(), request)]
    assert len(found) == 2
    for answer in found:
        assert isinstance(answer, Fix) is possible
        if isinstance(answer, FixRefusal):
            assert answer.text == "The repair would edit code that `other` runs too, and be wrong there."


def test_another_instance_has_to_agree() -> None:
    (answer,) = answers(Engine(), selecting(TEMPLATE, "k<false>"))
    assert isinstance(answer, FixRefusal)
    assert "`k<true>` runs too" in answer.text
    assert isinstance(fix_for(Engine(), selecting(TEMPLATE, "k<false>"), answer.group), FixRefusal)


def test_kernels_that_do_not_run_the_code_are_not_asked() -> None:
    text = FUNCTION % "" + "__global__ void apart(int *out) { out[threadIdx.x / 2] = threadIdx.x; }\n"
    engine = Engine()
    assert isinstance(fix_all(engine, selecting(text, "all")), Fix)
    inside = text.index("s[t] = t")
    assert engine.others_at(selecting(text, "all"), [("/callers/a.cu", inside)]) == ("other",)
    assert engine.others_at(selecting(text, "all"), [("/callers/a.cu", text.index("out[threadIdx.x] ="))]) == ()
