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
        ('asm volatile("" : "+r"(t));', "t", {"lent"}),
        ("(n ? t : n) = 2;", "t", {"changed"}),
        ("(n, t) = 2;", "t", {"changed"}),
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
