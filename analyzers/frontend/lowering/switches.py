"""`switch`: its labelled sections become conditional segments of one block."""

from __future__ import annotations

from analyzers.frontend.lowering import memory
from analyzers.frontend.lowering.context import Context, statements
from analyzers.frontend.lowering.loops import leaves
from analyzers.frontend.lowering.nodes import Kinds, Node
from analyzers.ir.expr import FALSE, I32, TRUE, Expr, IntType, compare, const, land, lnot, lor
from analyzers.ir.kernel import Block, Continue, Exit, If, Stmt


class _Segment:
    """The statements between one group of case labels and the next."""

    def __init__(self) -> None:
        self.values: list[tuple[int, int]] = []
        self.default = False
        self.nodes: list[Node] = []


@statements(Kinds.SWITCH)
def switch_statement(ctx: Context, node: Node) -> None:
    kids = list(node.kids)
    body = kids.pop()
    for part in kids[:-1]:
        ctx.lower(part)
    if not kids:
        return
    selector = ctx.held(memory.convert_scalar(ctx, ctx.scalar(kids[-1]), _selector_type(kids[-1])), "switch")
    segments = _segments(ctx, body)
    if segments is None:
        ctx.unsupported("switch", "a case label inside another statement", node)
        return
    label = ctx.name("switch")
    matched_by_case = lor(*[_matches(selector, s.values) for s in segments if s.values])
    ctx.frame.exits.append((label, _enclosing_continue(ctx), "switch-break"))
    with ctx.captured() as out:
        falling: Expr = FALSE
        for segment in segments:
            guard = lor(_matches(selector, segment.values), falling)
            if segment.default:
                guard = lor(guard, lnot(matched_by_case))
            if guard is FALSE:
                continue
            certain = guard is TRUE and not leaves(out, label) and not _breaks_inside(segment.nodes)
            with ctx.captured() if certain else ctx.branch() as inner:
                for statement in segment.nodes:
                    ctx.lower(statement)
            ends = _drop_last_break(inner, label) or ctx.frame.done
            if inner:
                first = segment.nodes[0]
                if guard is TRUE:
                    ctx.out.extend(inner)
                else:
                    ctx.emit(If(guard, tuple(inner), (), ctx.site(first, f"case {_case_text(segment)}")))
            falling = FALSE if ends else guard
    ctx.frame.exits.pop()
    if leaves(out, label):
        ctx.emit(Block(label, tuple(out)))
    else:
        ctx.out.extend(out)


def _selector_type(node: Node) -> IntType:
    return node.type.ir if isinstance(node.type.ir, IntType) else I32


def _enclosing_continue(ctx: Context) -> str | None:
    return ctx.frame.exits[-1][1] if ctx.frame.exits else None


def _case_text(segment: _Segment) -> str:
    shown = [str(low) if low == high else f"{low} … {high}" for low, high in segment.values]
    return ", ".join([*shown, "default"] if segment.default else shown)


def _matches(selector: Expr, values: list[tuple[int, int]]) -> Expr:
    ty = selector.ty
    assert isinstance(ty, IntType)
    tests: list[Expr] = []
    for low, high in values:
        if low == high:
            tests.append(compare("eq", selector, const(low, ty)))
        else:
            tests.append(land(compare("le", const(low, ty), selector), compare("le", selector, const(high, ty))))
    return lor(*tests)


def _segments(ctx: Context, body: Node) -> list[_Segment] | None:
    segments: list[_Segment] = []
    for node in body.kids if body.kind == Kinds.COMPOUND else [body]:
        if node.kind in (Kinds.CASE, Kinds.DEFAULT):
            if not segments or segments[-1].nodes:
                segments.append(_Segment())
            statement = _unwrap_case(ctx, node, segments[-1])
            if statement is not None:
                segments[-1].nodes.append(statement)
            if statement is not None and _has_case(statement):
                return None
        else:
            if _has_case(node):
                return None
            if not segments:
                segments.append(_Segment())  # unreachable code or declarations before the first label
            segments[-1].nodes.append(node)
    return segments


def _unwrap_case(ctx: Context, node: Node, segment: _Segment) -> Node | None:
    """Take the labels off a statement and add them to the segment."""
    while node.kind in (Kinds.CASE, Kinds.DEFAULT):
        if node.kind == Kinds.DEFAULT:
            segment.default = True
            inner = node.kids
        else:
            values = [k for k in node.kids if 100 <= k.kind < 200]
            low = values[0].evaluated() if values else None
            ranged = len(values) > 2 or (len(values) == 2 and len(node.kids) > 2 and "..." in _label_text(node, values))
            high = values[1].evaluated() if ranged else low
            if not isinstance(low, int) or not isinstance(high, int):
                ctx.unsupported("switch", "a case value that is not known", node)
                low = high = 0
            segment.values.append((low, high))
            inner = node.kids[2 if ranged else 1 :]
        if not inner:
            return None
        node = inner[-1]
    return node


def _label_text(node: Node, values: list[Node]) -> str:
    return node.table.bytes_of(node.span.path)[values[0].span.end_offset : values[1].span.start_offset].decode(
        "utf-8", "replace"
    )


def _has_case(node: Node) -> bool:
    if node.kind in (Kinds.CASE, Kinds.DEFAULT):
        return True
    if node.kind == Kinds.SWITCH or node.kind < Kinds.UNEXPOSED_STMT or node.kind >= 300:
        return False
    return any(_has_case(k) for k in node.kids)


def _breaks_inside(nodes: list[Node]) -> bool:
    """Whether a break of this switch stands inside another statement."""
    for node in nodes:
        encloses = Kinds.UNEXPOSED_STMT <= node.kind < 300 and node.kind not in _CATCH_BREAK
        if encloses and (any(k.kind == Kinds.BREAK for k in node.kids) or _breaks_inside(node.kids)):
            return True
    return False


_CATCH_BREAK = frozenset({Kinds.FOR, Kinds.WHILE, Kinds.DO, Kinds.SWITCH, Kinds.RANGE_FOR})


def _drop_last_break(inner: list[Stmt], label: str) -> bool:
    """Remove a final break of the switch; says whether control never falls out of the end."""
    while inner and isinstance(inner[-1], Exit) and inner[-1].label == label:
        inner.pop()
        return True
    return bool(inner) and isinstance(inner[-1], (Exit, Continue))
