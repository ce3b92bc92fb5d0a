"""What a repair takes for granted: with that in its title it is a choice, never applied unasked.

Takes a session and a repair that it has proved; looks at the other builds of its file (`every_build`), at exchanges
of a warp that new barriers may keep lanes from (`left_lanes`), and at reads that are put in front of all that is
written to what they read (`unwritten_reads`).
"""

from __future__ import annotations

from typing import Final

from analyzers.analysed import KernelAnalysis, UnitAnalysis
from analyzers.model import Fix
from quickfix.callers import changes_of
from quickfix.every_build import for_every_build
from quickfix.file_names import listed
from quickfix.left_lanes import lanes_taken_for_granted
from quickfix.session import Session
from quickfix.solving import Solving
from quickfix.spinning import in_words
from quickfix.steps import BLOCK_VOTE, WARP_VOTE
from quickfix.unwritten_reads import reads_kept_first
from quickfix.verify import Files, findings_of, key_of
from quickfix.wording import granting


def with_assumptions(session: Session, fix: Fix) -> Fix:
    """The repair, with what it takes for granted. `session`: of the text that it edits."""
    return _of_reads(session, _of_lanes(session, for_every_build(session, fix)))


def _of_lanes(session: Session, fix: Fix) -> Fix:
    """With what is not proved of exchanges, whose lanes would wait for others at a new barrier."""
    votes = any(vote in e.new_text.encode() for e in fix.edits for vote in (WARP_VOTE, BLOCK_VOTE))
    if fix.kind == "assert-host" or not (votes or any(_may_wait(k) for k in session.kernels)):
        return fix
    session, edited, files = _made(session, fix)
    solving = Solving.of(session.request, session.poll)
    granted = lanes_taken_for_granted(edited.kernels, files, session.result, solving)
    session.charge(solving.effort.spent)
    return granting(fix, granted)


def _of_reads(session: Session, fix: Fix) -> Fix:
    """With reads that are put in front of all that is written to what they read."""
    if fix.kind not in _ORDERING:
        return fix
    every = (f for k in session.kernels for f in findings_of(k.result))
    races = session.read_first.intersection(key_of(f) for f in every if f.group in fix.groups)
    if not races:
        return fix
    session, edited, _ = _made(session, fix)
    solving = Solving.short(session.request, session.poll)
    kept = reads_kept_first(session.kernels, races, edited.kernels, solving)
    session.charge(solving.effort.spent)
    if not kept:
        return fix
    words = [in_words(read, {}, session.result) for read in kept]
    what = "what is read there" if len(words) == 1 else "what these read"
    return granting(fix, f"Assumes that {listed(words)} may come first: nothing is written before to {what}.")


def _made(session: Session, fix: Fix) -> tuple[Session, UnitAnalysis, Files]:
    """The session with the trees of what the repair edits, and the text that it makes, with nothing decided."""
    session = session.reading(e.span.path for e in fix.edits)
    return session, *session.read(changes_of(fix.edits, session.trees.texts))


_ORDERING: Final = frozenset({"insert-barrier", "move-barrier", "restructure"})
"""Kinds of repairs that put accesses in an order."""


def _may_wait(analysis: KernelAnalysis) -> bool:
    """Whether lanes of a warp wait for each other anywhere."""
    return bool(analysis.events.exchanges) or any(b.scope in ("warp", "tile") for b in analysis.events.barriers)
