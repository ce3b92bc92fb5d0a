"""Expressions as statements, declarations, blocks, labels and jumps."""

from __future__ import annotations

from analyzers.frontend.lowering import assembly, declarations
from analyzers.frontend.lowering.context import BLOCK_OF, Context, statements
from analyzers.frontend.lowering.effects import ctx_effect
from analyzers.frontend.lowering.nodes import Kinds, Node
from analyzers.ir.expr import TRUE
from analyzers.ir.kernel import Block, Continue, Exit, Loop


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
    block(ctx, node.kids)


def block(ctx: Context, nodes: list[Node]) -> None:
    """The statements of a block. A label turns what stands before it into a Block that a goto leaves, and what
    follows it into a Loop that a goto continues."""
    for at, node in enumerate(nodes):
        if node.kind == Kinds.LABEL:
            _labelled(ctx, nodes, at)
            return
    for node in nodes:
        ctx.lower(node)


BLOCK_OF.append(block)


def _labelled(ctx: Context, nodes: list[Node], at: int) -> None:
    label = nodes[at]
    before, after = nodes[:at], [*[k for k in label.kids if k.kind != Kinds.LABEL], *nodes[at + 1 :]]
    inner_labels = [k for k in label.kids if k.kind == Kinds.LABEL]
    name = ctx.name(f"goto:{label.name}")
    key = label.name
    frame = ctx.frame
    if _gotos(before, label.name):
        frame.gotos[key] = ("exit", name)
        with ctx.branch() as body:
            for node in before:
                ctx.lower(node)
        frame.gotos.pop(key, None)
        ctx.emit(Block(name, tuple(body)))
    else:
        for node in before:
            ctx.lower(node)
    rest = [*inner_labels, *after]
    if not _gotos(after, label.name):
        block(ctx, rest)
        return
    again = ctx.name(f"again:{label.name}")
    frame.gotos[key] = ("continue", again)
    with ctx.branch() as body:
        block(ctx, rest)
    frame.gotos.pop(key, None)
    body.append(Exit(again, "break", ctx.site(label, "")))
    ctx.emit(Loop(again, (), TRUE, tuple(body), (), ctx.site(label, f"{label.name}:")))


def _gotos(nodes: list[Node], name: str) -> bool:
    """Whether a goto to the label stands below."""
    for node in nodes:
        if node.kind == Kinds.GOTO:
            if any(k.name == name for k in node.kids):
                return True
        elif node.kind >= Kinds.UNEXPOSED_STMT and node.kind < 300 and _gotos(node.kids, name):
            return True
    return False


@statements(Kinds.LABEL)
def stray_label(ctx: Context, node: Node) -> None:
    for kid in node.kids:
        ctx.lower(kid)


@statements(Kinds.GOTO, Kinds.INDIRECT_GOTO)
def goto(ctx: Context, node: Node) -> None:
    for kid in node.kids:
        if kid.name in ctx.frame.gotos:
            kind, name = ctx.frame.gotos[kid.name]
            site = ctx.site(node)
            ctx.emit(Exit(name, "break", site) if kind == "exit" else Continue(name, site))
            return
    ctx.unsupported("goto", f"{node.text[:40]!r} jumps into or across a statement", node)


@statements(Kinds.ASM, Kinds.MS_ASM)
def asm_statement(ctx: Context, node: Node) -> None:
    assembly.lower(ctx, node)


@statements(Kinds.TRY)
def try_statement(ctx: Context, node: Node) -> None:
    ctx.unsupported("statement", "exceptions in device code", node)
