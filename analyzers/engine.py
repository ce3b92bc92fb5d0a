"""Check one translation unit: text and flags in, a stream of events out, one per kernel as soon as it is decided.

This is the one entry into the analysis. An `Engine` is long-lived: it lives in a worker process, keeps the translation
units of the documents it has seen warm, and is used by one thread. It writes no file and starts no process.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from analyzers.frontend.flags import CompileFlags
from analyzers.frontend.lower import lower_unit
from analyzers.frontend.parse import ParsedUnit, ParseFailure, UnitParser
from analyzers.frontend.parse import Severity as ClangSeverity
from analyzers.hostguide.contexts import context_of_user_launch, default_context
from analyzers.hostguide.launches import launch_contexts
from analyzers.ir.context import LaunchContext
from analyzers.ir.events import KernelEvents
from analyzers.ir.fingerprint import fingerprint
from analyzers.ir.kernel import Kernel
from analyzers.ir.printer import kernel_text
from analyzers.ir.symbolic import summarize
from analyzers.model import CheckOptions, KernelResult, Reason, Skipped, SyntaxIssue, UnitResult, Verdict
from analyzers.verdicts.decide import Decision
from analyzers.verdicts.explain import (
    PASSES,
    explain_conditions,
    explain_events,
    explain_lockstep,
    explain_pairs,
)
from analyzers.verdicts.kernel import check_kernel

#: `Reason.kind` of a kernel that is `unknown` because the compiler reported an error inside it, and of a unit that the
#: compiler could not take in at all. The editor keeps the last good result of such kernels.
PARSE_ERROR = "parse-error"


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """One unit to check. A result depends on this and on the files that it lists as dependencies, nothing else."""

    path: str
    """Absolute path of the main file; the file need not exist, `text` is what counts."""
    text: str
    flags: CompileFlags = field(default_factory=CompileFlags)
    unsaved: Mapping[str, str] = field(default_factory=dict[str, str])
    """Text of other open documents by absolute path; it shadows the disk."""
    options: CheckOptions = field(default_factory=CheckOptions)
    previous_keys: Mapping[str, str] = field(default_factory=dict[str, str])
    """Mangled kernel name -> `KernelFinished.key` of the result the caller still shows. A hint for the order: kernels
    whose key has changed were edited and are checked first."""
    first: tuple[tuple[str, int, int], ...] = ()
    """(path, start byte, end byte) ranges that the user looks at; a hint for the order, best first."""


@dataclass(frozen=True, slots=True)
class KernelFinished:
    """A kernel is decided. Each kernel of the unit gets exactly one, in any order."""

    result: KernelResult
    key: str = ""
    """Content key of the verdict (equal keys: equal verdict, up to positions); empty when there is none."""


@dataclass(frozen=True, slots=True)
class UnitFinished:
    """Always the last event, also when the unit could not be analysed (`result.failure`).

    `result.kernels` holds all kernels in source order; `result.dependencies` the absolute, normalised paths of all
    files that were read, the main file and the bundled headers excluded."""

    result: UnitResult


@dataclass(frozen=True, slots=True)
class Progress:
    """`done` of `total` kernels are decided, `name` is next. Sent before every kernel, so silence means a hang."""

    done: int
    total: int
    name: str


Event = KernelFinished | UnitFinished | Progress


class CancelledError(Exception):
    """The caller asked to stop; nothing is known about the kernels that had not finished."""


def never() -> bool:
    """The `stop` of a caller that never stops."""
    return False


@dataclass(frozen=True, slots=True)
class FixRefusal:
    """Why no repair is offered for a finding, as a sentence for the user."""

    text: str


@dataclass(frozen=True, slots=True)
class KernelAnalysis:
    """A kernel with everything that was found on the way to its verdict."""

    kernel: Kernel
    events: KernelEvents
    contexts: tuple[LaunchContext, ...]
    result: KernelResult


@dataclass(frozen=True, slots=True)
class UnitAnalysis:
    """A checked unit, for whoever repairs it."""

    request: CheckRequest
    unit: ParsedUnit
    kernels: tuple[KernelAnalysis, ...]
    result: UnitResult


VERSION = "1"
"""Part of every content key: raise it when the same kernel may get another verdict."""

MAX_DECISIONS = 20_000


class Engine:
    """Checks units and keeps them warm. Not thread-safe; one per process."""

    def __init__(self) -> None:
        self._parser = UnitParser()
        self._decisions: dict[str, Decision] = {}
        self._probes: dict[str, tuple[str, ...]] = {}
        self._last: UnitAnalysis | None = None

    def check(self, request: CheckRequest, stop: Callable[[], bool] = never) -> Iterator[Event]:
        """Yield events until `UnitFinished`.

        `stop` is polled between queries; when it answers true, `CancelledError` is raised. A caller may also just drop
        the iterator. Nothing else is raised for any input: a unit that cannot be analysed ends in
        `UnitResult.failure`."""
        started = time.perf_counter()

        def poll() -> None:
            if stop():
                raise CancelledError

        arch = request.flags.arch

        def parse(probes: Sequence[str]) -> ParsedUnit:
            return self._parser.parse(request.path, request.text, request.flags, request.unsaved, probes)

        try:
            lowered = lower_unit(parse(self._probes.get(request.path, ())), parse)
        except ParseFailure as error:
            reason = Reason(PARSE_ERROR, str(error))
            yield UnitFinished(UnitResult(request.path, arch, failure=reason, milliseconds=_since(started)))
            return
        self._probes[request.path] = lowered.probes
        unit = lowered.unit
        poll()
        host = launch_contexts(unit)
        kernels = [k for k in lowered.kernels if _wanted(k, request.options)]
        skipped: tuple[Skipped, ...] = (*lowered.skipped, *host.skipped)
        analyses: dict[int, KernelAnalysis] = {}
        for done, i in enumerate(_order(kernels, request)):
            kernel = kernels[i]
            poll()
            yield Progress(done, len(kernels), kernel.name)
            contexts = _contexts(kernel, host.contexts.get(kernel.mangled, ()), request.options)
            analyses[i], key = self._kernel(kernel, contexts, request, poll)
            yield KernelFinished(analyses[i].result, key)
        ordered = tuple(analyses[i] for i in range(len(kernels)))
        result = UnitResult(
            path=request.path,
            arch=arch,
            kernels=tuple(a.result for a in ordered),
            skipped=skipped,
            syntax=_syntax(unit),
            dependencies=unit.dependencies,
            milliseconds=_since(started),
        )
        self._last = UnitAnalysis(request, unit, ordered, result)
        yield UnitFinished(result)

    def analyse(self, request: CheckRequest, stop: Callable[[], bool] = never) -> UnitAnalysis:
        """The whole unit with its intermediate forms. Raises ParseFailure where `check` reports a failure."""
        last = self._last
        if last is not None and last.request == request:
            return last
        for event in self.check(request, stop):
            if isinstance(event, UnitFinished) and event.result.failure is not None:
                raise ParseFailure(event.result.failure.text)
        assert self._last is not None
        return self._last

    def forget(self, path: str) -> None:
        """Free what is kept warm for the unit of `path`: its document was closed."""
        self._parser.forget(path)
        self._probes.pop(path, None)
        if self._last is not None and self._last.request.path == path:
            self._last = None

    def _kernel(
        self, kernel: Kernel, contexts: Sequence[LaunchContext], request: CheckRequest, poll: Callable[[], None]
    ) -> tuple[KernelAnalysis, str]:
        events = summarize(kernel)
        options = request.options
        base = fingerprint(VERSION, kernel, options.warp_lockstep, options.smt_budget, options.redundancy)
        keys = {
            id(c): f"{base}:{fingerprint(c.bindings, c.constraints, c.pointers, c.summary.source)}" for c in contexts
        }

        def remember(context: LaunchContext, decision: Decision) -> None:
            if len(self._decisions) >= MAX_DECISIONS:
                self._decisions.clear()
            self._decisions[keys[id(context)]] = decision

        result = check_kernel(events, contexts, options, poll, lambda c: self._decisions.get(keys[id(c)]), remember)
        return KernelAnalysis(kernel, events, tuple(contexts), result), fingerprint(*sorted(keys.values()))


def explain(request: CheckRequest, kernel_name: str, pass_name: str) -> str:
    """One stage of one kernel as text. Raises ValueError for an unknown kernel or pass, ParseFailure for a unit that
    cannot be taken in."""
    if pass_name not in PASSES:
        raise ValueError(f"unknown pass `{pass_name}`; there are {', '.join(PASSES)}")
    analysis = Engine().analyse(request)
    chosen = [a for a in analysis.kernels if kernel_name in (a.kernel.name, a.kernel.base_name)]
    if not chosen:
        names = ", ".join(sorted({a.kernel.name for a in analysis.kernels})) or "none"
        raise ValueError(f"no kernel `{kernel_name}` in {request.path}; there are: {names}")
    return "\n\n".join(_explained(a, pass_name, request.options) for a in chosen)


def _explained(a: KernelAnalysis, pass_name: str, options: CheckOptions) -> str:
    if pass_name == "ir":
        return kernel_text(a.kernel)
    if pass_name == "events":
        return explain_events(a.events)
    if pass_name == "lockstep":
        return explain_lockstep(a.events)
    parts: list[str] = []
    for context in a.contexts:
        grid, block = "x".join(context.summary.grid), "x".join(context.summary.block)
        parts.append(f"kernel {a.kernel.name}, launch grid {grid}, block {block} ({context.summary.source})")
        if pass_name == "pairs":
            parts.append(explain_pairs(a.events, context))
        else:
            parts.append(explain_conditions(a.events, context, options.smt_budget))
    return "\n".join(parts)


def _since(started: float) -> float:
    return round((time.perf_counter() - started) * 1e3, 3)


def _wanted(kernel: Kernel, options: CheckOptions) -> bool:
    return not options.kernels or kernel.name in options.kernels or kernel.base_name in options.kernels


def _order(kernels: Sequence[Kernel], request: CheckRequest) -> list[int]:
    """What the user looks at first, then source order."""

    def rank(i: int) -> tuple[int, int]:
        extent = kernels[i].extent
        for place, (path, start, end) in enumerate(request.first):
            if extent.path == path and extent.start_offset <= end and start <= extent.end_offset:
                return place, i
        return len(request.first), i

    return sorted(range(len(kernels)), key=rank)


def _contexts(kernel: Kernel, launches: Sequence[LaunchContext], options: CheckOptions) -> list[LaunchContext]:
    if options.launches:
        return [context_of_user_launch(u, kernel) for u in options.launches]
    if options.use_host and launches:
        return list(launches)
    return [default_context(kernel)]


def _syntax(unit: ParsedUnit) -> tuple[SyntaxIssue, ...]:
    return tuple(
        SyntaxIssue(d.message, d.span)
        for d in unit.diagnostics
        if d.severity >= ClangSeverity.ERROR and d.span is not None
    )


__all__ = [
    "PARSE_ERROR",
    "CancelledError",
    "CheckRequest",
    "Engine",
    "Event",
    "FixRefusal",
    "KernelAnalysis",
    "KernelFinished",
    "Progress",
    "UnitAnalysis",
    "UnitFinished",
    "Verdict",
    "explain",
    "never",
]
