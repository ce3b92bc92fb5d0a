"""Detectors side by side, each for a shard of the memory, and the races of all of them as those of one.

Races are between accesses to one address, so that memory can be dealt out. Each detector gets the accesses to its own
memory, and everything that orders threads, of which it keeps clocks of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gpu_runner.cpu.handover import Consumer
from gpu_runner.detector.detect import Detector, Shape, merged, worth_telling


class ShardedDetector:
    """Of one run, whose records come in `count` shards (`gpu_runner.kernel.AnyKernel.run`)."""

    def __init__(self, shape: Shape, sites: NDArray[np.void], count: int = 1) -> None:
        self._parts = [Detector(shape, sites, count) for _ in range(count)]

    @property
    def consumers(self) -> Sequence[Consumer]:
        """One for each shard, in their order."""
        return [part.consume for part in self._parts]

    def races(self) -> NDArray[np.void]:
        """As `Detector.races`; the threads are those that the first shard with the race has seen."""
        return worth_telling(merged([part.rows() for part in self._parts]))

    @property
    def not_listed(self) -> int:
        """Races for which a table had no room."""
        return sum(part.not_listed for part in self._parts)
