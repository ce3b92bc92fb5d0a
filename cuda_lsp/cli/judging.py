"""What the user's comments and settings make of the results of one run.

Takes the units of a run one after the other, gives each as a `JudgedUnit`, which tells what is shown of it. Which
suppressions were of no use is known of a unit's main file at once, of headers only when all units are through.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from analyzers.model import Finding, Fix, FixRefusal, KernelResult, UnitResult, Verdict
from cuda_lsp.adoption import comments as comment_reader
from cuda_lsp.adoption.baseline import Baseline
from cuda_lsp.adoption.comments import CommentIssue, FileComments, Suppression
from cuda_lsp.adoption.fingerprints import Identity, identities, key_of
from cuda_lsp.adoption.muting import (
    How,
    Muted,
    agreed,
    findings_of,
    standing,
    suppressions_of,
    unused,
    without_muted,
)
from cuda_lsp.cli.inputs import plain
from cuda_lsp.config import Settings
from cuda_lsp.workspace.regular import regular_bytes

Result = tuple[UnitResult, tuple[Fix | FixRefusal, ...]]


@dataclass(frozen=True)
class JudgedUnit:
    """One unit and what is shown of it."""

    unit: UnitResult
    """Everything that was found."""
    answers: tuple[Fix | FixRefusal, ...]
    shown: UnitResult
    """Without the findings that are muted, and as loud as the settings say."""
    muted: Callable[[KernelResult, Finding], Muted | None]
    identity: Callable[[KernelResult, Finding], Identity]
    issues: tuple[CommentIssue, ...]
    """With the suppressions in the main file."""
    settings: Settings
    baseline: Baseline | None = None

    @property
    def standings(self) -> Iterator[tuple[KernelResult, Verdict | How]]:
        """What each kernel counts as."""
        for kernel in self.unit.kernels:
            yield kernel, standing(kernel, lambda finding, kernel=kernel: self.muted(kernel, finding))

    @property
    def hidden(self) -> Iterator[tuple[KernelResult, Finding, Muted]]:
        """The findings that are not shown, in each launch."""
        for kernel in self.unit.kernels:
            for finding in findings_of(kernel):
                muted = self.muted(kernel, finding)
                if muted is not None:
                    yield kernel, finding, muted


@dataclass(frozen=True, slots=True)
class Report:
    """All that a run has to say."""

    units: tuple[JudgedUnit, ...]
    issues: tuple[CommentIssue, ...] = ()
    """With the suppressions in headers."""
    gone: tuple[Identity, ...] = ()
    """Of the baseline, what no longer occurs."""
    left_out: Mapping[str, int] = field(default_factory=dict[str, int])
    """How many files below the named folders were not looked at, by the reason."""

    @property
    def baselines(self) -> tuple[Baseline, ...]:
        """Those that hold for some unit."""
        found = {judged.baseline.path: judged.baseline for judged in self.units if judged.baseline is not None}
        return tuple(found.values())

    @property
    def all_issues(self) -> Iterator[CommentIssue]:
        for judged in self.units:
            yield from judged.issues
        yield from self.issues


@dataclass(frozen=True, slots=True)
class _Seen:
    """A unit whose findings were compared with the comments of its headers."""

    unit: UnitResult
    not_asked: frozenset[Verdict]


@dataclass
class Judge:
    """Of one run. `settings_of` gives the settings for a path; `partial`: only some kernels or launches are checked, so
    that nothing can be said of suppressions without use."""

    settings_of: Callable[[str], Settings]
    texts: Mapping[str, str] = field(default_factory=dict[str, str])
    """What was analysed as the main files of units; other files are read from the disk."""
    partial: bool = False
    baseline_of: Callable[[str], Baseline | None] = lambda _: None
    """The baseline that holds for a unit."""
    _comments: dict[str, FileComments] = field(default_factory=dict[str, FileComments])
    _used: set[tuple[Suppression, Verdict]] = field(default_factory=set[tuple[Suppression, Verdict]])
    _seen: dict[str, list[_Seen]] = field(default_factory=dict[str, list[_Seen]])
    """By header, the units that read it."""

    def judge(self, unit: UnitResult, answers: tuple[Fix | FixRefusal, ...]) -> JudgedUnit:
        settings = self.settings_of(unit.path)
        names = identities(unit.kernels)
        baseline = self.baseline_of(unit.path)

        def muted(kernel: KernelResult, finding: Finding) -> Muted | None:
            suppression = next(suppressions_of(kernel, finding, self.comments_of), None)
            if suppression is not None:
                return Muted("suppressed", suppression)
            if settings.severity_of(finding.code, finding.severity) is None:
                return Muted("off")
            known = baseline is not None and baseline.knows(names[key_of(kernel, finding)])
            return Muted("known") if known else None

        for kernel in unit.kernels:
            for finding in findings_of(kernel):
                for suppression in suppressions_of(kernel, finding, self.comments_of):
                    self._used.add((suppression, finding.code))
        seen = _Seen(unit, frozenset() if settings.redundant_barriers else frozenset({Verdict.REDUNDANT_BARRIER}))
        for path in {*unit.dependencies} - {*unit.linked}:
            if self.comments_of(path) is not comment_reader.NO_COMMENTS:
                self._seen.setdefault(path, []).append(seen)
        return JudgedUnit(
            unit,
            answers,
            without_muted(unit, muted, settings.severity_of),
            muted,
            lambda kernel, finding: names[key_of(kernel, finding)],
            tuple(self._issues(unit.path, [seen])),
            settings,
            baseline,
        )

    def issues_in_headers(self, folders: Iterable[str], main_files: Iterable[str]) -> list[CommentIssue]:
        """With the suppressions in headers, once all units are judged. Of no use are those below folders that were
        checked as a whole: other files may need the others."""
        tops, mains = tuple(folders), frozenset(main_files)
        found: list[CommentIssue] = []
        for path, units in self._seen.items():
            if path not in mains:
                whole = any(Path(path).is_relative_to(top) for top in tops)
                found += self._issues(path, units if whole else [])
        return found

    def comments_of(self, path: str) -> FileComments:
        known = self._comments.get(path)
        if known is None:
            text = self.texts.get(path)
            known = comment_reader.read(plain(text) if text is not None else _text_of(path), path)
            self._comments[path] = known
        return known

    def _issues(self, path: str, units: list[_Seen]) -> Iterator[CommentIssue]:
        """What is wrong with the suppressions of a file that some units have read."""
        comments = self.comments_of(path)
        found = list(comments.issues)
        if units and not self.partial and comments.suppressions:
            found += agreed([list(unused(comments, self._used, seen.unit, path, seen.not_asked)) for seen in units])
        settings = self.settings_of(path)
        for issue in sorted(found, key=lambda issue: issue.span):
            severity = settings.severity_of(issue.code, issue.severity)
            if severity is not None:
                yield replace(issue, severity=severity)


def _text_of(path: str) -> str:
    try:
        data = regular_bytes(path)
    except OSError:
        return ""
    if b"cuda-lsp:" not in data:
        return ""
    return data.decode("utf-8-sig", errors="replace")
