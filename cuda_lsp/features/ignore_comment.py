"""Code actions that write the comment which suppresses a finding: ``// cuda-lsp: ignore[data-race] `` and the reason.

The comment goes behind the line, or above it where there is no room. Where the client takes snippets the cursor waits
at the reason; else it stays empty, and `unexplained-suppression` asks for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from lsprotocol import types

from analyzers.model import SourceSpan
from cuda_lsp.features.diagnostics import place
from cuda_lsp.mistakes import Mistake, Occurrence
from cuda_lsp.positions import LineIndex

if TYPE_CHECKING:
    from cuda_lsp.documents import Document
    from cuda_lsp.session import Session

KIND: Final = "quickfix.ignore"
_WIDEST_LINE: Final = 100
"""Longer ones, with the comment and without its reason, get the comment above them."""


def actions(
    session: Session,
    document: Document,
    here: Iterable[tuple[Mistake, Sequence[types.Diagnostic]]],
    wanted: types.Range,
) -> Iterator[types.CodeAction]:
    """One for each code and line in a range, given the mistakes that touch it with their diagnostics."""
    found: dict[tuple[str, int], types.CodeAction] = {}
    for mistake, diagnostics in here:
        line, hidden = _line_for(session, document, mistake, wanted)
        if line is None:
            continue
        code = mistake.code.value
        known = found.get((code, line))
        if known is not None:
            known.diagnostics = [*(known.diagnostics or ()), *diagnostics]
            continue
        edit = _edit(session, document, line, f"// cuda-lsp: ignore[{code}] ")
        if edit is not None:
            left = "" if hidden == len(mistake.occurrences) else " (other pairs of accesses stay)"
            found[code, line] = types.CodeAction(
                title=f"Ignore this {code} with a comment{left}",
                kind=KIND,
                diagnostics=list(diagnostics),
                edit=edit,
            )
    yield from found.values()


def _line_for(session: Session, document: Document, mistake: Mistake, wanted: types.Range) -> tuple[int | None, int]:
    """The 0-based line in the range where a comment hides most of a mistake, and how many of its findings it hides."""
    lines = [_lines(session, document, occurrence) for occurrence in mistake.occurrences]
    asked = range(wanted.start.line, wanted.end.line + 1)
    best: tuple[int | None, int] = None, 0
    for line in dict.fromkeys(line for each in lines for line in each if line in asked):
        hidden = sum(line in each for each in lines)
        if hidden > best[1]:
            best = line, hidden
    return best


def _lines(session: Session, document: Document, occurrence: Occurrence) -> list[int]:
    """Where a comment would be about a finding: the lines in a document at which its accesses begin."""
    finding = occurrence.finding
    spans: dict[SourceSpan, None] = dict.fromkeys([finding.span, *(access.span for access in finding.accesses)])
    at = (place(session, occurrence.shown, span) for span in spans if span.path == document.path)
    return list(dict.fromkeys(where.start.line for where in at if where is not None))


def _edit(session: Session, document: Document, line: int, comment: str) -> types.WorkspaceEdit | None:
    """None where a comment at or above a line could not be one: within a macro, a comment or a text."""
    features = session.client.features
    index = document.index
    text = index.line(line)
    if _goes_on(text) or _goes_on(index.line(line - 1)) or _begins_inside(text):
        return None
    stripped = text.rstrip()
    if not any(mark in text for mark in ("//", "/*", '"')) and len(stripped) + 2 + len(comment) <= _WIDEST_LINE:
        where, before, after = _at_end(index, line, len(stripped), session), "  ", ""
    else:
        start = types.Position(line, 0)
        where = types.Range(start, start)
        before, after = text[: len(text) - len(text.lstrip())], index.line_end
    uri = document.uri
    if features.snippet_edits and features.versioned_edits:
        snippet = types.SnippetTextEdit(range=where, snippet=types.StringValue(f"{before}{comment}$0{after}"))
        edits: list[types.TextEdit | types.SnippetTextEdit] = [snippet]
    else:
        edits = [types.TextEdit(range=where, new_text=f"{before}{comment.rstrip()}{after}")]
    if not features.versioned_edits:
        return types.WorkspaceEdit(changes={uri: [each for each in edits if isinstance(each, types.TextEdit)]})
    versioned = types.OptionalVersionedTextDocumentIdentifier(uri=uri, version=document.version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(text_document=versioned, edits=edits)])


def _at_end(index: LineIndex, line: int, length: int, session: Session) -> types.Range:
    """From the last visible character of a line to its end."""
    offset = index.byte_offset(types.Position(line, 0), session.client.features.encoding)
    text = index.line(line)
    start, end = (offset + len(part.encode()) for part in (text[:length], text))
    return index.range(start, end, session.client.features.encoding)


def _goes_on(line: str) -> bool:
    """Whether the next line belongs to this one."""
    return line.rstrip().endswith("\\")


def _begins_inside(line: str) -> bool:
    """Whether a line begins inside a comment or a text of several lines."""
    closes, opens = line.find("*/"), line.find("/*")
    return (closes >= 0 and not 0 <= opens < closes) or line.count('"') % 2 == 1
