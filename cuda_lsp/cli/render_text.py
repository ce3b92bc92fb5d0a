"""Results as text for a person: each mistake once, with the source lines of both accesses, then a summary.

Takes `UnitResult`s, the repairs on offer and a way to read source lines; gives strings. Findings of one place are shown
once for all launches and template instances in which they occur.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from analyzers.coordinates import written
from analyzers.model import (
    Access,
    ContextResult,
    FactNote,
    Finding,
    Fix,
    FixRefusal,
    KernelResult,
    LaunchSummary,
    Severity,
    SourceSpan,
    UnitResult,
    Verdict,
)
from cuda_lsp.adoption.comments import CommentIssue
from cuda_lsp.adoption.muting import How
from cuda_lsp.cli.inputs import from_here, shown
from cuda_lsp.cli.judging import JudgedUnit, Report
from cuda_lsp.cli.summary import STANDINGS, hidden_mistakes, kernel_counts, name_of
from cuda_lsp.cli.terminal import Role, Style, printable, width
from cuda_lsp.mistakes import barrier_role, describe_turn
from cuda_lsp.workspace.cuda_sources import told

Lines = Callable[[str], Sequence[str]]
"""The lines of a file; empty for one that cannot be read."""

_ROLES: dict[Severity, Role] = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFORMATION: "information",
    Severity.HINT: "hint",
}
_LABEL_WIDTH = 9
_MOST_GONE = 12
_HIDDEN: dict[How, str] = {
    "suppressed": "suppressed by comments",
    "known": "known from the baseline",
    "off": "switched off by severity",
}


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A finding in one launch context of one kernel instance."""

    finding: Finding
    context: ContextResult
    kernel: KernelResult


class TextRenderer:
    """Renders for one terminal; `verbose` shows assumptions, facts and clean kernels in full."""

    def __init__(self, style: Style, lines: Lines, verbose: bool) -> None:
        self._style = style
        self._lines = lines
        self._verbose = verbose

    def unit(self, unit: UnitResult, answers: Sequence[Fix | FixRefusal]) -> str:
        """Everything about one file; empty when there is nothing to say."""
        if unit.failure is not None:
            where = _place(unit.failure.span) if unit.failure.span else shown(unit.path)
            return f"{self._strong(where)}: {self._paint('error', 'not analysed')}: {unit.failure.text}\n"
        parts = [self._mistake(pairs, answers) for pairs in mistakes_of(unit)]
        parts += [text for text in map(self._quiet_kernel, unit.kernels) if text]
        parts += self._left_out(unit)
        return "\n".join(parts)

    def judged(self, judged: JudgedUnit) -> str:
        """What is shown of one file, what is wrong with its suppressions, and with -v what is not shown."""
        parts = [self.unit(judged.shown, judged.answers), self.issues(judged.issues)]
        if self._verbose:
            for kernel, finding, muted in hidden_mistakes([judged]):
                at = f" ({_place(muted.suppression.span)})" if muted.suppression is not None else ""
                text = self._paint("faint", printable(f"{muted.text}{at}"))
                parts.append(f"{self._strong(_place(finding.span))}: {finding.code.value} in {kernel.name}, {text}\n")
        return "\n".join(part for part in parts if part)

    def issues(self, issues: Iterable[CommentIssue]) -> str:
        """What is wrong with suppressions, a line each."""
        return "".join(
            f"{self._strong(_place(issue.span))}: {self._paint(_ROLES[issue.severity], issue.code.value)}: "
            f"{printable(issue.message)}\n"
            for issue in issues
        )

    def summary(self, units: Sequence[JudgedUnit], seconds: float) -> str:
        """One line over all files, and one about what is not shown."""
        counts = kernel_counts(units)
        total = sum(counts.values())
        failed = sum(judged.unit.failure is not None for judged in units)
        parts = [
            self._paint(_standing_role(standing), f"{counts[standing]} {name_of(standing)}")
            for standing in STANDINGS
            if counts[standing]
        ]
        if failed:
            parts.append(self._paint("error", f"{failed} {_plural(failed, 'file')} not analysed"))
        kernels = f"{total} {_plural(total, 'kernel')} in {len(units)} {_plural(len(units), 'file')}"
        line = f"{kernels}: {', '.join(parts) or 'nothing to check'} ({seconds:.1f} s)\n"
        return line + self._hidden(units)

    def _hidden(self, units: Sequence[JudgedUnit]) -> str:
        hidden = Counter(muted.how for _, _, muted in hidden_mistakes(units))
        if not hidden:
            return ""
        told = [f"{hidden[how]} {words}" for how, words in _HIDDEN.items() if hidden[how]]
        told[0] = told[0].replace(" ", f" {_plural(int(told[0].split()[0]), 'finding')} ", 1)
        listed = "" if self._verbose else " (listed with -v)"
        return f"not shown: {', '.join(told)}{listed}\n"

    def left_out(self, report: Report) -> str:
        """How many files below folders were not looked at, and why."""
        if not report.left_out:
            return ""
        number = sum(report.left_out.values())
        return f"left out unless named: {number} {_plural(number, 'file')} ({told(report.left_out)})\n"

    def gone(self, report: Report) -> str:
        """Which entries of the baseline no longer occur."""
        if not report.gone:
            return ""
        number = len(report.gone)
        names = ", ".join(shown(each.path) for each in report.baselines)
        head = f"no longer in the code {'is 1 entry' if number == 1 else f'are {number} entries'} of {names}"
        listed = report.gone if self._verbose else report.gone[:_MOST_GONE]
        lines = [f"  {shown(e.path)}: {e.code} in {e.kernel}: {printable(', '.join(e.accesses))}" for e in listed]
        more = [f"  and {number - len(listed)} more, listed with -v"] if number > len(listed) else []
        return "\n".join([f"baseline: {head}; --write-baseline drops them:", *lines, *more]) + "\n"

    # --- a finding ----------------------------------------------------------------------------------------------

    def _mistake(self, pairs: Sequence[Sequence[Occurrence]], answers: Sequence[Fix | FixRefusal]) -> str:
        """The first pair of places in full, the others in a line each."""
        group = pairs[0]
        first = group[0]
        finding = first.finding
        names = ", ".join(dict.fromkeys(o.kernel.name for o in group))
        code = self._paint(_ROLES[finding.severity], finding.code.value)
        head = f"{self._strong(_place(finding.span))}: {code} in {names}"
        parts = [head, f"  {printable(finding.message)}", "", *self._excerpts(finding), ""]
        details = [*self._details(group, answers), *(("also", _pair(other[0].finding)) for other in pairs[1:])]
        parts += [f"  {label:<{_LABEL_WIDTH}} {text}" for label, text in details]
        return "\n".join(parts) + "\n"

    def _details(self, group: Sequence[Occurrence], answers: Sequence[Fix | FixRefusal]) -> Iterator[tuple[str, str]]:
        first = group[0]
        finding, witness = first.finding, first.finding.witness
        if witness is not None:
            if witness.address:
                yield "cell", witness.address + (f" ({finding.space} memory)" if finding.space else "")
            values = "".join(f", {name} = {value}" for name, value in witness.parameters)
            yield "values", f"grid {written(witness.grid)}, block {written(witness.block)}{values}"
            if witness.data:
                yield "if", ", ".join(f"{name} = {value}" for name, value in witness.data)
        yield "launch", self._launches(group)
        for label, text in self._given(first.context):
            yield label, text
        for remark in finding.explanation:
            yield "note", printable(from_here(remark.text))
        if self._verbose:
            for text in first.context.assumptions:
                yield "assumes", from_here(text)
        elif first.context.assumptions:
            number = len(first.context.assumptions)
            yield "assumes", self._paint("faint", f"{number} {_plural(number, 'assumption')}, listed with -v")
        fix = fix_of(finding, answers)
        if fix is not None:
            cost = f" ({fix.cost})" if fix.cost and fix.cost not in fix.title else ""
            yield "fix", self._paint("good", fix.title) + cost
            for note in fix.notes:
                yield "", printable(from_here(note))
        elif (refusal := refusal_of(finding, answers)) is not None:
            yield "no fix", printable(from_here(refusal))

    def _launches(self, group: Sequence[Occurrence]) -> str:
        """The first launch in full, and in how many of the kernel's the finding occurs."""
        distinct = list(dict.fromkeys(o.context.launch for o in group))
        kernels = {o.kernel.mangled: o.kernel for o in group}
        total = len(dict.fromkeys(context.launch for kernel in kernels.values() for context in kernel.contexts))
        text = describe_launch(distinct[0])
        return text if total == 1 else f"{text}; in {len(distinct)} of {total} launches"

    def _given(self, context: ContextResult) -> Iterator[tuple[str, str]]:
        limit = len(context.facts) if self._verbose else 3
        for fact in context.facts[:limit]:
            yield "given", _fact(fact)
        if len(context.facts) > limit:
            yield "", self._paint("faint", f"and {len(context.facts) - limit} more, listed with -v")

    # --- source -------------------------------------------------------------------------------------------------

    def _excerpts(self, finding: Finding) -> Iterator[str]:
        """The lines of all accesses, in source order, with what happens marked below them."""
        places: dict[tuple[str, int], list[Access]] = {}
        for access in finding.accesses:
            places.setdefault((access.span.path, access.span.start_line), []).append(access)
        gutter = max(len(str(line)) for _, line in places)
        previous: tuple[str, int] | None = None
        for (path, line), accesses in places.items():
            if path != finding.span.path and (previous is None or previous[0] != path):
                yield f"  {' ' * gutter} {self._paint('faint', f'in {shown(path)}')}"
            elif previous is not None and previous[0] == path and line > previous[1] + 1:
                yield f"  {' ' * gutter} {self._paint('faint', ':')}"
            yield from self._excerpt(path, line, accesses, gutter, finding)
            previous = (path, line)

    def _excerpt(
        self, path: str, line: int, accesses: Sequence[Access], gutter: int, finding: Finding
    ) -> Iterator[str]:
        lines, role = self._lines(path), _ROLES[finding.severity]
        bar = self._paint("faint", "|")
        text = lines[line - 1] if line <= len(lines) else ""
        yield f"  {self._paint('faint', f'{line:>{gutter}}')} {bar} {printable(text)}"
        marked: SourceSpan | None = None
        for access in accesses:
            start, length = _columns(text, access.span)
            # Two accesses of one expression are marked once.
            mark = " " * length if access.span == marked else self._paint(role, "^" * length)
            marked = access.span
            yield f"  {' ' * gutter} {bar} {' ' * start}{mark} {thread_text(finding, access)}"
            indent = " " * (start + length + 1)
            for extra in _how(access):
                yield f"  {' ' * gutter} {bar} {indent}{self._paint('faint', extra)}"

    # --- kernels without a finding ------------------------------------------------------------------------------

    def _quiet_kernel(self, kernel: KernelResult) -> str:
        """Unknown kernels with their reasons; with -v also clean ones with what the proof rests on."""
        where = self._strong(_place(kernel.span))
        parts: list[str] = []
        for context in kernel.contexts:
            for reason in context.reasons:
                at = f" ({_line_in(reason.span, kernel.span.path)})" if reason.span else ""
                parts.append(f"  {reason.kind}: {printable(from_here(reason.text))}{at}")
        if parts:
            head = f"{where}: {self._paint('warning', Verdict.UNKNOWN.value)} in {kernel.name}"
            return "\n".join([head, *dict.fromkeys(parts)]) + "\n"
        if kernel.verdict is not Verdict.RACE_FREE or not self._verbose:
            return ""
        parts = [f"{where}: {self._paint('good', Verdict.RACE_FREE.value)}: {kernel.name}"]
        for context in kernel.contexts:
            details = [("launch", describe_launch(context.launch)), *self._given(context)]
            details += [("assumes", from_here(text)) for text in context.assumptions]
            parts += [f"  {label:<{_LABEL_WIDTH}} {text}" for label, text in details]
        return "\n".join(parts) + "\n"

    def _left_out(self, unit: UnitResult) -> Iterator[str]:
        """What the analysis could not take in: compiler errors and things it saw and skipped."""
        notes = [(issue.span, f"compiler: {issue.message}") for issue in unit.syntax]
        notes += [(skipped.span, f"skipped: {skipped.what}") for skipped in unit.skipped]
        if not notes:
            return
        if not self._verbose:
            errors, skipped = len(unit.syntax), len(unit.skipped)
            counts = [f"{errors} compiler {_plural(errors, 'error')}"] if errors else []
            counts += [f"{skipped} {_plural(skipped, 'thing')} skipped"] if skipped else []
            yield f"{self._strong(shown(unit.path))}: {self._paint('faint', ', '.join(counts) + ', listed with -v')}\n"
            return
        for span, text in notes:
            where = _place(span) if span else shown(unit.path)
            yield f"{self._strong(where)}: {self._paint('faint', printable(text))}\n"

    def _paint(self, role: Role, text: str) -> str:
        return self._style.paint(role, text)

    def _strong(self, text: str) -> str:
        return self._style.paint("strong", text)


# --- parts that other renderings share --------------------------------------------------------------------------


@cache
def lines_of(path: str) -> tuple[str, ...]:
    """The lines of a file for display; empty when it cannot be read."""
    try:
        return tuple(Path(path).read_text(encoding="utf-8-sig", errors="replace").splitlines())
    except OSError:
        return ()


def fix_of(finding: Finding, answers: Iterable[Fix | FixRefusal]) -> Fix | None:
    """The repair that removes a finding, the preferred one first."""
    fitting = [fix for fix in answers if isinstance(fix, Fix) and finding.group in fix.groups]
    return min(fitting, key=lambda fix: not fix.preferred, default=None)


def refusal_of(finding: Finding, answers: Iterable[Fix | FixRefusal]) -> str | None:
    """Why there is no repair for a finding, where that was asked."""
    found = (answer.text for answer in answers if isinstance(answer, FixRefusal) and answer.group == finding.group)
    return next(found, None)


def describe_launch(launch: LaunchSummary) -> str:
    """Where a context comes from and its dimensions, in one line."""
    where = f"{_place(launch.span)} " if launch.span else ""
    if launch.source == "default":
        return "none in sight: any that the hardware allows"
    origin = "" if launch.source == "launch" else "given by the user: " if not where else "given by the user at "
    return f"{origin}{where}grid {written(launch.grid)}, block {written(launch.block)}"


def mistakes_of(unit: UnitResult) -> list[list[list[Occurrence]]]:
    """Mistakes in source order; of each the pairs of places, and of each pair its occurrences in launches."""
    mistakes: dict[tuple[object, ...], dict[tuple[object, ...], list[Occurrence]]] = {}
    for kernel in unit.kernels:
        for context in kernel.contexts:
            for finding in context.findings:
                places = (finding.span, *((a.span, a.kind) for a in finding.accesses))
                pairs = mistakes.setdefault((kernel.span, finding.code, finding.group), {})
                pairs.setdefault(places, []).append(Occurrence(finding, context, kernel))
    ordered = [sorted(pairs.values(), key=lambda pair: pair[0].finding.span) for pairs in mistakes.values()]
    return sorted(ordered, key=lambda pairs: (pairs[0][0].finding.span, pairs[0][0].finding.code.rank))


def _pair(finding: Finding) -> str:
    """A further pair of a mistake in one line."""
    parts = [f"{access.kind} {access.text} on line {access.span.start_line}" for access in finding.accesses]
    return printable(" and ".join(dict.fromkeys(parts)))


def _columns(text: str, span: SourceSpan) -> tuple[int, int]:
    """Where a span starts on its first line and how long it is there, in columns of the printed line."""
    data = text.encode()
    start = data[: span.start_column - 1].decode(errors="replace")
    end = data[: span.end_column - 1].decode(errors="replace") if span.end_line == span.start_line else text.rstrip()
    left = width(printable(start))
    return left, max(1, width(printable(end)) - left)


def thread_text(finding: Finding, access: Access) -> str:
    """What a thread does at a place, in a few words."""
    if access.kind == "barrier":
        if access.thread is None:
            return "barrier"
        thread, block = written(access.thread), written(access.block)
        return f"thread {thread} of block {block} {barrier_role(finding, access)} it"
    if access.kind == "assertion":
        return f"thread {written(access.thread)} of block {written(access.block)} finds it false"
    who = f" by thread {written(access.thread)}" if access.thread else ""
    where = f" of block {written(access.block)}" if access.block else ""
    return f"{access.kind} of {access.width} {_plural(access.width, 'byte')}{who}{where}"


def _how(access: Access) -> Iterator[str]:
    for turn in access.turns:
        yield printable(describe_turn(turn, _line_in(turn.span, access.span.path)))
    for call in access.calls:
        yield f"called at {_place(call)}"


def _fact(fact: FactNote) -> str:
    kind = {"user": "given by the user"}.get(fact.kind, fact.kind.replace("-", " "))
    return f"{printable(fact.text)} ({kind}" + (f", {_place(fact.span)})" if fact.span else ")")


def _place(span: SourceSpan) -> str:
    return f"{shown(span.path)}:{span.start_line}:{span.start_column}"


def _line_in(span: SourceSpan, path: str) -> str:
    return f"line {span.start_line}" if span.path == path else _place(span)


def _plural(number: int, noun: str) -> str:
    return noun if number == 1 else f"{noun}s"


_ERRORS = (Verdict.DATA_RACE, Verdict.BARRIER_DIVERGENCE, Verdict.ASSERTION_FAILURE, Verdict.LANE_NOT_IN_MASK)


def _standing_role(verdict: Verdict | How) -> Role:
    if verdict in _ERRORS:
        return "error"
    if verdict in (Verdict.MISSING_LANES, Verdict.POSSIBLE_DATA_RACE, Verdict.UNKNOWN):
        return "warning"
    return "good" if verdict is Verdict.RACE_FREE else "hint"
