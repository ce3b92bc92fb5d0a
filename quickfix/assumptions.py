"""What a repair takes for granted: with that in its title it is a choice, never applied unasked.

Takes a session and a repair that it has proved; looks at the other builds of its file (`every_build`) and at exchanges
of a warp that new barriers may keep lanes from (`left_lanes`).
"""

from __future__ import annotations

from analyzers.analysed import KernelAnalysis
from analyzers.model import Fix
from quickfix.callers import changes_of
from quickfix.every_build import for_every_build
from quickfix.left_lanes import lanes_taken_for_granted
from quickfix.session import Session
from quickfix.solving import Solving
from quickfix.steps import BLOCK_VOTE, WARP_VOTE
from quickfix.wording import granting


def with_assumptions(session: Session, fix: Fix) -> Fix:
    """The repair, with what it takes for granted. `session`: of the text that it edits."""
    return _of_lanes(session, for_every_build(session, fix))


def _of_lanes(session: Session, fix: Fix) -> Fix:
    """With what is not proved of exchanges, whose lanes would wait for others at a new barrier."""
    votes = any(vote in e.new_text.encode() for e in fix.edits for vote in (WARP_VOTE, BLOCK_VOTE))
    if fix.kind == "assert-host" or not (votes or any(_may_wait(k) for k in session.kernels)):
        return fix
    session = session.reading(e.span.path for e in fix.edits)
    tried = session.draft(changes_of(fix.edits, session.trees.texts))
    solving = Solving.of(session.request, session.poll)
    granted = lanes_taken_for_granted(tried.analysis.kernels, tried.files, session.result, solving)
    session.charge(solving.effort.spent)
    return granting(fix, granted)


def _may_wait(analysis: KernelAnalysis) -> bool:
    """Whether lanes of a warp wait for each other anywhere."""
    return bool(analysis.events.exchanges) or any(b.scope in ("warp", "tile") for b in analysis.events.barriers)
