"""Reads of shared memory that a repair puts in front of everything that is written to what they read.

Takes analysed kernels and races of them; says which of their reads come before any write that may touch the same bytes:
in the text as it is, and in an edited one. A barrier puts such a read and a write behind it in order and the race is
gone, but the read finds what nobody has written.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import takewhile

from analyzers.analysed import KernelAnalysis
from analyzers.ir import expr as E
from analyzers.ir.events import AccessEvent
from analyzers.ir.expr import Expr
from analyzers.model import Access, Finding, KernelResult
from analyzers.races.check import RaceChecker
from analyzers.races.pairs import Pair, place
from analyzers.races.threads import Launch, Mode
from quickfix.solving import Solving
from quickfix.verify import RACES, PairKey, findings_of, key_of

_Site = tuple[tuple[str, int], ...]
"""Where an access and the calls around it stand."""
_Reads = Sequence[AccessEvent]
_Which = Callable[[AccessEvent], bool]


def read_first(kernels: Iterable[KernelAnalysis], solving: Solving) -> frozenset[PairKey]:
    """The races of which the text puts such a read in front of the write."""
    found: set[PairKey] = set()
    for analysis in kernels:
        for race in _races(analysis.result):
            if any(_finds_nothing(analysis, reads, solving) for reads in _first(analysis, [race])):
                found.add(key_of(race))
    return frozenset(found)


def all_find_nothing(kernels: Iterable[KernelAnalysis], reads: Iterable[Access], but: _Which, solving: Solving) -> bool:
    """Whether it is proved that nobody has written what the reads find, in any launch of any of the kernels, but for
    some writes."""
    sites = {_site(read) for read in reads}
    events = [(k, [e for e in k.events.accesses if not e.writes and _site_now(e) in sites]) for k in kernels]
    return all(
        _is_known(k) and all(_nothing_before(checker, e, but) and not checker.effort.is_spent for e in found)
        for k, found in events
        for checker in (_checkers(k, solving) if found else ())
    )


def reads_kept_first(
    kernels: Iterable[KernelAnalysis],
    races: Collection[PairKey],
    edited: Iterable[KernelAnalysis],
    solving: Solving,
) -> list[AccessEvent]:
    """The reads of `races` that the text puts first (`read_first`), one for each site, but for those in front of which
    an edit has put what is written. `kernels`: of the old text. An edit that writes code anew leaves the words of what
    is accessed."""
    now = {k.kernel.mangled: k for k in edited}
    found: dict[_Site, AccessEvent] = {}
    for analysis in kernels:
        made = now.get(analysis.kernel.mangled)
        for race in (race for race in _races(analysis.result) if key_of(race) in races):
            for first, *_ in _first(analysis, [race]):
                if made is None or any(_finds_nothing(made, same, solving) for same in _called(made, first)):
                    found[_site_now(first)] = first
    return list(found.values())


def _called(analysis: KernelAnalysis, read: AccessEvent) -> Iterable[_Reads]:
    """The reads, by their sites, that are written as this one is."""
    found: dict[_Site, list[AccessEvent]] = {}
    for event in analysis.events.accesses:
        if not event.writes and event.site.text == read.site.text:
            found.setdefault(_site_now(event), []).append(event)
    return found.values()


def _races(kernel: KernelResult) -> Iterator[Finding]:
    """Those within blocks on shared memory."""
    for f in findings_of(kernel):
        if f.code in RACES and f.space == "shared" and f.scope != "inter-block":
            yield f


def _first(analysis: KernelAnalysis, races: Iterable[Finding]) -> Iterator[_Reads]:
    """The reads at one site of a race, each of which comes before some write at the other one."""
    at: dict[_Site, list[AccessEvent]] = {}
    for race in races:
        if not at:
            for event in analysis.events.accesses:
                at.setdefault(_site_now(event), []).append(event)
        one, two = (_site(access) for access in race.accesses[:2])
        for here, there in ((one, two), (two, one)):
            reads, writes = [e for e in at.get(here, ()) if not e.writes], [e for e in at.get(there, ()) if e.writes]
            if reads and all(any(read.order < write.order for write in writes) for read in reads):
                yield reads


def _site(access: Access) -> _Site:
    return tuple((s.path, s.start_offset) for s in (*access.calls, access.span))


def _site_now(event: AccessEvent) -> _Site:
    return tuple((s.path, s.start_offset) for s in (*event.site.calls, event.site.span))


def _is_known(analysis: KernelAnalysis) -> bool:
    """Whether all accesses are: there may be too many."""
    return analysis.events.kernel is analysis.kernel


def _checkers(analysis: KernelAnalysis, solving: Solving) -> Iterator[RaceChecker]:
    return (solving.checker(Launch(analysis.events, context)) for context in analysis.contexts)


def _finds_nothing(analysis: KernelAnalysis, reads: _Reads, solving: Solving) -> bool:
    """Whether nobody has written what the reads find, in some launch; also where the work for it is spent."""
    return _is_known(analysis) and any(
        all(_nothing_before(checker, read, lambda _: False) for read in reads)
        for checker in _checkers(analysis, solving)
    )


def _nothing_before(checker: RaceChecker, read: AccessEvent, but: _Which) -> bool:
    """Whether no thread of the block may have written what a read finds, `but` for some writes. Where the work for it
    is spent, that is not known."""
    launch = checker.launch
    own = place(launch, read)
    for write in launch.events.accesses:
        before = write.order < read.order
        if not write.writes or but(write) or not (before or _common(write, read)):
            continue
        where = place(launch, write)
        pair = Pair(write, read, where, own)
        if where.allocation != own.allocation or checker.effort.is_spent:
            continue
        if pair.crosses_blocks or not checker.never_meet(pair, None if before else _in_earlier_rounds(launch, pair)):
            return False
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
