"""Holds an analysis result against brute force: what executions of the same kernel contradict.

``disagreements(kernel_result, kernel, launch)`` executes the kernel at ``launch`` and at the launch of each definite
witness. Every string it gives is a mistake of the analysis (or of the reference): a race or divergence in a kernel that
was called free of them, a definite finding that does not happen, a needed barrier called redundant.
``context_disagreements`` does the same for one launch context and the launches that it allows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from analyzers.ir.kernel import Atomic, Barrier, Kernel, Load, Store, statements
from analyzers.model import ContextResult, Finding, KernelResult, Severity, SourceSpan, Verdict, Witness
from analyzers.reference.interpreter import run
from analyzers.reference.launch import ConcreteLaunch, Limits
from analyzers.reference.races import ConcreteRace, divergences, races
from analyzers.reference.result import Divergence, RunResult

Contents: TypeAlias = "tuple[tuple[int, int], ...]"

CONTENTS: Contents = ((0, 0), (0, 7), (-3, 40))
"""Ranges of what memory holds, one execution each: all equal, colliding, spread."""

MAX_THREADS = 2048
"""Witness launches with more threads are not executed."""

_CLAIMS_NO_RACE = frozenset(
    {Verdict.RACE_FREE, Verdict.BARRIER_AFTER_EXIT, Verdict.REDUNDANT_BARRIER, Verdict.BENIGN_RACE}
)

Place: TypeAlias = "tuple[SourceSpan, tuple[SourceSpan, ...]]"
"""Where an event stands in the source, and the calls that lead to it."""


@dataclass(frozen=True, slots=True)
class Execution:
    """A finished run and what was found in it."""

    result: RunResult
    races: tuple[ConcreteRace, ...]
    divergences: tuple[Divergence, ...]

    @property
    def missed(self) -> tuple[Divergence, ...]:
        """The barriers that a living thread misses."""
        return tuple(d for d in self.divergences if d.kind == "divergence" and d.scope != "collective")

    @property
    def real(self) -> tuple[ConcreteRace, ...]:
        """The races inside the arrays that the source names."""
        return tuple(r for r in self.races if r.in_bounds)

    @property
    def at(self) -> str:
        """The launch in words."""
        launch = self.result.launch
        return f"grid {launch.grid} block {launch.block} values {dict(launch.values)}"


class Executions:
    """A kernel's runs at any launch: with each of the contents of memory, each in an order of its own."""

    def __init__(self, kernel: Kernel, limits: Limits | None = None, contents: Contents = CONTENTS) -> None:
        self.kernel = kernel
        self.limits = limits or Limits()
        self.contents = contents
        self.places = _places(kernel)
        self._known: dict[object, list[Execution]] = {}

    def at(self, launch: ConcreteLaunch) -> list[Execution]:
        """Those that finish, made once for a launch."""
        key = (launch.grid, launch.block, tuple(sorted(launch.values.items())), tuple(sorted(launch.aliases.items())))
        if key not in self._known:
            self._known[key] = list(self._executed(launch))
        return self._known[key]

    def _executed(self, launch: ConcreteLaunch) -> Iterator[Execution]:
        for i, contents in enumerate(self.contents):
            here = replace(launch, seed=launch.seed + i, data_range=contents)
            result = run(self.kernel, here, i, self.limits)
            if result.outcome == "finished":
                yield Execution(result, tuple(races(result)), tuple(divergences(result)))


def disagreements(
    kernel_result: KernelResult,
    kernel: Kernel,
    launch: ConcreteLaunch,
    every_pair: bool = False,
    limits: Limits | None = None,
) -> list[str]:
    """Contradictions between the verdicts of all contexts and executions. ``launch`` must satisfy every context.

    ``every_pair`` also asks that each race of an execution has a finding of its own."""
    executions = Executions(kernel, limits)
    return list(
        dict.fromkeys(
            text
            for context in kernel_result.contexts
            for text in context_disagreements(context, executions, [launch], every_pair)
        )
    )


def context_disagreements(
    context: ContextResult,
    executions: Executions,
    launches: Sequence[ConcreteLaunch],
    every_pair: bool = False,
    steered: bool = False,
) -> list[str]:
    """Contradictions between the verdict of one context and executions of launches that it allows.

    What the witness of a definite finding leaves open is as in the first of them. ``steered``: what memory holds may
    decide whether a thread comes to a barrier, so that one is missed in some executions only."""
    out: list[str] = []
    for execution in (x for launch in launches for x in executions.at(launch)):
        out += _missed(context, execution, executions.places, every_pair)
    for finding in context.findings:
        if not (steered and finding.code in _MISSED):
            out += _unfounded(finding, executions, launches[0])
    return list(dict.fromkeys(out))


def _places(kernel: Kernel) -> dict[int, Place]:
    events = [s for s in statements(kernel.body) if isinstance(s, (Load, Store, Atomic, Barrier))]
    return {s.id: (s.site.span, s.site.calls) for s in events}


def _describe(execution: Execution, race: ConcreteRace) -> str:
    threads = " and ".join(f"{execution.result.place(a.thread)}" for a in (race.first, race.second))
    return f"{race.scope} race of events {race.events} on {race.address} by {threads}"


def _about_races(context: ContextResult) -> Verdict:
    """The verdict without what is said of assertions."""
    if context.verdict not in (Verdict.ASSERTION_FAILURE, Verdict.POSSIBLE_ASSERTION_FAILURE):
        return context.verdict
    codes = [f.code for f in context.findings] + [Verdict.UNKNOWN for _ in context.reasons]
    others = [c for c in codes if c not in (Verdict.ASSERTION_FAILURE, Verdict.POSSIBLE_ASSERTION_FAILURE)]
    return min(others, key=lambda v: v.rank, default=Verdict.RACE_FREE)


def _missed(
    context: ContextResult, execution: Execution, places: Mapping[int, Place], every_pair: bool
) -> Iterator[str]:
    """Races, divergences and needed barriers of an execution that the context denies."""
    if "signed-overflow" in execution.result.undefined and any("overflow" in a for a in context.assumptions):
        return
    at = execution.at
    verdict = _about_races(context)
    if verdict in _CLAIMS_NO_RACE:
        for race in execution.real:
            if not (race.benign and verdict is Verdict.BENIGN_RACE):
                yield f"{verdict.value}, but {_describe(execution, race)} at {at}"
        for d in execution.missed:
            missing = execution.result.place(d.missing)
            yield f"{verdict.value}, but barrier {d.barrier} is missed by thread {missing} at {at}"
    elif every_pair:
        yield from _not_reported(context, execution, places)
    if ASSERTED not in " ".join(context.assumptions):
        for thread in [t for t, source in execution.result.stopped.items() if source == "assert"][:1]:
            failing = execution.result.place(thread)
            yield f"assertions are not assumed to hold, but one fails in thread {failing} at {at}"
    redundant = [f.accesses[0].id for f in context.findings if f.code is Verdict.REDUNDANT_BARRIER and f.accesses]
    # Each alone, and all of them together.
    for barriers in dict.fromkeys([*((b,) for b in redundant), tuple(redundant)]):
        if barriers and _pairs(execution.races) != _pairs(races(execution.result, frozenset(barriers))):
            what = " and ".join(str(b) for b in barriers)
            yield f"barrier {what} is called redundant, but orders accesses at {at}"


def _pairs(found: Iterable[ConcreteRace]) -> set[tuple[int, int, str]]:
    return {(*r.events, r.scope) for r in found}


def _not_reported(context: ContextResult, execution: Execution, places: Mapping[int, Place]) -> Iterator[str]:
    """Races and missed barriers that are neither among the findings nor among what could not be decided."""
    open_places = {reason.span for reason in context.reasons}
    if any(r.kind in _ABOUT_MORE or not r.text.startswith(UNDECIDED) for r in context.reasons):
        return
    if execution.missed:
        # After the first one threads go on that should not have: what follows is nobody's claim.
        divergent = [f for f in context.findings if f.code in _MISSED]
        barriers = {f.span for f in divergent} | open_places
        # Barriers of a warp meet wherever they stand: lanes that miss one meet at the next, and another one is left.
        shifted = {a.text.partition("(")[0] for f in divergent for a in f.accesses} & _OF_WARPS
        if not shifted and not any(places[d.barrier][0] in barriers for d in execution.missed):
            d = execution.missed[0]
            missing = execution.result.place(d.missing)
            yield f"no finding for barrier {d.barrier}, missed by thread {missing} at {execution.at}"
        return
    events = {tuple(sorted(a.id for a in f.accesses)) for f in context.findings}
    # Of several events at one place, as in a function called twice over, one stands for all.
    reported = {frozenset((a.span, a.calls) for a in f.accesses) for f in context.findings}
    for race in execution.real:
        pair = frozenset(places[e] for e in race.events)
        if race.events not in events and pair not in reported and not any(span in open_places for span, _ in pair):
            yield f"no finding for {_describe(execution, race)} at {execution.at}"


_OF_WARPS = frozenset({"__syncwarp"})

ASSERTED = "device assertions hold"
"""How the assumption begins that is listed unless every assertion was proved to hold."""

UNDECIDED = "could not decide whether"
"""How the reasons begin that speak of one pair of accesses or of one barrier; others leave the whole kernel open."""

_MISSED = frozenset({Verdict.BARRIER_DIVERGENCE, Verdict.MISSING_LANES})
_DEFINITE = frozenset({Verdict.DATA_RACE, Verdict.BARRIER_DIVERGENCE, Verdict.ASSERTION_FAILURE})

_ABOUT_MORE = frozenset({"budget", "not-examined"})
"""Reasons that name one place and stand for more."""


def witness_launch(witness: Witness, base: ConcreteLaunch) -> ConcreteLaunch:
    """The launch that a witness speaks of; what it leaves open is as in ``base``."""
    values = {**base.values, **dict(witness.parameters)}
    return replace(base, grid=witness.grid, block=witness.block, values=values)


def _unfounded(finding: Finding, executions: Executions, launch: ConcreteLaunch) -> list[str]:
    """A definite finding must happen in every execution of its witness, whatever memory holds."""
    if finding.witness is None or finding.code not in _DEFINITE:
        return []
    if finding.code is Verdict.BARRIER_DIVERGENCE and finding.severity is not Severity.ERROR:
        return []  # was not replayed
    where = witness_launch(finding.witness, launch)
    if where.blocks * where.threads_per_block > MAX_THREADS:
        return []
    found = executions.at(where)
    if finding.code is not Verdict.ASSERTION_FAILURE:
        # Others speak of the threads that pass the assertions, which data may decide.
        found = [x for x in found if "assert" not in x.result.stopped.values()]
    wanted = tuple(sorted(a.id for a in finding.accesses))
    if finding.code is Verdict.ASSERTION_FAILURE:
        absent = [x for x in found if "assert" not in x.result.stopped.values()]
    elif finding.code is Verdict.DATA_RACE:
        # It speaks of threads that get to the barriers of the block together: what they come to without is another
        # finding.
        absent = [x for x in found if not x.missed and wanted not in {r.events for r in x.races}]
    else:
        barrier = {a.id for a in finding.accesses if a.kind == "barrier"}
        absent = [x for x in found if not any(d.barrier in barrier for d in x.divergences)]
    if not absent:
        return []
    often = f"{len(absent)} of {len(found)} executions"
    return [f"{finding.code.value} of events {wanted} does not happen at its witness: {absent[0].at} ({often})"]
