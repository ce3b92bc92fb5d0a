"""Atomic operations: the CUDA functions and the generic forms of the bundled headers."""

from __future__ import annotations

from analyzers.frontend.lowering import class_values, memory
from analyzers.frontend.lowering.barriers import order_and_scope
from analyzers.frontend.lowering.context import Context, zero
from analyzers.frontend.lowering.designators import pointee
from analyzers.frontend.lowering.intrinsics import INTRINSICS, intrinsic
from analyzers.frontend.lowering.invocation import Call
from analyzers.frontend.lowering.nodes import Kinds, Node, stripped
from analyzers.frontend.lowering.places import MemPlace, RecordValue, Value
from analyzers.ir.expr import F64, I64, U64, Expr, compare, const, ptradd
from analyzers.ir.kernel import Atomic, Order, Scope


def target_of(ctx: Context, pointer: Node) -> tuple[MemPlace, Node]:
    """The object behind a pointer argument, and the lvalue to show for it."""
    bare = stripped(pointer)
    while bare.kind in (Kinds.C_CAST, Kinds.STATIC_CAST, Kinds.REINTERPRET_CAST, Kinds.CONST_CAST) and bare.kids:
        inner = stripped(bare.kids[-1])
        if inner.kind != Kinds.UNARY:
            break
        bare = inner
    if bare.kind == Kinds.UNARY and bare.operator == "&" and pointer.type.element.size == bare.kids[0].type.size:
        place = ctx.place(bare.kids[0])
        shown = bare.kids[0]
        if isinstance(place, MemPlace):
            return MemPlace(place.pointer, pointer.type.element, place.bounds, None, place.volatile), shown
        return MemPlace(class_values.address(ctx, place, shown), pointer.type.element), shown
    place = pointee(ctx, pointer)
    if isinstance(place, MemPlace):
        return place, pointer
    return MemPlace(class_values.address(ctx, place, pointer), place.type), pointer


def atomic(
    ctx: Context,
    node: Node,
    op: str,
    pointer: Node,
    operands: list[Expr],
    scope: Scope,
    order: Order,
    failure: Order | None = None,
) -> Expr:
    """Emit an atomic on what `pointer` points to; gives the old value."""
    place, shown = target_of(ctx, pointer)
    return _emitted(ctx, node, op, place, shown, operands, scope, order, failure)


def _emitted(
    ctx: Context,
    node: Node,
    op: str,
    place: MemPlace,
    shown: Node,
    operands: list[Expr],
    scope: Scope,
    order: Order,
    failure: Order | None = None,
) -> Expr:
    ty = place.type.ir or F64
    result = ctx.temporary(ty, "old")
    given = tuple(memory.convert_scalar(ctx, o, ty) for o in operands)
    text = shown.text if ctx.override is None else None
    site = ctx.site(node, text)
    width = max(place.type.size, 1)
    ctx.emit(
        Atomic(ctx.id(), result.value, op, ty, place.pointer, given, width, scope, order, site, place.bounds, failure)
    )
    return result


def _operand(ctx: Context, node: Node) -> Expr:
    value = ctx.value(node)
    if isinstance(value, Expr):
        return value
    if value is None:
        return zero(U64)
    return class_values.packed(value.type, class_values.leaf_values(ctx, value, node) or {0: const(0, U64)})


_ATOMICS = {
    "atomicAdd": "add", "atomicSub": "sub", "atomicExch": "exch", "atomicMin": "min", "atomicMax": "max",
    "atomicInc": "inc", "atomicDec": "dec", "atomicCAS": "cas", "atomicAnd": "and", "atomicOr": "or",
    "atomicXor": "xor",
}  # fmt: skip


def _cuda_atomic(ctx: Context, call: Call) -> Value:
    base, _, suffix = call.name.partition("_")
    scope: Scope = "block" if suffix == "block" else "system" if suffix == "system" else "grid"
    if base == "atomicAdd" and len(call.args[0].type.element.leaves() or ()) > 1:
        return _vector_addition(ctx, call, scope)
    operands = [_operand(ctx, a) for a in call.args[1:]]
    old = atomic(ctx, call.node, _ATOMICS[base], call.args[0], operands, scope, "relaxed")
    ctype = call.node.type
    if ctype.scalar:
        return memory.convert_scalar(ctx, old, ctype.ir or old.ty)
    if ctype.shape == "record":
        leaves = ctype.leaves() or ()
        return RecordValue({at: class_values.lane(old, at, leaf) for at, leaf in leaves}, ctype)
    return None


def _vector_addition(ctx: Context, call: Call, scope: Scope) -> Value:
    """Atomic for each element, not for the vector: so the CUDA programming guide says of ``float2``, ``float4``,
    ``__half2`` and ``__nv_bfloat162``."""
    place, shown = target_of(ctx, call.args[0])
    whole = _operand(ctx, call.args[1])
    old: dict[int, Expr] = {}
    for at, leaf in place.type.leaves() or ():
        element = MemPlace(ptradd(place.pointer, const(at, I64)), leaf, place.bounds, None, place.volatile)
        part = class_values.lane(whole, at, leaf)
        old[at] = _emitted(ctx, call.node, "add", element, shown, [part], scope, "relaxed")
    return RecordValue(old, call.node.type) if call.node.type.shape == "record" else None


for _name in _ATOMICS:
    for _suffix in ("", "_block", "_system"):
        INTRINSICS[_name + _suffix] = _cuda_atomic


_GENERIC = {
    "exchange": "exch", "fetch_add": "add", "fetch_sub": "sub", "fetch_and": "and", "fetch_or": "or",
    "fetch_xor": "xor", "fetch_min": "min", "fetch_max": "max",
}  # fmt: skip


@intrinsic(*(f"__cuda_lsp_atomic_{name}" for name in _GENERIC))
def generic_atomic(ctx: Context, call: Call) -> Value:
    order, scope = order_and_scope(ctx, call.args[2], call.args[3])
    operand = _operand(ctx, call.args[1])
    op = _GENERIC[call.name.removeprefix("__cuda_lsp_atomic_")]
    return atomic(ctx, call.node, op, call.args[0], [operand], scope, order)


@intrinsic("__cuda_lsp_atomic_load")
def atomic_load(ctx: Context, call: Call) -> Value:
    order, scope = order_and_scope(ctx, call.args[1], call.args[2])
    return atomic(ctx, call.node, "load", call.args[0], [], scope, order)


@intrinsic("__cuda_lsp_atomic_store")
def atomic_store(ctx: Context, call: Call) -> Value:
    order, scope = order_and_scope(ctx, call.args[2], call.args[3])
    operand = _operand(ctx, call.args[1])
    atomic(ctx, call.node, "store", call.args[0], [operand], scope, order)
    return None


@intrinsic("__cuda_lsp_atomic_compare_exchange")
def atomic_compare_exchange(ctx: Context, call: Call) -> Value:
    order, scope = order_and_scope(ctx, call.args[3], call.args[4])
    expected = pointee(ctx, call.args[1])
    wanted = ctx.held(memory.read(ctx, expected, call.args[1]), "expected")
    value = _operand(ctx, call.args[2])
    failure = order_and_scope(ctx, call.args[5], call.args[4])[0] if len(call.args) > 5 else None
    old = atomic(ctx, call.node, "cas", call.args[0], [wanted, value], scope, order, failure)
    memory.write(ctx, expected, memory.convert_scalar(ctx, old, wanted.ty), call.args[1])
    return compare("eq", memory.convert_scalar(ctx, old, wanted.ty), wanted)
