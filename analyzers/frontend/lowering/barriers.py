"""Barriers, fences and warp exchanges."""

from __future__ import annotations

from analyzers.frontend.lowering import asynchronous, barrier_halves, pipelines
from analyzers.frontend.lowering.context import Context
from analyzers.frontend.lowering.effects import ctx_effect
from analyzers.frontend.lowering.intrinsics import INTRINSICS, intrinsic
from analyzers.frontend.lowering.invocation import Call
from analyzers.frontend.lowering.nodes import Node
from analyzers.frontend.lowering.numbered_barriers import counted_barrier, whole_barrier
from analyzers.frontend.lowering.places import Value
from analyzers.frontend.lowering.synchronisation import barrier as emit_barrier
from analyzers.frontend.lowering.synchronisation import (
    block_barrier,
    collective,
    counting_barrier,
    exchange,
    fence,
    warp_barrier,
)
from analyzers.frontend.lowering.synchronisation import lane_mask as lane_mask_value
from analyzers.ir.expr import I32, U32, Expr, cast, const, sym
from analyzers.ir.kernel import Order, Scope
from analyzers.ir.warp_scans import WARP


@intrinsic("__syncthreads", "__cuda_lsp_block_sync", "__barrier_sync", "__nvvm_bar_sync", "__nvvm_barrier_sync")
def syncthreads(ctx: Context, call: Call) -> Value:
    if not call.args:
        block_barrier(ctx, call.node)
    elif not whole_barrier(ctx, call.node, ctx.scalar(call.args[0])):
        return ctx.unsupported_value("named-barrier", "a barrier whose number may differ between threads", call.node)
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


@intrinsic("__cuda_lsp_exchange_sync")
def exchange_sync(ctx: Context, call: Call) -> Value:
    lanes = cast(ctx.scalar(call.args[0]), I32)
    count = lanes.value if lanes.op == "const" and 0 < lanes.value <= WARP else WARP
    if count == WARP:
        emit_barrier(ctx, call.node, "warp", within=True)
    elif count & (count - 1):
        emit_barrier(ctx, call.node, "warp", mask=const((1 << count) - 1, U32), within=True)
    elif count > 1:
        emit_barrier(ctx, call.node, "tile", tile=count, within=True)
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


@intrinsic("__barrier_sync_count", "__nvvm_barrier_sync_cnt")
def partial_barrier(ctx: Context, call: Call) -> Value:
    number, count = (ctx.scalar(argument) for argument in call.args[:2])
    if not counted_barrier(ctx, call.node, number, count):
        return ctx.unsupported_value("partial-barrier", "a barrier of some threads of the block", call.node)
    return None


@intrinsic("__cuda_lsp_block_arrive", "__cuda_lsp_grid_arrive", "__cuda_lsp_block_wait", "__cuda_lsp_grid_wait",
           "__cuda_lsp_cluster_arrive", "__cuda_lsp_cluster_wait")  # fmt: skip
def half_barrier(ctx: Context, call: Call) -> Value:
    scope, half = call.name.removeprefix("__cuda_lsp_").split("_")
    barrier_halves.half_of_group(ctx, call.node, scope, "arrive" if half == "arrive" else "wait")
    return None


@intrinsic("__cuda_lsp_barrier_init", "__cuda_lsp_barrier_arrive", "__cuda_lsp_barrier_wait", "__cuda_lsp_barrier_test",
           "__cuda_lsp_barrier_wait_parity")  # fmt: skip
def barrier_in_memory(ctx: Context, call: Call) -> Value:
    pointer, *others = (ctx.scalar(argument) for argument in call.args)
    half = call.name.removeprefix("__cuda_lsp_barrier_")
    result = ctx.unknown_value(call.node.type, "the state of a barrier", call.node)
    if half == "init":
        known = barrier_halves.init(ctx, call.node, pointer, others[0])
    elif half == "arrive":
        known = isinstance(result, Expr) and barrier_halves.arrive_at(ctx, call.node, pointer, others[0], result)
    elif half == "wait":
        known = barrier_halves.wait_at(ctx, call.node, pointer, others[0])
    elif half == "wait_parity":
        known = barrier_halves.wait_for_parity(ctx, call.node, pointer, others[0])
    else:
        known = isinstance(result, Expr) and barrier_halves.wait_at(ctx, call.node, pointer, others[0], result.value)
    if not known:
        ctx.unsupported("split-barrier", "a barrier that separates arriving from waiting", call.node)
    return result


@intrinsic("__cuda_lsp_barrier_drop", "__cuda_lsp_barrier_inval", "__cuda_lsp_barrier_completion",
           "__cuda_lsp_barrier_copies")  # fmt: skip
def split_barrier(ctx: Context, call: Call) -> Value:
    return _not_modelled(ctx, call, "split-barrier", "a barrier that separates arriving from waiting")


@intrinsic("__cuda_lsp_pipeline_producer_acquire", "__cuda_lsp_pipeline_producer_commit",
           "__cuda_lsp_pipeline_consumer_wait", "__cuda_lsp_pipeline_consumer_release")  # fmt: skip
def pipeline(ctx: Context, call: Call) -> Value:
    scope = ctx.scalar(call.args[1])
    if scope.op == "const" and scope.value == 0:
        # Of one thread: it orders the thread's own copies only.
        if call.name.endswith("producer_commit"):
            asynchronous.commit(ctx, call.node)
        elif call.name.endswith("consumer_wait"):
            asynchronous.wait(ctx, call.node, asynchronous.OLDEST)
        return None
    kinds: dict[str, pipelines.Step] = {
        "acquire": "acquire", "commit": "commit", "wait": "wait", "release": "release",
    }  # fmt: skip
    kind = kinds[call.name.rsplit("_", 1)[1]]
    if scope.op == "const" and scope.value == 1 and pipelines.step(ctx, call.node, ctx.scalar(call.args[0]), kind):
        return None
    return ctx.unsupported_value("pipeline", "a pipeline whose threads are not known", call.node)


@intrinsic("__cuda_lsp_pipeline_make")
def make_pipeline(ctx: Context, call: Call) -> Value:
    state, scope, stages, threads, role = (ctx.scalar(argument) for argument in call.args)
    ours = scope.op == "const" and scope.value == 1
    if not ours or not pipelines.make(ctx, call.node, state, stages, threads, role):
        return ctx.unsupported_value("pipeline", "a pipeline whose threads are not known", call.node)
    return None


@intrinsic("__cuda_lsp_pipeline_leave")
def leave_pipeline(ctx: Context, call: Call) -> Value:
    scope = ctx.scalar(call.args[1])
    if scope.op == "const" and scope.value == 0:
        return None
    return _not_modelled(ctx, call, "pipeline", "a pipeline that threads leave, or wait for up to a time")


@intrinsic("__cuda_lsp_some_rank")
def some_rank(ctx: Context, call: Call) -> Value:
    """Who of a group acts for all: one thread in a question about two, whichever that is."""
    del call
    return sym(f"rank:{ctx.name('copier')}", U32)


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


_SCOPES: tuple[Scope, ...] = ("thread", "block", "cluster", "grid", "system")


def order_and_scope(ctx: Context, order: Node, scope: Node) -> tuple[Order, Scope]:
    o, s = ctx.scalar(order), ctx.scalar(scope)
    made: Order = "relaxed"
    if o.op == "const" and 0 <= o.value < len(_ORDERS):
        made = _ORDERS[int(o.value)]
    wide: Scope = "thread"  # an unknown scope promises the least
    if s.op == "const" and 0 <= s.value < len(_SCOPES):
        wide = _SCOPES[int(s.value)]
    return made, wide


@intrinsic("__cuda_lsp_atomic_fence")
def atomic_fence(ctx: Context, call: Call) -> Value:
    order, scope = order_and_scope(ctx, call.args[0], call.args[1])
    fence(ctx, call.node, scope, order)
    return None


_VOTES = ("all", "any", "ballot", "uni")


_SHUFFLES = ("shfl", "shfl_up", "shfl_down", "shfl_xor")


_GROUPS = ("match_any", "match_all", "reduce_add", "reduce_min", "reduce_max", "reduce_and", "reduce_or", "reduce_xor")


for _name in (*_VOTES, *_SHUFFLES, *_GROUPS):
    INTRINSICS[f"__{_name}_sync"] = collective


for _name in ("all", "any", "ballot", *_SHUFFLES):
    INTRINSICS[f"__{_name}"] = collective


INTRINSICS["__activemask"] = collective


@intrinsic("__cuda_lsp_block_scan", "__cuda_lsp_block_total", "__cuda_lsp_warp_scan", "__cuda_lsp_warp_total")
def group_sum(ctx: Context, call: Call) -> Value:
    name = call.name.removeprefix("__cuda_lsp_")
    return exchange(ctx, call.node, name, [ctx.scalar(argument) for argument in call.args])


@intrinsic("__lanemask_lt", "__lanemask_le", "__lanemask_gt", "__lanemask_ge", "__lanemask_eq")
def lane_mask(ctx: Context, call: Call) -> Value:
    del ctx
    return lane_mask_value(call.name[-2:])
