"""Find barriers that remove races: propose the cheapest placement, let the engine judge the edited text, learn, repeat.

The races of all kernels concerned are solved together. A race that no barrier of the source can order is given up with
a sentence that says why, and the others are tried without it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from analyzers.analysed import KernelAnalysis
from analyzers.frontend.gaps import Statement
from analyzers.ir.events import AccessEvent, BarrierEvent, Conjunct, Guard
from analyzers.ir.uniformity import is_uniform
from analyzers.model import Access, Finding, FixRefusal, SourceSpan, Verdict
from analyzers.races.threads import Launch
from quickfix.file_names import FileNames
from quickfix.grid_wide import explanation
from quickfix.lane_masks import lane_mask
from quickfix.loop_jumps import QUIET, jumps_of
from quickfix.oracle import SearchSpentError
from quickfix.other_callers import missed_by_others
from quickfix.passed_conditionals import inside_conditionals
from quickfix.paths import Candidate, Chain, Key, Level, Passage, chain_to, is_conditional, passage
from quickfix.placement import PlacementModel
from quickfix.sections import is_cut
from quickfix.session import Session, Trial
from quickfix.tiles import tile_barriers
from quickfix.variables import statements_of
from quickfix.verify import RACES, PairKey, findings_of, in_old_text, key_of

MAX_TRIALS: Final = 24
"""Placements judged by the engine before a search is given up."""

MANY_RACES: Final = 16
"""With more of them in the kernels, all together get `_FEW_TRIALS`; then those that are not asked for are left for
other repairs."""
_FEW_TRIALS: Final = 2
_MOST_DOUBTS: Final = 3
"""Trials of a search that may leave a race in doubt before placements are given up that do."""
_MOST_IN_VAIN: Final = 8
"""Gaps that are found to keep threads from what others wait for before a search is given up."""
_NOT_NOW: Final = "there are many other races, each with a repair of its own"

_READ_FIRST: Final = "what reads before anything is written has a repair of its own, which takes that for meant"
_OF_OTHER_FILES: Final = "what lies in other files has a repair of its own"
"""Other units may run what is edited in a header, so that repairs of it are for the user to choose."""

_BETWEEN: Final = "threads of different {groups} collide: __syncwarp() only orders threads of one warp"

_OF_OTHER_LANES: Final = "other lanes than `{barrier}` names may come to {pair}: that takes a barrier of its own"


@dataclass(frozen=True, slots=True)
class Placed:
    """Barriers that the engine has accepted."""

    barriers: tuple[Candidate, ...]
    trial: Trial
    targets: tuple[Finding, ...]
    given_up: tuple[str, ...] = ()
    """Why other races of the same kernels are left as they are."""
    spelled: bytes = b""
    """How the barriers are written, if as the kernel wrote others."""
    harmless: tuple[Finding, ...] = ()
    """Writes that still collide, and leave the same value whoever is last."""
    of_warps: frozenset[Key] = frozenset()
    """The gaps of those that are barriers of a warp, beside those of a block."""


class _Unfixable(Exception):
    """No placement removes this race."""

    def __init__(self, key: PairKey, text: str) -> None:
        super().__init__(text)
        self.key, self.text = key, text


class _GivenUp(Exception):
    """The search came to no end, for a reason that is not one race's."""


_Wanted = Callable[[PairKey, Sequence[Finding]], bool]


def place(session: Session, kernels: Collection[KernelAnalysis], wanted: _Wanted) -> Placed | FixRefusal:
    """Barriers for the races of `kernels`: for all that are `wanted`, and for the others as far as possible."""
    races = _races(kernels)
    names = frozenset(a.kernel.mangled for a in kernels)
    for key, (finding, searched) in session.appeared.items():
        if not searched.isdisjoint(names):
            races.setdefault(key, []).append(finding)
    for finding in session.remaining:
        # As it is with barriers in some places: between other iterations, say.
        if finding not in races.get(key_of(finding), [finding]):
            races[key_of(finding)].append(finding)
    needed = {key for key, found in races.items() if wanted(key, found)}
    if not needed:
        return FixRefusal("There is no race that a barrier could remove.")
    reasons = {key: text for key, text in session.hopeless.items() if key in races}
    if session.orders_warps:
        for scope, groups in (("intra-block", "warps"), ("inter-block", "blocks")):
            wider = [key for key, found in races.items() if any(f.scope == scope for f in found)]
            reasons.update(dict.fromkeys(wider, _BETWEEN.format(groups=groups)))
    reasons.update(dict.fromkeys(_in_other_files(session, races, needed) - reasons.keys(), _OF_OTHER_FILES))
    if others := races.keys() - needed - reasons.keys():
        reasons.update(dict.fromkeys(session.read_first & others, _READ_FIRST))
    hoped = {key for key in needed & reasons.keys() if _may_be_harmless(session, races, key)}
    for key in needed & reasons.keys() - hoped:
        return FixRefusal(sentence(reasons[key]))
    needed -= hoped
    many, few = len(races) > MANY_RACES, iter(range(_FEW_TRIALS))
    while True:
        targets = {key: found for key, found in races.items() if key not in reasons}
        if not targets:
            return FixRefusal(sentence(reasons[next(iter(hoped))]))
        together = many and targets.keys() != needed
        try:
            placed = _search(session, kernels, targets, wanted, few if together else iter(range(MAX_TRIALS)))
            left = placed.trial.difference.left
            for key in hoped & left:
                return FixRefusal(sentence(reasons[key]))
            if between := _left_between_blocks(session, targets, needed, left):
                # What a barrier does within the blocks changes nothing about them: none is for them alone.
                reasons.update(between)
                continue
            # What goes along with the others without having been looked at is repaired.
            given_up = dict.fromkeys(text for key, text in reasons.items() if key in left)
            harmless = tuple(races[key][0] for key in races if key in hoped)
            placed = replace(placed, given_up=tuple(given_up), harmless=(*placed.harmless, *harmless))
            return _spelled(session, placed, kernels)
        except _Unfixable as failure:
            session.hopeless[failure.key] = failure.text
            if failure.key in needed and _may_be_harmless(session, races, failure.key):
                hoped.add(failure.key)
                needed.discard(failure.key)
            elif failure.key in needed or failure.key in session.appeared:
                return FixRefusal(sentence(failure.text))
            reasons[failure.key] = failure.text
            if together:
                # That takes another repair, after which there are other places.
                reasons.update(dict.fromkeys(targets.keys() - needed - {failure.key}, _NOT_NOW))
        except _GivenUp as failure:
            others = targets.keys() - needed
            if not others or not needed:
                return FixRefusal(sentence(str(failure)))
            # What stands in the way may be about the other races: try the wanted ones alone.
            reasons.update(dict.fromkeys(others, _NOT_NOW if together else str(failure)))


def _left_between_blocks(
    session: Session,
    targets: Mapping[PairKey, Sequence[Finding]],
    needed: Collection[PairKey],
    left: Collection[PairKey],
) -> dict[PairKey, str]:
    """The races beside the needed ones that are left between blocks when barriers order them within, and why."""
    found = {key: findings[0] for key, findings in targets.items() if key in left and key not in needed}
    return {key: explanation(session.trees, f, ways_between(session, f)) for key, f in found.items()}


def _spelled(session: Session, placed: Placed, kernels: Collection[KernelAnalysis]) -> Placed:
    """The same barriers as the kernel writes others, or would, where that means the same at their places."""
    functions = [c.gap.function for c in placed.barriers]
    spelled = [text] if (text := session.spelled.get(session.barrier)) else []
    aims = frozenset(key_of(f) for f in placed.targets)
    for barrier in (*spelled, *(tile_barriers(session.trees, functions) if session.orders_warps else ())):
        changes = session.changes(placed.barriers, barrier)
        try:
            trial = session.trial(changes, aims, [a.kernel.mangled for a in kernels], inserting=True)
        except SearchSpentError:
            break
        if trial.difference.is_clean and trial.gone >= placed.trial.gone and trial.late == placed.trial.late:
            return replace(placed, trial=trial, spelled=barrier)
    return placed


def _in_other_files(
    session: Session, races: Mapping[PairKey, Sequence[Finding]], needed: Collection[PairKey]
) -> set[PairKey]:
    """The races that only barriers in other files than those of the needed ones can order."""
    if len({path for found in races.values() for path, _ in _places(found)}) < 2:
        return set()
    files = {
        k: {c.gap.function.path for f in found for c in ways_between(session, f).candidates}
        for k, found in races.items()
    }
    own = {path for key in needed for path in files[key]}
    return {key for key in races.keys() - needed if files[key] and files[key].isdisjoint(own)}


def _may_be_harmless(session: Session, races: Mapping[PairKey, Sequence[Finding]], key: PairKey) -> bool:
    """Whether a race without a place is between writes of one execution of a statement, which may leave the same value
    whoever is last, and others race with them: once those are ordered, the engine tells."""
    accesses = [a for f in races[key] for a in f.accesses[:2]]
    if any(a.kind != "write" for a in accesses) or len({(a.id, a.iterations) for a in accesses}) > 1:
        return False
    own = _places(races[key])
    return any(other not in session.hopeless and own & _places(found) for other, found in races.items() if other != key)


def _places(findings: Iterable[Finding]) -> set[tuple[str, int]]:
    return {(a.span.path, a.span.start_offset) for f in findings for a in f.accesses}


def sentence(text: str) -> str:
    """A clause as a sentence."""
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def _races(kernels: Iterable[KernelAnalysis]) -> dict[PairKey, list[Finding]]:
    """The races of all contexts and instantiations, by the pair of places; different witnesses are kept."""
    found: dict[PairKey, list[Finding]] = {}
    for analysis in kernels:
        for finding in findings_of(analysis.result):
            if finding.code in RACES:
                found.setdefault(key_of(finding), []).append(finding)
    return found


def _search(
    session: Session,
    kernels: Collection[KernelAnalysis],
    targets: Mapping[PairKey, list[Finding]],
    wanted: _Wanted,
    trials: Iterator[int],
) -> Placed:
    """`wanted` tells which of the races that only show when others are gone have to go with them; `trials`: that are
    left."""
    model = PlacementModel()
    for key, found in targets.items():
        for finding in found:
            _demand(session, model, key, finding, ())
    model.varying_bodies = varying_bodies(session, kernels) | session.divergent
    targets = dict(targets)
    names = frozenset(a.kernel.mangled for a in kernels)
    clouded = any(f.code is Verdict.BARRIER_DIVERGENCE for a in kernels for f in findings_of(a.result))
    for _ in trials:
        chosen = model.solve()
        if chosen is None:
            raise _blocked(model, targets, session)
        aims = frozenset(targets)

        def tried(barriers: tuple[Candidate, ...], aims: frozenset[PairKey] = aims) -> Trial:
            return session.trial(session.changes(barriers), aims, names, inserting=True)

        trial = tried(chosen)
        if _learn(session, model, chosen, trial, targets, kernels, clouded=clouded):
            continue
        more = _appeared(trial, wanted)
        if more:
            session.appeared.update({key: (finding, names) for key, finding in more.items()})
            for key, finding in more.items():
                targets[key] = [finding]
                _demand(session, model, key, finding, [c.key for c in chosen])
            continue
        needed = session.needed_for(trial, aims)
        chosen, trial = _needed(chosen, trial, needed, tried, lambda without: not _appeared(without, wanted))
        alike = _of_one_value(trial)
        ordered = tuple(f for key, found in targets.items() if key not in alike for f in found)
        harmless = tuple(found[0] for key, found in targets.items() if key in alike)
        return Placed(chosen, trial, ordered or harmless, harmless=harmless)
    raise _GivenUp(f"no placement of barriers was found in {MAX_TRIALS} attempts")


def _of_one_value(trial: Trial) -> frozenset[PairKey]:
    """Writes that still collide and leave the same value, which nothing else makes harmful any more."""
    found = (f for k in trial.analysis.result.kernels for f in findings_of(k) if f.code is Verdict.BENIGN_RACE)
    olds = (in_old_text(f, trial.files) for f in found)
    return frozenset(key_of(old) for old in olds if old is not None)


def _appeared(trial: Trial, wanted: _Wanted) -> dict[PairKey, Finding]:
    """Wanted races of pairs that nobody had asked about while there were so many others."""
    found = {key_of(f): f for f in trial.difference.appeared}
    return {key: f for key, f in found.items() if wanted(key, (f,))}


def _demand(session: Session, model: PlacementModel, key: PairKey, finding: Finding, besides: Collection[Key]) -> None:
    one, two = finding.accesses[:2]
    way = _way(session, finding)
    if isinstance(way, str):
        raise _Unfixable(key, way)
    spans = [span for a in (one, two) for span in (*a.calls, a.span)]
    failed = {key for c in way.candidates if c.key in besides for key in _passed_alike(c, way.candidates, spans)}
    if not model.demand(way.candidates, failed):
        tried = failed.issuperset(c.key for c in way.candidates)
        raise _Unfixable(key, _not_enough(session.names, one, two) if tried else _unreachable(session, finding))


def _passed_alike(place: Candidate, others: Iterable[Candidate], spans: Iterable[SourceSpan]) -> Iterator[Key]:
    """The gaps that a thread passes whenever it passes a certain one, which is among them: those of the same body with
    no jump or label in between, and none of the accesses at `spans`."""
    gap = place.gap
    inside = [s.start_offset for s in spans if s.path == gap.function.path]

    def parts(statement: Statement) -> bool:
        return _parts(statement) or any(statement.start <= at < statement.end for at in inside)

    for other in (c.gap for c in others if (c.key[0], c.key[1]) == (place.key[0], place.key[1])):
        low, high = sorted((gap.index, other.index))
        if not any(map(parts, gap.body.statements[low:high])):
            yield other.key


def obstacle(session: Session, finding: Finding) -> FixRefusal | None:
    """Why no barrier can remove a race, where that is seen without trying one. Said of the group of the finding."""
    way = _way(session, finding)
    return FixRefusal(sentence(way), finding.group) if isinstance(way, str) else None


def _way(session: Session, finding: Finding) -> Passage | str:
    """The places between the accesses of a race, or why there are none."""
    way = ways_between(session, finding)
    if finding.scope == "inter-block" and not session.orders_blocks:
        return explanation(session.trees, finding, way)
    if not way.candidates:
        return way.obstacle
    if session.names_lanes and lane_mask(session, session.kernels_with(finding.group), (finding,)) != session.lanes:
        return _OF_OTHER_LANES.format(barrier=_call(session), pair=session.names.pair(*finding.accesses[:2]))
    return way


def ways_between(session: Session, finding: Finding) -> Passage:
    """The gaps on every way between the accesses, and those in conditionals that both pass; those that are in no body
    which another build has under another condition, if there are any."""
    way = passage(session.trees, finding)
    whole = tuple(c for c in way.candidates if not is_cut(session.trees.texts[c.gap.function.path], c.gap))
    way = replace(way, candidates=whole or way.candidates)
    chains = [chain for a in finding.accesses[:2] if (chain := chain_to(session.trees, a)) is not None]
    more = inside_conditionals(way.candidates, chains, session.trees.texts)
    return replace(way, candidates=(*way.candidates, *more)) if more else way


def _not_enough(names: FileNames, one: Access, two: Access) -> str:
    return f"{names.pair(one, two)} collide even with a barrier in every place between them"


def _call(session: Session) -> str:
    """The barrier that is inserted, as a sentence names it."""
    return session.barrier.decode().removesuffix(";")


def _who(session: Session, finding: Finding) -> str:
    """The threads that a barrier between the accesses of a race is for."""
    if session.names_lanes:
        return f"lanes that `{_call(session)}` names"
    if session.orders_warps:
        return "lanes of a warp"
    if session.orders_blocks:
        return "threads of the grid"
    # That a block does not get to a place together says nothing of its warps.
    return "threads" if finding.scope == "intra-warp" else "threads of the block"


def _unreachable(session: Session, finding: Finding) -> str:
    (one, two), names = finding.accesses[:2], session.names
    places = (c.key for c in ways_between(session, finding).candidates) if session.missed_by else ()
    caller = next((session.missed_by[key] for key in places if key in session.missed_by), None)
    if caller is not None:
        return f"a barrier between {names.pair(one, two)} would be wrong for another caller: {caller}"
    elsewhere = f": {session.missed_elsewhere}" if session.missed_elsewhere else ""
    who = _who(session, finding)
    return f"every place between {names.pair(one, two)} is one that not all {who} reach together{elsewhere}"


def _learn(
    session: Session,
    model: PlacementModel,
    chosen: tuple[Candidate, ...],
    trial: Trial,
    targets: Mapping[PairKey, Sequence[Finding]],
    kernels: Collection[KernelAnalysis],
    *,
    clouded: bool,
) -> bool:
    """Take in why a trial failed. False: it did not. `clouded`: threads missed barriers before, perhaps because of what
    they read in a race; then they may miss the new ones for the same reason until no race is left."""
    keys = [c.key for c in chosen]
    racing = trial.difference.remaining or trial.difference.new_races
    if trial.divergent and not (clouded and racing):
        if not trial.difference.divergent:
            session.missed_elsewhere = trial.difference.worse[0]
        session.missed_by.update(missed_by_others(session, trial, chosen, kernels, targets))
        for candidate in chosen:
            if candidate.key in trial.divergent:
                session.divergent.add((candidate.gap.function.path, candidate.gap.body.start))
                model.exclude(c.key for c in model.candidates.values() if _is_within(c, candidate))
        return True
    difference = trial.difference
    if trial.in_vain and len(model.in_vain) < _MOST_IN_VAIN:
        model.keep_free(trial.in_vain, difference.worse[-1])
        return True
    if difference.worse and _more_for_doubts(session, model, keys, trial, targets):
        return True
    if difference.worse:
        if len(model.rejected) >= _MOST_DOUBTS:
            raise _GivenUp(difference.worse[0])
        model.reject(keys, difference.worse[0])
        return True
    searched = frozenset(a.kernel.mangled for a in kernels)
    session.remaining.update(dict.fromkeys(difference.remaining, searched))
    for finding in (*difference.remaining, *difference.new_races):
        _demand(session, model, key_of(finding), finding, keys)
    return bool(difference.remaining or difference.new_races)


def _more_for_doubts(
    session: Session,
    model: PlacementModel,
    keys: Collection[Key],
    trial: Trial,
    targets: Mapping[PairKey, Sequence[Finding]],
) -> bool:
    """Demand one more barrier for each target that a trial leaves in doubt, whatever the iterations; False: there is
    none, or no place for one, or that was done often enough."""
    if model.doubts >= _MOST_DOUBTS:
        return False
    model.doubts += bool(trial.doubtful)
    for key in trial.doubtful:
        finding = targets[key][0]
        anyhow = replace(finding, accesses=tuple(replace(a, iterations=()) for a in finding.accesses))
        way = _way(session, anyhow)
        if isinstance(way, str) or not {c.key for c in way.candidates} - {*keys, *model.barred}:
            return False
        model.demand(way.candidates, keys)
    return bool(trial.doubtful)


def _is_within(candidate: Candidate, outer: Candidate) -> bool:
    """In the body of `outer`'s gap, however deep, with no jump or label on the way: threads that miss the one miss the
    other."""
    gap, body = candidate.gap, outer.gap.body
    if gap.function.path != outer.gap.function.path:
        return False
    if gap.body.start == body.start:
        index = gap.index
    else:
        index = next((step.index for step in gap.steps if step.body.start == body.start), None)
    if index is None:
        return False
    low, high = sorted((index, outer.gap.index))
    return not any(_parts(s) for s in body.statements[low:high])


def _parts(statement: Statement) -> bool:
    """Whether threads may come to a statement and not get behind it, or get behind it without having come to it."""
    within = (statement, *(s for body in statement.bodies for s in statements_of(body)))
    return any(s.kind == "label" or (s.macro and s.kind not in QUIET) for s in within) or any(jumps_of(statement))


def _blocked(model: PlacementModel, targets: Mapping[PairKey, list[Finding]], session: Session) -> Exception:
    """Which race is left without a place."""
    for key, found in targets.items():
        for finding in found:
            places = {c.key for c in ways_between(session, finding).candidates}
            if places <= model.barred:
                in_vain = not places.isdisjoint(model.in_vain)
                return _Unfixable(key, model.why if in_vain else _unreachable(session, finding))
    why = f": {model.why}" if model.why else ""
    return _GivenUp(f"no placement of barriers removes all races of the kernel at once{why}")


def _needed(
    chosen: tuple[Candidate, ...],
    trial: Trial,
    needed: Callable[[Key], bool],
    judge: Callable[[tuple[Candidate, ...]], Trial],
    enough: Callable[[Trial], bool],
) -> tuple[tuple[Candidate, ...], Trial]:
    """Drop barriers that are not needed: of several, each must bring a race back when it is left out. `needed`: a first
    look at one in the text with all of them; less barriers make the others no less needed."""
    for candidate in chosen:
        if len(chosen) > 1 and not needed(candidate.key):
            fewer = tuple(c for c in chosen if c is not candidate)
            without = judge(fewer)
            if without.difference.is_clean and enough(without):
                chosen, trial = fewer, without
    return chosen, trial


# --- what the events of the kernel say about places -----------------------------------------------------------


def varying_bodies(session: Session, kernels: Iterable[KernelAnalysis]) -> frozenset[tuple[str, int]]:
    """Bodies that, judged by the guards of the events in them, only some threads enter: a hint that saves trials. Of
    the grid nothing is said, whose blocks may differ, nor of lanes that a barrier names, which are those that enter."""
    if session.orders_blocks or session.names_lanes:
        return frozenset()
    entered: dict[tuple[str, int], bool] = {}
    for analysis in kernels:
        agreed = _WarpAgreement(analysis).agreed if session.orders_warps else _agreed
        events: tuple[AccessEvent | BarrierEvent, ...] = (*analysis.events.accesses, *analysis.events.barriers)
        for event in events:
            chain = chain_to(session.trees, _as_access(event))
            if not chain:
                continue
            together = all(agreed(c) for c in event.guard)
            for level in chain if together else _parting_levels(chain, event.guard, agreed):
                place = (level.function.path, level.body.start)
                entered[place] = entered.get(place, False) or together
    return frozenset(place for place, together in entered.items() if not together)


def _parting_levels(chain: Chain, guard: Guard, agree: Callable[[Conjunct], bool]) -> Iterable[Level]:
    """The innermost body, and those whose own condition may be among the ones that threads do not agree about: the
    loops around tell which. Where there are fewer conditions than branches, the outer ones are known beforehand, as
    sizes that a template is made for."""
    loops = 0
    branches: dict[int, list[Level]] = {}
    for level in chain:
        if is_conditional(level):
            branches.setdefault(loops, []).append(level)
        loops += level.body.loops
    within = [c for c in guard if c.kind == "branch" and c.depth == loops][len(branches.get(loops, ())) :]
    if any(not agree(c) and c not in within for c in guard):
        yield chain[-1]  # else only a conditional expression in it tells threads apart
    for depth, levels in branches.items():
        agreed = [agree(c) for c in guard if c.kind == "branch" and c.depth == depth]
        if len(agreed) <= len(levels):
            inner = zip(levels[len(levels) - len(agreed) :], agreed, strict=True)
            yield from (level for level, together in inner if not together)
        elif not all(agreed):
            yield from levels


def _agreed(conjunct: Conjunct) -> bool:
    return conjunct.kind in ("return", "assume") or is_uniform(conjunct.condition)


class _WarpAgreement:
    """Which conditions the threads of each warp agree about, which may tell those of the block apart: ``t < 32``."""

    def __init__(self, analysis: KernelAnalysis) -> None:
        self._launches = [Launch(analysis.decisive, context) for context in analysis.contexts]
        self._known: dict[int, bool] = {}

    def agreed(self, conjunct: Conjunct) -> bool:
        condition = conjunct.condition
        if conjunct.kind in ("return", "assume") or is_uniform(condition, "warp"):
            return True
        if condition.key not in self._known:
            found = (launch.agree_in_warps(condition) for launch in self._launches)
            self._known[condition.key] = False not in found
        return self._known[condition.key]


def _as_access(event: AccessEvent | BarrierEvent) -> Access:
    return Access(event.id, event.site.span, "barrier", 0, event.site.text, calls=event.site.calls)
