"""What is one mistake to the user: findings grouped over kernels, instantiations, launches and units.

Findings with the same code and group are one mistake, wherever they were found. The loudest counts, results about the
current text before older ones. `unknown` and `race-free` are no mistakes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from analyzers.model import Access, ContextResult, Finding, LoopTurn, Severity, Verdict
from cuda_lsp.adoption.muting import Muted, SeverityOf
from cuda_lsp.unit_view import ShownKernel

_LOUDEST_FIRST = {severity: rank for rank, severity in enumerate(Severity)}


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One finding, in one launch context of one kernel."""

    shown: ShownKernel
    context: ContextResult
    finding: Finding


@dataclass(frozen=True, slots=True)
class Mistake:
    """All occurrences of one mistake, the loudest first."""

    code: Verdict
    group: str
    severity: Severity
    occurrences: tuple[Occurrence, ...]
    contexts: int
    """How many launch contexts the kernels have in which it occurs."""

    @property
    def first(self) -> Occurrence:
        return self.occurrences[0]


class Grouping:
    """Puts the findings that lie in one file together, a kernel at a time."""

    def __init__(self, path: str, muted: Callable[[ShownKernel, Finding], Muted | None]) -> None:
        """`muted`: why a finding is not shown, if it is not."""
        self._path = path
        self._muted = muted
        self.muted: list[tuple[Occurrence, Muted]] = []
        self._groups: dict[tuple[Verdict, str], list[Occurrence]] = {}
        self._needed: set[str] = set()

    def add(self, shown: ShownKernel) -> None:
        if shown.result.needed and shown.lies_in(self._path):
            self._needed.update(shown.result.needed)
        for context, finding in shown.findings:
            if finding.span.path == self._path:
                occurrence = Occurrence(shown, context, finding)
                mute = self._muted(shown, finding)
                if mute is not None:
                    self.muted.append((occurrence, mute))
                else:
                    self._groups.setdefault((finding.code, finding.group), []).append(occurrence)

    def mistakes(self, severity_of: SeverityOf) -> list[Mistake]:
        """In the order of the text."""
        found: list[Mistake] = []
        for (code, group), occurrences in self._groups.items():
            if group in self._needed:
                continue
            ordered = sorted(occurrences, key=lambda each: (each.shown.stale, _LOUDEST_FIRST[each.finding.severity]))
            loudest = min((each.finding.severity for each in ordered), key=_LOUDEST_FIRST.__getitem__)
            severity = severity_of(code, loudest)
            if severity is not None:
                kernels = {id(each.shown): each.shown for each in occurrences}
                contexts = sum(len(shown.result.contexts) for shown in kernels.values())
                found.append(Mistake(code, group, severity, tuple(ordered), contexts))
        return sorted(found, key=lambda mistake: (mistake.first.finding.span, mistake.code.rank, mistake.group))


def barrier_role(finding: Finding, access: Access) -> str:
    """What the thread of one side of a barrier finding does there, as a verb."""
    if finding.code is Verdict.LANE_NOT_IN_MASK:
        return "comes to"
    if access is finding.accesses[0]:
        return "waits at"
    return "returned before" if finding.code is Verdict.BARRIER_AFTER_EXIT else "does not reach"


def describe_turn(turn: LoopTurn, where: str) -> str:
    """In which turn of which loop, given where that is: `with t = 0 in the loop at line 7`."""
    if turn.value is not None:
        return f"with {turn.variable} = {turn.value} in the loop at {where}"
    variable = f" over {turn.variable}" if turn.variable is not None else ""
    return f"in iteration {turn.iteration} of the loop{variable} at {where}"
