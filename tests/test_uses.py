"""What a function does with its variables, by the syntax tree; what its conditions are made of."""

from __future__ import annotations

from functools import cache

import pytest

from analyzers.frontend.cindex import children
from analyzers.frontend.flags import CompileFlags
from analyzers.frontend.function_trees import function_trees
from analyzers.frontend.gaps import FunctionTree
from analyzers.frontend.parse import UnitParser
from analyzers.frontend.uses import uses_of
from quickfix.negation import negated, operand

PATH = "/uses/a.cu"
HEAD = """struct P { int x; int a[4]; __device__ void go(); __device__ int is() const; };
using Ref = int &;
#define BUMP t += 1
#define EITHER t || n
#define LIMIT n ? 5 : 0
__device__ void take(Ref r); __device__ void see(int v, const int &w); __device__ void at(int *);
__device__ int f(bool);
"""


@cache
def parser() -> UnitParser:
    return UnitParser()


def uses(code: str, name: str) -> set[str]:
    text = f"{HEAD}__global__ void k(int *out, P *q, int n, float x) {{ int t = n; P p; {code} }}\n"
    unit = parser().parse(PATH, text, CompileFlags(), {}, ())
    assert not unit.errors, unit.errors
    kernel = next(c for c in children(unit.device.cursor) if c.spelling == "k")
    return {u.kind for u in uses_of(kernel) if u.name == name and u.at > text.index("P p;") + len("P p")}


@pytest.mark.parametrize(
    ("code", "name", "kinds"),
    [
        ("t = 1;", "t", {"changed"}),
        ("(t) += 1;", "t", {"changed"}),
        ("BUMP;", "t", {"changed"}),
        ("p.x = 1;", "p", {"changed"}),
        ("p.a[1]++;", "p", {"changed"}),
        ("p.go();", "p", {"lent"}),
        ("out[0] = p.is();", "p", {"read"}),
        ("q->x = 1; q->go();", "q", {"read"}),
        ("out[t] = t;", "t", {"read"}),
        ("out[t] = t;", "out", {"read"}),
        ("*out++ = t;", "out", {"changed"}),
        ("int &r = t;", "t", {"lent"}),
        ("Ref r = t;", "t", {"lent"}),
        ("const int &r = t;", "t", {"read"}),
        ("at(&t);", "t", {"lent"}),
        ("take(t);", "t", {"lent"}),
        ("see(t, t);", "t", {"read"}),
        ("auto l = [&] { t++; }; l();", "t", {"lent"}),
        ("auto l = [=] { return t; }; l();", "t", {"read"}),
        ("auto l = [&x = t] { x = 5; };", "t", {"lent"}),
        ("auto l = [x = t] { return x; };", "t", {"read"}),
        ("struct R { int &r; }; R h{t};", "t", {"lent"}),
        ("struct R { const int &r; }; R h[1] = {{t}};", "t", {"lent"}),
        ('asm volatile("" : "+r"(t));', "t", {"lent"}),
        ("(n ? t : n) = 2;", "t", {"changed"}),
        ("(n, t) = 2;", "t", {"changed"}),
        ("out[0] = sizeof(t++);", "t", {"read"}),
        ("out[0] = alignof(P) + sizeof p.a;", "p", {"read"}),
        ("int v[4]; out[0] = v[n];", "v", {"declared", "read"}),
        ("int v[4]; (v)[n] = 1;", "v", {"declared", "changed"}),
        ("int v[2][4]; v[1][n] = 1; out[0] = v[0][n];", "v", {"declared", "changed", "read"}),
        ("int v[4]; int *w = v;", "v", {"declared", "lent"}),
        ("int v[2][4]; at(v[1]);", "v", {"declared", "lent"}),
        ("int v[4]; out = v + n;", "v", {"declared", "lent"}),
        ("int v[4]; out[0] = *v;", "v", {"declared", "lent"}),
        ("int v[4]; out[0] = sizeof v;", "v", {"declared", "read"}),
        ("out = p.a;", "p", {"lent"}),
        ("out = q->a;", "q", {"read"}),
        ("out[0] = p.a[1];", "p", {"read"}),
        ("for (int &e : p.a) e = 1;", "p", {"lent"}),
        ("for (int e : p.a) out[0] = e;", "p", {"read"}),
    ],
)
def test_what_becomes_of_a_variable(code: str, name: str, kinds: set[str]) -> None:
    assert uses(code, name) == kinds


def test_variables_of_one_name_are_told_apart() -> None:
    text = "__global__ void k(int n) { { int n = 1; n++; } n = 2; }\n"
    unit = parser().parse(PATH, text, CompileFlags(), {}, ())
    kernel = next(c for c in children(unit.device.cursor) if c.spelling == "k")
    changed = [u.variable for u in uses_of(kernel) if u.kind == "changed"]
    assert len(set(changed)) == 2


@pytest.mark.parametrize(
    ("declared", "leads"),
    [
        ("int v[2][4];", "nowhere"),
        ("const unsigned char v = 1;", "nowhere"),
        ("__half v = {};", "nowhere"),
        ("P v;", "nowhere"),
        ("float4 v;", "nowhere"),
        ("P *v;", "to numbers"),
        ("const float *v[2];", "to numbers"),
        ("int &v = n;", "to numbers"),
        ("P **v;", "anywhere"),
        ("int *&v = out;", "anywhere"),
        ("void *v;", "anywhere"),
        ("struct { int *p; } v;", "anywhere"),
        ("auto v = [&] { return n; };", "anywhere"),
        ("int (*v)(int);", "anywhere"),
    ],
)
def test_where_a_variable_leads(declared: str, leads: str) -> None:
    text = f"#include <cuda_fp16.h>\n{HEAD}__global__ void k(int *out, int n) {{ {declared} }}\n"
    unit = parser().parse(PATH, text, CompileFlags(), {}, ())
    assert not unit.errors, unit.errors
    kernel = next(c for c in children(unit.device.cursor) if c.spelling == "k")
    assert {u.leads for u in uses_of(kernel) if u.name == "v"} == {leads}


def test_a_method_changes_fields_of_its_object() -> None:
    text = "struct A { int n, a[2]; __device__ void go(int m) { n = m; a[n]++; int *p = a; } };\n"
    text += "__global__ void k(A *a) { a->go(1); }\n"
    unit = parser().parse(PATH, text, CompileFlags(), {}, ())
    (tree,) = function_trees(unit.device, [(PATH, text.index("n = m"))]).functions
    kinds = {name: [u.kind for u in tree.uses if u.name == name] for name in "na"}
    assert kinds == {"n": ["changed", "read"], "a": ["changed", "lent"]}


def condition(code: str) -> FunctionTree:
    text = f"{HEAD}__global__ void k(int *v, int i, int j, int n, float x, bool a, bool b, bool c) {{\n  int t = i;\n"
    text += f"  if ({code}) v[0] = 1;\n}}\n"
    unit = parser().parse(PATH, text, CompileFlags(), {}, ())
    assert not unit.errors, unit.errors
    trees = function_trees(unit.device, [(PATH, text.index("v[0] = 1"))])
    (tree,) = trees.functions
    return tree


@pytest.mark.parametrize(
    ("code", "opposite"),
    [
        ("i >= n", "i < n"),
        ("i + 1 == j", "i + 1 != j"),
        ("threadIdx.x < n", "threadIdx.x >= n"),
        ("v[i] < 1", "v[i] >= 1"),
        ("x <= 1", "!(x <= 1)"),
        ("i < 1.5f", "!(i < 1.5f)"),
        ("i < x", "!(i < x)"),
        ("i < n || j", "!(i < n || j)"),
        ("!a", "a"),
        ("!v[i]", "v[i]"),
        ("!(a && b)", "a && b"),
        ("v[i]", "!v[i]"),
        ("v[i < n] == (j < n)", "v[i < n] != (j < n)"),
        ("(i < n) == (j < n)", "(i < n) != (j < n)"),
        ("i < n == j", "!(i < n == j)"),
        ("a", "!a"),
        ("a && b", "!(a && b)"),
        ("EITHER", "!(EITHER)"),
        ("!EITHER", "!(!EITHER)"),
        ("i < EITHER", "!(i < EITHER)"),
    ],
)
def test_the_opposite_of_a_condition(code: str, opposite: str) -> None:
    test = condition(code).body.statements[1].test
    assert negated(code.encode(), test)[0].decode() == opposite


@pytest.mark.parametrize(
    ("code", "written"),
    [
        ("a && b", "a && b"),
        ("a || b", "(a || b)"),
        ("f(a || b)", "f(a || b)"),
        ("a ? b : c", "(a ? b : c)"),
        ("a == b", "a == b"),
        ("a = b", "(a = b)"),
        ("EITHER", "(EITHER)"),
        ("a && EITHER", "(a && EITHER)"),
        ("LIMIT", "(LIMIT)"),
    ],
)
def test_a_condition_beside_another(code: str, written: str) -> None:
    test = condition(code).body.statements[1].test
    assert operand(code.encode(), test).decode() == written
