"""One text of one unit while it is being repaired: its results, its statement trees, and trials of edits on it.

Takes an engine and a request; a `Trial` is the answer of the engine to the same request with changed texts, compared
with the result before. Only kernels that contain edited code are decided again: the others are the same text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Final

from analyzers.analysed import KernelAnalysis, UnitAnalysis
from analyzers.barriers.necessity import Necessity
from analyzers.engine import Engine
from analyzers.frontend.function_trees import function_trees
from analyzers.frontend.gaps import FunctionTree, SourceTrees
from analyzers.frontend.lexical import source_bytes
from analyzers.garbage import uncollected
from analyzers.ir.expr import Expr
from analyzers.model import Access, Finding, Reason, SourceSpan, UnitResult
from analyzers.questions import settings
from analyzers.races.others import is_strong
from analyzers.races.pairs import Pair
from analyzers.requests import CheckRequest, UnitFinished
from quickfix.edits import (
    BARRIER,
    FENCE,
    WARP_BARRIER,
    WARP_CALL,
    Change,
    OffsetMap,
    apply,
    barrier_offsets,
    insertions,
)
from quickfix.elsewhere import OtherBuilds
from quickfix.file_names import FileNames
from quickfix.includes import included
from quickfix.judging import Judge, old_places
from quickfix.meanings import meant_otherwise
from quickfix.named_lanes import named_otherwise
from quickfix.naming import macros_of, macros_of_flags, said_by_macros, uses_of_definition
from quickfix.oracle import Oracle, Stop, with_texts
from quickfix.own_headers import own_headers
from quickfix.paths import Candidate, Key
from quickfix.solving import Solving
from quickfix.steps import BLOCK_VOTE, WARP_VOTE
from quickfix.unwritten_reads import races_read_first
from quickfix.verify import (
    Difference,
    EditedFile,
    Files,
    PairKey,
    carried_over,
    compare,
    findings_of,
    gone_groups,
    in_new_text,
    key_of,
    new_error,
    spans_of,
    surest,
    with_findings,
)

_MOVES: Final = re.compile(rb"[;{}\n]")
"""What statements that are written have."""
Changes = Mapping[str, list[Change]]
Searched = frozenset[str]
"""Mangled names of the kernels for which barriers were tried: what that has shown says nothing of others."""


@dataclass(frozen=True, slots=True)
class Trial:
    """An edit and what the engine says about it."""

    analysis: UnitAnalysis
    """Of the edited text, for the kernels that were decided again."""
    files: Mapping[str, EditedFile]
    changes: Changes
    difference: Difference
    checked: frozenset[str]
    """Mangled names of the kernels that were decided again."""
    gone: frozenset[str]
    """Groups of findings of which nothing is left."""
    divergent: frozenset[Key]
    """Gaps whose barrier some threads miss."""
    late: frozenset[Key]
    """Gaps whose barrier is missed by threads that have returned, and by no others."""
    in_vain: frozenset[Key] = frozenset()
    """Gaps whose barrier keeps threads from what others wait for."""
    doubtful: frozenset[PairKey] = frozenset()
    """Targets of which it is not known any more whether they race, in any iterations."""
    decided: bool = True
    """Whether the analysis tells what races in the edited text, not what raced before."""


class Session:
    """A checked text. What libclang holds of it is read at once: a later trial invalidates it."""

    def __init__(
        self,
        engine: Engine,
        analysis: UnitAnalysis,
        stop: Stop,
        origin: Session | None = None,
        *,
        barriers: bool = False,
        oracle: Oracle | None = None,
    ) -> None:
        """`barriers`: the statement trees hold the functions of all barriers, not of findings only. `oracle`: what is
        asked counts as asked by this one."""
        self.engine = engine
        self.request = analysis.request
        self.stop = stop
        self.result: UnitResult = analysis.result
        self.kernels: tuple[KernelAnalysis, ...] = analysis.kernels
        self.declared: Mapping[str, frozenset[bytes]] = {}
        """Names that the latest restructured repair declares, by kernel."""
        self.hopeless: dict[PairKey, str] = {}
        """Races that no barrier removes, and why, as far as known."""
        self.appeared: dict[PairKey, tuple[Finding, Searched]] = {}
        """Races to be repaired that no check of this text has shown, because there were too many others."""
        self.remaining: dict[Finding, Searched] = {}
        """Races as they still are with barriers in some places: between other iterations, say."""
        self.divergent: set[tuple[str, int]] = set()
        """(path, start) of bodies in which a barrier was tried that some threads miss."""
        self.missed_elsewhere = ""
        """That in another build threads would miss a barrier that was tried, if so; a clause."""
        self.missed_by: dict[Key, str] = {}
        """Gaps in functions whose barrier only threads of other callers miss than those that need it; clauses."""
        self.barrier: bytes = origin.barrier if origin is not None else BARRIER
        """What is inserted: the barrier of a block, of a warp or of the grid, or a fence."""
        self.lanes: int | None = origin.lanes if origin is not None else None
        """The mask of the lanes that it names, if it names some."""
        self.header = origin.header if origin is not None else b""
        """What a file includes that gets a barrier."""
        self._read_first: frozenset[PairKey] | None = None
        self.spelled: Mapping[bytes, bytes] = origin.spelled if origin is not None else {}
        """How the kernel writes the barriers that it had, if in another way."""
        self.votes = origin is not None and origin.votes
        """Loops that threads leave at different times get a vote in their tests, also where they could have a bound."""
        self.reserved: dict[tuple[str, int] | None, set[bytes]] = {}
        """Names that a restructuring must not declare, because others that are about to be made do: by path and start
        of their function, or everywhere."""
        self.promised: dict[str, frozenset[bytes]] = origin.promised if origin is not None else {}
        """The same by kernel, for repairs that have been found and are to go together with those to come."""
        self.passed_on: dict[tuple[str, bytes], bytes] = origin.passed_on if origin is not None else {}
        """Parameters that restructurings have given to functions, by path and function: whether it does anything."""
        self.decided = True
        """Whether the findings are those of this text, not of the one that it was made of."""
        self._drafts: dict[object, Trial] = {}
        """By what was tried: what one search has begun with, the next one may begin with again."""
        self.exclusions: dict[tuple[str, int], dict[frozenset[Expr], bool]] = {}
        """By kernel and launch: conditions that were asked about, and whether no thread meets all of them."""
        self._origin = origin
        known = origin._oracle if origin is not None else oracle
        self._unit = analysis.unit
        self._analysis = analysis
        self._defined: dict[bytes, bytes] | None = None
        self._oracle = known or Oracle.of(engine, stop, analysis.request.options)
        self._extents = analysis.functions
        self._edited: Mapping[str, EditedFile] = {}
        spans = spans_of([f for k in self.kernels for f in findings_of(k.result)])
        if barriers:
            spans += [span for k in self.kernels for span in k.result.barrier_sites]
        self.instances = analysis.instances
        """What the functions of the text are instances for, where they are."""
        # Whoever calls what is edited may have to change, too, and so may what signals that something was written.
        spans += [k.result.span for k in self.kernels]
        signals = (e.site for k in self.kernels for e in k.events.accesses if is_strong(e))
        spans += dict.fromkeys(span for site in signals for span in (site.span, *site.calls))
        places = [(s.path, s.start_offset) for s in spans]
        with uncollected():
            trees = function_trees(analysis.unit.device, places, self.instances)
        text = source_bytes(self.request.text)
        if trees.texts.get(self.request.path, b"").startswith(text):
            # What the front end put behind the text (instantiation probes) is no part of it.
            trees = replace(trees, texts={**trees.texts, self.request.path: text})
        libraries = origin.trees.foreign if origin is not None else self._unit.libraries
        self.trees: SourceTrees = replace(trees, foreign=trees.foreign | libraries)
        self.other_builds: OtherBuilds = origin.other_builds if origin is not None else self._other_builds(text)
        """Of the text that was checked, without edits."""

    def _other_builds(self, text: bytes) -> OtherBuilds:
        own = {k.kernel.mangled: k for k in self.kernels}
        headers = own_headers(self.request.path, text, self._unit.dependencies, self._unit.text_of)
        return OtherBuilds(self._judge, {**headers, **self.trees.texts}, self._extents, own)

    @staticmethod
    def open(engine: Engine, request: CheckRequest, stop: Stop, groups: Collection[str] | None = None) -> Session:
        """The unit of a request, with the kernels that have findings of these groups (None: any findings).

        Raises ParseFailure."""
        result = engine.result(request, stop)
        names = {
            kernel.name
            for kernel in result.kernels
            if any(groups is None or f.group in groups for f in findings_of(kernel))
        }
        return Session(engine, engine.inspect(request, sorted(names), stop), stop)

    def reading(self, paths: Iterable[str]) -> Session:
        """The same text, with these of its files to edit."""
        session, known = copy(self), self.texts
        texts = {path: known[path] if path in known else source_bytes(self._unit.text_of(path)) for path in paths}
        session.trees = replace(self.trees, texts={**texts, **self.trees.texts})
        return session

    @property
    def names(self) -> FileNames:
        """How lines of the text's files are named."""
        return FileNames.among(self.trees)

    @property
    def orders_warps(self) -> bool:
        """Whether the barriers to insert are those of a warp."""
        return self.barrier.startswith(WARP_CALL.encode())

    @property
    def names_lanes(self) -> bool:
        """Whether the barriers to insert are those of certain lanes."""
        return self.lanes is not None

    @property
    def is_edited(self) -> bool:
        """Whether the text is one that was tried out."""
        return self._origin is not None

    @property
    def vote(self) -> bytes:
        """How the call begins that asks whether any thread of those that a barrier orders has work."""
        return WARP_VOTE if self.orders_warps else BLOCK_VOTE

    def with_votes(self) -> Session:
        """The same text, for loops with votes in their tests."""
        session = self._inserting(self.barrier)
        session.votes = True
        return session

    def for_warps(self, mask: int | None = None) -> Session:
        """The same text, for barriers that order the threads of one warp; `mask`: only the lanes whose bits it has.
        What was learnt about others is not known."""
        session = self._inserting(WARP_BARRIER if mask is None else f"{WARP_CALL}(0x{mask:x});".encode())
        session.lanes = mask
        return session

    def for_blocks(self) -> Session:
        """The same text, for barriers of the block."""
        return self._inserting(BARRIER)

    def for_fences(self) -> Session:
        """The same text, for fences."""
        return self._inserting(FENCE)

    @property
    def orders_blocks(self) -> bool:
        """Whether the barriers to insert are those of the grid."""
        return self.barrier not in (BARRIER, FENCE) and not self.orders_warps

    def for_grid(self, barrier: bytes, header: bytes = b"") -> Session:
        """The same text, for barriers that order all threads of the grid, written like this; `header`: files that get
        some include this."""
        session = self._inserting(barrier)
        session.header = header
        return session

    def _inserting(self, barrier: bytes) -> Session:
        session = copy(self)
        session.barrier, session.lanes = barrier, None
        session.hopeless, session.appeared, session.divergent = {}, {}, set()
        session.remaining, session.missed_elsewhere, session.missed_by = {}, "", {}
        return session

    @property
    def read_first(self) -> frozenset[PairKey]:
        """The races of which this text puts a read in front of all that is written to what it reads."""
        if self._read_first is None:
            solving = Solving.short(self.request, self.poll)
            self._read_first = races_read_first(self.kernels, solving)
            self.charge(solving.effort.spent)
        return self._read_first

    def begin_search(self) -> None:
        """What is tried from here on is for another repair."""
        self._oracle.begin_search()

    def begin_judging(self) -> None:
        """What is tried from here on is whether repairs that were found go together."""
        self._oracle.begin_judging()

    def after(self, trial: Trial, *, redundancy: bool = False) -> Session:
        """The text that was tried out, to go on from. `redundancy`: barriers that order nothing there are among the
        findings. Raises like `trial`."""
        analysis = self.engine.still(trial.analysis, self.stop)
        if redundancy:
            names = sorted({k.name for k in analysis.result.kernels})
            analysis = self._oracle.asked(analysis.request, names, redundancy=True)
        session = Session(self.engine, analysis, self.stop, origin=self)
        session._edited, session.decided = trial.files, trial.decided
        return session

    def rewritten(self, trial: Trial) -> Session:
        """The same, where the edit has rewritten code without another meaning: the races that barriers which were tried
        here have shown are there too. Which threads miss a place may be another thing."""
        session, files = self.after(trial), trial.files
        for finding, searched in self.appeared.values():
            if (new := in_new_text(finding, files)) is not None:
                session.appeared[key_of(new)] = new, searched
        for finding, searched in self.remaining.items():
            if (new := in_new_text(finding, files)) is not None:
                session.remaining[new] = searched
        return session

    def learnt(self, names: Collection[str]) -> list[Finding]:
        """Races that barriers which were tried for these kernels have shown, in this text or in one that it was made
        of: those that have appeared, and as they remain."""
        known = (*self.appeared.values(), *self.remaining.items())
        return [finding for finding, searched in known if not searched.isdisjoint(names)]

    def reserve(self, path: str, at: int, name: bytes) -> None:
        """Keep a name for the functions around a place."""
        for function in self.trees.functions:
            if function.path == path and function.start <= at < function.end:
                self.reserved.setdefault((path, function.start), set()).add(name)

    def reserved_in(self, function: FunctionTree) -> set[bytes]:
        """The names that nothing new in a function may have: those kept for others, and those of macros that other
        files define, with what these say where the function uses them."""
        kept = self.reserved.get(None, set()) | self.reserved.get((function.path, function.start), set())
        code = self.trees.texts[function.path][function.start : function.end]
        return kept | self._macros.keys() | said_by_macros(code, self._macros)

    @property
    def _macros(self) -> Mapping[bytes, bytes]:
        """The macros of all files of the unit and of its flags: what defines them, by name."""
        if self._origin is not None:
            return self._origin._macros
        if self._defined is None:
            files = (source_bytes(self._unit.text_of(path)) for path in self._unit.dependencies)
            own = source_bytes(self.request.text)
            self._defined = {**macros_of_flags(self.request.flags.arguments), **macros_of((own, *files))}
        return self._defined

    def kernels_with(self, group: str) -> list[KernelAnalysis]:
        """Those with findings of a group."""
        return [a for a in self.kernels if any(f.group == group for f in findings_of(a.result))]

    def running(self, path: str, at: int) -> Sequence[KernelAnalysis] | None:
        """All kernels that run the code at a place, those without findings included, as they are in this text: those
        that were not at hand with nothing decided. None where some run it that were not selected. Raises like
        `trial`."""
        names = self.touched([(path, at)])
        place, root = (path, at), self
        while root._origin is not None:
            place, root = root._before(place), root._origin
        if root.request.options.kernels and self.engine.others_at(root.request, [place], self.stop):
            return None
        every = self.kernels if names <= names_of(self.kernels) else self.draft({path: []}, names).analysis.kernels
        found = [a for a in every if a.kernel.mangled in names]
        return found if names <= names_of(found) else None

    def calls_to(self, functions: Collection[tuple[str, bytes]]) -> list[Access]:
        """An access in each call of these functions (path and name), whoever calls them."""
        found: dict[tuple[SourceSpan, ...], Access] = {}
        for event in (e for a in self.kernels for e in a.events.accesses if e.site.calls):
            span, calls = event.site.span, event.site.calls
            function = self.trees.at(span.path, span.start_offset) if calls not in found else None
            if function is not None and (function.path, function.name.encode()) in functions:
                found[calls] = Access(event.id, span, event.kind, event.width, event.site.text, calls=calls)
        return list(found.values())

    def kernels_sharing_code(self, kernels: Iterable[KernelAnalysis]) -> set[str]:
        """Mangled names of all kernels that have a function in common with one of `kernels`."""
        used = {extent for a in kernels for extent in self._extents.get(a.kernel.mangled, ())}
        return {mangled for mangled, extents in self._extents.items() if used.intersection(extents)}

    def judge(self, trial: Trial, files: Files) -> Difference:
        """What an edit in several steps did, by the trial of its last one and all steps as one edit. Races of pairs
        that had not been asked about are looked for in the old text. Raises like `trial`."""
        # How sure the races of a text are that is an edit itself nobody has asked: none can be surer than before.
        before = self.result if self._origin is None else surest(self.result)
        judge = self._judge
        difference = judge.difference(trial.analysis, files, before=before)
        names = {k.name for k in trial.analysis.result.kernels}
        unasked = {
            k.name for k in self.result.kernels for c in k.contexts for r in c.reasons if r.kind == "not-examined"
        }
        if difference.new_races and not difference.worse and not names.isdisjoint(unasked):
            found = self._oracle.asked(self.request, sorted(names), every_pair=True).result
            before = with_findings(before, found)
            difference = judge.difference(trial.analysis, files, before=before)
        if not difference.is_clean or self._origin is not None:
            return difference
        if (executed := judge.executed(trial.analysis, files)) is not None:
            difference = judge.difference(executed, files, before=before)
        return self._elsewhere(difference, files, trial.checked)[0]

    def poll(self) -> None:
        """Raise `CancelledError` when stopped."""
        self._oracle.poll()

    def charge(self, units: int) -> None:
        """Count what was asked beside trials."""
        self._oracle.charge(units)

    def fails(self, changes: Changes, also: Collection[str] = ()) -> bool:
        """Whether a `trial` would not be clean, as a first look at part of the text tells. False says nothing. Raises
        like `trial`."""
        request, files, names = self._edited_by(changes, also)
        if self._refused(files) is not None:
            return True
        looked, spent = self._oracle.first_look(request, names)
        failed = looked is not None and not compare(self.result, looked.result, files, frozenset()).is_clean
        if failed:
            self._oracle.charge_trial(spent)
        return failed

    def rechecked(self, files: Files, names: Sequence[str]) -> tuple[Difference, frozenset[str]]:
        """What an edit of host code did to the kernels with these names, and the groups of which nothing is left: the
        whole unit is read anew, launches included. Raises like `trial`."""
        self._oracle.refuse_when_spent()
        if (refused := self._refused(files)) is not None:
            return compare(self.result, refused.result, files, frozenset()), frozenset()
        request = with_texts(self.request, {path: file.after for path, file in files.items()})
        linked = (
            replace(f, text=request.unsaved.get(f.path, f.text)) if f.path in files else f
            for f in request.program.files
        )
        options = replace(request.options, kernels=tuple(names), redundancy=False, every_pair=False)
        request = replace(request, options=options, program=replace(request.program, files=tuple(linked)))
        engine = Engine()
        (result,) = (e.result for e in engine.check(request, self.stop) if isinstance(e, UnitFinished))
        self._oracle.charge_trial(engine.spent)
        if {issue.message for issue in result.syntax} <= {issue.message for issue in self.result.syntax}:
            # A name that is not known here was not known before: the check of a project whose headers are missing.
            result = replace(result, syntax=result.syntax[: len(self.result.syntax)])
        difference = compare(self.result, result, files, frozenset())
        checked = {kernel.mangled for kernel in result.kernels}
        return difference, frozenset(gone_groups(self.result, checked, difference))

    def needed_for(self, trial: Trial, targets: Collection[PairKey]) -> Callable[[Key], bool]:
        """Tells of the barriers of a trial, by their gaps, whether one is seen to be needed for `targets`; False says
        nothing."""
        found: list[tuple[Necessity, Mapping[Key, list[int]]]] = []

        races = {places for kind, places in targets if kind == "race"}

        def is_target(pair: Pair) -> bool:
            return frozenset(old_places(event, trial.files) for event in (pair.one, pair.two)) in races

        def is_needed(gap: Key) -> bool:
            if not found:
                inserted = {(p, at): key for p, c in trial.changes.items() for at, key in barrier_offsets(c).items()}
                options = settings(trial.analysis.request)
                for analysis in trial.analysis.kernels:
                    numbers: dict[Key, list[int]] = {}
                    for b in analysis.conflicting.barriers:
                        key = inserted.get((b.site.span.path, b.site.span.start_offset))
                        if key is not None:
                            numbers.setdefault(key, []).append(b.id)
                    found.append((Necessity(analysis.conflicting, analysis.contexts, options, is_target), numbers))
            before = sum(n.effort.spent for n, _ in found)
            needed = any(n.is_needed(numbers[gap]) for n, numbers in found if gap in numbers)
            self._oracle.charge(sum(n.effort.spent for n, _ in found) - before)
            return needed

        return is_needed

    def _is_for_device(self, changes: Changes) -> bool:
        """Whether all changes are inside functions that the host does not compile."""
        places = ((path, change) for path, found in changes.items() for change in found)
        functions = ((change, self.trees.at(path, change.start)) for path, change in places)
        return all(f is not None and not f.on_host and c.end <= f.body.end for c, f in functions)

    def ranges_run(self) -> dict[str, list[tuple[int, int]]]:
        """Where the functions begin and end that any kernel of the text runs that was checked, by file."""
        found: dict[str, list[tuple[int, int]]] = {}
        for span in {span for extents in self._extents.values() for span in extents}:
            found.setdefault(span.path, []).append((span.start_offset, span.end_offset))
        return found

    def touched(self, places: Iterable[tuple[str, int]]) -> set[str]:
        """Mangled names of the kernels with code at one of the places of this text, or where a macro is used in whose
        definition one is."""
        return self._with_code_at(self.reached_from(places))

    def reached_from(self, places: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
        """The places, and those of this text where a macro is used in whose definition one is."""
        found, texts = list(places), self.texts
        return found + [use for path, at in found for use in uses_of_definition(texts, path, at)]

    @property
    def texts(self) -> Mapping[str, bytes]:
        """Of the files of the unit that are the project's, by path, and of those of libraries that kernels run, which
        are not edited."""
        if self._origin is None:
            return {self.request.path: source_bytes(self.request.text), **self.other_builds.texts, **self.trees.texts}
        edited = {path: file.after for path, file in self._edited.items()}
        return {**self._origin.texts, **edited, **self.trees.texts}

    def _with_code_at(self, found: Sequence[tuple[str, int]]) -> set[str]:
        if self._origin is not None:
            return self._origin._with_code_at([self._before(place) for place in found])
        return {
            mangled
            for mangled, extents in self._extents.items()
            if any(_contains(extent, place) for extent in extents for place in found)
        }

    def _before(self, place: tuple[str, int]) -> tuple[str, int]:
        """The place in the text of the origin, or the one in front of what was inserted there."""
        file = self._edited.get(place[0])
        if file is None:
            return place
        olds = (file.offsets.old(at) for at in range(place[1], -1, -1))
        return place[0], next((old for old in olds if old is not None), 0)

    def changes(self, chosen: Iterable[Candidate], barrier: bytes = b"") -> Changes:
        """The changes that put a barrier into each gap, by file; `barrier`: written like this."""
        by_path: dict[str, list[Candidate]] = {}
        for candidate in chosen:
            by_path.setdefault(candidate.gap.function.path, []).append(candidate)
        changes: dict[str, list[Change]] = {}
        for path, found in by_path.items():
            text = self.trees.texts[path]
            header = included(text, self.header) if self.header else None
            more = insertions(text, [c.gap for c in found], barrier or self.barrier)
            changes[path] = [*([header] if header is not None else ()), *more]
        return changes

    def _edited_by(
        self, changes: Changes, also: Collection[str]
    ) -> tuple[CheckRequest, dict[str, EditedFile], list[str]]:
        """What to ask about an edited text: the request, the files, the names of the kernels."""
        files = {
            path: EditedFile(self.trees.texts[path], apply(self.trees.texts[path], found), OffsetMap(found))
            for path, found in changes.items()
        }
        request = with_texts(self.request, {path: file.after for path, file in files.items()})
        places = [(path, change.start) for path, found in changes.items() for change in found]
        touched = self.touched(places)
        names = sorted({k.name for k in self.result.kernels if k.mangled in touched or k.mangled in also})
        return request, files, names

    def _refused(self, files: Files) -> UnitAnalysis | None:
        """The answer to an edit of a library's file: as if the text could not be read, and the reason."""
        for path, file in files.items():
            if file.before != file.after and (library := self.trees.library(path)):
                why = Reason("library", f"what would have to change is in {library}")
                return replace(self._analysis, kernels=(), result=replace(self.result, kernels=(), failure=why))
        return None

    def _unless_renamed(self, analysis: UnitAnalysis, changes: Changes) -> UnitAnalysis:
        """The answer to an edit, or one as if the text could not be read where a name means something else in it, which
        a word in place of another one is meant to."""
        moves = any(_MOVES.search(change.text) for found in changes.values() for change in found)
        if not moves or new_error(self.result, analysis.result) is not None:
            return analysis
        why = meant_otherwise(self.trees, analysis.unit, changes)
        if why is None:
            return analysis
        return replace(analysis, kernels=(), result=replace(analysis.result, kernels=(), failure=Reason("names", why)))

    def trial(
        self,
        changes: Changes,
        targets: frozenset[PairKey],
        also: Collection[str] = (),
        *,
        inserting: bool = False,
        draft: bool = False,
    ) -> Trial:
        """Ask the engine about the edited text: the kernels that it touches and those with mangled names in `also`.
        `inserting`: the changes insert barriers and nothing else. `draft`: something will be made of the edited text
        before it is offered, so how sure a race is does not matter yet.

        Raises `CancelledError` when stopped and `SearchSpentError` when there was too much of it."""
        key = tuple((path, *found) for path, found in sorted(changes.items())), targets, frozenset(also), inserting
        if draft and key in self._drafts:
            return self._drafts[key]
        self._oracle.refuse_when_spent()
        request, files, names = self._edited_by(changes, also)
        own = self._is_for_device(changes)
        analysis = self._refused(files) or self._oracle.asked(request, names, for_device=own)
        analysis = analysis if inserting else self._unless_renamed(analysis, changes)
        difference = self._judge.difference(analysis, files, targets, inserting=inserting)
        if self.names_lanes and (why := named_otherwise(analysis.kernels, self.barrier)) is not None:
            difference = replace(difference, worse=(*difference.worse, why))
        keys = _gaps_at(changes)
        checked = frozenset(kernel.mangled for kernel in analysis.result.kernels)
        tried = Trial(
            analysis,
            files,
            changes,
            difference,
            checked,
            frozenset(gone_groups(self.result, checked, difference)),
            keys(difference.divergent),
            keys(difference.late),
            keys(difference.in_vain),
            targets & self._judge.doubts(analysis.kernels, files).keys(),
        )
        if not draft:
            return self.finished(tried, targets, inserting=inserting)
        self._drafts[key] = tried
        return tried

    def draft(self, changes: Changes, also: Collection[str] = ()) -> Trial:
        """A trial of a step that changes the form of the code, not what it does: nothing is decided, the findings are
        those of this text. Raises like `trial`."""
        self._oracle.refuse_when_spent()
        request, files, names = self._edited_by(changes, also)
        analysis = self._refused(files) or self._oracle.drafted(request, names, for_device=self._is_for_device(changes))
        analysis = self._unless_renamed(analysis, changes)
        error = new_error(self.result, analysis.result)
        result = carried_over(self.result, analysis.result, files)
        if result is None and error is None:
            return self.trial(changes, frozenset(), also, draft=True)
        if result is not None:
            by_name = {k.mangled: k for k in result.kernels}
            for kernel in analysis.kernels:
                kernel.result = by_name[kernel.kernel.mangled]
            analysis = replace(analysis, result=result)
        checked = frozenset(kernel.mangled for kernel in analysis.result.kernels)
        difference = Difference(worse=(error,) if error is not None else ())
        none = frozenset[Key]()
        return Trial(analysis, files, changes, difference, checked, frozenset(), none, none, decided=False)

    def read(self, changes: Changes) -> tuple[UnitAnalysis, Files]:
        """The edited text of a repair that was found, with nothing decided, however much has been spent. Raises
        `CancelledError` when stopped."""
        request, files, names = self._edited_by(changes, ())
        return self._oracle.drafted(request, names, for_device=self._is_for_device(changes)), files

    def decide(self, drafted: Trial) -> Trial:
        """Decide what races in this text, which is that of the draft; gives the draft with that. Raises like
        `trial`."""
        analysis = self._oracle.decided(drafted.analysis)
        self.result, self.kernels, self.decided = analysis.result, analysis.kernels, True
        self._read_first = None
        return replace(drafted, analysis=analysis, decided=True)

    def finished(self, trial: Trial, targets: frozenset[PairKey] = frozenset(), *, inserting: bool = False) -> Trial:
        """A draft that is offered as it is. Raises like `trial`."""
        if self._origin is not None or not trial.difference.is_clean:
            return trial
        executed = self._judge.executed(trial.analysis, trial.files)
        if executed is not None:
            difference = self._judge.difference(executed, trial.files, targets, inserting=inserting)
            gone = frozenset(gone_groups(self.result, trial.checked, difference))
            trial = replace(trial, analysis=executed, difference=difference, gone=gone)
        difference, missed, late = self._elsewhere(trial.difference, trial.files, trial.checked, inserting=inserting)
        keys = _gaps_at(trial.changes)
        return replace(
            trial, difference=difference, divergent=trial.divergent | keys(missed), late=trial.late | keys(late)
        )

    def _elsewhere(
        self, difference: Difference, files: Files, kernels: Collection[str], *, inserting: bool = False
    ) -> tuple[Difference, Collection[SourceSpan], Collection[SourceSpan]]:
        """What an edit did, in other builds, too, if it is clean in this one; with the inserted barriers that some
        threads miss there, and those missed by threads that have returned. Raises like `trial`."""
        if not difference.is_clean:
            return difference, (), ()
        found = self.other_builds.judged(files, kernels, inserting=inserting)
        worse = (found.worse,) if found.worse else ()
        return replace(difference, worse=(*difference.worse, *worse)), found.missed, found.late

    @property
    def _judge(self) -> Judge:
        """Of edits of this text."""
        return Judge(self._oracle, self.request, self.result)


def _gaps_at(changes: Changes) -> Callable[[Iterable[SourceSpan]], frozenset[Key]]:
    """The gaps of inserted barriers, by where those stand in the edited text."""
    places = {(p, at): key for p, found in changes.items() for at, key in barrier_offsets(found).items()}
    return lambda spans: frozenset(places[s.path, s.start_offset] for s in spans if (s.path, s.start_offset) in places)


def names_of(kernels: Iterable[KernelAnalysis]) -> set[str]:
    """Mangled names."""
    return {a.kernel.mangled for a in kernels}


def _contains(extent: SourceSpan, place: tuple[str, int]) -> bool:
    return extent.path == place[0] and extent.start_offset <= place[1] < extent.end_offset
