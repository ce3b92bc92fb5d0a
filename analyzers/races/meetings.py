"""Barriers where threads come together from several places: which round a place belongs to.

Takes the places of a kernel (`KernelEvents.meetings`): those of a number, and those of barriers in memory. A place in a
loop belongs to a round in each iteration, one outside of it to one round. What threads come to behind another place
outside of loops belongs to the rounds behind that: they announce themselves before their loop. Barriers that are taken
in turn (``full[i % 4]``) have their rounds in common: round r is a phase of the barrier r % 4. A wait for a token
belongs to the round of the arrival that the token is from; one for a parity to the round whose phase has it. Loops in
loops have no such rounds.

All this is a guess from where places stand. `barriers.meetings` asks whether the threads of a group keep to these
rounds, and `ordering` what that orders.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from analyzers.ir import expr as E
from analyzers.ir.events import ARRIVAL, BarrierEvent
from analyzers.ir.expr import I64, Expr
from analyzers.races.threads import Launch, Mode

MAX_AHEAD = 1 << 16
"""What is added to the counter of a loop, at most: greater numbers may stand for negative ones."""
_COUNTED = 32
"""Bits that counters of loops fit into."""
_BARRIER = 8
"""Bytes of a barrier in memory."""


@dataclass(frozen=True, slots=True)
class InMemory:
    """Barriers in memory that are taken in turn, or a single one."""

    memory: str
    """The object that they are in."""
    offset: int
    """Of the first one, in bytes."""
    size: int = 1

    def __str__(self) -> str:
        return f"`{self.memory}`"


Key: TypeAlias = int | InMemory
"""A number, or barriers in memory."""


@dataclass(frozen=True, slots=True)
class Meeting:
    """A place where threads come to a barrier."""

    event: BarrierEvent
    loop: str | None
    """The loop whose iterations are the rounds."""
    shift: int
    """The round of its first iteration; outside of loops the only one."""
    stride: int = 1
    """Rounds in an iteration."""

    @property
    def arrives(self) -> bool:
        return self.event.half != "wait"

    @property
    def waits(self) -> bool:
        return self.event.half != "arrive"

    def round(self, launch: Launch, thread: int, mode: Mode) -> Expr:
        """The round that a thread comes to in an iteration, by the counter of the loop; I64."""
        if self.loop is None:
            return E.const(self.shift, I64)
        return self.round_in(launch.side(launch.events.loops[self.loop].counter, thread, mode))

    def round_in(self, turn: Expr) -> Expr:
        """The round of an iteration of its loop; I64."""
        return moved(turn if self.stride == 1 else E.mul(turn, E.const(self.stride, I64)), self.shift)

    def comes(self, launch: Launch, conditions: Sequence[Expr], thread: int, mode: Mode, at: Expr) -> list[Expr]:
        """The conditions for a thread (renamed) of coming there, as those of the round ``at``."""
        if self.loop is None:
            return [*conditions, E.compare("eq", at, E.const(self.shift, I64))]
        behind, stride = moved(at, -self.shift), E.const(self.stride, I64)
        turn = behind if self.stride == 1 else E.binary("div", behind, stride)
        counter = launch.side(launch.events.loops[self.loop].counter, thread, mode)
        there = [E.substitute(c, {counter: turn}) for c in conditions]
        if self.stride > 1:
            there.append(E.compare("eq", E.binary("rem", behind, stride), E.const(0, I64)))
        return [E.compare("le", E.const(0, I64), behind), *there]

    def is_behind(self, other: Meeting, rounds: int) -> bool:
        """Whether a thread that comes to both comes here so many rounds later (or earlier) than to the other, and
        behind it."""
        if self.loop != other.loop:
            return self.event.order > other.event.order
        apart = rounds - self.shift + other.shift if self.loop is not None else 0
        if apart % self.stride:
            return True  # nobody comes to both so
        return apart > 0 or (apart == 0 and self.event.order > other.event.order)


def moved(number: Expr, by: int) -> Expr:
    """The number and so many more."""
    return E.add(number, E.const(by, I64)) if by else number


@dataclass(slots=True)
class Meetings:
    """The places of one launch by their barrier; for `Launch.once`."""

    launch: Launch
    places: dict[Key, tuple[Meeting, ...]] = field(init=False, default_factory=dict[Key, "tuple[Meeting, ...]"])
    members: dict[Key, Expr] = field(init=False, default_factory=dict[Key, Expr])
    """Who comes to a barrier of some threads, where coordinates tell it and as many do."""
    unclear: list[tuple[BarrierEvent, str]] = field(init=False, default_factory=list["tuple[BarrierEvent, str]"])
    """Places that have no rounds, and why."""

    def __post_init__(self) -> None:
        copies = Counter(e.id for e in self.launch.events.meetings)
        for e in self.launch.events.meetings:
            if e.phase is not None and e.half != "wait" and copies[e.id] > 1:
                # Of a loop that was unrolled: by its token an arrival could be any of them.
                self.unclear.append((e, "a barrier in memory in a loop that was written out"))
        found: dict[Key, list[tuple[BarrierEvent, int]]] = {}
        seats = [(e, s) for e in self.launch.events.meetings if (s := self._seat(e)) is not None]
        rows = {key for _, (key, _) in seats}
        for event, (key, first) in seats:
            row = _row_of(key, rows)
            if row != key and event.loops:
                self.unclear.append((event, f"the same one of barriers of {key} that are taken in turn elsewhere"))
            elif row is None:
                self.unclear.append((event, f"barriers of {key} are taken in turn in several ways"))
            else:
                found.setdefault(row, []).append((event, first + (_number_in(row, key) or 0)))
        for key, events in found.items():
            self.places[key] = tuple(self._places(key, events))
        found_members = {key: self._members(key) for key in self.places}
        self.members = {key: members for key, members in found_members.items() if members is not None}

    def same_group(self, key: Key, mode: Mode) -> Expr:
        """That both threads (renamed) are of those that a barrier is for."""
        members = self.members.get(key)
        if members is not None:
            return E.land(*(self.launch.side(members, t, mode) for t in (1, 2)))
        size = self._size(key)
        return E.TRUE if size is None else self.launch.same_in_units(mode, 0, size)

    def in_rows(self) -> list[BarrierEvent]:
        """The places of barriers that are for so many threads in a row."""
        rows = [key for key in self.places if key not in self.members and self._size(key) is not None]
        return [place.event for key in rows for place in self.places[key]]

    def _size(self, key: Key) -> int | None:
        return self.places[key][0].event.tile

    def _members(self, key: Key) -> Expr | None:
        """A condition on coordinates that just so many threads meet as the barrier is for, all that come to it among
        them."""
        size = self._size(key)
        if size is None:
            return None
        ways: list[Expr] = []
        for place in self.places[key]:
            bound = [self.launch.bind(c.condition) for c in place.event.guard]
            if place.arrives:
                ways.append(E.land(*(c for c in bound if E.symbols(c) <= set(E.TID))))
        found = E.lor(*ways)
        held = self.launch.by_number(found)
        if held is None or int(held.sum()) != size:
            return None
        # Whole warps come to a number (PTX ISA, "bar").
        whole = not isinstance(key, int) or self.launch.agree_in_warps(found)
        return found if whole else None

    def _seat(self, event: BarrierEvent) -> tuple[Key, int] | None:
        """Which barriers it is one of, and which one in the first iteration."""
        if event.phase is None:
            return event.number or 0, 0
        seat = None
        if event.phase.root.op == "addr":
            seat = _in_turn(event.phase.root.value, self.launch.bind(event.phase.offset), self._counter(event))
        if seat is None:
            self.unclear.append((event, "a barrier in memory whose place is not told by the iteration alone"))
        return seat

    def _counter(self, event: BarrierEvent) -> Expr | None:
        return self.launch.events.loops[event.loops[-1]].counter if event.loops else None

    def _places(self, key: Key, events: Sequence[tuple[BarrierEvent, int]]) -> Iterator[Meeting]:
        size = size_of(key)
        arriving = [(e, first) for e, first in events if e.half != "wait"]
        strides: dict[str | None, int] = {}
        for e, _ in arriving if size == 1 else ():
            if e.loops:
                own = 1 + _number_in_turn(e, [o for o, _ in arriving])
                strides[e.loops[-1]] = max(own, strides.get(e.loops[-1], 1))
        known: dict[int, Meeting] = {}
        for e, first in arriving:
            before = [at for o, at in arriving if not o.loops and o.order < e.order and may_both(o, e)]
            shift, loop = first + size * before.count(first), e.loops[-1] if e.loops else None
            if loop is not None and size == 1:
                shift += _number_in_turn(e, [o for o, _ in arriving])
            known[e.id] = place = Meeting(e, loop, shift, strides.get(loop, 1))
            yield place
        for e, first in events:
            if e.half != "wait" or e.phase is None or e.phase.awaited is None:
                continue
            awaited = self.launch.bind(e.phase.awaited)
            loop = e.loops[-1] if e.loops else None
            stride = strides.get(loop, 1)
            if e.phase.parity:
                # Otherwise for the one before it: at first there is none, and it does not wait.
                shift = first - (0 if _has_parity(awaited, self._counter(e), 0) else size)
            else:
                told = (self._of_token(e, leaf, known, stride) for leaf in _leaves(awaited))
                shift = next((s for s in told if s is not None), first)
            if (shift - first) % size:
                self.unclear.append((e, f"a wait at one of {key} for what was got from another one"))
            yield Meeting(e, loop, shift, stride)

    def _of_token(self, event: BarrierEvent, token: Expr, known: Mapping[int, Meeting], stride: int) -> int | None:
        """The round that a wait is for in its first iteration, by the token in a later one."""
        at = round_of(token, known)
        counter = self._counter(event)
        if at is None:
            return None
        if counter is None:
            return int(at.value) if at.op == "const" else None
        first = E.sub(at, E.mul(counter, E.const(stride, I64)))
        return int(first.value) if first.op == "const" else None


def _row_of(key: Key, rows: Iterable[Key]) -> Key | None:
    """The barriers that one is taken in turn with, here or elsewhere; None where there are several ways."""
    beside = [row for row in rows if _overlap(row, key)]
    widest = max(beside, key=size_of)
    return widest if all(_number_in(widest, row) is not None for row in beside) else None


def _overlap(one: Key, other: Key) -> bool:
    if not isinstance(one, InMemory) or not isinstance(other, InMemory):
        return one == other
    apart = other.offset - one.offset
    return one.memory == other.memory and -other.size * _BARRIER < apart < one.size * _BARRIER


def _number_in(row: Key, key: Key) -> int | None:
    """Which one in a row a barrier is, or the first of the whole row; None where it is none."""
    if row == key:
        return 0
    if not isinstance(row, InMemory) or not isinstance(key, InMemory) or key.size > 1:
        return None
    apart = key.offset - row.offset
    inside = row.memory == key.memory and apart % _BARRIER == 0 and 0 <= apart < row.size * _BARRIER
    return apart // _BARRIER if inside else None


def size_of(key: Key) -> int:
    """How many barriers are taken in turn."""
    return key.size if isinstance(key, InMemory) else 1


def round_of(token: Expr, arrivals: Mapping[int, Meeting]) -> Expr | None:
    """The round of the arrival that a token is from, over counters of loops; None where that is not known."""
    name = token.value[0] if token.op == "opaque" else ""
    place = arrivals.get(int(name.removeprefix(ARRIVAL))) if name.startswith(ARRIVAL) else None
    if place is None:
        return None
    return E.const(place.shift, I64) if place.loop is None else place.round_in(E.cast(token.args[-1], I64))


def _number_in_turn(event: BarrierEvent, arriving: Iterable[BarrierEvent]) -> int:
    """How often a thread has come to the barrier before, in the iteration in which it comes to a place."""
    earlier = (o for o in arriving if o.loops == event.loops and o.order < event.order)
    return sum(may_both(o, event) for o in earlier)


def _leaves(value: Expr) -> Iterator[Expr]:
    """The values that one may be, the one that is chosen last in front."""
    value = bare(value)
    if value.op == "select":
        for side in value.args[:0:-1]:
            yield from _leaves(side)
    else:
        yield value


def _has_parity(parity: Expr, counter: Expr | None, phase: int) -> bool:
    """Whether a wait in the first iteration is for a phase with the parity of ``phase``, or that is not known."""
    first = parity if counter is None else E.substitute(parity, {counter: E.const(0, I64)})
    return first.op != "const" or int(first.value) % 2 == phase % 2


def _in_turn(memory: str, offset: Expr, counter: Expr | None) -> tuple[InMemory, int] | None:
    """The barriers that a place is one of, and which one it is in the first iteration."""
    fixed, moving = _terms(offset)
    if not moving:
        return InMemory(memory, fixed), 0
    if len(moving) > 1 or counter is None:
        return None
    number = _scaled(moving[0])
    if number is None:
        return None
    size, turn = _remainder(number)
    first, others = _terms(turn)
    if size == 0 or len(others) != 1 or bare(others[0]) is not counter or not 0 <= first < MAX_AHEAD:
        return None
    return InMemory(memory, fixed, size), first % size


def _terms(e: Expr) -> tuple[int, list[Expr]]:
    """A sum as a constant and the rest."""
    e = bare(e)
    if e.op == "const":
        return int(e.value), []
    if e.op != "add":
        return 0, [e]
    parts = [_terms(a) for a in e.args]
    return sum(c for c, _ in parts), [t for _, terms in parts for t in terms]


def _scaled(e: Expr) -> Expr | None:
    """What is multiplied with the size of a barrier."""
    if e.op != "mul":
        return None
    one, other = e.args
    if one.op == "const":
        one, other = other, one
    return bare(one) if other.op == "const" and other.value == _BARRIER else None


def _remainder(e: Expr) -> tuple[int, Expr]:
    """``i % n`` as n and i; 0 for anything else."""
    if e.op in ("rem", "and") and e.args[1].op == "const":
        by = int(e.args[1].value)
        if e.op == "rem" and by > 0:
            return by, e.args[0]
        if e.op == "and" and by > 0 and by & (by + 1) == 0:
            return by + 1, e.args[0]
    return 0, e


def bare(e: Expr) -> Expr:
    """Without conversions to types that counters of loops fit into."""
    while e.op in ("cast", "narrow") and isinstance(e.ty, E.IntType) and e.ty.width >= _COUNTED:
        e = e.args[0]
    return e


def may_both(one: BarrierEvent, two: BarrierEvent) -> bool:
    """Whether the conditions of two places do not plainly exclude each other for one thread, in whatever iterations."""
    known = {c.condition for c in one.guard if _is_lasting(c.condition)}
    return all(E.lnot(c.condition) not in known for c in two.guard)


def _is_lasting(condition: Expr) -> bool:
    """Whether it is the same in all iterations of loops."""
    return not any(s.op == "opaque" or str(s.value).startswith("loop:") for s in E.symbols(condition))
