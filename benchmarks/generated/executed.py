"""What runs under the race detector say of the verdicts on random kernels.

``compare_runs(engine, samples)`` checks the samples as one file, compiles them in one go, runs each at its launches and
at the witness of each definite race, and gives a ``RunOutcome`` for each. Compiler, executor and detector share nothing
with the analysis and its reference but the source text.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from analyzers.analysed import KernelAnalysis
from analyzers.engine import Engine
from analyzers.model import ContextResult, Dim3, Finding, Verdict
from analyzers.reference.launch import ConcreteLaunch
from analyzers.requests import CheckRequest
from benchmarks.generated.compare import PATH, is_allowed
from benchmarks.generated.kernels import HEADER, Sample, text_of
from cuda_lsp.running.confirmation import focus_of, sides_of
from gpu_runner import session
from gpu_runner.compile import CompileOptions, compile_source
from gpu_runner.gpu.driver import Device
from gpu_runner.gpu.execute import GpuKernel
from gpu_runner.kernel import AnyKernel
from gpu_runner.ptx import model
from gpu_runner.ptx.parse import parse
from gpu_runner.request import Argument, ArrayArgument, Element, Focus, Request, RunRace, RunResult, ScalarArgument
from gpu_runner.shown import is_between

_ELEMENTS: dict[str, Element] = {"a": "i32", "b": "i16", "u": "u32"}
_COUNT = 4096
_CLAIMS_NO_RACE = frozenset({Verdict.RACE_FREE, Verdict.BARRIER_AFTER_EXIT, Verdict.REDUNDANT_BARRIER})
_ASSERTIONS = frozenset({Verdict.ASSERTION_FAILURE, Verdict.POSSIBLE_ASSERTION_FAILURE})


@dataclass(slots=True)
class RunOutcome:
    """One kernel: what runs contradicted, and how much there was to contradict."""

    seed: int
    contradictions: list[str] = field(default_factory=list[str])
    proofs: int = 0
    """Launches that were called free of races, and ran to their end."""
    witnesses: int = 0
    """Definite races whose witness was run; not those of a compare-and-swap, which the analysis takes for a write also
    where it fails."""
    not_run: list[str] = field(default_factory=list[str])
    """Why a run says nothing: an access outside of the arrays, an assertion that failed, no end, …"""
    checked: float = 0.0
    """Seconds of the analysis."""
    executed: float = 0.0
    """Seconds of translation and runs."""


def compare_runs(
    engine: Engine, samples: Sequence[Sample], seeds: tuple[int, ...] = (0, 1), device: Device | None = None
) -> list[RunOutcome]:
    """Check and run; each run under so many schedules. `device`: the GPU to run on instead of the processor."""
    started = time.perf_counter()
    text = text_of(samples)
    analysis = engine.analyse(CheckRequest(PATH, text))
    checked = (time.perf_counter() - started) / len(samples)
    found = {kernel.kernel.base_name: kernel for kernel in analysis.kernels}
    compiled = compile_source(_device_text(samples), PATH, CompileOptions(compiler="nvrtc"))
    module = parse(compiled.ptx)
    outcomes: list[RunOutcome] = []
    for sample in samples:
        outcome = RunOutcome(sample.seed, checked=checked)
        started = time.perf_counter()
        runner = _Runner(found[sample.name], module, text.splitlines(), device)
        _compare(sample, runner, seeds, outcome)
        runner.close()
        outcome.executed = time.perf_counter() - started
        outcomes.append(outcome)
    return outcomes


def _device_text(samples: Sequence[Sample]) -> str:
    """The file without host functions, lines where they were."""
    parts: list[str] = []
    for sample in samples:
        head, kernel, host = sample.text.partition(sample.kernel)
        parts.append(head + kernel + "\n" * host.count("\n"))
    return HEADER + "\n".join(parts)


@dataclass(slots=True)
class _Runner:
    """Runs of one kernel, translated once."""

    analysis: KernelAnalysis
    module: model.Module
    source: list[str]
    """The lines of the file."""
    device: Device | None = None
    known: dict[str, AnyKernel] = field(default_factory=dict[str, AnyKernel])

    def close(self) -> None:
        for kernel in self.known.values():
            if isinstance(kernel, GpuKernel):
                kernel.close()

    def run(
        self,
        grid: Dim3,
        block: Dim3,
        values: Mapping[str, float],
        seeds: tuple[int, ...],
        focus: tuple[Focus, ...] = (),
    ) -> RunResult:
        """With memory full of small numbers; of zeros, where only some accesses are looked at."""
        random = Random("contents")
        contents = tuple(0.0 if focus else float(random.randint(0, 7)) for _ in range(61))
        arguments: list[Argument] = []
        names = tuple(parameter.name for parameter in self.analysis.kernel.parameters)
        for name in names:
            if name in _ELEMENTS:
                arguments.append(ArrayArgument(_ELEMENTS[name], _COUNT, "values", contents))
            else:
                arguments.append(ScalarArgument(values.get(name, 1)))
        mangled = self.analysis.kernel.mangled
        request = Request(mangled, grid, block, tuple(arguments), names, seeds=seeds, focus=focus, seconds=5.0)
        return session.run_module(request, self.module, self.known, self.device)


def _compare(sample: Sample, runner: _Runner, seeds: tuple[int, ...], outcome: RunOutcome) -> None:
    for given, context in zip(sample.launches, runner.analysis.result.contexts, strict=True):
        launches = [launch for launch in given.concrete if is_allowed(context, launch) and not launch.aliases]
        for launch in launches:
            result = runner.run(launch.grid, launch.block, launch.values, seeds)
            if not _says_nothing(result, outcome):
                outcome.proofs += _claim(context) in _CLAIMS_NO_RACE
                at = f"grid {launch.grid} block {launch.block} values {dict(launch.values)}"
                outcome.contradictions += (f"{text} at {at}" for text in _denied(context, result, sample))
        missed = _misses_barriers(context)
        for finding in context.findings if launches else ():
            if finding.code is Verdict.DATA_RACE and finding.witness is not None:
                _replay(finding, launches[0], runner, outcome, missed)


def _says_nothing(result: RunResult, outcome: RunOutcome) -> bool:
    kinds = {fault.kind for fault in result.faults} - {"divergent-barrier", "uninitialised"}
    if kinds or result.status != "finished":
        outcome.not_run.append(", ".join(sorted(kinds)) or f"{result.status}: {result.message}")
        return True
    return False


def _claim(context: ContextResult) -> Verdict:
    """The verdict without what is said of assertions."""
    if context.verdict not in _ASSERTIONS:
        return context.verdict
    codes = [f.code for f in context.findings if f.code not in _ASSERTIONS] + [Verdict.UNKNOWN for _ in context.reasons]
    return min(codes, key=lambda v: v.rank, default=Verdict.RACE_FREE)


def _misses_barriers(context: ContextResult) -> bool:
    return any(finding.code is Verdict.BARRIER_DIVERGENCE for finding in context.findings)


def _denied(context: ContextResult, result: RunResult, sample: Sample) -> Iterator[str]:
    """What a run showed and the context denies."""
    claim = _claim(context)
    if claim in _CLAIMS_NO_RACE:
        if any(fault.kind == "divergent-barrier" for fault in result.faults):
            yield f"{claim.value}, but threads meet at different barriers"
        for race in result.races:
            yield f"{claim.value}, but {_described(race)}"
    elif not sample.steered and not context.reasons and not _misses_barriers(context):
        # Only what a first race does not steer: behind one, values are anybody's, and equal ones may differ.
        for race in result.races:
            if not any(is_between(sides_of(f), race) for f in context.findings):
                yield f"{claim.value}, but no finding for {_described(race)}"


def _described(race: RunRace) -> str:
    sides = (
        f"{a.kind} in line {a.places[0].line if a.places else 0} by {a.block} {a.thread}"
        for a in (race.first, race.second)
    )
    return f"{race.scope} race on {race.address}: {', '.join(sides)}"


def _replay(finding: Finding, launch: ConcreteLaunch, runner: _Runner, outcome: RunOutcome, missed: bool) -> None:
    """A definite race is seen at its witness, whatever memory holds; what the witness leaves open is as in `launch`.
    `missed`: some threads are said to miss a barrier of the same launch."""
    witness = finding.witness
    assert witness is not None
    values = {**launch.values, **dict(witness.parameters)}
    lines = tuple(access.span.line for access in finding.accesses)
    result = runner.run(witness.grid, witness.block, values, (0, 1, 2), focus_of(finding))
    if _says_nothing(result, outcome):
        return
    if any("CAS" in runner.source[line - 1] for line in lines):
        outcome.not_run.append("a compare-and-swap, which may fail")
        return
    seen = any(is_between(sides_of(finding), race) for race in result.races)
    if not seen and missed:
        # It speaks of threads that get to the barriers of the block together: a run orders what comes behind a barrier
        # after threads that have ended without it.
        outcome.not_run.append("a barrier that threads are said to miss")
        return
    outcome.witnesses += 1
    if not seen:
        others = "; ".join(_described(race) for race in result.races[:3]) or "no race"
        outcome.contradictions.append(
            f"data-race of lines {list(lines)} is not seen at its witness, grid {witness.grid} block {witness.block} "
            f"values {values}: {others}"
        )
