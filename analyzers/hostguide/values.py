"""What a host variable can hold during symbolic execution, and the state of a path.

A value never changes once made: writes replace it, so a fact that was learnt about a value stays true of it whatever is
assigned later. That is why "no write in between" needs no search.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from analyzers.hostguide.hosttypes import HostType
from analyzers.ir.expr import I64 as _I64
from analyzers.ir.expr import Expr, const

ZERO = const(0, _I64)


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value of a non-integer type about which nothing is known, equal to itself only. Parts are derived from it."""

    id: int
    name: str
    ty: HostType


@dataclass(frozen=True, slots=True)
class Pointer:
    """A pointer into one allocation, host or device: identity of the allocation, byte offset (I64), bytes if known."""

    id: int
    name: str
    offset: Expr = ZERO
    size: Expr | None = None


@dataclass(frozen=True, slots=True)
class Null:
    """The null pointer."""


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a host variable or of a part of it; also what a reference is."""

    variable: Variable
    path: tuple[str | int, ...] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """A struct or array with some parts known; other parts derive from ``base``."""

    parts: Mapping[str | int, Value]
    base: Unknown

    def __hash__(self) -> int:
        return id(self)


@dataclass(frozen=True, slots=True)
class FunctionValue:
    """A function, e.g. a kernel, by its cursor; ``key`` tells two apart."""

    cursor: Any
    key: str


@dataclass(frozen=True, slots=True, eq=False)
class Closure:
    """A lambda: its cursor, the frame it was made in, the values it copied, and whether captures are by reference."""

    cursor: Any
    frame: Any
    copies: Mapping[Variable, Value]
    by_reference: Callable[[str], bool | None]
    made: Mapping[str, Value] = field(default_factory=dict[str, "Value"])
    """The values of init-captures, ``[q = p + n]``, by name."""


@dataclass(frozen=True, slots=True)
class Choice:
    """``first`` where ``guard`` (BOOL) holds, else ``second``; for values that are no integers."""

    guard: Expr
    first: Value
    second: Value


Value = Expr | Unknown | Pointer | Null | Address | Record | FunctionValue | Closure | Choice


Key = int | Expr
"""Something that a loop carries on: a pointer by its number, an integer by its symbol."""


@dataclass(slots=True, eq=False)
class LoopHead:
    """What one loop carries from iteration to iteration, as it was run."""

    first: int
    """Numbers of values from here on were made inside."""
    entry: dict[Key, Value] = field(default_factory=dict[Key, "Value"])
    back: list[dict[Key, Value]] = field(default_factory=list[dict[Key, "Value"]])
    """The values at the end of an iteration, one for each way to get there."""
    broken: bool = False
    """Something goes round the loop in a way that is not seen."""


class Variable:
    """A storage cell of the host program. ``outside``: others may change it (globals, objects behind parameters)."""

    __slots__ = ("born", "fixed", "name", "outside", "ty")

    def __init__(self, name: str, ty: HostType, outside: bool = False, born: int = 0) -> None:
        self.name = name
        self.ty = ty
        self.outside = outside
        self.born = born
        """How many values there were when its life began; zero where that is not known."""
        self.fixed = False
        """Whether it is a number that was declared ``const`` and has its value: code that is not known does not change
        it."""

    def __repr__(self) -> str:
        return f"<{self.name}>"


class FactLink:
    """One fact on the path, linked to those before it."""

    __slots__ = ("condition", "depth", "note", "parent")

    def __init__(self, parent: FactLink | None, condition: Expr, note: NoteSource) -> None:
        self.parent = parent
        self.condition = condition
        self.note = note
        self.depth = parent.depth + 1 if parent is not None else 1


@dataclass(frozen=True, slots=True, eq=False)
class NoteSource:
    """Where a fact comes from; its text is cut from the source only if the fact is used."""

    kind: str
    cursor: Any
    style: str = "statement"
    """``statement``, ``if`` (header only), ``else`` (of an if), ``loop`` (header only), ``exit`` (after a loop),
    ``case`` (label only), ``text``: what stands at ``place``."""
    place: tuple[str, int, int] | None = None


class State:
    """Values and facts at one point of one path."""

    __slots__ = ("epoch", "escaped", "facts", "store")

    def __init__(
        self, store: dict[Variable, Value], facts: FactLink | None, escaped: frozenset[Variable], epoch: int
    ) -> None:
        self.store = store
        self.facts = facts
        self.escaped = escaped
        self.epoch = epoch
        """Counts what may have changed every outside variable; one not in the store is unknown per epoch."""

    def copy(self) -> State:
        return State(dict(self.store), self.facts, self.escaped, self.epoch)


def facts_since(link: FactLink | None, ancestor: FactLink | None) -> list[FactLink]:
    """The facts after ``ancestor``, oldest first."""
    out: list[FactLink] = []
    while link is not None and link is not ancestor:
        out.append(link)
        link = link.parent
    out.reverse()
    return out


def common_ancestor(a: FactLink | None, b: FactLink | None) -> FactLink | None:
    while a is not b:
        if a is None or b is None:
            return None
        if a.depth >= b.depth:
            if a.depth == b.depth:
                b = b.parent
            a = a.parent
        else:
            b = b.parent
    return a
