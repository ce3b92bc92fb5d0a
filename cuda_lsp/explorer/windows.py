"""Which part of a long row is drawn: around the places that matter, with gaps between, never more than so many."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Window:
    """The drawn places of a row of `extent`, as half-open ranges in order; what lies between is left out."""

    extent: int
    ranges: tuple[tuple[int, int], ...]

    @property
    def is_whole(self) -> bool:
        return self.ranges == ((0, self.extent),)

    def slots(self) -> int:
        """How many places are drawn, a gap counting as one."""
        return sum(end - start for start, end in self.ranges) + self.gaps

    @property
    def gaps(self) -> int:
        inner = len(self.ranges) - 1
        return inner + (self.ranges[0][0] > 0) + (self.ranges[-1][1] < self.extent)

    def slot(self, index: int) -> int | None:
        """At which place, counted from the left, an index is drawn; None: in a gap."""
        at = 1 if self.ranges[0][0] > 0 else 0
        for start, end in self.ranges:
            if start <= index < end:
                return at + index - start
            at += end - start + 1
        return None

    def gap_slots(self) -> list[int]:
        """The places of the gaps."""
        found: list[int] = []
        at = 0
        if self.ranges[0][0] > 0:
            found.append(0)
            at = 1
        for number, (start, end) in enumerate(self.ranges):
            at += end - start
            if number + 1 < len(self.ranges) or end < self.extent:
                found.append(at)
                at += 1
        return found


def around(extent: int, marks: Iterable[int], limit: int) -> Window:
    """At most about `limit` places of `extent`: all, or those around the marks, which lie in the row."""
    if extent <= limit:
        return Window(extent, ((0, max(extent, 1)),))
    wanted = sorted(set(marks)) or [0]
    # One mark gets the whole width; several share it.
    reach = max((limit // len(wanted) - 1) // 2, 1)
    merged: list[tuple[int, int]] = []
    for mark in wanted:
        start = min(max(mark - reach, 0), max(extent - 2 * reach - 1, 0))
        end = min(start + 2 * reach + 1, extent)
        # A gap of one place would take as much room as the place.
        if merged and start <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    first, last = merged[0], merged[-1]
    if first[0] == 1:
        merged[0] = (0, first[1])
    if merged[-1][1] == extent - 1:
        merged[-1] = (merged[-1][0], last[1] + 1)
    return Window(extent, tuple(merged))
