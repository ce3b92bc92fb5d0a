"""The barriers in shared memory that a kernel sets up, and for how many threads."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Place:
    """Where a barrier in shared memory is."""

    memory: str
    """The object that it is in."""
    offset: int | None
    """In bytes; None where threads or iterations have different ones."""


@dataclass(slots=True)
class Barriers:
    """The barriers in memory that a kernel sets up."""

    counts: list[tuple[Place, int | None]] = field(default_factory=list[tuple[Place, int | None]])
    """Where, and for how many threads; None: for as many as the block has, or a computed number."""

    def threads(self, place: Place) -> tuple[int | None] | None:
        """How many threads arrive at a barrier, in a tuple; None where that is not known."""
        fitting = {
            count
            for where, count in self.counts
            if where.memory == place.memory and (None in (where.offset, place.offset) or where.offset == place.offset)
        }
        return (fitting.pop(),) if len(fitting) == 1 else None
