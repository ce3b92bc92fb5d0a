"""Symbolic execution of host functions: every statement once, every launch recorded with what holds there.

Takes function trees, gives :class:`RawLaunch` records. Both sides of a branch are run and joined; a loop is run once
from a state in which everything it writes is arbitrary, so that the one run stands for every iteration; facts are
learnt about values, and a path that cannot go on (return, throw, exit) leaves its negated condition behind.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from analyzers.frontend.cindex import Cursor, CursorKind, Type
from analyzers.hostguide.asserted import LostCode, asserted, in_scope
from analyzers.hostguide.assumptions import parse_condition
from analyzers.hostguide.build import TreeBuilder
from analyzers.hostguide.calls import Caller
from analyzers.hostguide.evaluate import Exits, Frame, is_expression
from analyzers.hostguide.hosttypes import OTHER, HostType, PointerTo, RecordType, ReferenceTo
from analyzers.hostguide.loops import Path, Writes, counter_facts, step_of, writes_of
from analyzers.hostguide.memory import Stop, alternatives
from analyzers.hostguide.source import extent
from analyzers.hostguide.tree import ANY_PART, Declaration, HostFunction, Node
from analyzers.hostguide.values import (
    Address,
    Closure,
    FactLink,
    FunctionValue,
    NoteSource,
    Null,
    Pointer,
    Record,
    State,
    Value,
    Variable,
)
from analyzers.ir import expr as ex
from analyzers.ir.expr import FALSE, I64, TRUE, Expr, IntType
from analyzers.model import FactNote


@dataclass(frozen=True, slots=True)
class RawLaunch:
    """One launch on one symbolic path, before it is cut to what matters."""

    kernel: Any
    """Cursor of the kernel instance."""
    guard: Expr
    """Under which a kernel chosen at run time is this one."""
    grid: Value
    block: Value
    shared: Expr
    arguments: tuple[Value, ...]
    texts: tuple[Node | None, ...]
    """The argument expressions, for notes."""
    facts: FactLink | None
    node: Node
    calls: tuple[Node, ...]
    cooperative: bool
    assumptions: tuple[str, ...] = ()


class Executor(Caller):
    """Runs functions and collects launches."""

    def __init__(self, builder: TreeBuilder) -> None:
        super().__init__(builder)
        self.launches: list[RawLaunch] = []
        self.unresolved: list[tuple[Node, str]] = []
        """Launches whose kernel, or part of a finite set of kernels, could not be told, and why."""
        self.rewritten: set[int] = set()
        """Pointers that hold whatever the iterations before have left there."""
        self.notes: dict[NoteSource, FactNote] = {}
        """Texts of facts that contexts already cite."""
        self._destructors: dict[str, bool] = {}
        self._effects: dict[int, Writes] = {}
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
        self.ran.add(function.name)
        self.statement = None
        for parameter in function.parameters:
            self._free_parameter(parameter)
        try:
            for _, _, value in function.initialisers:
                self.evaluate(value)
            self.run_statement(function.body)
        except Stop:
            pass

    def _free_parameter(self, parameter: Declaration) -> None:
        if isinstance(parameter.ty, ReferenceTo):
            outer = Variable(parameter.name, parameter.ty.target, True)
            self.declare(parameter, Address(outer))
        else:
            self.declare(parameter, self.fresh(parameter.name, parameter.ty))

    # --- statements

    def run_statement(self, node: Node) -> None:
        rule = self._kinds.get(node.op)
        if rule is not None:
            rule(node)
            return
        if is_expression(node):
            before, self.statement = self.statement, node
            self.evaluate(node)
            self.statement = before

    def _block(self, node: Node) -> None:
        outer = len(self.frame.guards)
        try:
            self._statements_of(node)
            self._destroy(self.frame.guards[outer:])
        finally:
            del self.frame.guards[outer:]

    def _destroy(self, guards: list[Variable]) -> None:
        """Objects go out of scope: their destructors may write what they can reach."""
        for variable in guards:
            held = self.state.store.get(variable)
            for place in self.reachable(held) if held is not None else ():
                self.forget(place)
        if guards:
            self.forget_outside()

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
        for declared, variable in self.frame.variables.items():
            held = self.state.store.get(variable)
            fixed = isinstance(declared.ty, ReferenceTo) and isinstance(held, Address)
            store[variable] = held if fixed and held is not None else self.fresh(declared.name, declared.ty)
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
        if declared.storage == "static" and not declared.const:
            pass  # keeps its value from call to call
        elif isinstance(declared.ty, ReferenceTo):
            self.declare(declared, self._bound_reference(declared, value))
        elif value is not None:
            made = self.evaluate(value)
            self.declare(declared, self._named(self.converted(made, declared.ty), declared))
        else:
            self.declare(declared, self.fresh(declared.name, declared.ty))
        if isinstance(declared.ty, RecordType) and declared.storage == "local" and self.destroys(declared.cursor.type):
            self.frame.guards.append(self.variable(declared))
        self.statement = before

    def destroys(self, ty: Type) -> bool:
        """Whether a class of the unit has a destructor that somebody wrote, in itself or in a member."""
        canonical = ty.get_canonical()
        name = canonical.spelling
        found = self._destructors.get(name)
        if found is None:
            self._destructors[name] = False
            found = self._destructors[name] = self._has_destructor(canonical.get_declaration())
        return found

    def _has_destructor(self, declaration: Cursor) -> bool:
        if self.bundled(declaration):
            return False
        for child in declaration.get_children():
            if child.kind == CursorKind.DESTRUCTOR:
                return True
            if child.kind in (CursorKind.FIELD_DECL, CursorKind.CXX_BASE_SPECIFIER) and self.destroys(child.type):
                return True
        return False

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
        temporary = Variable(
            declared.name, declared.ty.target, outside=value.op in ("call", "method", "index", "deref")
        )
        self.state.store[temporary] = held
        return Address(temporary)

    def _if(self, node: Node) -> None:
        before, self.statement = self.statement, node.arg(0)
        condition = self.condition(node.arg(0))
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
        if around is not None and around.kind == "once":
            self._destroy(self.frame.guards)
            around.states.append((self.state, None))
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

    def _forget_names(self, names: frozenset[str] | set[str]) -> None:
        frame: Frame | None = self.frame
        while frame is not None:
            for declared, variable in list(frame.variables.items()):
                if declared.name in names:
                    held = self.state.store.get(variable)
                    if isinstance(declared.ty, ReferenceTo) and isinstance(held, Address):
                        self.forget(held)
                        self.escape((held.variable,))
                    else:
                        self.forget(Address(variable))
                        self.escape((variable,))
            frame = frame.enclosing.frame if frame.enclosing is not None else None

    def run_unknown(self, node: Node) -> None:
        """A construct without a meaning here: its parts may run any number of times, in any order."""
        self._forget_writes(self.effects_of(node))
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
        self._forget_writes(self.effects_of(node))

    # --- loops

    def effects_of(self, node: Node) -> Writes:
        found = self._effects.get(id(node))
        if found is None:
            found = self._effects[id(node)] = writes_of(self, node)
        return found

    def _forget_writes(self, writes: Writes) -> None:
        for (declared, path), ty in writes.places.items():
            self._forget_place(declared, path, ty)
        if writes.calls_closures:
            self._forget_closures()
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

    def _forget_place(self, declared: Declaration, path: Path, ty: HostType) -> None:
        variable = self.find(declared)
        if variable is None:
            return
        held = self.state.store.get(variable)
        if isinstance(declared.ty, ReferenceTo):
            if isinstance(held, Address):
                full = Address(held.variable, (*held.path, *path))
                self.write(full, self.fresh(declared.name, ty))
            else:
                self.forget_outside()
            return
        if held is None and not variable.outside:
            return
        name = declared.name + "".join(f".{p}" for p in path)
        value = self.fresh(name, ty)
        if isinstance(value, Pointer):
            self.rewritten.add(value.id)
        self.write(Address(variable, path), value)

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

    def _loop(
        self, node: Node, condition: Node | None, body: Node, step: Node | None, tested_first: bool = True
    ) -> None:
        writes = self.effects_of(node)
        counters = self._counters(writes)
        bound = self._bound(condition) if condition is not None else None
        self._forget_writes(writes)
        self._learn_counters(node, counters, condition, bound, step)
        holds: Expr = TRUE
        if condition is not None and tested_first:
            holds = self.condition(condition)
        head = self.state
        exits = Exits("loop")
        self.frame.exits.append(exits)
        self.state = head.copy()
        try:
            self.learn(holds, NoteSource("loop-bound", node.cursor, "loop"))
            self.run_statement(body)
            if condition is not None and not tested_first:
                self.condition(condition)
            if step is not None:
                self.run_statement(step)
        except Stop:
            pass
        finally:
            self.frame.exits.pop()
        broken = bool(node.value) or writes.leaves_early or bool(writes.lost)
        self._leave(node, head.copy(), condition if not tested_first else None, holds, exits, broken)

    def _leave(
        self,
        node: Node,
        leaving: State,
        last_test: Node | None,
        holds: Expr,
        exits: Exits,
        broken: bool,
    ) -> None:
        """After the loop: its test has failed, or something broke out of it. ``leaving``: the state at the test."""
        ends: list[tuple[State, Value | None]] = []
        self.state = leaving
        try:
            if last_test is not None:
                holds = self.condition(last_test)
            if not broken:
                self.learn(ex.lnot(holds), NoteSource("loop-bound", node.cursor, "exit"))
            ends.append((self.state, None))
        except Stop:
            pass
        ends += exits.states
        joined = self.join_all(ends)
        if joined is None:
            raise Stop
        self.state = joined[0]

    def _counters(self, writes: Writes) -> list[tuple[Declaration, Expr, list[Node]]]:
        """Integer variables that the loop only steps, with their values on entry."""
        found: list[tuple[Declaration, Expr, list[Node]]] = []
        for declared, steps in writes.steps.items():
            if not steps or declared.storage not in ("local", "parameter") or declared.name in writes.lost:
                continue
            variable = self.find(declared)
            if variable is None or variable in self.state.escaped or not isinstance(declared.ty, IntType):
                continue
            held = self.state.store.get(variable)
            if isinstance(held, Expr):
                found.append((declared, held, steps))
        return found

    def _bound(self, condition: Node) -> Expr | None:
        """What the counter is compared with, on entry."""
        if condition.op != "binary" or condition.value not in ("<", "<=", ">", ">=", "!=") or condition.arg(1).effects:
            return None
        value = self.evaluate(condition.arg(1))
        return value if isinstance(value, Expr) and isinstance(value.ty, IntType) else None

    def _learn_counters(
        self,
        node: Node,
        counters: list[tuple[Declaration, Expr, list[Node]]],
        condition: Node | None,
        bound: Expr | None,
        step: Node | None,
    ) -> None:
        note = NoteSource("loop-bound", node.cursor, "loop")
        for declared, first, writers in counters:
            steps = [step_of(w, declared) for w in writers]
            variable = self.find(declared)
            now = self.state.store.get(variable) if variable is not None else None
            if any(s is None for s in steps) or not isinstance(now, Expr) or now.op != "sym":
                continue
            single = len(writers) == 1 and writers[0] is step
            below, above = None, False
            if condition is not None and bound is not None and _tests(condition, declared):
                same = self._bound(condition)
                if same is bound and bound.ty == now.ty:
                    below = bound if condition.value == "<" else None
                    above = bound.op == "const" and bound.value >= 0 and condition.value == ">"
            for fact in counter_facts(first, now, [s for s in steps if s is not None], below, single, above):
                self.learn(fact, note)

    def _for(self, node: Node) -> None:
        init, condition, step, body = node.args
        if init is not None:
            self.run_statement(init)
        assert body is not None
        self._loop(node, condition, body, step)

    def _while(self, node: Node) -> None:
        self._loop(node, node.arg(0), node.arg(1), None)

    def _do(self, node: Node) -> None:
        test = node.arg(1)
        if test.op in ("const", "cast") and not node.value and self.condition(test) is FALSE:
            self._once(node.arg(0))
            return
        self._loop(node, node.arg(1), node.arg(0), None, tested_first=False)

    def _once(self, body: Node) -> None:
        """``do { … } while (0)``, the shape of a macro."""
        exits = Exits("once")
        self.frame.exits.append(exits)
        try:
            self.run_statement(body)
            exits.states.append((self.state, None))
        except Stop:
            pass
        finally:
            self.frame.exits.pop()
        joined = self.join_all(exits.states)
        if joined is None:
            raise Stop
        self.state = joined[0]

    def _each(self, node: Node) -> None:
        declared: Declaration = node.value
        self.evaluate(node.arg(0))
        writes = self.effects_of(node)
        self._forget_writes(writes)
        head = self.state
        exits = Exits("loop")
        self.frame.exits.append(exits)
        self.state = head.copy()
        try:
            if isinstance(declared.ty, ReferenceTo):
                self._free_parameter(declared)
            else:
                self.declare(declared, self.fresh(declared.name, declared.ty))
            self.run_statement(node.arg(1))
        except Stop:
            pass
        finally:
            self.frame.exits.pop()
        joined = self.join_all([(head, None), *exits.states])
        assert joined is not None
        self.state = joined[0]

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
        with suppress(Stop):
            self.run_statement(function.body)
        self.frame, self.statement = caller, statement
        self.state = before
        writes = self.effects_of(function.body)
        captured = [self.find(declared) for declared, _ in writes.places]
        self.escape(v for v in captured if v is not None)

    # --- switch and try

    def _switch(self, node: Node) -> None:
        body = node.arg(1)
        if any(_has_case(p) for p in body.args if p is not None and p.op not in ("case", "default")):
            self.run_unknown(node)
            return
        subject = self.evaluate(node.arg(0))
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
            self._forget_writes(self.effects_of(body))
            try:
                self.run_statement(handler)
                ends.append((self.state, None))
            except Stop:
                continue
        joined = self.join_all(ends)
        if joined is None:
            raise Stop
        self.state = joined[0]

    # --- launches

    def launch(self, node: Node) -> Value:
        arguments = [a for a in node.args[4:] if a is not None]
        values = tuple(self.evaluate(a) for a in arguments)
        grid, block = self.evaluate(node.arg(1)), self.evaluate(node.arg(2))
        shared = self.integer(node.arg(3), I64)
        kernel = self.evaluate(node.arg(0))
        self.record(node, kernel, grid, block, shared, values, tuple(arguments), False)
        return self.fresh("launch", node.ty)

    def launch_call(self, node: Node, name: str, arguments: tuple[Node, ...]) -> Value:
        cooperative = name == "cudaLaunchCooperativeKernel"
        if name in ("cudaLaunchKernelEx", "cudaLaunchKernelExC"):
            self._launch_extensible(node, name, arguments)
        elif len(arguments) < 4:
            self.unresolved.append((node, "too few arguments"))
        else:
            kernel = self.evaluate(arguments[0])
            grid, block = self.evaluate(arguments[1]), self.evaluate(arguments[2])
            shared = self.integer(arguments[4], I64) if len(arguments) > 4 else ex.const(0, I64)
            self._launch_pointers(node, kernel, grid, block, shared, self.evaluate(arguments[3]), cooperative)
        return self.fresh("status", node.ty)

    def _launch_extensible(self, node: Node, name: str, arguments: tuple[Node, ...]) -> None:
        if len(arguments) < 2:
            self.unresolved.append((node, "too few arguments"))
            return
        configuration = self.pointee(self.evaluate(arguments[0]))
        kernel = self.evaluate(arguments[1])
        held = self.read(configuration, self._pointed(arguments[0])) if configuration is not None else None
        if held is None:
            held = self.fresh("configuration", self._pointed(arguments[0]))
        u32 = IntType(32, False)
        grid, block = (self.part(held, f, u32, f) for f in ("gridDim", "blockDim"))
        shared = self.to_int(self.part(held, "dynamicSmemBytes", IntType(64, False), "shared"), I64, "shared")
        cooperative = self._asks_cooperation(node)
        if name == "cudaLaunchKernelExC":
            values = self.evaluate(arguments[2]) if len(arguments) > 2 else Null()
            self._launch_pointers(node, kernel, grid, block, shared, values, cooperative)
        else:
            rest = arguments[2:]
            converted = tuple(self.evaluate(a) for a in rest)
            self.record(node, kernel, grid, block, shared, converted, rest, cooperative)

    def _pointed(self, node: Node) -> HostType:
        return node.ty.target if isinstance(node.ty, PointerTo) else node.ty

    def _asks_cooperation(self, node: Node) -> bool:
        """Whether the function around the launch sets the cooperative attribute."""
        function = self.frame.function
        if function is None:
            return False
        path, start, end = extent(function.cursor)
        return "cudaLaunchAttributeCooperative" in self.builder.sources.words(path, start, end)

    def _launch_pointers(
        self, node: Node, kernel: Value, grid: Value, block: Value, shared: Expr, array: Value, cooperative: bool
    ) -> None:
        """A launch that gets an array of pointers to its arguments."""
        counts = [
            len(list(k.cursor.type.argument_types())) for _, k in alternatives(kernel) if isinstance(k, FunctionValue)
        ]
        count = max(counts, default=0)
        values: list[Value] = []
        for index in range(count):
            value: Value | None = None
            if isinstance(array, Address) and array.path and isinstance(array.path[-1], int):
                slot = Address(array.variable, (*array.path[:-1], array.path[-1] + index))
                pointer = self.read(slot, PointerTo(IntType(8, False), 1, False))
                target = self.pointee(pointer)
                if target is not None and ANY_PART not in target.path:
                    value = self.read(target, target.variable.ty) if not target.path else self._known_part(target)
            values.append(value if value is not None else self.fresh(f"argument{index}", OTHER))
        self.record(node, kernel, grid, block, shared, tuple(values), tuple([None] * count), cooperative)

    def _known_part(self, target: Address) -> Value | None:
        """A member whose value was written; the type of any other is not known here."""
        held = self.state.store.get(target.variable)
        if isinstance(held, Record) and len(target.path) == 1:
            return held.parts.get(target.path[0])
        return None

    def record(
        self,
        node: Node,
        kernel: Value,
        grid: Value,
        block: Value,
        shared: Expr,
        values: tuple[Value, ...],
        texts: tuple[Node | None, ...],
        cooperative: bool,
    ) -> None:
        calls: list[Node] = []
        frame: Frame | None = self.frame
        while frame is not None:
            if frame.call is not None:
                calls.append(frame.call)
            frame = frame.caller
        for guard, leaf in alternatives(kernel):
            if isinstance(leaf, Null):
                continue
            if not isinstance(leaf, FunctionValue):
                self.unresolved.append((node, "its kernel is not known"))
                continue
            self.launches.append(
                RawLaunch(
                    leaf.cursor, guard, grid, block, shared, values, texts, self.state.facts, node,
                    tuple(reversed(calls)), cooperative,
                )
            )  # fmt: skip


def _tests(condition: Node, declared: Declaration) -> bool:
    left = condition.arg(0)
    return left.op == "ref" and left.value is declared


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
