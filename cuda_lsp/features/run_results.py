"""What runs showed: the final word on a finding, in its diagnostic and its hover, and diagnostics for the rest.

What was confirmed, and what only a run saw, has the source ``cuda-lsp (run)``. A run speaks of lines of the text that
it was given. They move along with the edits, and are gone when the kernel means something else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from lsprotocol import types

from analyzers.coordinates import written
from analyzers.model import Verdict
from cuda_lsp import documentation
from cuda_lsp.features.diagnostics import range_json
from cuda_lsp.positions import LineIndex
from cuda_lsp.running.wording import stuck
from cuda_lsp.runs import RunOutcome, Shown, not_confirmed, trouble
from gpu_runner.request import FaultKind, Place, RunAccess, RunFault, RunRace

if TYPE_CHECKING:
    from cuda_lsp.mistakes import Mistake
    from cuda_lsp.session import Session
    from cuda_lsp.unit_view import ShownKernel

SOURCE: Final = "cuda-lsp (run)"
_ERROR, _INFORMATION = 1, 3
_VERBS: Final = {"read": "read", "write": "written", "atomic": "accessed atomically", "barrier": "reached"}
CODES: Final[Mapping[FaultKind | Literal["deadlock"], str]] = {
    "assertion": Verdict.ASSERTION_FAILURE.value,
    "divergent-barrier": Verdict.BARRIER_DIVERGENCE.value,
    "out-of-bounds": "out-of-bounds",
    "misaligned": "misaligned",
    "uninitialised": "uninitialised",
    "lane-not-in-mask": Verdict.LANE_NOT_IN_MASK.value,
    "undefined-shuffle": "undefined-shuffle",
    "trap": "trap",
    "unreachable": "trap",
    "deadlock": "deadlock",
}
"""The code of the diagnostic for each thing that a run sees beside races. Each code has a page."""


_Say = Callable[[RunAccess], str]
"""What a thread did, in words."""


@dataclass(frozen=True, slots=True)
class FinalWord:
    """What became of a finding that was run."""

    text: str
    is_confirmed: bool
    is_race: bool
    """Two threads raced, with values that differed."""
    related: list[dict[str, Any]]
    """Where the threads were, with the calls that led there."""


def final_word(session: Session, mistake: Mistake) -> FinalWord | None:
    """Of the runs whose kernels are still the same; None where the finding was not run."""
    for occurrence in mistake.occurrences:
        outcome = session.runs.of_group(occurrence.shown, mistake.group)
        if outcome is None:
            continue
        if not outcome.confirmed:
            return FinalWord(not_confirmed(outcome), False, False, [])
        shown, result = occurrence.shown, outcome.seen or outcome.result
        kept = session.runs.of_kernel(shown)
        accesses, told, say = _claim(outcome)
        where = f" in {_line_now(session, kept, accesses[0].places[0])}" if _is_placed(accesses) else ""
        sides = ", ".join(map(say, accesses)) + where
        related = _related(session, kept, accesses, say) if kept is not None else []
        is_race = any(not race.same_value for race in result.races)
        return FinalWord(
            f"Confirmed by a run on {outcome.where} ({outcome.title}): {sides}{told}", True, is_race, related
        )
    return None


def _is_placed(accesses: tuple[RunAccess, ...]) -> bool:
    return len(accesses) == 1 and bool(accesses[0].places)


def _claim(outcome: RunOutcome) -> tuple[tuple[RunAccess, ...], str, _Say]:
    """The accesses of a run that show the claim of a finding, what else there is to say, and how each is told."""
    result = outcome.seen or outcome.result
    if result.races:
        race = result.races[0]
        return (race.second, race.first), f", on {race.space} {race.address}", _side
    if result.faults:
        return _accesses(result.faults[0]), f": {result.faults[0].text}", _side
    return result.waiting[:2], f": {result.message}", stuck


def diagnostics_of(session: Session, path: str) -> Iterator[dict[str, Any]]:
    """Those of the runs whose kernels are still the same, in one file; what confirms a finding is told there."""
    for _, kept in session.runs.ran():
        told: set[object] = set()
        for outcome in kept.outcomes.values():
            if outcome.group is not None:
                told |= {key for _, key in _of_outcome(session, path, kept, outcome)}
        for outcome in kept.outcomes.values():
            for diagnostic, key in _of_outcome(session, path, kept, outcome):
                if key not in told:
                    told.add(key)
                    yield diagnostic


_Told = tuple[dict[str, Any], object]


def _of_outcome(session: Session, path: str, kept: Shown, outcome: RunOutcome) -> Iterator[_Told]:
    result = outcome.seen or outcome.result
    if outcome.group is not None and not outcome.confirmed:
        return
    runs = "1 run" if result.runs == 1 else f"{result.runs} runs"
    for race in result.races:
        sides = (race.second, race.first)
        code = Verdict.BENIGN_RACE if race.same_value else Verdict.DATA_RACE
        how = "both write the same value" if race.same_value else f"{race.scope}, seen {race.count} times in {runs}"
        message = f"A run saw a data race on {race.space} {race.address}: {_pair(race)} ({how})"
        where = _range(session, kept, path, race.second)
        severity = _INFORMATION if race.same_value else _ERROR
        if where is not None:
            lines = tuple(sorted(p.line for side in sides for p in side.places[:1]))
            yield _diagnostic(session, kept, where, severity, code.value, message, sides), (code, lines)
    for fault in result.faults:
        where = _range(session, kept, path, fault.access)
        if where is not None:
            message = f"A run saw: {fault.text}, {_side(fault.access)}"
            code = CODES[fault.kind]
            yield (
                _diagnostic(session, kept, where, _ERROR, code, message, _accesses(fault)),
                (code, _line(fault.access)),
            )
    for access in result.waiting[:1] if result.status == "deadlock" else ():
        where = _range(session, kept, path, access)
        if where is not None:
            message = f"A run did not end: {result.message}"
            yield (
                _diagnostic(session, kept, where, _ERROR, CODES["deadlock"], message, result.waiting, stuck),
                ("deadlock", _line(access)),
            )


def _accesses(fault: RunFault) -> tuple[RunAccess, ...]:
    return (fault.access,) if fault.other is None else (fault.access, fault.other)


def _line(access: RunAccess) -> int:
    return access.places[0].line if access.places else 0


def _diagnostic(
    session: Session,
    kept: Shown,
    where: types.Range,
    severity: int,
    code: str,
    message: str,
    accesses: tuple[RunAccess, ...],
    say: _Say | None = None,
) -> dict[str, Any]:
    found: dict[str, Any] = {
        "range": range_json(where),
        "severity": severity,
        "code": code,
        "source": SOURCE,
        "message": message,
    }
    base = session.settings_for_file(kept.snapshot.unit).documentation_url
    page = documentation.diagnostic_page(code, base)
    if session.client.features.code_description and page is not None:
        found["codeDescription"] = {"href": page}
    related = _related(session, kept, accesses, say or _side)
    if related and session.client.features.related_information:
        found["relatedInformation"] = related
    return found


def _related(session: Session, kept: Shown, accesses: tuple[RunAccess, ...], say: _Say) -> list[dict[str, Any]]:
    return [
        {"location": {"uri": session.documents.uri_of(one.path), "range": range_json(at)}, "message": text}
        for access in accesses
        for text, one in _stack(access, say)
        if (at := _place_range(session, kept, one)) is not None
    ]


def _stack(access: RunAccess, say: _Say) -> Iterator[tuple[str, Place]]:
    """Where an access stands and the calls that led there, each with what to say of it."""
    for number, one in enumerate(access.places):
        yield say(access) if number == 0 else "called from here", one


def _pair(race: RunRace) -> str:
    return f"{_side(race.second)}, {_side(race.first)}"


def _side(access: RunAccess) -> str:
    return f"{_VERBS.get(access.kind, 'ran')} by thread {written(access.thread)} of block {written(access.block)}"


# Places


def _range(session: Session, kept: Shown, path: str, access: RunAccess) -> types.Range | None:
    """At the innermost place of an access in a file that was open: what stands in the toolkit's headers was called from
    there."""
    open_ = next((one for one in access.places if one.path in kept.snapshot.texts), None)
    return _place_range(session, kept, open_) if open_ is not None and open_.path == path else None


def _place_range(session: Session, kept: Shown, one: Place) -> types.Range | None:
    """The access, or all from the column on to the end of the line, where that is now."""
    lines, starts = kept.lines(one.path)
    if not 1 <= one.line <= len(lines):
        return None
    line = lines[one.line - 1]
    before = starts[one.line - 1]
    first = max(one.column - 1, len(line) - len(line.lstrip()))
    length = one.marks[0].length if one.marks else max(1, len(line.rstrip()) - first)
    span = (before + first, before + first + length)
    anchor = kept.snapshot.anchors.get(one.path)
    document = session.documents.at(one.path)
    now = span if anchor is None or document is None else anchor.map.map(*span)
    if now is None:
        return None
    index = document.index if document is not None else LineIndex(kept.snapshot.texts[one.path][1])
    return index.range(*now, session.client.features.encoding)


def _line_now(session: Session, kept: Shown | None, one: Place) -> str:
    """The line of a place as it is now; as it was run where that is gone, and where nobody has the file open."""
    if kept is None or one.path not in kept.snapshot.texts:
        return f"line {one.line}"
    at = _place_range(session, kept, one)
    return f"line {at.start.line + 1}" if at is not None else f"line {one.line} of the text that was run"


# Hover


def hover_lines(session: Session, shown: ShownKernel, group: str) -> Iterator[tuple[str, int]]:
    """What runs say of a finding: lines and their levels; nothing where it was not run."""
    outcome, kept = session.runs.of_group(shown, group), session.runs.of_kernel(shown)
    if outcome is None:
        return
    result = outcome.seen or outcome.result
    runs = "1 run" if outcome.result.runs == 1 else f"{outcome.result.runs} runs"
    if not outcome.confirmed:
        yield not_confirmed(outcome), 0
        if outcome.result.status != "finished" and outcome.result.runs:
            yield trouble(outcome.result), 1
        return
    yield f"Confirmed by a run on {outcome.where} ({outcome.title}):", 0
    for race in result.races[:1]:
        yield from _sides(session, kept, (race.second, race.first), shown.result.span.path)
        yield f"on {race.space} `{race.address}`, seen {race.count} times in {runs}", 1
    for fault in result.faults[:1] if not result.races else ():
        yield fault.text, 1
        yield from _sides(session, kept, _accesses(fault), shown.result.span.path)
    if result.status == "deadlock":
        yield result.message, 1
        yield from _sides(session, kept, result.waiting[:2], shown.result.span.path, stuck)


def _sides(
    session: Session, kept: Shown | None, accesses: tuple[RunAccess, ...], path: str, say: _Say | None = None
) -> Iterator[tuple[str, int]]:
    say = say or _side
    for access in accesses:
        if not access.places:
            yield say(access), 1
        for number, (text, one) in enumerate(_stack(access, say)):
            line = _line_now(session, kept, one)
            where = line if one.path == path else f"{Path(one.path).name}, {line}"
            yield (f"{text}, {where}", 1) if number == 0 else (f"called from {where}", 2)
