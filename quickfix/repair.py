"""Verified repairs for the findings of a unit, in the order in which they are offered.

Takes an engine and the request that was checked; gives `Fix`es that the engine has accepted on the edited text, or the
reason why there is none. `available` is the cheap question without any of that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from analyzers.analysed import KernelAnalysis
from analyzers.engine import Engine
from analyzers.frontend.parse import ParseFailure
from analyzers.model import Finding, Fix, FixRefusal, UnitResult, Verdict
from analyzers.requests import CheckRequest, never
from quickfix.assumptions import with_assumptions
from quickfix.atomics import is_update
from quickfix.callers import agreed, together_with, with_repaired
from quickfix.choices import choices
from quickfix.early_returns import guarded_instead
from quickfix.fences import ordered_by_fences
from quickfix.fitting_reasons import fitting
from quickfix.group import grid_wide_barriers, repaired, repairs_of, voted_loops, wide_barriers
from quickfix.host_assertions import asserted_by_host
from quickfix.lost_updates import lost_update, whether, which_cell
from quickfix.oracle import SearchSpentError, Stop
from quickfix.other_units import OtherUnits
from quickfix.scopes import too_narrow
from quickfix.search import obstacle
from quickfix.session import Session
from quickfix.steps import VOTES, WARP_VOTES, is_made_uniform
from quickfix.verify import RACES, REPAIRABLE, findings_of
from quickfix.wording import LATE, beyond_repair, pair_in_words, shown

_GUARDED: Final = 2
"""Barriers behind early returns for which a guard is looked for without being asked."""


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
    guesses = (_guess_of_group, _guess_of_others, _guess_of_host)
    offers = ((g, next((t for guess in guesses if (t := guess(f)) is not None), None)) for g, f in groups.items())
    return tuple(FixOffer(group, title) for group, title in offers if title is not None)


def _guess_of_host(findings: Sequence[Finding]) -> str | None:
    """What the host does not say, if that is all that is missing."""
    conditions = dict.fromkeys(r for f in findings for r in f.relations)
    if not all(f.code in RACES and f.relations for f in findings):
        return None
    return f"Check {' and '.join(f'`{c}`' for c in conditions)} before the launch"


def _guess_of_group(findings: Sequence[Finding]) -> str | None:
    if all(f.code in RACES for f in findings) and is_update(findings):
        return f"Make the update of {shown(findings[0].accesses[0])} atomic"
    titles = [_guess(f) for f in findings]
    if None not in titles:
        return titles[0]
    return f"Make the update of {shown(findings[0].accesses[0])} atomic" if _may_be_updates(findings) else None


def _guess_of_others(findings: Sequence[Finding]) -> str | None:
    """What orders the other races of a group in which threads collide in one execution of a write: that may do no harm
    any more when nothing else is in its way."""
    titles = [_guess(f) for f in findings if not (f.code in RACES and _is_one_write(f))]
    return titles[0] if titles and None not in titles else None


def _is_one_write(finding: Finding) -> bool:
    one, two = finding.accesses[:2]
    return one.kind == "write" and one.id == two.id and one.iterations == two.iterations


def _may_be_updates(findings: Sequence[Finding]) -> bool:
    """Reads and writes of the same cells, as they are written, spaces and brackets aside: updates in several lines,
    perhaps."""
    accesses = [a for f in findings for a in f.accesses if f.code in RACES]
    kinds = ("read", "write")
    read, written = ({"".join(a.text.split()).strip("()") for a in accesses if a.kind == kind} for kind in kinds)
    return bool(written) and read == written and all(a.kind in kinds for a in accesses)


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
        whole, wider, others = together_with(engine, request, group, stop)
        answer = _found_for(whole, wider, group, stop)
        if isinstance(answer, Fix) and others:
            answer = with_repaired(whole, wider, answer, others, stop)
        elif others:
            # What has no repair for all may have one that suits the others.
            whole, wider, answer = engine, request, _found_for(engine, request, group, stop)
        units = OtherUnits(engine, stop)
        return _agreed(whole, wider, answer, stop, group, units) if isinstance(answer, Fix) else answer
    except ParseFailure as failure:
        return FixRefusal(str(failure))


def _found_for(engine: Engine, request: CheckRequest, group: str, stop: Stop) -> Fix | FixRefusal:
    """Raises ParseFailure."""
    session = Session.open(engine, request, stop, (group,))
    answer = repaired(session, group)
    if isinstance(answer, FixRefusal):
        answer = fitting(session, replace(answer, group=group))
    others = _one_by_one(session, (group,), asserted_by_host) if isinstance(answer, FixRefusal) else iter(())
    answer = next(others, answer)
    return with_assumptions(session, answer) if isinstance(answer, Fix) else answer


def _agreed(
    engine: Engine, request: CheckRequest, fix: Fix, stop: Stop, group: str, units: OtherUnits
) -> Fix | FixRefusal:
    """The repair if all kernels agree with it, or one of the group for them all. Raises ParseFailure."""
    found = agreed(engine, request, fix, stop, lambda whole, wider: _found_for(whole, wider, group, stop))
    return units.judged(request, found, engine.instances(request, stop)) if isinstance(found, Fix) else found


def offers(
    engine: Engine, request: CheckRequest, result: UnitResult | None = None, stop: Stop = never
) -> Iterator[Fix]:
    """Every repair of a unit, each verified, races before barriers. The first of the preferred ones that a group is in
    is its own: that of another group may take it along."""
    yield from (answer for answer in answers(engine, request, result, stop) if isinstance(answer, Fix))


def answers(
    engine: Engine, request: CheckRequest, result: UnitResult | None = None, stop: Stop = never
) -> Iterator[Fix | FixRefusal]:
    """The same, and in the end, for every group of races and barriers without a repair, why there is none."""
    units = OtherUnits(engine, stop)
    for answer in _answers(engine, request, result, stop):
        if isinstance(answer, FixRefusal):
            yield answer
            continue
        found = _agreed(engine, request, answer, stop, next(iter(answer.groups), ""), units)
        if isinstance(found, Fix):
            yield found
        else:
            yield from (replace(found, group=group) for group in answer.groups or ("",))


def still_right(engine: Engine, request: CheckRequest, fix: Fix, stop: Stop = never) -> Fix | FixRefusal:
    """A repair of a checked unit that was found earlier, as the other units are now that include what it edits."""
    found = replace(fix, notes=(), assumes=())
    try:
        return OtherUnits(engine, stop).judged(request, found, engine.instances(request, stop))
    except ParseFailure as failure:
        return FixRefusal(str(failure))


def _answers(
    engine: Engine, request: CheckRequest, result: UnitResult | None, stop: Stop
) -> Iterator[Fix | FixRefusal]:
    try:
        session = Session.open(engine, request, stop)
        for answer in _of_session(session, result or session.result):
            yield with_assumptions(session, answer) if isinstance(answer, Fix) else answer
    except ParseFailure:
        return


def _of_session(session: Session, checked: UnitResult) -> Iterator[Fix | FixRefusal]:
    """Raises ParseFailure."""
    every = [f for k in checked.kernels for f in findings_of(k)]
    groups = {f.group: [f2 for f2 in every if f2.group == f.group] for f in every}
    offered = {group: None for group, findings in groups.items() if _guess_of_group(findings) is not None}
    doubtful = [g for g, findings in groups.items() if g not in offered and _guess_of_others(findings) is not None]
    wrong = [f for f in every if f.code in REPAIRABLE]
    repaired_too: set[str] = set()
    narrow, late, voted = list[str](), list[str](), list[str]()
    refused: dict[str, FixRefusal] = {}
    needless = [f for f in every if f.code is Verdict.REDUNDANT_BARRIER]
    explained = frozenset(f.group for f in (*wrong, *needless) if f.group in offered)
    for answer in repairs_of(session, (*offered, *doubtful), explained):
        if isinstance(answer, FixRefusal):
            refused[answer.group] = answer
            continue
        yield answer
        repaired_too.update(answer.groups)
        if "warp barrier" in answer.cost:
            narrow += answer.groups
        if is_made_uniform(answer.title) and not any(price in answer.cost for price in (VOTES, WARP_VOTES)):
            voted += answer.groups
        if LATE in answer.notes:
            late += answer.groups
    # Barriers of the block where those of a warp suffice, as a choice.
    yield from (replace(fix, preferred=False) for fix in _one_by_one(session, narrow, wide_barriers))
    # Votes of the threads in the tests of loops that could have a bound for all of them, as another.
    yield from _one_by_one(session.with_votes(), voted, voted_loops)
    # Guards instead of returns in front of the new barriers, as another.
    yield from _one_by_one(session, late, guarded_instead)
    refusals = (obstacle(session, f) for f in wrong if f.group not in offered.keys() | repaired_too)
    hopeless: dict[str, FixRefusal] = {}
    for refusal in refusals:
        if refusal is not None:
            hopeless.setdefault(refusal.group, refusal)
    for search in (grid_wide_barriers, ordered_by_fences):
        for found in _one_by_one(session, tuple(hopeless), search):
            for group in found.groups:
                hopeless.pop(group, None)
            yield found
    for group in hopeless:
        kernels = session.kernels_with(group)
        reasons = [too_narrow(session, kernels, group)]
        reasons += [why(kernels, group) for why in (which_cell, lost_update, whether)]
        hopeless[group] = next((reason for reason in reasons if reason is not None), hopeless[group])
    refused.update(hopeless)
    unchecked: dict[str, str] = {}

    def asserted_or_told(session: Session, kernels: Sequence[KernelAnalysis], group: str) -> Fix | FixRefusal | None:
        answer = asserted_by_host(session, kernels, group)
        if isinstance(answer, FixRefusal):
            unchecked[group] = answer.text
        return answer

    for asserted in _one_by_one(session, dict.fromkeys(f.group for f in wrong if f.relations), asserted_or_told):
        for group in asserted.groups:
            refused.pop(group, None)
            hopeless.pop(group, None)
        yield asserted
    yield from _choices(session, hopeless, unchecked)
    refused = {group: fitting(session, refusal) for group, refusal in refused.items()}
    for group, why in unchecked.items():
        if group in refused:
            refused[group] = replace(refused[group], text=f"{refused[group].text} {why}")
    for group, findings in groups.items():
        if group not in repaired_too and (why := beyond_repair(findings[0])) is not None:
            refused.setdefault(group, FixRefusal(why, group))
    yield from refused.values()
    yield from _guards(session)


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
            fix = search(session, session.kernels_with(group), group)
        except SearchSpentError:
            return
        if isinstance(fix, Fix):
            done.update(fix.groups)
            yield fix


def _choices(session: Session, groups: Iterable[str], unchecked: Mapping[str, str]) -> Iterator[Fix]:
    """What is offered where nothing repairs by itself, and is never applied with others. ``unchecked``: why there is no
    check on the host for some of the groups, though one would do."""
    for group in groups:
        session.begin_search()
        try:
            for fix in choices(session, session.kernels_with(group), group):
                yield replace(fix, notes=(*fix.notes, unchecked[group])) if group in unchecked else fix
        except SearchSpentError:
            return


def _guards(session: Session) -> Iterator[Fix]:
    """Guards for returns in front of barriers: of the first kernels of the unit only, because nothing is wrong."""
    late = [f for k in session.result.kernels for f in findings_of(k) if f.code is Verdict.BARRIER_AFTER_EXIT]
    done: set[str] = set()
    for finding in [f for f in late if f.group not in done][:_GUARDED]:
        answer = repaired(session, finding.group) if finding.group not in done else None
        if isinstance(answer, Fix):
            done.update(answer.groups)
            yield answer
