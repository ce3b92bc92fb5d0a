"""Suppressions in the source: ``// cuda-lsp: ignore[data-race] why this is fine``.

Takes the text of a file, gives its suppressions and what is wrong with them. A comment behind code is about its line,
one on a line of its own about the statement that follows; on or above a kernel's signature it is about the whole kernel
(`muting` decides that, which knows the kernels). ``ignore-file`` is about the whole file.
"""

from __future__ import annotations

import difflib
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from analyzers.frontend.directives import ABOUT_FINDINGS, Directive, directives
from analyzers.frontend.lexical import source_bytes
from analyzers.model import Severity, SourceSpan, Verdict

CODES: Final = tuple(v.value for v in Verdict if v not in (Verdict.UNKNOWN, Verdict.RACE_FREE))
"""Codes of findings, which can be suppressed."""


class CommentCode(str, Enum):
    """What can be wrong with a suppression."""

    INVALID = "invalid-suppression"
    UNEXPLAINED = "unexplained-suppression"
    UNUSED = "unused-suppression"


SEVERITIES: Final = {
    CommentCode.INVALID: Severity.WARNING,
    CommentCode.UNEXPLAINED: Severity.INFORMATION,
    CommentCode.UNUSED: Severity.INFORMATION,
}


@dataclass(frozen=True, slots=True)
class Suppression:
    """One comment that suppresses findings."""

    codes: tuple[Verdict, ...]
    reason: str
    """Empty where none is given."""
    span: SourceSpan
    lines: tuple[int, int]
    """First and last line that it is about; zeros for none."""
    whole_file: bool = False
    conditional: bool = False
    """Whether it stands under a preprocessor condition, so that the code it is about may not have been compiled."""

    def covers(self, line: int) -> bool:
        return self.whole_file or self.lines[0] <= line <= self.lines[1]


@dataclass(frozen=True, slots=True)
class CommentIssue:
    """Something wrong with a suppression."""

    code: CommentCode
    message: str
    span: SourceSpan
    severity: Severity
    hint: str = field(default="", compare=False)
    """What may help: units that agree on the issue may differ in it."""
    needless: tuple[Verdict, ...] = ()
    """Codes that can be taken out of the comment."""
    is_needless: bool = False
    """Whether those are all that it has."""


def issue(code: CommentCode, message: str, span: SourceSpan) -> CommentIssue:
    """With the severity that its code has by default."""
    return CommentIssue(code, message, span, SEVERITIES[code])


@dataclass(frozen=True, slots=True)
class FileComments:
    """The suppressions of one file and what is wrong with them by themselves."""

    suppressions: tuple[Suppression, ...] = ()
    issues: tuple[CommentIssue, ...] = ()


NO_COMMENTS: Final = FileComments()

_CODES_AND_REASON = re.compile(r"\s*\[([^\[\]]*)\][ \t]*[:–—-]*[ \t]*(.*)")
_CONDITION = re.compile(rb"^[ \t]*#[ \t]*(if|endif)", re.MULTILINE)
_WORD = re.compile(r"\w")


def may_suppress(text: str) -> bool:
    """Whether it is worth the time to read the comments of a text."""
    return "cuda-lsp:" in text and "ignore" in text


def read(text: str, path: str) -> FileComments:
    """The suppressions of a file."""
    if not may_suppress(text):
        return NO_COMMENTS
    found = [directive for directive in directives(text, path) if directive.word in ABOUT_FINDINGS]
    if not found:
        return NO_COMMENTS
    depths = _condition_depths(text)
    suppressions: list[Suppression] = []
    issues: list[CommentIssue] = []
    for directive in found:
        codes, reason, problems = _parsed(directive)
        issues.extend(issue(CommentCode.INVALID, problem, directive.span) for problem in problems)
        if not codes:
            continue
        line = directive.span.start_line
        suppressions.append(
            Suppression(
                codes,
                reason,
                directive.span,
                (line, line) if directive.trailing else directive.lines,
                whole_file=directive.word == "ignore-file",
                conditional=_depth_at(depths, directive.span.start_offset) > 0,
            )
        )
        if not reason:
            message = f"No reason is given for ignoring {_listed(codes)}: write it behind the bracket"
            issues.append(issue(CommentCode.UNEXPLAINED, message, directive.span))
    return FileComments(tuple(suppressions), tuple(issues))


def _parsed(directive: Directive) -> tuple[tuple[Verdict, ...], str, list[str]]:
    """Codes, reason, and sentences on what is wrong."""
    match = _CODES_AND_REASON.match(directive.text)
    names = [name.strip() for name in match[1].split(",") if name.strip()] if match else []
    if match is None or not names:
        return (), "", [f"Nothing is ignored: name the codes, as in {directive.word}[data-race] and the reason"]
    problems = [_no_code(name) for name in names if name not in CODES]
    codes = tuple(dict.fromkeys(Verdict(name) for name in names if name in CODES))
    return codes, match[2].strip() if _WORD.search(match[2]) else "", problems


def _no_code(name: str) -> str:
    if name in (Verdict.UNKNOWN.value, Verdict.RACE_FREE.value):
        return f"“{name}” is a verdict without a finding, so there is nothing to ignore"
    near = difflib.get_close_matches(name, CODES, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(CODES)}"
    return f"There is no code “{name}”: {hint}"


def _listed(codes: tuple[Verdict, ...]) -> str:
    return " and ".join(code.value for code in codes)


def _condition_depths(text: str) -> list[tuple[int, int]]:
    """(offset, depth) wherever the depth of preprocessor conditions changes."""

    def changes() -> Iterator[tuple[int, int]]:
        depth = 0
        for match in _CONDITION.finditer(source_bytes(text)):
            depth = depth + 1 if match[1] == b"if" else max(depth - 1, 0)
            yield match.start(), depth

    return list(changes())


def _depth_at(depths: list[tuple[int, int]], offset: int) -> int:
    index = bisect_right(depths, offset, key=lambda change: change[0])
    return depths[index - 1][1] if index else 0
