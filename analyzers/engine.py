"""Check one translation unit: text and flags in, a stream of events out, one per kernel as soon as it is decided.

This is the one entry into the analysis. An `Engine` is long-lived: it lives in a worker process, keeps the translation
units of the documents it has seen warm, and is used by one thread. It writes no file and starts no process.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import TypeVar

from analyzers import garbage
from analyzers.analysed import KernelAnalysis, UnitAnalysis
from analyzers.frontend import focus
from analyzers.frontend.confined import is_confined
from analyzers.frontend.lower import FoundKernel, FoundUnit, find_kernels, lower_unit
from analyzers.frontend.parse import HostPass, ParsedUnit, ParseFailure, SourceFile, UnitParser
from analyzers.frontend.side_by_side import meanwhile
from analyzers.hostguide.contexts import context_of_user_launch, unfit
from analyzers.hostguide.launches import HostFacts, launch_contexts
from analyzers.hostguide.listing import Listings
from analyzers.hostguide.program import Program
from analyzers.incremental import Edit, moved
from analyzers.ir.context import LaunchContext
from analyzers.ir.events import AccessEvent
from analyzers.ir.kernel import Instances, Kernel
from analyzers.ir.names import base_word
from analyzers.ir.symbolic import TooMuchWorkError, summarize
from analyzers.kept import Known, Other, Warm, dependencies, kept_of, left_out_of_trial, likely_edit, small_edit
from analyzers.model import (
    CheckOptions,
    ContextResult,
    KernelResult,
    Reason,
    Skipped,
    SourceSpan,
    UnitResult,
    UserLaunch,
    Verdict,
)
from analyzers.questions import (
    Question,
    asked,
    contexts_of,
    directives_of,
    in_order,
    is_wanted,
    launched_unseen,
    settings,
    syntax_issues,
    unfit_launches,
)
from analyzers.races.precedents import Precedents
from analyzers.requests import (
    PARSE_ERROR,
    CancelledError,
    CheckRequest,
    Event,
    KernelFinished,
    KernelForeseen,
    Progress,
    UnitFinished,
    never,
)
from analyzers.verdicts.decide import Collisions, Decision
from analyzers.verdicts.kernel import (
    agreed,
    assemble,
    broken,
    check_kernel,
    conflicts_in,
    executed,
    one_memory,
    reads_kept_apart,
    undecided,
)

MAX_DECISIONS = 20_000

_T = TypeVar("_T")

_Answer = Callable[[Question, CheckRequest, Callable[[], None]], tuple[KernelAnalysis, str]]

_MAXIMAL_COLLIDED = 32
"""Of how many decisions it is kept how their races were found."""
_MAXIMAL_WHOLE = 8
"""How many units are kept with their trees."""
_PROBE_ROUNDS = 3
"""How often the host side may ask for further instances: a probe can bring the next table into sight."""


@dataclass(frozen=True, slots=True)
class _Linked:
    """The other files of a unit's program, as far as they could be parsed."""

    program: Program = field(default_factory=Program)
    passes: tuple[HostPass, ...] = ()
    files: tuple[str, ...] = ()
    """Those files and what they include."""
    skipped: tuple[Skipped, ...] = ()


@dataclass(slots=True)
class _Latest:
    """The last parse of all: its cursors are alive until its file is parsed again. Perhaps of device code alone."""

    request: CheckRequest | None = None
    unit: ParsedUnit | None = None


class Engine:
    """Checks units and keeps them warm. Not thread-safe; one per process."""

    def __init__(self) -> None:
        self._parser = UnitParser()
        self._decisions: dict[str, Decision] = {}
        self._collided: dict[str, Collisions] = {}
        """How the races of the latest decisions were found that were made without executing them."""
        self._warm: dict[str, Warm] = {}
        self._beside: Mapping[str, Warm] = {}
        """What another engine has checked of the same units, perhaps other kernels of them."""
        self._latest = _Latest()
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

        poll = _polling(stop)

        def parse(probes: Sequence[str]) -> ParsedUnit:
            return self._parse(request, probes, stop)

        def link(probes: Mapping[str, tuple[str, ...]], before: _Linked) -> _Linked:
            return self._linked(request, probes, before)

        warm = self._warm.get(request.path)
        if warm is None:
            self._make_room()
        likely = likely_edit(warm, request) if warm is not None else None
        try:
            if warm is not None and likely is not None:
                spent = self.spent
                yield from self._foreseen(warm, likely, request, poll)
                self._precedents, self.spent = {}, spent
            before = warm or self._beside.get(request.path)
            unit = parse(before.probes if before is not None else ())
            poll()
            request = request.linked()
            self._latest.request, self._latest.unit = request, unit
            edit = small_edit(warm, likely, request, unit) if warm is not None else None
            if warm is not None and edit is not None:
                yield from self._recheck(warm, edit, unit, request, poll, started)
            else:
                with garbage.taken_in():
                    taken_in = _taken_in(unit, parse, link, poll, request.options)
                try:
                    yield from self._check_whole(*taken_in, request, poll, started)
                finally:
                    garbage.thaw()
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
        kernels = [k for k in found.kernels if is_wanted(k, request.options)]
        directives, skipped_comments = directives_of(found.unit, kernels)
        if request.options.launches:
            skipped_comments += unfit_launches(request.options, [k.lower() for k in kernels])
        skipped = [
            *found.skipped,
            *host.skipped,
            *launched_unseen(found, host),
            *skipped_comments,
            *linked.skipped,
        ]
        analyses: dict[int, tuple[KernelAnalysis, str]] = {}
        garbage.keep()
        for done, i in enumerate(in_order(kernels, request)):
            kernel = kernels[i].lower()
            poll()
            launches = host.contexts.get(kernel.mangled, ())
            contexts, dropped = contexts_of(kernel, launches, request.options, directives)
            skipped += dropped
            question = asked(kernel, contexts, settings(request))
            yield Progress(done, len(kernels), kernel.name, question.key)
            analyses[i] = self._decided(question, request, poll)
            yield KernelFinished(analyses[i][0].result, analyses[i][1])
            garbage.keep()
        ordered = tuple(analyses[i] for i in range(len(kernels)))
        result = UnitResult(
            path=request.path,
            arch=request.flags.arch,
            kernels=agreed([a.result for a, _ in ordered]),
            skipped=tuple(skipped),
            syntax=syntax_issues(found.unit),
            dependencies=dependencies(found.unit, linked.files),
            linked=tuple(sorted({*linked.files} - {request.path, *found.unit.dependencies})),
            milliseconds=_since(started),
        )
        analysis = UnitAnalysis(request, found.unit, tuple(a for a, _ in ordered), result)
        flags, bodies = found.unit.flags, found.bodies
        known = tuple(kept_of(a, tuple(host.contexts.get(a.kernel.mangled, ())), key) for a, key in ordered)
        kept = Warm(request, known, result, found.probes, flags, bodies, found.skipped, analysis)
        self._warm.pop(request.path, None)
        self._warm[request.path] = kept
        yield UnitFinished(result)

    def _foreseen(
        self, warm: Warm, edit: Edit, request: CheckRequest, poll: Callable[[], None]
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
        directives, _ = directives_of(unit, [k.result for k in warm.kernels])
        for found in find_kernels(unit, None, names).kernels:
            poll()
            if found.mangled not in launches:
                continue
            kernel = found.lower()
            if any(_overlap(span, request.path, bodies) for span in (kernel.extent, *(s for _, s in kernel.functions))):
                continue  # the edit calls what was left out
            contexts, _ = contexts_of(kernel, moved(launches[kernel.mangled], edit), request.options, directives)
            question = asked(kernel, contexts, settings(request))
            yield Progress(0, len(warm.kernels), kernel.name, question.key)
            yield KernelForeseen(*_result(self._decided(question, request, poll)))

    def _recheck(
        self,
        warm: Warm,
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
        directives, _ = directives_of(unit, [k.result for k in warm.kernels])
        now: dict[str, Known] = {}
        order = sorted(warm.kernels, key=lambda k: k.mangled not in touched)
        for done, old in enumerate(order):
            poll()
            launches = moved(old.launches, edit)
            fresh = lowered.get(old.mangled)
            if old.mangled in touched and fresh is not None:
                contexts, _ = contexts_of(fresh, launches, request.options, directives)
                question = asked(fresh, contexts, settings(request))
                yield Progress(done, len(order), old.result.name, question.key)
                analysis, key = self._decided(question, request, poll)
                now[old.mangled] = kept_of(analysis, launches, key)
            else:
                yield Progress(done, len(order), old.result.name)
                functions = moved(old.functions, edit)
                now[old.mangled] = replace(old, functions=functions, launches=launches, result=moved(old.result, edit))
            yield KernelFinished(now[old.mangled].result, now[old.mangled].key)
        ordered = tuple(now[k.mangled] for k in warm.kernels)
        result = replace(
            moved(warm.result, edit),
            kernels=agreed([k.result for k in ordered]),
            syntax=syntax_issues(unit),
            dependencies=dependencies(unit, warm.result.linked),
            milliseconds=_since(started),
        )
        bodies = tuple(edit.moved_range(start, end) for start, end in warm.bodies)
        skipped = moved(warm.unseen, edit)
        self._warm[request.path] = Warm(request, ordered, result, warm.probes, unit.flags, bodies, skipped, None)
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
        warm = self._checked(request, stop)
        unit = self._unit(warm, stop)
        if warm.analysis is not None:
            known = warm.analysis.kernels
            found = tuple(k for k in known if k.kernel.name in kernels or k.kernel.base_name in kernels)
            return UnitAnalysis(request, unit, found, warm.result, warm.functions, warm.instances)
        lowered = _lowered(unit, warm, kernels, _polling(stop))
        return self._inspected(warm, request, unit, lowered, warm.result, stop)

    def result(self, request: CheckRequest, stop: Callable[[], bool] = never) -> UnitResult:
        """The result of the whole unit. Costs nothing after a `check` of the same request. Raises ParseFailure."""
        return self._checked(request, stop).result

    def retry(
        self,
        request: CheckRequest,
        kernels: Sequence[str],
        stop: Callable[[], bool] = never,
        *,
        for_device: bool = False,
    ) -> UnitAnalysis:
        """Decide the kernels with these names in a text that is tried out.

        The unit must have been checked, and the text may differ from the checked one inside device functions only:
        launches are those of the last check, which stays the one that later checks start from. `for_device`: the host
        compiles nothing of what differs. Raises ParseFailure."""
        return self._tried(request, kernels, stop, for_device, self._decided)

    def drafted(
        self,
        request: CheckRequest,
        kernels: Sequence[str],
        stop: Callable[[], bool] = never,
        *,
        for_device: bool = False,
    ) -> UnitAnalysis:
        """As `retry`, and nothing is decided: the result says of each launch that it is unknown."""
        return self._tried(request, kernels, stop, for_device, self._read)

    @garbage.uncollected()
    def _tried(
        self, request: CheckRequest, kernels: Sequence[str], stop: Callable[[], bool], for_device: bool, answer: _Answer
    ) -> UnitAnalysis:
        warm = self._warm[request.path]
        unit = self._parse(request, warm.probes, stop, for_device=for_device)
        lowered = _lowered(unit, warm, kernels, _polling(stop))
        return self._inspected(warm, request, unit, lowered, None, stop, answer)

    def still(self, analysis: UnitAnalysis, stop: Callable[[], bool] = never) -> UnitAnalysis:
        """What was tried out, with a unit whose cursors are alive. Raises ParseFailure."""
        if self._latest.unit is analysis.unit:
            return analysis
        unit = self._parse(analysis.request, self._warm[analysis.request.path].probes, stop, for_device=True)
        return replace(analysis, unit=unit)

    @garbage.uncollected()
    def decided(self, draft: UnitAnalysis, stop: Callable[[], bool] = never) -> UnitAnalysis:
        """What was `drafted`, decided under the options of its request. Nothing is parsed for it."""
        poll = _polling(stop)
        options = settings(draft.request)
        questions = (asked(k.kernel, k.contexts, options) for k in _polled(draft.kernels, poll))
        kernels = tuple(self._decided(q, draft.request, poll)[0] for q in questions)
        result = replace(draft.result, kernels=tuple(k.result for k in kernels))
        return replace(draft, kernels=kernels, result=result)

    @garbage.uncollected()
    def executed(
        self, analysis: UnitAnalysis, wanted: Callable[[AccessEvent, AccessEvent], bool], stop: Callable[[], bool]
    ) -> UnitAnalysis:
        """A `retry` without `CheckOptions.replays`, with the races of the `wanted` pairs executed, which tells definite
        ones from possible ones."""
        poll = _polling(stop)
        kernels: list[KernelAnalysis] = []
        for known in _polled(analysis.kernels, poll):
            again = copy(known)
            if len(known.found) < len(known.contexts):
                # What was known from elsewhere is decided anew.
                options = replace(analysis.request.options, redundancy=False, replays=True, every_pair=False)
                request = replace(analysis.request, options=options)
                question = asked(known.kernel, known.contexts, settings(request))
                again = self._decided(question, request, poll)[0]
            else:
                before = sum(c.spent for c in known.found.values())
                again.result = executed(known.decisive, known.contexts, known.found, known.result, wanted)
                self.spent += sum(c.spent for c in known.found.values()) - before
            kernels.append(again)
        result = replace(analysis.result, kernels=tuple(k.result for k in kernels))
        return replace(analysis, kernels=tuple(kernels), result=result)

    def first_look(
        self, request: CheckRequest, kernels: Sequence[str], stop: Callable[[], bool] = never
    ) -> UnitAnalysis | None:
        """What `retry` may answer, of a text without the function bodies that these kernels do not reach: it costs a
        fraction in a large unit, and proves nothing, because what is left out may matter. None where that is known to
        be so, and in a unit of which not much can be left out. `unit` of the answer has blanks for what is left out."""
        warm = self._warm[request.path]
        poll = _polling(stop)
        poll()
        touched = [k for k in warm.kernels if not set(kernels).isdisjoint(k.names)]
        bodies = left_out_of_trial(warm, request, touched)
        if not bodies:
            return None
        try:
            unit = self._parser.parse_focused(
                request.path, request.text, bodies, warm.flags, request.unsaved, warm.probes
            )
        except ParseFailure:
            return None  # as the whole parse will say
        if unit.all_errors:
            return None
        lowered = _lowered(unit, warm, kernels, poll)
        reached = (span for k in lowered for span in (k.extent, *(s for _, s in k.functions)))
        if len(lowered) != len(touched) or any(_overlap(span, request.path, bodies) for span in reached):
            return None
        return self._inspected(warm, request, unit, lowered, None, stop)

    def instances(self, request: CheckRequest, stop: Callable[[], bool] = never) -> Instances:
        """What the kernels of a checked unit run. Raises ParseFailure."""
        return self._checked(request, stop).instances

    def beside(self) -> Engine:
        """An engine for other selections of the kernels of the same units: what one of the two parses and decides, the
        other knows. The units that this one is asked about stay as they were checked."""
        other = Engine()
        other._parser, other._latest = self._parser, self._latest
        other._decisions, other._collided = self._decisions, self._collided
        other._beside = self._warm
        return other

    def apart(self) -> Engine:
        """An engine for other units. What this one has decided it knows; whatever it parses, this one has all that it
        had."""
        other = Engine()
        other._decisions, other._collided = self._decisions, self._collided
        return other

    def others_at(
        self, request: CheckRequest, places: Sequence[tuple[str, int]], stop: Callable[[], bool] = never
    ) -> tuple[str, ...]:
        """The kernels beside those that the request selects with code at one of the places (path, byte offset) of a
        checked unit: other instances of a template, other callers of a function. Raises ParseFailure."""
        warm = self._checked(request, stop)
        elsewhere = self._beside.get(request.path)
        if warm.others is None and elsewhere is not None and elsewhere.others is not None and elsewhere.is_of(request):
            own = {k.mangled for k in warm.kernels}
            warm.others = tuple(k for k in elsewhere.others if k.mangled not in own)
        if warm.others is None:
            found = self._all_kernels(warm, stop)
            warm.others = tuple(Other(k.name, k.mangled, k.extent) for k in found if not is_wanted(k, request.options))

        def at(extents: Iterable[SourceSpan]) -> set[tuple[str, int]]:
            spans = tuple(extents)
            return {p for p in places if any(e.path == p[0] and e.start_offset <= p[1] < e.end_offset for e in spans)}

        own = at(f for k in warm.kernels for f in k.functions[:1]) | at(k.extent for k in warm.others)
        if own != set(places) and any(k.functions is None for k in warm.others):
            # Some are in functions that kernels call.
            found = {k.mangled: k for k in self._all_kernels(warm, stop)}
            reached = ((k, found[k.mangled].lower().functions) for k in warm.others)
            warm.others = tuple(replace(k, functions=tuple(span for _, span in spans)) for k, spans in reached)
        return tuple(k.name for k in warm.others if at((k.extent, *(k.functions or ()))))

    def _inspected(
        self,
        warm: Warm,
        request: CheckRequest,
        unit: ParsedUnit,
        lowered: Sequence[Kernel],
        result: UnitResult | None,
        stop: Callable[[], bool],
        answer: _Answer | None = None,
    ) -> UnitAnalysis:
        """`answer`: what makes an analysis of a question, if it is not to be decided."""
        answer = answer or self._decided
        started = time.perf_counter()
        poll = _polling(stop)
        launches = {k.mangled: k.launches for k in warm.kernels}
        directives, _ = directives_of(unit, [k.result for k in warm.kernels])
        contexts = [contexts_of(k, launches[k.mangled], request.options, directives)[0] for k in lowered]
        questions = [asked(k, c, settings(request)) for k, c in zip(lowered, contexts, strict=True)]
        analyses = tuple(answer(q, request, poll)[0] for q in _polled(questions, poll))
        if result is None:
            result = UnitResult(
                path=request.path,
                arch=request.flags.arch,
                kernels=tuple(a.result for a in analyses),
                syntax=syntax_issues(unit),
                dependencies=unit.dependencies,
                milliseconds=_since(started),
            )
        instances = Instances.of((warm.instances, *(k.instances for k in lowered)))
        return UnitAnalysis(request, unit, analyses, result, warm.functions, instances)

    def _parse(
        self, request: CheckRequest, probes: Sequence[str], stop: Callable[[], bool], *, for_device: bool = False
    ) -> ParsedUnit:
        self._latest.request = self._latest.unit = None
        poll = _polling(stop) if stop is not never else None
        asked = (request.path, request.text, request.flags, request.unsaved, probes, poll)
        unit = self._parser.parse_device(*asked) if for_device else None
        if unit is None:
            unit = self._parser.parse(*asked)
        self._latest.request, self._latest.unit = request, unit
        return unit

    def _checked(self, request: CheckRequest, stop: Callable[[], bool]) -> Warm:
        """The check of a request, made where it was not the last one of its unit. Raises ParseFailure."""
        warm = self._warm.get(request.path)
        if warm is not None and warm.request == request:
            return warm
        for event in self.check(request, stop):
            if isinstance(event, UnitFinished) and event.result.failure is not None:
                raise ParseFailure(event.result.failure.text)
        return self._warm[request.path]

    def _all_kernels(self, warm: Warm, stop: Callable[[], bool]) -> tuple[FoundKernel, ...]:
        """The kernels of a checked unit, with instances of the templates that the check had no use for, too."""

        def parse(probes: Sequence[str]) -> ParsedUnit:
            return self._parse(warm.request, probes, stop)

        return find_kernels(self._unit(warm, stop), parse).kernels

    def _unit(self, warm: Warm, stop: Callable[[], bool]) -> ParsedUnit:
        """The checked text, parsed again if another one was since; perhaps its device code alone."""
        if self._latest.unit is not None and self._latest.request is warm.request:
            return self._latest.unit
        return self._parse(warm.request, warm.probes, stop, for_device=True)

    def _linked(self, request: CheckRequest, probes: Mapping[str, tuple[str, ...]], before: _Linked) -> _Linked:
        """The host side of the other files of the program, each with the lines to append to it. ``before``: what was
        parsed of them for the same request, which is parsed again only where there are other lines to append."""
        if not request.options.use_host or request.options.launches or not request.program.files:
            return _Linked()
        passes, skipped = list[HostPass](), list[Skipped]()
        texts = {**request.unsaved, request.path: request.text}
        sources = [SourceFile(f.path, f.text, f.flags, texts, probes.get(f.path, ())) for f in request.program.files]
        known = {p.path: p for p in before.passes}
        kept = {s.path: k for s in sources if (k := known.get(s.path)) is not None and k.probes == s.probes}
        fresh = [source for source in sources if source.path not in kept]
        passed = self._parser.parse_hosts(request.path, fresh, len(sources))
        parsed = dict(zip((s.path for s in fresh), passed, strict=True))
        for source in sources:
            found = kept.get(source.path) or parsed[source.path]
            if isinstance(found, ParseFailure):
                skipped.append(Skipped(f"host code in {source.path}: {found}"))
            else:
                passes.append(found)
        files = {path for p in passes for path in (p.path, *p.dependencies)}
        files |= {f.path for f in request.program.files}
        return _Linked(request.program, tuple(passes), tuple(sorted(files)), tuple(skipped))

    def _make_room(self) -> None:
        """Before another unit: let go of the trees of units that were not checked lately."""
        for old in tuple(self._warm.values())[:-_MAXIMAL_WHOLE]:
            old.analysis = None

    def forget(self, path: str) -> None:
        """Free what is kept warm for the unit of `path`: its document was closed."""
        self._parser.forget(path)
        self._warm.pop(path, None)
        self._latest.request = self._latest.unit = None

    def _decided(
        self, question: Question, request: CheckRequest, poll: Callable[[], None]
    ) -> tuple[KernelAnalysis, str]:
        if not question.contexts:
            return _unasked(question.kernel, request.options.launches)
        return self._kernel(question, request, poll)

    def _read(self, question: Question, request: CheckRequest, poll: Callable[[], None]) -> tuple[KernelAnalysis, str]:
        """The events of a kernel, with nothing decided; where they take too much work, as if it was."""
        kernel, contexts = question.kernel, question.contexts
        try:
            found = conflicts_in(kernel, one_memory(kernel, contexts))
            events = summarize(found.kernel, wraps=request.options.wrap_around)
        except TooMuchWorkError:
            return self._decided(question, request, poll)
        results = [ContextResult(c.summary, Verdict.UNKNOWN) for c in contexts]
        return KernelAnalysis(kernel, events, contexts, assemble(events, results, found.left_out)), question.key

    def _kernel(
        self, question: Question, request: CheckRequest, poll: Callable[[], None]
    ) -> tuple[KernelAnalysis, str]:
        kernel, contexts = question.kernel, question.contexts
        together = one_memory(kernel, contexts)
        # Decisions name events by number: those of the kernel as far as these launches make it matter.
        events_of = repr([sorted(objects) for objects in together])
        place = {id(c): f"{key}:{events_of}" for c, key in zip(contexts, question.keys, strict=True)}

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
        open_pairs: tuple[tuple[int, AccessEvent, AccessEvent], ...] = ()
        open_besides = frozenset[int]()
        collided: dict[int, Collisions] = {}

        def keep(context: LaunchContext, found: Collisions) -> None:
            if not request.options.replays:
                self._collided[place[id(context)]] = found
                while len(self._collided) > _MAXIMAL_COLLIDED:
                    del self._collided[next(iter(self._collided))]

        try:
            if hopeless is not None:
                events, result = undecided(kernel, contexts, Reason(*hopeless, kernel.span))
            else:
                found = conflicts_in(kernel, together)
                events = summarize(found.kernel, wraps=request.options.wrap_around)
                precedents = self._precedents.setdefault(kernel.extent, Precedents())
                kept_apart = reads_kept_apart(kernel, together, found, events.wraps)
                result = check_kernel(
                    events,
                    contexts,
                    settings(request),
                    poll,
                    remembered,
                    remember,
                    precedents,
                    found.left_out,
                    keep,
                    kept_apart,
                )
                known = ((i, self._decisions.get(place[id(c)])) for i, c in enumerate(contexts))
                decisions = {index: decision for index, decision in known if decision is not None}
                collisions = ((i, self._collided.get(place[id(c)])) for i, c in enumerate(contexts))
                collided = {index: found for index, found in collisions if found is not None}
                open_pairs = tuple(
                    (index, events.accesses[one], events.accesses[two])
                    for index, decision in decisions.items()
                    for one, two in decision.open
                )
                open_besides = frozenset(index for index, decision in decisions.items() if decision.unasked_besides)
        except CancelledError:
            raise
        except TooMuchWorkError as error:
            events, result = undecided(kernel, contexts, Reason("budget", str(error), kernel.span))
        except Exception as error:  # noqa: BLE001 - a defect of ours is reported, and costs only its kernel
            events, result = broken(kernel, contexts, error)
        return KernelAnalysis(kernel, events, contexts, result, open_pairs, open_besides, collided), question.key


def _unasked(kernel: Kernel, launches: Sequence[UserLaunch]) -> tuple[KernelAnalysis, str]:
    """A kernel that none of the launches fits that the user asked for."""
    text = "; ".join(dict.fromkeys(filter(None, (unfit(launch, [kernel]) for launch in launches))))
    contexts = tuple(context_of_user_launch(replace(launch, values=()), kernel) for launch in launches)
    events, result = undecided(kernel, contexts, Reason("launch", text, kernel.span))
    return KernelAnalysis(kernel, events, contexts, result), ""


def _taken_in(
    unit: ParsedUnit,
    parse: Callable[[Sequence[str]], ParsedUnit],
    link: Callable[[Mapping[str, tuple[str, ...]], _Linked], _Linked],
    poll: Callable[[], None],
    options: CheckOptions,
) -> tuple[FoundUnit, HostFacts, _Linked]:
    """Both sides of a unit. The host side may ask for instances by probes, which both then see."""
    asked = frozenset(map(base_word, options.kernels)) if options.kernels else None
    found, linked = meanwhile(lambda: find_kernels(unit, parse, (), asked), lambda: link({}, _Linked()))
    poll()
    listings = Listings()
    host = _launches(found, linked, options, listings)
    for _ in range(_PROBE_ROUNDS):
        if not host.probes and not host.linked_probes:
            break
        if host.probes:
            found = find_kernels(parse((*found.probes, *host.probes)), parse, (), asked)
        if host.linked_probes:
            wanted = {p.path: (*p.probes, *host.linked_probes.get(p.path, ())) for p in linked.passes}
            linked = link(wanted, linked)
            poll()
        host = _launches(found, linked, options, listings)
    return found, host, linked


def _launches(found: FoundUnit, linked: _Linked, options: CheckOptions, listings: Listings) -> HostFacts:
    defined = {k.mangled for k in found.kernels}
    return launch_contexts(found.unit, linked.passes, linked.program, options.kernels, defined, listings)


def _polling(stop: Callable[[], bool]) -> Callable[[], None]:
    """What raises `CancelledError` when `stop` answers true."""

    def poll() -> None:
        if stop():
            raise CancelledError

    return poll


def _polled(items: Iterable[_T], poll: Callable[[], None]) -> Iterator[_T]:
    for item in items:
        poll()
        yield item


def _lowered(unit: ParsedUnit, warm: Warm, names: Sequence[str], poll: Callable[[], None]) -> list[Kernel]:
    """The kernels with these names, of those that the last check knows."""
    poll()
    known = {k.mangled for k in warm.kernels}
    found = find_kernels(unit, None, names).kernels if names else ()
    return [k.lower() for k in _polled(found, poll) if k.mangled in known]


def _result(decided: tuple[KernelAnalysis, str]) -> tuple[KernelResult, str]:
    return decided[0].result, decided[1]


def _overlap(span: SourceSpan, path: str, ranges: Sequence[focus.Range]) -> bool:
    return span.path == path and any(a < span.end_offset and span.start_offset < b for a, b in ranges)


def _since(started: float) -> float:
    return round((time.perf_counter() - started) * 1e3, 3)
