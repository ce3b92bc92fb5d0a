"""Loops that do nothing but copy asynchronously, taken as one copy each.

A tile is often copied by several copies of each thread, made by a loop between two commits: for what is open later they
are one. Takes the statements of a kernel with the marks of the lowering, and gives the same statements with a block in
place of each such loop; its variables are its own, so that its accesses can be made once more anywhere behind it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from analyzers.frontend.lowering.context import Context, Copy
from analyzers.ir.expr import I64, NULL, Expr, const, substitute, var, walk
from analyzers.ir.kernel import (
    Assign,
    Assume,
    Atomic,
    Block,
    Collective,
    Havoc,
    If,
    Load,
    Loop,
    Stmt,
    Store,
    statements,
)

_BATCH = "%copies"


def batched(ctx: Context, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """The statements, and in `ctx.copies` the new copies."""
    return _Batches(ctx, body).list(body)


def expressions(s: Any) -> list[Expr]:
    """Those that a statement itself evaluates."""
    found: list[Expr] = []
    for f in fields(s):
        value = getattr(s, f.name)
        if isinstance(value, Expr):
            found.append(value)
        elif f.name == "in_bounds":
            found += [index for index, _ in value]
    return found


def replaced(s: Any, mapping: Mapping[Expr, Expr]) -> dict[str, Any]:
    """The fields of a statement that are expressions, with other values of some variables."""
    changed: dict[str, Any] = {}
    for f in fields(s):
        value = getattr(s, f.name)
        if isinstance(value, Expr):
            changed[f.name] = substitute(value, mapping)
        elif f.name == "in_bounds":
            changed[f.name] = tuple((substitute(index, mapping), extent) for index, extent in value)
    return changed


def _variables(found: Iterable[Expr]) -> dict[Expr, None]:
    return dict.fromkeys(n for n in walk(tuple(found)) if n.op == "var")


def _assigned(body: Iterable[Stmt]) -> list[str]:
    return [s.var for s in body if isinstance(s, (Assign, Load, Atomic, Havoc, Collective)) and s.var is not None]


@dataclass(slots=True)
class _Reads:
    """The variables that statements take from outside."""

    found: dict[Expr, None] = field(default_factory=dict[Expr, None])

    def of(self, body: Sequence[Stmt], known: frozenset[str]) -> frozenset[str]:
        """`known`: what was assigned here on all paths; gives the same for the place behind."""
        for s in body:
            if isinstance(s, Loop):
                known = self.of(s.head, known)
                self._read((s.condition,), known)
                self.of(s.latch, self.of(s.body, known))
                continue
            self._read(expressions(s), known)
            if isinstance(s, If):
                known = self.of(s.then, known) & self.of(s.orelse, known)
            elif isinstance(s, (Assign, Load)):
                known |= {s.var}
        return known

    def _read(self, found: Iterable[Expr], known: frozenset[str]) -> None:
        self.found.update({v: None for v in _variables(found) if v.value not in known})


class _Batches:
    def __init__(self, ctx: Context, body: tuple[Stmt, ...]) -> None:
        self._ctx = ctx
        every = statements(body)
        names = _assigned(every)
        in_loops = {
            n for s in every if isinstance(s, Loop) for n in _assigned(statements((*s.head, *s.body, *s.latch)))
        }
        counts = {n: names.count(n) for n in set(names)}
        self._fixed = {n for n, count in counts.items() if count == 1 and n not in in_loops}
        """Variables that have one value for good."""
        self._counts = _read_counts(every)

    def list(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        out: list[Stmt] = []
        for s in body:
            if isinstance(s, Loop):
                copies = self._plain((s,))
                if copies is not None and any(isinstance(t, Store) for t in statements(copies)):
                    out += self._batch(s, copies, out)
                else:
                    out.append(replace(s, head=self.list(s.head), body=self.list(s.body), latch=self.list(s.latch)))
            elif isinstance(s, If):
                out.append(replace(s, then=self.list(s.then), orelse=self.list(s.orelse)))
            elif isinstance(s, Block) and s.label not in self._ctx.copies:
                out.append(replace(s, body=self.list(s.body)))
            else:
                out.append(s)
        return tuple(out)

    def _plain(self, body: tuple[Stmt, ...], copying: bool = False) -> tuple[Stmt, ...] | None:
        """The statements without blocks, if they only compute and copy; copies that a barrier in memory completes are
        taken one by one."""
        out: list[Stmt] = []
        for s in body:
            parts: dict[str, tuple[Stmt, ...] | None] = {}
            if isinstance(s, Block):
                copy = self._ctx.copies.get(s.label)
                inside = None if copy is not None and copy.barrier else self._plain(s.body, copying or copy is not None)
                if inside is None:
                    return None
                out += inside
                continue
            if isinstance(s, Loop):
                parts = {name: self._plain(getattr(s, name), copying) for name in ("head", "body", "latch")}
            elif isinstance(s, If):
                parts = {name: self._plain(getattr(s, name), copying) for name in ("then", "orelse")}
            elif not isinstance(s, (Assign, Assume)) and not (copying and isinstance(s, (Load, Store))):
                return None
            if any(part is None for part in parts.values()):
                return None
            out.append(replace(s, **parts) if parts else s)
        return tuple(out)

    def _batch(self, loop: Loop, copies: tuple[Stmt, ...], before: Sequence[Stmt]) -> list[Stmt]:
        ctx = self._ctx
        reads = _Reads()
        reads.of(copies, frozenset())
        inside = statements(copies)
        assigned = {s.var: s for s in inside if isinstance(s, (Assign, Load))}
        starts = _starts(before, [v for v in reads.found if v.value in assigned])
        outside = {**reads.found, **_variables(starts.values())}
        kept = {
            v: var(ctx.name(f"%{v.value.lstrip('%')}"), v.ty)
            for v in outside
            if v not in starts and v.value not in self._fixed
        }
        own = {var(n, s.value.ty if isinstance(s, Assign) else s.ty): ctx.name(n) for n, s in assigned.items()}
        mapping = {**kept, **{v: var(name, v.ty) for v, name in own.items()}}
        begun: list[Stmt] = []
        for v in reads.found:
            if v in own:
                begun.append(Assign(own[v], substitute(starts[v], kept) if v in starts else kept[v]))
        label = ctx.name(_BATCH)
        site = next(
            ctx.copies[s.label].site for s in statements((loop,)) if isinstance(s, Block) and s.label in ctx.copies
        )
        ctx.copies[label] = Copy(NULL, NULL, const(0, I64), site, several=True)
        here: list[Stmt] = [Assign(k.value, v) for v, k in kept.items()]
        here.append(Block(label, (*begun, *self._renamed(copies, mapping))))
        own_reads = _read_counts(statements((loop,)))
        carried = any(v in own and v not in starts for v in reads.found)  # to the next time the loop is entered
        if carried or any(self._counts.get(n, 0) > own_reads.get(n, 0) for n in assigned):
            here.append(*_without_copies(copies))
        return here

    def _renamed(self, body: tuple[Stmt, ...], mapping: Mapping[Expr, Expr]) -> tuple[Stmt, ...]:
        names = {v.value: to.value for v, to in mapping.items()}
        out: list[Stmt] = []
        for s in body:
            changed = replaced(s, mapping)
            if isinstance(s, (Assign, Load)):
                changed["var"] = names[s.var]
            elif isinstance(s, Loop):
                parts = {part: self._renamed(getattr(s, part), mapping) for part in ("head", "body", "latch")}
                changed |= {"label": self._ctx.name("loop"), **parts}
            elif isinstance(s, If):
                changed |= {side: self._renamed(getattr(s, side), mapping) for side in ("then", "orelse")}
            out.append(replace(s, **changed))
        return tuple(out)


def _read_counts(body: Iterable[Stmt]) -> dict[str, int]:
    """In how many statements each variable is read."""
    counts: dict[str, int] = {}
    for s in body:
        for v in _variables(expressions(s)):
            counts[v.value] = counts.get(v.value, 0) + 1
    return counts


def _starts(before: Sequence[Stmt], wanted: Iterable[Expr]) -> dict[Expr, Expr]:
    """The values that the assignments just before a loop give to its variables."""
    names = {v.value: v for v in wanted}
    found: dict[Expr, Expr] = {}
    changed: set[str] = set()
    for s in reversed(before):
        if not isinstance(s, Assign):
            break
        reads = {v.value for v in _variables((s.value,))}
        if s.var in names and s.var not in changed and not reads & {*changed, s.var, *names}:
            found[names[s.var]] = s.value
        changed.add(s.var)
    return found


def _without_copies(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """What the loop leaves behind in variables."""
    out: list[Stmt] = []
    for s in body:
        if isinstance(s, (Load, Store)):
            continue
        if isinstance(s, Loop):
            parts = {part: _without_copies(getattr(s, part)) for part in ("head", "body", "latch")}
            out.append(replace(s, **parts))
        elif isinstance(s, If):
            out.append(replace(s, then=_without_copies(s.then), orelse=_without_copies(s.orelse)))
        else:
            out.append(s)
    return tuple(out)
