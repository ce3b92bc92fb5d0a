"""Further threads in a two-thread question: those that the two wait for, or that pass something on between them.

Threads 1 and 2 are those of the question. A further thread has a number from 3 on, and is any thread of the launch: its
coordinates, loop counters and what it found in memory are symbols of their own, with that number behind ``@``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from analyzers.ir import expr as E
from analyzers.ir.events import AccessEvent, BarrierEvent, KernelEvents, WaitEvent
from analyzers.ir.expr import I64, Expr
from analyzers.ir.passages import RANKS, Passage, Passages, passages
from analyzers.races.pairs import Place, place
from analyzers.races.threads import GID, Launch, Mode

Event = AccessEvent | BarrierEvent | WaitEvent

STARTS_AT_ZERO = "flags and counters that threads wait for are zero when the kernel starts"

SYSTEM = RANKS["system"]
DEVICE = RANKS["grid"]
BLOCK = RANKS["block"]

_known: dict[tuple[int, bool], tuple[KernelEvents, Passages]] = {}


def passages_of(events: KernelEvents, of_first: bool = False) -> Passages:
    """Those of the kernel, worked out once for all its launches. ``of_first``: those of the first thread of a block."""
    found = _known.get((id(events.kernel), of_first))
    if found is None or found[0].kernel is not events.kernel:
        if len(_known) > 64:
            _known.clear()
        found = events, passages(events.kernel, of_first=of_first)
        _known[id(events.kernel), of_first] = found
    return found[1]


def may_have_waited(launch: Launch, access: AccessEvent) -> bool:
    """Whether what signals or locks tell a thread, or its block, may order the access after something of another
    thread: something that was seen decides that the thread gets there, or somebody waited before."""
    events = launch.events
    guards = E.symbols(*(c.condition for c in access.guard))
    if any(_is_observed(s) for s in guards):
        return True
    if any(s.op == "opaque" and s.value[0].startswith("load:") for s in guards):
        # The first thread of a block may tell the others what it saw.
        stored = [a.value for a in events.accesses if a.value is not None and place(launch, a).space == "shared"]
        if any(_is_observed(s) for s in E.symbols(*stored)):
            return True
    told = (*events.barriers, *events.meetings)
    told = [b for b in told if any(_is_observed(s) for s in E.symbols(*(c.condition for c in b.guard)))]
    return any(x.order < access.order or set(x.loops) & set(access.loops) for x in (*events.waits, *told))


def gives_something_away(events: KernelEvents) -> bool:
    """Whether the kernel decides or stores something by what an atomic or volatile load gave."""
    guarded = (*events.accesses, *events.barriers, *events.meetings, *events.waits)
    guards = [c.condition for e in guarded for c in e.guard]
    facts = [w.fact for w in events.waits]
    stored = [a.value for a in events.accesses if a.value is not None]
    return any(_is_observed(s) for s in E.symbols(*guards, *facts, *stored))


def _is_observed(symbol: Expr) -> bool:
    return symbol.op == "opaque" and symbol.value[0].startswith(("atomic:", "volatile:"))


@dataclass
class Threads:
    """The threads of one question."""

    launch: Launch
    mode: Mode
    last: int = 2
    _memo: dict[tuple[int, int], Expr] = field(default_factory=dict[tuple[int, int], Expr])

    def another(self) -> int:
        self.last += 1
        return self.last

    def side(self, e: Expr, thread: int) -> Expr:
        """``e`` as a thread sees it."""
        if thread <= 2:
            return self.launch.side(e, thread, self.mode)
        found = self._memo.get((thread, e.key))
        if found is None:
            found = E.substitute(self.launch.side(e, thread, "grid"), self._meanings(thread))
            self._memo[thread, e.key] = found
        return found

    def _meanings(self, thread: int) -> dict[Expr, Expr]:
        """What the fused symbols of a further thread stand for."""
        out: dict[Expr, Expr] = {}
        for axis in range(3):
            b = self.launch.bind(E.BDIM[axis])
            bid, tid = (E.sym(f"{c[axis].value}@{thread}", E.U32) for c in (E.BID, E.TID))
            out[E.sym(f"{GID[axis].value}@{thread}", E.U32)] = E.add(E.mul(bid, b), tid)
        return out

    def _coordinate(self, axis: Expr, thread: int) -> Expr:
        if thread <= 2:
            return self.launch.side(axis, thread, self.mode)
        return E.sym(f"{axis.value}@{thread}", E.U32)

    def exists(self, thread: int, loops: Iterable[str] = ()) -> Expr:
        """A further thread is one of the launch, in possible iterations of these loops."""
        parts: list[Expr] = []
        for axis in range(3):
            for coordinate, dimension in ((E.TID, E.BDIM), (E.BID, E.GDIM)):
                parts.append(
                    E.compare("lt", self._coordinate(coordinate[axis], thread), self.launch.bind(dimension[axis]))
                )
        for label in loops:
            counter = self.side(self.launch.events.loops[label].counter, thread)
            parts.append(E.compare("le", E.const(0, I64), counter))
        return E.land(*parts)

    def same_block(self, one: int, two: int) -> Expr:
        if self.mode != "grid" and max(one, two) <= 2:
            return E.TRUE
        return E.land(
            *(
                E.compare("eq", self._coordinate(b, one), self._coordinate(b, two))
                for axis, b in enumerate(E.BID)
                if self.launch.grid[axis] != 1
            )
        )

    def same_thread(self, one: int, two: int) -> Expr:
        if one == two:
            return E.TRUE
        if max(one, two) <= 2:
            return E.FALSE
        return E.land(
            self.same_block(one, two),
            *(
                E.compare("eq", self._coordinate(t, one), self._coordinate(t, two))
                for axis, t in enumerate(E.TID)
                if self.launch.block[axis] != 1
            ),
        )

    def is_first(self, thread: int) -> Expr:
        """It is the thread (0, 0, 0) of its block."""
        return E.land(*(E.compare("eq", self._coordinate(t, thread), E.const(0, E.U32)) for t in E.TID))

    def covered(self, rank: int, one: int, two: int) -> Expr:
        """A scope of this rank has both threads in it."""
        if rank >= DEVICE:
            return E.TRUE
        return self.same_block(one, two) if rank >= BLOCK else E.FALSE

    def guard(self, event: Event, thread: int, *, assumed: bool = True) -> Expr:
        """The thread executes the event. ``assumed``: with what holds for every thread that gets there."""
        return E.land(*(self.side(c.condition, thread) for c in event.guard if assumed or c.kind != "assume"))

    def same_place(self, one: Place, thread: int, two: Place, other: int) -> Expr:
        """Both threads mean the same cell; the allocations are equal."""
        parts = [E.compare("eq", self.side(one.offset, thread), self.side(two.offset, other))]
        parts += [
            E.compare("eq", self.side(a, thread), self.side(b, other))
            for a, b in zip(one.keys, two.keys, strict=True)
            if a.ty == b.ty
        ]
        if one.space == "shared":
            parts.append(self.same_block(thread, other))
        return E.land(*parts)

    def before(self, one: Event, thread: int, two: Event, other: int) -> Expr:
        """In one thread, known by two numbers: this instance of ``one`` comes before that of ``two``."""
        loops = self.launch.events.loops
        shared = [ell for ell, other_label in zip(one.loops, two.loops, strict=False) if ell == other_label]
        out = E.TRUE if one.order < two.order else E.FALSE
        for label in reversed(shared):
            counter = loops[label].counter
            mine, theirs = self.side(counter, thread), self.side(counter, other)
            out = E.lor(E.compare("lt", mine, theirs), E.land(E.compare("eq", mine, theirs), out))
        return out


def rank_of(access: AccessEvent) -> int:
    """Of the scope at which an access is strong; 0 for a plain one."""
    if access.atomic is not None:
        return RANKS[access.atomic.scope]
    return SYSTEM if access.volatile else 0


def is_strong(access: AccessEvent) -> bool:
    return access.volatile or access.atomic is not None


def changes_nothing(access: AccessEvent) -> bool:
    """An atomic that only reads."""
    a = access.atomic
    if a is None:
        return not access.writes
    if a.op == "load" or (a.op in ("add", "sub", "or", "xor") and a.constant == 0):
        return True
    return a.op == "cas" and a.expected is not None and a.expected == a.constant


@dataclass(frozen=True, slots=True)
class Observation:
    """An access that gave ``value``, the latest time that it was executed."""

    access: AccessEvent
    value: Expr


def observations(launch: Launch, conditions: Iterable[Expr], loops: tuple[str, ...]) -> list[Observation]:
    """What atomics and volatile loads gave that the conditions, at a place in these loops, speak of."""
    by_id: dict[int, list[AccessEvent]] = {}
    for a in launch.events.accesses:
        by_id.setdefault(a.id, []).append(a)
    found: dict[Expr, Observation] = {}
    for node in E.symbols(*conditions):
        if not _is_observed(node):
            continue
        events = by_id.get(int(node.value[0].split(":")[1]), [])
        if len(events) == 1 and node.args == _latest(launch, events[0], loops):
            found[node] = Observation(events[0], node)
    return list(found.values())


def _latest(launch: Launch, access: AccessEvent, loops: tuple[str, ...]) -> tuple[Expr, ...]:
    """The iterations of the latest execution of ``access``, for a thread at a place in ``loops``."""
    out: tuple[Expr, ...] = ()
    for label in access.loops:
        here = launch.events.loops[label].counter
        out = (*out, here if label in loops else E.opaque(f"last:{label}", I64, out))
    return out


def allocation_events(launch: Launch, allocation: str) -> list[AccessEvent]:
    return [a for a in launch.events.accesses if place(launch, a).allocation == allocation]


def passage(events: KernelEvents, later: int, earlier: int, of_first: bool = False) -> Passage | None:
    """From the latest execution of ``earlier`` to ``later``, in one thread, or in the first one of a block."""
    return passages_of(events, of_first).get(later, {}).get(earlier)
