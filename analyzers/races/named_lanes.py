"""The lanes that a mask names: those of others, and the thread's own."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

import numpy as np

from analyzers.ir import expr as E
from analyzers.ir.evaluate import evaluate_vector
from analyzers.ir.events import BarrierEvent, Conjunct
from analyzers.ir.expr import Expr
from analyzers.ir.uniformity import is_uniform
from analyzers.races.threads import MAX_THREADS, WARP, Launch, Mode

_OPAQUE: Final = E.operations("opaque")


def names(launch: Launch, mask: Expr, thread: int, other: int, mode: Mode) -> Expr:
    """That the mask of ``thread`` names the lane of ``other``."""
    bit = E.binary("and", from_lane(launch, mask, thread, other, mode), E.const(1, E.U32))
    return E.compare("ne", bit, E.const(0, E.U32))


def from_lane(launch: Launch, mask: Expr, thread: int, other: int, mode: Mode) -> Expr:
    """The mask of ``thread``, from the bit of ``other`` on."""
    lane = E.binary("rem", launch.linear(other, mode), E.const(WARP, E.U32))
    return E.binary("shr", E.cast(launch.side(mask, thread, mode), E.U32), lane)


def is_known(launch: Launch, mask: Expr) -> bool:
    """Whether a mask is made of literals, coordinates and what is passed, and the lane of a thread of its coordinates
    alone: in a block of unknown rows a lane may be whatever the kernel takes it for."""
    if E.uses((launch.bind(mask),), _OPAQUE):
        return False
    return set(E.TID).issuperset(E.symbols(launch.bind(launch.linear(1, "thread"))))


def names_all_that_come(launch: Launch, mask: Expr, guard: Sequence[Conjunct]) -> bool:
    """Whether every thread that comes under ``guard`` names itself with a known mask, as far as the numbers of threads
    tell: of all that a block may have, where its size is not known."""
    known = prod(n for n in launch.block if n is not None)
    numbers = np.arange(MAX_THREADS if None in launch.block else known, dtype=np.int64)
    # Only the last extent of a block may be unknown here, and what is behind it is 1.
    x = launch.block[0] or len(numbers)
    y = launch.block[1] or len(numbers) // x
    places = dict(zip(E.TID, (numbers % x, numbers // x % y, numbers // (x * y)), strict=True))
    unnamed = np.ones(numbers.shape, dtype=bool)
    asked = (E.lnot(names(launch, mask, 1, 1, "thread")), *(launch.bind(c.condition) for c in guard))
    for condition in asked:
        if E.symbols(condition) <= set(E.TID):
            holds, defined = evaluate_vector(condition, places)
            # What has no value in C may be anything.
            unnamed &= np.broadcast_to(holds | np.logical_not(defined), numbers.shape)
    return not unnamed.any()


def name_themselves(launch: Launch, x: BarrierEvent, mode: Mode) -> list[Expr]:
    """That both threads of a question name themselves at a barrier at which they name each other."""
    if x.scope != "warp" or x.mask is None:
        return []
    return [] if launch.once(_Known).names_all(launch, x) else [names(launch, x.mask, t, t, mode) for t in (1, 2)]


class _Known:
    """Of the barriers of one launch, whether threads that name each other name themselves."""

    def __init__(self, _: Launch) -> None:
        self.found: dict[int, bool] = {}

    def names_all(self, launch: Launch, x: BarrierEvent) -> bool:
        assert x.mask is not None
        if x.order not in self.found:
            # Those that have one mask do.
            same = is_uniform(launch.bind(x.mask), "warp")
            self.found[x.order] = same or (is_known(launch, x.mask) and names_all_that_come(launch, x.mask, x.guard))
        return self.found[x.order]
