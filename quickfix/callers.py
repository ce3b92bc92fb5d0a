"""Kernels that nobody asked about and that run edited code all the same: other callers, and other instances.

Takes a repair that was found while only some kernels of a unit were checked, gives it back when it makes nothing worse
in the others that have code where it edits; else the repair for all of these together, or the refusal.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from analyzers.engine import Engine
from analyzers.frontend.lexical import source_bytes
from analyzers.frontend.parse import ParseFailure
from analyzers.frontend.settled import template_name
from analyzers.ir.kernel import Instances
from analyzers.model import ContextResult, Fix, FixRefusal, TextEdit, Verdict
from analyzers.requests import CheckRequest
from quickfix.edits import Change
from quickfix.naming import uses_of_definition
from quickfix.oracle import SearchSpentError, Stop
from quickfix.session import Changes, Session, Trial
from quickfix.verify import Difference, findings_of, key_of
from quickfix.wording import pair_in_words


def changes_of(edits: Iterable[TextEdit], texts: Mapping[str, bytes]) -> Changes:
    """Edits for the user as changes of bytes of these texts, by file and in order. What an edit leaves of the code that
    it replaces is still at its place."""
    found: dict[str, list[Change]] = {}
    for edit in edits:
        new = edit.new_text.encode("utf-8", "surrogateescape")
        start, end = edit.span.start_offset, edit.span.end_offset
        moved = _kept(start, texts.get(edit.span.path, b"")[start:end], new)
        found.setdefault(edit.span.path, []).append(Change(start, end, new, moved=moved))
    return {path: sorted(changes, key=lambda c: c.start) for path, changes in found.items()}


_CODE: Final = re.compile(rb"\w+|[^\w\s]")
_FEWEST_WORDS: Final = 4
"""Fewer words and signs in a row may be others that look alike."""


def _kept(start: int, old: bytes, new: bytes) -> tuple[tuple[int, int, int], ...]:
    """The words and signs that both texts have in the same order (as in `Change.moved`); `old` begins at `start`."""
    one, two = list(_CODE.finditer(old)), list(_CODE.finditer(new))
    matcher = difflib.SequenceMatcher(None, [m.group() for m in one], [m.group() for m in two], autojunk=False)
    blocks = (block for block in matcher.get_matching_blocks() if block.size >= _FEWEST_WORDS)
    pairs = ((one[b.a + i], two[b.b + i]) for b in blocks for i in range(b.size))
    return tuple((there.start(), start + here.start(), len(here.group())) for here, there in pairs)


Search = Callable[[Engine, CheckRequest], Fix | FixRefusal]
"""Looks for a repair of the same findings, with more kernels selected."""


def together_with(
    engine: Engine, request: CheckRequest, group: str, stop: Stop
) -> tuple[Engine, CheckRequest, tuple[str, ...]]:
    """Where to look for a repair of a group of findings: with the other kernels that run the code of its accesses
    selected, which are the last answer. Raises ParseFailure."""
    if not request.options.kernels:
        return engine, request, ()
    result = engine.result(request, stop)
    found = (f for k in result.kernels for f in findings_of(k) if f.group == group)
    others = engine.others_at(request, [(a.span.path, a.span.start_offset) for f in found for a in f.accesses], stop)
    if not others:
        return engine, request, ()
    return engine.beside(), _wider(request, others), others


def _wider(request: CheckRequest, others: Sequence[str]) -> CheckRequest:
    """The request with other kernels selected, too."""
    return replace(request, options=replace(request.options, kernels=(*request.options.kernels, *others)))


def with_repaired(engine: Engine, request: CheckRequest, fix: Fix, others: Collection[str], stop: Stop) -> Fix:
    """The repair, with a note of those of the `others` among the kernels of the request that it repairs. Raises
    ParseFailure."""
    kernels = engine.result(request, stop).kernels
    groups = ((k.name, {f.group for f in findings_of(k)}) for k in kernels if k.name in others)
    too = [name for name, found in groups if not found.isdisjoint(fix.groups)]
    note = f"Repairs {_named(too)} too: the code is the same."
    return replace(fix, notes=(*fix.notes, note)) if too else fix


def agreed(
    engine: Engine, request: CheckRequest, fix: Fix, stop: Stop, again: Search | None = None
) -> Fix | FixRefusal:
    """The repair, if the kernels beside those that the request selects have nothing against it; where they have, what
    `again` finds for them all. Raises `CancelledError` when `stop` answers true."""
    if not request.options.kernels or fix.kind == "assert-host":
        return fix
    places = [(e.span.path, e.span.start_offset) for e in fix.edits]
    try:
        others = engine.others_at(request, _reached_from(engine, request, places, stop), stop)
    except ParseFailure as failure:
        return FixRefusal(str(failure), next(iter(fix.groups), ""))
    if not others:
        return fix
    group = next(iter(fix.groups), "")
    wider = _wider(request, others)
    whole = engine.beside()
    try:
        known = engine.instances(request, stop)
        session = Session.open(whole, wider, stop).reading({e.span.path for e in fix.edits})
        if not objection(session, fix, known):
            return fix
    except (ParseFailure, SearchSpentError) as failure:
        return FixRefusal(str(failure), group)
    found = again(whole, wider) if again is not None else None
    if isinstance(found, Fix) and found.kind != "assert-host" and set(found.groups).issuperset(fix.groups):
        note = f"Repairs {_named(others)} too: the code is the same."
        return agreed(whole, wider, replace(found, notes=(*found.notes, note)), stop)
    run = "runs" if len(others) == 1 else "run"
    return FixRefusal(f"The repair would edit code that {_named(others)} {run} too, and be wrong there.", group)


def _reached_from(
    engine: Engine, request: CheckRequest, places: Sequence[tuple[str, int]], stop: Stop
) -> Sequence[tuple[str, int]]:
    """The places, and where a macro is used in whose definition one is. Raises ParseFailure."""
    if any(path != request.path for path, _ in places):
        return Session.open(engine, request, stop).reached_from(places)
    texts = {request.path: source_bytes(request.text)}
    return [*places, *(use for _, at in places for use in uses_of_definition(texts, request.path, at))]


def objection(session: Session, fix: Fix, known: Instances) -> str:
    """What a repair makes worse in the kernels of a session, as a clause; empty: nothing. `known`: the instances that
    were known when it was found. Raises like `Session.trial`."""
    others = session.instances.for_classes - known.for_classes
    others |= session.instances.with_code - known.with_code
    others |= {function for function, _, _ in session.instances.values - known.values}
    if fix.kind == "restructure" and _edits_any_of(session, fix, others):
        return "the code is for other types or numbers there"
    # Barriers alone make no race: one of a pair that nobody had asked about was there before.
    changes, inserting = changes_of(fix.edits, session.trees.texts), fix.kind == "insert-barrier"
    trial = session.trial(changes, frozenset(), inserting=inserting)
    if trial.difference.is_clean or _misses_no_more(session, trial):
        return ""
    return _in_words(trial.difference)


def _in_words(difference: Difference) -> str:
    if difference.new_races:
        return f"{pair_in_words(*difference.new_races[0].accesses[:2])} would collide"
    if difference.worse:
        return difference.worse[0]
    return "some threads would miss a barrier"


def _edits_any_of(session: Session, fix: Fix, names: Collection[str]) -> bool:
    """Whether a repair edits a function with one of the names: one that runs as an instance, too, whose operators may
    do what those of numbers do not, or which counts by another number."""
    edited = (session.trees.at(e.span.path, e.span.start_offset) for e in fix.edits)
    return any(function is not None and template_name(function.name) in names for function in edited)


def _misses_no_more(session: Session, trial: Trial) -> bool:
    """The threads of the other kernels miss barriers that the repair has moved, but in each launch no more of them than
    they missed before, and nothing else is wrong."""
    difference = trial.difference
    if difference.remaining or difference.new_races or difference.worse:
        return False
    before = {kernel.mangled: kernel for kernel in session.result.kernels}
    for kernel in trial.analysis.result.kernels:
        pairs = zip(before[kernel.mangled].contexts, kernel.contexts, strict=True)
        if any(_missed(after) > _missed(earlier) for earlier, after in pairs):
            return False
    return True


def _missed(context: ContextResult) -> int:
    """How many barriers of a launch threads miss, each call of a function counted."""
    return len({key_of(f) for f in context.findings if f.code is Verdict.BARRIER_DIVERGENCE})


def _named(kernels: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in kernels)
