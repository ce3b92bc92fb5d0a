"""What a repair takes for granted about other builds of its file, where those have other code around it.

Takes a session and a repair that it has proved, gives the repair with what was not proved for other builds. What
inserts or removes barriers is checked there as it is (`elsewhere`), if what they compile is there. What rewrites code
keeps what threads do in the code that it has read: for another build that is so if the same repair is found there, or
if it compiles nothing of what is edited. Kernels that only another build has are not known.
"""

from __future__ import annotations

from collections.abc import Iterable

from analyzers.frontend.parse import ParseFailure
from analyzers.model import Fix
from quickfix.elsewhere import OtherBuild
from quickfix.group import repaired
from quickfix.naming import names_of_definition
from quickfix.other_builds import first_line, is_skipped, names_of_function, used_otherwise
from quickfix.session import Session
from quickfix.wording import granting

REWRITING = frozenset({"restructure", "use-atomic"})
"""Kinds of repairs that write anew what was read: of which type what is updated is, say."""
_GROUPS = 2
"""Groups of findings by which the same repair is looked for in another build."""


def for_every_build(session: Session, fix: Fix) -> Fix:
    """The repair, with what it takes for granted. `session`: of the text that it edits."""
    return granting(fix, _granted(session, fix))


def _granted(session: Session, fix: Fix) -> str:
    """Empty where there is nothing."""
    if fix.kind == "assert-host":
        return ""
    known = session.other_builds.of(session.touched((e.span.path, e.span.start_offset) for e in fix.edits))
    if known.granted:
        return known.granted
    if line := _used_otherwise(session, fix):
        return f"Assumes that no other build has other code from line {line} on: it has what changes there, too."
    builds = [b for b in known.builds if not (b.is_launched or _is_skipped(b, session, fix))]
    if fix.kind == "restructure":
        # What defines names may be those of builds that this text is not made for.
        builds, line = [b for b in builds if not b.reading.optional], _first_line(session, fix)
    elif fix.kind == "use-atomic":
        # What is updated may be of another type, wherever that is defined.
        line = builds[0].reading.where[1] if builds else 0
    if line and ((session.is_edited and known.builds) or not all(_has(build, session, fix) for build in builds)):
        return _unread(line)
    return ""


def _used_otherwise(session: Session, fix: Fix) -> int:
    """The first line on which another build may use a function that a repair edits, or such a macro."""
    texts = session.texts
    places = [(e.span.path, e.span.start_offset) for e in fix.edits]
    functions = [f for place in places if (f := session.trees.at(*place)) is not None]
    names = {name for f in functions for name in names_of_function(texts[f.path], f.start, f.name.encode())}
    names |= {name for path, at in places for name in names_of_definition(texts.get(path, b""), at)}
    names -= {k.kernel.base_name.encode() for k in session.kernels}
    return used_otherwise(texts, names, session.ranges_run())[1] if names else 0


def _unread(line: int) -> str:
    return f"Assumes that no other build has other code from line {line} on: of that it is not known what threads do."


def _is_skipped(build: OtherBuild, session: Session, fix: Fix) -> bool:
    """Whether another build compiles nothing of what a repair edits."""
    places = {(e.span.path, at) for e in fix.edits for at in (e.span.start_offset, e.span.end_offset)}
    texts = session.texts
    return all(is_skipped(texts[path], build.reading.choice, at) for path, at in places)


def _first_line(session: Session, fix: Fix) -> int:
    """The first line of the functions that a repair edits from which on another build may have other code."""
    functions = (session.trees.at(e.span.path, e.span.start_offset) for e in fix.edits)
    found = ((f.path, f.start, f.end) for f in functions if f is not None)
    lines = (first_line(session.trees.texts[path], start, end) for path, start, end in dict.fromkeys(found))
    return min((line for line in lines if line), default=0)


def _has(build: OtherBuild, session: Session, fix: Fix) -> bool:
    """Whether the same repair is found in another build."""
    try:
        oracle = build.judge.oracle
        analysis = oracle.engine.still(build.analysis, session.stop)
        there = Session(oracle.engine, analysis, session.stop, oracle=oracle)
    except ParseFailure:
        return False
    answers = (repaired(there, group) for group in _groups(there, fix))
    return any(isinstance(answer, Fix) and answer.edits == fix.edits for answer in answers)


def _groups(session: Session, fix: Fix) -> Iterable[str]:
    return [group for group in fix.groups if session.kernels_with(group)][:_GROUPS]
