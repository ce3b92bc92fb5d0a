"""What a C++ lvalue or class value can be during lowering.

A scalar local is a program variable; a small class local is a bundle of variables, one per scalar; everything whose
address matters is memory. A value without storage (a class returned by value, a kernel parameter nobody writes) is a
place that can only be read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analyzers.frontend.lowering.layout import CType
from analyzers.ir.expr import Expr
from analyzers.ir.kernel import Alignment

if TYPE_CHECKING:
    from analyzers.frontend.lowering.context import Frame
    from analyzers.frontend.lowering.nodes import Node

Bounds = tuple[tuple[Expr, int], ...]


@dataclass(frozen=True, slots=True)
class VarPlace:
    """A scalar held in the program variable `name`. `key` is the declaration to force into memory when its address
    is needed."""

    name: str
    type: CType
    key: object


@dataclass(frozen=True, slots=True)
class ValuePlace:
    """A scalar value without storage."""

    value: Expr
    type: CType
    key: object = None
    """A declaration that could be given storage: a kernel parameter that turns out to be written."""


@dataclass(frozen=True, slots=True)
class MemPlace:
    """Memory at `pointer`; `bounds` are the declared-array subscripts on the way."""

    pointer: Expr
    type: CType
    bounds: Bounds = ()
    bits: tuple[int, int] | None = None
    volatile: bool = False
    inside: Alignment | None = None
    """Known from the object it is a part of; None: it stands for itself."""
    within: CType | None = None
    """The class of the outermost object it is known to be a part of."""

    @property
    def alignment(self) -> Alignment:
        return Alignment(self.type.align) if self.inside is None else self.inside


@dataclass(frozen=True, slots=True)
class SplitPlace:
    """A class object, or part of one at byte `offset`, whose scalars are variables: `names` by offset in the whole."""

    names: dict[int, str]
    type: CType
    key: object
    offset: int = 0


@dataclass(frozen=True, slots=True)
class RecordValue:
    """A class value without storage: `leaves` by byte offset in the whole."""

    leaves: dict[int, Expr]
    type: CType
    key: object = None
    offset: int = 0


@dataclass(frozen=True, slots=True)
class ParamPlace:
    """A by-value class parameter of the kernel, or the part of it called `name`: its scalars are symbols."""

    name: str
    type: CType
    key: object


@dataclass(frozen=True, slots=True)
class TablePlace:
    """A constant array whose contents the source gives: `values` in row-major order, `index` counts scalars."""

    values: tuple[Expr, ...]
    index: Expr
    type: CType
    pointer: Expr
    bounds: Bounds = ()


@dataclass(frozen=True, slots=True)
class Closure:
    """A lambda: the frame it was written in and what it captured by value."""

    body: Node
    type: CType
    frame: Frame
    captures: dict[int, Place] = field(default_factory=dict[int, "Place"])
    this: Place | None = None


@dataclass(frozen=True, slots=True)
class FunctionPlace:
    """A known function passed by pointer or reference; one of several, where ``instead`` is not empty."""

    function: Node
    type: CType
    instead: tuple[tuple[Expr, FunctionPlace], ...] = ()
    """Which function it is where a condition holds: the first one that does counts."""
    which: Expr | None = None
    """The number of the function among ``among`` that it is now, for a variable that is set again."""
    among: tuple[FunctionPlace, ...] = ()


@dataclass(frozen=True, slots=True)
class EitherPlace:
    """A scalar object that is one of two, chosen when it was referred to: ``const int &r = c ? a : b``."""

    condition: Expr
    """Where it holds, the object is the first one; no later assignment changes it."""
    first: Place
    other: Place
    type: CType


Place = (
    VarPlace
    | ValuePlace
    | MemPlace
    | SplitPlace
    | RecordValue
    | ParamPlace
    | TablePlace
    | Closure
    | FunctionPlace
    | EitherPlace
)
Value = Expr | Place | None
"""A scalar is an expression; a class value is a place; a call of a void function gives None."""
