"""The truth about one execution: which pairs of accesses are unordered by happens-before.

Barriers order everything their participants did before, and what threads of their group did that have ended, with
everything the participants do after; nothing else orders. The answer does not depend on how the threads were
interleaved between barriers, only on the values they computed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from analyzers.reference.launch import WARP, cluster_of
from analyzers.reference.result import AccessRecord, Divergence, RunResult


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
    """Vector clocks at every point between the barriers of an execution."""

    def __init__(self, result: RunResult, ignore_barriers: frozenset[int] = frozenset()) -> None:
        self.clocks: dict[tuple[int, int], Clock] = {}
        sync: dict[int, int] = {}
        empty: Clock = {}
        current: dict[int, Clock] = {}
        for record in result.syncs:
            joined: Clock = {}
            ordered = [n for n, barrier in record.participants if barrier not in ignore_barriers]
            for n in (*ordered, *(record.ended if ordered else ())):
                for u, seen in current.get(n, empty).items():
                    if seen > joined.get(u, -1):
                        joined[u] = seen
                joined[n] = sync.get(n, 0)
            for n, barrier in record.participants:
                if barrier not in ignore_barriers:
                    current[n] = joined
                sync[n] = sync.get(n, 0) + 1
                self.clocks[n, sync[n]] = current.get(n, empty)

    def ordered(self, a: AccessRecord, b: AccessRecord) -> bool:
        """Whether one of the two happens before the other."""
        after_b = self.clocks.get((b.thread, b.sync))
        if after_b is not None and after_b.get(a.thread, -1) >= a.sync:
            return True
        after_a = self.clocks.get((a.thread, a.sync))
        return after_a is not None and after_a.get(b.thread, -1) >= b.sync


def _covers(scope: str, a: AccessRecord, b: AccessRecord, result: RunResult) -> bool:
    size = result.launch.threads_per_block
    block_a, block_b = a.thread // size, b.thread // size
    if scope in ("grid", "system") or a.thread == b.thread:
        return True
    if scope == "cluster":
        return cluster_of(block_a, result.launch) == cluster_of(block_b, result.launch)
    if scope == "block":
        return block_a == block_b
    return block_a == block_b and a.thread % size // WARP == b.thread % size // WARP


def conflict(a: AccessRecord, b: AccessRecord, result: RunResult) -> bool:
    """Different threads, overlapping bytes, a write, and not two atomics that exclude each other."""
    if a.thread == b.thread or not (a.writes or b.writes):
        return False
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


def _place(a: AccessRecord, b: AccessRecord) -> tuple[int, ...]:
    """Smaller is easier to read: the first threads, the first cell."""
    return (a.thread + b.thread, a.thread, max(a.offset, b.offset), a.epoch, b.epoch, a.sync, b.sync)


def _buckets(accesses: Iterable[AccessRecord]) -> dict[tuple[str, int, int], list[AccessRecord]]:
    """Accesses by 8-byte cell; of those that agree in everything that matters for a race, one is kept."""
    buckets: dict[tuple[str, int, int], dict[tuple[object, ...], AccessRecord]] = {}
    for a in accesses:
        identity = (a.event, a.thread, a.sync, a.offset, a.width, a.value)
        for cell in range(a.offset >> 3, (a.offset + a.width - 1 >> 3) + 1):
            buckets.setdefault((a.object, a.instance, cell), {}).setdefault(identity, a)
    return {cell: list(found.values()) for cell, found in buckets.items()}


def _shared_bytes(a: AccessRecord, b: AccessRecord) -> range:
    return range(max(a.offset, b.offset), min(a.offset + a.width, b.offset + b.width))


def _same_value(a: AccessRecord, b: AccessRecord) -> bool:
    """Both are writes that leave equal bits in the bytes they share."""
    if a.kind != "write" or b.kind != "write":
        return False
    common = _shared_bytes(a, b)
    mask = (1 << 8 * len(common)) - 1
    return (a.value >> 8 * (common.start - a.offset) & mask) == (b.value >> 8 * (common.start - b.offset) & mask)


def races(
    result: RunResult,
    ignore_barriers: frozenset[int] = frozenset(),
    warp_lockstep: bool = False,
) -> list[ConcreteRace]:
    """All races of an execution, as if the barriers named did not exist.

    ``warp_lockstep`` drops pairs of one warp unless they are one instruction of one iteration."""
    order = HappensBefore(result, ignore_barriers)
    found: dict[tuple[int, int, str, bool], tuple[AccessRecord, AccessRecord]] = {}
    harmful: set[tuple[int, int, str, bool]] = set()
    for bucket in _buckets(result.accesses).values():
        if not any(a.writes for a in bucket):
            continue
        here: list[tuple[tuple[int, int, str, bool], AccessRecord, AccessRecord]] = []
        for i, a in enumerate(bucket):
            for b in bucket[:i]:
                if not conflict(a, b, result) or order.ordered(a, b):
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
