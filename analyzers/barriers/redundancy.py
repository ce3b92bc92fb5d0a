"""Block barriers that order nothing: every pair they take part in ordering is proved without them.

Proved exactly: that unsigned arithmetic does not wrap around is not assumed here. Asked only of kernels that are
proved free of all but benign races and use no finer synchronization: next to fences, acquire/release or volatile
accesses a barrier may order memory for threads of other blocks, which pairs within a block do not show.

Pairs of which nothing was asked, because barriers alone keep them apart, are looked at here for the first time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from analyzers.ir.events import BarrierEvent, KernelEvents
from analyzers.races.check import RaceChecker
from analyzers.races.checked import Checked
from analyzers.races.ordering import cases
from analyzers.races.others import is_strong
from analyzers.races.pairs import Pair, conflicting, place
from analyzers.races.threads import Launch, Mode


@dataclass(frozen=True, slots=True)
class KeptApart:
    """Reads that are not among the events, because barriers keep them apart from all writes."""

    reads: frozenset[int]
    """By ``id``."""
    events: Callable[[], KernelEvents | None]
    """All events of the same launch, with these reads; None where that is too much work."""


def applicable(events: KernelEvents) -> bool:
    """The kernel synchronizes by barriers alone."""
    strong = {"acquire", "release", "acq_rel", "seq_cst"}
    return (
        not events.fences
        and not events.unsupported
        and not any(b.scope == "grid" for b in events.barriers)
        # Accesses beside the thread may be for others: the rows of a matrix load go to all lanes of the warp.
        and not any(
            a.asynchronous or a.volatile or (a.atomic is not None and a.atomic.order in strong) for a in events.accesses
        )
    )


def redundant(checker: RaceChecker, checked: Checked, kept_apart: KeptApart | None = None) -> list[BarrierEvent]:
    """Barriers that can all go together while the context stays proved; of two that do the same, the later one.
    ``kept_apart``: pairs that are not among the ``checked`` ones.

    Races in which all threads write the same value are there with the barriers, too: a barrier that orders one of their
    pairs in some other case is kept."""
    if (
        any(not race.benign for race in checked.races)
        or checked.undecided
        or checked.left_out
        or not applicable(checker.launch.events)
    ):
        return []
    gone: frozenset[int] = frozenset()
    found: list[BarrierEvent] = []
    beyond = _Beyond(checker, kept_apart) if kept_apart is not None and kept_apart.reads else None
    for b in reversed(checker.launch.events.barriers):
        if b.scope not in ("block", "warp", "tile") or b.statement is None:
            continue
        without = gone | {b.id}
        if shows(checker.launch.events, b) or _signals(checker.launch, b):
            continue
        if not _proved_without(checker, checked, without) or _orders_atomics(checker, without):
            continue
        if beyond is None or beyond.is_proved_without(without):
            gone = without
            found.append(b)
    # The statement is one, however often its function is called: it goes in all calls or in none.
    needed = {b.site.span for b in checker.launch.events.barriers if b.id not in gone}
    return [b for b in reversed(found) if b.site.span not in needed]


def orders_beyond_races(checker: RaceChecker, barriers: Collection[BarrierEvent]) -> bool:
    """Whether barriers order what is no race without them: what shows, atomics and volatile accesses, signals to other
    blocks. In loops that threads make as often as they like, they are taken for such that all threads meet."""
    launch = checker.launch
    if any(shows(launch.events, b) or _signals(launch, b) for b in barriers):
        return True
    if _orders_atomics(checker, frozenset(b.id for b in barriers)):
        return True
    loops = {label for b in barriers for label in b.loops}
    strong = (pair for pair in conflicting(launch) if is_strong(pair.one) and is_strong(pair.two))
    return bool(loops) and any(
        pair.one is not pair.two and loops.intersection(pair.one.loops, pair.two.loops) for pair in strong
    )


def shows(events: KernelEvents, barrier: BarrierEvent) -> bool:
    """What the barrier orders shows without a race: the time read behind it, memory taken back behind it, output in
    front of it and behind it, or a signal anywhere in the kernel."""
    before, behind = set[str](), set[str]()
    for seen in events.observations:
        again = bool(set(seen.loops) & set(barrier.loops))
        if again or seen.order < barrier.order:
            before.add(seen.kind)
        if again or seen.order > barrier.order:
            behind.add(seen.kind)
    return bool(behind & {"time", "free"}) or "signal" in before | behind or "output" in before & behind


def _proved_without(checker: RaceChecker, checked: Checked, gone: frozenset[int]) -> bool:
    pairs = dict.fromkeys(p for b in sorted(gone) for p in checked.ordering.get(b, ()))
    assumed = (p for p in checked.assumed_apart if is_ordered_by(checker.launch, p, gone))
    return all(checker.is_proved_without(pair, gone) for pair in chain(pairs, assumed))


class _Beyond:
    """The pairs of reads that are kept apart, put together when they are first asked for."""

    def __init__(self, checker: RaceChecker, kept_apart: KeptApart) -> None:
        self._checker = checker
        self._kept_apart = kept_apart

    def is_proved_without(self, gone: frozenset[int]) -> bool:
        whole, pairs = self._whole
        if whole is None:
            return False
        ordered = (pair for pair in pairs if is_ordered_by(whole.launch, pair, gone))
        return all(whole.is_proved_without(pair, gone) for pair in ordered)

    @cached_property
    def _whole(self) -> tuple[RaceChecker | None, list[Pair]]:
        """What asks of all events, and the pairs with one of the reads; nothing where there are too many."""
        events = self._kept_apart.events()
        if events is None:
            return None, []
        asked = self._checker
        launch, reads = Launch(events, asked.launch.context), self._kept_apart.reads
        checker = RaceChecker(
            launch,
            asked.ladder,
            asked.warp_lockstep,
            asked.poll,
            asked.effort,
            asked.precedents,
            wrap_around=asked.wrap_around,
        )
        return checker, [p for p in conflicting(launch) if p.one.id in reads or p.two.id in reads]


def is_ordered_by(launch: Launch, pair: Pair, barriers: frozenset[int]) -> bool:
    """Whether some of the barriers keep the pair apart within a block."""
    modes: tuple[Mode, ...] = ("block", "warp")
    return any(cases(launch, pair.one, pair.two, mode).ordering & barriers for mode in modes)


def _signals(launch: Launch, barrier: BarrierEvent) -> bool:
    """The barrier stands between an atomic on global memory and an access to other global memory that the kernel
    writes: what one block did before it signals may be what another waits for."""
    touched = [(a, where.allocation) for a in launch.events.accesses if (where := place(launch, a)).space == "global"]
    written = {allocation for a, allocation in touched if a.writes}
    for signal, mine in touched:
        if signal.atomic is None:
            continue
        for other, theirs in touched:
            if theirs == mine or theirs not in written:
                continue
            first, last = sorted((signal.order, other.order))
            around = set(barrier.loops) & set(signal.loops) & set(other.loops)
            if around or first < barrier.order < last:
                return True
    return False


def _orders_atomics(checker: RaceChecker, gone: frozenset[int]) -> bool:
    """The barriers keep two atomics or volatile accesses of one cell apart: not a race without them, but another
    result."""
    launch = checker.launch
    modes: tuple[Mode, ...] = ("block", "warp")
    if not any(is_strong(a) for a in launch.events.accesses):
        return False
    for pair in conflicting(launch):
        if not (is_strong(pair.one) and is_strong(pair.two)):
            continue
        for mode in modes:
            kept = cases(launch, pair.one, pair.two, mode)
            if not kept.ordering & gone:
                continue
            free = cases(launch, pair.one, pair.two, mode, gone)
            if len(free.possible) > len(kept.possible) and checker.may_meet(pair, mode, free.possible):
                return True
    return False
