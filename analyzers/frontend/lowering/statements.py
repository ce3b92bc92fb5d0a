"""Statements: blocks and labels, branches, loops, switches, and the ways out of them."""

from __future__ import annotations

import re

from analyzers.frontend.lowering import assembly, memory, objects
from analyzers.frontend.lowering.calls import result_storage, returned
from analyzers.frontend.lowering.context import BLOCK_OF, Context, statements
from analyzers.frontend.lowering.expressions import condition, constant, ctx_effect, held_place
from analyzers.frontend.lowering.nodes import Kinds, Node, stripped
from analyzers.frontend.lowering.places import Closure, FunctionPlace, Place, ValuePlace, VarPlace
from analyzers.ir.expr import (
    BOOL,
    FALSE,
    I32,
    I64,
    PTR,
    TRUE,
    U64,
    Expr,
    IntType,
    binary,
    compare,
    const,
    land,
    lnot,
    lor,
    var,
)
from analyzers.ir.kernel import KERNEL_BLOCK, Assign, Block, Continue, Exit, If, Loop, Site, Stmt
from analyzers.model import SourceSpan

# --- expression and declaration statements ------------------------------------------------------------------


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
            objects.declare(ctx, kid)
        elif kid.kind == Kinds.UNEXPOSED_DECL:
            objects.declare_bindings(ctx, kid)


@statements(Kinds.VAR)
def variable(ctx: Context, node: Node) -> None:
    objects.declare(ctx, node)


# --- blocks and labels --------------------------------------------------------------------------------------


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


# --- branches -----------------------------------------------------------------------------------------------


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
        ctx.emit(If(c, taken, skipped, _header_site(ctx, node, then)))


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


def _header_site(ctx: Context, node: Node, body: Node | None) -> Site:
    """The statement's site, its text cut before the body."""
    span = node.span
    text = node.text if body is None else node.table.text(_until(span, body.span))
    return ctx.site(node, " ".join(text.split()))


def _until(span: SourceSpan, body: SourceSpan) -> SourceSpan:
    end = body.start_offset if span.start_offset < body.start_offset <= span.end_offset else span.end_offset
    return SourceSpan(
        span.path, span.start_line, span.start_column, body.start_line, body.start_column, span.start_offset, end
    )


# --- loops --------------------------------------------------------------------------------------------------


@statements(Kinds.FOR)
def for_statement(ctx: Context, node: Node) -> None:
    if not node.kids:
        return
    body = node.kids[-1]
    init, test, step = _for_slots(node, node.kids[:-1], body)
    for part in init:
        ctx.lower(part)
    _loop(ctx, node, test, step, body)


def _for_slots(node: Node, parts: list[Node], body: Node) -> tuple[list[Node], list[Node], list[Node]]:
    """Which of the three slots each child of a ``for`` header fills: libclang drops empty ones."""
    semicolons = _header_semicolons(node, body)
    slots: tuple[list[Node], list[Node], list[Node]] = ([], [], [])
    if semicolons is None:
        return _guessed_slots(parts)
    first, second = semicolons
    for part in parts:
        at = part.start
        slots[0 if at < first else 1 if at < second else 2].append(part)
    return slots


def _header_semicolons(node: Node, body: Node) -> tuple[int, int] | None:
    """Offsets of the two semicolons of the header, or None when a macro wrote it."""
    span = node.span
    text = node.table.bytes_of(span.path)
    at = span.start_offset
    if text[at : at + 3] != b"for" or body.span.start_offset <= at:
        return None
    end = max(body.span.start_offset, at)
    found: list[int] = []
    depth = 0
    at += 3
    while at < end or (len(found) < 2 and at < span.end_offset):
        letter = text[at : at + 1]
        if letter in (b'"', b"'"):
            at = _past_literal(text, at)
            continue
        if text[at : at + 2] == b"//":
            at = text.find(b"\n", at)
            continue
        if text[at : at + 2] == b"/*":
            at = text.find(b"*/", at) + 2
            continue
        if letter in (b"(", b"{", b"["):
            depth += 1
        elif letter in (b")", b"}", b"]"):
            depth -= 1
            if not depth:
                break
        elif letter == b";" and depth == 1:
            found.append(at)
        at += 1
    return (found[0], found[1]) if len(found) == 2 else None


def _past_literal(text: bytes, at: int) -> int:
    quote = text[at]
    at += 1
    while at < len(text) and text[at] != quote:
        at += 2 if text[at] == 0x5C else 1
    return at + 1


def _guessed_slots(parts: list[Node]) -> tuple[list[Node], list[Node], list[Node]]:
    slots: tuple[list[Node], list[Node], list[Node]] = ([], [], [])
    if len(parts) == 3:
        return ([parts[0]], [parts[1]], [parts[2]])
    for part in parts:
        bare = stripped(part)
        if part.kind == Kinds.DECL_STMT:
            slots[0].append(part)
        elif part.type.shape == "integer" and part.type.ir == BOOL and bare.kind != Kinds.COMPOUND_ASSIGN:
            slots[1].append(part)
        elif not slots[0] and not slots[1] and bare.kind == Kinds.BINARY and bare.operator == "=" and len(parts) > 1:
            slots[0].append(part)
        else:
            slots[2].append(part)
    return slots


@statements(Kinds.WHILE)
def while_statement(ctx: Context, node: Node) -> None:
    _loop(ctx, node, node.kids[:-1], [], node.kids[-1])


def _loop(ctx: Context, node: Node, test: list[Node], step: list[Node], body: Node) -> None:
    label = ctx.name("loop")
    c = TRUE
    with ctx.captured() as head:
        for part in test:
            if part.kind in (Kinds.VAR, Kinds.DECL_STMT):
                ctx.lower(part)
            else:
                c = condition(ctx, part)
    ctx.frame.exits.append((label, label, "break"))
    with ctx.branch() as inner:
        ctx.lower(body)
    ctx.frame.exits.pop()
    with ctx.captured() as latch:
        for part in step:
            ctx_effect(ctx, part)
    if c is FALSE:
        ctx.out.extend(head)
        return
    ctx.emit(Loop(label, tuple(head), c, tuple(inner), tuple(latch), _header_site(ctx, node, body)))


@statements(Kinds.DO)
def do_statement(ctx: Context, node: Node) -> None:
    label = ctx.name("loop")
    body, test = node.kids[0], node.kids[-1]
    ctx.frame.exits.append((label, label, "break"))
    with ctx.branch() as inner:
        ctx.lower(body)
    ctx.frame.exits.pop()
    site = ctx.site(node, f"do … while ({test.text})")
    with ctx.captured() as latch:
        c = condition(ctx, test)
    if c is FALSE and not _leaves(inner, label):
        ctx.out.extend(inner)  # do { … } while (0)
        return
    if c is not TRUE:
        latch.append(If(lnot(c), (Exit(label, "break", site),), (), site))
    ctx.emit(Loop(label, (), TRUE, tuple(inner), tuple(latch), site))


def _leaves(body: list[Stmt] | tuple[Stmt, ...], label: str) -> bool:
    """Whether a break or continue of the loop stands below."""
    for s in body:
        if isinstance(s, (Exit, Continue)):
            if s.label == label:
                return True
        elif isinstance(s, If):
            if _leaves(s.then, label) or _leaves(s.orelse, label):
                return True
        elif isinstance(s, Loop):
            if _leaves(s.head, label) or _leaves(s.body, label) or _leaves(s.latch, label):
                return True
        elif isinstance(s, Block) and _leaves(s.body, label):
            return True
    return False


@statements(Kinds.RANGE_FOR)
def range_for(ctx: Context, node: Node) -> None:
    """A range-for over an array; over anything else it is not supported."""
    kids = node.kids
    variables = [k for k in kids if k.kind == Kinds.VAR]
    body = kids[-1]
    ranges = [k for k in kids if k is not body and k.kind != Kinds.VAR and k.kind != Kinds.DECL_STMT]
    for kid in kids:
        if kid.kind == Kinds.DECL_STMT:
            ctx.lower(kid)
    if not variables or not ranges:
        ctx.unsupported("range-for", node.text[:60], node)
        return
    whole = held_place(ctx, ctx.place(ranges[-1]))
    if whole.type.shape != "array" or whole.type.count is None:
        ctx.unsupported("range-for", f"a range of type {whole.type.spelling}", node)
        return
    label = ctx.name("loop")
    counter = var(ctx.name("range"), I64)
    ctx.assign(counter, const(0, I64))
    item = variables[0]
    ctx.frame.exits.append((label, label, "break"))
    with ctx.branch() as inner:
        place = memory.element(ctx, whole, counter, ranges[-1])
        _bind_item(ctx, item, place, ranges[-1])
        ctx.lower(body)
    ctx.frame.exits.pop()
    latch = (Assign(counter.value, binary("add", counter, const(1, I64))),)
    c = compare("lt", counter, const(whole.type.count, I64))
    ctx.emit(Loop(label, (), c, tuple(inner), latch, _header_site(ctx, node, body)))


def _bind_item(ctx: Context, item: Node, place: Place, source: Node) -> None:
    ctype = item.type
    if ctype.shape == "reference":
        ctx.frame.bindings[item.key] = held_place(ctx, place)
        return
    target = memory.storage(ctx, ctype, item.name, item.key, item)
    ctx.frame.bindings[item.key] = target
    if ctype.scalar:
        value = memory.convert_scalar(ctx, memory.read(ctx, place, source), ctype.ir or U64)
        memory.write(ctx, target, value, item)
    else:
        memory.copy(ctx, target, place, item, source)


# --- switch -------------------------------------------------------------------------------------------------


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
            certain = guard is TRUE and not _leaves(out, label) and not _breaks_inside(segment.nodes)
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
    if _leaves(out, label):
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


# --- ways out -----------------------------------------------------------------------------------------------


@statements(Kinds.BREAK)
def break_statement(ctx: Context, node: Node) -> None:
    if not ctx.frame.exits:
        ctx.unsupported("statement", "break outside of a loop", node)
        return
    label, _, kind = ctx.frame.exits[-1]
    ctx.emit(Exit(label, kind, ctx.site(node)))  # pyright: ignore[reportArgumentType]


@statements(Kinds.CONTINUE)
def continue_statement(ctx: Context, node: Node) -> None:
    for _, label, _ in reversed(ctx.frame.exits):
        if label is not None:
            ctx.emit(Continue(label, ctx.site(node)))
            return
    ctx.unsupported("statement", "continue outside of a loop", node)


@statements(Kinds.RETURN)
def return_statement(ctx: Context, node: Node) -> None:
    frame = ctx.frame
    value = node.kids[-1] if node.kids else None
    facts = frame.facts
    if not frame.conditional and not frame.jumped:
        if value is not None and facts is not None:
            frame.direct = returned(ctx, value, facts.result)
        elif value is not None:
            ctx_effect(ctx, value)
        frame.done = True
        return
    if value is not None:
        target = result_storage(ctx, frame)
        if target is None or facts is None:
            ctx_effect(ctx, value)
        elif facts.result.shape == "reference":
            place = ctx.place(value)
            pointer = memory.address(ctx, place, value)
            ctx.assign(var(getattr(target, "name", ""), PTR), pointer)
        else:
            _return_value(ctx, target, value)
    if facts is not None and not frame.jumped:
        frame.jumped = True
        frame.label = ctx.name(frame.label)
    ctx.emit(Exit(frame.label or KERNEL_BLOCK, "return", ctx.site(node)))
    if not frame.conditional:
        frame.done = True


def _return_value(ctx: Context, target: Place, value: Node) -> None:
    raw = returned(ctx, value, target.type)
    if isinstance(raw, (Closure, FunctionPlace)):
        ctx.unsupported("indirect-call", "a function object chosen at run time", value)
    elif isinstance(raw, Expr):
        if isinstance(target, VarPlace):
            ctx.assign(var(target.name, raw.ty), raw)
        else:
            memory.copy(ctx, target, ValuePlace(raw, target.type), value)
    elif raw is not None:
        memory.copy(ctx, target, raw, value)


@statements(Kinds.ASM, Kinds.MS_ASM)
def asm_statement(ctx: Context, node: Node) -> None:
    assembly.lower(ctx, node)


@statements(Kinds.TRY)
def try_statement(ctx: Context, node: Node) -> None:
    ctx.unsupported("statement", "exceptions in device code", node)
