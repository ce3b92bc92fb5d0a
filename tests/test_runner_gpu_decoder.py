"""Records of whole warps are decoded at once, and say what records of one lane each would have said."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpu_runner.cpu.layout import FIRST_SITE, GLOBAL_BASE
from gpu_runner.cpu.sites import SITE_TABLE
from gpu_runner.gpu.decoder import Decoder, Mapped
from gpu_runner.gpu.layout import Form, What
from gpu_runner.gpu.queues import Taken

WHAT = (What.BARRIER, What.BARRIER, What.BARRIER_ARRIVE, What.WARP_SYNC, What.EXIT)
HERE, THERE, ARRIVE, WARP, EXIT = range(FIRST_SITE, FIRST_SITE + len(WHAT))
ALL = 0xFFFFFFFF
Step = tuple[int, int, int, int, int]
"""Site, number of the warp's lane 0, lanes, barrier or mask, threads expected."""


def decoded(steps: Sequence[Step], threads: int) -> tuple[list[tuple[int, int, int]], Any, Any]:
    """Records for the detector, what was noticed, and who waits."""
    words: list[int] = []
    for site, first, lanes, address, count in steps:
        words += [site | Form.VALUES << 24 | lanes << 32, first | (2 | 1 << 8) << 32, address, 0, count, 0, 0, 0]
    table = np.zeros(FIRST_SITE + len(WHAT), SITE_TABLE)
    instrumented: Any = SimpleNamespace(what=WHAT, sites=SimpleNamespace(table=lambda: table))
    launch: Any = SimpleNamespace(blocks=1, threads_per_block=threads, shift=7)
    decoder = Decoder(instrumented, launch, 1, np.full(4, 256, np.uint16), [Mapped(1 << 40, 1024, GLOBAL_BASE)])
    zero = np.zeros(1, np.int64)
    decoder.feed(Taken(np.array(words, np.uint64), zero, zero, zero + len(words)))
    found: list[tuple[int, int, int]] = []
    decoder.run(lambda records: found.extend(map(tuple, np.array(records).tolist())))
    return found, decoder.seen(), decoder.waiting()


@pytest.mark.parametrize(
    "steps",
    [
        [(HERE, 0, ALL, 0, 0), (HERE, 32, 0xF, 0, 0)],
        [(HERE, 0, ALL, 0, 0), (THERE, 32, 0xF, 0, 0)],
        [(HERE, 0, 0xFF, 0, 0), (EXIT, 0, 0xFF00, 0, 0), (HERE, 32, 0xF, 0, 0), (EXIT, 0, 0xFFFF0000, 0, 0)],
        [(ARRIVE, 32, 0xF, 1, 32), (HERE, 0, 0xFFFFFFF, 1, 32), (HERE, 0, 0xF0000000, 0, 0)],
        # More come than are missing.
        [(ARRIVE, 32, 0xF, 0, 32), (ARRIVE, 32, 0xF, 0, 32), (HERE, 0, ALL, 0, 0)],
        [(WARP, 0, 0xFFFF, 0xFFFF, 0), (WARP, 0, 0xFF0000, 0xFFFF0000, 0), (EXIT, 0, 0xFF000000, 0, 0)],
        [(HERE, 0, 0xFF, 0, 0), (WARP, 0, 0xFF00, 0xFF00, 0), (WARP, 0, ALL & ~0xFFFF, ALL, 0)],
    ],
)
def test_a_whole_warp_is_as_its_lanes(steps: Sequence[Step]) -> None:
    apart = [
        (site, first, 1 << lane, address, count)
        for site, first, lanes, address, count in steps
        for lane in range(32)
        if lanes >> lane & 1
    ]
    assert decoded(steps, 36) == decoded(apart, 36)
