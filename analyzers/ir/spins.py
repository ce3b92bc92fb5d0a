"""Reads that decide whether a loop goes on: a thread may wait there until another one writes.

``while (*flag == 0);`` ends by what the loop itself reads; so does a loop left by a jump, by a variable that such a
value sets, by a vote or shuffle of it, or by a copy of it in memory. Takes a kernel, gives for each loop the loads and
atomics in it whose values may reach its test or the condition of a jump out of it, and whether something else moves on
there, as in ``i < *count``. Values are followed within the loop, whatever the order of its statements.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from analyzers.ir import kernel as K
from analyzers.ir.expr import Expr, walk

_ANYTHING = "*anything"
_SOMETHING = "*something"
"""What is at any address, and what was put at one that is not known; no variable is named so."""


@dataclass(frozen=True, slots=True)
class Deciding:
    """What one loop goes on or ends by."""

    reads: frozenset[int]
    """Ids of loads and atomics."""
    advances: bool
    """Also by a variable that each iteration makes of what the last one left, and of no read: the loop may end with the
    same reads."""


def deciding_reads(kernel: K.Kernel) -> Mapping[str, Deciding]:
    """By the label of the loop; loops that do not go on by what they read are left out."""
    loops = [s for s in K.statements(kernel.body) if isinstance(s, K.Loop)]
    found = {loop.label: _Iteration().deciding(loop) for loop in loops}
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

    def variables(self, *, conditions: bool = False) -> set[str]:
        used = (*self.sources, *self.conditions) if conditions else self.sources
        return {v for e in used for v in _variables(e)} | self.memory


@dataclass
class _Iteration:
    """One loop's, with the loops in it."""

    following: str = field(default="", init=False)
    """What jumps to the next iteration name."""
    values: list[_Value] = field(default_factory=list[_Value], init=False)
    tests: list[Expr] = field(default_factory=list[Expr], init=False)
    """What decides whether the loop goes on."""
    _left: dict[str, list[Expr]] = field(default_factory=dict[str, list[Expr]], init=False)
    """By label: the conditions under which the rest, up to there, is passed over."""

    def deciding(self, loop: K.Loop) -> Deciding:
        inside = {s.label for s in K.statements((loop,)) if isinstance(s, (K.Block, K.Loop))} - {loop.label}
        self.following = f"{loop.label}:continue"
        self.tests.append(loop.condition)
        self._loop(loop, (), inside)
        needed = self._reached({v for e in self.tests for v in _variables(e)}, conditions=True)
        reads = {v.name for v in self.values if v.read is not None}
        made = ((v.name, self._reached(v.variables(), conditions=False)) for v in self.values if v.name in needed)
        advances = any(name in sources and reads.isdisjoint(sources) for name, sources in made)
        return Deciding(frozenset(v.read for v in self.values if v.read is not None and v.name in needed), advances)

    def _reached(self, names: Iterable[str], *, conditions: bool) -> set[str]:
        """What these are made of in the end, these included."""
        reached = set(names)
        while True:
            before = len(reached)
            for value in self.values:
                if value.name in reached:
                    reached.update(value.variables(conditions=conditions))
            if len(reached) == before:
                return reached

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
            self.values.append(_Value(s.var, (s.value,), conditions))
        elif isinstance(s, K.Load):
            self.values.append(_Value(s.var, (s.pointer,), conditions, s.id, _readable(s.pointer)))
        elif isinstance(s, K.Atomic):
            names = ((s.var,) if s.var is not None else ()) + _written(s.pointer)
            self.values += [_Value(name, (s.pointer, *s.operands), conditions, s.id) for name in names]
        elif isinstance(s, K.Store):
            self.values += [_Value(name, (s.pointer, s.value), conditions) for name in _written(s.pointer)]
        elif isinstance(s, K.Collective):
            self.values.append(_Value(s.var, s.operands, conditions))
        elif isinstance(s, K.Barrier) and s.reduce is not None:
            self.values.append(_Value(s.reduce[2], (s.reduce[1],), conditions))


def _objects(pointer: Expr) -> list[str]:
    return [f"*{e.value}" for e in walk((pointer,)) if e.op == "addr"]


def _readable(pointer: Expr) -> frozenset[str]:
    """What a load may find, by names that `_written` gives."""
    objects = _objects(pointer)
    return frozenset((*objects, _SOMETHING) if objects else (_ANYTHING,))


def _written(pointer: Expr) -> tuple[str, ...]:
    """Names for what a store leaves in memory."""
    return (*(_objects(pointer) or (_SOMETHING,)), _ANYTHING)


def _variables(e: Expr) -> Iterable[str]:
    return (v.value for v in walk((e,)) if v.op == "var")
