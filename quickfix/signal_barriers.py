"""Barriers of the block beside signals: one thread signals to other blocks for all threads of its own.

Takes a session and a group of races between blocks, gives the `Fix` with one barrier, or two, in front of what signals
and behind what sees the signal, after which the accesses are ordered; whether they are is for the engine to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, islice
from typing import Final

from analyzers.analysed import KernelAnalysis
from analyzers.frontend.gaps import Gap
from analyzers.ir.kernel import Site
from analyzers.model import Access, Fix
from analyzers.races.others import is_strong
from quickfix.fences import signals
from quickfix.paths import Candidate, chain_to
from quickfix.session import Session
from quickfix.verify import RACES, findings_of
from quickfix.wording import edits_of, kind_in_words, pair_in_words, places_in_words

_MOST_PLACES: Final = 14
"""Places for barriers; with more, what signals to whom is not seen."""
_MOST_TRIALS: Final = 40


def ordered_by_signal_barriers(session: Session, kernels: Sequence[KernelAnalysis], group: str) -> Fix | None:
    """The repair of one group of races; None where such barriers make no order. Raises `SearchSpentError`."""
    races = [f for a in kernels for f in findings_of(a.result) if f.group == group and f.code in RACES]
    if not races or any(f.scope != "inter-block" for f in races) or not any(map(signals, kernels)):
        return None
    places = _places(session, kernels)
    if len(places) > _MOST_PLACES:
        return None
    for chosen in islice((*combinations(places, 1), *combinations(places, 2)), _MOST_TRIALS):
        changes, count = session.changes(chosen), len(chosen)
        trial = session.trial(changes, frozenset(), session.kernels_sharing_code(kernels))
        if trial.difference.is_clean and group in trial.gone:
            pair = pair_in_words(*races[0].accesses[:2])
            return Fix(
                title=f"Insert {places_in_words(changes, session)} — orders {pair}: one thread signals for its block",
                kind="insert-barrier",
                edits=edits_of(trial),
                groups=tuple(sorted(trial.gone)),
                cost=f"+{count} {kind_in_words(session)}{'s' * (count != 1)}",
            )
    return None


def _places(session: Session, kernels: Iterable[KernelAnalysis]) -> list[Candidate]:
    """In front of each statement that signals, and behind each that sees a signal, at any depth of its function."""
    found: dict[tuple[str, int, int], Candidate] = {}
    for access in (e for k in kernels for e in k.events.accesses if is_strong(e)):
        for gap in _beside(session, access.site, behind=not access.writes or access.atomic is not None):
            found.setdefault(gap.key, Candidate(gap, (), 0))
    return [found[key] for key in sorted(found)]


def _beside(session: Session, site: Site, *, behind: bool) -> Iterator[Gap]:
    chain = chain_to(session.trees, Access(0, site.span, "atomic", 0, site.text, calls=site.calls)) or ()
    for level in chain:
        if level.statement is None or level.function.on_host:
            continue
        yield Gap(level.function, level.steps, level.body, level.position)
        if behind and level.statement.kind != "jump":
            yield Gap(level.function, level.steps, level.body, level.position + 1)
