"""Kernels that nobody asked about and that run edited code all the same: other callers, and other instances.

Takes a repair that was found while only some kernels of a unit were checked, gives it back when it makes nothing worse
in the others that have code where it edits, or the refusal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from analyzers.engine import Engine
from analyzers.frontend.parse import ParseFailure
from analyzers.model import Fix, FixRefusal, TextEdit
from analyzers.requests import CheckRequest
from quickfix.edits import Change
from quickfix.session import Changes, SearchSpentError, Session, Stop


def changes_of(edits: Iterable[TextEdit]) -> Changes:
    """Edits for the user as changes of bytes, by file and in order."""
    found: dict[str, list[Change]] = {}
    for edit in edits:
        new = edit.new_text.encode("utf-8", "surrogateescape")
        found.setdefault(edit.span.path, []).append(Change(edit.span.start_offset, edit.span.end_offset, new))
    return {path: sorted(changes, key=lambda c: c.start) for path, changes in found.items()}


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
        trial = session.trial(changes_of(fix.edits), frozenset())
    except (ParseFailure, SearchSpentError) as failure:
        return FixRefusal(str(failure), group)
    return fix if trial.difference.is_clean else FixRefusal(_against(others), group)


def _against(others: Sequence[str]) -> str:
    names = ", ".join(f"`{name}`" for name in others)
    return f"The repair would edit code that {names} {'runs' if len(others) == 1 else 'run'} too, and be wrong there."
