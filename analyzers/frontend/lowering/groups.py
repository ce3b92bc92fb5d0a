"""Cooperative groups: the tile barrier and the exchanges that the bundled headers only declare.

Everything else of a group has a body there. A tile of up to 32 threads is known from the type of the group object.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from analyzers.frontend.lowering import memory
from analyzers.frontend.lowering.conditionals import condition
from analyzers.frontend.lowering.context import Context
from analyzers.frontend.lowering.invocation import Call
from analyzers.frontend.lowering.nodes import Node
from analyzers.frontend.lowering.places import Value
from analyzers.frontend.lowering.synchronisation import FULL_WARP, barrier, block_barrier, exchange, warp_barrier
from analyzers.ir.expr import I32, U32, Expr, const

_TILE = re.compile(r"\bthread_block_tile<(\d+)")
_CLASSES = ("thread_block_tile", "coalesced_group")


def tile_size(ctx: Context, call: Call) -> int | None:
    """The number of threads of the tile a method is called on, None when it is another group."""
    owner: Node | None = call.object
    spelling = ""
    if owner is not None:
        ctype = owner.type.element if call.arrow else owner.type
        spelling = ctype.spelling
    else:
        this = ctx.frame.enclosing_this()
        spelling = this.type.spelling if this is not None else ""
    found = _TILE.search(spelling)
    return int(found.group(1)) if found else None


def tile_barrier(ctx: Context, call: Call) -> Value:
    size = tile_size(ctx, call)
    if size is None or size > 512:
        block_barrier(ctx, call.node) if size else ctx.unsupported("tile-size", call.node.text[:60], call.node)
    elif size == 32:
        warp_barrier(ctx, call.node, None)
    elif size > 1:
        barrier(ctx, call.node, "tile", tile=size)
    return None


def _exchange(name: str, votes: bool) -> Callable[[Context, Call], Value]:
    def rule(ctx: Context, call: Call) -> Value:
        size = tile_size(ctx, call)
        operands: list[Expr] = [const(FULL_WARP, U32)]
        for argument in call.args:
            value = condition(ctx, argument) if votes else ctx.value(argument)
            if not isinstance(value, Expr):
                return ctx.unknown_value(call.node.type, f"result of {call.name}", call.node)
            operands.append(value)
        ctype = call.node.type
        whole = size == 32 or (not votes and name.startswith("__shfl"))
        if ctype.ir is None or size is None or size > 32 or not whole or len(operands) < 2:
            # A vote of a part of a warp, of several warps, or of threads found at run time.
            if ctype.ir is not None and size is not None and 1 < size <= 32:
                return ctx.havoc(ctype.ir, f"result of {call.name}", call.node, tile=size)
            return ctx.unknown_value(ctype, f"result of {call.name}", call.node)
        if not votes and name.startswith("__shfl"):
            operands = [operands[0], operands[1], memory.convert_scalar(ctx, operands[2], I32), const(size, I32)]
        return exchange(ctx, call.node, name, operands, size)

    return rule


GROUP_METHODS: dict[str, Callable[[Context, Call], Value]] = {
    "cooperative_groups::thread_block_tile::sync": tile_barrier,
}
"""By qualified name."""

for _class in _CLASSES:
    for _method in ("shfl", "shfl_up", "shfl_down", "shfl_xor"):
        if (_class, _method) == ("coalesced_group", "shfl"):
            continue  # has a body
        GROUP_METHODS[f"cooperative_groups::{_class}::{_method}"] = _exchange(f"__{_method}_sync", votes=False)
    for _method in ("any", "all", "ballot"):
        GROUP_METHODS[f"cooperative_groups::{_class}::{_method}"] = _exchange(f"__{_method}_sync", votes=True)
