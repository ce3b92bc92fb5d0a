"""Delete barriers: those that order nothing, and those that some threads of the block miss.

Takes a session and a barrier finding, gives the changes that delete the barrier's statement, or the reason why it is
not one that can be deleted. Whether the text is better without it is for the engine to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from analyzers.analysed import KernelAnalysis
from analyzers.frontend.gaps import Statement
from analyzers.model import Access, Finding, FixRefusal, SourceSpan, Verdict
from quickfix.edits import Change, removal_beside
from quickfix.paths import chain_to, in_library, steps_to
from quickfix.session import Changes, Session
from quickfix.verify import findings_of

_NONE: Final[Changes] = {}
BARRIER_CALLS: Final = frozenset({"__syncthreads", "__syncwarp", "sync", "barrier_sync", "__barrier_sync"})


def deletion(session: Session, finding: Finding, besides: Changes = _NONE) -> dict[str, list[Change]] | FixRefusal:
    """The changes, by file, that delete the barrier a finding is about, together with those `besides`."""
    return deletion_of(session, finding.accesses[0], besides)


def deletion_of(session: Session, barrier: Access, besides: Changes = _NONE) -> dict[str, list[Change]] | FixRefusal:
    """The changes, by file, that delete a barrier, together with those `besides`."""
    if library := in_library(session.trees, barrier):
        return FixRefusal(f"{library}.")
    chain = chain_to(session.trees, barrier)
    if chain is None:
        return FixRefusal("The barrier is written by a macro.")
    level = chain[-1]
    statement, path = level.statement, level.function.path
    text = session.trees.texts[path]
    if statement is None or not _is_barrier(statement, barrier.span, text):
        what = "a macro together with other code" if statement is not None and statement.macro else "a larger statement"
        return FixRefusal(
            f"The barrier in {session.names.line(barrier.span)} is part of {what}: deleting it is left to you."
        )
    changes = removal_beside(text, steps_to(level), besides.get(path, ()))
    if changes is None:
        return FixRefusal(
            f"The barrier in {session.names.line(barrier.span)} cannot be deleted together with the others."
        )
    return {**besides, path: changes}


def merged(first: Changes, second: Changes) -> dict[str, list[Change]]:
    """The changes of both, by file and in order."""
    paths = dict.fromkeys((*first, *second))
    return {path: sorted((*first.get(path, ()), *second.get(path, ())), key=lambda c: c.start) for path in paths}


def counterparts(session: Session, kernels: Iterable[KernelAnalysis], finding: Finding) -> list[Finding]:
    """The divergent barriers in the other branches of the conditions around a divergent one, each once."""
    mine = _way(session, finding)
    found: dict[str, Finding] = {}
    for analysis in kernels:
        for other in findings_of(analysis.result):
            if other.code is Verdict.BARRIER_DIVERGENCE and _are_alternatives(mine, _way(session, other)):
                found.setdefault(other.group, other)
    return [other for group, other in found.items() if group != finding.group]


def _way(session: Session, finding: Finding) -> list[tuple[str, int, int]]:
    """The bodies on the way to a barrier, calls included, with the index of the statement in each."""
    chain = chain_to(session.trees, finding.accesses[0]) or ()
    return [(level.function.path, s.body.start, s.index) for level in chain for s in steps_to(level)]


def _are_alternatives(one: Sequence[tuple[str, int, int]], two: Sequence[tuple[str, int, int]]) -> bool:
    """Both are in one statement, in different bodies of it."""
    for a, b in zip(one, two, strict=False):
        if a[:2] != b[:2]:
            return one[0][:2] == two[0][:2]
        if a != b:
            return False
    return False


def _is_barrier(statement: Statement, span: SourceSpan, text: bytes) -> bool:
    """The statement is this barrier and does nothing else."""
    written = text[statement.start : statement.end].rstrip(b"; \t\r\n")
    if statement.macro:
        return statement.call in BARRIER_CALLS
    if written != text[span.start_offset : span.end_offset].rstrip(b"; \t\r\n"):
        return False
    return statement.call in BARRIER_CALLS or "arguments" in statement.idle
