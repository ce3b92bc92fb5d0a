"""Check one translation unit: text and flags in, a stream of events out, one per kernel as soon as it is decided.

This is the one entry into the analysis. An `Engine` is long-lived: it lives in a worker process, keeps the translation
units of the documents it has seen warm, and is used by one thread. It writes no file and starts no process.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from analyzers.frontend import focus
from analyzers.frontend.confined import is_confined
from analyzers.frontend.flags import CompileFlags
from analyzers.frontend.lower import FoundKernel, FoundUnit, find_kernels, lower_unit
from analyzers.frontend.parse import HostPass, ParsedUnit, ParseFailure, UnitParser, source_bytes
from analyzers.frontend.unseen import unseen
from analyzers.hostguide.comments import CommentDirective, comment_directives, user_contexts, with_assumptions
from analyzers.hostguide.contexts import context_of_user_launch, default_context, describe, unfit
from analyzers.hostguide.launches import HostFacts, launch_contexts
from analyzers.hostguide.program import Program
from analyzers.incremental import Edit, edit_inside_function, moved
from analyzers.ir.context import LaunchContext
from analyzers.ir.events import KernelEvents
from analyzers.ir.fingerprint import fingerprint
from analyzers.ir.kernel import Kernel
from analyzers.ir.printer import kernel_text
from analyzers.ir.symbolic import TooMuchWorkError, summarize
from analyzers.model import CheckOptions, KernelResult, Reason, Skipped, SourceSpan, SyntaxIssue, UnitResult, UserLaunch
from analyzers.races.precedents import Precedents
from analyzers.verdicts.decide import Decision
from analyzers.verdicts.explain import (
    PASSES,
    explain_conditions,
    explain_events,
    explain_lockstep,
    explain_pairs,
)
from analyzers.verdicts.kernel import agreed, broken, check_kernel, undecided

#: `Reason.kind` of a kernel that is `unknown` because the compiler reported an error inside it, and of a unit that the
#: compiler could not take in at all. The editor keeps the last good result of such kernels.
PARSE_ERROR = "parse-error"


#: How `Skipped.what` of a launch begins that was asked for and fits no kernel of the unit; the launch, in the notation
#: of `hostguide.contexts.describe`, and a colon follow.
UNFIT = "no kernel can be launched as"


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
    program: Program = field(default_factory=Program)
    """Other files whose host code reaches the unit's kernels."""
    linking: Callable[[], Program] | None = field(default=None, compare=False)
    """Gives the program, where that is still being looked for: asked once the unit is parsed."""
    hopeless: Mapping[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    """`Progress.key` of kernels not to be tried, because a process that did so ended or had to be ended, with the kind
    and the text of the reason: they are unknown."""

    def linked(self) -> CheckRequest:
        """The request with its program known."""
        return self if self.linking is None else replace(self, program=self.linking(), linking=None)


@dataclass(frozen=True, slots=True)
class KernelFinished:
    """A kernel is decided. Each kernel of the unit gets exactly one, in any order."""

    result: KernelResult
    key: str = ""
    """Content key of the verdict (equal keys: equal verdict, up to positions); empty when there is none."""


@dataclass(frozen=True, slots=True)
class KernelForeseen:
    """What the `KernelFinished` of an edited kernel, which follows, will most likely say."""

    result: KernelResult
    key: str


@dataclass(frozen=True, slots=True)
class UnitFinished:
    """Always the last event, also when the unit could not be analysed (`result.failure`).

    `result.kernels` holds all kernels in source order; `result.dependencies` the absolute, normalised paths of all
    files that were read, the main file and the bundled headers excluded."""

    result: UnitResult


@dataclass(frozen=True, slots=True)
class Progress:
    """`done` of `total` kernels are decided, `name` is next. Sent before every kernel."""

    done: int
    total: int
    name: str
    key: str = ""
    """The content key of the kernel that is next, where there is work to do for it."""


Event = KernelForeseen | KernelFinished | UnitFinished | Progress


class CancelledError(Exception):
    """The caller asked to stop; nothing is known about the kernels that had not finished."""


def never() -> bool:
    """The `stop` of a caller that never stops."""
    return False


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
    functions: Mapping[str, tuple[SourceSpan, ...]] = field(default_factory=dict[str, tuple[SourceSpan, ...]])
    """From `inspect` and `retry`: by mangled name of each kernel of the checked unit, the extents of its definition and
    of the device functions it reaches, in the text of the last check."""


VERSION = "1"
"""Part of every content key: raise it when the same kernel may get another verdict."""

VOLTA = 70
"""The architecture from which on the threads of a warp are scheduled one by one."""

MAX_DECISIONS = 20_000

_PROBE_ROUNDS = 3
"""How often the host side may ask for further instances: a probe can bring the next table into sight."""


@dataclass(frozen=True, slots=True)
class _Known:
    """What is kept of a kernel between two checks of its unit. Positions are those of the text of the check before."""

    mangled: str
    names: tuple[str, str]
    functions: tuple[SourceSpan, ...]
    """Extents of its own definition and of every device function it reaches."""
    launches: tuple[LaunchContext, ...]
    """What the host code says; what else is assumed of launches depends on the kernel's own code and the comments."""
    result: KernelResult
    key: str


@dataclass(frozen=True, slots=True)
class _Question:
    """A kernel to decide."""

    kernel: Kernel
    contexts: tuple[LaunchContext, ...]
    keys: tuple[str, ...]
    """Content keys of the verdicts in each context."""

    @property
    def key(self) -> str:
        return fingerprint(*sorted(self.keys))


@dataclass(slots=True)
class _Warm:
    """The last check of a unit."""

    request: CheckRequest
    kernels: tuple[_Known, ...]
    result: UnitResult
    probes: tuple[str, ...]
    flags: CompileFlags
    """Those that the unit was parsed with."""
    bodies: tuple[focus.Range, ...]
    """Function bodies that may be left out where the kernels at hand do not reach them."""
    unseen: tuple[Skipped, ...]
    """Of `result.skipped`, what the front end did not see."""
    analysis: UnitAnalysis | None
    """With the intermediate forms, when the whole unit was taken in."""


@dataclass(frozen=True, slots=True)
class _Linked:
    """The other files of a unit's program, as far as they could be parsed."""

    program: Program = field(default_factory=Program)
    passes: tuple[HostPass, ...] = ()
    files: tuple[str, ...] = ()
    """Those files and what they include."""
    skipped: tuple[Skipped, ...] = ()


class Engine:
    """Checks units and keeps them warm. Not thread-safe; one per process."""

    def __init__(self) -> None:
        self._parser = UnitParser()
        self._decisions: dict[str, Decision] = {}
        self._warm: dict[str, _Warm] = {}
        self._latest: tuple[CheckRequest, ParsedUnit] | None = None
        """The last parse of all: its cursors are alive until its file is parsed again."""
        self._precedents: dict[SourceSpan, Precedents] = {}
        """Of the check that is going on, by the kernel's definition."""
        self.spent = 0
        """Units of work (`analyzers.solve.effort`) of all decisions so far, known ones included."""

    def check(self, request: CheckRequest, stop: Callable[[], bool] = never) -> Iterator[Event]:
        """Yield events until `UnitFinished`.

        `stop` is polled between queries; when it answers true, `CancelledError` is raised. A caller may also just drop
        the iterator. Nothing else is raised for any input: a unit that cannot be analysed ends in
        `UnitResult.failure`."""
        started = time.perf_counter()
        self._precedents = {}

        def poll() -> None:
            if stop():
                raise CancelledError

        def parse(probes: Sequence[str]) -> ParsedUnit:
            return self._parse(request, probes)

        def link(probes: Mapping[str, tuple[str, ...]]) -> _Linked:
            poll()
            return self._linked(request, probes)

        warm = self._warm.get(request.path)
        likely = _likely_edit(warm, request) if warm is not None else None
        try:
            if warm is not None and likely is not None:
                spent = self.spent
                yield from self._foreseen(warm, likely, request, poll)
                self._precedents, self.spent = {}, spent
            unit = parse(warm.probes if warm is not None else ())
            poll()
            request = request.linked()
            self._latest = (request, unit)
            edit = _small_edit(warm, likely, request, unit) if warm is not None else None
            if warm is not None and edit is not None:
                yield from self._recheck(warm, edit, unit, request, poll, started)
            else:
                yield from self._check_whole(*_taken_in(unit, parse, link, request.options), request, poll, started)
        except ParseFailure as error:
            reason = Reason(PARSE_ERROR, str(error))
            failed = UnitResult(request.path, request.flags.arch, failure=reason, milliseconds=_since(started))
            yield UnitFinished(failed)

    def _check_whole(
        self,
        found: FoundUnit,
        host: HostFacts,
        linked: _Linked,
        request: CheckRequest,
        poll: Callable[[], None],
        started: float,
    ) -> Iterator[Event]:
        poll()
        kernels = [k for k in found.kernels if _wanted(k, request.options)]
        directives, skipped_comments = _directives(found.unit, kernels)
        if request.options.launches:
            skipped_comments += _unfit(request.options, [k.lower() for k in kernels])
        skipped = [
            *found.skipped,
            *host.skipped,
            *_launched_unseen(found, host),
            *skipped_comments,
            *linked.skipped,
        ]
        analyses: dict[int, tuple[KernelAnalysis, str]] = {}
        for done, i in enumerate(_order(kernels, request)):
            kernel = kernels[i].lower()
            poll()
            launches = host.contexts.get(kernel.mangled, ())
            contexts, dropped = _contexts(kernel, launches, request.options, directives)
            skipped += dropped
            question = _question(kernel, contexts, _settings(request))
            yield Progress(done, len(kernels), kernel.name, question.key)
            analyses[i] = self._decided(question, request, poll)
            yield KernelFinished(analyses[i][0].result, analyses[i][1])
        ordered = tuple(analyses[i] for i in range(len(kernels)))
        result = UnitResult(
            path=request.path,
            arch=request.flags.arch,
            kernels=agreed([a.result for a, _ in ordered]),
            skipped=tuple(skipped),
            syntax=_syntax(found.unit),
            dependencies=_dependencies(found.unit, linked.files),
            linked=tuple(sorted({*linked.files} - {request.path, *found.unit.dependencies})),
            milliseconds=_since(started),
        )
        analysis = UnitAnalysis(request, found.unit, tuple(a for a, _ in ordered), result)
        flags, bodies = found.unit.flags, found.bodies
        known = tuple(_known(a, tuple(host.contexts.get(a.kernel.mangled, ())), key) for a, key in ordered)
        self._warm[request.path] = _Warm(request, known, result, found.probes, flags, bodies, found.skipped, analysis)
        yield UnitFinished(result)

    def _foreseen(
        self, warm: _Warm, edit: Edit, request: CheckRequest, poll: Callable[[], None]
    ) -> Iterator[KernelForeseen | Progress]:
        """The edited kernels in a text without the function bodies that they do not reach, as far as can be told: the
        whole text takes ten times as long."""
        touched = [k for k in warm.kernels if edit.function in k.functions]
        kept = {edit.moved_range(f.start_offset, f.end_offset) for k in touched for f in k.functions}
        names = sorted({n for k in touched for n in k.names})
        bodies = tuple(edit.moved_range(start, end) for start, end in warm.bodies)
        bodies = focus.left_out(bodies, request.text, tuple(kept), {k.names[1] for k in touched})
        try:
            unit = self._parser.parse_focused(
                request.path, request.text, bodies, warm.flags, request.unsaved, warm.probes
            )
        except ParseFailure:
            return  # as the whole parse will say
        if unit.all_errors or not is_confined(unit, request.path, edit.function.end_offset + edit.delta):
            return
        launches = {k.mangled: k.launches for k in touched}
        directives, _ = _directives(unit, [k.result for k in warm.kernels])
        for found in find_kernels(unit, None, names).kernels:
            poll()
            if found.mangled not in launches:
                continue
            kernel = found.lower()
            if any(_overlap(span, request.path, bodies) for span in (kernel.extent, *(s for _, s in kernel.functions))):
                continue  # the edit calls what was left out
            contexts, _ = _contexts(kernel, moved(launches[kernel.mangled], edit), request.options, directives)
            question = _question(kernel, contexts, _settings(request))
            yield Progress(0, len(warm.kernels), kernel.name, question.key)
            yield KernelForeseen(*_result(self._decided(question, request, poll)))

    def _recheck(
        self,
        warm: _Warm,
        edit: Edit,
        unit: ParsedUnit,
        request: CheckRequest,
        poll: Callable[[], None],
        started: float,
    ) -> Iterator[Event]:
        """The unit after an edit inside one function: only kernels that contain or call it are lowered and decided."""
        touched = {k.mangled for k in warm.kernels if edit.function in k.functions}
        names = sorted({n for k in warm.kernels if k.mangled in touched for n in k.names})
        lowered = {k.mangled: k for k in lower_unit(unit, None, names).kernels} if touched else {}
        directives, _ = _directives(unit, [k.result for k in warm.kernels])
        now: dict[str, _Known] = {}
        order = sorted(warm.kernels, key=lambda k: k.mangled not in touched)
        for done, old in enumerate(order):
            poll()
            launches = moved(old.launches, edit)
            fresh = lowered.get(old.mangled)
            if old.mangled in touched and fresh is not None:
                contexts, _ = _contexts(fresh, launches, request.options, directives)
                question = _question(fresh, contexts, _settings(request))
                yield Progress(done, len(order), old.result.name, question.key)
                analysis, key = self._decided(question, request, poll)
                now[old.mangled] = _known(analysis, launches, key)
            else:
                yield Progress(done, len(order), old.result.name)
                functions = moved(old.functions, edit)
                now[old.mangled] = replace(old, functions=functions, launches=launches, result=moved(old.result, edit))
            yield KernelFinished(now[old.mangled].result, now[old.mangled].key)
        ordered = tuple(now[k.mangled] for k in warm.kernels)
        result = replace(
            moved(warm.result, edit),
            kernels=agreed([k.result for k in ordered]),
            syntax=_syntax(unit),
            dependencies=_dependencies(unit, warm.result.linked),
            milliseconds=_since(started),
        )
        bodies = tuple(edit.moved_range(start, end) for start, end in warm.bodies)
        skipped = moved(warm.unseen, edit)
        self._warm[request.path] = _Warm(request, ordered, result, warm.probes, unit.flags, bodies, skipped, None)
        yield UnitFinished(result)

    def analyse(self, request: CheckRequest, stop: Callable[[], bool] = never) -> UnitAnalysis:
        """The whole unit with its intermediate forms. Raises ParseFailure where `check` reports a failure."""
        warm = self._warm.get(request.path)
        if warm is None or warm.analysis is None or warm.request != request:
            self._warm.pop(request.path, None)
            for event in self.check(request, stop):
                if isinstance(event, UnitFinished) and event.result.failure is not None:
                    raise ParseFailure(event.result.failure.text)
            warm = self._warm[request.path]
        assert warm.analysis is not None
        return warm.analysis

    def inspect(self, request: CheckRequest, kernels: Sequence[str], stop: Callable[[], bool] = never) -> UnitAnalysis:
        """The result of the whole unit, with the intermediate forms of the kernels with these names only.

        Costs little after a `check` of the same request. The cursors of `unit` live until the file is parsed again.
        Raises ParseFailure."""
        warm = self._warm.get(request.path)
        if warm is None or warm.request != request:
            for event in self.check(request, stop):
                if isinstance(event, UnitFinished) and event.result.failure is not None:
                    raise ParseFailure(event.result.failure.text)
            warm = self._warm[request.path]
        latest = self._latest
        parsed = latest is not None and latest[0] is warm.request
        unit = latest[1] if latest is not None and parsed else self._parse(warm.request, warm.probes)
        return self._inspected(warm, request, unit, kernels, warm.result, stop)

    def retry(self, request: CheckRequest, kernels: Sequence[str], stop: Callable[[], bool] = never) -> UnitAnalysis:
        """Decide the kernels with these names in a text that is tried out.

        The unit must have been checked, and the text may differ from the checked one inside device functions only:
        launches are those of the last check, which stays the one that later checks start from. Raises ParseFailure."""
        warm = self._warm[request.path]
        unit = self._parse(request, warm.probes)
        return self._inspected(warm, request, unit, kernels, None, stop)

    def _inspected(
        self,
        warm: _Warm,
        request: CheckRequest,
        unit: ParsedUnit,
        names: Sequence[str],
        result: UnitResult | None,
        stop: Callable[[], bool],
    ) -> UnitAnalysis:
        def poll() -> None:
            if stop():
                raise CancelledError

        started = time.perf_counter()
        poll()
        launches = {k.mangled: k.launches for k in warm.kernels}
        directives, _ = _directives(unit, [k.result for k in warm.kernels])
        lowered = [k for k in lower_unit(unit, None, names).kernels if k.mangled in launches] if names else []
        contexts = [_contexts(k, launches[k.mangled], request.options, directives)[0] for k in lowered]
        questions = [_question(k, c, _settings(request)) for k, c in zip(lowered, contexts, strict=True)]
        analyses = tuple(self._decided(q, request, poll)[0] for q in questions)
        if result is None:
            result = UnitResult(
                path=request.path,
                arch=request.flags.arch,
                kernels=tuple(a.result for a in analyses),
                syntax=_syntax(unit),
                dependencies=unit.dependencies,
                milliseconds=_since(started),
            )
        functions = {k.mangled: k.functions for k in warm.kernels}
        return UnitAnalysis(request, unit, analyses, result, functions)

    def _parse(self, request: CheckRequest, probes: Sequence[str]) -> ParsedUnit:
        self._latest = None
        unit = self._parser.parse(request.path, request.text, request.flags, request.unsaved, probes)
        self._latest = (request, unit)
        return unit

    def _linked(self, request: CheckRequest, probes: Mapping[str, tuple[str, ...]]) -> _Linked:
        """The host side of the other files of the program, each with the lines to append to it."""
        if not request.options.use_host or request.options.launches or not request.program.files:
            return _Linked()
        passes, skipped = list[HostPass](), list[Skipped]()
        texts = {**request.unsaved, request.path: request.text}
        for file in request.program.files:
            try:
                more = probes.get(file.path, ())
                passes.append(self._parser.parse_host(request.path, file.path, file.text, file.flags, texts, more))
            except ParseFailure as error:
                skipped.append(Skipped(f"host code in {file.path}: {error}"))
        files = {path for p in passes for path in (p.path, *p.dependencies)}
        files |= {f.path for f in request.program.files}
        return _Linked(request.program, tuple(passes), tuple(sorted(files)), tuple(skipped))

    def forget(self, path: str) -> None:
        """Free what is kept warm for the unit of `path`: its document was closed."""
        self._parser.forget(path)
        self._warm.pop(path, None)
        self._latest = None

    def _decided(
        self, question: _Question, request: CheckRequest, poll: Callable[[], None]
    ) -> tuple[KernelAnalysis, str]:
        if not question.contexts:
            return _unasked(question.kernel, request.options.launches)
        return self._kernel(question, request, poll)

    def _kernel(
        self, question: _Question, request: CheckRequest, poll: Callable[[], None]
    ) -> tuple[KernelAnalysis, str]:
        kernel, contexts = question.kernel, question.contexts
        place = {id(c): key for c, key in zip(contexts, question.keys, strict=True)}

        def remembered(context: LaunchContext) -> Decision | None:
            decision = self._decisions.get(place[id(context)])
            self.spent += decision.effort if decision is not None else 0
            return decision

        def remember(context: LaunchContext, decision: Decision) -> None:
            if len(self._decisions) >= MAX_DECISIONS:
                self._decisions.clear()
            self._decisions[place[id(context)]] = decision
            self.spent += decision.effort

        hopeless = request.hopeless.get(question.key)
        try:
            if hopeless is not None:
                events, result = undecided(kernel, contexts, Reason(*hopeless, kernel.span))
            else:
                events = summarize(kernel)
                precedents = self._precedents.setdefault(kernel.extent, Precedents())
                result = check_kernel(events, contexts, _settings(request), poll, remembered, remember, precedents)
        except CancelledError:
            raise
        except TooMuchWorkError as error:
            events, result = undecided(kernel, contexts, Reason("budget", str(error), kernel.span))
        except Exception as error:  # noqa: BLE001 - a defect of ours is reported, and costs only its kernel
            events, result = broken(kernel, contexts, error)
        return KernelAnalysis(kernel, events, contexts, result), question.key


def _settings(request: CheckRequest) -> CheckOptions:
    """The options for the architecture: before Volta, the threads of a warp run in lock-step."""
    if request.flags.arch >= VOLTA or request.options.warp_lockstep:
        return request.options
    return replace(request.options, warp_lockstep=True)


def _question(kernel: Kernel, contexts: Sequence[LaunchContext], options: CheckOptions) -> _Question:
    base = fingerprint(
        VERSION, kernel, options.warp_lockstep, options.wrap_around, options.smt_budget, options.redundancy
    )
    keys = tuple(
        f"{base}:{fingerprint(c.bindings, c.constraints, c.pointers, c.variables, c.summary.source, c.cooperative)}"
        for c in contexts
    )
    return _Question(kernel, tuple(contexts), keys)


def _unasked(kernel: Kernel, launches: Sequence[UserLaunch]) -> tuple[KernelAnalysis, str]:
    """A kernel that none of the launches fits that the user asked for."""
    text = "; ".join(dict.fromkeys(filter(None, (unfit(launch, [kernel]) for launch in launches))))
    contexts = tuple(context_of_user_launch(replace(launch, values=()), kernel) for launch in launches)
    events, result = undecided(kernel, contexts, Reason("launch", text, kernel.span))
    return KernelAnalysis(kernel, events, contexts, result), ""


def _unfit(options: CheckOptions, kernels: Sequence[Kernel]) -> list[Skipped]:
    """The launches that the user asked for and that no kernel of the unit can have."""
    return [
        Skipped(f"{UNFIT} {describe(launch)}: {text}", None)
        for launch in options.launches
        if (text := unfit(launch, kernels))
    ]


def _taken_in(
    unit: ParsedUnit,
    parse: Callable[[Sequence[str]], ParsedUnit],
    link: Callable[[Mapping[str, tuple[str, ...]]], _Linked],
    options: CheckOptions,
) -> tuple[FoundUnit, HostFacts, _Linked]:
    """Both sides of a unit. The host side may ask for instances by probes, which both then see."""
    found = find_kernels(unit, parse)
    linked = link({})
    host = launch_contexts(found.unit, linked.passes, linked.program, options.kernels)
    for _ in range(_PROBE_ROUNDS):
        if not host.probes and not host.linked_probes:
            break
        if host.probes:
            found = find_kernels(parse((*found.probes, *host.probes)), parse)
        if host.linked_probes:
            linked = link({p.path: (*p.probes, *host.linked_probes.get(p.path, ())) for p in linked.passes})
        host = launch_contexts(found.unit, linked.passes, linked.program, options.kernels)
    return found, host, linked


def _directives(
    unit: ParsedUnit, kernels: Sequence[FoundKernel | KernelResult]
) -> tuple[list[CommentDirective], list[Skipped]]:
    """The comments about launches in the unit's file and in the headers that define kernels."""
    directives: list[CommentDirective] = []
    skipped: list[Skipped] = []
    for path in dict.fromkeys((unit.path, *(k.extent.path for k in kernels))):
        found, bad = comment_directives(unit.text_of(path), path)
        directives += found
        skipped += bad
    return directives, skipped


def _launched_unseen(found: FoundUnit, host: HostFacts) -> Iterator[Skipped]:
    """Launches of kernels that no definition was found for."""
    kernels = {k.mangled for k in found.kernels}
    own = {found.unit.path, *found.unit.dependencies}
    for launch in host.launches:
        if launch.span.path not in own:
            continue
        lost = sum(k not in kernels for k in launch.kernels)
        if lost:
            which = (
                "its kernel has" if len(launch.kernels) == 1 else f"{lost} of its {len(launch.kernels)} kernels have"
            )
            yield Skipped(f"launch {launch.text}: {which} no definition in this unit", launch.span)


def _known(a: KernelAnalysis, launches: tuple[LaunchContext, ...], key: str) -> _Known:
    functions = (a.kernel.extent, *(span for _, span in a.kernel.functions))
    return _Known(a.kernel.mangled, (a.kernel.name, a.kernel.base_name), functions, launches, a.result, key)


def _result(decided: tuple[KernelAnalysis, str]) -> tuple[KernelResult, str]:
    return decided[0].result, decided[1]


def _overlap(span: SourceSpan, path: str, ranges: Sequence[focus.Range]) -> bool:
    return span.path == path and any(a < span.end_offset and span.start_offset < b for a, b in ranges)


def _likely_edit(warm: _Warm, request: CheckRequest) -> Edit | None:
    """The edit between two checks of a unit, if the texts alone tell of none but inside one function."""
    before = warm.request
    if (before.flags, before.unsaved, before.options) != (request.flags, request.unsaved, request.options):
        return None
    functions = {f for k in warm.kernels for f in k.functions}
    return edit_inside_function(request.path, before.text, request.text, functions)


def _small_edit(warm: _Warm, edit: Edit | None, request: CheckRequest, unit: ParsedUnit) -> Edit | None:
    """A likely edit, if only the kernels depend on the function's body that call it, and if it changes no error outside
    of it."""
    if warm.request.program != request.program:
        return None
    if edit is None or warm.result.dependencies != _dependencies(unit, warm.result.linked):
        return None
    inside = replace(edit.function, end_offset=edit.function.end_offset + edit.delta)
    if not is_confined(unit, inside.path, inside.end_offset):
        return None
    if edit.lines and _names_lines(warm.result):
        return None
    if (warm.unseen or unit.all_errors) and _unseen(warm, edit, unit) != moved(warm.unseen, edit):
        return None
    old = [edit.moved(s.span) for s in warm.result.syntax if not _within(s.span, edit.function)]
    new = [s.span for s in _syntax(unit) if not _within(s.span, inside)]
    return edit if [(s.path, s.start_offset) for s in old] == [(s.path, s.start_offset) for s in new] else None


#: In the words for an error, and in clang's name of a lambda or of an unnamed class.
_LINE = re.compile(r"\(line \d+:|:\d+:\d+\)")


def _names_lines(result: UnitResult) -> bool:
    """Whether a text of the result names a line, which an edit above makes another one."""
    reasons = (r.text for k in result.kernels for c in k.contexts for r in c.reasons)
    texts = (*(k.name for k in result.kernels), *(s.what for s in result.skipped), *reasons)
    return any(map(_LINE.search, texts))


def _unseen(warm: _Warm, edit: Edit, unit: ParsedUnit) -> tuple[Skipped, ...]:
    """What the front end does not see of a unit with the same kernels: an error inside a function may hide others."""
    names = [edit.moved(k.result.span) for k in warm.kernels]
    return unseen(unit, names, lambda path: source_bytes(unit.text_of(path)))


def _dependencies(unit: ParsedUnit, linked: Sequence[str]) -> tuple[str, ...]:
    """All files that were read, but the main file."""
    return tuple(sorted({*unit.dependencies, *linked} - {unit.path}))


def _within(span: SourceSpan, function: SourceSpan) -> bool:
    return span.path == function.path and function.start_offset <= span.start_offset < function.end_offset


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
        grid, block = (", ".join(sizes) for sizes in (context.summary.grid, context.summary.block))
        parts.append(f"kernel {a.kernel.name}, launch grid ({grid}), block ({block}) ({context.summary.source})")
        if pass_name == "pairs":
            parts.append(explain_pairs(a.events, context))
        else:
            parts.append(explain_conditions(a.events, context, options.smt_budget))
    return "\n".join(parts)


def _since(started: float) -> float:
    return round((time.perf_counter() - started) * 1e3, 3)


def _wanted(kernel: FoundKernel, options: CheckOptions) -> bool:
    return not options.kernels or kernel.name in options.kernels or kernel.base_name in options.kernels


def _order(kernels: Sequence[FoundKernel], request: CheckRequest) -> list[int]:
    """What the user looks at first, then source order."""

    def rank(i: int) -> tuple[int, int]:
        extent = kernels[i].extent
        for place, (path, start, end) in enumerate(request.first):
            if extent.path == path and extent.start_offset <= end and start <= extent.end_offset:
                return place, i
        return len(request.first), i

    return sorted(range(len(kernels)), key=rank)


def _contexts(
    kernel: Kernel,
    launches: Sequence[LaunchContext],
    options: CheckOptions,
    directives: Sequence[CommentDirective],
) -> tuple[list[LaunchContext], list[Skipped]]:
    """What the user asked for, or every launch in the code and in comments, or else the hardware's limits."""
    skipped: list[Skipped] = []
    contexts: list[LaunchContext] = []
    if options.launches:
        for launch in options.launches:
            try:
                contexts.append(context_of_user_launch(launch, kernel))
            except ValueError:
                # Said once for the unit if no kernel can be launched so, and of the kernel if it has no other launch.
                continue
    else:
        written, skipped_here = user_contexts(kernel, directives)
        skipped += skipped_here
        contexts += launches if options.use_host else ()
        contexts += written
        contexts = contexts or [default_context(kernel, any_blocks=not options.use_host)]
    assumed = [with_assumptions(c, kernel, directives) for c in contexts]
    for _, more in assumed[:1]:
        skipped += more
    return [c for c, _ in assumed], skipped


def _syntax(unit: ParsedUnit) -> tuple[SyntaxIssue, ...]:
    """The compiler's errors; those that the device and the host pass both report count once."""
    return tuple(dict.fromkeys(SyntaxIssue(d.message, d.span) for d in unit.errors))


__all__ = [
    "PARSE_ERROR",
    "CancelledError",
    "CheckRequest",
    "Engine",
    "Event",
    "KernelAnalysis",
    "KernelFinished",
    "KernelForeseen",
    "Progress",
    "UnitAnalysis",
    "UnitFinished",
    "explain",
    "never",
]
