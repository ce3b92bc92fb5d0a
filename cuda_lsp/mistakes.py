"""What is one mistake to the user: findings grouped over kernels, instantiations, launches and units.

Findings with the same code and group are one mistake, wherever they were found. The loudest counts, results about the
current text before older ones. `unknown` and `race-free` are no mistakes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from analyzers.model import Access, ContextResult, Finding, LoopTurn, Severity, Verdict
from cuda_lsp.unit_view import ShownKernel, UnitView

_LOUDEST_FIRST = {severity: rank for rank, severity in enumerate(Severity)}

SeverityOf = Callable[[Verdict, Severity], Severity | None]
"""How loudly a finding speaks by the user's wish, given its own severity; None: not at all."""


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


def mistakes(views: Iterable[UnitView], path: str, severity_of: SeverityOf) -> list[Mistake]:
    """The mistakes that lie in a file, in the order of the text."""
    groups: dict[tuple[Verdict, str], list[Occurrence]] = {}
    views = list(views)
    needed = {group for view in views for shown in view.kernels.values() for group in shown.result.needed}
    for view in views:
        for shown in view.kernels.values():
            for context, finding in shown.findings:
                if finding.span.path == path and finding.group not in needed:
                    groups.setdefault((finding.code, finding.group), []).append(Occurrence(shown, context, finding))
    found: list[Mistake] = []
    for (code, group), occurrences in groups.items():
        ordered = sorted(occurrences, key=lambda each: (each.shown.stale, _LOUDEST_FIRST[each.finding.severity]))
        severity = severity_of(code, min((each.finding.severity for each in ordered), key=_LOUDEST_FIRST.__getitem__))
        if severity is not None:
            kernels = {id(each.shown): each.shown for each in occurrences}
            contexts = sum(len(shown.result.contexts) for shown in kernels.values())
            found.append(Mistake(code, group, severity, tuple(ordered), contexts))
    return sorted(found, key=lambda mistake: (mistake.first.finding.span, mistake.code.rank, mistake.group))


def barrier_role(finding: Finding, access: Access) -> str:
    """What the thread of one side of a barrier finding does there, as a verb."""
    if access is finding.accesses[0]:
        return "waits at"
    return "returned before" if finding.code is Verdict.BARRIER_AFTER_EXIT else "does not reach"


def describe_turn(turn: LoopTurn, where: str) -> str:
    """In which turn of which loop, given where that is: `with t = 0 in the loop at line 7`."""
    if turn.value is not None:
        return f"with {turn.variable} = {turn.value} in the loop at {where}"
    variable = f" over {turn.variable}" if turn.variable is not None else ""
    return f"in iteration {turn.iteration} of the loop{variable} at {where}"
