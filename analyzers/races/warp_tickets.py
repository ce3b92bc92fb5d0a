"""Tickets that one lane takes for others of its warp, and gives to them by a shuffle.

``if (lane == 0) base = atomicAdd(counter, n); base = __shfl_sync(~0u, base, 0);`` Warps hold tickets apart by what each
has added. That the lane which is asked took a ticket is found by looking at every thread of the block with its number.

The same for the lanes in a mask that are together, because they were active at once or voted for the same
(``__activemask``, ``__ballot_sync``), behind the lowest of them. Each lane is in its own mask, and those that are
together have one. So lanes of a warp that hold different masks, or different tickets, were not together. Where the
whole warp asks the lowest lane that voted, those that voted have its ticket.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from math import prod

from analyzers.ir import expr as E
from analyzers.ir.bittricks import is_count, is_first_bit
from analyzers.ir.evaluate import evaluate
from analyzers.ir.events import AccessEvent, Broadcast
from analyzers.ir.expr import I64, Expr, IntType
from analyzers.races.lane_counts import lanes_below
from analyzers.races.scans import of_last_lane
from analyzers.races.threads import MAX_THREADS, WARP, Launch, Mode, not_reached
from analyzers.races.tickets import anew_in, apart, tickets


@dataclass(frozen=True, slots=True)
class _Taken:
    """A ticket that lanes got from one of them."""

    given: Broadcast
    atomic: AccessEvent
    amount: Expr
    """What was added, as each of them sees it."""


def _warp_tickets(launch: Launch) -> list[_Taken]:
    known = launch.once(tickets)
    out: list[_Taken] = []
    for b in launch.events.broadcasts.values() if known else ():
        given = _given(launch, b)
        if given is None or given.op != "opaque" or given.args != b.result.args or given.ty != b.result.ty:
            continue
        kind, _, number = str(given.value[0]).partition(":")
        a = known.get(int(number)) if kind == "atomic" else None
        if a is None or a.offset.op != "const" or not _only_grows(launch, a):
            continue
        own = [c.condition for c in a.guard if c.kind != "assume" and c.condition not in b.conditions]
        if not all(_holds(launch, b, c) for c in own):
            continue
        amount = a.value if _same_for_all(launch, a, b) else None
        if amount is None and a.value is not None and b.mask is None and _is_const(b.lane, WARP - 1):
            amount = of_last_lane(launch, a.value)
        if amount is not None:
            out.append(_Taken(b, a, amount))
    return out


def _given(launch: Launch, b: Broadcast) -> Expr | None:
    """What the lane that is asked gives, without the choices that it makes."""
    if b.mask is None:
        if b.lane.op != "const" or not 0 <= b.lane.value < WARP or not _has_lane(launch, int(b.lane.value)):
            return None
    elif not _is_lowest(b.lane, b.mask):
        return None
    value = b.value
    while value.op == "select":
        condition, then, other = value.args
        if _holds(launch, b, condition):
            value = then
        elif _holds(launch, b, E.lnot(condition)):
            value = other
        else:
            return None
    return value


def _holds(launch: Launch, b: Broadcast, condition: Expr) -> bool:
    """The lane that is asked meets a condition."""
    if b.mask is None:
        return _decided(launch, condition, int(b.lane.value)) is True
    condition = launch.bind(condition)
    if condition.op == "land":
        return all(_holds(launch, b, part) for part in condition.args)
    if condition.op == "ne":
        # The lane is in the mask.
        return any(_is_const(zero, 0) and _unwidened(m) is b.mask for m, zero in (condition.args, condition.args[::-1]))
    if condition.op != "eq":
        return False
    for one, other in (condition.args, condition.args[::-1]):
        if _is_lowest(other, b.mask) and _is_lane(launch, one):
            return True
        if not _is_const(other, 0):
            continue
        while one.op in ("cast", "narrow") and _widens(one):
            one = one.args[0]
        below = lanes_below(one.args[0]) if is_count(one) else None
        if below is not None and below[0] is b.mask and _is_lane(launch, below[1]):
            return True
    return False


def _is_lowest(e: Expr, mask: Expr) -> bool:
    """``__ffs(mask) - 1``."""
    while e.op in ("cast", "narrow") and _widens(e):
        e = e.args[0]
    if e.op not in ("add", "sub"):
        return False
    one, other = e.args
    for first, less in ((one, other), (other, one)) if e.op == "add" else ((one, other),):
        if _is_const(less, -1 if e.op == "add" else 1) and is_first_bit(first):
            whole = first.args[0]
            while whole.op in ("cast", "narrow") and _widens(whole):
                whole = whole.args[0]
            return whole is mask
    return False


def _unwidened(e: Expr) -> Expr:
    while e.op in ("cast", "narrow") and _widens(e):
        e = e.args[0]
    return e


def _widens(e: Expr) -> bool:
    """A conversion that keeps 32 bits, or all that are less than 32."""
    kept = e.args[0].ty
    return isinstance(e.ty, IntType) and isinstance(kept, IntType) and e.ty.width >= 32 and kept.width == 32


def _is_const(e: Expr, value: int) -> bool:
    return e.op == "const" and e.value == value


def _is_lane(launch: Launch, e: Expr) -> bool:
    """The number of the thread in its warp, for all threads of a block."""
    bound = launch.bind(e)
    return all(
        _decided(launch, E.compare("eq", bound, E.cast(E.const(lane, E.I32), bound.ty)), lane) is True
        for lane in range(WARP)
        if isinstance(bound.ty, IntType) and _some_lane(launch, lane)
    ) and isinstance(bound.ty, IntType)


def _some_lane(launch: Launch, lane: int) -> bool:
    """A block of known size has a thread of this number in its first warp."""
    threads = [b for b in launch.block if b is not None]
    return len(threads) < len(launch.block) or lane < prod(threads)


def _same_for_all(launch: Launch, a: AccessEvent, b: Broadcast) -> bool:
    """Each lane that takes part would add the same."""
    if a.value is None:
        return False
    given = {b.mask: E.const(0, E.U32)} if b.mask is not None and b.mask.ty == E.U32 else {}
    found = E.symbols(E.substitute(launch.bind(a.value), given))
    if b.mask is not None and b.mask.value[1] == "thread":
        return all(s.op == "sym" and not str(s.value).startswith(("tid.", "gid.", "loop:")) for s in found)
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


def warp_ticket_conditions(launch: Launch, conjuncts: Iterable[Expr], mode: Mode) -> list[Expr]:
    """For tickets that lanes of both threads hold: they are apart, unless it is one."""
    if not launch.events.broadcasts or mode == "thread":
        return []
    present, given = E.symbols(*conjuncts), set(conjuncts)
    out: list[Expr] = []
    for taken in launch.once(_warp_tickets):
        a, b = taken.atomic, taken.given
        one, two = (launch.side(b.result, t, mode) for t in (1, 2))
        space = launch.events.kernel.object(a.root.value).space if a.root.op == "addr" else ""
        if one not in present or two not in present or one is two or not space:
            continue
        if mode == "grid" and space != "global":
            continue
        amounts = [E.cast(launch.side(taken.amount, t, mode), I64) for t in (1, 2)]
        different = apart(a, (one, amounts[0]), (two, amounts[1]))
        same = E.land(*_may_be_together(launch, b, (one, two), mode))
        one_ticket = E.compare("eq", one, two)
        # Without a vote of their own, nobody may have voted in their warp.
        others = E.lor(*(E.lnot(launch.side(c, t, mode)) for t in (1, 2) for c in b.voted))
        if b.mask is not None and b.mask.value[1] == "thread":
            laws = [E.lor(E.land(same, one_ticket), different)]
        else:
            laws = [E.lor(others, law) for law in (E.lor(same, different), E.lor(E.lnot(same), one_ticket))]
        none = not_reached((launch.side(c, t, mode) for t in (1, 2) for c in b.conditions), given)
        out += [E.lor(*none, law) for law in laws]
    return [c for c in out if c is not E.TRUE]


def _may_be_together(launch: Launch, b: Broadcast, results: tuple[Expr, Expr], mode: Mode) -> Iterator[Expr]:
    """Both lanes took part in one shuffle; of lanes that were active at once, that they may have. These may be in
    different iterations of their loops."""
    if mode == "grid":
        yield E.FALSE
        return
    if mode != "warp":
        yield launch.same_warp(mode)
    if b.mask is not None and b.mask.value[1] == "thread":
        yield E.compare("eq", *(launch.side(b.mask, t, mode) for t in (1, 2)))
    else:
        yield from (E.compare("eq", x, y) for x, y in zip(*(r.args for r in results), strict=True))
