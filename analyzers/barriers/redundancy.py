"""Block barriers that order nothing: every pair they take part in ordering is proved without them.

Asked only of kernels that are proved race-free and use no finer synchronization: next to fences, acquire/release or
volatile accesses a
barrier may order memory for threads of other blocks, which pairs within a block do not show.
"""

from __future__ import annotations

from analyzers.ir.events import BarrierEvent, KernelEvents
from analyzers.races.check import Checked, RaceChecker


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
        if b.scope == "block" and not _reduces(checker, b) and _proved_without(checker, checked, b)
    ]


def _reduces(checker: RaceChecker, barrier: BarrierEvent) -> bool:
    return barrier.statement is None


def _proved_without(checker: RaceChecker, checked: Checked, barrier: BarrierEvent) -> bool:
    for pair in checked.ordering.get(barrier.id, ()):
        again = Checked()
        if checker.decide(pair, again, frozenset({barrier.id})) is not None or again.undecided:
            return False
    return True
