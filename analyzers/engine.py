"""Check one translation unit: text and flags in, a stream of events out, one per kernel as soon as it is decided.

This is the one entry into the analysis. An `Engine` is long-lived: it lives in a worker process, keeps the translation
units of the documents it has seen warm, and is used by one thread. It writes no file and starts no process.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from analyzers import garbage
from analyzers.analysed import KernelAnalysis, UnitAnalysis
from analyzers.frontend import focus
from analyzers.frontend.confined import is_confined
from analyzers.frontend.lower import FoundKernel, FoundUnit, find_kernels, lower_unit
from analyzers.frontend.parse import HostPass, ParsedUnit, ParseFailure, SourceFile, UnitParser
from analyzers.hostguide.contexts import context_of_user_launch, unfit
from analyzers.hostguide.launches import HostFacts, launch_contexts
from analyzers.hostguide.program import Program
from analyzers.incremental import Edit, moved
from analyzers.ir.context import LaunchContext
from analyzers.ir.events import AccessEvent
from analyzers.ir.kernel import Instances, Kernel
from analyzers.ir.symbolic import TooMuchWorkError, summarize
from analyzers.kept import Known, Warm, dependencies, kept_of, left_out_of_trial, likely_edit, small_edit
from analyzers.model import CheckOptions, KernelResult, Reason, Skipped, SourceSpan, UnitResult, UserLaunch
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
from analyzers.verdicts.decide import Decision
from analyzers.verdicts.kernel import agreed, broken, check_kernel, conflicts_in, one_memory, undecided

MAX_DECISIONS = 20_000

_T = TypeVar("_T")

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


class Engine:
    """Checks units and keeps them warm. Not thread-safe; one per process."""

    def __init__(self) -> None:
        self._parser = UnitParser()
        self._decisions: dict[str, Decision] = {}
        self._warm: dict[str, Warm] = {}
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

        poll = _polling(stop)

        def parse(probes: Sequence[str]) -> ParsedUnit:
            return self._parse(request, probes, stop)

        def link(probes: Mapping[str, tuple[str, ...]]) -> _Linked:
            poll()
            return self._linked(request, probes)

        warm = self._warm.get(request.path)
        if warm is None:
            self._make_room()
        likely = likely_edit(warm, request) if warm is not None else None
        try:
            if warm is not None and likely is not None:
                spent = self.spent
                yield from self._foreseen(warm, likely, request, poll)
                self._precedents, self.spent = {}, spent
            unit = parse(warm.probes if warm is not None else ())
            poll()
            request = request.linked()
            self._latest = (request, unit)
            edit = small_edit(warm, likely, request, unit) if warm is not None else None
            if warm is not None and edit is not None:
                yield from self._recheck(warm, edit, unit, request, poll, started)
            else:
                with garbage.taken_in():
                    taken_in = _taken_in(unit, parse, link, request.options)
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
        with garbage.kept():
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
        warm = self._warm.get(request.path)
        if warm is None or warm.request != request:
            for event in self.check(request, stop):
                if isinstance(event, UnitFinished) and event.result.failure is not None:
                    raise ParseFailure(event.result.failure.text)
            warm = self._warm[request.path]
        latest = self._latest
        parsed = latest is not None and latest[0] is warm.request
        unit = latest[1] if latest is not None and parsed else self._parse(warm.request, warm.probes, stop)
        lowered = _lowered(unit, warm, kernels, _polling(stop))
        return self._inspected(warm, request, unit, lowered, warm.result, stop)

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
        warm = self._warm[request.path]
        unit = self._parse(request, warm.probes, stop, for_device=for_device)
        return self._inspected(warm, request, unit, _lowered(unit, warm, kernels, _polling(stop)), None, stop)

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

    def others_at(
        self, request: CheckRequest, places: Sequence[tuple[str, int]], stop: Callable[[], bool] = never
    ) -> tuple[str, ...]:
        """The kernels beside those that the request selects with code at one of the places (path, byte offset) of a
        checked unit: other instances of a template, other callers of a function. Raises ParseFailure."""
        unit = self._parse(request, self._warm[request.path].probes, stop)
        kernels = find_kernels(unit).kernels

        def around(extent: SourceSpan) -> list[tuple[str, int]]:
            return [p for p in places if extent.path == p[0] and extent.start_offset <= p[1] < extent.end_offset]

        called = set(places).difference(*(around(k.extent) for k in kernels))

        def has(kernel: FoundKernel) -> bool:
            reached = (span for _, span in kernel.lower().functions) if called else ()
            return bool(around(kernel.extent)) or any(around(span) for span in reached)

        return tuple(k.name for k in kernels if not is_wanted(k, request.options) and has(k))

    def _inspected(
        self,
        warm: Warm,
        request: CheckRequest,
        unit: ParsedUnit,
        lowered: Sequence[Kernel],
        result: UnitResult | None,
        stop: Callable[[], bool],
    ) -> UnitAnalysis:
        started = time.perf_counter()
        poll = _polling(stop)
        launches = {k.mangled: k.launches for k in warm.kernels}
        directives, _ = directives_of(unit, [k.result for k in warm.kernels])
        contexts = [contexts_of(k, launches[k.mangled], request.options, directives)[0] for k in lowered]
        questions = [asked(k, c, settings(request)) for k, c in zip(lowered, contexts, strict=True)]
        analyses = tuple(self._decided(q, request, poll)[0] for q in _polled(questions, poll))
        if result is None:
            result = UnitResult(
                path=request.path,
                arch=request.flags.arch,
                kernels=tuple(a.result for a in analyses),
                syntax=syntax_issues(unit),
                dependencies=unit.dependencies,
                milliseconds=_since(started),
            )
        functions = {k.mangled: k.functions for k in warm.kernels}
        instances = Instances.of(k.instances for k in (*warm.kernels, *lowered))
        return UnitAnalysis(request, unit, analyses, result, functions, instances)

    def _parse(
        self, request: CheckRequest, probes: Sequence[str], stop: Callable[[], bool], *, for_device: bool = False
    ) -> ParsedUnit:
        self._latest = None
        poll = _polling(stop) if stop is not never else None
        asked = (request.path, request.text, request.flags, request.unsaved, probes, poll)
        if for_device and (unit := self._parser.parse_device(*asked)) is not None:
            return unit
        unit = self._parser.parse(*asked)
        self._latest = (request, unit)
        return unit

    def _linked(self, request: CheckRequest, probes: Mapping[str, tuple[str, ...]]) -> _Linked:
        """The host side of the other files of the program, each with the lines to append to it."""
        if not request.options.use_host or request.options.launches or not request.program.files:
            return _Linked()
        passes, skipped = list[HostPass](), list[Skipped]()
        texts = {**request.unsaved, request.path: request.text}
        sources = [SourceFile(f.path, f.text, f.flags, texts, probes.get(f.path, ())) for f in request.program.files]
        for source, found in zip(sources, self._parser.parse_hosts(request.path, sources), strict=True):
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
        self._latest = None

    def _decided(
        self, question: Question, request: CheckRequest, poll: Callable[[], None]
    ) -> tuple[KernelAnalysis, str]:
        if not question.contexts:
            return _unasked(question.kernel, request.options.launches)
        return self._kernel(question, request, poll)

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
        try:
            if hopeless is not None:
                events, result = undecided(kernel, contexts, Reason(*hopeless, kernel.span))
            else:
                found = conflicts_in(kernel, together)
                events = summarize(found.kernel, wraps=request.options.wrap_around)
                precedents = self._precedents.setdefault(kernel.extent, Precedents())
                result = check_kernel(
                    events, contexts, settings(request), poll, remembered, remember, precedents, found.left_out
                )
                known = ((i, self._decisions.get(place[id(c)])) for i, c in enumerate(contexts))
                decisions = {index: decision for index, decision in known if decision is not None}
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
        return KernelAnalysis(kernel, events, contexts, result, open_pairs, open_besides), question.key


def _unasked(kernel: Kernel, launches: Sequence[UserLaunch]) -> tuple[KernelAnalysis, str]:
    """A kernel that none of the launches fits that the user asked for."""
    text = "; ".join(dict.fromkeys(filter(None, (unfit(launch, [kernel]) for launch in launches))))
    contexts = tuple(context_of_user_launch(replace(launch, values=()), kernel) for launch in launches)
    events, result = undecided(kernel, contexts, Reason("launch", text, kernel.span))
    return KernelAnalysis(kernel, events, contexts, result), ""


def _taken_in(
    unit: ParsedUnit,
    parse: Callable[[Sequence[str]], ParsedUnit],
    link: Callable[[Mapping[str, tuple[str, ...]]], _Linked],
    options: CheckOptions,
) -> tuple[FoundUnit, HostFacts, _Linked]:
    """Both sides of a unit. The host side may ask for instances by probes, which both then see."""
    found = find_kernels(unit, parse)
    linked = link({})
    host = _launches(found, linked, options)
    for _ in range(_PROBE_ROUNDS):
        if not host.probes and not host.linked_probes:
            break
        if host.probes:
            found = find_kernels(parse((*found.probes, *host.probes)), parse)
        if host.linked_probes:
            linked = link({p.path: (*p.probes, *host.linked_probes.get(p.path, ())) for p in linked.passes})
        host = _launches(found, linked, options)
    return found, host, linked


def _launches(found: FoundUnit, linked: _Linked, options: CheckOptions) -> HostFacts:
    defined = {k.mangled for k in found.kernels}
    return launch_contexts(found.unit, linked.passes, linked.program, options.kernels, defined)


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
