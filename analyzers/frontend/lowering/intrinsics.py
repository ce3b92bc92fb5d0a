"""The registry of functions with a meaning of their own, and the small ones among them.

`INTRINSICS` maps a function's name to a rule. The bundled headers bring the rest down to these: the classes of
cooperative groups and of ``cuda::atomic`` have bodies there that call ``__cuda_lsp_*`` functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from analyzers.frontend.lowering import class_values, memory
from analyzers.frontend.lowering.conditionals import condition
from analyzers.frontend.lowering.context import Context, pure
from analyzers.frontend.lowering.effects import ctx_effect
from analyzers.frontend.lowering.invocation import Call
from analyzers.frontend.lowering.places import Value, ValuePlace
from analyzers.ir.expr import (
    BOOL,
    FALSE,
    I32,
    I64,
    PTR,
    TRUE,
    U64,
    Expr,
    FloatType,
    IntType,
    binary,
    compare,
    const,
    neg,
    select,
)
from analyzers.ir.kernel import KERNEL_BLOCK, Assume, Exit, ObservationKind, Observe

Rule = Callable[[Context, Call], Value]


INTRINSICS: dict[str, Rule] = {}


def intrinsic(*names: str) -> Callable[[Rule], Rule]:
    def register(rule: Rule) -> Rule:
        for name in names:
            INTRINSICS[name] = rule
        return rule

    return register


_ENDS = frozenset({"__trap", "abort", "__builtin_trap", "__debugbreak"})


@intrinsic(
    "__trap", "abort", "__builtin_trap", "__assert_fail", "__assertfail", "__builtin_unreachable", "__debugbreak"
)
def trap(ctx: Context, call: Call) -> Value:
    """The thread does not go on. Where a program ends itself, others see how far it came; a failed `assert` is a
    mistake, and that there is none is assumed."""
    if call.name in _ENDS:
        ctx.emit(Observe("signal", ctx.site(call.node)))
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


_SHOWS: dict[str, ObservationKind] = {
    "printf": "output", "puts": "output", "vprintf": "output", "fprintf": "output", "__nanosleep": "time",
    "cudaGridDependencySynchronize": "signal", "cudaTriggerProgrammaticLaunchCompletion": "signal",
    "__brkpt": "signal", "__prof_trigger": "signal", "free": "free", "__builtin_free": "free",
    "putchar": "output", "__builtin_printf": "output", "__nvvm_nanosleep": "time", "__builtin_debugtrap": "signal",
}  # fmt: skip


@intrinsic(*_SHOWS, "__builtin_prefetch", "cudaGetLastError")
def no_effect(ctx: Context, call: Call) -> Value:
    """Nothing happens to memory that other threads use; the call may show in another way."""
    kind = _SHOWS.get(call.name)
    if kind is not None:
        ctx.emit(Observe(kind, ctx.site(call.node)))
    for argument in call.args:
        if argument.type.scalar or argument.type.shape == "array":
            ctx.value(argument)
    return const(0, call.node.type.ir) if isinstance(call.node.type.ir, IntType) else None


@intrinsic("clock", "clock64", "globaltimer", "__globaltimer", "__clock", "__clock64", "__clockhi",
           "__builtin_readcyclecounter", "__builtin_readsteadycounter", "__nvvm_read_ptx_sreg_clock",
           "__nvvm_read_ptx_sreg_clock64", "__nvvm_read_ptx_sreg_globaltimer")  # fmt: skip
def clock(ctx: Context, call: Call) -> Value:
    ctx.emit(Observe("time", ctx.site(call.node)))
    return ctx.havoc(call.node.type.ir or I64, "time", call.node)


@intrinsic("__builtin_is_constant_evaluated", "is_constant_evaluated", "std::is_constant_evaluated")
def at_run_time(_ctx: Context, _call: Call) -> Value:
    return const(0, BOOL)


@intrinsic("__cvta_generic_to_global", "__cvta_generic_to_shared", "__cvta_generic_to_constant",
           "__cvta_generic_to_local", "__cvta_generic_to_grid_constant", "__cvta_global_to_generic",
           "__cvta_shared_to_generic", "__cvta_constant_to_generic", "__cvta_local_to_generic")  # fmt: skip
def address_space(ctx: Context, call: Call) -> Value:
    value = ctx.scalar(call.args[0])
    return memory.convert_scalar(ctx, value, call.node.type.ir or U64)


@intrinsic("addressof", "__builtin_addressof")
def address_of(ctx: Context, call: Call) -> Value:
    return class_values.address(ctx, ctx.place(call.args[0]), call.args[0])


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
