"""The garbage collector does not walk what a unit is made of while the unit is checked, and goes on after it."""

from __future__ import annotations

import gc
from typing import Any
from unittest.mock import Mock

import pytest
from clang.cindex import TranslationUnit

from analyzers import engine as engine_module
from analyzers import garbage
from analyzers.engine import Engine
from analyzers.model import Verdict
from analyzers.requests import CancelledError, CheckRequest, Progress, UnitFinished

TEXT = """
__global__ void first(int *a) { a[threadIdx.x] = 1; }
__global__ void second(int *a) { a[threadIdx.x] = 2; }
"""


def test_what_earlier_kernels_left_is_walked_no_more() -> None:
    frozen = [gc.get_freeze_count() for e in Engine().check(CheckRequest("/k.cu", TEXT)) if isinstance(e, Progress)]
    assert len(frozen) == 2
    assert frozen[0] < frozen[1]
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0


def test_garbage_is_looked_for_when_the_result_is_out(monkeypatch: pytest.MonkeyPatch) -> None:
    collected: list[str] = []
    monkeypatch.setattr(garbage._survivors, "_blocks", 0)
    monkeypatch.setattr(garbage, "_FEW", 0)
    monkeypatch.setattr(gc, "collect", lambda: collected.append("collected"))
    for event in Engine().check(CheckRequest("/k.cu", TEXT)):
        if isinstance(event, UnitFinished):
            assert not collected
    assert collected == ["collected"]
    assert gc.get_freeze_count() == 0


def test_taking_a_unit_in_collects_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    enabled: list[bool] = []
    taken_in = engine_module._taken_in

    def watched(*given: Any) -> Any:
        enabled.append(gc.isenabled())
        return taken_in(*given)

    monkeypatch.setattr(engine_module, "_taken_in", watched)
    assert list(Engine().check(CheckRequest("/k.cu", TEXT)))
    assert enabled == [False]
    assert gc.isenabled()


@pytest.mark.parametrize("asked", range(5))
def test_a_check_that_is_stopped_leaves_the_collector_as_it_was(asked: int) -> None:
    with pytest.raises(CancelledError):
        list(Engine().check(CheckRequest("/k.cu", TEXT), stop=Mock(side_effect=[False] * asked + [True])))
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0


def test_what_clang_holds_for_a_unit_goes_with_it() -> None:
    """At once: a collection would come much later, and what is garbage to it is megabytes to clang."""
    engine = Engine()
    list(engine.check(CheckRequest("/let-go.cu", LAUNCHED)))
    assert _trees("/let-go.cu") == 2
    gc.disable()
    try:
        engine.forget("/let-go.cu")
        list(engine.check(CheckRequest("/other.cu", LAUNCHED)))
        assert _trees("/let-go.cu") == 0
    finally:
        gc.enable()


LAUNCHED = """
struct Pair { int first, second; };
template <typename T> __global__ void kernel(T *a, Pair p) { a[threadIdx.x] = p.first; }
__device__ int recursive(int n) { return n ? recursive(n - 1) : 0; }
__global__ void other(Pair *p) { p[threadIdx.x].second = recursive(threadIdx.x); }
void host(int *a, int n) { kernel<<<n, 64>>>(a, Pair{n, 1}); }
"""


def test_the_last_units_only_are_kept_whole() -> None:
    engine = Engine()
    requests = [CheckRequest(f"/many{number}.cu", TEXT) for number in range(engine_module._MAXIMAL_WHOLE + 3)]
    gc.disable()
    try:
        for request in requests:
            list(engine.check(request))
        assert 0 < _trees(*(request.path for request in requests)) <= 2 * (engine_module._MAXIMAL_WHOLE + 1)
    finally:
        gc.enable()
    assert engine.analyse(requests[0]).result.kernels[0].verdict is Verdict.RACE_FREE


def _trees(*paths: str) -> int:
    return sum(isinstance(each, TranslationUnit) and each.spelling in paths for each in gc.get_objects())


def test_garbage_is_looked_for_once_there_is_more_of_it() -> None:
    collected: list[int] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start" and info["generation"] == 2:
            collected.append(len(gc.get_objects()))

    gc.collect()
    share = max(len(gc.get_objects()), 100_000) // 5
    gc.callbacks.append(note)
    gc.disable()
    try:
        for _ in range(12):
            with garbage.taken_in():
                for _ in range(share):
                    ring: list[object] = []
                    ring.append(ring)
            garbage.thaw()
    finally:
        gc.enable()
        gc.callbacks.remove(note)
    assert 2 <= len(collected) <= 6
    assert max(collected) < 12 * share
    assert gc.get_freeze_count() == 0
