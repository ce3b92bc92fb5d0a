"""Block barriers that order nothing: every pair they take part in ordering is proved without them.

Asked only of kernels that are proved race-free and use no finer synchronization: next to fences, acquire/release or
volatile accesses a
barrier may order memory for threads of other blocks, which pairs within a block do not show.
"""

from __future__ import annotations

from analyzers.ir.events import BarrierEvent, KernelEvents
from analyzers.races.check import Checked, RaceChecker
from analyzers.races.ordering import cases
from analyzers.races.pairs import conflicting


def applicable(events: KernelEvents) -> bool:
    """The kernel synchronizes by barriers alone."""
    strong = {"acquire", "release", "acq_rel", "seq_cst"}
    return (
        not events.fences
        and not events.unsupported
        and not any(b.scope == "grid" for b in events.barriers)
        and not any(a.volatile or (a.atomic is not None and a.atomic.order in strong) for a in events.accesses)
    )


def redundant(checker: RaceChecker, checked: Checked) -> list[BarrierEvent]:
    """Barriers without which the context stays proved; each is judged with all others in place."""
    if checked.races or checked.undecided or not applicable(checker.launch.events):
        return []
    return [
        b
        for b in checker.launch.events.barriers
        if b.scope in ("block", "warp", "tile")
        and b.statement is not None
        and _proved_without(checker, checked, b)
        and not _orders_atomics(checker, b)
    ]


def _proved_without(checker: RaceChecker, checked: Checked, barrier: BarrierEvent) -> bool:
    for pair in checked.ordering.get(barrier.id, ()):
        again = Checked()
        if checker.decide(pair, again, frozenset({barrier.id})) is not None or again.undecided:
            return False
    return True


def _orders_atomics(checker: RaceChecker, barrier: BarrierEvent) -> bool:
    """The barrier keeps two atomics on one cell apart: not a race without it, but another result."""
    launch = checker.launch
    for pair in conflicting(launch):
        if pair.one.atomic is None or pair.two.atomic is None:
            continue
        for mode in ("block", "warp"):
            kept = cases(launch, pair.one, pair.two, mode)
            if barrier.id not in kept.ordering:
                continue
            free = cases(launch, pair.one, pair.two, mode, frozenset({barrier.id}))
            if len(free.possible) > len(kept.possible) and checker.may_meet(pair, mode, free.possible):
                return True
    return False
