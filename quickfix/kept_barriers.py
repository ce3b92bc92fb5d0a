"""Barriers that some threads miss, kept where they are: all threads get to them, and do nothing in between.

Takes a session and the barriers of a kernel that threads miss, gives the `Fix` that takes the conditions around them
apart (`around_barriers`), with barriers for the races that are left of a group that was asked for; or why that cannot
be. It takes one trial however many barriers there are, and none away, so it comes after what takes some away.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from analyzers.analysed import KernelAnalysis
from analyzers.frontend.gaps import FunctionTree
from analyzers.ir.events import BarrierEvent, Guard
from analyzers.ir.uniformity import is_uniform
from analyzers.model import Access, Finding, Fix, FixRefusal, Verdict
from quickfix.around_barriers import FunctionEdit, Spine
from quickfix.barrier_meanings import turned_round
from quickfix.edits import Change
from quickfix.inner_calls import LargerStatementError, call_made_in_front
from quickfix.naming import NotPossible
from quickfix.own_lines import OneLineError, UnbracedError
from quickfix.paths import Chain, Level, chain_to
from quickfix.rebuild import Begun, composed, in_old_lines, rebuilt_from
from quickfix.room import made_room
from quickfix.search import sentence, varying_bodies
from quickfix.sections import refuse_halves
from quickfix.session import Session, Trial, names_of
from quickfix.steps import Restructuring
from quickfix.verify import findings_of, gone_groups, key_of, new_error
from quickfix.wording import edits_of_files, granted_in_words, lines_in_words

MANY: Final = 4
"""Barriers that threads miss beyond which this is tried first: one trial instead of one for each."""
_MOST_STEPS: Final = 8
"""Steps that make calls statements of their own in one repair, or room for that."""
_LISTED: Final = 4
"""Lines that a title lists; of more it gives the first and the last."""
_MISSED: Final = frozenset({Verdict.BARRIER_DIVERGENCE, Verdict.BARRIER_AFTER_EXIT})


def missed_barriers(kernels: Iterable[KernelAnalysis], code: Verdict) -> list[Finding]:
    """The barriers that threads miss, each once; if `code` is that, also those missed by threads that have returned."""
    found: dict[str, Finding] = {}
    for finding in (f for a in kernels for f in findings_of(a.result)):
        if finding.code is Verdict.BARRIER_DIVERGENCE or (finding.code is code and code in _MISSED):
            found.setdefault(finding.group, finding)
    return list(found.values())


def reached_by_all(session: Session, kernels: Sequence[KernelAnalysis], finding: Finding) -> Fix | FixRefusal:
    """The repair for the barriers of `kernels`, and with them for the group of `finding`: one of the barriers, or a
    race in their kernel. Raises `SearchSpentError`."""
    missed = missed_barriers(kernels, finding.code)
    answer = _reached_within(session, kernels, missed, finding, returns=True)
    if isinstance(answer, FixRefusal) and finding.code is Verdict.BARRIER_DIVERGENCE and _some_return(kernels, missed):
        # Threads that have returned count as arrived: the others have to get there.
        others = _reached_within(session, kernels, missed, finding, returns=False)
        answer = others if isinstance(others, Fix) else answer
    return answer


def _reached_within(
    session: Session,
    kernels: Sequence[KernelAnalysis],
    missed: Sequence[Finding],
    finding: Finding,
    *,
    returns: bool,
) -> Fix | FixRefusal:
    """`returns`: threads that return in front of the barriers have to get to them, too."""
    passed_on = dict(session.passed_on)
    try:
        answer = _reached(session, kernels, missed, finding, _Earlier(session, kernels, missed, returns))
    except NotPossible as reason:
        answer = FixRefusal(sentence(str(reason)))
    if isinstance(answer, FixRefusal):
        session.passed_on.clear()
        session.passed_on.update(passed_on)
    return answer


def _some_return(kernels: Sequence[KernelAnalysis], missed: Sequence[Finding]) -> bool:
    """Whether threads return in front of the barriers that others get to."""
    guards = (event.guard for event in _events(kernels, missed))
    return any(c.kind == "return" and not is_uniform(c.condition) for guard in guards for c in guard)


@dataclass(frozen=True, slots=True)
class _Earlier:
    """The text that was asked about, and the steps that have led from it to the one at hand."""

    session: Session
    kernels: Sequence[KernelAnalysis]
    missed: Sequence[Finding]
    returns: bool
    """Whether threads that return in front of the barriers have to get to them, too."""
    steps: tuple[Trial, ...] = ()
    done: tuple[str, ...] = ()


def _reached(
    session: Session,
    kernels: Sequence[KernelAnalysis],
    missed: Sequence[Finding],
    finding: Finding,
    first: _Earlier,
) -> Fix | FixRefusal:
    turned = turned_round(session, kernels, missed) if not first.steps else None
    if turned is not None:
        return turned
    events = _events(kernels, missed)
    chains: list[Chain] = []
    for event in events:
        site = event.site
        barrier = Access(event.id, site.span, "barrier", 0, site.text, calls=site.calls)
        chain = chain_to(session.trees, barrier)
        if chain is None:
            raise NotPossible("a barrier is written by a macro")
        chains.append(chain)
    try:
        edits = _edits(session, kernels, chains, [event.guard for event in events], returns=first.returns)
    except LargerStatementError as reason:
        return _gone_on(session, kernels, finding, first, _call_in_front(session, first, chains, reason), reason)
    except (OneLineError, UnbracedError) as missing:
        return _gone_on(session, kernels, finding, first, _room(session, missing), missing)
    changes: dict[str, list[Change]] = {}
    for edit, more in edits:
        changes[edit.function.path] = sorted(
            (*changes.get(edit.function.path, ()), *more), key=lambda c: (c.start, c.end)
        )
    for path, more in changes.items():
        refuse_halves(session.trees, path, more)
    trial = session.trial(changes, frozenset(), session.kernels_sharing_code(kernels), draft=True)
    difference = trial.difference
    if not difference.is_clean or not {f.group for f in missed} <= trial.gone:
        return FixRefusal(
            "With what is between the barriers under their conditions there would still be threads that wait."
        )
    steps = (*first.steps, trial)
    done = (*first.done, f"let all threads get to {_in_words(session, first.missed)}")
    costs = [f"all iterations of the loop in line {line}" for edit, _ in edits for line in edit.stays]
    granted = tuple(dict.fromkeys(each for edit, _ in edits for each in (*edit.granted, *edit.assumed)))
    if first.steps:
        costs, granted = (
            [in_old_lines(text, session, first.steps) for text in costs],
            tuple(in_old_lines(text, session, first.steps) for text in granted),
        )
    groups = (finding.group, *(f.group for f in missed))
    if finding.group not in trial.gone:
        begun = Begun(session.after(trial), steps, done, tuple(costs), granted, begin_with_places=True)
        races = frozenset(key_of(f) for a in first.kernels for f in findings_of(a.result) if f.group == finding.group)
        made = rebuilt_from(first.session, begun, first.kernels, races, groups)
        return made or FixRefusal("There is no place for a barrier between the accesses.")
    files = composed(steps)
    difference = first.session.judge(trial, files)
    gone = gone_groups(first.session.result, trial.checked, difference)
    if not difference.is_clean or not gone.issuperset(groups):
        return FixRefusal(sentence(next(iter(difference.worse), "Other accesses would race.")))
    conditions = dict.fromkeys(c.decode() for edit, _ in edits for c in edit.conditions)
    under = " and ".join(f"`{c}`" for c in conditions)
    price = ", ".join(("no barrier more", *costs))
    given = price + granted_in_words(granted)
    what = sentence(", ".join(done)).removesuffix(".")
    return Fix(
        title=f"{what} — only what is between stays under {under}, {given}",
        kind="restructure",
        edits=edits_of_files(files),
        groups=tuple(sorted(gone)),
        cost=price,
        notes=granted,
        assumes=granted,
    )


def _call_in_front(
    session: Session, first: _Earlier, chains: Iterable[Chain], reason: LargerStatementError
) -> Restructuring:
    """What makes a call that leads to a barrier a statement of its own, or room for that. Raises `NotPossible`."""
    pairs = (pair for chain in chains for pair in pairwise(chain))
    level = next((caller for caller, callee in pairs if callee is reason.callee), None)
    if level is None:
        raise reason
    try:
        made = call_made_in_front(session, level, reason.callee)
    except (OneLineError, UnbracedError) as missing:
        return _room(session, missing)
    refuse_halves(session.trees, made.path, made.changes)
    line = int(in_old_lines(f"line {reason.line}", session, first.steps).split()[1]) if first.steps else reason.line
    return replace(made, text=f"{made.text} in line {line}")


def _room(session: Session, missing: OneLineError | UnbracedError) -> Restructuring:
    """Raises `NotPossible`."""
    room = made_room(session, missing)
    if room is None:
        raise missing
    return room


def _gone_on(
    session: Session,
    kernels: Sequence[KernelAnalysis],
    finding: Finding,
    first: _Earlier,
    made: Restructuring,
    reason: NotPossible,
) -> Fix | FixRefusal:
    """Go on from the text in which a step is made, without which there is a reason not to."""
    if len(first.steps) >= _MOST_STEPS:
        raise reason
    step = session.draft({made.path: made.changes}, session.kernels_sharing_code(kernels))
    error = new_error(session.result, step.analysis.result)
    if error is not None:
        return FixRefusal(sentence(error))
    first = replace(first, steps=(*first.steps, step), done=(*first.done, *([made.text] if made.text else ())))
    current = session.rewritten(step)
    names = names_of(kernels)
    again = [a for a in current.kernels if a.kernel.mangled in names]
    same = next((f for a in again for f in findings_of(a.result) if f.group == finding.group), None)
    if same is None:
        raise reason
    return _reached(current, again, missed_barriers(again, finding.code), same, first)


def _in_words(session: Session, missed: Sequence[Finding]) -> str:
    lines = sorted({f.accesses[0].span.line for f in missed})
    if len(lines) > _LISTED:
        return f"the {len(lines)} barriers in lines {lines[0]} to {lines[-1]}"
    return f"the barrier{'s' * (len(lines) > 1)} in {lines_in_words(missed, session)}"


def _edits(
    session: Session,
    kernels: Sequence[KernelAnalysis],
    chains: Sequence[Chain],
    guards: Sequence[Guard],
    *,
    returns: bool,
) -> list[tuple[FunctionEdit, list[Change]]]:
    """The changes of each function, callers first: a function that is called under a condition gets a parameter."""
    indexes: dict[tuple[str, int], set[int]] = {}
    calls: dict[tuple[str, int], Level] = {}
    depths: dict[tuple[str, int], tuple[int, FunctionTree]] = {}
    for chain in chains:
        for depth, level in enumerate(chain):
            function = level.function
            indexes.setdefault((function.path, level.body.start), set()).add(level.position)
            if level.body is function.body:
                known = depths.get((function.path, function.start), (0, function))[0]
                depths[function.path, function.start] = max(depth, known), function
            if depth and level.call is not None and (statement := chain[depth - 1].statement) is not None:
                calls[chain[depth - 1].function.path, statement.start] = level
    varying = varying_bodies(session, kernels)

    def parts(chain: Chain, guard: Guard, kinds: Container[str]) -> bool:
        within = any(a.body.role in ("then", "else") and (a.function.path, a.body.start) in varying for a in chain)
        return not within and any(c.kind in kinds and not is_uniform(c.condition) for c in guard)

    pairs = list(zip(chains, guards, strict=True))
    spine = Spine(
        {key: frozenset(found) for key, found in indexes.items()},
        calls,
        varying,
        any(parts(chain, guard, ("branch", "break")) for chain, guard in pairs),
        returns and any(c.kind == "return" and not is_uniform(c.condition) for guard in guards for c in guard),
    )
    found: list[tuple[FunctionEdit, list[Change]]] = []
    conditional: dict[tuple[str, int], Level] = {}
    for _, function in sorted(depths.values(), key=lambda each: each[0]):
        edit = FunctionEdit(session, function, spine)
        changes = edit.changes(conditional.get((function.path, function.body.start)))
        conditional.update(edit.conditional)
        if changes:
            found.append((edit, changes))
    if not found:
        raise NotPossible("no condition around the barriers is in sight")
    return found


def _events(kernels: Iterable[KernelAnalysis], missed: Iterable[Finding]) -> list[BarrierEvent]:
    """The barriers in all calls of the functions that they are in."""
    places = {(a.span.path, a.span.start_offset) for f in missed for a in f.accesses}
    return [
        event
        for analysis in kernels
        for event in analysis.events.barriers
        if (event.site.span.path, event.site.span.start_offset) in places
    ]
