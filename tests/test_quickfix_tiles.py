"""A barrier between lanes is written as that of a tile which the kernel has, where that orders them."""

from __future__ import annotations

import pytest
from edited import applied

from analyzers.engine import Engine
from analyzers.model import Fix, Verdict
from analyzers.requests import CheckRequest
from quickfix import answers

HEAD = """#include <cooperative_groups.h>
namespace cg = cooperative_groups;
"""
KERNEL = """// cuda-lsp: launch grid=(1) block=(128)
__global__ void k(int *out, const int *in) {
  __shared__ int s[128];
  int t = threadIdx.x;
  CODE
}
"""


def repaired(code: str, before: str = "") -> tuple[Fix, str]:
    text = HEAD + before + KERNEL.replace("CODE", code)
    fix = next(a for a in answers(Engine(), CheckRequest("/tiles/a.cu", text)) if isinstance(a, Fix))
    after = applied(text, fix.edits)
    assert [k.verdict for k in Engine().analyse(CheckRequest("/tiles/a.cu", after)).result.kernels] == [
        Verdict.RACE_FREE
    ]
    return fix, after


@pytest.mark.parametrize(
    "tile",
    [
        "auto tile = cg::tiled_partition<32>(cg::this_thread_block());",
        "cg::thread_block_tile<32> tile = cg::tiled_partition<32>(cg::this_thread_block());",
        "cg::thread_block_tile<16> tile(cg::tiled_partition<16>(cg::this_thread_block()));",
        "auto warp = cg::tiled_partition<32>(cg::this_thread_block()); auto tile = cg::tiled_partition<8>(warp);",
    ],
)
def test_the_tile_of_the_kernel(tile: str) -> None:
    fix, after = repaired(f"{tile}\n  s[t] = in[t];\n  out[t] = s[t ^ 1];")
    assert "  s[t] = in[t];\n  tile.sync();\n  out[t]" in after
    assert fix.title.startswith("Insert tile.sync() after line 8 — orders")
    assert fix.cost == "+1 warp barrier"


def test_a_tile_that_a_function_is_given() -> None:
    before = "__device__ void put(cg::thread_block_tile<32> const &w, int *s, int v) {\n  s[threadIdx.x] = v;\n}\n"
    code = "auto tile = cg::tiled_partition<32>(cg::this_thread_block());\n  put(tile, s, in[t]);\n  out[t] = s[t ^ 1];"
    _, after = repaired(code, before)
    assert "w.sync();" in after or "tile.sync();" in after


@pytest.mark.parametrize(
    "code",
    [
        # Too few lanes, another block of statements, behind the place, another variable.
        "auto tile = cg::tiled_partition<4>(cg::this_thread_block());\n  s[t] = in[t];\n  out[t] = s[t ^ 8];",
        "{ auto tile = cg::tiled_partition<32>(cg::this_thread_block()); }\n  s[t] = in[t];\n  out[t] = s[t ^ 1];",
        "s[t] = in[t];\n  out[t] = s[t ^ 1];\n  auto tile = cg::tiled_partition<32>(cg::this_thread_block());",
        (
            "struct { __device__ void sync() {} } tile; { auto tile = cg::tiled_partition<32>(cg::this_thread_block());"
            " }\n  s[t] = in[t];\n  out[t] = s[t ^ 1];"
        ),
    ],
    ids=["few lanes", "out of scope", "too late", "other variable"],
)
def test_no_tile_that_does_not_order_the_lanes(code: str) -> None:
    _, after = repaired(code)
    assert "  s[t] = in[t];\n  __syncwarp();\n  out[t]" in after


@pytest.mark.parametrize(
    ("partner", "title", "barrier"),
    [
        ("t + 8", "Move `tile.sync()` from line 9 after line 8 — ", "tile.sync();"),
        ("t + 16", "Replace `tile.sync()` in line 9 by __syncthreads() after line 8 — ", "__syncthreads();"),
    ],
)
def test_a_barrier_of_a_tile_is_moved_where_it_orders_the_same(partner: str, title: str, barrier: str) -> None:
    tile = "auto tile = cg::tiled_partition<16>(cg::this_thread_block());"
    code = f"{tile}\n  s[t] = in[t];\n  if (t % 16 < 8) {{ tile.sync(); out[t] = s[({partner}) % 128]; }}"
    fix, after = repaired(code)
    assert fix.title.startswith(title)
    assert f"  s[t] = in[t];\n  {barrier}\n  if (t % 16 < 8) {{ out[t]" in after
