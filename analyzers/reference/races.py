"""The truth about one execution: which pairs of accesses are unordered by happens-before.

Barriers order everything their participants did before, and what threads of their group did that have ended, with
everything the participants do after; so do signals (`signals`), from the fence before the write to the fence behind the
read. Nothing else orders. The answer does not depend on how the threads were interleaved between barriers, only on the
values they computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, combinations_with_replacement, product
from typing import Literal

from analyzers.ir.kernel import Scope
from analyzers.reference.launch import WARP
from analyzers.reference.result import AccessRecord, Divergence, FenceRecord, RunResult, SignalRecord, SyncRecord
from analyzers.reference.signals import covers


@dataclass(frozen=True, slots=True)
class ConcreteRace:
    """Two unordered conflicting accesses, ``first.event <= second.event``; one is kept per pair of events and class."""

    first: AccessRecord
    second: AccessRecord
    scope: Literal["intra-warp", "intra-block", "inter-block"]
    benign: bool
    """Every conflicting pair on the cells both touch writes one value."""
    in_bounds: bool
    """Both accesses stay inside the arrays they name."""

    @property
    def events(self) -> tuple[int, int]:
        return self.first.event, self.second.event

    @property
    def address(self) -> str:
        return f"{self.first.object}+{max(self.first.offset, self.second.offset)}"


Clock = dict[int, int]


class HappensBefore:
    """Vector clocks at every point between the barriers, fences and signals of an execution."""

    def __init__(self, result: RunResult, ignore_barriers: frozenset[int] = frozenset()) -> None:
        self.clocks: dict[tuple[int, int], Clock] = {}
        self.strong: dict[tuple[int, int], Clock] = {}
        """The same for strong accesses, which come after what their thread has read without a fence."""
        self.sync: dict[int, int] = {}
        self.launch = result.launch
        self.fences: dict[int, list[tuple[int, Scope]]] = {}
        """Intervals that end with a sequentially consistent fence, by thread."""
        self.observed: dict[int, list[tuple[int, int, int]]] = {}
        """By thread: the interval of a read, and the thread and interval of the write that was read."""
        self.signalled = any(isinstance(record, SignalRecord) for record in result.syncs)
        for record in result.syncs:
            if isinstance(record, SyncRecord):
                self._barrier(record, ignore_barriers)
            elif isinstance(record, FenceRecord):
                self._fence(record)
            else:
                self._signal(record)

    def _now(self, n: int, clocks: dict[tuple[int, int], Clock]) -> Clock:
        return clocks.get((n, self.sync.get(n, 0)), {})

    def _next(self, n: int, learnt: Clock, learnt_strong: Clock) -> None:
        """The thread begins an interval in which it knows more."""
        known, strong = self._now(n, self.clocks), self._now(n, self.strong)
        self.sync[n] = self.sync.get(n, 0) + 1
        self.clocks[n, self.sync[n]] = _join(known, learnt)
        self.strong[n, self.sync[n]] = _join(strong, learnt, learnt_strong)

    def _barrier(self, record: SyncRecord, ignore_barriers: frozenset[int]) -> None:
        ordered = [n for n, barrier in record.participants if barrier not in ignore_barriers]
        everybody = (*ordered, *(record.ended if ordered else ()))
        joined = _join(
            *(self._now(n, self.clocks) for n in everybody),
            {n: self.sync.get(n, 0) for n in everybody},
            *(self._up_to(n, interval) for n, interval in record.arrivals),
        )
        strong = _join(joined, *(self._now(n, self.strong) for n in everybody)) if self.signalled else joined
        for n, barrier in record.participants:
            if barrier in ignore_barriers:
                self._next(n, {}, {})
            else:
                self.sync[n] = self.sync.get(n, 0) + 1
                self.clocks[n, self.sync[n]], self.strong[n, self.sync[n]] = joined, strong

    def _fence(self, record: FenceRecord) -> None:
        n, learnt = record.thread, {}
        if record.sequential is not None:
            known = {**self._now(n, self.clocks), n: self.sync.get(n, 0)}
            reads = [(w, k) for u, last in known.items() for at, w, k in self.observed.get(u, ()) if at <= last]
            written = _join(*(self._up_to(w, k) for w, k in reads))
            learnt = _join(*(self._up_to(t, at) for t, at in self._fences_in(written, n, record.sequential)))
            self.fences.setdefault(n, []).append((self.sync.get(n, 0), record.sequential))
        self._next(n, learnt, learnt)

    def _up_to(self, thread: int, interval: int) -> Clock:
        return _join(self.clocks.get((thread, interval), {}), {thread: interval})

    def _fences_in(self, clock: Clock, n: int, scope: Scope) -> Iterator[tuple[int, int]]:
        """The latest fence of each thread within ``clock`` that has thread ``n`` in its scope, and is in its."""
        for t, last in clock.items():
            if covers(scope, n, t, self.launch):
                for at, its in reversed(self.fences.get(t, [])):
                    if at <= last and covers(its, t, n, self.launch):
                        yield t, at
                        break

    def _signal(self, record: SignalRecord) -> None:
        if record.kind == "observed":
            at = self.sync.get(record.target, 0)
            self.observed.setdefault(record.target, []).append((at, record.source, record.interval))
            return
        source = self._up_to(record.source, record.interval)
        self._next(record.target, {} if record.kind == "strong" else source, source)

    def ordered(self, a: AccessRecord, b: AccessRecord) -> bool:
        """Whether one of the two happens before the other."""
        return self._before(a, b) or self._before(b, a)

    def _before(self, a: AccessRecord, b: AccessRecord) -> bool:
        clocks = self.clocks if b.scope is None else self.strong
        return clocks.get((b.thread, b.sync), {}).get(a.thread, -1) >= a.sync


def _join(*clocks: Clock) -> Clock:
    """The latest of each thread. Clocks are never changed: of one alone this is itself."""
    first, *others = sorted(filter(None, clocks), key=len, reverse=True) or ({},)
    if not others:
        return first
    out = dict(first)
    for clock in others:
        for thread, interval in clock.items():
            if interval > out.get(thread, -1):
                out[thread] = interval
    return out


def _covers(scope: Scope, a: AccessRecord, b: AccessRecord, result: RunResult) -> bool:
    return covers(scope, a.thread, b.thread, result.launch)


def conflict(a: AccessRecord, b: AccessRecord, result: RunResult) -> bool:
    """Different threads, overlapping bytes, a write, and not two atomics that exclude each other."""
    if a.thread == b.thread or not (a.writes or b.writes):
        return False
    if a.lanes and (a.lanes, a.named) == (b.lanes, b.named):
        return False  # each of the lanes touches bytes of its own
    if a.object != b.object or a.instance != b.instance:
        return False
    if a.offset >= b.offset + b.width or b.offset >= a.offset + a.width:
        return False
    atomic = (
        a.scope is not None
        and b.scope is not None
        and (a.offset, a.width) == (b.offset, b.width)
        and _covers(a.scope, a, b, result)
        and _covers(b.scope, a, b, result)
    )
    return not atomic


def _lockstep(a: AccessRecord, b: AccessRecord) -> bool:
    """Whether lock-step execution orders the two: different instructions, or one in different iterations."""
    return a.event != b.event or a.iterations != b.iterations


def pair_scope(
    a: AccessRecord, b: AccessRecord, result: RunResult
) -> Literal["intra-warp", "intra-block", "inter-block"]:
    size = result.launch.threads_per_block
    if a.thread // size != b.thread // size:
        return "inter-block"
    return "intra-warp" if a.thread % size // WARP == b.thread % size // WARP else "intra-block"


_Iterations = tuple[tuple[str, int], ...]


def _place(a: AccessRecord, b: AccessRecord) -> tuple[tuple[int, ...], _Iterations, _Iterations]:
    """Smaller is easier to read: the first threads, the first cell, the first iterations."""
    where = (a.thread + b.thread, a.thread, max(a.offset, b.offset), a.epoch, b.epoch, a.sync, b.sync)
    return where, a.iterations, b.iterations


def _buckets(accesses: Iterable[AccessRecord]) -> dict[tuple[str, int, int], list[AccessRecord]]:
    """Accesses by 8-byte cell; of those that agree in everything that matters for a race, one is kept."""
    buckets: dict[tuple[str, int, int], dict[tuple[object, ...], AccessRecord]] = {}
    for a in accesses:
        identity = (a.event, a.thread, a.sync, a.offset, a.width, a.value)
        for cell in range(a.offset >> 3, (a.offset + a.width - 1 >> 3) + 1):
            buckets.setdefault((a.object, a.instance, cell), {}).setdefault(identity, a)
    return {cell: list(found.values()) for cell, found in buckets.items()}


def _unlike(bucket: Sequence[AccessRecord], block: int) -> Iterator[tuple[AccessRecord, AccessRecord]]:
    """The pairs that may conflict by their kind: not two reads, nor two atomics on one cell that exclude each other
    whichever threads make them. Many threads count in one cell, and most pairs are of these. ``block``: its threads."""
    kinds: dict[tuple[object, ...], list[AccessRecord]] = {}
    for a in bucket:
        wide = a.scope in ("grid", "system")
        cell = (a.offset, a.width, -1 if wide else a.thread // block) if wide or a.scope == "block" else None
        kinds.setdefault((a.writes, cell), []).append(a)
    for (kind, ones), (other, others) in combinations_with_replacement(kinds.items(), 2):
        (writes, cell), (also_writes, same) = kind, other
        if (writes or also_writes) and (cell is None or cell != same):
            yield from combinations(ones, 2) if ones is others else product(ones, others)


def _shared_bytes(a: AccessRecord, b: AccessRecord) -> range:
    return range(max(a.offset, b.offset), min(a.offset + a.width, b.offset + b.width))


def _same_value(a: AccessRecord, b: AccessRecord) -> bool:
    """Both are writes that leave equal bits in the bytes they share."""
    if a.kind != "write" or b.kind != "write":
        return False
    common = _shared_bytes(a, b)
    mask = (1 << 8 * len(common)) - 1
    return (a.value >> 8 * (common.start - a.offset) & mask) == (b.value >> 8 * (common.start - b.offset) & mask)


def _by_other_lanes(result: RunResult) -> Iterator[AccessRecord]:
    """The accesses that other lanes make for the one that names a row of a matrix, where they come to the same
    statement in the same iterations: the lane itself and two more stand for the four that touch a row."""
    size = result.launch.threads_per_block
    rows: dict[tuple[object, ...], list[AccessRecord]] = {}
    for a in result.accesses:
        if a.lanes:
            warp = (a.thread // size, a.thread % size // WARP)
            rows.setdefault((a.event, a.iterations, warp), []).append(a)
    for together in rows.values():
        for i, a in enumerate(together):
            for peer in (together[i - 1], together[i - 2]):
                if peer is not a:
                    yield a._replace(thread=peer.thread, sync=peer.sync)


def races(
    result: RunResult,
    ignore_barriers: frozenset[int] = frozenset(),
    warp_lockstep: bool = False,
) -> list[ConcreteRace]:
    """All races of an execution, as if the barriers named did not exist.

    ``warp_lockstep`` drops pairs of one warp unless they are one instruction of one iteration."""
    order = HappensBefore(result, ignore_barriers)
    accesses = chain(result.accesses, _by_other_lanes(result))
    found: dict[tuple[int, int, str, bool], tuple[AccessRecord, AccessRecord]] = {}
    harmful: set[tuple[int, int, str, bool]] = set()
    for bucket in _buckets(accesses).values():
        if not any(a.writes for a in bucket):
            continue
        here: list[tuple[tuple[int, int, str, bool], AccessRecord, AccessRecord]] = []
        for a, b in _unlike(bucket, result.launch.threads_per_block):
            if a.thread == b.thread or not conflict(a, b, result) or order.ordered(a, b):
                continue
            scope = pair_scope(a, b, result)
            if warp_lockstep and scope == "intra-warp" and _lockstep(a, b):
                continue
            x, y = (a, b) if (a.event, a.thread) <= (b.event, b.thread) else (b, a)
            here.append(((x.event, y.event, scope, a.in_bounds and b.in_bounds), x, y))
        spoiled = {byte for _, x, y in here if not _same_value(x, y) for byte in _shared_bytes(x, y)}
        for identity, x, y in here:
            if identity not in found or _place(x, y) < _place(*found[identity]):
                found[identity] = (x, y)
            if not spoiled.isdisjoint(_shared_bytes(x, y)):
                harmful.add(identity)
    return [
        ConcreteRace(x, y, pair_scope(x, y, result), identity not in harmful, identity[3])
        for identity, (x, y) in sorted(found.items(), key=lambda item: item[0])
    ]


def divergences(result: RunResult) -> list[Divergence]:
    """Barriers that some thread of their group missed, ``divergence`` before ``after-exit``."""
    return sorted(result.divergences, key=lambda d: (d.kind != "divergence", d.barrier, d.waiting, d.missing))


def orders_nothing(result: RunResult, barrier: int) -> bool:
    """Whether this execution has the same races without the barrier."""

    def pairs(found: list[ConcreteRace]) -> set[tuple[int, int, str]]:
        return {(*r.events, r.scope) for r in found}

    return pairs(races(result)) == pairs(races(result, frozenset({barrier})))
