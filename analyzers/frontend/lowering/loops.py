"""`for`, `while`, `do` and range `for`."""

from __future__ import annotations

from analyzers.frontend.lowering import class_values, memory
from analyzers.frontend.lowering.branches import header_site
from analyzers.frontend.lowering.conditionals import condition
from analyzers.frontend.lowering.context import Context, statements
from analyzers.frontend.lowering.designators import held_place
from analyzers.frontend.lowering.effects import ctx_effect
from analyzers.frontend.lowering.implicit_copies import runs_code
from analyzers.frontend.lowering.nodes import Kinds, Node, stripped
from analyzers.frontend.lowering.places import Place
from analyzers.ir.expr import BOOL, FALSE, I64, TRUE, U64, binary, compare, const, lnot, var
from analyzers.ir.kernel import Assign, Block, Continue, Exit, If, Loop, Stmt


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


def _name(ctx: Context, node: Node) -> str:
    """Of a loop, by its place among those of its function's text: whatever instance of a template it stands in, what is
    asked about it has the same words, and one answer."""
    frame = ctx.frame
    if frame.body is None:
        return ctx.name("loop")
    number = ctx.table.loops_before(node) - ctx.table.loops_before(frame.body)
    return ctx.name(f"loop.{number}" if frame.facts is None else f"loop.{frame.name}.{number}")


def _loop(ctx: Context, node: Node, test: list[Node], step: list[Node], body: Node) -> None:
    label = _name(ctx, node)
    c = TRUE
    with ctx.lives() as own:
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
    ctx.emit(Loop(label, tuple(head), c, tuple(inner), tuple(latch), header_site(ctx, node, body), tuple(own)))


@statements(Kinds.DO)
def do_statement(ctx: Context, node: Node) -> None:
    label = _name(ctx, node)
    body, test = node.kids[0], node.kids[-1]
    with ctx.lives() as own:
        ctx.frame.exits.append((label, label, "break"))
        with ctx.branch() as inner:
            ctx.lower(body)
        ctx.frame.exits.pop()
        site = ctx.site(node, f"do … while ({test.text})")
        with ctx.captured() as latch:
            c = condition(ctx, test)
    if c is FALSE and not leaves(inner, label):
        ctx.out.extend(inner)  # do { … } while (0)
        return
    if c is not TRUE:
        latch.append(If(lnot(c), (Exit(label, "break", site),), (), site))
    ctx.emit(Loop(label, (), TRUE, tuple(inner), tuple(latch), site, tuple(own)))


def leaves(body: list[Stmt] | tuple[Stmt, ...], label: str) -> bool:
    """Whether a break or continue of the loop stands below."""
    for s in body:
        if isinstance(s, (Exit, Continue)):
            if s.label == label:
                return True
        elif isinstance(s, If):
            if leaves(s.then, label) or leaves(s.orelse, label):
                return True
        elif isinstance(s, Loop):
            if leaves(s.head, label) or leaves(s.body, label) or leaves(s.latch, label):
                return True
        elif isinstance(s, Block) and leaves(s.body, label):
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
    label = _name(ctx, node)
    counter = var(ctx.name("range"), I64)
    ctx.assign(counter, const(0, I64))
    item = variables[0]
    ctx.frame.exits.append((label, label, "break"))
    with ctx.lives() as own, ctx.branch() as inner:
        place = memory.element(ctx, whole, counter, ranges[-1])
        _bind_item(ctx, item, place, ranges[-1])
        ctx.lower(body)
    ctx.frame.exits.pop()
    latch = (Assign(counter.value, binary("add", counter, const(1, I64))),)
    c = compare("lt", counter, const(whole.type.count, I64))
    ctx.emit(Loop(label, (), c, tuple(inner), latch, header_site(ctx, node, body), tuple(own)))


def _bind_item(ctx: Context, item: Node, place: Place, source: Node) -> None:
    ctype = item.type
    if ctype.shape == "reference":
        ctx.frame.bindings[item.key] = held_place(ctx, place)
        return
    target = class_values.storage(ctx, ctype, item.name, item.key, item)
    ctx.frame.bindings[item.key] = target
    if ctype.scalar:
        value = memory.convert_scalar(ctx, memory.read(ctx, place, source), ctype.ir or U64)
        memory.write(ctx, target, value, item)
    else:
        if runs_code(ctx.table, target.type):
            ctx.unsupported("constructor", f"copying {target.type.spelling} runs code", item)
        class_values.copy(ctx, target, place, item, source)
