"""When Python looks for garbage during an analysis: hardly, and without what is known to live.

Nearly all that a unit is made of lives until the unit is done, and each collection would walk it again. So a unit is
taken in with no collection at all, and then frozen: set aside. What thaws counts as old for Python, which looks for
garbage among the old only after enough has grown old on its own. That hardly happens here, and objects that refer to
each other would stay, with all that clang holds for them: so those that hold much are dismantled by who made them, and
`thaw` looks for the others itself when there is much more than before.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Generator
from contextlib import contextmanager

_GROWTH = 1.5
"""Times the blocks of memory that the last full collection left: as many as that, and it is time for another one."""
_FEW = 300_000
"""Blocks that are not worth a collection: those of the modules alone are more."""


@contextmanager
def uncollected() -> Generator[None, None, None]:
    """No collections inside."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


@contextmanager
def taken_in() -> Generator[None, None, None]:
    """What is made here lives until the unit is done: no collection walks it before `thaw`, not even a first one."""
    with uncollected():
        yield
        gc.freeze()


def keep() -> None:
    """What has come to be stays: no collection walks it before `thaw`."""
    gc.freeze()


def thaw() -> None:
    """Nothing is kept any longer; what is garbage by now goes once there is enough of it."""
    _survivors.thaw()


def dismantle(*done: object) -> None:
    """Empty objects that are of no more use, and that refer to each other: what they hold goes at once."""
    for each in done:
        vars(each).clear()


class _Survivors:
    """How many blocks of memory the last full collection left: Python counts them in no time, and objects by walking
    them."""

    def __init__(self) -> None:
        self._blocks = 0

    def thaw(self) -> None:
        gc.unfreeze()
        if sys.getallocatedblocks() > max(_FEW, _GROWTH * self._blocks):
            gc.collect()
            self._blocks = sys.getallocatedblocks()


_survivors = _Survivors()
