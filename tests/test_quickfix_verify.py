"""An edit is judged by what it does to every kernel: results made by hand, compared."""

from __future__ import annotations

from dataclasses import replace

import pytest
from edited import applied

from analyzers.engine import Engine
from analyzers.model import (
    Access,
    ContextResult,
    Finding,
    Fix,
    KernelResult,
    LaunchSummary,
    Reason,
    Severity,
    SourceSpan,
    SyntaxIssue,
    UnitResult,
    Verdict,
)
from analyzers.requests import CheckRequest, never
from quickfix import answers
from quickfix.edits import BARRIER, Change, OffsetMap, apply
from quickfix.session import Session
from quickfix.verify import RACES, Difference, EditedFile, compare, findings_of, gone_groups, key_of

PATH = "/virtual/v.cu"
TEXT = b"0123456789\n" * 10
INSERTED = Change(50, 50, b"\n  " + BARRIER)
FILES = {PATH: EditedFile(TEXT, apply(TEXT, [INSERTED]), OffsetMap([INSERTED]))}
SHIFT = len(INSERTED.text)
LAUNCH = LaunchSummary("default", None, ("1", "1", "1"), ("64", "1", "1"))


def span(offset: int) -> SourceSpan:
    return SourceSpan(PATH, 1, 1, 1, 2, offset, offset + 1)


def race(one: int, two: int, code: Verdict = Verdict.DATA_RACE, group: str = "") -> Finding:
    accesses = (Access(1, span(one), "write", 4, "a"), Access(2, span(two), "read", 4, "b"))
    return Finding(code, Severity.ERROR, "a race", span(one), accesses, group or f"race:{one}:{two}")


def barrier(at: int, code: Verdict) -> Finding:
    access = Access(3, span(at), "barrier", 0, "__syncthreads()")
    return Finding(code, Severity.ERROR, "a barrier", span(at), (access,), f"{code.value}:{at}")


def unit(*findings: Finding, reasons: tuple[Reason, ...] = (), name: str = "k") -> UnitResult:
    context = ContextResult(LAUNCH, Verdict.RACE_FREE, findings, reasons)
    return UnitResult(PATH, 75, (KernelResult(name, name, span(0), span(0), Verdict.RACE_FREE, (context,)),))


BEFORE = unit(race(10, 60), race(20, 30))
TARGET = frozenset({key_of(race(10, 60))})


def judged(after: UnitResult, before: UnitResult = BEFORE) -> Difference:
    return compare(before, after, FILES, TARGET)


def test_a_doubt_about_a_new_barrier_counts_whatever_was_in_doubt_before():
    doubts = (Reason("budget", "could not decide whether all threads reach it", span(50 + 3)),)
    known = (Reason("budget", "could not decide whether `a` and `b` collide", span(20)),)
    before = unit(race(10, 60), reasons=known)
    assert judged(unit(reasons=doubts), before).worse
    assert not judged(unit(reasons=known), before).worse


def test_the_target_is_gone_and_the_rest_is_as_it_was():
    difference = judged(unit(race(20, 30)))
    assert difference.is_clean
    assert gone_groups(BEFORE, {"k"}, difference) == {"race:10:60"}


def test_the_target_is_found_again_behind_the_edit():
    difference = judged(unit(race(10, 60 + SHIFT)))
    assert not difference.is_clean
    (left,) = difference.remaining
    assert [a.span.start_offset for a in left.accesses] == [10, 60]


def test_groups_of_kernels_that_were_not_checked_again_are_not_gone():
    assert gone_groups(BEFORE, set(), Difference()) == set()


def test_a_group_with_one_pair_left_is_not_gone():
    before = unit(race(10, 60, group="g"), race(20, 30, group="g"))
    assert gone_groups(before, {"k"}, Difference(left=frozenset({key_of(race(20, 30))}))) == set()


WORSE = {
    "a race that was not there": unit(race(20, 40)),
    "a race that was only possible": unit(race(20, 30)),
    "an inserted barrier diverges": unit(barrier(53, Verdict.BARRIER_DIVERGENCE)),
    "another barrier diverges": unit(barrier(30, Verdict.BARRIER_DIVERGENCE)),
    "something is not known any more": unit(reasons=(Reason("budget", "Z3 gave up"),)),
    "another kernel": unit(name="other"),
    "another number of launches": UnitResult(PATH, 75, (replace(unit().kernels[0], contexts=()),)),
    "it does not compile": replace(unit(), syntax=(SyntaxIssue("expected ';'", span(3)),)),
    "it cannot be read": replace(unit(), failure=Reason("parse-error", "no translation unit")),
}


@pytest.mark.parametrize("what", WORSE)
def test_it_got_worse(what: str):
    before = unit(race(10, 60), race(20, 30, Verdict.POSSIBLE_DATA_RACE))
    assert not judged(WORSE[what], before).is_clean


HARMLESS = {
    "a race that is only possible now": unit(race(20, 30, Verdict.POSSIBLE_DATA_RACE)),
    "a barrier that turns out redundant": unit(barrier(30, Verdict.REDUNDANT_BARRIER)),
    "a barrier behind an exit": unit(barrier(53, Verdict.BARRIER_AFTER_EXIT)),
    "nothing at all": unit(),
}


@pytest.mark.parametrize("what", HARMLESS)
def test_it_did_not_get_worse(what: str):
    assert judged(HARMLESS[what]).is_clean


def test_a_benign_race_that_shows_behind_a_new_barrier_was_there_before() -> None:
    shown = unit(race(20, 30), race(80 + SHIFT, 90 + SHIFT, Verdict.BENIGN_RACE))
    assert compare(BEFORE, shown, FILES, TARGET, inserting=True).is_clean
    assert not compare(BEFORE, shown, FILES, TARGET).is_clean


def test_what_was_unknown_before_may_stay_so():
    reason = Reason("budget", "Z3 gave up")
    assert judged(unit(reasons=(reason,)), unit(race(10, 60), reasons=(reason,))).is_clean
    assert not judged(unit(reasons=(reason, reason)), unit(race(10, 60), reasons=(reason,))).is_clean


def test_inserted_barriers_are_told_from_others():
    difference = judged(unit(barrier(53, Verdict.BARRIER_AFTER_EXIT), barrier(20, Verdict.BARRIER_AFTER_EXIT)))
    assert [s.start_offset for s in difference.late] == [53]


LEARNT = """// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(int *a, int *b) {
  int t = threadIdx.x;
  a[t] = a[t + 1];
  b[t] = b[t + 1];
}
"""


def test_races_that_barriers_have_shown_are_known_of_a_rewritten_text() -> None:
    session = Session.open(Engine(), CheckRequest("/verify/learnt.cu", LEARNT), never)
    first, second = sorted(findings_of(session.result.kernels[0]), key=lambda f: f.span.start_offset)
    searched = frozenset({session.kernels[0].kernel.mangled})
    session.appeared[key_of(second)] = second, searched
    session.remaining[first] = searched
    at = LEARNT.index("a[t] =")
    value = LEARNT.index("a[t + 1]")
    head = b"int value = "
    split = [
        Change(at, at, head + b"a[t + 1]; ", moved=((len(head), value, len("a[t + 1]")),)),
        Change(value, value + len("a[t + 1]"), b"value"),
    ]
    trial = session.trial({"/verify/learnt.cu": split}, frozenset())
    after = session.rewritten(trial)
    text = trial.files["/verify/learnt.cu"].after.decode()
    ((appeared, _),), (remaining,) = after.appeared.values(), after.remaining
    assert {text[a.span.start_offset : a.span.end_offset] for a in appeared.accesses} == {"b[t]", "b[t + 1]"}
    assert {text[a.span.start_offset : a.span.end_offset] for a in remaining.accesses} == {"a[t]", "a[t + 1]"}
    assert {a.span.line for a in remaining.accesses} == {4}
    assert list(after.appeared) == [key_of(appeared)]
    assert after.learnt(searched) == [appeared, remaining]
    assert not after.learnt({"_Z5otherv"})


BOTH_SIDES = """// cuda-lsp: launch grid=(1) block=(64)
__host__ __device__ int twice(int x) {
  return 2 * x;
}
__global__ void k(int *a) {
  a[threadIdx.x] = twice(a[threadIdx.x + 1]);
}
"""


def test_an_edit_of_what_the_host_compiles_is_compiled_for_the_host() -> None:
    path = "/verify/both.cu"
    session = Session.open(Engine(), CheckRequest(path, BOTH_SIDES), never)
    at = BOTH_SIDES.index("return")
    wrong = Change(at, at, b"\n#ifndef __CUDA_ARCH__\nnone();\n#endif\n")
    trial = session.trial({path: [wrong]}, frozenset())
    assert any("does not compile" in text for text in trial.difference.worse)
    right = Change(at, at, b"\n#ifndef __CUDA_ARCH__\n;\n#endif\n")
    assert not session.trial({path: [right]}, frozenset()).difference.worse


REDUCED = """\
template <int SIZE>
__device__ __forceinline__ float reduce(float v, float *s) {
  int t = threadIdx.x;
  s[t] = v;
  if (SIZE >= 64) { if (t < 32) { s[t] += s[t + 32]; } }
  if (t < 16) s[t] += s[t + 16];
  if (t < 8) s[t] += s[t + 8];
  return s[0];
}
// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(float *out, const float *in) {
  __shared__ float s[64];
  float r = reduce<64>(in[threadIdx.x], s);
  if (threadIdx.x == 0) out[0] = r;
  r = reduce<64>(r, s);
  out[threadIdx.x] = r;
}
"""


def test_nothing_is_left_of_the_races_that_a_repair_is_for() -> None:
    # There are more races than are asked about: those that show when others are gone are of the groups that these had.
    fixes = [a for a in answers(Engine(), CheckRequest("/verified/reduced.cu", REDUCED)) if isinstance(a, Fix)]
    assert fixes
    for fix in fixes:
        (kernel,) = Engine().result(CheckRequest("/verified/reduced.cu", applied(REDUCED, fix.edits))).kernels
        races = [f for f in findings_of(kernel) if f.code in RACES]
        written = {next(a.span.start_line for a in f.accesses if a.kind != "read") for f in races}
        assert len(fix.groups) == 3
        assert written <= {9}, fix.title  # the last step, of which nothing was said
