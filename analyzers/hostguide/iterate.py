"""Host loops, run once from a state in which everything they write is arbitrary."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field

from analyzers.hostguide.forgetting import Forgetter
from analyzers.hostguide.hosttypes import ArrayOf, HostType, PointerTo, ReferenceTo
from analyzers.hostguide.loops import Step, Writes, counter_facts, made_once, only_twos, says_even, step_of
from analyzers.hostguide.memory import Stop
from analyzers.hostguide.places import Exits
from analyzers.hostguide.tree import ANY_PART, Declaration, Node
from analyzers.hostguide.values import (
    Address,
    Choice,
    Key,
    LoopHead,
    NoteSource,
    Pointer,
    Record,
    State,
    Unknown,
    Value,
)
from analyzers.ir import expr as ex
from analyzers.ir.expr import FALSE, I64, TRUE, Expr, FloatType, IntType

_MOST_ENDS = 8
"""Ways through one iteration that are told apart."""


@dataclass(slots=True)
class _Carried:
    head: LoopHead
    slots: list[tuple[Key, Address, HostType]]
    before: State
    epoch: int
    containers: list[tuple[Address, HostType, Unknown]] = field(default_factory=list[tuple[Address, HostType, Unknown]])
    """Arrays and objects that the loop writes into."""


class LoopRunner(Forgetter):
    """Loops: one run stands for every iteration."""

    def _loop(
        self, node: Node, condition: Node | None, body: Node, step: Node | None, tested_first: bool = True
    ) -> None:
        writes = self.effects_of(node, condition, body, step)
        counters = self._counters(writes)
        bound = self._bound(condition) if condition is not None else None
        carried = self._carry(writes)
        self._learn_counters(node, counters, condition, bound, step)
        holds: Expr = TRUE
        if condition is not None and tested_first:
            holds = self._test(condition)
            if not writes.leaves_early:
                self._learn_factors(node, counters, holds, body, step)
        head = self.state
        exits = Exits("loop")
        self.frame.exits.append(exits)
        outer, self.innermost = self.innermost, carried.head.first
        self.state = head.copy()
        try:
            self.learn(holds, NoteSource("loop-bound", node.cursor, "loop"))
            self.run_statement(body)
            exits.continued.append(self.state)
        except Stop:
            pass
        for state in exits.continued:
            self.state = state
            with suppress(Stop):
                if condition is not None and not tested_first:
                    self._test(condition)
                if step is not None:
                    self.run_statement(step)
                self._come_round(carried)
        self.frame.exits.pop()
        self.innermost = outer
        broken = bool(node.value) or writes.leaves_early or bool(writes.lost)
        carried.head.broken = broken or len(exits.continued) > _MOST_ENDS
        self._leave(node, head.copy(), condition if not tested_first else None, holds, exits, broken)

    def _carry(self, writes: Writes) -> _Carried:
        """Forget what a loop writes, and note what it held on entry."""
        found: list[tuple[Address, HostType, Value]] = []
        for (declared, path), ty in writes.places.items():
            variable = self.find(declared)
            if variable is None or ANY_PART in path or isinstance(ty, FloatType):
                continue
            place = Address(variable, path)
            held = self.state.store.get(variable)
            if isinstance(declared.ty, ReferenceTo):
                if not isinstance(held, Address):
                    continue
                place = Address(held.variable, (*held.path, *path))
            elif held is None and not variable.outside:
                continue
            entry = self.read(place, ty)
            if not isinstance(entry, Expr) or entry.op == "const":
                found.append((place, ty, entry))
        before = self.state.copy()
        head = LoopHead(self.number("loop"))
        self._forget_writes(writes)
        carried = _Carried(head, [], before, self.state.epoch)
        for place, ty, entry in found:
            now = self.read(place, ty)
            if isinstance(now, Unknown):
                carried.containers.append((place, ty, now))
            key = now.id if isinstance(now, Pointer) else now if isinstance(now, Expr) and now.op == "sym" else None
            if key is not None and key not in self.head_of:
                carried.head.entry[key] = entry
                self.head_of[key] = carried.head
                carried.slots.append((key, place, ty))
        return carried

    def _come_round(self, carried: _Carried) -> None:
        """The end of an iteration."""
        head = carried.head
        for place, ty, start in carried.containers:
            held = self.read(place, ty)
            if held is not start:
                self.grown(start, held, head)
        values: dict[Key, Value] = {key: self.read(place, ty) for key, place, ty in carried.slots}
        for variable, held in list(self.state.store.items()):
            start = self.known_initial(variable, carried.epoch) if variable.outside else None
            if start is None:
                continue
            then = carried.before.store.get(variable)
            then = then if then is not None else self.initial(variable, carried.before.epoch)
            if isinstance(start, Pointer):
                self._goes_on(head, values, start, held, then)
            for key, ty, part in self.parts_asked(start):
                if isinstance(part, Pointer):
                    now = self.part(held, key, ty, part.name)
                    self._goes_on(head, values, part, now, self.part(then, key, ty, part.name))
        head.back.append(values)

    def _goes_on(self, head: LoopHead, values: dict[Key, Value], start: Pointer, now: Value, then: Value) -> None:
        """A pointer that others can reach, at the start and at the end of an iteration, and before the loop."""
        if start.id not in values and self.head_of.setdefault(start.id, head) is head:
            head.entry.setdefault(start.id, then)
            values[start.id] = now

    def _visited(self, node: Node, declared: Declaration) -> Value:
        """An element of what a range-based loop goes over."""
        if isinstance(declared.ty, IntType) and not node.effects:
            return self._one_of(node, declared)
        if not isinstance(declared.ty, PointerTo) or node.effects:
            return self.fresh(declared.name, declared.ty)
        place = self.place(node)
        held = self.read(place, node.ty) if place is not None else self.evaluate(node)
        index = self.symbol("position", I64)
        self.loop_indices.add(index)
        parts = list(held.parts.values()) if isinstance(held, Record) and node.op == "list" else []
        if parts and len(parts) <= _MOST_ENDS and all(isinstance(p, (Pointer, Address)) for p in parts):
            return _chain(index, parts)
        found = self.contents(place, held)
        if isinstance(node.ty, ArrayOf):
            found = ((place.variable, place.path), held) if place is not None else None
        if found is None:
            return self.fresh(declared.name, declared.ty)
        return self.element(*found, index, declared.ty, declared.name, held)

    def _one_of(self, node: Node, declared: Declaration) -> Value:
        """A number out of an array or a list: one of those that are in it, where all of them are known."""
        found = self.fresh(declared.name, declared.ty)
        if node.op != "list" and not isinstance(node.ty, ArrayOf):
            return found
        place = self.place(node) if node.op != "list" else None
        held = self.read(place, node.ty) if place is not None else self.evaluate(node)
        if not isinstance(held, Record) or not isinstance(found, Expr) or not isinstance(declared.ty, IntType):
            return found
        count = node.ty.count if isinstance(node.ty, ArrayOf) else len(held.parts)
        parts = [held.parts.get(n) for n in range(count or 0)]
        numbers = [p for p in parts if isinstance(p, Expr) and isinstance(p.ty, IntType)]
        if 0 < len(numbers) == len(parts) <= _MOST_ENDS:
            choices = [ex.compare("eq", found, ex.cast(n, declared.ty)) for n in numbers]
            self.learn(ex.lor(*choices), NoteSource("loop-bound", declared.cursor))
        return found

    def _test(self, condition: Node) -> Expr:
        self.frame.pending.clear()
        found = self.condition(condition)
        self.end_expression()
        return found

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
                holds = self._test(last_test)
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
            steps = [step_of(w, declared, self._constant_at_head) for w in writers]
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
            made = [s for s in steps if s is not None]
            for fact in counter_facts(first, now, made, below, single, above, self._is_learned):
                self.learn(fact, note)

    def _learn_factors(
        self,
        node: Node,
        counters: list[tuple[Declaration, Expr, list[Node]]],
        holds: Expr,
        body: Node,
        step: Node | None,
    ) -> None:
        """A loop that halves a number while it is even takes factors of two out of it, and nothing else."""
        for declared, first, writers in counters:
            variable = self.find(declared)
            now = self.state.store.get(variable) if variable is not None else None
            if not isinstance(now, Expr) or now.op != "sym" or first.ty != now.ty or not says_even(holds, now):
                continue
            once = len(writers) == 1 and made_once(writers[0], body, step)
            if once and step_of(writers[0], declared, self._constant_at_head) == Step("div", 2):
                self.learn(only_twos(first, now), NoteSource("loop-bound", node.cursor, "loop"))

    def _is_learned(self, condition: Expr) -> bool:
        link = self.state.facts
        while link is not None:
            if condition in ex.conjuncts(link.condition):
                return True
            link = link.parent
        return False

    def _constant_at_head(self, node: Node) -> int | None:
        """The number that an expression is at the head of a loop, after everything that the loop writes is
        forgotten."""
        value = self.evaluate(node) if not node.effects else None
        return (
            value.value if isinstance(value, Expr) and value.op == "const" and isinstance(value.ty, IntType) else None
        )

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
        ranged, self.frame.temporaries = self.frame.temporaries, []
        carried = self._carry(self.effects_of(node))
        outer, self.innermost = self.innermost, carried.head.first
        head = self.state
        exits = Exits("loop")
        self.frame.exits.append(exits)
        self.state = head.copy()
        try:
            if isinstance(declared.ty, ReferenceTo):
                self._free_parameter(declared)
            else:
                self.declare(declared, self._visited(node.arg(0), declared))
            self.run_statement(node.arg(1))
            exits.continued.append(self.state)
        except Stop:
            pass
        for state in exits.continued:
            self.state = state
            self._come_round(carried)
        self.frame.exits.pop()
        self.innermost = outer
        carried.head.broken = len(exits.continued) > _MOST_ENDS
        joined = self.join_all([(head, None), *exits.states])
        assert joined is not None
        self.state = joined[0]
        self.frame.temporaries = ranged


def _chain(index: Expr, parts: list[Value]) -> Value:
    """The part that an index chooses."""
    found = parts[-1]
    for n in range(len(parts) - 2, -1, -1):
        found = Choice(ex.compare("eq", index, ex.const(n, I64)), parts[n], found)
    return found


def _tests(condition: Node, declared: Declaration) -> bool:
    left = condition.arg(0)
    return left.op == "ref" and left.value is declared
