"""Locks: accesses between taking and releasing one lock, in two threads, are ordered.

A lock is a cell that is ``free`` or ``taken``: a compare-and-swap or an exchange *takes* it, and a thread that found it
free holds it until it *releases* it, by writing ``free`` into it. That makes sections exclude each other when nobody
else writes the cell, only the holder releases, and the atomics have a scope with both threads in it. What one section
did is seen in the next when a fence stands behind the taking and in front of the release, again of such a scope
(PTX ISA, release and acquire patterns).

Whether two threads hold the *same* lock is a question of addresses, and left to the solver.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from analyzers.ir import expr as E
from analyzers.ir.events import AccessEvent, BarrierEvent
from analyzers.ir.expr import Expr, IntType
from analyzers.ir.passages import ACQUIRES
from analyzers.model import Remark, SourceSpan
from analyzers.races.first_thread import alone, as_first_thread
from analyzers.races.others import (
    BLOCK,
    DEVICE,
    STARTS_AT_ZERO,
    SYSTEM,
    Threads,
    allocation_events,
    changes_nothing,
    is_strong,
    may_have_waited,
    observations,
    passage,
    rank_of,
)
from analyzers.races.pairs import Place, place, starts_otherwise
from analyzers.races.threads import Launch, Mode
from analyzers.races.tickets import NO_WRAP


@dataclass(frozen=True, slots=True)
class Lock:
    """One cell, or one array of cells, used as a lock."""

    allocation: str
    free: int
    taken: int
    takes: tuple[AccessEvent, ...]
    releases: tuple[AccessEvent, ...]
    others: tuple[AccessEvent, ...] = ()
    """Writes that are neither, or releases by a thread that need not hold the lock."""
    two_valued: bool = False
    """Nothing but ``free`` and ``taken`` is ever in the cell, if it starts at zero: who does not find it taken finds it
    free."""
    gates: tuple[AccessEvent, ...] = ()
    """Of a ticket lock (``ticket_locks``): the reads that tell whose turn it is."""

    @property
    def rank(self) -> int:
        """Of the smallest scope among its atomics."""
        return min(rank_of(a) for a in (*self.takes, *self.releases, *self.gates))


@dataclass(frozen=True, slots=True)
class Section:
    """An access by a thread that holds a lock, or in a block whose first thread holds it."""

    lock: Lock
    take: AccessEvent
    cell: Place
    """That of the lock, as the thread of the access sees it."""
    access: AccessEvent
    acquired: int
    """Rank of the fence between taking the lock and the access; 0: none."""
    released: int
    """Rank of the weakest fence between the access and a release; that of the system where none follows."""
    release: AccessEvent | None
    """A release with that fence."""
    name: str
    """Of the lock, as its declaration has it."""
    assumed: frozenset[str] = frozenset()
    """What it rests on that the thread holds the lock."""
    chain: int = SYSTEM
    """Rank of the weakest fence in any section of the lock, where a release is a store: what an earlier section did
    reaches a later one through those between. An atomic release carries on what was released before."""
    of_block: bool = False
    """The first thread of the block holds the lock, for all of them: threads of one block do not exclude each
    other."""


def locks(launch: Launch) -> list[Lock]:
    """All cells of the kernel that are used as locks, in the order of their first use."""
    out: list[Lock] = []
    allocations = dict.fromkeys(place(launch, a).allocation for a in launch.events.accesses if _may_take(a))
    for allocation in allocations:
        events = [a for a in allocation_events(launch, allocation) if a.writes and not changes_nothing(a)]
        candidates = [
            lock for free, taken in _values(events) if (lock := _lock(launch, allocation, events, free, taken))
        ]
        if candidates:
            out.append(min(candidates, key=lambda k: len(k.others)))
    return out


def _may_take(a: AccessEvent) -> bool:
    return a.atomic is not None and a.atomic.op in ("cas", "exch") and not changes_nothing(a)


def _values(events: Sequence[AccessEvent]) -> list[tuple[int, int]]:
    """(free, taken) that the atomics on a cell suggest."""
    swaps = [a.atomic for a in events if a.atomic is not None and a.atomic.op == "cas"]
    known = dict.fromkeys((a.expected, a.constant) for a in swaps if a.expected is not None and a.constant is not None)
    if known:
        return [pair for pair in known if pair[0] != pair[1]]
    written = dict.fromkeys(_constant(a) for a in events)
    values = [v for v in written if v is not None]
    return [(free, taken) for free in values for taken in values if free != taken]


def _constant(a: AccessEvent) -> int | None:
    """The constant that an access leaves in its cell."""
    if a.atomic is not None:
        return a.atomic.constant if a.atomic.op in ("cas", "exch", "store") else None
    return a.value.value if a.value is not None and a.value.op == "const" and isinstance(a.value.ty, IntType) else None


def _lock(launch: Launch, allocation: str, events: Sequence[AccessEvent], free: int, taken: int) -> Lock | None:
    takes = tuple(a for a in events if _takes(a, free, taken))
    releasing = tuple(a for a in events if a not in takes and is_strong(a) and _constant(a) == free)
    if not takes or not releasing:
        return None
    two_valued = (
        0 in (free, taken)
        and all(_constant(a) in (free, taken) and a.width == takes[0].width for a in events)
        and all(place(launch, a).space == "global" for a in events)
        and not starts_otherwise(launch, allocation)
    )
    draft = Lock(allocation, free, taken, takes, releasing, two_valued=two_valued)
    others = [a for a in releasing if not any(held(launch, draft, a, t) and one_cell(a, t) for t in takes)]
    plain = [a for a in events if a not in takes and a not in releasing and not is_strong(a)]
    others += [a for a in events if a not in takes and a not in releasing and is_strong(a)]
    # A plain write is a race itself unless barriers keep it apart from the atomics. Then it comes before all sections,
    # provided that no section has a barrier in it, that a thread never gets from a taking to such a write, and that no
    # other lock or signal makes it come after one.
    inside = any(_barrier_inside(launch, a, t) for a in releasing for t in takes)
    inside = inside or any(may_have_waited(launch, p) for p in plain)
    if inside or any(passage(launch.events, p.id, t.id) is not None for p in plain for t in takes):
        others += plain
    releases = tuple(a for a in releasing if a not in others)
    return Lock(allocation, free, taken, takes, releases, tuple(others), two_valued) if releases else None


def _takes(a: AccessEvent, free: int, taken: int) -> bool:
    if a.atomic is None:
        return False
    if a.atomic.op == "cas":
        return (a.atomic.expected, a.atomic.constant) == (free, taken)
    return a.atomic.op == "exch" and a.atomic.constant == taken


def one_cell(one: AccessEvent, two: AccessEvent) -> bool:
    return one.root is two.root and one.offset is two.offset and one.width == two.width


def _barrier_inside(launch: Launch, release: AccessEvent, take: AccessEvent) -> bool:
    between = passage(launch.events, release.id, take.id)
    return between is not None and any(b.id in between.passed for b in launch.events.barriers)


def held(
    launch: Launch, lock: Lock, event: AccessEvent, take: AccessEvent, *, strictly: bool = False
) -> AccessEvent | None:
    """The access by which a thread at ``event`` knows that it has held the lock since its latest ``take``; None where
    it may not hold it. ``strictly``: whatever was in the cell at first."""
    conditions = [c.condition for c in event.guard]
    first = alone(launch, event.guard)
    if first:
        conditions += [as_first_thread(c) for c in conditions]
    known = replace(lock, two_valued=lock.two_valued and not strictly)
    return held_under(launch, known, event, take, conditions, first)


def held_under(
    launch: Launch,
    lock: Lock,
    event: AccessEvent | BarrierEvent,
    take: AccessEvent,
    conditions: Sequence[Expr],
    first: bool,
) -> AccessEvent | None:
    """The same, for a thread that gets to ``event`` under these conditions; ``first``: the first one of a block."""
    if not _is_kept(launch, lock, event, take, first) or _foreign_counters(take.offset, event.loops):
        return None
    if not lock.gates:
        return take if _found_free(launch, lock, conditions, event.loops, take) else None
    found = observations(launch, conditions, event.loops)
    tickets = [o.value for o in found if o.access is take]
    for seen in found:
        if seen.access in lock.gates and _is_kept(launch, lock, event, seen.access, first):
            turn = [c for c in E.conjuncts(E.land(*conditions)) if c.op == "eq"]
            for one, two in (map(_unchanged, c.args) for c in turn):
                if any({one, two} == {seen.value, ticket} for ticket in tickets):
                    return seen.access
    return None


def _is_kept(launch: Launch, lock: Lock, event: AccessEvent | BarrierEvent, since: AccessEvent, first: bool) -> bool:
    """The thread has not released the lock since the latest ``since``."""
    between = passage(launch.events, event.id, since.id, first)
    return between is not None and not between.passed & {a.id for a in (*lock.releases, *lock.others)}


def _found_free(
    launch: Launch, lock: Lock, conditions: Sequence[Expr], loops: tuple[str, ...], take: AccessEvent
) -> bool:
    """The conditions, at a place in these loops, say that the latest ``take`` found the lock free."""
    # Equal to ``free``, not only different from ``taken``: something else may have been in the cell at first.
    return any(
        seen.access is take
        and isinstance(seen.value.ty, IntType)
        and any(
            _says(c, seen.value, E.const(lock.free, seen.value.ty))
            or (lock.two_valued and _denies(c, seen.value, E.const(lock.taken, seen.value.ty)))
            for c in conditions
        )
        for seen in observations(launch, conditions, loops)
    )


def _says(condition: Expr, seen: Expr, free: Expr) -> bool:
    """The condition is that ``seen`` equals ``free``."""
    if condition.op == "land":
        return any(_says(part, seen, free) for part in condition.args)
    if condition.op != "eq" or seen.ty != free.ty or E.substitute(condition, {seen: free}) is not E.TRUE:
        return False
    for side, other in (condition.args, condition.args[::-1]):
        if other.op == "const" and _unchanged(side) is seen:
            return True
    return False


def _denies(condition: Expr, seen: Expr, taken: Expr) -> bool:
    """The condition is that ``seen`` differs from ``taken``."""
    if condition.op == "land":
        return any(_denies(part, seen, taken) for part in condition.args)
    if condition.op != "ne" or seen.ty != taken.ty or E.substitute(condition, {seen: taken}) is not E.FALSE:
        return False
    return any(
        other.op == "const" and _unchanged(side) is seen for side, other in (condition.args, condition.args[::-1])
    )


def _unchanged(e: Expr) -> Expr:
    """``e`` without conversions that no two values of their operand share a result of."""
    while e.op == "cast" and isinstance(e.ty, IntType) and isinstance(e.args[0].ty, IntType):
        if e.ty.width < e.args[0].ty.width:
            break
        e = e.args[0]
    return e


def _foreign_counters(offset: Expr, loops: tuple[str, ...]) -> bool:
    """The address depends on iterations of loops that the thread has left."""
    return any(
        n.op == "sym" and n.value.startswith("loop:") and n.value.removeprefix("loop:") not in loops
        for n in E.walk((offset,))
    )


def sections(launch: Launch, known: Sequence[Lock], access: AccessEvent) -> list[Section]:
    """The locks that the thread of an access holds itself."""
    out: list[Section] = []
    for lock in known:
        for take in lock.takes:
            gate = held(launch, lock, access, take) if take is not access and access not in lock.gates else None
            entered = passage(launch.events, access.id, gate.id) if gate is not None else None
            if gate is None or entered is None:
                continue
            released, release = SYSTEM, None
            for r in lock.releases:
                left = passage(launch.events, r.id, access.id)
                if left is not None and r is not access and left.release < released:
                    released, release = left.release, r
            name, chain = name_of(launch, take), chain_of(launch, lock)
            acquired = max(own_rank(gate), entered.acquire)
            holders = (access, *lock.releases)
            presumes = lock.two_valued and not all(
                any(held(launch, lock, a, t, strictly=True) for t in lock.takes) for a in holders
            )
            assumed = frozenset({STARTS_AT_ZERO}) if presumes else frozenset[str]()
            if lock.gates:
                assumed |= {STARTS_AT_ZERO, NO_WRAP}
            cell = place(launch, take)
            out.append(Section(lock, take, cell, access, acquired, released, release, name, assumed, chain))
    return out


def own_rank(gate: AccessEvent) -> int:
    """Of an acquiring access by which a thread learns that it holds a lock. It was successful: the order of the atomic
    itself is that of success."""
    return rank_of(gate) if gate.atomic is not None and gate.atomic.order in ACQUIRES else 0


def name_of(launch: Launch, access: AccessEvent) -> str:
    """The name of what an access goes to."""
    if access.root.op != "addr":
        return access.site.text
    o = launch.events.kernel.object(access.root.value)
    return o.display or o.name


Words = tuple[str | SourceSpan, ...]
"""Parts of a sentence in order, and the places of what they tell of, each behind it."""


def made_in(access: AccessEvent) -> SourceSpan:
    """Where the kernel makes an access, itself or by a call."""
    return (access.site.calls or (access.site.span,))[0]


def remark(words: Words) -> Remark:
    """A sentence out of its parts."""
    texts, places = [""], list[SourceSpan]()
    for word in words:
        if isinstance(word, str):
            texts[-1] += word
        else:
            places.append(word)
            texts.append("")
    return Remark(tuple(texts), tuple(places))


def chain_of(launch: Launch, lock: Lock) -> int:
    """The ``chain`` of sections of the lock."""
    if not lock.gates and all(r.atomic is not None and r.atomic.op in ("exch", "cas") for r in lock.releases):
        return SYSTEM
    through = [(passage(launch.events, r.id, t.id), t) for r in lock.releases for t in lock.gates or lock.takes]
    return min((min(max(p.acquire, own_rank(t)), p.release) for p, t in through if p is not None), default=SYSTEM)


def needed(mode: Mode) -> int:
    """The rank that a scope needs to have both threads in it."""
    return DEVICE if mode == "grid" else BLOCK


def ordered(threads: Threads, one: Sequence[Section], two: Sequence[Section]) -> Expr:
    """When the accesses of thread 1 and thread 2 are ordered because both hold one lock."""
    ways: list[Expr] = []
    for a in one:
        for b in two:
            if (a.of_block or b.of_block) and threads.mode != "grid":
                continue
            if a.lock is b.lock and not faults(a, threads.mode) and not faults(b, threads.mode):
                ways.append(same_lock(threads, a, b))
    return E.lor(*ways) if ways else E.FALSE


def same_lock(threads: Threads, one: Section, two: Section) -> Expr:
    """Thread 1 in one section and thread 2 in the other hold the same cell."""
    if one.cell.space == "shared" and threads.mode == "grid":
        return E.FALSE
    return threads.same_place(one.cell, 1, two.cell, 2)


def faults(section: Section, mode: Mode) -> list[Words]:
    """What is missing for the section to order anything, in words."""
    need, access, lock, name = needed(mode), section.access, section.lock, section.name
    here = (f"the {access.kind}", made_in(access))
    out: list[Words] = []
    if lock.others:
        other = lock.others[0]
        what = (
            "is released by a thread that need not hold it" if _constant(other) == lock.free else "is changed otherwise"
        )
        out.append((f"the lock `{name}` {what}: `{other.site.text}`", made_in(other)))
    if lock.rank < need:
        weak = min((*lock.takes, *lock.releases), key=rank_of)
        out.append(
            (
                "the lock's atomic",
                made_in(weak),
                f" has {scope_of(rank_of(weak))} scope, and the threads are in different blocks",
            )
        )
    if section.chain < need:
        which = "" if lock.gates else " that a store ends"
        out.append((f"a section of the lock `{name}`{which} has no fence of sufficient scope in it",))
    if section.acquired < need:
        taken = ("where the lock is taken", made_in(section.take))
        out.append(missing_fence(section.acquired, need, taken, here))
    if section.released < need and section.release is not None:
        out.append(missing_fence(section.released, need, here, ("its release", made_in(section.release))))
    return out


def scope_of(rank: int) -> str:
    """The name of a scope of this rank."""
    return "thread" if rank < BLOCK else "block" if rank < DEVICE else "device"


def missing_fence(rank: int, need: int, first: Words, second: Words) -> Words:
    """That a fence of rank ``need`` is missing; there is one of ``rank``."""
    if rank < BLOCK:
        fence = "__threadfence()" if need >= DEVICE else "__threadfence_block()"
        return (f"no fence (`{fence}`) between ", *first, " and ", *second)
    small = " there is no more than a fence or barrier of the block, and the threads are in different blocks"
    return ("between ", *first, " and ", *second, small)
