"""Which findings are kept out of sight, and why: a comment at the place, the severity `off`, or the baseline.

Takes findings and what the user wrote, gives a `Muted` or None. A verdict is never changed by it: what is muted was
found all the same, and a kernel in which everything is muted is not race-free.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from analyzers.model import ContextResult, Finding, KernelResult, Severity, SourceSpan, UnitResult, Verdict
from cuda_lsp.adoption.comments import CommentCode, CommentIssue, FileComments, Suppression, issue

How = Literal["suppressed", "off", "known"]
CommentsOf = Callable[[str], FileComments]
LineOf = Callable[[SourceSpan], "int | None"]
SeverityOf = Callable[[Verdict, Severity], "Severity | None"]
"""How loudly a finding speaks by the user's wish, given its own severity; None: not at all."""

_HARMLESS: Final = frozenset({Verdict.REDUNDANT_BARRIER, Verdict.BARRIER_AFTER_EXIT, Verdict.RACE_FREE})


@dataclass(frozen=True, slots=True)
class Muted:
    """Why a finding is not shown."""

    how: How
    suppression: Suppression | None = None

    @property
    def text(self) -> str:
        """In a few words."""
        if self.suppression is not None:
            return f"suppressed: {self.suppression.reason or 'no reason is given'}"
        return "in the baseline" if self.how == "known" else "switched off in the settings"


def first_line(span: SourceSpan) -> int:
    """The line of a span in the text that was analysed."""
    return span.start_line


def suppressions_of(
    kernel: KernelResult, finding: Finding, comments_of: CommentsOf, line_of: LineOf = first_line
) -> Iterator[Suppression]:
    """The comments that suppress a finding: at one of its accesses or at a call that leads there, at the signature of
    its kernel, or for the file of one of these. `line_of` says where a span is in the text that has the comments."""
    places = [finding.span, *(access.span for access in finding.accesses)]
    places += [call for access in finding.accesses for call in access.calls]
    for span in dict.fromkeys([*places, kernel.span]):
        comments = comments_of(span.path)
        line = line_of(span) if comments.suppressions else None
        if line is not None:
            for suppression in comments.suppressions:
                if suppression.covers(line) and finding.code in suppression.codes:
                    yield suppression


def standing(kernel: KernelResult, muted: Callable[[Finding], Muted | None]) -> Verdict | How:
    """What a kernel counts as: the worst of what is shown of it, or how the worst was muted when that leaves nothing
    worse than harmless. Never `race-free` because of something muted."""
    hidden: dict[Verdict, list[Muted]] = {}
    shown = {Verdict.UNKNOWN for context in kernel.contexts if context.reasons}
    for finding in findings_of(kernel):
        mute = muted(finding)
        if mute is None:
            shown.add(finding.code)
        else:
            hidden.setdefault(finding.code, []).append(mute)
    serious = [mute for code, mutes in hidden.items() if code not in _HARMLESS for mute in mutes]
    worst = min(shown, key=lambda verdict: verdict.rank, default=Verdict.RACE_FREE)
    if serious and worst not in _HARMLESS:
        return worst
    mutes = serious or ([] if kernel.verdict in shown else hidden.get(kernel.verdict, []))
    hows: Sequence[How] = ("suppressed", "known", "off")
    return next((how for how in hows if any(mute.how == how for mute in mutes)), kernel.verdict)


def findings_of(kernel: KernelResult) -> Iterator[Finding]:
    for context in kernel.contexts:
        yield from context.findings


def unused(
    comments: FileComments,
    used: Container[tuple[Suppression, Verdict]],
    unit: UnitResult,
    path: str,
    not_asked: Container[Verdict] = (),
) -> Iterator[CommentIssue]:
    """The suppressions of a file that suppress nothing in a unit that was analysed in full. Nothing is said where that
    is not sure: kernels that are unknown, code that was not compiled, codes that nobody looked for."""
    if unit.failure is not None or unit.syntax:
        return
    for suppression in comments.suppressions:
        if suppression.conditional or not _is_decided(suppression, unit, path):
            continue
        codes = [code for code in suppression.codes if (suppression, code) not in used and code not in not_asked]
        if codes:
            names = " or ".join(code.value for code in codes)
            where = "in this file" if suppression.whole_file else "here"
            unused_ = issue(CommentCode.UNUSED, f"There is no {names} {where} to ignore", suppression.span)
            hint, whole = _found_instead(suppression, unit, path), len(codes) == len(suppression.codes)
            yield replace(unused_, hint=hint, needless=tuple(codes), is_needless=whole)


def agreed(by_unit: Sequence[Iterable[CommentIssue]]) -> Iterator[CommentIssue]:
    """The issues that all units have which read a file, with what any of them found instead."""
    sets = [set(issues) for issues in by_unit]
    hints = {issue_: issue_.hint for issues in sets for issue_ in issues if issue_.hint}
    for common in set[CommentIssue].intersection(*sets):
        hint = hints.get(common, "")
        yield replace(common, message=common.message + (f": what is found here is {hint}" if hint else ""), hint="")


def _found_instead(suppression: Suppression, unit: UnitResult, path: str) -> str:
    """The codes of the findings at the place that the comment does not name; of a whole file it would be too many."""
    if suppression.whole_file:
        return ""
    codes = {
        finding.code
        for kernel in unit.kernels
        for finding in findings_of(kernel)
        for span in (finding.span, *(access.span for access in finding.accesses))
        if finding.code not in suppression.codes and span.path == path and suppression.covers(span.start_line)
    }
    return " and ".join(code.value for code in sorted(codes, key=lambda code: code.rank))


def _is_decided(suppression: Suppression, unit: UnitResult, path: str) -> bool:
    """Whether everything is known of the code that a suppression is about."""
    if any(skipped.span is not None and skipped.span.path == path for skipped in unit.skipped):
        return False
    around = [kernel for kernel in unit.kernels if kernel.extent.path == path and _touches(suppression, kernel)]
    concerned: Iterable[KernelResult] = around or unit.kernels
    return not any(context.reasons for kernel in concerned for context in kernel.contexts)


def _touches(suppression: Suppression, kernel: KernelResult) -> bool:
    if suppression.whole_file:
        return False
    first, last = suppression.lines
    return first <= kernel.extent.end_line and kernel.extent.start_line <= last


def without_muted(
    unit: UnitResult, muted: Callable[[KernelResult, Finding], Muted | None], severity_of: SeverityOf
) -> UnitResult:
    """A unit with the findings that are shown only, as loud as the user wants them. Verdicts stay what they are."""

    def shown(kernel: KernelResult, context: ContextResult) -> ContextResult:
        kept = [
            replace(finding, severity=severity_of(finding.code, finding.severity) or finding.severity)
            for finding in context.findings
            if muted(kernel, finding) is None
        ]
        return replace(context, findings=tuple(kept))

    return replace(
        unit,
        kernels=tuple(
            replace(kernel, contexts=tuple(shown(kernel, context) for context in kernel.contexts))
            for kernel in unit.kernels
        ),
    )
