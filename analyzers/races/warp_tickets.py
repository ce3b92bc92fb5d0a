"""Tickets that one lane takes for its warp, and gives to the others by a shuffle.

``if (lane == 0) base = atomicAdd(counter, n); base = __shfl_sync(~0u, base, 0);`` Warps hold tickets apart by what each
has added. That the lane which is asked took a ticket is found by looking at every thread of the block with its number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from math import prod

from analyzers.ir import expr as E
from analyzers.ir.evaluate import evaluate
from analyzers.ir.events import AccessEvent, Broadcast
from analyzers.ir.expr import I64, Expr, IntType
from analyzers.races.scans import of_last_lane
from analyzers.races.threads import MAX_THREADS, WARP, Launch, Mode
from analyzers.races.tickets import anew_in, apart


def warp_tickets(launch: Launch, known: Mapping[int, AccessEvent]) -> dict[str, tuple[Broadcast, AccessEvent, Expr]]:
    """By identity of the value that a warp got: the addition that gave it to one of its lanes, and what was added."""
    out: dict[str, tuple[Broadcast, AccessEvent, Expr]] = {}
    for identity, b in launch.events.broadcasts.items():
        if b.lane.op != "const" or not 0 <= b.lane.value < WARP or not known:
            continue
        given = _of_lane(launch, b.value, int(b.lane.value))
        if given is None or given.op != "opaque" or given.args != b.result.args or given.ty != b.result.ty:
            continue
        kind, _, number = str(given.value[0]).partition(":")
        a = known.get(int(number)) if kind == "atomic" else None
        if a is None or a.offset.op != "const" or a.atomic is None or not _has_lane(launch, int(b.lane.value)):
            continue
        amount = a.value if _same_for_warp(launch, a) else None
        if amount is None and a.value is not None and b.lane.value == WARP - 1 and _only_grows(launch, a):
            amount = of_last_lane(launch, a.value)
        if amount is not None:
            out[identity] = b, a, amount
    return out


def _same_for_warp(launch: Launch, a: AccessEvent) -> bool:
    """Each lane of a warp would add the same, zero or more, to a counter that never begins anew."""
    if not _only_grows(launch, a) or a.value is None:
        return False
    found = E.symbols(launch.bind(a.value))
    return all(
        s.value[1] != "thread" if s.op == "opaque" else not str(s.value).startswith(("tid.", "gid.")) for s in found
    )


def _only_grows(launch: Launch, a: AccessEvent) -> bool:
    if a.atomic is None or a.atomic.op != "add" or anew_in(launch, a):
        return False
    return a.value is not None and isinstance(a.value.ty, IntType)


def _has_lane(launch: Launch, lane: int) -> bool:
    """Every warp has a lane of this number, as far as the size of blocks is known."""
    threads = [b for b in launch.block if b is not None]
    return len(threads) < len(launch.block) or prod(threads) % WARP == 0 or lane < prod(threads) % WARP


def _of_lane(launch: Launch, value: Expr, lane: int) -> Expr | None:
    """The value that lanes of this number give, without the choices that they all make alike."""
    while value.op == "select":
        taken = _decided(launch, value.args[0], lane)
        if taken is None:
            return None
        value = value.args[1] if taken else value.args[2]
    return value


def _decided(launch: Launch, condition: Expr, lane: int) -> bool | None:
    """What a condition on coordinates is for all threads of a block that are this lane of their warp."""
    condition = launch.bind(condition)
    used = E.symbols(condition)
    width, height, depth = launch.block
    if None in (height, depth) or not used <= {*E.TID}:
        return None
    assert height is not None
    assert depth is not None
    if width is None and (height, depth) != (1, 1):
        return None
    found: set[bool] = set()
    for z, y, x in product(range(depth), range(height), range(width or MAX_THREADS)):
        if (x + (width or 0) * (y + height * z)) % WARP == lane:
            held = evaluate(condition, dict(zip(E.TID, (x, y, z), strict=True)))
            if held is None:
                return None
            found.add(bool(held))
    return found.pop() if len(found) == 1 else None


def warp_ticket_conditions(
    launch: Launch, known: Mapping[int, AccessEvent], conjuncts: Iterable[Expr], mode: Mode
) -> list[Expr]:
    """For tickets that warps of both threads hold: they are apart, unless it is one."""
    if not launch.events.broadcasts or mode == "thread":
        return []
    conjuncts = tuple(conjuncts)
    present = E.symbols(*conjuncts)
    if mode == "block" and E.lnot(launch.same_warp("block")) not in conjuncts:
        return []  # The two may be of one warp, and mean one ticket.
    out: list[Expr] = []
    for b, a, amount in warp_tickets(launch, known).values():
        one, two = (launch.side(b.result, t, mode) for t in (1, 2))
        space = launch.events.kernel.object(a.root.value).space if a.root.op == "addr" else ""
        if one not in present or two not in present or one is two or not space:
            continue
        if mode == "grid" and space != "global":
            continue
        amounts = [E.cast(launch.side(amount, t, mode), I64) for t in (1, 2)]
        different = apart(a, (one, amounts[0]), (two, amounts[1]))
        if mode == "warp":
            same = [E.compare("eq", x, y) for x, y in zip(one.args, two.args, strict=True)]
            different = E.lor(E.land(*same), different)
        out.append(different)
    return out
