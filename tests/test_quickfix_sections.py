"""Edits around preprocessor lines: whole under the condition that nobody has analysed, too."""

from __future__ import annotations

import pytest
from restructured import LAUNCH, edited, engine, refusal, repaired

from analyzers.model import Fix, FixRefusal
from analyzers.requests import CheckRequest, UnitFinished
from quickfix import answers, fix_for, remove_redundant

CONDITION = """__global__ void k(int *a, int n) {
  int t = threadIdx.x;
#ifdef OTHER
  if (t < 64)
#else
  if (t < n)
#endif
  {
    a[t] = t;
    a[t + 64] = a[(t + 1) % 64];
  }
}
"""
BODY = """__global__ void k(int *a, int *o, int n) {{
  __shared__ int s[64];
  int t = threadIdx.x;
  {head} {{
    s[t] = a[t];
#ifdef OTHER
    s[t] += 1;
#else
    s[t] += 2;
#endif
    o[t] = s[63 - t];
#ifdef OTHER
    o[t] += 1;
#else
    o[t] += 2;
#endif
  }}
}}
"""
JUMP = """__global__ void k(int *a, int *o, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  for (int i = 0; i < 3; i++) {
    if (t == n) continue;
    s[t] = a[i];
#ifdef OTHER
    o[i] = s[t];
#else
    o[t + 64 * i] = s[63 - t];
#endif
  }
}
"""
CALLED = """__device__ void step(int *s, int t) {
  s[t] = t;
  __syncthreads();
#ifdef OTHER
  s[t] = 3;
#else
  s[t + 64] = s[(t + 1) % 64];
#endif
}
// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(int *a, int n) {
  int t = threadIdx.x;
  if (t < n) step(a, t);
}
"""


def compiles(text: str) -> bool:
    (unit,) = [e.result for e in engine().check(CheckRequest("/sections/a.cu", text)) if isinstance(e, UnitFinished)]
    return not unit.syntax


@pytest.mark.parametrize(
    "text",
    [
        LAUNCH + BODY.format(head="if (t < n)"),
        LAUNCH + BODY.format(head="for (int i = t; i < n; i += 64)"),
        LAUNCH + BODY.format(head="for (int i = t * 2; i < n; i += 64)"),
    ],
    ids=["conditional", "base", "vote"],
)
def test_the_text_compiles_under_the_other_condition(text: str) -> None:
    answer = repaired(text, "k")
    assert isinstance(answer, Fix), answer
    assert compiles("#define OTHER\n" + edited(text, answer))


@pytest.mark.parametrize("text", [LAUNCH + JUMP, CALLED], ids=["jump", "called"])
def test_what_has_no_such_repair_in_another_build_is_rewritten_only_by_choice(text: str) -> None:
    fixes = [a for a in answers(engine(), CheckRequest("/sections/a.cu", text)) if isinstance(a, Fix)]
    assert fixes
    for fix in fixes:
        assert not fix.applies_unasked
        assert ", assumes that no other build has other code from line" in fix.title
        assert compiles("#define OTHER\n" + edited(text, fix))


def test_what_only_one_condition_sees_is_not_needed_outside_of_it() -> None:
    assert "Preprocessor lines cut" in refusal(CONDITION)


def test_a_comment_in_front_of_a_condition_is_not_lost() -> None:
    assert "comment" in refusal(
        CONDITION.partition("#ifdef")[0] + "  if /* some */ (t < n)" + CONDITION.partition("#endif")[2]
    )


@pytest.mark.parametrize("other", ["if (t == 0) {", "for (int i = 0; i < t; i++) {"])
def test_a_barrier_stands_in_front_of_what_another_build_does_under_a_condition(other: str) -> None:
    text = f"""{LAUNCH}__global__ void k(int *a, int *o, int n) {{
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = a[t];
#ifdef OTHER
  {other}
#else
  {{
#endif
    o[t] = s[63 - t];
  }}
}}
"""
    assert edited(text, repaired(text, "k")) == text.replace("  s[t] = a[t];\n", "  s[t] = a[t];\n  __syncthreads();\n")


@pytest.mark.parametrize("guard", ["", "if (t < 32) "])
def test_a_barrier_that_another_build_needs_is_not_removed(guard: str) -> None:
    """One that orders nothing, and one that some threads miss, in this build."""
    text = f"""{LAUNCH}__global__ void k(int *o, int n) {{
  int t = threadIdx.x;
  o[t] = n;
  {guard}__syncthreads();
#ifdef OTHER
  o[t] += o[63 - t];
#endif
}}
"""
    request = CheckRequest("/sections/a.cu", text)
    found = [a for a in answers(engine(), request) if isinstance(a, Fix)]
    assert not any(fix.applies_unasked or fix.kind == "remove-barrier" for fix in found)
    assert all("__syncthreads();" in edited(text, fix) for fix in found)
    if not guard:
        (group,) = {f.group for k in engine().result(request).kernels for c in k.contexts for f in c.findings}
        answer = fix_for(engine(), request, group)
        assert isinstance(answer, FixRefusal)
        assert answer.text == (
            "Another build may have other code from line 6 on, and there `o[t]` (line 4) and `o[63 - t]` (line 7) "
            "would race."
        )
    plain = text.replace("#ifdef OTHER\n", "").replace("#endif\n", "").replace("  o[t] += o[63 - t];\n", "")
    (fix,) = (a for a in answers(engine(), CheckRequest("/sections/a.cu", plain)) if isinstance(a, Fix))
    assert fix.preferred


def test_barriers_that_another_build_may_need_are_not_removed_with_all_others() -> None:
    kernel = "__global__ void {name}(int *o) {{\n  o[threadIdx.x] = 1;\n  __syncthreads();\n{more}}}\n"
    other = kernel.format(name="other", more="#if OTHER\n  o[threadIdx.x] += o[0];\n#endif\n")
    text = LAUNCH + kernel.format(name="k", more="") + LAUNCH + other
    fix = remove_redundant(engine(), CheckRequest("/sections/a.cu", text))
    assert (
        edited(text, fix)
        == LAUNCH + kernel.format(name="k", more="").replace("  __syncthreads();\n", "") + LAUNCH + other
    )
    alone = remove_redundant(engine(), CheckRequest("/sections/a.cu", LAUNCH + other))
    assert isinstance(alone, FixRefusal)
    assert "another build may have other code from line 5 on" in alone.text.lower()


@pytest.mark.parametrize(
    ("code", "after"),
    [
        ("switch (n) { case 0: a[t] = 2; break; default: __syncthreads(); }", "default: ; }"),
        ("switch (n) { case 0: a[t] = 2; break; default: __syncthreads(); __syncthreads(); }", "default: ; }"),
        ("switch (n) { case 0: a[t] = 2; break; case 1: __syncthreads(); default: __syncthreads(); }", "default: ; }"),
        ("if (n == 3) goto end; a[t] = 2; end: __syncthreads(); __syncthreads();", "end: ;"),
        ("if (n) __syncthreads(); else __syncthreads();", "if (!n) {}"),
        ("if (n) __syncthreads(); else { if (n > 3) { __syncthreads(); } }", "if (!n) { }"),
        ("__syncthreads(); __syncthreads(); a[t] = 2;", "a[t] = 1; a[t] = 2;"),
    ],
)
def test_needless_barriers_that_share_a_place_go_together(code: str, after: str) -> None:
    text = f"{LAUNCH}__global__ void k(int *a, int n) {{\n  int t = threadIdx.x;\n  a[t] = 1;\n  {code}\n}}\n"
    fix = remove_redundant(engine(), CheckRequest("/sections/a.cu", text))
    assert isinstance(fix, Fix), fix
    found = edited(text, fix)
    assert "__syncthreads" not in found
    # A label at the end of a block is none before C++23.
    assert after in " ".join(found.split())
