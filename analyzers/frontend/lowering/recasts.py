"""Casts that take raw memory for elements of a class: of their padding the declared type says nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from analyzers.frontend.lowering import memory
from analyzers.frontend.lowering.context import Context
from analyzers.frontend.lowering.layout import CType
from analyzers.ir.expr import Expr
from analyzers.ir.kernel import MemObject, Recast


def note(ctx: Context, pointer: Expr, have: CType, wanted: CType) -> None:
    """A pointer to `have` becomes one to `wanted`."""
    inner, held = wanted.flat()[0], have.flat()[0]
    if inner.shape != "record" or (held.shape == "record" and _related(held, inner)):
        return
    root, offset = pointer, 0
    while root.op == "ptradd":
        root, step = root.args
        offset = offset + step.value if offset is not None and step.op == "const" else None
    name = root.value if root.op == "addr" else None
    known = ctx.objects.get(name) if name is not None else None
    if known is not None and known.space != "shared":
        return
    gaps = inner.gaps()
    if gaps and inner.size > 0:
        made = Recast(inner.size, inner.align, gaps, offset if name is not None else None)
        ctx.recasts[pointer, made] = name


def _related(one: CType, other: CType) -> bool:
    """Whether they are one class, or one is a base of the other."""
    if one.record.declaration == other.record.declaration:
        return True
    return memory.base_offset(one, other) is not None or memory.base_offset(other, one) is not None


def added(ctx: Context, objects: Iterable[MemObject]) -> tuple[MemObject, ...]:
    """The objects, with what those in shared memory are taken for. A pointer that does not show its object may lead to
    any of them whose own type says nothing of gaps."""
    return tuple(
        replace(one, recast=tuple(made for (_, made), name in ctx.recasts.items() if name in (None, one.name)))
        if one.space == "shared" and not one.gaps
        else one
        for one in objects
    )
