"""One kernel under all its launch contexts: the kernel's result is the worst of them."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from math import prod
from typing import Final

from analyzers.barriers.counted import incomplete_groups, is_counted, of_several_groups
from analyzers.barriers.divergence import meets_elsewhere
from analyzers.barriers.meetings import as_meetings, unclear_meetings
from analyzers.barriers.redundancy import KeptApart
from analyzers.ir.clusters import own_object
from analyzers.ir.context import LaunchContext
from analyzers.ir.events import AccessEvent, BarrierEvent, KernelEvents, UnsupportedEvent
from analyzers.ir.kernel import Kernel
from analyzers.ir.slicing import Conflicts, LeftOut, Slicer
from analyzers.ir.symbolic import TooMuchWorkError, summarize
from analyzers.model import CheckOptions, ContextResult, KernelResult, Reason, SourceSpan, Verdict
from analyzers.races.conditions import query_of, split
from analyzers.races.pairs import variable_allocation
from analyzers.races.precedents import Precedents
from analyzers.races.threads import Launch
from analyzers.solve.ladder import Budget, Ladder
from analyzers.solve.query import Proved, Query
from analyzers.verdicts.asserted import FAILURES
from analyzers.verdicts.decide import Collisions, Decision, RaceDecision, collisions, recall
from analyzers.verdicts.report import is_certain, redundancy_group, report, unsupported_result, without_redundant
from analyzers.verdicts.routes import barrier_sites
from analyzers.verdicts.sizes import beyond_sizes, computes_sizes

LAUNCHES: Final = 2
"""All launches of a kernel together may take so often the work of one; those that are left then are undecided."""

PARTLY_FOLLOWED: Final = frozenset({"async-copy", "pipeline-order"})
"""Code of which all accesses are known and made at least where the program says: races found there are real, and
nothing is proved."""

_ELSEWHERE: Final = "threads that do not come to this barrier may come to one of the same number at another place"
_MANY_LAUNCHES: Final = "not checked, because the other launches of the kernel took all the work that one kernel may"


def one_memory(kernel: Kernel, contexts: Sequence[LaunchContext]) -> tuple[frozenset[str], ...]:
    """The objects that some of these launches let be parts of one allocation, in an order that tells nothing."""
    found = {objects for c in contexts for objects in _by_allocation(kernel, c).values() if len(objects) > 1}
    return tuple(sorted(found, key=sorted))


def conflicts_in(kernel: Kernel, together: Sequence[frozenset[str]], *, ordered: bool = False) -> Conflicts:
    """The kernel without the reads of what nothing writes, where objects ``together`` are parts of one allocation;
    without ``ordered``, nor those that barriers keep apart from all writes, wherever they go."""
    return Slicer(kernel).of_conflicts(together, ordered=ordered)


def conflicting(kernel: Kernel, together: Sequence[frozenset[str]], wraps: bool = False) -> KernelEvents:
    """The events of all conflicts, those that barriers order included. Raises TooMuchWorkError."""
    return summarize(conflicts_in(kernel, together, ordered=True).kernel, wraps=wraps)


def check_kernel(
    events: KernelEvents,
    contexts: Sequence[LaunchContext],
    options: CheckOptions,
    poll: Callable[[], None] = lambda: None,
    remembered: Callable[[LaunchContext], Decision | None] = lambda _: None,
    remember: Callable[[LaunchContext, Decision], None] = lambda _c, _d: None,
    precedents: Precedents | None = None,
    left_out: LeftOut = (),
    keep: Callable[[LaunchContext, Collisions], None] = lambda _c, _f: None,
    kept_apart: KeptApart | None = None,
) -> KernelResult:
    """Decide (or recall) every context and put the result together. ``precedents`` are those of the instances of the
    kernel's definition that were checked before; ``left_out`` reads that are not among the events, because they
    conflict with nothing or are ``kept_apart``."""
    precedents = precedents or Precedents()
    results: list[ContextResult] = []
    spent = 0
    for context in contexts:
        started = time.perf_counter()
        if spent >= LAUNCHES * options.kernel_effort:
            reason = Reason("budget", _MANY_LAUNCHES, events.kernel.span)
            results.append(ContextResult(context.summary, Verdict.UNKNOWN, reasons=(reason,)))
            continue
        own = _told_apart(events, context, options)
        reached = reachable(own, context, options)
        if any(u.kind not in PARTLY_FOLLOWED for u in reached):
            results.append(unsupported_result(replace(own, unsupported=reached), context, _since(started)))
            continue
        seen = events_in(replace(own, unsupported=()) if own.unsupported else own, context)
        decision, collided = remembered(context), None
        if decision is None:
            wanted = replace(options, redundancy=False) if reached or computes_sizes(seen, context) else options
            apart = kept_apart and replace(kept_apart, events=partial(_whole, kept_apart, context, options))
            collided = collisions(seen, context, wanted, poll, precedents=precedents, kept_apart=apart)
            decision = collided.decision
            remember(context, decision)
        else:
            recall(seen, decision, precedents)
        spent += decision.effort
        elsewhere = _met_elsewhere(seen, decision)
        if elsewhere:
            met = _with_meetings(seen, context, {b.number for b in elsewhere})
            unclear = _unclear(met, context, options) if met is not None else tuple(map(_without_model, elsewhere))
            if met is None or unclear:
                results.append(unsupported_result(replace(own, unsupported=unclear), context, _since(started)))
                continue
            without = replace(options, redundancy=False)
            seen, decision = met, collisions(met, context, without, poll, precedents=precedents).decision
            spent += decision.effort
        elif collided is not None:
            keep(context, collided)
        if reached:
            seen = replace(seen, unsupported=reached)
        results.append(report(seen, context, decision, _since(started)))
    return assemble(events, results, left_out)


def reads_kept_apart(kernel: Kernel, together: Sequence[frozenset[str]], found: Conflicts, wraps: bool) -> KeptApart:
    """The reads that were ``found``; all events are put together once for all launches."""

    @cache
    def events() -> KernelEvents | None:
        try:
            return conflicting(kernel, together, wraps)
        except TooMuchWorkError:
            return None

    return KeptApart(found.kept_apart, events)


def _whole(kept_apart: KeptApart, context: LaunchContext, options: CheckOptions) -> KernelEvents | None:
    """All events as this launch makes them; what has no model was looked at before."""
    events = kept_apart.events()
    if events is None or computes_sizes(events, context):
        return None
    if beyond_sizes(events, context, Ladder(Budget(smt=options.smt_budget))):
        return None
    return events_in(replace(events, unsupported=()), context)


def executed(
    events: KernelEvents,
    contexts: Sequence[LaunchContext],
    found: Mapping[int, Collisions],
    result: KernelResult,
    wanted: Callable[[AccessEvent, AccessEvent], bool],
) -> KernelResult:
    """The result of a kernel with the wanted races executed, where they may be definite then. ``found``: how its races
    were found, by the place of the context."""
    results = list(result.contexts)
    for number, collided in found.items():
        context = contexts[number]
        if not collided.decision.races or not is_certain(context):
            continue
        seen = events_in(replace(events, unsupported=()) if events.unsupported else events, context)
        accesses = seen.accesses

        def is_wanted(race: RaceDecision, accesses: Sequence[AccessEvent] = accesses) -> bool:
            return wanted(accesses[race.one], accesses[race.two])

        again = report(seen, context, collided.executed(is_wanted), results[number].milliseconds)
        verdict = min(again.verdict, results[number].verdict, key=lambda v: v.rank)
        results[number] = replace(results[number], findings=again.findings, verdict=verdict)
    verdict = min((c.verdict for c in results), key=lambda v: v.rank, default=result.verdict)
    return replace(result, contexts=tuple(results), verdict=verdict)


def _met_elsewhere(events: KernelEvents, decision: Decision) -> tuple[BarrierEvent, ...]:
    """Barriers with a number that some threads miss and may come to at another place."""
    missed = (events.barriers[d.barrier] for d in decision.divergences if d.kind == "divergence")
    return tuple(barrier for barrier in missed if meets_elsewhere(barrier, events.barriers))


def _without_model(barrier: BarrierEvent) -> UnsupportedEvent:
    return UnsupportedEvent("partial-barrier", _ELSEWHERE, barrier.guard, barrier.site)


def _with_meetings(
    events: KernelEvents, context: LaunchContext, numbers: Collection[int | None]
) -> KernelEvents | None:
    """The events with the barriers of these numbers as places of meetings."""
    known = [n for n in Launch(events, context).block if n is not None]
    return as_meetings(events, numbers, prod(known) if len(known) == 3 else None)


def reachable(events: KernelEvents, context: LaunchContext, options: CheckOptions) -> tuple[UnsupportedEvent, ...]:
    """The code without a model that some thread of this launch may execute."""
    ladder = Ladder(Budget(smt=options.smt_budget))
    beyond = beyond_sizes(events, context, ladder)
    counted = [b for b in events.barriers if is_counted(b)]
    if beyond or not (events.unsupported or counted or events.meetings):
        return beyond
    launch = Launch(events, context)

    def reached(u: UnsupportedEvent) -> bool:
        parts = [launch.side(c.condition, 1, "block") for c in u.guard]
        return _is_possible(query_of(launch, parts, "block"), ladder)

    found = [u for u in events.unsupported if not u.guard or reached(u)]
    for ask in (of_several_groups, incomplete_groups):
        found += ask(launch, counted, partial(_is_possible, ladder=ladder))
    return (*found, *_unclear(events, context, options))


def _told_apart(events: KernelEvents, context: LaunchContext, options: CheckOptions) -> KernelEvents:
    """The events with barriers of some threads, which are no groups in a row, as places where those come that they are
    for."""
    counted: dict[int | None, list[BarrierEvent]] = {}
    for barrier in events.barriers:
        if is_counted(barrier):
            counted.setdefault(barrier.number, []).append(barrier)
    if not counted:
        return events
    launch, ladder = Launch(events, context), Ladder(Budget(smt=options.smt_budget))
    possible = partial(_is_possible, ladder=ladder)
    others = {
        number
        for number, barriers in counted.items()
        if any(found for ask in (of_several_groups, incomplete_groups) for found in ask(launch, barriers, possible))
    }
    return (_with_meetings(events, context, others) if others else None) or events


def _unclear(events: KernelEvents, context: LaunchContext, options: CheckOptions) -> tuple[UnsupportedEvent, ...]:
    """The meetings of threads at a number that are not known to be complete."""
    if not events.meetings:
        return ()
    ladder = Ladder(Budget(smt=options.smt_budget))
    return tuple(unclear_meetings(Launch(events, context), partial(_is_possible, ladder=ladder)))


def _is_possible(query: Query | None, ladder: Ladder) -> bool:
    return query is not None and not all(isinstance(ladder.decide(q), Proved) for q in split(query))


def events_in(events: KernelEvents, context: LaunchContext) -> KernelEvents:
    """The events as this launch makes them: what is written through one pointer is not constant behind another to the
    same memory."""
    written = {a.root.value for a in events.accesses if a.writes and a.root.op == "addr"}
    changed = set[str]()
    for objects in _by_allocation(events.kernel, context).values():
        if objects & written:
            changed |= objects - written
    return summarize(events.kernel, frozenset(changed), events.wraps) if changed else events


def _by_allocation(kernel: Kernel, context: LaunchContext) -> dict[str, frozenset[str]]:
    """The objects that are parts of one allocation of the host, as far as the launch says."""
    found: dict[str, set[str]] = {}
    allocation = {name: p.allocation for name, p in context.pointers if p.allocation is not None}
    for p in kernel.parameters:
        if p.object is not None and p.name in allocation:
            found.setdefault(allocation[p.name], set()).add(p.object)
    for o in kernel.objects if context.variables else ():
        variable = variable_allocation(kernel, context, o.name)
        if variable is not None:
            found.setdefault(variable, set()).add(o.name)
    return {name: frozenset(objects) for name, objects in found.items()}


def _since(started: float) -> float:
    return round((time.perf_counter() - started) * 1e3, 3)


def assemble(events: KernelEvents, results: Sequence[ContextResult], left_out: LeftOut = ()) -> KernelResult:
    """A barrier is redundant for the kernel only if it is in every context. Reads ``left_out`` are counted."""
    kernel = events.kernel
    keep = _redundant_everywhere(results)
    contexts = tuple(without_redundant(r, lambda f: f.span not in keep) for r in results)
    claimed = {f.group for c in contexts for f in c.findings}
    needed = {redundancy_group(kernel, b) for b in events.barriers} - claimed
    verdict = min((c.verdict for c in contexts), key=lambda v: v.rank, default=Verdict.UNKNOWN)
    spaces = [(a.id, _space(events, a)) for a in events.accesses]
    space_of = {o.name: o.space for o in kernel.objects}
    spaces += [(number, space_of.get(name, "global")) for number, objects in left_out for name in objects]
    return KernelResult(
        name=kernel.name,
        mangled=kernel.mangled,
        span=kernel.span,
        extent=kernel.extent,
        verdict=verdict,
        contexts=contexts,
        shared_accesses=len({number for number, space in spaces if space == "shared"}),
        global_accesses=len({number for number, space in spaces if space == "global"}),
        barriers=len({b.id for b in events.barriers}),
        files=tuple(sorted({kernel.extent.path, *(span.path for _, span in kernel.functions)})),
        needed=tuple(sorted(needed)),
        barrier_sites=barrier_sites(events),
        parameters=kernel.declared,
    )


def agreed(results: Sequence[KernelResult]) -> tuple[KernelResult, ...]:
    """A barrier in a template or in a called function is redundant only if every kernel with it says so."""
    needed = {group for r in results for group in r.needed}
    out: list[KernelResult] = []
    for r in results:
        contexts = tuple(without_redundant(c, lambda f: f.group in needed) for c in r.contexts)
        verdict = min((c.verdict for c in contexts), key=lambda v: v.rank, default=r.verdict)
        out.append(r if contexts == r.contexts else replace(r, contexts=contexts, verdict=verdict))
    return tuple(out)


def broken(kernel: Kernel, contexts: Sequence[LaunchContext], error: Exception) -> tuple[KernelEvents, KernelResult]:
    """A kernel whose analysis failed with a defect of ours: unknown in every context, with a reason that says so."""
    where = traceback.extract_tb(error.__traceback__)[-1]
    text = f"internal error: {type(error).__name__}: {error} ({where.filename.rsplit('/', 1)[-1]}:{where.lineno})"
    return undecided(kernel, contexts, Reason("internal-error", text, kernel.span))


def undecided(kernel: Kernel, contexts: Sequence[LaunchContext], reason: Reason) -> tuple[KernelEvents, KernelResult]:
    """A kernel of which nothing is known, for one reason in every context."""
    events = KernelEvents(kernel, (), (), (), (), {})
    results = [ContextResult(c.summary, Verdict.UNKNOWN, reasons=(reason,)) for c in contexts]
    return events, assemble(events, results)


def _redundant_everywhere(results: Sequence[ContextResult]) -> frozenset[SourceSpan]:
    claims = [frozenset(f.span for f in r.findings if f.code is Verdict.REDUNDANT_BARRIER) for r in results]
    if not claims or any(_unproved(r) for r in results):
        return frozenset()
    return claims[0].intersection(*claims[1:])


def _unproved(result: ContextResult) -> bool:
    """Something was found or left open that a proof would deny; an assertion that fails is no such thing, nor is a
    write of the same value by several threads."""
    found = [f.code.rank for f in result.findings if f.code not in FAILURES and f.code is not Verdict.BENIGN_RACE]
    return bool(result.reasons) or min(found, default=Verdict.RACE_FREE.rank) < Verdict.REDUNDANT_BARRIER.rank


def _space(events: KernelEvents, access: AccessEvent) -> str:
    root = own_object(access.root)
    return events.kernel.object(root.value).space if root.op == "addr" else "global"
