"""Loops that a whole row of the block makes in strides: ``for (int i = threadIdx.x; i < n; i += blockDim.x)``.

Takes analysed kernels and a loop, tells whether all threads come to it and no stride is shorter than a row. Then what
the loop counts in thread 0 is enough for all: it ends when that does, and with the number of a thread added it does not
leave the range of integers either, because one stride more does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from analyzers.analysed import KernelAnalysis
from analyzers.ir.events import KernelEvents
from analyzers.ir.expr import BDIM, Expr, IntType, symbols
from analyzers.ir.uniformity import is_uniform
from analyzers.races.threads import MAX_BLOCK, Launch


def strides_of_rows(kernels: Iterable[KernelAnalysis], path: str, line: int) -> bool:
    """Whether the loop in that line is one, in all kernels and launches that come to it."""
    found = list(instances_of(kernels, path, line))
    return bool(found) and all(
        is_entered_by_all(analysis.events, label, launch) and _covers_a_row(analysis.events, label, launch)
        for analysis, label, launch in found
    )


def instances_of(
    kernels: Iterable[KernelAnalysis], path: str, line: int
) -> Iterator[tuple[KernelAnalysis, str, Launch]]:
    """The loops in that line, by their labels, in each kernel and launch that comes to it."""
    for analysis in kernels:
        places = {label: loop.site.span for label, loop in analysis.events.loops.items()}
        labels = [label for label, at in places.items() if (at.path, at.line) == (path, line)]
        for context in analysis.contexts if labels else ():
            launch = Launch(analysis.events, context)
            yield from ((analysis, label, launch) for label in labels)


def is_entered_by_all(events: KernelEvents, label: str, launch: Launch) -> bool:
    """No thread of the block returns in front of the loop, or passes it by, alone."""
    for event in (*events.accesses, *events.barriers):
        if label in event.loops:
            depth = event.loops.index(label)
            outer = (c.condition for c in event.guard if c.depth <= depth and c.kind != "assume")
            if not all(is_uniform(launch.bind(condition)) for condition in outer):
                return False
    return True


def _covers_a_row(events: KernelEvents, label: str, launch: Launch) -> bool:
    counter = events.loops[label].counter
    guards = (event.guard for event in (*events.accesses, *events.barriers) if label in event.loops)
    tests = {c.condition for guard in guards for c in guard if c.kind == "loop" and counter in symbols(c.condition)}
    steps = [_step(test, counter, launch) for test in tests]
    return bool(steps) and all(step is not None and _is_row(step, launch) for step in steps)


def _step(test: Expr, counter: Expr, launch: Launch) -> Expr | None:
    """What is added to the left side of a comparison in each iteration."""
    if test.op not in ("lt", "le") or counter in symbols(test.args[1]):
        return None
    value = launch.bind(test.args[0])
    while counter in symbols(value):
        if value.op in ("cast", "narrow") and isinstance(value.args[0].ty, IntType):
            value = value.args[0]
        elif value.op == "add":
            parts = [a for a in value.args if counter in symbols(a)]
            if len(parts) != 1:
                return None
            value = parts[0]
        elif value.op == "mul" and counter in value.args:
            return value.args[1] if value.args[0] is counter else value.args[0]
        else:
            return None
    return None


def _is_row(step: Expr, launch: Launch) -> bool:
    """Not shorter than the block is wide."""
    width = launch.block[0]
    if step.op == "const":
        low, high = launch.ranges.get(launch.bind(BDIM[0]), (1, MAX_BLOCK[0]))
        del low
        return step.value >= (high if width is None else width)
    while step.op in ("cast", "narrow"):
        step = step.args[0]
    if step.op == "mul":
        return any(_is_row(part, launch) for part in step.args) and all(_is_size(part) for part in step.args)
    return step is BDIM[0] or step is launch.bind(BDIM[0])


def _is_size(value: Expr) -> bool:
    """A positive number, or a dimension of the block or grid."""
    while value.op in ("cast", "narrow"):
        value = value.args[0]
    if value.op == "const":
        return value.value > 0
    return value.op == "sym" and str(value.value).split(".")[0] in ("bdim", "gdim")
