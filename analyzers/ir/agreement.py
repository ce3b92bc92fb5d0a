"""What threads have to agree on to agree on values that loops and memory of their own carry.

Such a value is not followed step by step. It is a function of what goes into any step: numbers that stay the same
meanwhile, and what is read or computed anew in each iteration, which threads agree on as far as they do on the place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from analyzers.ir import expr as E
from analyzers.ir.expr import Expr, IntType
from analyzers.ir.uniformity import narrower

MAX_INPUTS: Final = 12
"""Numbers that a value is taken for a function of; of one that depends on more nothing is known."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """The largest group whose threads agree wherever they do on all ``inputs``."""

    level: str
    inputs: tuple[Expr, ...] = ()


def agreement(
    values: Iterable[Expr],
    level: Callable[[Expr], str],
    changing: frozenset[Expr] = frozenset(),
    sources: Mapping[Expr, tuple[Expr, ...]] | None = None,
) -> Agreement:
    """What ``values`` are a function of. ``level``: the largest group that agrees on a value. ``changing``: symbols
    that are others in each iteration, among them those that stand for what is computed from ``sources``."""
    sources = {} if sources is None else sources
    group = "grid"
    inputs: dict[Expr, None] = {}
    seen: set[int] = set()
    stack = list(values)
    while stack:
        node = stack.pop()
        if node.key in seen:
            continue
        seen.add(node.key)
        if node in sources:
            stack.extend(sources[node])
            continue
        fixed = E.symbols(node).isdisjoint(changing)
        if fixed and level(node) == "grid":
            continue
        if fixed and (isinstance(node.ty, IntType) or node.op == "sym"):
            inputs[node] = None
            if len(inputs) > MAX_INPUTS:
                return Agreement("thread")
            continue
        if node.op == "opaque":
            group = narrower(group, node.value[1])
        stack.extend(node.args)
    return Agreement(group, tuple(inputs))


@dataclass(slots=True)
class Carried:
    """What is known of the values that a loop carries from one execution of its body over placeholders."""

    placeholders: Mapping[str, Expr]
    """By variable: its value at the start of the iteration."""
    starts: Mapping[str, Expr]
    """In front of the loop."""
    ends: Mapping[str, Expr]
    """At the end of the iteration."""
    levels: Mapping[str, str]
    """The largest group that agrees on a variable at equal iterations."""
    control: str
    """The largest group that agrees on how the loop ends."""
    decisions: tuple[Expr, ...]
    """On which it does."""
    left: Mapping[str, Departures]
    """By label that is left for in the middle of an iteration."""
    counter: Expr
    bounded: frozenset[str]
    """Variables of which more is known than what they depend on: by thread, so their inputs are not told."""
    level: Callable[[Expr], str]
    _known: dict[tuple[str, str | None], Agreement] = field(default_factory=dict[tuple[str, "str | None"], Agreement])
    _sources: dict[Expr, tuple[Expr, ...]] = field(init=False)
    _changing: frozenset[Expr] = field(init=False)

    def __post_init__(self) -> None:
        self._sources = {p: (self.ends[n], self.starts[n]) for n, p in self.placeholders.items()}
        self._changing = frozenset((self.counter, *self._sources))

    def at_start(self, name: str) -> Agreement:
        """Of the value at the start of an iteration that takes place."""
        return self._agreed(name, None, self.levels.get(name, "thread"), (self.placeholders[name],))

    def behind(self, name: str, label: str, is_read: bool = True) -> Agreement:
        """Of the value where the loop was left for ``label``; of one that nothing reads there, whatever its inputs
        are."""
        level = narrower(self.levels.get(name, "thread"), self.control)
        values: tuple[Expr, ...] | None = (self.placeholders[name], *self.decisions)
        departures = self.left.get(label)
        if departures is not None:
            level = "thread" if departures.nested else narrower(level, departures.levels.get(name, "grid"))
            values = None if departures.nested else (*values, *departures.values.get(name, ()))
        return self._agreed(name, label, level, values if is_read else None)

    def end(self) -> Agreement:
        """Of how the loop ends."""
        return self._agreed("", None, self.control, self.decisions)

    def _agreed(self, name: str, label: str | None, level: str, values: tuple[Expr, ...] | None) -> Agreement:
        """``level``: the group that agrees, whatever the inputs are."""
        if level == "grid" or values is None or name in self.bounded:
            return Agreement(level)
        found = self._known.get((name, label))
        if found is None:
            found = agreement(values, self.level, self._changing, self._sources)
            if narrower(found.level, level) == found.level:
                found = Agreement(level)
            self._known[name, label] = found
        return found


@dataclass(slots=True)
class Departures:
    """The values with which an iteration is left in its middle for one label."""

    values: dict[str, list[Expr]] = field(default_factory=dict[str, "list[Expr]"])
    """By variable that holds something else than at the start or the end of the iteration."""
    levels: dict[str, str] = field(default_factory=dict[str, str])
    """The largest group that agrees on all of these."""
    nested: bool = False
    """It is left out of a loop inside as well, with values that are not known."""
