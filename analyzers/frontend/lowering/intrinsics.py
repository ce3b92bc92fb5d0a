"""What CUDA's own functions mean: barriers, fences, warp exchanges, atomics, cached accesses, assertions, traps.

`INTRINSICS` maps a function's name to a rule. The bundled headers bring the rest down to these: the classes of
cooperative groups and of ``cuda::atomic`` have bodies there that call ``__cuda_lsp_*`` functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from analyzers.frontend.lowering import memory
from analyzers.frontend.lowering.context import Context, pure, zero
from analyzers.frontend.lowering.expressions import condition, ctx_effect, fresh_memory, pointee
from analyzers.frontend.lowering.invocation import Call
from analyzers.frontend.lowering.nodes import Kinds, Node, stripped
from analyzers.frontend.lowering.places import MemPlace, Place, Value, ValuePlace
from analyzers.frontend.lowering.synchronisation import (
    COPY_ASSUMPTION,
    block_barrier,
    collective,
    counting_barrier,
    fence,
    warp_barrier,
)
from analyzers.frontend.lowering.synchronisation import barrier as emit_barrier
from analyzers.frontend.lowering.synchronisation import lane_mask as lane_mask_value
from analyzers.ir.expr import (
    BOOL,
    F64,
    FALSE,
    I32,
    I64,
    PTR,
    TRUE,
    U8,
    U32,
    U64,
    Expr,
    FloatType,
    IntType,
    add,
    binary,
    cast,
    compare,
    const,
    neg,
    ptradd,
    select,
    var,
)
from analyzers.ir.kernel import KERNEL_BLOCK, Assume, Atomic, Exit, Load, Loop, Order, Scope, Store

Rule = Callable[[Context, Call], Value]
INTRINSICS: dict[str, Rule] = {}


def intrinsic(*names: str) -> Callable[[Rule], Rule]:
    def register(rule: Rule) -> Rule:
        for name in names:
            INTRINSICS[name] = rule
        return rule

    return register


# --- barriers and fences ------------------------------------------------------------------------------------


@intrinsic("__syncthreads", "__cuda_lsp_block_sync", "__barrier_sync")
def syncthreads(ctx: Context, call: Call) -> Value:
    if call.name == "__barrier_sync" and call.args:
        ctx_effect(ctx, call.args[0])
    block_barrier(ctx, call.node)
    return None


for _name in ("__syncthreads_and", "__syncthreads_or", "__syncthreads_count"):
    INTRINSICS[_name] = counting_barrier


@intrinsic("__syncwarp")
def syncwarp(ctx: Context, call: Call) -> Value:
    mask = None
    if call.args and (call.args[0].kids or call.args[0].evaluated() is not None):
        mask = cast(ctx.scalar(call.args[0]), U32)
    warp_barrier(ctx, call.node, mask)
    return None


@intrinsic("__cuda_lsp_tile_sync")
def tile_sync(ctx: Context, call: Call) -> Value:
    size = cast(ctx.scalar(call.args[0]), I32)
    if size.op != "const":
        ctx.unsupported("tile-size", "a tile whose size is not a constant", call.node)
    elif size.value >= 1024:
        block_barrier(ctx, call.node)
    elif size.value == 32:
        warp_barrier(ctx, call.node, None)
    elif size.value > 1:
        emit_barrier(ctx, call.node, "tile", tile=size.value)
    return None


@intrinsic("__cuda_lsp_grid_sync")
def grid_sync(ctx: Context, call: Call) -> Value:
    emit_barrier(ctx, call.node, "grid")
    return None


@intrinsic("__cuda_lsp_cluster_sync")
def cluster_sync(ctx: Context, call: Call) -> Value:
    emit_barrier(ctx, call.node, "cluster")
    return None


@intrinsic("__barrier_sync_count")
def partial_barrier(ctx: Context, call: Call) -> Value:
    return _not_modelled(ctx, call, "partial-barrier", "a barrier of some threads of the block")


@intrinsic("__cuda_lsp_cluster_arrive", "__cuda_lsp_cluster_wait", "__cuda_lsp_barrier_arrive",
           "__cuda_lsp_barrier_test", "__cuda_lsp_barrier_wait", "__cuda_lsp_barrier_wait_parity",
           "__cuda_lsp_barrier_drop", "__cuda_lsp_barrier_inval", "__cuda_lsp_barrier_init")  # fmt: skip
def split_barrier(ctx: Context, call: Call) -> Value:
    return _not_modelled(ctx, call, "split-barrier", "a barrier that separates arriving from waiting")


@intrinsic("__cuda_lsp_pipeline_producer_acquire", "__cuda_lsp_pipeline_producer_commit",
           "__cuda_lsp_pipeline_consumer_wait", "__cuda_lsp_pipeline_consumer_release")  # fmt: skip
def pipeline(ctx: Context, call: Call) -> Value:
    scope = ctx.scalar(call.args[1])
    if scope.op == "const" and scope.value == 0:
        return None  # of one thread: it orders the thread's own copies only
    return _not_modelled(ctx, call, "pipeline", "a pipeline shared by several threads")


@intrinsic("__cuda_lsp_cluster_map")
def cluster_map(ctx: Context, call: Call) -> Value:
    return _not_modelled(ctx, call, "cluster-memory", "shared memory of another block")


def _not_modelled(ctx: Context, call: Call, kind: str, text: str) -> Value:
    for argument in call.args:
        ctx_effect(ctx, argument)
    return ctx.unsupported_value(kind, text, call.node)


@intrinsic("__threadfence", "__threadfence_block", "__threadfence_system")
def threadfence(ctx: Context, call: Call) -> Value:
    scope = {"__threadfence": "grid", "__threadfence_block": "block"}.get(call.name, "system")
    fence(ctx, call.node, scope, "seq_cst")
    return None


_ORDERS: tuple[Order, ...] = ("relaxed", "acquire", "acquire", "release", "acq_rel", "seq_cst")
_SCOPES: tuple[Scope, ...] = ("block", "block", "cluster", "grid", "system")


def _order_and_scope(ctx: Context, order: Node, scope: Node) -> tuple[Order, Scope]:
    o, s = ctx.scalar(order), ctx.scalar(scope)
    made: Order = "relaxed"
    if o.op == "const" and 0 <= o.value < len(_ORDERS):
        made = _ORDERS[int(o.value)]
    wide: Scope = "block"  # an unknown scope promises the least
    if s.op == "const" and 0 <= s.value < len(_SCOPES):
        wide = _SCOPES[int(s.value)]
    return made, wide


@intrinsic("__cuda_lsp_atomic_fence")
def atomic_fence(ctx: Context, call: Call) -> Value:
    order, scope = _order_and_scope(ctx, call.args[0], call.args[1])
    fence(ctx, call.node, scope, order)
    return None


# --- warp exchanges -----------------------------------------------------------------------------------------

_VOTES = ("all", "any", "ballot", "uni")
_SHUFFLES = ("shfl", "shfl_up", "shfl_down", "shfl_xor")
_GROUPS = ("match_any", "match_all", "reduce_add", "reduce_min", "reduce_max", "reduce_and", "reduce_or", "reduce_xor")
for _name in (*_VOTES, *_SHUFFLES, *_GROUPS):
    INTRINSICS[f"__{_name}_sync"] = collective
for _name in ("all", "any", "ballot", *_SHUFFLES):
    INTRINSICS[f"__{_name}"] = collective
INTRINSICS["__activemask"] = collective


@intrinsic("__lanemask_lt", "__lanemask_le", "__lanemask_gt", "__lanemask_ge", "__lanemask_eq")
def lane_mask(ctx: Context, call: Call) -> Value:
    del ctx
    return lane_mask_value(call.name[-2:])


# --- atomics ------------------------------------------------------------------------------------------------


def target_of(ctx: Context, pointer: Node) -> tuple[Place, Node]:
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
        return MemPlace(memory.address(ctx, place, shown), pointer.type.element), shown
    place = pointee(ctx, pointer)
    if isinstance(place, MemPlace):
        return place, pointer
    return MemPlace(memory.address(ctx, place, pointer), place.type), pointer


def atomic(ctx: Context, node: Node, op: str, pointer: Node, operands: list[Expr], scope: Scope, order: Order) -> Expr:
    """Emit an atomic on what `pointer` points to; gives the old value."""
    place, shown = target_of(ctx, pointer)
    assert isinstance(place, MemPlace)
    ty = place.type.ir or F64
    result = ctx.temporary(ty, "old")
    given = tuple(memory.convert_scalar(ctx, o, ty) for o in operands)
    text = shown.text if ctx.override is None else None
    site = ctx.site(node, text)
    width = max(place.type.size, 1)
    ctx.emit(Atomic(ctx.id(), result.value, op, ty, place.pointer, given, width, scope, order, site, place.bounds))
    return result


def _operand(ctx: Context, node: Node) -> Expr:
    value = ctx.value(node)
    if isinstance(value, Expr):
        return value
    if value is None:
        return zero(U64)
    return memory.packed(value.type, memory.leaf_values(ctx, value, node) or {0: const(0, U64)})


_ATOMICS = {
    "atomicAdd": "add", "atomicSub": "sub", "atomicExch": "exch", "atomicMin": "min", "atomicMax": "max",
    "atomicInc": "inc", "atomicDec": "dec", "atomicCAS": "cas", "atomicAnd": "and", "atomicOr": "or",
    "atomicXor": "xor",
}  # fmt: skip


def _cuda_atomic(ctx: Context, call: Call) -> Value:
    base, _, suffix = call.name.partition("_")
    scope: Scope = "block" if suffix == "block" else "system" if suffix == "system" else "grid"
    operands = [_operand(ctx, a) for a in call.args[1:]]
    old = atomic(ctx, call.node, _ATOMICS[base], call.args[0], operands, scope, "relaxed")
    ctype = call.node.type
    if ctype.scalar:
        return memory.convert_scalar(ctx, old, ctype.ir or old.ty)
    if ctype.shape == "record":
        leaves = ctype.leaves() or ()
        from analyzers.frontend.lowering.places import RecordValue

        return RecordValue({at: memory.lane(old, at, leaf) for at, leaf in leaves}, ctype)
    return None


for _name in _ATOMICS:
    for _suffix in ("", "_block", "_system"):
        INTRINSICS[_name + _suffix] = _cuda_atomic

_GENERIC = {
    "exchange": "exch", "fetch_add": "add", "fetch_sub": "sub", "fetch_and": "and", "fetch_or": "or",
    "fetch_xor": "xor", "fetch_min": "min", "fetch_max": "max",
}  # fmt: skip


@intrinsic(*(f"__cuda_lsp_atomic_{name}" for name in _GENERIC))
def generic_atomic(ctx: Context, call: Call) -> Value:
    order, scope = _order_and_scope(ctx, call.args[2], call.args[3])
    operand = _operand(ctx, call.args[1])
    op = _GENERIC[call.name.removeprefix("__cuda_lsp_atomic_")]
    return atomic(ctx, call.node, op, call.args[0], [operand], scope, order)


@intrinsic("__cuda_lsp_atomic_load")
def atomic_load(ctx: Context, call: Call) -> Value:
    order, scope = _order_and_scope(ctx, call.args[1], call.args[2])
    return atomic(ctx, call.node, "load", call.args[0], [], scope, order)


@intrinsic("__cuda_lsp_atomic_store")
def atomic_store(ctx: Context, call: Call) -> Value:
    order, scope = _order_and_scope(ctx, call.args[2], call.args[3])
    operand = _operand(ctx, call.args[1])
    atomic(ctx, call.node, "store", call.args[0], [operand], scope, order)
    return None


@intrinsic("__cuda_lsp_atomic_compare_exchange")
def atomic_compare_exchange(ctx: Context, call: Call) -> Value:
    order, scope = _order_and_scope(ctx, call.args[3], call.args[4])
    expected = pointee(ctx, call.args[1])
    wanted = memory.read(ctx, expected, call.args[1])
    value = _operand(ctx, call.args[2])
    old = atomic(ctx, call.node, "cas", call.args[0], [wanted, value], scope, order)
    memory.write(ctx, expected, memory.convert_scalar(ctx, old, wanted.ty), call.args[1])
    return compare("eq", memory.convert_scalar(ctx, old, wanted.ty), wanted)


# --- accesses with hints, copies ----------------------------------------------------------------------------


@intrinsic("__ldg", "__ldca", "__ldcg", "__ldcs", "__ldlu", "__ldcv", "ldg")
def hinted_load(ctx: Context, call: Call) -> Value:
    place, shown = target_of(ctx, call.args[0])
    return memory.read(ctx, place, shown) if place.type.scalar else place


@intrinsic("__stwb", "__stcg", "__stcs", "__stwt")
def hinted_store(ctx: Context, call: Call) -> Value:
    value = ctx.value(call.args[1])
    place, shown = target_of(ctx, call.args[0])
    if isinstance(value, Expr):
        memory.write(ctx, place, memory.convert_scalar(ctx, value, place.type.ir or value.ty), shown)
    elif value is not None:
        memory.copy(ctx, place, value, shown, call.args[1])
    return None


def copy_bytes(ctx: Context, call: Call, to: Expr, source: Expr, size: Expr) -> None:
    """Copy memory; a size that is not a small constant becomes a loop over its bytes."""
    _sized(ctx, call, size, lambda offset, width: _move(ctx, call.node, to, source, offset, width))


def _sized(ctx: Context, call: Call, size: Expr, access: Callable[[Expr, int], None]) -> None:
    """One access of a small constant size, else a loop over bytes."""
    size = cast(size, I64) if isinstance(size.ty, IntType) else size
    if size.op != "const" or size.value > 256:
        _bytewise(ctx, call, ctx.held(size), lambda index: access(index, 1))
    elif size.value > 0:
        access(const(0, I64), size.value)


def _move(ctx: Context, node: Node, to: Expr, source: Expr, offset: Expr, width: int) -> None:
    loaded = ctx.temporary(F64 if width > 1 else U8, "copied")
    site = ctx.site(node)
    ctx.emit(Load(ctx.id(), loaded.value, loaded.ty, ptradd(source, offset), width, site))
    ctx.emit(Store(ctx.id(), ptradd(to, offset), loaded, width, site))


def _bytewise(ctx: Context, call: Call, size: Expr, body: Callable[[Expr], None]) -> None:
    counter = var(ctx.name("byte"), I64)
    ctx.assign(counter, const(0, I64))
    label = ctx.name("loop")
    with ctx.captured() as inner:
        body(counter)
    with ctx.captured() as latch:
        ctx.assign(counter, add(counter, const(1, I64)))
    site = ctx.site(call.node)
    ctx.emit(Loop(label, (), compare("lt", counter, size), tuple(inner), tuple(latch), site))


@intrinsic("memcpy", "__builtin_memcpy", "memmove", "__builtin_memmove", "__builtin___memcpy_chk")
def memcpy(ctx: Context, call: Call) -> Value:
    to = ctx.held(ctx.scalar(call.args[0]))
    source = ctx.held(ctx.scalar(call.args[1]))
    copy_bytes(ctx, call, to, source, ctx.held(ctx.scalar(call.args[2])))
    return to


@intrinsic("memset", "__builtin_memset")
def memset(ctx: Context, call: Call) -> Value:
    to = ctx.held(ctx.scalar(call.args[0]))
    value = cast(ctx.scalar(call.args[1]), U8)
    site = ctx.site(call.node)

    def fill(offset: Expr, width: int) -> None:
        data = value if width == 1 else pure("memset", F64, value)
        ctx.emit(Store(ctx.id(), ptradd(to, offset), data, width, site))

    _sized(ctx, call, ctx.scalar(call.args[2]), fill)
    return to


@intrinsic("__cuda_lsp_read_bytes")
def read_bytes(ctx: Context, call: Call) -> Value:
    source, size = ctx.held(ctx.scalar(call.args[0])), ctx.scalar(call.args[1])
    _sized(ctx, call, size, lambda offset, width: _read(ctx, call, source, offset, width))
    return None


def _read(ctx: Context, call: Call, source: Expr, offset: Expr, width: int) -> None:
    loaded = ctx.temporary(F64 if width > 1 else U8, "read")
    ctx.emit(Load(ctx.id(), loaded.value, loaded.ty, ptradd(source, offset), width, ctx.site(call.node)))


@intrinsic("__cuda_lsp_write_bytes")
def write_bytes(ctx: Context, call: Call) -> Value:
    to, size = ctx.held(ctx.scalar(call.args[0])), ctx.scalar(call.args[1])
    _sized(ctx, call, size, lambda offset, width: _write(ctx, call, to, offset, width))
    return None


def _write(ctx: Context, call: Call, to: Expr, offset: Expr, width: int) -> None:
    value = ctx.havoc(F64 if width > 1 else U8, "data", call.node)
    ctx.emit(Store(ctx.id(), ptradd(to, offset), value, width, ctx.site(call.node)))


@intrinsic("__cuda_lsp_copy_async")
def copy_async(ctx: Context, call: Call) -> Value:
    ctx.assumptions[COPY_ASSUMPTION] = None
    memcpy(ctx, call)
    return None


@intrinsic("malloc", "__builtin_malloc", "calloc", "alloca", "__builtin_alloca")
def malloc(ctx: Context, call: Call) -> Value:
    for argument in call.args:
        ctx_effect(ctx, argument)
    return fresh_memory(ctx, call.node)


# --- what ends or constrains a thread -----------------------------------------------------------------------


@intrinsic(
    "__trap", "abort", "__builtin_trap", "__assert_fail", "__assertfail", "__builtin_unreachable", "__debugbreak"
)
def trap(ctx: Context, call: Call) -> Value:
    source = "assume" if call.name == "__builtin_unreachable" else "trap"
    ctx.emit(Assume(FALSE, source, ctx.site(call.node)))
    return None


@intrinsic("__exit")
def exit_thread(ctx: Context, call: Call) -> Value:
    ctx.emit(Exit(KERNEL_BLOCK, "return", ctx.site(call.node)))
    return None


@intrinsic("__builtin_assume", "__assume")
def assume(ctx: Context, call: Call) -> Value:
    _assumed(ctx, call, "assume")
    return None


def _assumed(ctx: Context, call: Call, source: Literal["assume", "assert"]) -> None:
    holds = condition(ctx, call.args[0])
    if holds is not TRUE:
        ctx.emit(Assume(holds, source, ctx.site(call.node)))


@intrinsic("__cuda_lsp_assert", "__cuda_lsp_check", "assert")
def assertion(ctx: Context, call: Call) -> Value:
    _assumed(ctx, call, "assert")
    return None


@intrinsic("__builtin_expect", "__builtin_assume_aligned", "__builtin_launder", "__nv_associate_access_property",
           "__builtin_nontemporal_load")  # fmt: skip
def first_argument(ctx: Context, call: Call) -> Value:
    value = ctx.value(call.args[0])
    for argument in call.args[1:]:
        if argument.kids:
            ctx_effect(ctx, argument)
    if isinstance(value, Expr) and call.node.type.ir is not None:
        return memory.convert_scalar(ctx, value, call.node.type.ir)
    return value


@intrinsic(
    "printf", "puts", "vprintf", "fprintf", "__nanosleep", "__brkpt", "__prof_trigger", "free", "__builtin_prefetch",
    "__cuda_lsp_copy_async_commit", "__cuda_lsp_copy_async_wait", "cudaGetLastError", "__builtin_free",
)  # fmt: skip
def no_effect(ctx: Context, call: Call) -> Value:
    for argument in call.args:
        if argument.type.scalar or argument.type.shape == "array":
            ctx.value(argument)
    return const(0, call.node.type.ir) if isinstance(call.node.type.ir, IntType) else None


@intrinsic("clock", "clock64", "globaltimer", "__globaltimer")
def clock(ctx: Context, call: Call) -> Value:
    return ctx.havoc(call.node.type.ir or I64, "time", call.node)


@intrinsic("__builtin_is_constant_evaluated", "is_constant_evaluated", "std::is_constant_evaluated")
def at_run_time(_ctx: Context, _call: Call) -> Value:
    return const(0, BOOL)


# --- addresses ----------------------------------------------------------------------------------------------


@intrinsic("__cvta_generic_to_global", "__cvta_generic_to_shared", "__cvta_generic_to_constant",
           "__cvta_generic_to_local", "__cvta_generic_to_grid_constant", "__cvta_global_to_generic",
           "__cvta_shared_to_generic", "__cvta_constant_to_generic", "__cvta_local_to_generic")  # fmt: skip
def address_space(ctx: Context, call: Call) -> Value:
    value = ctx.scalar(call.args[0])
    return memory.convert_scalar(ctx, value, call.node.type.ir or U64)


@intrinsic("addressof", "__builtin_addressof")
def address_of(ctx: Context, call: Call) -> Value:
    return memory.address(ctx, ctx.place(call.args[0]), call.args[0])


# --- small arithmetic the index may pass through ------------------------------------------------------------


@intrinsic("umin", "umax", "llmin", "llmax", "ullmin", "ullmax")
def extremum(ctx: Context, call: Call) -> Value:
    ty = call.node.type.ir or I32
    a = memory.convert_scalar(ctx, ctx.scalar(call.args[0]), ty)
    b = memory.convert_scalar(ctx, ctx.scalar(call.args[1]), ty)
    op = "min" if "min" in call.name else "max"
    if isinstance(ty, FloatType):
        return ValuePlace(pure(f"f{op}", ty, a, b), call.node.type)
    if ty == PTR:
        return ValuePlace(select(compare("lt", a, b) if op == "min" else compare("lt", b, a), a, b), call.node.type)
    return ValuePlace(binary(op, a, b), call.node.type)


QUALIFIED: dict[str, Rule] = {
    "min": extremum, "max": extremum, "std::min": extremum, "std::max": extremum, "cuda::std::min": extremum,
    "cuda::std::max": extremum,
}  # fmt: skip
"""By qualified name and for two scalar arguments: these names are common, and the library has more of each."""


@intrinsic("abs", "labs", "llabs", "std::abs", "__builtin_abs")
def absolute(ctx: Context, call: Call) -> Value:
    value = ctx.scalar(call.args[0])
    ty = call.node.type.ir or value.ty
    value = memory.convert_scalar(ctx, value, ty)
    if isinstance(ty, IntType):
        return select(compare("lt", value, const(0, ty)), neg(value), value)
    return pure("fabs", ty, value)
