"""How many barriers a repair needs and where none helps: placements and refusals on small kernels."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest
from test_quickfix_golden import applied

from analyzers.engine import Engine
from analyzers.model import CheckOptions, Fix, FixRefusal, TextEdit, UnitResult, Verdict
from analyzers.requests import CheckRequest, UnitFinished, never
from quickfix import answers, available, fix_all, fix_for
from quickfix import oracle as oracle_module
from quickfix import session as session_module
from quickfix.paths import passage
from quickfix.session import Session
from quickfix.verify import RACES, findings_of, key_of

PATH = "/virtual/placed.cu"
BARRIERS = re.compile(r"__sync(?:threads|warp)\(\);")


@cache
def engine() -> Engine:
    return Engine()


def kernel(body: str, launch: str = "grid=(1) block=(64) n=8", head: str = "") -> str:
    return f"{head}// cuda-lsp: launch {launch}\n__global__ void k(int *A, int *B, int n) {{\n{body}}}\n"


def result(text: str, unsaved: dict[str, str] | None = None) -> UnitResult:
    for event in engine().check(CheckRequest(PATH, text, unsaved=unsaved or {})):
        if isinstance(event, UnitFinished):
            return event.result
    raise AssertionError("no result")


def groups(unit: UnitResult, code: Verdict | None = None) -> list[str]:
    found = (f for k in unit.kernels for c in k.contexts for f in c.findings)
    return list(dict.fromkeys(f.group for f in found if code is None or f.code is code))


def repaired(text: str) -> str:
    fix = fix_all(engine(), CheckRequest(PATH, text))
    assert isinstance(fix, Fix), fix.text
    after = applied(text, fix.edits)
    assert groups(result(after)) == [], after
    return after


def refusal(text: str) -> str:
    unit = result(text)
    (group,) = groups(unit)
    answer = fix_for(engine(), CheckRequest(PATH, text), group)
    assert isinstance(answer, FixRefusal), answer
    return answer.text


# AutoSync's micro-benchmarks (its table I: races-barriers-shape), written down from their descriptions.
MICRO = {
    "1-1-if": (
        1,
        """\
  int t = threadIdx.x, x = 0;
  if (t % 2 == 0) {
    x = A[t + 2];
  }
  if (t % 6 == 0) {
    A[t] += x;
  }
""",
    ),
    "1-1-loop:inter": (
        1,
        """\
  int t = threadIdx.x;
  for (int i = 0; i < n; ++i) {
    int x = i;
    A[(t + i) % 64] = x;
  }
""",
    ),
    "1-1-loop:intra": (
        1,
        """\
  int t = threadIdx.x;
  for (int i = 0; i < n; ++i) {
    A[i * 64 + t] = i;
    B[t] += A[i * 64 + 63 - t];
  }
""",
    ),
    "1-1-main": (
        1,
        """\
  int t = threadIdx.x;
  int x = A[t + 1];
  x = x + 11;
  A[t] += x;
""",
    ),
    "2-1-main": (
        1,
        """\
  int t = threadIdx.x;
  int x = A[t + 1];
  int y = B[t + 1];
  A[t] = x + y;
  B[t] = x - y;
""",
    ),
    "2-1-loop-d2-intra": (
        1,
        """\
  int t = threadIdx.x, x = 0, y = 0;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      x += A[(3 * i + j) * 65 + t + 1];
      y += B[(3 * i + j) * 65 + t + 1];
      A[(3 * i + j) * 65 + t] = x;
      B[(3 * i + j) * 65 + t] = y;
    }
  }
""",
    ),
    "2-2-loop-d2-both": (
        2,
        """\
  int t = threadIdx.x;
  for (int i = 0; i < n; ++i) {
    A[t] = i;
    for (int j = 0; j < 4; ++j) {
      B[t] += A[(t + j) % 64];
    }
  }
""",
    ),
    "2-2-loop:both": (
        2,
        """\
  int t = threadIdx.x;
  for (int i = 0; i < n; ++i) {
    int x = A[t + 1];
    x = x + i;
    A[t] += x;
  }
""",
    ),
}


@pytest.mark.parametrize("name", MICRO)
def test_micro_benchmarks_need_as_many_barriers_as_the_paper_says(name: str):
    barriers, body = MICRO[name]
    after = repaired(kernel(body))
    assert len(BARRIERS.findall(after)) == barriers, after


def test_a_barrier_in_the_outer_loop_is_preferred_to_one_in_the_inner():
    after = repaired(kernel(MICRO["2-2-loop-d2-both"][1]))
    inner = after[after.index("for (int j") : after.index("B[t]")]
    assert "__syncthreads" not in inner
    assert after.index("__syncthreads") < after.index("for (int j")


def test_outside_of_a_loop_when_one_access_is_outside():
    body = "  int t = threadIdx.x;\n  A[t] = t;\n  for (int i = 0; i < n; ++i) {\n    B[t] += A[(t + i) % 64];\n  }\n"
    after = repaired(kernel(body))
    assert "A[t] = t;\n  __syncthreads();\n  for" in after


def test_declarations_are_not_torn_apart():
    body = "  int t = threadIdx.x;\n  A[t] = t;\n  int x = t;\n  int y = A[63 - t];\n  B[t] = x + y;\n"
    assert "A[t] = t;\n  __syncthreads();\n  int x = t;\n  int y" in repaired(kernel(body))


def test_the_test_of_a_loop_reads_what_its_body_writes():
    body = (
        "  __shared__ int go[1];\n  int t = threadIdx.x;\n  if (t == 0) go[0] = n;\n  while (go[0] > 0) {\n"
        "    A[t] += 1;\n    if (t == 0) go[0] -= 1;\n  }\n"
    )
    unit = result(kernel(body))
    assert groups(unit)


REFUSALS = {
    "different blocks": (
        "  A[threadIdx.x] = blockIdx.x;\n",
        "grid=(2) block=(64) n=8",
        "Different blocks",
    ),
    "one statement": (
        "  int x = B[0] ? A[threadIdx.x] = A[threadIdx.x + 1] : 0;\n",
        "grid=(1) block=(64) n=8",
        "are in one statement (line 3)",
    ),
    "one execution": ("  A[threadIdx.x / 2] = threadIdx.x;\n", "grid=(1) block=(64) n=8", "one execution"),
    "within a branch that a part of the block takes": (
        " int t = threadIdx.x;\n switch (t / 48) {\n case 0: {\n int &a = A[t];\n a = 1;\n B[t] = A[47 - t];\n }\n }\n",
        "grid=(1) block=(64) n=8",
        "cannot be moved in front of the `switch`",
    ),
    "a loop that threads leave at different times": (
        "  int t = threadIdx.x;\n  for (int i = t; i < 9; i++) {\n    A[i] = t;\n    switch (i) { case 5: return; }\n}",
        "grid=(1) block=(64) n=8",
        "leaves a `switch` and the loop around it",
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refusal(name: str):
    body, launch, reason = REFUSALS[name]
    assert reason in refusal(kernel(body, launch))


def test_nothing_goes_into_the_use_of_a_macro():
    head = "#define BOTH(s, t, o) s[t] = t; o[t] = s[63 - t]\n"
    after = repaired(kernel("  BOTH(A, threadIdx.x, B);\n", head=head))
    assert "s[t] = t; __syncthreads(); o[t]" in after
    assert "  BOTH(A, threadIdx.x, B);\n}" in after


def test_what_looks_available_is_cheap_to_say():
    text = kernel(MICRO["1-1-main"][1])
    (offer,) = available(result(text))
    assert offer.title == "Insert __syncthreads() to order A[t + 1] and A[t]"
    assert available(result(kernel(REFUSALS["different blocks"][0], REFUSALS["different blocks"][1]))) == ()


def test_a_race_that_cannot_be_ordered_does_not_keep_others_from_it():
    body = "  int t = threadIdx.x;\n  A[t] = t;\n  B[t] = A[63 - t];\n  A[100] = t;\n"
    unit = result(kernel(body))
    answers = {g: fix_for(engine(), CheckRequest(PATH, kernel(body)), g) for g in groups(unit)}
    fixes = [a for a in answers.values() if isinstance(a, Fix)]
    refusals = [a for a in answers.values() if isinstance(a, FixRefusal)]
    assert len(fixes) == 1
    assert len(refusals) == 1
    assert any("one execution" in note for note in fixes[0].notes)


HEADER = "/virtual/shared.cuh"


def header_text() -> str:
    return "#pragma once\n__device__ inline int swapped(int *s, int t) {\n  s[t] = t;\n  return s[63 - t];\n}\n"


def test_a_repair_may_change_a_header():
    text = kernel(
        "  __shared__ int s[64];\n  A[threadIdx.x] = swapped(s, threadIdx.x);\n", head='#include "shared.cuh"\n'
    )
    unsaved = {HEADER: header_text()}
    (group,) = groups(result(text, unsaved))
    fix = fix_for(engine(), CheckRequest(PATH, text, unsaved=unsaved), group)
    assert isinstance(fix, Fix)
    assert {e.span.path for e in fix.edits} == {HEADER}
    after = applied(unsaved[HEADER], fix.edits)
    assert "s[t] = t;\n  __syncthreads();\n  return" in after
    assert groups(result(text, {HEADER: after})) == []
    assert fix.title.endswith("assumes that no other unit runs what changes in shared.cuh")
    assert not fix.applies_unasked, "another unit may call it where only some threads come by"
    assert isinstance(fix_all(engine(), CheckRequest(PATH, text, unsaved=unsaved)), FixRefusal)


TWO_CALLERS = """
__device__ void put(int *s, int t) {
  s[t] = t;
  __syncthreads();
}
// cuda-lsp: launch grid=(1) block=(64)
__global__ void needs_it(int *out) {
  __shared__ int s[64];
  put(s, threadIdx.x);
  out[threadIdx.x] = s[63 - threadIdx.x];
}
// cuda-lsp: launch grid=(1) block=(64)
__global__ void does_not(int *out) {
  __shared__ int s[64];
  put(s, threadIdx.x);
  out[threadIdx.x] = s[threadIdx.x];
}
"""


def test_a_barrier_of_a_function_stays_when_one_caller_needs_it():
    assert not groups(result(TWO_CALLERS))


BRANCHES = """\
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t < 32) {
    __syncthreads();
    s[t] = t;
  } else {
    __syncthreads();
    B[t] = s[t - 32];
  }
"""


def test_a_barrier_of_two_branches_never_goes_alone():
    text = kernel(BRANCHES)
    unit = result(text)
    for group in groups(unit, Verdict.BARRIER_DIVERGENCE):
        answer = fix_for(engine(), CheckRequest(PATH, text), group)
        assert isinstance(answer, Fix), answer.text
        assert set(groups(unit, Verdict.BARRIER_DIVERGENCE)) <= set(answer.groups)
        assert [e.new_text.count("__syncthreads") for e in answer.edits if "__syncthreads" in e.new_text] == [1]


def test_a_barrier_whose_counterpart_cannot_be_deleted_stays():
    head = "#define LAST(x) __syncthreads(); x = 1\n"
    text = kernel(
        "  if (threadIdx.x < 9) {\n    __syncthreads();\n  } else {\n    LAST(B[threadIdx.x]);\n  }\n", head=head
    )
    for group in groups(result(text), Verdict.BARRIER_DIVERGENCE):
        answer = fix_for(engine(), CheckRequest(PATH, text), group)
        assert isinstance(answer, FixRefusal), answer.title


@pytest.mark.parametrize(
    "loop",
    [
        "for (; i < t; i++) {{\n{}    if (i > 70) return;\n  }}",
        "do {{\n{}    if (i > 70) return;\n    i++;\n  }} while (i < A[t + 64]);",
        "while (true) {{\n{}    if (++i > t) goto end;\n  }}\n  end:;",
    ],
)
def test_a_barrier_goes_into_a_loop_that_threads_leave_for_good_if_all_make_it(loop: str):
    body = "    s[t] = i;\n    B[t] += s[63 - t];\n"
    text = kernel(f"  __shared__ int s[64];\n  int t = threadIdx.x, i = 0;\n  {loop.format(body)}\n")
    races = [g for code in RACES for g in groups(result(text), code)]
    assert races
    for group in races:
        answer = fix_for(engine(), CheckRequest(PATH, text), group)
        assert isinstance(answer, Fix), answer.text
        assert any("__syncthreads_or(active" in e.new_text for e in answer.edits)


def test_a_search_ends_when_its_share_of_work_is_done(monkeypatch: pytest.MonkeyPatch):
    text = kernel("  A[threadIdx.x] = 1;\n  B[threadIdx.x] = A[threadIdx.x + 1];\n")
    (group,) = groups(result(text))
    monkeypatch.setattr(oracle_module, "SEARCH_EFFORT", 0)
    answer = fix_for(engine(), CheckRequest(PATH, text), group)
    assert isinstance(answer, FixRefusal)
    assert "given up" in answer.text
    monkeypatch.undo()
    assert isinstance(fix_for(engine(), CheckRequest(PATH, text), group), Fix)


def test_a_check_spends_less_on_repairs_and_says_who_looks_further():
    text = kernel("  A[threadIdx.x] = 1;\n  B[threadIdx.x] = A[threadIdx.x + 1];\n")
    (group,) = groups(result(text))
    answer = fix_for(engine(), CheckRequest(PATH, text, options=CheckOptions(repair_effort=0)), group)
    assert isinstance(answer, FixRefusal)
    assert answer.text.endswith("`cuda-lsp fix` looks further.")


def test_a_barrier_that_a_macro_writes_with_other_code_stays():
    head = "#define PUT(s, t) s[t] = t; __syncthreads()\n"
    text = kernel("  PUT(A, threadIdx.x);\n  B[threadIdx.x] = A[threadIdx.x];\n", head=head)
    answer = fix_for(engine(), CheckRequest(PATH, text), groups(result(text))[0])
    assert isinstance(answer, FixRefusal)
    assert "part of a macro" in answer.text


def test_a_macro_that_is_nothing_but_a_barrier_can_go():
    head = "#define SYNC() __syncthreads()\n"
    text = kernel("  A[threadIdx.x] = 1;\n  SYNC();\n  B[threadIdx.x] = A[threadIdx.x];\n", head=head)
    answer = fix_for(engine(), CheckRequest(PATH, text), groups(result(text))[0])
    assert isinstance(answer, Fix)
    assert applied(text, answer.edits) == text.replace("  SYNC();\n", "")


PUT_AND_GET = (
    "__device__ void put(int *s, int t) { s[t] = t; }\n__device__ int get(int *s, int t) { return s[63 - t]; }\n"
    + kernel("  put(A, threadIdx.x);\n  B[threadIdx.x] = get(A, threadIdx.x);\n")
    + kernel("  put(A, threadIdx.x); B[threadIdx.x] = get(A, threadIdx.x);\n").replace("void k", "void second")
)


def test_one_barrier_in_a_function_is_cheaper_than_one_in_each_caller():
    assert len(BARRIERS.findall(repaired(PUT_AND_GET))) == 1


def test_a_race_is_still_there_while_a_kernel_that_was_not_edited_has_it():
    session = Session.open(engine(), CheckRequest(PATH, PUT_AND_GET), never)
    findings = [f for k in session.result.kernels for f in findings_of(k)]
    (gap,) = [c for c in passage(session.trees, findings[0]).candidates if not c.called]
    trial = session.trial(
        session.changes([gap]), frozenset(map(key_of, findings)), [k.mangled for k in session.result.kernels]
    )
    assert [key_of(f) for f in trial.difference.remaining] == [key_of(findings[1])]
    assert trial.gone == frozenset()


def test_edits_are_plain_data():
    fix = fix_all(engine(), CheckRequest(PATH, kernel(MICRO["1-1-main"][1])))
    assert isinstance(fix, Fix)
    assert all(isinstance(e, TextEdit) for e in fix.edits)
    assert fix.title.endswith("orders A[t + 1] and A[t], +1 barrier")
    assert fix.cost == "+1 barrier"


SELECTED = """// cuda-lsp: launch grid=(1) block=(64)
__device__ int smallest(const float *v, int *index) {
  int t = threadIdx.x;
  index[t] = t;
  __syncthreads();
  for (int offset = 32; offset > 0; offset /= 2) {
    if (t < offset && v[index[t + offset]] < v[index[t]]) index[t] = index[t + offset];
    __syncthreads();
  }
  return index[0];
}
__global__ void k(float *out, float f, float least) {
  __shared__ float s[64];
  __shared__ int index[64];
  int t = threadIdx.x, n = 0;
  while (true) {
    s[t] = f;
    int at = smallest(s, index);
    float low = s[at];
    s[t] = -f;
    int top = smallest(s, index);
    low -= s[top];
    if (low < least) {
      out[t] = low;
      break;
    }
    n++;
    f -= low;
    f *= 2;
    f += n;
  }
}
"""
TAIL = """// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(float *out, const float *in) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  if (t < 16) {
    s[t] += s[t + 16];
    s[t] += s[t + 8];
    s[t] += s[t + 4];
  }
  out[t] = s[t];
}
"""


@pytest.mark.parametrize(("text", "most"), [(SELECTED, 2), (TAIL, 36)], ids=["places alike", "needed barriers"])
def test_places_that_a_trial_tells_of_are_not_tried_again(text: str, most: int, monkeypatch: pytest.MonkeyPatch):
    trials: list[object] = []
    tried = session_module.Session.trial

    def counted(session: session_module.Session, *arguments: Any, **options: Any) -> session_module.Trial:
        trials.append(arguments)
        return tried(session, *arguments, **options)

    monkeypatch.setattr(session_module.Session, "trial", counted)
    assert isinstance(fix_all(engine(), CheckRequest(PATH, text)), Fix)
    assert len(trials) <= most


def test_races_that_go_along_with_others_are_not_called_left() -> None:
    text = """template <int N> __device__ void sum(float *s) {
  if (threadIdx.x < N) s[threadIdx.x] += s[threadIdx.x + N];
  if constexpr (N > 1) sum<N / 2>(s);
}
__global__ void k(float *o) {
  __shared__ float t[128];
  t[threadIdx.x] = o[threadIdx.x];
  sum<64>(t);
  if (threadIdx.x == 0) o[0] = t[0];
}
void h(float *o) { k<<<1, 128>>>(o); }
"""
    fix = fix_for(engine(), CheckRequest(PATH, text), groups(result(text))[0])
    assert isinstance(fix, Fix)
    assert [k.verdict for k in result(applied(text, fix.edits)).kernels] == [Verdict.RACE_FREE]
    assert not fix.notes


def test_many_races_go_with_one_action_where_barriers_are_all_that_is_missing() -> None:
    """Each by itself would be an action that leaves the others."""
    parts = [f"  s[{i}][t] = t;\n  A[{i * 64} + t] = s[{i}][63 - t];\n" for i in range(20)]
    text = kernel(f"  __shared__ int s[20][64];\n  int t = threadIdx.x;\n{''.join(parts)}")
    found = groups(result(text))
    assert len(found) > 16
    fix = fix_for(engine(), CheckRequest(PATH, text), found[0])
    assert isinstance(fix, Fix), fix
    after = applied(text, fix.edits)
    assert groups(result(after)) == []
    assert len(BARRIERS.findall(after)) <= 20


@pytest.mark.parametrize(
    ("loop", "after"),
    [
        (
            (
                "while (mask) {\n    int j = 31 - __clz(mask);\n    s[t] = __shfl_up_sync(~0u, x + t, 1);\n"
                "    x += s[j];\n    mask ^= 1u << j;\n  }"
            ),
            ["s[t] = __shfl_up_sync(~0u, x + t, 1);", "mask ^= 1u << j;"],
        ),
        (
            (
                "while (__any_sync(~0u, own)) {\n    int bit = __popc(__ballot_sync(~0u, own & 1));\n"
                "    if (own) s[(t + bit) & 31] = bit;\n"
                "    own &= own - 1;\n    x += s[t];\n  }"
            ),
            ["own &= own - 1;", "x += s[t];"],
        ),
    ],
    ids=["vote before the loop", "vote in the test"],
)
def test_where_a_barrier_leaves_a_race_in_doubt_another_one_is_tried(loop: str, after: list[str]) -> None:
    text = f"""// cuda-lsp: launch grid=(1) block=(32)
__global__ void k(int *out, const unsigned *in) {{
  __shared__ int s[32];
  int t = threadIdx.x, x = 0;
  unsigned own = in[t], mask = __ballot_sync(~0u, own & 1);
  {loop}
  out[t] = x;
}}
"""
    fix = next(a for a in answers(Engine(), CheckRequest("/doubts/a.cu", text)) if isinstance(a, Fix))
    assert fix.kind == "insert-barrier"
    assert fix.cost.startswith("+2 warp barriers per iteration")
    edited = applied(text, fix.edits)
    for line in after:
        assert f"    {line}\n    __syncwarp();\n" in edited


def test_a_place_that_threads_jump_over_says_nothing_of_those_in_front_of_the_jump() -> None:
    body = "  __shared__ int s[64];\n  int t = threadIdx.x;\n  s[t] = A[t];\n  if (t == 0) goto done;\n"
    after = repaired(kernel(body + "  B[t] = s[t - 1];\ndone:\n  B[t + 64] = 1;\n"))
    assert "  s[t] = A[t];\n  __syncthreads();\n  if (t == 0) goto done;\n  B[t] = s[t - 1];\ndone:" in after


@pytest.mark.parametrize(
    ("loop", "what"),
    [
        (
            (
                "for (int j = 0; j < 3; j++) {\n    int from = __brev(mask + j) >> 26;\n    s[t] = j;\n"
                "    x += s[t / 32 * 32 + from];\n  }"
            ),
            "Insert 2 barriers",
        ),
        (
            (
                "while (mask) {\n    int from = __ffs(mask) - 1;\n    s[t] = x;\n"
                "    x += s[(t / 32 * 32 + from + 32 * (from & 1)) % 64];\n    mask &= mask - 1;\n  }"
            ),
            "Let all threads make all iterations",
        ),
    ],
    ids=["loop", "loop of a vote"],
)
def test_a_race_that_is_left_in_doubt_is_not_repaired(loop: str, what: str) -> None:
    """Barriers between lanes order nothing between warps, which is not known to happen with them."""
    text = f"""// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(int *out, const int *in) {{
  __shared__ int s[128];
  int t = threadIdx.x, x = in[t];
  unsigned mask = __ballot_sync(~0u, x > 3);
  {loop}
  out[t] = x;
}}
"""
    fix = next(a for a in answers(Engine(), CheckRequest("/doubts/a.cu", text)) if isinstance(a, Fix))
    assert fix.title.startswith(what)
    assert "__syncwarp" not in applied(text, fix.edits)
    assert [k.verdict for k in result(applied(text, fix.edits)).kernels] == [Verdict.RACE_FREE]
