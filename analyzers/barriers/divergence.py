"""Barriers that some live thread of the group can miss, and barriers that only threads which returned early miss.

Threads that have returned count as arrived, but at a barrier of the grid it is the first thread of each block that
arrives for it: where that one has returned, all blocks wait for ever.

For a barrier under guard g: two threads of the group in equal iterations, one with g true, one live with g false. A
guard whose every condition
is uniform over the group needs no solver.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Final, Literal

from analyzers.barriers.parting import guard_of, parting, that_stayed
from analyzers.ir import expr as E
from analyzers.ir.events import BarrierEvent, Conjunct
from analyzers.ir.expr import I64, Expr
from analyzers.ir.uniformity import is_uniform
from analyzers.races.check import RaceChecker
from analyzers.races.conditions import query_of, split
from analyzers.races.ordering import covers, is_wide
from analyzers.races.precedents import Places, Question
from analyzers.races.threads import WARP, Launch, Mode
from analyzers.solve.query import Answer, Proved, Query, Satisfied, Undecided


@dataclass(frozen=True, slots=True)
class Divergence:
    """Thread 1 reaches ``barrier``; thread 2 of its group does not, because of ``cause``."""

    barrier: BarrierEvent
    cause: Conjunct
    kind: Literal["divergence", "after-exit"]
    mode: Mode
    values: Mapping[Expr, int]


@dataclass
class DivergenceResult:
    found: list[Divergence] = field(default_factory=list[Divergence])
    undecided: list[tuple[BarrierEvent, Undecided]] = field(default_factory=list[tuple[BarrierEvent, Undecided]])


def check_divergence(checker: RaceChecker) -> DivergenceResult:
    """Every barrier of the kernel under the checker's launch context."""
    out = DivergenceResult()
    for barrier in checker.launch.events.barriers:
        if checker.effort.is_spent and out.undecided:
            break
        found: Divergence | None = None
        for mode in _modes(barrier, checker.launch):
            divergence = _divergent(checker, barrier, mode, out)
            found = divergence if divergence is not None and divergence.kind == "divergence" else found or divergence
            if found is not None and found.kind == "divergence":
                break
        if found is not None:
            out.found.append(found)
    return out


def check_exchanges(checker: RaceChecker) -> list[Divergence]:
    """Every exchange of a warp that names lanes which do not come, for nothing but where they stand in the block: a
    thread misses it under a condition on the coordinates of threads, comes to another barrier or exchange that waits
    for the lanes which wait for it, and has no exchange of its own that may be met instead. Lanes that go on to the end
    of the kernel are not waited for any more then. Whether other conditions part a warp, the numbers of a launch or of
    memory may rule out that nobody states, and so may the shape of a block."""
    launch = checker.launch
    known = None not in launch.block and launch.block != (1, 1, 1)
    exchanges = _numbered(launch) if known else []
    conditional = [e for e in exchanges if any(_keeps_lanes_away(launch, c) for c in e.guard)]
    waiting = sorted((*launch.events.barriers, *exchanges), key=lambda e: e.order) if conditional else []
    found = (_missed(checker, exchange, conditional, waiting) for exchange in conditional)
    return [f for f in found if f is not None]


def _missed(
    checker: RaceChecker, exchange: BarrierEvent, others: Sequence[BarrierEvent], waiting: Sequence[BarrierEvent]
) -> Divergence | None:
    """How a thread misses an exchange and comes to one of the barriers and exchanges that are ``waiting``, but to none
    of the ``others`` that may be met instead."""
    launch, guard = checker.launch, guard_of(exchange)
    for i, c in enumerate(guard):
        if not _keeps_lanes_away(launch, c):
            continue
        missing = [*parting(launch, exchange, guard, "warp", i), *covers(launch, exchange, "warp", naming=(1,))]
        around = exchange.loops[: c.depth]
        for other in others:
            if not _are_kept_apart(exchange, other, waiting) and _is_alternative(checker, exchange, other):
                met = [launch.side(x.condition, 2, "warp") for x in guard_of(other)]
                if other.loops == around[: len(other.loops)]:
                    missing.append(E.lnot(E.land(*met)))
                elif _satisfied(checker, exchange, i, [*missing, *met]) is not None:
                    missing.append(E.FALSE)
        for arrival in _arrivals(launch, exchange, c, waiting):
            values = _satisfied(checker, exchange, i, [*missing, *arrival])
            if isinstance(values, Mapping):
                return Divergence(exchange, c, "divergence", "warp", values)
    return None


def _arrivals(
    launch: Launch, exchange: BarrierEvent, cause: Conjunct, waiting: Iterable[BarrierEvent]
) -> list[tuple[Expr, ...]]:
    """The ways in which thread 2, which misses an exchange because of ``cause``, comes to something that waits for
    thread 1: behind it in the same iterations, or later in a loop around the cause."""
    around = exchange.loops[: cause.depth]
    out: dict[tuple[Expr, ...], None] = {}
    for event in waiting:
        met = [launch.side(c.condition, 2, "warp") for c in guard_of(event)]
        met += covers(launch, event, "warp", naming=(2,))
        if event.order > exchange.order:
            out[tuple(met)] = None
        turns = [launch.side(launch.events.loops[label].counter, 2, "warp") for label in event.loops]
        later = [E.sym(f"again:{label}", I64) for label in event.loops]
        for depth in range(len(event.loops)):
            if around[: depth + 1] != event.loops[: depth + 1]:
                break
            known = dict(zip(turns[depth:], later[depth:], strict=True))
            limits = [launch.events.loops[x].limit for x in event.loops[depth:]]
            bounds = [E.compare("lt", turns[depth], later[depth])]
            bounds += [E.compare("le", E.const(0, I64), x) for x in later[depth + 1 :]]
            bounds += [E.compare("le", x, E.const(n, I64)) for x, n in zip(later[depth:], limits, strict=True)]
            out[(*bounds, *(E.substitute(x, known) for x in met))] = None
    return list(out)


def _are_kept_apart(exchange: BarrierEvent, other: BarrierEvent, waiting: Iterable[BarrierEvent]) -> bool:
    """Whether something stands between two exchanges that all who come to one of them come to, and that waits for the
    lanes of both."""
    first, second = sorted((exchange.order, other.order))
    shared = {c.condition for c in guard_of(exchange)} & {c.condition for c in guard_of(other)}
    return any(
        first < e.order < second
        and exchange.loops[: len(e.loops)] == e.loops == other.loops[: len(e.loops)]
        and shared.issuperset(c.condition for c in guard_of(e))
        and _names_all(e, exchange)
        for e in waiting
    )


def _names_all(event: BarrierEvent, exchange: BarrierEvent) -> bool:
    """Whether an event waits for all lanes of a warp that an exchange names, which is one of `_numbered`."""
    if event.scope == "tile":
        return event.tile is None or event.tile % WARP == 0
    if event.scope != "warp" or event.mask is None:
        return event.number is None
    whole = (1 << WARP) - 1
    named = whole if exchange.mask is None else int(exchange.mask.value) & whole
    return event.mask.op == "const" and not named & ~int(event.mask.value)


def _is_alternative(checker: RaceChecker, exchange: BarrierEvent, other: BarrierEvent) -> bool:
    """Whether lanes that miss the one may come to the other conditional one instead: it takes the same lanes for the
    same, and no thread comes to both."""
    if other is exchange or other.mask is not exchange.mask or other.exchange != exchange.exchange:
        return False
    both = [checker.launch.side(c.condition, 1, "warp") for c in (*guard_of(exchange), *guard_of(other))]
    return not isinstance(_satisfied(checker, exchange, -1, both), Mapping)


def _satisfied(
    checker: RaceChecker, exchange: BarrierEvent, index: int, parts: Sequence[Expr]
) -> Mapping[Expr, int] | Undecided | None:
    """Values for which all parts hold; None where there are none."""
    query = query_of(checker.launch, parts, "warp")
    if query is None:
        return None
    if checker.effort.is_spent:
        return checker.effort.reason
    open_part: Undecided | None = None
    for part in split(query):
        places: Places = (exchange.site.span, exchange.scope, index)
        answer = checker.recall.answer(places, ("warp", "diverge"), part) or checker.asker.answer(part)
        if isinstance(answer, Satisfied):
            checker.precedents.add(places, ("warp", "diverge"), answer.values)
            return answer.values
        if isinstance(answer, Undecided):
            open_part = answer
    return open_part


def may_part(checker: RaceChecker, exchange: BarrierEvent, cause: Conjunct) -> bool:
    """Whether a condition may keep lanes of a warp from an exchange that others of it come to; also where that was not
    decided."""
    out, guard = DivergenceResult(), guard_of(exchange)
    return _ask(checker, exchange, guard, "warp", guard.index(cause), live=True, out=out) is not None or bool(
        out.undecided
    )


def _numbered(launch: Launch) -> list[BarrierEvent]:
    """The exchanges of whole warps whose mask is a number."""
    return [e for e in launch.events.exchanges if e.tile is None and (e.mask is None or e.mask.op == "const")]


def _keeps_lanes_away(launch: Launch, c: Conjunct) -> bool:
    """Whether a branch is not taken, or a loop left, for the coordinates of threads and nothing else."""
    if c.kind not in ("branch", "break"):
        return False
    condition = launch.bind(c.condition)
    return not is_uniform(condition, "warp") and _COORDINATES.issuperset(E.symbols(condition))


def comes_by(event: BarrierEvent, exchange: BarrierEvent, cause: Conjunct) -> bool:
    """Whether threads for which a condition on the way to an exchange is false may come to an event behind that, or
    in a later round of a loop around the condition."""
    again = cause.depth > 0 and event.loops[:1] == exchange.loops[:1]
    return (event.order > exchange.order or again) and cause.condition not in (c.condition for c in event.guard)


_COORDINATES: Final = frozenset((*E.TID, *E.BID))


def meets_elsewhere(barrier: BarrierEvent, barriers: Sequence[BarrierEvent]) -> bool:
    """Whether threads that do not come to a barrier may come to another one where its threads wait for them, too: one
    with the same number."""
    if barrier.number is None:
        return False
    others = (0 if other.number is None else other.number for other in barriers if other.id != barrier.id)
    return any(other == barrier.number or other < 0 or barrier.number < 0 for other in others)


def _modes(barrier: BarrierEvent, launch: Launch) -> list[Mode]:
    block: list[Mode] = [] if launch.block == (1, 1, 1) else ["block"]
    if is_wide(barrier):
        return block
    if barrier.scope in ("warp", "tile"):
        return ["warp"] if block else []
    if barrier.scope == "grid":
        return [*block, "grid"]
    if barrier.scope == "cluster" and prod(launch.events.kernel.bounds.cluster or ()) > 1:
        return [*block, "grid"]
    return block


def _divergent(checker: RaceChecker, barrier: BarrierEvent, mode: Mode, out: DivergenceResult) -> Divergence | None:
    group = {"warp": "warp", "block": "block", "grid": "grid"}[mode]
    guard = guard_of(barrier)
    suspects = [
        (i, c)
        for i, c in enumerate(guard)
        if c.kind != "assume" and c not in barrier.formed and not is_uniform(checker.launch.bind(c.condition), group)
    ]
    exits: list[tuple[int, Conjunct]] = []
    for i, c in suspects:
        if c.kind == "return":
            exits.append((i, c))
            continue
        found = _ask(checker, barrier, guard, mode, i, live=True, out=out)
        if found is not None:
            return Divergence(barrier, c, "divergence", mode, found)
    if mode == "grid" and barrier.scope == "grid":
        for i, c in exits:
            found = _ask(checker, barrier, guard, mode, i, live=False, out=out, first=True)
            if found is not None:
                return Divergence(barrier, c, "divergence", mode, found)
    for i, c in exits:
        found = _ask(checker, barrier, guard, mode, i, live=False, out=out)
        if found is not None:
            return Divergence(barrier, c, "after-exit", mode, found)
    return None


def _ask(
    checker: RaceChecker,
    barrier: BarrierEvent,
    guard: Sequence[Conjunct],
    mode: Mode,
    index: int,
    live: bool,
    out: DivergenceResult,
    first: bool = False,
) -> Mapping[Expr, int] | None:
    """Thread 1 executes the barrier; thread 2 follows the same way up to a condition, which is false for it. `first`:
    it is the first one of its block."""
    launch = checker.launch
    parts = parting(launch, barrier, guard, mode, index)
    if mode == "warp" or is_wide(barrier) or barrier.scope == "cluster":
        parts += covers(launch, barrier, mode)
    if first:
        parts += [E.compare("eq", E.cast(launch.side(tid, 2, mode), I64), E.const(0, I64)) for tid in E.TID]
    places: Places = (barrier.site.span, barrier.scope, index)
    question: Question = (mode, "miss" if first else "diverge")

    def ask(asked: Sequence[Expr]) -> Mapping[Expr, int] | None:
        query = query_of(launch, asked, mode)
        if query is None:
            return None
        if checker.effort.is_spent:
            out.undecided.append((barrier, checker.effort.reason))
            return None
        answer = _answer(checker, places, question, query)
        if isinstance(answer, Undecided):
            out.undecided.append((barrier, answer))
        if not isinstance(answer, Satisfied):
            return None
        if _mask_is_known(launch, barrier):
            return answer.values
        if live:
            text = "whether the threads that a mask names all reach the barrier: its value is not known"
            out.undecided.append((barrier, Undecided("unknown-mask", text)))
        return None

    values, certain = that_stayed(launch, barrier, guard, mode, parts, ask)
    if values is not None:
        checker.precedents.add(places, question, values)
    elif not certain:
        text = "too many of those that do had left a loop around it before, or the loop goes round too often"
        out.undecided.append((barrier, Undecided("budget", text)))
    return values


def _answer(checker: RaceChecker, places: Places, question: Question, query: Query) -> Answer | None:
    """The first answer that is not a proof, of the parts of a question; None where all are proofs."""
    for part in split(query):
        answer = checker.recall.answer(places, question, part) or checker.asker.answer(part)
        if not isinstance(answer, Proved):
            return answer
    return None


def _mask_is_known(launch: Launch, barrier: BarrierEvent) -> bool:
    """The lanes a barrier names follow from the thread's coordinates alone."""
    if barrier.mask is None:
        return True
    found = E.symbols(launch.bind(barrier.mask))
    return not any(s.op == "opaque" or str(s.value).startswith(("param:", "host:")) for s in found)
