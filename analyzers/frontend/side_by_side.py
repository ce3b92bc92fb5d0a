"""Work that leaves Python to others, as parsing by libclang does, done by several threads at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from threading import Lock, Thread
from typing import TypeVar

_T = TypeVar("_T")
_R = TypeVar("_R")


def side_by_side(work: Callable[[_T], _R], items: Sequence[_T]) -> list[_R]:
    """The results of `work` in the order of `items`, as many at a time as there are processors, two at least: libclang
    leaves Python to others while it parses. Raises what the first item raised."""
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

    others = [Thread(target=run, name="parse") for _ in range(min(len(items), max(os.cpu_count() or 1, 2)) - 1)]
    for thread in others:
        thread.start()
    run()
    for thread in others:
        thread.join()
    if failures:
        raise failures[min(failures)]
    return [results[number] for number in range(len(items))]
