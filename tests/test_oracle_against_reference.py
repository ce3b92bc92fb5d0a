"""The oracle agrees with brute force on random kernels: nothing missed, nothing definite that is not there."""

from __future__ import annotations

import pytest
from random_ir import Generator

from analyzers.ir import expr as E
from analyzers.ir.context import LaunchContext
from analyzers.ir.symbolic import summarize
from analyzers.model import CheckOptions, LaunchSummary
from analyzers.reference.interpreter import run
from analyzers.reference.launch import ConcreteLaunch
from analyzers.reference.races import divergences, races
from analyzers.verdicts.decide import decide

BATCH = 25
THREADS = (4, 6, 8, 40)


def concrete_context(block: tuple[int, int, int], grid: tuple[int, int, int]) -> LaunchContext:
    """A launch with every dimension given."""
    bindings = [(d, E.const(n, E.U32)) for d, n in zip((*E.BDIM, *E.GDIM), (*block, *grid), strict=True)]
    words = [str(n) for n in (*grid, *block)]
    summary = LaunchSummary("user", None, (words[0], words[1], words[2]), (words[3], words[4], words[5]))
    return LaunchContext(summary, tuple(bindings))


def disagreement(seed: int) -> str | None:
    """What the oracle says wrongly of kernel ``seed``."""
    threads = THREADS[seed % len(THREADS)]
    block, grid = (threads, 1, 1), (2, 1, 1)
    kernel = Generator(seed, threads).kernel()
    result = run(kernel, ConcreteLaunch(grid=grid, block=block))
    divergent = {d.kind for d in divergences(result)}
    if result.outcome != "finished" and not divergent:
        return None
    events = summarize(kernel)
    decision = decide(events, concrete_context(block, grid), CheckOptions())
    if divergent:
        known = any(d.kind == "divergence" for d in decision.divergences) or any(a < 0 for a, *_ in decision.undecided)
        return f"seed {seed}: missed a divergence" if "divergence" in divergent and not known else None
    if any(d.kind == "divergence" and d.certainty == "confirmed" for d in decision.divergences):
        return f"seed {seed}: a divergence that is not there"
    truth = {r.events for r in races(result)}
    certain = {r.events for r in races(result) if r.in_bounds}
    found = {
        (min(a, b), max(a, b)): r
        for r in decision.races
        for a, b in [(events.accesses[r.one].id, events.accesses[r.two].id)]
    }
    undecided = {(events.accesses[a].id, events.accesses[b].id) for a, b, _, _ in decision.undecided if a >= 0}
    missed = {p for p in certain if p not in found and p not in undecided and p[::-1] not in undecided}
    false = {p for p, r in found.items() if r.certainty == "confirmed" and p not in truth}
    if missed or false:
        return f"seed {seed}: missed {sorted(missed)}, false {sorted(false)}"
    return None


@pytest.mark.parametrize("batch", range(4))
def test_random_kernels_agree(batch: int) -> None:
    wrong = [w for seed in range(batch * BATCH, (batch + 1) * BATCH) if (w := disagreement(seed)) is not None]
    assert not wrong
