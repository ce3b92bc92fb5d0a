"""Fences beside signals and locks, and wider scopes: what makes the writes of one thread visible to another that learns
of them by an atomic operation or a volatile variable.

Takes a session and a group of races, gives the `Fix` with the fewest of two kinds of edits after which the accesses are
ordered: `atomicAdd` for `atomicAdd_block` and `__threadfence()` for `__threadfence_block()` where blocks meet, and a
`__threadfence()` in front of or behind what signals. Whether an order comes of it is for the engine to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from analyzers.analysed import KernelAnalysis
from analyzers.frontend.gaps import Body, Gap, Step
from analyzers.ir.kernel import Site
from analyzers.model import Access, Finding, Fix
from analyzers.races.acquire_release import AcquireRelease
from analyzers.races.others import is_strong
from analyzers.races.threads import Launch
from quickfix.edits import Change
from quickfix.naming import line_of
from quickfix.paths import Candidate, Level, chain_to
from quickfix.scopes import Wide, is_narrow, widened_scopes
from quickfix.session import Changes, Session, Trial
from quickfix.verify import RACES, findings_of
from quickfix.wording import edits_of, pair_in_words, places_in_words

_MOST_PLACES: Final = 12
"""Places for fences; with more, what signals to whom is not seen."""
_NARROW: Final = re.compile(rb"\b(?P<wide>atomic[A-Z]\w*?|__threadfence)(?P<narrow>_block)(?=\s*\()")


def ordered_by_fences(session: Session, kernels: Sequence[KernelAnalysis], group: str) -> Fix | None:
    """The repair of one group of races; None where fences and scopes make no order. Raises `SearchSpentError`."""
    races = [f for a in kernels for f in findings_of(a.result) if f.group == group and f.code in RACES]
    if not races or not any(map(_signals, kernels)):
        return None
    session = session.for_fences()
    for wide, places in _attempts(session, kernels, races):
        widened = _widened(session, kernels, wide) if wide is not None else {}
        if not (widened or places) or len(places) > _MOST_PLACES:
            continue
        trial = _tried(session, kernels, group, widened, places)
        if trial is not None:
            return _fewest(session, kernels, races[0], widened, places, trial)
    return None


def _attempts(
    session: Session, kernels: Sequence[KernelAnalysis], races: Sequence[Finding]
) -> Iterator[tuple[Wide | None, Sequence[Candidate]]]:
    """What scopes are widened to, and the places of fences."""
    if all(f.scope == "inter-block" for f in races):
        yield "device", ()
        yield "device", _places(session, kernels)
        return
    events = (e for k in kernels for e in (*k.events.accesses, *k.events.fences))
    if any(is_narrow(e, "block") for e in events):
        # What is for one thread only may meet that of other blocks, too, once those of a block are ordered.
        yield "block", ()
        yield "device", ()
    yield None, _places(session, kernels)


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
        if match is not None:
            start, end = match.span("narrow")
            found.setdefault(span.path, {})[start] = Change(start, end, b"")
    for path, change in widened_scopes(session, kernels, wide):
        found.setdefault(path, {})[change.start] = change
    return {path: [changes[at] for at in sorted(changes)] for path, changes in found.items()}


def _places(session: Session, kernels: Iterable[KernelAnalysis]) -> list[Candidate]:
    """In front of and behind each statement that signals or sees a signal."""
    found: dict[tuple[str, int, int], Candidate] = {}
    for site in dict.fromkeys(e.site for k in kernels for e in k.events.accesses if is_strong(e)):
        for gap in _around(session, site):
            found.setdefault(gap.key, Candidate(gap, (), 0))
    return [found[key] for key in sorted(found)]


def _around(session: Session, site: Site) -> Iterator[Gap]:
    chain = chain_to(session.trees, Access(0, site.span, "atomic", 0, site.text, calls=site.calls))
    if not chain:
        return
    level = chain[-1]
    if level.statement is None and len(chain) > 1 and level.body.role == "loop":
        level = chain[-2]  # in the head of a loop: the loop itself is what waits
    statement = level.statement
    if statement is None or level.function.on_host:
        return
    yield _gap(level, level.body, level.position)
    if statement.kind == "if":
        steps = (*level.steps, Step(level.body, level.position))
        yield from (Gap(level.function, steps, body, 0) for body in statement.bodies[:1])
    elif statement.kind != "jump":
        yield _gap(level, level.body, level.position + 1)


def _gap(level: Level, body: Body, index: int) -> Gap:
    return Gap(level.function, level.steps, body, index)


def _tried(
    session: Session, kernels: Sequence[KernelAnalysis], group: str, widened: Changes, places: Sequence[Candidate]
) -> Trial | None:
    fences = session.changes(places)
    changes = {
        path: sorted((*widened.get(path, ()), *fences.get(path, ())), key=lambda c: (c.start, c.end))
        for path in dict.fromkeys((*widened, *fences))
    }
    trial = session.trial(changes, frozenset(), session.kernels_sharing_code(kernels))
    return trial if trial.difference.is_clean and group in trial.gone else None


def _fewest(
    session: Session,
    kernels: Sequence[KernelAnalysis],
    race: Finding,
    widened: Changes,
    places: Sequence[Candidate],
    trial: Trial,
) -> Fix:
    """Leave out what is not needed: each fence, then the scopes. A fence that is there is widened rather than that
    another one stands beside it."""
    for place in places:
        fewer = [p for p in places if p is not place]
        if fewer or widened:
            without = _tried(session, kernels, race.group, widened, fewer)
            if without is not None:
                places, trial = fewer, without
    narrow = _tried(session, kernels, race.group, {}, places) if widened and places else None
    if narrow is not None:
        widened, trial = {}, narrow
    every = [(path, change) for path, found in widened.items() for change in found]
    for path, change in every if 1 < len(every) <= _MOST_PLACES else ():
        fewer = {p: [c for c in found if (p, c) != (path, change)] for p, found in widened.items()}
        fewer = {p: found for p, found in fewer.items() if found}
        without = _tried(session, kernels, race.group, fewer, places) if fewer or places else None
        if without is not None:
            widened, trial = fewer, without
    done = [f"use {_names(session, widened)}"] if widened else []
    done += [f"insert {places_in_words(session.changes(places), session)}"] if places else []
    what = " and ".join(done)
    pair = pair_in_words(*race.accesses[:2]) if race.accesses[0].id != race.accesses[1].id else race.accesses[0].text
    count = len(places)
    return Fix(
        title=f"{what[:1].upper()}{what[1:]} — orders {pair} between threads that signal each other"
        if places
        else f"{what[:1].upper()}{what[1:]} — the threads are {_apart(race)}",
        kind="insert-fence" if places else "widen-scope",
        edits=edits_of(trial),
        groups=tuple(sorted(trial.gone)),
        cost=", ".join(
            [*([f"+{count} fence{'s' * (count != 1)}"] if count else []), *(["wider scope"] if widened else [])]
        ),
    )


def _apart(race: Finding) -> str:
    return "in different blocks" if race.scope == "inter-block" else "different ones"


def _names(session: Session, widened: Changes) -> str:
    """`atomicAdd instead of atomicAdd_block in line 3`."""
    lines: dict[tuple[str, str], list[int]] = {}
    for path, changes in sorted(widened.items()):
        text = session.trees.texts[path]
        for change in changes:
            name = re.search(rb"\w+\Z", text[: change.end])
            assert name is not None
            new = text[name.start() : change.start] + change.text
            lines.setdefault((new.decode(), name[0].decode()), []).append(line_of(text, change.start))
    return ", ".join(
        f"{new} instead of {name} in line{'s' * (len(at) > 1)} {' and '.join(map(str, dict.fromkeys(at)))}"
        for (new, name), at in lines.items()
    )
