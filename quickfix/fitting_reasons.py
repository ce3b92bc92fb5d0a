"""Reasons that fit the race which is shown: of a group of races the user sees one, with its two threads.

Takes a session and why a group has no repair, gives the sentence as it is to be read beside the witness: if that is of
one block, what is between blocks is said to be about other accesses.
"""

from __future__ import annotations

from dataclasses import replace

from analyzers.model import Finding, FixRefusal
from quickfix.grid_wide import explanation
from quickfix.search import obstacle, sentence, ways_between
from quickfix.session import Session
from quickfix.verify import RACES, findings_of, key_of


def fitting(session: Session, refusal: FixRefusal) -> FixRefusal:
    """The same reason, or that of the race that is shown, and which others of the group are between blocks."""
    every = [f for k in session.result.kernels for f in findings_of(k) if f.group == refusal.group and f.code in RACES]
    if not every:
        return refusal
    shown = min(every, key=lambda f: f.span)
    others = [f for f in every if key_of(f) != key_of(shown)]
    said = next((f for f in others if refusal.text == _between_blocks(session, f)), None)
    between = said or next((f for f in others if f.scope == "inter-block"), None)
    if shown.scope == "inter-block" or between is None:
        return refusal
    if said is None:
        also = f"{session.names.pair(*between.accesses[:2])}, of this mistake too, are of different blocks."
        return replace(refusal, text=f"{refusal.text} {also}")
    own = obstacle(session, shown)
    begin = (
        own.text
        if own is not None
        else f"A barrier between {session.names.pair(*shown.accesses[:2])} would not be enough."
    )
    return replace(refusal, text=f"{begin} {refusal.text}")


def _between_blocks(session: Session, finding: Finding) -> str:
    return sentence(explanation(session.trees, finding, ways_between(session, finding)))
