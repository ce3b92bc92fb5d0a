"""The garbage collector does not walk what a unit is made of while the unit is checked, and goes on after it."""

from __future__ import annotations

import gc
from typing import Any
from unittest.mock import Mock

import pytest

from analyzers import engine
from analyzers.engine import Engine
from analyzers.requests import CancelledError, CheckRequest, Progress

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


def test_taking_a_unit_in_collects_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    enabled: list[bool] = []
    taken_in = engine._taken_in

    def watched(*given: Any) -> Any:
        enabled.append(gc.isenabled())
        return taken_in(*given)

    monkeypatch.setattr(engine, "_taken_in", watched)
    assert list(Engine().check(CheckRequest("/k.cu", TEXT)))
    assert enabled == [False]
    assert gc.isenabled()


@pytest.mark.parametrize("asked", range(5))
def test_a_check_that_is_stopped_leaves_the_collector_as_it_was(asked: int) -> None:
    with pytest.raises(CancelledError):
        list(Engine().check(CheckRequest("/k.cu", TEXT), stop=Mock(side_effect=[False] * asked + [True])))
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0
