"""The symbolic state of one thread: its variables and the cells of its local memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from analyzers.ir import expr as E
from analyzers.ir.expr import Expr, IntType

_CONTENTS: Final = "contents:"


def contents_of(object_name: str) -> str:
    """The variable that stands for all that a local object holds: a datum that is equal where the contents are."""
    return _CONTENTS + object_name


class Cell(NamedTuple):
    """Bytes [offset, offset + width) of a local object."""

    object: str
    offset: int
    width: int


@dataclass
class State:
    """Mutable; ``copy`` before a branch. ``live`` is False where control has left."""

    variables: dict[str, Expr] = field(default_factory=dict[str, Expr])
    cells: dict[Cell, Expr] = field(default_factory=dict[Cell, Expr])
    dirty: set[str] = field(default_factory=set[str])
    """Local objects written at an unknown offset or in parts of a cell: cells never written since hold anything."""
    live: bool = True
    perhaps: set[str] = field(default_factory=set[str])
    """Variables that were not set on every path to here: what they hold may not have been computed."""

    def copy(self) -> State:
        return State(dict(self.variables), dict(self.cells), set(self.dirty), self.live, set(self.perhaps))

    def get(self, name: str, ty: E.Type) -> Expr | None:
        found = self.variables.get(name)
        return found if found is not None and found.ty == ty else None

    def put(self, name: str, value: Expr) -> None:
        self.variables[name] = value
        self.perhaps.discard(name)

    def end(self, names: Iterable[str]) -> None:
        """Variables are no more."""
        for name in names:
            self.variables.pop(name, None)
            self.perhaps.discard(name)

    def computed(self) -> list[Expr]:
        """Values that are at hand because they were computed on the way here."""
        known = (v for n, v in self.variables.items() if n not in self.perhaps and not n.startswith(_CONTENTS))
        return [*known, *self.cells.values()]

    def read_cell(self, cell: Cell, ty: E.Type) -> Expr | None:
        found = self.cells.get(cell)
        if found is None:
            return None
        if found.ty == ty:
            return found
        if isinstance(found.ty, IntType) and isinstance(ty, IntType) and found.ty.width == ty.width:
            return E.cast(found, ty)
        return None

    def write_cell(self, cell: Cell, value: Expr) -> None:
        for other in [c for c in self.cells if c != cell and overlap(c, cell)]:
            del self.cells[other]
            if other.offset < cell.offset or other.offset + other.width > cell.offset + cell.width:
                self.dirty.add(cell.object)
        self.cells[cell] = value

    def clobber(self, object_name: str) -> None:
        """Forget what is known of an object."""
        self.dirty.add(object_name)
        for cell in [c for c in self.cells if c.object == object_name]:
            del self.cells[cell]

    def clobbered(self, cell: Cell) -> bool:
        """Whether its bytes may have been written otherwise than as this cell."""
        return cell.object in self.dirty or any(overlap(c, cell) for c in self.cells)


def overlap(one: Cell, two: Cell) -> bool:
    """Whether two cells have a byte in common."""
    return one.object == two.object and one.offset < two.offset + two.width and two.offset < one.offset + one.width


def merge(condition: Expr, then: State, other: State) -> State:
    """The state where two paths meet: ``then`` where ``condition`` holds."""
    out = State(dirty=then.dirty | other.dirty, perhaps=then.perhaps | other.perhaps)
    for name in then.variables.keys() & other.variables.keys():
        a, b = then.variables[name], other.variables[name]
        if a.ty == b.ty:
            out.variables[name] = E.select(condition, a, b)
    for name in then.variables.keys() ^ other.variables.keys():
        only = then.variables.get(name)
        out.variables[name] = only if only is not None else other.variables[name]
        out.perhaps.add(name)
    for cell in then.cells.keys() & other.cells.keys():
        a, b = then.cells[cell], other.cells[cell]
        if a.ty == b.ty:
            out.cells[cell] = E.select(condition, a, b)
    return out
