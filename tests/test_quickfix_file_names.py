"""Lines of headers are named with the header, in titles as in reasons."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzers.engine import Engine
from analyzers.model import Fix
from analyzers.old_lines import in_old_lines
from analyzers.requests import CheckRequest
from quickfix import answers
from quickfix.file_names import FileNames, numbered

HEADER = """#pragma once
__device__ inline void count(int *cell) { atomicAdd_block(cell, 1); }
__device__ inline void bump(int *cell) { *cell += 1; }
__device__ inline void useless(int *out) { *out = 1; __syncthreads(); }
__device__ inline void parted(int *out) { if (threadIdx.x < 20) __syncthreads(); }
__device__ inline int sum(int v) { for (int o = 16; o; o /= 2) v += __shfl_xor_sync(~0u, v, o); return v; }
template <typename F> __device__ void each(int n, F f) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) f(i);
}
__device__ inline void turned(int *s) { s[threadIdx.x] = s[63 - threadIdx.x]; }
__device__ inline void waited_late(int *s, int *out) {
  for (int i = 0; i < 4; ++i) {
    s[threadIdx.x] = i;
    if (threadIdx.x < 32) __syncthreads();
    *out += s[threadIdx.x ^ 1];
  }
}
"""
KERNEL = """#include "tile.cuh"
__global__ void k(int *all, int n) {
  __shared__ int s[64];
  int *out = all + threadIdx.x, t = threadIdx.x;
  %s
}
void go(int *all, int n) { k<<<%d, 64>>>(all, n); }
"""


def titles(folder: Path, text: str) -> list[str]:
    found = answers(Engine(), CheckRequest(str(folder / "a.cu"), text))
    return [fix.title.partition(", assumes that no other unit")[0] for fix in found if isinstance(fix, Fix)]


@pytest.mark.parametrize(
    ("body", "blocks", "title"),
    [
        ("count(all);", 2, "Use atomicAdd instead of atomicAdd_block in line 2 of tile.cuh — "),
        ("bump(all);", 1, "Make the update of *cell in line 3 of tile.cuh atomic, by atomicAdd() — "),
        ("useless(out);", 1, "Remove `__syncthreads()` in line 4 of tile.cuh — it orders nothing, "),
        ("parted(out);", 1, "Remove `__syncthreads()` in line 5 of tile.cuh — not all threads reach it, "),
        ("turned(s);", 1, "Split the statement in line 10 of tile.cuh and insert __syncthreads() in between — "),
        (
            "waited_late(s, out);",
            1,
            "Replace `__syncthreads()` in line 14 of tile.cuh by 2 barriers after lines 13 and 15 of tile.cuh — ",
        ),
    ],
)
def test_titles_name_the_header_of_a_line(tmp_path: Path, body: str, blocks: int, title: str) -> None:
    (tmp_path / "tile.cuh").write_text(HEADER)
    assert any(found.startswith(title) for found in titles(tmp_path, KERNEL % (body, blocks)))


def test_costs_and_what_is_taken_for_granted_name_it_too(tmp_path: Path) -> None:
    (tmp_path / "tile.cuh").write_text(HEADER)
    (title,) = titles(tmp_path, KERNEL % ("each(64, [&](int i) {\n    s[i] = n;\n    all[i] = s[63 - i];\n  });", 1))
    assert title.endswith("+1 barrier per iteration of the loop at line 8 of tile.cuh")
    (title,) = titles(tmp_path, KERNEL % ("if (t < n) t = sum(t);\n  s[threadIdx.x] = t;\n  *out = s[t & 63];", 1))
    assert "come to `__shfl_xor_sync(~0u, v, o)` (line 6 of tile.cuh) together" in title
    request = CheckRequest(
        str(tmp_path / "a.cu"),
        KERNEL % ("if (t < n) t = sum(t);\n  s[threadIdx.x] = t;\n  *out = s[t & 63];", 1),
    )
    (fix,) = (a for a in answers(Engine(), request) if isinstance(a, Fix))
    assert any(note.endswith("those that are at `__syncthreads()`.") for note in fix.notes)


def test_headers_of_one_name_are_told_apart(tmp_path: Path) -> None:
    for name, text in (
        ("p", "#pragma once\n__device__ inline void set(int *f) {\n  atomicExch(f, 1);\n}\n"),
        ("q", "#pragma once\n__device__ inline void wait(int *f) {\n  while (atomicAdd(f, 0) == 0) {}\n}\n"),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "util.cuh").write_text(text)
    kernel = """#include "p/util.cuh"
#include "q/util.cuh"
__device__ int flag;
__global__ void k(int *data, int *out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) { data[0] = 1; set(&flag); }
  else { wait(&flag); out[0] = data[0]; }
}
void go(int *d, int *o) { k<<<2, 32>>>(d, o); }
"""
    (fix,) = (a for a in answers(Engine(), CheckRequest(str(tmp_path / "a.cu"), kernel)) if isinstance(a, Fix))
    assert fix.title.startswith("Insert 2 fences after line 2 of p/util.cuh and line 3 of q/util.cuh — ")
    assert "no other unit runs what changes in p/util.cuh and q/util.cuh" in fix.title


def test_a_name_is_as_long_as_it_has_to_be() -> None:
    names = FileNames("/x/a.cu", ["/x/p/util.cuh", "/x/q/util.cuh", "/x/b/p/util.cuh", "/x/tile.cuh"])
    assert names.at("/x/a.cu", 3) == "line 3"
    assert names.at("/x/tile.cuh", 3) == "line 3 of tile.cuh"
    assert names.at("/x/q/util.cuh", 3) == "line 3 of q/util.cuh"
    assert names.at("/x/b/p/util.cuh", 3) == "line 3 of b/p/util.cuh"
    places = [("/x/tile.cuh", 9), ("/x/a.cu", 7), ("/x/a.cu", 5), ("/x/a.cu", 7)]
    assert names.lines(places) == "lines 5 and 7 and line 9 of tile.cuh"
    assert numbered([6, 4, 7]) == "lines 4, 6 and 7"


def test_lines_of_headers_are_not_those_of_the_edited_text() -> None:
    before, now = "a\nb\n", "new\na\nb\n"
    assert in_old_lines("in lines 2 and 3", before, now) == "in lines 1 and 2"
    for text in ("in line 12 of tile.cuh", "in lines 2 and 3 of p/tile.cuh"):
        assert in_old_lines(text, before, now) == text
    assert in_old_lines("after line 3 and line 2 of tile.cuh", before, now) == "after line 2 and line 2 of tile.cuh"
