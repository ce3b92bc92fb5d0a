"""Barriers with a number that wait for some of a block's threads: of one group of threads in a row, all of it there?

The PTX ISA ("bar, barrier") lets any warps come together at a number. A barrier that counts ``n`` threads is taken for
one of the group of ``n`` threads in a row that a thread belongs to, which is what it is if all that come to its number,
wherever in the kernel, are of the same group of their block. That is asked here of every two threads, where the number
is a constant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import combinations_with_replacement
from typing import Final

from analyzers.barriers.parting import guard_of
from analyzers.ir import expr as E
from analyzers.ir.events import BarrierEvent, UnsupportedEvent
from analyzers.races.conditions import query_of
from analyzers.races.threads import WARP, Launch, Mode
from analyzers.solve.query import Query

_MODE: Final[Mode] = "block"


def is_counted(barrier: BarrierEvent) -> bool:
    """Whether it waits for some threads of the block at a number."""
    return barrier.scope in ("warp", "tile") and barrier.number is not None


def incomplete_groups(
    launch: Launch, barriers: Iterable[BarrierEvent], is_possible: Callable[[Query | None], bool]
) -> Iterator[UnsupportedEvent]:
    """Those of the barriers to which threads of a group come that is not all in the block, and waits for ever."""
    for event in barriers:
        if event.scope == "meeting" and event.tile is None:
            continue  # of the whole block
        size = E.const(event.tile or WARP, E.U32)
        block = E.mul(E.mul(*(launch.bind(n) for n in E.BDIM[:2])), launch.bind(E.BDIM[2]))
        end = E.mul(E.add(E.binary("div", launch.linear(1, _MODE), size), E.const(1, E.U32)), size)
        comes = [launch.side(c.condition, 1, _MODE) for c in guard_of(event)]
        if is_possible(query_of(launch, [*comes, E.compare("lt", block, end)], _MODE)):
            text = f"a barrier of {event.tile or WARP} threads in a row, of which some may not be in the block"
            yield UnsupportedEvent("partial-barrier", text, event.guard, event.site)


def of_several_groups(
    launch: Launch, barriers: Iterable[BarrierEvent], is_possible: Callable[[Query | None], bool]
) -> Iterator[UnsupportedEvent]:
    """Those of the barriers to whose number threads of several groups come, as far as `is_possible` does not exclude
    it."""
    by_number: dict[int | None, list[BarrierEvent]] = {}
    for event in barriers:
        if event.number is not None and event.number >= 0:
            by_number.setdefault(event.number, []).append(event)
    for number, events in by_number.items():
        for one, two in combinations_with_replacement(events, 2):
            query = _of_two_groups(launch, one, two)
            if is_possible(query):
                size = one.tile or WARP
                text = f"threads of several groups of {size} may come to barrier {number}, which waits for {size}"
                yield UnsupportedEvent("partial-barrier", text, one.guard, one.site)
                break


def _of_two_groups(launch: Launch, one: BarrierEvent, two: BarrierEvent) -> Query | None:
    """Can threads of one block that come to these be of two groups? Both count as many."""
    parts = [launch.distinct(_MODE), E.lnot(launch.same_in_units(_MODE, 0, one.tile or WARP))]
    for t, event in enumerate((one, two), 1):
        parts += [launch.side(c.condition, t, _MODE) for c in guard_of(event)]
    return query_of(launch, parts, _MODE)
