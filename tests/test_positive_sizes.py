"""Sizes of unknown sign: what is asked for positive ones, and that the proof says so."""

from __future__ import annotations

from analyzers.engine import Engine
from analyzers.ir import expr as E
from analyzers.ir.expr import I32
from analyzers.model import Verdict
from analyzers.races.positive_sizes import said_positive, with_positive_sizes
from analyzers.requests import CheckRequest
from analyzers.solve.query import Query

W, H = E.sym("param:w", I32), E.sym("host:3:h", I32)
ONE, TWO = (E.sym(f"tid.x@{n}", I32) for n in (1, 2))


def test_sizes_are_divisors_and_strides() -> None:
    ends = [E.add(E.mul(E.binary("rem", i, W), H), E.binary("div", i, W)) for i in (ONE, TWO)]
    query = Query((E.compare("eq", *ends),), ranges={W: (-5, 9)})
    found = with_positive_sizes(query)
    assert found is not None
    assert {s: found[0].ranges[s] for s in found[1]} == {W: (1, 9), H: (1, I32.high)}
    assert said_positive(found[1]) == "h and w are positive"
    assert with_positive_sizes(found[0]) is None


def test_strides_alone_may_be_zero() -> None:
    assert with_positive_sizes(Query((E.compare("eq", E.mul(ONE, W), E.mul(TWO, W)),))) is None


TEXT = """
__global__ void unfolded(float *out, const float *in, int channels, int rows, int width, int k) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < channels * rows * width; i += gridDim.x * blockDim.x) {
    int x = i % width, row = i / width, y = row % rows, c = row / rows;
    float *to = out + (c * k * k * rows + y) * width + x;
    for (int a = 0; a < k; ++a)
      for (int b = 0; b < k; ++b) {
        *to = in[((c * (rows + k) + y + a) * (width + k)) + x + b];
        to += rows * width;
      }
  }
}
void run(float *out, const float *in, int channels, int rows, int width, int k) {
  unfolded<<<1024, 256>>>(out, in, channels, rows, width, k);
}
"""


PERMUTED = """
__global__ void permuted(float *out, const float *in, int heads, int rows, int width) {
  int flat = blockIdx.x * blockDim.x + threadIdx.x;
  if (flat >= heads * rows * width) return;
  int x = flat % width, rest = flat / width;
  int row = rest % rows, h = rest / rows;
  out[(row * heads + h) * width + x] = in[flat];
}
void run(float *out, const float *in, int heads, int rows, int width) {
  permuted<<<(heads * rows * width + 255) / 256, 256>>>(out, in, heads, rows, width);
}
"""


def assumed(text: str) -> list[str]:
    (kernel,) = Engine().analyse(CheckRequest("sizes.cu", text)).result.kernels
    assert kernel.verdict is Verdict.RACE_FREE
    return [a for c in kernel.contexts for a in c.assumptions if "positive" in a]


def test_what_is_assumed_is_listed() -> None:
    assert assumed(TEXT) == ["k, rows and width are positive"]


def test_nothing_is_assumed_where_all_signs_are_decided() -> None:
    assert assumed(PERMUTED) == []
