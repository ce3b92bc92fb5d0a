"""What loops, lambdas called at unknown times and code without a meaning here leave unknown."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from analyzers.frontend.cindex import Cursor
from analyzers.hostguide.build import TreeBuilder
from analyzers.hostguide.evaluate import is_expression
from analyzers.hostguide.hosttypes import HostType, ReferenceTo
from analyzers.hostguide.launching import Launcher
from analyzers.hostguide.loops import Path, Writes, writes_of
from analyzers.hostguide.memory import Stop
from analyzers.hostguide.places import Frame
from analyzers.hostguide.source import extent
from analyzers.hostguide.tree import Declaration, HostFunction, Node, names_this
from analyzers.hostguide.values import (
    Address,
    Choice,
    Closure,
    Pointer,
    Record,
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
                    if isinstance(held, Closure):  # it may be called
                        self._forget_closure(held)
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
                    self.given(self.evaluate(part))
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
        if variable is None or variable.fixed:
            return
        held = self.state.store.get(variable)
        if isinstance(declared.ty, ReferenceTo):
            if isinstance(held, Address):
                full = Address(held.variable, (*held.path, *path))
                self.write(full, self._anything(declared.name, ty, full, others))
            else:
                self.forget_outside()
            return
        if (held is None and not variable.outside) or (not path and self.is_lambda(variable)):
            return
        if held is not None and closures_in(held):
            self.unfollowed(held)
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
        for place in self.reachable(closure):
            self.forget(place)

    def captured(self, closure: Closure) -> list[Value]:
        """The variables that a lambda writes through references, the object around it where it may write that, and the
        lambdas that it holds."""
        function = self.builder.lambda_body(closure.cursor)
        frame, self.frame = self.frame, Frame(function, None, None, closure)
        try:
            if function is None:
                named = self.words(closure.cursor)
                return [Address(v) for d, v in closure.frame.variables.items() if d.name in named]
            writes = self.effects_of(function.body)
            found: list[Value] = []
            for declared, _ in writes.places:
                place = self.place_of(declared) if self.find(declared) is not None else None
                if place is not None:
                    found.append(place)
            if writes.outside and names_this(function.body):
                around = self.frame_around(closure.frame)
                found += [around.this] if around is not None and isinstance(around.this, Address) else []
            for declared in self.objects_around(function):
                variable = self.find(declared)
                held = closure.copies.get(variable) if variable is not None else None
                now = self.state.store.get(variable) if variable is not None else None
                found += [c for value in (held, now) if value is not None for c in closures_in(value)]
            return found + [c for value in closure.made.values() for c in closures_in(value)]
        finally:
            self.frame = frame

    @staticmethod
    def frame_around(frame: Frame | None) -> Frame | None:
        """The activation whose ``this`` code in a frame means."""
        while frame is not None and frame.this is None:
            frame = frame.enclosing.frame if frame.enclosing is not None else None
        return frame

    def _forget_until_called(self, closure: Closure, function: HostFunction) -> None:
        """What a lambda refers to is not known any more where the function around it may write it from there on."""
        around = self.frame_around(closure.frame) if names_this(function.body) else None
        if around is not None and isinstance(around.this, Address):
            self.refresh(around.this.variable)
        for declared in dict.fromkeys(_named_in(function.body)):
            variable = self.find(declared) if declared.storage in ("local", "parameter") else None
            if variable is None or declared in self.frame.variables or closure.by_reference(declared.name) is False:
                continue
            if isinstance(declared.ty, ReferenceTo) or self._written_from(closure, declared):
                place = self.place_of(declared)
                if place is not None:
                    self.refresh(place.variable)

    def _written_from(self, closure: Closure, declared: Declaration) -> bool:
        """Whether the functions around a lambda may write a variable in the statement with the lambda, or behind it."""
        path, at, _ = extent(closure.cursor)
        frame: Frame | None = closure.frame
        while frame is not None:
            around = frame.function
            if around is None or extent(around.cursor)[0] != path:
                return True
            for statement in around.body.args:
                if statement is None or extent(statement.cursor)[2] <= at:
                    continue
                if statement.op == "declare" and statement.value is declared:
                    continue
                if any(written is declared for written, _ in self.effects_of(statement).places):
                    return True
            frame = frame.enclosing.frame if frame.enclosing is not None else None
        return False

    def _free_parameter(self, parameter: Declaration) -> None:
        if isinstance(parameter.ty, ReferenceTo):
            outer = Variable(parameter.name, parameter.ty.target, True)
            self.declare(parameter, Address(outer))
        else:
            self.declare(parameter, self.fresh(parameter.name, parameter.ty))

    def run_sometimes(self, closure: Closure, later: bool) -> None:
        """A lambda handed to code that calls it any number of times, with anything. ``later``: and after what follows
        here, so that what it refers to may have changed."""
        function = self.builder.lambda_body(closure.cursor)
        if function is None or self._on_stack(function) or self.frame.depth > 10:
            self._forget_closure(closure)
            return
        self._forget_closure(closure)
        before = self.state
        self.state = before.copy()
        caller, statement = self.frame, self.statement
        self.frame = Frame(function, caller, None, closure)
        if later:
            self.forget_outside()
            self._forget_until_called(closure, function)
        for parameter in function.parameters:
            self._free_parameter(parameter)
        self.own_copies(self.frame, function, closure)
        with suppress(Stop):
            self.run_statement(function.body)
        self.frame, self.statement = caller, statement
        self.state = before
        self.escape(place.variable for place in self.reachable(closure))


def _named_in(node: Node) -> Iterator[Declaration]:
    """The variables that code names."""
    if node.op == "ref":
        yield node.value
    for part in node.args:
        if part is not None:
            yield from _named_in(part)


def closures_in(value: Value) -> list[Closure]:
    """The lambdas that a value is or consists of."""
    found: list[Closure] = []
    stack = [value]
    while stack:
        top = stack.pop()
        if isinstance(top, Closure):
            found.append(top)
        elif isinstance(top, Record):
            stack.extend(top.parts.values())
        elif isinstance(top, Choice):
            stack += [top.first, top.second]
    return found


def _bound_names(name: str) -> list[str]:
    """The names that a structured binding ``[a, b]`` gives to parts of its object."""
    return name.strip("[]").split(", ") if name.startswith("[") else []
