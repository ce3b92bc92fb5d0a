"""How the threads of a witness got where they are: the `Way`s of a replay as the `Route`s of a result.

Takes the events of a kernel and what a replay recorded by event number; gives the barriers by place in the source.
"""

from __future__ import annotations

from dataclasses import replace

from analyzers.ir.events import BarrierEvent, KernelEvents
from analyzers.model import Access, Arrival, Route, SourceSpan
from analyzers.reference.replay import Way


def barrier_sites(events: KernelEvents) -> tuple[SourceSpan, ...]:
    """Where the barriers of a kernel stand, each place once, in the order of the program."""
    return tuple(dict.fromkeys(b.site.span for b in sorted(events.barriers, key=lambda b: b.order)))


def with_ways(
    events: KernelEvents, accesses: tuple[Access, ...], ways: tuple[Way, Way] | None, start: int | None = None
) -> tuple[Access, ...]:
    """Two sides of a finding with how their threads got there; ``start``: bytes into its object where addresses are
    counted from; None where they are not told."""
    if ways is None or not all(map(same_turns, accesses, ways)):
        return accesses
    barriers = {b.id: b for b in events.barriers}
    return tuple(
        replace(access, route=_route(barriers, way), offset=_relative(way.offset, start))
        for access, way in zip(accesses, ways, strict=True)
    )


def same_turns(access: Access, way: Way) -> bool:
    """Whether the thread was executed to the very turns of its loops that the finding tells."""
    return access.kind == "barrier" or tuple(turn.iteration for turn in access.turns) == way.iterations


def _relative(offset: int | None, start: int | None) -> int | None:
    return offset - start if offset is not None and start is not None else None


def _route(barriers: dict[int, BarrierEvent], way: Way) -> Route | None:
    """None where a barrier is one that the events do not list."""
    found = [_arrival(barriers, *step) for step in (*way.last, *((way.next,) if way.next is not None else ()))]
    arrivals = tuple(each for each in found if each is not None)
    if len(arrivals) != len(found):
        return None
    shown = len(way.last)
    return Route(way.passed, arrivals[:shown], arrivals[shown] if way.next is not None else None, way.ended)


def _arrival(
    barriers: dict[int, BarrierEvent], event: int, iterations: tuple[int, ...], common: bool
) -> Arrival | None:
    barrier = barriers.get(event)
    if barrier is None or barrier.scope == "meeting":
        return None
    return Arrival(barrier.site.span, barrier.site.text, barrier.scope, common, iterations)
