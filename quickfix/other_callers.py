"""Other calls of a function that gets a barrier: threads that miss it there, and not where it is needed.

Takes a trial of barriers and the kernels that race without them; says for each place whose barrier is missed in some
calls only, which one that is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from analyzers.analysed import KernelAnalysis
from analyzers.model import KernelResult, Verdict
from quickfix.edits import barrier_offsets
from quickfix.naming import line_of
from quickfix.paths import Candidate, Key
from quickfix.session import Session, Trial
from quickfix.verify import PairKey, findings_of, key_of, old_offset

_Calls = tuple[tuple[str, int], ...]
"""On the way from a kernel, by path and offset in the old text."""


def missed_by_others(
    session: Session,
    trial: Trial,
    chosen: Sequence[Candidate],
    kernels: Collection[KernelAnalysis],
    targets: Collection[PairKey],
) -> dict[Key, str]:
    """By the gap of a barrier: who else calls the function and would miss it; a clause."""
    needed = {
        (a.kernel.mangled, tuple((s.path, s.start_offset) for s in access.calls))
        for a in kernels
        for f in findings_of(a.result)
        if key_of(f) in targets
        for access in f.accesses[:1]
    }
    found: dict[Key, str] = {}
    for candidate in chosen:
        missed = list(_missed(trial, candidate))

        def leads(kernel: KernelResult, calls: _Calls, need: tuple[str, _Calls]) -> bool:
            return kernel.mangled == need[0] and calls == need[1][: len(calls)]

        if all(any(leads(*each, need) for each in missed) for need in needed):
            continue
        elsewhere = [each for each in missed if not any(leads(*each, need) for need in needed)]
        for kernel, calls in (elsewhere or missed)[:1]:
            if calls:
                found[candidate.key] = _in_words(session, candidate, kernel, calls, needed)
    return found


def _missed(trial: Trial, candidate: Candidate) -> Iterator[tuple[KernelResult, _Calls]]:
    """The kernels whose threads miss the barrier of a gap, with the calls that lead to it."""
    offsets = ((path, barrier_offsets(changes)) for path, changes in trial.changes.items())
    places = {(path, at) for path, found in offsets for at, key in found.items() if key == candidate.key}
    for kernel in trial.analysis.result.kernels:
        for access in (f.accesses[0] for f in findings_of(kernel) if f.code is Verdict.BARRIER_DIVERGENCE):
            if (access.span.path, access.span.start_offset) in places:
                yield kernel, tuple((s.path, old_offset(s, trial.files) or 0) for s in access.calls)


def _in_words(
    session: Session, candidate: Candidate, kernel: KernelResult, calls: _Calls, needed: Collection[tuple[str, _Calls]]
) -> str:
    """`other` also calls `shift` in line 7, and …"""
    at = len(calls) - 1
    if any(calls[at] in way for _, way in needed):
        # By way of a function that those call, too: what differs is further out.
        own = [way for mangled, way in needed if mangled == kernel.mangled]
        at = next((i for i in range(at) if all(way[: i + 1] != calls[: i + 1] for way in own)), at)
    path, place = calls[at]
    caller = session.trees.at(path, place) if at else None
    name = caller.name if caller is not None else kernel.name
    called = f"`{candidate.gap.function.name}`"
    itself = at == len(calls) - 1 and (caller is not None or not at)
    what = f"calls {called}" if itself else f"comes to {called} by the call"
    alike = path == candidate.gap.function.path
    where = f" in line {line_of(session.trees.texts[path], place)}" if alike else ""
    return f"`{name}` also {what}{where}, and some of its threads would not come to the barrier"
