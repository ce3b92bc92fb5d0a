"""Volatile loads of shared memory that no thread of the block writes to at the same time.

``while (!found) { …; __syncthreads(); if (…) found = 1; __syncthreads(); }`` with a volatile ``found``: barriers are
between each load and each write, so all threads of the block find the same, as if the cell were not volatile.

That is so as long as all came to the load in the same barrier interval. They did where all loads before gave all
threads the same, and other reasons to part are found as what they are: a branch on something else.
"""

from __future__ import annotations

from collections.abc import Mapping

from analyzers.ir import kernel as k
from analyzers.ir.barrier_intervals import Apart, barrier_intervals, reaches_clusters
from analyzers.ir.expr import Expr
from analyzers.ir.pointers import pointed_objects


def quiet_loads(kernel: k.Kernel, body: tuple[k.Stmt, ...], known: Mapping[str, frozenset[str]]) -> frozenset[int]:
    """Their numbers, of a kernel whose statements are ``body``. ``known``: `pointers.points_to` of it."""
    every = k.statements(body)
    loads = [(n, s) for n, s in enumerate(every) if isinstance(s, k.Load) and s.volatile]
    shared = {o.name for o in kernel.objects if o.space == "shared"}
    intervals = barrier_intervals(body, together=True) if loads and shared else None
    if intervals is None or reaches_clusters(every):
        return frozenset()

    def touched(pointer: Expr) -> frozenset[str]:
        return pointed_objects(pointer, known) or frozenset(("?",))

    writes = [(n, s) for n, s in enumerate(every) if isinstance(s, (k.Store, k.Atomic))]
    # A copy beside the thread goes on behind barriers.
    apart = Apart.of(
        shared,
        intervals,
        ((n, touched(s.pointer), isinstance(s, k.Store) and s.asynchronous) for n, s in writes),
    )
    quiet: dict[int, bool] = {}
    for number, load in loads:
        quiet[load.id] = apart.holds(number, touched(load.pointer)) and quiet.get(load.id, True)
    return frozenset(n for n, alone in quiet.items() if alone)
