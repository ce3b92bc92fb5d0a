"""Symbolic execution of host functions: every statement once, every launch recorded with what holds there.

Takes function trees, gives :class:`RawLaunch` records. Both sides of a branch are run and joined; a loop is run once
from a state in which everything it writes is arbitrary, so that the one run stands for every iteration; facts are
learnt about values, and a path that cannot go on (return, throw, exit) leaves its negated condition behind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from analyzers.frontend.cindex import Cursor, initializer
from analyzers.hostguide.asserted import LostCode, asserted, in_scope
from analyzers.hostguide.assumptions import parse_condition
from analyzers.hostguide.build import TreeBuilder
from analyzers.hostguide.build_expressions import names_object
from analyzers.hostguide.evaluate import is_expression
from analyzers.hostguide.hosttypes import PointerTo, ReferenceTo
from analyzers.hostguide.iterate import LoopRunner
from analyzers.hostguide.memory import Stop
from analyzers.hostguide.pitched import RowPitch
from analyzers.hostguide.places import Exits, Frame
from analyzers.hostguide.specials import NOTHING, UNSEEN, Run
from analyzers.hostguide.tree import Declaration, HostFunction, Node
from analyzers.hostguide.values import (
    Address,
    NoteSource,
    Pointer,
    Record,
    State,
    Unknown,
    Value,
    Variable,
)
from analyzers.ir import expr as ex
from analyzers.ir.expr import TRUE, Expr, IntType


class Executor(LoopRunner):
    """Runs functions and collects launches."""

    def __init__(self, builder: TreeBuilder) -> None:
        super().__init__(builder)
        self.row_pitches: Callable[[], Sequence[RowPitch]] = tuple
        """What holds between members of matrices with padded rows; asked for only where such members are at hand."""
        self._kinds: dict[str, Callable[[Node], None]] = {
            "block": self._block,
            "declare": self._declare,
            "if": self._if,
            "for": self._for,
            "while": self._while,
            "do": self._do,
            "each": self._each,
            "switch": self._switch,
            "break": self._break,
            "continue": self._continue,
            "goto": self._jump,
            "return": self._return,
            "label": self._label,
            "try": self._try,
            "lost": self._lost,
            "empty": self._empty,
        }

    def run_root(self, function: HostFunction) -> None:
        """Run a function that may be called with anything, in any state."""
        self.state = State({}, None, frozenset(), self.next_epoch())
        self.frame = Frame(function, None)
        self.runs_now(function)
        self.taken = {}
        self.statement = None
        for parameter in function.parameters:
            self._free_parameter(parameter)
        try:
            for value in (*function.bases, *(given for _, _, given in function.initialisers)):
                self.elide(value)
                self.evaluate(value)
            self.run_statement(function.body)
        except Stop:
            pass
        for _, value in self.frame.returns:
            if value is not None:
                self.given(value)

    def run_initialiser(self, variable: Cursor) -> None:
        """Evaluate what makes a global variable: for what that launches, and for the functions that it holds."""
        given = initializer(variable)
        if given is None:
            return
        self.state = State({}, None, frozenset(), self.next_epoch())
        self.frame = Frame(None, None)
        with suppress(Stop):
            value = self.evaluate(self.builder.expression(given))
            self.unfollowed(value)
            if variable.linkage.name == "EXTERNAL":
                self.given(value)

    def run_statement(self, node: Node) -> None:
        self.steps += 1
        self.frame.pending.clear()
        rule = self._kinds.get(node.op)
        if rule is not None:
            rule(node)
        elif is_expression(node):
            before, self.statement = self.statement, node
            self.evaluate(node)
            self.statement = before
        self.end_expression()

    def _block(self, node: Node) -> None:
        outer = len(self.frame.guards)
        try:
            self._statements_of(node)
            self._destroy(self.frame.guards[outer:])
        finally:
            del self.frame.guards[outer:]

    def _destroy(self, guards: list[tuple[Variable, Run]]) -> None:
        """Objects go out of scope, the last one first."""
        self.end_expression()
        for variable, run in reversed(guards):
            held = self.state.store.get(variable)
            self.run_implied(run, (held,) if held is not None else ())

    def _statements_of(self, node: Node) -> None:
        parts = [p for p in node.args if p is not None]
        index = 0
        while index < len(parts):
            try:
                self.run_statement(parts[index])
            except Stop:
                ahead = next((i for i in range(index + 1, len(parts)) if _has_label(parts[i])), None)
                if ahead is None:
                    raise
                self._at_label()
                index = ahead
                continue
            index += 1

    def _at_label(self) -> None:
        """Control may come here from anywhere in the function: nothing is known but the types."""
        store: dict[Variable, Value] = {}
        before = [self.state.store[v] for v in self.frame.variables.values() if v in self.state.store]
        for declared, variable in self.frame.variables.items():
            held = self.state.store.get(variable)
            fixed = isinstance(declared.ty, ReferenceTo) and isinstance(held, Address)
            new = held if fixed and held is not None else self.fresh(declared.name, declared.ty)
            if isinstance(new, (Pointer, Unknown)):
                self.origins[new.id] = frozenset(p for v in before for p in self.pointers_in(v))
            store[variable] = new
        for variable, value in self.state.store.items():
            if variable not in store and not variable.outside:
                store[variable] = self.fresh(variable.name, variable.ty) if not isinstance(value, Address) else value
        escaped = self.state.escaped | frozenset(store)
        self.state = State(store, None, escaped, self.next_epoch())
        self.shapes += 1

    def _label(self, node: Node) -> None:
        self._at_label()
        for part in node.args:
            if part is not None:
                self.run_statement(part)

    def _declare(self, node: Node) -> None:
        declared: Declaration = node.value
        before, self.statement = self.statement, node
        value = node.args[0]
        self.elide(value)
        if declared.storage == "static":
            self._initialised_once(value)
        elif declared.storage == "global":
            pass  # declared again
        elif isinstance(declared.ty, ReferenceTo):
            self.declare(declared, self._bound_reference(declared, value))
        elif value is not None:
            made = self._named(self.converted(self.evaluate(value), declared.ty), declared)
            told = self.told.pop(id(value), None)
            if told is None:
                self.declare(declared, made)
            else:
                told.name = declared.name
                self.frame.variables[declared] = told
        else:
            self.declare(declared, self.fresh(declared.name, declared.ty))
        if self.builder.takes_apart(declared):
            self.escape(self.named_in(value) if value is not None else ())
            self.run_implied(UNSEEN)
        if declared.storage == "local" and self.tells_itself(declared, value):
            self.escape((self.variable(declared),))
        self.end_expression()
        lives = not isinstance(declared.ty, ReferenceTo) or (value is not None and not names_object(value.cursor))
        dies = self.destroyed_with(declared) if declared.storage == "local" and lives else NOTHING
        if dies:
            self.frame.guards.append((self.variable(declared), dies))
        self.statement = before

    def _initialised_once(self, value: Node | None) -> None:
        """A static variable keeps its value from call to call; the first one initialises it."""
        if value is None or not value.effects:
            return
        untouched = self.state.copy()
        ends: list[tuple[State, Value | None]] = [(untouched, None)]
        with suppress(Stop):
            self.evaluate(value)
            self.end_expression()
            ends.append((self.state, None))
        joined = self.join_all(ends)
        assert joined is not None
        self.state = joined[0]

    def _named(self, value: Value, declared: Declaration) -> Value:
        """An allocation or unknown pointer takes the name of the first variable that holds it."""
        if isinstance(value, Pointer) and value.name in ("new", "malloc", "pointer", "value"):
            return Pointer(value.id, declared.name, value.offset, value.size)
        return value

    def _bound_reference(self, declared: Declaration, value: Node | None) -> Value:
        assert isinstance(declared.ty, ReferenceTo)
        if value is None:
            return self.fresh(declared.name, declared.ty.target)
        place = self.place(value)
        if place is not None:
            return place
        held = self.evaluate(value)
        temporary = Variable(declared.name, declared.ty.target, outside=self.may_refer(value))
        self.state.store[temporary] = held
        return Address(temporary)

    def _if(self, node: Node) -> None:
        before, self.statement = self.statement, node.arg(0)
        condition = self.condition(node.arg(0))
        self.end_expression()
        self.statement = before
        then, orelse = node.arg(1), node.args[2]

        def run_then() -> None:
            self.run_statement(then)

        def run_else() -> None:
            if orelse is not None:
                self.run_statement(orelse)

        self._fork(condition, node, run_then, run_else)

    def _fork(self, condition: Expr, node: Node, then: Any, orelse: Any) -> None:
        yes, no = NoteSource("assert", node.cursor, "if"), NoteSource("assert", node.cursor, "else")
        before = self.state
        ends: list[tuple[State, Value | None]] = []
        for side, holds, note in ((then, condition, yes), (orelse, ex.lnot(condition), no)):
            self.state = before.copy()
            try:
                self.learn(holds, note)
                side()
                ends.append((self.state, None))
            except Stop:
                continue
        joined = self.join_all(ends)
        if joined is None:
            raise Stop
        self.state = joined[0]

    def _return(self, node: Node) -> None:
        value = None
        if node.args and node.args[0] is not None:
            returned = node.args[0]
            if isinstance(self.frame.result, ReferenceTo):
                value = self.place(returned)
                if value is None:
                    value = self.fresh("reference", PointerTo(self.frame.result.target, None, False))
            else:
                self.elide(returned)
                value = self.converted(self.evaluate(returned), self.frame.result)
        self._destroy(self.frame.guards)
        self.frame.returns.append((self.state, value))
        raise Stop

    def _break(self, _node: Node) -> None:
        if self.frame.exits:
            self._destroy(self.frame.guards)
            self.frame.exits[-1].states.append((self.state, None))
        raise Stop

    def _continue(self, _node: Node) -> None:
        around = next((e for e in reversed(self.frame.exits) if e.kind != "switch"), None)
        if around is not None:
            self._destroy(self.frame.guards)
            if around.kind == "once":
                around.states.append((self.state, None))
            else:
                around.continued.append(self.state)
        raise Stop

    def _empty(self, node: Node) -> None:
        pass

    def _jump(self, _node: Node) -> None:
        raise Stop

    def _lost(self, node: Node) -> None:
        """Code that clang could not read: whatever it names may have been written, or its address taken."""
        lost: LostCode = node.value
        condition = self._asserted(lost)
        if condition is not None:
            self.learn(condition, NoteSource("assert", node.cursor, "text", (lost.path, lost.start, lost.end)))
            return
        for name in sorted(self.by_value & lost.words):
            self.in_lost.setdefault(name, node.cursor.location.line)
        self._forget_names(lost.words)
        self.forget_outside()
        self.shapes += 1

    def _asserted(self, lost: LostCode) -> Expr | None:
        """What a lost assertion says about variables that are in scope, None where it cannot be understood."""
        text = self.builder.sources.text(lost.path)
        condition = asserted(text[lost.start : lost.end])
        if condition is None:
            return None

        def meaning(name: str) -> Expr:
            found = self._named_value(name, text, lost.start)
            if found is None:
                raise ValueError(name)
            return found

        try:
            return parse_condition(condition, meaning)
        except ValueError:
            return None

    def _named_value(self, name: str, text: bytes, at: int) -> Expr | None:
        first, *fields = name.split(".")
        declared = [
            d
            for d in self.frame.variables
            if d.name == first and (d.storage == "parameter" or in_scope(text, d.cursor.location.offset, at))
        ]
        if not declared:
            return None
        place = self.place_of(declared[-1])  # of shadowing declarations the innermost comes last
        if place is None:
            return None
        held = self.state.store.get(place.variable)
        for field in (*place.path, *fields):
            if not isinstance(held, Record):
                return None
            held = held.parts.get(field)
        return held if isinstance(held, Expr) and isinstance(held.ty, IntType) else None

    def _switch(self, node: Node) -> None:
        body = node.arg(1)
        if any(_has_case(p) for p in body.args if p is not None and p.op not in ("case", "default")):
            self.run_unknown(node)
            return
        subject = self.evaluate(node.arg(0))
        self.end_expression()
        entry = self.state
        exits = Exits("switch")
        self.frame.exits.append(exits)
        labels = _labels(body)
        values = [self._case_test(subject, label) for label in labels]
        rest = entry.copy()
        running: State | None = None
        has_default = any(label.op == "default" for label in labels)
        try:
            for part in body.args:
                if part is None:
                    continue
                inner: Node | None = part
                while inner is not None and inner.op in ("case", "default"):
                    rest, arrived = self._enter_case(inner, labels, values, rest, entry)
                    running = self._met(running, arrived)
                    inner = inner.args[-1]
                if running is None or inner is None:
                    continue
                self.state = running
                try:
                    self.run_statement(inner)
                    running = self.state
                except Stop:
                    running = None
        finally:
            self.frame.exits.pop()
        ends = list(exits.states)
        if running is not None:
            ends.append((running, None))
        if not has_default:
            ends.append((rest, None))
        joined = self.join_all(ends)
        if joined is None:
            raise Stop
        self.state = joined[0]

    def _case_test(self, subject: Value, label: Node) -> Expr:
        if label.op == "default":
            return TRUE
        return self.compared("eq", subject, self.evaluate(label.arg(0)))

    def _enter_case(
        self, label: Node, labels: list[Node], tests: list[Expr], rest: State, entry: State
    ) -> tuple[State, State | None]:
        """(the state in which no label so far was meant, the state at this label)."""
        note = NoteSource("assert", label.cursor, "case")
        if label.op == "default":
            self.state = entry.copy()
            try:
                for other, test in zip(labels, tests, strict=True):
                    if other.op != "default":
                        self.learn(ex.lnot(test), note)
            except Stop:
                return rest, None
            return rest, self.state
        test = tests[labels.index(label)]
        arrived: State | None = rest.copy()
        self.state = rest.copy()
        try:
            self.learn(test, note)
            arrived = self.state
        except Stop:
            arrived = None
        self.state = rest
        # Where every value has had its label the state stays usable, for labels that cannot be reached.
        with suppress(Stop):
            self.learn(ex.lnot(test), note)
        return self.state, arrived

    def _met(self, running: State | None, arrived: State | None) -> State | None:
        if running is None or arrived is None:
            return running if arrived is None else arrived
        return self.join(running, arrived)[0]

    def _try(self, node: Node) -> None:
        body, handlers = node.arg(0), [a for a in node.args[1:] if a is not None]
        before = self.state.copy()
        ends: list[tuple[State, Value | None]] = []
        try:
            self.run_statement(body)
            ends.append((self.state, None))
        except Stop:
            pass
        for handler in handlers:
            self.state = before.copy()
            writes = self.effects_of(body)
            self._forget_writes(writes, mixed=True)
            # What is thrown may refer to variables that the body gave away.
            found = [self.find(declared) for declared, _ in writes.places if writes.steps.get(declared) is None]
            self.escape(variable for variable in found if variable is not None)
            try:
                self.run_statement(handler)
                ends.append((self.state, None))
            except Stop:
                continue
        joined = self.join_all(ends)
        if joined is None:
            raise Stop
        self.state = joined[0]


def _has_label(node: Node) -> bool:
    return node.op == "label" or any(_has_label(a) for a in node.args if a is not None and a.effects)


def _has_case(node: Node) -> bool:
    if node.op in ("case", "default"):
        return True
    if node.op == "switch":
        return False
    return any(_has_case(a) for a in node.args if a is not None and a.effects)


def _labels(body: Node) -> list[Node]:
    found: list[Node] = []
    for part in body.args:
        while part is not None and part.op in ("case", "default"):
            found.append(part)
            part = part.args[-1]
    return found
