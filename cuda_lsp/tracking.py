"""Offsets followed through edits: where a byte range of a checked text lies in the text as it is now.

Takes edits, each a replaced byte range and the length of what replaced it, and gives an `OffsetMap` of all edits since
one version of a text. Diagnostics of the last good check move along with it while the user types.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

# Above this many lines a replacement is not searched for the lines that it kept: the search must stay in milliseconds.
_MAXIMAL_LINES = 20_000
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|\Z)")


@dataclass(frozen=True, slots=True)
class Edit:
    """Bytes `start` to `old_end` were replaced; the new text reaches to `new_end`."""

    start: int
    old_end: int
    new_end: int


@dataclass(frozen=True, slots=True)
class OffsetMap:
    """All edits between two versions, as disjoint replaced ranges in order."""

    edits: tuple[tuple[int, int, int, int], ...] = ()
    """(old start, old end, new start, new end) of each range, in bytes."""

    @property
    def is_identity(self) -> bool:
        return not self.edits

    def then(self, edit: Edit) -> OffsetMap:
        """This map followed by an edit of the newer text. Ranges that the edit touches become one."""
        growth = edit.new_end - edit.old_end
        first = bisect_left(self.edits, edit.start, key=lambda kept: kept[3])
        last = bisect_right(self.edits, edit.old_end, key=lambda kept: kept[2])
        before, touched = self.edits[:first], self.edits[first:last]
        after = tuple((o0, o1, n0 + growth, n1 + growth) for o0, o1, n0, n1 in self.edits[last:])
        shift = before[-1][3] - before[-1][1] if before else 0
        old_start, new_start = edit.start - shift, edit.start
        old_end, new_end = edit.old_end - shift, edit.old_end
        if touched:
            old_start, new_start = min((old_start, new_start), (touched[0][0], touched[0][2]))
            reach = max(0, edit.old_end - touched[-1][3])
            old_end, new_end = touched[-1][1] + reach, touched[-1][3] + reach
        return OffsetMap((*before, (old_start, old_end, new_start, new_end + growth), *after))

    def map(self, start: int, end: int) -> tuple[int, int] | None:
        """Where the range `start` to `end` of the old text is now; None when all of it was replaced.

        Text inserted at either edge does not belong to the range, text replaced inside does."""
        if not self.edits:
            return start, end
        index = bisect_right(self.edits, start, key=lambda kept: kept[1])
        shift = self.edits[index - 1][3] - self.edits[index - 1][1] if index else 0
        new_start = start + shift
        if index < len(self.edits):
            old_start, old_end, replaced_from, replaced_to = self.edits[index]
            if old_start <= start and end <= old_end and old_start < old_end:
                return None
            if old_start == start:
                new_start = replaced_from
            elif old_start < start:
                new_start = replaced_to
        index = bisect_left(self.edits, end, key=lambda kept: kept[1])
        if index < len(self.edits) and self.edits[index][0] < end:
            # The edit reaches to the end or over it: what is left of the range ends where the edit starts, or, when
            # both end at the same place, with the new text.
            new_end = self.edits[index][3] if self.edits[index][1] == end else self.edits[index][2]
        else:
            new_end = end + (self.edits[index - 1][3] - self.edits[index - 1][1] if index else 0)
        return new_start, max(new_start, new_end)

    def back(self, offset: int) -> tuple[int, int]:
        """The range of the old text that an offset of the new one may come from: wide inside of new text."""
        index = bisect_left(self.edits, offset, key=lambda kept: kept[3])
        if index < len(self.edits) and self.edits[index][2] <= offset:
            return self.edits[index][0], self.edits[index][1]
        shift = self.edits[index - 1][3] - self.edits[index - 1][1] if index else 0
        return offset - shift, offset - shift


def edits_between(old: str, new: str, base: int) -> Iterator[Edit]:
    """Small edits that turn `old` into `new`; byte offsets count from `base`, later edits apply after the earlier ones.

    Lines that occur once in both and in the same order are kept, so a reformatted or reloaded document does not lose
    everything between its first and its last change."""
    prefix = _common_prefix(old, new)
    suffix = _common_prefix(old[prefix:][::-1], new[prefix:][::-1])
    old, new, kept = old[prefix : len(old) - suffix], new[prefix : len(new) - suffix], old[:prefix]
    position = base + _size(kept)
    if not old and not new:
        return
    for old_part, new_part in _parts(old, new):
        if old_part != new_part:
            head = _common_prefix(old_part, new_part)
            tail = _common_prefix(old_part[head:][::-1], new_part[head:][::-1])
            start = position + _size(old_part[:head])
            yield Edit(
                start,
                start + _size(old_part[head : len(old_part) - tail]),
                start + _size(new_part[head : len(new_part) - tail]),
            )
        position += _size(new_part)


def _parts(old: str, new: str) -> Iterator[tuple[str, str]]:
    """Both texts cut into the same number of parts, so that as many as possible are equal."""
    old_lines, new_lines = _LINE.findall(old), _LINE.findall(new)
    if min(len(old_lines), len(new_lines)) < 3 or max(len(old_lines), len(new_lines)) > _MAXIMAL_LINES:
        yield old, new
        return
    at_old = at_new = 0
    for old_line, new_line in _kept_lines(old_lines, new_lines):
        yield "".join(old_lines[at_old:old_line]), "".join(new_lines[at_new:new_line])
        yield old_lines[old_line], new_lines[new_line]
        at_old, at_new = old_line + 1, new_line + 1
    yield "".join(old_lines[at_old:]), "".join(new_lines[at_new:])


def _kept_lines(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of lines that occur once in each text, ignoring indentation, in increasing order in both; as many as
    possible (the longest increasing subsequence, as in patience diff), and equal neighbours of those."""
    old_keys, new_keys = [line.strip() for line in old], [line.strip() for line in new]
    old_counts, new_counts = Counter(old_keys), Counter(new_keys)
    where = {key: number for number, key in enumerate(new_keys) if key and new_counts[key] == 1}
    pairs = [(number, where[key]) for number, key in enumerate(old_keys) if key in where and old_counts[key] == 1]
    grown: list[tuple[int, int]] = []
    for pair in _longest_increasing(pairs):
        floor = grown[-1] if grown else (-1, -1)
        back: list[tuple[int, int]] = []
        at_old, at_new = pair[0] - 1, pair[1] - 1
        while at_old > floor[0] and at_new > floor[1] and old_keys[at_old] == new_keys[at_new]:
            back.append((at_old, at_new))
            at_old, at_new = at_old - 1, at_new - 1
        grown.extend(reversed(back))
        grown.append(pair)
    return grown


def _longest_increasing(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest subsequence whose second members increase."""
    tails: list[int] = []
    members: list[int] = []
    previous: list[int] = []
    for number, (_, value) in enumerate(pairs):
        slot = bisect_left(tails, value)
        previous.append(members[slot - 1] if slot else -1)
        if slot == len(tails):
            tails.append(value)
            members.append(number)
        else:
            tails[slot], members[slot] = value, number
    chosen: list[tuple[int, int]] = []
    at = members[-1] if members else -1
    while at >= 0:
        chosen.append(pairs[at])
        at = previous[at]
    return chosen[::-1]


def _common_prefix(left: str, right: str) -> int:
    """How many characters the texts have in common at the start, by halving: slices compare in C."""
    low, high = 0, min(len(left), len(right))
    if left[:high] == right[:high]:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle
    return low


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


class Anchor:
    """One version of a document's text, and the map from it to the text as it is now."""

    __slots__ = ("__weakref__", "digest", "map", "version")

    def __init__(self, version: int | None, digest: str) -> None:
        self.version = version
        self.digest = digest
        self.map = OffsetMap()
