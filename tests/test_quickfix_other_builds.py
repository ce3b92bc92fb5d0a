"""Repairs in files of which another build compiles other code: an edit is right there, too, or says what it assumes."""

from __future__ import annotations

from itertools import combinations
from math import comb

import pytest
from restructured import LAUNCH, edited, engine

from analyzers.model import Fix, FixRefusal
from analyzers.requests import CheckRequest, UnitFinished
from quickfix import answers, fix_all, hoisted
from quickfix.declarations import declarations
from quickfix.other_builds import readings_of

PATH = "/other/a.cu"
HEAD = """__global__ void k(int *a, int *o, int n, int m) {
  __shared__ int s[256];
  int t = threadIdx.x;
"""
NEIGHBOUR = "s[t] = a[t];\no[t] = s[63 - t];\n"


def kernel(body: str) -> str:
    return f"{LAUNCH}{HEAD}{body}}}\n"


def cut(head: str, other: str, body: str = NEIGHBOUR) -> str:
    return kernel(f"#ifdef OTHER\n{other} {{\n#else\n{head} {{\n#endif\n{body}}}\n")


def fixes(text: str, **headers: str) -> list[Fix]:
    """`headers`: text by name, without `.h`."""
    unsaved = {f"/other/{name}.h": header for name, header in headers.items()}
    return [a for a in answers(engine(), CheckRequest(PATH, text, unsaved=unsaved)) if isinstance(a, Fix)]


def codes(text: str) -> list[str]:
    (unit,) = [e.result for e in engine().check(CheckRequest(PATH, text)) if isinstance(e, UnitFinished)]
    assert not unit.syntax
    return sorted(f.code.value for k in unit.kernels for c in k.contexts for f in c.findings)


def codes_by_group(text: str) -> dict[str, str]:
    (unit,) = [e.result for e in engine().check(CheckRequest(PATH, text)) if isinstance(e, UnitFinished)]
    return {f.code.value: f.group for k in unit.kernels for c in k.contexts for f in c.findings}


DIVERGENT = {
    "uniform loop": cut("for (int i = 0; i < m; i++)", "if (t < n)"),
    "uniform condition": cut("if (n > 3)", "while (t++ < n)"),
    "elif": kernel(f"#if MODE == 1\nif (n) {{\n#elif MODE == 2\nif (t < n) {{\n#else\n{{\n#endif\n{NEIGHBOUR}}}\n"),
    "bound": kernel(f"#ifdef OTHER\nm = t;\n#endif\nfor (int i = 0; i < m; i++) {{\n{NEIGHBOUR}}}\n"),
    "caller": "__device__ void step(int *s, int *a, int *o, int t) {\n"
    + NEIGHBOUR
    + "}\n"
    + kernel("#ifdef OTHER\nif (t < n)\n#endif\nstep(s, a, o, t);\n"),
    "macro": "#ifdef OTHER\n#define IN (t < n)\n#else\n#define IN (n > 5)\n#endif\n"
    + kernel(f"if (IN) {{\n{NEIGHBOUR}}}\n"),
    "macro of a macro": "#define IN PART\n#ifdef OTHER\n#define PART (t < n)\n#else\n#define PART (n > 5)\n#endif\n"
    + kernel(f"if (IN) {{\n{NEIGHBOUR}}}\n"),
    "macro with a default": "#if MODE == 1\n#define IN (t < n)\n#endif\n#ifndef IN\n#define IN (n > 5)\n#endif\n"
    + kernel(f"if (IN) {{\n{NEIGHBOUR}}}\n"),
    "function": "#ifdef OTHER\n__device__ bool in(int t, int n) { return t < n; }\n#else\n"
    "__device__ bool in(int, int n) { return n > 5; }\n#endif\n" + kernel(f"if (in(t, n)) {{\n{NEIGHBOUR}}}\n"),
    "member": "struct In {\n  int t;\n#ifdef OTHER\n  __device__ void set(int v) { t = v; }\n#else\n"
    "  __device__ void set(int) { t = 0; }\n#endif\n};\n"
    + kernel(f"In in;\nin.set(t);\nif (in.t < n) {{\n{NEIGHBOUR}}}\n"),
    "constant": "#ifdef OTHER\nconstexpr bool ALL = false;\n#else\nconstexpr bool ALL = true;\n#endif\n"
    + kernel(f"if (ALL || t < n) {{\n{NEIGHBOUR}}}\n"),
    "enumerator": "#ifdef OTHER\nenum { ALL = 0 };\n#else\nenum { ALL = 1 };\n#endif\n"
    + kernel(f"if (ALL || t < n) {{\n{NEIGHBOUR}}}\n"),
    "elif behind what no build reads": kernel(
        f"#if 0\nif (m) {{\n#elif OTHER\nif (t < n) {{\n#else\nif (n) {{\n#endif\n{NEIGHBOUR}}}\n"
    ),
    "elif behind what the host reads": kernel(
        f"#ifndef __CUDA_ARCH__\nif (m) {{\n#elif OTHER\nif (t < n) {{\n#else\nif (n) {{\n#endif\n{NEIGHBOUR}}}\n"
    ),
    "comment": kernel(f"#if OTHER /* all */ && M\nif (t < n) {{\n#else\nif (n > 5) {{\n#endif\n{NEIGHBOUR}}}\n"),
    "macro in another branch": "#ifdef OTHER\n#define IN (t < n)\n#else\n#define IN (n > 5)\n#endif\n"
    + kernel(f"#ifdef MORE\nif (IN) {{\n#else\n{{\n#endif\n{NEIGHBOUR}}}\n"),
    "two macros": "#ifdef OTHER\n#define IN (AT < n)\n#else\n#define IN (n > 5)\n#endif\n"
    "#ifdef MORE\n#define AT t\n#else\n#define AT 4\n#endif\n" + kernel(f"if (IN) {{\n{NEIGHBOUR}}}\n"),
    "function of another build": "__device__ bool in(int t, int n) {\n#ifdef OTHER\n  if (t < n) return false;\n"
    "#endif\n  return true;\n}\n" + kernel(f"#ifdef MORE\nif (in(t, n)) {{\n#else\nif (n) {{\n#endif\n{NEIGHBOUR}}}\n"),
    "constant of a constant": "#ifdef OTHER\nconstexpr bool ONE = false;\n#else\nconstexpr bool ONE = true;\n#endif\n"
    "constexpr bool ALL = ONE;\n" + kernel(f"if (ALL || t < n) {{\n{NEIGHBOUR}}}\n"),
    "constant of a type": "#ifdef OTHER\nconstexpr int MODE = 1;\n#else\nconstexpr int MODE = 2;\n#endif\n"
    "template <class T> struct Is {\n  static constexpr bool all = MODE == 2;\n};\n"
    + kernel(f"if (Is<int>::all || t < n) {{\n{NEIGHBOUR}}}\n"),
    "base": "struct A {\n  __device__ bool in(int t, int n) { return t < n; }\n};\n"
    "struct B {\n  __device__ bool in(int, int n) { return n > 5; }\n};\n"
    "struct Q\n#ifdef OTHER\n  : A\n#else\n  : B\n#endif\n{};\n" + kernel(f"Q q;\nif (q.in(t, n)) {{\n{NEIGHBOUR}}}\n"),
    "operator": "struct V {\n  int t;\n};\n#ifdef OTHER\n__device__ bool operator<(V v, int n) { return v.t < n; }\n"
    "#else\n__device__ bool operator<(V, int n) { return n > 5; }\n#endif\n"
    + kernel(f"V v{{t}};\nif (v < n) {{\n{NEIGHBOUR}}}\n"),
    "parameters": "#ifdef OTHER\ntypedef double real;\n#else\ntypedef float real;\n#endif\n"
    + cut("if (n)", "if (t < n)").replace("(int *a,", "(real *a,"),
}


@pytest.mark.parametrize("text", DIVERGENT.values(), ids=DIVERGENT.keys())
def test_no_barrier_stands_where_threads_of_another_build_miss_it(text: str) -> None:
    assert fixes(text) == []


LAUNCHED = "".join(kernel(f"if (t < 64) {{\n{NEIGHBOUR}}}\n").split("\n", 1)[1:])
LAUNCHES = "#ifdef OTHER\n  k<<<1, 128>>>(a, o, 1, 2);\n#else\n  k<<<1, 64>>>(a, o, 1, 2);\n#endif\n"
RUN = f"void run(int *a, int *o) {{\n{LAUNCHES}}}\n"
HOSTED = {
    "block": "#ifdef OTHER\n#define BLOCK 128\n#else\n#define BLOCK 64\n#endif\n"
    + LAUNCHED
    + "void run(int *a, int *o) { k<<<1, BLOCK>>>(a, o, 1, 2); }\n",
    "launch": LAUNCHED + RUN,
    "condition that the kernel has, too": LAUNCHED.replace("int t =", "#ifdef OTHER\n  a += 64;\n#endif\n  int t =")
    + RUN,
    "instance": "template <bool ALL>\n"
    + LAUNCHED.replace("t < 64", "ALL || t < n")
    + "void run(int *a, int *o, int n) {\n  k<true><<<1, 64>>>(a, o, n, 2);\n"
    + "#ifdef OTHER\n  k<false><<<1, 64>>>(a, o, n, 2);\n#endif\n}\n",
}


@pytest.mark.parametrize("text", HOSTED.values(), ids=HOSTED.keys())
def test_no_barrier_stands_where_threads_of_a_launch_of_another_build_miss_it(text: str) -> None:
    for fix in fixes(text):
        if fix.applies_unasked:
            assert "barrier-divergence" not in codes("#define OTHER\n" + edited(text, fix))


def test_what_another_build_launches_otherwise_only_is_rewritten_without_asking() -> None:
    text = LAUNCHED.replace(f"{NEIGHBOUR}", "o[0] += a[t];\n") + RUN.replace("128", "1")
    (fix,) = [fix for fix in fixes(text) if fix.kind == "use-atomic"]
    assert fix.applies_unasked


def test_a_barrier_stays_that_a_launch_of_another_build_needs() -> None:
    text = LAUNCHED.replace("if (t < 64) ", "").replace("a[t];\n", "a[t];\n__syncthreads();\n")
    alone = text + "void run(int *a, int *o) {\n  k<<<1, 1>>>(a, o, 1, 2);\n}\n"
    other = alone.replace("  k<<<", "#ifdef OTHER\n  k<<<1, 64>>>(a, o, 1, 2);\n#endif\n  k<<<")
    assert [fix.kind for fix in fixes(alone)] == ["remove-barrier"]
    assert fixes(other) == []


def test_each_two_of_many_definitions_are_read_otherwise_together() -> None:
    defined = "".join(f"#ifdef OTHER{i}\n#define C{i} 1\n#else\n#define C{i} 0\n#endif\n" for i in range(9))
    used = "".join(f"a += C{i};\n" for i in range(9))
    assert fixes(defined + kernel(f"{used}if (n > 5 || (C8 && !C0 && t < n)) {{\n{NEIGHBOUR}}}\n")) == []


def test_where_many_cannot_be_read_together_each_is_by_itself() -> None:
    missing = "".join(f"#ifdef HAVE{i}\n#define C{i} missing{i}\n#else\n#define C{i} 1\n#endif\n" for i in range(3))
    last = "#ifdef OTHER\n#define IN (t < n)\n#else\n#define IN (n > 5)\n#endif\n"
    used = "".join(f"a += C{i};\n" for i in range(3))
    assert fixes(last + missing + kernel(f"{used}if (IN) {{\n{NEIGHBOUR}}}\n")) == []


def test_the_last_of_many_definitions_is_read_otherwise_too() -> None:
    defined = "".join(f"#ifdef OTHER{i}\n#define C{i} n\n#else\n#define C{i} 4\n#endif\n" for i in range(6))
    last = "#ifdef OTHER\n#define IN (t < n)\n#else\n#define IN (n > 5)\n#endif\n"
    used = "".join(f"a += C{i};\n" for i in range(6))
    assert fixes(defined + last + kernel(f"{used}if (IN) {{\n{NEIGHBOUR}}}\n")) == []


IN_HEADERS = {
    "macro": (
        '#include "head.h"\n',
        {
            "head": '#pragma once\n#include "part.h"\n',
            "part": "#ifndef PART_H\n#define PART_H\n#ifdef OTHER\n#define IN (t < n)\n"
            "#else\n#define IN (n > 5)\n#endif\n#endif\n",
        },
    ),
    "header": (
        '#ifdef OTHER\n#include "some.h"\n#else\n#include "all.h"\n#endif\n',
        {"some": "#define IN (t < n)\n", "all": "#define IN (n > 5)\n"},
    ),
    "beside the file": (
        "#include <head.h>\n",
        {"head": "#pragma once\n#ifdef OTHER\n#define IN (t < n)\n#else\n#define IN (n > 5)\n#endif\n"},
    ),
    "name that is a macro": (
        '#define HEAD "head.h"\n#include HEAD\n',
        {"head": "#pragma once\n#ifdef OTHER\n#define IN (t < n)\n#else\n#define IN (n > 5)\n#endif\n"},
    ),
}


@pytest.mark.parametrize(("included", "headers"), IN_HEADERS.values(), ids=IN_HEADERS.keys())
def test_the_project_s_headers_are_read_otherwise_too(included: str, headers: dict[str, str]) -> None:
    assert fixes(included + kernel(f"if (IN) {{\n{NEIGHBOUR}}}\n"), **headers) == []


def test_the_header_is_said_that_another_build_reads_otherwise() -> None:
    header = "\n#ifdef OTHER\n#define IN (t < n)\n#else\n#define IN (n > 5)\n#endif\n"
    request = CheckRequest(
        PATH, f'#include "head.h"\n{kernel(f"if (IN) {{{NEIGHBOUR}}}")}', unsaved={"/other/head.h": header}
    )
    answer = fix_all(engine(), request)
    assert isinstance(answer, FixRefusal)
    assert "from line 2 of head.h on" in answer.text


def test_more_builds_than_can_be_checked_are_assumed() -> None:
    many = "".join(f"#ifdef OTHER{i}\na += {i};\n#endif\n" for i in range(4))
    (fix,) = fixes(kernel(many + NEIGHBOUR))
    assert not fix.applies_unasked
    assert "there may be too many to check each." in fix.assumes[0]


def test_a_kernel_of_another_build_may_call_what_is_edited() -> None:
    step = f"__device__ void step(int *s, int *a, int *o, int t) {{\n{NEIGHBOUR}}}\n"
    own = kernel("step(s, a, o, t);\n")
    other = kernel("if (t < n) step(s, a, o, t);\n").replace("void k(", "void other(")
    (alone,) = fixes(step + own)
    (shared,) = fixes(f"{step}{own}#ifdef OTHER\n{other}#endif\n")
    assert alone.applies_unasked
    assert not shared.applies_unasked
    assert shared.assumes[0].endswith(": it has what changes there, too.")
    declared = "#ifdef OTHER\n__device__ void step(int *s, int *a, int *o, int t);\n#endif\n"
    assert fixes(f"{declared}{step}{own}")[0].applies_unasked


def test_a_kernel_of_another_build_may_use_a_macro_that_is_edited() -> None:
    step = "#define STEP \\\n  do { \\\n    s[t] = a[t]; \\\n    o[t] = s[63 - t]; \\\n  } while (0)\n"
    other = kernel("if (t < n) STEP;\n").replace("void k(", "void other(")
    (alone,) = fixes(step + kernel("STEP;\n"))
    (shared,) = fixes(f"{step}{kernel('STEP;' + chr(10))}#ifdef OTHER\n{other}#endif\n")
    assert alone.applies_unasked
    assert not shared.applies_unasked


STEP = f"void step(int *s, int *a, int *o, int t) {{\n{NEIGHBOUR}}}\n"
SOME = "__device__ void some(int *s, int *a, int *o, int t, int n) { if (t < n) step(s, a, o, t); }\n"
WITH = "template <class F> __device__ void with(F f, int *s, int *a, int *o, int t) { f(s, a, o, t); }\n"
CALLED = {
    "by another function": (
        f"__device__ {STEP}{SOME}",
        "step(s, a, o, t);\n",
        "some(s, a, o, t, n);\n",
    ),
    "by a macro": (
        f"__device__ {STEP}#define STEP step(s, a, o, t)\n",
        "step(s, a, o, t);\n",
        "if (t < n) STEP;\n",
    ),
    "with arguments of a template": (
        f"template <class T> struct W {{}};\ntemplate <class T> __device__ {STEP}",
        "step<int>(s, a, o, t);\n",
        "if (t < n) step<W<W<int>>>(s, a, o, t);\n",
    ),
    "as an argument": (
        f"__device__ {STEP}{WITH}",
        "step(s, a, o, t);\n",
        "if (t < n) with(step, s, a, o, t);\n",
    ),
    "as a constructor": (
        f"struct Step {{\n  __device__ {STEP.replace('void step', 'Step')}}};\n",
        "Step now(s, a, o, t);\n",
        "if (t < n) Step now(s, a, o, t);\n",
    ),
    "as an operator": (
        f"struct Step {{\n  __device__ {STEP.replace('step(', 'operator()(')}}};\n",
        "Step now;\nnow(s, a, o, t);\n",
        "Step now;\nif (t < n) now(s, a, o, t);\n",
    ),
}


@pytest.mark.parametrize(("head", "here", "there"), CALLED.values(), ids=CALLED.keys())
def test_a_kernel_of_another_build_may_get_to_what_is_edited(head: str, here: str, there: str) -> None:
    other = kernel(there).replace("void k(", "void other(")
    assert fixes(f"{head}{kernel(here)}")[0].applies_unasked
    (fix,) = fixes(f"{head}{kernel(here)}#ifdef OTHER\n{other}#endif\n")
    assert not fix.applies_unasked
    assert fix.assumes[0].endswith(": it has what changes there, too.")


def test_why_there_is_no_place_is_said() -> None:
    answer = fix_all(engine(), CheckRequest(PATH, DIVERGENT["uniform loop"]))
    assert isinstance(answer, FixRefusal)
    assert answer.text.endswith(
        "not all threads of the block reach together: another build may have other code from line 5 on, and there some "
        "threads would miss the barrier."
    )


def test_a_barrier_stands_where_all_builds_allow_it() -> None:
    body = "#ifdef OTHER\nif (t < n) {\n#else\n{\n#endif\no[t] = s[63 - t];\n}\n"
    (fix,) = fixes(kernel(f"s[t] = a[t];\n{body}"))
    assert fix.applies_unasked
    assert codes("#define OTHER\n" + edited(kernel(f"s[t] = a[t];\n{body}"), fix)) == []


@pytest.mark.parametrize("other", ["a += 64;", 'printf("%d", t);', "if (n) return;"])
def test_what_another_build_has_nothing_against_is_proved_for_it(other: str) -> None:
    text = "#include <stdio.h>\n" + kernel(f"#ifdef OTHER\n{other}\n#else\na += 128;\n#endif\n{NEIGHBOUR}")
    (fix,) = fixes(text)
    assert fix.applies_unasked
    assert codes("#define OTHER\n" + edited(text, fix)) == []


def test_that_threads_have_returned_in_another_build_is_noted() -> None:
    fix = fixes(kernel(f"#ifdef OTHER\nif (t >= n) return;\n#endif\n{NEIGHBOUR}"))[0]
    assert any("have returned before the new barrier" in note for note in fix.notes)


def test_what_cannot_be_checked_is_assumed() -> None:
    text = kernel(f"#ifdef OTHER\nMissing x(t); if (x.ok()) {{\n#else\n{{\n#endif\n{NEIGHBOUR}}}\n")
    (fix,) = fixes(text)
    assert not fix.applies_unasked
    assert fix.title.endswith(", assumes that no other build has other code from line 5 on")
    answer = fix_all(engine(), CheckRequest(PATH, text))
    assert isinstance(answer, FixRefusal)


@pytest.mark.parametrize(
    ("body", "behind"),
    [
        ("#ifndef OTHER\ns[t] = a[t];\n#else\ns[t] = 1;\n#endif\no[t] = s[63 - t];\n", "#endif\n"),
        ("#ifdef OTHER\ns[t] = 1;\n#else\ns[t] = a[t];\n#endif\no[t] = s[63 - t];\n", "#endif\n"),
        ("s[t] = a[t];\n#ifdef OTHER\no[t] = s[t];\n#elif MORE\n#else\no[t] = s[63 - t];\n#endif\n", "s[t] = a[t];\n"),
        (
            "#ifndef OTHER\ns[t] = a[t];\n#elif MORE\n#else\n#endif\n#ifdef OTHER\n#else\no[t] = s[63 - t];\n#endif\n",
            "#else\n#endif\n",
        ),
        ("#ifdef OTHER\nif (t < n)\n#endif\ns[t] = a[t];\no[t] = s[63 - t];\n", "s[t] = a[t];\n"),
    ],
    ids=["if", "else", "before", "between", "head"],
)
def test_a_barrier_stands_outside_of_the_conditionals_between_two_statements(body: str, behind: str) -> None:
    (fix,) = fixes(kernel(body))
    assert fix.applies_unasked
    assert f"{behind}__syncthreads();\n" in edited(kernel(body), fix).replace("  __sync", "__sync")
    assert set(codes("#define OTHER\n" + edited(kernel(body), fix))) <= {"redundant-barrier"}


REWRITTEN = {
    "condition that changes": "bool in = t < n;\nif (in) {\n  s[t] = a[t];\n#ifdef OTHER\n  in = false;\n#endif\n"
    "  o[t] = s[63 - t];\n}\n",
    "another branch": "if (t < n) {\n  s[t] = a[t];\n#ifdef OTHER\n} else if (t < m) {\n  s[t] = 3;\n#endif\n} else {\n"
    "  o[t] = s[63 - t];\n}\n",
    "one writer": "#ifdef OTHER\nif (t == 3)\n#endif\no[0] = t;\n",
}


@pytest.mark.parametrize("body", REWRITTEN.values(), ids=REWRITTEN.keys())
def test_what_is_rewritten_is_so_in_all_builds_or_by_choice(body: str) -> None:
    found = [fix for fix in fixes(kernel(body)) if fix.kind == "restructure"]
    assert found
    assert all("assumes that no other build has other code" in fix.title for fix in found)
    assert not any(fix.applies_unasked for fix in found)


def test_the_same_repair_in_all_builds_is_applied() -> None:
    inner = "#ifdef OTHER\ns[t] += 1;\n#else\ns[t] += 2;\n#endif\n"
    body = f"if (t < n) {{\n  s[t] = a[t];\n{inner}  o[t] = s[63 - t];\n}}\n"
    fix = fixes(kernel(body))[0]
    assert fix.kind == "restructure"
    assert fix.applies_unasked
    assert codes("#define OTHER\n" + edited(kernel(body), fix)) == []


def test_no_atomic_operation_is_written_that_another_build_has_not() -> None:
    text = kernel("#ifdef OTHER\nlong *c = (long *)o;\n#else\nint *c = o;\n#endif\nc[0] += a[t];\n")
    assert not [fix for fix in fixes(text) if fix.kind == "use-atomic"]


@pytest.mark.parametrize(
    ("head", "body"),
    [
        ("", "#ifdef OTHER\nint *c = o;\n#else\nlong long *c = (long long *)o;\n#endif\n"),
        ("#ifdef OTHER\ntypedef int T;\n#else\ntypedef long long T;\n#endif\n", "T *c = (T *)o;\n"),
        (
            "#ifdef OTHER\ntypedef int B;\n#else\ntypedef long long B;\n#endif\ntypedef B T;\n",
            "T *c = (T *)o;\n",
        ),
    ],
    ids=["pointer", "type", "type of a type"],
)
def test_no_atomic_operation_of_another_width_is_written_unasked(head: str, body: str) -> None:
    (fix,) = [fix for fix in fixes(head + kernel(f"{body}c[1] += a[t];\n")) if fix.kind == "use-atomic"]
    assert not fix.applies_unasked
    plain = fixes(kernel("#ifdef OTHER\na += 64;\n#endif\no[0] += a[t];\n"))
    assert any(fix.kind == "use-atomic" and fix.applies_unasked for fix in plain)


@pytest.mark.parametrize("body", ["o[0] += a[t];\n", f"if (t < n) {{\n{NEIGHBOUR}}}\n"], ids=["atomic", "split"])
def test_what_another_build_does_not_compile_is_rewritten_without_it(body: str) -> None:
    text = kernel(f"#ifdef OTHER\no[t] = a[t];\n#else\n{body}#endif\n")
    fix = fixes(text)[0]
    assert fix.kind in ("use-atomic", "restructure")
    assert fix.applies_unasked


def test_why_a_barrier_stays_that_only_another_build_needs_is_said() -> None:
    text = kernel("s[t] = a[t];\n__syncthreads();\n#ifdef OTHER\no[t] = s[63 - t];\n#else\no[t] = s[t];\n#endif\n")
    (answer,) = answers(engine(), CheckRequest(PATH, text))
    assert isinstance(answer, FixRefusal)
    assert answer.group == codes_by_group(text)["redundant-barrier"]
    assert answer.text.startswith("Another build may have other code from line 7 on, and there `s[t]` (line 5) and ")


def test_a_barrier_stays_in_a_loop_of_another_build() -> None:
    body = "for (int i = 0; i < m; i++) {{\no[t] = s[63 - t];\n{other}__syncthreads();\n}}\ns[t] = 1;\n"
    plain, text = kernel(body.format(other="")), kernel(body.format(other="#ifdef OTHER\ns[t] = a[i];\n#endif\n"))
    moved = [
        list(hoisted(engine(), (r := CheckRequest(PATH, x)), engine().result(r), lambda: False)) for x in (plain, text)
    ]
    assert moved[0]
    assert not moved[1]


# --- readings -------------------------------------------------------------------------------------------------


def read(text: str) -> list[str]:
    """The lines that each reading of a function leaves, joined."""
    data = text.encode()
    found: list[str] = []
    for reading in readings_of({PATH: data}, {PATH: [(0, len(data))]}).each:
        other = reading.of(data)
        assert [len(line) for line in other.split(b"\n")] == [len(line) for line in data.split(b"\n")]
        found.append(" ".join(line.strip() for line in other.decode().split("\n") if line.startswith("#")))
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" \n#ifdef X\na\n#else\nb\n#endif\n", ["#if 1 #else #endif", "#if 0 #else #endif"]),
        (" \n#ifndef X\na\n#endif\n", ["#if 0 #endif", "#if 1 #endif"]),
        (
            " \n#if A > 1 // one\n#elif defined(B)\n#endif\n",
            [
                "#if 1   // one #elif defined(B) #endif",
                "#if 0   // one #elif 1 #endif",
                "#if 0   // one #elif 0 #endif",
            ],
        ),
        (
            " \n#ifdef X\n#endif\n#if !defined(X)\n#endif\n",
            ["#if 1 #endif #if 0 #endif", "#if 0 #endif #if 1 #endif"],
        ),
        (" \n#if 0\na\n#else\nb\n#endif\n", []),
        (" \n#if 1\na\n#elif X\nb\n#endif\n", []),
        (" \n#if 0\n#elif X\n#endif\n", ["#if 0 #elif 1 #endif", "#if 0 #elif 0 #endif"]),
        (" \n#if /* c */ X /* d */ && Y // e\n#endif\n", ["#if 1 // e #endif", "#if 0 // e #endif"]),
        (" \n#ifdef __CUDA_ARCH__\na\n#endif\n", []),
        (" \n/*\n#ifdef X\n#endif\n*/", []),
    ],
)
def test_readings(text: str, expected: list[str]) -> None:
    found = read(text)
    assert [" ".join(line.split()) for line in found] == [" ".join(line.split()) for line in expected]


@pytest.mark.parametrize("count", [4, 12, 30])
def test_each_two_of_many_conditions_are_turned_round_together(count: int) -> None:
    text = b" \n" + b"".join(b"#ifdef X%d\n#define A%d\n#endif\n" % (i, i) for i in range(count))
    code = b" \n" + b"".join(b"A%d;\n" % i for i in range(count))
    assert not readings_of({PATH: text}, {PATH: [(0, len(text))]}).complete
    readings = readings_of({PATH: text + code}, {PATH: [(len(text), len(text + code))]})
    assert readings.complete
    assert len(readings.each) <= 12
    made = {pair for r in readings.each for pair in combinations(sorted(r.choice.items()), 2)}
    assert len(made) == 4 * comb(count, 2)


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("  CUT  k<<<1, n>>>();\n", 2),
        ("  for (;;) {\n    k<<<1, n>>>();\n  CUT  }\n", 2),
        ("  for (;;) {\n    k<<<1, n>>>();\n  }\n  CUT", 0),
        ("  k<<<1, n>>>();\n  CUT", 0),
        ("#ifdef Y\n  if (n) {\n#else\n  {\n#endif\n    k<<<1, n>>>();\n  }\n  CUT", 4),
    ],
    ids=["before", "in a loop", "behind a loop", "behind", "torn"],
)
def test_host_code_behind_the_launches_is_left_alone(body: str, count: int) -> None:
    own = "__global__ void k() {}\n"
    text = f"{own}void run(int n) {{\n{body}}}\n".replace("CUT", "\n#ifdef X\nn++;\n#endif\n")
    readings = readings_of({PATH: text.encode()}, {PATH: [(0, len(own))]}, {b"k"})
    assert len(readings.each) == count
    assert all(r.launches for r in readings.each)


def test_declarations_are_told_apart_where_two_branches_open_a_brace() -> None:
    text = (
        b"namespace x {\n__device__ int f(int t) {\n#ifdef A\n  if (t) {\n#else\n  {\n#endif\n  }\n}\n"
        b"struct Q final { int v; };\nint n = 3;\n}\n#define M(t) f(t)\n"
    )
    found = {name: d for d in declarations(text) for name in d.names}
    assert {name: text[d.start : d.end].split(b"\n")[0] for name, d in found.items()} == {
        b"f": b"__device__ int f(int t) {",
        b"Q": b"struct Q final { int v; };",
        b"n": b"int n = 3;",
        b"M": b"(t) f(t)",
    }


def test_a_condition_over_several_lines_keeps_them() -> None:
    assert read(" \n#if defined(A) && \\\n    defined(B)\n#endif\n")[0] == "#if 1             \\ #endif"
