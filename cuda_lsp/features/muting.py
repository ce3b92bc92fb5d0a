"""What comments and the baseline mute in the documents as they are now, and the diagnostics about those comments.

A suppression counts as soon as it is typed: both it and the finding are looked for in the text of the editor. That one
is of no use is said when the last check is of that very text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analyzers.model import Finding, SourceSpan, UnitResult, Verdict
from cuda_lsp import documentation
from cuda_lsp.adoption import comments
from cuda_lsp.adoption.comments import NO_COMMENTS, CommentCode, CommentIssue, FileComments, Suppression
from cuda_lsp.adoption.fingerprints import Identity, Key, identities, key_of
from cuda_lsp.adoption.muting import Muted, agreed, suppressions_of, unused

if TYPE_CHECKING:
    from cuda_lsp.session import Session
    from cuda_lsp.unit_view import ShownKernel, UnitView

_UNNECESSARY = 1


class Muting:
    """Of one session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._buffers: dict[str, tuple[str, FileComments]] = {}
        """By path of an open document: its text and what stands in it."""
        self._disk: dict[str, FileComments] = {}
        """Of files that are not open, where there is something."""
        self.stamp = 0
        """Grows whenever comments or what they stand beside may have changed."""
        self._groups: tuple[int, dict[int, tuple[ShownKernel, ...]]] | None = None
        """By kernel, all instances of the same template."""
        self._identities: dict[tuple[ShownKernel, ...], Mapping[Key, Identity]] = {}
        self._used: tuple[tuple[int, int], frozenset[tuple[Suppression, Verdict]]] | None = None

    def text_changed(self, path: str) -> None:
        """A document was opened, changed or closed."""
        document = self._session.documents.at(path)
        known = self._buffers.get(path)
        if document is None:
            self._buffers.pop(path, None)
        if (known is not None and known[1] is not NO_COMMENTS) or (
            comments.may_suppress(document.text) if document is not None else path in self._disk
        ):
            self.stamp += 1

    def read_from_disk(self, path: str, text: str | None) -> bool:
        """A file that is not open was read. Gives whether its comments are other ones."""
        found = comments.read(text, path) if text is not None else NO_COMMENTS
        before = self._disk.get(path, NO_COMMENTS)
        if found == before:
            return False
        self._disk[path] = found
        self.stamp += 1
        return True

    def comments_of(self, path: str) -> FileComments:
        """Of a file as it is now: the buffer of an open document, else the disk."""
        document = self._session.documents.at(path)
        if document is None:
            return self._disk.get(path, NO_COMMENTS)
        known = self._buffers.get(path)
        if known is None or known[0] is not document.text:
            known = self._buffers[path] = (document.text, comments.read(document.text, path))
        return known[1]

    def muted(self, shown: ShownKernel, finding: Finding) -> Muted | None:
        """Why a finding is not shown. What the settings switch off is not asked here."""
        suppression = next(self._suppressions(shown, finding), None)
        if suppression is not None:
            return Muted("suppressed", suppression)
        baseline = self._session.projects.baseline(str(Path(finding.span.path).parent))
        if baseline is None or not baseline.entries:
            return None
        identity = self._names(shown).get(key_of(shown.result, finding))
        return Muted("known") if identity is not None and baseline.knows(identity) else None

    def _names(self, shown: ShownKernel) -> Mapping[Key, Identity]:
        """The identities of the findings of a kernel, which it has together with the other instances of a template."""
        if self._groups is None or self._groups[0] != self._session.results:
            groups: dict[tuple[str, SourceSpan], list[ShownKernel]] = {}
            for view in self._session.views.values():
                for each in view.kernels.values():
                    if each.findings:
                        groups.setdefault((view.path, each.result.span), []).append(each)
            found = {id(each): tuple(group) for group in groups.values() for each in group}
            self._groups = self._session.results, found
            still = set(found.values())
            self._identities = {group: names for group, names in self._identities.items() if group in still}
        group = self._groups[1].get(id(shown), (shown,))
        if group not in self._identities:
            self._identities[group] = identities([each.result for each in group])
        return self._identities[group]

    def _suppressions(self, shown: ShownKernel, finding: Finding) -> Iterator[Suppression]:
        def line_of(span: SourceSpan) -> int | None:
            document = self._session.documents.at(span.path)
            if document is None:
                return span.start_line
            now = shown.now(span)
            return document.index.span(span.path, *now).start_line if now is not None else None

        return suppressions_of(shown.result, finding, self.comments_of, line_of)

    def issues(self, path: str) -> list[CommentIssue]:
        """What is wrong with the suppressions of a file, as loud as the settings say."""
        found = list(self.comments_of(path).issues)
        view = self._session.views.get(path)
        if view is not None:
            found += self._unused(view)
        settings = self._session.settings_for_file(path)
        loud = ((issue, settings.severity_of(issue.code, issue.severity)) for issue in found)
        told = [replace(issue, severity=severity) for issue, severity in loud if severity is not None]
        return sorted(told, key=lambda issue: issue.span)

    def _unused(self, view: UnitView) -> Iterator[CommentIssue]:
        """In the main file of a unit: who else needs a suppression in a header is not known."""
        there = self.comments_of(view.path)
        kernels = tuple(view.kernels.values())
        if not there.suppressions or view.unit is None or not view.is_current or any(each.stale for each in kernels):
            return
        unit: UnitResult = replace(view.unit, kernels=tuple(each.result for each in kernels))
        asked = self._session.settings_for_file(view.path).redundant_barriers
        not_asked = () if asked else (Verdict.REDUNDANT_BARRIER,)
        yield from agreed([list(unused(there, self._in_use(), unit, view.path, not_asked))])

    def _in_use(self) -> frozenset[tuple[Suppression, Verdict]]:
        stamp = (self._session.results, self.stamp)
        if self._used is None or self._used[0] != stamp:
            used = {
                (suppression, finding.code)
                for view in self._session.views.values()
                for shown in view.kernels.values()
                for _, finding in shown.findings
                for suppression in self._suppressions(shown, finding)
            }
            self._used = stamp, frozenset(used)
        return self._used[1]

    @property
    def files_with_issues(self) -> list[str]:
        """Main files of units that are not open."""
        return [path for path in self._session.views if path in self._disk and self.issues(path)]

    def diagnostics(self, path: str) -> Iterator[dict[str, Any]]:
        """Diagnostics about the comments of a file."""
        from cuda_lsp.features.diagnostics import SEVERITIES, SOURCE, range_json
        from cuda_lsp.positions import unchecked_range

        features = self._session.client.features
        index = self._session.index_of(path)
        for issue in self.issues(path):
            span = issue.span
            where = index.span_range(span, features.encoding) if index is not None else unchecked_range(span)
            diagnostic: dict[str, Any] = {
                "range": range_json(where),
                "severity": SEVERITIES[issue.severity],
                "code": issue.code.value,
                "source": SOURCE,
                "message": issue.message,
            }
            base = self._session.settings_for_file(path).documentation_url
            page = documentation.diagnostic_page(issue.code.value, base)
            if features.code_description and page is not None:
                diagnostic["codeDescription"] = {"href": page}
            if issue.code is CommentCode.UNUSED and features.unnecessary_tag:
                diagnostic["tags"] = [_UNNECESSARY]
            yield diagnostic
