"""Work that leaves Python to others, as parsing by libclang does, done by several threads at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from threading import Lock, Thread
from typing import Final, TypeVar

_T = TypeVar("_T")
_R = TypeVar("_R")


_POLL_S: Final = 0.005


def meanwhile(work: Callable[[], _T], other: Callable[[], _R]) -> tuple[_T, _R]:
    """The results of `work`, done by this thread, and of `other`, done by another one at the same time. When both have
    ended, raises what `work` raised, or else `other`."""
    results: list[_R] = []
    failures: list[Exception] = []

    def run() -> None:
        try:
            results.append(other())
        except Exception as failure:  # noqa: BLE001 - raised below, in the thread that asked
            failures.append(failure)

    thread = Thread(target=run, name="meanwhile")
    thread.start()
    try:
        done = work()
    finally:
        thread.join()
    if failures:
        raise failures[0]
    return done, results[0]


def side_by_side(work: Callable[[_T], _R], items: Sequence[_T], poll: Callable[[], None] | None = None) -> list[_R]:
    """The results of `work` in the order of `items`, as many at a time as there are processors, two at least: libclang
    leaves Python to others while it parses. Raises what the first item raised.

    `poll` is called every few milliseconds meanwhile. What it raises ends the waiting, not the work: what has begun
    goes on in its threads, and nobody takes its results."""
    results: dict[int, _R] = {}
    failures: dict[int, Exception] = {}
    waiting = iter(enumerate(items))
    taking = Lock()

    def run() -> None:
        while True:
            with taking:
                number, item = next(waiting, (-1, None))
            if item is None:
                return
            try:
                results[number] = work(item)
            except Exception as failure:  # noqa: BLE001 - raised below, in the thread that asked
                failures[number] = failure

    threads = min(len(items), max(os.cpu_count() or 1, 2)) - (poll is None)
    others = [Thread(target=run, name="parse") for _ in range(threads)]
    for thread in others:
        thread.start()
    if poll is None:
        run()
    for thread in others:
        while poll is not None and thread.is_alive():
            thread.join(_POLL_S)
            poll()
        thread.join()
    if failures:
        raise failures[min(failures)]
    return [results[number] for number in range(len(items))]
