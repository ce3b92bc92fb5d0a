"""Repairs of headers in the other units that include them.

Takes a repair that was proved in one unit, gives it with what was seen of the others: checked there, refused where it
is wrong there, or with what it takes for granted, because some are not known or could not be judged. The same for the
unit itself where it is compiled by several commands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from os.path import normpath
from pathlib import Path
from typing import Final, Literal

from analyzers.engine import Engine
from analyzers.frontend.flags import CompileFlags
from analyzers.frontend.parse import ParseFailure
from analyzers.ir.kernel import Instances
from analyzers.model import Fix, FixRefusal, TextEdit, Verdict
from analyzers.requests import CheckRequest, Including
from quickfix.callers import objection
from quickfix.every_build import REWRITING
from quickfix.file_names import FileNames
from quickfix.group import repaired
from quickfix.linked_callers import linked_names
from quickfix.oracle import SearchSpentError, Stop
from quickfix.session import Session
from quickfix.wording import granting

_GROUPS: Final = 2
"""Groups of findings by which the same repair is looked for in another unit."""
_KERNEL: Final = "__global__"
_NOT_FOUND: Final = "file not found"
"""How errors end of which it is known what they cost: kernels that need what is missing are unknown."""
_NAMED: Final = 4
"""Units that a note names."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """What became of a repair in one unit; `why`: a clause."""

    kind: Literal["right", "untouched", "wrong", "unknown"]
    unit: str
    why: str = ""
    command: str = ""
    """For the unit itself by another command: how that differs, `with -DWIDE`."""


class OtherUnits:
    """Those that include what a unit includes. They are checked beside it."""

    def __init__(self, engine: Engine, stop: Stop) -> None:
        self._engine = engine
        self._stop = stop
        self._apart: Engine | None = None

    def judged(self, request: CheckRequest, fix: Fix, instances: Instances) -> Fix | FixRefusal:
        """A repair for a unit, if it is wrong in no other one. `instances`: what the unit's functions are instances
        for. Raises `CancelledError` when stopped."""
        if fix.kind == "assert-host":
            return fix
        edited = sorted({e.span.path for e in fix.edits})
        shared = [path for path in edited if path != request.path]
        # The unit's own file may be included, too.
        names = linked_names(request, fix.edits) if request.including is not None else ()
        known = request.including(edited, names) if request.including is not None else Including()
        if not shared and not known.count and not known.command_count and not known.callers:
            return fix
        answers: list[_Answer] = []
        for answer in self._answers(known, request, fix, instances):
            if answer.kind == "wrong":
                files = edited if answer.command else shared or edited
                text = f"The repair would edit {_names(files)}, which {_said(answer)}, too,"
                return FixRefusal(f"{text} and be wrong there: {answer.why}.", next(iter(fix.groups), ""))
            answers.append(answer)
        fix = replace(fix, beyond=fix.beyond or request.including is not None)
        if checked := list(dict.fromkeys(a.unit for a in answers if a.kind == "right" and not a.command)):
            units = "another unit that includes" if len(checked) == 1 else f"{len(checked)} other units that include"
            fix = replace(fix, notes=(*fix.notes, f"Checked in {units} {_names(edited)}: {_listed(checked)}."))
        if checked := [a.command for a in answers if a.kind == "right" and a.command]:
            named = _listed_words(checked)
            fix = replace(fix, notes=(*fix.notes, f"Checked for {_names([request.path])} compiled {named}, too."))
        unjudged = [a for a in answers if a.kind == "unknown"]
        fix = granting(fix, _granted_of_commands(request.path, known, [a for a in unjudged if a.command]))
        fix = granting(fix, _granted_of_callers(known))
        if not shared and not known.count:
            return fix
        return granting(fix, _granted(shared or edited, known, [a for a in unjudged if not a.command], bool(shared)))

    def suit(self, request: CheckRequest, edits: Sequence[TextEdit], instances: Instances, *, inserting: bool) -> bool:
        """Whether edits make nothing worse in any other unit, where each of the repairs that they come of is right by
        itself. `inserting`: they insert barriers and nothing else. Raises like `judged`."""
        if request.including is None:
            return True
        fix = Fix("", "insert-barrier" if inserting else "move-barrier", tuple(edits), (), "")
        known = request.including(sorted({e.span.path for e in edits}), ())
        if known.command_count > len(known.commands):
            return False
        found = self._answers(known, request, fix, instances)
        return all(answer.kind in ("right", "untouched") for answer in found)

    def _answers(self, known: Including, request: CheckRequest, fix: Fix, instances: Instances) -> Iterator[_Answer]:
        """What becomes of a repair in each unit that reads something of what is edited, and by each command."""
        for unit in known.requests:
            answer = self._in_unit(_as_edited(unit, request), fix, instances)
            if answer is not None:
                yield answer
        for unit in known.commands:
            answer = self._in_unit(_as_edited(unit, request), fix, instances)
            if answer is not None:
                yield replace(answer, command=_command(unit.flags, request.flags))

    def _in_unit(self, unit: CheckRequest, fix: Fix, instances: Instances) -> _Answer | None:
        """None where the unit reads nothing of what is edited."""
        if self._apart is None:
            self._apart = self._engine.apart()
        try:
            return self._found(self._apart, unit, fix, instances)
        except ParseFailure:
            return _Answer("unknown", unit.path, "could not be read")
        except SearchSpentError:
            return _Answer("unknown", unit.path, "takes too much work")

    def _found(self, engine: Engine, unit: CheckRequest, fix: Fix, instances: Instances) -> _Answer | None:
        """Raises ParseFailure and SearchSpentError."""
        analysis = engine.inspect(unit, (), self._stop)
        own = {*analysis.result.dependencies} - {*analysis.result.linked}
        # What a command includes may have a name that is relative to where it runs.
        read = {unit.path, *(normpath(Path(unit.flags.directory or "/", path)) for path in own)}
        fix = replace(fix, edits=tuple(e for e in fix.edits if e.span.path in read))
        if not fix.edits:
            return None
        has_kernels = bool(analysis.result.kernels) or _KERNEL in unit.text
        if has_kernels and not all(issue.message.endswith(_NOT_FOUND) for issue in analysis.result.syntax):
            return _Answer("unknown", unit.path, "does not compile here")
        session, places = Session(engine, analysis, self._stop), [(e.span.path, e.span.start_offset) for e in fix.edits]
        touched = session.touched(places)
        kernels = [k for k in analysis.result.kernels if k.mangled in touched]
        if not kernels and len(session.reached_from(places)) > len(places):
            return _Answer("unknown", unit.path, "uses a macro that changes outside of kernels")
        if not kernels:
            return _Answer("untouched", unit.path)
        if (unknown := next((k.name for k in kernels if k.verdict is Verdict.UNKNOWN), None)) is not None:
            return _Answer("unknown", unit.path, f"runs it in `{unknown}`, of which not all is known")
        analysis = engine.inspect(unit, sorted({k.name for k in kernels}), self._stop)
        session = Session(engine, analysis, self._stop).reading(e.span.path for e in fix.edits)
        if why := objection(session, fix, instances):
            return _Answer("wrong", unit.path, why)
        if fix.kind in REWRITING and not _is_found(session, fix):
            return _Answer("unknown", unit.path, "may read other code there")
        return _Answer("right", unit.path)


def _as_edited(unit: CheckRequest, request: CheckRequest) -> CheckRequest:
    """Another unit with the texts of a request."""
    texts = {**unit.unsaved, **request.unsaved, request.path: request.text}
    text = texts.pop(unit.path, unit.text)
    # Sure races stay sure ones: what is compared is the same.
    options = replace(unit.options, redundancy=False, every_pair=False)
    return replace(unit, text=text, unsaved=texts, options=options)


def _is_found(session: Session, fix: Fix) -> bool:
    """Whether the same repair is found in another unit, so that what it has read means the same there."""
    groups = [group for group in fix.groups if session.kernels_with(group)][:_GROUPS]
    return any(isinstance(answer := repaired(session, group), Fix) and answer.edits == fix.edits for group in groups)


def _granted(shared: Sequence[str], known: Including, unjudged: Sequence[_Answer], header: bool) -> str:
    """What a repair takes for granted of units in which it was not judged. There may always be some that include a
    `header`: in other folders, by names that macros make, or as code that is built elsewhere."""
    if known.count > len(known.requests):
        why = f"{known.count} other units include it, too many to check"
    elif unjudged:
        more = f", and {len(unjudged) - 1} more" if len(unjudged) > 1 else ""
        why = f"{_names([unjudged[0].unit])} includes it and {unjudged[0].why}{more}"
    elif header:
        why = "others may include it"
    else:
        return ""
    return f"Assumes that no other unit runs what changes in {_names(shared)}: {why}."


def _granted_of_commands(path: str, known: Including, unjudged: Sequence[_Answer]) -> str:
    """What a repair takes for granted of the other commands by which its unit is compiled."""
    name = _names([path])
    if known.command_count > len(known.commands):
        return f"Assumes that it is right for {known.command_count} other commands of {name}, too many to check."
    if not unjudged:
        return ""
    more = f", and {len(unjudged) - 1} more" if len(unjudged) > 1 else ""
    return f"Assumes that it is right for {name} compiled {unjudged[0].command}, too, which {unjudged[0].why}{more}."


def _granted_of_callers(known: Including) -> str:
    """What a repair takes for granted of units that call what it changes by its name: they are checked without it."""
    if not known.callers:
        return ""
    name, path = known.callers[0]
    others = len({unit for _, unit in known.callers}) - 1
    more = f", and so {'do' if others > 1 else 'does'} {others} more" if others else ""
    return f"Assumes that it is right for the calls of `{name}` in other units: {_names([path])} declares it{more}."


def _said(answer: _Answer) -> str:
    return f"is compiled {answer.command}" if answer.command else f"{_names([answer.unit])} includes"


def _command(flags: CompileFlags, own: CompileFlags) -> str:
    """How another command differs from the one that a unit is checked by: `with -DWIDE`, `for sm_90`."""
    more, less = (_beside(a.arguments, b.arguments) for a, b in ((flags, own), (own, flags)))
    arch = f"for sm_{flags.arch}" if flags.arch != own.arch else ""
    words = (f"with {more}" if more else "", f"without {less}" if less and not more else "", arch)
    return " ".join(filter(None, words)) or "with its arguments in another order"


def _beside(arguments: Sequence[str], others: Sequence[str]) -> str:
    """The arguments that are not among the others, the first ones."""
    more = [argument for argument in arguments if argument not in others]
    return " ".join(more[:_NAMED]) + (" …" if len(more) > _NAMED else "")


def _names(paths: Sequence[str]) -> str:
    return " and ".join(map(FileNames("", paths).name, paths))


def _listed(units: Sequence[str]) -> str:
    return _listed_words(list(map(FileNames("", units).name, units)))


def _listed_words(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names) if more <= 0 else f"{', '.join(names[:_NAMED])} and {more} more"
