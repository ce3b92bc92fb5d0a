"""Threads that return in front of barriers: what is behind the returns is guarded instead, and all threads get there.

Takes a session and a barrier that only threads miss which have returned, or races that such a barrier would order.
CUDA counts those threads as arrived, so this is a choice, never a repair of its own accord. The returns of the kernel
become conditions; the barriers that then stand under one are taken out, and placed again in code that is opened up for
them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from analyzers.analysed import KernelAnalysis
from analyzers.model import Finding, Fix, FixRefusal, Verdict
from quickfix.edits import Change
from quickfix.guards import guarded, jump_in
from quickfix.naming import NotPossible, line_of
from quickfix.oracle import SearchSpentError
from quickfix.paths import Level, chain_to
from quickfix.put_back import TakenOut, taken_out
from quickfix.rebuild import Begun, composed, rebuilt_from
from quickfix.removal import deletion
from quickfix.search import sentence
from quickfix.session import Session, Trial
from quickfix.verify import RACES, findings_of, in_old_text, key_of, old_place
from quickfix.wording import LATE, kind_in_words

_MAX_RETURNS: Final = 4


def guard_returns(session: Session, kernels: Sequence[KernelAnalysis], finding: Finding) -> Fix | FixRefusal:
    """The guard for all returns of the kernel in front of the barrier; why there is none."""
    try:
        begun = _begun(session, kernels, finding)
    except NotPossible as reason:
        return FixRefusal(sentence(f"the threads that miss this barrier have returned, which CUDA allows; {reason}"))
    made = _of_warps(session, begun, kernels, finding.group)
    if not isinstance(made, Fix):
        made = rebuilt_from(session, begun, kernels, frozenset(), (finding.group,))
    if isinstance(made, Fix):
        return replace(made, preferred=False)
    return made or FixRefusal("Without the returns no barrier is needed here.")


def guarded_instead(session: Session, kernels: Sequence[KernelAnalysis], group: str) -> Fix | FixRefusal | None:
    """The repair of one group of races behind returns with guards for these, so that all threads get to the barriers;
    None where no thread returns in front of them, or some still do."""
    races = [f for a in kernels for f in findings_of(a.result) if f.group == group and f.code in RACES]
    keys = frozenset(map(key_of, races))
    names = {a.kernel.mangled for a in kernels}
    current, steps, done = session, list[Trial](), list[str]()
    try:
        while races and len(steps) < _MAX_RETURNS:
            level = _body(current, races[0])
            index = jump_in(level.body, level.position, "return")
            if index is None:
                break
            current = _guarded(current, steps, done, level, index, kernels)
            files = composed(steps)
            found = [f for a in current.kernels if a.kernel.mangled in names for f in findings_of(a.result)]
            olds = [(f, in_old_text(f, files)) for f in found if f.code in RACES]
            races = [f for f, old in olds if old is not None and key_of(old) in keys]
        bare, taken = _without_missed(current, steps, kernels)
    except NotPossible as reason:
        return FixRefusal(sentence(str(reason)))
    if not steps:
        return None
    begun = Begun(bare, tuple(steps), tuple(done), begin_with_places=True, taken=taken)
    made = rebuilt_from(session, begun, kernels, keys, (group,))
    return replace(made, preferred=False) if isinstance(made, Fix) and LATE not in made.notes else None


def _of_warps(session: Session, begun: Begun, kernels: Sequence[KernelAnalysis], group: str) -> Fix | FixRefusal | None:
    """The repair with barriers of warps, where all were such that are taken out; they may be enough again."""
    if any(each.kind != kind_in_words(session.for_warps()) for each in begun.taken):
        return None
    try:
        narrow = replace(begun, current=begun.current.for_warps())
        return rebuilt_from(session, narrow, kernels, frozenset(), (group,))
    except SearchSpentError:
        session.begin_search()
        return None


def _guarded(
    current: Session,
    steps: list[Trial],
    done: list[str],
    level: Level,
    index: int,
    kernels: Sequence[KernelAnalysis],
) -> Session:
    """The text with a guard instead of the return at `index` of the body of `level`."""
    path = level.function.path
    text = current.trees.texts[path]
    line = _line(steps, path, text, level.body.statements[index].keyword)
    done.append(f"guard the rest of the kernel instead of `return` in line {line}")
    return _tried(current, steps, {path: guarded(level, index, text)}, kernels)


def _begun(session: Session, kernels: Sequence[KernelAnalysis], finding: Finding) -> Begun:
    names = {a.kernel.mangled for a in kernels}
    current, steps, done, found = session, list[Trial](), list[str](), list[Finding]()
    barrier: Finding | None = finding
    while barrier is not None and len(steps) < _MAX_RETURNS:
        level = _body(current, barrier)
        index = jump_in(level.body, level.position, "return")
        if index is None:
            raise NotPossible("the `return` is not a statement of the kernel's body by itself")
        current = _guarded(current, steps, done, level, index, kernels)
        found = [f for a in current.kernels if a.kernel.mangled in names for f in findings_of(a.result)]
        barrier = next((f for f in found if f.code is Verdict.BARRIER_AFTER_EXIT), None)
    bare, taken = _without_missed(current, steps, kernels)
    if not taken:
        raise NotPossible("the barriers behind the `return` are not reached in this launch")
    return Begun(bare, tuple(steps), tuple(done), begin_with_places=True, taken=taken)


def _without_missed(
    current: Session, steps: list[Trial], kernels: Sequence[KernelAnalysis]
) -> tuple[Session, tuple[TakenOut, ...]]:
    """The text without the barriers that threads miss, and those."""
    names = {a.kernel.mangled for a in kernels}
    own = [a for a in current.kernels if a.kernel.mangled in names]
    found = (f for a in own for f in findings_of(a.result))
    family = {f.group: f for f in found if f.code is Verdict.BARRIER_DIVERGENCE}
    changes: dict[str, list[Change]] = {}
    for each in family.values():
        deleted = deletion(current, each, changes)
        if isinstance(deleted, FixRefusal):
            raise NotPossible(deleted.text)
        changes = deleted
    files = composed(steps)
    taken: dict[tuple[str, int], TakenOut] = {}
    for each in family.values():
        barrier = taken_out(current, own, each, files)
        taken.setdefault((barrier.place.gap.function.path, barrier.at), barrier)
    return (_tried(current, steps, changes, kernels) if changes else current), tuple(taken.values())


def _body(session: Session, finding: Finding) -> Level:
    chain = chain_to(session.trees, finding.accesses[0])
    if not chain or chain[0].body.role != "function":
        raise NotPossible("the barrier is written by a macro")
    return chain[0]


def _tried(
    current: Session, steps: list[Trial], changes: Mapping[str, list[Change]], kernels: Sequence[KernelAnalysis]
) -> Session:
    trial = current.trial(changes, frozenset(), current.kernels_sharing_code(kernels), draft=True)
    result = trial.analysis.result
    if result.failure is not None or len(result.syntax) > len(current.result.syntax):
        raise NotPossible(trial.difference.worse[0])
    steps.append(trial)
    return current.after(trial)


def _line(steps: Sequence[Trial], path: str, text: bytes, at: int) -> int:
    """The line of a place, in the text before all steps."""
    file = composed(steps).get(path)
    return line_of(text if file is None else file.before, old_place(file, at))
