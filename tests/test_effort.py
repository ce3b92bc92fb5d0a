"""How much work a kernel may be: what is limited, what is kept, and that no clock decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from analyzers.engine import Engine
from analyzers.ir import symbolic
from analyzers.model import CheckOptions, KernelResult, UnitResult, UserLaunch, Verdict
from analyzers.races import check as race_check
from analyzers.races.asking import Asker
from analyzers.races.check import MAX_ON_OBJECT
from analyzers.requests import UNFIT, CheckRequest, KernelFinished, Progress, UnitFinished
from analyzers.solve.effort import UNDECIDED, Effort, price
from analyzers.solve.query import Proved, Query, Undecided
from analyzers.verdicts import kernel as kernel_verdicts
from analyzers.verdicts.decide import Decision, decide

LAUNCH = "// cuda-lsp: launch grid=(2) block=(64)\n"
FINE = LAUNCH + "__global__ void fine(int *o) { o[blockIdx.x * 64 + threadIdx.x] = 1; }\n"
RACY = LAUNCH + "__global__ void racy(int *o) { o[threadIdx.x] = o[threadIdx.x + 1]; }\n"


def request(text: str, launches: Sequence[UserLaunch] = ()) -> CheckRequest:
    return CheckRequest("/effort/a.cu", text, options=CheckOptions(launches=tuple(launches)))


def checked(what: CheckRequest) -> UnitResult:
    (unit,) = [event.result for event in Engine().check(what) if isinstance(event, UnitFinished)]
    return unit


def by_name(unit: UnitResult) -> dict[str, KernelResult]:
    return {kernel.name: kernel for kernel in unit.kernels}


def reasons(kernel: KernelResult) -> list[str]:
    return [reason.kind for context in kernel.contexts for reason in context.reasons]


def many(updates: int, places: int, shift: int) -> str:
    lines = [f"  s[t + {64 * (i % places)}] += g[{i} + t];" for i in range(updates)]
    last = f"  s[t + {shift}] += 1;"
    head = f"__global__ void many(int *g) {{\n  __shared__ int s[{64 * places + 64}];\n  int t = threadIdx.x;\n"
    return LAUNCH + head + "\n".join([*lines, last]) + "\n}\n"


@pytest.mark.parametrize(("shift", "verdict"), [(0, Verdict.RACE_FREE), (1, Verdict.DATA_RACE)])
def test_accesses_at_the_same_places_are_told_apart_once(shift: int, verdict: Verdict) -> None:
    kernel = by_name(checked(request(many(300, 6, shift))))["many"]
    assert kernel.verdict is verdict
    asked = sum(count for _, count in kernel.contexts[0].rungs)
    assert asked < 100 if shift == 0 else asked > 0


@pytest.mark.parametrize(("stride", "verdict"), [("", Verdict.RACE_FREE), (" / 2", Verdict.DATA_RACE)])
def test_deeply_nested_loops_are_followed_once_per_level(
    stride: str, verdict: Verdict, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(symbolic, "MAX_STATEMENTS", 2000)
    loops = "".join(f"for (int i{n} = 0; i{n} < 3; i{n}++) " for n in range(10))
    body = f"o[blockIdx.x * 64 + threadIdx.x{stride}] += i0 + i9;"
    text = LAUNCH + f"__global__ void deep(int *o) {{ {loops} {body} }}\n"
    assert by_name(checked(request(text)))["deep"].verdict is verdict


def test_a_kernel_that_is_too_large_to_be_followed_is_unknown_and_costs_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(symbolic, "MAX_STATEMENTS", 20)
    large = LAUNCH + "__global__ void large(int *o) {" + "o[threadIdx.x] = 1;" * 30 + "}\n"
    kernels = by_name(checked(request(FINE + large + RACY)))
    assert [kernels[name].verdict for name in ("fine", "large", "racy")] == [
        Verdict.RACE_FREE,
        Verdict.UNKNOWN,
        Verdict.DATA_RACE,
    ]
    assert reasons(kernels["large"]) == ["budget"]


def test_spent_effort_leaves_the_rest_undecided_and_keeps_what_was_found() -> None:
    engine = Engine()
    analysis = engine.analyse(request(many(20, 10, 1)))
    (kernel,) = analysis.kernels
    (context,) = kernel.contexts
    whole = decide(kernel.events, context, CheckOptions())
    assert not whole.undecided
    again = decide(kernel.events, context, CheckOptions())
    assert again.effort == whole.effort > 0, "known answers cost what new ones do"
    nothing = decide(kernel.events, context, CheckOptions(), limit=0)
    assert not nothing.races
    assert [kind for _, _, kind, _ in nothing.undecided] == ["budget"]
    part = decide(kernel.events, context, CheckOptions(), limit=whole.effort - 1)
    assert part.undecided or part.races == whole.races


def test_every_race_that_is_not_found_with_less_effort_is_among_the_open_pairs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    body = "\n".join(f"  s[t * {i + 2} % 64] = s[(t + {i}) % 64] + g[t * (n + {i}) % (n + 2)];" for i in range(5))
    text = f"{LAUNCH}__global__ void k(int *g, int n) {{\n  __shared__ int s[64];\n  int t = threadIdx.x;\n{body}\n}}\n"
    (kernel,) = Engine().analyse(request(text)).kernels
    (context,) = kernel.contexts
    every = CheckOptions(every_pair=True)

    def pairs(decision: Decision) -> set[tuple[int, int]]:
        return {(race.one, race.two) for race in decision.races}

    whole = decide(kernel.events, context, every)
    assert len(pairs(whole)) > 20
    for limit in range(0, whole.effort, whole.effort // 8):
        part = decide(kernel.events, context, every, limit=limit)
        assert pairs(whole) <= pairs(part) | set(part.open)
        assert not part.unasked_besides
    assert pairs(whole) <= pairs(some := decide(kernel.events, context, CheckOptions())) | set(some.open)
    monkeypatch.setattr(race_check, "MAX_UNASKED", 3)
    part = decide(kernel.events, context, every, limit=0)
    assert len(part.unasked) <= 3
    assert part.unasked_besides


def test_of_one_object_so_many_races_are_reported_and_the_rest_is_said_to_be_left_out() -> None:
    (kernel,) = Engine().analyse(request(many(20, 2, 1))).kernels
    decision = decide(kernel.events, kernel.contexts[0], CheckOptions())
    assert len(decision.races) == MAX_ON_OBJECT
    assert [kind for _, _, kind, _ in decision.undecided] == ["not-examined"]
    assert decision.effort < 4000, "what is left out costs nothing"


def test_prices_depend_on_the_answer_alone() -> None:
    assert price(Proved(rung="algebra")) < price(Proved(rung="smt"))
    assert price(Undecided("budget", "gave up")) == UNDECIDED
    effort = Effort(10)
    effort.charge(9)
    assert not effort.is_spent
    effort.charge(1)
    assert effort.is_spent
    assert effort.reason.kind == "budget"


def test_launches_beyond_the_effort_of_a_kernel_are_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_verdicts, "LAUNCHES", 1e-9)
    text = "// cuda-lsp: launch grid=(1) block=(32)\n" + FINE
    kernel = by_name(checked(request(text)))["fine"]
    assert [context.verdict for context in kernel.contexts] == [Verdict.RACE_FREE, Verdict.UNKNOWN]
    assert reasons(kernel) == ["budget"]


def test_a_kernel_that_is_called_hopeless_is_not_tried() -> None:
    keys = {event.name: event.key for event in Engine().check(request(FINE + RACY)) if isinstance(event, Progress)}
    assert all(keys.values())
    left_out = replace(request(FINE + RACY), hopeless={keys["racy"]: ("wall-clock", "it hung")})
    kernels = by_name(checked(left_out))
    assert kernels["fine"].verdict is Verdict.RACE_FREE
    assert kernels["racy"].verdict is Verdict.UNKNOWN
    assert [reason.text for reason in kernels["racy"].contexts[0].reasons] == ["it hung"]
    edited = replace(left_out, text=FINE + RACY.replace("+ 1]", "+ 2]"))
    assert by_name(checked(edited))["racy"].verdict is Verdict.DATA_RACE, "another text is another kernel"


def test_a_hopeless_kernel_is_tried_again_when_it_is_edited() -> None:
    engine = Engine()
    first = request(FINE + RACY)
    keys = {event.name: event.key for event in engine.check(first) if isinstance(event, Progress)}
    hopeless = {keys["racy"]: ("wall-clock", "it hung")}
    list(engine.check(replace(first, hopeless=hopeless)))
    edited = replace(first, text=FINE + RACY.replace("+ 1]", "+ 3]"), hopeless=hopeless)
    results = {event.result.name: event.result for event in engine.check(edited) if isinstance(event, KernelFinished)}
    assert results["racy"].verdict is Verdict.DATA_RACE


@pytest.mark.parametrize(("parameter", "fits"), [("n", ["one"]), ("m", ["two"]), ("k", [])])
def test_a_launch_that_does_not_fit_says_so(parameter: str, fits: list[str]) -> None:
    text = (
        "__global__ void one(int *o, int n) { if (threadIdx.x < n) o[threadIdx.x] = 1; }\n"
        "__global__ void two(int *o, int m) { if (threadIdx.x < m) o[threadIdx.x] = 1; }\n"
    )
    unit = checked(request(text, [UserLaunch((1, 1, 1), (64, 1, 1), ((parameter, 3),))]))
    kernels = by_name(unit)
    assert [name for name in kernels if kernels[name].verdict is Verdict.RACE_FREE] == fits
    for name in kernels.keys() - set(fits):
        (reason,) = kernels[name].contexts[0].reasons
        assert reason.kind == "launch"
        assert f"no integer parameter '{parameter}'" in reason.text
    assert any(skipped.what.startswith(UNFIT) for skipped in unit.skipped) == (not fits)


def test_instances_of_a_template_show_one_mistake_with_the_same_threads() -> None:
    text = (
        "template <int N> __global__ void rows(float *o, int w, int h) {\n"
        "  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;\n"
        "  if (y < h) for (int k = 0; k < N; k++) o[(y * w + x) * N + k] = k + x;\n}\n"
        "void go(float *o, int w, int h) { dim3 b(32, 8), g((w + 31) / 32, (h + 7) / 8);\n"
        + "".join(f"  rows<{n}><<<g, b>>>(o, w, h);\n" for n in (1, 2, 3))
        + "}\n"
    )
    unit = checked(request(text))
    assert [kernel.verdict for kernel in unit.kernels] == [Verdict.DATA_RACE] * 3
    shown = [
        [(access.block, access.thread) for access in finding.accesses]
        for kernel in unit.kernels
        for finding in kernel.contexts[0].findings[:1]
    ]
    assert shown[0] == shown[1] == shown[2]


def test_a_question_of_many_parts_ends_with_the_work_that_a_kernel_may_take(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = 0

    def undecided(asker: Asker, query: Query, patience: str = "patient") -> Undecided:
        nonlocal asked
        asked += 1
        asker.effort.charge(UNDECIDED)
        return Undecided("budget", "its share is spent", "smt")

    monkeypatch.setattr(race_check, "split", lambda query: [query] * 50)
    monkeypatch.setattr(Asker, "answer", undecided)
    monkeypatch.setattr(Asker, "unless_wrapped", lambda *_, **__: None)
    options = CheckOptions(kernel_effort=3 * UNDECIDED)
    unit = checked(replace(request(RACY), options=options))
    assert reasons(by_name(unit)["racy"])
    assert 0 < asked <= 4
