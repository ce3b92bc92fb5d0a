"""What there is to decide in a unit: which kernels, in which order, under which launches, and what else the text shows.

A question is a kernel with the launches under which it is checked; its key tells whether the answer is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from analyzers.frontend.lower import FoundKernel, FoundUnit
from analyzers.frontend.parse import ParsedUnit
from analyzers.hostguide.comments import CommentDirective, comment_directives, user_contexts, with_assumptions
from analyzers.hostguide.contexts import context_of_user_launch, default_context, unfit, with_limits
from analyzers.hostguide.launches import HostFacts
from analyzers.ir.context import LaunchContext
from analyzers.ir.fingerprint import fingerprint
from analyzers.ir.kernel import Kernel
from analyzers.ir.names import base_word, is_called
from analyzers.model import CheckOptions, KernelResult, Skipped, SyntaxIssue
from analyzers.requests import UNFIT, CheckRequest

VERSION = "1"
"""Part of every content key: raise it when the same kernel may get another verdict."""

VOLTA = 70
"""The architecture from which on the threads of a warp are scheduled one by one."""


@dataclass(frozen=True, slots=True)
class Question:
    """A kernel to decide."""

    kernel: Kernel
    contexts: tuple[LaunchContext, ...]
    keys: tuple[str, ...]
    """Content keys of the verdicts in each context."""

    @property
    def key(self) -> str:
        return fingerprint(*sorted(self.keys))


def settings(request: CheckRequest) -> CheckOptions:
    """The options for the architecture: before Volta, the threads of a warp run in lock-step."""
    if request.flags.arch >= VOLTA or request.options.warp_lockstep:
        return request.options
    return replace(request.options, warp_lockstep=True)


def asked(kernel: Kernel, contexts: Sequence[LaunchContext], options: CheckOptions) -> Question:
    base = fingerprint(
        VERSION,
        kernel,
        options.warp_lockstep,
        options.wrap_around,
        options.kernel_effort,
        options.smt_budget,
        options.redundancy,
        options.replays,
        options.every_pair,
    )
    keys = tuple(
        f"{base}:{fingerprint(c.bindings, c.constraints, c.pointers, c.variables, c.summary.source, c.cooperative)}"
        for c in contexts
    )
    return Question(kernel, tuple(contexts), keys)


def unfit_launches(options: CheckOptions, kernels: Sequence[Kernel]) -> list[Skipped]:
    """The launches that the user asked for and that no kernel of the unit can have."""
    return [
        Skipped(f"{UNFIT} {launch.notation}: {text}", None)
        for launch in options.launches
        if (text := unfit(launch, kernels))
    ]


def directives_of(
    unit: ParsedUnit, kernels: Sequence[FoundKernel | KernelResult]
) -> tuple[list[CommentDirective], list[Skipped]]:
    """The comments about launches in the unit's file and in the headers that define kernels."""
    directives: list[CommentDirective] = []
    skipped: list[Skipped] = []
    for path in dict.fromkeys((unit.path, *(k.extent.path for k in kernels))):
        found, bad = comment_directives(unit.text_of(path), path)
        directives += found
        skipped += bad
    return directives, skipped


def launched_unseen(found: FoundUnit, host: HostFacts) -> Iterator[Skipped]:
    """Launches of kernels that no definition was found for, here or in a file that is linked."""
    kernels = {k.mangled for k in found.kernels}
    own = {found.unit.path, *found.unit.dependencies}
    for launch in host.launches:
        if launch.span.path not in own:
            continue
        lost = sum(k not in kernels and k not in launch.linked for k in launch.kernels)
        if lost:
            which = (
                "its kernel has" if len(launch.kernels) == 1 else f"{lost} of its {len(launch.kernels)} kernels have"
            )
            yield Skipped(f"launch {launch.text}: {which} no definition in this unit", launch.span)


def is_wanted(kernel: FoundKernel, options: CheckOptions) -> bool:
    if not options.kernels:
        return True
    wanted = [name for name in options.kernels if base_word(name) == kernel.base_name]
    return any(name == kernel.mangled or is_called(name, kernel.full_name, kernel.parameter_types) for name in wanted)


def in_order(kernels: Sequence[FoundKernel], request: CheckRequest) -> list[int]:
    """What the user looks at first, then source order."""

    def rank(i: int) -> tuple[int, int]:
        extent = kernels[i].extent
        for place, (path, start, end) in enumerate(request.first):
            if extent.path == path and extent.start_offset <= end and start <= extent.end_offset:
                return place, i
        return len(request.first), i

    return sorted(range(len(kernels)), key=rank)


def contexts_of(
    kernel: Kernel,
    launches: Sequence[LaunchContext],
    options: CheckOptions,
    directives: Sequence[CommentDirective],
) -> tuple[list[LaunchContext], list[Skipped]]:
    """What the user asked for, or every launch in the code and in comments, or else the hardware's limits."""
    skipped: list[Skipped] = []
    contexts: list[LaunchContext] = []
    if options.launches:
        for launch in options.launches:
            try:
                contexts.append(context_of_user_launch(launch, kernel))
            except ValueError:
                # Said once for the unit if no kernel can be launched so, and of the kernel if it has no other launch.
                continue
    else:
        written, skipped_here = user_contexts(kernel, directives)
        skipped += skipped_here
        contexts += [with_limits(c, kernel) for c in launches] if options.use_host else ()
        contexts += written
        contexts = contexts or [default_context(kernel, any_blocks=not options.use_host)]
    assumed = [with_assumptions(c, kernel, directives) for c in contexts]
    for _, more in assumed[:1]:
        skipped += more
    return [c for c, _ in assumed], skipped


def syntax_issues(unit: ParsedUnit) -> tuple[SyntaxIssue, ...]:
    """The compiler's errors; those that the device and the host pass both report count once."""
    return tuple(dict.fromkeys(SyntaxIssue(d.message, d.span) for d in unit.errors))
