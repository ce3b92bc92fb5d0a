"""Remove barriers that order nothing: one, or all of a unit.

Takes a session or what opens one, gives the `Fix` that deletes barriers after which the engine finds nothing worse, or
why they are needed.
"""

from __future__ import annotations

from collections.abc import Sequence

from analyzers.analysed import KernelAnalysis
from analyzers.engine import Engine
from analyzers.frontend.parse import ParseFailure
from analyzers.model import Finding, Fix, FixRefusal, Verdict
from analyzers.requests import CheckRequest, never
from quickfix.callers import agreed
from quickfix.edits import Change
from quickfix.oracle import SearchSpentError, Stop
from quickfix.removal import deletion
from quickfix.same_memory import told_apart
from quickfix.search import sentence
from quickfix.session import Session, Trial, names_of
from quickfix.solving import Solving
from quickfix.verify import findings_of
from quickfix.wording import barriers_in_words, edits_of, empty_bodies, granting, pair_in_words, shown


def remove_redundant(engine: Engine, request: CheckRequest, stop: Stop = never) -> Fix | FixRefusal:
    """One edit that deletes the barriers that order nothing, each judged with those before it already gone."""
    fix = _all_removed(engine, request, stop)
    return agreed(engine, request, fix, stop) if isinstance(fix, Fix) else fix


def _all_removed(engine: Engine, request: CheckRequest, stop: Stop) -> Fix | FixRefusal:
    try:
        session = Session.open(engine, request, stop)
        findings = [f for k in session.result.kernels for f in findings_of(k) if f.code is Verdict.REDUNDANT_BARRIER]
        removed: list[Finding] = []
        accepted: Trial | None = None
        refusals: list[str] = []
        changes: dict[str, list[Change]] = {}
        for finding in {f.group: f for f in findings}.values():
            more = deletion(session, finding, changes)
            if isinstance(more, FixRefusal):
                refusals.append(more.text)
                continue
            barriers = [(finding.span.path, finding.span.start_offset)]
            elsewhere = session.other_builds.of(session.touched(barriers))
            if granted := elsewhere.granted or _granted(session, [*removed, finding]):
                refusals.append(granted)
                continue
            try:
                trial = session.trial(more, frozenset())
            except SearchSpentError as spent:
                refusals.append(str(spent))
                break
            if trial.difference.is_clean:
                changes, accepted = more, trial
                removed.append(finding)
            else:
                refusals.append(why_needed(trial))
    except ParseFailure as failure:
        return FixRefusal(str(failure))
    if accepted is None:
        return FixRefusal(refusals[0] if refusals else "There is no barrier that orders nothing.")
    count = len(removed)
    return Fix(
        title=removal_title(session, removed[0]) if count == 1 else f"Remove {count} barriers that order nothing",
        kind="remove-barrier",
        edits=edits_of(accepted),
        groups=tuple(f.group for f in removed),
        cost=f"−{barriers_in_words(count)}",
        notes=empty_bodies(accepted),
    )


def redundant_removed(session: Session, kernels: Sequence[KernelAnalysis], finding: Finding) -> Fix | FixRefusal:
    changes = deletion(session, finding)
    if isinstance(changes, FixRefusal):
        return changes
    trial = session.trial(changes, frozenset(), names_of(kernels))
    if not trial.difference.is_clean:
        return FixRefusal(why_needed(trial))
    fix = Fix(
        title=removal_title(session, finding),
        kind="remove-barrier",
        edits=edits_of(trial),
        groups=tuple(sorted({finding.group, *trial.gone})),
        cost="−1 barrier",
        notes=empty_bodies(trial),
    )
    return granting(fix, _granted(session, [finding]))


def _granted(session: Session, findings: Sequence[Finding]) -> str:
    """What is assumed where the barriers of findings go, a sentence or nothing."""
    solving = Solving.short(session.request, session.poll)
    found = told_apart(session.kernels, {f.span for f in findings}, solving)
    session.charge(solving.effort.spent)
    return found


def removal_title(session: Session, finding: Finding) -> str:
    barrier = finding.accesses[0]
    return f"Remove {shown(barrier)} in {session.names.line(barrier.span)} — it orders nothing, −1 barrier"


def why_needed(trial: Trial) -> str:
    difference = trial.difference
    races = (*difference.new_races, *difference.remaining)
    if races:
        one, two = races[0].accesses[:2]
        return f"Without it {pair_in_words(one, two)} would race (lines {one.span.line} and {two.span.line})."
    return sentence(difference.worse[0]) if difference.worse else "Other barriers would go wrong without it."
