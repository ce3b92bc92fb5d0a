"""Whether what a shuffle read from a lane that took no part in it is of any effect.

PTX leaves open what such a lane gets ("shfl"). Many reductions read so in lanes whose results nobody needs, and are
right. So a run is repeated under the same seed with another value there: where it leaves other contents in memory,
prints something else or does not end as it did, the value was used.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Set
from dataclasses import dataclass
from typing import Final

import numpy as np

from gpu_runner.cpu.execute import Kernel, Undefined
from gpu_runner.cpu.launch import Execution, Seen
from gpu_runner.cpu.layout import GLOBAL_BASE
from gpu_runner.cpu.machine import Notice, Outcome

_OTHER_VALUE: Final = 0x5A5A5A5A
"""Neither the smallest nor the largest of its kind, as an integer and as a float."""
_MOST_SHUFFLES: Final = 16


@dataclass(frozen=True, slots=True)
class Used:
    """A read of a shuffle, as the scheduler noticed it, and an address of global memory whose contents depend on it;
    None where something else does."""

    read: Seen
    address: int | None


def used(
    kernel: Kernel, execution: Execution, seed: int, seconds: float, resident: int, settled: Set[int]
) -> Iterator[Used]:
    """Those of a run that came to its end and that no other run was under way since. `settled`: sites of shuffles that
    are not looked at."""
    reads = [seen for seen in execution.seen if seen.kind is Notice.UNDEFINED_LANE and seen.site not in settled]
    if not reads or execution.outcome is not Outcome.DONE:
        return
    started = time.monotonic()
    size = kernel.arena.size
    before = np.frombuffer(kernel.arena.read(GLOBAL_BASE, size), np.uint8)
    for read in reads[:_MOST_SHUFFLES]:
        left = seconds - (time.monotonic() - started)
        if left <= 0:
            return
        other = kernel.run((), seed, left, resident, undefined=Undefined(read.site, _OTHER_VALUE))
        if other.outcome is Outcome.PAUSED:  # the time was over
            return
        after = np.frombuffer(kernel.arena.read(GLOBAL_BASE, size), np.uint8)
        differs = np.flatnonzero(before != after)
        if len(differs):
            yield Used(read, GLOBAL_BASE + int(differs[0]))
        elif _ends(other) != _ends(execution):
            yield Used(read, None)


def _ends(execution: Execution) -> tuple[object, ...]:
    faults = sorted((seen.kind, seen.op, seen.site) for seen in execution.seen)
    return execution.outcome, execution.printed, faults
