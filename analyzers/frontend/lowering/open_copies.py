"""Which asynchronous copies may be open where: the state of a walk over the statements of a kernel.

A copy is open from its issue to the wait that covers it. Copies are committed in groups, and waits are for all groups
but the newest ones. `age` counts how often the innermost loop around a copy has come to its head since the issue, so
that copies of one statement issued in different iterations are told apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

COMMIT, WAIT, COMPLETE = "%commit", "%wait", "%complete:"
"""How the marks of the lowering begin: kinds of `Unsupported` statements that never leave it."""
MARKS = (COMMIT, WAIT, COMPLETE)
EVERYTHING = -1
"""Waits for what is not committed yet, too."""
OLDEST = -2
"""Waits for the oldest group that is open."""
MAX_GROUPS = 8
OLD = 5
"""From this age on copies are not told apart."""


@dataclass(frozen=True, slots=True, order=True)
class Open:
    """A copy that may be open."""

    label: str
    age: int = 0


Group = dict[Open, bool]
"""What may be in a group: certainly, or on some paths."""


@dataclass(frozen=True)
class State:
    """What may be open at one place."""

    fresh: Group
    """Issued, not committed."""
    groups: tuple[Group, ...] = ()
    """Newest first."""
    count: int | None = 0
    """Groups committed and not yet taken from the front of the queue, where that is known."""

    def all(self) -> Group:
        found: Group = {}
        for group in (self.fresh, *self.groups):
            for entry, certain in group.items():
                found[entry] = found.get(entry, False) or certain
        return found

    def issued(self, label: str) -> State:
        return State({**self.fresh, Open(label): True}, self.groups, self.count)

    def aged(self, labels: frozenset[str]) -> State:
        """The innermost loop around these copies comes to its head."""

        def older(group: Group) -> Group:
            found: Group = {}
            for entry, certain in group.items():
                aged = Open(entry.label, min(entry.age + 1, OLD)) if entry.label in labels else entry
                found[aged] = found.get(aged, False) or certain
            return found

        return State(older(self.fresh), tuple(older(g) for g in self.groups), self.count)

    def marked(self, kind: str) -> State:
        """Behind the mark of a commit or of a wait."""
        if kind == COMMIT:
            groups = (self.fresh, *self.groups)
            if len(groups) > MAX_GROUPS:
                groups = (*groups[: MAX_GROUPS - 1], _union(groups[MAX_GROUPS - 1], groups[MAX_GROUPS]))
            return State({}, groups, None if self.count is None else self.count + 1)
        newest = left_open(kind, self)
        if newest == EVERYTHING:
            return State({}, (), 0)
        if newest is None:
            return self
        count = None if self.count is None else min(self.count, newest)
        return State(self.fresh, _left(self.groups, newest), count)


def left_open(kind: str, state: State) -> int | None:
    """How many of the newest groups a wait leaves open, or EVERYTHING; None when that is not known."""
    newest = int(kind.removeprefix(WAIT))
    if newest != OLDEST:
        return newest
    return None if state.count is None or state.count < 1 else state.count - 1


def joined(one: State | None, two: State | None) -> State | None:
    """Where two paths meet; None stands for a path that does not get there."""
    if one is None or two is None:
        return one if two is None else two

    def both(a: Group, b: Group) -> Group:
        return {e: a.get(e, False) and b.get(e, False) for e in {*a, *b}}

    length = max(len(one.groups), len(two.groups))
    pad: Callable[[tuple[Group, ...]], tuple[Group, ...]] = lambda g: (*g, *({} for _ in range(length - len(g))))  # noqa: E731
    groups = tuple(both(a, b) for a, b in zip(pad(one.groups), pad(two.groups), strict=True))
    return State(both(one.fresh, two.fresh), groups, one.count if one.count == two.count else None)


def _left(groups: tuple[Group, ...], newest: int) -> tuple[Group, ...]:
    """The last place holds all older groups: it is let go only with them."""
    return groups[:newest] if newest < MAX_GROUPS else groups


def _union(one: Group, two: Group) -> Group:
    return {e: one.get(e, False) or two.get(e, False) for e in {*one, *two}}
