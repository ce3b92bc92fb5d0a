"""Repairs in which a name would mean something else, or an object be of another type, are not made."""

from __future__ import annotations

import pytest
from edited import applied
from restructured import LAUNCH, engine, repaired

from analyzers.model import Fix, FixRefusal
from analyzers.requests import CheckRequest
from quickfix import answers

KERNEL = """constexpr int LEN = 2;
namespace geo {{
struct P {{ double x; }};
using real = double;
__device__ real third(int x) {{ return x / 3.0; }}
__device__ P point(int x) {{ return {{x / 3.0}}; }}
}}
struct P {{ float x; P() = default; __device__ P &operator=(const geo::P &o) {{ x = o.x; return *this; }} }};
using real = float;
template <class T, int N> struct Array {{ T d[N]; }};
__device__ int f(int &x) {{ return x + 1; }}
__device__ int f(const int &x) {{ return x; }}
template <class T> __device__ int h(T &x) {{ return x + 1; }}
template <class T> __device__ int h(const T &x) {{ return x; }}
__device__ int over(int *x) {{ return *x + 1; }}
__device__ int over(const int *x) {{ return *x; }}
template <class T> __device__ int one(T &x) {{ return over(&x); }}
struct B {{ int x; __device__ B(int &v) : x(v + 1) {{}} __device__ B(const int &v) : x(v) {{}} }};
{0}__global__ void k(double *out, const int *in, int n) {{
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t < n) {{
    {1}
    s[t] = in[t];
    out[t] = s[n - 1 - t] + {2};
  }}
}}
"""


@pytest.mark.parametrize(
    ("declared", "used", "name"),
    [
        ("const int v = in[t];", "f(v)", "f"),
        ("const int v = in[t];", "h(v)", "h"),
        ("const int v = in[t];", "over(&v)", "over"),
        ("const int v[2] = {in[t], 1};", "over(v)", "over"),
        ("int LEN = in[t]; const int a = LEN;", "a + sizeof(LEN)", ""),
        ("enum { LEN = 4 }; int a[LEN]; a[1] = in[t];", "a[1]", "LEN"),
        ("enum { LEN = 4 }; Array<int, LEN> a; a.d[1] = in[t];", "a.d[1]", "LEN"),
        ("const int v = in[t];", "one(v)", "one"),
        ("const int v = in[t];", "B(v).x", "B"),
        ("const int v = in[t];", "v + n", ""),
        ("int v = in[t];", "f(v)", ""),
    ],
)
def test_names_mean_what_they_did(declared: str, used: str, name: str) -> None:
    said = repaired(KERNEL.format(LAUNCH, declared, used), "k")
    if not name:
        assert isinstance(said, Fix), said
        return
    assert isinstance(said, FixRefusal), said
    moved = "a declaration in line" in said.text.lower()
    assert moved or f"`{name}` would mean something else in the edited text" in said.text


@pytest.mark.parametrize(
    ("declared", "used", "front"),
    [
        ("auto v = geo::third(in[t]);", "v", "double v;"),
        ("auto v = geo::point(in[t]);", "v.x", "geo::P v;"),
        ("const int LEN = 4; Array<int, LEN> a; a.d[1] = in[t];", "a.d[1]", "const int LEN = 4;\n  Array<int, LEN> a;"),
    ],
)
def test_types_are_what_they_were(declared: str, used: str, front: str) -> None:
    text = KERNEL.format(LAUNCH, declared, used)
    fix = repaired(text, "k")
    assert isinstance(fix, Fix), fix
    assert f"  {front}\n  if (taken) {{" in applied(text, fix.edits)


def test_a_template_may_do_another_thing_with_a_variable() -> None:
    """What it calls is only known where it is instantiated: that is a choice."""
    text = """__device__ int f(int &x) { return x + 1; }
__device__ int f(const int &x) { return x; }
template <class T> __global__ void k(T *out, const T *in, int n) {
  __shared__ T s[64];
  int t = threadIdx.x;
  if (t < n) {
    const T z = in[t];
    s[t] = z;
    out[t] = s[63 - t] + f(z);
  }
}
void run(int *out, int *in, int n) { k<int><<<1, 64>>>(out, in, n); }
"""
    (fix,) = [a for a in answers(engine(), CheckRequest("/meanings/a.cu", text)) if isinstance(a, Fix)]
    assert fix.title.endswith(", assumes that what `z` is handed to does the same where that is no constant")
    assert not fix.applies_unasked
