"""Loops in the launches of kernels, as the engine's prover is asked about them: their tests, and two threads in equal
iterations of one.

Takes analysed kernels and the line of a loop; gives expressions and conditions of `analyzers.ir.expr`. A test is read
exactly: where C has a counter wrap around, it does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from analyzers.analysed import KernelAnalysis
from analyzers.ir import expr as E
from analyzers.ir.events import Conjunct, Guard, KernelEvents
from analyzers.ir.expr import I64, Expr
from analyzers.ir.uniformity import is_uniform
from analyzers.races.check import RaceChecker
from analyzers.races.threads import Launch
from quickfix.proving import are_equal
from quickfix.steps import Farthest

Instance = tuple[KernelAnalysis, str, Launch]
"""A loop by its label, in a launch of a kernel."""


def instances_of(kernels: Iterable[KernelAnalysis], path: str, line: int) -> Iterator[Instance]:
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


def in_any_block(launch: Launch) -> Launch:
    """The launch with blocks of any size: the bound is to be that of the last thread of each."""
    context = launch.context
    bindings = tuple((s, value) for s, value in context.bindings if s not in E.BDIM or value.op != "const")
    return Launch(launch.events, replace(context, bindings=bindings))


def tests_of(events: KernelEvents, label: str) -> list[Guard]:
    """What an iteration of a loop needs, beside its place in the code: what it tests, and that the thread has not
    returned in it. More than one where not all that is in the loop needs the same."""
    found = dict[Guard, None]()
    for event in (*events.accesses, *events.barriers):
        if label in event.loops:
            depth = event.loops.index(label) + 1
            found[tuple(c for c in event.guard if _is_of_loop(c, depth))] = None
    return list(found)


def _is_of_loop(conjunct: Conjunct, depth: int) -> bool:
    return (conjunct.kind == "loop" and conjunct.depth == depth) or (
        conjunct.kind == "return" and conjunct.depth >= depth
    )


def test_of(launch: Launch, guard: Guard) -> Expr:
    return exactly(launch.bind(E.land(*(c.condition for c in guard))))


def exactly(test: Expr) -> Expr:
    """A test whose counters wrap around where C has them do so, which a proof about races may take for granted not to
    happen: a counter that begins anew is below a bound again."""

    def exact(node: Expr) -> Expr | None:
        ty = node.ty
        if node.op != "narrow" or not isinstance(ty, E.IntType) or (ty.signed and ty.width >= 32):
            return None
        return E.cast(E.rewrite(node.args[0], exact), ty)

    return E.rewrite(test, exact)


def _around(events: KernelEvents, label: str) -> list[Expr]:
    """What holds for all threads that come to a loop."""
    for event in (*events.accesses, *events.barriers):
        if label in event.loops:
            depth = event.loops.index(label)
            return [c.condition for c in event.guard if c.depth <= depth and c.kind != "assume"]
    return []


def known_of(launch: Launch, events: KernelEvents, label: str, which: Farthest) -> list[Expr]:
    """Of two threads in equal iterations of the loop, the second one that at the end of the block."""
    known = [launch.side(c, thread, "block") for c in _around(events, label) for thread in (1, 2)]
    known += [
        E.compare("eq", *(launch.side(each.counter, t, "block") for t in (1, 2))) for each in events.loops.values()
    ]
    return [*known, *(_is_at_end(launch, axis, which) for axis in range(3))]


def _is_at_end(launch: Launch, axis: int, which: Farthest) -> Expr:
    """That thread 2 is the last or the first one along an axis."""
    at = E.cast(launch.side(E.TID[axis], 2, "block"), I64)
    if which == "first":
        return E.compare("eq", at, E.const(0, I64))
    return E.compare("eq", E.add(at, E.const(1, I64)), E.cast(launch.bind(E.BDIM[axis]), I64))


def paired(
    kernels: Iterable[KernelAnalysis], drafted: Iterable[KernelAnalysis], path: str, lines: tuple[int, int]
) -> list[tuple[Instance, Instance]]:
    """A loop in its kernels and launches, and the one that was made of it in those of a draft; nothing where they are
    not the same ones. `lines`: of the loop in both."""
    before, after = (_by_name(found, path, line) for found, line in zip((kernels, drafted), lines, strict=True))
    if before.keys() != after.keys() or any(len(before[key]) != len(new) for key, new in after.items()):
        return []
    return [pair for key, new in after.items() for pair in zip(before[key], new, strict=True)]


def _by_name(kernels: Iterable[KernelAnalysis], path: str, line: int) -> dict[tuple[str, str], list[Instance]]:
    """The loops in a line by kernel and label, each in its launches."""
    found: dict[tuple[str, str], list[Instance]] = {}
    for each in instances_of(kernels, path, line):
        found.setdefault((each[0].kernel.mangled, each[1]), []).append(each)
    return found


def ends_as(
    checker: RaceChecker, old: tuple[KernelEvents, str], new: tuple[KernelEvents, str], which: Farthest
) -> bool:
    """Whether all threads make a new loop as often as that one made the old one; each by its events and label."""
    launch, tests = checker.launch, [tests_of(*each) for each in (old, new)]
    if any(len(found) != 1 for found in tests):
        return False
    before, now = (test_of(launch, found[0]) for found in tests)
    sides = launch.side(now, 1, "block"), launch.side(before, 2, "block")
    return is_uniform(now) and are_equal(checker, known_of(launch, *new, which), *sides)
