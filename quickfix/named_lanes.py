"""Barriers of the lanes of a warp that a mask names, and the lanes that come to them.

Takes analysed kernels of an edited text; says whether those that come to such a barrier are those that it names. That
these wait for each other there is for the engine to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np

from analyzers.analysed import KernelAnalysis
from analyzers.ir import expr as E
from analyzers.ir.evaluate import evaluate_vector
from analyzers.ir.events import BarrierEvent, Conjunct
from analyzers.ir.uniformity import is_uniform
from analyzers.races.threads import WARP, Launch

ALL_LANES: Final = (1 << WARP) - 1


def named_otherwise(kernels: Iterable[KernelAnalysis], barrier: bytes) -> str | None:
    """A clause where threads come to such a barrier whose lanes it does not name, or other lanes than those that it
    names; `barrier`: how it is written."""
    text = barrier.decode().removesuffix(";")
    for analysis in kernels:
        own = [b for b in analysis.events.barriers if b.scope == "warp" and b.site.text == text]
        for context in analysis.contexts if own else ():
            launch = Launch(analysis.events, context)
            if not all(_comes_as_named(launch, b) for b in own):
                return f"not only the lanes that `{text}` names come to it"
    return None


def _comes_as_named(launch: Launch, barrier: BarrierEvent) -> bool:
    mask = barrier.mask
    return (
        mask is not None
        and mask.op == "const"
        and set(lanes_of_warps(launch, barrier.guard)) <= {mask.value & ALL_LANES}
    )


def lanes_of_warps(launch: Launch, guard: Iterable[Conjunct]) -> Iterator[int | None]:
    """The masks of the lanes that meet the conditions on coordinates of a guard, of each warp with such; None where
    that is not known."""
    width, height, depth = launch.block
    if width is None or height is None or depth is None:
        yield None
        return
    number = np.arange(width * height * depth, dtype=np.int64)
    coordinates = number % width, number // width % height, number // (width * height)
    values = dict(zip(E.TID, coordinates, strict=True))
    come = np.ones(number.shape, dtype=bool)
    for conjunct in guard:
        condition = launch.bind(conjunct.condition)
        if conjunct.kind == "assume" or is_uniform(condition, "block"):
            continue
        if not set(E.TID).issuperset(E.symbols(condition)):
            yield None
            return
        held, defined = evaluate_vector(condition, values)
        come &= np.broadcast_to(held.astype(bool) & defined, come.shape)
    for first in range(0, number.size, WARP):
        lanes = np.flatnonzero(come[first : first + WARP]).tolist()
        if lanes:
            yield sum(1 << lane for lane in lanes)
