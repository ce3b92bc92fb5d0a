"""Kernels whose address others can have: which launches are all, and which are only those in sight."""

from __future__ import annotations

import hostguide_cases as hg
import pytest

_HEAD = """
#include <functional>
#include <cuda_runtime.h>
typedef void (*kernel_t)(int);
__global__ void k(int n) {}
"""
_LAUNCH = "void go() { k<<<1, 64>>>(64); }"

_SHOWN = {
    "returned": "kernel_t pick() { return k; }",
    "returned, and launched here": "kernel_t pick() { return k; } void other() { pick()<<<1, 64>>>(64); }",
    "written for the caller": "void pick(kernel_t *into) { *into = k; }",
    "in a variable of others": "extern kernel_t chosen; void choose() { chosen = k; }",
    "in a table for others": "kernel_t table[1] = {k};",
    "in a constant table for others": "extern const kernel_t table[1] = {k};",
    "in a static member": "struct S { static kernel_t chosen; }; kernel_t S::chosen = k;",
    "in a library object": "std::function<void(int)> pick() { return k; }",
}
_KEPT = {
    "launched only": "",
    "returned to a function in sight": "static kernel_t pick() { return k; } void other() { pick()<<<1, 64>>>(64); }",
    "in a table of its own": "static const kernel_t table[1] = {k}; void other() { table[0]<<<1, 64>>>(64); }",
    "given to a function in sight": "static void run(kernel_t f) { f<<<1, 64>>>(64); } void other() { run(k); }",
    "given to a template in sight": "template <class F> void run(F f) { f<<<1, 64>>>(64); } void other() { run(k); }",
    "asked for its attributes": "void other() { cudaFuncAttributes a; cudaFuncGetAttributes(&a, k); }",
}
_GIVEN = {
    "to a function": ("void enlist(kernel_t f); void other() { enlist(k); }", "enlist"),
    "to a function through a pointer": (
        "void other(void (*enlist)(kernel_t)) { enlist(k); }",
        "code that is not in sight",
    ),
    "to a template": ("template <kernel_t F> void run(); void other() { run<k>(); }", "run"),
    "in an object": ("struct P { kernel_t f; }; void use(P *p); void other() { P p{k}; use(&p); }", "use"),
    "to a constructor": ("struct R { R(kernel_t f); }; static R r(k);", "R"),
    "to an object that launches": (
        (
            "struct R { template <class... A> void operator()(void (*f)(A...), A... a) { f<<<1, 64>>>(a...); } };"
            "void other(R &run) { run(k, 3); }"
        ),
        "line",
    ),
    "to code that cannot be read": ("void other() { LAUNCHED_BY(k); }", "line"),
    "by device code": ("__global__ void parent(int n) { k<<<1, 64>>>(n); }", "parent"),
    "by a default of a member": ("struct R { std::function<void(int)> f = [](int n) { k<<<1, 64>>>(n); }; };", "line"),
}


def _kernel(text: str) -> tuple[hg.LaunchContext, ...]:
    found = hg.guide(_HEAD + text + _LAUNCH).contexts
    return next(contexts for name, contexts in found.items() if "1ki" in name)


def _assumes_all_are_seen(text: str) -> list[bool]:
    return [any("only where that is seen" in a for a in c.assumptions) for c in _kernel(text)]


@pytest.mark.parametrize("what", _SHOWN)
def test_that_others_do_not_launch_a_kernel_is_assumed_where_they_can(what: str) -> None:
    assert set(_assumes_all_are_seen(_SHOWN[what])) == {True}


@pytest.mark.parametrize("what", _KEPT)
def test_nothing_is_assumed_where_the_address_stays_in_sight(what: str) -> None:
    assert set(_assumes_all_are_seen(_KEPT[what])) == {False}
    assert not any(c.uncertain for c in _kernel(_KEPT[what]))


@pytest.mark.parametrize("what", _GIVEN)
def test_what_code_out_of_sight_is_given_may_be_launched_with_anything(what: str) -> None:
    text, who = _GIVEN[what]
    certain, doubted = _kernel(text)
    assert certain.summary.source == "launch"
    assert not certain.uncertain
    assert doubted.summary.source == "default"
    assert who in doubted.uncertain
    assert not doubted.bindings


def test_a_lambda_in_a_global_variable_launches_with_anything() -> None:
    text = "static const std::function<void(int)> f = [](int n) { k<<<1, 64>>>(n); };"
    contexts = _kernel(text)
    assert any(hg.allows(c, n=3) for c in contexts)
    assert all(c.summary.source == "launch" for c in contexts)
