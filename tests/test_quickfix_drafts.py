"""What a repair in several steps asks the engine: texts are read, and decided only where the answer matters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

from analyzers.engine import Engine
from analyzers.model import CheckOptions, Fix, Verdict
from analyzers.requests import CheckRequest
from quickfix import fix_for
from quickfix.verify import RACES, findings_of

PATH = "/drafts/a.cu"
OPTIONS = CheckOptions(redundancy=False, replays=False)

SPLIT = """// cuda-lsp: launch grid=(1) block=(64)
__global__ void folded(float *in, float *out) {
  __shared__ float s[128];
  int t = threadIdx.x;
  s[t] = in[t];
  s[t + 64] = in[t + 64];
  __syncthreads();
  if (t < 32) {
    s[t] += s[t + 32];
    s[t] += s[t + 16];
    s[t] += s[t + 8];
  }
  out[t] = s[0];
}
"""

LEAST = """// cuda-lsp: launch grid=(1) block=(64)
__global__ void least(float *in, int *out) {
  __shared__ float s[64];
  __shared__ int at[64];
  int t = threadIdx.x;
  s[t] = in[t];
  at[t] = t;
  __syncthreads();
  if (t < 32) {
    if (s[t + 32] < s[t]) {
      s[t] = s[t + 32];
      at[t] = at[t + 32];
    }
    if (s[t + 16] < s[t]) {
      s[t] = s[t + 16];
      at[t] = at[t + 16];
    }
  }
  if (t == 0) {
    out[0] = at[0];
  }
}
"""

POSSIBLE = """// cuda-lsp: launch grid=(1) block=(64)
__global__ void scattered(const int *at, float *out) {
  int t = threadIdx.x;
  out[at[t]] = t;
  out[t / 2] = t;
}
"""


def request(text: str, options: CheckOptions = OPTIONS) -> CheckRequest:
    return CheckRequest(PATH, text, options=options)


def group_of(engine: Engine, asked: CheckRequest) -> str:
    (kernel,) = engine.result(asked).kernels
    return next(f.group for f in findings_of(kernel) if f.code in RACES)


def test_a_draft_is_decided_as_a_trial_is() -> None:
    engine = Engine()
    engine.result(request(SPLIT))
    edited = request(SPLIT.replace("s[t] += s[t + 8];", "float v = s[t + 8];\n    s[t] += v;"))
    draft = engine.drafted(edited, ["folded"])
    assert [c.verdict for k in draft.result.kernels for c in k.contexts] == [Verdict.UNKNOWN]
    decided, tried = engine.decided(draft), engine.retry(edited, ["folded"])
    assert [k.result.contexts[0].findings for k in decided.kernels] == [
        k.result.contexts[0].findings for k in tried.kernels
    ]
    assert any(f.code is Verdict.POSSIBLE_DATA_RACE for k in decided.result.kernels for f in findings_of(k))


def test_executed_races_are_graded_as_a_check_grades_them() -> None:
    """Those that are asked for; the others stay possible."""
    engine = Engine()
    whole = engine.result(request(POSSIBLE, replace(OPTIONS, replays=True)))
    checked = {f.span: f.code for k in whole.kernels for f in findings_of(k)}
    assert set(checked.values()) == {Verdict.DATA_RACE, Verdict.POSSIBLE_DATA_RACE}
    tried = engine.retry(request(POSSIBLE), ["scattered"])
    assert {f.code for k in tried.result.kernels for f in findings_of(k)} == {Verdict.POSSIBLE_DATA_RACE}

    def codes(wanted: bool) -> dict[object, Verdict]:
        executed = engine.executed(tried, lambda one, two: wanted, lambda: False)
        return {f.span: f.code for k in executed.result.kernels for f in findings_of(k)}

    assert codes(wanted=True) == checked
    assert set(codes(wanted=False).values()) == {Verdict.POSSIBLE_DATA_RACE}


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often an engine is asked for what."""
    found: Counter[str] = Counter()

    def counted(name: str, method: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object, **options: object) -> object:
            found[name] += 1
            return method(*arguments, **options)

        return call

    for name in ("drafted", "decided", "retry", "check"):
        monkeypatch.setattr(Engine, name, counted(name, getattr(Engine, name)))
    return found


def test_steps_that_rewrite_code_are_not_decided(calls: Counter[str]) -> None:
    engine, asked = Engine(), request(LEAST, replace(OPTIONS, replays=True))
    races = [f for k in engine.result(asked).kernels for f in findings_of(k) if f.code in RACES]
    asks: list[Counter[str]] = []
    for group in dict.fromkeys(f.group for f in races):
        calls.clear()
        fix = fix_for(engine, asked, group)
        assert isinstance(fix, Fix)
        if fix.kind == "restructure":
            asks.append(calls.copy())
    assert asks
    assert all(a["drafted"] >= 3 and a["decided"] + a["retry"] == 1 for a in asks)


CALLED = """
__device__ float shifted(float *s, int t) {
  s[t] = t;
  return s[63 - t];
}
// cuda-lsp: launch grid=(1) block=(64)
__global__ void one(float *out) {
  __shared__ float s[64];
  out[threadIdx.x] = shifted(s, threadIdx.x);
}
// cuda-lsp: launch grid=(1) block=(64)
__global__ void other(float *out) {
  __shared__ float s[64];
  out[threadIdx.x] = 2 * shifted(s, threadIdx.x);
}
// cuda-lsp: launch grid=(1) block=(64)
__global__ void apart(float *out) {
  out[threadIdx.x] = 1;
}
"""


def test_kernels_with_the_code_are_asked_together_from_the_start(calls: Counter[str]) -> None:
    engine, asked = Engine(), request(CALLED, replace(OPTIONS, kernels=("one",), replays=True))
    group = group_of(engine, asked)
    assert calls.pop("check") == 1
    fix = fix_for(engine, asked, group)
    assert isinstance(fix, Fix)
    assert "Repairs `other` too: the code is the same." in fix.notes
    assert calls["check"] == 1
    assert calls["retry"] == 1
    # The first check is still there to go on from.
    assert engine.result(asked).kernels[0].name == "one"
    assert calls["check"] == 1


def test_what_was_not_selected_is_known_by_its_code(calls: Counter[str]) -> None:
    engine, asked = Engine(), request(CALLED, replace(OPTIONS, kernels=("one",)))
    engine.result(asked)
    in_function, in_kernel = CALLED.index("s[t] = t"), CALLED.index("out[threadIdx.x] = 1")
    assert engine.others_at(asked, [(PATH, in_kernel)]) == ("apart",)
    assert engine.others_at(asked, [(PATH, in_function)]) == ("other",)
    wider = replace(asked, options=replace(asked.options, kernels=("one", "other")))
    assert engine.beside().others_at(wider, [(PATH, in_function)]) == ()
    assert calls["check"] == 2
