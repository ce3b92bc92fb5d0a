"""Clusters of blocks: their size, and the shared memory of another block of one (``map_shared_rank``, ``mapa``).

Blocks of a cluster lie beside each other in the grid. A kernel with ``__cluster_dims__`` says how many; what a launch
gives as an attribute is not known here.
"""

from __future__ import annotations

from analyzers.frontend.lowering import memory
from analyzers.frontend.lowering.context import Context
from analyzers.frontend.lowering.effects import ctx_effect
from analyzers.frontend.lowering.intrinsics import intrinsic
from analyzers.frontend.lowering.invocation import Call
from analyzers.frontend.lowering.nodes import Node
from analyzers.frontend.lowering.places import Value
from analyzers.ir.clusters import in_block
from analyzers.ir.expr import BID, PTR, U32, Expr, add, binary, cast, const, mul

_UNKNOWN = "the shared memory of another block of a cluster whose size `__cluster_dims__` does not give"


@intrinsic("__cuda_lsp_cluster_size")
def cluster_size(ctx: Context, call: Call) -> Value:
    axis = ctx.scalar(call.args[0])
    if ctx.cluster is None or axis.op != "const":
        return ctx.unknown_value(call.node.type, "the size of the clusters", call.node)
    return const(ctx.cluster[int(axis.value)], U32)


@intrinsic("__cuda_lsp_cluster_map")
def cluster_map(ctx: Context, call: Call) -> Value:
    if ctx.cluster is None:
        for argument in call.args:
            ctx_effect(ctx, argument)
        return ctx.unsupported_value("cluster-memory", _UNKNOWN, call.node)
    pointer, rank = (ctx.scalar(argument) for argument in call.args[:2])
    return mapped(ctx, call.node, pointer, rank)


def mapped(ctx: Context, node: Node, pointer: Expr, rank: Expr) -> Expr:
    """The pointer to the same object in the block of that rank."""
    if ctx.cluster is None:
        ctx.unsupported("cluster-memory", _UNKNOWN, node)
    kept = ctx.temporary(PTR, "mapped")
    ctx.assign(kept, in_block(memory.convert_scalar(ctx, pointer, PTR), cast(rank, U32)))
    return kept


def block_rank(ctx: Context) -> Expr | None:
    """The rank of the thread's block in its cluster; None where its size is not known."""
    if ctx.cluster is None:
        return None
    x, y, z = (binary("rem", b, const(n, U32)) for b, n in zip(BID, ctx.cluster, strict=True))
    return add(x, mul(const(ctx.cluster[0], U32), add(y, mul(const(ctx.cluster[1], U32), z))))
