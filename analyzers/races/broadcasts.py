"""Tickets that one thread takes for its block, and passes on through a cell of shared memory.

``if (tid == 0) base = atomicAdd(counter, n); __syncthreads(); … base …``: what the threads of the block load is the
ticket of that one thread. That the load comes after the store and not at the same time is not asked here: where it may,
the two are a race themselves. The cell may hold other things at other times, on the other side of barriers; then a
thread that has waited for something else than a barrier may load any of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations

from analyzers.ir import expr as E
from analyzers.ir.events import AccessEvent
from analyzers.ir.expr import I64, Expr, IntType
from analyzers.races.first_thread import Coordinates, executes_if, of_thread, sole_thread
from analyzers.races.shared_counts import barrier_between, writes_to
from analyzers.races.threads import Launch, Mode, no_iteration, not_reached
from analyzers.races.tickets import adds, anew_in, apart, tickets

MAX_LOADS = 8
"""Loads of one broadcast ticket that are related to each other in one question."""


def broadcast_conditions(launch: Launch, conjuncts: Iterable[Expr], mode: Mode) -> list[Expr]:
    """For each two loads of such tickets: how they differ."""
    broadcasts = launch.once(_broadcasts)
    loads: dict[int, list[tuple[_Broadcast, str, Expr]]] = {}
    nodes = sorted((n for n in E.symbols(*conjuncts) if n.op == "opaque"), key=lambda n: n.rank) if broadcasts else ()
    for node in nodes:
        identity, _, side = node.value[0].rpartition("@")
        name, side = (identity, side) if side.isdigit() and identity else (node.value[0], "")
        found = broadcasts.get(name)
        if found is not None and (found.only_store or node.value[1] == "block"):
            loads.setdefault(found.atomic.id, []).append((found, side, node))
    given = set(conjuncts) if loads else set[Expr]()
    out: list[Expr] = []
    for _, group in sorted(loads.items()):
        for one, two in combinations(group[:MAX_LOADS], 2):
            none = [c for taken, side, node in (one, two) for c in _Load(launch, taken, side, node, mode).none(given)]
            out += [E.lor(*none, law) for law in _related(launch, one, two, mode)]
    return out


@dataclass(frozen=True, slots=True)
class _Broadcast:
    """A load that gives the ticket of one thread of the block, taken in the same iterations of ``loops``."""

    load: AccessEvent
    atomic: AccessEvent
    loops: tuple[str, ...]
    amount: Expr
    """What that thread added (I64, not renamed)."""
    only_store: bool
    """Nothing else is ever written to the cell."""
    conditions: tuple[Expr, ...] = ()
    """Under which the thread took it (of the block, not renamed)."""


def _broadcasts(launch: Launch) -> dict[str, _Broadcast]:
    """What a load finds -> the ticket that is."""
    out: dict[str, _Broadcast] = {}
    known = launch.once(tickets)
    times = Counter(a.id for a in launch.events.accesses)
    for store in launch.events.accesses if known else ():
        thread = sole_thread(launch, store.guard) if _may_pass_on(launch, store) else None
        taken = _stored_ticket(launch, store, known, thread) if thread is not None else None
        if taken is None or thread is None:
            continue
        others = [o for o in writes_to(launch, store) if o is not store]
        for load in launch.events.accesses:
            if (
                load.kind == "read"
                and times[load.id] == 1
                and load.root is store.root
                and load.offset is store.offset
                and load.width == store.width
                and load.order > store.order
                and load.loops[: len(store.loops)] == store.loops
                and (conditions := executes_if(launch, store, load, thread)) is not None
                and all(_stays_outside(launch, o, store, load) for o in others)
            ):
                out[load.loaded] = replace(taken, load=load, only_store=not others, conditions=tuple(conditions))
    return out


def _stays_outside(launch: Launch, o: AccessEvent, store: AccessEvent, load: AccessEvent) -> bool:
    """Another write of the cell that never comes between the two in one iteration of the loops around the store."""
    if store.volatile or o.volatile or o.asynchronous or o.root is not store.root:
        return False
    if o.order < store.order:
        inside = o.loops[: len(store.loops)] == store.loops or store.loops[: len(o.loops)] == o.loops
        return inside and barrier_between(launch, o, store)
    return o.loops == store.loops[: len(o.loops)] and barrier_between(launch, load, o)


def _may_pass_on(launch: Launch, store: AccessEvent) -> bool:
    """Whether a store puts what is no number of the thread's own into a cell of shared memory."""
    if store.kind != "write" or store.root.op != "addr" or store.offset.op != "const":
        return False
    named = store.value is not None and store.value.op == "opaque"
    return named and launch.events.kernel.object(store.root.value).space == "shared"


def _stored_ticket(
    launch: Launch, store: AccessEvent, known: Mapping[int, AccessEvent], thread: Coordinates
) -> _Broadcast | None:
    """The ticket that ``thread``, and no other, puts into a cell of shared memory."""
    value = store.value
    if value is None:
        return None
    identity: str = value.value[0]
    a = known.get(int(identity.split(":")[1])) if identity.startswith("atomic:") else None
    if a is None or a.atomic is None or a.atomic.op != "add" or not adds(launch, a) or a.loops != store.loops:
        return None
    if anew_in(launch, a):
        return None
    counters = tuple(launch.events.loops[label].counter for label in store.loops)
    if value.args != counters or {c.condition for c in a.guard} - {c.condition for c in store.guard}:
        return None
    offset, amount = (of_thread(launch, e, thread) for e in (a.offset, a.value or E.const(0, I64)))
    # One cell for all blocks and iterations: the additions of all of them are of one counter.
    if offset is None or amount is None or offset.op != "const" or a.root.op != "addr":
        return None
    if launch.events.kernel.object(a.root.value).space != "global":
        return None
    return _Broadcast(store, a, store.loops, E.cast(amount, I64), False)


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
    if further and (taken.amount.op != "const" or taken.conditions or other.conditions):
        return []
    of_one, of_two = (_Load(launch, b, s, n, mode) for b, s, n in (one, two))
    untaken = [c for n in (left, right) for c in no_iteration(n.args[1:])]
    untaken += [E.lnot(of.seen(c)) for of in (of_one, of_two) for c in of.broadcast.conditions]
    different = apart(
        taken.atomic,
        (left, of_one.seen(taken.amount)),
        (right, of_two.seen(other.amount)),
    )
    if further:
        # A further thread of a question is of any block.
        blocks = [[_block_of(launch, axis, s, mode) for s in (side, second)] for axis in range(3)]
        same += [E.compare("eq", *both) for both in blocks]
    elif side != second and mode == "grid":
        return [E.lor(*untaken, different)]
    one_ticket = E.land(*same)
    if side != second and not further:
        # Of one block, behind something else than a barrier.
        return [E.lor(*untaken, one_ticket, different)]
    laws = E.lor(E.lnot(one_ticket), E.compare("eq", left, right)), E.lor(one_ticket, different)
    return [E.lor(*untaken, law) for law in laws]


def _block_of(launch: Launch, axis: int, side: str, mode: Mode) -> Expr:
    """A coordinate of the block of a thread; of both threads without a number, which are then of one block."""
    if launch.grid[axis] == 1:
        return E.const(0, E.U32)
    if side in ("", "1", "2"):
        return launch.side(E.BID[axis], int(side or "1"), mode)
    return E.sym(f"{E.BID[axis].value}@{side}", E.U32)


@dataclass(frozen=True, slots=True)
class _Load:
    """A load of such a ticket in a question."""

    launch: Launch
    broadcast: _Broadcast
    side: str
    """Number of the thread, empty for what all of the block load."""
    load: Expr
    mode: Mode

    def seen(self, e: Expr, thread: int | None = None) -> Expr:
        """What the block of the thread says of its ticket, renamed, in the iterations of the load."""
        if e.op == "const":
            return e
        thread = thread or int(self.side or "1")
        loops = self.launch.events.loops
        counters = [self.launch.side(loops[label].counter, thread, self.mode) for label in self.broadcast.load.loops]
        renamed = self.launch.side(e, thread, self.mode)
        return E.substitute(renamed, dict(zip(counters, self.load.args[1:], strict=False)))

    def none(self, given: Collection[Expr]) -> list[Expr]:
        """When there is no such load, where the conditions ``given`` hold. What all of the block load one of its
        threads does."""
        guard = [c.condition for c in self.broadcast.load.guard]
        threads = (int(self.side),) if self.side else (1, 2)
        return min((not_reached((self.seen(c, t) for c in guard), given) for t in threads), key=len)
