"""One edit for what has a proved repair which keeps the kernels' behaviour in one text of a unit.

Takes what opens a session, gives repairs found one by one and judged once more together. `rounds` goes on from there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from analyzers.engine import Engine
from analyzers.frontend.parse import ParseFailure
from analyzers.model import NOT_REPAIRED, Finding, Fix, FixPart, FixRefusal, SourceSpan, UnitResult, Verdict
from analyzers.old_lines import in_old_lines
from analyzers.requests import CheckRequest, never
from quickfix.assumptions import with_assumptions
from quickfix.callers import agreed, changes_of
from quickfix.cost import of_several
from quickfix.edits import WARP_CALL, OffsetMap, apply, text_edits
from quickfix.group import repaired, repairs_of
from quickfix.oracle import SearchSpentError, Stop
from quickfix.other_units import OtherUnits
from quickfix.rebuild import composed
from quickfix.removal import deletion
from quickfix.session import Changes, Session, Trial
from quickfix.spelling import calls_of
from quickfix.verify import (
    RACES,
    REPAIRABLE,
    Files,
    PairKey,
    chained,
    findings_of,
    in_old_text,
    key_of,
    old_offset,
)
from quickfix.wording import barriers_in_words, edits_of_files

_PLACING: Final = frozenset({"insert-barrier", "move-barrier", "restructure", "use-atomic"})
"""Repairs that may insert barriers."""
_ROUNDS: Final = 6
"""How often repairs are looked for in the text that the ones before have made."""


def together(
    engine: Engine,
    request: CheckRequest,
    stop: Stop = never,
    codes: Collection[Verdict] | None = None,
    among: Collection[str] | None = None,
) -> Fix | FixRefusal:
    """One edit for the races and divergent barriers, or the findings of `codes`, as far as one share of work goes;
    given groups, those `among` them only, which may be barriers that order nothing."""
    fix = _all(engine, request, stop, codes, among)
    if isinstance(fix, FixRefusal):
        return fix
    return agreed(engine, request, fix, stop, lambda whole, wider: _all(whole, wider, stop, codes, fix.groups))


def _all(
    engine: Engine,
    request: CheckRequest,
    stop: Stop,
    codes: Collection[Verdict] | None,
    among: Collection[str] | None,
) -> Fix | FixRefusal:
    asked = REPAIRABLE if among is None else REPAIRABLE | {Verdict.REDUNDANT_BARRIER}
    chosen = frozenset(codes) if codes is not None else asked
    try:
        session = Session.open(engine, request, stop)
        found = (f for k in session.result.kernels for f in findings_of(k) if f.code in chosen)
        groups = [g for g in dict.fromkeys(f.group for f in found) if among is None or g in among]
        units = OtherUnits(engine, stop)
        answers = list(_distinctly_named(session, repairs_of(session, groups), units))
        repairs = [answer for answer in answers if isinstance(answer, Fix)]
        if repairs:
            session.begin_judging()
        first = _agreeing(session, repairs, units)
        if first is not None:
            return _gone_on(session, first, groups, units)
    except (ParseFailure, SearchSpentError) as failure:
        return FixRefusal(str(failure))
    if not groups:
        return FixRefusal("There is nothing to repair.")
    assumed = dict.fromkeys(text for fix in repairs for text in fix.assumes)
    if assumed:
        return FixRefusal(f"What would repair it is only applied by itself. {' '.join(assumed)}")
    refused = [answer for answer in answers if isinstance(answer, FixRefusal)]
    if refused and not repairs:
        return refused[0]
    refusal = repaired(session, groups[0])
    return refusal if isinstance(refusal, FixRefusal) else FixRefusal("The repairs do not go together.")


@dataclass(frozen=True, slots=True)
class _Round:
    """Repairs of one text that go together, and the trial of them all."""

    fixes: Sequence[Fix]
    trial: Trial
    doubled: int
    """Barriers that two of them insert into one place: so many fewer."""

    @property
    def groups(self) -> set[str]:
        return {group for fix in self.fixes for group in fix.groups}


def _agreeing(session: Session, repairs: Iterable[Fix], units: OtherUnits) -> _Round | None:
    """As many of the repairs as go together. Raises like `Session.trial`."""
    fixes = _compatible(fix for fix in repairs if fix.applies_unasked)
    while fixes:
        changes, doubled = _merged(fixes, session.trees.texts)
        # Barriers make no race: one that shows now was there, and nobody had asked about it.
        inserting = all(fix.kind == "insert-barrier" for fix in fixes)
        trial = session.trial(changes, frozenset(), inserting=inserting)
        found = _Round(fixes, trial, doubled)
        clean = trial.difference.is_clean and found.groups <= trial.gone | _redundant(session.result)
        if clean and (len(fixes) == 1 or _suit(units, session, trial, inserting=inserting)):
            return found
        # Each is right by itself, not all are together: keep those of the first half.
        fixes = fixes[: len(fixes) // 2]
    return None


def _suit(units: OtherUnits, session: Session, trial: Trial, *, inserting: bool = False) -> bool:
    """Whether what was tried makes nothing worse in other units."""
    return units.suit(session.request, edits_of_files(trial.files), session.instances, inserting=inserting)


def _gone_on(session: Session, first: _Round, groups: Collection[str], units: OtherUnits) -> Fix:
    """The repair of a first round, and of those that the edited text allows for what was in the way of that: repairs
    that touch one place are found one after the other."""
    best = _together([first], first.trial.files, first.groups, whole=first.groups.issuperset(groups))
    rounds, current = [first], session
    accepted, last = [first], session
    known = {key_of(f): f.group for k in session.result.kernels for f in findings_of(k)}
    while len(rounds) < _ROUNDS:
        try:
            current = current.after(rounds[-1].trial)
            left = left_of(current.result, composed([r.trial for r in rounds]), known, groups)
            if not left:
                break
            answers = _distinctly_named(current, repairs_of(current, dict.fromkeys(f.group for f in left)), units)
            more = _agreeing(current, [answer for answer in answers if isinstance(answer, Fix)], units)
            if more is None:
                break
            rounds.append(more)
            files = composed([r.trial for r in rounds])
            whole = _whole(session, files)
        except SearchSpentError:
            break
        gone = set(whole.gone) | {group for group in best.groups if group not in groups}
        fewer = len(left_of(whole.analysis.result, files, known, groups)) < len(left)
        if not whole.difference.is_clean or not (gone > set(best.groups) or (fewer and gone == set(best.groups))):
            break
        best = _together(rounds, files, gone, whole=gone.issuperset(groups))
        accepted, last = [*rounds], current
    try:
        return _without_needless(session, last, accepted, best, units)
    except SearchSpentError:
        return best


def _whole(session: Session, files: Files) -> Trial:
    """All rounds as one edit, in all kernels that it touches: a later round has looked at those of the one before it
    only. Raises like `Session.trial`."""
    return session.trial(changes_of(edits_of_files(files), session.trees.texts), frozenset())


def _without_needless(session: Session, last: Session, rounds: Sequence[_Round], best: Fix, units: OtherUnits) -> Fix:
    """The repairs without the barriers that others of them make needless. `last`: the text that the last round edits.
    Raises like `Session.trial`."""
    placing = [fix for each in rounds for fix in each.fixes if fix.kind in _PLACING]
    if len(placing) < 2:
        return best  # each barrier of one repair is needed
    current = last.after(rounds[-1].trial, redundancy=True)
    files = composed([each.trial for each in rounds])
    every = [f for k in current.result.kernels for f in findings_of(k) if f.code is Verdict.REDUNDANT_BARRIER]
    inserted = {f.group: f for f in every if old_offset(f.accesses[0].span, files) is None}
    changes: Changes = {}
    gone, trial = list[Finding](), None
    for finding in inserted.values():
        more = deletion(current, finding, changes)
        if isinstance(more, FixRefusal):
            continue
        tried = current.trial(more, frozenset())
        if tried.difference.is_clean:
            changes, trial = more, tried
            gone.append(finding)
    if trial is None or not _suit(units, current, trial):
        return best
    files = composed([*(each.trial for each in rounds), trial])
    whole, promised = _whole(session, files), {*best.groups} & {g for each in rounds for g in each.trial.gone}
    if not whole.difference.is_clean or not whole.gone.issuperset(promised):
        return best
    of_warps = calls_of(current, [f.accesses[0] for f in gone]) == {WARP_CALL}
    removed = barriers_in_words(len(gone), "warp barrier" if of_warps else "barrier")
    cost = of_several({best.cost: 1, f"−{removed} that the others make needless": 1})
    words = f"Remove {removed} that the others make needless"
    part = FixPart(words, placing[0].edits[0].span.path)
    return replace(best, edits=edits_of_files(files), cost=cost, parts=(*best.parts, part))


def left_of(result: UnitResult, files: Files, known: Mapping[PairKey, str], groups: Collection[str]) -> list[Finding]:
    """The findings of an edited text that are to be repaired: those that were `known` and in one of the groups, and
    races that only show since."""
    olds = ((f, in_old_text(f, files)) for k in result.kernels for f in findings_of(k))
    keys = ((f, key_of(old)) for f, old in olds if old is not None)
    return [f for f, key in keys if (known[key] in groups if key in known else f.code in RACES)]


def _distinctly_named(
    session: Session, found: Iterable[Fix | FixRefusal], units: OtherUnits
) -> Iterator[Fix | FixRefusal]:
    """The repairs among answers, and the refusals of those that are wrong in other units. What one declares, none of
    the later ones declares again."""
    for fix in found:
        if isinstance(fix, FixRefusal):
            continue
        if fix.kind == "restructure":
            for kernel, names in session.declared.items():
                session.promised[kernel] = session.promised.get(kernel, frozenset()) | names
        judged = units.judged(session.request, fix, session.instances)
        yield with_assumptions(session, judged) if isinstance(judged, Fix) else judged


def _compatible(fixes: Iterable[Fix]) -> list[Fix]:
    """Those whose edits do not touch each other."""
    chosen: list[Fix] = []
    for fix in fixes:
        if not any(_meet(a.span, b.span) for other in chosen for a in fix.edits for b in other.edits):
            chosen.append(fix)
    return chosen


def _meet(a: SourceSpan, b: SourceSpan) -> bool:
    return a.path == b.path and a.start_offset <= b.end_offset and b.start_offset <= a.end_offset


def _redundant(result: UnitResult) -> set[str]:
    return {f.group for k in result.kernels for f in findings_of(k) if f.code is Verdict.REDUNDANT_BARRIER}


_DOUBLED: Final = re.compile(rb"(__sync(?:threads|warp)\(\);)\s*(?=\1)")


def _merged(fixes: Iterable[Fix], texts: Mapping[str, bytes]) -> tuple[Changes, int]:
    """The edits of several repairs as one, with barriers that two of them put into one place once: so many fewer."""
    changes, doubled = dict(changes_of((e for fix in fixes for e in fix.edits), texts)), 0
    for path, own in changes.items():
        after, offsets = apply(texts[path], own), OffsetMap(own)
        twice = [m.span() for m in _DOUBLED.finditer(after) if offsets.old(m.start()) is None]
        for start, end in reversed(twice):
            after = after[:start] + after[end:]
        if twice:
            doubled += len(twice)
            changes[path] = changes_of(text_edits(path, texts[path], after), texts)[path]
    return changes, doubled


def _together(rounds: Sequence[_Round], files: Files, groups: Collection[str], *, whole: bool) -> Fix:
    fixes = [fix for each in rounds for fix in each.fixes]
    doubled = sum(each.doubled for each in rounds)
    if len(fixes) == 1:
        return fixes[0]
    costs = Counter(f.cost for f in fixes)
    if doubled:
        costs[f"−{barriers_in_words(doubled)} that two of them insert"] = 1
    steps = [each.trial.files for each in rounds]
    earlier = [chained(steps[:number]) for number in range(len(rounds))]
    parts = [
        p for each, files in zip(rounds, earlier, strict=True) for f in each.fixes for p in in_lines_before(f, files)
    ]
    notes = dict.fromkeys(note for part in parts for note in part.notes)
    return Fix(
        title=f"Apply {len(fixes)} repairs",
        kind=fixes[0].kind,
        edits=edits_of_files(files),
        groups=tuple(sorted(groups)),
        cost=of_several(costs),
        notes=tuple(n for n in notes if not whole or not n.startswith(NOT_REPAIRED)),
        parts=tuple(parts),
        beyond=any(fix.beyond for fix in fixes),
    )


def in_lines_before(fix: Fix, earlier: Files) -> list[FixPart]:
    """What a repair consists of, in words about lines of the text before `earlier` edits."""
    parts = fix.parts or (FixPart(fix.title, fix.edits[0].span.path, fix.notes),)
    found: list[FixPart] = []
    for part in parts:
        file = earlier.get(part.path)
        if file is None:
            found.append(part)
            continue
        before, now = (text.decode("utf-8", "surrogateescape") for text in (file.before, file.after))
        title, *notes = (in_old_lines(text, before, now) for text in (part.title, *part.notes))
        found.append(FixPart(title, part.path, tuple(notes)))
    return found
