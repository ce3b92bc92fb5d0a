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
    if _wait_in_a_circle(launch):
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
            parts = [*self._comes(one, 1), *self._comes(two, 1)]
            if one.loop is None or one.loop == two.loop:
                parts.append(E.compare("eq", *(p.round(self.launch, 1, _MODE) for p in (one, two))))
            if self._may(parts):
                return True
        return False

    def _missing(self, places: Sequence[Meeting]) -> bool:
        """A thread of the group may come to no place in a round in which another one waits, or from which that goes on
        to the next one."""
        for one in places:
            groups = self._groups(one.event.tile or 1)
            now = one.round(self.launch, 1, _MODE)
            parts = [*self._comes(one, 1), self.launch.distinct(_MODE), E.compare("eq", *groups)]
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
        for one, two in combinations(places, 2):
            now = one.round(self.launch, 1, _MODE)
            parts = [self.launch.distinct(_MODE), E.compare("eq", *self._groups(WARP))]
            if self._may([*parts, *self._comes(one, 1), *self._comes(two, 2, now)]):
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

    def _groups(self, size: int) -> list[Expr]:
        """In which of the rows of so many threads each of the two is."""
        return [E.binary("div", self.launch.linear(t, _MODE), E.const(size, E.U32)) for t in (1, 2)]

    def _comes(self, place: Meeting, thread: int, at: Expr | None = None) -> list[Expr]:
        conditions = [self.launch.side(c.condition, thread, _MODE) for c in guard_of(place.event)]
        return place.comes(self.launch, conditions, thread, _MODE, at)

    def _does_not_come(self, place: Meeting, thread: int, at: Expr) -> Expr:
        return E.lnot(E.land(*self._comes(place, thread, at)))

    def _may(self, parts: Sequence[Expr]) -> bool:
        return self.is_possible(query_of(self.launch, parts, _MODE))


def _wait_in_a_circle(launch: Launch) -> bool:
    """Whether a round of a number, or a barrier of the block, may come to wait for itself. Told from where the places
    stand: who waits at one place and comes to another one then makes the latter's round wait for the former's."""
    known = launch.once(Meetings).places
    places: list[tuple[object, Meeting]] = [(n, p) for n, found in known.items() for p in found]
    for barrier in launch.events.barriers:
        if barrier.scope in ("block", "cluster", "grid"):
            places.append((barrier.id, Meeting(barrier, barrier.loops[-1] if barrier.loops else None, 0)))
    behind: dict[tuple[object, object], int] = {}
    for (one, first), (two, then) in product(places, places):
        if not first.waits or not may_both(first.event, then.event):
            continue
        if first.loop != then.loop or first.loop is None:
            if first.event.order >= then.event.order:
                continue
            rounds = 0
        else:
            rounds = then.shift - first.shift + (first.event.order >= then.event.order)
        behind[one, two] = min(rounds, behind.get((one, two), rounds))
    nodes = {node for edge in behind for node in edge}
    for middle, one, two in product(nodes, nodes, nodes):
        if (one, middle) in behind and (middle, two) in behind:
            rounds = behind[one, middle] + behind[middle, two]
            behind[one, two] = min(rounds, behind.get((one, two), rounds))
    return any(behind.get((node, node), 1) <= 0 for node in nodes)


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
