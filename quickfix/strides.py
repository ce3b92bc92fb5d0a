"""Loops that stride from the number of the thread on: whether a base does for all threads, which the first one counts.

Takes analysed kernels and a loop that was rewritten over a base (`strided_loops`), and proves with the engine's own
prover, for every launch: all threads come to the loop; the first thread of the block makes all iterations that another
one makes, and another one never counts as far as it does in its next one, so that no sum of the base and the number of
a thread leaves the range of integers that did not before; and each access is made in the same iterations as it was.
"""

from __future__ import annotations

from collections.abc import Iterable

from analyzers.analysed import KernelAnalysis
from analyzers.ir import expr as E
from analyzers.ir.events import KernelEvents
from analyzers.ir.expr import I64, Expr, IntType
from analyzers.ir.uniformity import is_uniform
from analyzers.races.check import RaceChecker
from quickfix.loops_in_launches import (
    Instance,
    ends_as,
    exactly,
    is_entered_by_all,
    known_of,
    paired,
    test_of,
    tests_of,
)
from quickfix.proving import are_equal, is_never, prover
from quickfix.session import Session


def is_over_base(
    session: Session,
    kernels: Iterable[KernelAnalysis],
    drafted: Iterable[KernelAnalysis],
    path: str,
    line: int,
    *,
    own_counter: bool,
) -> bool:
    """Whether the rewritten loop does what it did. `line`: of the loop in both texts; `own_counter`: each thread goes
    on counting as it did, under its old condition."""
    pairs = paired(kernels, drafted, path, (line, line))
    return bool(pairs) and all(_is_alike(session, *pair, own_counter) for pair in pairs)


def _is_alike(session: Session, before: Instance, after: Instance, own_counter: bool) -> bool:
    (old, label, launch), (new, new_label, _) = before, after
    if old.events.loops[label].counter is not new.events.loops[new_label].counter:
        return False
    if not is_entered_by_all(old.events, label, launch):
        return False
    with prover(session, launch) as checker:
        if not _is_led(checker, old.events, label):
            return False
        if own_counter:
            return ends_as(checker, (old.events, label), (new.events, label), "first")
        return _is_reached_alike(checker, old.events, new.events, label)


def _is_led(checker: RaceChecker, events: KernelEvents, label: str) -> bool:
    launch, counter = checker.launch, events.loops[label].counter
    tests = tests_of(events, label)
    if len(tests) != 1 or len(tests[0]) != 1 or tests[0][0].kind != "loop":
        return False
    test = tests[0][0].condition
    if test.op not in ("lt", "le") or not is_uniform(test.args[1]) or counter in E.symbols(test.args[1]):
        return False
    known = known_of(launch, events, label, "first")
    inside, count = test_of(launch, tests[0]), exactly(launch.bind(test.args[0]))
    following = {counter: E.add(counter, E.const(1, I64))}
    own, first = (launch.side(inside, thread, "block") for thread in (1, 2))
    again = launch.side(E.substitute(inside, following), 1, "block")
    here, base = (launch.side(count, thread, "block") for thread in (1, 2))
    then = launch.side(E.substitute(count, following), 2, "block")
    # A counter that begins anew below its bound would go on for ever.
    grows = E.compare("lt", base, then)
    return (
        is_never(checker, [*known, own, E.lnot(first)])
        and is_never(checker, [*known, first, grows, E.lnot(own), again])
        and (_wraps_around(test.args[0]) or is_never(checker, [*known, first, E.compare("le", then, here)]))
    )


def _wraps_around(count: Expr) -> bool:
    """Whether C has a counter wrap around where it leaves its range."""
    while count.op == "cast":
        count = count.args[0]
    return count.op == "narrow" and isinstance(count.ty, IntType) and not count.ty.signed


def _is_equal(checker: RaceChecker, one: Expr, two: Expr) -> bool:
    """Whether two values of a thread are proved to be one."""
    return one is two or is_never(checker, [checker.launch.side(E.compare("ne", one, two), 1, "block")])


def _is_reached_alike(checker: RaceChecker, old: KernelEvents, new: KernelEvents, label: str) -> bool:
    """Whether each thread makes the same accesses in the same iterations, with the same count: the body is under a test
    that compares it with the bound of the loop."""
    (test,) = (guard[0].condition for guard in tests_of(old, label))
    tests = {c.condition for e in new.accesses if label in e.loops for c in e.guard if c.kind == "branch"}
    again = [t for t in tests if t.op == test.op and t.args[1] is test.args[1]]
    count, *counts = (exactly(checker.launch.bind(t.args[0])) for t in (test, *again))
    if not any(_is_equal(checker, count, other) for other in counts):
        return False
    guards = [[test_of(checker.launch, e.guard) for e in each.accesses if label in e.loops] for each in (old, new)]
    pairs = dict.fromkeys(zip(*guards, strict=False))
    return len(guards[0]) == len(guards[1]) and all(
        one is two or are_equal(checker, (), *(checker.launch.side(each, 1, "block") for each in (one, two)))
        for one, two in pairs
    )
