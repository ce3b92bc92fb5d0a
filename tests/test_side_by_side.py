"""Work that several threads share: what comes back, and what is raised when."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, get_ident

import pytest

from analyzers.frontend.side_by_side import meanwhile


def test_two_things_are_done_at_the_same_time() -> None:
    begun, seen = Event(), Event()

    def other() -> int:
        begun.set()
        assert seen.wait(10)
        return get_ident()

    def work() -> int:
        assert begun.wait(10)
        seen.set()
        return get_ident()

    here, there = meanwhile(work, other)
    assert here == get_ident() != there


def failing(error: Exception, before: Callable[[], object] = bool) -> Callable[[], int]:
    def fail() -> int:
        before()
        raise error

    return fail


def test_what_one_of_two_raises_comes_when_both_have_ended() -> None:
    ended = Event()
    with pytest.raises(ValueError, match="first"):
        meanwhile(failing(ValueError("first")), lambda: ended.wait(0.05) or ended.set())
    assert ended.is_set()
    with pytest.raises(ValueError, match="second"):
        meanwhile(int, failing(ValueError("second")))
    with pytest.raises(ValueError, match="first"):
        meanwhile(failing(ValueError("first")), failing(ValueError("second")))
