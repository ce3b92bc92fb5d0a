"""What threads tell each other through strong accesses: atomics, and volatile loads and stores.

A write carries what its thread did before its latest fence, a read takes it up, and the reading thread has it from its
next fence on (release and acquire patterns of the PTX ISA); an access that is itself a release or an acquire needs no
fence. All scopes on the way must have both threads in them. An atomic that reads and writes passes on what it has read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from analyzers.ir.kernel import Order, Scope
from analyzers.reference.launch import WARP, ConcreteLaunch, cluster_of
from analyzers.reference.result import FenceRecord, RunResult, SignalRecord
from analyzers.reference.synchronise import Thread

RELEASES = ("release", "acq_rel", "seq_cst")
ACQUIRES = ("acquire", "acq_rel", "seq_cst")

Cell = tuple[str, int, int, int]
"""Object, instance, offset, width."""


def covers(scope: Scope, one: int, two: int, launch: ConcreteLaunch) -> bool:
    """Whether two threads, by number, are in one scope."""
    size = launch.threads_per_block
    block, other = one // size, two // size
    if scope in ("grid", "system") or one == two:
        return True
    if scope == "thread":
        return False
    if scope == "cluster":
        return cluster_of(block, launch) == cluster_of(other, launch)
    if scope == "block":
        return block == other
    return block == other and one % size // WARP == two % size // WARP


class Carried(NamedTuple):
    """What a cell tells who reads it: everything up to ``interval`` of ``thread``."""

    thread: int
    interval: int
    scopes: tuple[Scope, ...]
    """All that have to contain both threads."""
    kind: str
    """``released`` behind a fence; ``passed`` on by a thread that has read it, without one; ``written``: nothing but
    the write itself."""


@dataclass(slots=True)
class Mind:
    """What one thread has fenced and read."""

    fences: dict[Scope, int] = field(default_factory=dict[Scope, int])
    """The latest interval that ends with a fence of this scope."""
    read: list[Carried] = field(default_factory=list[Carried])
    """Not yet behind a fence."""
    passed: dict[Carried, None] = field(default_factory=dict[Carried, None])
    """Read at any time."""
    looked: dict[Cell, int] = field(default_factory=dict[Cell, int])
    """The number of the write that a cell was last read after."""


def _with(scopes: tuple[Scope, ...], scope: Scope) -> tuple[Scope, ...]:
    return scopes if scope in scopes else (*scopes, scope)


class Signals:
    """The strong accesses of an execution in progress."""

    def __init__(self, launch: ConcreteLaunch, result: RunResult) -> None:
        self.launch = launch
        self.result = result
        self.cells: dict[Cell, list[Carried]] = {}
        self.writes: dict[Cell, int] = {}
        """How often a cell was written."""
        self.minds: dict[int, Mind] = {}

    def _mind(self, t: Thread) -> Mind:
        return self.minds.setdefault(t.number, Mind())

    def fence(self, t: Thread, scope: Scope, order: Order) -> None:
        """The thread executes a fence."""
        mind = self._mind(t)
        if order in ACQUIRES:
            for told in mind.read:
                if told.kind == "released" and self._reaches(told, (scope,), t):
                    self._receive(t, SignalRecord(told.thread, told.interval, t.number, "acquired"))
        if order in RELEASES:
            mind.fences[scope] = t.sync
        self._next(t, scope if order == "seq_cst" else None)

    def _receive(self, t: Thread, record: SignalRecord) -> None:
        self.result.syncs.append(record)
        t.sync += 1

    def _next(self, t: Thread, sequential: Scope | None) -> None:
        self.result.syncs.append(FenceRecord(t.number, sequential))
        t.sync += 1

    def _reaches(self, told: Carried, scopes: tuple[Scope, ...], t: Thread) -> bool:
        return all(covers(s, told.thread, t.number, self.launch) for s in (*told.scopes, *scopes))

    def read(self, t: Thread, cell: Cell, scope: Scope, order: Order) -> None:
        """The thread reads a cell by a strong access."""
        mind = self._mind(t)
        if mind.looked.get(cell) == self.writes.get(cell, 0):
            return
        mind.looked[cell] = self.writes.get(cell, 0)
        told = [c for c in self.cells.get(cell, ()) if c.thread != t.number and self._reaches(c, (scope,), t)]
        for c in told:
            c = c._replace(scopes=_with(c.scopes, scope))
            if c in mind.passed:
                continue
            mind.passed[c] = None
            mind.read.append(c)
            if c.kind == "released" and order in ACQUIRES:
                self._receive(t, SignalRecord(c.thread, c.interval, t.number, "acquired"))
            elif c.kind == "written":
                self.result.syncs.append(SignalRecord(c.thread, c.interval, t.number, "observed"))
            else:
                self._receive(t, SignalRecord(c.thread, c.interval, t.number, "strong"))

    def write(self, t: Thread, cell: Cell, scope: Scope, order: Order, *, keeps: bool) -> None:
        """The thread writes a cell by a strong access. ``keeps``: it has read it in the same step."""
        mind = self._mind(t)
        self.writes[cell] = self.writes.get(cell, 0) + 1
        carried = [Carried(t.number, at, (fenced, scope), "released") for fenced, at in mind.fences.items()]
        passed = [c for c in mind.passed if c.kind != "written"]
        carried += [c._replace(kind="passed", scopes=_with(c.scopes, scope)) for c in passed]
        carried.append(Carried(t.number, t.sync, (scope,), "written"))
        if order in RELEASES:
            carried.append(Carried(t.number, t.sync, (scope,), "released"))
        before = self.cells.get(cell, []) if keeps else []
        latest: dict[tuple[object, ...], Carried] = {}
        for c in (*before, *carried):
            key = (c.thread, c.scopes, c.kind)
            if key not in latest or latest[key].interval < c.interval:
                latest[key] = c
        self.cells[cell] = list(latest.values())
        if order in RELEASES:
            self._next(t, None)

    def overwrite(self, cell: Cell) -> None:
        """A plain write tells nothing."""
        self.cells.pop(cell, None)
