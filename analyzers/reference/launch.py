"""A concrete launch: every size, parameter and initial memory content that an execution needs, as plain data.

Blocks and threads are numbered linearly, x fastest, as CUDA does: a thread's *lane* is its number in the block
modulo 32.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from analyzers.model import Dim3

WARP = 32

Contents = bytes | Sequence[int]
"""Initial contents of an object: raw bytes, or integers of the object's element size."""


@dataclass(frozen=True, slots=True)
class ConcreteLaunch:
    """One launch with nothing left open. What is not given is drawn from ``seed``, the same for equal seeds."""

    grid: Dim3 = (1, 1, 1)
    block: Dim3 = (1, 1, 1)
    values: Mapping[str, int | float] = field(default_factory=dict[str, "int | float"])
    """Scalar kernel parameters by name (``p.field`` for fields of a struct parameter). A missing one is 1."""
    arrays: Mapping[str, Contents] = field(default_factory=dict[str, Contents])
    """Initial contents by object name; what lies beyond them is drawn from the seed."""
    dynamic_shared: int = 0
    """Bytes; 0 where nobody said, then the array has no end."""
    aliases: Mapping[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])
    """Pointer parameter -> (allocation, byte offset). Parameters with one allocation point into one object."""
    seed: int = 0
    data_range: tuple[int, int] = (0, 7)
    """Inclusive range of the elements of memory that nobody wrote."""
    cluster: Dim3 = (1, 1, 1)

    @property
    def threads_per_block(self) -> int:
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def blocks(self) -> int:
        return self.grid[0] * self.grid[1] * self.grid[2]


@dataclass(frozen=True, slots=True)
class Limits:
    """Where an execution stops and says so."""

    steps: int = 500_000
    """Statements executed by all threads together."""
    accesses: int = 100_000
    """Recorded accesses."""


def linear(point: Dim3, extent: Dim3) -> int:
    """The linear number of a coordinate, x fastest."""
    return point[0] + extent[0] * (point[1] + extent[1] * point[2])


def coordinate(number: int, extent: Dim3) -> Dim3:
    """Inverse of :func:`linear`."""
    return (number % extent[0], number // extent[0] % extent[1], number // (extent[0] * extent[1]))


def cluster_of(block: int, launch: ConcreteLaunch) -> int:
    """The number of the cluster that a block (by linear number) belongs to."""
    x, y, z = coordinate(block, launch.grid)
    cx, cy, cz = launch.cluster
    extent = (-(-launch.grid[0] // cx), -(-launch.grid[1] // cy), 1)
    return linear((x // cx, y // cy, z // cz), extent)


def block_at_rank(block: int, rank: int, launch: ConcreteLaunch) -> int | None:
    """The linear number of the block with a rank in the cluster of a block; None where the cluster has no such one."""
    cx, cy, cz = launch.cluster
    if not 0 <= rank < cx * cy * cz:
        return None
    x, y, z = coordinate(block, launch.grid)
    dx, dy, dz = coordinate(rank, launch.cluster)
    return linear((x // cx * cx + dx, y // cy * cy + dy, z // cz * cz + dz), launch.grid)


def mix(*parts: int) -> int:
    """A 64-bit number that depends on every bit of every part (splitmix64 steps)."""
    h = 0x243F6A8885A308D3
    for part in parts:
        h = (h ^ (part & 0xFFFFFFFFFFFFFFFF)) + 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF
        h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF
        h = (h ^ h >> 27) * 0x94D049BB133111EB & 0xFFFFFFFFFFFFFFFF
        h ^= h >> 31
    return h
