"""Which counters may begin at what was a negative number."""

import pytest

from analyzers.engine import Engine
from analyzers.ir import expr as E
from analyzers.ir.expr import I32, U32, U64, Expr
from analyzers.ir.wraparound import may_be_huge
from analyzers.requests import CheckRequest

OFF = E.sym("param:off", U64)
N = E.sym("param:n", I32)
TID = E.cast(E.TID[0], U64)


@pytest.mark.parametrize(
    ("start", "huge"),
    [
        (OFF, True),
        (E.add(OFF, TID), True),
        (E.add(OFF, E.cast(E.add(E.mul(E.BID[0], E.BDIM[0]), E.TID[0]), U64)), True),
        (E.cast(E.sub(E.cast(E.TID[0], I32), E.const(5, I32)), U64), True),
        (E.sub(OFF, TID), True),
        (E.cast(N, U64), True),
        (TID, False),
        (E.sub(E.TID[0], E.const(5, U32)), False),
    ],
)
def test_where_a_counter_of_64_bits_may_begin_below_zero(start: Expr, huge: bool):
    assert may_be_huge(start) == huge


BEYOND = """
// cuda-lsp: launch grid=(1) block=(64)
__global__ void beyond(float *out, size_t start, size_t n)
{
    __shared__ float s[64];
    for (size_t i = start; i < n && i != 7; i += blockDim.x)
        if (i > 0x9000000000000000ull) s[0] = threadIdx.x;
    out[threadIdx.x] = 1.0f;
}
"""


def test_a_first_iteration_beyond_all_sizes_is_made():
    (analysis,) = Engine().analyse(CheckRequest("/beyond.cu", BEYOND)).kernels
    assert analysis.result.verdict.value == "data-race"
