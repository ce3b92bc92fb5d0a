"""Code actions that write the comment which suppresses a finding: ``// cuda-lsp: ignore[data-race] `` and the reason,
and that take one away which suppresses nothing.

The comment goes behind the line, or above it where there is no room. Where the client takes snippets the cursor waits
at the reason; else it stays empty, and `unexplained-suppression` asks for it.
"""

from __future__ import annotations

import re
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
_BRACKETS: Final = re.compile(r"\[([^\[\]]*)\]")
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


def removals(
    session: Session, document: Document, wanted: types.Range, given: Sequence[types.Diagnostic]
) -> Iterator[types.CodeAction]:
    """One for each comment in a range that suppresses nothing, or names codes that it does not; `given`: the
    diagnostics that the client shows there."""
    index, encoding = document.index, session.client.features.encoding
    for issue in session.muting.issues(document.path):
        where = index.span_range(issue.span, encoding)
        if not issue.needless or where.end < wanted.start or wanted.end < where.start:
            continue
        line = index.line(where.start.line)
        start = index.byte_offset(types.Position(where.start.line, 0), encoding)
        begin, end = (_characters(line, offset - start) for offset in (issue.span.start_offset, issue.span.end_offset))
        if issue.is_needless:
            found, text, title = _whole(line, begin, end), "", "Remove this comment, which ignores nothing"
        else:
            codes = [code.value for code in issue.needless]
            found, text = _shorter(line, begin, end, codes)
            title = f"Remove {' and '.join(codes)} from this comment"
        if found is None:
            continue
        if found == (0, len(line)) and where.start.line + 1 < index.line_count:
            place = types.Range(types.Position(where.start.line, 0), types.Position(where.start.line + 1, 0))
        else:
            at, to = (start + len(line[:character].encode()) for character in found)
            place = index.range(at, to, encoding)
        yield types.CodeAction(
            title=title,
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[each for each in given if each.code == issue.code.value and each.range == where],
            is_preferred=True if session.client.features.preferred_actions else None,
            edit=_of_one(session, document, types.TextEdit(range=place, new_text=text)),
        )


def _characters(line: str, size: int) -> int:
    """How many characters the first `size` bytes of a line are."""
    return len(line.encode()[:size].decode("utf-8", "ignore"))


def _whole(line: str, begin: int, end: int) -> tuple[int, int] | None:
    """The comment around what is said in it from `begin` to `end`, with the blanks in front of it; the whole line where
    nothing else is in it. None where the comment says more than that."""
    head = line[:begin].rstrip()
    if head.endswith("//"):
        stop = len(line)
    elif head.endswith("/*") and line[end:].lstrip().startswith("*/"):
        stop = line.index("*/", end) + 2
    else:
        return None
    first, rest = len(head) - 2, line[stop:]
    if not rest.strip():
        kept = len(head[:-2].rstrip())
        return kept, len(line)
    return first, stop + len(rest) - len(rest.lstrip())


def _shorter(line: str, begin: int, end: int, codes: Sequence[str]) -> tuple[tuple[int, int] | None, str]:
    """Where the codes in the brackets are, and what is left of them."""
    brackets = _BRACKETS.search(line, begin, end)
    if brackets is None:
        return None, ""
    left = [code for code in (each.strip() for each in brackets[1].split(",")) if code not in codes]
    return brackets.span(1), ", ".join(left)


def _of_one(session: Session, document: Document, edit: types.TextEdit | types.SnippetTextEdit) -> types.WorkspaceEdit:
    """Snippets are for clients that take edits of a version."""
    if isinstance(edit, types.TextEdit) and not session.client.features.versioned_edits:
        return types.WorkspaceEdit(changes={document.uri: [edit]})
    versioned = types.OptionalVersionedTextDocumentIdentifier(uri=document.uri, version=document.version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(text_document=versioned, edits=[edit])])


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
    if features.snippet_edits and features.versioned_edits:
        snippet = types.StringValue(f"{before}{comment}$0{after}")
        return _of_one(session, document, types.SnippetTextEdit(range=where, snippet=snippet))
    return _of_one(session, document, types.TextEdit(range=where, new_text=f"{before}{comment.rstrip()}{after}"))


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
