"""What lies between two events of one thread: the fences on every way, and what may have been written on some way.

Takes a kernel, gives for each event and each event executed before it a :class:`Passage`. Fences and barriers have the
meaning of the PTX ISA (memory consistency model): a fence orders what its thread did before with what it does after,
for threads within its scope.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from analyzers.ir import expr as E
from analyzers.ir import kernel as K
from analyzers.ir.expr import TRUE, Expr

RANKS: Final[Mapping[K.Scope, int]] = {"thread": 0, "warp": 0, "block": 1, "cluster": 2, "grid": 3, "system": 4}
"""Scopes by size; fences between the threads of a warp do not occur."""

ACQUIRES: Final = frozenset({"acquire", "acq_rel", "seq_cst"})
RELEASES: Final = frozenset({"release", "acq_rel", "seq_cst"})

MAX_PASSES: Final = 12
MAX_EVENTS: Final = 600
"""Events of a kernel beyond which nothing is said of it."""


class Passage(NamedTuple):
    """From the latest execution of an earlier event to this one. The ranks are those of the strongest fence that is on
    every way, 0 for none."""

    acquire: int = 0
    release: int = 0
    sequential: int = 0
    passed: frozenset[int] = frozenset()
    """Writes, atomics and barriers that are on some way, by id."""


Passages = Mapping[int, Mapping[int, Passage]]
"""Later event -> earlier event -> what lies between. An event that no way leads from is absent."""

_State = dict[int, Passage]


def passages(kernel: K.Kernel, *, of_first: bool = False) -> Passages:
    """Between all accesses and barriers of shared and global memory; empty for a kernel with too many. ``of_first``: as
    the first thread of a block goes."""
    events = [s for s in K.statements(kernel.body) if isinstance(s, (K.Load, K.Store, K.Atomic, K.Barrier))]
    if len(events) > MAX_EVENTS:
        return {}
    flow = _Flow(_first_thread(kernel) if of_first else {})
    flow.block(kernel.body, {})
    return {} if flow.gave_up else flow.at


def _first_thread(kernel: K.Kernel) -> dict[Expr, Expr]:
    """What the coordinates are for the first thread of a block, and variables that are assigned once."""
    changes: dict[str, int] = {}
    values: dict[str, Expr] = {}
    for s in K.statements(kernel.body):
        given = s.result if isinstance(s, K.Barrier) else None
        name = given[0] if given is not None else getattr(s, "var", None)
        if name is not None:
            changes[name] = changes.get(name, 0) + 1
        if isinstance(s, K.Assign):
            values[s.var] = s.value
    known: dict[Expr, Expr] = {t: E.const(0, E.U32) for t in E.TID}
    for _ in range(MAX_PASSES):
        before = len(known)
        for name, value in values.items():
            if changes[name] == 1 and (found := E.substitute(value, known)).op == "const":
                known[E.var(name, value.ty)] = found
        if len(known) == before:
            break
    return known


class _Flow:
    def __init__(self, known: Mapping[Expr, Expr]) -> None:
        self.known = known
        self.at: dict[int, dict[int, Passage]] = {}
        self.exits: dict[str, _State] = {}
        self.gave_up = False

    def block(self, body: Iterable[K.Stmt], state: _State | None) -> _State | None:
        for s in body:
            if state is None:
                break
            state = self._statement(s, state)
        return state

    def _statement(self, s: K.Stmt, state: _State) -> _State | None:
        if isinstance(s, K.Block):
            return _joined(self.block(s.body, state), self.exits.pop(s.label, None))
        if isinstance(s, K.If):
            taken = E.substitute(s.condition, self.known) if self.known else s.condition
            if taken.op == "const":
                return self.block(s.then if taken.value else s.orelse, state)
            return _joined(self.block(s.then, state), self.block(s.orelse, state))
        if isinstance(s, K.Loop):
            return self._loop(s, state)
        if isinstance(s, (K.Exit, K.Continue)):
            label = s.label if isinstance(s, K.Exit) else f"{s.label}:continue"
            self.exits[label] = _joined(state, self.exits.get(label)) or {}
            return None
        if isinstance(s, K.Fence):
            return _fenced(state, s.order, RANKS[s.scope])
        if isinstance(s, (K.Load, K.Store, K.Atomic, K.Barrier)):
            return self._event(s, state)
        return state

    def _event(self, s: K.Load | K.Store | K.Atomic | K.Barrier, state: _State) -> _State:
        before = dict(state)
        if isinstance(s, K.Barrier) and s.scope in ("block", "cluster", "grid"):
            state = _fenced(state, "acq_rel", RANKS[s.scope])
        elif isinstance(s, K.Atomic) and s.order in RELEASES:
            before = _fenced(before, "release", RANKS[s.scope])
        self.at[s.id] = _joined(before, self.at.get(s.id)) or {}
        if not isinstance(s, K.Load) and not (isinstance(s, K.Atomic) and s.op == "load"):
            state = {e: p if s.id in p.passed else p._replace(passed=p.passed | {s.id}) for e, p in state.items()}
        # The latest execution counts: a way from an earlier one goes through it. An acquiring access comes before all
        # that follows; of what was read earlier it says nothing.
        acquired = RANKS[s.scope] if isinstance(s, K.Atomic) and _always_acquires(s) else 0
        return {**state, s.id: Passage(acquire=acquired)}

    def _loop(self, s: K.Loop, state: _State) -> _State | None:
        start: _State = state
        after: _State | None = None
        for _ in range(MAX_PASSES):
            current = self.block(s.head, start)
            after = current if s.condition is not TRUE else None
            current = _joined(self.block(s.body, current), self.exits.pop(f"{s.label}:continue", None))
            current = self.block(s.latch, current)
            following = _joined(start, current) or {}
            if following == start:
                break
            start = following
        else:
            self.gave_up = True
        return _joined(after, self.exits.pop(s.label, None))


def _always_acquires(s: K.Atomic) -> bool:
    """Also where a compare-and-swap finds another value."""
    return s.order in ACQUIRES and (s.failure is None or s.failure in ACQUIRES)


def _fenced(state: _State, order: str, rank: int) -> _State:
    acquire = rank if order in ACQUIRES else 0
    release = rank if order in RELEASES else 0
    sequential = rank if order == "seq_cst" else 0
    return {
        e: Passage(max(p.acquire, acquire), max(p.release, release), max(p.sequential, sequential), p.passed)
        for e, p in state.items()
    }


def _joined(one: _State | None, two: _State | None) -> _State | None:
    if one is None or two is None or one is two:
        return one if two is None else two
    out = {**two, **one}
    for e in one.keys() & two.keys():
        p, q = one[e], two[e]
        if p != q:
            out[e] = Passage(
                min(p.acquire, q.acquire),
                min(p.release, q.release),
                min(p.sequential, q.sequential),
                p.passed | q.passed,
            )
    return out
