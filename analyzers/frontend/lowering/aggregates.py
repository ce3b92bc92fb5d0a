"""Values with parts, and objects without a name: initialiser lists, lambdas, what `new` gives."""

from __future__ import annotations

import re

from analyzers.frontend.lowering import class_values, closures, constructors, initialisation, memory
from analyzers.frontend.lowering.context import Context, values, zero
from analyzers.frontend.lowering.effects import ctx_effect
from analyzers.frontend.lowering.nodes import REFERENCES, Kinds, Node
from analyzers.frontend.lowering.places import MemPlace, Value
from analyzers.ir.expr import I32, Expr, addr
from analyzers.ir.kernel import MemObject


@values(Kinds.INIT_LIST, Kinds.COMPOUND_LITERAL)
def aggregate(ctx: Context, node: Node) -> Value:
    if node.kind == Kinds.COMPOUND_LITERAL:
        kids = [k for k in node.kids if k.kind not in REFERENCES]
        return ctx.value(kids[-1]) if kids else None
    ctype = node.type
    if ctype.scalar:
        if not node.kids:
            return zero(ctype.ir or I32)
        return memory.convert_scalar(ctx, ctx.scalar(node.kids[0]), ctype.ir or I32)
    if ctype.shape in ("record", "array"):
        target = class_values.storage(ctx, ctype, "%value", None, node)
        initialisation.initialise(ctx, target, node, node)
        return target
    return ctx.unsupported_value("expression", f"cannot read {node.text[:60]!r}", node)


_PLACED = re.compile(r"\s*(?:::\s*)?new\s*\(")


@values(Kinds.NEW)
def allocation(ctx: Context, node: Node) -> Value:
    """``new``: memory of the thread's own, or with one placement argument the memory at that address; the constructor
    runs there."""
    element = node.type.element
    kids = [k for k in node.kids if k.kind not in REFERENCES]
    placed = _placement(node, kids)
    if placed is None:
        return ctx.unsupported_value("placement-new", f"cannot tell where {node.text[:60]!r} constructs", node)
    rest = kids[placed:]
    pointer: Expr | None = None
    if placed:
        if placed > 1 or kids[0].type.shape not in ("pointer", "array"):
            return ctx.unsupported_value("placement-new", f"an allocation function in {node.text[:60]!r}", node)
        pointer = ctx.held(ctx.scalar(kids[0]), "placed")
    sized = bool(rest) and _before(rest[0]) == b"["
    if sized:
        ctx_effect(ctx, rest[0])
    if pointer is None:
        pointer = fresh_memory(ctx, node)
    init = rest[-1] if len(rest) > sized else None
    if init is None or (constructors.is_construction(init) and constructors.trivial_construction(init)):
        return pointer
    if not sized:
        initialisation.initialise(ctx, MemPlace(pointer, element), init, node)
    elif init.type.shape == "array" and init.type.count is not None:
        initialisation.initialise(ctx, MemPlace(pointer, init.type), init, node)
    else:
        ctx.unsupported("constructor", f"an array made by {node.text[:60]!r}", node)
    return pointer


def _placement(node: Node, kids: list[Node]) -> int | None:
    """The number of placement arguments among the expressions of a ``new``; None where a macro hides them."""
    text = node.table.bytes_of(node.span.path)[node.span.start_offset : node.span.end_offset].decode("utf-8", "replace")
    if "new" not in text[:8]:
        return None if kids and kids[0].type.shape in ("pointer", "array") else 0
    found = _PLACED.match(text)
    if found is None:
        return 0
    depth, end = 1, found.end()
    while end < len(text) and depth:
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        end += 1
    following = text[end:].lstrip()
    if not following or not (following[0].isalpha() or following[0] in "_:("):
        return 0
    # A type in parentheses stands in the same place: it has no expression in it.
    first = node.span.start_offset
    close = first + len(text[:end].encode())
    return sum(1 for k in kids if first < k.start < close)


def _before(node: Node) -> bytes:
    return node.table.bytes_of(node.span.path)[: node.start].rstrip()[-1:]


def fresh_memory(ctx: Context, node: Node) -> Expr:
    """Memory from the device heap: nobody else knows its address until the thread hands it on."""
    name = ctx.name("allocated")
    size = max(node.type.element.size, 1) if node.type.shape == "pointer" else 1
    ctx.objects[name] = MemObject(name, "local", "unknown", None, size, (), "allocated", span=node.span)
    ctx.assumptions["memory allocated in device code is used by the thread that allocated it only"] = None
    return addr(name)


@values(Kinds.LAMBDA)
def lambda_value(ctx: Context, node: Node) -> Value:
    return closures.closure(ctx, node)
