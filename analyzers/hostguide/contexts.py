"""Launch contexts that do not come from a launch in the source: the user's word, and the hardware's limits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from analyzers.ir import expr as ex
from analyzers.ir.context import LaunchContext
from analyzers.ir.evaluate import atoms_below, evaluate
from analyzers.ir.expr import BDIM, GDIM, I64, U32, Expr, IntType
from analyzers.ir.kernel import Barrier, Kernel, statements
from analyzers.model import Dim3, FactNote, LaunchSummary, SourceSpan, UserLaunch

SHARED_BYTES = ex.sym("smem.dynamic", I64)


def three(texts: Iterable[str]) -> tuple[str, str, str]:
    x, y, z = texts
    return x, y, z


def default_context(kernel: Kernel, any_blocks: bool = False) -> LaunchContext:
    """No launch in sight: the hardware's limits, and axes that the kernel never mentions have dimension 1.

    ``any_blocks``: not even a kernel that never asks for its block is taken to run in a single one."""
    mentioned = _mentioned(kernel)
    bindings: list[tuple[Expr, Expr]] = []
    assumptions: list[str] = []
    shown: dict[str, str] = {}
    for symbols, index, title in ((GDIM, "bid", "gridDim"), (BDIM, "tid", "blockDim")):
        for axis, symbol in zip("xyz", symbols, strict=True):
            name = f"{title}.{axis}"
            shown[name] = name
            free = f"{index}.{axis}" in mentioned or str(symbol.value) in mentioned
            if not free and not (any_blocks and symbol is GDIM[0]):
                bindings.append((symbol, ex.const(1, U32)))
                assumptions.append(f"{name} is 1: the kernel does not use this axis")
                shown[name] = "1"
    cooperative = any(isinstance(s, Barrier) and s.scope == "grid" for s in statements(kernel.body))
    if cooperative:
        assumptions.append("the kernel is launched cooperatively: it waits for the whole grid")
    grid, block = (three(shown[f"{t}.{a}"] for a in "xyz") for t in ("gridDim", "blockDim"))
    return LaunchContext(
        LaunchSummary("default", None, grid, block),
        tuple(bindings),
        assumptions=tuple(assumptions),
        cooperative=cooperative,
    )


def any_launch(uncertain: str) -> LaunchContext:
    """Stands for the launches that code out of sight may make; ``with_limits`` gives it the form of a kernel's."""
    grid, block = (three(f"{t}.{a}" for a in "xyz") for t in ("gridDim", "blockDim"))
    return LaunchContext(LaunchSummary("default", None, grid, block), uncertain=uncertain)


def with_limits(context: LaunchContext, kernel: Kernel) -> LaunchContext:
    """A context; of one that stands for any launch (`any_launch`), that of the hardware's limits."""
    if context.summary.source != "default":
        return context
    return replace(default_context(kernel), uncertain=context.uncertain)


def _mentioned(kernel: Kernel) -> frozenset[str]:
    return frozenset(str(n.value) for n in ex.walk(_roots(kernel)) if n.op == "sym")


def _roots(kernel: Kernel) -> list[Expr]:
    found: list[Expr] = []
    for statement in statements(kernel.body):
        for slot in getattr(type(statement), "__slots__", ()):
            _gather(getattr(statement, slot), found)
    return found


def _gather(value: object, out: list[Expr]) -> None:
    if isinstance(value, Expr):
        out.append(value)
    elif isinstance(value, tuple):
        for part in value:  # pyright: ignore[reportUnknownVariableType]
            if isinstance(part, (Expr, tuple)):
                _gather(part, out)  # pyright: ignore[reportUnknownArgumentType]


def context_of_user_launch(launch: UserLaunch, kernel: Kernel, span: SourceSpan | None = None) -> LaunchContext:
    """The context that a user asked for. Raises ValueError for a name that is no scalar parameter of the kernel."""
    bindings: list[tuple[Expr, Expr]] = []
    for symbols, given in ((GDIM, launch.grid), (BDIM, launch.block)):
        if given is not None:
            bindings += [(s, ex.const(n, U32)) for s, n in zip(symbols, given, strict=True)]
    if launch.dynamic_shared is not None:
        bindings.append((SHARED_BYTES, ex.const(launch.dynamic_shared, I64)))
    scalars = {p.name: p.ty for p in kernel.parameters if isinstance(p.ty, IntType)}
    for name, value in launch.values:
        ty = scalars.get(name)
        if ty is None:
            known = ", ".join(scalars) or "none"
            raise ValueError(f"kernel {kernel.base_name} has no integer parameter '{name}' (it has: {known})")
        if not ty.low <= value <= ty.high:
            raise ValueError(f"{value} does not fit the type of parameter '{name}' of kernel {kernel.base_name}")
        bindings.append((ex.sym(f"param:{name}", ty), ex.const(value, ty)))
    shown = tuple(
        three(str(n) for n in given) if given is not None else three(f"{title}.{a}" for a in "xyz")
        for given, title in ((launch.grid, "gridDim"), (launch.block, "blockDim"))
    )
    note = FactNote(launch.notation, span, "user")
    return LaunchContext(
        LaunchSummary("user", span, shown[0], shown[1]),
        tuple(bindings),
        binding_notes=tuple((symbol, note) for symbol, _ in bindings),
        cooperative=any(isinstance(s, Barrier) and s.scope == "grid" for s in statements(kernel.body)),
    )


def dynamic_shared_bytes(
    context: LaunchContext, grid: Dim3 | None, block: Dim3 | None, parameters: Mapping[str, int]
) -> int | None:
    """The dynamic shared memory of a launch with these sizes and scalar parameters, where it follows from them."""
    bindings = dict(context.bindings)
    size = bindings.get(SHARED_BYTES)
    if size is None:
        return None
    known = {f"param:{name}": value for name, value in parameters.items()}
    for symbols, sizes in ((GDIM, grid), (BDIM, block)):
        known |= {str(s.value): number for s, number in zip(symbols, sizes or (), strict=False)}
    values = {
        value: known[str(symbol.value)]
        for symbol, value in bindings.items()
        if value.op == "sym" and str(symbol.value) in known
    }
    if not atoms_below(size) <= values.keys():
        return None
    found = evaluate(size, values)
    return found if found is not None and found >= 0 else None


def passed_numbers(context: LaunchContext) -> tuple[tuple[str, int], ...]:
    """The scalar parameters, parts of structures included, for which the host passes numbers that are known."""
    found: list[tuple[str, int]] = []
    for symbol, value in context.bindings:
        kind, _, name = str(symbol.value).partition(":")
        if symbol.op == "sym" and kind == "param" and not atoms_below(value):
            number = evaluate(value, {})
            found += [(name, number)] if number is not None else []
    return tuple(found)


def shared_pointers(context: LaunchContext) -> tuple[tuple[str, str, int], ...]:
    """The pointer parameters into memory of which another one has the beginning, as far as the distance is known:
    (name, name of the other one, bytes from there)."""
    together: dict[str, list[tuple[int, str]]] = {}
    for name, pointer in context.pointers:
        at = 0 if pointer.offset is None else evaluate(pointer.offset, {})
        if pointer.allocation is not None and at is not None:
            together.setdefault(pointer.allocation, []).append((at, name))
    found: list[tuple[str, str, int]] = []
    for pointers in together.values():
        start, first = min(pointers, key=lambda one: one[0])
        found += [(name, first, at - start) for at, name in pointers if name != first]
    return tuple(found)


def unfit(launch: UserLaunch, kernels: Iterable[Kernel]) -> str:
    """Why a launch that the user asked for fits none of these kernels; empty when it fits one."""
    found: list[str] = []
    for kernel in kernels:
        try:
            context_of_user_launch(launch, kernel)
        except ValueError as error:
            found.append(str(error))
        else:
            return ""
    return "; ".join(dict.fromkeys(found))
