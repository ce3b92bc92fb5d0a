"""The index of a thread in the grid, in the types and orders in which it is written."""

import pytest

from analyzers.engine import Engine
from analyzers.requests import CheckRequest

INDICES = {
    "the offset in front, in 64 bits": "size_t i = off + (size_t)blockIdx.x * blockDim.x + threadIdx.x;",
    "the offset in front of a product of 32 bits": "size_t i = off + blockIdx.x * blockDim.x + threadIdx.x;",
    "the offset behind": "size_t i = blockIdx.x * blockDim.x + threadIdx.x + off;",
    "the offset between": "size_t i = (size_t)threadIdx.x + off + blockDim.x * (size_t)blockIdx.x;",
    "from signed numbers": "const int t = threadIdx.x, b = blockIdx.x; size_t i = (size_t)b * blockDim.x + t + off;",
    "in two steps": "const unsigned b = blockIdx.x * blockDim.x; size_t i = off + b; i += threadIdx.x;",
}
STRIDES = {
    "32 bits": "blockDim.x * gridDim.x",
    "64 bits": "(size_t)gridDim.x * blockDim.x",
    "signed": "(long long)((int)blockDim.x * (int)gridDim.x)",
}
KERNEL = """
__global__ void scale(float *a, size_t off, size_t end)
{{
    {index}
    for (; i < end; i += {stride}) a[i{more}] = 2.0f * a[i];
}}
"""


def _verdict(index: str, stride: str, more: str = "") -> str:
    text = KERNEL.format(index=index, stride=stride, more=more)
    (analysis,) = Engine().analyse(CheckRequest("/scale.cu", text)).kernels
    return analysis.result.verdict.value


@pytest.mark.parametrize("stride", STRIDES.values(), ids=STRIDES)
@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
def test_every_thread_of_a_grid_has_cells_of_its_own(index: str, stride: str):
    assert _verdict(index, stride) == "race-free"


@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
def test_a_thread_that_reads_its_own_and_writes_the_next_cell_races(index: str):
    assert _verdict(index, STRIDES["32 bits"], " + 1") in ("data-race", "possible-data-race")


@pytest.mark.parametrize(
    ("index", "stride"),
    [
        (INDICES["the offset in front, in 64 bits"], "(size_t)gridDim.x * 2"),
        ("size_t i = off + (size_t)blockIdx.x * gridDim.x + threadIdx.x;", STRIDES["64 bits"]),
        ("size_t i = off + (size_t)blockIdx.x * blockDim.y + threadIdx.x;", STRIDES["64 bits"]),
        ("size_t i = off + 4 * (size_t)blockIdx.x * blockDim.x + 2 * threadIdx.x;", STRIDES["64 bits"]),
    ],
)
def test_what_only_looks_like_an_index_is_none(index: str, stride: str):
    assert _verdict(index, stride) in ("data-race", "possible-data-race")
