"""The diagnostics of a file, and the requests with which clients pull them.

One mistake (`mistakes.py`) is one diagnostic, at the place of its first access, with the others as related information.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from analyzers.coordinates import written
from analyzers.model import Access, Finding, Severity, SourceSpan, Verdict
from cuda_lsp import documentation
from cuda_lsp.adoption.muting import Muted
from cuda_lsp.client import Encoded
from cuda_lsp.mistakes import Grouping, Mistake, Occurrence, barrier_role, describe_turn
from cuda_lsp.positions import unchecked_range

if TYPE_CHECKING:
    from cuda_lsp.session import Session
    from cuda_lsp.unit_view import ShownKernel

SOURCE = "cuda-lsp"
_SLICE_S = 0.0015
_MAXIMAL_ATTEMPTS = 3
_MAXIMAL_RELATED = 12
SEVERITIES = {Severity.ERROR: 1, Severity.WARNING: 2, Severity.INFORMATION: 3, Severity.HINT: 4}
_UNNECESSARY = 1
_POLL_PAUSE_S = 0.2


def mistakes(session: Session, path: str) -> list[Mistake]:
    """The mistakes whose diagnostics lie in a file, in the order of the text."""
    for _ in _group(session, path):
        pass
    return session.memo["mistakes", path][1]


def muted(session: Session, path: str) -> list[tuple[Occurrence, Muted]]:
    """The findings in a file whose diagnostics are not shown."""
    for _ in _group(session, path):
        pass
    return session.memo["muted", path][1]


def _group(session: Session, path: str) -> Iterator[None]:
    """Have the session remember the mistakes of a file, a kernel at a time."""
    stamp = (session.results, session.muting.stamp)
    known = session.memo.get(("mistakes", path))
    if known is not None and known[0] == stamp:
        return
    grouping = Grouping(path, session.muting.muted)
    for view in tuple(session.views.values()):
        for shown in tuple(view.kernels.values()):
            grouping.add(shown)
            yield
    session.memo["mistakes", path] = (stamp, grouping.mistakes(session.settings_for_file(path).severity_of))
    session.memo["muted", path] = (stamp, grouping.muted)


async def encoded(session: Session, path: str) -> str:
    """The diagnostics of a file as a JSON array. A long list is made in slices, and again if something changes."""
    for attempt in range(_MAXIMAL_ATTEMPTS + 1):
        stamp = (session.results, session.texts)
        known = session.memo.get(("diagnostics", path))
        if known is not None and known[0] == stamp:
            return known[1]
        parts: list[str] = []
        async for _ in sliced(_encode(session, path, parts), whole=attempt == _MAXIMAL_ATTEMPTS):
            if stamp != (session.results, session.texts):
                break
        else:
            text = f"[{','.join(parts)}]"
            session.memo["diagnostics", path] = (stamp, text)
            return text
    raise AssertionError("the last attempt is not interrupted")


async def sliced(work: Iterator[None], *, whole: bool) -> AsyncIterator[None]:
    """Do work that gives way after each small piece; between two slices the loop gets its turn, and the caller. A
    `whole` work is one slice."""
    until = time.perf_counter() + _SLICE_S
    for _ in work:
        if time.perf_counter() > until and not whole:
            await asyncio.sleep(0)
            yield
            until = time.perf_counter() + _SLICE_S


def _encode(session: Session, path: str, parts: list[str]) -> Iterator[None]:
    """Fill the list with the diagnostics of a file, a little at a time."""
    yield from _group(session, path)
    for mistake in mistakes(session, path):
        diagnostic = _diagnostic(session, path, mistake)
        if diagnostic is not None:
            parts.append(json.dumps(diagnostic, separators=(",", ":")))
        yield
    for diagnostic in session.muting.diagnostics(path):
        parts.append(json.dumps(diagnostic, separators=(",", ":")))
        yield
    from cuda_lsp.features import run_results

    for diagnostic in run_results.diagnostics_of(session, path):
        parts.append(json.dumps(diagnostic, separators=(",", ":")))
        yield


def _decode(session: Session) -> Iterator[None]:
    """Results are decoded when they are first looked at: one at a time, before somebody looks at all."""
    for view in tuple(session.views.values()):
        for shown in tuple(view.kernels.values()):
            _ = shown.findings
            _ = shown.result
            yield


async def files_with_findings(session: Session) -> list[str]:
    """All files in which findings lie, the files of one unit after those of another."""
    async for _ in sliced(_decode(session), whole=False):
        pass
    found: dict[str, None] = {}
    for view in session.views.values():
        found |= dict.fromkeys(sorted(view.files_with_findings))
    return list(found | dict.fromkeys(session.muting.files_with_issues))


def _diagnostic(session: Session, path: str, mistake: Mistake) -> dict[str, Any] | None:
    """None where the user has overwritten the place."""
    features = session.client.features
    shown, finding = mistake.first.shown, mistake.first.finding
    where = place(session, shown, finding.span)
    if where is None:
        return None
    from cuda_lsp.features import run_results

    affected = len({id(occurrence.context) for occurrence in mistake.occurrences})
    message = finding.message
    if mistake.contexts > 1:
        message += f" (in {affected} of {mistake.contexts} launches)"
    related = list(_related(session, mistake))
    if related and not features.related_information:
        message += "".join(f"\n{_where_in_words(path, span, at)}: {text}" for text, span, at in related)
    ran = run_results.final_word(session, mistake)
    severity = mistake.severity
    if ran is not None:
        message += f"\n{ran.text}"
        if ran.is_race:  # a race that happened needs no particular memory contents any more, unless the user decides
            severity = session.settings_for_file(path).severity_of(mistake.code, Severity.ERROR) or severity
    document = session.documents.at(path)
    diagnostic: dict[str, Any] = {
        "range": range_json(where),
        "severity": SEVERITIES[severity],
        "code": mistake.code.value,
        "source": run_results.SOURCE if ran is not None and ran.is_confirmed else SOURCE,
        "message": message,
    }
    page = documentation.diagnostic_page(mistake.code.value, session.settings_for_file(path).documentation_url)
    if features.code_description and page is not None:
        diagnostic["codeDescription"] = {"href": page}
    if mistake.code is Verdict.REDUNDANT_BARRIER and features.unnecessary_tag:
        diagnostic["tags"] = [_UNNECESSARY]
    if related and features.related_information:
        diagnostic["relatedInformation"] = [
            {"location": {"uri": session.documents.uri_of(span.path), "range": range_json(at)}, "message": text}
            for text, span, at in related
        ]
        if ran is not None:
            diagnostic["relatedInformation"] += ran.related
    if features.diagnostic_data:
        diagnostic["data"] = {"group": mistake.group, "version": document.version if document else None}
    return diagnostic


def _related(session: Session, mistake: Mistake) -> Iterator[tuple[str, SourceSpan, types.Range]]:
    """What else belongs to a mistake: the other accesses, how they are reached, where it is launched."""
    given: Counter[tuple[str, SourceSpan]] = Counter()

    def entry(text: str, span: SourceSpan | None, shown: ShownKernel) -> Iterator[tuple[str, SourceSpan, types.Range]]:
        if span is None or given[text, span] or len(given) >= _MAXIMAL_RELATED:
            return
        given[text, span] += 1
        at = place(session, shown, span)
        if at is not None:
            yield text, span, at

    first = mistake.first

    def line_of(span: SourceSpan) -> str:
        return where_in_words(session, first.finding.span.path, first.shown, span)

    for number, access in enumerate(first.finding.accesses):
        if number or access.span != first.finding.span:
            text = describe_access(first.finding, access) + describe_turns(access, line_of)
            yield from entry(text, access.span, first.shown)
        for call in access.calls:
            yield from entry(f"`{access.text}` is reached through this call", call, first.shown)
    for occurrence in mistake.occurrences:
        launch = occurrence.context.launch
        text = f"with this launch: grid {dimensions(launch.grid)}, block {dimensions(launch.block)}"
        if mistake.contexts > 1:
            yield from entry(text, launch.span, occurrence.shown)


def describe_access(finding: Finding, access: Access) -> str:
    """An access with the thread that makes it, in one line; of a barrier, what the thread does there."""
    if access.kind == "barrier":
        if access.thread is None:
            return f"barrier `{access.text}`"
        of_block = f" of block {written(access.block)}" if access.block is not None else ""
        return f"thread {written(access.thread)}{of_block} {barrier_role(finding, access)} `{access.text}`"
    if access.kind == "assertion":
        return f"thread {written(access.thread)} of block {written(access.block)} fails `{access.text}`"
    what = f"{ {'read': 'read', 'write': 'write', 'atomic': 'atomic access'}[access.kind] } of `{access.text}`"
    if access.thread is None:
        return what
    block = f" of block {written(access.block)}" if access.block is not None else ""
    return f"{what} by thread {written(access.thread)}{block}"


def describe_turns(access: Access, line_of: Callable[[SourceSpan], str]) -> str:
    """In which turns of its loops an access happens, to be put behind it; `line_of` says where a loop is."""
    return "".join(f", {describe_turn(turn, line_of(turn.span))}" for turn in access.turns)


def dimensions(sizes: Sequence[str]) -> str:
    """Three sizes without the trailing ones that are 1: `(n / 16, 4)`."""
    kept = list(sizes)
    while len(kept) > 1 and kept[-1] == "1":
        kept.pop()
    return kept[0] if len(kept) == 1 else f"({', '.join(kept)})"


def place(session: Session, shown: ShownKernel, span: SourceSpan) -> types.Range | None:
    """Where a span of a kernel's result is now, for the client; None when it was overwritten."""
    encoding = session.client.features.encoding
    index = session.index_of(span.path)
    if index is None:
        return unchecked_range(span)
    if session.documents.at(span.path) is None:
        return index.span_range(span, encoding)
    now = shown.now(span)
    return index.range(*now, encoding) if now is not None else None


def range_json(where: types.Range) -> dict[str, Any]:
    return {
        "start": {"line": where.start.line, "character": where.start.character},
        "end": {"line": where.end.line, "character": where.end.character},
    }


def where_in_words(session: Session, path: str, shown: ShownKernel, span: SourceSpan) -> str:
    """Where a span of a kernel's result is now, to a reader of the file `path`."""
    at = place(session, shown, span)
    if at is None:
        name = "a line" if span.path == path else f"a line of {Path(span.path).name}"
        return f"{name} that was edited since"
    return _where_in_words(path, span, at)


def _where_in_words(path: str, span: SourceSpan, at: types.Range) -> str:
    line = at.start.line + 1
    return f"line {line}" if span.path == path else f"{Path(span.path).name}:{line}"


# Pulling


async def pull(session: Session, params: types.DocumentDiagnosticParams) -> Encoded:
    """`textDocument/diagnostic`: at once with what is known; the client is asked to come again when there is more. A
    client that cannot be asked waits for the end of the check."""
    uri = params.text_document.uri
    if not session.client.features.refreshes_diagnostics:
        await session.checks.settled(uri)
    document = session.documents.get(uri)
    path = document.path if document is not None else None
    items = await encoded(session, path) if path is not None else "[]"
    report = _report(session, uri, items, params.previous_result_id)
    related = await _related_documents(session, uri) if path is not None else {}
    if related:
        inner = ",".join(f"{json.dumps(other)}:{text}" for other, text in related.items())
        report = f'{report[:-1]},"relatedDocuments":{{{inner}}}}}'
    return Encoded(report)


def _report(session: Session, uri: str, items: str, previous: str | None) -> str:
    from cuda_lsp.publishing import result_id

    result = result_id(items)
    session.publisher.given(uri, result)
    if result == previous:
        return f'{{"kind":"unchanged","resultId":"{result}"}}'
    return f'{{"kind":"full","resultId":"{result}","items":{items}}}'


async def _related_documents(session: Session, uri: str) -> dict[str, str]:
    """Reports for the files that are not open in which the document's unit has findings."""
    unit = session.unit_of(uri)
    view = session.views.get(unit) if unit is not None else None
    if view is None or not session.client.features.related_documents:
        return {}
    found: dict[str, str] = {}
    for path in sorted(view.files_with_findings):
        if session.documents.at(path) is None:
            other = session.documents.uri_of(path)
            found[other] = _report(session, other, await encoded(session, path), None)
    return found


async def pull_workspace(session: Session, params: types.WorkspaceDiagnosticParams) -> Encoded:
    """`workspace/diagnostic`: files that are not open. Held until something differs from what the client has."""
    from cuda_lsp.publishing import result_id

    previous = {item.uri: item.value for item in params.previous_result_ids}
    while True:
        paths = await files_with_findings(session)
        current = {
            session.documents.uri_of(path): await encoded(session, path)
            for path in sorted(paths)
            if session.documents.at(path) is None
        }
        for uri in previous:
            current.setdefault(uri, "[]")
        # Documents that are open are the business of `textDocument/diagnostic`.
        items = [
            f'{{"kind":"full","uri":{json.dumps(uri)},"version":null,"resultId":"{result_id(text)}","items":{text}}}'
            for uri, text in current.items()
            if session.documents.get(uri) is None and result_id(text) != previous.get(uri, result_id("[]"))
        ]
        if items:
            return Encoded(f'{{"items":[{",".join(items)}]}}')
        await session.publisher.news()
        await asyncio.sleep(_POLL_PAUSE_S)
