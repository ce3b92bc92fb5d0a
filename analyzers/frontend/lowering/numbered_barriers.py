"""Barriers with a number: of the whole block, or of groups of as many threads as they count.

The PTX ISA ("bar, barrier") lets any warps come together at a number. Known here are groups of `count` threads in a
row, from the first thread of the block on, each with a number of its own: ``1 + t / count``, or a constant that only
one group uses. That a number is of the former kind, and that no two kinds of group share one, are conditions in the
program, for the provers to decide; whose a constant is they ask of the threads that come there (`barriers.counted`).
"""

from __future__ import annotations

from typing import Literal

from analyzers.frontend.lowering.context import Context
from analyzers.frontend.lowering.nodes import Node
from analyzers.frontend.lowering.synchronisation import Reduction, barrier, linear_thread
from analyzers.ir.expr import BDIM, FALSE, I32, U32, Expr, IntType, add, binary, cast, compare, const, lor, mul
from analyzers.ir.kernel import If
from analyzers.ir.uniformity import is_uniform

MAX_THREADS = 1024
"""Of a block."""
MAX_NUMBERS = 16
"""Barriers of a block."""
MAX_STEPS = 12
"""From a number to the constant in it."""
_COMPUTED = -1

Numbers = tuple[int, int, int | None]
"""The first one, how many they are (0: one for each group), and the threads of a group (None: of the block)."""


def whole_barrier(ctx: Context, node: Node, number: Expr) -> bool:
    """A numbered barrier of the whole block; False where its number may differ between threads."""
    if not is_uniform(number, "block"):
        return False
    _whole(ctx, node, number)
    return True


def _whole(ctx: Context, node: Node, number: Expr, reduce: Reduction | None = None) -> None:
    known = constant(number)
    apart(ctx, node, (0, MAX_NUMBERS, None) if known is None else (known, 1, None))
    barrier(ctx, node, "block", reduce=reduce, number=_COMPUTED if known is None else known)


def counted_barrier(ctx: Context, node: Node, number: Expr, count: Expr) -> bool:
    """A numbered barrier that waits for `count` threads; False where it is not known which threads these are."""
    size = constant(count)
    if size is None:
        return _counts_everybody(ctx, node, number, _without_casts(count))
    if size <= 0 or size % 32:
        return False
    if size >= MAX_THREADS:
        return whole_barrier(ctx, node, number)
    first, known = _first_number(ctx, number), constant(number) is not None
    apart(ctx, node, (first, int(known), size))
    if not known:
        group = binary("div", linear_thread(), const(size, U32))
        _unless(ctx, node, compare("eq", cast(number, U32), add(group, const(first, U32))))
    own = first if known else _COMPUTED
    barrier(ctx, node, "tile" if size > 32 else "warp", tile=size if size > 32 else None, number=own)
    return True


def _counts_everybody(ctx: Context, node: Node, number: Expr, count: Expr) -> bool:
    """A count that is computed has to be that of the block."""
    if not isinstance(count.ty, IntType) or not is_uniform(number, "block"):
        return False
    _unless(ctx, node, compare("eq", cast(count, U32), _block_size()))
    return whole_barrier(ctx, node, number)


def reducing_barrier(
    ctx: Context,
    node: Node,
    number: Expr,
    count: Expr | None,
    kind: Literal["and", "or", "count"],
    operand: Expr,
) -> Expr | None:
    """A numbered barrier of the whole block that gives what it makes of the threads' operands; None where it is not
    known to be one."""
    if not is_uniform(number, "block") or (count is not None and not isinstance(count.ty, IntType)):
        return None
    if count is not None:
        _unless(ctx, node, compare("eq", cast(count, U32), _block_size()))
    result = ctx.temporary(I32, "votes")
    _whole(ctx, node, number, (kind, operand, result.value))
    return result


def _unless(ctx: Context, node: Node, known: Expr) -> None:
    with ctx.branch() as other:
        ctx.unsupported("partial-barrier", "a barrier of some threads of the block", node)
    ctx.emit(If(compare("eq", known, FALSE), tuple(other), (), ctx.site(node)))


def apart(ctx: Context, node: Node, mine: Numbers) -> None:
    """A condition in the program: that nobody else waits under these numbers, neither other groups nor the block, whose
    own barrier is number 0."""
    for other in ((0, 1, None), *ctx.numbers):
        if mine == other or (mine[2] is None and other[2] is None):
            continue
        disjoint = [_behind(mine, other), _behind(other, mine)]
        size = mine[2] or other[2]
        if size is not None and None in (mine[2], other[2]):
            disjoint.append(compare("eq", _block_size(), const(size, U32)))
        _unless(ctx, node, lor(*disjoint))
    if mine not in ctx.numbers:
        ctx.numbers.append(mine)


def _behind(one: Numbers, two: Numbers) -> Expr:
    """All numbers of `two` are above those of `one`."""
    return compare("le", add(const(one[0], U32), _how_many(one)), const(two[0], U32))


def _how_many(numbers: Numbers) -> Expr:
    _, count, size = numbers
    if count or size is None:
        return const(max(count, 1), U32)
    return binary("div", add(_block_size(), const(size - 1, U32)), const(size, U32))


def _block_size() -> Expr:
    return mul(mul(BDIM[0], BDIM[1]), BDIM[2])


def constant(e: Expr) -> int | None:
    """The value of a constant, whatever it is converted to."""
    plain = _without_casts(e)
    return int(plain.value) if plain.op == "const" else None


def _without_casts(e: Expr) -> Expr:
    while e.op == "cast":
        e = e.args[0]
    return e


def _first_number(ctx: Context, number: Expr) -> int:
    """The number of the first group, as far as it is written as a constant."""
    for _ in range(MAX_STEPS):
        number = _without_casts(number)
        if number.op == "var":
            number = ctx.assigned(number.value) or const(0, U32)
        elif number.op == "const":
            return int(number.value)
        elif number.op == "add":
            return next((int(a.value) for a in number.args if a.op == "const"), 0)
        else:
            break
    return 0
