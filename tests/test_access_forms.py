"""Every way to write an access in C++: whichever it is, the race that it makes is seen.

An access that is not seen is the worst mistake of all: a kernel is called race-free that is not. Each kernel here has
one race by one form of access; a form that is not followed makes the kernel unknown.
"""

from __future__ import annotations

import pytest

from analyzers.engine import Engine
from analyzers.model import UnitResult, Verdict
from analyzers.requests import CheckRequest, UnitFinished

READS = {
    "index_swapped": ("", "v = (t + 1)[s];"),
    "deref": ("", "v = *(s + t + 1);"),
    "ptr": ("", "int *p = s; p += t + 1; v = *p;"),
    "ptr_neg": ("", "int *p = s + 65; v = p[-(64 - t)];"),
    "ref": ("", "int &r = s[t + 1]; v = r;"),
    "autoref": ("", "auto &r = s; v = r[t + 1];"),
    "arrref_param": ("__device__ int get(int (&x)[66], int i) { return x[i]; }", "v = get(s, t + 1);"),
    "carr_param": ("__device__ int get(const int x[], int i) { return x[i]; }", "v = get(s, t + 1);"),
    "arr_param_plus": ("__device__ int get(int x[], int i) { return *(x + i); }", "v = get(s, t + 1);"),
    "arr_param_inc": ("__device__ int get(int x[], int i) { while (i--) x++; return *x; }", "v = get(s, 1 + t % 2);"),
    "arr_param_auto": ("__device__ int get(int x[65], int i) { auto p = x; return p[i]; }", "v = get(s, t + 1);"),
    "arr_param_lambda": (
        "__device__ int get(int x[65], int i) { auto f = [&](int k) { return x[k]; }; return f(i); }",
        "v = get(s, t + 1);",
    ),
    "arr_param_lambda_copy": (
        "__device__ int get(int x[65], int i) { auto f = [=](int k) { return x[k]; }; return f(i); }",
        "v = get(s, t + 1);",
    ),
    "arr_param_cond": (
        "__device__ int get(int x[65], int y[], int i) { return (i > 200 ? y : x)[i]; }",
        "v = get(s, s, t + 1);",
    ),
    "arr_param_pass": (
        "__device__ int in(int *x, int i) { return x[i]; } __device__ int get(int x[65], int i) { return in(x, i); }",
        "v = get(s, t + 1);",
    ),
    "arr_param_ref_of_ptr": (
        "__device__ int in(int *&x, int i) { return x[i]; } __device__ int get(int x[65], int i) { return in(x, i); }",
        "v = get(s, t + 1);",
    ),
    "arr_param_addr": (
        "__device__ int get(int x[65], int i) { int **pp = &x; return (*pp)[i]; }",
        "v = get(s, t + 1);",
    ),
    "arr_param_tmpl": (
        "template <int N> __device__ int get(int x[N], int i) { return x[i]; }",
        "v = get<65>(s, t + 1);",
    ),
    "arr_param_tmplT": ("template <typename T> __device__ T get(T x[], int i) { return x[i]; }", "v = get(s, t + 1);"),
    "arr_param_cast": ("__device__ int get(int x[], int i) { return ((char *)x)[4 * i]; }", "v = get(s, t + 1);"),
    "arr_param_memb": (
        "struct G { __device__ int get(int x[], int i) const { return x[i]; } };",
        "v = G().get(s, t + 1);",
    ),
    "arr_param_op": (
        "struct G { __device__ int operator()(int x[], int i) const { return x[i]; } };",
        "G g; v = g(s, t + 1);",
    ),
    "arr_param_default": ("__device__ int get(int x[], int i = 1) { return x[i]; }", "v = get(s + t);"),
    "arr_param_ctor": ("struct G { int *p; __device__ G(int x[]) : p(x) {} };", "G g(s); v = g.p[t + 1];"),
    "arr_of_ptr_param": (
        "__device__ int get(int *x[], int i) { return x[0][i]; }",
        "int *a[2] = {s, s}; v = get(a, t + 1);",
    ),
    "ptr_to_arr": (
        "__device__ int get(int (*x)[5], int i) { return x[i / 5][i % 5]; }",
        "v = get((int (*)[5])s, t + 1);",
    ),
    "struct_member": ("struct P { int *p; };", "P q; q.p = s; v = q.p[t + 1];"),
    "struct_init": ("struct P { int *p; int n; };", "P q{s, 1}; v = q.p[t + q.n];"),
    "struct_nested": ("struct P { int *p; }; struct Q { P a, b; };", "Q q = {{s}, {s + 1}}; v = q.b.p[t];"),
    "struct_ptr": ("struct P { int *p; };", "P q; q.p = s; P *r = &q; v = r->p[t + 1];"),
    "struct_ret": ("struct P { int *p; }; __device__ P make(int *s) { return P{s}; }", "v = make(s).p[t + 1];"),
    "op_index": ("struct P { int *p; __device__ int &operator[](int i) { return p[i]; } };", "P q{s}; v = q[t + 1];"),
    "op_call": (
        "struct P { int *p; __device__ int operator()(int i) const { return p[i]; } };",
        "P q{s}; v = q(t + 1);",
    ),
    "op_conv": (
        "struct P { int *p; __device__ operator int *() const { return p; } };",
        "P q{s}; int *z = q; v = z[t + 1];",
    ),
    "op_star": ("struct P { int *p; __device__ int &operator*() { return *p; } };", "P q{s + t + 1}; v = *q;"),
    "op_arrow": (
        "struct I { int x; }; struct P { I *p; __device__ I *operator->() { return p; } };",
        "P q{(I *)s + t + 1}; v = q->x;",
    ),
    "lambda_ref": ("", "auto f = [&](int i) { return s[i]; }; v = f(t + 1);"),
    "lambda_ptr": ("", "int *p = s; auto f = [p](int i) { return p[i]; }; v = f(t + 1);"),
    "lambda_init": ("", "auto f = [p = s + 1](int i) { return p[i]; }; v = f(t);"),
    "lambda_generic": ("", "auto f = [&](auto i) { return s[i]; }; v = f(t + 1);"),
    "lambda_passed": (
        "template <typename F> __device__ int call(F f, int i) { return f(i); }",
        "v = call([&](int i) { return s[i]; }, t + 1);",
    ),
    "fn_ptr": ("__device__ int get(int *x, int i) { return x[i]; }", "int (*f)(int *, int) = get; v = f(s, t + 1);"),
    "ternary_lvalue": ("", "int w[1]; v = *(t > 200 ? w : s + t + 1);"),
    "comma": ("", "v = (v++, s[t + 1]);"),
    "ptr_ptr": ("", "int *p = s; int **pp = &p; v = (*pp)[t + 1];"),
    "arr_of_ptr": ("", "int *a[2] = {s, s + 1}; v = a[1][t];"),
    "arr_of_ptr_dyn": ("", "int *a[2] = {s + 1, s + 1}; v = a[t & 1][t];"),
    "range_for": ("", "for (int x : s) v += x;"),
    "range_for_ref": ("", "for (auto &x : s) v += x;"),
    "memcpy": ("", "memcpy(&v, &s[t + 1], 4);"),
    "reint": ("", "v = reinterpret_cast<short *>(s)[2 * t + 2];"),
    "void_ptr": ("", "void *p = s; v = ((int *)p)[t + 1];"),
    "uintptr": ("", "unsigned long long a = (unsigned long long)s; v = *(int *)(a + 4 * (t + 1));"),
    "switch": ("", "switch (t & 1) { case 0: v = s[t + 1]; break; default: v = s[t + 1]; }"),
    "goto": ("", "if (t > 100) goto end; v = s[t + 1]; end:;"),
    "do": ("", "int i = 0; do { v += s[t + i]; } while (++i < 2);"),
    "static_fn": ("struct G { static __device__ int get(int *x, int i) { return x[i]; } };", "v = G::get(s, t + 1);"),
    "ret_ref": ("__device__ int &at(int *x, int i) { return x[i]; }", "v = at(s, t + 1);"),
    "ret_ptr": ("__device__ int *at(int *x, int i) { return x + i; }", "v = *at(s, t + 1);"),
    "virtual": (
        (
            "struct B { __device__ virtual int get(int *x, int i) { return 0; } }; "
            "struct D : B { __device__ int get(int *x, int i) override { return x[i]; } };"
        ),
        "D d; B &b = d; v = b.get(s, t + 1);",
    ),
    "base": (
        "struct B { int *p; }; struct D : B { __device__ int get(int i) { return p[i]; } };",
        "D d; d.p = s; v = d.get(t + 1);",
    ),
    "pack": (
        "template <typename... A> __device__ int sum(int *x, A... i) { return (x[i] + ...); }",
        "v = sum(s, t, t + 1);",
    ),
    "recursion_tmpl": (
        (
            "template <int N> __device__ int get(int *x) { if constexpr (N == 0) return *x; "
            "else return get<N - 1>(x + 1); }"
        ),
        "v = get<1>(s + t);",
    ),
    "struct_bind": ("struct P { int *a; int b; };", "P q{s, t + 1}; auto [x, y] = q; v = x[y];"),
    "memptr": ("struct P { int *a; };", "P q{s}; int *P::*m = &P::a; v = (q.*m)[t + 1];"),
    "union": ("union U { int *p; float *f; };", "U u; u.p = s; v = u.f[t + 1];"),
    "std_array_ptr": ("#include <array>", "std::array<int *, 2> a = {s, s + 1}; v = a[1][t];"),
    "tuple": ("#include <tuple>", "auto q = std::make_tuple(s + 1, 2); v = std::get<0>(q)[t];"),
    "pair": ("#include <utility>", "std::pair<int *, int> q(s, 1); v = q.first[t + q.second];"),
    "ref_wrapper_swap": ("#include <utility>", "int *a = s, *b = s + 1; std::swap(a, b); v = a[t];"),
    "exchange": ("#include <utility>", "int *a = s + 1; int *b = std::exchange(a, s); v = b[t];"),
    "min_ptr": ("", "int k = min(t + 1, 64); v = s[k];"),
    "compound": ("", "v += s[t + 1];"),
    "cond_and": ("", "if (t >= 0 && s[t + 1] > 3) v = 1;"),
    "cond_or": ("", "v = t < 0 || s[t + 1];"),
    "while_cond": ("", "while (s[t + 1] > 100) v++;"),
    "for_cond": ("", "for (int i = 0; i < s[t + 1]; i++) v++;"),
    "switch_cond": ("", "switch (s[t + 1]) { case 1: v = 1; }"),
    "arg": ("__device__ int id(int x) { return x; }", "v = id(s[t + 1]);"),
    "sub_index": ("", "v = o[s[t + 1] & 0];"),
    "init_list": ("", "int w[2] = {s[t], s[t + 1]}; v = w[0];"),
    "new_var_decl": ("", "const int a = s[t + 1]; v = a;"),
    "asm_ld": (
        "",
        'asm volatile("ld.shared.s32 %0, [%1];" : "=r"(v) : "r"((unsigned)__cvta_generic_to_shared(&s[t + 1])));',
    ),
    "ldvec": ("", "int2 q = *(int2 *)&s[t & ~1]; v = q.x + q.y;"),
    "bool_cast": ("", "v = (bool)s[t + 1];"),
    "static_cast_ref": ("", "v = static_cast<int &>(s[t + 1]);"),
    "addr_of": ("", "int *p = &s[t + 1]; v = p[0];"),
    "ptr_diff": ("", "int *e = s + t + 1; for (int *p = s + t; p != e + 1; ++p) v += *p;"),
    "dynamic_new_this": (
        "struct W { int *p; __device__ int go(int i) { auto f = [this, i] { return p[i]; }; return f(); } };",
        "W w{s}; v = w.go(t + 1);",
    ),
    "const_ref_param": ("__device__ int get(const int &x) { return x; }", "v = get(s[t + 1]);"),
    "fwd": (
        "#include <utility>\ntemplate <typename T> __device__ int get(T &&x) { return std::forward<T>(x); }",
        "v = get(s[t + 1]);",
    ),
    "typedef_arr": ("typedef int Row[65]; __device__ int get(Row x, int i) { return x[i]; }", "v = get(s, t + 1);"),
    "using_arr_ref": ("using Row = int[66]; __device__ int get(Row &x, int i) { return x[i]; }", "v = get(s, t + 1);"),
    "std_data": ("#include <iterator>", "v = std::data(s)[t + 1];"),
    "std_begin": ("#include <iterator>", "v = std::begin(s)[t + 1];"),
    "enum_idx": ("enum E { ONE = 1 };", "v = s[t + ONE];"),
    "macro": ("#define GET(a, i) ((a)[(i) + 1])", "v = GET(s, t);"),
    "do_once": ("#define READ(d, a, i) do { d = a[i]; } while (0)", "READ(v, s, t + 1);"),
    "stmt_expr": ("", "v = ({ int *p = s; p[t + 1]; });"),
    "nested_fn_static": (
        (
            "__device__ int f3(int *x) { return *x; } __device__ int f2(int x[]) { return f3(x + 1); } "
            "__device__ int f1(int *x) { return f2(x); }"
        ),
        "v = f1(s + t);",
    ),
    "volatile_ptr_read": ("", "v = *(const int *)(s + t + 1);"),
    "ternary_val": ("", "v = t < 63 ? s[t + 1] : 0;"),
    "post_inc": ("", "int *p = s + t; p++; v = *p--;"),
    "pre_inc_deref": ("", "int *p = s + t; v = *++p;"),
}
"""By name: declarations, and statements that read what a neighbour writes into ``s``."""
WRITES = {
    "arr_param": ("__device__ void put(int x[], int i) { x[i] = threadIdx.x; }", "put(s, t / 2);"),
    "arr_param_plus": ("__device__ void put(int x[65], int i) { *(x + i) = threadIdx.x; }", "put(s, t / 2);"),
    "arr_param_inc": ("__device__ void put(int x[], int i) { x += i; *x++ = threadIdx.x; *x = 2; }", "put(s, t);"),
    "arr_param_ref": (
        "__device__ void in(int *&x) { ++x; } __device__ void put(int x[], int i) { in(x); x[i] = threadIdx.x; }",
        "put(s, t / 2);",
    ),
    "arr_param_swap": (
        "#include <utility>\n__device__ void put(int x[], int y[], int i) { std::swap(x, y); x[i] = threadIdx.x; }",
        "int w[66]; put(w, s, t / 2);",
    ),
    "arr_param_out": (
        "__device__ void in(int &x) { x = threadIdx.x; } __device__ void put(int x[], int i) { in(x[i]); }",
        "put(s, t / 2);",
    ),
    "arr_param_struct": (
        "struct P { int a, b; }; __device__ void put(P x[], int i) { x[i].b = threadIdx.x; }",
        "put((P *)s, t / 2);",
    ),
    "arr_param_2d": (
        "__device__ void put(int x[][3], int i) { x[i / 3][i % 3] = threadIdx.x; }",
        "put((int (*)[3])s, t / 2);",
    ),
    "arr_param_lambda": ("__device__ void put(int x[], int i) { [&] { x[i] = threadIdx.x; }(); }", "put(s, t / 2);"),
    "arr_param_memcpy": (
        "__device__ void put(int x[], int i) { int v = threadIdx.x; memcpy(x + i, &v, 4); }",
        "put(s, t / 2);",
    ),
    "arr_param_vec": (
        "__device__ void put(int x[], int i) { ((int2 *)x)[i] = make_int2(threadIdx.x, 1); }",
        "put(s, t / 4);",
    ),
    "arr_param_atomic": ("__device__ void put(int x[], int i) { atomicAdd(&x[i], 1); }", "put(s, t / 2); o[t] = s[t];"),
    "swapargs": ("", "int *p = s; p[t / 2] = t;"),
    "compound": ("", "s[t / 2] += t;"),
    "inc": ("", "s[t / 2]++;"),
    "dec": ("", "--s[t / 2];"),
    "chain": ("", "v = s[t / 2] = t;"),
    "ref": ("", "int &r = s[t / 2]; r = t;"),
    "cond": ("", "(t & 1 ? s[t / 2] : s[t / 2]) = t;"),
    "comma": ("", "(v++, s[t / 2]) = t;"),
    "struct": ("struct P { int a; }; ", "((P *)s)[t / 2].a = t;"),
    "struct_copy": ("struct P { int a, b; }; ", "P q{t, t}; ((P *)s)[t / 4] = q;"),
    "op_assign": (
        "struct P { int a; __device__ P &operator=(int v) { a = v; return *this; } };",
        "((P *)s)[t / 2] = t;",
    ),
    "op_index": ("struct V { int *p; __device__ int &operator[](int i) { return p[i]; } };", "V a{s}; a[t / 2] = t;"),
    "method": ("struct P { int a; __device__ void set(int v) { a = v; } };", "((P *)s)[t / 2].set(t);"),
    "swap": ("#include <utility>", "v = t; std::swap(s[t / 2], v);"),
    "exchange": ("#include <utility>", "v = std::exchange(s[t / 2], t);"),
    "lambda": ("", "auto f = [&](int i) { s[i] = t; }; f(t / 2);"),
    "lambda_mutable": ("", "int *p = s; auto f = [p]() mutable { p += threadIdx.x / 2; *p = threadIdx.x; }; f();"),
    "placement": ("#include <new>\nstruct P { int a; __device__ P(int v) : a(v) {} };", "new (s + t / 2) P(t);"),
    "bitfield": ("struct P { int a : 4, b : 28; };", "((P *)s)[t / 2].a = t;"),
    "union": ("union U { int i; float f; };", "((U *)s)[t / 2].f = t;"),
    "char": ("", "((char *)s)[t / 2] = t;"),
    "asm": (
        "",
        'asm volatile("st.shared.s32 [%0], %1;" :: "r"((unsigned)__cvta_generic_to_shared(&s[t / 2])), "r"(t));',
    ),
    "memset": ("", "memset(&s[t / 2], t, 4);"),
    "fill": ("#include <algorithm>", "for (int i = 0; i < 2; i++) s[t + i] = t;"),
    "while": ("", "int i = 0; while (i < 2) s[t + i++] = t;"),
    "rangefor": ("", "for (int &x : s) x = t;"),
    "fnptr": ("__device__ void put(int *x, int i) { x[i] = threadIdx.x; }", "auto f = &put; f(s, t / 2);"),
    "member_ref": ("struct R { int &r; };", "R q{s[t / 2]}; q.r = t;"),
    "tuple_ref": ("#include <tuple>", "std::tie(s[t / 2], v) = std::make_tuple(t, 1);"),
    "array_ref": ("", "int (&r)[66] = s; r[t / 2] = t;"),
    "array_ref_param": ("__device__ void put(int (&r)[66], int i) { r[i] = threadIdx.x; }", "put(s, t / 2);"),
    "tmpl_arr": (
        "template <int N> __device__ void put(int (&r)[N], int i) { r[i % N] = threadIdx.x; }",
        "put(s, t / 2);",
    ),
}
"""The same, of statements that write where a neighbour does."""
NOT_FOLLOWED = frozenset({"arr_param_addr", "arr_of_ptr_dyn", "memptr", "virtual"})
RACES = (Verdict.DATA_RACE, Verdict.POSSIBLE_DATA_RACE)
HOST = "void host(int *o) { k<<<2, 64>>>(o); }\n"


def checked(text: str) -> UnitResult:
    (unit,) = (e.result for e in Engine().check(CheckRequest("/forms/a.cu", text)) if isinstance(e, UnitFinished))
    return unit


def told(declarations: str, body: str) -> Verdict:
    """The verdict on a kernel with 64 threads, whose body may use `s`, `t` and `o`."""
    head = "__global__ void k(int *o) {\n  __shared__ int s[66];\n  int t = threadIdx.x, v = 0;\n"
    unit = checked(f"{declarations}\n{head}{body}\n}}\n{HOST}")
    assert not unit.syntax
    (kernel,) = unit.kernels
    return kernel.verdict


@pytest.mark.parametrize("form", READS)
def test_a_read_is_seen(form: str) -> None:
    declarations, reads = READS[form]
    verdict = told(declarations, f"  s[t] = t;\n  {reads}\n  o[blockIdx.x * 64 + t] = v;")
    assert verdict in RACES or (verdict is Verdict.UNKNOWN and form in NOT_FOLLOWED)


@pytest.mark.parametrize("form", WRITES)
def test_a_write_is_seen(form: str) -> None:
    declarations, writes = WRITES[form]
    verdict = told(declarations, f"  {writes}\n  __syncthreads();\n  o[blockIdx.x * 64 + t] = s[t] + v;")
    assert verdict in RACES
