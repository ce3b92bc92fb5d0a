"""Barriers that may leave a loop: one for all iterations where the same proof holds.

Takes an engine and a checked request, gives for each barrier of a block that stands in a loop of a race-free kernel the
`Fix` that puts it in front of a loop around it, or behind one, if the engine proves the kernel with it there. A hint:
the kernel is right as it is.

What a kernel computes does not depend on where its barriers are as long as every conflicting pair is ordered: threads
come to places that they all reach in one order, and the moved barrier stands at such a place. That says nothing of
atomics and volatile accesses, which are ordered by more than proofs of races ask, nor of output and clocks, which show
when things happen: kernels with them are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from analyzers.analysed import KernelAnalysis, UnitAnalysis
from analyzers.barriers.redundancy import applicable
from analyzers.engine import Engine
from analyzers.frontend.gaps import Gap
from analyzers.frontend.parse import ParseFailure
from analyzers.ir.events import BarrierEvent
from analyzers.model import Access, Fix, FixRefusal, SourceSpan, UnitResult, Verdict
from analyzers.requests import CheckRequest
from quickfix.assumptions import with_assumptions
from quickfix.cost import executions, less_often, trips_of
from quickfix.edits import Layout, insertions
from quickfix.kept_comments import comments_at, with_comments
from quickfix.naming import span_of
from quickfix.oracle import SearchSpentError, Stop
from quickfix.paths import Chain, Level, chain_to, is_passed_by
from quickfix.removal import deletion_of, merged
from quickfix.session import Session
from quickfix.spelling import spelled_alike
from quickfix.wording import edits_of_files, empty_bodies

_JUMP: Final = re.compile(rb"\b(?:continue|break|goto|return)\b")
_AT_A_TIME: Final = 16
_MOST_BARRIERS: Final = 8
"""Barriers of a unit that are tried: nothing is wrong with them."""
_RIGHT: Final = frozenset({Verdict.RACE_FREE, Verdict.REDUNDANT_BARRIER, Verdict.BARRIER_AFTER_EXIT})


def hoisted(engine: Engine, request: CheckRequest, result: UnitResult, stop: Stop) -> Iterator[Fix]:
    """A hint for each barrier that may leave a loop. Raises `CancelledError` when `stop` answers true."""
    names = sorted({k.name for k in result.kernels if k.verdict in _RIGHT and k.barriers})
    try:
        analysis, found = _found(engine, request, names, stop)
        if not found:
            return
        session = Session(engine, analysis, stop, barriers=True)
        for kernel, barrier in found:
            session.begin_search()
            fix = _moved(session, kernel, barrier)
            if fix is not None:
                yield with_assumptions(session, fix)
    except (ParseFailure, SearchSpentError):
        return


def _found(
    engine: Engine, request: CheckRequest, names: Sequence[str], stop: Stop
) -> tuple[UnitAnalysis, list[tuple[KernelAnalysis, BarrierEvent]]]:
    """The barriers to try, with the unit's analysis for their kernels: a few kernels are looked at, at a time."""
    analysis = engine.inspect(request, (), stop)
    found: list[tuple[KernelAnalysis, BarrierEvent]] = []
    for at in range(0, len(names), _AT_A_TIME):
        more = engine.inspect(request, names[at : at + _AT_A_TIME], stop).kernels
        found = list(_in_loops([*(k for k, _ in found), *more]))
        if len(found) >= _MOST_BARRIERS:
            break
    found = found[:_MOST_BARRIERS]
    kernels = {k.kernel.mangled: k for k, _ in found}
    return replace(analysis, kernels=tuple(kernels.values())), found


def _in_loops(kernels: Iterable[KernelAnalysis]) -> Iterator[tuple[KernelAnalysis, BarrierEvent]]:
    """Each barrier once that is a statement of a kernel's own text in a loop, and orders something."""
    seen: set[SourceSpan] = set()
    for analysis in kernels:
        events = analysis.events
        if not applicable(events) or events.observations or any(a.atomic is not None for a in events.accesses):
            continue
        findings = (f for c in analysis.result.contexts for f in c.findings)
        useless = {f.span for f in findings if f.code is Verdict.REDUNDANT_BARRIER}
        for barrier in events.barriers:
            span = barrier.site.span
            single = barrier.scope == "block" and barrier.statement is not None and not barrier.within
            if single and barrier.loops and not barrier.site.calls and span not in seen and span not in useless:
                seen.add(span)
                yield analysis, barrier


def _moved(session: Session, analysis: KernelAnalysis, barrier: BarrierEvent) -> Fix | None:
    """The barrier out of as many loops as may be."""
    access = Access(barrier.id, barrier.site.span, "barrier", 0, barrier.site.text)
    chain = chain_to(session.trees, access)
    deleted = deletion_of(session, access)
    statement = chain[-1].statement if chain else None
    if chain is None or statement is None or isinstance(deleted, FixRefusal):
        return None
    level = chain[-1]
    text = session.trees.texts[level.function.path]
    trips = trips_of([analysis])
    here = _loops(chain)
    layout = Layout(text)
    kernels = session.kernels_sharing_code([analysis])
    spellings = dict.fromkeys(filter(None, (spelled_alike(session, [access]), session.barrier)))
    for gap, loops, inner in _outside(chain):
        if not _in_every_iteration(inner, layout.code, access.span):
            continue
        if executions(here, trips) == executions(loops, trips):
            continue  # loops that iterate once
        for written in spellings:
            changes = merged(deleted, {level.function.path: insertions(text, [gap], written)})
            if any(one.end > two.start for one, two in pairwise(changes[level.function.path])):
                continue
            if session.fails(changes, kernels):
                continue
            trial = session.trial(changes, frozenset(), kernels)
            if not trial.difference.is_clean or trial.late:
                continue
            around = chain[: len(chain) - len(inner)]
            same = written == text[statement.start : statement.end]
            files = with_comments(trial, trial.files, {gap.key: comments_at(layout, statement)} if same else {})
            price = less_often(here, loops, trips, session.names, sometimes=is_passed_by(around, gap.index))
            return Fix(
                title=f"Move `{barrier.site.text}` from {session.names.line(access.span)} out of the loop at "
                f"{session.names.at(*here[len(loops)])} — the same proof holds, {price}",
                kind="move-barrier",
                edits=edits_of_files(files),
                groups=(),
                cost=price,
                preferred=False,
                notes=empty_bodies(trial),
                at=access.span,
                heads=tuple(_heads(inner, text)),
            )
    return None


def _heads(inner: Iterable[Level], text: bytes) -> Iterator[SourceSpan]:
    """Where the loops begin whose bodies are among ``inner``, up to their bodies."""
    for level in inner:
        loop = level.owner
        if level.loop_line and loop is not None and not loop.macro:
            yield span_of(level.function.path, text, loop.keyword, max(loop.head_end, loop.keyword + len(loop.kind)))


def _loops(chain: Chain) -> tuple[tuple[str, int], ...]:
    """The loops around a statement, outermost first: path and line."""
    return tuple((level.function.path, level.loop_line) for level in chain if level.loop_line)


def _in_every_iteration(inner: Sequence[Level], code: bytes, barrier: SourceSpan) -> bool:
    """Whether the barrier is executed in every iteration of the loops, whose bodies are ``inner``: under no other
    condition, and behind no jump."""
    jump = _JUMP.search(code, inner[0].body.start, barrier.start_offset)
    return all(level.loop_line for level in inner) and jump is None


def _outside(chain: Chain) -> Iterator[tuple[Gap, tuple[tuple[str, int], ...], Sequence[Level]]]:
    """The places in front of and behind each loop around a statement, those in the fewest loops first; with the loops
    around the place, and the bodies from that of the loop to that with the statement."""
    for depth, level in enumerate(chain):
        if depth and level.loop_line and level.body.loops:
            around = chain[depth - 1]
            loops = _loops(chain[:depth])
            for index in (around.position, around.position + 1):
                yield Gap(around.function, around.steps, around.body, index), loops, chain[depth:]
