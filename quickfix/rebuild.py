"""Make a place for a barrier, then place it: restructured sources, judged step by step.

Takes a session and a group of races that no barrier separates, gives a `Fix` in two parts, the restructuring and the
barriers in what comes of it, both accepted by the engine; or why there is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from analyzers.analysed import KernelAnalysis
from analyzers.model import Finding, Fix, FixRefusal, Verdict
from quickfix.cost import trips_of, words
from quickfix.edits import OffsetChain, OffsetMap, text_edits
from quickfix.naming import line_of
from quickfix.restructure import Restructuring, restructuring
from quickfix.search import Placed, place, sentence
from quickfix.session import Session, Trial
from quickfix.verify import RACES, EditedFile, PairKey, findings_of, gone_groups, in_old_text, key_of
from quickfix.wording import notes_of, pairs_in_words, places_in_words

MAX_STEPS: Final = 6
"""Restructurings in one repair."""


def rebuilt(session: Session, kernels: Sequence[KernelAnalysis], group: str) -> Fix | FixRefusal | None:
    """The repair of one group of races; None where no restructuring is in sight."""
    races = [f for a in kernels for f in findings_of(a.result) if f.group == group and f.code in RACES]
    if not races or any(f.scope == "inter-block" for f in races):
        return None
    if any(f.code is Verdict.BARRIER_DIVERGENCE for a in kernels for f in findings_of(a.result)):
        return None  # who waits for whom is not known: that comes first
    keys = {key_of(f) for f in races}
    names = {a.kernel.mangled for a in kernels}
    current, steps, done, costs = session, list[Trial](), list[str](), list[str]()
    refusal: FixRefusal | None = None
    while len(steps) < MAX_STEPS:
        files = _files(steps)
        repaired = [a for a in current.kernels if a.kernel.mangled in names]
        left = [f for f in _races_of(repaired) if _old_key(f, files) in keys]
        change = _first(current, left)
        if not isinstance(change, Restructuring):
            return refusal if change is None else FixRefusal(sentence(change))
        trial = current.trial({change.path: change.changes}, frozenset(), current.kernels_sharing_code(repaired))
        difference = trial.difference
        if not difference.is_clean:
            return FixRefusal(sentence(difference.worse[0])) if difference.worse else refusal
        steps.append(trial)
        done.append(_in_words(change, files, trial))
        costs += [change.cost] if change.cost else []
        current = current.after(trial)
        files = _files(steps)
        repaired = [a for a in current.kernels if a.kernel.mangled in names]
        placed = place(current, repaired, lambda _, found, files=files: any(_old_key(f, files) in keys for f in found))
        if isinstance(placed, Placed):
            return _fix(session, current, steps, done, costs, placed, repaired, group)
        refusal = placed
    return refusal


def _in_words(change: Restructuring, earlier: dict[str, EditedFile], trial: Trial) -> str:
    """What is restructured, and the line where that stood before all steps; without one for what a step wrote."""
    file = earlier.get(change.path)
    old = change.at if file is None else file.offsets.old(change.at)
    if old is None:
        return change.text
    text = file.before if file is not None else trial.files[change.path].before
    return f"{change.text} in line {line_of(text, old)}"


def _races_of(kernels: Iterable[KernelAnalysis]) -> list[Finding]:
    return [f for a in kernels for f in findings_of(a.result) if f.code in RACES]


def _first(session: Session, races: Iterable[Finding]) -> Restructuring | str | None:
    said: str | None = None
    for race in races:
        found = restructuring(session, race)
        if isinstance(found, Restructuring):
            return found
        said = said or found
    return said


def _files(steps: Sequence[Trial]) -> dict[str, EditedFile]:
    """All steps as one edit."""
    found: dict[str, list[EditedFile]] = {}
    for step in steps:
        for path, file in step.files.items():
            found.setdefault(path, []).append(file)
    return {
        path: EditedFile(
            files[0].before,
            files[-1].after,
            OffsetChain(tuple(f.offsets for f in files if isinstance(f.offsets, OffsetMap))),
        )
        for path, files in found.items()
    }


def _old_key(finding: Finding, files: dict[str, EditedFile]) -> PairKey | None:
    old = in_old_text(finding, files)
    return None if old is None else key_of(old)


def _fix(
    session: Session,
    current: Session,
    steps: Sequence[Trial],
    done: Sequence[str],
    costs: Sequence[str],
    placed: Placed,
    kernels: Sequence[KernelAnalysis],
    group: str,
) -> Fix | FixRefusal:
    files = _files(steps)
    left: set[PairKey] = set()
    for finding in (f for a in current.kernels for f in findings_of(a.result)):
        key = _old_key(finding, files)
        if key is not None and key_of(finding) in placed.trial.difference.left:
            left.add(key)
    gone = gone_groups(session.result, placed.trial.checked, left)
    if group not in gone:
        return FixRefusal("With a barrier in the restructured code there would still be threads that collide.")
    places = places_in_words(current.changes(placed.barriers), current, files)
    cost = ", ".join((words(placed.barriers, trips_of(kernels)), *costs))
    shown = next((f for f in placed.targets if _old_key(f, files) is not None), placed.targets[0])
    whole = _files([*steps, placed.trial])
    what = sentence(", ".join(dict.fromkeys(done))).removesuffix(".")
    return Fix(
        title=f"{what} and insert {places} — orders {pairs_in_words(placed.targets, shown)}, {cost}",
        kind="restructure",
        edits=tuple(e for path, f in sorted(whole.items()) for e in text_edits(path, f.before, f.after)),
        groups=tuple(sorted(gone)),
        cost=cost,
        notes=notes_of(placed, current),
    )
