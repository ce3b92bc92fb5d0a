"""Numbers of barriers where threads come together from several places: which round of its number a place belongs to.

Takes the places of a kernel (`KernelEvents.meetings`). A place in a loop belongs to a round in each iteration, one
outside of it to the first round of all. Where threads announce themselves before their loop, what they come to in the
loop belongs to the rounds behind that. Loops in loops have no such rounds. `barriers.meetings` asks whether the threads
of a group keep to these rounds, and `ordering` what that orders.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analyzers.ir import expr as E
from analyzers.ir.events import BarrierEvent
from analyzers.ir.expr import I64, Expr
from analyzers.races.threads import Launch, Mode


@dataclass(frozen=True, slots=True)
class Meeting:
    """A place where threads come to a number."""

    event: BarrierEvent
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

    def comes(self, launch: Launch, conditions: Sequence[Expr], thread: int, mode: Mode, at: Expr) -> list[Expr]:
        """The conditions for a thread (renamed) of coming there, as those of the round ``at``."""
        if self.loop is None:
            return [*conditions, E.compare("eq", at, E.const(0, I64))]
        turn = moved(at, -self.shift)
        counter = launch.side(launch.events.loops[self.loop].counter, thread, mode)
        there = [E.substitute(c, {counter: turn}) for c in conditions]
        return [E.compare("le", E.const(0, I64), turn), *there]

    def is_behind(self, other: Meeting, rounds: int) -> bool:
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
        found: dict[int | None, list[BarrierEvent]] = {}
        for event in launch.events.meetings:
            found.setdefault(event.number, []).append(event)
        self.places = {number: tuple(_places(events)) for number, events in found.items()}


def _places(events: Sequence[BarrierEvent]) -> list[Meeting]:
    out: list[Meeting] = []
    for e in events:
        announced = e.loops and any(not o.loops and o.order < e.order and may_both(o, e) for o in events)
        out.append(Meeting(e, e.loops[-1] if e.loops else None, int(bool(announced))))
    return out


def may_both(one: BarrierEvent, two: BarrierEvent) -> bool:
    """Whether the conditions of two places do not plainly exclude each other for one thread."""
    known = {c.condition for c in one.guard}
    return all(E.lnot(c.condition) not in known for c in two.guard)
