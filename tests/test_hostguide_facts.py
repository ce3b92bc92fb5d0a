"""What holds at a launch, and above all what does not: a fact must dominate the launch and speak of the same value.

Every case is the body of a host function that launches a kernel with two integers; ``@(a, b)`` stands for the launch,
a body without one launches with ``n`` and ``m`` at its end. The pairs say which values the kernel may see, and which
never.
"""

from __future__ import annotations

from dataclasses import dataclass

import hostguide_cases as hg
import pytest

from analyzers.ir.context import LaunchContext

HEAD = """
#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <algorithm>
#include <functional>
#include <thread>
#include <vector>
#include <cuda_runtime.h>
#define CHECK(c) do { if (!(c)) { fprintf(stderr, "no"); exit(1); } } while (0)
struct Size {
  int w, h;
  Size grown() const { return Size{w + 1, h}; }
};
void unknown();
void unknown_int(int);
void unknown_pointer(int *);
void unknown_const_pointer(const int *);
void unknown_reference(int &);
void unknown_const_reference(const int &);
int anything();
int global;
static int div_up(int a, int b) { return (a + b - 1) / b; }
static void check(bool ok) { if (!ok) { printf("no"); exit(1); } }
static void set(int &target, int value) { target = value; }
static void set_pointer(int *target, int value) { *target = value; }
static Size grow(int &x) { x++; return Size{x, x}; }
struct Ref { int &n; };
struct Restore { int &n; Restore(int &x) : n(x) {} ~Restore() { n = anything(); } };
static int &id(int &x) { return x; }
static void check_size(const Size &s) { if (s.w <= 0) throw 1; }
"""
Pair = tuple[int, int]


@dataclass(frozen=True)
class Case:
    body: str
    seen: tuple[Pair, ...]
    never: tuple[Pair, ...]
    parameters: str = "float *p, int n, int m"


def case(body: str, seen: list[Pair] | None = None, never: list[Pair] | None = None, parameters: str = "") -> Case:
    return Case(body, tuple(seen or ()), tuple(never or ()), parameters or Case.parameters)


EVERYTHING = [(3, 5), (5, 5), (-1, 0), (0, 7)]
ASSERTS = [
    case("assert(n > 0 && m == n);", [(1, 1), (8, 8)], [(0, 0), (2, 3)]),
    case("CHECK(n % 4 == 0);", [(8, 1), (-4, 0)], [(7, 7), (-3, 0)]),
    case("check(n == m);", [(3, 3)], [(3, 4)]),
    case("check(n > 1), check(m > 1);", [(3, 3)], [(3, 1)]),
    case("if (n > 1024) return;", [(1024, 0)], [(1025, 0)]),
    case("if (n < 0 || m < 0) throw 1;", [(0, 0)], [(-1, 0), (0, -1)]),
    case('if (n != m) { printf("no"); abort(); }', [(4, 4)], [(3, 4)]),
    case("if (n == 0) { unknown(); exit(3); } else { unknown(); }", [(1, 0)], [(0, 0)]),
    case("if (!n) return; if (m) {} else return;", [(1, 1)], [(0, 1), (1, 0)]),
    case("switch (n) { case 1: break; case 2: break; default: return; }", [(1, 0), (2, 0)], [(3, 0), (0, 0)]),
    case("switch (n) { case 4: m = 40; break; case 8: m = 80; break; default: m = 0; }", [(4, 40), (8, 80), (5, 0)],
         [(4, 80), (4, 0), (5, 40)]),
    case("switch (n) { case 1: case 2: m = 1; case 3: m += 1; break; case 4: return; }",
         [(3, 8), (5, 5), (1, 2), (2, 2)], [(1, 1), (4, 4), (2, 3)]),
    case('static_assert(sizeof(int) == 4, ""); assert(n <= m);', [(4, 4)], [(5, 4)]),
    case("if (n < 8) n = 8; assert(n < m);", [(8, 9), (10, 11)], [(7, 9), (9, 9)]),
    case("n > 3 ? (void)0 : abort();", [(4, 0)], [(3, 0)]),
    case("n > 3 || (abort(), true);", [(4, 0)], [(3, 0)]),
    case("n > 3 && (exit(1), true);", [(3, 0)], [(4, 0)]),
    case("try { if (n < 0) throw 1; } catch (...) { return; }", [(0, 0)], [(-1, 0)]),
    case("while (n > 100) n /= 2;", [(100, 0)], [(101, 0)]),
    case("do { n /= 2; } while (n > 100);", [(100, 0)], [(101, 0)]),
    case("if (n == m) { @(n, m); }", [(4, 4)], [(3, 4)]),
    case("if (n == m) {} else { @(n, m); }", [(3, 4)], [(4, 4)]),
    case("if (n == 3) unknown(); else if (n == 4) { @(n, m); }", [(4, 0)], [(3, 0), (5, 0)]),
    case("if (int rest = n % 4; rest != 0) return;", [(4, 0)], [(5, 0)]),
    case("while (n > m) { @(n, m); n--; }", [(4, 3)], [(3, 3)]),
    case("bool ok = n > 0 && m > 0; if (!ok) return;", [(1, 1)], [(0, 1), (1, 0)]),
    case("const bool wide = n > 32; if (wide) { assert(m == 1); } @(n, m);", [(33, 1), (2, 7)], [(33, 2)]),
    case("int s = 1; if (m == 2) s = 2; if (m == 2) assert(n % 2 == 0); @(n, s);", [(4, 2), (3, 1)], [(3, 2), (4, 3)]),
    case("if (anything()) { if (n < 0) return; } else { if (n < 1) return; }", [(1, 0), (0, 0)], [(-1, 0)]),
    case("Size s = {n, m}; check_size(s);", [(1, 0)], [(0, 0)]),
    case("check_size(s); @(s.w, s.h);", [(1, 0)], [(0, 0)], "float *p, Size s"),
    case("check_size(*s); @(s->w, s->h);", [(1, 0)], [(0, 0)], "float *p, Size *s"),
    case("for (;;) { if (n == 5) break; n = anything(); }", [(5, 0)], [(4, 0)]),
    case("assert(n > 0); int old = n; n = anything(); @(old, n);", [(1, -1)], [(0, 1)]),
    case("goto check; check: assert(n == 3);", [(3, 0)], [(4, 0)]),
    case("auto f = [=] { if (n < 0) exit(1); }; f();", [(0, 0)], [(-1, 0)]),
    case("#ifdef NDEBUG\n#error no\n#endif\nassert((n & (n - 1)) == 0);", [(8, 0)], [(9, 0)]),
]  # fmt: skip
KEPT = [
    case("assert(n > 0); unknown();", [(1, 0)], [(0, 0)]),
    case("assert(n > 0); unknown_int(n);", [(1, 0)], [(0, 0)]),
    case("assert(n > 0); unknown_const_pointer(nullptr);", [(1, 0)], [(0, 0)]),
    case('assert(n > 0); printf("%d", n);', [(1, 0)], [(0, 0)]),
    case("assert(n > 0); unknown_reference(m);", [(1, 0)], [(0, 0)]),
    case("assert(n > 0); float *d; cudaMalloc(&d, 4); cudaMemcpy(d, p, 4, cudaMemcpyDefault);", [(1, 0)], [(0, 0)]),
    case("assert(n > 0); set(m, n);", [(1, 1)], [(0, 0), (1, 2)]),
    case("assert(n > 0); set_pointer(&m, n);", [(1, 1)], [(0, 0), (1, 2)]),
    case("assert(n > 0); for (int i = 0; i < 3; i++) { m += i; unknown(); }", [(1, -4)], [(0, 0)]),
    case("assert(n > 0); auto f = [=]() mutable { n = 0; }; f(); unknown();", [(1, 0)], [(0, 0)]),
    case("assert(n > 0); { int n = 0; n--; }", [(1, 0)], [(0, 0)]),
    case("assert(v.size() == 4); v[0] = 3; @((int)v.size(), 0);", [(4, 0)], [(5, 0)], "float *p, std::vector<int> &v"),
]  # fmt: skip
NOT_FACTS = [
    # written between the assertion and the launch
    "assert(n == m); n = anything();",
    "assert(n == m); scanf(\"%d\", &n);",
    "assert(n == m); unknown_pointer(&n);",
    "assert(n == m); unknown_reference(n);",
    "assert(n == m); set(n, anything());",
    "assert(n == m); set_pointer(&n, anything());",
    "assert(n == m); int &r = n; r = anything();",
    "assert(n == m); int &r = n; for (int i = 0; i < 4; i++) r = anything();",
    "assert(n == m); int *q = &n; *q = anything();",
    "assert(n == m); int *q = &n; *(q + 0) = anything();",
    "assert(n == m); int *q = &n; q[m - m] = anything();",
    "assert(n == m); int *q = anything() ? &n : &m; *q = anything();",
    "int *q = &n; assert(n == m); unknown_pointer(q);",
    "int *q = &n; assert(n == m); memset(q, anything(), 4);",
    "unknown_pointer(&n); assert(n == m); unknown();",
    "unknown_reference(n); assert(n == m); unknown();",
    "assert(n == m); auto f = [&] { n = anything(); }; f();",
    "auto f = [&] { n = anything(); }; assert(n == m); f();",
    "auto f = [&n] { n = anything(); }; assert(n == m); for (int i = 0; i < 3; i++) f();",
    "assert(n == m); std::vector<int> v(3); std::for_each(v.begin(), v.end(), [&](int x) { n = x; });",
    "std::function<void()> f = [&] { n = anything(); }; assert(n == m); f();",
    "assert(n == m); int q = anything(); std::swap(n, q);",
    "assert(n == m); if (anything()) n = anything();",
    "assert(n == m); for (int i = 0; i < 3; i++) n += anything();",
    "assert(n == m); while (anything()) { auto f = [&] { n = anything(); }; f(); }",
    "assert(n == m); for (auto i : {1, 2}) { n = anything() + i; }",
    "assert(n == m); for (auto *i = &n; i; i = nullptr) *i = anything();",
    "assert(n == m); switch (anything()) { case 1: n = anything(); }",
    "assert(n == m); try { n = anything(); unknown(); } catch (...) {}",
    "assert(n == m); again: if (anything()) { n = anything(); goto again; }",
    "assert(n == m); int a[2]; (anything() ? n : a[0]) = anything();",
    "assert(n == m); asm volatile(\"\" : \"+r\"(n));",
    "assert(n == m); (void)({ n = anything(); n; });",
    "assert(n == m); n = anything(), m = anything();",
    "assert(n == m); cudaMemcpy(&n, p, 4, cudaMemcpyDeviceToHost);",
    "cudaMemcpyAsync(&n, p, 4, cudaMemcpyDeviceToHost, 0); assert(n == m); cudaStreamSynchronize(0);",
    "assert(n == m); cudaGetDevice(&n);",
    "assert(n == m); struct { int *q; } s = {&n}; *s.q = anything();",
    "assert(n == m); int *a[1] = {&n}; *a[0] = anything();",
    "assert(n == m); int *q = &n; for (int i = 0; i < 2; i++) { *q = anything(); q = &m; }",
    "assert(n == m); if (int *q = &n) *q = anything();",
    "assert(n == m); id(n) = anything();",
    "assert(n == m); id(id(n)) = anything();",
    "assert(n == m); std::max(n, m) = anything();",
    "assert(n == m); int &r = id(n); r = anything();",
    "assert(n == m); for (int i = 0; i < 3; i++) id(n) = anything();",
    "assert(n == m); (unknown(), n) = anything();",
    "assert(n == m); *(char *)&n = 1;",
    "assert(n == m); (int &)n = anything();",
    "assert(n == m); Ref r{n}; r.n = anything();",
    "Ref r{n}; assert(n == m); r.n = anything();",
    "Ref r{n}; assert(n == m); unknown();",
    "assert(n == m); { Restore r(n); }",
    "assert(n == m); for (int i = 0; i < 2; i++) { Restore r(n); if (i) break; }",
    "Restore outer(n); assert(n == m); { Restore r(n); if (anything()) goto out; } out: ;",
    "assert(n == m); union { int a; float b; } u; u.a = n; u.b = 3.0f; n = u.a;",
    "std::thread t([&] { n = anything(); }); assert(n == m); t.join();",
    "assert(n == m); struct { int *q; } s{&n}; [](auto c) { *c.q = anything(); }(s);",
    "assert(n == m); do { n = anything(); if (n == 4) continue; } while (anything());",
    # in a branch that need not be taken
    "if (anything()) assert(n == m);",
    "if (anything()) { if (n != m) return; }",
    "for (int i = 0; i < anything(); i++) assert(n == m);",
    "while (anything()) { if (n != m) return; }",
    "for (auto i : {1, 2}) { if (i == anything()) assert(n == m); }",
    "anything() && (assert(n == m), true);",
    "anything() ? assert(n == m) : (void)0;",
    "auto f = [&] { assert(n == m); };",
    "auto f = [&] { if (n != m) return; }; f();",
    "switch (anything()) { case 1: if (n != m) return; }",
    "switch (anything()) { case 1: assert(n == m); break; case 2: break; }",
    "switch (anything()) { assert(n == m); case 1: break; }",
    "try { unknown(); assert(n == m); } catch (...) {}",
    "if (anything()) goto out; assert(n == m); out: ;",
    "if (anything()) goto out; { assert(n == m); } { out: unknown(); }",
    "goto out; assert(n == m); out: ;",
    # it does not leave
    "if (n != m) goto out; out: ;",
    "if (n != m) printf(\"not square\");",
    "for (;;) { if (n != m) break; if (anything()) break; }",
    "for (int i = 0; i < 4; i++) { if (n != m) continue; unknown(); }",
    "for (int i = 0; i < 4; i++) { if (n != m) break; unknown(); }",
    "switch (anything()) { default: if (n != m) break; unknown(); }",
    "while (n != m) { if (anything()) break; n = anything(); }",
    "do { if (n != m) break; } while (anything());",
]  # fmt: skip
OUTSIDE = [
    case("assert(global == 3); @(global, 0);", [(3, 0)], [(4, 0)]),
    case("assert(global == 3); unknown(); @(global, 0);", [(4, 0)]),
    case("assert(global == 3); *q = anything(); @(global, 0);", [(4, 0)], [], "float *p, int *q"),
    case("assert(a->w == 3); @(a->w, 0);", [(3, 0)], [(4, 0)], "float *p, Size *a, Size *b"),
    case("assert(a->w == 3); b->w = anything(); @(a->w, 0);", [(4, 0)], [], "float *p, Size *a, Size *b"),
    case("assert(a.w == 3); b.w = anything(); @(a.w, 0);", [(4, 0)], [], "float *p, Size &a, Size &b"),
    case("assert(a.w == 3); b.w = anything(); @(a.w, 0);", [(3, 0)], [(4, 0)], "float *p, Size a, Size &b"),
    case("assert(a->w == 3); unknown(); @(a->w, 0);", [(4, 0)], [], "float *p, const Size *a"),
    case("static int s; assert(s == 3); unknown(); @(s, 0);", [(4, 0)]),
    case("for (int i = 0; i < 4; i++) { @(global, 0); unknown(); }", [(4, 0), (5, 0)]),
    case("assert(a[0] == 3 && a[1] == 4); a[anything()] = 7; @(a[0], a[1]);", [(7, 4), (3, 7)], [], "float *p, int *a"),
]  # fmt: skip
LOOPS = [
    case("for (int i = 0; i < m; i++) { @(i, m); }", [(0, 1), (4, 5)], [(5, 5), (-1, 5)]),
    case("for (int i = 2; i <= m; i += 3) { @(i, m); }", [(2, 2), (5, 9)], [(3, 9), (1, 9), (8, 7)]),
    case("for (int i = 1; i < m; i *= 2) { @(i, m); }", [(1, 2), (8, 9)], [(6, 9), (0, 9), (16, 9)]),
    case("for (int i = 1; i < m; i <<= 1) { @(i, m); }", [(1, 2), (8, 9)], [(6, 9), (0, 9)]),
    case("for (int i = 1; i < m; i = i * 2) { @(i, m); }", [(8, 9)], [(6, 9), (0, 9)]),
    case("for (int i = 3; i < m; i *= 3) { @(i, m); }", [(3, 4), (27, 28)], [(2, 9)]),
    case("for (int i = 512; i > 0; i /= 2) { @(i, m); }", [(512, 0), (1, 0)], [(1024, 0), (0, 0), (5, 0)]),
    case("for (int i = n / 2; i > 0; i >>= 1) { @(i, n); }", [(4, 9), (2, 9)], [(5, 9), (0, 9)]),
    case("for (int i = m - 1; i >= 0; i--) { @(i, m); }", [(0, 1), (3, 4)], [(4, 4), (-1, 4)]),
    case("for (int i = m; i > 1; i = (i + 1) / 2) { @(i, m); }", [(2, 9), (9, 3)], [(1, 9)]),
    case("for (int i = 0; i < m; i += n) { @(i, n); }", [(-5, -5), (4, 2)]),
    case("for (int i = 0; i < m; i += anything()) { @(i, m); }", [(-5, 3)], [(3, 3)]),
    case("for (int i = 0; i < m; i = anything()) { @(i, m); }", [(-5, 3)], [(3, 3)]),
    case("for (int i = 0; i != m; i++) { @(i, m); }", [(0, 1), (4, 2)], [(2, 2), (-1, 2)]),
    case("for (int i = 0; ; i++) { @(i, m); }", [(0, 1)], [(-1, 2)]),
    case("int i = 0; while (i++ < m) { @(i, m); }", [(1, 1), (3, 3)], [(0, 1), (4, 3)]),
    case("int i = 0; while (i < m) { i++; @(i, m); }", [(1, 1), (3, 3)], [(0, 1), (4, 3)]),
    case("int i = 0; while (i < m) { @(i, m); i += anything() ? 1 : 2; }", [(-1, 1)], [(1, 1)]),
    case("int i = 0; while (i < m) { @(i, m); if (anything()) i += 4; else i += 6; }", [(4, 5)], [(-1, 1), (1, 2)]),
    case("int i = 4; do { @(i, m); i += 4; } while (i < m);", [(4, 0), (8, 9)], [(0, 9), (6, 9)]),
    case("for (int i = 0; i < m; i++, unknown_pointer(&i)) { @(i, m); }", [(-1, 5)], [(5, 5)]),
    case("for (int i = 0; i < m--; i++) { @(i, m); }", [(0, 0), (5, 5)], [(6, 5), (-1, 5)]),
    case("for (int i = 0; i < m; i++) { i = anything(); @(i, m); }", [(9, 5)]),
    case("for (int i = 0; i < m; i++) { int j = i * 2 + 1; @(i, j); }", [(0, 1), (3, 7)], [(0, 2), (-1, -1)]),
    case("for (int i = 0, j = n; i < j; i++, j--) { @(i, j); }", [(0, 1), (3, 9)], [(3, 3), (-1, 3)]),
    case("for (int i = 0; i < n; i++) for (int j = i; j < n; j++) { @(i, j); }", [(0, 0), (2, 5)], [(3, 2), (-1, 0)]),
    case("int i = 3; for (int t = 0; t < 9; t++) { @(i, n); i = n; n = anything(); }", [(3, 3), (-7, 100)]),
    case("int i = 0; for (; i < m; i++) {} @(i, m);", [(5, 5), (0, -1)], [(4, 5)]),
    case("int i = 0; for (; i < m; i++) { if (anything()) break; } @(i, m);", [(4, 5)], [(-1, 5)]),
    case("for (int i = 0; i < m; i += 4) { if (i == 8) break; @(i, m); }", [(4, 5)], [(8, 9), (6, 7)]),
    case("for (short i = 5; i < m; i++) { @(i, m); }", [(-1, 3)], [(4, 4)]),
    case("for (int i = 5; i < m; i += 1L) { @(i, m); }", [(-1, 3)], [(4, 4)]),
    case("for (int i = 5; i < m; i += 2u) { @(i, m); }", [(-1, 3)], [(4, 4)]),
]
ALLOCATION = [
    case("float *d; cudaMalloc(&d, n * sizeof(float));", [(1, 0)], [(0, 0), (-1, 0)]),
    case("float *d; cudaMalloc((void **)&d, sizeof(float) * n * 3);", [(1, 0)], [(0, 0), (-1, 0)]),
    case("void *d; size_t bytes = n * 4; cudaMalloc(&d, bytes);", [(1, 0)], [(0, 0), (-1, 0)]),
    case("float *d; cudaMalloc(&d, (size_t)n * m * 4);", [(1, 1), (2, 3)], [(0, 1), (1, 0), (-1, 1)]),
    case("float *d; cudaMalloc(&d, (unsigned)n * sizeof(float));", [(1, 0), (-1, 0)], [(0, 0)]),
    case("float *d; if (anything()) cudaMalloc(&d, n * 4);", [(0, 0), (-1, 0)]),
    case("float *d; int old = n; cudaMalloc(&d, n * 4); n = anything(); @(n, old);", [(0, 1)], [(0, 0)]),
    case("float *d; size_t pitch; cudaMallocPitch(&d, &pitch, n * sizeof(float), m);", [(1, 1)], [(0, 1), (1, -1)]),
    case("float *d; size_t pitch; cudaMallocPitch(&d, &pitch, n, m); @(n, pitch);",
         [(5, 32), (64, 64)], [(5, 8), (65, 64), (5, 0)]),
    case("float *h = new float[n];", [(0, 0)], [(-1, 0)]),
    case("float *h = (float *)malloc(n * 4);", [(0, 0), (-1, 0)]),
    case("std::vector<float> v(n); @((int)v.size(), n);", [(0, 0), (4, 4)], [(-1, -1), (3, 4)]),
    case("std::vector<float> v; v.resize(n);", [(0, 0)]),
    case("@((int)v.size(), v.size());", [(3, 3)], [(3, 4)], "float *p, std::vector<int> &v"),
    case("int a = v.size(); @(a, v.size());", [(3, 3)], [(3, 4)], "float *p, std::vector<int> &v"),
    case("int a = v.size(); v.push_back(1); @(a, v.size());", [(3, 4)], [], "float *p, std::vector<int> &v"),
    case("int a = v.size(); unknown(); @(a, v.size());", [(3, 4)], [], "float *p, std::vector<int> &v"),
    case("int a = v.size(); auto &w = v; w.clear(); @(a, v.size());", [(3, 0)], [], "float *p, std::vector<int> &v"),
    case("int a = v.size(); auto w = v; w.clear(); @(a, v.size());", [(3, 3)], [(3, 0)],
         "float *p, std::vector<int> v"),
    case("int a = v.size(); for (int x : v) { v.push_back(x); break; } @(a, v.size());", [(3, 4)], [],
         "float *p, std::vector<int> v"),
]  # fmt: skip
EITHER = "float *p, int n, Size *a, Size *b"
VALUES = [
    # through a pointer that is one of several
    case("Size *s = n > 3 ? a : b; @(s->w, s->w);", [(1, 1)], [(1, 2)], EITHER),
    case("Size *s = a; if (n > 3) s = b; @(s->w, (*s).w);", [(1, 1)], [(1, 2)], EITHER),
    case("a->w = 1; b->w = 2; Size *s = a; if (n > 3) s = b; @(s->w, n);",
         [(1, 3), (2, 4), (2, 3)], [(1, 4), (3, 4)], EITHER),
    case("int *s = &n; if (m > 3) s = &m; @(*s, m);", [(1, 3), (4, 4)], [(5, 4)]),
    case("Size *s = a; if (n > 3) s = b; int w = s->w; b->w = anything(); @(w, s->w);", [(1, 2)], [], EITHER),
    case("a->w = 1; b->w = 1; Size *s = a; if (n > 3) s = b; s->w = 5; @(s->w, a->w);", [(5, 1), (5, 5)], [], EITHER),
    case("Size *s = a; if (n > 3) s = b; int w = s->w; unknown(); @(w, s->w);", [(1, 2)], [], EITHER),
    case("@(div_up(n, 32), n);", [(2, 33), (1, 32)], [(1, 33)]),
    case("@(std::min(n, 64), n);", [(64, 70), (3, 3)], [(70, 70)]),
    case("@(std::max<int>(n, 64), std::max({n, m, 7}));", [(64, 7), (70, 70)], [(3, 3)]),
    case("auto up = [](int a) { return a * 2; }; @(up(n), n);", [(8, 4)], [(9, 4)]),
    case("auto up = [](auto a) { return a * 2; }; @(up(n), n);", [(8, 4)], [(9, 4)]),
    case("int b = n; b <<= 2; b |= 1; @(b, n);", [(9, 2)], [(8, 2)]),
    case("int b; b = n - 1; b--; --b; @(b++, b);", [(4, 5)], [(4, 4)]),
    case("unsigned char b = n; @(b, n);", [(1, 257), (255, -1)], [(257, 257)]),
    case("@((short)n, n);", [(-1, 65535)], [(65535, 65535)]),
    case("@(n / -2, n % 3);", [(3, -1)], [(3, 2), (4, -1)]),
    case("@(n > 0, n);", [(1, 5), (0, -5)], [(2, 5), (0, 5)]),
    case("@(n >> 1, n);", [(-1, -1)], [(0, -1)]),
    case("unsigned u = n; @(u >> 1, n);", [(0x7FFFFFFF, -1)], [(-1, -1)]),
    case("@(n / sizeof(double), n);", [(2, 16), (-1, -8)], [(3, 16)]),
    case("Size s = {n, 3}; @(s.w + s.h, n);", [(8, 5)], [(9, 5)]),
    case("Size s{}; s.h = n; Size t = s; s.h = 0; @(t.h, t.w);", [(4, 0)], [(4, 1)]),
    case("Size s = {.w = n}; @(s.w, s.h);", [(4, 0)], [(4, 1)]),
    case("Size s[2]; s[1].w = n; s[0] = s[1]; @(s[0].w, n);", [(4, 4)], [(4, 5)]),
    case("int a[3] = {n, 4}; @(a[0] * a[1] + a[2], n);", [(12, 3)], [(13, 3)]),
    case("int a[3] = {1, 2, 3}; a[n] = 9; @(a[0], a[1]);", [(9, 2), (1, 9)]),
    case("int a[3] = {1, 2, 3}; @(a[n], n);", [(2, 1), (3, 2)], [(2, 0)]),
    case("int b = n, *q = &b; *q += 2; @(b, n);", [(5, 3)], [(3, 3)]),
    case("Ref r{n}; r.n = 4; @(n, m);", [(4, 0)], [(5, 0)]),
    case("id(n) = 4; @(n, m);", [(4, 0)], [(5, 0)]),
    case("union { int a; float b; } u; u.a = 3; u.b = 1.0f; @(u.a, 0);", [(3, 0), (9, 0)]),
    case("volatile int v = n; @(v, v);", [(3, 4)]),
    case("std::vector<int> v(n); auto w = std::move(v); @((int)v.size(), (int)w.size());", [(0, 4)]),
    case("int c = n; int &b = c; b = 9; @(b, c);", [(9, 9)], [(9, 8)]),
    case("if (m > 3) n = 7; @(n, m);", [(7, 4), (1, 3)], [(8, 4)]),
    case("int b = n > 3 ? m : 4; @(b, n);", [(4, 3), (9, 4)], [(5, 3)]),
    case("@((int)ceil(n / 256.0), n);", [(2, 257), (0, 0), (0, -5), (-1, -256)], [(1, 257), (2, 256)]),
    case("@((int)floor(n / 4.0), n);", [(-2, -5), (1, 7)], [(-1, -5), (2, 7)]),
    case("@((int)(n / 4.0), n);", [(-1, -5), (1, 7)], [(-2, -5), (2, 7)]),
    case("@((int)ceilf(n / 256.0f), n);", [(2, 257), (70000, 16777217)]),
    case("int a = anything(); int b = anything(); @(a, b);", [(1, 2), (3, 3)]),
    case("int a = anything(); @(a, a);", [(3, 3)], [(1, 2)]),
    case("int i = 0; int a[4] = {5, 6, 7, 8}; int b = a[i++]; @(b, i);", [(5, 1)], [(6, 1), (5, 2), (5, 0)]),
    case("int i = 0; int a[4] = {5, 6, 7, 8}; a[i++] += 4; @(a[0], i);", [(9, 1)], [(5, 1), (9, 2)]),
    case("int a[4] = {5, 6, 7, 8}; int *q = a; int b = *q++; @(b, *q);", [(5, 6)], [(5, 5), (6, 7)]),
    case("int b = grow(n).w; @(b, n);", [(3, 3)], [(3, 4)]),
    case("n = 2; int b = grow(n).grown().w; @(b, n);", [(4, 3)], [(4, 4), (5, 4)]),
    case("n = 2; @(std::max(++n, 0), n);", [(3, 3)], [(4, 4)]),
    case("n = 2; int b = (n++, m); @(b, n);", [(7, 3)], [(7, 4)]),
    case("n = 2; (m > 3 ? n : m)++; @(n, m);", [(2, 7), (3, 7)]),
    case("n = 0; while (n++ < 3) {} @(n, 0);", [(4, 0)], [(2, 0)]),
    case("n = 0; do { m = n; } while (n++ < 3); @(n, m);", [(4, 3)], [(0, 0)]),
    case("enum { A = 3, B }; @(A, B);", [(3, 4)], [(4, 4)]),
    case("constexpr int c = 3 * sizeof(short); const int d = c + 1; @(c, d);", [(6, 7)], [(7, 7)]),
    case("static const int c = n; @(c, n);", [(3, 4), (4, 4)]),
    case("static int c = 5; @(c, n);", [(3, 4)]),
    case("float f = n; @((int)f, n);", [(3, 3), (4, 3)]),
    case("int b = n; for (int i = 0; i < 4; i++) b += 2; @(b, n);", [(8, 0), (6, 0)], [(-1, 0)]),
    case("size_t b = n; b *= 1u << 31; @((int)(b >> 31), n);", [(3, 3)], [(4, 3)]),
    case("auto [x, y] = std::make_pair(n, m); @(x, y);", [(3, 4)]),
    case("int b = m; { int b = n; (void)b; } @(b, m);", [(4, 4)], [(3, 4)]),
    case("@(n, ({ int q = n + 1; q; }));", [(3, 4)], [(3, 3)]),
    case("int c = 3; auto f = [=] { return c; }; c = 4; @(f(), c);", [(3, 4)], [(4, 4)]),
    case("int c = 3; auto f = [&] { return c; }; c = 4; @(f(), c);", [(4, 4)], [(3, 4)]),
    case("int c = 3; auto f = [=]() mutable { return c++; }; f(); @(f(), c);", [(4, 3)], [(4, 4)]),
    case("int c = 3; auto f = [&, c] { return c + n; }; c = 4; n = 0; @(f(), c);", [(3, 4)], [(4, 4)]),
    case("auto g = [](int x) { if (x > 3) return 1; return 2; }; @(g(n), n);", [(1, 4), (2, 3)], [(1, 3), (2, 4)]),
]  # fmt: skip
LOST = [
    case("assert(n == m); missing::change(n);", EVERYTHING),
    case("assert(n == m); missing::other(p);", [(3, 3)], [(3, 4)]),
    case("assert(n == m); n = missing::value(m);", EVERYTHING),
    case("assert(n == m); if (missing::flag) n = anything();", EVERYTHING),
    case("assert(n == m); for (int i = 0; i < missing::count; i++) n = anything();", EVERYTHING),
    case("assert(n == m); MISSING_MACRO(n)", EVERYTHING),
    case("assert(n == m); if (missing::change(n)) unknown();", EVERYTHING),
    case("assert(n == m); while (missing::change(n)) unknown();", EVERYTHING),
    case("assert(n == m); for (int i = 0; missing::change(n); i++) unknown();", EVERYTHING),
    case("assert(n == m); do { unknown(); } while (missing::change(n));", EVERYTHING),
    case("assert(n == m); switch (missing::change(n)) { case 1: unknown(); }", EVERYTHING),
    case("assert(n == m); auto f = [&] { return missing::change(n); }; f();", EVERYTHING),
    case("assert(n == m); for (auto x : missing::change(n)) unknown();", EVERYTHING),
    case("assert(n == m); int a[2] = {1, missing::change(n)};", EVERYTHING),
    case("assert(n == m); unknown_int(missing_function(n));", EVERYTHING),
    case("assert(n == m); Size s; s.missing(n);", EVERYTHING),
    case("assert(n == m); missing_function(&n);", EVERYTHING),
    case("int i = 0; for (; i < m; i++) { if (missing::stop(i)) break; } @(i, m);", [(3, 5)]),
    case("missing::index big = 70000000000; @(big, 0);", [(3, 0)]),
    case("typedef missing::index index; index b = 5; @(b, 0);", [(3, 0)]),
    case("int b = sizeof(missing::type); @(b, 0);", [(3, 0), (9, 0)]),
    case("missing::Guard guard(n); @(n, m);", EVERYTHING),
    case("KALDI_ASSERT(n == m && n > 0);", [(3, 3)], [(3, 4), (0, 0)]),
    case('CHECK_LT(n, m + 1) << "too many " << n;', [(3, 3)], [(4, 3)]),
    case("GLOG_CHECK_NE(n, 0); missing::other(p);", [(3, 3)], [(0, 3)]),
    case("Size s = {n, m}; CV_Assert(s.w == s.h); @(n, m);", [(3, 3)], [(3, 4)]),
    case("{ int n = 3; } { int q = n; } KALDI_ASSERT(n == m);", [(3, 3)], [(3, 4)]),
    case("{ int q = n; } KALDI_ASSERT(q == m);", EVERYTHING),
    case("int q = n; { int q = m; KALDI_ASSERT(q == 3); }", [(5, 3)], [(3, 5)]),
    case("GL_CHECK(n);", EVERYTHING),
    case("KALDI_ASSERT(n == unknown_thing);", EVERYTHING),
    case("assert(n == m); KALDI_ASSERT((n = anything()) == 3);", EVERYTHING),
    case("assert(n == m); KALDI_CHANGES(n == 3);", EVERYTHING),
    case("assert(n == m); KALDI_ASSERT(n++ < 5);", EVERYTHING),
    case("if (m > 3) { KALDI_ASSERT(n == 4); } @(n, m);", [(4, 5), (5, 3)], [(5, 5)]),
    case("assert(n == m); { missing::lock l; unknown(); } @(n, m);", [(3, 3)], [(3, 4)]),
]


def contexts_of(cases: list[Case]) -> list[LaunchContext]:
    parts = [HEAD]
    for number, c in enumerate(cases):
        body = c.body if "@" in c.body else c.body + " @(n, m);"
        body = body.replace("@(", f"k{number}<<<1, 32>>>(p, ")
        parts.append(f"__global__ void k{number}(float *p, int n, int m) {{}}")
        parts.append(f"void run{number}({c.parameters}) {{\n{body}\n}}")
    found = hg.by_name(hg.guide("\n".join(parts)))
    result: list[LaunchContext] = []
    for number, c in enumerate(cases):
        contexts = found.get(f"k{number}", ())
        assert len(contexts) == 1, (c.body, contexts)
        result.append(contexts[0])
    return result


def verify(cases: list[Case]) -> list[str]:
    """Complaints about cases whose context allows too much or too little."""
    wrong: list[str] = []
    for c, context in zip(cases, contexts_of(cases), strict=True):
        shown = f"{c.body!r}: {hg.bound(context, 'param:n')}, {hg.bound(context, 'param:m')} {hg.conditions(context)}"
        wrong += [f"excludes n={n} m={m} in {shown}" for n, m in c.seen if not hg.allows(context, n=n, m=m)]
        wrong += [f"allows n={n} m={m} in {shown}" for n, m in c.never if hg.allows(context, n=n, m=m)]
    return wrong


@pytest.mark.parametrize(
    "cases",
    [
        pytest.param(ASSERTS, id="asserts"),
        pytest.param(KEPT, id="kept"),
        pytest.param([case(body, EVERYTHING) for body in NOT_FACTS], id="not-facts"),
        pytest.param(OUTSIDE, id="outside"),
        pytest.param(LOOPS, id="loops"),
        pytest.param(ALLOCATION, id="allocation"),
        pytest.param(VALUES, id="values"),
        pytest.param(LOST, id="lost"),
    ],
)
def test_what_the_kernel_may_see(cases: list[Case]) -> None:
    assert not verify(cases)


U = 1 << 31


@pytest.mark.parametrize(
    ("loop", "seen", "never"),
    [
        ("for (unsigned i = 1; i < m; i *= 2)", [(4, 5), (0, U + 1)], [(0, 5), (6, 7), (8, 7)]),
        ("for (unsigned i = 5; i < m; i++)", [(5, 6)], [(4, 6)]),
        ("for (unsigned i = 5; i < m; i += 4)", [(5, 6), (1, 2**32 - 1)], [(4, 9), (6, 9)]),
        ("for (unsigned i = 9; i > 0; i--)", [(9, 0)], [(10, 0), (0, 0)]),
        ("for (unsigned i = 5; i <= m; i++)", [(4, 2**32 - 1)], []),
        ("for (unsigned i = 5; i != m; i += 2)", [(3, 9)], [(4, 9)]),
        ("for (unsigned i = 5; ; i++)", [(4, 9)], []),
        ("for (unsigned i = 5; i < m; i++, m++)", [(4, 9)], []),
        ("for (unsigned i = 9; i >= 0; i--)", [(10, 9)], []),
        ("for (unsigned i = 9; i < m; i--)", [(10, 11)], []),
        ("for (unsigned i = 64; i > 0; i /= 2)", [(64, 0), (1, 0)], [(65, 0), (128, 0), (3, 0)]),
    ],
)
def test_unsigned_counters_are_bounded_only_where_they_cannot_wrap(
    loop: str, seen: list[Pair], never: list[Pair]
) -> None:
    text = f"__global__ void u(unsigned i, unsigned m) {{}} void run(unsigned m) {{ {loop} u<<<1, 32>>>(i, m); }}"
    context = hg.only(text)
    for i, m in seen:
        assert hg.allows(context, i=i, m=m), (i, m)
    for i, m in never:
        assert not hg.allows(context, i=i, m=m), (i, m)


def test_members_are_forgotten_at_unknown_calls() -> None:
    head = HEAD + "__global__ void k(int n) {} struct S { int n; void run(); void change(); void keep() const; };"
    for call, lost in (("", False), ("unknown();", True), ("change();", True), ("for (;;) { change(); break; }", True)):
        context = hg.only(head + f"void S::run() {{ assert(n == 3); {call} k<<<1, 32>>>(n); }}")
        assert hg.allows(context, n=3)
        assert hg.allows(context, n=4) == lost, call


@pytest.mark.parametrize(
    "code",
    [
        "undeclared(n);",
        "undeclared(&n);",
        "known(&n);",
        "log_of(INFO) << n;",
        "while (undeclared(n)) ;",
        "Undeclared x(n);",
    ],
)
def test_what_is_declared_constant_stays_what_it_is(code: str) -> None:
    """A header that was not found leaves code without a meaning, which may change what it names, and no constant."""
    for const in (True, False):
        text = f"""
        int read(); void known(const int *p);
        __global__ void k(int n, int m) {{}}
        void run() {{
          {"const " * const}int n = read();
          dim3 grid(n / 16);
          {code}
          k<<<grid, 32>>>(n, n);
        }}"""
        context = hg.only(HEAD + text)
        assert not hg.allows(context, n=64, m=65)
        assert hg.allows(context, gdim_x=4, n=64)
        assert hg.allows(context, gdim_x=4, n=128) != const, code


@pytest.mark.parametrize("code", ["undeclared(f);", "int c = undeclared(f);", "if (undeclared(f)) anything();"])
def test_code_without_a_meaning_may_call_the_lambdas_that_it_names(code: str) -> None:
    text = f"""
    __global__ void k(int n, int m) {{}}
    void run(int n, int m) {{
      int a = n, b = n;
      auto f = [&] {{ a = 5; return 1; }};
      {code}
      k<<<1, 32>>>(a, b);
    }}"""
    context = hg.only(HEAD + text)
    assert hg.allows(context, n=5, m=3)
    assert hg.allows(context, n=3, m=3)


@pytest.mark.parametrize("const", ["", "const "])
def test_a_number_whose_initialiser_has_an_error_is_some_number(const: str) -> None:
    """Every reader sees the same one. What clang takes a misspelt name for is not its value."""
    text = f"""
    __global__ void k(int n, int m) {{}}
    const int limit = 7;
    const int most = limi;
    void run() {{
      {const}int n = undeclared();
      {const}unsigned m = limi + 1;
      k<<<n / 16, m>>>(n, most);
    }}"""
    context = hg.only(HEAD + text)
    assert hg.allows(context, gdim_x=4, n=64, m=5, bdim_x=32)
    assert not hg.allows(context, gdim_x=4, n=128)


@pytest.mark.parametrize(
    "declaration", ["auto n = undeclared();", "Undeclared n = 3;", "decltype(undeclared()) n = 3;"]
)
def test_a_type_that_clang_did_not_find_is_no_number(declaration: str) -> None:
    text = f"__global__ void k(int n, int m) {{}} void run() {{ {declaration} k<<<1, 32>>>(n, n); }}"
    facts = hg.guide(HEAD + text)
    assert all(hg.allows(c, n=64, m=65) for contexts in facts.contexts.values() for c in contexts)


def test_a_constant_is_another_one_in_each_iteration_and_call() -> None:
    text = """
    int read();
    __global__ void k(int n, int m) {}
    void one(const int n, int m) { undeclared(n); k<<<1, 32>>>(n, m); }
    void run(int count) {
      for (int i = 0; i < count; i++) { const int n = i; undeclared(n); one(n + 2, n); }
      one(7, 7);
    }"""
    found = hg.guide(HEAD + text).contexts["_Z1kii"]
    assert any(hg.allows(c, n=3, m=1) and hg.allows(c, n=4, m=2) and not hg.allows(c, n=4, m=4) for c in found)
    assert any(hg.allows(c, n=7, m=7) for c in found)


def test_arguments_of_functions_run_in_place_do_not_leak() -> None:
    found = hg.guide(
        HEAD
        + """
        __global__ void k(int n, int m) {}
        static void one(int n) { assert(n > 0); k<<<1, 32>>>(n, 1); }
        static void two(int n) { n = anything(); k<<<1, 32>>>(n, 2); }
        void run(int n) { one(n); two(n); k<<<1, 32>>>(n, 3); }
        """
    )
    contexts = {hg.bound(c, "param:m"): c for c in found.contexts["_Z1kii"]}
    assert [hg.allows(contexts[m], n=-1) for m in "123"] == [False, True, False]


def test_pointer_sizes_reach_the_context() -> None:
    context = hg.only(
        HEAD
        + """__global__ void k(float *p, int n) {}
        void run(int n) { float *d; cudaMalloc((void **)&d, n * 4); k<<<1, 32>>>(d + 2, n); }"""
    )
    pointer = dict(context.pointers)["p"]
    assert pointer.allocation == "d"
    assert pointer.offset is not None
    assert hg.text_of(pointer.offset) == "8"
    assert pointer.size is not None
    assert "(host:1:n * 4)" in hg.text_of(pointer.size)


def test_notes_cite_the_source() -> None:
    context = hg.only(
        HEAD
        + """__global__ void k(float *p, int n, int m) {}
        void run(float *p, int n, int m) {
          assert(n == m);
          if (n > 1024) return;
          for (int i = 0; i < m; i += 4) {
            if (i != 8) k<<<1, 32>>>(p, n, i);
          }
        }"""
    )
    notes = {(c.note.kind, c.note.text) for c in context.constraints}
    assert notes >= {
        ("assert", "assert(n == m) (off under NDEBUG)"),
        ("assert", "if (n > 1024) return"),
        ("assert", "if (i != 8)"),
        ("loop-bound", "for (int i = 0; i < m; i += 4)"),
    }
    span = {c.note.text: c.note.span for c in context.constraints}["if (i != 8)"]
    assert span is not None
    assert span.path == "/case/host.cu"
    dimension = {str(s.value): n for s, n in context.binding_notes}
    assert (dimension["bdim.x"].kind, dimension["bdim.x"].text) == ("dimension", "32")
    assert (dimension["param:m"].kind, dimension["param:m"].text) == ("relation", "m = i")


def test_facts_about_other_values_stay_out() -> None:
    text = HEAD + "__global__ void k(int n) {} void run(int n, int q) { assert(q > 3); assert(%s); k<<<1, 32>>>(n); }"
    assert hg.conditions(hg.only(text % "n > 2")) == ["(2 < host:1:n)"]
    assert not hg.allows(hg.only(text % "n > q"), n=4)
    assert hg.allows(hg.only(text % "n > q"), n=5)


def test_values_of_one_name_are_told_apart() -> None:
    kernel = "__global__ void k(int n, int m) {}"
    host = "void run(Size *s) { int w = s->w; unknown(); int v = s->w; assert(w < v); k<<<1, 32>>>(w, v); }"
    assert hg.conditions(hg.only(HEAD + kernel + host)) == ["(host:1:s.w < host:2:s.w#2)"]


# --- members that a call leaves alone


_KEPT = """
    void trace(int);
    struct Guard {{ ~Guard() {{ trace(2); }} }};
    void start() {{ {body} }}
    __global__ void k(float *a, int n) {{ a[threadIdx.x] = n; }}
    class Square {{
     public:
      void fill() {{ if (side_ > 8) return; start(); k<<<1, 32>>>(cells_, side_); }}
      void grow() {{ side_ = 9; }}
     private:
      float *cells_;
      int side_;
    }};
    extern Square *shared;
    void (*hook)() = nullptr;
    void grow_shared() {{ shared->grow(); }}
    void install() {{ hook = {installed}; }}
"""


def test_a_member_kept_through_a_call_names_what_is_not_in_sight() -> None:
    context = hg.only(_KEPT.format(body="Guard here;", installed="nullptr"))
    assert not hg.allows(context, n=9)
    (kept,) = [a for a in context.assumptions if "leaves" in a]
    assert "`side_`" in kept
    assert "not in sight (`trace`)" in kept


def test_what_is_not_in_sight_may_call_what_was_handed_out() -> None:
    assert hg.allows(hg.only(_KEPT.format(body="Guard here;", installed="grow_shared")), n=9)


@pytest.mark.parametrize(
    "way",
    [
        "memset(&other->side_, 0, 4);",
        "memcpy(&other->side_, from, 4);",
        "fread(&other->side_, 4, 1, stdin);",
        "cudaMemcpy(&other->side_, from, 4, cudaMemcpyDeviceToHost);",
        "cudaMemcpy(&other->side_, from, 4, cudaMemcpyDefault);",
    ],
)
def test_what_the_library_fills_behind_a_pointer_may_be_in_another_object(way: str) -> None:
    context = hg.only(f"""
        #include <cstdio>
        #include <cstring>
        #include <cuda_runtime.h>
        __global__ void k(float *a, int n) {{ a[threadIdx.x] = n; }}
        class Square {{
         public:
          void fill(Square *other, void *from) {{ if (side_ > 8) return; {way} k<<<1, 32>>>(cells_, side_); }}
         private:
          float *cells_;
          int side_;
        }};
    """)
    assert hg.allows(context, n=9)


def test_what_the_library_fills_in_a_local_variable_changes_no_other() -> None:
    context = hg.only("""
        #include <cuda_runtime.h>
        __global__ void k(float *a, int n) { a[threadIdx.x] = n; }
        void fill(float *cells, const int &side, void *from) {
          int count;
          if (side > 8) return;
          cudaMemcpy(&count, from, sizeof count, cudaMemcpyDeviceToHost);
          k<<<1, 32>>>(cells, side);
        }
    """)
    assert not hg.allows(context, n=9)
