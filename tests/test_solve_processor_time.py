"""Calls are ended by the processor time that they spend, whatever the clock says."""

from __future__ import annotations

import threading
import time

from analyzers.solve.processor_time import limited


def _work(seconds: float, stop: threading.Event) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end and not stop.is_set():
        pass


def test_a_call_that_works_for_too_long_is_interrupted() -> None:
    stop = threading.Event()
    started = time.process_time()
    with limited(0.1, stop.set) as call:
        _work(10.0, stop)
    assert call.was_interrupted
    assert time.process_time() - started < 5.0


def test_a_call_that_waits_is_not() -> None:
    stop = threading.Event()
    with limited(0.2, stop.set) as call:
        stop.wait(0.5)
    assert not call.was_interrupted


def test_what_one_call_has_spent_does_not_count_for_the_next() -> None:
    stop = threading.Event()
    for _ in range(3):
        with limited(0.2, stop.set) as call:
            _work(0.1, stop)
        assert not call.was_interrupted
    _work(0.3, stop)
    assert not stop.is_set()
