"""Barriers of a warp for some of the barriers of the block that are inserted together.

Takes a placement for all races of the kernels, gives the same with `__syncwarp()` in each place where that orders as
much: where a kernel exchanges values within warps and among them, each place gets what it needs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Mapping
from dataclasses import replace

from analyzers.analysed import KernelAnalysis
from quickfix.cost import Called, Trips, words
from quickfix.edits import BARRIER, WARP_BARRIER, respelled
from quickfix.oracle import SearchSpentError
from quickfix.paths import Candidate
from quickfix.search import Placed
from quickfix.session import Changes, Session, Trial, names_of
from quickfix.verify import EditedFile, key_of
from quickfix.wording import as_spelled, kind_in_words, places_in_words


def narrowed(
    session: Session,
    placed: Placed,
    kernels: Collection[KernelAnalysis],
    is_right: Callable[[Trial], bool] = lambda _: True,
) -> Placed:
    """The placement with barriers of warps where they suffice; `is_right`: what else an edit has to be."""
    if session.barrier != BARRIER or all(f.scope != "intra-warp" for f in placed.targets):
        return placed
    aims = frozenset(map(key_of, placed.targets))
    for barrier in placed.barriers:
        tried = replace(placed, of_warps=placed.of_warps | {barrier.key})
        try:
            trial = session.trial(changes_of(session, tried), aims, names_of(kernels), inserting=True)
            good = trial.difference.is_clean and trial.gone >= placed.trial.gone and trial.late == placed.trial.late
            if good and is_right(trial):
                placed = replace(tried, trial=trial)
        except SearchSpentError:
            break
    return placed


def changes_of(session: Session, placed: Placed) -> Changes:
    """The changes that insert barriers as they are placed, each of its kind."""
    narrow = dict.fromkeys(placed.of_warps, WARP_BARRIER)
    changes = session.changes(placed.barriers, placed.spelled)
    return {path: respelled(found, narrow) for path, found in changes.items()} if narrow else changes


def placed_in_words(session: Session, placed: Placed, earlier: Mapping[str, EditedFile] | None = None) -> str:
    """`__syncthreads() after line 8 and __syncwarp() after line 6`; lines of the text before `earlier` edits."""
    changes = changes_of(session, placed)

    def places(kind: Session, *, narrow: bool) -> str:
        own = {p: [c for c in found if (c.gap in placed.of_warps) == narrow] for p, found in changes.items()}
        there = any(c.gap is not None for found in own.values() for c in found)
        return places_in_words(own, kind, earlier) if there else ""

    wide = as_spelled(placed, places(session, narrow=False))
    return " and ".join(filter(None, (wide, places(session.for_warps(), narrow=True))))


def cost_in_words(
    session: Session, placed: Placed, barriers: Collection[Candidate], trips: Trips, often: Container[Called]
) -> str:
    """What the barriers cost, those of warps behind the others. `barriers`: those placed, as places of the text that
    the user sees."""
    wide = [c for c in barriers if c.key not in placed.of_warps]
    narrow = [c for c in barriers if c.key in placed.of_warps]
    kinds = ((wide, kind_in_words(session)), (narrow, kind_in_words(session.for_warps())))
    return ", ".join(words(found, trips, session.names, kind, often) for found, kind in kinds if found)
