"""Reads of shared memory that a repair puts in front of everything that is written to what they read.

Takes analysed kernels and races of them; says which of their reads come before any write that may touch the same bytes:
in the text as it is, and in an edited one. A barrier puts such a read and a write behind it in order and the race is
gone, but the read finds what nobody has written. What an atomic does begins with a read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Final

from analyzers.analysed import KernelAnalysis
from analyzers.ir import expr as E
from analyzers.ir.events import AccessEvent
from analyzers.ir.expr import Expr
from analyzers.model import Access, Finding, KernelResult
from analyzers.races.check import RaceChecker
from analyzers.races.pairs import Pair, place
from analyzers.races.threads import Launch, Mode
from analyzers.reference.agreement import UNDECIDED
from quickfix.solving import Solving
from quickfix.verify import RACES, PairKey, findings_of, key_of

_Site = tuple[tuple[str, int], ...]
"""Where an access and the calls around it stand."""
_Accesses = Sequence[AccessEvent]
_Which = Callable[[AccessEvent, AccessEvent], bool]

_MOST_WRITES: Final = 64
"""In front of one read that are asked about, the last ones first."""


def races_read_first(kernels: Iterable[KernelAnalysis], solving: Solving) -> frozenset[PairKey]:
    """The races of which the text puts such a read in front of the write. What is not decided counts as one."""
    found: set[PairKey] = set()
    for analysis in kernels:
        races = list(_races(analysis.result))
        sites = _by_site(analysis) if races else {}  # all events are put together when they are asked for
        for race in races:
            if any(_finds_nothing(analysis, read, solving) for read in _first(sites, race)):
                found.add(key_of(race))
    return frozenset(found)


def all_find_nothing(
    kernels: Iterable[KernelAnalysis], reads: Iterable[Access], at_once: _Which, solving: Solving
) -> bool:
    """Whether it is proved that nobody has written what the reads find, in any launch of the kernels, which all run
    them. `at_once`: whether a write and a read are made by one execution of the code around them."""
    sites = {_site(read) for read in reads}
    for analysis in kernels:
        found = [e for e in analysis.events.accesses if e.kind != "write" and _site_of(e) in sites]
        reasons = (r for c in analysis.result.contexts for r in c.reasons)
        if not found or not _is_known(analysis) or any(not r.text.startswith(UNDECIDED) for r in reasons):
            return False
        for checker in _checkers(analysis, solving):
            if any(_nothing_before(checker, e, at_once) is not True for e in found):
                return False
    return True


def reads_kept_first(
    kernels: Iterable[KernelAnalysis],
    races: Collection[PairKey],
    edited: Iterable[KernelAnalysis],
    solving: Solving,
) -> list[AccessEvent]:
    """The reads of `races` that the text puts first (`races_read_first`), one for each site, but for those in front of
    which an edit has put what is written. `kernels`: of the old text. In code that is written anew a read is known by
    its words."""
    now = {k.kernel.mangled: k for k in edited}
    found: dict[_Site, AccessEvent] = {}
    for analysis in kernels:
        own = [race for race in _races(analysis.result) if key_of(race) in races]
        made, sites = now.get(analysis.kernel.mangled), _by_site(analysis) if own else {}
        for race in own:
            for first in _first(sites, race):
                same = _called(made, first) if made is not None else []
                if not same or any(_finds_nothing(made, each, solving) for each in same if made is not None):
                    found[_site_of(first)] = first
    return list(found.values())


def _called(analysis: KernelAnalysis, read: AccessEvent) -> list[AccessEvent]:
    """The reads that are written as this one is."""
    return [e for e in analysis.events.accesses if e.kind != "write" and e.site.text == read.site.text]


def _races(kernel: KernelResult) -> Iterator[Finding]:
    """Those within blocks on shared memory."""
    for f in findings_of(kernel):
        if f.code in RACES and f.space == "shared" and f.scope != "inter-block":
            yield f


def _first(sites: Mapping[_Site, _Accesses], race: Finding) -> Iterator[AccessEvent]:
    """The reads at one site of a race that come before some write of the same object at the other one. Several may
    stand at one site: of a macro, of what a function is called with, through a pointer to one of two objects."""
    one, two = (_site(access) for access in race.accesses[:2])
    for here, there in ((one, two), (two, one)):
        writes = [e for e in sites.get(there, ()) if e.writes]
        for read in sites.get(here, ()):
            if read.kind != "write" and any(read.order < w.order and read.root is w.root for w in writes):
                yield read


def _by_site(analysis: KernelAnalysis) -> dict[_Site, list[AccessEvent]]:
    found: dict[_Site, list[AccessEvent]] = {}
    for event in analysis.events.accesses:
        found.setdefault(_site_of(event), []).append(event)
    return found


def _site(access: Access) -> _Site:
    return tuple((s.path, s.start_offset) for s in (*access.calls, access.span))


def _site_of(event: AccessEvent) -> _Site:
    return tuple((s.path, s.start_offset) for s in (*event.site.calls, event.site.span))


def _is_known(analysis: KernelAnalysis) -> bool:
    """Whether all accesses are: there may be too many."""
    return analysis.events.kernel is analysis.kernel


def _checkers(analysis: KernelAnalysis, solving: Solving) -> Iterator[RaceChecker]:
    return (solving.checker(Launch(analysis.events, context)) for context in analysis.contexts)


def _finds_nothing(analysis: KernelAnalysis, read: AccessEvent, solving: Solving) -> bool:
    """Whether nobody has written what a read finds, in some launch; also where that is not decided."""
    return _is_known(analysis) and any(
        _nothing_before(checker, read, lambda write, read: False) is not False
        for checker in _checkers(analysis, solving)
    )


def _nothing_before(checker: RaceChecker, read: AccessEvent, at_once: _Which) -> bool | None:
    """Whether no thread of the block may have written what a read finds; None where the work for it is spent. Behind
    very many writes it is taken to find one. What is written `at_once` with it does not count."""
    launch = checker.launch
    own = place(launch, read)
    asked = 0
    for write in reversed(launch.events.accesses):
        same = at_once(write, read)
        before = write.order < read.order and not same
        if not write.writes or not (before or _common(write, read)):
            continue
        where = place(launch, write)
        if where.allocation != own.allocation:
            continue
        pair = Pair(write, read, where, own)
        asked += 1
        if asked > _MOST_WRITES:
            return False
        if checker.effort.is_spent:
            return None
        if pair.crosses_blocks or not checker.never_meet(pair, None if before else _in_earlier_rounds(launch, pair)):
            return None if checker.effort.is_spent else False
    return True


def _common(one: AccessEvent, two: AccessEvent) -> list[str]:
    """The loops around both, from the outermost."""
    return [a for a, _ in takewhile(lambda both: both[0] == both[1], zip(one.loops, two.loops, strict=False))]


def _in_earlier_rounds(launch: Launch, pair: Pair) -> Callable[[Mode], Expr]:
    """That the first access is in an earlier round of the loops around both than the second one."""
    counters = [launch.events.loops[label].counter for label in _common(pair.one, pair.two)]

    def earlier(mode: Mode) -> Expr:
        sides = [(launch.side(c, 1, mode), launch.side(c, 2, mode)) for c in counters]
        ways = [
            E.land(*(E.compare("eq", a, b) for a, b in sides[:depth]), E.compare("lt", *both))
            for depth, both in enumerate(sides)
        ]
        return E.lor(*ways)

    return earlier
