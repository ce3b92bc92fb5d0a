"""Barriers, fences and warp collectives as IR statements."""

from __future__ import annotations

from typing import Literal

from analyzers.frontend.lowering import memory
from analyzers.frontend.lowering.conditionals import condition
from analyzers.frontend.lowering.context import Context
from analyzers.frontend.lowering.designators import pointee
from analyzers.frontend.lowering.invocation import Call
from analyzers.frontend.lowering.nodes import Kinds, Node, stripped, written_by_macro
from analyzers.frontend.lowering.places import Value
from analyzers.ir.expr import BDIM, BOOL, I32, TID, U32, Expr, IntType, add, binary, cast, const, mul
from analyzers.ir.kernel import Barrier, BarrierScope, Collective, Fence, Half, Order, Scope
from analyzers.model import SourceSpan

FULL_WARP = 0xFFFFFFFF
Reduction = tuple[Literal["and", "or", "count"], Expr, str]
"""What a barrier makes of its threads' operands: how, of what, and the variable that holds it."""


def barrier(
    ctx: Context,
    node: Node,
    scope: BarrierScope,
    *,
    mask: Expr | None = None,
    tile: int | None = None,
    reduce: Reduction | None = None,
    within: bool = False,
    number: int | None = None,
    half: Half = "both",
) -> None:
    """Emit a barrier; `node` is the call that makes it."""
    shown = ctx.override or node
    ctx.emit(
        Barrier(
            ctx.id(),
            scope,
            ctx.site(node),
            mask,
            tile,
            reduce,
            _statement(ctx, shown),
            written_by_macro(shown.cursor),
            within,
            number,
            half,
        )
    )


def block_barrier(ctx: Context, node: Node) -> None:
    barrier(ctx, node, "block")


def warp_barrier(ctx: Context, node: Node, mask: Expr | None) -> None:
    if mask is not None and mask.op == "const" and isinstance(mask.ty, IntType):
        mask = None if mask.value & FULL_WARP == FULL_WARP else mask
    barrier(ctx, node, "warp", mask=mask)


def fence(ctx: Context, node: Node, scope: str, order: str) -> None:
    ctx.emit(Fence(ctx.id(), _scope(scope), _order(order), ctx.site(node)))


def _scope(name: str) -> Scope:
    return name  # pyright: ignore[reportReturnType]


def _order(name: str) -> Order:
    return name  # pyright: ignore[reportReturnType]


def _statement(ctx: Context, node: Node) -> SourceSpan | None:
    """The expression statement that consists of this call only, with its semicolon."""
    statement = ctx.statement
    if node.kind == Kinds.ASM:
        statement = node
    elif statement is None or stripped(statement) is not node:
        return None
    span = statement.span
    text = node.table.bytes_of(span.path)
    end = _semicolon(text, span.end_offset)
    if end is None:
        return None
    written = text[span.end_offset : end]
    breaks = written.count(b"\n")
    column = span.end_column + len(written) if not breaks else len(written) - written.rfind(b"\n")
    return SourceSpan(
        span.path, span.start_line, span.start_column, span.end_line + breaks, column, span.start_offset, end
    )


def _semicolon(text: bytes, at: int) -> int | None:
    """The offset after the next semicolon, with blanks and comments before it."""
    if text[at - 1 : at] == b";":
        return at
    while at < len(text):
        letter = text[at : at + 1]
        if letter == b";":
            return at + 1
        if text[at : at + 2] == b"/*":
            at = text.find(b"*/", at) + 2
        elif text[at : at + 2] == b"//":
            at = text.find(b"\n", at)
            if at < 0:
                return None
        elif letter.isspace():
            at += 1
        else:
            return None
    return None


def counting_barrier(ctx: Context, call: Call) -> Value:
    """``__syncthreads_and``, ``_or`` and ``_count``."""
    kind: Literal["and", "or", "count"] = call.name.rsplit("_", 1)[1]  # pyright: ignore[reportAssignmentType]
    operand = condition(ctx, call.args[0])
    result = ctx.temporary(I32, "votes")
    barrier(ctx, call.node, "block", reduce=(kind, operand, result.value))
    return result


def collective(ctx: Context, call: Call) -> Value:
    """A shuffle, vote, match or warp reduction: the operands are the arguments of the call."""
    ctype = call.node.type
    if not ctype.scalar:
        for argument in call.args:
            ctx.value(argument)
        return ctx.unknown_value(ctype, call.name, call.node)
    operands: list[Expr] = []
    predicate = 1 if call.name.endswith("_sync") else 0
    votes = call.name.split("_sync")[0] in ("__all", "__any", "__ballot", "__uni")
    for number, argument in enumerate(call.args):
        if argument.kind == Kinds.UNEXPOSED and not argument.kids and argument.evaluated() is None:
            continue
        operand = condition(ctx, argument) if votes and number == predicate else ctx.scalar(argument)
        operands.append(operand)
    if call.name == "__match_all_sync" and len(call.args) > 2:
        return _match_all(ctx, call, operands)
    return exchange(ctx, call.node, call.name, operands)


def exchange(ctx: Context, node: Node, name: str, operands: list[Expr], group: int | None = None) -> Expr:
    """`group`: see `Collective`."""
    ty = node.type.ir or U32
    result = ctx.temporary(ty, "lane")
    ctx.emit(Collective(ctx.id(), result.value, ty, name, tuple(operands), ctx.site(node), group))
    return result


def _match_all(ctx: Context, call: Call, operands: list[Expr]) -> Value:
    """The third argument of ``__match_all_sync`` is a pointer to the predicate it writes."""
    result = exchange(ctx, call.node, call.name, operands[:2])
    target = pointee(ctx, call.args[2])
    memory.write(ctx, target, cast(cast(result, BOOL), target.type.ir or I32), call.args[2])
    return result


def linear_thread() -> Expr:
    """The thread's number in its block: x + y*Dx + z*Dx*Dy."""
    row = add(TID[1], mul(TID[2], BDIM[1]))
    return add(TID[0], mul(row, BDIM[0]))


def lane() -> Expr:
    return binary("rem", linear_thread(), const(32, U32))


def lane_mask(kind: str) -> Expr:
    """The lanes below (lt), above (gt) or equal to (eq) the thread's own, or with it (le, ge)."""
    bit = binary("shl", const(1, U32), lane())
    below = binary("sub", bit, const(1, U32))
    if kind == "eq":
        return bit
    if kind == "lt":
        return below
    at_most = binary("or", below, bit)
    if kind == "le":
        return at_most
    return binary("xor", const(FULL_WARP, U32), at_most if kind == "gt" else below)
