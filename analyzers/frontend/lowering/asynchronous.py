"""Asynchronous copies: what they may still do between their issue and the wait that covers them.

The lowering marks copies, commits and waits (`issue`, `commit`, `wait`); `completed` follows which copies may be open
where, and replaces the marks. A copy stands as if made at its issue, which is exact up to the next barrier. Where a
barrier finds it open, the same accesses are made once more behind it: whoever comes there without another barrier
meets them. Where the thread's own access may touch an open copy the kernel is unknown, and so it is where a copy is
open that later iterations issued again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from analyzers.frontend.lowering.context import Context, Copy
from analyzers.frontend.lowering.nodes import Node
from analyzers.ir.expr import BOOL, FALSE, I64, TRUE, Expr, IntType, cast, compare, const, land, make, neg, var
from analyzers.ir.kernel import (
    Assign,
    Atomic,
    Barrier,
    Block,
    Continue,
    Exit,
    If,
    Kernel,
    Load,
    Loop,
    Site,
    Stmt,
    Store,
    Unsupported,
)
from analyzers.ir.pointers import pointed_objects, points_to

_COPY, _COMMIT, _WAIT, _COMPLETE = "%copy", "%commit", "%wait", "%complete:"
_MARKS = (_COMMIT, _WAIT, _COMPLETE)
EVERYTHING = -1
"""Waits for what is not committed yet, too."""
OLDEST = -2
"""Waits for the oldest group that is open."""
APART = "asynchronous copies of one thread that are open together do not overlap"
MAX_GROUPS = 8
MAX_PASSES = 20


def issue(
    ctx: Context, node: Node, to: Expr, source: Expr, size: Expr, body: Sequence[Stmt], barrier: str | None = None
) -> None:
    """`body` makes the copy; `to` and `source` are not changed by later assignments. `barrier` completes with it."""
    ctx.asynchronous = True
    label = ctx.name(_COPY)
    size = cast(size, I64) if isinstance(size.ty, IntType) else size
    ctx.copies[label] = Copy(to, source, size, ctx.site(node), barrier)
    ctx.emit(Block(label, _beside(body)))


def commit(ctx: Context, node: Node) -> None:
    """The copies issued since the last commit form a group."""
    ctx.asynchronous = True
    ctx.emit(Unsupported(_COMMIT, "", ctx.site(node)))


def wait(ctx: Context, node: Node, newest: Expr | int) -> None:
    """Wait until at most the `newest` groups are open; a number that is not known waits for nothing."""
    number = newest if isinstance(newest, int) else int(newest.value) if newest.op == "const" else None
    if number is None:
        return
    ctx.asynchronous = True
    ctx.emit(Unsupported(f"{_WAIT}{number}", "", ctx.site(node)))


def completed_on(ctx: Context, barrier: str, site: Site) -> Stmt:
    """The mark of the end of a phase of a barrier in memory: the copies that belong to it are made."""
    ctx.asynchronous = True
    return Unsupported(f"{_COMPLETE}{barrier}", "", site)


@dataclass(frozen=True, slots=True, order=True)
class _Open:
    """A copy that may be open. `stale`: issued in an earlier iteration of a loop around it."""

    label: str
    stale: bool


_Group = dict[_Open, bool]
"""What may be in a group: certainly, or on some paths."""


@dataclass(frozen=True)
class _State:
    fresh: _Group
    """Issued, not committed."""
    groups: tuple[_Group, ...] = ()
    """Newest first."""
    count: int | None = 0
    """Groups committed and not yet taken from the front of the queue, where that is known."""

    def all(self) -> _Group:
        found: _Group = {}
        for group in (self.fresh, *self.groups):
            for entry, certain in group.items():
                found[entry] = found.get(entry, False) or certain
        return found


def completed(ctx: Context, kernel: Kernel) -> tuple[Stmt, ...]:
    """The kernel's body without marks; exactly as it was where there is no asynchronous copy."""
    if not ctx.asynchronous:
        return kernel.body
    if not ctx.copies:
        return _unmarked(kernel.body)
    return _Follower(ctx, kernel).run()


def _unmarked(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    out: list[Stmt] = []
    for s in body:
        if isinstance(s, Unsupported) and s.kind.startswith(_MARKS):
            continue
        if isinstance(s, If):
            out.append(replace(s, then=_unmarked(s.then), orelse=_unmarked(s.orelse)))
        elif isinstance(s, Loop):
            out.append(replace(s, head=_unmarked(s.head), body=_unmarked(s.body), latch=_unmarked(s.latch)))
        elif isinstance(s, Block):
            out.append(replace(s, body=_unmarked(s.body)))
        else:
            out.append(s)
    return tuple(out)


class _Follower:
    def __init__(self, ctx: Context, kernel: Kernel) -> None:
        self.ctx = ctx
        self.kernel = kernel
        self.known = points_to(kernel)
        self.loops: tuple[str, ...] = ()
        self.around: dict[str, tuple[str, ...]] = {}
        """The loops around each copy."""
        self.bodies: dict[str, tuple[Stmt, ...]] = {}
        self.flags: dict[str, Expr] = {}
        """Whether a copy that is not made on all paths was made, in this iteration of the loops around it."""
        self.exits: dict[str, _State] = {}

    def run(self) -> tuple[Stmt, ...]:
        start = _State({})
        self._walk(self.kernel.body, start)  # finds where the copies are
        self.exits.clear()
        body, _ = self._walk(self.kernel.body, start)
        # Everywhere a flag holds a value: a copy may be skipped in the first iteration.
        return (*(Assign(flag.value, FALSE) for flag in self.flags.values()), *self._with_flags(body, ()))

    def _with_flags(self, body: tuple[Stmt, ...], loops: tuple[str, ...]) -> tuple[Stmt, ...]:
        """Every flag is lowered where the iteration of the loop around its copy begins."""
        out: list[Stmt] = []
        for s in body:
            if isinstance(s, Loop):
                inner = (*loops, s.label)
                head = (*self._lowered(inner), *self._with_flags(s.head, inner))
                changed = replace(
                    s, head=head, body=self._with_flags(s.body, inner), latch=self._with_flags(s.latch, inner)
                )
                out.append(changed)
            elif isinstance(s, If):
                out.append(replace(s, then=self._with_flags(s.then, loops), orelse=self._with_flags(s.orelse, loops)))
            elif isinstance(s, Block):
                out.append(replace(s, body=self._with_flags(s.body, loops)))
            else:
                out.append(s)
        return tuple(out)

    def _lowered(self, loops: tuple[str, ...]) -> list[Stmt]:
        return [Assign(flag.value, FALSE) for label, flag in self.flags.items() if self.around[label] == loops]

    # --- statements

    def _walk(self, body: tuple[Stmt, ...], state: _State | None) -> tuple[tuple[Stmt, ...], _State | None]:
        out: list[Stmt] = []
        for s in body:
            made, state = self._statement(s, state)
            out += made
        return tuple(out), state

    def _statement(self, s: Stmt, state: _State | None) -> tuple[list[Stmt], _State | None]:
        if isinstance(s, Block):
            if s.label in self.ctx.copies:
                return self._issued(s, state)
            body, state = self._walk(s.body, state)
            return [Block(s.label, body)], _joined(state, self.exits.pop(s.label, None))
        if isinstance(s, If):
            then, one = self._walk(s.then, state)
            orelse, two = self._walk(s.orelse, state)
            return [replace(s, then=then, orelse=orelse)], _joined(one, two)
        if isinstance(s, Loop):
            return self._loop(s, state)
        if isinstance(s, (Exit, Continue)):
            label = s.label if isinstance(s, Exit) else f"{s.label}:continue"
            found = _joined(state, self.exits.get(label))
            if found is not None:
                self.exits[label] = found
            return [s], None
        if isinstance(s, Unsupported) and s.kind.startswith(_MARKS):
            following = self._marked(s.kind, state)
            return self._closed(state, following), following
        if state is None or not state.all():
            return [s], state
        if isinstance(s, Barrier):
            return [s, *self._behind(s, state)], state
        if isinstance(s, (Load, Store, Atomic)):
            return [*self._own(s, state), s], state
        return [s], state

    def _closed(self, before: _State | None, after: _State | None) -> list[Stmt]:
        if before is None or after is None:
            return []
        labels = {e.label for e in before.all()} - {e.label for e in after.all()}
        return [Assign(self.flags[label].value, FALSE) for label in sorted(labels) if label in self.flags]

    def _marked(self, kind: str, state: _State | None) -> _State | None:
        """Copies of a barrier in memory are open until its phase is complete, whatever else the thread waits for."""
        if state is None:
            return None
        barrier = kind.removeprefix(_COMPLETE) if kind.startswith(_COMPLETE) else None
        fresh = {e: c for e, c in state.fresh.items() if self.ctx.copies[e.label].barrier is None}
        kept = {e: c for e, c in state.fresh.items() if self.ctx.copies[e.label].barrier not in (None, barrier)}
        following = replace(state, fresh=fresh)
        if barrier is None:
            following = _marked(kind, following)
        return None if following is None else replace(following, fresh={**following.fresh, **kept})

    def _loop(self, s: Loop, state: _State | None) -> tuple[list[Stmt], _State | None]:
        outer, self.loops = self.loops, (*self.loops, s.label)
        exits = dict(self.exits)
        start, made, after = state, s, state
        for _ in range(MAX_PASSES):
            self.exits = dict(exits)
            head, current = self._walk(s.head, start)
            after = current if s.condition is not TRUE else None
            body, current = self._walk(s.body, current)
            current = _joined(current, self.exits.pop(f"{s.label}:continue", None))
            latch, current = self._walk(s.latch, current)
            made = replace(s, head=head, body=body, latch=latch)
            following = _joined(start, self._aged(current, s.label))
            if following == start:
                break
            start = following
        else:
            text = "which asynchronous copies are open in the loop is not found out"
            made = replace(made, head=(Unsupported("async-copy", text, s.site), *made.head))
        self.loops = outer
        return [made], _joined(after, self.exits.pop(s.label, None))

    def _aged(self, state: _State | None, loop: str) -> _State | None:
        """At the start of the next iteration: what this one issued is from an earlier one."""
        if state is None:
            return None

        def older(group: _Group) -> _Group:
            found: _Group = {}
            for entry, certain in group.items():
                inside = loop in self.around.get(entry.label, ())
                found[_Open(entry.label, entry.stale or inside)] = certain
            return found

        return _State(older(state.fresh), tuple(older(g) for g in state.groups), state.count)

    def _issued(self, s: Block, state: _State | None) -> tuple[list[Stmt], _State | None]:
        self.around[s.label] = self.loops
        self.bodies[s.label] = s.body
        if state is not None:
            if state.all():
                self.ctx.assumptions[APART] = None
            state = replace(state, fresh={**state.fresh, _Open(s.label, False): True})
        flag = self.flags.get(s.label)
        return [*s.body, *([Assign(flag.value, TRUE)] if flag is not None else [])], state

    # --- what an open copy does

    def _behind(self, barrier: Barrier, state: _State) -> list[Stmt]:
        """The accesses of the copies that a barrier finds open, once more."""
        out: list[Stmt] = []
        for entry, certain in sorted(state.all().items()):
            around = self.around[entry.label]
            if entry.stale or around != self.loops[: len(around)]:
                text = "a barrier may find a copy open that was issued in an earlier iteration"
                out.append(Unsupported("async-copy", text, self.ctx.copies[entry.label].site))
                continue
            again = _again(self.ctx, self.bodies[entry.label])
            out += again if certain else [If(self._made(entry.label), again, (), barrier.site)]
        return out

    def _made(self, label: str) -> Expr:
        if label not in self.flags:
            self.flags[label] = var(self.ctx.name("%issued"), BOOL)
        return self.flags[label]

    def _own(self, s: Load | Store | Atomic, state: _State) -> list[Stmt]:
        """Stop where the access of the thread itself touches what an open copy is moving."""
        writes = not isinstance(s, Load) and not (isinstance(s, Atomic) and s.op == "load")
        touched = pointed_objects(s.pointer, self.known)
        out: list[Stmt] = []
        for entry, certain in sorted(state.all().items()):
            copy = self.ctx.copies[entry.label]
            for end in (copy.to, copy.source) if writes else (copy.to,):
                common = touched & pointed_objects(end, self.known)
                if not common and not {"?", "*"} & (touched | pointed_objects(end, self.known)):
                    continue
                condition = _overlap(s.pointer, s.width, end, copy.size)
                if not certain:
                    condition = land(self._made(entry.label), condition)
                text = f"`{s.site.text}` may touch what an asynchronous copy of the same thread still moves"
                stop = Unsupported("async-copy", text, s.site)
                out.append(stop if entry.stale else If(condition, (stop,), (), s.site))
        return out


def _overlap(pointer: Expr, width: int, start: Expr, size: Expr) -> Expr:
    apart = make("ptrdiff", I64, (pointer, start)) if pointer is not start else const(0, I64)
    return land(compare("lt", neg(const(width, I64)), apart), compare("lt", apart, size))


def _beside(body: Iterable[Stmt]) -> tuple[Stmt, ...]:
    """The accesses as those of a copy."""
    out: list[Stmt] = []
    for s in body:
        if isinstance(s, (Load, Store)):
            out.append(replace(s, asynchronous=True))
        elif isinstance(s, Loop):
            out.append(replace(s, head=_beside(s.head), body=_beside(s.body), latch=_beside(s.latch)))
        elif isinstance(s, If):
            out.append(replace(s, then=_beside(s.then), orelse=_beside(s.orelse)))
        elif isinstance(s, Block):
            out.append(replace(s, body=_beside(s.body)))
        else:
            out.append(s)
    return tuple(out)


def _again(ctx: Context, body: Iterable[Stmt]) -> tuple[Stmt, ...]:
    """The same accesses under numbers of their own."""
    out: list[Stmt] = []
    for s in body:
        if isinstance(s, (Load, Store)):
            out.append(replace(s, id=ctx.id()))
        elif isinstance(s, Loop):
            label = ctx.name("loop")
            out.append(
                replace(
                    s,
                    label=label,
                    head=_again(ctx, s.head),
                    body=_again(ctx, s.body),
                    latch=_again(ctx, s.latch),
                )
            )
        elif isinstance(s, If):
            out.append(replace(s, then=_again(ctx, s.then), orelse=_again(ctx, s.orelse)))
        else:
            out.append(s)
    return tuple(out)


def _marked(kind: str, state: _State | None) -> _State | None:
    if state is None:
        return None
    if kind == _COMMIT:
        groups = (state.fresh, *state.groups)
        if len(groups) > MAX_GROUPS:
            groups = (*groups[: MAX_GROUPS - 1], _union(groups[MAX_GROUPS - 1], groups[MAX_GROUPS]))
        return _State({}, groups, None if state.count is None else state.count + 1)
    newest = int(kind.removeprefix(_WAIT))
    if newest == EVERYTHING:
        return _State({}, (), 0)
    if newest == OLDEST:
        if state.count is None or state.count < 1:
            return state
        return _State(state.fresh, _left(state.groups, state.count - 1), state.count - 1)
    count = None if state.count is None else min(state.count, newest)
    return _State(state.fresh, _left(state.groups, newest), count)


def _left(groups: tuple[_Group, ...], newest: int) -> tuple[_Group, ...]:
    """The last place holds all older groups: it is let go only with them."""
    return groups[:newest] if newest < MAX_GROUPS else groups


def _union(one: _Group, two: _Group) -> _Group:
    return {e: one.get(e, False) or two.get(e, False) for e in {*one, *two}}


def _joined(one: _State | None, two: _State | None) -> _State | None:
    if one is None or two is None:
        return one if two is None else two

    def both(a: _Group, b: _Group) -> _Group:
        return {e: a.get(e, False) and b.get(e, False) for e in {*a, *b}}

    length = max(len(one.groups), len(two.groups))
    pad: Callable[[tuple[_Group, ...]], tuple[_Group, ...]] = lambda g: (*g, *({} for _ in range(length - len(g))))  # noqa: E731
    groups = tuple(both(a, b) for a, b in zip(pad(one.groups), pad(two.groups), strict=True))
    return _State(both(one.fresh, two.fresh), groups, one.count if one.count == two.count else None)
