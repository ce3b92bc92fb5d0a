"""Numbers of barriers where threads come together from several places, some of which only arrive: do they keep to
rounds?

`races.meetings` tells which round of a number a place belongs to, and `races.ordering` takes for granted of them what
is asked here, in each round:

* if a thread of a group waits, every thread of the group comes, each to exactly one place; the group is one of threads
  in a row that are all there; and lanes of a warp come to the same place, as the PTX ISA wants it of ``bar``;
* nobody comes who was not there in the round before;
* who arrives without waiting comes to no further round before all that wait in this one have gone on.

Then each round is over when all of the group have arrived, and whoever waits in it goes on behind what the others did
before. Threads that wait for each other in a circle never get there: that there is none is asked too, since
the places of a number are often far apart, and a barrier of the block between them is easily put in the wrong place.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, combinations_with_replacement, product
from typing import Final, TypeAlias

from analyzers.barriers.counted import incomplete_groups, of_several_groups
from analyzers.barriers.parting import guard_of
from analyzers.ir import expr as E
from analyzers.ir import kernel as k
from analyzers.ir.events import BarrierEvent, KernelEvents, UnsupportedEvent
from analyzers.ir.expr import I64, Expr
from analyzers.races.conditions import query_of
from analyzers.races.meetings import Key, Meeting, Meetings, bare, may_both, moved, round_of, size_of
from analyzers.races.threads import WARP, Launch, Mode
from analyzers.solve.query import Query

_MODE: Final[Mode] = "block"
_Possible = Callable[[Query | None], bool]


def unclear_meetings(launch: Launch, is_possible: _Possible) -> Iterator[UnsupportedEvent]:
    """The barriers of which that is not known, as far as `is_possible` does not exclude what speaks against it."""
    events, meetings = launch.events.meetings, launch.once(Meetings)
    rows = meetings.in_rows()
    yield from chain(*(ask(launch, rows, is_possible) for ask in (of_several_groups, incomplete_groups)))
    if any(len(e.loops) > 1 for e in events):
        text = "a barrier where threads come together from several places, in a loop in a loop"
        yield UnsupportedEvent(_kind(events[0]), text, events[0].guard, events[0].site)
        return
    if meetings.unclear:
        yield from (UnsupportedEvent(_kind(event), text, event.guard, event.site) for event, text in meetings.unclear)
        return
    for key, places in meetings.places.items():
        reason = _Rounds(launch, is_possible, key).unclear()
        if reason:
            first = places[0].event
            yield UnsupportedEvent(_kind(first), reason, first.guard, first.site)
    if _Waiting(launch, is_possible).in_a_circle():
        text = "threads that come together at barriers may wait for each other in a circle"
        yield UnsupportedEvent(_kind(events[0]), text, events[0].guard, events[0].site)


def _kind(event: BarrierEvent) -> str:
    return "partial-barrier" if event.phase is None else "split-barrier"


@dataclass(frozen=True, slots=True)
class _Rounds:
    launch: Launch
    is_possible: _Possible
    key: Key

    def unclear(self) -> str:
        """Why threads may not keep to the rounds of a barrier; empty where they do."""
        arriving, waiting = self._arriving(), [p for p in self._places(self.key) if not p.arrives]
        group = arriving[0].event.tile if arriving else None
        if any(p.event.tile != group for p in arriving) or not arriving:
            return f"how many threads come to barrier {self.key} is not known"
        if self._twice(arriving) or self._missing(arriving, waiting) or self._skips(arriving):
            members = "the block" if group is None else f"a group of {group}"
            return f"not all threads of {members} are known to come to barrier {self.key}, each once a round"
        if any(self._leaves_between(p) for p in self._places(self.key)):
            return f"a thread may leave its loop, by the iterations before, where it comes to barrier {self.key}"
        if not isinstance(self.key, int) and self._of_several_groups(arriving):
            return f"threads of several groups of {group} may come to barrier {self.key}, which waits for {group}"
        if isinstance(self.key, int) and self._parted(arriving):
            return f"threads of one warp may come to barrier {self.key} at different places"
        if any(self._awaits_another(p) for p in waiting) or self._skips([p for p in waiting if _is_of_parity(p)]):
            return f"for which phase of barrier {self.key} threads wait is not known"
        if any(self._waits_for_nobody(p, arriving) for p in waiting if _is_of_parity(p)):
            return f"threads may wait for a phase of barrier {self.key} to which not all come that it is for"
        if (waiting or not all(p.waits for p in arriving)) and self._ahead():
            return f"threads may arrive at barrier {self.key} once more before the others have come there"
        return ""

    def _places(self, key: Key) -> tuple[Meeting, ...]:
        return self.launch.once(Meetings).places[key]

    def _arriving(self) -> list[Meeting]:
        return [p for p in self._places(self.key) if p.arrives]

    def _twice(self, places: Sequence[Meeting]) -> bool:
        """A thread may come to two places in one round; to places in two loops, or in a loop and behind it, in any."""
        for one, two in combinations(sorted(places, key=lambda p: p.event.order), 2):
            rounds = one.loop is None or one.loop == two.loop
            at = one.round(self.launch, 1, _MODE) if rounds else None
            if self._may([*self._comes(one, 1), *self._comes(two, 1, at)]):
                return True
        return False

    def _missing(self, places: Sequence[Meeting], waiting: Sequence[Meeting]) -> bool:
        """A thread of the group may come to no place in a round in which another one waits, or from which that goes on
        to the next one."""
        for one in places:
            now = one.round(self.launch, 1, _MODE)
            parts = [*self._comes(one, 1), self.launch.distinct(_MODE), self._same_group(self.key)]
            parts += (self._does_not_come(other, 2, now) for other in places)
            if not one.waits and not any(_is_of_parity(p) for p in waiting):
                goes_on = [self._comes(other, 1, moved(now, self._turns)) for other in places]
                goes_on += [self._comes(other, 1, now) for other in waiting]
                parts.append(E.lor(*(E.land(*conditions) for conditions in goes_on)))
            if self._may(parts):
                return True
        return False

    def _skips(self, places: Sequence[Meeting]) -> bool:
        """A thread may come to a round, and not to the one before. What keeps a thread in a loop is only asked of the
        last iteration: so all iterations are."""
        for one in places:
            before = moved(one.round(self.launch, 1, _MODE), -self._turns)
            parts = [*self._comes(one, 1), E.compare("le", E.const(0, I64), before)]
            if self._may([*parts, *(self._does_not_come(other, 1, before) for other in places)]):
                return True
        return False

    def _leaves_between(self, place: Meeting) -> bool:
        """In the iteration before one in which the thread comes, what keeps it in the loop may not have held: what is
        asked of one iteration says nothing of those before."""
        if place.loop is None or (place.arrives and self._turns == 1):
            return False  # who skips a round is looked for
        counter = self.launch.side(self.launch.events.loops[place.loop].counter, 1, _MODE)
        before = {counter: moved(counter, -1)}
        staying = [c.condition for c in guard_of(place.event) if c.kind in ("loop", "break")]
        stays = E.land(*(E.substitute(self.launch.side(c, 1, _MODE), before) for c in staying))
        return self._may([*self._comes(place, 1), E.compare("lt", E.const(0, I64), counter), E.lnot(stays)])

    def _of_several_groups(self, places: Sequence[Meeting]) -> bool:
        """Threads of two groups may come, in any rounds."""
        for one, two in combinations_with_replacement(places, 2):
            parts = [self.launch.distinct(_MODE), E.lnot(self._same_group(self.key))]
            if self._may([*parts, *self._comes(one, 1), *self._comes(two, 2)]):
                return True
        return False

    def _parted(self, places: Sequence[Meeting]) -> bool:
        """Lanes of one warp may come to different places in a round."""
        mode: Mode = "warp"
        for one, two in combinations(places, 2):
            now = one.round(self.launch, 1, mode)
            parts = [self.launch.distinct(mode), self.launch.same_warp(mode)]
            parts += [*self._comes(one, 1, mode=mode), *self._comes(two, 2, now, mode)]
            if self.is_possible(query_of(self.launch, parts, mode)):
                return True
        return False

    def _awaits_another(self, place: Meeting) -> bool:
        """A wait may be for another round than the one that was guessed for it."""
        phase, now = place.event.phase, place.round(self.launch, 1, _MODE)
        if phase is None or phase.awaited is None:
            return True
        comes = self._comes(place, 1)
        awaited = self.launch.bind(phase.awaited)
        if phase.parity:
            two, turns = E.const(2, I64), E.const(self._turns, I64)
            begins = place.shift >= 0
            # The number of the phase, or of the next one where it is for the one before the first.
            number = E.binary("div", now if begins else moved(now, self._turns), turns)
            asked = E.cast(self.launch.side(awaited, 1, _MODE), I64)
            odd, asked = (E.binary("rem", n, two) for n in (number, asked))
            return self._may([*comes, E.compare("ne" if begins else "eq", odd, asked)])
        arrivals = {p.event.id: p for p in self._arriving()}
        for leaf, conditions in _choices(awaited):
            at = round_of(leaf, arrivals)
            another = [] if at is None else [E.compare("ne", self.launch.side(at, 1, _MODE), now)]
            if self._may([*comes, *(self.launch.side(c, 1, _MODE) for c in conditions), *another]):
                return True
        return False

    def _waits_for_nobody(self, wait: Meeting, arriving: Sequence[Meeting]) -> bool:
        """Some of those who come to the barrier, in whatever rounds, may not come in the one that is waited for."""
        now = wait.round(self.launch, 1, _MODE)
        parts = [*self._comes(wait, 1), E.compare("le", E.const(0, I64), now)]
        parts += (self._does_not_come(place, 2, now) for place in arriving)
        members = self.launch.once(Meetings).members.get(self.key)
        if members is not None:
            return self._may([*parts, self.launch.side(members, 2, _MODE)])
        return any(self._may([*parts, *self._comes(place, 2)]) for place in arriving)

    def _ahead(self) -> bool:
        """A thread may arrive in the next phase before this one is complete, or that may be complete before all that
        wait in this one have gone on."""
        arriving = self._arriving()
        waits = [p for p in self._places(self.key) if p.waits]
        others = [key for key in self.launch.once(Meetings).places if key != self.key]
        gates = list(product(others, sorted({0, self._turns})))
        for one, following in product(arriving, arriving):
            waited = one.waits or self._waits_between(one, following, waits, 0)
            if not waited and not any(self._is_complete_behind(one, following, *gate) for gate in gates):
                return True
        for wait in filter(self._may_be_overtaken, waits):
            again = self._comes_again_behind(wait, self.key, self._turns)
            if not again and not any(self._is_waited_for(wait, *gate) for gate in gates):
                return True
        return False

    def _waits_between(self, one: Meeting, following: Meeting, places: Sequence[Meeting], later: int) -> bool:
        """Whether who comes to one place, and in the next phase to a following one, waits in between at one of these,
        so many rounds later than it comes to the first."""
        now = one.round(self.launch, 1, _MODE)
        between = [p for p in places if p.waits and p.is_behind(one, later)]
        between = [p for p in between if following.is_behind(p, self._turns - later)]
        parts = [*self._comes(one, 1), *self._comes(following, 1, moved(now, self._turns))]
        return not self._may([*parts, *(self._does_not_come(p, 1, moved(now, later)) for p in between)])

    def _is_complete_behind(self, one: Meeting, following: Meeting, other: Key, later: int) -> bool:
        """Whether who comes to the following place has waited in between at another barrier, which is complete only
        when this round is: all that come to that one have waited in this round, or all that come to this round come
        there behind it."""
        there = self._places(other)
        if not self._waits_between(one, following, there, later):
            return False
        gate, waits = [p for p in there if p.arrives], [p for p in self._places(self.key) if p.waits]
        if waits and all(self._has_waited(then, waits, later) for then in gate):
            return True
        now = one.round(self.launch, 1, _MODE)
        both = [*self._comes(one, 1), *self._comes(following, 1, moved(now, self._turns)), self.launch.distinct(_MODE)]
        for place in self._arriving():
            behind = [p for p in gate if p.is_behind(place, later)]
            parts = [*both, *self._comes(place, 2, now)]
            if self._may([*parts, *(self._does_not_come(p, 2, moved(now, later)) for p in behind)]):
                return False
        return True

    def _has_waited(self, then: Meeting, waits: Sequence[Meeting], later: int) -> bool:
        """Whether who comes to a place of another barrier has waited in the round so many earlier."""
        now = moved(then.round(self.launch, 1, _MODE), -later)
        before = [p for p in waits if then.is_behind(p, later)]
        parts = [*self._comes(then, 1), E.compare("le", E.const(0, I64), now)]
        return not self._may([*parts, *(self._does_not_come(p, 1, now) for p in before)])

    def _may_be_overtaken(self, wait: Meeting) -> bool:
        """Somebody may arrive in the phase behind the one that is waited for, in whatever order."""
        following = moved(wait.round(self.launch, 1, _MODE), self._turns)
        return any(self._may([*self._comes(wait, 1), *self._comes(p, 2, following)]) for p in self._arriving())

    def _comes_again_behind(self, wait: Meeting, key: Key, later: int) -> bool:
        """Whether who waits is one of those that a barrier is for, and comes to it so many rounds later only behind its
        wait."""
        now = wait.round(self.launch, 1, _MODE)
        for then in (p for p in self._places(key) if p.arrives):
            both = [*self._comes(wait, 1), *self._comes(then, 1, moved(now, later))]
            if not then.is_behind(wait, later) and self._may(both):
                return False
            outside = [*self._comes(wait, 1), *self._comes(then, 2), E.lnot(self._same_group(key))]
            if self._may(outside):
                return False
        return True

    def _is_waited_for(self, wait: Meeting, other: Key, later: int) -> bool:
        """Whether all that come in the next phase wait before at another barrier, to which who waits here comes
        behind its wait."""
        there = self._places(other)
        if not self._comes_again_behind(wait, other, later):
            return False
        for following in self._arriving():
            now = moved(following.round(self.launch, 1, _MODE), -self._turns)
            before = [p for p in there if p.waits and following.is_behind(p, self._turns - later)]
            parts = [*self._comes(following, 1), *self._comes(wait, 2, now)]
            begun = E.compare("le", E.const(0, I64), moved(now, later))
            if self._may([*parts, E.lnot(begun)]):
                return False  # nobody is waited for there
            if self._may([*parts, *(self._does_not_come(p, 1, moved(now, later)) for p in before)]):
                return False
        return True

    @property
    def _turns(self) -> int:
        """Rounds from one phase of a barrier to its next one."""
        return size_of(self.key)

    def _same_group(self, key: Key) -> Expr:
        return self.launch.once(Meetings).same_group(key, _MODE)

    def _comes(self, place: Meeting, thread: int, at: Expr | None = None, mode: Mode = _MODE) -> list[Expr]:
        conditions = [self.launch.side(c.condition, thread, mode) for c in guard_of(place.event)]
        return conditions if at is None else place.comes(self.launch, conditions, thread, mode, at)

    def _does_not_come(self, place: Meeting, thread: int, at: Expr) -> Expr:
        return E.lnot(E.land(*self._comes(place, thread, at)))

    def _may(self, parts: Sequence[Expr]) -> bool:
        return self.is_possible(query_of(self.launch, parts, _MODE))


def _is_of_parity(place: Meeting) -> bool:
    return place.event.phase is not None and place.event.phase.parity


def _choices(value: Expr, conditions: tuple[Expr, ...] = ()) -> Iterator[tuple[Expr, tuple[Expr, ...]]]:
    """The values that one may be, each with the conditions under which it is chosen."""
    value = bare(value)
    if value.op != "select":
        yield value, conditions
        return
    condition, then, other = value.args
    yield from _choices(then, (*conditions, condition))
    yield from _choices(other, (*conditions, E.lnot(condition)))


_Node: TypeAlias = tuple[str, Key]
"""Where threads come together from several places, or another barrier by its id."""
_NO_LIMIT: Final = -(1 << 20)
"""Rounds: behind the last one of a loop, however many there are."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    """Whether a round of a number, or a barrier, may come to wait for itself. Told from where the places stand: who
    waits at one place and comes to another one then makes a round of the latter wait for one of the former."""

    launch: Launch
    is_possible: _Possible

    def in_a_circle(self) -> bool:
        later = self._later()
        nodes = {node for edge in later for node in edge}
        # All ways through one node after the other (Floyd and Warshall): the first factor varies most slowly.
        for middle, one, two in product(nodes, nodes, nodes):
            if (one, middle) in later and (middle, two) in later:
                through = later[one, middle] + later[middle, two]
                later[one, two] = min(through, later.get((one, two), through))
        return any(later.get((node, node), 1) <= 0 for node in nodes)

    def _later(self) -> dict[tuple[_Node, _Node], int]:
        """How many rounds later, at least, those are of one node that wait for those of another."""
        out: dict[tuple[_Node, _Node], int] = {}
        places = list(self._places())
        for (one, first), (two, then) in product(places, places):
            rounds = _rounds_later(first, then) if first.waits and then.arrives else None
            if rounds is not None and rounds < out.get((one, two), 1 + rounds) and self._may_both(first, then):
                out[one, two] = rounds
        return out

    def _places(self) -> Iterator[tuple[_Node, Meeting]]:
        """All that several threads wait at, with the outermost loop around it."""
        for key, found in self.launch.once(Meetings).places.items():
            yield from ((("meeting", key), place) for place in found)
        for barrier in self.launch.events.barriers:
            if barrier.scope not in ("warp", "tile") or barrier.number is not None or (barrier.tile or 0) > WARP:
                yield ("barrier", barrier.id), Meeting(barrier, barrier.loops[0] if barrier.loops else None, 0)

    def _may_both(self, first: Meeting, then: Meeting) -> bool:
        """Whether one thread may come to both, in whichever iterations."""
        if not may_both(first.event, then.event):
            return False
        counters = [self.launch.events.loops[label].counter for label in then.event.loops]
        other = E.substitution({self.launch.side(c, 1, _MODE): E.sym(f"then:{c.value}", I64) for c in counters})
        parts = [self.launch.side(c.condition, 1, _MODE) for c in guard_of(first.event)]
        parts += [other(self.launch.side(c.condition, 1, _MODE)) for c in guard_of(then.event)]
        return self.is_possible(query_of(self.launch, parts, _MODE))


def _rounds_later(first: Meeting, then: Meeting) -> int | None:
    """How many rounds later than that of ``first``, at least, the round of ``then`` is to which a thread comes behind
    it; None where it comes there only before."""
    if first.loop is not None and first.loop == then.loop:
        if first.stride != then.stride:
            return _NO_LIMIT
        return then.shift - first.shift + (first.event.order >= then.event.order) * then.stride
    if first.event.order >= then.event.order:
        return None
    return then.shift - first.shift if first.loop is None else _NO_LIMIT


def as_meetings(events: KernelEvents, numbers: Container[int | None], block: int | None) -> KernelEvents | None:
    """The events with all barriers of these numbers as places of meetings, of ``block`` threads where nothing else is
    said; None where it is not known how many meet, or what they do there is more than to wait."""
    others = {b.number for b in events.barriers} - {None}
    if 0 in numbers or any(n is not None and n < 0 for n in others):
        return None  # those without a number meet there, too, or those with a computed one may
    chosen = [b for b in events.barriers if b.number in numbers]
    reducing = {s.id for s in k.statements(events.kernel.body) if isinstance(s, k.Barrier) and s.reduce is not None}
    if any(b.scope not in ("warp", "tile", "block") or b.mask is not None or b.id in reducing for b in chosen):
        return None
    met = [replace(b, scope="meeting", tile=_size(b, block)) for b in chosen]
    rest = tuple(b for b in events.barriers if b.number not in numbers)
    known = all(b.tile is not None for b in met)
    return replace(events, barriers=rest, meetings=(*events.meetings, *met)) if known else None


def _size(barrier: BarrierEvent, block: int | None) -> int | None:
    return WARP if barrier.scope == "warp" else barrier.tile if barrier.scope == "tile" else block
