"""Code of libraries, in headers that are found by way of `-isystem`, is not edited; what calls it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from edited import applied

from analyzers.engine import Engine
from analyzers.frontend.flags import CompileFlags
from analyzers.model import Fix, FixRefusal
from analyzers.requests import CheckRequest
from quickfix import answers

LIBRARY = """#pragma once
__device__ inline void put(float *s, float v) { for (int i = 0; i < 2; ++i) s[threadIdx.x + 64 * i] = v; }
__device__ inline float turn(float *s, float v) {
  s[threadIdx.x] = v;
  return s[63 - threadIdx.x];
}
__device__ inline void lock(int *m) { while (atomicCAS(m, 0, 1) != 0) {} }
__device__ inline void unlock(int *m) { atomicExch(m, 0); }
"""
KERNEL = """#include <library.cuh>
// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(float *all, int n) {
  __shared__ float s[128];
  float *out = all + threadIdx.x;
  %s
}
"""
LOCKED = """#include <library.cuh>
__device__ int mutex;
__global__ void k(float *out) {
  if (threadIdx.x == 0) {
    lock(&mutex);
    out[0] = out[0] * 2;
    unlock(&mutex);
  }
}
void go(float *out) { k<<<2, 64>>>(out); }
"""


@pytest.fixture
def library(tmp_path: Path) -> Path:
    folder = tmp_path / "library"
    folder.mkdir()
    (folder / "library.cuh").write_text(LIBRARY)
    return folder


def found(folder: Path, text: str, option: str = "-isystem") -> list[Fix | FixRefusal]:
    flags = CompileFlags((option, str(folder)))
    return list(answers(Engine(), CheckRequest(str(folder.parent / "kernel" / "a.cu"), text, flags)))


@pytest.mark.parametrize(
    ("body", "after"),
    [
        ("put(s, 2);\n  *out = s[63 - threadIdx.x];", "  put(s, 2);\n  __syncthreads();\n"),
        (
            "while (n-- > 0) {\n    put(s, n);\n    __syncthreads();\n    *out += s[63 - threadIdx.x];\n  }",
            "    *out += s[63 - threadIdx.x];\n    __syncthreads();\n",
        ),
    ],
)
def test_barriers_are_placed_around_calls(library: Path, body: str, after: str) -> None:
    text = KERNEL % body
    (fix,) = found(library, text)
    assert isinstance(fix, Fix)
    assert fix.applies_unasked
    assert {e.span.path for e in fix.edits} == {str(library.parent / "kernel" / "a.cu")}
    assert after in applied(text, fix.edits)


def test_what_races_within_a_library_has_no_repair(library: Path) -> None:
    text = KERNEL % "*out = turn(s, 2);"
    (answer,) = found(library, text)
    assert isinstance(answer, FixRefusal)
    assert answer.text == "`s[threadIdx.x]` in line 4 is in a library's library.cuh, which is not edited."
    # As a header of the project it would be a choice.
    (fix,) = found(library, text, "-I")
    assert isinstance(fix, Fix)
    assert fix.title.startswith("Insert __syncthreads() after line 4 of library.cuh — ")


def test_fences_of_a_lock_stand_in_its_functions(library: Path) -> None:
    (fix,) = (a for a in found(library, LOCKED, "-I") if isinstance(a, Fix) and a.kind == "insert-fence")
    assert fix.title.startswith("Insert 2 fences in lines 7 and 8 of library.cuh — orders ")
    edited = applied(LIBRARY, fix.edits)
    assert "{} __threadfence(); }\n" in edited
    assert "unlock(int *m) { __threadfence(); atomicExch(m, 0); }" in edited
    assert not any(isinstance(a, Fix) and a.kind == "insert-fence" for a in found(library, LOCKED))
