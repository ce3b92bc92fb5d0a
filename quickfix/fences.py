"""Fences beside signals and locks, and wider scopes: what makes the writes of one thread visible to another that learns
of them by an atomic operation or a volatile variable.

Takes a session and a group of races, gives the `Fix` with the fewest of three kinds of edits after which the accesses
are ordered: `atomicAdd` for `atomicAdd_block` and `__threadfence()` for `__threadfence_block()` where blocks meet, a
`__threadfence()` in front of or behind what signals, and a barrier of the block where one thread signals for the
others, or waits for them. Whether an order comes of it is for the engine to say.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from analyzers.analysed import KernelAnalysis
from analyzers.frontend.gaps import Body, Gap, Step
from analyzers.model import Access, Finding, Fix
from analyzers.races.acquire_release import AcquireRelease
from analyzers.races.others import is_strong
from analyzers.races.threads import Launch
from quickfix.cost import price, trips_of, words
from quickfix.edits import BARRIER, FENCE, Change, respelled
from quickfix.naming import line_of
from quickfix.paths import Candidate, Chain, Key, Level, candidate_at, chain_to
from quickfix.scopes import Wide, is_narrow, widened_scopes
from quickfix.search import varying_bodies
from quickfix.session import Changes, Session, Trial
from quickfix.verify import RACES, findings_of
from quickfix.wording import LATE, edits_of, kind_in_words, pair_in_words, places_in_words

_MOST_PLACES: Final = 12
"""Places for fences; with more, what signals to whom is not seen."""
_NARROW: Final = re.compile(rb"\b(?P<wide>atomic[A-Z]\w*?|__threadfence)(?P<narrow>_block)(?=\s*\()")


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is to be edited."""

    widened: Changes
    fences: tuple[Candidate, ...] = ()
    barriers: tuple[Candidate, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.widened or self.fences or self.barriers)

    def changes(self, session: Session) -> dict[str, list[Change]]:
        """Where a barrier and a fence get into one gap, the barrier comes first in front of what signals."""
        both = {c.key for c in self.fences} & {c.key for c in self.barriers}
        gaps = {c.key: c for c in (*self.fences, *self.barriers)}
        found = session.changes(gaps.values(), FENCE)
        barriers = {c.key: BARRIER for c in self.barriers}
        inserted = {path: [_doubled(c, both) for c in respelled(each, barriers)] for path, each in found.items()}
        return {
            path: sorted((*self.widened.get(path, ()), *inserted.get(path, ())), key=lambda c: (c.start, c.end))
            for path in dict.fromkeys((*self.widened, *inserted))
        }


def _doubled(change: Change, both: Collection[Key | None]) -> Change:
    """A fence behind the barrier of a gap that is to get both."""
    if change.gap not in both:
        return change
    head, barrier, rest = change.text.partition(change.barrier)
    return replace(change, text=head + barrier + (head if head[:1] in (b"\r", b"\n") else b" ") + FENCE + rest)


def ordered_by_fences(session: Session, kernels: Sequence[KernelAnalysis], group: str) -> Fix | None:
    """The repair of one group of races; None where fences, scopes and barriers beside signals make no order. Raises
    `SearchSpentError`."""
    races = [f for a in kernels for f in findings_of(a.result) if f.group == group and f.code in RACES]
    if not races or not any(map(_signals, kernels)):
        return None
    session = session.for_fences()
    for wide, fences, barriers in _attempts(session, kernels, races):
        plan = _Plan(_widened(session, kernels, wide) if wide is not None else {}, tuple(fences), tuple(barriers))
        if plan.is_empty or len(plan.fences) > _MOST_PLACES:
            continue
        found = _tried_with_barriers(session, kernels, group, plan)
        if found is not None:
            return _fewest(session, kernels, races[0], *found)
    return None


def _attempts(
    session: Session, kernels: Sequence[KernelAnalysis], races: Sequence[Finding]
) -> Iterator[tuple[Wide | None, Sequence[Candidate], Sequence[Candidate]]]:
    """What scopes are widened to, the places of fences, and those of barriers."""
    if all(f.scope == "inter-block" for f in races):
        yield "device", (), ()
        fences = _places(session, kernels)
        yield "device", fences, ()
        if barriers := _places_of_barriers(session, kernels):
            yield "device", fences, barriers
        return
    events = (e for k in kernels for e in (*k.events.accesses, *k.events.fences))
    if any(is_narrow(e, "block") for e in events):
        # What is for one thread only may meet that of other blocks, too, once those of a block are ordered.
        yield "block", (), ()
        yield "device", (), ()
    fences = _places(session, kernels)
    yield None, fences, ()
    if any(f.scope != "intra-warp" for f in races) and (barriers := _places_of_barriers(session, kernels)):
        yield "device", fences, barriers


def _signals(analysis: KernelAnalysis) -> bool:
    """Whether a thread can learn of another's progress, or atomics of a block's scope meet those of other blocks."""
    narrow = map(is_narrow, analysis.events.accesses)
    return any(narrow) or any(AcquireRelease(Launch(analysis.events, c)).orders for c in analysis.contexts)


def _widened(session: Session, kernels: Sequence[KernelAnalysis], wide: Wide) -> dict[str, list[Change]]:
    """Take narrow scopes from all atomics and fences of the kernels."""
    sites = [e.site for k in kernels for e in (*k.events.accesses, *k.events.fences)] if wide == "device" else []
    found: dict[str, dict[int, Change]] = {}
    for span in dict.fromkeys(s.span for s in sites):
        text = session.trees.texts.get(span.path, b"")
        match = _NARROW.match(text, span.start_offset)
        if match is not None and span.path not in session.trees.foreign:
            start, end = match.span("narrow")
            found.setdefault(span.path, {})[start] = Change(start, end, b"")
    for path, change in widened_scopes(session, kernels, wide):
        if path not in session.trees.foreign:
            found.setdefault(path, {})[change.start] = change
    return {path: [changes[at] for at in sorted(changes)] for path, changes in found.items()}


def _places(session: Session, kernels: Sequence[KernelAnalysis]) -> list[Candidate]:
    """In front of and behind each statement that signals or sees a signal; behind the loops around it, too, where that
    does not make too many."""
    found: dict[Key, Candidate] = {}
    for search in (_around, _behind_loops):
        more = {c.key: c for chain in _signals_of(session, kernels) for c in search(chain)}
        if found and len(found.keys() | more.keys()) > _MOST_PLACES:
            break
        found |= {key: candidate for key, candidate in more.items() if key not in found}
    return [found[key] for key in sorted(found)]


def _signals_of(session: Session, kernels: Iterable[KernelAnalysis]) -> Iterator[Chain]:
    """The way to each place that signals or sees a signal, where that is in a function at hand."""
    for site in dict.fromkeys(e.site for k in kernels for e in k.events.accesses if is_strong(e)):
        chain = chain_to(session.trees, Access(0, site.span, "atomic", 0, site.text, calls=site.calls))
        if chain:
            yield chain


def _waiting(chain: Chain) -> int:
    """The level of the statement that signals or waits: of a loop itself where that is in its head."""
    at = len(chain) - 1
    return at - 1 if chain[at].statement is None and at > 0 and chain[at].body.role == "loop" else at


def _around(chain: Chain) -> Iterator[Candidate]:
    at = _waiting(chain)
    level = chain[at]
    statement = level.statement
    call = _to_call(chain)
    if call and (level.function.of_library or (statement is not None and statement.kind == "jump")):
        # Nothing gets in there, or behind it: around what calls the function it does.
        yield from _around(call)
    if statement is None or level.function.on_host or level.function.of_library:
        return
    yield candidate_at(chain, at, _gap(level, level.body, level.position))
    if statement.kind == "if":
        steps = (*level.steps, Step(level.body, level.position))
        yield from (candidate_at(chain, at, Gap(level.function, steps, body, 0)) for body in statement.bodies[:1])
    elif statement.kind != "jump":
        yield candidate_at(chain, at, _gap(level, level.body, level.position + 1))


def _behind_loops(chain: Chain) -> Iterator[Candidate]:
    at = _waiting(chain)
    level = chain[at]
    if level.statement is None or level.function.on_host:
        return
    while chain[at].body.role == "loop" and at > 0 and chain[at - 1].function is level.function:
        at -= 1  # what waits in a loop has waited behind it
        yield candidate_at(chain, at, _gap(chain[at], chain[at].body, chain[at].position + 1))


def _to_call(chain: Chain) -> Chain:
    """The way to the call of the function that a place is in; empty for a kernel."""
    return chain[: max((i for i, level in enumerate(chain) if level.call is not None), default=0)]


def _gap(level: Level, body: Body, index: int) -> Gap:
    return Gap(level.function, level.steps, body, index)


def _places_of_barriers(session: Session, kernels: Collection[KernelAnalysis]) -> list[Candidate]:
    """In front of and behind each statement that a signal is in, in bodies that all threads seem to enter."""
    varying = varying_bodies(session, kernels)
    found: dict[Key, Candidate] = {}
    for chain in _signals_of(session, kernels):
        for at, level in enumerate(chain):
            if level.function.of_library:
                continue
            if level.function.on_host or (level.function.path, level.body.start) in varying:
                break
            for index in (level.position, level.position + 1) if level.statement is not None else ():
                gap = _gap(level, level.body, index)
                found.setdefault(gap.key, candidate_at(chain, at, gap))
    return [found[key] for key in sorted(found)]


def _tried(session: Session, kernels: Sequence[KernelAnalysis], plan: _Plan) -> Trial:
    return session.trial(plan.changes(session), frozenset(), session.kernels_sharing_code(kernels))


def _is_right(trial: Trial, group: str) -> bool:
    return trial.difference.is_clean and group in trial.gone


def _tried_with_barriers(
    session: Session, kernels: Sequence[KernelAnalysis], group: str, plan: _Plan
) -> tuple[_Plan, Trial] | None:
    """The plan, without the barriers that some threads miss, or that keep threads from what others wait for."""
    while not _is_right(trial := _tried(session, kernels, plan), group):
        wrong = trial.divergent | trial.in_vain
        kept = tuple(c for c in plan.barriers if c.key not in wrong)
        if not kept or len(kept) == len(plan.barriers):
            return None
        plan = replace(plan, barriers=kept)
    return plan, trial


def _fewest(session: Session, kernels: Sequence[KernelAnalysis], race: Finding, plan: _Plan, trial: Trial) -> Fix:
    """Leave out what is not needed: each barrier, each fence, then the scopes. A fence that is there is widened rather
    than that another one stands beside it."""

    def leave_out(fewer: _Plan) -> None:
        nonlocal plan, trial
        if not fewer.is_empty and _is_right(without := _tried(session, kernels, fewer), race.group):
            plan, trial = fewer, without

    for place in sorted(plan.barriers, key=price, reverse=True):
        leave_out(replace(plan, barriers=tuple(p for p in plan.barriers if p is not place)))
    for place in sorted(plan.fences, key=price, reverse=True):
        leave_out(replace(plan, fences=tuple(p for p in plan.fences if p is not place)))
    if plan.widened and (plan.fences or plan.barriers):
        leave_out(replace(plan, widened={}))
    every = [(path, change) for path, found in plan.widened.items() for change in found]
    for path, change in every if 1 < len(every) <= _MOST_PLACES else ():
        fewer = {p: [c for c in found if (p, c) != (path, change)] for p, found in plan.widened.items()}
        leave_out(replace(plan, widened={p: found for p, found in fewer.items() if found}))
    kinds = [(plan.barriers, session.for_blocks()), (plan.fences, session)]
    places = " and ".join(places_in_words(own.changes(found), own) for found, own in kinds if found)
    done = [f"use {_names(session, plan.widened)}"] if plan.widened else []
    done += [f"insert {places}"] if places else []
    what = " and ".join(done)
    pair = pair_in_words(*race.accesses[:2]) if race.accesses[0].id != race.accesses[1].id else race.accesses[0].text
    trips = trips_of(kernels)
    prices = [words(found, trips, session.names, kind_in_words(own)) for found, own in kinds if found]
    return Fix(
        title=f"{what[:1].upper()}{what[1:]} — orders {pair} between threads that signal each other"
        if places
        else f"{what[:1].upper()}{what[1:]} — the threads are {_apart(race)}",
        kind="insert-fence" if places else "widen-scope",
        edits=edits_of(trial),
        groups=tuple(sorted(trial.gone)),
        cost=", ".join([*prices, *(["wider scope"] if plan.widened else [])]),
        notes=(LATE,) if trial.late else (),
    )


def _apart(race: Finding) -> str:
    return "in different blocks" if race.scope == "inter-block" else "different ones"


def _names(session: Session, widened: Changes) -> str:
    """`atomicAdd instead of atomicAdd_block in line 3`."""
    lines: dict[tuple[str, str], list[tuple[str, int]]] = {}
    for path, changes in sorted(widened.items()):
        text = session.trees.texts[path]
        for change in changes:
            name = re.search(rb"\w+\Z", text[: change.end])
            assert name is not None
            new = text[name.start() : change.start] + change.text
            lines.setdefault((new.decode(), name[0].decode()), []).append((path, line_of(text, change.start)))
    return ", ".join(f"{new} instead of {name} in {session.names.lines(at)}" for (new, name), at in lines.items())
