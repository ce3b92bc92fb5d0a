"""Which barriers stand between two accesses, for every way the iterations of their common loops can relate.

Two accesses of one block are unordered when both can lie in one barrier interval: a barrier-free stretch of the
cyclic control-flow
graph. ``cases`` splits that question by the first common loop in which the two threads are in different iterations.
Each case lists
conditions on the two threads (iteration relations, and for each barrier on the way that it is not executed); a case
that a barrier
executed on every path rules out is left out.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from analyzers.ir import expr as E
from analyzers.ir.events import AccessEvent, BarrierEvent, Conjunct
from analyzers.ir.expr import I64, Expr
from analyzers.races.meetings import Key, Meeting, Meetings, moved
from analyzers.races.named_lanes import name_themselves, names
from analyzers.races.threads import WARP, Launch, Mode


@dataclass(frozen=True, slots=True)
class Case:
    """One way in which the accesses of thread 1 and thread 2 meet in a barrier interval."""

    relation: str
    """``any``, ``same iteration``, or in which iterations of which loop the threads are"""
    conjuncts: tuple[Expr, ...]
    barriers: frozenset[int] = frozenset()
    """Barriers that had to be assumed not executed."""


@dataclass(frozen=True, slots=True)
class Cases:
    possible: tuple[Case, ...]
    ordering: frozenset[int]
    """Barriers that ruled a case out or restrict one: without them more would be possible."""


_ORDERS: dict[Mode, frozenset[str]] = {
    "thread": frozenset({"grid", "cluster", "block", "warp", "tile"}),
    "grid": frozenset({"grid", "cluster"}),
    "block": frozenset({"grid", "cluster", "block"}),
    "warp": frozenset({"grid", "cluster", "block", "warp", "tile"}),
}

_Substitution = dict[Expr, Expr]


def is_wide(x: BarrierEvent) -> bool:
    """A barrier of several warps that may be less than the block."""
    return x.scope == "tile" and x.tile is not None and x.tile > WARP


def _is_partial(x: BarrierEvent) -> bool:
    """Of some lanes of a warp: not of whichever touch what a lane names."""
    return (x.scope == "warp" and x.mask is not None) or (x.scope == "tile" and (x.tile or 0) % WARP != 0)


def orders(x: BarrierEvent, mode: Mode) -> bool:
    """Whether the barrier may order threads so related; `covers` says which."""
    return x.scope in _ORDERS[mode] or (mode == "block" and is_wide(x))


def cases(
    launch: Launch, one: AccessEvent, two: AccessEvent, mode: Mode, ignore: frozenset[int] = frozenset()
) -> Cases:
    """Every way thread 1 at ``one`` and thread 2 at ``two`` may be in one barrier interval. ``ignore``: barriers
    taken as absent."""
    return launch.once(_Known).cases(launch, one, two, mode, ignore)


class _Known:
    """The answers for one launch, by what they depend on: accesses under equal conditions with the same barriers
    in front of them are ordered alike."""

    def __init__(self, launch: Launch) -> None:
        self.orders = sorted(b.order for b in (*launch.events.barriers, *launch.events.meetings))
        self.collective = any(b.within for b in launch.events.barriers)
        self.positions: dict[int, tuple[AccessEvent, object]] = {}
        """By identity, which holds as long as the access is kept here."""
        self.found: dict[tuple[object, ...], Cases] = {}

    def cases(self, launch: Launch, one: AccessEvent, two: AccessEvent, mode: Mode, ignore: frozenset[int]) -> Cases:
        first, second = self._position(one), self._position(two)
        call = one.site if self.collective and one.site == two.site else None
        key = (mode, ignore, first, second, one.order <= two.order, one is two, call)
        if key not in self.found:
            self.found[key] = _cases(launch, one, two, mode, ignore)
        return self.found[key]

    def _position(self, a: AccessEvent) -> object:
        known = self.positions.get(id(a))
        if known is None:
            conditions = tuple([c.condition.key for c in a.guard])
            between = bisect_left(self.orders, a.order), bisect_right(self.orders, a.order)
            known = self.positions[id(a)] = a, (a.loops, conditions, bool(a.lanes), *between)
        return known[1]


def _cases(launch: Launch, one: AccessEvent, two: AccessEvent, mode: Mode, ignore: frozenset[int]) -> Cases:
    relevant = [b for b in launch.events.barriers if orders(b, mode) and b.id not in ignore]
    relevant = [b for b in relevant if not b.within or one.site == two.site == b.site]
    if one.lanes or two.lanes:
        relevant = [b for b in relevant if not _is_partial(b)]
    # What lanes of a row touch, others touch for the one that names it.
    apart = mode in ("grid", "thread") or one.lanes or two.lanes or not launch.events.meetings
    meetings = {} if apart else launch.once(Meetings).places
    if not relevant and not meetings:
        return Cases((Case("any", ()),), frozenset())
    return _Ordering(launch, one, two, mode, relevant, meetings).run()


class _Ordering:
    def __init__(
        self,
        launch: Launch,
        one: AccessEvent,
        two: AccessEvent,
        mode: Mode,
        barriers: Sequence[BarrierEvent],
        meetings: Mapping[Key, tuple[Meeting, ...]],
    ) -> None:
        self.launch = launch
        self.mode: Mode = mode
        self.barriers = barriers
        self.meetings = [
            (key, x, y) for key, places in meetings.items() for x in places if x.arrives for y in places if y.waits
        ]
        """Where a thread may come to a number, and where another one of its group may wait for it in the same round."""
        self.access = {1: one, 2: two}
        shared = _common_prefix(one.loops, two.loops)
        waits = (*barriers, *(p.event for places in meetings.values() for p in places))
        self.common = shared[: max((len(_common_prefix(shared, b.loops)) for b in waits), default=0)]
        """The common loops with a barrier inside: iterations of the others need not be told apart."""
        self.known = {t: {self._side(c.condition, t) for c in a.guard} for t, a in self.access.items()}
        self.used: set[int] = set()

    def run(self) -> Cases:
        found = [c for c in [self._same_iteration()] if c is not None]
        self_pair = self.access[1] is self.access[2]
        for depth in range(len(self.common)):
            for earlier in (1,) if self_pair else (1, 2):
                found += self._different_iterations(depth, earlier)
        return Cases(tuple(found), frozenset(self.used))

    def _side(self, e: Expr, thread: int) -> Expr:
        return self.launch.side(e, thread, self.mode)

    def _counter(self, label: str) -> Expr:
        return self.launch.events.loops[label].counter

    def _equal_counters(self, labels: Iterable[str]) -> list[Expr]:
        return [E.compare("eq", self._side(self._counter(ell), 1), self._side(self._counter(ell), 2)) for ell in labels]

    # --- cases ------------------------------------------------------------------------------------------

    def _same_iteration(self) -> Case | None:
        first = 1 if self.access[1].order <= self.access[2].order else 2
        second = 3 - first
        a, b = self.access[first], self.access[second]
        depth = len(self.common)
        collected = _Collected(self._equal_counters(self.common))
        for x in self.barriers:
            if x.loops[:depth] != self.common:
                continue
            if _shares(x, a, depth):
                self._require_absent(collected, x, first, _after(self, x, a), both=False)
            elif _shares(x, b, depth):
                self._require_absent(collected, x, second, _before(self, x, b, depth), both=False)
            elif a.order < x.order < b.order:
                self._require_absent(collected, x, first, _zeros(self, x, depth), both=True)
            if collected.impossible:
                return None
        self._meet(collected)
        return None if collected.impossible else collected.case("same iteration")

    def _meet(self, into: _Collected) -> None:
        """Add: the threads do not come together at a number after one access and before the other."""
        for earlier in (1, 2):
            for key, x, y in self.meetings:
                into.exclude(self._together(key, x, earlier, y))

    def _together(self, key: Key, x: Meeting, earlier: int, y: Meeting) -> Expr:
        """The thread ``earlier`` comes to ``x`` behind its access, and the other one waits at ``y`` before its own, in
        one round: of the rounds that do, one is tried."""
        later, a, b = 3 - earlier, self.access[earlier], self.access[3 - earlier]
        inside, waiting = (_shares(place.event, c, 0) for place, c in ((x, a), (y, b)))
        if (not inside and a.order > x.event.order) or (not waiting and b.order < y.event.order):
            return E.FALSE
        # The first round of `x` that is behind the access of the one, and the last that the other has waited in.
        first = x.round(self.launch, earlier, self.mode) if inside else E.const(x.shift, I64)
        last = y.round(self.launch, later, self.mode) if waiting else first
        if inside and a.order > x.event.order:
            first = moved(first, x.stride)
        if waiting and b.order < y.event.order:
            last = moved(last, -y.stride)
        elif not waiting:
            last = E.const(y.shift, I64) if y.loop is None else first
        parts = [E.compare("le", first, last)]
        if y.arrives:
            parts.append(self.launch.once(Meetings).same_group(key, self.mode))
        for place, thread in ((x, earlier), (y, later)):
            # A thread that has returned does not come, but then nobody of its group waits in that round. What is
            # assumed of an iteration may be known by those before it, which have not left the loop.
            counter = None if place.loop is None else self._counter(place.loop)
            guard = [
                c
                for c in place.event.guard
                if c.kind != "return" and (c.kind != "assume" or counter in E.symbols(c.condition))
            ]
            conditions = [self._side(c.condition, thread) for c in guard]
            found = place.comes(self.launch, conditions, thread, self.mode, last)
            parts += [c for c in found if c not in self.known[thread]]
        return E.land(*dict.fromkeys(parts))

    def _different_iterations(self, depth: int, earlier: int) -> list[Case]:
        later = 3 - earlier
        a, b = self.access[earlier], self.access[later]
        label = self.common[depth]
        inside = [x for x in self.barriers if x.loops[: depth + 1] == self.common[: depth + 1]]
        counter = self._counter(label)
        mine, theirs = self._side(counter, earlier), self._side(counter, later)
        base = _Collected(self._equal_counters(self.common[:depth]))
        header = self.launch.events.loops[label].site.text or "the loop"
        name = f"`{header}`, the {'first' if earlier == 1 else 'second'} thread in the earlier one"
        if not inside:
            base.conjuncts.append(E.compare("lt", mine, theirs))
            self._meet(base)
            return [] if base.impossible else [base.case(f"different iterations of {name}")]
        for x in inside:
            if x.order > a.order or _shares(x, a, depth + 1):
                self._require_absent(base, x, earlier, _after(self, x, a), both=False)
            if x.order < b.order or _shares(x, b, depth + 1):
                self._require_absent(base, x, later, _before(self, x, b, depth + 1), both=False)
            if base.impossible:
                return []
        one = E.const(1, I64)
        following = _Collected([*base.conjuncts, E.compare("eq", theirs, E.add(mine, one))], set(base.barriers))
        self._meet(following)
        found = [] if following.impossible else [following.case(f"consecutive iterations of {name}")]
        far = _Collected([*base.conjuncts, E.compare("lt", E.add(mine, one), theirs)], set(base.barriers))
        for x in inside:
            mapping = {theirs: E.add(mine, one), **_zeros_sided(self, x, depth + 1, later)}
            passed = [c for c in x.guard if not (c.depth <= depth + 1 and c.kind in ("loop", "break"))]
            self._absent(far, x, later, passed, mapping)
            if far.impossible:
                return found
        self._meet(far)
        return found if far.impossible else [*found, far.case(f"iterations further apart of {name}")]

    # --- one barrier --------------------------------------------------------------------------------------

    def _require_absent(
        self, into: _Collected, x: BarrierEvent, thread: int, instance: _Instance | None, both: bool
    ) -> None:
        """Add: the given dynamic instance of ``x`` is not executed (by ``thread``, or not by both)."""
        if instance is None:
            return
        mapping = {self._side(k, thread): self._side(v, thread) for k, v in instance.mapping.items()}
        guard = [c for c in x.guard if not (c.depth == instance.passed and c.kind in ("loop", "break"))]
        executed = self._executed(x, thread, guard, mapping)
        if instance.exists is not None:
            executed.append(self._side(instance.exists, thread))
        into.conjuncts += self._mask_facts(x, thread, executed, mapping)
        if both:
            other = 3 - thread
            mapping = {self._side(k, other): self._side(v, other) for k, v in instance.mapping.items()}
            theirs = self._executed(x, other, x.guard, mapping)
            into.conjuncts += self._mask_facts(x, other, theirs, mapping)
            executed += theirs
        self._exclude(into, x, executed)

    def _absent(
        self, into: _Collected, x: BarrierEvent, thread: int, guard: Sequence[Conjunct], mapping: _Substitution
    ) -> None:
        self._exclude(into, x, self._executed(x, thread, guard, mapping))

    def _executed(self, x: BarrierEvent, thread: int, guard: Sequence[Conjunct], mapping: _Substitution) -> list[Expr]:
        """What must hold for ``thread`` to execute this instance, given that it executes its access. A thread that
        has left the
        kernel counts as having arrived."""
        out: list[Expr] = []
        for c in guard:
            if c.kind in ("return", "assume"):
                continue
            condition = E.substitute(self._side(c.condition, thread), mapping)
            if condition not in self.known[thread]:
                out.append(condition)
        return out

    def _mask_facts(self, x: BarrierEvent, thread: int, executed: Sequence[Expr], mapping: _Substitution) -> list[Expr]:
        """What is known of a computed mask where ``thread`` executes the barrier: its own bit is its vote."""
        if x.mask is None or x.mask.op == "const":
            return []
        lanes = {s for s in E.symbols(x.mask) if s.op == "opaque"}
        known = [c.condition for c in x.guard if c.kind == "assume" and lanes & E.symbols(c.condition)]
        held = E.land(*[E.substitute(self._side(c, thread), mapping) for c in known])
        if held is E.TRUE:
            return []
        alive = [E.substitute(self._side(c.condition, thread), mapping) for c in x.guard if c.kind == "return"]
        return [E.lor(E.lnot(E.land(*executed, *alive)), held)]

    def _exclude(self, into: _Collected, x: BarrierEvent, executed: list[Expr]) -> None:
        executed = [*executed, *covers(self.launch, x, self.mode), *name_themselves(self.launch, x, self.mode)]
        self.used.add(x.id)
        into.barriers.add(x.id)
        into.exclude(E.land(*dict.fromkeys(executed)))


class _Collected:
    """Conditions of a case under construction."""

    def __init__(self, conjuncts: list[Expr], barriers: set[int] | None = None) -> None:
        self.conjuncts = conjuncts
        self.barriers = barriers or set()
        self.impossible = False

    def exclude(self, condition: Expr) -> None:
        if condition is E.TRUE:
            self.impossible = True
        elif condition is not E.FALSE:
            self.conjuncts.append(E.lnot(condition))

    def case(self, relation: str) -> Case:
        return Case(relation, tuple(dict.fromkeys(self.conjuncts)), frozenset(self.barriers))


@dataclass(frozen=True, slots=True)
class _Instance:
    """A dynamic instance of a barrier: loop counters in terms of the access's, and when it exists."""

    mapping: _Substitution
    exists: Expr | None = None
    passed: int = -1
    """Loop depth at which the thread has gone through this whole iteration: its test held and it did not break."""


def _common_prefix(a: Sequence[str], b: Sequence[str]) -> tuple[str, ...]:
    if a == b:
        return tuple(a)
    n = 0
    while n < min(len(a), len(b)) and a[n] == b[n]:
        n += 1
    return tuple(a[:n])


def _shares(x: BarrierEvent, a: AccessEvent, depth: int) -> bool:
    """Barrier and access are together in a loop deeper than ``depth``."""
    return len(_common_prefix(x.loops, a.loops)) > depth


def _zeros(o: _Ordering, x: BarrierEvent, depth: int) -> _Instance:
    return _Instance({o.launch.events.loops[ell].counter: E.const(0, I64) for ell in x.loops[depth:]})


def _zeros_sided(o: _Ordering, x: BarrierEvent, depth: int, thread: int) -> _Substitution:
    return {
        o.launch.side(o.launch.events.loops[ell].counter, thread, o.mode): E.const(0, I64) for ell in x.loops[depth:]
    }


def _after(o: _Ordering, x: BarrierEvent, a: AccessEvent) -> _Instance:
    """The first instance of ``x`` the thread comes to after its access."""
    shared = _common_prefix(x.loops, a.loops)
    mapping = dict(_zeros(o, x, len(shared)).mapping)
    if x.order < a.order and shared:
        inner = o.launch.events.loops[shared[-1]].counter
        mapping[inner] = E.add(inner, E.const(1, I64))
    return _Instance(mapping)


def _before(o: _Ordering, x: BarrierEvent, b: AccessEvent, depth: int) -> _Instance | None:
    """An instance of ``x`` the thread passed before its access, within the iteration at ``depth``."""
    shared = _common_prefix(x.loops, b.loops)
    mapping = dict(_zeros(o, x, len(shared)).mapping)
    if x.order < b.order:
        return _Instance(mapping)
    if len(shared) <= depth:
        return None
    inner = o.launch.events.loops[shared[-1]].counter
    mapping[inner] = E.sub(inner, E.const(1, I64))
    return _Instance(mapping, exists=E.compare("le", E.const(1, I64), inner), passed=len(shared))


def same_cluster(launch: Launch, mode: Mode) -> Expr:
    """Both threads belong to one cluster; never where it is not known how large these are."""
    size = launch.events.kernel.bounds.cluster
    if size is None:
        return E.FALSE
    parts: list[Expr] = []
    for b, n in zip(E.BID, size, strict=True):
        blocks = (
            E.binary("div", launch.side(b, t, mode), E.const(n, E.U32)) if n > 1 else launch.side(b, t, mode)
            for t in (1, 2)
        )
        parts.append(E.compare("eq", *blocks))
    return E.land(*parts)


def _same_row(launch: Launch, x: BarrierEvent, mode: Mode) -> list[Expr]:
    """Both threads belong to one group of so many in a row."""
    return [] if x.tile is None else [launch.same_in_units(mode, 0, x.tile)]


def covers(launch: Launch, x: BarrierEvent, mode: Mode, naming: Sequence[int] = (1, 2)) -> list[Expr]:
    """Conditions under which both threads belong to the barrier's group (in ``warp`` mode: one warp already): each
    names the other's lane. ``naming``: the threads whose masks count; of one alone, it names itself, too."""
    if x.scope == "cluster" and mode == "grid":
        return [same_cluster(launch, mode)]
    if x.scope == "tile" and x.tile is not None and (x.tile < WARP or mode == "block" or x.tile % WARP):
        return _same_row(launch, x, mode)
    if x.scope == "warp" and x.mask is not None:
        lanes = [(t, lane) for t in naming for lane in ((3 - t, t) if len(naming) == 1 else (3 - t,))]
        return [names(launch, x.mask, t, lane, mode) for t, lane in lanes]
    return []
