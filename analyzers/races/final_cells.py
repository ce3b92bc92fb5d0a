"""Cells of shared memory that nobody writes any more: all threads of the block load one value from them.

``if (threadIdx.x == 0) base = atomicAdd(size, used); __syncthreads(); … if (i < used) out[base + i] = …``: what the
first thread claims is what the others compare with, though each loads it for itself and there are barriers between the
loads. That holds of loads behind a barrier that is behind all writes of the object, and outside of loops those are in.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from analyzers.ir import expr as E
from analyzers.ir.events import AccessEvent, without_thread
from analyzers.ir.expr import Expr
from analyzers.races.shared_counts import barrier_between, writes_to
from analyzers.races.threads import Launch, Mode

_MOST: Final = 16
"""Loads of one question that are held against each other."""


def final_loads(launch: Launch) -> dict[str, AccessEvent]:
    """By what they find, those whose cell has its last value."""
    events = launch.events.accesses
    ids = [a.id for a in events]
    shared = (
        a
        for a in events
        if a.kind == "read" and not a.volatile and a.root.op == "addr" and a.offset.op == "const"
        if launch.events.kernel.object(a.root.value).space == "shared" and ids.count(a.id) == 1
    )
    return {a.loaded: a for a in shared if _is_final(launch, a)}


def _is_final(launch: Launch, load: AccessEvent) -> bool:
    """No loop makes a write come after the load: the two share none."""
    return all(
        not w.asynchronous
        and w.order < load.order
        and not {*w.loops} & {*load.loops}
        and barrier_between(launch, w, load)
        for w in writes_to(launch, load)
    )


def final_cell_laws(launch: Launch, conjuncts: Iterable[Expr], mode: Mode) -> list[Expr]:
    """That loads of one cell by threads of one block are equal."""
    nodes = sorted((n for n in E.symbols(*conjuncts) if _is_load(n)), key=lambda n: n.rank)
    known = launch.once(final_loads) if len(nodes) > 1 else {}
    cells: dict[object, Expr] = {}
    out: list[Expr] = []
    for node in nodes[:_MOST]:
        load = known.get(without_thread(node.value[0]))
        if load is None:
            continue
        # In a grid the threads are of two blocks.
        block = node.value[0].rpartition("@")[2] if mode == "grid" else ""
        first = cells.setdefault((load.root, load.offset, load.width, node.ty, block), node)
        if first is not node:
            out.append(E.compare("eq", first, node))
    return out


def _is_load(node: Expr) -> bool:
    return node.op == "opaque" and node.value[0].startswith("load:")
