"""What an edit does in other builds, which compile other branches of the preprocessor conditionals in its functions.

Takes the files of an edit that this build has nothing against, has each other reading of them (`other_builds`) checked
before and after it, gives what is worse there. A reading that cannot be checked, because what it needs is not there,
says nothing: then the edit takes for granted that there is no such build.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from analyzers.analysed import KernelAnalysis, UnitAnalysis
from analyzers.frontend.parse import ParseFailure
from analyzers.model import SourceSpan
from quickfix.file_names import FileNames
from quickfix.judging import Judge
from quickfix.oracle import with_texts
from quickfix.other_builds import Reading, Readings, Where, readings_of
from quickfix.verify import Difference, EditedFile, Files, new_error

_TOO_MANY: Final = "there may be too many to check each"
_NOT_THERE: Final = "what that needs is not there to check it"

_MOST_ALONE: Final = 8
"""Readings of one choice."""

Extents = Mapping[str, Sequence[SourceSpan]]
"""By mangled name of each kernel: the functions that it runs."""


@dataclass(frozen=True, slots=True)
class OtherBuild:
    """A reading of the text that was checked."""

    reading: Reading
    analysis: UnitAnalysis
    judge: Judge
    names: Sequence[str]
    """Of its kernels."""
    is_launched: bool = False
    """Nothing differs but how the kernels are launched."""


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
            found = self._difference(build, files, inserting=inserting)
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
            launched = {_base(name).encode() for name in self._names(key).values()}
            readings = readings_of(self.texts, ranges, launched)
            found = [(reading, self._build(reading, key)) for reading in readings.each]
            made = {each for reading, build in found if build is not None for each in reading.choice.items()}
            left = [reading for reading in readings.alone if made.isdisjoint(reading.choice.items())]
            found += [(reading, self._build(reading, key)) for reading in left[:_MOST_ALONE]]
            granted = "" if readings.complete else self._granted(readings, _TOO_MANY)
            if not granted and any(build is None and not reading.optional for reading, build in found):
                granted = self._granted(readings, _NOT_THERE)
            self._known[key] = _Known(readings, self._others(key, (b for _, b in found if b is not None)), granted)
        return self._known[key]

    def _others(self, kernels: Collection[str], builds: Iterable[OtherBuild]) -> tuple[OtherBuild, ...]:
        """Those that compile something else than this build and those before them, as far as the kernels go."""
        own = [self.own[name] for name in kernels if name in self.own]
        known: list[Sequence[KernelAnalysis]] = [own]
        found: list[OtherBuild] = []
        for build in builds:
            if not any(_is_same(build.analysis.kernels, one) for one in known):
                known.append(build.analysis.kernels)
                found.append(replace(build, is_launched=_is_same(build.analysis.kernels, own, launches=False)))
        return tuple(found)

    def _names(self, kernels: Collection[str]) -> dict[str, str]:
        """By mangled name."""
        return {k.mangled: k.name for k in self.judge.result.kernels if k.mangled in kernels}

    def place(self, where: Where) -> str:
        """A line in words."""
        return FileNames.of_unit(self.judge.result).at(*where)

    def _granted(self, readings: Readings, why: str) -> str:
        return f"Assumes that no other build has other code from {self.place(readings.where)} on: {why}."

    def _build(self, reading: Reading, kernels: Collection[str]) -> OtherBuild | None:
        """None where that cannot be checked."""
        texts = {path: (text, reading.of(text)) for path, text in self.texts.items()}
        request = with_texts(self.judge.request, {path: read for path, (text, read) in texts.items() if read != text})
        known = self._names(kernels)
        oracle, names = self.judge.oracle, sorted(set(known.values()))
        try:
            draft = oracle.drafted(request, names, for_device=True)
            if new_error(self.judge.result, draft.result) is not None:
                return None
            analysis = None if reading.launches else oracle.decided(draft)
            if analysis is None or {k.kernel.mangled for k in analysis.kernels} != known.keys():
                # Parameters, arguments of templates or launches are other ones there.
                names, oracle = sorted(set(map(_base, names))), oracle.beside()
                analysis = oracle.opened(request, names)
        except ParseFailure:
            return None
        if new_error(self.judge.result, analysis.result) is not None or (known and not analysis.kernels):
            return None
        return OtherBuild(reading, analysis, Judge(oracle, analysis.request, analysis.result), names)

    def _difference(self, build: OtherBuild, files: Files, *, inserting: bool) -> Difference:
        read = build.reading.of
        edited = {path: EditedFile(read(f.before), read(f.after), f.offsets) for path, f in files.items()}
        request = with_texts(build.judge.request, {path: file.after for path, file in edited.items()})
        analysis = build.judge.oracle.asked(request, build.names, for_device=True)
        return build.judge.difference(analysis, edited, frozenset(), inserting=inserting)


def _base(name: str) -> str:
    """Of a kernel, without the arguments of its template."""
    return name.partition("<")[0]


def _is_same(some: Sequence[KernelAnalysis], others: Sequence[KernelAnalysis], *, launches: bool = True) -> bool:
    """Whether two builds have the same kernels; `launches`: launched alike."""
    known = {k.kernel.mangled: k for k in others}
    if known.keys() != {k.kernel.mangled for k in some}:
        return False
    pairs = [(k, known[k.kernel.mangled]) for k in some]
    return all(k.kernel == own.kernel and (not launches or k.contexts == own.contexts) for k, own in pairs)


def _in_words(difference: Difference) -> str:
    """What is wrong in another build; a clause."""
    races = (*difference.new_races, *difference.remaining)
    if difference.divergent:
        return "some threads would miss the barrier"
    elif races:
        one, two = races[0].accesses[:2]
        return f"`{one.text}` (line {one.span.line}) and `{two.text}` (line {two.span.line}) would race"
    return difference.worse[0]
