"""Which lanes of a warp come to accesses under a condition on the coordinates of threads.

Takes analysed kernels and races, gives the mask that `__syncwarp(mask)` would name between their accesses: where the
same lanes of every warp that comes there do, whatever the launch. Whether these wait for each other there is for the
engine to say.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

import numpy as np

from analyzers.analysed import KernelAnalysis
from analyzers.ir import expr as E
from analyzers.ir.evaluate import evaluate_vector
from analyzers.ir.events import Conjunct
from analyzers.ir.uniformity import is_uniform
from analyzers.model import Finding
from analyzers.races.threads import WARP, Launch

_ALL: Final = (1 << WARP) - 1


def lane_mask(kernels: Collection[KernelAnalysis], races: Sequence[Finding]) -> int | None:
    """None: all lanes come, or it is not known which, or others in other warps. Blocks have known extents."""
    found = {mask for analysis in kernels for mask in _masks(analysis, races)}
    mask = found.pop() if len(found) == 1 else None
    return None if mask in (0, _ALL) else mask


def _masks(analysis: KernelAnalysis, races: Iterable[Finding]) -> Iterator[int | None]:
    """Of the lanes that come to the accesses, for each of these, each launch and each warp with such."""
    places = {(a.span.path, a.span.start_offset, a.calls) for f in races for a in f.accesses[:2]}
    events = [
        e for e in analysis.events.accesses if (e.site.span.path, e.site.span.start_offset, e.site.calls) in places
    ]
    for context in analysis.contexts:
        launch = Launch(analysis.events, context)
        for guard in dict.fromkeys(e.guard for e in events):
            yield from _of_warps(launch, guard)


def _of_warps(launch: Launch, guard: Iterable[Conjunct]) -> Iterator[int | None]:
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
