"""Verified repairs for the findings of a unit: what the editor and the command line ask for.

Takes an engine and the request that was checked; gives `Fix`es that the engine has accepted on the edited text, or the
reason why there is none. `available` is the cheap question without any of that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from analyzers.analysed import KernelAnalysis
from analyzers.engine import Engine
from analyzers.frontend.parse import ParseFailure
from analyzers.ir.expr import symbols
from analyzers.model import Finding, Fix, FixRefusal, SourceSpan, UnitResult, Verdict
from analyzers.requests import CheckRequest, never
from quickfix.atomics import atomic_update, is_update
from quickfix.choices import choices
from quickfix.cost import trips_of, words
from quickfix.early_returns import guard_returns
from quickfix.edits import Change, text_edits
from quickfix.fences import ordered_by_fences
from quickfix.rebuild import Begun, composed, rebuilt, rebuilt_from
from quickfix.removal import counterparts, deletion
from quickfix.search import BETWEEN_BLOCKS, Placed, obstacle, place, sentence
from quickfix.session import Changes, SearchSpentError, Session, Stop, Trial
from quickfix.verify import RACES, PairKey, findings_of, gone_groups, in_old_text, key_of
from quickfix.wording import (
    NOT_REPAIRED,
    barriers_in_words,
    compose,
    edits_of,
    empty_bodies,
    kind_in_words,
    lines_in_words,
    notes_of,
    pair_in_words,
    pairs_in_words,
    places_in_words,
    shown,
)

_GUARDED: Final = 2
"""Barriers behind early returns for which a guard is looked for without being asked."""
_REPAIRABLE: Final = RACES | {Verdict.BARRIER_DIVERGENCE}


@dataclass(frozen=True, slots=True)
class FixOffer:
    """A repair that may exist; whether it does, `fix_for` says."""

    group: str
    title: str


def available(result: UnitResult) -> tuple[FixOffer, ...]:
    """The groups of findings for which a repair is worth asking for, without solving anything."""
    groups: dict[str, list[Finding]] = {}
    for kernel in result.kernels:
        for finding in findings_of(kernel):
            groups.setdefault(finding.group, []).append(finding)
    offers = ((group, _guess_of_group(findings)) for group, findings in groups.items())
    return tuple(FixOffer(group, title) for group, title in offers if title is not None)


def _guess_of_group(findings: Sequence[Finding]) -> str | None:
    if all(f.code in RACES for f in findings) and is_update(findings):
        return f"Make the update of {shown(findings[0].accesses[0])} atomic"
    titles = [_guess(f) for f in findings]
    return None if None in titles else titles[0]


def _guess(finding: Finding) -> str | None:
    if finding.code is Verdict.REDUNDANT_BARRIER:
        return f"Remove {shown(finding.accesses[0])}"
    if finding.code is Verdict.BARRIER_DIVERGENCE:
        return f"Remove or move {shown(finding.accesses[0])}"
    if finding.code not in RACES or finding.scope == "inter-block":
        return None
    one, two = finding.accesses[:2]
    if one.id == two.id and one.iterations == two.iterations:
        return None
    barrier = "__syncwarp()" if finding.scope == "intra-warp" else "__syncthreads()"
    return f"Insert {barrier} to order {pair_in_words(one, two)}"


def fix_for(engine: Engine, request: CheckRequest, group: str, stop: Stop = never) -> Fix | FixRefusal:
    """The repair for one group of findings; it may remove others with it.

    Raises `CancelledError` when `stop` answers true."""
    try:
        return _fix(Session.open(engine, request, stop, (group,)), group)
    except ParseFailure as failure:
        return FixRefusal(str(failure))


def offers(
    engine: Engine, request: CheckRequest, result: UnitResult | None = None, stop: Stop = never
) -> Iterator[Fix]:
    """Every repair of a unit, each verified, races before barriers. A group is in at most one of the preferred ones."""
    yield from (answer for answer in answers(engine, request, result, stop) if isinstance(answer, Fix))


def answers(
    engine: Engine, request: CheckRequest, result: UnitResult | None = None, stop: Stop = never
) -> Iterator[Fix | FixRefusal]:
    """The same, and in the end, for every group of races and divergent barriers without a repair, why there is none."""
    try:
        session = Session.open(engine, request, stop)
        checked = result or session.result
        offered = {offer.group: None for offer in available(checked)}
        wrong = [f for k in checked.kernels for f in findings_of(k) if f.code in _REPAIRABLE]
        narrow: list[str] = []
        for answer in _answers(session, offered, frozenset(f.group for f in wrong)):
            yield answer
            if isinstance(answer, Fix) and any("__syncwarp();" in e.new_text for e in answer.edits):
                narrow += answer.groups
        # Barriers of the block where those of a warp suffice, as a choice.
        yield from (replace(fix, preferred=False) for fix in _one_by_one(session, narrow, _insert))
        refusals = (obstacle(session, f) for f in wrong if f.group not in offered)
        refused = {refusal.group: refusal for refusal in refusals if refusal is not None}
        for fenced in _one_by_one(session, tuple(refused), ordered_by_fences):
            for group in fenced.groups:
                refused.pop(group, None)
            yield fenced
        yield from _choices(session, refused)
        yield from refused.values()
        yield from _guards(session)
    except ParseFailure:
        return


def _one_by_one(
    session: Session,
    groups: Iterable[str],
    search: Callable[[Session, Sequence[KernelAnalysis], str], Fix | FixRefusal | None],
) -> Iterator[Fix]:
    """What a search finds for each group that is not repaired along with another."""
    done: set[str] = set()
    for group in groups:
        if group in done:
            continue
        session.begin_search()
        try:
            fix = search(session, _kernels_of(session, group), group)
        except SearchSpentError:
            return
        if isinstance(fix, Fix):
            done.update(fix.groups)
            yield fix


def _kernels_of(session: Session, group: str) -> list[KernelAnalysis]:
    return [a for a in session.kernels if any(f.group == group for f in findings_of(a.result))]


def _choices(session: Session, groups: Iterable[str]) -> Iterator[Fix]:
    """What is offered where nothing repairs by itself, and is never applied with others."""
    for group in groups:
        session.begin_search()
        try:
            yield from choices(session, _kernels_of(session, group), group)
        except SearchSpentError:
            return


def _guards(session: Session) -> Iterator[Fix]:
    """Guards for returns in front of barriers: of the first kernels of the unit only, because nothing is wrong."""
    late = [f for k in session.result.kernels for f in findings_of(k) if f.code is Verdict.BARRIER_AFTER_EXIT]
    done: set[str] = set()
    for finding in [f for f in late if f.group not in done][:_GUARDED]:
        answer = _fix(session, finding.group) if finding.group not in done else None
        if isinstance(answer, Fix):
            done.update(answer.groups)
            yield answer


def _offers(session: Session, groups: Iterable[str]) -> Iterator[Fix]:
    yield from (fix for fix in _answers(session, groups, frozenset()) if isinstance(fix, Fix))


def _answers(session: Session, groups: Iterable[str], explained: Collection[str]) -> Iterator[Fix | FixRefusal]:
    done: set[str] = set()
    refusals: dict[str, FixRefusal] = {}
    for group in groups:
        if group not in done:
            fix = _fix(session, group)
            if isinstance(fix, Fix):
                done.update(fix.groups)
                yield fix
            elif group in explained:
                refusals[group] = replace(fix, group=group)
    yield from (refusal for group, refusal in refusals.items() if group not in done)


def fix_all(
    engine: Engine, request: CheckRequest, stop: Stop = never, codes: Collection[Verdict] | None = None
) -> Fix | FixRefusal:
    """One edit for everything that can be repaired: races and divergent barriers, or the findings of `codes`.

    Repairs are found one by one, and judged once more together."""
    chosen = frozenset(codes) if codes is not None else _REPAIRABLE
    try:
        session = Session.open(engine, request, stop)
        found = (f for k in session.result.kernels for f in findings_of(k) if f.code in chosen)
        groups = list(dict.fromkeys(f.group for f in found))
        fixes = _compatible(_distinctly_named(session, _offers(session, groups)))
        if len(fixes) == 1:
            return fixes[0]
        while fixes:
            trial = session.trial(_joined(fixes), frozenset())
            promised = {group for fix in fixes for group in fix.groups}
            if trial.difference.is_clean and promised <= trial.gone | _redundant(session.result):
                return _together(trial, fixes, whole=promised.issuperset(groups))
            # Each is right by itself, not all are together: keep those of the first half.
            fixes = fixes[: len(fixes) // 2]
    except (ParseFailure, SearchSpentError) as failure:
        return FixRefusal(str(failure))
    if not groups:
        return FixRefusal("There is nothing to repair.")
    refusal = _fix(session, groups[0])
    return refusal if isinstance(refusal, FixRefusal) else FixRefusal("The repairs do not go together.")


def remove_redundant(engine: Engine, request: CheckRequest, stop: Stop = never) -> Fix | FixRefusal:
    """One edit that deletes the barriers that order nothing, each judged with those before it already gone."""
    try:
        session = Session.open(engine, request, stop)
        findings = [f for k in session.result.kernels for f in findings_of(k) if f.code is Verdict.REDUNDANT_BARRIER]
        removed: list[Finding] = []
        accepted: Trial | None = None
        refusals: list[str] = []
        changes: dict[str, list[Change]] = {}
        for finding in {f.group: f for f in findings}.values():
            deleted = deletion(session, finding)
            if isinstance(deleted, FixRefusal):
                refusals.append(deleted.text)
                continue
            more = _merged(changes, deleted)
            try:
                trial = session.trial(more, frozenset())
            except SearchSpentError as spent:
                refusals.append(str(spent))
                break
            if trial.difference.is_clean:
                changes, accepted = more, trial
                removed.append(finding)
            else:
                refusals.append(_why_needed(trial))
    except ParseFailure as failure:
        return FixRefusal(str(failure))
    if accepted is None:
        return FixRefusal(refusals[0] if refusals else "There is no barrier that orders nothing.")
    count = len(removed)
    return Fix(
        title=_removal_title(removed[0]) if count == 1 else f"Remove {count} barriers that order nothing",
        kind="remove-barrier",
        edits=edits_of(accepted),
        groups=tuple(f.group for f in removed),
        cost=f"−{barriers_in_words(count)}",
        notes=empty_bodies(accepted),
    )


def _removal_title(finding: Finding) -> str:
    barrier = finding.accesses[0]
    return f"Remove {shown(barrier)} in line {barrier.span.line} — it orders nothing, −1 barrier"


def _merged(first: Changes, second: Changes) -> dict[str, list[Change]]:
    paths = dict.fromkeys((*first, *second))
    return {path: sorted((*first.get(path, ()), *second.get(path, ())), key=lambda c: c.start) for path in paths}


def _joined(fixes: Sequence[Fix]) -> Changes:
    found: dict[str, list[Change]] = {}
    for edit in (e for fix in fixes for e in fix.edits):
        new = edit.new_text.encode("utf-8", "surrogateescape")
        found.setdefault(edit.span.path, []).append(Change(edit.span.start_offset, edit.span.end_offset, new))
    return {path: sorted(changes, key=lambda c: c.start) for path, changes in found.items()}


def _distinctly_named(session: Session, fixes: Iterable[Fix]) -> Iterator[Fix]:
    """What one repair declares, none of the later ones declares again."""
    for fix in fixes:
        if fix.kind == "restructure":
            for kernel, names in session.declared.items():
                session.promised[kernel] = session.promised.get(kernel, frozenset()) | names
        yield fix


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


def _together(trial: Trial, fixes: Sequence[Fix], *, whole: bool) -> Fix:
    if len(fixes) == 1:
        return fixes[0]
    return Fix(
        title=f"Apply {len(fixes)} repairs",
        kind=fixes[0].kind,
        edits=edits_of(trial),
        groups=tuple(dict.fromkeys(g for f in fixes for g in f.groups)),
        cost=", ".join(_times(n, cost) for cost, n in Counter(f.cost for f in fixes if f.cost).items()),
        notes=tuple(dict.fromkeys(n for f in fixes for n in f.notes if not whole or not n.startswith(NOT_REPAIRED))),
    )


def _times(count: int, cost: str) -> str:
    return cost if count == 1 else f"{count} times {cost}"


# --- one group ------------------------------------------------------------------------------------------------


def _fix(session: Session, group: str) -> Fix | FixRefusal:
    try:
        return _fix_within_effort(session, group)
    except SearchSpentError as spent:
        return FixRefusal(str(spent))


def _fix_within_effort(session: Session, group: str) -> Fix | FixRefusal:
    session.begin_search()
    kernels = _kernels_of(session, group)
    findings = [f for a in kernels for f in findings_of(a.result) if f.group == group]
    if not findings:
        return FixRefusal("The finding is not there any more.")
    first = min(findings, key=lambda f: f.code.rank)
    if first.code in RACES:
        return _repair_races(session, kernels, group)
    if first.code is Verdict.BARRIER_DIVERGENCE:
        return _remove_divergent(session, kernels, first)
    if first.code is Verdict.REDUNDANT_BARRIER:
        return _remove_redundant(session, kernels, first)
    if first.code is Verdict.BENIGN_RACE:
        return FixRefusal("Both threads write the same value: there is nothing to order.")
    return guard_returns(session, kernels, first)


def _insert(session: Session, kernels: Sequence[KernelAnalysis], group: str) -> Fix | FixRefusal:
    def requested(_key: PairKey, found: Sequence[Finding]) -> bool:
        return any(f.group == group for f in found)

    placed = place(session, kernels, requested)
    if isinstance(placed, FixRefusal):
        return placed
    if group not in placed.trial.gone:
        return FixRefusal(sentence(BETWEEN_BLOCKS))
    pair = next(f for f in placed.targets if f.group == group)
    places = places_in_words(session.changes(placed.barriers), session)
    cost = words(placed.barriers, trips_of(kernels), kind_in_words(session))
    return Fix(
        title=f"Insert {places} — orders {pairs_in_words(placed.targets, pair)}, {cost}",
        kind="insert-barrier",
        edits=edits_of(placed.trial),
        groups=tuple(sorted(placed.trial.gone)),
        cost=cost,
        notes=notes_of(placed, session),
    )


def _remove_redundant(session: Session, kernels: Sequence[KernelAnalysis], finding: Finding) -> Fix | FixRefusal:
    changes = deletion(session, finding)
    if isinstance(changes, FixRefusal):
        return changes
    trial = session.trial(changes, frozenset(), _names(kernels))
    if not trial.difference.is_clean:
        return FixRefusal(_why_needed(trial))
    return Fix(
        title=_removal_title(finding),
        kind="remove-barrier",
        edits=edits_of(trial),
        groups=tuple(sorted({finding.group, *trial.gone})),
        cost="−1 barrier",
        notes=empty_bodies(trial),
    )


def _names(kernels: Iterable[KernelAnalysis]) -> set[str]:
    return {a.kernel.mangled for a in kernels}


def _why_needed(trial: Trial) -> str:
    difference = trial.difference
    races = (*difference.new_races, *difference.remaining)
    if races:
        one, two = races[0].accesses[:2]
        return f"Without it {pair_in_words(one, two)} would race (lines {one.span.line} and {two.span.line})."
    return sentence(difference.worse[0]) if difference.worse else "Other barriers would go wrong without it."


def _repair_races(session: Session, kernels: Sequence[KernelAnalysis], group: str) -> Fix | FixRefusal:
    """Insert barriers; where another barrier diverges, which no insertion makes right, move that one first. Insertion
    makes it right where threads disagree only because of what they read in a race."""
    divergent = [f for a in kernels for f in findings_of(a.result) if f.code is Verdict.BARRIER_DIVERGENCE]
    if divergent and all(any(_waits_for_data(a, f) for a in kernels) for f in divergent):
        inserted = _insert(session, kernels, group)
        if isinstance(inserted, Fix) and {f.group for f in divergent}.issubset(inserted.groups):
            return inserted
    for finding in {f.group: f for f in divergent}.values():
        moved = _remove_divergent(session, kernels, finding)
        if isinstance(moved, Fix) and group in moved.groups:
            return moved
    # A barrier of a warp costs less; where there is no place between the accesses, one is made.
    of_warps = session.for_warps() if _is_about_warps(kernels, group) else None
    if of_warps is not None and isinstance(inserted := _insert(of_warps, kernels, group), Fix):
        return inserted
    inserted = _insert(session, kernels, group)
    if isinstance(inserted, Fix):
        return inserted
    fenced = ordered_by_fences(session, kernels, group)
    if fenced is not None:
        return fenced
    if of_warps is not None and isinstance(made := rebuilt(of_warps, kernels, group), Fix):
        return made
    made = rebuilt(session, kernels, group)
    if isinstance(made, Fix):
        return made
    updated = atomic_update(session, kernels, group)
    return next((answer for answer in (updated, made) if answer is not None), inserted)


def _is_about_warps(kernels: Iterable[KernelAnalysis], group: str) -> bool:
    """Whether all races of a group are between threads of one warp, as far as the witnesses show, and there are no
    others in the kernels that a barrier of the block could order, and these with them."""
    races = [f for a in kernels for f in findings_of(a.result) if f.code in RACES]
    asked = [f for f in races if f.group == group]
    return all(f.scope == "intra-warp" for f in asked) and all(f.scope != "intra-block" for f in races)


def _waits_for_data(analysis: KernelAnalysis, divergence: Finding) -> bool:
    """Whether threads get to a barrier under a condition about what memory holds."""
    barriers = (b for b in analysis.events.barriers if b.id == divergence.accesses[0].id)
    return any(s.op == "opaque" for b in barriers for c in b.guard for s in symbols(c.condition))


def _remove_divergent(session: Session, kernels: Sequence[KernelAnalysis], finding: Finding) -> Fix | FixRefusal:
    """Delete the barrier, with those of the other branches that stand for it there, then repair the races that are
    there without them.

    One of two branches must not lose its barrier alone: then half of the threads would wait for the others."""
    family = [finding, *counterparts(session, kernels, finding)]
    without = _without(session, kernels, family)
    if isinstance(without, FixRefusal):
        return without
    others = _still_divergent(session, kernels, family, without)
    if others:
        # Who knows whether the threads that missed this one are those that wait at another.
        family += others
        without = _without(session, kernels, family)
        if isinstance(without, FixRefusal):
            return without
        if _still_divergent(session, kernels, family, without):
            return FixRefusal(_STILL_DIVERGENT)
    promised = {each.group for each in family}
    if not promised <= without.gone:
        return FixRefusal(_STILL_DIVERGENT)
    if not without.difference.new_races:
        without = _without(session, kernels, family, draft=False)
        if isinstance(without, FixRefusal):
            return without
    appeared = {key_of(f) for f in without.difference.new_races}
    bare = session.after(without)
    repaired = [a for a in bare.kernels if a.kernel.mangled in _names(kernels)]

    def wanted(_key: PairKey, found: Sequence[Finding]) -> bool:
        olds = [in_old_text(f, without.files) for f in found]
        return not appeared or any(old is not None and key_of(old) in appeared for old in olds)

    placed = place(bare, repaired, wanted)
    if isinstance(placed, Placed):
        return _moved(session, without, bare, placed, repaired, family)
    several = len(family) > 1
    if appeared:
        begun = Begun(bare, (without,), (_removed_in_words(family),), (f"−{barriers_in_words(len(family))}",))
        made = rebuilt_from(session, begun, kernels, frozenset(appeared), sorted(promised))
        if isinstance(made, Fix):
            return made
        one, two = without.difference.new_races[0].accesses[:2]
        them = "barriers" if several else "barrier"
        pair = pair_in_words(one, two)
        why = made if made is not None else placed
        return FixRefusal(f"Without the {them} {pair} would race, and no other is possible. {why.text}")
    cost = f"−{barriers_in_words(len(family))}"
    where = lines_in_words(family)
    what = f"the barriers in {where}" if several else f"{shown(finding.accesses[0])} in {where}"
    return Fix(
        title=f"Remove {what} — not all threads reach {'them' if several else 'it'}, {cost}",
        kind="remove-barrier",
        edits=edits_of(without),
        groups=tuple(sorted({*promised, *without.gone})),
        cost=cost,
        notes=empty_bodies(without),
    )


def _removed_in_words(family: Sequence[Finding]) -> str:
    what = "barriers" if len(family) > 1 else "barrier"
    return f"remove the {what} in {lines_in_words(family)}"


_STILL_DIVERGENT: Final = "Without the barrier there would still be threads of the block that wait for others."


def _without(
    session: Session, kernels: Sequence[KernelAnalysis], family: Sequence[Finding], *, draft: bool = True
) -> Trial | FixRefusal:
    """The text without these barriers, if nothing but races comes of it."""
    changes: dict[str, list[Change]] = {}
    for each in family:
        deleted = deletion(session, each)
        if isinstance(deleted, FixRefusal):
            return deleted
        changes = _merged(changes, deleted)
    if any(one.end > two.start for found in changes.values() for one, two in pairwise(found)):
        return FixRefusal("The barriers cannot be deleted together.")
    without = session.trial(changes, frozenset(), session.kernels_sharing_code(kernels), draft=draft)
    difference = without.difference
    # Where races appear, what else became unknown is judged again when they are repaired.
    if difference.worse and (not difference.new_races or without.analysis.result.failure is not None):
        return FixRefusal(sentence(difference.worse[0]))
    return without


def _still_divergent(
    session: Session, kernels: Sequence[KernelAnalysis], family: Sequence[Finding], without: Trial
) -> list[Finding]:
    """Other barriers of the kernels that some threads miss, with the family and without it."""
    promised = {each.group for each in family}
    found: dict[str, Finding] = {}
    for analysis in kernels:
        for finding in findings_of(analysis.result):
            if finding.code is Verdict.BARRIER_DIVERGENCE and key_of(finding) in without.difference.left:
                found.setdefault(finding.group, finding)
    return [finding for group, finding in found.items() if group not in promised]


def _moved(
    session: Session,
    without: Trial,
    bare: Session,
    placed: Placed,
    kernels: Sequence[KernelAnalysis],
    family: Sequence[Finding],
) -> Fix | FixRefusal:
    files = compose(without.files, placed.trial.files)
    whole = composed([without, placed.trial])
    judged = session.judge(bare.judged(placed.trial), whole)
    if not judged.is_clean:
        return FixRefusal(sentence(judged.worse[0]) if judged.worse else "With a barrier elsewhere others would race.")
    places = places_in_words(bare.changes(placed.barriers), bare, without.files)
    left: set[PairKey] = set()
    for finding_left in (f for a in bare.kernels for f in findings_of(a.result)):
        old = in_old_text(finding_left, without.files)
        if old is not None and key_of(finding_left) in placed.trial.difference.left:
            left.add(key_of(old))
    gone = gone_groups(session.result, placed.trial.checked, left)
    promised = {finding.group for finding in family}
    if not promised <= gone:
        return FixRefusal("With a barrier elsewhere there would still be threads that wait for others.")
    added = words(placed.barriers, trips_of(kernels))
    cost = f"−{barriers_in_words(len(family))}, {added}"
    barrier = family[0].accesses[0]
    if len(family) > 1:
        title = f"Replace the barriers in {lines_in_words(family)} by {places}"
    elif len(placed.barriers) == 1:
        title = f"Move {shown(barrier)} from {lines_in_words(family)} {places.removeprefix('__syncthreads() ')}"
    else:
        title = f"Replace {shown(barrier)} in {lines_in_words(family)} by {places}"
    # One barrier for another is no more and no less, unless it is in a loop.
    price = "" if len(family) == len(placed.barriers) == 1 and not placed.barriers[0].loops else f", {cost}"
    return Fix(
        title=f"{title} — all threads get there{price}",
        kind="move-barrier",
        edits=tuple(e for path, (old, new) in sorted(files.items()) for e in text_edits(path, old, new)),
        groups=tuple(sorted({*promised, *gone})),
        cost=cost,
        notes=(*notes_of(placed, bare), *empty_bodies(without)),
    )
