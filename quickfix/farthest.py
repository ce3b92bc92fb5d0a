"""Which thread makes all iterations that any thread of its block makes of a loop: the last one or the first one.

Takes analysed kernels and a loop to which all threads of a block come, and whose test compares what is the same for all
of them in equal iterations with a bound that is not. Proves with the engine's own prover, for every launch, that the
test holds in one thread wherever it holds in another one, and that a thread which has left would stay outside as long
as that one goes on. Then its bound does for all threads: what is computed with it, that thread has computed before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from analyzers.analysed import KernelAnalysis
from analyzers.ir import expr as E
from analyzers.ir.events import Conjunct, Guard, KernelEvents
from analyzers.ir.expr import I64, Expr
from analyzers.ir.uniformity import is_uniform
from analyzers.questions import settings
from analyzers.races.check import RaceChecker
from analyzers.races.conditions import query_of, split
from analyzers.races.threads import Launch
from analyzers.solve.effort import Effort
from analyzers.solve.ladder import Budget, Ladder
from analyzers.solve.query import Proved
from quickfix.session import Session
from quickfix.steps import Farthest
from quickfix.strides import instances_of, is_entered_by_all


def is_farthest(session: Session, kernels: Iterable[KernelAnalysis], which: Farthest, path: str, line: int) -> bool:
    """Whether that thread makes all iterations of the loop in that line, in all launches of the kernels that come to
    it."""
    options, effort = settings(session.request), Effort(session.request.options.kernel_effort)

    seen = False
    try:
        for analysis, label, launch in instances_of(kernels, path, line):
            seen = True
            free = _in_any_block(launch)
            checker = RaceChecker(
                free, Ladder(Budget(smt=options.smt_budget)), options.warp_lockstep, session.poll, effort
            )
            if not _makes_all(checker, analysis.events, label, which):
                return False
    finally:
        session.charge(effort.spent)
    return seen


def _in_any_block(launch: Launch) -> Launch:
    """The launch with blocks of any size: the bound is to be that of the last thread of each."""
    context = launch.context
    bindings = tuple((s, value) for s, value in context.bindings if s not in E.BDIM or value.op != "const")
    return Launch(launch.events, replace(context, bindings=bindings))


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
    before, after = (_by_name(found, path, line) for found, line in zip((kernels, drafted), lines, strict=True))
    if not after or after.keys() != before.keys():
        return False
    return all(
        len(before[key]) == len(new)
        and all(_ends_alike(session, a, b, which) for a, b in zip(before[key], new, strict=True))
        for key, new in after.items()
    )


_Instance = tuple[KernelAnalysis, str, Launch]


def _by_name(kernels: Iterable[KernelAnalysis], path: str, line: int) -> dict[tuple[str, str], list[_Instance]]:
    """The loops in a line by kernel and label, each in its launches."""
    found: dict[tuple[str, str], list[_Instance]] = {}
    for each in instances_of(kernels, path, line):
        found.setdefault((each[0].kernel.mangled, each[1]), []).append(each)
    return found


def _ends_alike(session: Session, before: _Instance, after: _Instance, which: Farthest) -> bool:
    (old, old_label, _), (new, label, launch) = before, after
    tests = [_tests(old.events, old_label), _tests(new.events, label)]
    counters = [each.events.loops[at].counter for each, at in ((old, old_label), (new, label))]
    if any(len(found) != 1 for found in tests) or counters[0] is not counters[1]:
        return False
    if not is_entered_by_all(new.events, label, launch):
        return False
    options, effort = settings(session.request), Effort(session.request.options.kernel_effort)
    checker = RaceChecker(
        _in_any_block(launch), Ladder(Budget(smt=options.smt_budget)), options.warp_lockstep, session.poll, effort
    )
    said, says = (_test(checker.launch, found[0]) for found in tests)
    known = _known(checker.launch, new.events, label, which)
    one, two = checker.launch.side(says, 1, "block"), checker.launch.side(said, 2, "block")
    alike = is_uniform(says) and all(
        _is_never(checker, [*known, *differing]) for differing in ((one, E.lnot(two)), (E.lnot(one), two))
    )
    session.charge(effort.spent)
    return alike


def _test(launch: Launch, guard: Guard) -> Expr:
    return _wrapping_around(launch.bind(E.land(*(c.condition for c in guard))))


def _known(launch: Launch, events: KernelEvents, label: str, which: Farthest) -> list[Expr]:
    """Of two threads in equal iterations of the loop, the second one that at the end of the block."""
    known = [launch.side(c, thread, "block") for c in _around(events, label) for thread in (1, 2)]
    known += [
        E.compare("eq", *(launch.side(each.counter, t, "block") for t in (1, 2))) for each in events.loops.values()
    ]
    return [*known, *(_is_at_end(launch, axis, which) for axis in range(3))]


def _makes_all(checker: RaceChecker, events: KernelEvents, label: str, which: Farthest) -> bool:
    launch, counter = checker.launch, events.loops[label].counter
    tests = _tests(events, label)
    if len(tests) != 1 or any(c.kind != "loop" for c in tests[0]) or not is_entered_by_all(events, label, launch):
        return False
    test = _test(launch, tests[0])
    if not _is_separate(test, counter):
        return False
    known = _known(launch, events, label, which)
    own_test, farthest = (launch.side(test, thread, "block") for thread in (1, 2))
    following = launch.side(E.substitute(test, {counter: E.add(counter, E.const(1, I64))}), 1, "block")
    return _is_never(checker, [*known, own_test, E.lnot(farthest)]) and _is_never(
        checker, [*known, farthest, E.lnot(own_test), following]
    )


def _wrapping_around(test: Expr) -> Expr:
    """A test whose counters wrap around where C has them do so, which a proof about races may take for granted not to
    happen: a counter that begins anew is below a bound again."""

    def exact(node: Expr) -> Expr | None:
        ty = node.ty
        if node.op != "narrow" or not isinstance(ty, E.IntType) or (ty.signed and ty.width >= 32):
            return None
        return E.cast(E.rewrite(node.args[0], exact), ty)

    return E.rewrite(test, exact)


def _tests(events: KernelEvents, label: str) -> list[Guard]:
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


def _around(events: KernelEvents, label: str) -> list[Expr]:
    """What holds for all threads that come to a loop."""
    for event in (*events.accesses, *events.barriers):
        if label in event.loops:
            depth = event.loops.index(label)
            return [c.condition for c in event.guard if c.depth <= depth and c.kind != "assume"]
    return []


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


def _is_at_end(launch: Launch, axis: int, which: Farthest) -> Expr:
    """That thread 2 is the last or the first one along an axis."""
    at = E.cast(launch.side(E.TID[axis], 2, "block"), I64)
    if which == "first":
        return E.compare("eq", at, E.const(0, I64))
    return E.compare("eq", E.add(at, E.const(1, I64)), E.cast(launch.bind(E.BDIM[axis]), I64))


def _is_never(checker: RaceChecker, conditions: Iterable[Expr]) -> bool:
    """Whether it is proved that the conditions do not hold at once."""
    query = query_of(checker.launch, conditions, "block")
    if query is None:
        return True
    return all(
        not checker.effort.is_spent and isinstance(checker.asker.answer(part, "brief"), Proved) for part in split(query)
    )
