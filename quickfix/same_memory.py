"""Barriers that order nothing unless two pointers of a kernel point to the same memory.

Takes analysed kernels and barriers that are to go; says which two parameters have to point to different memory then.
That different parameters do is taken for granted everywhere; but a barrier without which a kernel could no longer work
in place may be there for that. A kernel that races in place with its barriers as well is none that works in place.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from itertools import combinations
from typing import Final

from analyzers.analysed import KernelAnalysis
from analyzers.barriers.redundancy import is_ordered_by
from analyzers.ir.context import LaunchContext, PointerArgument
from analyzers.ir.kernel import Parameter
from analyzers.model import SourceSpan
from analyzers.races.pairs import conflicting
from analyzers.races.threads import Launch
from analyzers.verdicts.kernel import events_in
from quickfix.solving import Solving

_QUALIFIERS: Final = re.compile(r"\b(?:const|volatile|signed|unsigned)\b")
_VECTOR: Final = re.compile(r"\b([a-z]+)[1-4]\b")
_SHARED: Final = "in place"
"""The allocation that both are taken to point to."""


def told_apart(kernels: Iterable[KernelAnalysis], barriers: Collection[SourceSpan], solving: Solving) -> str:
    """What is assumed of the pointers of a kernel where barriers of it go, a sentence or nothing. What is not decided
    counts as assumed."""
    for analysis in kernels:
        if not any(b.site.span in barriers for b in analysis.decisive.barriers):
            continue
        gone = frozenset(b.id for b in analysis.events.barriers if b.site.span in barriers)
        for context in analysis.contexts:
            for one, two in _alike(analysis, context):
                if _is_needed(analysis, _in_place(context, one, two), (one, two), gone, solving):
                    return (
                        f"Assumes that `{one.name}` and `{two.name}` point to different memory: if the kernel works in "
                        "place, the barrier is needed."
                    )
    return ""


def _alike(analysis: KernelAnalysis, context: LaunchContext) -> Iterator[tuple[Parameter, Parameter]]:
    """The pointers of which nothing says whether they are one: a caller may pass the same for both."""
    known = {name for name, argument in context.pointers if argument.allocation is not None}
    free = [p for p in analysis.kernel.parameters if p.object is not None and p.name not in known and not p.restrict]
    written = {a.root.value for a in analysis.events.accesses if a.writes and a.root.op == "addr"}
    for one, two in combinations(free, 2):
        if _pointee(one) == _pointee(two) and not written.isdisjoint((one.object, two.object)):
            yield one, two


def _pointee(parameter: Parameter) -> str:
    """What it points to; a vector of numbers may be these numbers, and whole ones may have a sign or none."""
    return _VECTOR.sub(r"\1", "".join(_QUALIFIERS.sub("", parameter.type_text).split()))


def _in_place(context: LaunchContext, *parameters: Parameter) -> LaunchContext:
    same = tuple((p.name, PointerArgument(_SHARED)) for p in parameters)
    others = tuple(each for each in context.pointers if each[0] not in {p.name for p in parameters})
    return replace(context, pointers=(*others, *same))


def _is_needed(
    analysis: KernelAnalysis,
    context: LaunchContext,
    parameters: tuple[Parameter, Parameter],
    gone: frozenset[int],
    solving: Solving,
) -> bool:
    """Whether accesses through the one and the other may collide without the barriers, and do not with them."""
    launch = Launch(events_in(analysis.events, context), context)
    checker = solving.checker(launch)
    objects = {p.object for p in parameters}
    pairs = [p for p in conflicting(launch) if {p.one.root.value, p.two.root.value} == objects]
    ordered = [pair for pair in pairs if is_ordered_by(launch, pair, gone)]
    if all(checker.is_proved_without(pair, gone) for pair in ordered):
        return False
    return not any(checker.collides_without(pair, frozenset()) for pair in pairs)
