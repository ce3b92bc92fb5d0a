"""Short loops that only compute, written out: their results are then expressions instead of unknown values.

A loop qualifies when nothing in it touches memory that other threads see, or other threads, shuffles from lanes below
aside, and a counter that starts at a constant and changes in one unconditional way ends it after a few turns, whatever
else may end it before. What follows the loop then knows which turn was the last for which thread, and what each element
of an array of the thread's own holds (``for (int d = 0; d < 3; ++d) at[d] = …``).

Loops that wait for other threads get their test behind the load whose value it tests.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Final, TypeAlias

from analyzers.ir import expr as E
from analyzers.ir.expr import PTR, Expr, IntType
from analyzers.ir.kernel import (
    Assign,
    Atomic,
    Barrier,
    Block,
    Collective,
    Continue,
    Exit,
    If,
    Load,
    Loop,
    Stmt,
    Store,
    statements,
)

MAX_TURNS: Final = 8
MAX_STATEMENTS: Final = 120
"""Of all turns together."""

Body: TypeAlias = "tuple[Stmt, ...]"
_Known: TypeAlias = "dict[str, Expr]"
"""Variables that hold a constant."""


def unrolled(body: Body, own: Collection[str] = ()) -> Body:
    """The statements with such loops replaced by Blocks; the same object where there is none. ``own``: objects that no
    other thread sees."""
    return _Unroller(body, own).block(body, {})


class _Unroller:
    def __init__(self, body: Body, own: Collection[str]) -> None:
        self.own = own
        self.copies = 0
        inside = statements(body)
        self.last = max((x.id for x in inside if isinstance(x, Collective)), default=0)
        """The highest number of a shuffle."""
        self.accessed = max((x.id for x in inside if isinstance(x, (Load, Store, Atomic))), default=0)
        """The highest number of an access."""

    def block(self, body: Body, known: _Known) -> Body:
        out: list[Stmt] = []
        known = dict(known)
        for s in body:
            new = self.statement(s, known)
            if isinstance(s, Assign):
                value = _replaced(s.value, known)
                known.pop(s.var, None)
                if value.op == "const":
                    known[s.var] = value
            else:
                for name in _assigned((s,)):
                    known.pop(name, None)
            out.append(new)
        return body if all(a is b for a, b in zip(out, body, strict=True)) else tuple(out)

    def statement(self, s: Stmt, known: _Known) -> Stmt:
        if isinstance(s, If):
            then, orelse = self.block(s.then, known), self.block(s.orelse, known)
            return s if then is s.then and orelse is s.orelse else If(s.condition, then, orelse, s.site)
        if isinstance(s, Block):
            inner = self.block(s.body, known)
            return s if inner is s.body else Block(s.label, inner)
        if isinstance(s, Loop):
            return self.loop(s, known)
        return s

    def loop(self, s: Loop, known: _Known) -> Stmt:
        changing = _assigned((s,))
        outside = {name: value for name, value in known.items() if name not in changing}
        parts = [self.block(part, outside) for part in (s.head, s.body, s.latch)]
        if any(new is not old for new, old in zip(parts, (s.head, s.body, s.latch), strict=True)):
            s = replace(s, head=parts[0], body=parts[1], latch=parts[2])
        turns = _turns(s, known) if self._qualifies(s) else None
        return _tested_behind(s, known) if turns is None else self._written_out(s, turns)

    def _written_out(self, s: Loop, turns: int) -> Block:
        leave = Exit(s.label, "break", s.site)
        inside = statements((*s.head, *s.body, *s.latch))
        skips = any(isinstance(x, Continue) for x in inside)
        blocks = [x.label for x in inside if isinstance(x, Block)]
        out: list[Stmt] = []
        for turn in range(turns + 1):
            self.copies += 1
            here = f"{s.label}#{self.copies}"
            names = {label: f"{label}#{self.copies}" for label in blocks}
            first = len(out)
            out += _renamed(s.head, names, s.label, here)
            if turn == turns:
                break  # the test has failed by now, or the last turn has left at its end
            if s.condition is not E.TRUE:
                out.append(If(E.lnot(s.condition), (leave,), (), s.site))
            body = _renamed(s.body, names, s.label, here)
            out += (Block(here, body),) if skips else body
            out += _renamed(s.latch, names, s.label, here)
            out[first:] = self._numbered(tuple(out[first:]))
        return Block(s.label, tuple(out))

    def _qualifies(self, s: Loop) -> bool:
        """Nothing in it but computing, and some decision beside the loop's own test, or elements of arrays that it
        fills or reads: others have closed forms."""
        inside = statements((*s.head, *s.body, *s.latch))
        elements = any(isinstance(x, (Load, Store)) for x in inside)
        computes = all(
            isinstance(x, (Assign, If, Block, Exit, Continue)) or adds_from_below(x) or self._is_own(x) for x in inside
        )
        return computes and (elements or _decides(s, inside))

    def _is_own(self, s: Stmt) -> bool:
        """An access to an integer or a pointer in an object of the thread's own."""
        if not isinstance(s, (Load, Store)) or s.volatile or s.asynchronous:
            return False
        ty, root = s.ty if isinstance(s, Load) else s.value.ty, s.pointer
        while root.op == "ptradd":
            root = root.args[0]
        return (isinstance(ty, IntType) or ty == PTR) and root.op == "addr" and root.value in self.own

    def _numbered(self, body: Body) -> Body:
        """Shuffles and accesses in each turn are others."""
        out: list[Stmt] = []
        for s in body:
            if isinstance(s, Collective):
                self.last += 1
                s = replace(s, id=self.last)
            elif isinstance(s, (Load, Store)):
                self.accessed += 1
                s = replace(s, id=self.accessed)
            elif isinstance(s, If):
                s = replace(s, then=self._numbered(s.then), orelse=self._numbered(s.orelse))
            elif isinstance(s, Block):
                s = replace(s, body=self._numbered(s.body))
            out.append(s)
        return tuple(out)


def _tested_behind(s: Loop, known: _Known) -> Loop:
    """``seen = 0; while (seen == 0) seen = load(flag);`` as the do-while that it is: where the test is met at first and
    then depends on what other threads wrote, it stands behind what gives it that."""
    inside = statements((*s.body, *s.latch))
    seen = {x.var for x in inside if isinstance(x, Atomic) or (isinstance(x, Load) and x.volatile)}
    for x in inside:
        if isinstance(x, Assign) and any(v.value in seen for v in _variables(x.value)):
            seen.add(x.var)
    waits = any(v.value in seen for v in _variables(s.condition))
    if s.head or not waits or _replaced(s.condition, known) is not E.TRUE:
        return s
    leave = If(E.lnot(s.condition), (Exit(s.label, "break", s.site),), (), s.site)
    return replace(s, head=(), condition=E.TRUE, latch=(*s.latch, leave))


def _decides(s: Loop, inside: Iterable[Stmt]) -> bool:
    """There is some decision beside the loop's own test, or an exchange."""
    decisions = [x for x in inside if isinstance(x, If)]
    tests = [x for x in decisions if not x.orelse and len(x.then) == 1 and _leaves(x.then[0], s.label)]
    beside = len(decisions) > len(tests) or len(tests) + (s.condition is not E.TRUE) > 1
    return beside or any(isinstance(x, Collective) for x in inside)


def adds_from_below(s: Stmt) -> bool:
    """A shuffle of which scans are made."""
    return isinstance(s, Collective) and s.name in ("__shfl_up_sync", "__shfl_up")


def _leaves(s: Stmt, label: str) -> bool:
    return isinstance(s, Exit) and s.label == label


def _turns(s: Loop, known: Mapping[str, Expr]) -> int | None:
    """How many turns it has at most, as one of its counters tells."""
    inside = statements((*s.head, *s.body, *s.latch))
    names = [x.var for x in inside if isinstance(x, Assign)]
    skips = any(isinstance(x, Continue) for x in inside)
    for name in dict.fromkeys(names):
        start = known.get(name)
        top = (*s.head, *s.latch) if skips else (*s.head, *s.body, *s.latch)
        if start is None or names.count(name) != sum(isinstance(x, Assign) and x.var == name for x in top):
            continue
        found = _counted(s, name, start, s.body if not skips else ())
        if found is not None and found * len(inside) <= MAX_STATEMENTS:
            return found
    return None


def _counted(s: Loop, name: str, value: Expr, body: Body) -> int | None:
    """Follow one variable until a test on it alone leaves the loop."""
    for turn in range(MAX_TURNS + 1):
        value, left = _follow(s.head, s.label, name, value)
        if left or _replaced(s.condition, {name: value}) is E.FALSE:
            return turn
        value, left = _follow((*body, *s.latch), s.label, name, value)
        if left:
            return turn + 1
        if value.op != "const":
            return None
    return None


def _follow(body: Body, label: str, name: str, value: Expr) -> tuple[Expr, bool]:
    """The variable behind the statements, and whether one of them certainly leaves the loop."""
    for x in body:
        if isinstance(x, Assign) and x.var == name:
            value = _replaced(x.value, {name: value})
        elif isinstance(x, If) and len(x.then) == 1 and _leaves(x.then[0], label):
            leaves = _replaced(x.condition, {name: value}) is E.TRUE
            if leaves:
                return value, True
    return value, False


def _replaced(e: Expr, known: Mapping[str, Expr]) -> Expr:
    found = {s: known[s.value] for s in _variables(e) if s.value in known}
    return E.substitute(e, found) if found else e


def _variables(e: Expr) -> list[Expr]:
    return [x for x in E.walk([e]) if x.op == "var"]


def _assigned(body: Body) -> set[str]:
    """The variables that some statement changes."""
    found: set[str] = set()
    for s in statements(body):
        var = getattr(s, "var", None)
        if isinstance(var, str):
            found.add(var)
        if isinstance(s, Barrier) and s.result is not None:
            found.add(s.result[0])
    return found


def _renamed(body: Body, names: Mapping[str, str], loop: str, turn: str) -> Body:
    """A copy with Blocks of its own; what went on to the next turn leaves the Block of this one."""
    out: list[Stmt] = []
    for s in body:
        match s:
            case If():
                out.append(
                    If(s.condition, _renamed(s.then, names, loop, turn), _renamed(s.orelse, names, loop, turn), s.site)
                )
            case Block():
                out.append(Block(names[s.label], _renamed(s.body, names, loop, turn)))
            case Exit() if s.label in names:
                out.append(Exit(names[s.label], s.kind, s.site))
            case Continue() if s.label == loop:
                out.append(Exit(turn, "break", s.site))
            case _:
                out.append(s)
    return tuple(out)
