"""Expressions of which only the effects count, and those that have no value here."""

from __future__ import annotations

from analyzers.frontend.lowering.context import Context, values
from analyzers.frontend.lowering.nodes import CASTS, REFERENCES, Kinds, Node, stripped
from analyzers.frontend.lowering.places import Value
from analyzers.ir.kernel import Observe


def ctx_effect(ctx: Context, node: Node) -> None:
    """Evaluate for the side effects only: reading an object without using it is no access."""
    inner = stripped(node)
    while inner.kind in CASTS:
        kids = [k for k in inner.kids if k.kind not in REFERENCES]
        if not kids or inner.type.shape != "void":
            break
        inner = stripped(kids[-1])
    saved = ctx.discarded
    ctx.discarded = inner
    try:
        if inner.kind in (Kinds.DECL_REF, Kinds.MEMBER, Kinds.SUBSCRIPT) and not inner.type.volatile:
            if inner.kind != Kinds.DECL_REF:
                ctx.place(inner)
            return
        stepping = inner.kind == Kinds.UNARY and inner.operator in ("++", "--")
        if stepping or (inner.kind == Kinds.UNARY and inner.operator == "*" and not inner.type.volatile):
            ctx.place(inner)
            return
        ctx.value(inner)
    finally:
        ctx.discarded = saved


@values(Kinds.STATEMENT_EXPR)
def statement_expression(ctx: Context, node: Node) -> Value:
    body = node.kids[0].kids
    for statement in body[:-1]:
        ctx.lower(statement)
    if not body:
        return None
    if node.type.shape == "void":
        ctx.lower(body[-1])
        return None
    return ctx.value(body[-1])


@values(Kinds.DELETE)
def deallocation(ctx: Context, node: Node) -> Value:
    ctx.emit(Observe("free", ctx.site(node)))
    for kid in node.kids:
        ctx_effect(ctx, kid)
        given = stripped(kid).type.element if stripped(kid).type.shape == "pointer" else None
        if given is not None and given.shape == "record" and given.record.has_destructor():
            ctx.unsupported("destructor", f"{given.spelling} has a destructor with effects", node)
    return None


@values(Kinds.THROW, Kinds.TYPEID)
def exceptional(ctx: Context, node: Node) -> Value:
    return ctx.unsupported_value("expression", f"{node.text[:60]!r} in device code", node)
