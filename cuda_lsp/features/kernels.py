"""The kernels that have to do with a document, and what is said of them in a few words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from analyzers.model import ContextResult, Verdict

if TYPE_CHECKING:
    from cuda_lsp.mistakes import SeverityOf
    from cuda_lsp.session import Session
    from cuda_lsp.unit_view import ShownKernel, UnitView

_NOUNS = {
    Verdict.DATA_RACE: ("race", "races"),
    Verdict.BARRIER_DIVERGENCE: ("barrier divergence", "barrier divergences"),
    Verdict.ASSERTION_FAILURE: ("failing assertion", "failing assertions"),
    Verdict.POSSIBLE_DATA_RACE: ("possible race", "possible races"),
    Verdict.BENIGN_RACE: ("benign race", "benign races"),
    Verdict.POSSIBLE_ASSERTION_FAILURE: ("assertion that can fail", "assertions that can fail"),
    Verdict.REDUNDANT_BARRIER: ("redundant barrier", "redundant barriers"),
    Verdict.BARRIER_AFTER_EXIT: ("barrier after an exit", "barriers after an exit"),
}
_HARMLESS = frozenset({Verdict.REDUNDANT_BARRIER, Verdict.BARRIER_AFTER_EXIT})
_MAXIMAL_REASON = 72

Judged = tuple["ShownKernel", Sequence[ContextResult]]
"""A kernel and those of its contexts that are meant."""


def base_name(name: str) -> str:
    """A kernel's name without template arguments."""
    return name.partition("<")[0]


def is_meant(shown: ShownKernel, name: str) -> bool:
    return name in (shown.result.name, shown.mangled, base_name(shown.result.name))


def of_document(session: Session, path: str) -> Iterator[tuple[UnitView, ShownKernel]]:
    """Kernels that a file defines, launches, or holds code of, and all of a unit whose main file it is. A kernel that
    several units have is given once."""
    seen: set[tuple[str, str, int]] = set()
    for view in tuple(session.views.values()):
        for shown in tuple(view.kernels.values()):
            result = shown.result
            near = view.path == path or path in result.files or path == result.extent.path
            if near or any(c.launch.span is not None and c.launch.span.path == path for c in result.contexts):
                key = (shown.mangled, result.extent.path, result.extent.start_offset)
                if key not in seen:
                    seen.add(key)
                    yield view, shown


def edited_since(shown: ShownKernel) -> bool:
    """Whether the kernel's code was edited since the text that the result is about."""
    result = shown.result
    for path, anchor in shown.anchors.items():
        if path == result.extent.path:
            low, high = result.extent.start_offset, result.extent.end_offset
            if any(start < high and end > low for start, end, _, _ in anchor.map.edits):
                return True
        elif path in result.files and not anchor.map.is_identity:
            return True
    return False


def summary(judged: Sequence[Judged], severity_of: SeverityOf) -> str:
    """`2 races, 1 redundant barrier`, `race-free for 3 launches`, `unknown: it calls what is not in sight`."""
    found = _counted(judged, severity_of)
    contexts = [context for _, some in judged for context in some]
    undecided = [context for context in contexts if context.reasons]
    serious = [code for code in found if code not in _HARMLESS]
    words = [f"{number} {_NOUNS[code][number != 1]}" for code, number in found.items()]
    if serious:
        return ", ".join([*words, *(["partly unknown"] if undecided else [])])
    if not undecided:
        return ", ".join([_proved(contexts), *words])
    reason = undecided[0].reasons[0].text
    shown = reason if len(reason) <= _MAXIMAL_REASON else reason[: _MAXIMAL_REASON - 1].rstrip() + "…"
    decided = [context for context in contexts if not context.reasons]
    return f"{_proved(decided)}, else unknown: {shown}" if decided else f"unknown: {shown}"


def _counted(judged: Sequence[Judged], severity_of: SeverityOf) -> dict[Verdict, int]:
    """How many mistakes there are of each kind, worst first; what the user does not want to hear of is left out."""
    groups: dict[Verdict, set[str]] = {}
    needed = {group for shown, _ in judged for group in shown.result.needed}
    for _, contexts in judged:
        for context in contexts:
            for finding in context.findings:
                wanted = severity_of(finding.code, finding.severity) is not None
                if finding.code in _NOUNS and wanted and finding.group not in needed:
                    groups.setdefault(finding.code, set()).add(finding.group)
    return {code: len(groups[code]) for code in sorted(groups, key=lambda code: code.rank)}


def _proved(contexts: Iterable[ContextResult]) -> str:
    launches = list(contexts)
    free = {c.verdict for c in launches} <= {Verdict.RACE_FREE, *_HARMLESS}
    known = {launch.span or launch for c in launches if (launch := c.launch).source != "default"}
    if not free:
        # Something was found that the user has turned off.
        return "nothing to report"
    if not known:
        return "race-free"
    return f"race-free for {len(known)} {'launch' if len(known) == 1 else 'launches'}"
