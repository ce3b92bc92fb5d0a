"""Volatile loads of shared memory that no thread of the block writes to at the same time.

``while (!found) { …; __syncthreads(); if (…) found = 1; __syncthreads(); }`` with a volatile ``found``: barriers are
between each load and each write, so all threads of the block find the same, as if the cell were not volatile.

That is so as long as all came to the load in the same barrier interval. They did where all loads before gave all
threads the same, and other reasons to part are found as what they are: a branch on something else.
"""

from __future__ import annotations

from collections.abc import Mapping

from analyzers.ir import kernel as k
from analyzers.ir.barrier_intervals import EVERY, barrier_intervals
from analyzers.ir.clusters import is_in_block
from analyzers.ir.expr import PTR, walk
from analyzers.ir.pointers import pointed_objects


def quiet_loads(kernel: k.Kernel, body: tuple[k.Stmt, ...], known: Mapping[str, frozenset[str]]) -> frozenset[int]:
    """Their numbers, of a kernel whose statements are ``body``. ``known``: `pointers.points_to` of it."""
    every = k.statements(body)
    loads = [n for n, s in enumerate(every) if isinstance(s, k.Load) and s.volatile]
    shared = {o.name for o in kernel.objects if o.space == "shared"}
    intervals = barrier_intervals(body, together=True) if loads and shared else None
    if intervals is None or _reaches_clusters(every):
        return frozenset()
    written = dict.fromkeys(shared, 0)
    for number, s in enumerate(every):
        if isinstance(s, (k.Store, k.Atomic)):
            touched = pointed_objects(s.pointer, known)
            # A copy beside the thread goes on behind barriers.
            when = EVERY if isinstance(s, k.Store) and s.asynchronous else intervals[number]
            for name in shared if touched & {"?", "*"} else touched & shared:
                written[name] |= when
    quiet: dict[int, bool] = {}
    for number in loads:
        s = every[number]
        assert isinstance(s, k.Load)
        touched = pointed_objects(s.pointer, known)
        alone = touched <= shared and not any(intervals[number] & written[name] for name in touched)
        quiet[s.id] = alone and quiet.get(s.id, True)
    return frozenset(n for n, alone in quiet.items() if alone)


def _reaches_clusters(every: list[k.Stmt]) -> bool:
    """Shared memory of other blocks is touched."""
    pointers = [s.pointer for s in every if isinstance(s, (k.Load, k.Store, k.Atomic))]
    pointers += [s.value for s in every if isinstance(s, k.Assign) and s.value.ty == PTR]
    return any(map(is_in_block, walk(pointers)))
