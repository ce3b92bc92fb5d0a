"""Only functions that can lead to a launch are run as called with anything: by what clang says that they call."""

from __future__ import annotations

import hostguide_cases as hg
import pytest

from analyzers.hostguide.execute import Executor
from analyzers.hostguide.tree import HostFunction

_MATRIX = """
    __global__ void fill(float *out, int n) { out[threadIdx.x] = n; }
    struct Matrix {
        int rows;
        float *data;
        Matrix(int rows) : rows(rows), data(nullptr) { fill<<<1, 64>>>(data, rows); }
        Matrix(const Matrix &other) : rows(other.rows), data(other.data) {}
        ~Matrix() {}
    };
"""


def _run(text: str, monkeypatch: pytest.MonkeyPatch) -> tuple[hg.HostFacts, list[str]]:
    ran: list[str] = []
    run = Executor.run_root

    def record(machine: Executor, function: HostFunction) -> None:
        ran.append(function.cursor.spelling)
        run(machine, function)

    monkeypatch.setattr(Executor, "run_root", record)
    return hg.guide(text), ran


def test_who_mentions_a_class_calls_no_constructor_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    text = """
    int rows(const Matrix &of) { return of.rows; }
    int twice(Matrix *of) { return 2 * rows(*of); }
    float first(const Matrix &of) { return Matrix(of).data[0]; }
    void make() { Matrix made(48); }
    """
    facts, ran = _run(_MATRIX + text, monkeypatch)
    assert set(ran) == {"make", "Matrix"}
    (contexts,) = facts.contexts.values()
    assert any(hg.allows(context, n=48) and not hg.allows(context, n=49) for context in contexts)


_WAYS = {
    "call": "void top(float *p) { go(p, 48); }",
    "address": """
        typedef void (*Fn)(float *, int);
        void apply(Fn f, float *p) { f(p, 48); }
        void top(float *p) { apply(&go, p); }""",
    "lambda": "template <class F> void apply(F f) { f(); } void top(float *p) { apply([=] { go(p, 48); }); }",
    "template": "template <class T> void of(T *p) { go(p, 48); } void top(float *p) { of(p); }",
    "macro": """
#define GO(p) go(p, 48)
        void top(float *p) { GO(p); }""",
    "pasted": """
#define JOIN(a, b) a##b
        void top(float *p) { JOIN(g, o)(p, 48); }""",
    "virtual": """
        struct Base { virtual void run(float *) {} };
        struct Own : Base { void run(float *p) override { go(p, 48); } };
        void top(float *p) { Own own; Base &base = own; base.run(p); }""",
    "destructor": "struct Late { float *p; ~Late() { go(p, 48); } }; void top(float *p) { Late late{p}; }",
    "base": """
        struct Inner { Inner(float *p) { go(p, 48); } };
        struct Outer : Inner { Outer(float *p) : Inner(p) {} };
        void top(float *p) { Outer outer(p); }""",
    "functor": """
        struct Each { float *p; void operator()(int n) const { go(p, n); } };
        void top(float *p) { Each each{p}; each.operator()(48); }""",
    "operator": """
        struct Sum { float *p; };
        Sum operator+(Sum s, int n) { go(s.p, n); return s; }
        void top(float *p) { Sum sum{p}; sum = operator+(sum, 48); }""",
    "class template": """
        template <class T> struct Each { T *p; Each(T *p) : p(p) { go(p, 48); } };
        template <class T> struct Outer : Each<T> { Outer(T *p) : Each<T>(p) {} };
        void top(float *p) { Outer<float> outer(p); }""",
}


@pytest.mark.parametrize("way", _WAYS)
def test_every_way_to_a_launch_is_followed(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """
        __global__ void fill(float *out, int n) { out[threadIdx.x] = n; }
        static void go(float *p, int n) { fill<<<1, 64>>>(p, n); }
    """
    facts, ran = _run(text + _WAYS[way], monkeypatch)
    assert "top" in ran
    (contexts,) = facts.contexts.values()
    assert any(hg.allows(context, n=48) and not hg.allows(context, n=49) for context in contexts)
