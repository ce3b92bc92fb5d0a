"""Holds an analysis result against brute force: what executions of the same kernel contradict.

``disagreements(kernel_result, kernel, launch)`` executes the kernel at ``launch`` and at the launch of each definite
witness. Every string it gives is a mistake of the analysis (or of the reference): a race or divergence in a kernel that
was called free of them, a definite finding that does not happen, a needed barrier called redundant.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from analyzers.ir.kernel import Kernel
from analyzers.model import ContextResult, Finding, KernelResult, Verdict, Witness
from analyzers.reference.interpreter import run
from analyzers.reference.launch import ConcreteLaunch, Limits
from analyzers.reference.races import ConcreteRace, divergences, orders_nothing, races
from analyzers.reference.result import RunResult

CONTENTS = ((0, 0), (0, 7), (-3, 40))
"""Ranges of what memory holds, one execution each: all equal, colliding, spread."""

MAX_THREADS = 2048
"""Witness launches with more threads are not executed."""

_CLAIMS_NO_RACE = frozenset(
    {Verdict.RACE_FREE, Verdict.BARRIER_AFTER_EXIT, Verdict.REDUNDANT_BARRIER, Verdict.BENIGN_RACE}
)


def disagreements(
    kernel_result: KernelResult,
    kernel: Kernel,
    launch: ConcreteLaunch,
    every_pair: bool = False,
    limits: Limits | None = None,
) -> list[str]:
    """Contradictions between the verdicts of all contexts and executions. ``launch`` must satisfy every context.

    ``every_pair`` also asks that each race of an execution has a finding of its own."""
    out: list[str] = []
    limits = limits or Limits()
    results = [r for r in _executions(kernel, launch, limits) if r.outcome == "finished"]
    for context in kernel_result.contexts:
        for result in results:
            out += _missed(context, result, every_pair)
        for finding in context.findings:
            out += _unfounded(finding, kernel, launch, limits)
    return list(dict.fromkeys(out))


def _executions(kernel: Kernel, launch: ConcreteLaunch, limits: Limits) -> list[RunResult]:
    return [
        run(kernel, replace(launch, seed=launch.seed + i, data_range=contents), i, limits)
        for i, contents in enumerate(CONTENTS)
    ]


def _describe(result: RunResult, race: ConcreteRace) -> str:
    threads = " and ".join(f"{result.place(a.thread)}" for a in (race.first, race.second))
    return f"{race.scope} race of events {race.events} on {race.address} by {threads}"


def _missed(context: ContextResult, result: RunResult, every_pair: bool) -> list[str]:
    if "signed-overflow" in result.undefined and any("overflow" in a for a in context.assumptions):
        return []
    at = f"grid {result.launch.grid} block {result.launch.block} values {dict(result.launch.values)}"
    real = [r for r in races(result) if r.in_bounds]
    out: list[str] = []
    if context.verdict in _CLAIMS_NO_RACE:
        harmful = [r for r in real if not (r.benign and context.verdict is Verdict.BENIGN_RACE)]
        out += [f"{context.verdict.value}, but {_describe(result, r)} at {at}" for r in harmful]
        out += [
            f"{context.verdict.value}, but barrier {d.barrier} is missed by thread {result.place(d.missing)} at {at}"
            for d in divergences(result)
            if d.kind == "divergence" and d.scope != "collective"
        ]
    elif every_pair and not context.reasons:
        reported = {tuple(sorted(a.id for a in f.accesses)) for f in context.findings}
        out += [f"no finding for {_describe(result, r)} at {at}" for r in real if r.events not in reported]
    redundant = [f.accesses[0].id for f in context.findings if f.code is Verdict.REDUNDANT_BARRIER and f.accesses]
    for barrier in redundant:
        if not orders_nothing(result, barrier):
            out.append(f"barrier {barrier} is called redundant, but orders accesses at {at}")
    return out


def witness_launch(witness: Witness, base: ConcreteLaunch) -> ConcreteLaunch:
    """The launch that a witness speaks of; what it leaves open is as in ``base``."""
    values = {**base.values, **dict(witness.parameters)}
    return replace(base, grid=witness.grid, block=witness.block, values=values)


def _unfounded(finding: Finding, kernel: Kernel, launch: ConcreteLaunch, limits: Limits) -> list[str]:
    """A definite finding must happen in every execution of its witness, whatever memory holds."""
    if finding.witness is None or finding.code not in (Verdict.DATA_RACE, Verdict.BARRIER_DIVERGENCE):
        return []
    where = witness_launch(finding.witness, launch)
    if where.blocks * where.threads_per_block > MAX_THREADS:
        return []
    executions = [r for r in _executions(kernel, where, limits) if r.outcome == "finished"]
    wanted = tuple(sorted(a.id for a in finding.accesses))
    if finding.code is Verdict.DATA_RACE:
        absent = [r for r in executions if wanted not in _events(races(r))]
    else:
        barrier = {a.id for a in finding.accesses if a.kind == "barrier"}
        absent = [r for r in executions if not any(d.barrier in barrier for d in divergences(r))]
    if not absent:
        return []
    at = f"grid {where.grid} block {where.block} values {dict(where.values)}"
    often = f"{len(absent)} of {len(executions)} executions"
    return [f"{finding.code.value} of events {wanted} does not happen at its witness: {at} ({often})"]


def _events(found: Iterable[ConcreteRace]) -> set[tuple[int, ...]]:
    return {r.events for r in found}
