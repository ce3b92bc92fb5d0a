"""The kernels that have to do with a document, and what is said of them in a few words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from analyzers.ir.names import base_word
from analyzers.model import ContextResult, Finding, Verdict

if TYPE_CHECKING:
    from cuda_lsp.adoption.muting import How, Muted, SeverityOf
    from cuda_lsp.session import Session
    from cuda_lsp.unit_view import ShownKernel, UnitView

_NOUNS = {
    Verdict.DATA_RACE: ("race", "races"),
    Verdict.BARRIER_DIVERGENCE: ("barrier divergence", "barrier divergences"),
    Verdict.ASSERTION_FAILURE: ("failing assertion", "failing assertions"),
    Verdict.LANE_NOT_IN_MASK: ("mask without a lane that comes", "masks without a lane that comes"),
    Verdict.MISSING_LANES: ("exchange with missing lanes", "exchanges with missing lanes"),
    Verdict.POSSIBLE_DATA_RACE: ("possible race", "possible races"),
    Verdict.BENIGN_RACE: ("benign race", "benign races"),
    Verdict.POSSIBLE_ASSERTION_FAILURE: ("assertion that can fail", "assertions that can fail"),
    Verdict.REDUNDANT_BARRIER: ("redundant barrier", "redundant barriers"),
    Verdict.BARRIER_AFTER_EXIT: ("barrier after an exit", "barriers after an exit"),
}
_HARMLESS = frozenset({Verdict.REDUNDANT_BARRIER, Verdict.BARRIER_AFTER_EXIT})
_MAXIMAL_REASON = 72
_NOTHING = "nothing to report"
_HIDDEN: dict[How, str] = {"suppressed": " suppressed", "known": " in the baseline"}

Judged = tuple["ShownKernel", Sequence[ContextResult]]
"""A kernel and those of its contexts that are meant."""
MutedBy = Callable[["ShownKernel", Finding], "Muted | None"]


def base_name(name: str) -> str:
    """A kernel's name without template arguments."""
    return name.partition("<")[0]


class ExactNames:
    """Names by which the command line finds one kernel of a unit and no other."""

    def __init__(self) -> None:
        self._alike: dict[int, dict[str, list[ShownKernel]]] = {}
        """By the identity of a view, the kernels of each word: only these are decoded."""

    def of(self, view: UnitView, shown: ShownKernel) -> str:
        """Its name with template arguments; where kernels of other namespaces or parameters have the same, the
        linker's."""
        words = self._alike.get(id(view))
        if words is None:
            words = self._alike[id(view)] = {}
            for kernel in view.kernels.values():
                words.setdefault(base_word(kernel.mangled), []).append(kernel)
        alike = words.get(base_word(shown.mangled), ())
        name = shown.result.name
        return name if sum(kernel.result.name == name for kernel in alike) <= 1 else shown.mangled


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


def summary(judged: Sequence[Judged], severity_of: SeverityOf, muted: MutedBy) -> str:
    """`2 races, 1 redundant barrier`, `race-free for 3 launches`, `unknown: it calls what is not in sight`, `1 race
    suppressed`."""
    found = _counted(judged, severity_of, lambda shown, finding: muted(shown, finding) is None)
    hidden = [
        words
        for how, name in _HIDDEN.items()
        for words in _worded(_counted(judged, severity_of, partial(_is_muted, muted, how)), name)
    ]
    contexts = [context for _, some in judged for context in some]
    undecided = [context for context in contexts if context.reasons]
    serious = [code for code in found if code not in _HARMLESS]
    words = [*_worded(found), *hidden]
    if serious:
        return ", ".join([*words, *(["partly unknown"] if undecided else [])])
    if not undecided:
        proved = _proved(contexts)
        return ", ".join([*([proved] if proved != _NOTHING or not hidden else []), *words])
    reason = undecided[0].reasons[0].text
    shown = reason if len(reason) <= _MAXIMAL_REASON else reason[: _MAXIMAL_REASON - 1].rstrip() + "…"
    decided = [context for context in contexts if not context.reasons]
    text = f"{_proved(decided)}, else unknown: {shown}" if decided else f"unknown: {shown}"
    return ", ".join([text, *hidden])


def _is_muted(muted: MutedBy, how: How, shown: ShownKernel, finding: Finding) -> bool:
    mute = muted(shown, finding)
    return mute is not None and mute.how == how


def _worded(counts: dict[Verdict, int], behind: str = "") -> list[str]:
    return [f"{number} {_NOUNS[code][number != 1]}{behind}" for code, number in counts.items()]


def _counted(
    judged: Sequence[Judged], severity_of: SeverityOf, meant: Callable[[ShownKernel, Finding], bool]
) -> dict[Verdict, int]:
    """How many mistakes there are of each kind, worst first; what the user does not want to hear of is left out."""
    groups: dict[Verdict, set[str]] = {}
    needed = {group for shown, _ in judged for group in shown.result.needed}
    for shown, contexts in judged:
        for context in contexts:
            for finding in context.findings:
                wanted = severity_of(finding.code, finding.severity) is not None
                if finding.code in _NOUNS and wanted and finding.group not in needed and meant(shown, finding):
                    groups.setdefault(finding.code, set()).add(finding.group)
    return {code: len(groups[code]) for code in sorted(groups, key=lambda code: code.rank)}


def _proved(contexts: Iterable[ContextResult]) -> str:
    launches = list(contexts)
    free = {c.verdict for c in launches} <= {Verdict.RACE_FREE, *_HARMLESS}
    known = {launch.span or launch for c in launches if (launch := c.launch).source != "default"}
    if not free:
        # Something was found that the user has turned off.
        return _NOTHING
    if not known:
        return "race-free"
    return f"race-free for {len(known)} {'launch' if len(known) == 1 else 'launches'}"
