"""Cells that threads count up within a limit: each takes a place of its own first, then compares."""

from __future__ import annotations

import pytest
from edited import applied

from analyzers.engine import Engine
from analyzers.model import Fix, FixRefusal, Verdict
from analyzers.requests import CheckRequest
from quickfix import answers

PATH = "/bounded/a.cu"
KERNEL = """// cuda-lsp: launch grid=(BLOCKS) block=(64)
__global__ void k(int *list, int *m, const int *d, int most) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = d[i];
  CODE
}
"""


def repaired(code: str, blocks: int = 4) -> tuple[str, Fix | None, list[str]]:
    """The code after the repair (empty where there is none), that, and what is said where there is none."""
    text = KERNEL.replace("CODE", code).replace("BLOCKS", str(blocks))
    found = list(answers(Engine(), CheckRequest(PATH, text)))
    fixes = [a for a in found if isinstance(a, Fix)]
    said = [a.text for a in found if isinstance(a, FixRefusal)]
    if not fixes:
        return "", None, said
    (fix,) = fixes
    after = applied(text, fix.edits)
    assert [k.verdict for k in Engine().analyse(CheckRequest(PATH, after)).result.kernels] == [Verdict.RACE_FREE]
    return " ".join(after[after.index("d[i];") + 5 : after.rindex("}")].split()), fix, said


@pytest.mark.parametrize(
    ("code", "after"),
    [
        (
            "if (*m < most) {\n    list[*m] = v;\n    (*m)++;\n  }",
            "int place; if ((place = atomicAdd(m, 1)) < most) { list[place] = v; }",
        ),
        (
            "if (v > 0 && most > m[0])\n    list[m[0]++] = v;",
            "int place; if (v > 0 && most > (place = atomicAdd(&m[0], 1))) list[place] = v;",
        ),
        (
            "if (*m < most) {\n    int at = (*m)++;\n    list[at] = v;\n  } else {\n    v = 0;\n  }",
            "int place; if ((place = atomicAdd(m, 1)) < most) { int at = place; list[at] = v; } else { v = 0; }",
        ),
        (
            "int at = *m;\n  if (at < most) {\n    list[at] = v;\n    *m = at + 1;\n  }",
            "int at = atomicAdd(m, 1); if (at < most) { list[at] = v; }",
        ),
        (
            "if (*m <= 9) {\n    list[i + 9] = v;\n    *m += 1;\n  }",
            "if (atomicAdd(m, 1) <= 9) { list[i + 9] = v; }",
        ),
        (
            "int at = *m;\n  if (at >= most) return;\n  *m = at + 1;\n  list[at] = v;",
            "int at = atomicAdd(m, 1); if (at >= most) return; list[at] = v;",
        ),
        (
            "if (*m < most) {\n    int at = atomicAdd(m, 1);\n    list[at] = v;\n  }",
            "int place; if ((place = atomicAdd(m, 1)) < most) { int at = place; list[at] = v; }",
        ),
        (
            "if (m[1] < most) {\n    atomicAdd(&m[1], 1);\n    list[i + 9] = v;\n  }",
            "if (atomicAdd(&m[1], 1) < most) { list[i + 9] = v; }",
        ),
        (
            "int place = v;\n  if (*m < most) {\n    list[*m] = place;\n    ++*m;\n  }",
            "int place = v; int place2; if ((place2 = atomicAdd(m, 1)) < most) { list[place2] = place; }",
        ),
        (
            "for (int j = 0; j < v; j++)\n    if (*m < most) list[(*m)++] = j;",
            "int place; for (int j = 0; j < v; j++) if ((place = atomicAdd(m, 1)) < most) list[place] = j;",
        ),
        (
            "if (v < 3)\n    v = 9;\n  else if (*m < most)\n    list[(*m)++] = v;",
            "int place; if (v < 3) v = 9; else if ((place = atomicAdd(m, 1)) < most) list[place] = v;",
        ),
        (
            "v++; if (*m < most) list[(*m)++] = v;",
            "v++; int place; if ((place = atomicAdd(m, 1)) < most) list[place] = v;",
        ),
    ],
)
def test_a_place_is_taken_before_it_is_compared(code: str, after: str) -> None:
    found, fix, _ = repaired(code)
    assert found == after
    assert fix is not None


@pytest.mark.parametrize("head", ["if (v > 3)\n    list[i] = 1;\n  else", "if (v > 3)"])
def test_what_another_build_has_in_front_still_goes_on_in_the_conditional(head: str) -> None:
    found, _, _ = repaired(f"#ifdef OTHER\n  {head}\n#endif\n  if (*m < most) list[(*m)++] = v;")
    assert found.startswith("int place; #ifdef OTHER")
    assert found.endswith("#endif if ((place = atomicAdd(m, 1)) < most) list[place] = v;")


@pytest.mark.parametrize(
    "code",
    [
        "if (*m < most) {\n    list[*m] = v;\n#ifdef OTHER\n    *m += 2;\n#else\n    *m += 1;\n#endif\n  }",
        "int at = *m;\n  if (at < most) {\n#ifdef OTHER\n    at = 2;\n#endif\n    *m = at + 1;\n  }",
    ],
)
def test_no_place_is_taken_in_front_of_code_of_another_build(code: str) -> None:
    assert repaired(code)[0] == ""


def test_it_is_a_choice_and_says_what_is_counted() -> None:
    _, fix, _ = repaired("if (*m < most) {\n    list[*m] = v;\n    (*m)++;\n  }")
    assert fix is not None
    assert not fix.preferred
    assert "Take a place from *m in line 5 by atomicAdd(), then compare it with most" in fix.title
    assert any("*m may end above most" in note for note in fix.notes)


@pytest.mark.parametrize(
    "code",
    [
        "if (*m != most) {\n    list[*m] = v;\n    (*m)++;\n  }",
        "if (*m < most && v > 0)\n    list[(*m)++] = v;",
        "if (*m < most || v > 0)\n    list[(*m)++] = v;",
        "if (*m < most) {\n    if (v) list[(*m)++] = v;\n  }",
        "if (*m < most) {\n    if (v) return;\n    list[(*m)++] = v;\n  }",
        "if (*m < most) {\n    (*m)++;\n    list[*m] = v;\n  }",
        "if (*m < most)\n    v ? list[(*m)++] = v : 0;",
        "if (*m < most) {\n    list[*m] = v;\n    *m += 2;\n  }",
        "if (m[v] < most) {\n    v = d[v];\n    list[m[v]++] = v;\n  }",
        "int at = *m;\n  if (at < most) return;\n  *m = at + 1;\n  list[at] = v;",
        "int at = *m;\n  if (at >= most) return;\n  at = 2;\n  *m = at + 1;\n  list[at] = v;",
        "int at = *m;\n  if (at < most) {\n    if (v) return;\n    *m = at + 1;\n    list[at] = v;\n  }",
        "if (*m < most) {\n    int at = atomicAdd(m, 2);\n    list[at] = v;\n  }",
        "int at = *m;\n  if (at < most && v) {\n    list[at] = v;\n    *m = at + 1;\n  }",
    ],
    ids=[
        *("unequal", "more behind", "or", "inner condition", "return", "named behind", "choice", "by two"),
        *("another cell", "turned", "changed", "return after all", "atomic by two", "condition besides"),
    ],
)
def test_no_place_is_taken_that_is_left_empty_or_another_one(code: str) -> None:
    found = list(answers(Engine(), CheckRequest(PATH, KERNEL.replace("CODE", code).replace("BLOCKS", "4"))))
    assert any(isinstance(a, FixRefusal) for a in found)
    assert not any(a.title.startswith("Take a place") for a in found if isinstance(a, Fix))


def test_no_barrier_goes_between_a_limit_and_what_counts() -> None:
    """All threads would find the counter as it was before, however many there are."""
    shared = "__shared__ int c;\n  if (threadIdx.x == 0) c = 0;\n  __syncthreads();\n"
    found, _, said = repaired(f"{shared}  if (c < most && v > 0)\n    list[c++] = v;", blocks=1)
    assert not found
    assert any("has to be one atomic operation with it" in text for text in said)
    found, _, _ = repaired(f"{shared}  if (v > 0 && c < most)\n    list[c++] = v;", blocks=1)
    assert found.endswith("if (v > 0 && (place = atomicAdd(&c, 1)) < most) list[place] = v;")
