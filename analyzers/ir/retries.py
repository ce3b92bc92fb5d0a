"""Reads that only start a compare-and-swap loop: their values go nowhere but into the operands of ``cas``.

``old = *p; do { seen = old; old = atomicCAS(p, seen, f(seen)); } while (seen != old);`` reads plainly what others
change atomically. A value that is out of date makes the ``cas`` fail, and the loop goes on with what the ``cas`` saw.
Takes a kernel, gives the atomics that each such load feeds; whether they go to the same place is asked elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from analyzers.ir import kernel as K
from analyzers.ir.expr import TRUE, Expr, walk

_Sources = dict[str, frozenset[int]]
"""By variable: the loads (positive) and ``cas`` results (negative) that its value may come from."""

MAX_PASSES = 12


def retried_reads(kernel: K.Kernel) -> Mapping[int, frozenset[int]]:
    """Ids of loads whose values only ``cas`` operations take, and the test whether those succeeded."""
    if not any(isinstance(s, K.Atomic) and s.op == "cas" for s in K.statements(kernel.body)):
        return {}
    flow = _Flow()
    flow.block(kernel.body, {})
    return {load: frozenset(fed) for load, fed in flow.fed.items() if fed and load not in flow.used}


class _Flow:
    def __init__(self) -> None:
        self.fed: dict[int, set[int]] = {}
        self.used: set[int] = set()
        self.exits: dict[str, _Sources] = {}

    def block(self, body: Iterable[K.Stmt], state: _Sources | None) -> _Sources | None:
        for s in body:
            if state is None:
                break
            state = self._statement(s, state)
        return state

    def _statement(self, s: K.Stmt, state: _Sources) -> _Sources | None:
        if isinstance(s, K.Block):
            return _joined(self.block(s.body, state), self.exits.pop(s.label, None))
        if isinstance(s, K.If):
            self._use(state, s.condition)
            return _joined(self.block(s.then, dict(state)), self.block(s.orelse, dict(state)))
        if isinstance(s, K.Loop):
            return self._loop(s, state)
        if isinstance(s, (K.Exit, K.Continue)):
            label = s.label if isinstance(s, K.Exit) else f"{s.label}:continue"
            self.exits[label] = _joined(state, self.exits.get(label)) or {}
            return None
        if isinstance(s, K.Assign):
            return {**state, s.var: self._sources(state, s.value)}
        if isinstance(s, K.Load):
            self._use(state, s.pointer, *(index for index, _ in s.in_bounds))
            self.fed.setdefault(s.id, set())
            return {**state, s.var: frozenset({s.id})}
        return self._effect(s, state)

    def _effect(self, s: K.Stmt, state: _Sources) -> _Sources:
        if isinstance(s, K.Store):
            self._use(state, s.pointer, s.value, *(index for index, _ in s.in_bounds))
        elif isinstance(s, K.Atomic):
            self._use(state, s.pointer, *(index for index, _ in s.in_bounds))
            if s.op == "cas":
                for load in {n for e in s.operands for n in _all(state, e) if n > 0}:
                    self.fed.setdefault(load, set()).add(s.id)
            else:
                self._use(state, *s.operands)
            if s.var is not None:
                return {**state, s.var: frozenset({-s.id})}
        elif isinstance(s, K.Barrier):
            self._use(state, *s.operands)
        elif isinstance(s, K.Collective):
            self._use(state, *s.operands)
            return {**state, s.var: frozenset()}
        elif isinstance(s, K.Assume):
            self._use(state, s.condition)
        elif isinstance(s, K.Havoc):
            return {**state, s.var: frozenset()}
        return state

    def _loop(self, s: K.Loop, state: _Sources) -> _Sources | None:
        start: _Sources = state
        for _ in range(MAX_PASSES):
            current = self.block(s.head, dict(start))
            if current is not None:
                self._use(current, s.condition)
            after = current if s.condition is not TRUE else None
            current = _joined(self.block(s.body, current), self.exits.pop(f"{s.label}:continue", None))
            current = self.block(s.latch, current)
            following = _joined(start, current) or {}
            if following == start:
                break
            start = following
        else:
            self.used.update(self.fed)
            after = start
        return _joined(after, self.exits.pop(s.label, None))

    def _use(self, state: _Sources, *values: Expr) -> None:
        for e in values:
            self.used |= {n for n in self._sources(state, e) if n > 0}

    def _sources(self, state: _Sources, e: Expr) -> frozenset[int]:
        """What a value comes from; the test of a loaded value against the result of the ``cas`` it went into is no
        use of it."""
        if e.op == "var":
            return state.get(e.value, frozenset())
        if e.op in ("eq", "ne"):
            found = _all(state, e)
            results = {-n for n in found if n < 0}
            return frozenset(n for n in found if n > 0 and not self.fed.get(n, set()) & results)
        out: frozenset[int] = frozenset()
        for a in e.args:
            out |= self._sources(state, a)
        return out


def _all(state: _Sources, e: Expr) -> frozenset[int]:
    return frozenset(n for v in walk((e,)) if v.op == "var" for n in state.get(v.value, frozenset()))


def _joined(one: _Sources | None, two: _Sources | None) -> _Sources | None:
    if one is None or two is None:
        return one if two is None else two
    return {v: one.get(v, frozenset()) | two.get(v, frozenset()) for v in {*one, *two}}
