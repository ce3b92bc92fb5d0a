"""Threads that wait for each other: barriers of every scope and warp exchanges, and who misses them.

A waiting thread belongs to one *group*: all threads that the barrier names. The group is released when every member
that has not ended has arrived. When nothing else can go on, incomplete groups are released by force and the divergence
is recorded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from analyzers.ir import kernel as k
from analyzers.reference.evaluate import Frame, arbitrary
from analyzers.reference.exchange import exchange, of_block, takes_mask
from analyzers.reference.launch import WARP
from analyzers.reference.phases import Phases
from analyzers.reference.program import Place, Program, position
from analyzers.reference.result import Divergence, FenceRecord, RunResult, SyncRecord

GroupKey = tuple[Any, ...]


@dataclass(slots=True)
class Wait:
    """What a thread waits at."""

    event: int
    place: Place
    statement: k.Barrier | k.Collective
    arguments: Sequence[Any] = ()
    """Of a collective, without its mask; of a reducing barrier, the operand."""
    seed: int = 0


@dataclass(slots=True)
class Thread:
    """One thread. ``number`` counts over the whole grid, ``rank`` within the block."""

    number: int
    block: int
    rank: int
    cluster: int
    frame: Frame
    pc: int = 0
    sync: int = 0
    epoch: int = 0
    warp_epoch: int = 0
    draws: int = 0
    ended: Place | None = None
    wait: Wait | None = None

    @property
    def lane(self) -> int:
        return self.rank % WARP


@dataclass(slots=True)
class _Group:
    key: GroupKey
    scope: str
    members: frozenset[int]
    size: int = 0
    """Arrivals that complete a meeting."""
    arrived: list[Thread] = field(default_factory=list[Thread])
    announced: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """(thread, interval that ended so) of those that arrived and went on."""


_FORCE_ORDER = ("collective", "warp", "tile", "meeting", "block", "cluster", "grid")


class Groups:
    """All groups that somebody waits in."""

    def __init__(self, threads: list[Thread], program: Program, result: RunResult) -> None:
        self.threads = threads
        self.program = program
        self.result = result
        self.waiting: dict[GroupKey, _Group] = {}
        self.phases = Phases(threads, result)
        self.ended = set[int]()
        self.by_block: dict[int, list[int]] = {}
        self.seen: set[tuple[Any, ...]] = set()
        for t in threads:
            self.by_block.setdefault(t.block, []).append(t.number)

    # --- arrival ----------------------------------------------------------------------------------------------

    def _lanes(self, t: Thread, mask: int) -> list[int]:
        """The threads that a mask names; a caller that leaves itself out waits for nobody."""
        if not mask >> t.lane & 1:
            self.result.undefined.add("mask-without-caller")
            return [t.number]
        first = t.number - t.lane
        members = [first + lane for lane in range(WARP) if mask >> lane & 1]
        return [m for m in members if m < len(self.threads) and self.threads[m].block == t.block]

    def _tile(self, t: Thread, size: int) -> list[int]:
        """The threads of the tile of ``size`` that one is in."""
        first = t.rank // size * size
        return self.by_block[t.block][first : first + size]

    def _members(self, t: Thread, s: k.Barrier, mask: int) -> tuple[GroupKey, Iterable[int]]:
        block = self.by_block[t.block]
        if s.scope == "block":
            return ("block", t.block), block
        if s.scope == "grid":
            return ("grid",), range(len(self.threads))
        if s.scope == "cluster":
            return ("cluster", t.cluster), [u.number for u in self.threads if u.cluster == t.cluster]
        if _is_counted(s):
            return ("meeting", t.block, s.number), block
        if s.scope == "tile":
            size = s.tile or WARP
            return ("tile", t.block, size, t.rank // size), self._tile(t, size)
        lanes = self._lanes(t, mask)
        return ("warp", t.block, mask, s.number, *lanes), lanes

    def arrive_barrier(self, t: Thread, s: k.Barrier, place: Place, mask: int, contribution: Any) -> None:
        key, members = self._members(t, s, mask)
        t.wait = Wait(s.id, place, s, (contribution,))
        self._join(key, "meeting" if _is_counted(s) else s.scope, members, t, s.tile or 0)

    def announce(self, t: Thread, s: k.Barrier) -> None:
        """The thread arrives at a meeting and goes on; what it does then is another interval."""
        key, members = self._members(t, s, 0)
        self._group(key, "meeting", members, t, s.tile or 0).announced.append((t.number, t.sync))
        self.result.syncs.append(FenceRecord(t.number))
        t.sync += 1

    def come_to_phase(self, t: Thread, s: k.Barrier, place: Place, address: int, awaited: int) -> None:
        """The thread arrives at a barrier in memory, waits there, or both."""
        assert s.phase is not None
        count = s.tile or len(self.by_block[t.block])
        if s.half != "wait":
            awaited = self.phases.arrive(t, address, count)
            if s.phase.token is not None:
                t.frame[s.phase.token] = awaited
        if s.half == "arrive":
            return
        parity = s.phase.parity and s.half == "wait"
        if not self.phases.wait(t, address, count, s.id, awaited, parity=parity):
            t.wait = Wait(s.id, place, s)

    def arrive_collective(self, t: Thread, s: k.Collective, place: Place, arguments: list[Any], seed: int) -> None:
        mask = 0xFFFFFFFF
        if takes_mask(s.name) and arguments:
            mask = int(arguments.pop(0)) & 0xFFFFFFFF
        t.wait = Wait(s.id, place, s, arguments, seed)
        if of_block(s.name):
            lanes = self.by_block[t.block]
        elif s.group is not None:
            lanes = self._tile(t, s.group)
        else:
            lanes = self._lanes(t, mask)
        self._join(("collective", t.block, mask, s.id, *lanes), "collective", lanes, t)

    def _join(self, key: GroupKey, scope: str, members: Iterable[int], t: Thread, size: int = 0) -> None:
        self._group(key, scope, members, t, size).arrived.append(t)

    def _group(self, key: GroupKey, scope: str, members: Iterable[int], t: Thread, size: int) -> _Group:
        group = self.waiting.get(key)
        if group is None:
            group = self.waiting[key] = _Group(key, scope, frozenset(members) | {t.number}, size)
        return group

    # --- release ----------------------------------------------------------------------------------------------

    def settle(self, t: Thread) -> list[Thread]:
        """The threads that can go on now that ``t`` has begun to wait or has ended."""
        released: list[Thread] = []
        if t.ended is not None:
            self.ended.add(t.number)
        elif t.wait is None:  # it has announced itself
            released.append(t)
        for group in list(self.waiting.values()):
            if t.number in group.members and self._is_complete(group):
                released += self._release(group, forced=False)
        released += self.phases.released
        self.phases.released.clear()
        return released

    def _is_complete(self, group: _Group) -> bool:
        """Those that have ended count as having arrived, but not at a meeting, which counts arrivals."""
        if group.scope == "meeting":
            return len(group.arrived) + len(group.announced) >= group.size
        return len(group.arrived) >= len(group.members) - len(group.members & self.ended)

    def force(self) -> list[Thread]:
        """Release one incomplete group, the smallest kind first; nothing when nobody waits. Groups whose missing
        threads wait somewhere before them come last: those may yet come, once they are released themselves."""
        waiting = [group for group in self.waiting.values() if group.arrived]
        if not waiting:
            return self.phases.force()
        group = min(waiting, key=lambda g: (self._may_be_met(g), _FORCE_ORDER.index(g.scope), str(g.key)))
        return self._release(group, forced=True)

    def _may_be_met(self, group: _Group) -> bool:
        """Whether every thread that is missing waits somewhere before one that has arrived."""
        missing = (self.threads[m] for m in group.members - self.ended)
        places = [t.wait.place for t in group.arrived if t.wait is not None]
        return all(
            any(position(self.program, t.wait.place, here) == "before" for here in places)
            for t in missing
            if t.wait is not None and t.wait.place not in places
        )

    def _release(self, group: _Group, forced: bool) -> list[Thread]:
        del self.waiting[group.key]
        arrived = sorted(group.arrived, key=lambda t: t.number)
        if arrived and (forced or group.scope != "meeting"):
            self._check(group, arrived, forced)
        late = self._not_yet(group, arrived)
        if late:
            group.arrived = late
            self.waiting[group.key] = group
            arrived = [t for t in arrived if t not in late]
        if group.scope == "collective":
            self._exchange(arrived)
        else:
            self._synchronise(group, arrived)
        for t in arrived:
            t.wait = None
        return arrived

    def _not_yet(self, group: _Group, arrived: list[Thread]) -> list[Thread]:
        """Where threads of a block wait at different barriers, the barrier that comes first in the program is released
        alone: its threads may yet come to the others."""
        if group.scope not in ("block", "cluster", "grid"):
            return []
        places = {t.wait.place: t.wait.place for t in arrived if t.wait is not None}
        first = min(places, key=lambda p: (p.operation, p.iterations))
        for place in places:
            if position(self.program, place, first) == "before":
                first = place
        here = next(t.wait for t in arrived if t.wait is not None and t.wait.place == first)
        return [t for t in arrived if t.wait is not None and t.wait.place != first and not _meet(t.wait, here)]

    def _synchronise(self, group: _Group, arrived: list[Thread]) -> None:
        participants: list[tuple[int, int]] = []
        contributions: list[Any] = []
        for t in arrived:
            assert t.wait is not None
            participants.append((t.number, t.wait.event))
            if isinstance(t.wait.statement, k.Barrier) and t.wait.statement.reduce is not None:
                contributions.append(1 if t.wait.arguments[0] else 0)
        ended = [m for m in sorted(group.members) if self.threads[m].ended is not None]
        if group.scope == "meeting":
            ended.clear()
        self.result.syncs.append(SyncRecord(group.scope, tuple(participants), tuple(ended), tuple(group.announced)))
        for t in arrived:
            t.sync += 1
            if group.scope in ("warp", "tile"):
                t.warp_epoch += 1
            else:
                t.epoch += 1
            statement = t.wait.statement if t.wait is not None else None
            if isinstance(statement, k.Barrier) and statement.reduce is not None:
                kind, _, target = statement.reduce
                results = {"and": int(all(contributions)), "or": int(any(contributions)), "count": sum(contributions)}
                t.frame[target] = results[kind]

    def _exchange(self, arrived: list[Thread]) -> None:
        wait = arrived[0].wait
        assert wait is not None
        s = wait.statement
        assert isinstance(s, k.Collective)
        number = {t.number: t.rank if of_block(s.name) else t.lane for t in arrived}
        lanes = {number[t.number]: t.wait.arguments for t in arrived if t.wait is not None}

        def garbage(lane: int) -> Any:
            return arbitrary(s.ty, wait.seed, s.id, lane)

        results = exchange(s.name, lanes, s.ty, garbage)
        for t in arrived:
            at = number[t.number]
            t.frame[s.var] = garbage(at) if results is None else results[at]

    # --- who misses it ----------------------------------------------------------------------------------------

    def _check(self, group: _Group, arrived: list[Thread], forced: bool) -> None:
        first = arrived[0]
        assert first.wait is not None
        wide = group.scope in ("block", "cluster", "grid")
        if wide:
            for t in arrived[1:]:
                self._compare(group.scope, first, t)
                self._compare(group.scope, t, first)
        for number in sorted(group.members):
            t = self.threads[number]
            if t.ended is not None:
                if number in self.result.stopped:
                    continue
                # To return in the other branch is to return early: ``if (c) { barrier } else return;``
                if position(self.program, t.ended, first.wait.place) == "past":
                    self._record("divergence", group.scope, first, t)
                elif group.scope == "grid" and t.rank == 0 and (other := self._elsewhere(t, arrived)) is not None:
                    # It would have arrived for its block.
                    self._record("divergence", group.scope, other, t)
                elif wide:
                    self._record("after-exit", group.scope, first, t)
            elif forced and t not in arrived and t.wait is not None and not self._unmasked(first.wait.statement):
                self._compare(group.scope, first, t)

    def _elsewhere(self, t: Thread, arrived: Iterable[Thread]) -> Thread | None:
        """One that waits in another block."""
        return next((u for u in arrived if u.block != t.block), None)

    def _compare(self, scope: str, waiting: Thread, other: Thread) -> None:
        """One misses the barrier of the other unless it waits somewhere before it and may yet come."""
        assert waiting.wait is not None
        assert other.wait is not None
        here, there = waiting.wait.place, other.wait.place
        if here != there and not _meet(waiting.wait, other.wait) and position(self.program, there, here) != "before":
            self._record("divergence", scope, waiting, other)

    def _unmasked(self, s: k.Barrier | k.Collective) -> bool:
        """The old exchanges without a mask take the lanes that happen to be there."""
        return isinstance(s, k.Collective) and not takes_mask(s.name)

    def _record(self, kind: Any, scope: str, waiting: Thread, missing: Thread) -> None:
        assert waiting.wait is not None
        elsewhere = None if missing.wait is None else missing.wait.event
        identity = (kind, scope, waiting.wait.event)
        if identity in self.seen:
            return
        self.seen.add(identity)
        labels = [label for label, _ in self.program.loops[waiting.wait.place.operation]]
        iterations = tuple(zip(labels, waiting.wait.place.iterations, strict=True))
        self.result.divergences.append(
            Divergence(kind, waiting.wait.event, scope, waiting.number, missing.number, elsewhere, iterations)
        )


def _is_counted(s: k.Barrier) -> bool:
    """Whether so many arrivals at a number complete it, whoever comes."""
    return s.scope == "meeting" or (s.scope == "tile" and s.number is not None)


def _meet(one: Wait, two: Wait) -> bool:
    """Whether two places are of barriers with one number, where those that come to either wait for each other."""
    numbers = {w.statement.number if isinstance(w.statement, k.Barrier) else None for w in (one, two)}
    return len(numbers) == 1 and None not in numbers and min(n for n in numbers if n is not None) >= 0
