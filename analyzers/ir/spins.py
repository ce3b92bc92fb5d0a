"""Reads that decide whether a loop goes on: a thread may wait there until another one writes.

``while (*flag == 0);`` ends by what the loop itself reads; so does a loop left by a jump, by a variable that such a
value sets, by a vote or shuffle of it, or by a copy of it in memory. Takes a kernel, gives for each loop the loads and
atomics in it whose values may reach its test or the condition of a jump out of it. Values are followed within the loop,
whatever the order of its statements; whether a thread may stay there at all is asked elsewhere (`staying`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from analyzers.ir import kernel as K
from analyzers.ir.expr import BOOL, I32, Expr, Type, walk
from analyzers.ir.pointers import pointer_targets

_ANYTHING = "*anything"
_SOMETHING = "*something"
"""What is at any address, and what was put at one that is not known; no variable is named so."""


@dataclass(frozen=True, slots=True)
class Deciding:
    """What one loop goes on or ends by."""

    reads: frozenset[int]
    """Ids of loads and atomics."""
    loop: K.Loop
    flow: Iteration


def deciding_reads(kernel: K.Kernel) -> Mapping[str, Deciding]:
    """By the label of the loop; loops that do not go on by what they read are left out."""
    loops = [s for s in K.statements(kernel.body) if isinstance(s, K.Loop)]
    flows = {loop.label: (loop, Iteration.of(loop)) for loop in loops}
    found = {label: Deciding(flow.deciding(), loop, flow) for label, (loop, flow) in flows.items()}
    return {label: deciding for label, deciding in found.items() if deciding.reads}


@dataclass(frozen=True, slots=True)
class _Value:
    """Where a variable, or what the thread keeps in memory, gets a value."""

    name: str
    sources: tuple[Expr, ...]
    """What it is made of."""
    conditions: tuple[Expr, ...]
    """Those on the way."""
    read: int | None = None
    memory: frozenset[str] = frozenset()
    """Where in memory it may come from."""

    def variables(self) -> set[str]:
        return {v.value for v in _variables((*self.sources, *self.conditions))} | self.memory


@dataclass
class Iteration:
    """What flows in one loop, with the loops in it."""

    following: str
    """What jumps to the next iteration name."""
    types: dict[str, Type] = field(default_factory=dict[str, Type], init=False)
    """Of the variables."""
    assigned: list[str] = field(default_factory=list[str], init=False)
    """The variables that get values, each once."""
    values: list[_Value] = field(default_factory=list[_Value], init=False)
    tests: list[Expr] = field(default_factory=list[Expr], init=False)
    """What decides whether the loop goes on."""
    _left: dict[str, list[Expr]] = field(default_factory=dict[str, list[Expr]], init=False)
    """By label: the conditions under which the rest, up to there, is passed over."""

    @staticmethod
    def of(loop: K.Loop) -> Iteration:
        flow = Iteration(f"{loop.label}:continue")
        inside = {s.label for s in K.statements((loop,)) if isinstance(s, (K.Block, K.Loop))} - {loop.label}
        flow.tests.append(loop.condition)
        flow._loop(loop, (), inside)
        used = (e for v in flow.values for e in (*v.sources, *v.conditions))
        flow.types.update({v.value: v.ty for v in _variables((*flow.tests, *used))})
        return flow

    def deciding(self) -> frozenset[int]:
        """Ids of the loads and atomics that the end of the loop depends on."""
        return frozenset(v.read for v in self.values if v.read is not None and v.name in self.needed)

    def depends_on_memory(self, pointer: Expr) -> bool:
        """Whether the end of the loop depends on what may be there."""
        return not self._needed_memory.isdisjoint(readable(pointer))

    @cached_property
    def needed(self) -> set[str]:
        """What the end of the loop depends on, by name."""
        return self.reached(v.value for v in _variables(self.tests))

    @cached_property
    def _needed_memory(self) -> set[str]:
        read = (v.sources[0] for v in self.values if v.read is not None and v.name in self.needed)
        return self.needed.union(*map(readable, read))

    def reached(self, names: Iterable[str]) -> set[str]:
        """What these are made of in the end, these included."""
        reached = set(names)
        left = list(reached)
        while left:
            more = self._made_of.get(left.pop(), set()) - reached
            reached |= more
            left += more
        return reached

    @cached_property
    def _made_of(self) -> dict[str, set[str]]:
        """By name: what its values are made of."""
        found: dict[str, set[str]] = {}
        for value in self.values:
            found.setdefault(value.name, set()).update(value.variables())
        return found

    def _loop(self, s: K.Loop, under: tuple[Expr, ...], inside: set[str]) -> None:
        self._body(s.head, under, inside)
        self._body(s.body, (*under, s.condition), inside)
        self._left.pop(f"{s.label}:continue", None)
        self._body(s.latch, (*under, s.condition), inside)
        self._left.pop(s.label, None)

    def _body(self, body: Iterable[K.Stmt], under: tuple[Expr, ...], inside: set[str]) -> None:
        for s in body:
            conditions = (*under, *(c for passed in self._left.values() for c in passed))
            if isinstance(s, K.If):
                self._body(s.then, (*under, s.condition), inside)
                self._body(s.orelse, (*under, s.condition), inside)
            elif isinstance(s, K.Loop):
                self._loop(s, under, inside)
            elif isinstance(s, K.Block):
                self._body(s.body, under, inside)
                self._left.pop(s.label, None)
            elif isinstance(s, (K.Exit, K.Continue)):
                label = s.label if isinstance(s, K.Exit) else f"{s.label}:continue"
                self._left.setdefault(label, []).extend(conditions)
                if s.label not in inside and label != self.following:
                    self.tests += conditions
            else:
                self._simple(s, conditions)

    def _simple(self, s: K.Stmt, conditions: tuple[Expr, ...]) -> None:
        """What a statement without others in it gives a value."""
        if isinstance(s, K.Assign):
            self._assign(s.value.ty, _Value(s.var, (s.value,), conditions))
        elif isinstance(s, K.Load):
            self._assign(s.ty, _Value(s.var, (s.pointer,), conditions, s.id, readable(s.pointer)))
        elif isinstance(s, K.Atomic):
            sources = s.pointer, *s.operands
            self.values += [_Value(name, sources, conditions, s.id) for name in _written(s.pointer)]
            if s.var is not None:
                self._assign(s.ty, _Value(s.var, sources, conditions, s.id))
        elif isinstance(s, K.Store):
            self.values += [_Value(name, (s.pointer, s.value), conditions) for name in _written(s.pointer)]
        elif isinstance(s, K.Collective):
            self._assign(s.ty, _Value(s.var, s.operands, conditions))
        elif isinstance(s, K.Havoc):
            self._assign(s.ty, _Value(s.var, (), conditions))
        elif isinstance(s, K.Barrier) and s.reduce is not None:
            kind, operand, result = s.reduce
            self._assign(I32 if kind == "count" else BOOL, _Value(result, (operand,), conditions))
        elif isinstance(s, K.Barrier) and s.result is not None:
            self._assign(s.result[1], _Value(s.result[0], s.operands, conditions))

    def _assign(self, ty: Type, value: _Value) -> None:
        self.values.append(value)
        if value.name not in self.types:
            self.types[value.name] = ty
            self.assigned.append(value.name)


def objects_of(pointer: Expr) -> frozenset[str]:
    """The objects that a pointer may lead to; none where that is not known."""
    roots = [root for _, root, _ in pointer_targets(pointer)]
    return frozenset(root.value for root in roots) if all(root.op == "addr" for root in roots) else frozenset()


def readable(pointer: Expr) -> frozenset[str]:
    """What a load may find, by names that `_written` gives."""
    objects = [f"*{name}" for name in objects_of(pointer)]
    return frozenset((*objects, _SOMETHING) if objects else (_ANYTHING,))


def _written(pointer: Expr) -> tuple[str, ...]:
    """Names for what a store leaves in memory."""
    return (*([f"*{name}" for name in sorted(objects_of(pointer))] or (_SOMETHING,)), _ANYTHING)


def _variables(used: Iterable[Expr]) -> Iterable[Expr]:
    return (v for v in walk(used) if v.op == "var")
