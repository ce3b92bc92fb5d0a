"""Values with parts, and objects without a name: initialiser lists, lambdas, what `new` gives."""

from __future__ import annotations

from analyzers.frontend.lowering import class_values, closures, initialisation, memory
from analyzers.frontend.lowering.context import Context, values, zero
from analyzers.frontend.lowering.effects import ctx_effect
from analyzers.frontend.lowering.nodes import REFERENCES, Kinds, Node
from analyzers.frontend.lowering.places import Value
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


@values(Kinds.NEW)
def allocation(ctx: Context, node: Node) -> Value:
    for kid in node.kids:
        if kid.kind not in REFERENCES and kid.type.scalar:
            ctx_effect(ctx, kid)
    return fresh_memory(ctx, node)


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
