"""With some kernels selected, an edit is still judged by all that run the code it changes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from edited import applied

from analyzers.engine import Engine
from analyzers.frontend.parse import ParsedUnit, UnitParser
from analyzers.model import CheckOptions, Fix, FixRefusal, Verdict
from analyzers.requests import CheckRequest
from quickfix import answers, fix_all, fix_for

FUNCTION = """__device__ int swapped(int *s, int t) {
  s[t] = t;
  return s[63 - t];
}
// cuda-lsp: launch grid=(1) block=(64)
__global__ void all(int *out) {
  __shared__ int s[64];
  out[threadIdx.x] = swapped(s, threadIdx.x);
}
// cuda-lsp: launch grid=(1) block=(64)
__global__ void other(int *out) {
  __shared__ int s[64];
  %sout[threadIdx.x] = swapped(s, threadIdx.x);
}
"""
TEMPLATE = """template <bool HALF> __global__ void k(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  if (HALF && t < 32) return;
  if (!HALF || t > 40) {
    s[t] = t;
    out[t] = s[HALF ? t : 63 - t];
  }
}
void run(int *out) {
  k<false><<<1, 64>>>(out);
  k<true><<<1, 64>>>(out);
}
"""


def selecting(text: str, name: str) -> CheckRequest:
    return CheckRequest("/callers/a.cu", text, options=CheckOptions(kernels=(name,)))


@pytest.mark.parametrize(("guard", "possible"), [("", True), ("if (threadIdx.x < 32) ", False)])
def test_another_caller_has_to_agree(guard: str, possible: bool) -> None:
    request = selecting(FUNCTION % guard, "all")
    found = [fix_all(Engine(), request), *answers(Engine(), request)]
    assert len(found) == 2
    for answer in found:
        assert isinstance(answer, Fix) is possible
        if isinstance(answer, FixRefusal):
            assert answer.text == "The repair would edit code that `other` runs too, and be wrong there."


CALLERS = """__device__ int swapped(int *s, int t) {
  s[t] = t;
  return s[63 - t];
}
// cuda-lsp: launch grid=(1) block=(64)
__global__ void all(int *out) {
  __shared__ int s[64];
  out[threadIdx.x] = swapped(s, threadIdx.x);
}
// cuda-lsp: launch grid=(1) block=(64)
__global__ void other(int *out, int n) {
  __shared__ int s[64];
  int t = threadIdx.x, found = 0;
  if (t < n) {
    found = swapped(s, t);
  }
  out[t] = found;
}
"""


@pytest.mark.parametrize(
    ("text", "name", "other"),
    [(TEMPLATE, "k<false>", "k<true>"), (CALLERS, "all", "other")],
    ids=["another instance", "another caller"],
)
def test_kernels_that_a_repair_of_one_would_break_are_repaired_with_it(text: str, name: str, other: str) -> None:
    request = selecting(text, name)
    (fix,) = answers(Engine(), request)
    assert isinstance(fix, Fix)
    assert f"Repairs `{other}` too: the code is the same." in fix.notes
    for again in (fix_for(Engine(), request, fix.groups[0]), fix_all(Engine(), request)):
        assert isinstance(again, Fix)
        assert again.edits == fix.edits
    whole = Engine().inspect(CheckRequest("/callers/a.cu", applied(text, fix.edits)), ()).result
    found = {f.code for k in whole.kernels for c in k.contexts for f in c.findings}
    assert found <= {Verdict.BARRIER_AFTER_EXIT}


def test_kernels_that_do_not_run_the_code_are_not_asked() -> None:
    text = FUNCTION % "" + "__global__ void apart(int *out) { out[threadIdx.x / 2] = threadIdx.x; }\n"
    engine = Engine()
    assert isinstance(fix_all(engine, selecting(text, "all")), Fix)
    inside = text.index("s[t] = t")
    assert engine.others_at(selecting(text, "all"), [("/callers/a.cu", inside)]) == ("other",)
    assert engine.others_at(selecting(text, "all"), [("/callers/a.cu", text.index("out[threadIdx.x] ="))]) == ()


def test_templates_that_nobody_instantiates_run_the_code_too(monkeypatch: pytest.MonkeyPatch) -> None:
    template = "template <int N> __global__ void made(int *out) { __shared__ int s[64]; out[N] = swapped(s, N); }\n"
    text, parses = FUNCTION % "" + template, Counter[int]()
    parse = UnitParser.parse

    def counted(self: UnitParser, *given: Any) -> ParsedUnit:
        parses[len(given[4])] += 1
        return parse(self, *given)

    monkeypatch.setattr(UnitParser, "parse", counted)
    engine, request = Engine(), selecting(text, "all")
    assert [k.name for k in engine.result(request).kernels] == ["all"]
    assert parses == {0: 1}  # the check of the selected kernel has no use for an instance
    inside = text.index("s[t] = t")
    for _ in range(2):
        assert engine.others_at(request, [("/callers/a.cu", inside)]) == ("other", "made<32>")
    assert [k.name for k in Engine().result(selecting(text, "made<32>")).kernels] == ["made<32>"]


@pytest.mark.parametrize("name", ["swap_halves", "exchange"])
@pytest.mark.parametrize("condition", ["threadIdx.x < 100", "o[threadIdx.x] > 0.f"])
def test_a_barrier_that_another_kernel_needs_is_kept_for_all_callers(name: str, condition: str) -> None:
    """The kernel whose threads miss it has no race without it, or has: the other one has in any case. Functions of that
    name in C++'s own namespace are others."""
    text = f"""__device__ float {name}(float *s, float v) {{
  s[threadIdx.x] = v;
  __syncthreads();
  return s[blockDim.x - 1 - threadIdx.x];
}}
__global__ void all(float *o) {{
  __shared__ float s[256];
  o[threadIdx.x] = {name}(s, 1.f);
}}
__global__ void some(float *o) {{
  __shared__ float s[256];
  if ({condition})
    o[threadIdx.x] = {name}(s, 2.f);
}}
void host(float *o) {{ all<<<1, 256>>>(o); some<<<1, 256>>>(o); }}
"""
    request = CheckRequest("/callers/kept.cu", text)
    fix = next(a for a in answers(Engine(), request) if isinstance(a, Fix))
    after = applied(text, fix.edits)
    assert f"Let all threads call `{name}`" in fix.title
    assert f"{name}(s, 2.f, taken);" in after
    unit = Engine().analyse(CheckRequest("/callers/kept.cu", after)).result
    assert {k.name: k.verdict for k in unit.kernels} == dict.fromkeys(("all", "some"), Verdict.RACE_FREE)


def test_what_lies_in_a_header_has_a_repair_of_its_own(tmp_path: Path) -> None:
    """Others may include it, so that it is for the user to choose; what is wrong in the unit is repaired unasked."""
    (tmp_path / "turned.cuh").write_text("""#pragma once
__device__ inline void turned(float *s, float *o) {
  s[threadIdx.x] = o[threadIdx.x];
  o[threadIdx.x] = s[63 - threadIdx.x];
}
""")
    text = """#include "turned.cuh"
__global__ void k(float *o, float *p) {
  __shared__ float s[64], own[64];
  own[threadIdx.x] = 1;
  p[threadIdx.x] = own[threadIdx.x ^ 33];
  turned(s, o);
}
void go(float *o, float *p) { k<<<1, 64>>>(o, p); }
"""
    unit = tmp_path / "k.cu"
    unit.write_text(text)
    request = CheckRequest(str(unit), text)
    fixed = fix_all(Engine(), request)
    assert isinstance(fixed, Fix)
    assert not fixed.assumes
    assert {e.span.path for e in fixed.edits} == {str(unit)}
    mine, others = (a for a in answers(Engine(), request) if isinstance(a, Fix))
    assert (mine.edits, mine.notes) == (
        fixed.edits,
        ("Not repaired: what lies in other files has a repair of its own",),
    )
    assert {e.span.path for e in others.edits} == {str(tmp_path / "turned.cuh")}
    assert others.assumes
