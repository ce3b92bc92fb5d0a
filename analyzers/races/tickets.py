"""Atomic tickets and claims: what the values that atomics return say of the threads that got them.

*Tickets*: an atomic add of ``c`` to a counter that is only ever added to gives its caller a range ``[old, old + c)``
that no other addition gets. *Claims*: of all threads whose compare-and-swap expects one value, at most one sees it, if
the value it puts there is another; of all that exchange the cell for one constant, or set or clear the same bits of it,
at most one finds it otherwise.

Both hold while nothing else changes the cell. Additions of one kind may stand at several places. A plain write to the
object starts anew: it is a race itself unless something keeps it apart from the atomics. Where only barriers can, what
holds between two executions of one atomic holds in equal iterations of the loops that it shares with such writes; locks
and signals may put it between any two. Counters are assumed
not to wrap around (``NO_WRAP``, to be listed), unless a launch of known size makes them.

A ticket may be taken by one thread and *broadcast* through a cell of shared memory that nothing else is written to:
what the threads of the block then load is that thread's ticket. That the load comes after the store and not at the
same time is not asked here: where it may, the two are a race themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from math import prod

from analyzers.ir import expr as E
from analyzers.ir.events import AccessEvent
from analyzers.ir.expr import I64, Expr, IntType
from analyzers.ir.intervals import Intervals
from analyzers.races.first_thread import alone, executes_before, of_first_thread
from analyzers.races.others import may_have_waited, passage
from analyzers.races.pairs import place
from analyzers.races.threads import Launch, Mode

NO_WRAP = "atomic counters do not wrap around"
MAX_LOADS = 8
"""Loads of one broadcast ticket that are related to each other in one question."""


def tickets(launch: Launch) -> dict[int, AccessEvent]:
    """Event id -> the atomic, for the atomics whose results tell threads apart."""
    out: dict[int, AccessEvent] = {}
    for a in launch.events.accesses:
        if a.atomic is None or not _tells_apart(launch, a):
            continue
        others = [o for o in _writes(launch, a) if o.id != a.id]
        if all(_stays_apart(launch, a, o) for o in others) and not _wraps(launch, a):
            out[a.id] = a
    return out


def _writes(launch: Launch, a: AccessEvent) -> list[AccessEvent]:
    where = place(launch, a).allocation
    return [o for o in launch.events.accesses if o.writes and place(launch, o).allocation == where]


def _starts_anew(o: AccessEvent) -> bool:
    return o.kind == "write" and not o.volatile


def _stays_apart(launch: Launch, a: AccessEvent, o: AccessEvent) -> bool:
    """Another change of the cell that no ticket is handed out twice by: an addition too, or a plain write that is never
    between two executions of the atomic in equal iterations. With locks or signals it may be, unless a barrier of the
    block is between the two."""
    if _both_add(launch, a, o):
        return True
    if not _starts_anew(o):
        return False
    if _space(launch, a) == "shared" and _barrier_between(launch, *sorted((a, o), key=lambda x: x.order)):
        return True
    from_write = passage(launch.events, a.id, o.id)
    return not may_have_waited(launch, a) and (from_write is None or not may_have_waited(launch, o))


def _barrier_between(launch: Launch, first: AccessEvent, second: AccessEvent) -> bool:
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


def _wraps(launch: Launch, a: AccessEvent) -> bool:
    """The threads of a launch of known size take more tickets than the counter has."""
    assert a.atomic is not None
    threads = [*launch.block, *(launch.grid if _space(launch, a) == "global" else ())]
    if a.atomic.op not in ("add", "sub") or a.atomic.constant is None or a.root.op != "addr" or a.offset.op != "const":
        return False
    always = all(c.kind == "assume" for c in a.guard)
    known = [n for n in threads if n is not None]
    return always and len(known) == len(threads) and prod(known) * abs(a.atomic.constant) > 1 << 8 * a.width


def _space(launch: Launch, a: AccessEvent) -> str:
    return launch.events.kernel.object(a.root.value).space if a.root.op == "addr" else "global"


def anew_in(launch: Launch, a: AccessEvent) -> tuple[str, ...]:
    """The loops around an atomic in which a plain write changes its cell."""
    changed = {loop for o in _writes(launch, a) if o.id != a.id and _starts_anew(o) for loop in o.loops}
    return tuple(loop for loop in a.loops if loop in changed)


def _tells_apart(launch: Launch, a: AccessEvent) -> bool:
    assert a.atomic is not None
    if a.atomic.op in ("add", "sub"):
        return bool(a.atomic.constant) or _adds(launch, a)
    if a.atomic.op in ("exch", "or", "and"):
        return a.atomic.constant is not None
    return (
        a.atomic.op == "cas"
        and None not in (a.atomic.expected, a.atomic.constant)
        and (a.atomic.expected != a.atomic.constant)
    )


def _adds(launch: Launch, a: AccessEvent) -> bool:
    """An addition that never makes the counter smaller (unless it wraps around)."""
    if a.atomic is None or a.atomic.op != "add" or a.value is None or not isinstance(a.value.ty, IntType):
        return False
    value = launch.side(a.value, 1, "grid")
    return Intervals(launch.thread_ranges("grid"), no_signed_overflow=True).of(value).lo >= 0


def _both_add(launch: Launch, a: AccessEvent, o: AccessEvent) -> bool:
    return a.width == o.width and _adds(launch, a) and _adds(launch, o)


def ticket_conditions(
    launch: Launch, known: Mapping[int, AccessEvent], conjuncts: Iterable[Expr], mode: Mode
) -> list[Expr]:
    """For each such result that both threads hold: how the two values differ where they come from one cell."""
    if not known:
        return []
    held: dict[str, dict[str, list[Expr]]] = {}
    loads: dict[int, list[tuple[_Broadcast, str, Expr]]] = {}
    broadcasts = _broadcasts(launch, known)
    for node in sorted((n for n in E.symbols(*conjuncts) if n.op == "opaque"), key=lambda n: n.rank):
        identity, _, side = node.value[0].rpartition("@")
        if side in ("1", "2") and identity.startswith("atomic:"):
            held.setdefault(identity, {}).setdefault(side, []).append(node)
        name, side = (identity, side) if side.isdigit() and identity else (node.value[0], "")
        if name.startswith("load:") and (found := broadcasts.get(int(name.split(":")[1]))) is not None:
            loads.setdefault(found.atomic.id, []).append((found, side, node))
    out: list[Expr] = []
    for identity, sides in sorted(held.items()):
        a = known.get(int(identity.split(":")[1]))
        if a is None or len(sides) < 2 or not _one_cell(launch, a, mode):
            continue
        counters = [launch.events.loops[label].counter for label in anew_in(launch, a)]
        same_cell = E.land(
            *(E.compare("eq", launch.side(e, 1, mode), launch.side(e, 2, mode)) for e in (a.offset, *counters))
        )
        steps = [_step(launch, a, t, mode) for t in (1, 2)]
        for left in sides["1"]:
            for right in sides["2"]:
                if left.ty == right.ty and isinstance(left.ty, IntType):
                    out.append(E.lor(E.lnot(same_cell), apart(a, (left, steps[0]), (right, steps[1]))))
    for _, group in sorted(loads.items()):
        for one, two in combinations(group[:MAX_LOADS], 2):
            out += _related(launch, one, two, mode)
    return out


def _step(launch: Launch, a: AccessEvent, thread: int, mode: Mode) -> Expr:
    """What the atomic adds, without its sign where it is a constant."""
    assert a.atomic is not None
    if a.atomic.constant is not None or a.value is None:
        return E.const(abs(a.atomic.constant or 0), I64)
    return E.cast(launch.side(a.value, thread, mode), I64)


def apart(a: AccessEvent, one: tuple[Expr, Expr], two: tuple[Expr, Expr]) -> Expr:
    """The tickets of two executions, each with what it added, do not overlap."""
    assert a.atomic is not None
    (left, step), (right, other) = one, two
    if a.atomic.op == "cas":
        assert a.atomic.expected is not None
        assert isinstance(left.ty, IntType)
        expected = E.const(a.atomic.expected, left.ty)
        return E.lor(E.compare("ne", left, expected), E.compare("ne", right, expected))
    if a.atomic.op in ("exch", "or", "and"):
        return E.lor(_found_changed(a, left), _found_changed(a, right))
    x, y = E.cast(left, I64), E.cast(right, I64)
    if a.atomic.op == "sub" or (a.atomic.constant or 0) < 0:
        return E.lor(E.compare("le", E.add(x, step), y), E.compare("le", E.add(y, step), x))
    # That the counter does not wrap around holds of its value after the addition too.
    assert isinstance(left.ty, IntType)
    top = E.const(left.ty.high, I64) if left.ty.width < 64 else None
    fits = [E.compare("le", E.add(v, s), top) for v, s in ((x, step), (y, other))] if top is not None else []
    return E.land(E.lor(E.compare("le", E.add(x, step), y), E.compare("le", E.add(y, other), x)), *fits)


def _found_changed(a: AccessEvent, seen: Expr) -> Expr:
    """The cell was as this atomic leaves it already."""
    assert a.atomic is not None
    assert isinstance(seen.ty, IntType)
    given = E.const(a.atomic.constant or 0, seen.ty)
    if a.atomic.op == "exch":
        return E.compare("eq", seen, given)
    if a.atomic.op == "or":
        return E.compare("eq", E.binary("and", seen, given), given)
    return E.compare("eq", E.binary("and", seen, E.bitnot(given)), E.const(0, seen.ty))


def _one_cell(launch: Launch, a: AccessEvent, mode: Mode) -> bool:
    """Both threads see the same object: a shared counter is one per block."""
    if a.root.op != "addr":
        return False
    return mode != "grid" or launch.events.kernel.object(a.root.value).space == "global"


# --- through shared memory ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Broadcast:
    """A load that gives the ticket of the first thread of the block, taken in the same iterations of ``loops``."""

    atomic: AccessEvent
    loops: tuple[str, ...]
    amount: Expr
    """What the first thread added (I64, not renamed)."""


def _broadcasts(launch: Launch, known: Mapping[int, AccessEvent]) -> dict[int, _Broadcast]:
    """Id of a load -> the ticket it gives."""
    out: dict[int, _Broadcast] = {}
    for store in launch.events.accesses:
        taken = _stored_ticket(launch, store, known)
        if taken is None or any(o is not store for o in _writes(launch, store)) or not alone(launch, store.guard):
            continue
        for load in launch.events.accesses:
            if (
                load.kind == "read"
                and load.root is store.root
                and load.offset is store.offset
                and load.width == store.width
                and load.order > store.order
                and load.loops[: len(store.loops)] == store.loops
                and executes_before(launch, store, load)
            ):
                out[load.id] = taken
    return out


def _stored_ticket(launch: Launch, store: AccessEvent, known: Mapping[int, AccessEvent]) -> _Broadcast | None:
    """The ticket that a store puts into a cell of shared memory."""
    value = store.value
    if store.kind != "write" or value is None or store.root.op != "addr" or store.offset.op != "const":
        return None
    if launch.events.kernel.object(store.root.value).space != "shared" or value.op != "opaque":
        return None
    identity: str = value.value[0]
    a = known.get(int(identity.split(":")[1])) if identity.startswith("atomic:") else None
    if a is None or a.atomic is None or a.atomic.op != "add" or not _adds(launch, a) or a.loops != store.loops:
        return None
    if anew_in(launch, a):
        return None
    counters = tuple(launch.events.loops[label].counter for label in store.loops)
    if value.args != counters or {c.condition for c in a.guard} - {c.condition for c in store.guard}:
        return None
    offset, amount = (of_first_thread(launch, e) for e in (a.offset, a.value or E.const(0, I64)))
    # One cell for all blocks and iterations: the additions of all of them are of one counter.
    if offset is None or amount is None or offset.op != "const" or a.root.op != "addr":
        return None
    if launch.events.kernel.object(a.root.value).space != "global":
        return None
    return _Broadcast(a, store.loops, E.cast(amount, I64))


def _related(
    launch: Launch, one: tuple[_Broadcast, str, Expr], two: tuple[_Broadcast, str, Expr], mode: Mode
) -> list[Expr]:
    """Two loads of broadcast tickets of one atomic: equal in one block and iteration, apart otherwise."""
    (taken, side, left), (other, second, right) = one, two
    if left.ty != right.ty or not isinstance(left.ty, IntType):
        return []
    mine, theirs = (n.args[1 : 1 + len(taken.loops)] for n in (left, right))
    same = [E.compare("eq", a, b) for a, b in zip(mine, theirs, strict=True)]
    further = {side, second} - {"", "1", "2"}
    if further and taken.amount.op != "const":
        return []
    different = apart(
        taken.atomic,
        (left, _amount(launch, taken, side, left, mode)),
        (right, _amount(launch, other, second, right, mode)),
    )
    if further:
        # A further thread of a question is of any block.
        blocks = [[_block_of(launch, axis, s, mode) for s in (side, second)] for axis in range(3)]
        same += [E.compare("eq", *both) for both in blocks]
    elif side != second:
        return [different]
    one_ticket = E.land(*same)
    return [E.lor(E.lnot(one_ticket), E.compare("eq", left, right)), E.lor(one_ticket, different)]


def _block_of(launch: Launch, axis: int, side: str, mode: Mode) -> Expr:
    """A coordinate of the block of a thread; of both threads without a number, which are then of one block."""
    if launch.grid[axis] == 1:
        return E.const(0, E.U32)
    if side in ("", "1", "2"):
        return launch.side(E.BID[axis], int(side or "1"), mode)
    return E.sym(f"{E.BID[axis].value}@{side}", E.U32)


def _amount(launch: Launch, taken: _Broadcast, side: str, load: Expr, mode: Mode) -> Expr:
    """What was added for the ticket that ``load`` gives."""
    if taken.amount.op == "const":
        return taken.amount
    thread = int(side or "1")
    counters = [launch.side(launch.events.loops[label].counter, thread, mode) for label in taken.loops]
    return E.substitute(launch.side(taken.amount, thread, mode), dict(zip(counters, load.args[1:], strict=False)))
