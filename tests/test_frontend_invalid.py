"""Declarations with an error in them: clang drops the code that uses them, and says nothing there."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzers.engine import Engine
from analyzers.frontend.flags import translate
from analyzers.model import KernelResult, Verdict
from analyzers.requests import CheckRequest

BROKEN = """HD int get(int *p) { return *p; }
#define GET(p) get(p)
#define GET_TWICE(p) (GET(p) + GET(p))
HD int counter;
struct Grid { HD int x; int y; };
struct Cell { HD void put(int *p, int v) const { *p = v; } };
__device__ int through(int *p) { return get(p); }
__device__ void guarded(int *p) { if (threadIdx.x < 7) p[0] = get(p); }
"""
DROPPED = {
    "a statement": "p[0] = get(p);",
    "one of a branch": "if (threadIdx.x < 7) p[0] = get(p);",
    "one of another branch": "if (threadIdx.x) ; else p[0] = get(p);",
    "one in a loop": "while (true) { p[0] = get(p); break; }",
    "a step": "for (int i = 0; i < 5; i = get(p)) p[threadIdx.x] = i;",
    "the body of a loop": "do p[0] = get(p); while (p[1]);",
    "a section": "switch (threadIdx.x) { case 1: p[0] = get(p); break; }",
    "behind a label": "again: p[0] = get(p);",
    "an initializer": "int a[2] = {get(p), 1}; p[threadIdx.x] = a[1];",
    "a choice": "p[threadIdx.x] = threadIdx.x ? get(p) : p[0];",
    "one of two": "p[0] = get(p), p[1] = 2;",
    "a lambda": "auto f = [=] { p[0] = get(p); }; f();",
    "a return in a function": "p[threadIdx.x] = through(p);",
    "a statement in a function": "guarded(p);",
    "a macro": "p[0] = GET_TWICE(p);",
    "a variable": "counter = threadIdx.x;",
    "a member": "Cell c; c.put(p, threadIdx.x);",
    "a field": "auto *g = (Grid *)p; g->x = threadIdx.x;",
}


def check(text: str, *flags: str) -> dict[str, KernelResult]:
    request = CheckRequest("/broken/a.cu", text, translate(flags, "/broken"))
    return {k.name: k for k in Engine().result(request).kernels}


@pytest.mark.parametrize("body", DROPPED.values(), ids=DROPPED)
def test_nothing_is_proved_of_code_that_was_dropped(body: str) -> None:
    text = f"{BROKEN}__global__ void k(int *p) {{ {body} }}\nvoid go(int *p) {{ k<<<1, 64>>>(p); }}\n"
    found = check(text)["k"]
    assert found.verdict is Verdict.UNKNOWN
    reasons = [r for c in found.contexts for r in c.reasons]
    assert {r.kind for r in reasons} >= {"parse-error"}
    assert any("whose declaration has an error" in r.text for r in reasons), reasons


OF_TYPES = {
    "an operator": "struct V { int x; }; HD void operator+=(V &a, int v); __device__ void operator+=(V &a, long v) {}",
    "a friend": "struct V { friend HD void operator+=(V &a, int v) {} }; __device__ void operator+=(V &a, long v) {}",
    "a constructor": "struct V { HD V(int *p); __device__ V(void *) {} };",
    "a conversion": "struct V { HD operator int(); __device__ operator long() { return 1; } };",
    "a base": "struct V : Missing { int x; };",
    "a member of its type": "struct A : Missing { int x; }; struct V { A a; int y; };",
    "an enumerator": "enum V { A = MISSING, B };",
    "an initial value": "struct V { int x = MISSING; };",
}


@pytest.mark.parametrize("declared", OF_TYPES.values(), ids=OF_TYPES)
def test_nothing_is_said_of_types_with_an_error(declared: str) -> None:
    text = f"""{declared}
__device__ V *some(int *p);
__global__ void named(int *p) {{ p[threadIdx.x * sizeof(V)] = 1; }}
__global__ void by_way_of_others(int *p) {{ auto v = some(p); p[threadIdx.x * sizeof(*v)] = 1; }}
template <class T> __global__ void instance(int *p) {{ p[threadIdx.x * sizeof(T)] = 1; }}
__global__ void other(int *p) {{ p[threadIdx.x] = 1; }}
void go(int *p) {{
  named<<<1, 64>>>(p); by_way_of_others<<<1, 64>>>(p); instance<V><<<1, 64>>>(p); other<<<1, 64>>>(p);
}}
"""
    found = check(text)
    assert found.pop("other").verdict is Verdict.RACE_FREE
    assert {k.verdict for k in found.values()} == {Verdict.UNKNOWN}
    assert len(found) == 3


OF_NAMES = {
    "an alias": (
        "HD long get(int *); __device__ char get(void *); typedef decltype(get((int *)0)) V;",
        "p[threadIdx.x * sizeof(V)] = 1;",
    ),
    "a constant": ("__device__ const int N = MISSING;", "p[threadIdx.x * N] = 1;"),
    "an enumerator": ("enum { A = MISSING, B };", "p[threadIdx.x * B] = 1;"),
    "a template header": (
        "template <Missing M> __device__ int at(int i); template <class T> __device__ int at(T i) { return i; }",
        "p[at(threadIdx.x)] = 1;",
    ),
    "a specialisation": (
        "namespace n { template <int M> struct W { static const int x = 1; }; template <> struct W<MISSING> { }; }",
        "p[threadIdx.x * n::W<3>::x] = 1;",
    ),
    "a word in two lines": ("HD void get(int *p); __device__ void get(void *p) {}", "ge\\\nt(p);"),
    "a word that belongs to the next one": (
        "__device__ int f(long i) { return i; } struct Q { int a; } __device__ int f(int i) { return 0; }",
        "p[f((int)threadIdx.x)] = 1;",
    ),
    "an operator of the library's types": (
        "template <class T> __device__ int operator+(T, T) { return 1; }; HD int operator+(float3 a, float3 b);",
        "float3 a, b; p[a + b] = 1;",
    ),
    "an included body": ("HD void get(int *p);", '\n#include "body.inc"\n'),
}


@pytest.mark.parametrize(("declared", "body"), OF_NAMES.values(), ids=OF_NAMES)
def test_nothing_is_said_of_code_that_may_mean_something_else(declared: str, body: str, tmp_path: Path) -> None:
    (tmp_path / "body.inc").write_text("if (threadIdx.x < 7) get(p);\n")
    text = f"{declared}\n__global__ void k(int *p) {{ {body} }}\nvoid go(int *p) {{ k<<<1, 64>>>(p); }}\n"
    request = CheckRequest(str(tmp_path / "a.cu"), text, translate([], str(tmp_path)))
    assert [k.verdict for k in Engine().result(request).kernels] == [Verdict.UNKNOWN]


def test_what_stands_behind_a_kernel_is_not_of_it() -> None:
    text = "__global__ void k(int *p) { p[threadIdx.x] = 1; }\nMissing<int> Other::n = 1;\n__device__ int last;\n"
    assert check(text + "void go(int *p) { k<<<1, 64>>>(p); }\n")["k"].verdict is Verdict.RACE_FREE


def test_names_of_a_function_s_own_are_not_those_of_others() -> None:
    text = """HD int get(int *p);
struct V { HD int put(); int x; };
__global__ void k(int *p, V *v, int put) {
  int get = threadIdx.x;
  p[get] = put;
  v[get].x = 1;
}
void go(int *p, V *v) { k<<<1, 64>>>(p, v, 1); }
"""
    assert check(text)["k"].verdict is Verdict.RACE_FREE


def test_code_that_uses_nothing_of_it_is_checked() -> None:
    text = f"""{BROKEN}// get(p), counter
__global__ void k(int *p) {{
  p[blockIdx.x * blockDim.x + threadIdx.x] = 1;  // counter
}}
__global__ void two(int *p) {{ p[0] = threadIdx.x; }}
void go(int *p) {{ k<<<1, 64>>>(p); two<<<1, 64>>>(p); }}
"""
    found = check(text)
    assert found["k"].verdict is Verdict.RACE_FREE
    assert found["two"].verdict is Verdict.DATA_RACE


@pytest.mark.parametrize(
    "host",
    [
        "int n = 64; n = get(p); k<<<1, n>>>(p, 64);",
        "int m = 64; if (p) m = get(p); k<<<1, 64>>>(p, m);",
        "k<<<1, 64>>>(p, limit(p));",
    ],
    ids=["a dimension", "an argument", "a result"],
)
def test_host_code_that_was_dropped_may_have_done_anything(host: str) -> None:
    text = f"""{BROKEN}
int limit(int *p) {{ int m = 64; m = get(p); return m; }}
__global__ void k(int *p, int m) {{ if (threadIdx.x >= m) p[0] = threadIdx.x; }}
void go(int *p) {{ {host} }}
"""
    assert check(text)["k"].verdict is not Verdict.RACE_FREE
    assert check("#define HD __host__ __device__\n" + text.replace("get(p);", "64;"))["k"].verdict is Verdict.RACE_FREE


def test_headers_of_the_command_line_may_be_code_for_the_device(tmp_path: Path) -> None:
    header = tmp_path / "shift.cuh"
    header.write_text("__device__ void shift(int *s) { int t = threadIdx.x; s[t] = s[t + 1]; }\n")
    text = "__global__ void k(int *p) { shift(p); }\nvoid go(int *p) { k<<<1, 64>>>(p); }\n"
    assert check(text, "-include", str(header))["k"].verdict is Verdict.DATA_RACE


def test_they_are_those_of_the_directory_of_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for folder, at in ((here, "t"), (there, "t + 1")):
        folder.mkdir()
        (folder / "shift.cuh").write_text(f"__device__ void shift(int *s) {{ int t = threadIdx.x; s[t] = s[{at}]; }}\n")
    monkeypatch.chdir(here)
    text = "__global__ void k(int *p) { shift(p); }\nvoid go(int *p) { k<<<1, 64>>>(p); }\n"
    flags = translate(["-include", "shift.cuh"], str(there))
    (kernel,) = Engine().result(CheckRequest(str(there / "a.cu"), text, flags)).kernels
    assert kernel.verdict is Verdict.DATA_RACE
    (finding,) = (f for c in kernel.contexts for f in c.findings)
    assert {a.span.path for a in finding.accesses} == {str(there / "shift.cuh")}


def test_a_member_with_an_error_is_no_coordinate_of_a_thread() -> None:
    text = """struct Vec3 { HD float x() const; HD float y() const; };
__global__ void k(float *p) { int i = blockIdx.x * blockDim.x + threadIdx.x; p[i] = 2.f; }
__global__ void used(float *p, const Vec3 *v) { p[0] = v->x(); }
void go(float *p, const Vec3 *v) { k<<<1, 64>>>(p); used<<<1, 64>>>(p, v); }
"""
    found = check(text)
    assert found["k"].verdict is Verdict.RACE_FREE
    assert found["used"].verdict is Verdict.UNKNOWN


def test_names_that_macros_put_together_may_be_any() -> None:
    text = f"#define CAT(a, b) a##b\n{BROKEN}__global__ void k(int *p) {{ p[0] = CAT(g, et)(p); }}\n"
    assert check(text + "void go(int *p) { k<<<1, 64>>>(p); }\n")["k"].verdict is Verdict.UNKNOWN


def test_a_header_is_looked_for_where_the_command_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder, at in (("here", "t"), ("include", "t + 1"), ("there", "")):
        (tmp_path / folder).mkdir()
        if at:
            text = f"__device__ void shift(int *s) {{ int t = threadIdx.x; s[t] = s[{at}]; }}\n"
            (tmp_path / folder / "shift.cuh").write_text(text)
    monkeypatch.chdir(tmp_path / "here")
    flags = translate(["-I", "../include", "-include", "shift.cuh"], str(tmp_path / "there"))
    text = "__global__ void k(int *p) { shift(p); }\nvoid go(int *p) { k<<<1, 64>>>(p); }\n"
    (kernel,) = Engine().result(CheckRequest(str(tmp_path / "there" / "a.cu"), text, flags)).kernels
    assert kernel.verdict is Verdict.DATA_RACE


def test_a_type_of_the_library_that_is_defined_once_more_is_the_library_s() -> None:
    text = """typedef unsigned int clock_t;
__global__ void k(clock_t *p) { p[threadIdx.x] = p[threadIdx.x + 1]; }
void go(clock_t *p) { k<<<1, 64>>>(p); }
"""
    assert check(text)["k"].verdict is Verdict.DATA_RACE
