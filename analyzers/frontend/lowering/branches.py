"""`if`, and where the header of a control statement stands."""

from __future__ import annotations

import re

from analyzers.frontend.lowering.conditionals import condition
from analyzers.frontend.lowering.context import Context, statements
from analyzers.frontend.lowering.literals import constant
from analyzers.frontend.lowering.nodes import Kinds, Node
from analyzers.ir.expr import BOOL, Expr
from analyzers.ir.kernel import If, Site, Stmt
from analyzers.model import SourceSpan


@statements(Kinds.IF)
def if_statement(ctx: Context, node: Node) -> None:
    kids = list(node.kids)
    while len(kids) > 2 and kids[0].kind in (Kinds.DECL_STMT, Kinds.VAR):
        ctx.lower(kids.pop(0))
    if len(kids) > 2 and _ends_with_semicolon(node, kids[0], kids[1]):
        ctx.lower(kids.pop(0))
    if not kids:
        return
    test, rest = kids[0], kids[1:]
    c = _if_condition(ctx, node, test)
    then = rest[0] if rest else None
    orelse = rest[1] if len(rest) > 1 else None
    if c.op == "const":
        chosen = then if c.value else orelse
        if chosen is not None:
            ctx.lower(chosen)
        return
    taken, skipped = _captured(ctx, then), _captured(ctx, orelse)
    if taken or skipped:
        ctx.emit(If(c, taken, skipped, header_site(ctx, node, then)))


def _captured(ctx: Context, node: Node | None) -> tuple[Stmt, ...]:
    if node is None:
        return ()
    with ctx.branch() as body:
        ctx.lower(node)
    return tuple(body)


def _ends_with_semicolon(node: Node, first: Node, second: Node) -> bool:
    text = node.table.bytes_of(node.span.path)[first.span.end_offset : second.span.start_offset]
    return b";" in text and b")" not in text


_CONSTEXPR = re.compile(rb"if\s*constexpr\b")


def _if_condition(ctx: Context, node: Node, test: Node) -> Expr:
    text = node.table.bytes_of(node.span.path)
    if _CONSTEXPR.match(text, node.span.start_offset):
        value = constant(test.evaluated(), BOOL)
        if value is not None:
            return value
    return condition(ctx, test)


def header_site(ctx: Context, node: Node, body: Node | None) -> Site:
    """The statement's site, its text cut before the body."""
    span = node.span
    text = node.text if body is None else node.table.text(_until(span, body.span))
    return ctx.site(node, " ".join(text.split()))


def _until(span: SourceSpan, body: SourceSpan) -> SourceSpan:
    end = body.start_offset if span.start_offset < body.start_offset <= span.end_offset else span.end_offset
    return SourceSpan(
        span.path, span.start_line, span.start_column, body.start_line, body.start_column, span.start_offset, end
    )
