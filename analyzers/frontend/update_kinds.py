"""Updates of memory as a source writes them, with byte offsets; `updates` and `update_sequences` read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Range = tuple[int, int]
"""Byte offsets: the first, and the one behind the last."""

Yield = Literal["nothing", "old", "new"]
"""Which value of the cell is used where the update stands."""

NARROW: Final = frozenset({"bool", "char", "signed char", "unsigned char", "short", "unsigned short"})
"""Canonical integer types that are computed with as `int`."""

INTEGERS: Final = NARROW | {
    "int",
    "unsigned int",
    "long",
    "unsigned long",
    "long long",
    "unsigned long long",
}


@dataclass(frozen=True, slots=True)
class Cell:
    """An lvalue as it is written, without brackets around it."""

    at: Range
    address: Range | None
    """What the outermost `*` is applied to, without brackets; None where there is none."""
    type: str
    """Canonical, without qualifiers."""
    spelling: str
    """The type as the source says it, without qualifiers."""


@dataclass(frozen=True, slots=True)
class Operand:
    """What a cell is combined with, or compared with."""

    at: Range
    type: str
    """Canonical, without qualifiers and implicit conversions."""
    is_plain: bool
    """It may be evaluated twice (`analyzers.frontend.plain`)."""
    is_safe: bool = False
    """It may be evaluated where it was not before: it changes nothing, and reads memory at plain places only."""
    is_tight: bool = False
    """No operator of two operands is outermost in it: it needs no brackets."""


@dataclass(frozen=True, slots=True)
class Update:
    """`cell = cell operator operand`."""

    whole: Range
    """All that an atomic function stands for: an expression, or a conditional up to its end."""
    places: frozenset[int]
    """Where a read or the write of the cell begins."""
    cell: Cell
    operator: str
    """Of C, or `max`, `min`, `fmax`, `fmin`."""
    operand: Operand | None
    """None: 1."""
    yields: Yield
    call: tuple[Range, Range] | None = None
    """Of a function of two arguments that was called: the call, and the argument that is the cell."""
    is_statement: bool = False
    """It is a conditional: what stands for it needs a semicolon."""
    write: Range | None = None
    """The statement behind it that writes the cell, its semicolon left out, where a variable takes over the old value
    first; `whole` is what that is given."""
    variable: int = 0
    """Where that variable is declared."""
    compared: Range | None = None
    """In a conditional that does more, `if (v < cell) { cell = v; … }`: where its condition, which is `whole`, names
    the cell; `write` is the first statement of its body."""
    computed: Range | None = None
    """The statement in between, its semicolon left out, that computes what is written, in that variable or in another
    one of its own."""


@dataclass(frozen=True, slots=True)
class Claim:
    """`if (cell == expected) { cell = desired; … }`, or `if (!cell)`: one thread is to get in."""

    places: frozenset[int]
    cell: Cell
    condition: Range
    expected: Operand | None
    """None: 0."""
    desired: Operand
    write: Range
    """The assignment, its semicolon left out."""
    whole: Range | None
    """The conditional, where the assignment is all that it does."""


@dataclass(frozen=True, slots=True)
class Store:
    """`cell = value` as a statement, where the value does not come from the cell."""

    whole: Range
    """The semicolon left out."""
    places: frozenset[int]
    cell: Cell
    value: Operand
    is_idle: bool
    """Nothing else happens in it (`analyzers.frontend.plain`)."""
    is_ordered: bool = True
    """The value does not change which cell it is: the two may be evaluated in any order."""


AnyUpdate = Update | Claim


@dataclass(frozen=True, slots=True)
class Bounded:
    """`if (cell < bound) { … cell++ … }`: places are given out as long as there are some, or so it is meant.

    The cell is counted up by one wherever the condition holds, and is not named behind that."""

    places: frozenset[int]
    cell: Cell
    """As it is read first: in the condition, or by the variable that takes it over in front of it."""
    bound: Range
    count: Range
    """What counts the cell up: an expression, or a statement without its semicolon."""
    yields: Yield
    reads: tuple[Range, ...] = ()
    """Where the conditional reads the cell besides, before it counts."""
    variable: int | None = None
    """Where a variable is declared that has taken the cell over, so that nothing else reads it."""
