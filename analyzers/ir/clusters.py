"""Pointers into the shared memory of another block of the cluster (distributed shared memory).

Such a pointer is ``call`` of ``in_block``: a pointer to an object of the thread's own block, and the rank of a block in
the cluster (U32; PTX ISA, "mapa"). It means the same object and offset in that block.
"""

from __future__ import annotations

from analyzers.ir import expr as E
from analyzers.ir.expr import BID, PTR, U32, Expr

IN_BLOCK = "in_block"
Size = tuple[int, int, int]
"""Blocks per cluster along each axis."""


def in_block(pointer: Expr, rank: Expr) -> Expr:
    return E.call(IN_BLOCK, PTR, pointer, rank)


def is_in_block(e: Expr) -> bool:
    return e.op == "call" and e.value == IN_BLOCK


def own_object(root: Expr) -> Expr:
    """The object of the thread's own block that a root stands for, any other root as it is."""
    return root.args[0] if is_in_block(root) else root


def exists(rank: Expr, size: Size) -> Expr:
    """A block of the cluster has that rank."""
    return E.compare("lt", rank, E.const(size[0] * size[1] * size[2], U32))


def block_of(rank: Expr, size: Size) -> tuple[Expr, ...]:
    """The coordinates of the block of that rank in the thread's cluster, U32 each."""
    out: list[Expr] = []
    below = 1
    for axis, n in enumerate(size):
        b = BID[axis]
        if n == 1:
            out.append(b)
            continue
        part = E.binary("div", rank, E.const(below, U32)) if below > 1 else rank
        below *= n
        if below < size[0] * size[1] * size[2]:
            part = E.binary("rem", part, E.const(n, U32))
        out.append(E.add(first_along(b, n), part))
    return tuple(out)


def first_along(block: Expr, n: int) -> Expr:
    """The coordinate of the first block of the cluster along an axis with ``n`` blocks per cluster."""
    return E.sub(block, E.binary("rem", block, E.const(n, U32)))
