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
from itertools import chain, combinations, product
from typing import Final

from analyzers.barriers.counted import incomplete_groups, of_several_groups
from analyzers.barriers.parting import guard_of
from analyzers.ir import expr as E
from analyzers.ir import kernel as k
from analyzers.ir.events import BarrierEvent, KernelEvents, UnsupportedEvent
from analyzers.ir.expr import I64, Expr
from analyzers.races.conditions import query_of
from analyzers.races.meetings import Meeting, Meetings, may_both, moved
from analyzers.races.threads import WARP, Launch, Mode
from analyzers.solve.query import Query

_MODE: Final[Mode] = "block"
_KIND: Final = "partial-barrier"
_Possible = Callable[[Query | None], bool]


def unclear_meetings(launch: Launch, is_possible: _Possible) -> Iterator[UnsupportedEvent]:
    """The numbers of which that is not known, as far as `is_possible` does not exclude what speaks against it."""
    events = launch.events.meetings
    yield from chain(*(ask(launch, events, is_possible) for ask in (of_several_groups, incomplete_groups)))
    if any(len(e.loops) > 1 for e in events):
        text = "a barrier with a number where threads come together from several places, in a loop in a loop"
        yield UnsupportedEvent(_KIND, text, events[0].guard, events[0].site)
        return
    rounds = _Rounds(launch, is_possible)
    for number, places in launch.once(Meetings).places.items():
        reason = rounds.unclear(number)
        if reason:
            yield UnsupportedEvent(_KIND, reason, places[0].event.guard, places[0].event.site)
    if _Waiting(launch, is_possible).in_a_circle():
        text = "threads that come together at numbered barriers may wait for each other in a circle"
        yield UnsupportedEvent(_KIND, text, events[0].guard, events[0].site)


@dataclass(frozen=True, slots=True)
class _Rounds:
    launch: Launch
    is_possible: _Possible

    def unclear(self, number: int | None) -> str:
        """Why threads may not keep to the rounds of a number; empty where they do."""
        places = self._places(number)
        if self._twice(places) or self._missing(places) or self._skips(places):
            size = places[0].event.tile
            return f"not all threads of a group of {size} are known to come to barrier {number}, each once a round"
        if self._parted(places):
            return f"threads of one warp may come to barrier {number} at different places"
        announced = any(not p.waits for p in places) and any(p.loop is not None for p in places)
        if announced and self._ahead(number):
            return f"threads may arrive at barrier {number} once more before the others have come there"
        return ""

    def _places(self, number: int | None) -> tuple[Meeting, ...]:
        return self.launch.once(Meetings).places[number]

    def _twice(self, places: Sequence[Meeting]) -> bool:
        """A thread may come to two places in one round; to places in two loops, or in a loop and behind it, in any."""
        for one, two in combinations(sorted(places, key=lambda p: p.event.order), 2):
            rounds = one.loop is None or one.loop == two.loop
            at = one.round(self.launch, 1, _MODE) if rounds else None
            if self._may([*self._comes(one, 1), *self._comes(two, 1, at)]):
                return True
        return False

    def _missing(self, places: Sequence[Meeting]) -> bool:
        """A thread of the group may come to no place in a round in which another one waits, or from which that goes on
        to the next one."""
        for one in places:
            now = one.round(self.launch, 1, _MODE)
            parts = [*self._comes(one, 1), self.launch.distinct(_MODE)]
            parts.append(self.launch.same_in_units(_MODE, 0, one.event.tile or 1))
            parts += (self._does_not_come(other, 2, now) for other in places)
            if not one.waits:
                parts.append(E.lor(*(E.land(*self._comes(other, 1, moved(now, 1))) for other in places)))
            if self._may(parts):
                return True
        return False

    def _skips(self, places: Sequence[Meeting]) -> bool:
        """A thread may come to a round, and not to the one before. What keeps a thread in a loop is only asked of the
        last iteration: so all iterations are."""
        for one in places:
            before = moved(one.round(self.launch, 1, _MODE), -1)
            parts = [*self._comes(one, 1), E.compare("le", E.const(0, I64), before)]
            if self._may([*parts, *(self._does_not_come(other, 1, before) for other in places)]):
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

    def _ahead(self, number: int | None) -> bool:
        """A thread may arrive in the next round before all that wait in this one have gone on. It does not where it
        waits in between at another number of the group, to which these come behind their wait."""
        size = self._places(number)[0].event.tile
        known = self.launch.once(Meetings).places
        others = [n for n, (place, *_) in known.items() if n != number and place.event.tile == size]
        return not any(self._keeps_back(number, other, later) for other in others for later in (0, 1))

    def _keeps_back(self, number: int | None, other: int | None, later: int) -> bool:
        """Whether nobody arrives in the next round before it has waited at ``other``, so many rounds ``later``, and
        nobody comes there then before it has waited in this round."""
        places, there = self._places(number), self._places(other)
        for one, following in product(places, places):
            if one.waits:
                continue
            now = one.round(self.launch, 1, _MODE)
            between = [p for p in there if p.waits and p.is_behind(one, later) and following.is_behind(p, 1 - later)]
            parts = [*self._comes(one, 1), *self._comes(following, 1, moved(now, 1))]
            if self._may([*parts, *(self._does_not_come(p, 1, moved(now, later)) for p in between)]):
                return False
        for waiting, then in product(places, there):
            if waiting.waits and not then.is_behind(waiting, later):
                now = waiting.round(self.launch, 1, _MODE)
                if self._may([*self._comes(waiting, 1), *self._comes(then, 1, moved(now, later))]):
                    return False
        return True

    def _comes(self, place: Meeting, thread: int, at: Expr | None = None, mode: Mode = _MODE) -> list[Expr]:
        conditions = [self.launch.side(c.condition, thread, mode) for c in guard_of(place.event)]
        return conditions if at is None else place.comes(self.launch, conditions, thread, mode, at)

    def _does_not_come(self, place: Meeting, thread: int, at: Expr) -> Expr:
        return E.lnot(E.land(*self._comes(place, thread, at)))

    def _may(self, parts: Sequence[Expr]) -> bool:
        return self.is_possible(query_of(self.launch, parts, _MODE))


_Node = tuple[str, int | None]
"""A number of meetings, or another barrier by its id."""
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
            rounds = _rounds_later(first, then) if first.waits else None
            if rounds is not None and rounds < out.get((one, two), 1 + rounds) and self._may_both(first, then):
                out[one, two] = rounds
        return out

    def _places(self) -> Iterator[tuple[_Node, Meeting]]:
        """All that several threads wait at, with the outermost loop around it."""
        for number, found in self.launch.once(Meetings).places.items():
            yield from ((("number", number), place) for place in found)
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
        return then.shift - first.shift + (first.event.order >= then.event.order)
    if first.event.order >= then.event.order:
        return None
    return then.shift if first.loop is None else _NO_LIMIT


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
