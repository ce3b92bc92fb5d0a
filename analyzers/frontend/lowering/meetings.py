"""Numbers of barriers at which some threads only arrive (PTX ISA, ``bar.arrive``): a producer announces, a consumer
waits.

The threads of one group come together there, from several places of the program. Barriers at such a number are written
anew when the whole kernel is known; whether each thread of the group comes to one of them, and to no other, is for the
provers to decide (`barriers.meetings`).
"""

from __future__ import annotations

from dataclasses import replace

from analyzers.frontend.lowering.context import Context
from analyzers.frontend.lowering.nodes import Node
from analyzers.frontend.lowering.numbered_barriers import MAX_NUMBERS, apart, constant
from analyzers.frontend.lowering.synchronisation import barrier
from analyzers.ir.expr import Expr
from analyzers.ir.kernel import Barrier, Stmt, Unsupported, statements, with_parts
from analyzers.ir.warp_scans import WARP


def arrival(ctx: Context, node: Node, number: Expr, count: Expr) -> bool:
    """The thread arrives at a number where ``count`` threads come together, and goes on; False where it is not known
    at which, or how many these are."""
    at, size = constant(number), constant(count)
    if at is None or size is None or not 0 < at < MAX_NUMBERS or size <= 0 or size % WARP:
        return False
    apart(ctx, node, (at, 1, size))
    ctx.meetings[at] = size
    barrier(ctx, node, "meeting", tile=size, number=at, half="arrive")
    return True


def met(ctx: Context, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """The body with the barriers at numbers where threads arrive as places of their meetings."""
    if not ctx.meetings:
        return body
    # A computed number may be that of a meeting.
    computed = any(isinstance(s, Barrier) and s.number is not None and s.number < 0 for s in statements(body))

    def changed(inner: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        return tuple(place(s) if isinstance(s, Barrier) else with_parts(s, changed) for s in inner)

    def place(s: Barrier) -> Stmt:
        if s.number not in ctx.meetings:
            return s
        if computed or s.reduce is not None:
            return Unsupported("partial-barrier", "a barrier of some threads of the block", s.site)
        return replace(s, scope="meeting", tile=ctx.meetings[s.number])

    return changed(body)
