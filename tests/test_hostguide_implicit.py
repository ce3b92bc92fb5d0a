"""Functions that C++ runs without naming them: what they change is not what it was, and nothing else is lost.

Each case is run twice. ``@`` stands for a variable that such a function sets to zero: in one run it is the one that the
launch reads, which was 1, in the other it is another one.
"""

from __future__ import annotations

import hostguide_cases as hg
import pytest

_HEAD = """
#include <algorithm>
#include <csignal>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <vector>
#include <cuda_runtime.h>
__global__ void k(int n) {}
void elsewhere();
static int g, other;
"""
_MADE = "struct S { int v = 3; S() { @ = 0; } S(int) { @ = 0; } };"
_DIES = "struct S { int v; ~S() { @ = 0; } };"
_COPIED = "struct S { S() {} S(const S &) { @ = 0; } S &operator=(const S &) { @ = 0; return *this; } };"
_CALLED = "static int zero() { return @ = 0; }"
_LAUNCH = "k<<<1, 1>>>(g);"

_CASES = {
    "member": (_MADE + "struct H { S s; };", "g = 1; H h;"),
    "member of one with a constructor": (_MADE + "struct H { S s; H() {} };", "g = 1; H h;"),
    "base": (_MADE + "struct H : S { H() {} };", "g = 1; H h;"),
    "base with arguments": (
        "struct B { B(int &x) { x = 0; } }; struct D : B { D(int &x) : B(x) {} };",
        "g = 1; D d(@);",
    ),
    "delegated": ("struct S { S(int) { @ = 0; } S() : S(1) {} };", "g = 1; S s;"),
    "member of an aggregate": (_MADE + "struct H { int b; S s; };", "g = 1; H h{3};"),
    "initialiser of a member": (_CALLED + "struct H { int a = zero(); };", "g = 1; H h;"),
    "initialiser of a member, in a list": (_CALLED + "struct H { int a = zero(); int b; };", "g = 1; H h{};"),
    "default argument": (_CALLED + "static void f(int a = zero()) {}", "g = 1; f();"),
    "static variable": (_CALLED, "g = 1; static int s = zero();"),
    "static object": (_MADE, "g = 1; static S s;"),
    "operator new": ("struct S { void *operator new(size_t n) { @ = 0; return malloc(n); } };", "g = 1; new S;"),
    "operator delete": ("struct S { void operator delete(void *) { @ = 0; } };", "S *s = new S; g = 1; delete s;"),
    "made in a container": (_MADE, "g = 1; std::vector<S> v(2);"),
    "put into a container": (_MADE, "std::vector<S> v; g = 1; v.emplace_back(1);"),
    "made by make_unique": (_MADE, "g = 1; auto s = std::make_unique<S>();"),
    "copied into a container": (_COPIED, "std::vector<S> v; S s; g = 1; v.push_back(s);"),
    "container copied": (_COPIED, "std::vector<S> v; g = 1; std::vector<S> w = v;"),
    "container in an object copied": (_COPIED + "struct H { std::vector<S> v; };", "H h; g = 1; H i = h;"),
    "container in an object assigned": (_COPIED + "struct H { std::vector<S> v; };", "H h, i; g = 1; i = h;"),
    "temporary": (_DIES, "g = 1; int q = S{1}.v;"),
    "temporary in a condition": (_DIES, "g = 1; if (S{1}.v) {"),
    "temporary that a call gives": (_DIES + "static S make() { return S{1}; }", "g = 1; int q = make().v;"),
    "temporary that a reference keeps": (
        _DIES + "static S make() { return S{1}; }",
        "{ const S &r = make(); g = 1; }",
    ),
    "parameter": (_DIES + "static int use(S s) { return s.v; }", "g = 1; int q = use(S{1});"),
    "end of scope": (_DIES, "{ S s; g = 1; }"),
    "array": (_DIES, "{ S s[2]; g = 1; }"),
    "of a template": ("template <class T> struct S { T v; ~S() { @ = 0; } };", "{ S<int> s; g = 1; }"),
    "base of a template": (
        "template <class T> struct S { T v; ~S() { @ = 0; } }; template <class T> struct H : S<T> {};",
        "{ H<int> s; g = 1; }",
    ),
    "delete": (_DIES, "S *s = new S; g = 1; delete s;"),
    "unique_ptr": (_DIES, "{ auto s = std::make_unique<S>(); g = 1; }"),
    "reset": (_DIES, "auto s = std::make_unique<S>(); g = 1; s.reset();"),
    "assignment of a pointer": (_DIES, "auto s = std::make_unique<S>(); g = 1; s = std::make_unique<S>();"),
    "optional": (_DIES, "std::optional<S> s; s.emplace(); g = 1; s.reset();"),
    "vector": (_DIES, "{ std::vector<S> v(2); g = 1; }"),
    "deleter": (
        "struct Free { void operator()(int *x) const { @ = 0; delete x; } };",
        "{ std::unique_ptr<int, Free> q(new int); g = 1; }",
    ),
    "comparison": (
        "struct S { int v; bool operator<(const S &o) const { @ = 0; return v < o.v; } };",
        "std::vector<S> v(2); g = 1; std::sort(v.begin(), v.end());",
    ),
    "comparison that is no member": (
        "struct S { int v; }; static bool operator<(const S &a, const S &b) { @ = 0; return a.v < b.v; }",
        "std::vector<S> v(2); g = 1; std::sort(v.begin(), v.end());",
    ),
    "comparison in a map": (
        "struct S { int v; bool operator<(const S &o) const { @ = 0; return v < o.v; } };",
        "std::map<S, int> m; g = 1; m.find(S{1});",
    ),
    "function handed to an algorithm": (
        "static bool less(int a, int b) { @ = 0; return a < b; }",
        "std::vector<int> v(2); g = 1; std::sort(v.begin(), v.end(), less);",
    ),
    "thread": ("static void work() { @ = 0; }", "g = 1; std::thread t(work);"),
    "signal": ("static void handle(int) { @ = 0; }", "g = 1; signal(2, handle);"),
    "in a loop": (_MADE + "struct H { S s; };", "g = 1; for (int i = 0; i < 3; i++) { k<<<1, 1>>>(g); H h; }"),
    "default argument in a loop": (
        _CALLED + "static void f(int a = zero()) {}",
        "g = 1; for (int i = 0; i < 3; i++) { k<<<1, 1>>>(g); f(); }",
    ),
    "algorithm in a loop": (
        "static bool less(int a, int b) { @ = 0; return a < b; }",
        "std::vector<int> v(2); g = 1; for (int i = 0; i < 3; i++) { k<<<1, 1>>>(g); std::sort(&v[0], &v[1], less); }",
    ),
}


def _contexts(declarations: str, body: str, written: str) -> bool:
    """Whether a launch in the body, or after it, may see zero."""
    after = "}" * (body.count("{") - body.count("}"))
    text = f"{_HEAD} {declarations} void run() {{ {body} {_LAUNCH} {after} }}".replace("@", written)
    facts = hg.guide(text)
    assert not facts.skipped, facts.skipped
    (contexts,) = facts.contexts.values()
    return any(hg.allows(context, n=0) for context in contexts)


@pytest.mark.parametrize("name", _CASES)
def test_what_runs_without_a_name_changes_what_it_writes(name: str) -> None:
    assert _contexts(*_CASES[name], "g")


_COARSE = {"base of a template", "in a loop", "default argument in a loop"}
"""Not followed: a member of the type that a template's base depends on, and functions of the program in loops."""


@pytest.mark.parametrize("name", sorted(_CASES.keys() - _COARSE))
def test_what_runs_without_a_name_leaves_the_rest_alone(name: str) -> None:
    assert not _contexts(*_CASES[name], "other")


_LEFT_ALONE = {
    "device": (
        "struct S { int old; S(int d) { cudaGetDevice(&old); cudaSetDevice(d); } ~S() { cudaSetDevice(old); } };",
        "g = 1; { S s(0); } S(1);",
    ),
    "buffer": (
        "struct S { float *d; int n; S(int n) : n(n) { cudaMalloc(&d, n); } ~S() { if (d) cudaFree(d); d = 0; } };",
        "g = 1; { S s(1); std::vector<S> v; v.emplace_back(3); auto u = std::make_unique<S>(2); }",
    ),
    "names": (
        "struct S { std::vector<int> v; std::map<int, int> m; bool operator<(const S &o) const { return v < o.v; } };",
        "g = 1; std::vector<S> s; s.push_back(S()); std::sort(s.begin(), s.end());",
    ),
    "default argument": ("static int two() { return 2; } static void f(int a = two()) {}", "g = 1; f();"),
}


@pytest.mark.parametrize("name", _LEFT_ALONE)
def test_functions_that_only_use_their_object_change_nothing_else(name: str) -> None:
    assert not _contexts(*_LEFT_ALONE[name], "g")


def test_an_unseen_destructor_may_change_anything() -> None:
    assert _contexts("struct S { ~S(); };", "g = 1; S();", "g")
    assert _contexts("struct S { ~S() { elsewhere(); } };", "g = 1; S();", "g")
    assert _contexts("struct S { virtual ~S() {} };", "S *s = new S; g = 1; delete s;", "g")
    assert _contexts("", "{ std::unique_ptr<int, void (*)(int *)> q(new int, nullptr); g = 1; }", "g")
    assert _contexts("", "{ std::shared_ptr<int> q(new int, [](int *x) { g = 0; delete x; }); g = 1; }", "g")
    assert _contexts("static std::function<void()> hook;", "g = 1; hook();", "g")


def test_an_object_that_was_told_its_own_address_may_be_changed_by_others() -> None:
    declared = "struct S; static S *kept; struct S { int v; void keep() { kept = this; } };"
    assert _contexts(declared, "S s{1}; s.keep(); elsewhere(); g = s.v;", "g")
    assert not _contexts(declared, "S s{1}; s.keep(); g = s.v;", "g")


def test_a_constructor_that_delegates_gives_what_the_other_one_does() -> None:
    assert not _contexts("struct S { int v; S(int x) : v(x) {} S() : S(1) {} };", "S s; g = s.v;", "g")
    assert _contexts("struct S { int v = 1; S(int x) : v(x) {} S() : S(0) {} };", "S s; g = s.v;", "g")


def test_variables_that_outlive_a_call_keep_what_an_earlier_one_gave_them() -> None:
    text = _HEAD + "void run(int m) { %s int first = m; if (m == 1) k<<<1, 1>>>(first); }"
    for storage, allowed in (("static", True), ("static const", True), ("thread_local", True), ("", False)):
        assert hg.allows(hg.only(text % storage), n=0) is allowed


def test_a_global_that_a_function_declares_again_is_the_same_one() -> None:
    text = _HEAD + "int shared; void run() { extern int shared; shared = 1; %s k<<<1, 1>>>(shared); }"
    assert hg.allows(hg.only(text % "elsewhere();"), n=0)
    assert not hg.allows(hg.only(text % ""), n=0)


_LAMBDAS = {
    "object": ("struct S { int v; };", "S s{FIRST}; auto f = [=] { k<<<1, 1>>>(s.v); }; s.v = LATER; f();"),
    "array": ("", "int s[2] = {FIRST, FIRST}; auto f = [s] { k<<<1, 1>>>(s[0]); }; s[0] = LATER; f();"),
    "object behind a reference": (
        "struct S { int v; };",
        "S t{FIRST}; S &s = t; auto f = [=] { k<<<1, 1>>>(s.v); }; s.v = LATER; f();",
    ),
    "lambda in a lambda": (
        "struct S { int v; };",
        "S s{FIRST}; auto f = [=] { auto g = [&] { k<<<1, 1>>>(s.v); }; g(); }; s.v = LATER; f();",
    ),
    "handed over": (
        "struct S { int v; }; void later(std::function<void()>);",
        "S s{FIRST}; auto f = [=] { k<<<1, 1>>>(s.v); }; s.v = LATER; later(f);",
    ),
}


@pytest.mark.parametrize("name", _LAMBDAS)
@pytest.mark.parametrize("first", [0, 1])
def test_a_lambda_keeps_what_an_object_was_when_it_was_copied(name: str, first: int) -> None:
    declarations, body = _LAMBDAS[name]
    body = body.replace("FIRST", str(first)).replace("LATER", str(1 - first))
    facts = hg.guide(f"{_HEAD} {declarations} void run() {{ {body} }}")
    ((context,),) = facts.contexts.values()
    assert hg.allows(context, n=first)
    assert not hg.allows(context, n=1 - first)


def test_a_lambda_by_reference_sees_the_object_as_it_is() -> None:
    text = _HEAD + "struct S { int v; }; void run() { S s{0}; auto f = [&] { k<<<1, 1>>>(s.v); }; s.v = 1; f(); }"
    assert not hg.allows(hg.only(text), n=0)


def test_copies_that_a_lambda_makes_run_written_constructors() -> None:
    declared = "struct S { int v; S(int v) : v(v) {} S(const S &) : v(0) { @ = 0; } };"
    assert _contexts(declared, "S s(1); auto f = [=] { g = s.v; }; f();", "other")
    assert _contexts(declared, "S s(1); g = 1; auto f = [=] { return s.v; };", "g")
    assert not _contexts(declared, "S s(1); g = 1; auto f = [=] { return s.v; };", "other")
    assert not _contexts(declared, "S s(1); g = 1; auto f = [&] { return s.v; };", "g")


def test_how_a_lambda_of_a_macro_captures_an_object_is_told_by_its_class() -> None:
    run = "struct S { int v; }; void run() { S s{0}; auto f = LAMBDA { k<<<1, 1>>>(s.v); }; s.v = 1; f(); }"
    for captured, seen in (("[&]", False), ("[=]", True)):
        text = f"#define LAMBDA {captured}\n{_HEAD}{run}"
        assert hg.allows(hg.only(text), n=0) == seen, captured
    assert not hg.allows(hg.only(f"#define LAMBDA [&]\n{_HEAD}{run}"), n=2)


def test_what_a_lambda_of_a_macro_captures_beside_the_object_around_is_told_by_its_class() -> None:
    run = "void run(int n, int *p) { auto f = LAMBDA { k<<<1, 1>>>(n + v); *p = 0; }; n = 1; f(); }"
    for captured, seen in (("[&]", 3), ("[&, p]", 3), ("[=]", 2), ("[&, n]", 2), ("[&, this]", 3)):
        declared = f"#define LAMBDA {captured}\n{_HEAD}namespace {{ struct S {{ int v; {run} }}; }}\n"
        found = hg.only(declared + "void run() { S s{2}; s.run(0, nullptr); }")
        assert hg.allows(found, n=seen), captured
        assert not hg.allows(found, n=5 - seen), captured


def test_a_lambda_that_changes_its_copy_keeps_it_changed() -> None:
    text = _HEAD + "struct S { int v; }; void run() { S s{1}; auto f = [=]() mutable { %s }; f(); f(); %s }"
    assert hg.allows(hg.only(text % ("k<<<1, 1>>>(s.v); s.v = 0;", "")), n=0)


def test_loops_write_what_a_method_gives_a_reference_to() -> None:
    declared = "struct S { int v; const S &self() const { return *this; } };"
    loop = "S s{1}; for (int i = 0; i < 3; i++) { k<<<1, 1>>>(s.v); %s.v = 0; } g = 1;"
    assert _contexts(declared, loop % "const_cast<S &>(s.self())", "g")


def test_a_constructor_may_give_the_address_of_its_object_away() -> None:
    declared = "struct S; static S *kept; struct S { int v; S() : v(1) { kept = %s; } };"
    for body in ("S s; elsewhere(); g = s.v;", "S s; if (kept) kept->v = 0; g = s.v;"):
        assert _contexts(declared % "this", body, "g")
    assert not _contexts(declared % "nullptr", "S s; elsewhere(); g = s.v;", "g")
    assert not _contexts(declared % "this", "S s; g = s.v;", "g")
