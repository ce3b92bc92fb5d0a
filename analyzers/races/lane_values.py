"""What lanes got from one of their warp, where coordinates tell what that one gave.

``warp = __shfl_sync(~0u, threadIdx.x / 32, 0);`` makes a number that is the same for a warp one that the compiler knows
to be: the value is the thread's own. Of others it is that of the thread which is asked: in blocks of one dimension its
number is known (CUDA C++ Programming Guide, "Warp Shuffle Functions").
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from math import prod

from analyzers.ir import expr as E
from analyzers.ir.events import Broadcast
from analyzers.ir.expr import Expr, IntType
from analyzers.ir.uniformity import is_uniform
from analyzers.races.threads import WARP, Launch, Mode, no_iteration, not_reached


@dataclass(frozen=True, slots=True)
class _Given:
    """What a shuffle gives."""

    broadcast: Broadcast
    value: Expr
    """As each lane would compute it itself."""
    there: Expr
    """That the warp has the lane which is asked."""


def lane_value_laws(launch: Launch, conjuncts: Iterable[Expr], mode: Mode) -> list[Expr]:
    """For each result of a shuffle in ``conjuncts`` (renamed): what it is equal to, in the lanes that come there."""
    known = launch.once(_given) if launch.events.broadcasts else {}
    if not known:
        return []
    conjuncts = list(conjuncts)
    held = set(conjuncts)
    out: dict[Expr, None] = {}
    for node in E.symbols(*conjuncts):
        identity, threads = _whose(node)
        if identity in known:
            out.update((_law(launch, known[identity], node, thread, mode, held), None) for thread in threads)
    return [law for law in out if law is not E.TRUE]


def _whose(node: Expr) -> tuple[str, tuple[int, ...]]:
    """The identity of a value, and the threads of the question that it is one of."""
    identity = node.value[0] if node.op == "opaque" else ""
    base, _, side = identity.rpartition("@")
    return (base, (int(side),)) if base and side in ("1", "2") else (identity, (1, 2))


def _law(launch: Launch, known: _Given, node: Expr, thread: int, mode: Mode, held: Collection[Expr]) -> Expr:
    b = known.broadcast
    parameters = (launch.side(p, thread, mode) for p in b.result.args)
    here = dict(zip(parameters, node.args, strict=True))

    def renamed(e: Expr) -> Expr:
        return E.substitute(launch.side(e, thread, mode), here)

    none = [*no_iteration(node.args), *not_reached(map(renamed, (*b.conditions, known.there)), held)]
    return E.lor(*none, E.compare("eq", node, renamed(known.value)))


def _given(launch: Launch) -> dict[str, _Given]:
    """By identity of the result."""
    return {identity: g for identity, b in launch.events.broadcasts.items() if (g := _given_by(launch, b)) is not None}


def _given_by(launch: Launch, b: Broadcast) -> _Given | None:
    if b.mask is not None or not isinstance(b.value.ty, IntType) or b.value.ty != b.result.ty:
        return None
    if b.lane.op != "const" or not 0 <= b.lane.value < WARP:
        return None
    lane = int(b.lane.value)
    there = _is_there(launch, lane)
    if there is None:
        return None
    if launch.agree_in_warps(b.value):
        return _Given(b, b.value, there)
    own = any(s.op == "opaque" and not is_uniform(s, "warp") for s in E.symbols(b.value))
    if own or launch.block[1:] != (1, 1):
        return None
    return _Given(b, E.substitute(b.value, {E.TID[0]: _thread_of(lane)}), there)


def _is_there(launch: Launch, lane: int) -> Expr | None:
    """That the warp has a lane of this number; None where that is not known."""
    if lane == 0:
        return E.TRUE
    extents = [extent for extent in launch.block if extent is not None]
    if len(extents) == len(launch.block) and prod(extents) % WARP == 0:
        return E.TRUE
    return E.compare("lt", _thread_of(lane), E.BDIM[0]) if launch.block[1:] == (1, 1) else None


def _thread_of(lane: int) -> Expr:
    """The coordinate of a lane of the own warp, in a block of one dimension."""
    size = E.const(WARP, E.U32)
    return E.add(E.mul(E.binary("div", E.TID[0], size), size), E.const(lane, E.U32))
