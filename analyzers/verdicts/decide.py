"""Decide one kernel under one launch context: all races, divergences and redundant barriers, as position-free data.

A ``Decision`` names events by their place in ``KernelEvents``, so it stays valid when the text around the kernel
moves: the report is made from
the decision and the current events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from analyzers.assertions import Assertions, check_assertions
from analyzers.barriers.divergence import Divergence, check_divergence, check_exchanges
from analyzers.barriers.redundancy import KeptApart, redundant
from analyzers.barriers.unnamed import MODE, check_masks
from analyzers.ir import expr as E
from analyzers.ir.context import LaunchContext
from analyzers.ir.events import BarrierEvent, KernelEvents
from analyzers.ir.expr import Expr, symbols
from analyzers.ir.valuation import STAND_INS
from analyzers.model import CheckOptions
from analyzers.races.check import RaceChecker
from analyzers.races.checked import Race
from analyzers.races.conditions import something_changes
from analyzers.races.pairs import Pair, place
from analyzers.races.precedents import Precedents, places_of
from analyzers.races.relations import Missing, Relations
from analyzers.races.threads import WARP, Launch, Mode
from analyzers.races.witness import Concrete, concretize
from analyzers.reference.launch import linear
from analyzers.reference.replay import Way
from analyzers.solve.economy import economical
from analyzers.solve.effort import Effort
from analyzers.solve.ladder import Budget, Ladder
from analyzers.verdicts.replay import (
    ReplayOutcome,
    replay_of_assertion,
    replay_of_divergence,
    replay_of_unnamed,
    replay_race,
)

_REFUTED: Final = "two threads that may miss one another there were executed, and come to the same barriers"

Certainty = Literal["confirmed", "data-dependent", "not-replayed", "not-asked"]


@dataclass(frozen=True, slots=True)
class RaceDecision:
    """Events by index into ``KernelEvents.accesses``."""

    one: int
    two: int
    mode: Mode
    relation: str
    values: Mapping[Expr, int]
    benign: bool
    intra_warp: bool
    certainty: Certainty
    address: int | None
    """Byte offset of the common cell in its object."""
    data_in_address: bool
    wraps: bool = False
    """Only through wrap-around of unsigned arithmetic on sizes the launch does not fix."""
    missing: Missing | None = None
    signalled: bool = False
    """Locks or signals may order the two accesses; it was not proved that they do."""
    ways: tuple[Way, Way] | None = None
    """How the two threads got there when they were executed."""


@dataclass(frozen=True, slots=True)
class DivergenceDecision:
    barrier: int
    kind: Literal["divergence", "after-exit"]
    mode: Mode
    values: Mapping[Expr, int]
    certainty: Certainty
    ways: tuple[Way, Way] | None = None
    """How the two threads got there, and where the second one went."""


@dataclass(frozen=True, slots=True)
class UnnamedDecision:
    """A thread comes to a barrier or an exchange of a warp whose mask does not name its lane."""

    exchange: bool
    event: int
    """Index into ``KernelEvents.exchanges``, or into the barriers."""
    values: Mapping[Expr, int]
    certainty: Certainty
    open: bool
    """It depends on values that the launch does not fix."""


@dataclass(frozen=True, slots=True)
class AssertionDecision:
    """A device assertion that fails for a thread, which was replayed."""

    assertion: int
    """Index into ``KernelEvents.assertions``."""
    values: Mapping[Expr, int]
    open: bool
    """It depends on values that the launch does not fix."""


@dataclass(frozen=True, slots=True)
class Decision:
    races: tuple[RaceDecision, ...] = ()
    divergences: tuple[DivergenceDecision, ...] = ()
    missing_lanes: tuple[DivergenceDecision, ...] = ()
    """Their `barrier` is an index into ``KernelEvents.exchanges``."""
    unnamed: tuple[UnnamedDecision, ...] = ()
    redundant: tuple[int, ...] = ()
    """Indices of barriers."""
    assertions: tuple[AssertionDecision, ...] = ()
    assertions_assumed: bool = False
    """Some device assertion was not proved to hold, and what follows it was checked as if it did."""
    undecided: tuple[tuple[int, int, str, str], ...] = ()
    """(access index, access index, kind, text); (-1, barrier index, ...) for barriers."""
    unasked: tuple[tuple[int, int], ...] = ()
    """Indices of the accesses of pairs that nobody has asked about."""
    unasked_besides: bool = False
    """There may be more of these than are listed."""
    core: frozenset[int] = frozenset()
    used_no_overflow: bool = False
    used_no_wrap: bool = False
    used_alignment: bool = False
    assumed: tuple[str, ...] = ()
    """What the order by locks and signals, and the bounds of allocations, rest on."""
    pairs: int = 0
    rungs: tuple[tuple[str, int], ...] = field(default=())
    effort: int = 0
    """Units of work it took (``analyzers.solve.effort``)."""

    @property
    def open(self) -> list[tuple[int, int]]:
        """Indices of the accesses of pairs that were not decided."""
        return [*((one, two) for one, two, _, _ in self.undecided if one >= 0), *self.unasked]


@dataclass(frozen=True, slots=True)
class Collisions:
    """The races of a decision that was made without executing them, as they were found."""

    decision: Decision
    checker: RaceChecker
    races: tuple[Race, ...]
    """In the order of those of the decision."""
    relations: Relations

    @property
    def spent(self) -> int:
        """Units of work so far."""
        return self.checker.effort.spent + self.relations.effort.spent

    def executed(self, wanted: Callable[[RaceDecision], bool]) -> Decision:
        """The decision with those of the wanted races confirmed that are when they are executed."""
        launch = self.checker.launch
        index = {id(a): i for i, a in enumerate(launch.events.accesses)}

        def one(race: Race, known: RaceDecision) -> RaceDecision:
            if not wanted(known):
                return known
            found = _race(launch, self.checker.in_other_warps(race), index, self.relations, replays=True)
            return found if found.certainty == "confirmed" else known

        races = tuple(one(race, known) for race, known in zip(self.races, self.decision.races, strict=True))
        return replace(self.decision, races=races)


def decide(
    events: KernelEvents,
    context: LaunchContext,
    options: CheckOptions,
    poll: Callable[[], None] = lambda: None,
    limit: int | None = None,
    precedents: Precedents | None = None,
) -> Decision:
    """Everything that can be said of the kernel in this context with ``limit`` units of work (those of
    the options where none is given). ``poll`` is called
    between queries and may raise. ``precedents`` of the kernel's definition gain the races found."""
    return collisions(events, context, options, poll, limit, precedents).decision


def collisions(
    events: KernelEvents,
    context: LaunchContext,
    options: CheckOptions,
    poll: Callable[[], None] = lambda: None,
    limit: int | None = None,
    precedents: Precedents | None = None,
    kept_apart: KeptApart | None = None,
) -> Collisions:
    """The same, and how the races were found. ``kept_apart``: reads that are not among the events."""
    launch = Launch(events, context)
    ladder = Ladder(Budget(smt=options.smt_budget))
    effort = Effort(options.kernel_effort if limit is None else limit)
    checker = RaceChecker(
        launch,
        ladder,
        options.warp_lockstep,
        poll,
        effort,
        precedents or Precedents(),
        wrap_around=options.wrap_around,
        every_pair=options.every_pair,
        apart=options.replays,
    )
    checked = checker.check()
    divergence = check_divergence(checker)
    divergent = {d.barrier.id for d in divergence.found if d.kind == "divergence"}
    assertions = check_assertions(checker)
    unnamed = tuple(_unnamed(checker, options))
    # Behind what is undefined nothing is needed, and nothing useless either.
    wanted = options.redundancy and not divergent and not unnamed
    useless = redundant(checker, checked, kept_apart) if wanted else []
    relations = Relations(launch, options.warp_lockstep, poll, precedents=checker.precedents.under_conditions)
    core, used_no_overflow = economical([*checked.proofs, *assertions.proofs])
    access_index = {id(a): i for i, a in enumerate(events.accesses)}
    barrier_index = {b.id: i for i, b in enumerate(events.barriers)}
    unasked = "not asked, because other pairs on this object collide already"
    undecided = [(access_index[id(p.one)], access_index[id(p.two)], u.kind, u.text) for p, u in checked.undecided] + [
        (-1, barrier_index[b.id], u.kind, u.text) for b, u in divergence.undecided
    ]
    undecided += [
        (access_index[id(p.one)], access_index[id(p.two)], "not-examined", unasked) for p in checked.left_out[:1]
    ]
    missed = [(i := barrier_index[d.barrier.id], _divergence(launch, d, i, options)) for d in divergence.found]
    undecided += [(-1, i, "not-replayed", _REFUTED) for i, d in missed if d is None]
    races = tuple(_settled(checker, checked.races))
    decision = Decision(
        races=tuple(_race(launch, r, access_index, relations, replays=options.replays) for r in races),
        divergences=tuple(d for _, d in missed if d is not None),
        missing_lanes=tuple(_missing_lanes(checker)),
        unnamed=unnamed,
        redundant=tuple(barrier_index[b.id] for b in useless),
        assertions=tuple(_failures(launch, assertions)),
        assertions_assumed=not assertions.all_hold,
        undecided=tuple(undecided),
        unasked=tuple(
            (access_index[id(p.one)], access_index[id(p.two)]) for p in (*checked.left_out[1:], *checked.unasked)
        ),
        unasked_besides=checked.unasked_besides,
        core=core,
        used_no_overflow=used_no_overflow,
        used_no_wrap=checked.used_no_wrap or any(p.used_no_wrap for p in assertions.proofs),
        used_alignment=checked.used_alignment,
        assumed=tuple(sorted(checked.assumed)),
        pairs=checked.pairs,
        rungs=tuple(sorted(ladder.answered.items())),
        effort=effort.spent + relations.effort.spent,
    )
    return Collisions(decision, checker, races, relations)


def recall(events: KernelEvents, decision: Decision, precedents: Precedents) -> None:
    """Add the races of a decision made earlier."""
    for race in decision.races:
        places = places_of(events.accesses[race.one], events.accesses[race.two])
        precedents.add(places, (race.mode, "race"), race.values)


def _settled(checker: RaceChecker, races: list[Race]) -> list[Race]:
    """A same-value race is benign only while nothing else races with its accesses: a concurrent read makes it a
    race."""
    harmful = {id(a) for r in races if not r.benign for a in (r.pair.one, r.pair.two)}

    def spoiled(race: Race) -> bool:
        both = (race.pair.one, race.pair.two)
        return race.benign and all(a.kind == "write" for a in both) and any(id(a) in harmful for a in both)

    return [replace(r, benign=False, wraps=checker.needs_wrap(r)) if spoiled(r) else r for r in races]


def _race(launch: Launch, race: Race, index: Mapping[int, int], relations: Relations, *, replays: bool) -> RaceDecision:
    concrete = concretize(launch, race.values, race.mode, race.query.conjuncts)
    outcome = replay_race(launch, race, concrete) if replays else ReplayOutcome("not-asked")
    certainty: Certainty = outcome.certainty
    if certainty == "data-dependent" and race.pair.one.root.op == "opaque" and not _data(race):
        certainty = "confirmed"
    if certainty == "confirmed" and _may_fail(launch, race):
        certainty = "data-dependent"
    definite = certainty == "confirmed" and not race.benign and not race.wraps
    return RaceDecision(
        one=index[id(race.pair.one)],
        two=index[id(race.pair.two)],
        mode=race.mode,
        relation=race.case.relation,
        values=dict(race.values),
        benign=race.benign,
        intra_warp=race.mode in ("warp", "thread") or (race.mode == "block" and _same_warp(concrete)),
        certainty=certainty,
        address=outcome.address,
        data_in_address=any(
            s.op == "opaque" for a in (race.pair.one, race.pair.two) for s in _opaque(place(launch, a).offset)
        ),
        wraps=race.wraps,
        missing=relations.missing(race) if definite else None,
        signalled=race.signalled or (definite and _may_be_signalled(launch.events, race.pair)),
        ways=outcome.ways,
    )


def _may_fail(launch: Launch, race: Race) -> bool:
    """Nothing is written but by a compare-and-swap, which is not tried until it succeeds: it takes contents of memory
    with which it does."""
    if something_changes(launch, race.pair, race.mode) is E.TRUE:
        return False
    waits = {s.value[0] for w in launch.events.waits for s in _opaque(w.fact)}
    swaps = [a for a in (race.pair.one, race.pair.two) if a.succeeds is not None]
    return not any(s.value[0] in waits for a in swaps if a.succeeds is not None for s in _opaque(a.succeeds))


def _may_be_signalled(events: KernelEvents, pair: Pair) -> bool:
    """One thread has a fence and then an atomic or volatile write behind its access, the other an atomic or volatile
    read before its own."""
    strong = {"acquire", "release", "acq_rel", "seq_cst"}
    signals = [a for a in events.accesses if a.volatile or a.atomic is not None]
    fences = [(f.order, f.loops) for f in events.fences]
    fences += [(a.order, a.loops) for a in signals if a.atomic is not None and a.atomic.order in strong]
    for first, second in ((pair.one, pair.two), (pair.two, pair.one)):
        fenced = any(order > first.order or set(loops) & set(first.loops) for order, loops in fences)
        sent = any(s.writes and (s.order > first.order or set(s.loops) & set(first.loops)) for s in signals)
        seen = any(s.kind != "write" and (s.order < second.order or set(s.loops) & set(second.loops)) for s in signals)
        if fenced and sent and seen:
            return True
    return False


def _opaque(e: Expr) -> list[Expr]:
    return [s for s in symbols(e) if s.op == "opaque"]


def _data(race: Race) -> bool:
    """The collision depends on memory contents other than the pointer through which both threads go."""
    return any(s.op == "opaque" for s in symbols(*race.query.conjuncts))


def _same_warp(concrete: Concrete) -> bool:
    one, two = (linear(t, concrete.block) for t in concrete.threads)
    return one // WARP == two // WARP


def _divergence(launch: Launch, d: Divergence, index: int, options: CheckOptions) -> DivergenceDecision | None:
    """None where the two threads that were found were executed and pass the same barriers."""
    if not options.replays:
        return DivergenceDecision(index, d.kind, d.mode, d.values, "not-asked")
    concrete = concretize(launch, d.values, d.mode)
    outcome = replay_of_divergence(launch, d, concrete)
    if outcome.refuted and not _rests_on_data(d.barrier):
        return None
    return DivergenceDecision(index, d.kind, d.mode, d.values, outcome.certainty, outcome.ways)


def _rests_on_data(barrier: BarrierEvent) -> bool:
    """Whether numbers that nothing is computed of, such as floats, decide who comes to a barrier: other threads than
    the two that were found may part then."""
    conditions = [c.condition for c in (*barrier.guard, *(c for _, c in barrier.departures))]
    return any(n.op == "opaque" and n.value[0].startswith(STAND_INS) for n in E.walk(conditions))


def _missing_lanes(checker: RaceChecker) -> Iterator[DivergenceDecision]:
    index = {e.id: i for i, e in enumerate(checker.launch.events.exchanges)}
    for d in check_exchanges(checker):
        yield DivergenceDecision(index[d.barrier.id], d.kind, d.mode, d.values, "not-asked")


def _unnamed(checker: RaceChecker, options: CheckOptions) -> Iterator[UnnamedDecision]:
    launch = checker.launch
    events = launch.events
    exchanges = {id(e): i for i, e in enumerate(events.exchanges)}
    places = exchanges | {id(e): i for i, e in enumerate(events.barriers)}
    for found in check_masks(checker):
        event, certainty = found.event, "not-asked"
        if options.replays:
            certainty = replay_of_unnamed(launch, event.id, concretize(launch, found.values, MODE)).certainty
        yield UnnamedDecision(id(event) in exchanges, places[id(event)], found.values, certainty, found.open)


def _failures(launch: Launch, assertions: Assertions) -> Iterator[AssertionDecision]:
    for failure in assertions.failures:
        concrete = concretize(launch, failure.values, "block")
        site = launch.events.assertions[failure.assertion].site
        if replay_of_assertion(launch, site, concrete).certainty == "confirmed":
            yield AssertionDecision(failure.assertion, failure.values, failure.open)
