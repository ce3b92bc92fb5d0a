"""One stage of the analysis of one kernel, as text for people."""

from __future__ import annotations

from dataclasses import dataclass, replace

from analyzers.analysed import KernelAnalysis, UnitAnalysis
from analyzers.coordinates import written
from analyzers.engine import Engine
from analyzers.frontend.lower import find_kernels
from analyzers.frontend.parse import ParsedUnit
from analyzers.frontend.slices import files_of, qualified_name, sliced, typed_arguments
from analyzers.hostguide.comments import comment_directives, directives_for
from analyzers.hostguide.contexts import dynamic_shared_bytes, passed_numbers, shared_pointers
from analyzers.ir.context import LaunchContext
from analyzers.ir.kernel import Atomic, Layout, Load, MemObject, Store, statements
from analyzers.ir.printer import kernel_text
from analyzers.model import CheckOptions, Dim3, Finding, Mark
from analyzers.requests import CheckRequest
from analyzers.verdicts.explain import (
    PASSES,
    explain_conditions,
    explain_events,
    explain_lockstep,
    explain_pairs,
)

__all__ = ["Launchable", "Layout", "MemObject", "explain", "launchable", "launchable_of"]


def explain(request: CheckRequest, kernel_name: str, pass_name: str) -> str:
    """One stage of one kernel as text. Raises ValueError for an unknown kernel or pass, ParseFailure for a unit that
    cannot be taken in. A name means all kernels that it fits (`ir.names`)."""
    if pass_name not in PASSES:
        raise ValueError(f"unknown pass `{pass_name}`; there are {', '.join(PASSES)}")
    analysis = _analysed(request, kernel_name)
    return "\n\n".join(_explained(a, pass_name, request.options) for a in analysis.kernels)


def _analysed(request: CheckRequest, name: str) -> UnitAnalysis:
    """The unit with the kernels of this name, of which there is at least one; others are not looked at."""
    request = replace(request, options=replace(request.options, kernels=(name,)))
    analysis = Engine().analyse(request)
    if not analysis.kernels:
        there = ", ".join(sorted({k.full_name for k in find_kernels(analysis.unit).kernels})) or "none"
        raise ValueError(f"no kernel `{name}` in {request.path}; there are: {there}")
    return analysis


Numbers = tuple[tuple[str, int], ...]
"""By parameter."""
Together = tuple[tuple[str, str, int], ...]
"""Pointer parameters into the memory of others: (name, name of the other, bytes behind it)."""


@dataclass(frozen=True, slots=True)
class Launchable:
    """What it takes to compile and launch one kernel by itself."""

    name: str
    """With namespaces and template arguments, as an expression of the language."""
    mangled: str
    is_template: bool
    parameters: tuple[tuple[str, str], ...]
    """Names and types as written, in the order of the declaration."""
    text: str
    """The file with its headers, without what the kernel does not need (`frontend.slices`); accesses have lines of
    their own."""
    findings: tuple[Finding, ...] = ()
    """What the check says of the kernel, one finding for each mistake."""
    runs: tuple[str, ...] = ()
    """What ``cuda-lsp: run`` comments at the kernel say."""
    launches: tuple[tuple[Dim3 | None, Dim3, int | None, Numbers], ...] = ()
    """Grids and blocks of its launches whose blocks are numbers, the bytes of dynamic shared memory, and the numbers
    that are passed; no grid and no bytes where they depend on the host's values. Those with a grid come first."""
    grid: Dim3 | None = None
    """Where no launch is in sight and the kernel does not ask for its block: one block, as in the check."""
    shared: tuple[tuple[str, int], ...] = ()
    """By the group of a finding: the bytes of dynamic shared memory in the launch of its witness, where the host says
    so."""
    variables: tuple[MemObject, ...] = ()
    """Shared and global ones that the kernel names."""
    records: tuple[Layout, ...] = ()
    """Of the parameters of class type: what is in them."""
    files: tuple[str, ...] = ()
    """The files of the user that `text` is made of."""
    plain: str = ""
    """The same text as it was written."""
    marks: frozenset[tuple[str, Mark]] = frozenset()
    """The accesses that have a line in `text`, by file."""
    others: tuple[str, ...] = ()
    """Further instances of the same template, where none was asked for."""
    numbers: tuple[tuple[str, Numbers], ...] = ()
    """By the group of a finding: the numbers that the launch of its witness passes."""
    together: tuple[tuple[str, Together], ...] = ()
    """By the group of a finding: the pointers of the launch of its witness that lead to the same memory."""
    instance: str = ""
    """`name` as it has to be written in `text`, where lambdas are classes that have names."""


def launchable(request: CheckRequest, kernel_name: str, mangled: str = "") -> Launchable:
    """Raises as `explain` does, and ValueError where kernels of that name are defined in several places and none of
    them has the mangled name `mangled`; of the instances of a template it is the first."""
    analysis = _analysed(request, kernel_name)
    chosen = [a for a in analysis.kernels if a.kernel.mangled == mangled] or list(analysis.kernels)
    if len({(a.kernel.extent.path, a.kernel.extent.start_offset) for a in chosen}) > 1:
        found = {k.mangled: k for k in find_kernels(analysis.unit, None, [a.kernel.name for a in chosen]).kernels}
        there = "; ".join(
            f"`{one.full_name}({one.parameter_types})` in line {one.span.line}"
            for one in (found[a.kernel.mangled] for a in chosen if a.kernel.mangled in found)
        )
        raise ValueError(f"`{kernel_name}` is the name of several kernels: {there}")
    others = tuple(a.kernel.name for a in chosen[1:])
    return replace(launchable_of(analysis.unit, chosen[0]), others=others)


def launchable_of(unit: ParsedUnit, analysis: KernelAnalysis) -> Launchable:
    """What it takes to launch an analysed kernel of the unit, whose cursors have to be alive."""
    kernel, result = analysis.kernel, analysis.result
    place = kernel.extent.path, kernel.extent.start_offset
    base, less, instance = kernel.name.partition("<")
    name = qualified_name(unit, *place) + base.split("::")[-1] + less + instance
    launches = {context.summary: context for context in reversed(analysis.contexts)}
    found = [(launches.get(c.launch), f) for c in reversed(result.contexts) for f in reversed(c.findings)]
    findings = {f.group: f for _, f in found}
    shared = {f.group: _shared(launch, f) for launch, f in found}
    directives, _ = comment_directives(unit.text_of(place[0]), place[0])
    sizes = [
        (grid, block, dynamic_shared_bytes(c, grid, block, {}), passed_numbers(c))
        for c in analysis.contexts
        if not _is_of_one_thread(c)
        if (block := _numbers(c.summary.block)) is not None
        for grid in (_numbers(c.summary.grid),)
    ]
    sizes.sort(key=lambda size: size[0] is None)
    does = {Load: "r", Store: "w", Atomic: "a"}
    accesses = [(s.site.span, does[type(s)]) for s in statements(kernel.body) if isinstance(s, Load | Store | Atomic)]
    cut = sliced(unit, [place], instance, accesses)
    written_name = name
    if less:
        arguments = typed_arguments(unit, *place, instance.removesuffix(">"))
        written_name = f"{name.partition('<')[0]}<{arguments}>"
    for spelled, class_name in cut.classes:
        written_name = written_name.replace(spelled, class_name)
    return Launchable(
        name,
        kernel.mangled,
        bool(less),
        tuple((one.name, one.type_text) for one in kernel.layouts),
        cut.text,
        tuple(reversed(findings.values())),
        tuple(d.text for d in directives_for(kernel, directives) if d.kind == "run"),
        tuple(dict.fromkeys(sizes)),
        next((_numbers(c.summary.grid) for c in analysis.contexts if _of_one_block(c)), None),
        tuple((group, size) for group, size in shared.items() if size is not None),
        tuple(one for one in kernel.objects if one.kind in ("declared", "dynamic") and one.space != "local"),
        tuple(one for one in kernel.layouts if one.parts),
        files_of(cut.plain),
        cut.plain,
        cut.marks,
        numbers=tuple((f.group, passed_numbers(launch)) for launch, f in found if launch is not None),
        together=tuple((f.group, shared_pointers(launch)) for launch, f in found if launch is not None),
        instance=written_name,
    )


def _is_of_one_thread(context: LaunchContext) -> bool:
    """Of a kernel that is launched nowhere and asks neither for its block nor its thread: the check takes it for one of
    a single thread, which no run needs; in one of several, what they do with locks shows."""
    summary = context.summary
    return summary.source == "default" and _numbers(summary.grid) is not None and _numbers(summary.block) is not None


def _of_one_block(context: LaunchContext) -> bool:
    return context.summary.source == "default" and not _is_of_one_thread(context)


def _shared(launch: LaunchContext | None, finding: Finding) -> int | None:
    witness = finding.witness
    if launch is None or witness is None:
        return None
    return dynamic_shared_bytes(launch, witness.grid, witness.block, dict(witness.parameters))


def _numbers(sizes: tuple[str, str, str]) -> Dim3 | None:
    """None also for sizes of 0, with which nothing is launched."""
    if not all(size.isdecimal() and int(size) > 0 for size in sizes):
        return None
    x, y, z = map(int, sizes)
    return x, y, z


def _explained(a: KernelAnalysis, pass_name: str, options: CheckOptions) -> str:
    if pass_name == "ir":
        return kernel_text(a.kernel)
    if pass_name == "events":
        return explain_events(a.events)
    if pass_name == "lockstep":
        return explain_lockstep(a.events)
    parts: list[str] = []
    for context in a.contexts:
        grid, block = written(context.summary.grid), written(context.summary.block)
        parts.append(f"kernel {a.kernel.name}, launch grid {grid}, block {block} ({context.summary.source})")
        if pass_name == "pairs":
            parts.append(explain_pairs(a.events, context))
        else:
            parts.append(explain_conditions(a.events, context, options.smt_budget))
    return "\n".join(parts)
