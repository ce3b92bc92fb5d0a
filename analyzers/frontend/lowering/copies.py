"""Loads and stores with hints, byte copies and device-side allocation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from analyzers.frontend.lowering import asynchronous, barrier_halves, class_values, memory
from analyzers.frontend.lowering.aggregates import fresh_memory
from analyzers.frontend.lowering.atomics import target_of
from analyzers.frontend.lowering.context import Context, pure
from analyzers.frontend.lowering.effects import ctx_effect
from analyzers.frontend.lowering.intrinsics import intrinsic
from analyzers.frontend.lowering.invocation import Call
from analyzers.frontend.lowering.nodes import Node
from analyzers.frontend.lowering.places import MemPlace, Value
from analyzers.ir.expr import F64, I64, U8, Expr, IntType, add, cast, compare, const, ptradd, var
from analyzers.ir.kernel import Load, Loop, Store

_UNCACHED = frozenset({"__ldcv", "__stwt"})
"""``ld.cv`` fetches again each time and ``st.wt`` goes to where others look: volatile accesses, as in `assembly`
(PTX ISA, cache operators)."""


@intrinsic("__ldg", "__ldca", "__ldcg", "__ldcs", "__ldlu", "__ldcv", "ldg")
def hinted_load(ctx: Context, call: Call) -> Value:
    place, shown = _place_of(ctx, call)
    return memory.read(ctx, place, shown) if place.type.scalar else place


def _place_of(ctx: Context, call: Call) -> tuple[MemPlace, Node]:
    place, shown = target_of(ctx, call.args[0])
    return (replace(place, volatile=True) if call.name in _UNCACHED else place), shown


@intrinsic("__stwb", "__stcg", "__stcs", "__stwt")
def hinted_store(ctx: Context, call: Call) -> Value:
    value = ctx.value(call.args[1])
    place, shown = _place_of(ctx, call)
    if isinstance(value, Expr):
        memory.write(ctx, place, memory.convert_scalar(ctx, value, place.type.ir or value.ty), shown)
    elif value is not None:
        class_values.copy(ctx, place, value, shown, call.args[1])
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
    to, source, size = (ctx.held(ctx.scalar(a)) for a in call.args[:3])
    with ctx.captured() as body:
        copy_bytes(ctx, call, to, source, size)
    asynchronous.issue(ctx, call.node, to, source, size, body)
    return None


@intrinsic("__cuda_lsp_copy_async_on")
def copy_async_on(ctx: Context, call: Call) -> Value:
    """A copy that the phase of a barrier in memory waits for."""
    to, source, size, barrier = (ctx.held(ctx.scalar(a)) for a in call.args[:4])
    key = barrier_halves.key_of(ctx, barrier)
    if key is None:
        return ctx.unsupported_value("split-barrier", "a barrier at a place that is not known", call.node)
    with ctx.captured() as body:
        copy_bytes(ctx, call, to, source, size)
    asynchronous.issue(ctx, call.node, to, source, size, body, key)
    return None


@intrinsic("__cuda_lsp_copy_async_commit")
def commit_copies(ctx: Context, call: Call) -> Value:
    asynchronous.commit(ctx, call.node)
    return None


@intrinsic("__cuda_lsp_copy_async_wait_for_reads")
def wait_for_reads(ctx: Context, call: Call) -> Value:
    """The sources of copies may be used again; what they write may still be on its way."""
    ctx.assumptions[
        "nothing touches what a bulk copy writes between the wait for its reads and the end of the kernel"
    ] = None
    return wait_for_copies(ctx, call)


@intrinsic("__cuda_lsp_copy_async_wait")
def wait_for_copies(ctx: Context, call: Call) -> Value:
    asynchronous.wait(ctx, call.node, ctx.scalar(call.args[0]))
    return None


@intrinsic("malloc", "__builtin_malloc", "calloc", "alloca", "__builtin_alloca")
def malloc(ctx: Context, call: Call) -> Value:
    for argument in call.args:
        ctx_effect(ctx, argument)
    return fresh_memory(ctx, call.node)
