"""`fix_all` asks again about the text that its repairs have made, and `cuda-lsp fix` writes the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from edited import applied

from analyzers.engine import Engine
from analyzers.model import NOT_REPAIRED, CheckOptions, Fix, TextEdit, Verdict
from analyzers.requests import CheckRequest
from cuda_lsp.cli.main import main
from quickfix import answers, fix_all
from quickfix.together import together
from quickfix.verify import REPAIRABLE, findings_of

PATH = "/rounds/a.cu"
LOCK = """\
__device__ int mutex;
// cuda-lsp: launch grid=(3) block=(2)
__global__ void k(int *sum) {
  if (threadIdx.x == 0) {
    while (atomicCAS_block(&mutex, 0, 1) != 0) {
    }
    __threadfence();
    *sum += blockIdx.x;
    __threadfence();
    atomicExch_block(&mutex, 0);
  }
}
"""
SHIFTS = "".join(
    f"__global__ void k{i}(int *a) {{\n  __shared__ int s[64];\n  s[threadIdx.x] = a[threadIdx.x];\n"
    f"  a[threadIdx.x] = s[{i + 1} ^ threadIdx.x];\n}}\nvoid go{i}(int *a) {{ k{i}<<<1, 64>>>(a); }}\n"
    for i in range(4)
)


def mistakes(text: str) -> set[str]:
    unit = Engine().result(CheckRequest(PATH, text))
    return {f.group for k in unit.kernels for f in findings_of(k) if f.code in REPAIRABLE}


def edited(text: str, fix: object) -> str:
    assert isinstance(fix, Fix), fix
    return applied(text, fix.edits)


def few(text: str, effort: int) -> CheckRequest:
    return CheckRequest(PATH, text, options=CheckOptions(repair_effort=effort))


@pytest.mark.parametrize(("text", "effort"), [(SHIFTS, 300), (SHIFTS + LOCK, 450)])
def test_what_one_round_leaves_the_next_one_repairs(text: str, effort: int) -> None:
    left = mistakes(edited(text, together(Engine(), few(text, effort))))
    assert 0 < len(left) < len(mistakes(text)), "what the rounds are for"
    fix = fix_all(Engine(), few(text, effort))
    assert not mistakes(edited(text, fix))
    assert isinstance(fix, Fix)
    assert set(fix.groups) == mistakes(text)
    assert fix.title == f"Apply {len(fix.parts)} repairs"


def test_parts_name_lines_of_the_text_before_all_rounds() -> None:
    fix = fix_all(Engine(), few(SHIFTS, 300))
    assert isinstance(fix, Fix)
    lines = [part.title.partition("line ")[2].partition(" ")[0] for part in fix.parts]
    assert sorted(map(int, lines)) == [3 + 6 * i for i in range(4)]


def test_what_was_found_is_put_together_though_the_share_of_work_is_done() -> None:
    fix = together(Engine(), few(SHIFTS, 700))
    assert not mistakes(edited(SHIFTS, fix))


def test_a_write_that_does_no_harm_once_it_is_ordered_hides_no_repair() -> None:
    text = """\
// cuda-lsp: launch grid=(1) block=(8,2) n=5
__global__ void k(int *a, int n) {
  a[threadIdx.x] = n - 1;
  a[threadIdx.x] = n + 1;
}
"""
    found = [answer for answer in answers(Engine(), CheckRequest(PATH, text)) if isinstance(answer, Fix)]
    assert any(fix.applies_unasked for fix in found)
    assert edited(text, found[0]) == edited(text, fix_all(Engine(), CheckRequest(PATH, text)))


@pytest.mark.parametrize("text", [LOCK, SHIFTS + LOCK])
def test_the_command_writes_what_an_editor_applies(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "a.cu"
    file.write_text(text)
    assert main(["fix", "--write", "a.cu"]) == 0
    fix = fix_all(Engine(), CheckRequest(str(file), text))
    assert file.read_text() == edited(text, fix)
    assert isinstance(fix, Fix)
    told = [line.removeprefix("a.cu: ") for line in capsys.readouterr().err.splitlines() if line.startswith("a.cu: ")]
    assert told == [part.title for part in fix.parts]


def test_what_a_later_round_repairs_is_not_said_to_be_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = """__global__ void k(int *p) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = p[t];
  for (int i = 0; i < t; i++) {
    s[t] += s[(t + i) % 64];
  }
  p[t] = s[t];
}
void go(int *p) { k<<<1, 64>>>(p); }
"""
    (tmp_path / "a.cu").write_text(text)
    found = [a for a in answers(Engine(), CheckRequest(PATH, text)) if isinstance(a, Fix)]
    assert any(note.startswith(NOT_REPAIRED) for fix in found for note in fix.notes)
    assert main(["fix", "--write", "a.cu"]) == 0
    assert NOT_REPAIRED not in capsys.readouterr().err


def test_edits_are_of_the_text_that_was_asked_about() -> None:
    fix = fix_all(Engine(), CheckRequest(PATH, LOCK))
    assert isinstance(fix, Fix)
    ends = [0, *(e.span.end_offset for e in fix.edits)]
    starts = [e.span.start_offset for e in fix.edits]
    assert all(end <= start for end, start in zip(ends, starts, strict=False)), "in order, none touching another"
    assert all(isinstance(e, TextEdit) and e.span.path == PATH for e in fix.edits)


def test_a_later_round_looks_at_the_kernels_that_were_right_before() -> None:
    """What the first round edits is run by one kernel, what the second one would edit by another, too."""
    text = """__device__ int f(int *s, int t) { s[t] = t; return s[127 - t]; }
__global__ void some(int *out) {
  __shared__ int s[128];
  if (threadIdx.x < 64) out[threadIdx.x] = f(s, threadIdx.x);
}
__global__ void every(int *out) {
  __shared__ int s[128];
  int t = threadIdx.x;
  out[t] = f(s, t);
  out[0] += 1;
  out[t] += f(s, t + 0);
}
void run(int *o) { every<<<1, 128>>>(o); some<<<1, 128>>>(o); }
"""
    request = CheckRequest("/rounds/some.cu", text)
    fix = fix_all(Engine(), request)
    assert isinstance(fix, Fix)
    after = applied(text, fix.edits)
    assert "s[t] = t; return" in after
    kernels = Engine().result(CheckRequest("/rounds/some.cu", after)).kernels
    assert Verdict.BARRIER_DIVERGENCE not in {f.code for k in kernels for f in findings_of(k)}
