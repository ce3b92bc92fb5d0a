"""Asynchronous copies: what they may still do between their issue and the wait that covers them.

The lowering marks copies, commits and waits (`issue`, `commit`, `wait`); `completed` follows which copies may be open
where (`in_flight`), and replaces the marks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from analyzers.frontend.lowering.batches import batched
from analyzers.frontend.lowering.context import Context, Copy
from analyzers.frontend.lowering.copy_shapes import is_regular
from analyzers.frontend.lowering.in_flight import Follower
from analyzers.frontend.lowering.nodes import Node
from analyzers.frontend.lowering.open_copies import COMMIT, COMPLETE, EVERYTHING, MARKS, OLDEST, WAIT
from analyzers.ir.expr import I64, Expr, IntType, cast
from analyzers.ir.kernel import Block, If, Kernel, Load, Loop, Site, Stmt, Store, Unsupported

__all__ = ["EVERYTHING", "OLDEST", "commit", "completed", "completed_on", "issue", "wait"]

_COPY = "%copy"


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
    ctx.emit(Unsupported(COMMIT, "", ctx.site(node)))


def wait(ctx: Context, node: Node, newest: Expr | int) -> None:
    """Wait until at most the `newest` groups are open; a number that is not known waits for nothing."""
    number = newest if isinstance(newest, int) else int(newest.value) if newest.op == "const" else None
    if number is None:
        return
    ctx.asynchronous = True
    ctx.emit(Unsupported(f"{WAIT}{number}", "", ctx.site(node)))


def completed_on(ctx: Context, barrier: str, site: Site) -> Stmt:
    """The mark of the end of a phase of a barrier in memory: the copies that belong to it are made."""
    ctx.asynchronous = True
    return Unsupported(f"{COMPLETE}{barrier}", "", site)


def completed(ctx: Context, kernel: Kernel) -> tuple[Stmt, ...]:
    """The kernel's body without marks; exactly as it was where there is no asynchronous copy."""
    if not ctx.asynchronous:
        return kernel.body
    if not ctx.copies:
        return _unmarked(kernel.body)
    follower = Follower(ctx, kernel)
    body = follower.run()
    if not follower.lost:
        return body
    kernel = replace(kernel, body=batched(ctx, kernel.body))
    follower = Follower(ctx, kernel)
    body = follower.run()
    if follower.lost and is_regular(kernel.body):
        return Follower(ctx, kernel, counting=True).run()
    return body


def _unmarked(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    out: list[Stmt] = []
    for s in body:
        if isinstance(s, Unsupported) and s.kind.startswith(MARKS):
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
