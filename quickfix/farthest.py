"""Which thread makes all iterations that any thread of its block makes of a loop: the last one or the first one.

Takes analysed kernels and a loop to which all threads of a block come, and whose test compares what is the same for all
of them in equal iterations with a bound that is not. Proves with the engine's own prover, for every launch, that the
test holds in one thread wherever it holds in another one, and that a thread which has left would stay outside as long
as that one goes on. Then its bound does for all threads: what is computed with it, that thread has computed before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from analyzers.analysed import KernelAnalysis
from analyzers.ir import expr as E
from analyzers.ir.events import KernelEvents
from analyzers.ir.expr import I64, Expr
from analyzers.ir.uniformity import is_uniform
from analyzers.races.check import RaceChecker
from quickfix.loops_in_launches import (
    Instance,
    ends_as,
    in_any_block,
    instances_of,
    is_entered_by_all,
    known_of,
    paired,
    test_of,
    tests_of,
)
from quickfix.proving import is_never, prover
from quickfix.session import Session
from quickfix.steps import Farthest


def is_farthest(session: Session, kernels: Iterable[KernelAnalysis], which: Farthest, path: str, line: int) -> bool:
    """Whether that thread makes all iterations of the loop in that line, in all launches of the kernels that come to
    it."""
    seen = False
    for analysis, label, launch in instances_of(kernels, path, line):
        seen = True
        with prover(session, in_any_block(launch)) as checker:
            if not _makes_all(checker, analysis.events, label, which):
                return False
    return seen


def has_its_bound(
    session: Session,
    kernels: Iterable[KernelAnalysis],
    drafted: Iterable[KernelAnalysis],
    which: Farthest,
    path: str,
    lines: tuple[int, int],
) -> bool:
    """Whether a loop that was rewritten ends for all threads when the old one ended for that thread: what was written
    may mean something else than what it was made of. `lines`: of the loop in the kernels, and in the drafted ones."""
    pairs = paired(kernels, drafted, path, lines)
    return bool(pairs) and all(_ends_alike(session, a, b, which) for a, b in pairs)


def _ends_alike(session: Session, before: Instance, after: Instance, which: Farthest) -> bool:
    (old, old_label, _), (new, label, launch) = before, after
    if old.events.loops[old_label].counter is not new.events.loops[label].counter:
        return False
    if not is_entered_by_all(new.events, label, launch):
        return False
    with prover(session, in_any_block(launch)) as checker:
        return ends_as(checker, (old.events, old_label), (new.events, label), which)


def _makes_all(checker: RaceChecker, events: KernelEvents, label: str, which: Farthest) -> bool:
    launch, counter = checker.launch, events.loops[label].counter
    tests = tests_of(events, label)
    if len(tests) != 1 or any(c.kind != "loop" for c in tests[0]) or not is_entered_by_all(events, label, launch):
        return False
    test = test_of(launch, tests[0])
    if not _is_separate(test, counter):
        return False
    known = known_of(launch, events, label, which)
    own_test, farthest = (launch.side(test, thread, "block") for thread in (1, 2))
    following = launch.side(E.substitute(test, {counter: E.add(counter, E.const(1, I64))}), 1, "block")
    return is_never(checker, [*known, own_test, E.lnot(farthest)]) and is_never(
        checker, [*known, farthest, E.lnot(own_test), following]
    )


def _is_separate(test: Expr, counter: Expr) -> bool:
    """Whether just one part of a test is not the same for all threads in equal iterations: a comparison of what is with
    a bound that stays. A thread has computed its bound before it leaves, and with it nothing that grows."""
    varying = [part for part in E.conjuncts(test) if not is_uniform(part)]
    if len(varying) != 1 or varying[0].op not in ("lt", "le"):
        return False
    sides: Sequence[Expr] = varying[0].args
    bounds = [side for side in sides if not is_uniform(side)]
    whole = all(isinstance(side.ty, E.IntType) for side in sides)
    # At one thread, what is left of the bound is the same for all.
    fixed = E.substitute(bounds[0], dict(zip(E.TID, E.BDIM, strict=True)))
    return whole and len(bounds) == 1 and counter not in E.symbols(bounds[0]) and is_uniform(fixed)
