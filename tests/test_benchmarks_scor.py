"""How the benchmark of ScoR's programs judges a verdict."""

from __future__ import annotations

from expectations import check

from benchmarks.scor import NAMES, is_right

_RACE = "__global__ void k(int *a) { *a = threadIdx.x; } void f(int *a) { k<<<1, 64>>>(a); }"
_NONE = "__global__ void k(int *a) { a[threadIdx.x] = 1; } void f(int *a) { k<<<1, 64>>>(a); }"
_OPEN = "void g(int *); __global__ void k(int *a) { g(a); } void f(int *a) { k<<<1, 64>>>(a); }"


def test_the_name_says_what_is_right() -> None:
    for text, race, free in ((_RACE, True, False), (_NONE, False, True), (_OPEN, False, False)):
        unit = check(text).unit
        assert is_right("race_x", unit) is race
        assert is_right("norace_x", unit) is free


def test_there_are_32_programs() -> None:
    assert len(set(NAMES)) == 32
    assert sum(name.startswith("race_") for name in NAMES) == 18
