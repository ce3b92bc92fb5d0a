"""The accesses of asynchronous copies: made once more, and compared with those of the thread itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from analyzers.frontend.lowering.batches import expressions, replaced
from analyzers.frontend.lowering.context import Context
from analyzers.ir.expr import I64, Expr, compare, const, land, make, neg, walk
from analyzers.ir.kernel import Assign, Atomic, Collective, Havoc, If, Load, Loop, Stmt, Store, Unsupported, statements


def disturbed(s: Load | Store | Atomic) -> Unsupported:
    text = f"`{s.site.text}` may touch what an asynchronous copy of the same thread still moves"
    return Unsupported("async-copy", text, s.site)


def overlap(pointer: Expr, width: int, start: Expr, size: Expr) -> Expr:
    apart = make("ptrdiff", I64, (pointer, start)) if pointer is not start else const(0, I64)
    return land(compare("lt", neg(const(width, I64)), apart), compare("lt", apart, size))


def free_variables(body: tuple[Stmt, ...], more: Iterable[Expr]) -> dict[Expr, None]:
    """The variables whose values come from outside."""
    inside = statements(body)
    assigned = {s.var for s in inside if isinstance(s, (Assign, Load, Atomic, Havoc, Collective))}
    read = [e for s in inside for e in expressions(s)]
    return dict.fromkeys(n for e in (*more, *read) for n in walk((e,)) if n.op == "var" and n.value not in assigned)


def named(body: tuple[Stmt, ...], more: Iterable[Expr]) -> set[str]:
    """The variables that the statements of a copy set or read."""
    inside = statements(body)
    read = [*more, *(e for s in inside for e in expressions(s))]
    found = {s.var for s in inside if isinstance(s, (Assign, Load, Atomic, Havoc, Collective)) and s.var is not None}
    return found | {n.value for n in walk(read) if n.op == "var"}


def made_again(ctx: Context, body: Iterable[Stmt], then: dict[Expr, Expr]) -> tuple[Stmt, ...]:
    """The same accesses under numbers of their own, with other values of some variables."""
    out: list[Stmt] = []
    for s in body:
        changed = replaced(s, then) if then else {}
        if isinstance(s, (Load, Store)):
            changed["id"] = ctx.id()
        elif isinstance(s, Loop):
            parts = {part: made_again(ctx, getattr(s, part), then) for part in ("head", "body", "latch")}
            changed |= {"label": ctx.name("loop"), **parts}
        elif isinstance(s, If):
            changed |= {side: made_again(ctx, getattr(s, side), then) for side in ("then", "orelse")}
        out.append(replace(s, **changed) if changed else s)
    return tuple(out)
