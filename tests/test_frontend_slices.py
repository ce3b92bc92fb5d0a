"""Slices: what a kernel needs stays where it was, everything else of the file is blank."""

from __future__ import annotations

from pathlib import Path

from analyzers.frontend.flags import CompileFlags
from analyzers.frontend.parse import UnitParser
from analyzers.frontend.slices import qualified_name, slice_text

TEXT = """#include <vector>
#include "used.cuh"
#include "unused.cuh"
#include "macros.h"
#include <cassert>
#define SIZE 8
#define HOST(x) check(x, __FILE__)
std::vector<int> kept;
struct Base { float x; };
struct Pair : Base { float y; };
struct Host { std::vector<int> v; };
__constant__ float table[SIZE];
namespace ns {
using Number = float;
template <int N> __device__ Number pick(const Pair &p) { return p.x * table[N] * SCALE; }
__device__ int other() { return 7; }
__global__ void k(Number *a, Pair p) { a[threadIdx.x] = pick<2>(p) + used(1); }
#if 0
nothing here
#endif
void start() { k<<<1, 32>>>(nullptr, Pair()); }
}
__global__ void second(int *a) { a[0] = ns::other(); }
int main() { HOST(1); return 0; }
"""


def test_a_kernel_keeps_what_it_reaches(tmp_path: Path) -> None:
    (tmp_path / "used.cuh").write_text("__device__ inline int used(int x) { return x; }\n")
    (tmp_path / "unused.cuh").write_text("struct Missing { std::vector<int> v; };\n")
    (tmp_path / "macros.h").write_text("#define SCALE 2\n")
    path = str(tmp_path / "a.cu")
    unit = UnitParser().parse(path, TEXT, CompileFlags(arguments=()))
    offset = TEXT.index("__global__ void k")
    assert qualified_name(unit, offset) == "ns::"
    lines = slice_text(unit, [offset]).split("\n")
    original = TEXT.split("\n")
    assert len(lines) == len(original)
    kept = {number for number, line in enumerate(lines, 1) if line.strip()}
    assert kept == {2, 4, 5, 6, 7, 9, 10, 12, 13, 14, 15, 17, 18, 19, 20, 22}
    assert all(lines[number - 1] == original[number - 1] for number in kept)
