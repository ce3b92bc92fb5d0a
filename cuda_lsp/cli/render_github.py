"""Results as workflow commands of GitHub Actions, which show them beside the changed lines of a pull request.

One line for each mistake: `::error file=…,line=…,col=…,title=…::message`. The syntax and its escapes are those of the
runner's own `core.issueCommand`: in messages `%`, CR and LF, in properties `:` and `,` as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from analyzers.model import Severity, SourceSpan
from cuda_lsp.adoption.comments import CommentIssue
from cuda_lsp.cli.inputs import shown
from cuda_lsp.cli.judging import JudgedUnit
from cuda_lsp.cli.render_text import Occurrence, fix_of, mistakes_of, thread_text
from cuda_lsp.cli.terminal import printable

_COMMANDS: Final = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFORMATION: "notice",
    Severity.HINT: "notice",
}


def of_unit(judged: JudgedUnit) -> str:
    """The lines about one file."""
    return "".join(f"{line}\n" for line in _lines(judged))


def of_issue(issue: CommentIssue) -> str:
    """The line about a suppression."""
    return _command(_COMMANDS[issue.severity], issue.message, issue.code.value, issue.span)


def _lines(judged: JudgedUnit) -> Iterator[str]:
    failure = judged.unit.failure
    if failure is not None:
        path = failure.span.path if failure.span is not None else judged.unit.path
        yield _command("error", failure.text, "not analysed", failure.span, path)
    for pairs in mistakes_of(judged.shown):
        yield _mistake(judged, pairs)
    for issue in judged.issues:
        yield of_issue(issue)


def _mistake(judged: JudgedUnit, pairs: list[list[Occurrence]]) -> str:
    finding = pairs[0][0].finding
    kernels = ", ".join(dict.fromkeys(each.kernel.name for each in pairs[0]))
    text = [printable(finding.message)]
    for access in finding.accesses:
        place = f"{shown(access.span.path)}:{access.span.start_line}"
        text.append(f"{place}: {printable(access.text)}: {thread_text(finding, access)}")
    if len(pairs) > 1:
        text.append(f"and {len(pairs) - 1} more {'pair' if len(pairs) == 2 else 'pairs'} of accesses")
    fix = fix_of(finding, judged.answers)
    if fix is not None:
        text.append(f"fix: {fix.title}")
    title = f"{finding.code.value} in {kernels}"
    return _command(_COMMANDS[finding.severity], "\n".join(text), title, finding.span)


def _command(command: str, message: str, title: str, span: SourceSpan | None, path: str = "") -> str:
    properties: dict[str, str | int] = {"file": shown(span.path if span is not None else path)}
    if span is not None:
        properties |= {"line": span.start_line, "endLine": span.end_line, "col": span.start_column}
        if span.end_line == span.start_line:
            # Columns are shown where a range lies in one line.
            properties["endColumn"] = max(span.end_column - 1, span.start_column)
    properties["title"] = title
    written = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    return f"::{command} {written}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
