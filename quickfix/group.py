"""The repair of one group of findings: which searches there are, and in which order they are tried.

Takes a session and a group, gives the first `Fix` that a search finds, the cheapest kind first, or why there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from analyzers.analysed import KernelAnalysis
from analyzers.ir.expr import symbols
from analyzers.ir.uniformity import is_uniform
from analyzers.model import Finding, Fix, FixRefusal, Verdict
from quickfix.atomics import atomic_update
from quickfix.barrier_meanings import turned_round
from quickfix.commits import committed_always
from quickfix.cost import called_often, trips_of
from quickfix.divergent import divergent_removed
from quickfix.early_returns import guard_returns
from quickfix.fences import ordered_by_fences
from quickfix.grid_wide import explanation, grid_barriers
from quickfix.kept_barriers import MANY, missed_barriers, reached_by_all
from quickfix.lane_masks import lane_mask
from quickfix.lost_updates import lost_update, made_once, whether
from quickfix.macro_definitions import in_definition
from quickfix.macro_updates import update_in_macro
from quickfix.narrowing import cost_in_words, narrowed, placed_in_words
from quickfix.oracle import SearchSpentError
from quickfix.rebuild import rebuilt, rebuilt_with_others
from quickfix.redundant import redundant_removed
from quickfix.scopes import too_narrow
from quickfix.search import place, sentence, ways_between
from quickfix.session import Session
from quickfix.steps import VOTES, WARP_VOTES
from quickfix.unconditional import without_condition
from quickfix.verify import RACES, PairKey, findings_of, key_of
from quickfix.wording import beyond_repair, edits_of, granting, notes_of, pairs_in_words


def repaired(session: Session, group: str) -> Fix | FixRefusal:
    try:
        return _fix_within_effort(session, group)
    except SearchSpentError as spent:
        return FixRefusal(str(spent))


def _fix_within_effort(session: Session, group: str) -> Fix | FixRefusal:
    session.begin_search()
    kernels = session.kernels_with(group)
    findings = [f for a in kernels for f in findings_of(a.result) if f.group == group]
    if not findings:
        return FixRefusal("The finding is not there any more.")
    first = min(findings, key=lambda f: f.code.rank)
    if first.code in RACES:
        return _repaired_for_good(session, kernels, group)
    if first.code is Verdict.BARRIER_DIVERGENCE:
        return _reached(session, kernels, first)
    if first.code is Verdict.REDUNDANT_BARRIER:
        return redundant_removed(session, kernels, first)
    if (why := beyond_repair(first)) is not None:
        return FixRefusal(why)
    kept = reached_by_all(session, kernels, first)
    answer = kept if isinstance(kept, Fix) else guard_returns(session, kernels, first)
    return replace(answer, preferred=False) if isinstance(answer, Fix) else answer


def _reached(session: Session, kernels: Sequence[KernelAnalysis], finding: Finding) -> Fix | FixRefusal:
    """A barrier that threads miss: taken elsewhere, or else kept for all threads to get to, which takes one trial. The
    latter comes first where there are many, which would be moved one by one, and where much would race without it."""
    many = len(missed_barriers(kernels, finding.code)) > MANY
    if many and isinstance(kept := reached_by_all(session, kernels, finding), Fix):
        return kept
    try:
        answer = divergent_removed(session, kernels, finding, patient=many)
    except SearchSpentError as spent:
        answer = FixRefusal(str(spent))
    if not isinstance(answer, Fix) and not many:
        session.begin_search()
        if isinstance(kept := reached_by_all(session, kernels, finding), Fix):
            return kept
    return answer or divergent_removed(session, kernels, finding)


def _repaired_for_good(session: Session, kernels: Sequence[KernelAnalysis], group: str) -> Fix | FixRefusal:
    """The first repair; where it takes something for granted, atomic operations that take nothing for granted come
    first."""
    fix = _repair_races(session, kernels, group)
    if not isinstance(fix, Fix) or not fix.assumes or fix.kind == "use-atomic" or _is_for_all(kernels, group):
        return fix
    updated = _made_atomic(session, kernels, group)
    return updated if isinstance(updated, Fix) and updated.applies_unasked else fix


def _is_for_all(kernels: Sequence[KernelAnalysis], group: str) -> bool:
    """Whether threads write one cell that is the same for all of them: a count of rounds may be meant, which they make
    together."""
    races = (f for a in kernels for f in findings_of(a.result) if f.group == group)
    written = {access.span for race in races for access in race.accesses if access.kind == "write"}
    events = (e for a in kernels for e in a.events.accesses if e.writes and e.site.span in written)
    return any(is_uniform(event.offset) for event in events)


def _repair_races(session: Session, kernels: Sequence[KernelAnalysis], group: str) -> Fix | FixRefusal:
    """Insert barriers; where another barrier diverges, which no insertion makes right, move that one first. Insertion
    makes it right where threads disagree only because of what they read in a race."""
    divergent = [f for a in kernels for f in findings_of(a.result) if f.code is Verdict.BARRIER_DIVERGENCE]
    if divergent and all(any(_waits_for_data(a, f) for a in kernels) for f in divergent):
        inserted = inserted_barriers(session, kernels, group)
        if isinstance(inserted, Fix) and {f.group for f in divergent}.issubset(inserted.groups):
            return inserted
    races = [f for a in kernels for f in findings_of(a.result) if f.group == group]
    race = races[0]
    many = len(missed_barriers(kernels, race.code)) > MANY
    if many and isinstance(kept := reached_by_all(session, kernels, race), Fix):
        return kept
    barriers = {f.group: f for f in divergent}
    given_up: list[Finding] = []
    for finding in barriers.values():
        answer = divergent_removed(session, kernels, finding, patient=many)
        if isinstance(answer, Fix) and group in answer.groups:
            return answer
        given_up += [finding] * (answer is None)
    if divergent and not many and isinstance(kept := reached_by_all(session, kernels, race), Fix):
        return kept
    for finding in given_up:
        answer = divergent_removed(session, kernels, finding)
        if isinstance(answer, Fix) and group in answer.groups:
            return answer
    turned = turned_round(session, kernels, divergent, set(map(key_of, races))) if divergent else None
    if turned is not None:
        return turned
    loosened = without_condition(session, kernels, group)
    if loosened is not None:
        return loosened
    # A barrier of a warp costs less; where there is no place between the accesses, one is made.
    of_warps = _for_warps(session, kernels, races) if _is_within_warps(kernels, group) else ()
    alone = bool(of_warps) and _has_no_other(kernels)
    narrow = _within_warps(of_warps, kernels, group, inserted_barriers) if alone else None
    if isinstance(narrow, Fix) and _takes_all_along(narrow, kernels):
        return narrow
    if isinstance(narrow, Fix):
        return _wider_than(narrow, session, kernels, group) or narrow
    inserted = inserted_barriers(session, kernels, group)
    if isinstance(inserted, Fix):
        return inserted
    if isinstance(of_grid := grid_wide_barriers(session, kernels, group), Fix):
        return of_grid
    fenced = ordered_by_fences(session, kernels, group)
    if fenced is not None:
        return fenced
    committed = committed_always(session, kernels, group)
    if committed is not None:
        return committed
    if of_warps:
        # The barriers that order the other races are elsewhere.
        if not alone:
            narrow = _within_warps(of_warps, kernels, group, inserted_barriers)
            if isinstance(narrow, Fix):
                return narrow
        # Of some lanes first: the condition that keeps the others away need not be split then.
        for search in (rebuilt_with_others, rebuilt) if alone else (rebuilt,):
            made = _within_warps(of_warps[::-1], kernels, group, search)
            if isinstance(made, Fix):
                return made
    if isinstance(whole := rebuilt_with_others(session, kernels, group), Fix):
        return whole
    made = rebuilt(session, kernels, group)
    if isinstance(made, Fix):
        return made
    updated = _made_atomic(session, kernels, group)
    if isinstance(updated, Fix):
        return updated
    defined = in_definition(session, kernels, group)
    scope = too_narrow(session, kernels, group)
    said = (scope, defined, updated, lost_update(kernels, group), whether(kernels, group), made)
    return next((answer for answer in said if answer is not None), inserted)


def _for_warps(session: Session, kernels: Sequence[KernelAnalysis], races: Sequence[Finding]) -> tuple[Session, ...]:
    """The same text, for barriers of all lanes and, where only some come to the accesses, of these."""
    mask = lane_mask(session, kernels, races)
    return (session.for_warps(), session.for_warps(mask)) if mask is not None else (session.for_warps(),)


def _within_warps(
    sessions: Sequence[Session],
    kernels: Sequence[KernelAnalysis],
    group: str,
    search: Callable[[Session, Sequence[KernelAnalysis], str], Fix | FixRefusal | None],
) -> Fix | FixRefusal | None:
    """What a search finds for the first kind of barrier that it finds something for."""
    refusal: FixRefusal | None = None
    for session in sessions:
        answer = search(session, kernels, group)
        if isinstance(answer, Fix) and not _votes_in_part(session, answer):
            return answer
        refusal = refusal or (answer if isinstance(answer, FixRefusal) else None)
    return refusal


def _votes_in_part(session: Session, fix: Fix) -> bool:
    """Whether votes of the whole warp go with barriers of some of its lanes."""
    return session.names_lanes and WARP_VOTES in fix.cost


def _made_atomic(session: Session, kernels: Sequence[KernelAnalysis], group: str) -> Fix | FixRefusal | None:
    """The updates of the races as atomic operations; a choice where there is no race if the host keeps to something."""
    updated = atomic_update(session, kernels, group)
    if updated is None:
        updated = update_in_macro(session, kernels, group)
    races = (f for a in kernels for f in findings_of(a.result) if f.group == group)
    settled = isinstance(updated, Fix) and any(f.relations for f in races)
    return replace(updated, preferred=False) if settled and isinstance(updated, Fix) else updated


def grid_wide_barriers(session: Session, kernels: Sequence[KernelAnalysis], group: str) -> Fix | FixRefusal | None:
    """Barriers of the grid, where the kernels are launched so that there may be some."""
    race = next(f for a in kernels for f in findings_of(a.result) if f.group == group)
    answer: Fix | FixRefusal | None = None
    for barrier, header in grid_barriers(session.trees, kernels, race):
        answer = inserted_barriers(session.for_grid(barrier, header), kernels, group)
        if isinstance(answer, Fix):
            break
    return answer


def inserted_barriers(session: Session, kernels: Sequence[KernelAnalysis], group: str) -> Fix | FixRefusal:
    """Barriers as the session writes them; those of a warp among those of the block where they suffice."""
    return _inserted(session, kernels, group, narrow=True)


def wide_barriers(session: Session, kernels: Sequence[KernelAnalysis], group: str) -> Fix | FixRefusal:
    """Barriers of one kind, also where some of them could be narrower."""
    return _inserted(session, kernels, group, narrow=False)


def _inserted(session: Session, kernels: Sequence[KernelAnalysis], group: str, *, narrow: bool) -> Fix | FixRefusal:
    def requested(_key: PairKey, found: Sequence[Finding]) -> bool:
        return any(f.group == group for f in found)

    placed = place(session, kernels, requested)
    if isinstance(placed, FixRefusal):
        return placed
    pair = next((f for f in placed.targets if f.group == group), placed.targets[0])
    if group not in placed.trial.gone:
        # All that is left of it is between blocks.
        left = placed.trial.difference.left
        pair = next((f for f in placed.targets if f.group == group and key_of(f) in left), pair)
        return FixRefusal(sentence(explanation(session.trees, pair, ways_between(session, pair))))
    if narrow:
        placed = narrowed(session, placed, kernels)
    often = called_often(placed.barriers, session.kernels, session.trees.at)
    cost = cost_in_words(session, placed, placed.barriers, trips_of(kernels), often)
    fix = Fix(
        title=f"Insert {placed_in_words(session, placed)} — orders {pairs_in_words(placed.targets, pair)}, {cost}",
        kind="insert-barrier",
        edits=edits_of(placed.trial),
        groups=tuple(sorted(placed.trial.gone)),
        cost=cost,
        notes=notes_of(placed),
    )
    for granted in made_once(session.kernels, placed.harmless):
        fix = granting(fix, granted)
    return fix


def voted_loops(session: Session, kernels: Sequence[KernelAnalysis], group: str) -> Fix | None:
    """The repair of one group of races, or of a barrier that threads miss, by loops with votes, for a session that
    makes such; it is a choice."""
    made: Fix | FixRefusal | None = None
    findings = (f for a in kernels for f in findings_of(a.result) if f.group == group)
    missed = next((f for f in findings if f.code is Verdict.BARRIER_DIVERGENCE), None)
    if missed is not None:
        made = divergent_removed(session, kernels, missed)
        return replace(made, preferred=False) if isinstance(made, Fix) and VOTES in made.cost else None
    if _is_within_warps(kernels, group):
        made = rebuilt(session.for_warps(), kernels, group)
    if not isinstance(made, Fix):
        made = rebuilt(session, kernels, group)
    return replace(made, preferred=False) if isinstance(made, Fix) else None


def _is_within_warps(kernels: Iterable[KernelAnalysis], group: str) -> bool:
    """Whether all races of a group are between threads of one warp, as far as the witnesses show."""
    races = (f for a in kernels for f in findings_of(a.result) if f.code in RACES and f.group == group)
    return all(f.scope == "intra-warp" for f in races)


def _has_no_other(kernels: Iterable[KernelAnalysis]) -> bool:
    """Whether the kernels have no race that a barrier of the block could order, and those within warps with it."""
    races = (f for a in kernels for f in findings_of(a.result) if f.code in RACES)
    return all(f.scope != "intra-block" for f in races)


def _wider_than(fix: Fix, session: Session, kernels: Sequence[KernelAnalysis], group: str) -> Fix | None:
    """Barriers of the block where those of warps leave what these take along."""
    try:
        found = inserted_barriers(session, kernels, group)
    except SearchSpentError:
        return None
    return found if isinstance(found, Fix) and set(found.groups) > set(fix.groups) else None


def _takes_all_along(fix: Fix, kernels: Iterable[KernelAnalysis]) -> bool:
    """Whether nothing is left of the races of the kernels."""
    return {f.group for a in kernels for f in findings_of(a.result) if f.code in RACES} <= set(fix.groups)


def _waits_for_data(analysis: KernelAnalysis, divergence: Finding) -> bool:
    """Whether threads get to a barrier under a condition about what memory holds."""
    barriers = (b for b in analysis.events.barriers if b.id == divergence.accesses[0].id)
    return any(s.op == "opaque" for b in barriers for c in b.guard for s in symbols(c.condition))


def repairs_of(session: Session, groups: Iterable[str], explained: Collection[str] = ()) -> Iterator[Fix | FixRefusal]:
    """One repair after the other for groups of which none has taken another along; in the end, for those in
    `explained`, why there is none. Races in which a read comes before anything is written take others along, which need
    nothing to be taken for granted: they are the last."""
    done: set[str] = set()
    refusals: dict[str, FixRefusal] = {}
    every = (f for k in session.kernels for f in findings_of(k.result))
    last = {f.group for f in every if key_of(f) in session.read_first}
    for group in sorted(groups, key=lambda group: group in last):
        if group not in done:
            fix = repaired(session, group)
            if isinstance(fix, Fix):
                done.update(fix.groups)
                yield fix
            elif group in explained:
                refusals[group] = replace(fix, group=group)
    yield from (refusal for group, refusal in refusals.items() if group not in done)
