"""What a repair takes for granted: with that in its title it is a choice, never applied unasked.

Takes a session and a repair that it has proved; looks at the other builds of its file (`every_build`), at exchanges
of a warp that new barriers may keep lanes from (`left_lanes`), and at reads that are put in front of all that is
written to what they read (`unwritten_reads`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final, Protocol

from analyzers.analysed import KernelAnalysis
from analyzers.model import Fix, UnitResult
from quickfix.callers import changes_of
from quickfix.every_build import for_every_build
from quickfix.left_lanes import lanes_taken_for_granted
from quickfix.session import Session
from quickfix.solving import Solving
from quickfix.steps import BLOCK_VOTE, WARP_VOTE
from quickfix.unwritten_reads import reads_come_first, reads_taken_for_granted
from quickfix.verify import Files
from quickfix.wording import granting


def with_assumptions(session: Session, fix: Fix) -> Fix:
    """The repair, with what it takes for granted. `session`: of the text that it edits."""
    return _of_reads(session, _of_lanes(session, for_every_build(session, fix)))


def _of_lanes(session: Session, fix: Fix) -> Fix:
    """With what is not proved of exchanges, whose lanes would wait for others at a new barrier."""
    votes = any(vote in e.new_text.encode() for e in fix.edits for vote in (WARP_VOTE, BLOCK_VOTE))
    if fix.kind == "assert-host" or not (votes or any(_may_wait(k) for k in session.kernels)):
        return fix
    return _granted_by(session, fix, lanes_taken_for_granted)


def _of_reads(session: Session, fix: Fix) -> Fix:
    """With reads that are put first."""
    if fix.kind not in _ORDERING or not reads_come_first(session.kernels, fix.groups):
        return fix
    return _granted_by(session, fix, partial(reads_taken_for_granted, groups=fix.groups))


def _granted_by(session: Session, fix: Fix, asked: _Asked) -> Fix:
    """The repair, with what the analysis of the edited text leaves to be taken for granted."""
    session = session.reading(e.span.path for e in fix.edits)
    analysis, files = session.read(changes_of(fix.edits, session.trees.texts))
    solving = Solving.of(session.request, session.poll)
    granted = asked(analysis.kernels, files, session.result, solving=solving)
    session.charge(solving.effort.spent)
    return granting(fix, granted)


class _Asked(Protocol):
    def __call__(
        self, kernels: Sequence[KernelAnalysis], files: Files, before: UnitResult, *, solving: Solving
    ) -> str: ...


_ORDERING: Final = frozenset({"insert-barrier", "move-barrier", "restructure"})
"""Kinds of repairs that put accesses in an order."""


def _may_wait(analysis: KernelAnalysis) -> bool:
    """Whether lanes of a warp wait for each other anywhere."""
    return bool(analysis.events.exchanges) or any(b.scope in ("warp", "tile") for b in analysis.events.barriers)
