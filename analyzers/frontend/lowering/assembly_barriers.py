"""Barriers, fences and special registers of inline assembly (PTX ISA, "Parallel Synchronization and Communication")."""

from __future__ import annotations

from math import prod
from typing import Literal

from analyzers.frontend.lowering import clusters, memory
from analyzers.frontend.lowering.assembly_statement import ORDERS, Statement, scope_of
from analyzers.frontend.lowering.barrier_halves import half_of_group
from analyzers.frontend.lowering.context import Context
from analyzers.frontend.lowering.meetings import arrival
from analyzers.frontend.lowering.numbered_barriers import counted_barrier, reducing_barrier, whole_barrier
from analyzers.frontend.lowering.synchronisation import fence, lane, lane_mask, warp_barrier
from analyzers.ir.expr import BOOL, I32, U32, U64, Expr, compare, const, lnot

_Vote = Literal["and", "or", "count"]
_VOTES: dict[str, _Vote] = {"popc": "count", "and": "and", "or": "or"}


def special_register(ctx: Context, kind: str) -> Expr | None:
    """The value of a special register (PTX ISA, chapter "Special Registers")."""
    if kind == "laneid":
        return lane()
    if kind == "cluster_ctarank":
        return clusters.block_rank(ctx)
    if kind == "cluster_nctarank":
        return const(prod(ctx.cluster), U32) if ctx.cluster is not None else None
    return lane_mask(kind[-2:])


def map_address(s: Statement, args: list[str]) -> bool:
    """``mapa d, a, b``: the address of ``a`` in the block of rank ``b`` of the cluster."""
    pointer = s.pointer(args[1]) if len(args) == 3 else None
    rank = s.value(args[2]) if len(args) == 3 else None
    if pointer is None or rank is None:
        return False
    s.set(args[0], memory.convert_scalar(s.ctx, clusters.mapped(s.ctx, s.node, pointer, rank), U64))
    return True


def barrier(s: Statement, qualifiers: list[str], args: list[str]) -> bool:
    if qualifiers[:1] == ["warp"]:
        mask = s.value(args[0]) if len(args) == 1 else None
        if mask is None:
            return False
        warp_barrier(s.ctx, s.node, memory.convert_scalar(s.ctx, mask, U32))
        return True
    if "cluster" in qualifiers:
        return _cluster_barrier(s, qualifiers)
    if "red" in qualifiers:
        return _reducing_barrier(s, qualifiers, args)
    if not {"sync", "arrive"} & {*qualifiers} or len(args) not in (1, 2):
        return False
    number = s.value(args[0])
    if "arrive" in qualifiers:
        count = s.value(args[1]) if len(args) == 2 else None
        return number is not None and count is not None and arrival(s.ctx, s.node, number, count)
    if len(args) == 2:
        count = s.value(args[1])
        return number is not None and count is not None and counted_barrier(s.ctx, s.node, number, count)
    return number is not None and whole_barrier(s.ctx, s.node, number)


def _cluster_barrier(s: Statement, qualifiers: list[str]) -> bool:
    """``barrier.cluster.arrive`` and ``.wait``; an arrival that is relaxed orders no accesses."""
    if "relaxed" in qualifiers:
        return False
    half_of_group(s.ctx, s.node, "cluster", "arrive" if "arrive" in qualifiers else "wait")
    return True


def _reducing_barrier(s: Statement, qualifiers: list[str], args: list[str]) -> bool:
    """``bar.red.popc.u32 d, a{, b}, {!}p`` and ``bar.red.{and,or}.pred p, a{, b}, {!}q``."""
    kinds: list[_Vote] = [_VOTES[q] for q in qualifiers if q in _VOTES]
    number = s.value(args[1]) if len(args) in (3, 4) else None
    if not kinds or number is None:
        return False
    count = s.value(args[2]) if len(args) == 4 else None
    if len(args) == 4 and count is None:
        return False
    name = args[-1].removeprefix("!").strip()
    operand = s.predicates.get(name)
    if operand is None:
        operand = s.ctx.havoc(BOOL, f"predicate {name}", s.node)
    if args[-1].startswith("!"):
        operand = lnot(operand)
    result = reducing_barrier(s.ctx, s.node, number, count, kinds[0], operand)
    if result is None:
        return False
    if "pred" in qualifiers:
        s.predicates[args[0]] = compare("ne", result, const(0, I32))
    else:
        s.set(args[0], result)
    return True


def memory_fence(s: Statement, qualifiers: list[str]) -> bool:
    if "proxy" in qualifiers or "mbarrier_init" in qualifiers:
        return True
    order = next((ORDERS[q] for q in qualifiers if q in ORDERS), "seq_cst")
    fence(s.ctx, s.node, scope_of(qualifiers), order)
    return True
