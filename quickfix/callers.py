"""Kernels that nobody asked about and that run edited code all the same: other callers, and other instances.

Takes a repair that was found while only some kernels of a unit were checked, gives it back when it makes nothing worse
in the others that have code where it edits, or the refusal.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from analyzers.engine import Engine
from analyzers.frontend.parse import ParseFailure
from analyzers.model import ContextResult, Fix, FixRefusal, TextEdit, Verdict
from analyzers.requests import CheckRequest
from quickfix.edits import Change
from quickfix.session import Changes, SearchSpentError, Session, Stop, Trial
from quickfix.verify import key_of


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


def agreed(engine: Engine, request: CheckRequest, fix: Fix, stop: Stop) -> Fix | FixRefusal:
    """The repair, if the kernels beside those that the request selects have nothing against it. Raises
    `CancelledError` when `stop` answers true."""
    if not request.options.kernels or fix.kind == "assert-host":
        return fix
    others = engine.others_at(request, [(e.span.path, e.span.start_offset) for e in fix.edits], stop)
    if not others:
        return fix
    options = replace(request.options, kernels=(*request.options.kernels, *others))
    group = next(iter(fix.groups), "")
    try:
        session = Session.open(Engine(), replace(request, options=options), stop)
        # Barriers alone make no race: one of a pair that nobody had asked about was there before.
        changes, inserting = changes_of(fix.edits, session.trees.texts), fix.kind == "insert-barrier"
        trial = session.trial(changes, frozenset(), inserting=inserting)
    except (ParseFailure, SearchSpentError) as failure:
        return FixRefusal(str(failure), group)
    if trial.difference.is_clean or _misses_no_more(session, trial):
        return fix
    return FixRefusal(_against(others), group)


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


def _against(others: Sequence[str]) -> str:
    names = ", ".join(f"`{name}`" for name in others)
    return f"The repair would edit code that {names} {'runs' if len(others) == 1 else 'run'} too, and be wrong there."
