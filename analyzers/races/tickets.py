"""Atomic tickets: an atomic add of a non-zero constant gives every caller a different old value.

That holds for the values one counter hands out while nothing else changes it: other writes to the object may only
come before, outside of the
loops around the atomic (an initialisation). Counters are assumed not to wrap around (``NO_WRAP``, to be listed).
"""

from __future__ import annotations

from collections.abc import Iterable

from analyzers.ir import expr as E
from analyzers.ir.events import AccessEvent
from analyzers.ir.expr import Expr
from analyzers.races.threads import Launch, Mode

NO_WRAP = "atomic counters do not wrap around"


def tickets(launch: Launch) -> dict[int, AccessEvent]:
    """Event id -> the atomic, for atomics whose results are distinct."""
    out: dict[int, AccessEvent] = {}
    for a in launch.events.accesses:
        info = a.atomic
        if info is None or info.op not in ("add", "sub") or not info.constant:
            continue
        others = [o for o in launch.events.accesses if o.writes and o.root is a.root and o.id != a.id]
        if all(o.order < a.order and not set(o.loops) & set(a.loops) for o in others):
            out[a.id] = a
    return out


def distinct_tickets(
    launch: Launch, known: dict[int, AccessEvent], conjuncts: Iterable[Expr], mode: Mode
) -> list[Expr]:
    """For each ticket that both threads hold: the values differ where they come from one counter."""
    held: dict[str, dict[str, list[Expr]]] = {}
    for node in E.symbols(*conjuncts):
        if node.op == "opaque":
            identity, _, side = node.value[0].rpartition("@")
            if side and identity.startswith("atomic:"):
                held.setdefault(identity, {}).setdefault(side, []).append(node)
    out: list[Expr] = []
    for identity, sides in sorted(held.items()):
        a = known.get(int(identity.split(":")[1]))
        if a is None or len(sides) < 2 or not _one_counter(launch, a, mode):
            continue
        same_cell = E.compare("eq", launch.side(a.offset, 1, mode), launch.side(a.offset, 2, mode))
        for left in sides["1"]:
            for right in sides["2"]:
                if left.ty == right.ty:
                    out.append(E.lor(E.lnot(same_cell), E.compare("ne", left, right)))
    return out


def _one_counter(launch: Launch, a: AccessEvent, mode: Mode) -> bool:
    """Both threads see the same object: a shared counter is one per block."""
    if a.root.op != "addr":
        return False
    return mode != "grid" or launch.events.kernel.object(a.root.value).space == "global"
