"""One text of one unit while it is being repaired: its results, its statement trees, and trials of edits on it.

Takes an engine and a request; a `Trial` is the answer of the engine to the same request with changed texts, compared
with the result before. Only kernels that contain edited code are checked again: the others are the same text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from analyzers.engine import CheckRequest, Engine, KernelAnalysis, UnitFinished
from analyzers.frontend.gaps import SourceTrees, function_trees
from analyzers.model import SourceSpan, UnitResult
from quickfix.edits import Change, OffsetMap, apply, barrier_offsets, insertions
from quickfix.paths import Candidate, Key
from quickfix.verify import Difference, EditedFile, PairKey, compare, findings_of, gone_groups, spans_of

Stop = Callable[[], bool]
Changes = Mapping[str, list[Change]]


@dataclass(frozen=True, slots=True)
class Trial:
    """An edit and what the engine says about it."""

    request: CheckRequest
    """The unit with the edited texts."""
    files: Mapping[str, EditedFile]
    difference: Difference
    checked: frozenset[str]
    """Mangled names of the kernels that were checked again."""
    gone: frozenset[str]
    """Groups of findings of which nothing is left."""
    divergent: frozenset[Key]
    """Gaps whose barrier some threads miss."""
    late: frozenset[Key]
    """Gaps whose barrier is missed by threads that have returned, and by no others."""


class Session:
    """The unit as `request` has it. The trees are read at once: a later trial invalidates what libclang holds."""

    def __init__(self, engine: Engine, request: CheckRequest, stop: Stop) -> None:
        self.engine = engine
        self.request = request
        self.stop = stop
        self.hopeless: dict[PairKey, str] = {}
        """Races that no barrier removes, and why, as far as known."""
        analysis = engine.analyse(request, stop)
        self.result: UnitResult = analysis.result
        self.kernels: tuple[KernelAnalysis, ...] = analysis.kernels
        spans = spans_of([f for k in self.result.kernels for f in findings_of(k)])
        self.trees: SourceTrees = function_trees(analysis.unit.device, [(s.path, s.start_offset) for s in spans])

    def kernels_with(self, spans: Iterable[SourceSpan | tuple[str, int]]) -> list[KernelAnalysis]:
        """The kernels whose own text, or that of a function they call, contains one of the places."""
        places = [(s.path, s.start_offset) if isinstance(s, SourceSpan) else s for s in spans]
        return [
            a for a in self.kernels if any(_contains(extent, place) for extent in extents_of(a) for place in places)
        ]

    def changes(self, chosen: Iterable[Candidate]) -> Changes:
        """The changes that put a barrier into each gap, by file."""
        by_path: dict[str, list[Candidate]] = {}
        for candidate in chosen:
            by_path.setdefault(candidate.gap.function.path, []).append(candidate)
        return {p: insertions(self.trees.texts[p], [c.gap for c in found]) for p, found in by_path.items()}

    def trial(self, changes: Changes, targets: frozenset[PairKey], kernels: Iterable[KernelAnalysis] = ()) -> Trial:
        """Ask the engine about the edited text: about the kernels that it touches and those in `kernels`.

        Raises `CancelledError` when stopped."""
        files = self.files_after(changes)
        request = with_texts(self.request, {path: file.after for path, file in files.items()})
        touched = self.kernels_with((path, change.start) for path, found in changes.items() for change in found)
        names = tuple(sorted({a.kernel.base_name for a in (*touched, *kernels)}))
        # Whether the barriers that were there before are needed is nothing that an edit has to answer for.
        options = replace(request.options, kernels=names, redundancy=False)
        narrowed = replace(request, options=options, previous_keys={}, first=())
        after = self._checked(narrowed)
        difference = compare(self.result, after, files, targets)
        places = {(p, at): key for p, found in changes.items() for at, key in barrier_offsets(found).items()}

        def keys(spans: Iterable[SourceSpan]) -> frozenset[Key]:
            return frozenset(places[s.path, s.start_offset] for s in spans if (s.path, s.start_offset) in places)

        checked = frozenset(kernel.mangled for kernel in after.kernels)
        return Trial(
            request,
            files,
            difference,
            checked,
            frozenset(gone_groups(self.result, checked, difference.left)),
            keys(difference.divergent),
            keys(difference.late),
        )

    def files_after(self, changes: Changes) -> dict[str, EditedFile]:
        return {
            path: EditedFile(self.trees.texts[path], apply(self.trees.texts[path], found), OffsetMap(found))
            for path, found in changes.items()
        }

    def _checked(self, request: CheckRequest) -> UnitResult:
        for event in self.engine.check(request, self.stop):
            if isinstance(event, UnitFinished):
                return event.result
        raise AssertionError("a check always ends with UnitFinished")


def extents_of(analysis: KernelAnalysis) -> list[SourceSpan]:
    """The definitions that a kernel consists of: its own and those of the functions it calls."""
    kernel = analysis.kernel
    return [kernel.extent, *(extent for _, extent in kernel.functions)]


def _contains(extent: SourceSpan, place: tuple[str, int]) -> bool:
    return extent.path == place[0] and extent.start_offset <= place[1] < extent.end_offset


def with_texts(request: CheckRequest, texts: Mapping[str, bytes]) -> CheckRequest:
    """The request with other texts for some files, the main one included."""
    decoded = {path: text.decode("utf-8", "surrogateescape") for path, text in texts.items()}
    main = decoded.pop(request.path, request.text)
    return replace(request, text=main, unsaved={**request.unsaved, **decoded})
