"""Barriers that some threads of the block miss: taken away, with what is needed in their place.

Takes a session and a divergent barrier, gives the `Fix` that deletes it with those that stand for it in other branches,
and orders what races without them by barriers that all threads reach; or why that cannot be.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final, Literal, overload

from analyzers.analysed import KernelAnalysis
from analyzers.model import Finding, Fix, FixRefusal, Verdict
from quickfix.barrier_meanings import orders_more, turned_round
from quickfix.cost import NO_MORE, trips_of, words
from quickfix.edits import BARRIER, WARP_BARRIER, WARP_CALL, Change
from quickfix.kept_comments import with_comments
from quickfix.loosened import is_of_one_execution
from quickfix.naming import NotPossible
from quickfix.put_back import TakenOut, comments_of, difference_in_words, taken_out
from quickfix.rebuild import Begun, composed, in_old_lines, rebuilt_from
from quickfix.removal import counterparts, deletion
from quickfix.search import MANY_RACES, Placed, place, sentence
from quickfix.session import Session, Trial, names_of
from quickfix.side_by_side import of_one_conditional, side_by_side
from quickfix.spelling import calls_of, spelled_alike
from quickfix.verify import RACES, PairKey, findings_of, gone_groups, in_old_text, key_of, old_loop
from quickfix.wording import (
    as_spelled,
    barrier_in_words,
    barriers_in_words,
    edits_of,
    edits_of_files,
    empty_bodies,
    granting,
    kind_in_words,
    lines_in_words,
    notes_of,
    pair_in_words,
    places_in_words,
    shown,
)


@overload
def divergent_removed(
    session: Session, kernels: Sequence[KernelAnalysis], finding: Finding, *, patient: Literal[True] = True
) -> Fix | FixRefusal: ...
@overload
def divergent_removed(
    session: Session, kernels: Sequence[KernelAnalysis], finding: Finding, *, patient: bool
) -> Fix | FixRefusal | None: ...
def divergent_removed(
    session: Session, kernels: Sequence[KernelAnalysis], finding: Finding, *, patient: bool = True
) -> Fix | FixRefusal | None:
    """Delete the barrier, with those of the other branches that stand for it there, then repair the races that are
    there without them. If not `patient`, None where these are many.

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
    turned = turned_round(session, kernels, family)
    if turned is not None:
        return _side_by_side(session, kernels, family) or turned
    more = orders_more(session, kernels, family)
    if more is not None:
        return _side_by_side(session, kernels, family) or more
    if not patient and len(without.difference.new_races) > MANY_RACES:
        return None
    if not without.difference.new_races:
        without = session.finished(without)
        if without.difference.worse:
            return FixRefusal(sentence(without.difference.worse[0]))
    # What no barrier can be between is left as it was, if the new barriers do not make it more frequent.
    orderly = [f for f in without.difference.new_races if not is_of_one_execution(f)]
    appeared = {key_of(f) for f in orderly or without.difference.new_races}
    bare = session.after(without)
    barriers = [each.accesses[0] for each in family]
    of_warps = _are_of_warps(session, family)
    bare.spelled = {WARP_BARRIER if of_warps else BARRIER: spelled_alike(session, barriers)}
    repaired = _racing_too(bare, kernels, without, appeared)

    def wanted(_key: PairKey, found: Sequence[Finding]) -> bool:
        olds = [in_old_text(f, without.files) for f in found]
        return not appeared or any(old is not None and key_of(old) in appeared for old in olds)

    if of_warps:
        narrow = bare.for_warps()
        placed = place(narrow, repaired, wanted)
        if isinstance(placed, Placed):
            moved = _moved(session, without, narrow, placed, repaired, family)
            if isinstance(moved, Fix):
                return moved
    placed = place(bare, repaired, wanted)
    if isinstance(placed, Placed):
        return _moved(session, without, bare, placed, repaired, family)
    several = len(family) > 1
    if appeared:
        begun = _begun(session, kernels, bare, without, family)
        made = rebuilt_from(session, begun, kernels, frozenset(appeared), sorted(promised), names_of(repaired))
        if isinstance(made, Fix):
            return made
        one, two = without.difference.new_races[0].accesses[:2]
        them = "barriers" if several else "barrier"
        pair = pair_in_words(one, two)
        why = made if made is not None else FixRefusal(in_old_lines(placed.text, bare, (without,)))
        return FixRefusal(f"Without the {them} {pair} would race, and no other place was found for one. {why.text}")
    cost = _lost_in_words(session, family)
    where = lines_in_words(family, session)
    what = f"the barriers in {where}" if several else f"{shown(finding.accesses[0])} in {where}"
    return Fix(
        title=f"Remove {what} — not all threads reach {'them' if several else 'it'}, {cost}",
        kind="remove-barrier",
        edits=edits_of(without),
        groups=tuple(sorted({*promised, *without.gone})),
        cost=cost,
        notes=empty_bodies(without),
    )


def _begun(
    session: Session, kernels: Sequence[KernelAnalysis], bare: Session, without: Trial, family: Sequence[Finding]
) -> Begun:
    taken = _taken_out(session, kernels, family)
    if not taken:
        return Begun(bare, (without,), (_removed_in_words(session, family),), (_lost_in_words(session, family),))
    return Begun(bare, (without,), taken=taken)


def _taken_out(session: Session, kernels: Sequence[KernelAnalysis], family: Sequence[Finding]) -> tuple[TakenOut, ...]:
    """None where some of the barriers are written by macros."""
    try:
        return tuple(taken_out(session, kernels, each, {}) for each in family)
    except NotPossible:
        return ()


def _difference(
    session: Session,
    without: Trial,
    bare: Session,
    placed: Placed,
    kernels: Sequence[KernelAnalysis],
    family: Sequence[Finding],
    taken: Sequence[TakenOut],
) -> str:
    """What the placed barriers cost beside the family, whose place they take."""
    kind = kind_in_words(bare)
    if not taken:
        dearer = ", which costs more" * _is_dearer(session, bare, family)
        more = words(placed.barriers, trips_of(kernels), session.names, kind)
        return f"{_lost_in_words(session, family)}, {more}{dearer}"
    texts, files = bare.trees.texts, without.files
    now = [replace(b, loops=tuple(old_loop(loop, texts, files) for loop in b.loops)) for b in placed.barriers]
    return difference_in_words(((b, kind) for b in now), taken, trips_of(session.kernels), session.names)


def _is_dearer(session: Session, bare: Session, family: Sequence[Finding]) -> bool:
    """Whether barriers of the block take the place of those of a warp."""
    return not bare.orders_warps and _are_of_warps(session, family)


def _side_by_side(session: Session, kernels: Sequence[KernelAnalysis], family: Sequence[Finding]) -> Fix | None:
    """One barrier for those of two branches that wait for each other, if nothing races then."""
    own = of_one_conditional(session, family)
    try:
        step = side_by_side(session, own)
    except NotPossible:
        return None
    trial = session.trial({step.path: step.changes}, frozenset(), session.kernels_sharing_code(kernels))
    if not trial.difference.is_clean or not {each.group for each in own} <= trial.gone:
        return None
    fewer = len(own) // 2
    one = "one" if fewer == 1 else str(fewer)
    kind = "warp barrier" if _are_of_warps(session, own) else "barrier"
    cost = f"−{barriers_in_words(len(own) - fewer, kind)}"
    what = f"Replace the barriers in {lines_in_words(own, session)} by {one} for both branches"
    fix = Fix(
        title=f"{what}, which the conditional is split at — all threads get there, {cost}",
        kind="restructure",
        edits=edits_of(trial),
        groups=tuple(sorted(trial.gone)),
        cost=cost,
    )
    return granting(fix, step.granted)


def _racing_too(
    bare: Session, kernels: Sequence[KernelAnalysis], without: Trial, appeared: Collection[PairKey]
) -> list[KernelAnalysis]:
    """The kernels in the text without the barriers, and others that race there for want of them: callers of the same
    function, say."""
    names = set(names_of(kernels))
    for analysis in bare.kernels:
        olds = (in_old_text(f, without.files) for f in findings_of(analysis.result) if f.code in RACES)
        if any(old is not None and key_of(old) in appeared for old in olds):
            names.add(analysis.kernel.mangled)
    return [a for a in bare.kernels if a.kernel.mangled in names]


def _are_of_warps(session: Session, family: Sequence[Finding]) -> bool:
    return calls_of(session, [each.accesses[0] for each in family]) == {WARP_CALL}


def _lost_in_words(session: Session, family: Sequence[Finding]) -> str:
    """What the barriers cost that are not there any more."""
    return f"−{barriers_in_words(len(family), 'warp barrier' if _are_of_warps(session, family) else 'barrier')}"


def _removed_in_words(session: Session, family: Sequence[Finding]) -> str:
    what = "barriers" if len(family) > 1 else "barrier"
    return f"remove the {what} in {lines_in_words(family, session)}"


_STILL_DIVERGENT: Final = "Without the barrier there would still be threads of the block that wait for others."


def _without(session: Session, kernels: Sequence[KernelAnalysis], family: Sequence[Finding]) -> Trial | FixRefusal:
    """The text without these barriers, if nothing but races comes of it."""
    changes: dict[str, list[Change]] = {}
    for each in family:
        deleted = deletion(session, each, changes)
        if isinstance(deleted, FixRefusal):
            return deleted
        changes = deleted
    without = session.trial(changes, frozenset(), session.kernels_sharing_code(kernels), draft=True)
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
    whole = composed([without, placed.trial])
    judged = session.judge(placed.trial, whole)
    if not judged.is_clean:
        return FixRefusal(sentence(judged.worse[0]) if judged.worse else "With a barrier elsewhere others would race.")
    places = as_spelled(placed, places_in_words(bare.changes(placed.barriers), bare, without.files))
    gone = gone_groups(session.result, placed.trial.checked, judged)
    promised = {finding.group for finding in family}
    if not promised <= gone:
        return FixRefusal("With a barrier elsewhere there would still be threads that wait for others.")
    dearer = _is_dearer(session, bare, family)
    taken = _taken_out(session, session.kernels, family)
    cost = _difference(session, without, bare, placed, kernels, family, taken)
    barrier = family[0].accesses[0]
    if len(family) > 1:
        title = f"Replace the barriers in {lines_in_words(family, session)} by {places}"
    elif len(placed.barriers) == 1 and not dearer and placed.spelled == bare.spelled.get(bare.barrier, b""):
        same = places.removeprefix(as_spelled(placed, f"{barrier_in_words(bare)} "))
        lines = lines_in_words(family, session)
        way = f"in {lines} further out" if same == f"after {lines}" else f"from {lines} {same}"
        title = f"Move {shown(barrier)} {way}"
    else:
        title = f"Replace {shown(barrier)} in {lines_in_words(family, session)} by {places}"
    price = "" if cost == NO_MORE else f", {cost}"
    comments = comments_of(placed.barriers, placed.spelled or bare.barrier, taken, without.files)
    return Fix(
        title=f"{title} — all threads get there{price}",
        kind="move-barrier",
        edits=edits_of_files(with_comments(placed.trial, whole, comments)),
        groups=tuple(sorted({*promised, *gone})),
        cost=cost,
        notes=(*(in_old_lines(note, bare, [without]) for note in notes_of(placed)), *empty_bodies(without)),
    )
