"""Updates that a macro writes, made atomic: in its definition where that is right for all uses, else at the uses."""

from __future__ import annotations

from pathlib import Path

import pytest
from edited import applied

from analyzers.engine import Engine
from analyzers.model import Fix, FixRefusal, Verdict
from analyzers.requests import CheckRequest
from quickfix import answers

KERNEL = """// cuda-lsp: launch grid=(4) block=(64)
__global__ void k(int *m, float *f, const int *d, int *o) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = d[i];
{0}
}}
"""


def answered(text: str, path: str = "/macros/a.cu") -> tuple[list[Fix], list[str]]:
    found = list(answers(Engine(), CheckRequest(path, text)))
    return [a for a in found if isinstance(a, Fix)], [a.text for a in found if isinstance(a, FixRefusal)]


def verdicts(text: str, path: str = "/macros/a.cu") -> set[Verdict]:
    return {k.verdict for k in Engine().analyse(CheckRequest(path, text)).result.kernels}


@pytest.mark.parametrize(
    ("definition", "uses", "after"),
    [
        ("INC(x) ((x) += 1)", "  INC(m[0]);", "INC(x) atomicAdd(&(x), 1)"),
        ("INC(x) ((x) += 1)", "  if (v > 3) INC(m[v]); else INC(*(m + 1));", "INC(x) atomicAdd(&(x), 1)"),
        ("INC(x) (x)++", "  INC(*m);\n  INC(f[1]);", "INC(x) atomicAdd(&(x), 1)"),
        ("ADD(x, by) (x) = (x) + (by)", "  ADD(m[0], v);\n  ADD(m[0], i * 2);", "ADD(x, by) atomicAdd(&(x), by)"),
        ("LARGER(x, y) x = max(x, y)", "  LARGER(m[0], v);", "LARGER(x, y) atomicMax(&(x), y)"),
        ("LARGER(x, y) if ((x) < (y)) (x) = (y)", "  LARGER(m[0], v);", "LARGER(x, y) atomicMax(&(x), y)"),
        (
            "ADD(a, at, by) do { (a)[at] -= by; } while (0)",
            "  ADD(m, v & 3, 2);",
            "ADD(a, at, by) do { atomicSub(&(a)[at], by); } while (0)",
        ),
        (
            "ADD(a, by)  \\\n  do {       \\\n    *(a) += (by); \\\n  } while (0)",
            "  ADD(m, 2);\n  ADD(m + v, 3);",
            "ADD(a, by)  \\\n  do {       \\\n    atomicAdd(a, by); \\\n  } while (0)",
        ),
        ("TAKE(x, who) if ((x) == 0) (x) = who", "  TAKE(m[0], i + 1);", "TAKE(x, who) atomicCAS(&(x), 0, who)"),
        ("LESS(x, by) (x) -= by", "  LESS(f[0], v);", "LESS(x, by) atomicAdd(&(x), -(float)(by))"),
        ("NEXT(x) ((x)++)", "  o[NEXT(*m)] = v;", "NEXT(x) atomicAdd(&(x), 1)"),
    ],
)
def test_the_definition_gets_the_atomic_function(definition: str, uses: str, after: str) -> None:
    text = f"#define {definition}\n" + KERNEL.format(uses)
    fixes, said = answered(text)
    fix = fixes[0]
    found = applied(text, fix.edits)
    assert found == text.replace(definition, after), said
    assert fix.kind == "use-atomic"
    assert fix.preferred
    assert f"All uses of {definition[: definition.index('(')]} are atomic." in fix.notes
    assert " in line 1 atomic, by atomic" in fix.title
    if len(fixes) == 1:
        assert verdicts(found) == {Verdict.RACE_FREE}


@pytest.mark.parametrize(
    ("definition", "uses", "after"),
    [
        # A variable of the thread takes no atomic function.
        ("INC(x) ((x) += 1)", "  INC(v);\n  INC(m[0]);\n  o[i] = v;", "  INC(v);\n  atomicAdd(&m[0], 1);\n  o[i] = v;"),
        # What the use gives is the new value.
        ("INC(x) ((x) += 1)", "  INC(m[0]);\n  o[i] = INC(o[i]);", "  atomicAdd(&m[0], 1);\n  o[i] = INC(o[i]);"),
        ("INC(x) ((x) += 1)", "  INC(v);\n  o[i] = INC(*m);", "  INC(v);\n  o[i] = (atomicAdd(m, 1) + 1);"),
        # Another function for another type.
        ("SUB(x, y) (x) -= y", "  SUB(m[0], v);\n  SUB(f[i], v);", "  atomicSub(&m[0], v);\n  SUB(f[i], v);"),
        ("TALLY(x) do { (x)++; } while (0)", "  TALLY(v);\n  TALLY(m[v]);", "  TALLY(v);\n  atomicAdd(&m[v], 1);"),
        ("BOTH(x) o[i] = v; ++x", "  BOTH(v);\n  BOTH(m[0]);", "  BOTH(v);\n  o[i] = v; atomicAdd(&m[0], 1);"),
    ],
)
def test_where_uses_differ_the_one_that_races_gets_it(definition: str, uses: str, after: str) -> None:
    text = f"#define {definition}\n" + KERNEL.format(uses)
    (fix,), said = answered(text)
    assert applied(text, fix.edits) == text.replace(uses, after), said
    assert fix.kind == "use-atomic"
    assert "All uses" not in " ".join(fix.notes)


def test_uses_of_the_host_keep_the_definition() -> None:
    text = "#define INC(x) ((x) += 1)\nvoid host(int *x) { INC(x[0]); }\n" + KERNEL.format("  INC(m[0]);")
    (fix,), _ = answered(text)
    assert applied(text, fix.edits) == text.replace("  INC(m[0]);", "  atomicAdd(&m[0], 1);")


def test_uses_in_no_kernel_keep_the_definition() -> None:
    text = "#define INC(x) ((x) += 1)\n__device__ void unused(int *x) { INC(x[0]); }\n" + KERNEL.format("  INC(m[0]);")
    (fix,), _ = answered(text)
    assert applied(text, fix.edits) == text.replace("  INC(m[0]);", "  atomicAdd(&m[0], 1);")


@pytest.mark.parametrize(
    ("path", "more"),
    [
        ("a.cu", "#define NEXT(x) (INC(x) - 1)\n"),
        ("use.cuh", "__device__ inline int next(int *x) { return INC(*x); }\n"),
    ],
)
def test_what_other_macros_and_files_make_of_it_keeps_the_definition(path: str, more: str) -> None:
    own = "#define INC(x) ((x) += 1)\n"
    unsaved = {}
    if path == "a.cu":
        own += more
    else:
        own, unsaved = own + '#include "use.cuh"\n', {"/macros/use.cuh": more}
    text = own + KERNEL.format("  INC(m[0]);")
    found = list(answers(Engine(), CheckRequest("/macros/a.cu", text, unsaved=unsaved)))
    (fix,) = (answer for answer in found if isinstance(answer, Fix))
    assert applied(text, fix.edits) == text.replace("  INC(m[0]);", "  atomicAdd(&m[0], 1);")


def test_a_comment_in_the_update_is_not_lost() -> None:
    text = "#define INC(x) (x) /* one more */ += 1\n" + KERNEL.format("  INC(m[0]);")
    (fix,), _ = answered(text)
    assert applied(text, fix.edits) == text.replace("  INC(m[0]);", "  atomicAdd(&m[0], 1);")


def test_what_else_is_done_with_the_cell_is_ordered_by_barriers() -> None:
    kernel = """// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(int *o) {
  __shared__ int s;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  COUNT(s);
  o[threadIdx.x] = s;
}
"""
    text = "#define COUNT(x) do { (x)++; } while (0)\n" + kernel
    (fix,), _ = answered(text)
    after = applied(text, fix.edits)
    assert "#define COUNT(x) do { atomicAdd(&(x), 1); } while (0)\n" in after
    assert "  COUNT(s);\n  __syncthreads();\n  o[" in after
    assert verdicts(after) == {Verdict.RACE_FREE}


def test_a_definition_in_a_header_stays() -> None:
    header = "#pragma once\n#define INC(x) ((x) += 1)\n"
    text = '#include "inc.cuh"\n' + KERNEL.format("  INC(m[0]);")
    found = list(answers(Engine(), CheckRequest("/macros/a.cu", text, unsaved={"/macros/inc.cuh": header})))
    (fix,) = (answer for answer in found if isinstance(answer, Fix))
    assert applied(text, fix.edits) == text.replace("  INC(m[0]);", "  atomicAdd(&m[0], 1);")
    assert fix.preferred


@pytest.mark.parametrize(
    ("macros", "use", "why"),
    [
        ("#define INC(x) ((x) *= 2)\n", "INC(m[0]);", "no atomic function for `*`"),
        ("#define SWAP(a, b) (a)++, (b)++\n", "SWAP(m[0], m[1]);", "not one update"),
        ("#define INC(x) ADD(x, 1)\n#define ADD(x, y) ((x) += (y))\n", "INC(m[0]);", "in one use of a macro"),
        ("#define INC(x) x##_ptr[0]++\n", "int *m_ptr = m; INC(m);", "makes new words"),
        ("#define INC(...) (__VA_ARGS__)++\n", "INC(m[0]);", "any number"),
        ("#if N\n#define INC(x) ++(x)\n#else\n#define INC(x) (x)++\n#endif\n", "INC(m[0]);", "several definitions"),
        ("#define INC(x) (x)++\n", "INC(m[/* first */ 0]);", "comments"),
    ],
)
def test_what_is_no_single_update_of_a_plain_macro_is_refused(macros: str, use: str, why: str) -> None:
    fixes, said = answered(macros + KERNEL.format(f"  {use}"))
    assert not [fix for fix in fixes if fix.preferred]
    assert any(why in each for each in said), said


def test_what_several_kernels_use_is_repaired_for_all(tmp_path: Path) -> None:
    other = KERNEL.replace("void k(", "void other(")
    text = "#define INC(x) ((x) += 1)\n" + KERNEL.format("  INC(m[0]);") + other.format("  INC(f[0]);")
    fixes, _ = answered(text, str(tmp_path / "a.cu"))
    found = applied(text, fixes[0].edits)
    assert len(fixes) == 1
    assert "#define INC(x) atomicAdd(&(x), 1)\n" in found
    assert verdicts(found) == {Verdict.RACE_FREE}


def test_an_argument_that_is_written_is_not_computed_in_front_of_the_use() -> None:
    text = """#define MOVE(x) (x) = (x) * 3
// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(int *o) {
  __shared__ int s[64];
  s[threadIdx.x] = o[threadIdx.x];
  __syncthreads();
  MOVE(s[threadIdx.x / 2]);
  __syncthreads();
  o[threadIdx.x] = s[threadIdx.x];
}
"""
    fixes, said = answered(text)
    assert not [fix for fix in fixes if "value" in applied(text, fix.edits)]
    assert said
