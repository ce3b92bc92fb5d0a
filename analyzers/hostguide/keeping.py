"""Private members of objects that survive a call which is not looked into.

Such a call makes everything forgotten that others can reach. An object that it is not given keeps its private integer
members nevertheless, where no function in sight that the call can reach writes them (`untouched`). That code out of
sight leaves the members alone is an assumption, and whoever uses such a value lists it.
"""

from __future__ import annotations

from collections.abc import Callable

from analyzers.frontend.cindex import AccessSpecifier, Cursor, CursorKind
from analyzers.hostguide.build import TreeBuilder
from analyzers.hostguide.evaluate import Evaluator
from analyzers.hostguide.hosttypes import HostType, PointerTo, RecordType, ReferenceTo
from analyzers.hostguide.tree import HostFunction
from analyzers.hostguide.values import Choice, Record, State, Unknown, Value, Variable
from analyzers.ir import expr as ex
from analyzers.ir.expr import Expr, FloatType, IntType

_NAMED = 3
"""Functions out of sight that an assumption names."""
_HIDDEN = (AccessSpecifier.PRIVATE, AccessSpecifier.PROTECTED)


class Keeper(Evaluator):
    """What calls leave alone."""

    wanted: frozenset[str] = frozenset()
    """Names of functions that lead to launches."""

    def __init__(self, builder: TreeBuilder) -> None:
        super().__init__(builder)
        self.leaves_alone: Callable[[Cursor, str, str], tuple[str, ...] | None] = lambda _function, _record, _member: (
            None
        )
        """Where nothing in sight that a function reaches writes a member of a class, both by name, the functions out
        of sight that it calls; else None."""
        self.kept_through: dict[Expr, dict[str, None]] = {}
        """What is assumed for a value to be what it was."""
        self._hidden: dict[int, list[tuple[str, IntType, Cursor]]] = {}

    def keep_members(self, function: HostFunction | None, receiver: Variable | None, before: State) -> None:
        """After a call of a function on an object: what it leaves alone is what it was in the state ``before``."""
        if function is None or self.state.epoch == before.epoch or function.name in self.wanted:
            return
        if not all(_is_read_only(p.ty) for p in function.parameters):
            return
        outside: dict[str, None] = {}
        for variable, held in before.store.items():
            now = self.state.store.get(variable)
            if not variable.outside or variable is receiver or now is held:
                continue
            leaf = held
            while isinstance(leaf, Choice):
                leaf = leaf.first
            base = leaf.base if isinstance(leaf, Record) else leaf
            parts: dict[str | int, Value] = {}
            for name, ty, field in self._fields_of(base) if isinstance(base, Unknown) else ():
                value = self.part(held, name, ty, f"{variable.name.removeprefix('*')}.{name}")
                if isinstance(now, Record) and now.parts.get(name) is value:
                    continue  # what was run of the function has left it alone
                unseen = self.leaves_alone(function.cursor, _class_of(field), name)
                if unseen is not None:
                    outside.update(dict.fromkeys(unseen))
                    parts[name] = value
                    for symbol in ex.symbols(value) if isinstance(value, Expr) else ():
                        if symbol in self.part_of:
                            self.read_as.setdefault(symbol, field)
            now = now if now is not None else self.initial(variable, self.state.epoch)
            if parts and isinstance(now, (Record, Unknown)):
                self._assume(function, parts, tuple(outside))
                if isinstance(now, Record):
                    now, parts = now.base, {**now.parts, **parts}
                self.state.store[variable] = Record(parts, now)

    def _assume(self, function: HostFunction, parts: dict[str | int, Value], outside: tuple[str, ...]) -> None:
        """``outside``: the functions out of sight that are called."""
        names = ", ".join(f"`{name}`" for name in parts)
        text = f"`{function.name}` leaves {names} as they are: no write was found in what it is seen to run"
        if outside:
            more = f" and {len(outside) - _NAMED} more" if len(outside) > _NAMED else ""
            calls = ", ".join(f"`{name}`" for name in sorted(outside)[:_NAMED])
            text += f", and what is not in sight ({calls}{more}) has none"
        for value in parts.values():
            for symbol in ex.symbols(value) if isinstance(value, Expr) else ():
                self.kept_through.setdefault(symbol, {})[text] = None

    def _fields_of(self, base: Unknown) -> list[tuple[str, IntType, Cursor]]:
        """The private integer members of an object whose class shows in one that was read."""
        for _, _, part in self.known_parts(base.id):
            read = self.read_as.get(part) if isinstance(part, Expr) else None
            if read is None:
                continue
            field = read if read.kind == CursorKind.FIELD_DECL else read.referenced
            record = field.semantic_parent if field is not None else None
            if record is None:
                continue
            if record.hash not in self._hidden:
                self._hidden[record.hash] = self._hidden_fields(record)
            return self._hidden[record.hash]
        return []

    def _hidden_fields(self, record: Cursor) -> list[tuple[str, IntType, Cursor]]:
        found: list[tuple[str, IntType, Cursor]] = []
        for child in record.type.get_fields():
            if child.access_specifier in _HIDDEN:
                ty = self.builder.types.of(child.type)
                if isinstance(ty, IntType):
                    found.append((child.spelling, ty, child))
        return found


def _class_of(field: Cursor) -> str:
    parent = field.semantic_parent
    return parent.spelling.partition("<")[0] if parent is not None else ""


def _is_read_only(ty: HostType) -> bool:
    """Whether nothing but what an argument itself holds can be written through it."""
    if isinstance(ty, ReferenceTo):
        return ty.const
    if isinstance(ty, PointerTo):
        return ty.const or isinstance(ty.target, (IntType, FloatType))
    return isinstance(ty, (IntType, FloatType, RecordType))
