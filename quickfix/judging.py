"""What an edit did, by the engine's analysis of the edited text.

Takes a text's result and the analysis of what an edit has made of it, gives the `Difference`: that of the findings
(`verify`), and what they do not show: races of which it is not known any more whether they are there, races that are no
more frequent for it, and threads that would wait in vain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from analyzers.analysed import KernelAnalysis, UnitAnalysis
from analyzers.ir.events import AccessEvent
from analyzers.model import SourceSpan, UnitResult, Verdict
from analyzers.requests import CheckRequest
from quickfix.left_lanes import lanes_left_out
from quickfix.loosened import without_as_frequent
from quickfix.oracle import Oracle
from quickfix.solving import Solving
from quickfix.spinning import waits_in_vain
from quickfix.verify import RACES, Difference, Files, PairKey, compare, findings_of, in_old_text, key_of, old_offset


@dataclass(frozen=True, slots=True)
class Judge:
    """Judges edits of one text."""

    oracle: Oracle
    request: CheckRequest
    result: UnitResult
    """Of the text before the edits."""

    def difference(
        self,
        analysis: UnitAnalysis,
        files: Files,
        targets: frozenset[PairKey] | None = None,
        *,
        inserting: bool = False,
        before: UnitResult | None = None,
    ) -> Difference:
        """What an edit did, by the analysis of the edited text. What is not known any more counts as worse: of the
        `targets`, or of everything where there are none. `before`: the result to compare with, if another one."""
        before = self.result if before is None else before
        difference = compare(before, analysis.result, files, targets or frozenset(), inserting=inserting)
        difference = self._excused(difference, analysis.kernels, files)
        doubts = self.doubts(analysis.kernels, files)
        texts = [text for key, text in doubts.items() if targets is None or key in targets]
        vain = [] if difference.worse or difference.divergent else self._vain_waits(analysis.kernels, files)
        return replace(
            difference,
            left=difference.left | doubts.keys(),
            worse=(*difference.worse, *texts, *(text for text, _ in vain)),
            in_vain=tuple(barrier for _, barrier in vain),
        )

    def doubts(self, kernels: Iterable[KernelAnalysis], files: Files) -> dict[PairKey, str]:
        """What races in this text, and may still in the edited one: the question is open for the same launch. With a
        sentence about it."""
        contexts = {k.mangled: k.contexts for k in self.result.kernels}
        found: dict[PairKey, str] = {}
        for analysis in kernels:
            known = contexts.get(analysis.kernel.mangled, ())
            races = [{key_of(f): f for f in c.findings if f.code in RACES} for c in known]
            every = ((i, key) for i in analysis.undecided_besides if i < len(races) for key in races[i])
            for index, key in (*_open_pairs(analysis, files), *every):
                race = races[index].get(key) if index < len(races) else None
                if race is not None:
                    text = " and ".join(f"`{access.text}`" for access in race.accesses)
                    found[key] = f"`{analysis.result.name}`: it is not known whether {text} still collide"
        return found

    def executed(self, analysis: UnitAnalysis, files: Files) -> UnitAnalysis | None:
        """The same with the races executed that were only possible before, which tells whether they are definite now;
        None where none is left of them. Raises like `Oracle.asked`."""
        every = (f for k in self.result.kernels for f in findings_of(k))
        possible = {key_of(f) for f in every if f.code is Verdict.POSSIBLE_DATA_RACE}
        races = (f for k in analysis.result.kernels for f in findings_of(k) if f.code in RACES)
        left = {key_of(old) for f in races if (old := in_old_text(f, files)) is not None}
        if left.isdisjoint(possible):
            return None

        def is_possible(one: AccessEvent, two: AccessEvent) -> bool:
            return ("race", frozenset((old_places(one, files), old_places(two, files)))) in possible

        return self.oracle.executed(analysis, is_possible)

    def _vain_waits(self, kernels: Sequence[KernelAnalysis], files: Files) -> list[tuple[str, SourceSpan]]:
        """What new barriers would keep threads from, which others wait for, and these barriers."""
        solving = Solving.of(self.request, self.oracle.poll)
        searches = (lanes_left_out, waits_in_vain)
        every = (vain for search in searches for vain in search(kernels, files, self.result, solving))
        found = list(islice(every, 1))
        self.oracle.charge(solving.effort.spent)
        return found

    def _excused(self, difference: Difference, kernels: Sequence[KernelAnalysis], files: Files) -> Difference:
        """What an edit did, without the races that are no more frequent for it."""
        if not difference.loosened:
            return difference
        solving = Solving.of(self.request, self.oracle.poll)
        left = without_as_frequent(difference, kernels, files, solving)
        self.oracle.charge(solving.effort.spent)
        return left


def old_places(event: AccessEvent, files: Files) -> tuple[tuple[str, int | None], ...]:
    """Where an access stood in the old text, as keys of findings have it; None for what was inserted."""
    return tuple((s.path, old_offset(s, files)) for s in (*event.site.calls, event.site.span))


def _open_pairs(analysis: KernelAnalysis, files: Files) -> Iterator[tuple[int, PairKey]]:
    """The pairs that were not decided: the index of the context, and the key that findings about them have in the old
    text."""
    places: dict[int, tuple[tuple[str, int], ...] | None] = {}

    def place(event: AccessEvent) -> tuple[tuple[str, int], ...] | None:
        if id(event) not in places:
            found = [
                (s.path, at) for s in (*event.site.calls, event.site.span) if (at := old_offset(s, files)) is not None
            ]
            places[id(event)] = tuple(found) if len(found) > len(event.site.calls) else None
        return places[id(event)]

    for index, one, two in analysis.undecided:
        first, second = place(one), place(two)
        if first is not None and second is not None:
            yield index, ("race", frozenset({first, second}))
