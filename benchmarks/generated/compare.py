"""What executions say of the verdicts on random kernels.

``compare(samples)`` checks the samples as one file, executes each at the launches that it stands for, and gives an
``Outcome`` for each: the verdict, what the executions showed, and whether the two contradict each other.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from analyzers.analysed import KernelAnalysis
from analyzers.engine import Engine
from analyzers.model import ContextResult, Verdict
from analyzers.reference.agreement import CONTENTS, Execution, Executions, context_disagreements
from analyzers.reference.launch import ConcreteLaunch, Limits
from analyzers.requests import CheckRequest
from benchmarks.generated.kernels import Sample, text_of

PATH = "/generated/kernels.cu"
LIMITS = Limits(steps=60_000, accesses=15_000)

Truth = Literal["races", "diverges", "benign", "clean", "not finished"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One kernel: what was said and what happened."""

    seed: int
    verdict: str
    truth: Truth
    """The worst that an execution showed."""
    contradictions: tuple[str, ...]
    reasons: tuple[str, ...]
    """The kinds of what was not decided."""
    alarms: tuple[str, ...]
    """Findings at known launches, of kernels in which memory steers nothing, that no execution showed: possible races,
    and missed barriers that were not replayed."""
    contexts: int
    checked: float
    """Seconds of the analysis, parsing aside."""
    executed: float
    """Seconds of the executions."""


def compare(engine: Engine, samples: Sequence[Sample]) -> list[Outcome]:
    """Check and execute."""
    analysis = engine.analyse(CheckRequest(PATH, text_of(samples)))
    if analysis.result.syntax:
        issue = analysis.result.syntax[0]
        raise ValueError(f"line {issue.span.line}: {issue.message}\n{text_of(samples)}")
    found = {k.kernel.base_name: k for k in analysis.kernels}
    return [_outcome(s, found[s.name]) for s in samples]


def _outcome(sample: Sample, analysis: KernelAnalysis) -> Outcome:
    started = time.perf_counter()
    contexts = analysis.result.contexts
    if len(contexts) != len(sample.launches):
        raise ValueError(f"seed {sample.seed}: {len(sample.launches)} launches, {len(contexts)} contexts")
    wrong: list[str] = []
    alarms: list[str] = []
    seen: list[Execution] = []
    executions = Executions(analysis.kernel, LIMITS, CONTENTS if sample.steered else CONTENTS[1:])
    for given, context in zip(sample.launches, contexts, strict=True):
        launches = [launch for launch in given.concrete if is_allowed(context, launch)]
        wrong += context_disagreements(context, executions, launches, not sample.steered, sample.steered)
        runs = [x for launch in launches for x in executions.at(launch)]
        if sample.style != "none" and len(launches) == 1 and not sample.steered and runs:
            alarms += _false_alarms(context, runs)
        seen += runs
    return Outcome(
        sample.seed,
        analysis.result.verdict.value,
        _truth(seen),
        tuple(dict.fromkeys(wrong)),
        tuple(sorted({r.kind for c in contexts for r in c.reasons})),
        tuple(dict.fromkeys(alarms)),
        len(contexts),
        sum(c.milliseconds for c in contexts) / 1000,
        time.perf_counter() - started,
    )


def is_allowed(context: ContextResult, launch: ConcreteLaunch) -> bool:
    """Where no launch is in sight, axes that the kernel does not use are assumed to be 1, and that is listed."""
    sizes = {f"{name}.{axis}": n for name, dims in (("gridDim", launch.grid), ("blockDim", launch.block))
             for axis, n in zip("xyz", dims, strict=True)}  # fmt: skip
    return not any(n > 1 and a.startswith(f"{size} is 1:") for size, n in sizes.items() for a in context.assumptions)


def _truth(executions: Sequence[Execution]) -> Truth:
    if not executions:
        return "not finished"
    if any(x.missed for x in executions):
        return "diverges"
    real = [r for x in executions for r in x.real]
    if any(not r.benign for r in real):
        return "races"
    return "benign" if real else "clean"


def _false_alarms(context: ContextResult, runs: Sequence[Execution]) -> list[str]:
    if any(x.missed for x in runs):
        return []
    happened = {r.events for x in runs for r in x.races}
    return [
        f.message
        for f in context.findings
        if f.code is Verdict.BARRIER_DIVERGENCE
        or (f.code is Verdict.POSSIBLE_DATA_RACE and tuple(sorted(a.id for a in f.accesses)) not in happened)
    ]
