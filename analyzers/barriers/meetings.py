"""Numbers of barriers where threads come together from several places, some of which only arrive: do they keep to
rounds?

`races.meetings` tells which round of a number a place belongs to, and `races.ordering` takes for granted of them what
is asked here. In a round every thread of a group comes to exactly one place of the number, if any of the group does;
the group is one of threads in a row that are all there; and who arrives without waiting comes to no further round
before all that wait in this one have gone on. Then each round is over when all of the group have arrived, and whoever
waits in it goes on behind what the others did before.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Final

from analyzers.barriers.counted import of_several_groups
from analyzers.barriers.parting import guard_of
from analyzers.ir import expr as E
from analyzers.ir.events import BarrierEvent, KernelEvents, UnsupportedEvent
from analyzers.ir.expr import I64, Expr
from analyzers.races.conditions import query_of
from analyzers.races.meetings import Meetings, Place, moved
from analyzers.races.threads import WARP, Launch, Mode
from analyzers.solve.query import Query

_MODE: Final[Mode] = "block"
_KIND: Final = "partial-barrier"
_Possible = Callable[[Query | None], bool]


def unclear_meetings(launch: Launch, is_possible: _Possible) -> Iterator[UnsupportedEvent]:
    """The numbers of which that is not known, as far as `is_possible` does not exclude what speaks against it."""
    yield from of_several_groups(launch, launch.events.meetings, is_possible)
    known = launch.once(Meetings).places
    for number, places in known.items():
        reason = _Rounds(launch, is_possible, known).unclear(number)
        if reason:
            event = places[0].event
            yield UnsupportedEvent(_KIND, reason, event.guard, event.site)


@dataclass(frozen=True, slots=True)
class _Rounds:
    launch: Launch
    is_possible: _Possible
    known: Mapping[int, tuple[Place, ...]]

    def unclear(self, number: int) -> str:
        """Why threads may not keep to the rounds of a number; empty where they do."""
        places = self.known[number]
        if len({p.around for p in places}) > 1:
            return f"threads come to barrier {number} in loops that have nothing to do with each other"
        if self._twice(places) or self._missing(places):
            size = places[0].event.tile
            return f"not all threads of a group of {size} are known to come to barrier {number}, each once a round"
        announced = any(not p.waits for p in places) and any(p.loop is not None for p in places)
        if announced and self._ahead(number):
            return f"threads may arrive at barrier {number} once more before the others have come there"
        return ""

    def _twice(self, places: Sequence[Place]) -> bool:
        """A thread may come to two places in one round, to places in two loops, or in a loop before the first round."""
        for one, two in combinations(sorted(places, key=lambda p: p.event.order), 2):
            parts = [*self._comes(one, 1), *self._comes(two, 1)]
            if one.loop is None or one.loop == two.loop:
                parts.append(E.compare("eq", *(p.round(self.launch, 1, _MODE) for p in (one, two))))
            if self._may(parts):
                return True
        return False

    def _missing(self, places: Sequence[Place]) -> bool:
        """A thread of the group may come to no place in a round to which another one comes, or not be there."""
        launch = self.launch
        block = E.mul(E.mul(*(launch.bind(n) for n in E.BDIM[:2])), launch.bind(E.BDIM[2]))
        for one in places:
            size = E.const(one.event.tile or 1, E.U32)
            first, second = (E.binary("div", launch.linear(t, _MODE), size) for t in (1, 2))
            comes, now = self._comes(one, 1), one.round(launch, 1, _MODE)
            parts = [*comes, launch.distinct(_MODE), E.compare("eq", first, second)]
            parts += self._same_around(one)
            if self._may([*parts, *(self._does_not_come(other, 2, now) for other in places)]):
                return True
            if self._may([*comes, E.compare("lt", block, E.mul(E.add(first, E.const(1, E.U32)), size))]):
                return True
        return False

    def _ahead(self, number: int) -> bool:
        """A thread may arrive in the next round before all that wait in this one have gone on. It does not where it
        waits in between at another number, to which these come behind their wait."""
        here = self.known[number][0]
        others = [n for n, (p, *_) in self.known.items() if p.around == here.around and p.event.tile == here.event.tile]
        ways = product((n for n in others if n != number), (0, 1))
        return self._skips(number) or not any(self._keeps_back(number, other, later) for other, later in ways)

    def _skips(self, number: int) -> bool:
        """A thread may come to a round, and not to the one before."""
        for one in self.known[number]:
            before = moved(one.round(self.launch, 1, _MODE), -1)
            parts = [*self._comes(one, 1), E.compare("le", E.const(0, I64), before)]
            if self._may([*parts, *(self._does_not_come(other, 1, before) for other in self.known[number])]):
                return True
        return False

    def _keeps_back(self, number: int, other: int, later: int) -> bool:
        """Whether nobody arrives in the next round before it has waited at ``other``, so many rounds ``later``, and
        nobody comes there then before it has waited in this round."""
        places, there = self.known[number], self.known[other]
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

    def _same_around(self, place: Place) -> list[Expr]:
        counters = [self.launch.events.loops[label].counter for label in place.around]
        return [E.compare("eq", *(self.launch.side(c, t, _MODE) for t in (1, 2))) for c in counters]

    def _comes(self, place: Place, thread: int, at: Expr | None = None) -> list[Expr]:
        conditions = [self.launch.side(c.condition, thread, _MODE) for c in guard_of(place.event)]
        return place.comes(self.launch, conditions, thread, _MODE, at)

    def _does_not_come(self, place: Place, thread: int, at: Expr) -> Expr:
        return E.lnot(E.land(*self._comes(place, thread, at)))

    def _may(self, parts: Sequence[Expr]) -> bool:
        return self.is_possible(query_of(self.launch, parts, _MODE))


def as_meetings(events: KernelEvents, numbers: Container[int | None], block: int | None) -> KernelEvents | None:
    """The events with all barriers of these numbers as places of meetings, of ``block`` threads where nothing else is
    said; None where it is not known how many meet."""
    others = {b.number for b in events.barriers} - {None}
    if 0 in numbers or any(n is not None and n < 0 for n in others):
        return None  # those without a number meet there, too, or those with a computed one may
    chosen = [b for b in events.barriers if b.number in numbers]
    if any(b.scope not in ("warp", "tile", "block") or b.mask is not None for b in chosen):
        return None
    met = [replace(b, scope="meeting", tile=_size(b, block)) for b in chosen]
    rest = tuple(b for b in events.barriers if b.number not in numbers)
    known = all(b.tile is not None for b in met)
    return replace(events, barriers=rest, meetings=(*events.meetings, *met)) if known else None


def _size(barrier: BarrierEvent, block: int | None) -> int | None:
    return WARP if barrier.scope == "warp" else barrier.tile if barrier.scope == "tile" else block
