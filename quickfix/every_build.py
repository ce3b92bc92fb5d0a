"""What a repair takes for granted about other builds of its file, where those have other code around it.

Takes a session and a repair that it has proved, gives the repair with what was not proved for other builds. What
inserts or removes barriers is checked there as it is (`elsewhere`), if what they compile is there. What rewrites code
keeps what threads do in the code that it has read: for another build that is so if the same repair is found there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from analyzers.frontend.parse import ParseFailure
from analyzers.model import Fix
from quickfix.elsewhere import OtherBuild, not_checked
from quickfix.group import repaired
from quickfix.other_builds import first_line
from quickfix.session import Session
from quickfix.wording import granted_in_words

_GROUPS = 2
"""Groups of findings by which the same repair is looked for in another build."""


def for_every_build(session: Session, fix: Fix) -> Fix:
    """The repair, with what it takes for granted. `session`: of the text that it edits."""
    granted = _granted(session, fix)
    if not granted or granted in fix.assumes:
        return fix
    return replace(
        fix,
        title=fix.title + granted_in_words((granted,)),
        preferred=False,
        notes=(*fix.notes, granted),
        assumes=(*fix.assumes, granted),
    )


def _granted(session: Session, fix: Fix) -> str:
    """Empty where there is nothing."""
    if fix.kind == "assert-host":
        return ""
    known = session.other_builds.of(session.touched((e.span.path, e.span.start_offset) for e in fix.edits))
    if not known.complete:
        return not_checked(known.readings.line)
    line = _first_line(session, fix) if fix.kind == "restructure" else 0
    if line and session.is_edited and known.builds:
        return _unread(line)
    if line and not all(_has(build, session, fix) for build in known.builds if not build.reading.optional):
        return _unread(line)
    return ""


def _unread(line: int) -> str:
    return f"Assumes that no other build has other code from line {line} on: of that it is not known what threads do."


def _first_line(session: Session, fix: Fix) -> int:
    """The first line of the functions that a repair edits from which on another build may have other code."""
    functions = (session.trees.at(e.span.path, e.span.start_offset) for e in fix.edits)
    found = ((f.path, f.start, f.end) for f in functions if f is not None)
    lines = (first_line(session.trees.texts[path], start, end) for path, start, end in dict.fromkeys(found))
    return min((line for line in lines if line), default=0)


def _has(build: OtherBuild, session: Session, fix: Fix) -> bool:
    """Whether the same repair is found in another build."""
    try:
        analysis = session.engine.still(build.analysis, session.stop)
        there = Session(session.engine, analysis, session.stop, oracle=build.judge.oracle)
    except ParseFailure:
        return False
    answers = (repaired(there, group) for group in _groups(there, fix))
    return any(isinstance(answer, Fix) and answer.edits == fix.edits for answer in answers)


def _groups(session: Session, fix: Fix) -> Iterable[str]:
    return [group for group in fix.groups if session.kernels_with(group)][:_GROUPS]
