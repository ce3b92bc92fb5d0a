"""`cudaLsp/raceExplorer`, and the page as a file: the findings of a document's kernels, drawn (see `explorer`).

What is shown is taken on the event loop at one moment; the page is made in a thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pygls import uris
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from analyzers.model import Finding, SourceSpan, Verdict
from cuda_lsp import cache
from cuda_lsp.adoption.muting import Muted, standing
from cuda_lsp.checking import read_text
from cuda_lsp.client import Encoded
from cuda_lsp.documents import path_of
from cuda_lsp.explorer.page import render, unit_notices
from cuda_lsp.explorer.scenes import KernelView, Repair
from cuda_lsp.features.code_action import refused
from cuda_lsp.features.kernels import is_meant, of_document
from cuda_lsp.positions import LineIndex
from cuda_lsp.runs import not_confirmed
from cuda_lsp.tracking import OffsetMap

if TYPE_CHECKING:
    from cuda_lsp.runs import RunOutcome
    from cuda_lsp.session import Session
    from cuda_lsp.unit_view import ShownKernel, UnitView

METHOD = "cudaLsp/raceExplorer"
_KEPT_DAYS = 7


async def race_explorer(session: Session, params: Any) -> Encoded:
    """`{uri, kernel?}` -> `{html}`. Raises an error, which the user also sees, where there is nothing to draw."""
    uri, kernel = getattr(params, "uri", None), getattr(params, "kernel", None)
    if not isinstance(uri, str) or not (kernel is None or isinstance(kernel, str)):
        raise JsonRpcInvalidParams("the parameters are uri, a string, and perhaps kernel, a string")
    html = await page(session, uri, kernel)
    return Encoded(await asyncio.to_thread(json.dumps, {"html": html}))


async def page(session: Session, uri: str, kernel: str | None) -> str:
    """The page of a document's kernels, or of those with a name."""
    await session.checks.settled(uri)
    document = session.documents.get(uri)
    path = document.path if document is not None else path_of(uri, session.top or str(Path.cwd()))
    found = list(of_document(session, path))
    views = list(dict.fromkeys(view for view, _ in found)) or [v for v in session.views.values() if v.path == path]
    if not views:
        raise _nothing(f"{Path(path).name} was not checked yet")
    if kernel is not None:
        found = [(view, shown) for view, shown in found if is_meant(shown, kernel)]
        if not found:
            raise _nothing(f"there is no kernel {kernel} in {Path(path).name}")
    texts = _Texts.of(session)
    drawn = [_view(session, view, shown, texts) for view, shown in found]
    notices = [
        notice
        for view in views
        if kernel is None and view.unit is not None and (view.path == path or not found)
        for notice in unit_notices(view.unit, texts.shown(view.path))
    ]
    title = f"{kernel} in {Path(path).name}" if kernel is not None else Path(path).name
    return await asyncio.to_thread(render, title, drawn, notices, uri=uri)


def _nothing(sentence: str) -> JsonRpcException:
    return refused(f"Nothing to draw: {sentence}.")


async def write_report(session: Session, uri: str, kernel: str | None, target: str | None) -> str:
    """Write the page to a file, by default in the user's cache directory, and give its path."""
    html = await page(session, uri, kernel)
    path = Path(target) if target is not None else _own_file(uri, kernel)

    def write() -> None:
        if target is None:
            path.parent.mkdir(parents=True, exist_ok=True)
            _remove_old_pages(path.parent)
        path.write_text(html, encoding="utf-8")

    try:
        await asyncio.to_thread(write)
    except OSError as error:
        raise refused(f"{path} cannot be written: {error.strerror or error}") from error
    return str(path)


def _own_file(uri: str, kernel: str | None) -> Path:
    """One file per document and kernel, so that a browser that shows it is reloaded, not filled with more."""
    mark = hashlib.sha256(f"{uri}\n{kernel}".encode()).hexdigest()[:10]
    return cache.default_directory() / "reports" / f"races-{mark}.html"


def _remove_old_pages(folder: Path) -> None:
    """Pages are looked at right after they were written, and a browser has what it shows. As far as possible: another
    server may do the same at this moment."""
    for page_ in folder.glob("races-*.html"):
        with contextlib.suppress(OSError):
            if page_.stat().st_mtime < time.time() - _KEPT_DAYS * 86_400:
                page_.unlink()


# What is shown, as it was at one moment


def _view(session: Session, view: UnitView, shown: ShownKernel, texts: _Texts) -> KernelView:
    repairs: dict[str, Repair] = {}
    if view.is_current:
        repairs = {group: Repair(refusal=text) for group, text in view.refusals.items()}
        repairs |= {group: Repair(fix.title, fix.cost) for fix in reversed(view.fixes) for group in fix.groups}
    maps = {path: anchor.map for path, anchor in shown.anchors.items() if path in texts.open}
    runs = {
        group: _run_in_words(outcome)
        for group in dict.fromkeys(finding.group for _, finding in shown.findings)
        if (outcome := session.runs.of_group(shown, group)) is not None
    }
    severity_of = session.settings_for_file(shown.result.span.path).severity_of

    def why_muted(finding: Finding) -> Muted | None:
        mute = session.muting.muted(shown, finding)
        silent = mute is None and severity_of(finding.code, finding.severity) is None
        return Muted("off") if silent else mute

    muted = {finding: mute for _, finding in shown.findings if (mute := why_muted(finding)) is not None}
    counts_as = standing(shown.result, muted.get)
    return KernelView(
        shown.result,
        _Places(texts, maps),
        shown.stale,
        repairs,
        runs,
        {finding: mute.text for finding, mute in muted.items()},
        counts_as if not isinstance(counts_as, Verdict) else None,
    )


def _run_in_words(outcome: RunOutcome) -> str:
    if outcome.confirmed:
        return f"Confirmed by a run on {outcome.where} ({outcome.title})."
    return not_confirmed(outcome)


@dataclass(eq=False, slots=True)
class _Texts:
    """The open documents, and files as they are read."""

    open: Mapping[str, LineIndex]
    uris: Mapping[str, str]
    tops: Sequence[str]
    _lines: dict[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])

    @classmethod
    def of(cls, session: Session) -> _Texts:
        documents = {document.path: document for document in session.documents}
        return cls(
            {path: document.index for path, document in documents.items()},
            {path: document.uri for path, document in documents.items()},
            session.tops,
        )

    def lines(self, path: str) -> Sequence[str]:
        """In the thread that makes the page."""
        if path not in self._lines:
            index = self.open.get(path)
            if index is None:
                text = read_text(path)
                index = LineIndex(text) if text is not None else None
            self._lines[path] = () if index is None else [index.line(n) for n in range(index.line_count)]
        return self._lines[path]

    def shown(self, path: str) -> str:
        top = next((top for top in self.tops if Path(path).is_relative_to(top)), None)
        return Path(path).relative_to(top).as_posix() if top is not None else path


@dataclass(frozen=True, slots=True)
class _Places:
    """Where the spans of one kernel's result are in those texts."""

    texts: _Texts
    maps: Mapping[str, OffsetMap]

    def lines(self, path: str) -> Sequence[str]:
        return self.texts.lines(path)

    def now(self, span: SourceSpan) -> SourceSpan | None:
        map_, index = self.maps.get(span.path), self.texts.open.get(span.path)
        if map_ is None or index is None or map_.is_identity:
            return span
        now = map_.map(span.start_offset, span.end_offset)
        return index.span(span.path, *now) if now is not None else None

    def shown(self, path: str) -> str:
        return self.texts.shown(path)

    def uri(self, path: str) -> str | None:
        return self.texts.uris.get(path) or uris.from_fs_path(path)
