"""Host functions as small trees of our own: the data.

A :class:`Node` tree has implicit conversions as explicit ``cast`` nodes, and an ``unknown`` node, which still has its
children, for whatever has no meaning here. Interpreting a tree several times (once per call chain) costs no libclang
calls. ``build`` makes the trees.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from analyzers.frontend.cindex import Cursor
from analyzers.hostguide.hosttypes import HostType
from analyzers.ir.expr import FloatType, IntType


@dataclass(frozen=True, slots=True, eq=False)
class Declaration:
    """A variable, parameter or field; identity is equality."""

    name: str
    ty: HostType
    storage: str
    """``local``, ``parameter``, ``static`` or ``global``."""
    cursor: Cursor
    const: bool
    volatile: bool = False

    @property
    def is_fixed(self) -> bool:
        """Whether it is a number that nothing changes once it has its value."""
        return self.const and not self.volatile and isinstance(self.ty, (IntType, FloatType))


class Node:
    """One expression or statement.

    expressions: ``const`` (value int) ``real`` (value float) ``string`` ``null`` ``ref`` (value Declaration) ``fn``
    (value Cursor) ``this`` ``member`` (value field name; arg: object or pointer) ``index`` ``deref`` ``addr`` ``unary``
    ``binary`` (value operator) ``assign`` ``compound`` (value operator) ``step`` (value ``++`` ``--`` ``post++``
    ``post--``) ``choose`` ``cast`` ``call`` (value Cursor or None; args callee, arguments…) ``method`` (value Cursor;
    args object, arguments…) ``construct`` (value Cursor) ``launch`` (args kernel, grid, block, shared, arguments…)
    ``list`` ``lambda`` ``new`` ``throw`` ``body`` (statement expression) ``unknown``
    statements: ``block`` ``declare`` (value Declaration; arg: initialiser) ``if`` ``for`` ``while`` ``do`` ``each``
    ``switch`` ``case`` ``default`` ``break`` ``continue`` ``return`` ``goto`` ``label`` ``try`` ``lost`` (value
    LostCode) ``empty``; an expression is a statement too. Absent parts are None.
    """

    __slots__ = ("args", "cursor", "effects", "op", "ty", "value", "volatile")

    def __init__(
        self, op: str, ty: HostType, args: tuple[Node | None, ...], value: Any, cursor: Cursor, effects: bool = False
    ) -> None:
        self.op = op
        self.ty = ty
        self.args = args
        self.value = value
        self.cursor = cursor
        self.effects = effects or any(a is not None and a.effects for a in args)
        self.volatile = False
        """An lvalue that somebody else may write at any time: two reads give two values."""

    def arg(self, n: int) -> Node:
        found = self.args[n]
        assert found is not None
        return found


@dataclass(frozen=True, slots=True, eq=False)
class HostFunction:
    """A function with a body."""

    name: str
    parameters: tuple[Declaration, ...]
    body: Node
    result: HostType
    cursor: Cursor
    initialisers: tuple[tuple[str, HostType, Node], ...] = ()
    """(field, its type, value) of a constructor, in order."""
    bases: tuple[Node, ...] = ()
    """What a constructor calls for its bases, or delegates to."""


ANY_PART = "?"
"""The path of a member of a union, or of an element at an unknown index: a write changes the whole."""


def identity(cursor: Any) -> int:
    """What tells one declaration of a unit from all others: clang's own object."""
    return cursor.data[0]


Place = tuple[int, str, int]
"""A translation unit, a file, and the offset of a function's name in it; instances of a template share it."""


def place_of(cursor: Any) -> Place:
    """Where a function stands, told apart by units: each has a copy of its own of what a header defines."""
    where = cursor.location
    return id(cursor.translation_unit), where.file.name if where.file is not None else "", where.offset


def may_be_place(value: Node) -> bool:
    """Whether an expression whose place is not known may be an object that others can write, and no temporary."""
    while value.op == "cast" or (value.op == "binary" and value.value == ","):
        value = value.arg(0 if value.op == "cast" else 1)
    return value.op in ("call", "method", "index", "deref", "choose")


def is_choice(value: Node | None) -> bool:
    """``c ? a : b``, perhaps behind a comma: an object that has another name too, though not which."""
    while value is not None and (value.op == "cast" or (value.op == "binary" and value.value == ",")):
        value = value.arg(0 if value.op == "cast" else 1)
    return value is not None and value.op == "choose"


def names_this(node: Node) -> bool:
    """Whether code uses the object of the member function that it stands in."""
    return node.op == "this" or any(names_this(part) for part in node.args if part is not None)
