"""What loops, lambdas called at unknown times and code without a meaning here leave unknown."""

from __future__ import annotations

from contextlib import suppress

from analyzers.frontend.cindex import Cursor
from analyzers.hostguide.build import TreeBuilder
from analyzers.hostguide.evaluate import is_expression
from analyzers.hostguide.hosttypes import HostType, ReferenceTo
from analyzers.hostguide.launching import Launcher
from analyzers.hostguide.loops import Path, Writes, writes_of
from analyzers.hostguide.memory import Stop
from analyzers.hostguide.places import Frame
from analyzers.hostguide.tree import Declaration, Node
from analyzers.hostguide.values import (
    Address,
    Closure,
    Pointer,
    Unknown,
    Value,
    Variable,
)


class Forgetter(Launcher):
    """What code that is not followed step by step leaves unknown."""

    def __init__(self, builder: TreeBuilder) -> None:
        super().__init__(builder)
        self._effects: dict[int, Writes] = {}

    def _forget_names(self, names: frozenset[str] | set[str]) -> None:
        frame: Frame | None = self.frame
        while frame is not None:
            for declared, variable in list(frame.variables.items()):
                if declared.name in names or not names.isdisjoint(_bound_names(declared.name)):
                    held = self.state.store.get(variable)
                    if isinstance(declared.ty, ReferenceTo) and isinstance(held, Address):
                        self.forget(held)
                        self.escape((held.variable,))
                    else:
                        self.forget(Address(variable))
                        self.escape((variable,))
            frame = frame.enclosing.frame if frame.enclosing is not None else None

    def forget_words(self, cursor: Cursor) -> None:
        self._forget_names(self.words(cursor))

    def run_unknown(self, node: Node) -> None:
        """A construct without a meaning here: its parts may run any number of times, in any order."""
        self._forget_writes(self.effects_of(node), mixed=True)
        for part in node.args:
            if part is None:
                continue
            state = self.state.copy()
            try:
                if is_expression(part):
                    self.evaluate(part)
                else:
                    self.run_statement(part)
            except Stop:
                pass
            self.state = state
        self._forget_writes(self.effects_of(node), mixed=True)

    def effects_of(self, node: Node, *parts: Node | None) -> Writes:
        """What executing a node may change, or those parts of it that are given: always the same ones."""
        found = self._effects.get(id(node))
        if found is None:
            found = self._effects[id(node)] = writes_of(self, *(parts or (node,)))
            self.resolve(found)
        return found

    def _forget_writes(self, writes: Writes, mixed: bool = False) -> None:
        """``mixed``: any pointer that is written may come to hold any other of them."""
        held: set[int] = set()
        for declared, _ in writes.places if mixed else ():
            variable = self.find(declared)
            if variable is not None and variable in self.state.store:
                held.update(self.pointers_in(self.state.store[variable]))
        for (declared, path), ty in writes.places.items():
            self._forget_place(declared, path, ty, frozenset(held))
        if writes.calls_closures:
            self._forget_closures()
        for target in writes.behind:
            self.forget_pointees(target)
        if writes.launches:
            self.forget_device_variables()
        if writes.lost:
            self._forget_names(writes.lost)
        if writes.outside:
            self.forget_outside()
            self.shapes += 1
            frame: Frame | None = self.frame
            while frame is not None:
                if isinstance(frame.this, Address):
                    self.forget(frame.this)
                frame = frame.caller

    def _forget_place(
        self, declared: Declaration, path: Path, ty: HostType, others: frozenset[int] = frozenset()
    ) -> None:
        variable = self.find(declared)
        if variable is None:
            return
        held = self.state.store.get(variable)
        if isinstance(declared.ty, ReferenceTo):
            if isinstance(held, Address):
                full = Address(held.variable, (*held.path, *path))
                self.write(full, self._anything(declared.name, ty, full, others))
            else:
                self.forget_outside()
            return
        if held is None and not variable.outside:
            return
        name = declared.name + "".join(f".{p}" for p in path)
        place = Address(variable, path)
        self.write(place, self._anything(name, ty, place, others))

    def _anything(self, name: str, ty: HostType, place: Address, others: frozenset[int]) -> Value:
        """An arbitrary value; a pointer may still be what it was."""
        value = self.fresh(name, ty)
        before = self.read(place, ty) if isinstance(value, (Pointer, Unknown)) else value
        if isinstance(value, Pointer):
            self.origins[value.id] = others | frozenset(self.pointers_in(before))
        elif isinstance(value, Unknown):
            self.now_holds(value, before, [])
        return value

    def _forget_closures(self) -> None:
        """Lambdas at hand may be called: what they write through their captures may change."""
        seen: set[int] = set()
        for value in list(self.state.store.values()):
            if isinstance(value, Closure) and id(value) not in seen:
                seen.add(id(value))
                self._forget_closure(value)

    def _forget_closure(self, closure: Closure) -> None:
        function = self.builder.lambda_body(closure.cursor)
        if function is None:
            self.forget_outside()
            return
        writes = self.effects_of(function.body)
        frame = self.frame
        self.frame = Frame(function, None, None, closure)
        for (declared, path), ty in writes.places.items():
            self._forget_place(declared, path, ty)
        if writes.outside:
            self.forget_outside()
        self.frame = frame

    def _free_parameter(self, parameter: Declaration) -> None:
        if isinstance(parameter.ty, ReferenceTo):
            outer = Variable(parameter.name, parameter.ty.target, True)
            self.declare(parameter, Address(outer))
        else:
            self.declare(parameter, self.fresh(parameter.name, parameter.ty))

    def run_sometimes(self, closure: Closure) -> None:
        """A lambda handed to code that calls it any number of times, now or later, with anything."""
        function = self.builder.lambda_body(closure.cursor)
        if function is None or self._on_stack(function) or self.frame.depth > 10:
            self._forget_closure(closure)
            return
        self._forget_closure(closure)
        before = self.state
        self.state = before.copy()
        caller, statement = self.frame, self.statement
        self.frame = Frame(function, caller, None, closure)
        for parameter in function.parameters:
            self._free_parameter(parameter)
        self.own_copies(self.frame, function, closure)
        with suppress(Stop):
            self.run_statement(function.body)
        self.frame, self.statement = caller, statement
        self.state = before
        writes = self.effects_of(function.body)
        captured = [self.find(declared) for declared, _ in writes.places]
        self.escape(v for v in captured if v is not None)


def _bound_names(name: str) -> list[str]:
    """The names that a structured binding ``[a, b]`` gives to parts of its object."""
    return name.strip("[]").split(", ") if name.startswith("[") else []
