"""Numbers of barriers where threads come together from several places: which round of its number a place belongs to.

Takes the places of a kernel (`KernelEvents.meetings`). A place in a loop belongs to a round in each iteration, one
outside of it to the first round of all. Where threads announce themselves before their loop, what they come to in the
loop belongs to the rounds behind that. `barriers.meetings` asks whether the threads of a group keep to these rounds,
and `ordering` what that orders.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analyzers.ir import expr as E
from analyzers.ir.events import BarrierEvent
from analyzers.ir.expr import I64, Expr
from analyzers.races.threads import Launch, Mode


@dataclass(frozen=True, slots=True)
class Place:
    """Where threads come to a number."""

    event: BarrierEvent
    around: tuple[str, ...]
    """The loops that the rounds are counted in, anew in each of their iterations."""
    loop: str | None
    """The loop whose iterations are the rounds."""
    shift: int
    """The round of its first iteration."""

    @property
    def waits(self) -> bool:
        return not self.event.arrives

    def round(self, launch: Launch, thread: int, mode: Mode) -> Expr:
        """The round that a thread comes to in an iteration, by the counter of the loop; I64."""
        if self.loop is None:
            return E.const(0, I64)
        return moved(launch.side(launch.events.loops[self.loop].counter, thread, mode), self.shift)

    def comes(
        self, launch: Launch, conditions: Sequence[Expr], thread: int, mode: Mode, at: Expr | None = None
    ) -> list[Expr]:
        """The conditions for a thread (renamed) of coming there, in the round ``at`` where given."""
        if at is None:
            return list(conditions)
        if self.loop is None:
            return [*conditions, E.compare("eq", at, E.const(0, I64))]
        turn = moved(at, -self.shift)
        counter = launch.side(launch.events.loops[self.loop].counter, thread, mode)
        there = [E.substitute(c, {counter: turn}) for c in conditions]
        return [E.compare("le", E.const(0, I64), turn), *there]

    def is_behind(self, other: Place, rounds: int) -> bool:
        """Whether a thread that comes to both comes here so many rounds later (or earlier) than to the other, and
        behind it."""
        if self.loop != other.loop:
            return self.event.order > other.event.order
        turns = rounds - self.shift + other.shift if self.loop is not None else 0
        return turns > 0 or (turns == 0 and self.event.order > other.event.order)


def moved(number: Expr, by: int) -> Expr:
    """The number and so many more."""
    return E.add(number, E.const(by, I64)) if by else number


class Meetings:
    """The places of one launch by their number; for `Launch.once`."""

    def __init__(self, launch: Launch) -> None:
        found: dict[int, list[BarrierEvent]] = {}
        for event in launch.events.meetings:
            found.setdefault(-1 if event.number is None else event.number, []).append(event)
        self.places = {number: tuple(_places(events)) for number, events in found.items()}


def _places(events: Sequence[BarrierEvent]) -> list[Place]:
    depth = max(len(e.loops) for e in events)
    out: list[Place] = []
    for e in events:
        inside = depth > 0 and len(e.loops) == depth
        announced = inside and any(len(o.loops) < depth and o.order < e.order and _may_both(o, e) for o in events)
        around = e.loops[: depth - 1] if inside else e.loops
        out.append(Place(e, around, e.loops[-1] if inside else None, int(announced)))
    return out


def _may_both(one: BarrierEvent, two: BarrierEvent) -> bool:
    """Whether the conditions of two places do not plainly exclude each other. Which it is is no more than a guess."""
    known = {c.condition for c in one.guard}
    return all(E.lnot(c.condition) not in known for c in two.guard)
