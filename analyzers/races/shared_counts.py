"""Counters in shared memory that are read behind a barrier: the number then is what the whole block has added.

``pos = atomicAdd(&count, 1); __syncthreads(); … count …``: whoever got ``pos`` knows that ``pos + 1 <= count``, where
nothing but such additions and, on the other side of a barrier, plain writes change the counter. Where it begins with a
constant that is not negative, so is the number. A thread that has waited for something else than the barrier may read
another number: what it loads is not the block's (``block`` level of the value).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from analyzers.ir import expr as E
from analyzers.ir.events import AccessEvent, without_thread
from analyzers.ir.expr import I64, Expr
from analyzers.ir.intervals import Intervals
from analyzers.races.first_thread import FIRST, Coordinates, alone, executes_before, of_thread, some_thread
from analyzers.races.pairs import place
from analyzers.races.scans import at_least, scans
from analyzers.races.threads import MAX_BLOCK, Launch, Mode, no_iteration, not_reached
from analyzers.solve.narrowing import NO_TAGS, Contradiction, Narrowing

MAX_RELATED = 16
"""Tickets and counts of one question that are related to each other."""


@dataclass(frozen=True, slots=True)
class Count:
    """A load of a counter behind the additions of its iteration."""

    load: AccessEvent
    added: tuple[AccessEvent, ...]
    not_negative: bool


def shared_counts(launch: Launch) -> dict[str, Count]:
    """By what the load finds."""
    out: dict[str, Count] = {}
    reads = [a for a in launch.events.accesses if a.kind == "read" and not a.volatile]
    for load in reads:
        if load.root.op != "addr" or load.offset.op != "const":
            continue
        if launch.events.kernel.object(load.root.value).space == "shared":
            found = _count(launch, load)
            if found is not None:
                out[load.loaded] = found
    ids = [a.id for a in launch.events.accesses]
    return {n: c for n, c in out.items() if ids.count(c.load.id) == 1}


def _count(launch: Launch, load: AccessEvent) -> Count | None:
    changes = writes_to(launch, load)
    adds = [o for o in changes if is_addition(launch, o)]
    plain = [o for o in changes if o not in adds]
    added = tuple(a for a in adds if _is_before(launch, a, load))
    if not added or any(not _stays_outside(launch, o, added, load) for o in plain):
        return None
    # Additions that may come after the reading of an earlier iteration: they make the number larger, never smaller.
    earlier = [o for o in plain if o.order < load.order]
    begins = [o for o in earlier if (o.loops == load.loops or plain == [o]) and barrier_between(launch, o, load)]
    sure = all(o.value is not None and o.value.op == "const" and o.value.value >= 0 for o in earlier) and any(
        (by := _who_writes(launch, o, load)) is not None
        and all(executes_before(launch, o, a, by) for a in (*added, load))
        for o in begins
    )
    return Count(load, added, sure)


def writes_to(launch: Launch, a: AccessEvent) -> list[AccessEvent]:
    """All that may change what an access of a fixed place touches."""
    where = place(launch, a).allocation
    found = [o for o in launch.events.accesses if o.writes and place(launch, o).allocation == where]
    return [o for o in found if not _is_beside(launch, o, a)]


def _is_beside(launch: Launch, o: AccessEvent, a: AccessEvent) -> bool:
    """Whether a write is of other bytes of the object than an access of a fixed place, by what its subscripts may be:
    another member, another element, an array beside. What a library writes in its own objects is not known so well."""
    at = launch.bind(place(launch, a).offset)
    if at.op != "const" or o.asynchronous or o.site.modelled:
        return False
    offset = launch.bind(place(launch, o).offset)
    try:
        found = _ranges(launch, o).of(offset)
    except Contradiction:
        return True  # is not made at all
    return found.hi + o.width <= at.value or at.value + a.width <= found.lo


def _ranges(launch: Launch, o: AccessEvent) -> Intervals:
    """Of the numbers that a thread has where it makes an access. Raises `Contradiction` where none does."""
    ranges = dict(launch.ranges)
    for axis, t in enumerate(E.TID):
        ranges[t] = 0, (launch.block[axis] or MAX_BLOCK[axis]) - 1
    for label in o.loops:
        loop = launch.events.loops[label]
        ranges[loop.counter] = 0, loop.limit
    narrowing = Narrowing(ranges, no_signed_overflow=False)
    narrowing.run([(launch.bind(c.condition), NO_TAGS) for c in o.guard])
    return Intervals(narrowing.ranges, no_signed_overflow=False)


def is_addition(launch: Launch, a: AccessEvent) -> bool:
    """An atomic that never makes its cell smaller, unless it wraps around."""
    if a.atomic is None or a.atomic.op != "add" or a.value is None:
        return False
    return at_least(launch, a.value, launch.once(scans)) is not None


def _is_before(launch: Launch, add: AccessEvent, load: AccessEvent) -> bool:
    """An addition to the cell that is loaded, and a barrier between the two in each iteration."""
    same = add.root is load.root and add.offset is load.offset and add.width == load.width
    inside = add.loops[: len(load.loops)] == load.loops
    return same and inside and add.order < load.order and barrier_between(launch, add, load)


def _who_writes(launch: Launch, o: AccessEvent, load: AccessEvent) -> Coordinates | None:
    """A thread of the block that writes what is loaded, where it gets to a write."""
    if o.root is not load.root or o.width != load.width:
        return None
    found = some_thread(launch, o.guard, E.compare("eq", o.offset, load.offset))
    return FIRST if found is None and of_thread(launch, o.offset) is load.offset else found


def _stays_outside(launch: Launch, o: AccessEvent, added: Iterable[AccessEvent], load: AccessEvent) -> bool:
    """A plain write that never comes between an addition and the load of one iteration."""
    if o.kind != "write" or o.volatile or o.asynchronous or o.root is not load.root:
        return False
    if o.loops != load.loops[: len(o.loops)]:
        return False
    if o.order > load.order:
        return (alone(launch, o.guard) and alone(launch, load.guard)) or barrier_between(launch, load, o)
    return all(o.order < a.order and barrier_between(launch, o, a) for a in added)


def barrier_between(launch: Launch, first: AccessEvent, second: AccessEvent) -> bool:
    """In each iteration of their common loops, a thread that gets to the second access comes by a barrier."""
    known = {c.condition for c in second.guard}
    common = [x for x, y in zip(first.loops, second.loops, strict=False) if x == y]
    return any(
        b.scope == "block"
        and first.order < b.order < second.order
        and b.loops == tuple(common)
        and all(c.kind in ("return", "assume") or c.condition in known for c in b.guard)
        for b in launch.events.barriers
    )


def not_negative(launch: Launch) -> dict[str, object]:
    """The identities of values that are zero or more: sums of scans, and counts."""
    counts = launch.once(shared_counts)
    names = {n.value[0] for n in _loads(launch) if (c := counts.get(n.value[0])) is not None and c.not_negative}
    return {**launch.once(scans), **dict.fromkeys(names)}


def _loads(launch: Launch) -> list[Expr]:
    """The values that the block's threads agree on, of loads that additions use."""
    values = [a.value for a in launch.events.accesses if a.atomic is not None and a.value is not None]
    return [n for n in E.symbols(*values) if _is_of_block(n)]


def _is_of_block(node: Expr) -> bool:
    return node.op == "opaque" and node.value[0].startswith("load:") and node.value[1] == "block"


def count_laws(launch: Launch, conjuncts: Iterable[Expr], mode: Mode) -> list[Expr]:
    """The ticket of a thread and what it added are no more than what its block counted."""
    if mode == "thread":
        return []
    given = set(conjuncts)
    nodes = sorted((n for n in E.symbols(*given) if n.op == "opaque"), key=lambda n: n.rank)
    loads = [n for n in nodes if _is_of_block(n)]
    counts = launch.once(shared_counts) if loads else {}
    loads = [n for n in loads if without_thread(n.value[0]) in counts][:MAX_RELATED]
    tickets = [n for n in nodes if n.value[0].startswith("atomic:")][:MAX_RELATED] if loads else []
    out: list[Expr] = []
    for load in loads:
        count = counts[without_thread(load.value[0])]
        owner = load.value[0].rpartition("@")[2]
        if count.not_negative:
            out.append(E.compare("le", E.const(0, I64), E.cast(load, I64)))
        for ticket in tickets:
            thread = ticket.value[0].rpartition("@")[2]
            added = [a for a in count.added if a.id == _number_of(ticket)]
            if not added or thread not in ("1", "2") or (owner in ("1", "2") and owner != thread):
                continue
            turns = load.args[1 : 1 + len(count.load.loops)]
            same = [E.compare("eq", a, b) for a, b in zip(ticket.args, turns, strict=False)]
            step = value_at(launch, added[0].value, added[0].loops, ticket, int(thread), mode)
            end = E.add(E.cast(ticket, I64), step)
            law = [E.compare("le", end, E.cast(load, I64))]
            if count.not_negative:
                law.append(E.compare("le", E.const(0, I64), E.cast(ticket, I64)))
            guard = reached_at(launch, added[0], ticket, int(thread), mode)
            none = [*no_iteration((*ticket.args, *turns)), *not_reached(guard, given)]
            out.append(E.lor(*none, E.lnot(E.land(*same)), E.land(*law)))
    return out


def _number_of(ticket: Expr) -> int:
    return int(ticket.value[0].split(":")[1].partition("@")[0])


def value_at(launch: Launch, value: Expr | None, loops: tuple[str, ...], node: Expr, thread: int, mode: Mode) -> Expr:
    """What a thread gave to the atomic in the iterations of ``node``, its result (I64)."""
    if value is None:
        return E.const(0, I64)
    return _at(launch, E.cast(value, I64), loops, node, thread, mode)


def reached_at(launch: Launch, a: AccessEvent, node: Expr, thread: int, mode: Mode) -> list[Expr]:
    """The conditions under which a thread has executed an atomic in the iterations of ``node``, its result."""
    return [_at(launch, c.condition, a.loops, node, thread, mode) for c in a.guard if c.kind != "assume"]


def _at(launch: Launch, e: Expr, loops: tuple[str, ...], node: Expr, thread: int, mode: Mode) -> Expr:
    counters = [launch.side(launch.events.loops[label].counter, thread, mode) for label in loops]
    mapping = {c: a for c, a in zip(counters, node.args, strict=True) if c is not a}
    renamed = launch.side(e, thread, mode)
    return E.substitute(renamed, mapping) if mapping else renamed
