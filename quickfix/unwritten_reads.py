"""Reads of shared memory that a repair puts in front of everything that is written to what they read.

Takes analysed kernels of an edited text and the races that the edit has ordered; says which of their reads come before
any write that may touch the same bytes. The two are in order then and the race is gone, but the read finds what nobody
has written.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from analyzers.analysed import KernelAnalysis
from analyzers.ir.events import AccessEvent
from analyzers.model import Access, Finding, KernelResult, UnitResult
from analyzers.races.check import RaceChecker
from analyzers.races.pairs import Pair, place
from analyzers.races.threads import Launch
from quickfix.file_names import listed
from quickfix.solving import Solving
from quickfix.spinning import in_words
from quickfix.verify import RACES, Files, findings_of, old_offset

_Site = tuple[tuple[str, int | None], ...]
"""Where an access and the calls around it stand in the old text."""
_Reads = Sequence[AccessEvent]


def reads_come_first(kernels: Iterable[KernelAnalysis], groups: Collection[str]) -> bool:
    """Whether the text of the kernels puts a read in front of the write that it collides with, in a race that is in one
    of the `groups`, if only within a round of a loop. No edit does where the text does not."""
    return any(
        any(read.order < write.order for read in reads for write in writes)
        for analysis in kernels
        for reads, writes in _sides(analysis, {}, _races(analysis.result, groups))
    )


def find_nothing(kernels: Iterable[KernelAnalysis], reads: Iterable[Access], solving: Solving) -> bool:
    """Whether one of the reads, as the text has it, finds what nobody has written in some launch."""
    sites = {_site(read) for read in reads}
    for analysis in kernels:
        events = [e for e in analysis.events.accesses if not e.writes and _site_now(e, {}) in sites]
        if any(_nothing_before(analysis, [e], solving) for e in events):
            return True
    return False


def reads_taken_for_granted(
    kernels: Iterable[KernelAnalysis], files: Files, before: UnitResult, groups: Collection[str], solving: Solving
) -> str:
    """That such reads are meant to come first, a sentence; empty where each may find what was written. `before`: the
    result of the old text, with the races that are ordered now in `groups`."""
    races = {kernel.mangled: list(_races(kernel, groups)) for kernel in before.kernels}
    found: dict[str, None] = {}
    for analysis in kernels:
        for reads in _made_first(analysis, files, races.get(analysis.kernel.mangled, ())):
            if _nothing_before(analysis, reads, solving):
                found[in_words(reads[0], files, before)] = None
    if not found:
        return ""
    what = "what is read there" if len(found) == 1 else "what these read"
    return f"Assumes that {listed(list(found))} may come first: nothing is written before to {what}."


def _races(kernel: KernelResult, groups: Collection[str]) -> Iterator[Finding]:
    """Those within blocks on shared memory."""
    for f in findings_of(kernel):
        if f.code in RACES and f.group in groups and f.space == "shared" and f.scope != "inter-block":
            yield f


def _made_first(analysis: KernelAnalysis, files: Files, races: Iterable[Finding]) -> Iterator[_Reads]:
    """The reads at one site, each of which comes once and for all before a write that it collided with."""
    known: list[_Reads] = []
    for reads, writes in _sides(analysis, files, races):
        first = all(any(not _may_precede(write, read) for write in writes) for read in reads)
        if first and reads not in known:
            known.append(reads)
            yield reads


def _sides(
    analysis: KernelAnalysis, files: Files, races: Iterable[Finding]
) -> Iterator[tuple[_Reads, Sequence[AccessEvent]]]:
    """What a race is of, as the text has it now: the reads at one site, and the writes at the other one."""
    at: dict[_Site, list[AccessEvent]] | None = None
    for race in races:
        if at is None:
            at = {}
            for event in analysis.events.accesses:
                at.setdefault(_site_now(event, files), []).append(event)
        one, two = (_site(access) for access in race.accesses[:2])
        for here, there in ((one, two), (two, one)):
            reads = [e for e in at.get(here, ()) if not e.writes]
            if reads:
                yield reads, [e for e in at.get(there, ()) if e.writes]


def _site(access: Access) -> _Site:
    return tuple((s.path, s.start_offset) for s in (*access.calls, access.span))


def _site_now(event: AccessEvent, files: Files) -> _Site:
    return tuple((s.path, old_offset(s, files)) for s in (*event.site.calls, event.site.span))


def _may_precede(write: AccessEvent, read: AccessEvent) -> bool:
    """In the text, or in an earlier round of a loop around both."""
    return write.order < read.order or (bool(read.loops) and read.loops[:1] == write.loops[:1])


def _nothing_before(analysis: KernelAnalysis, reads: Sequence[AccessEvent], solving: Solving) -> bool:
    """Whether nobody has written what the reads find, in some launch. Where there are too many events for all of them
    to be known, that is not known either."""
    if analysis.events.kernel is not analysis.kernel:
        return False
    checkers = (solving.checker(Launch(analysis.events, context)) for context in analysis.contexts)
    return any(all(_finds_nothing(checker, read) for read in reads) for checker in checkers)


def _finds_nothing(checker: RaceChecker, read: AccessEvent) -> bool:
    """Whether no thread of the block may have written what a read finds."""
    launch = checker.launch
    own = place(launch, read)
    writes = ((w, place(launch, w)) for w in launch.events.accesses if w.writes and _may_precede(w, read))
    return all(
        checker.never_meet(Pair(write, read, where, own))
        for write, where in writes
        if where.allocation == own.allocation
    )
