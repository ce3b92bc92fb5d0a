"""Whole lines of one function, edited: replaced, moved in or out by levels of indentation.

Takes a function, collects changes and, for each line, by how many levels it moves; gives the changes in order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from analyzers.frontend.gaps import FunctionTree
from quickfix.edits import Change, Layout
from quickfix.naming import NotPossible, line_of
from quickfix.session import Session


@dataclass
class LineEdits:
    """What is changed in one function so far."""

    session: Session
    function: FunctionTree

    def __post_init__(self) -> None:
        self.text = self.session.trees.texts[self.function.path]
        self.layout = Layout(self.text)
        self.unit = self.layout.unit(self.function)
        self.found: list[Change] = []
        self.shifts: Counter[int] = Counter()
        """By start of a line: how many levels it moves in."""

    def collected(self) -> list[Change]:
        """All changes in order. What opens a block comes in front of the indentation of its first line."""
        deleted = [(c.start, c.end) for c in self.found if b"\n" in self.text[c.start : c.end]]
        for at, net in self.shifts.items():
            if net and not any(start <= at < end for start, end in deleted):
                self.found += self._shifted(at, net)
        return sorted(self.found, key=lambda c: (c.start, c.end))

    def _shifted(self, at: int, net: int) -> Iterable[Change]:
        line = self.text[at:].split(b"\n", 1)[0]
        goes_on = self.text[: max(at - 1, 0)].rstrip(b"\r").endswith(b"\\")
        if not line.strip() or line.startswith(b"#") or goes_on:
            return
        if net > 0:
            yield Change(at, at, self.unit * net)
        elif line.startswith(self.unit * -net):
            yield Change(at, at + len(self.unit) * -net, b"")

    def replace(self, lines: tuple[int, int], head: bytes, value: bytes, old: tuple[int, int]) -> None:
        """Lines by a statement that ends in `value`; `old`: where the code stands that is in that, if it is."""
        code = head + value + b";"
        place = code.find(self.text[slice(*old)], len(head))
        kept = ((place, old[0], old[1] - old[0]),) if place >= 0 else ()
        self.found.append(Change(*lines, code + self.layout.newline, moved=kept))

    def indentation(self, at: int, depth: int) -> bytes:
        found = self.layout.indentation(at)
        if not found.endswith(self.unit * depth):
            raise NotPossible(f"the code in line {line_of(self.text, at)} is not indented like the rest")
        return found[: len(found) - len(self.unit) * depth]

    def whole_lines(self, start: int, end: int, line: int) -> tuple[int, int]:
        """The lines of a range, which has them to itself."""
        first, after = self.layout.line_start(start), self.text.find(b"\n", end) + 1
        if not after or self.text[first:start].strip() or self.text[end:after].strip():
            raise NotPossible(f"the code in line {line} has its lines not to itself")
        return first, after

    def without_comments(self, start: int, end: int, line: int) -> None:
        if self.layout.code[start:end] != self.text[start:end]:
            raise NotPossible(f"there is a comment in the condition in line {line}")

    def shift(self, start: int, end: int, by: int) -> None:
        at = self.layout.line_start(start)
        while at < end:
            self.shifts[at] += by
            following = self.text.find(b"\n", at)
            if following < 0:
                break
            at = following + 1
