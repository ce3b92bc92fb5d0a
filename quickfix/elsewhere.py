"""What an edit does in other builds, which compile other branches of the preprocessor conditionals in its functions.

Takes the files of an edit that this build has nothing against, has each other reading of them (`other_builds`) checked
before and after it, gives what is worse there. A reading that cannot be checked, because what it needs is not there,
says nothing: then the edit takes for granted that there is no such build.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from analyzers.analysed import KernelAnalysis, UnitAnalysis
from analyzers.frontend.parse import ParseFailure
from analyzers.model import SourceSpan
from quickfix.judging import Judge
from quickfix.oracle import Oracle, with_texts
from quickfix.other_builds import Reading, Readings, Where, readings_of
from quickfix.verify import Difference, EditedFile, Files, new_error

_TOO_MANY: Final = "there may be too many to check each"
_NOT_THERE: Final = "what that needs is not there to check it"

Extents = Mapping[str, Sequence[SourceSpan]]
"""By mangled name of each kernel: the functions that it runs."""


@dataclass(frozen=True, slots=True)
class OtherBuild:
    """A reading of the text that was checked."""

    reading: Reading
    analysis: UnitAnalysis
    judge: Judge


@dataclass(frozen=True, slots=True)
class _Known:
    """What some kernels are in other builds."""

    readings: Readings
    builds: tuple[OtherBuild, ...]
    granted: str
    """What is taken for granted about builds that were not checked; empty where there are none."""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """What an edit does in other builds."""

    worse: str = ""
    missed: tuple[SourceSpan, ...] = ()
    """Inserted barriers (in the new text) that some threads miss there."""
    late: tuple[SourceSpan, ...] = ()
    """The same of threads that have returned."""


@dataclass
class OtherBuilds:
    """The other builds of one text."""

    judge: Judge
    """Of this build."""
    texts: Mapping[str, bytes]
    """Of the files with code of the kernels, and of the project's headers."""
    extents: Extents
    own: Mapping[str, KernelAnalysis]
    """The kernels in this build, by mangled name, as far as they are known."""
    _known: dict[frozenset[str], _Known] = field(default_factory=dict[frozenset[str], _Known])

    def judged(self, files: Files, kernels: Collection[str], *, inserting: bool = False) -> Elsewhere:
        """An edit of code of these kernels (mangled names), by the first build for which it is wrong."""
        late: list[SourceSpan] = []
        for build in self.of(kernels).builds:
            found = self._difference(build, files, kernels, inserting=inserting)
            late += found.late
            if not found.is_clean:
                worse = f"another build may have other code from {self.place(build.reading.where)} on, and there "
                return Elsewhere(worse + _in_words(found), found.divergent, tuple(late))
        return Elsewhere(late=tuple(dict.fromkeys(late)))

    def of(self, kernels: Collection[str]) -> _Known:
        """The builds in which some kernels are other ones."""
        key = frozenset(kernels)
        if key not in self._known:
            ranges: dict[str, list[tuple[int, int]]] = {}
            for span in {span for name in key for span in self.extents.get(name, ())}:
                if span.path in self.texts:
                    ranges.setdefault(span.path, []).append((span.start_offset, span.end_offset))
            readings = readings_of(self.texts, ranges)
            builds, granted = list[OtherBuild](), "" if readings.complete else self._granted(readings, _TOO_MANY)
            for reading in readings.each:
                build = self._build(reading, key)
                if build is None:
                    granted = granted or ("" if reading.optional else self._granted(readings, _NOT_THERE))
                elif not self._is_own(build):
                    builds.append(build)
            self._known[key] = _Known(readings, tuple(builds), granted)
        return self._known[key]

    def place(self, where: Where) -> str:
        """A line in words."""
        path, line = where
        return f"line {line}" + (f" of {Path(path).name}" if path != self.judge.request.path else "")

    def _granted(self, readings: Readings, why: str) -> str:
        return f"Assumes that no other build has other code from {self.place(readings.where)} on: {why}."

    def _is_own(self, build: OtherBuild) -> bool:
        """Whether it compiles what this one does, as far as the kernels go."""
        return all(
            (own := self.own.get(k.kernel.mangled)) is not None and own.kernel == k.kernel
            for k in build.analysis.kernels
        )

    def _build(self, reading: Reading, kernels: Collection[str]) -> OtherBuild | None:
        """None where that cannot be checked."""
        texts = {path: (text, reading.of(text)) for path, text in self.texts.items()}
        request = with_texts(self.judge.request, {path: read for path, (text, read) in texts.items() if read != text})
        try:
            analysis = self._oracle.asked(request, self._names(kernels), for_device=True)
        except ParseFailure:
            return None
        if new_error(self.judge.result, analysis.result) is not None:
            return None
        return OtherBuild(reading, analysis, replace(self.judge, request=request, result=analysis.result))

    def _difference(self, build: OtherBuild, files: Files, kernels: Collection[str], *, inserting: bool) -> Difference:
        read = build.reading.of
        edited = {path: EditedFile(read(f.before), read(f.after), f.offsets) for path, f in files.items()}
        request = with_texts(build.judge.request, {path: file.after for path, file in edited.items()})
        analysis = self._oracle.asked(request, self._names(kernels), for_device=True)
        return build.judge.difference(analysis, edited, frozenset(), inserting=inserting)

    def _names(self, kernels: Collection[str]) -> list[str]:
        return sorted({k.name for k in self.judge.result.kernels if k.mangled in kernels})

    @property
    def _oracle(self) -> Oracle:
        return self.judge.oracle


def _in_words(difference: Difference) -> str:
    """What is wrong in another build; a clause."""
    races = (*difference.new_races, *difference.remaining)
    if difference.divergent:
        return "some threads would miss the barrier"
    elif races:
        one, two = races[0].accesses[:2]
        return f"`{one.text}` (line {one.span.line}) and `{two.text}` (line {two.span.line}) would race"
    return difference.worse[0]
