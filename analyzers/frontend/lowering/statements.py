"""Expressions as statements, declarations, blocks and assembly."""

from __future__ import annotations

from analyzers.frontend.lowering import assembly, declarations
from analyzers.frontend.lowering.context import Context, statements
from analyzers.frontend.lowering.effects import ctx_effect
from analyzers.frontend.lowering.nodes import Kinds, Node


@statements(0)
def expression_statement(ctx: Context, node: Node) -> None:
    if node.kind >= Kinds.UNEXPOSED_STMT and node.kind < 300:
        kids = [k for k in node.kids if k.kind < 400]
        if node.kind == Kinds.UNEXPOSED_STMT and len(kids) <= 1:
            for kid in kids:  # an attributed statement: [[likely]], #pragma unroll
                ctx.lower(kid)
            return
        ctx.unsupported("statement", f"{node.text[:60]!r}", node)
        return
    if 400 <= node.kind < 500:
        return
    saved = ctx.statement
    if ctx.override is None:
        ctx.statement = node
    try:
        ctx_effect(ctx, node)
    finally:
        ctx.statement = saved


@statements(Kinds.NULL_STMT)
def nothing(_ctx: Context, _node: Node) -> None:
    """An empty statement."""


@statements(Kinds.DECL_STMT)
def declaration(ctx: Context, node: Node) -> None:
    for kid in node.kids:
        if kid.kind == Kinds.VAR:
            declarations.declare(ctx, kid)
        elif kid.kind == Kinds.UNEXPOSED_DECL:
            declarations.declare_bindings(ctx, kid)


@statements(Kinds.VAR)
def variable(ctx: Context, node: Node) -> None:
    declarations.declare(ctx, node)


@statements(Kinds.COMPOUND)
def compound(ctx: Context, node: Node) -> None:
    ctx.lower_all(node.kids)


@statements(Kinds.ASM, Kinds.MS_ASM)
def asm_statement(ctx: Context, node: Node) -> None:
    assembly.lower(ctx, node)


@statements(Kinds.TRY)
def try_statement(ctx: Context, node: Node) -> None:
    ctx.unsupported("statement", "exceptions in device code", node)
