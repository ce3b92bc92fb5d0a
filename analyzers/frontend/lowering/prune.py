"""Remove what no access, branch or barrier depends on: dead assignments, and loads and stores of dead local memory.

Inlining leaves many copies behind. Accesses to shared and global memory always stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from analyzers.ir.expr import BOOL, I32, Expr, var
from analyzers.ir.kernel import (
    Assign,
    Assume,
    Atomic,
    Barrier,
    Block,
    Collective,
    Havoc,
    If,
    Load,
    Loop,
    MemObject,
    Pipeline,
    Stmt,
    Store,
)


def pruned(
    body: tuple[Stmt, ...], objects: Iterable[MemObject], pipelines: Iterable[Pipeline] = ()
) -> tuple[tuple[Stmt, ...], tuple[MemObject, ...]]:
    """The body without statements whose results are never used, and the objects without dead local ones."""
    given = tuple(objects)
    counts = [
        var(n, ty)
        for p in pipelines
        for n, ty in (
            *((n, I32) for n in (p.acquired, p.committed, p.waited, p.released)),
            *((n, BOOL) for n in (p.producer, p.consumer)),
        )
    ]
    liveness = _Liveness(body, {o.name for o in given if o.space in ("local", "param")}, counts)
    return liveness.kept(body), tuple(o for o in given if o.space != "local" or o.name in liveness.live_objects)


class _Liveness:
    """Flow-insensitive: a variable or local object is live when something live mentions it."""

    def __init__(self, body: tuple[Stmt, ...], local: set[str], used: Iterable[Expr]) -> None:
        self._local = local
        self._definitions: dict[str, list[Expr]] = {}
        self._contents: dict[str, list[Expr]] = {}
        self._live: set[str] = set()
        self.live_objects: set[str] = set()
        roots: list[Expr] = list(used)
        for statement in _flat(body):
            roots.extend(self._roots(statement))
        self._spread(roots)

    def _roots(self, s: Stmt) -> Iterator[Expr]:
        """The expressions that matter whatever happens; those that matter only for a result are noted for it."""
        if isinstance(s, Assign):
            self._definitions.setdefault(s.var, []).append(s.value)
        elif isinstance(s, Load):
            if self._is_local(s.pointer):
                self._definitions.setdefault(s.var, []).append(s.pointer)
            else:
                yield s.pointer
        elif isinstance(s, Store):
            if self._is_local(s.pointer):
                self._contents.setdefault(_root(s.pointer).value, []).extend((s.pointer, s.value))
            else:
                yield s.pointer
                yield s.value
        elif isinstance(s, Atomic):
            yield s.pointer
            yield from s.operands
        elif isinstance(s, (Barrier, Collective)):
            yield from s.operands
        elif isinstance(s, (Assume, If, Loop)):
            yield s.condition

    def _is_local(self, pointer: Expr) -> bool:
        root = _root(pointer)
        return root.op == "addr" and root.value in self._local

    def _spread(self, roots: list[Expr]) -> None:
        seen: set[int] = set()
        stack = roots
        while stack:
            e = stack.pop()
            if e.key in seen:
                continue
            seen.add(e.key)
            if e.op == "var":
                if e.value not in self._live:
                    self._live.add(e.value)
                    stack.extend(self._definitions.get(e.value, ()))
            elif e.op == "addr":
                if e.value not in self.live_objects:
                    self.live_objects.add(e.value)
                    stack.extend(self._contents.get(e.value, ()))
            else:
                stack.extend(e.args)

    def kept(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        out: list[Stmt] = []
        for s in body:
            if isinstance(s, If):
                then, orelse = self.kept(s.then), self.kept(s.orelse)
                if then or orelse:
                    out.append(s if then is s.then and orelse is s.orelse else If(s.condition, then, orelse, s.site))
            elif isinstance(s, Loop):
                head, inner, latch = self.kept(s.head), self.kept(s.body), self.kept(s.latch)
                same = head is s.head and inner is s.body and latch is s.latch
                out.append(s if same else replace(s, head=head, body=inner, latch=latch))
            elif isinstance(s, Block):
                inner = self.kept(s.body)
                out.append(s if inner is s.body else Block(s.label, inner))
            elif not self._dead(s):
                out.append(s)
        return body if len(out) == len(body) and all(a is b for a, b in zip(out, body, strict=True)) else tuple(out)

    def _dead(self, s: Stmt) -> bool:
        if isinstance(s, Havoc) and s.tile is not None:
            return False  # others wait for the thread there
        if isinstance(s, (Assign, Havoc)):
            return s.var not in self._live
        if isinstance(s, Load):
            return s.var not in self._live and not s.volatile and self._is_local(s.pointer)
        if isinstance(s, Store):
            return self._is_local(s.pointer) and _root(s.pointer).value not in self.live_objects
        return False


def _root(pointer: Expr) -> Expr:
    while pointer.op == "ptradd":
        pointer = pointer.args[0]
    return pointer


def _flat(body: tuple[Stmt, ...]) -> Iterator[Stmt]:
    stack: list[Stmt] = list(body)
    while stack:
        s = stack.pop()
        yield s
        if isinstance(s, If):
            stack.extend(s.then)
            stack.extend(s.orelse)
        elif isinstance(s, Loop):
            stack.extend(s.head)
            stack.extend(s.body)
            stack.extend(s.latch)
        elif isinstance(s, Block):
            stack.extend(s.body)
