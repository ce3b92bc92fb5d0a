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
#define ADD(cell, more) cell += more
template <typename F> __device__ void each(int n, F f) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    f(i);
}
template <typename F> __global__ void launched(F f) { f(threadIdx.x); }
__device__ inline void bump(int *count) { *count += 1; }
__device__ inline void count_block(int *count) { atomicAdd_block(count, 1); }
__device__ inline void useless(float *out) { *out = 1; __syncthreads(); }
__device__ inline void parting(float *s, float *out, int n) {
  if (threadIdx.x < n) {
    s[threadIdx.x] = 1;
    __syncthreads();
    *out = s[63 - threadIdx.x];
  }
}
__device__ inline void waited_late(float *s, float *out) {
  for (int i = 0; i < 4; ++i) {
    s[threadIdx.x] = i;
    if (threadIdx.x < 32) __syncthreads();
    *out += s[threadIdx.x ^ 1];
  }
}
"""
LAUNCHES = """#pragma once
__global__ void pairs(float *a, int width) {
  int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (x < width) {
    a[blockIdx.y * width + x] = 1;
    a[blockIdx.y * width + x + 1] = 2;
  }
}
inline void run_pairs(float *a, int n, int rows) {
  pairs<<<dim3((n / 2 + 127) / 128, rows), 128>>>(a, n);
}
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
    (folder / "launches.cuh").write_text(LAUNCHES)
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


def test_fences_stand_around_calls_of_a_librarys_lock(library: Path) -> None:
    (fix,) = (a for a in found(library, LOCKED) if isinstance(a, Fix) and a.kind == "insert-fence")
    assert fix.applies_unasked
    assert "    lock(&mutex);\n    __threadfence();\n" in applied(LOCKED, fix.edits)
    assert "    __threadfence();\n    unlock(&mutex);\n" in applied(LOCKED, fix.edits)


EACH = "each(64, [&](int i) {\n    %s\n  });"
FUNCTOR = """#include <library.cuh>
struct Turn {
  float *s, *out;
  __device__ void operator()(int i) const {
    s[i] = i;
    out[i] = s[63 - i];
  }
};
__global__ void k(float *out) {
  __shared__ float s[64];
  each(64, Turn{s, out});
}
void go(float *out) { k<<<1, 64>>>(out); }
"""
COUNT = """#include <library.cuh>
struct Count {
  int *bins; const int *in;
  __device__ void operator()(int i) const {
    bins[in[i]] += 1;
  }
};
void go(int *bins, const int *in) { launched<<<1, 64>>>(Count{bins, in}); }
"""


@pytest.mark.parametrize(
    ("text", "kind", "after"),
    [
        (
            KERNEL % EACH % "s[i] = n;\n    all[i] = s[63 - i];",
            "insert-barrier",
            "    s[i] = n;\n    __syncthreads();\n    all[i] = s[63 - i];\n",
        ),
        (FUNCTOR, "insert-barrier", "    s[i] = i;\n    __syncthreads();\n    out[i] = s[63 - i];\n"),
        # In the library's loop each thread comes to the lambda twice: the collision is between two of its calls.
        (
            KERNEL % "each(128, [&](int i) {\n    s[threadIdx.x] = n;\n    __syncthreads();\n"
            "    all[i] = s[63 - threadIdx.x];\n  });",
            "insert-barrier",
            "    all[i] = s[63 - threadIdx.x];\n    __syncthreads();\n",
        ),
        (
            KERNEL % EACH % "s[i] = s[63 - i] + n;",
            "restructure",
            "    float value = s[63 - i] + n;\n    __syncthreads();\n    s[i] = value;\n",
        ),
        (KERNEL % EACH % "all[n] += 1;", "use-atomic", "    atomicAdd(&all[n], 1);\n"),
        (COUNT, "use-atomic", "    atomicAdd(&bins[in[i]], 1);\n"),
        (KERNEL % EACH % "all[i] = n;\n    __syncthreads();", "remove-barrier", "    all[i] = n;\n  });"),
        (
            KERNEL % EACH % "if (i < n) {\n      all[i] = n;\n      __syncthreads();\n    }",
            "remove-barrier",
            "      all[i] = n;\n    }\n",
        ),
    ],
    ids=["lambda", "functor", "calls", "split", "atomic", "launched", "useless", "divergent"],
)
def test_what_a_library_calls_is_edited(library: Path, text: str, kind: str, after: str) -> None:
    fixes = [a for a in found(library, text) if isinstance(a, Fix)]
    assert kind in {fix.kind for fix in fixes}
    assert {e.span.path for fix in fixes for e in fix.edits} == {str(library.parent / "kernel" / "a.cu")}
    assert any(after in applied(text, fix.edits) for fix in fixes)


def test_no_barrier_is_put_where_a_librarys_loop_brings_some_threads_only(library: Path) -> None:
    text = KERNEL % "each(n, [&](int i) {\n    s[threadIdx.x] = n;\n    all[i] = s[63 - threadIdx.x];\n  });"
    answers_ = found(library, text)
    assert answers_
    assert all(isinstance(a, FixRefusal) for a in answers_)


def test_a_librarys_macro_is_replaced_where_it_is_used(library: Path) -> None:
    # In a folder below that of the file: such headers are read for their macros.
    text = (
        "#include <library.cuh>\n__global__ void k(int *c) {\n  ADD(*c, 1);\n}\nvoid go(int *c) { k<<<2, 64>>>(c); }\n"
    )
    flags = CompileFlags(("-isystem", str(library)))
    path = str(library.parent / "a.cu")
    (fix,) = (a for a in answers(Engine(), CheckRequest(path, text, flags)) if isinstance(a, Fix))
    assert {e.span.path for e in fix.edits} == {path}
    assert "  atomicAdd(c, 1);\n" in applied(text, fix.edits)


PAIRS = """#include <launches.cuh>
void go(float *a, int n, int rows) { run_pairs(a, n, rows); }
"""
COUNTED = """#include <library.cuh>
__global__ void k(int *count) { %s(count); }
void go(int *count) { k<<<2, 64>>>(count); }
"""


@pytest.mark.parametrize(
    ("text", "kind", "reason"),
    [
        (COUNTED % "bump", "use-atomic", "`*count` in line 15 is in a library's library.cuh, which is not edited."),
        (COUNTED % "count_block", "widen-scope", "its scope is too narrow"),
        (
            KERNEL % "useless(out);",
            "remove-barrier",
            "`__syncthreads()` in line 17 is in a library's library.cuh, which is not edited.",
        ),
        (KERNEL % "parting(s, out, n);", "restructure", "is in a library's library.cuh, which is not edited."),
        (KERNEL % "waited_late(s, out);", "move-barrier", "is in a library's library.cuh, which is not edited."),
        (PAIRS, "assert-host", "run in different blocks"),
    ],
    ids=["atomic", "scope", "useless", "divergent", "moved", "host"],
)
def test_a_library_is_not_edited(library: Path, text: str, kind: str, reason: str) -> None:
    edited = [a for a in found(library, text, "-I") if isinstance(a, Fix)]
    assert any(fix.kind == kind and str(library) in fix.edits[0].span.path for fix in edited)
    refusals = found(library, text)
    assert refusals
    assert all(isinstance(a, FixRefusal) and reason in a.text for a in refusals)
