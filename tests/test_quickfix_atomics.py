"""Updates of a cell by many threads, made atomic: which ones are told, how they are written, and which are refused."""

from __future__ import annotations

import pytest
from edited import applied

from analyzers.engine import Engine
from analyzers.model import Fix, FixRefusal, Verdict
from analyzers.requests import CheckRequest
from quickfix import answers

PATH = "/atomics/a.cu"
KERNEL = """// cuda-lsp: launch grid=(4) block=(64)
{before}__global__ void k({cell} *m, const {value} *d, int *o) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  {value} v = d[i];
  {code}
}}
"""


def repaired(code: str, cell: str = "int", value: str = "int", before: str = "") -> tuple[str, list[str]]:
    """The line of the update after the repair (empty where there is none), and what is said where there is none."""
    text = KERNEL.format(cell=cell, value=value, code=code, before=before)
    found = list(answers(Engine(), CheckRequest(PATH, text)))
    fixes = [a for a in found if isinstance(a, Fix)]
    said = [a.text for a in found if isinstance(a, FixRefusal)]
    if not fixes or fixes[0].kind != "use-atomic":
        return "", said
    after = applied(text, fixes[0].edits)
    kernels = Engine().analyse(CheckRequest(PATH, after)).result.kernels
    assert [k.verdict for k in kernels] == [Verdict.RACE_FREE]
    first = text[: text.index(code)].count("\n")
    return "\n".join(line.strip() for line in after.split("\n")[first:-2]), said


@pytest.mark.parametrize(
    ("code", "after"),
    [
        ("*m = *m + v;", "atomicAdd(m, v);"),
        ("*m = v + *m;", "atomicAdd(m, v);"),
        ("m[v] = m[v] + 1;", "atomicAdd(&m[v], 1);"),
        ("m['a'] = m['a'] + 1;", "atomicAdd(&m['a'], 1);"),
        ("*m = *m + v - i;", "atomicAdd(m, v - i);"),
        ("*m = *m - v;", "atomicSub(m, v);"),
        ("*m -= v + 1;", "atomicSub(m, v + 1);"),
        ("m[0] = (m[0] | v);", "atomicOr(&m[0], v);"),
        ("*m = v ^ *m;", "atomicXor(m, v);"),
        ("*(m + v) += i;", "atomicAdd(m + v, i);"),
        ("--*m;", "atomicSub(m, 1);"),
        ("(*m)++;", "atomicAdd(m, 1);"),
        ("if (v) o[i] = 1; else++*m;", "if (v) o[i] = 1; else atomicAdd(m, 1);"),
        ("do--*m;while (v-- > 0);", "do atomicSub(m, 1);while (v-- > 0);"),
        ("if (v > 3) ++*m; else o[i] = 1;", "if (v > 3) atomicAdd(m, 1); else o[i] = 1;"),
        ("*m = max(*m, v);", "atomicMax(m, v);"),
        ("*m = min(v, *m);", "atomicMin(m, v);"),
        ("*m = v < *m ? v : *m;", "atomicMin(m, v);"),
        ("*m = *m <= v ? v : *m;", "atomicMax(m, v);"),
        ("*m = *m > v ? *m : v;", "atomicMax(m, v);"),
        ("if (v < *m) *m = v;", "atomicMin(m, v);"),
        ("if (*m < v) { *m = v; }", "atomicMax(m, v);"),
        ("if (m[v] == 0) m[v] = i;", "atomicCAS(&m[v], 0, i);"),
        ("if (m[v] == 0) m[v] = d[i + 1];", "atomicCAS(&m[v], 0, d[i + 1]);"),
        ("if (v == i == *m) { *m = 1; o[i] = 2; }", "if (atomicCAS(m, v == i, 1) == (v == i)) { o[i] = 2; }"),
        ("if (m[v] == 0) { m[v] = 1; o[i] = 2; }", "if (atomicCAS(&m[v], 0, 1) == 0) { o[i] = 2; }"),
        ("if (!m[v]) { m[v] = 1; o[i] = 2; }", "if (atomicCAS(&m[v], 0, 1) == 0) { o[i] = 2; }"),
        ("if (!(*m)) *m = i + 1;", "atomicCAS(m, 0, i + 1);"),
        ("for (int j = 0; j < 3; j++, ++*m) o[i] = j;", "for (int j = 0; j < 3; j++, atomicAdd(m, 1)) o[i] = j;"),
    ],
)
def test_an_update_is_one_atomic_function(code: str, after: str) -> None:
    assert repaired(code)[0] == after


@pytest.mark.parametrize(
    ("code", "after"),
    [
        ("int k = m[0]++; o[i] = k;", "int k = atomicAdd(&m[0], 1); o[i] = k;"),
        ("o[i] = (*m)--;", "o[i] = atomicSub(m, 1);"),
        ("o[i] = ++*m;", "o[i] = (atomicAdd(m, 1) + 1);"),
        ("o[i] = *m += v;", "o[i] = (atomicAdd(m, v) + v);"),
        ("o[i] = *m = max(*m, v);", "o[i] = max(atomicMax(m, v), v);"),
        ("o[i] = *m = min(v, *m);", "o[i] = min(v, atomicMin(m, v));"),
        ("o[i] = *m = ::max(*m, v);", "o[i] = ::max(atomicMax(m, v), v);"),
        ("auto f = [&] { return(*m)--; }; o[i] = f();", "auto f = [&] { return atomicSub(m, 1); }; o[i] = f();"),
        ("if ((*m)++ == 3) o[i] = 1;", "if (atomicAdd(m, 1) == 3) o[i] = 1;"),
    ],
)
def test_the_value_of_an_update_is_that_of_the_same_time(code: str, after: str) -> None:
    assert repaired(code)[0] == after


@pytest.mark.parametrize(
    ("cell", "value", "code", "after"),
    [
        ("float", "int", "*m += v;", "atomicAdd(m, v);"),
        ("float", "float", "*m = *m - v;", "atomicAdd(m, -v);"),
        ("double", "unsigned", "*m -= v;", "atomicAdd(m, -(double)v);"),
        ("unsigned long long", "unsigned", "*m -= v;", "atomicAdd(m, 0ULL - v);"),
        ("float", "float", "*m -= (v + 1);", "atomicAdd(m, -(v + 1));"),
        ("int", "int", "*m += ((v));", "atomicAdd(m, v);"),
        ("int", "int", "*m += (i, v);", "atomicAdd(m, (i, v));"),
        ("unsigned long long", "int", "(*m)--;", "atomicAdd(m, 0ULL - 1);"),
        ("long long", "int", "m[v] += i;", "atomicAdd((unsigned long long *)&m[v], i);"),
        ("long long", "int", "o[i] = m[0]++;", "o[i] = (long long)atomicAdd((unsigned long long *)&m[0], 1);"),
        ("long long", "int", "*m = max(*m, (long long)v);", "atomicMax(m, (long long)v);"),
        ("unsigned", "int", "if (*m < v) *m = v;", "atomicMax(m, v);"),
        ("unsigned", "long long", "*m += v;", "atomicAdd(m, v);"),
        ("long long", "long long", "*m = *m + v - i;", "atomicAdd((unsigned long long *)m, v - i);"),
        ("long long", "int", "o[i] = *m = llmax(*m, v);", "o[i] = llmax(atomicMax(m, v), v);"),
    ],
)
def test_the_function_fits_the_type_of_the_cell(cell: str, value: str, code: str, after: str) -> None:
    assert repaired(code, cell, value)[0] == after


@pytest.mark.parametrize(
    ("cell", "value", "code", "why"),
    [
        ("int", "int", "*m *= v;", "no atomic function for `*`"),
        ("float", "float", "*m = fmaxf(*m, v);", "no atomic function for `fmax`"),
        ("short", "int", "*m += v;", "no form for cells of type `short`"),
        ("long", "int", "*m += v;", "how wide that is depends on the system"),
        ("int", "float", "*m += v;", "would be converted to `int` before"),
        ("float", "double", "*m = *m + v;", "would be converted to `float` before"),
        ("int", "unsigned", "if (v > *m) *m = v;", "would be converted to `int` before"),
        ("int", "int", "o[i] = *m += d[i + v];", "would be evaluated twice"),
        ("int", "long long", "o[i] = *m += v;", "would be converted to `int` before"),
        ("int", "int", "o[i] = *m = *m < v ? v : *m;", "`atomicMax` gives the old one"),
        ("int", "int", "if (*m == 0) *m = v++; o[i] = v;", "`v++` would be evaluated by threads that do not get in"),
        ("int", "int", "if (m[v] == 0) m[v] = o[d[i]];", "`o[d[i]]` would be evaluated by threads that do not get in"),
    ],
)
def test_what_no_function_does_is_refused_with_the_reason(cell: str, value: str, code: str, why: str) -> None:
    after, said = repaired(code, cell, value)
    assert not after
    assert any(why in text for text in said)


@pytest.mark.parametrize(
    ("code", "cell", "after"),
    [
        ("if (v < *m) { *m = v; o[i] = 1; }", "int", "if (v < atomicMin(m, v)) { o[i] = 1; }"),
        ("if (m[i / 2] <= v) { m[i / 2] = v; o[i] = 1; }", "int", "if (atomicMax(&m[i / 2], v) <= v) { o[i] = 1; }"),
        ("if ((*m) > (v)) { *m = v; o[i] = 1; }", "int", "if (atomicMin(m, v) > (v)) { o[i] = 1; }"),
        ("if (v < *m) { *m = v; o[i] = 1; }", "short", ""),
        ("if (v < *m) { *m = v; o[i] = 1; }", "float", ""),
        ("if (v < *m) { *m = v; o[i] = 1; }", "unsigned", "if (v < atomicMin(m, v)) { o[i] = 1; }"),
        ("if (v < *m) { *m = v; o[i] = 1; } else o[i] = 2;", "int", ""),
        ("while (v < *m) { *m = v; o[i] = 1; }", "int", ""),
    ],
)
def test_what_more_depends_on_compares_with_the_old_value(code: str, cell: str, after: str) -> None:
    assert repaired(code, cell=cell)[0] == after


@pytest.mark.parametrize(
    "code",
    [
        "if (v < *m) { o[i] = 1; *m = v; }",
        "if (v < *m) *m = v; else o[i] = 1;",
        "if (v < *m) *m = v + 1;",
        "m[o[i]++] += v;",
        "*m = *m + v * *m;",
        "*m = v - *m;",
        "if (*m != 0) *m = v;",
        "if (!m[v]) { o[i] = 1; m[v] = 1; }",
        "if (!m[v]) m[v + 1] = 1;",
        "*m = (*m + v, i);",
    ],
    ids=[
        *(
            "more before",
            "else",
            "other value",
            "acting cell",
            "cell twice",
            "reversed",
            "unequal",
            "later",
            "other cell",
            "comma",
        ),
    ],
)
def test_what_is_no_update_is_left_alone(code: str) -> None:
    assert not repaired(code)[0]


@pytest.mark.parametrize(
    ("code", "after"),
    [
        ("auto f = [&] { *m += v; }; f();", "auto f = [&] { atomicAdd(m, v); }; f();"),
        ("auto f = [&] { return (*m)++; }; o[i] = f();", "auto f = [&] { return atomicAdd(m, 1); }; o[i] = f();"),
    ],
    ids=["statement", "result"],
)
def test_the_statements_of_a_lambda_are_statements(code: str, after: str) -> None:
    assert repaired(code)[0] == after


@pytest.mark.parametrize(
    ("cell", "value", "code"),
    [
        ("unsigned long long", "unsigned", "*m = *m + v - i;"),
        ("long long", "unsigned", "*m = *m + v - 2u;"),
    ],
)
def test_terms_are_not_added_up_in_fewer_bits(cell: str, value: str, code: str) -> None:
    assert not repaired(code, cell, value)[0]


@pytest.mark.parametrize(
    ("before", "code"),
    [
        ("namespace ns { __device__ int max(int a, int b) { return a & b; } }\n", "*m = ns::max(*m, v);"),
        ("struct S { static __device__ int min(int a, int b) { return a; } };\n", "*m = S::min(*m, v);"),
    ],
    ids=["namespace", "class"],
)
def test_a_function_of_the_same_name_is_another_one(before: str, code: str) -> None:
    assert not repaired(code, before=before)[0]


@pytest.mark.parametrize(
    ("cell", "before", "code"),
    [("B", "struct B { int a : 3; int b : 5; };\n", "m->b += 1;"), ("int", "", "*m = (*m + v) - i;")],
    ids=["a bit field has no address", "one bracket of two"],
)
def test_no_update_is_written_that_does_not_compile(cell: str, before: str, code: str) -> None:
    after, said = repaired(code, cell=cell, before=before)
    assert not after
    assert not any("does not compile" in text for text in said)


@pytest.mark.parametrize(
    ("before", "code"),
    [
        ("", "m[v] += v++; o[i] = v;"),
        ("", "m[v] = m[v] + v++; o[i] = v;"),
        ("", "m[o[i]] += o[i]++;"),
        ("", "auto next = [&] { return v++; }; m[v] += next(); o[i] = v;"),
        ("", "int w = d[i + 1]; int *p = &w; m[w] += (*p)++; o[i] = w;"),
        ("", "int w = d[i + 1]; int &p = w; m[w] += p++; o[i] = w;"),
        ("__device__ int bump(int *o, int i) { return o[i]++; }\n", "m[o[i]] += bump(o, i);"),
        ("__device__ int bump(int &x) { return x++; }\n", "m[v] += bump(v); o[i] = v;"),
        (
            "struct A { int x; __device__ int next() { return x++; } };\nstruct B : A {};\n",
            "B b; b.x = v; m[b.x] += b.next(); o[i] = b.x;",
        ),
    ],
    ids=["it", "written out", "memory", "lambda", "pointer", "reference", "function", "argument", "base"],
)
def test_an_operand_that_changes_which_cell_it_is_stays_where_it_is(before: str, code: str) -> None:
    """It is evaluated first in an assignment, in any order among the arguments of a call."""
    assert not repaired(code, before=before)[0]


@pytest.mark.parametrize(
    ("before", "code", "after"),
    [
        ("__device__ int f(int i) { return i * 3; }\n", "m[d[i]] += f(v);", "atomicAdd(&m[d[i]], f(v));"),
        (
            "__device__ int f(int *o, int i) { return o[i]++; }\n",
            "m[v] += f(o, i);",
            "atomicAdd(&m[v], f(o, i));",
        ),
        ("", "m[v] += i++; o[i] = v;", "atomicAdd(&m[v], i++); o[i] = v;"),
        ("", "m[o[i]] += __popc(v) + v++;", "atomicAdd(&m[o[i]], __popc(v) + v++);"),
    ],
    ids=["number", "other memory", "other variable", "language"],
)
def test_other_operands_act_in_any_order(before: str, code: str, after: str) -> None:
    assert repaired(code, before=before)[0] == after


def test_an_update_in_a_macro_is_made_atomic_in_its_definition() -> None:
    assert repaired("BUMP(*m);", before="#define BUMP(x) (x)++\n")[0] == "BUMP(*m);"


@pytest.mark.parametrize(
    ("before", "code"),
    [
        (
            (
                "namespace ns {\n__device__ int atomicAdd(int *m, int v) { return v; }\n"
                "__device__ void add(int *m, int v) { *m += v; }\n}\n"
            ),
            "ns::add(m, v);",
        ),
        (
            (
                "struct C {\n  int *m;\n  __device__ int atomicAdd(int *p, int v) { return v; }\n"
                "  __device__ void add(int v) { *m += v; }\n};\n"
            ),
            "C c{m}; c.add(v);",
        ),
        ("#define atomicAdd(p, v) ((void)0)\n", "*m += v;"),
    ],
    ids=["namespace", "method", "macro"],
)
def test_a_function_of_the_name_of_the_atomic_one_is_not_called(before: str, code: str) -> None:
    after, said = repaired(code, before=before)
    assert not after
    assert any("is no function of CUDA's" in text for text in said)


@pytest.mark.parametrize(
    ("code", "behind"),
    [
        ("add(m, v); int x = 0; add(&x, v); o[i] = x;", ""),
        ("int x = 0; for (int j = 0; j < 2; j++) { int *p = j ? m : &x; add(p, v); } o[i] = x;", ""),
        ("add(m, v);", "__global__ void other(int *o) {\n  int x = 3;\n  add(&x, 3);\n  o[threadIdx.x] = x;\n}\n"),
    ],
    ids=["another call", "the same call", "another kernel"],
)
def test_no_variable_of_a_thread_is_updated_by_an_atomic_function(code: str, behind: str) -> None:
    """Their memory is none that atomic functions take."""
    before = f"__device__ void add(int *p, int v) {{\n  *p += v;\n}}\n{behind}"
    after, said = repaired(code, before=before)
    assert not after
    assert any("called for variables of a single thread, too" in text for text in said)


def test_variables_of_a_block_are_updated_by_atomic_functions_of_the_same_name() -> None:
    before = "__device__ void add(int *p, int v) {\n  *p += v;\n}\n"
    text = KERNEL.format(
        cell="int", value="int", code="__shared__ int s[64]; add(s + (i & 63), v); add(m, v);", before=before
    )
    (fix,) = answers(Engine(), CheckRequest(PATH, text))
    assert isinstance(fix, Fix)
    assert "atomicAdd(p, v);" in applied(text, fix.edits)


@pytest.mark.parametrize(
    ("attribute", "code", "after"),
    [
        ("", "m->x += v;", "atomicAdd(&m->x, v);"),
        ("__attribute__((packed))", "m->x += v;", ""),
        ("__attribute__((packed))", "m->q.x += v;", ""),
        ("__attribute__((packed))", "m->a[i & 1] += v;", ""),
        ("__attribute__((packed))", "*m->p += v;", "atomicAdd(m->p, v);"),
        ("__attribute__((packed))", "m->p[1] += v;", "atomicAdd(&m->p[1], v);"),
        ("__attribute__((packed, aligned(4)))", "m->x += v;", "atomicAdd(&m->x, v);"),
    ],
)
def test_members_of_packed_classes_have_addresses_that_no_atomic_function_takes(
    attribute: str, code: str, after: str
) -> None:
    before = f"struct Q {{ int x; }};\nstruct {attribute} P {{ int *p; int x; Q q; int a[2]; }};\n"
    assert repaired(code, cell="P", before=before)[0] == after


@pytest.mark.parametrize(
    "code", ["if (*m < v) *m = v;", "if (m[v] == 0) {\n    m[v] = 1;\n  }"], ids=["update", "claim"]
)
def test_a_conditional_stays_for_the_else_of_another_build(code: str) -> None:
    after, said = repaired(f"{code}\n#ifdef OTHER\n  else o[i] = 1;\n#endif")
    assert not after
    assert any("has an `else` behind a preprocessor line" in text for text in said)
    assert repaired(f"{code}\n#ifdef OTHER\n  o[i] = 1;\n#endif")[0].startswith("atomic")


def test_comments_stay() -> None:
    after, _ = repaired("if (v < *m) {  // smaller\n    *m = v;\n  }")
    assert after == "// smaller\natomicMin(m, v);"
    after, _ = repaired("if (m[v] == 0) {\n    m[v] = 1;  // seen\n    o[i] = 2;\n  }")
    assert after == "if (atomicCAS(&m[v], 0, 1) == 0) {\n// seen\no[i] = 2;\n}"
    after, _ = repaired("int c = m[0];  // so far\n  m[0] = c + 1;  // one more\n  o[i] = v;")
    assert after == "atomicAdd(&m[0], 1);  // so far\n// one more\no[i] = v;"


def test_what_an_atomic_update_would_still_collide_with_is_said() -> None:
    after, said = repaired("if (*m != 9) {\n    o[i] = v;\n    *m += 1;\n  }")
    assert not after
    assert any("update in line 7 would still collide with the read of `*m` in line 5" in text for text in said)


def test_what_follows_from_a_lost_update_goes_with_it() -> None:
    """The cells that a counter names are different ones once it counts: nothing is offered for writes to them."""
    text = KERNEL.format(cell="int", value="int", code="int at = (*m)++; o[at] = v;", before="")
    (fix,) = answers(Engine(), CheckRequest(PATH, text))
    assert isinstance(fix, Fix)
    assert "int at = atomicAdd(m, 1); o[at] = v;" in applied(text, fix.edits)
    assert len(fix.groups) == 2


def test_templates_are_judged_in_every_instance() -> None:
    text = """// cuda-lsp: launch grid=(4) block=(64)
template <class T> __global__ void k(T *m, const T *d) {
  *m = *m + d[threadIdx.x];
}
template __global__ void k<int>(int *, const int *);
template __global__ void k<OTHER>(OTHER *, const OTHER *);
"""
    (fix,) = answers(Engine(), CheckRequest(PATH, text.replace("OTHER", "float")))
    assert isinstance(fix, Fix)
    assert "atomicAdd(m, d[threadIdx.x]);" in applied(text, fix.edits)
    refused = answers(Engine(), CheckRequest(PATH, text.replace("OTHER", "short")))
    assert not any(isinstance(a, Fix) for a in refused)


def test_what_is_subtracted_in_a_template_is_negated_in_the_type_of_the_cell() -> None:
    text = """// cuda-lsp: launch grid=(4) block=(64)
template <class T> __global__ void k(T *m, const unsigned char *d) {
  *m -= d[threadIdx.x];
}
template __global__ void k<unsigned long long>(unsigned long long *, const unsigned char *);
"""
    (fix,) = answers(Engine(), CheckRequest(PATH, text))
    assert isinstance(fix, Fix)
    assert "atomicAdd(m, -(T)(d[threadIdx.x]));" in applied(text, fix.edits)


@pytest.mark.parametrize(
    ("code", "after"),
    [
        ("m[0] += v; m[0] += 2;", "atomicAdd(&m[0], v); atomicAdd(&m[0], 2);"),
        ("m[9] += v; m[ 9 ]--;", "atomicAdd(&m[9], v); atomicSub(&m[ 9 ], 1);"),
        ("m[d[i]] += v; m[d[i + 1]] -= v;", "atomicAdd(&m[d[i]], v); atomicSub(&m[d[i + 1]], v);"),
        ("m[v] += v; if (i == 0) m[0] += 1;", "atomicAdd(&m[v], v); if (i == 0) atomicAdd(&m[0], 1);"),
        ("m[0] |= v; m[0] |= m[0] & 1;", ""),
        ("m[0] += v; o[i] = m[0];", ""),
        ("m[0] += v; m[0] *= 2;", ""),
        ("m[0] += v; m[0] = 3;", ""),
    ],
)
def test_all_updates_of_a_cell_become_atomic_or_none(code: str, after: str) -> None:
    assert repaired(code)[0] == after


def test_updates_whose_order_matters_are_a_choice() -> None:
    text = KERNEL.format(code="m[0] += v; m[0] = max(m[0], v);", cell="int", value="int", before="")
    (fix,) = (a for a in answers(Engine(), CheckRequest(PATH, text)) if isinstance(a, Fix))
    assert "atomicAdd() and atomicMax()" in fix.title
    assert not fix.preferred
    assert any("in any order" in note for note in fix.notes)


SUM = """// cuda-lsp: launch grid=(4) block=(64)
__global__ void k(int *m, int *o) {
  int t = threadIdx.x;
  if (t == 0) m[blockIdx.x] = 0;
  m[blockIdx.x] += t;
  LAST
}
"""


@pytest.mark.parametrize("last", ["o[t + 64 * blockIdx.x] = m[blockIdx.x];", "if (t == 0) m[blockIdx.x] *= 2;"])
def test_what_else_is_done_with_the_cell_is_ordered_by_barriers(last: str) -> None:
    text = SUM.replace("LAST", last)
    fixes = [a for a in answers(Engine(), CheckRequest(PATH, text)) if isinstance(a, Fix)]
    (fix,) = (f for f in fixes if "atomic" in f.title)
    after = applied(text, fix.edits)
    assert "  __syncthreads();\n  atomicAdd(&m[blockIdx.x], t);\n  __syncthreads();\n" in after
    assert "+2 barriers" in fix.cost
    assert "1 atomic operation" in fix.cost
    assert [k.verdict for k in Engine().analyse(CheckRequest(PATH, after)).result.kernels] == [Verdict.RACE_FREE]


@pytest.mark.parametrize(
    ("code", "after"),
    [
        ("int old = *m; if (v > old) *m = v;", "atomicMax(m, v);"),
        ("int old = *m; if (old > v) { *m = v; }", "atomicMin(m, v);"),
        ("int old = m[1]; m[1] = old | v;", "atomicOr(&m[1], v);"),
        ("const int at = *m; o[at] = i; *m = at + 1;", "const int at = atomicAdd(m, 1); o[at] = i;"),
        ("int at = *m; *m = 2 + at; o[at] = i;", "int at = atomicAdd(m, 2); o[at] = i;"),
        ("int old = *m; if (o[i + 9] < old) *m = o[i + 9];", "atomicMin(m, o[i + 9]);"),
        ("int t = *m; t += v; *m = t;", "atomicAdd(m, v);"),
        ("int t = *m; t += d[i + 1]; *m = t;", "atomicAdd(m, d[i + 1]);"),
        ("int t = m[1]; t = t | v; m[1] = t; o[i] = t;", "int t = atomicOr(&m[1], v); t = t | v; o[i] = t;"),
        ("int t = *m; ++t; o[i] = 3; *m = t;", "atomicAdd(m, 1); o[i] = 3;"),
        ("int t = *m; t = max(t, v); *m = t;", "atomicMax(m, v);"),
        ("int t = *m; if (v < t) t = v; *m = t;", "atomicMin(m, v);"),
        ("int old = *m; int now = old - v; *m = now;", "atomicSub(m, v);"),
        (
            "int old = *m; int now = old + v; *m = now; o[i] = now;",
            "int old = atomicAdd(m, v); int now = old + v; o[i] = now;",
        ),
    ],
)
def test_a_variable_may_stand_between_read_and_write(code: str, after: str) -> None:
    found, _ = repaired(code)
    assert " ".join(found.split()) == after


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("int at = *m; at++; *m = at + 1;", "Between its read and the write"),
        ("int at = *m; o[i] = m[1]; *m = at + 1;", "Between its read and the write"),
        ("int at = *m; int w = v; *m = at + w;", "`w` is not known where the cell is read"),
        ("int at = *m; o[i] = 2; *m = at + o[i + 1];", "is not known where the cell is read"),
        ("int t = *m; t += v; t += i; *m = t;", "Between its read and the write"),
        ("int t = *m; t += v; v++; *m = t;", "Between its read and the write"),
        ("int t = *m; t += m[1]; *m = t;", "Between its read and the write"),
        ("int t = *m; t += d[i + 1]; *m = t; o[i] = t;", "`d[i + 1]` would be evaluated twice"),
        ("int t = *m; t += t; *m = t;", "Between its read and the write"),
        ("int t = *m; int &r = t; t += v; r = 2; *m = t;", "Between its read and the write"),
        ("int t = *m; short w = t + v; *m = w;", "the two would have to be one atomic operation"),
        ("int t = *m; t *= v; *m = t;", "no atomic function for `*`"),
        ("int at = *m; f(o); *m = at + 1;", "the two would have to be one atomic operation"),
        ("int at = *m; if (v) return; *m = at + 1;", "the two would have to be one atomic operation"),
        ("int at = *m; if (at > 9) { o[at] = i; *m = at + 1; }", "the two would have to be one atomic operation"),
    ],
)
def test_what_is_between_read_and_write_must_not_matter(code: str, why: str) -> None:
    found, said = repaired(code, before="__device__ void f(int *o) { o[threadIdx.x] = 1; }\n")
    assert not found
    assert any(why in text or "may act" in text for text in said), said


def test_what_is_read_behind_a_write_does_not_lead_to_it() -> None:
    text = """#define STEP(d) if (t >= d) s[t] += s[t - d]
// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(float *o) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = o[t];
  __syncthreads();
  STEP(1);
  STEP(2);
  __syncthreads();
  o[t] = s[t];
}
"""
    found = answers(Engine(), CheckRequest("/atomics/a.cu", text))
    said = [answer.text for answer in found if isinstance(answer, FixRefusal)]
    assert said
    assert all("are written by the macro `STEP`" in text for text in said), said


@pytest.mark.parametrize(
    "code",
    [
        "int t = *m;\n#ifdef OTHER\n  t += 7;\n#else\n  t += v;\n#endif\n  *m = t;",
        "int t = *m;\n#ifdef OTHER\n  t *= 2;\n#endif\n  *m = t + v;",
        "int t = *m;\n  t += v;\n#ifdef OTHER\n  o[i] = t;\n#endif\n  *m = t;",
        "if (m[v] == 0) {\n#ifdef OTHER\n    m[v] = 2;\n#else\n    m[v] = 1;\n#endif\n    o[i] = 2;\n  }",
        "#ifdef OTHER\n  if (m[v] == 3) {\n#else\n  if (m[v] == 0) {\n#endif\n    m[v] = 1;\n    o[i] = 2;\n  }",
    ],
    ids=["operand", "changed", "used", "claimed", "condition"],
)
def test_no_update_is_taken_together_across_code_of_another_build(code: str) -> None:
    after, said = repaired(code)
    assert not after
    assert any("There are preprocessor lines between" in text for text in said), said


def test_a_variable_that_another_build_uses_stays() -> None:
    after, _ = repaired("int t = *m;\n  t += v;\n  *m = t;\n#ifdef OTHER\n  o[i] = t;\n#endif")
    assert after == "int t = atomicAdd(m, v);\nt += v;\n#ifdef OTHER\no[i] = t;\n#endif"
    after, _ = repaired("int t = *m;\n  t += v;\n  *m = t;\n#ifdef OTHER\n  o[i] = v;\n#endif")
    assert after.startswith("atomicAdd(m, v);\n#ifdef")


def test_a_cell_that_a_race_has_chosen_is_not_written_by_exchanges() -> None:
    found, said = repaired("int at = *m; if (at > 9) { o[at] = i; *m = at + 1; }")
    assert not found
    assert any("that race comes first" in text for text in said)


def test_an_update_by_many_threads_is_atomic_before_it_is_counted_once() -> None:
    text = """__global__ void hist(const unsigned char *img, int n, unsigned *out) {
  __shared__ unsigned h[256];
  h[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    h[img[i]] = h[img[i]] + 1;
  __syncthreads();
  out[blockIdx.x * 256 + threadIdx.x] = h[threadIdx.x];
}
void run(const unsigned char *i, int n, unsigned *o) { hist<<<60, 256>>>(i, n, o); }
"""
    fix = next(a for a in answers(Engine(), CheckRequest("/atomics/hist.cu", text)) if isinstance(a, Fix))
    assert fix.applies_unasked
    assert "atomicAdd(&h[img[i]], 1);" in applied(text, fix.edits)


def test_an_atomic_update_is_a_choice_where_the_host_may_rule_the_race_out() -> None:
    text = """__global__ void add_rows(float *dst, const float *src, int w, int h, int pitch) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h) dst[y * pitch + x] += src[y * pitch + x];
}
void run(float *d, const float *s, int w, int h, int pitch) {
  add_rows<<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8)>>>(d, s, w, h, pitch);
}
"""
    fixes = [a for a in answers(Engine(), CheckRequest("/atomics/rows.cu", text)) if isinstance(a, Fix)]
    assert {fix.kind for fix in fixes} == {"use-atomic", "assert-host"}
    assert not any(fix.applies_unasked for fix in fixes)


def test_a_count_of_rounds_is_not_made_atomic_by_itself() -> None:
    text = """// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(int *o) {
  __shared__ int round;
  if (threadIdx.x == 0) round = 0;
  __syncthreads();
  while (round < 3) {
    o[round * 64 + threadIdx.x] = 1;
    __syncthreads();
    round = round + 1;
    __syncthreads();
  }
}
"""
    fixes = [a for a in answers(Engine(), CheckRequest("/atomics/round.cu", text)) if isinstance(a, Fix)]
    assert not any(fix.applies_unasked for fix in fixes)
