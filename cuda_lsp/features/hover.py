"""`textDocument/hover`: on an access the two threads that collide, on a kernel's name and on a launch the verdicts.

The text is made of a few kinds of blocks and rendered as Markdown, or as plain text for clients without it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types

from analyzers.coordinates import written
from analyzers.model import ContextResult, FactNote, Finding, KernelResult, LaunchSummary, SourceSpan, Verdict, Witness
from cuda_lsp.documents import path_of
from cuda_lsp.features import run_results
from cuda_lsp.features.diagnostics import describe_access, describe_turns, dimensions, mistakes, muted, where_in_words
from cuda_lsp.features.kernels import is_meant, of_document
from cuda_lsp.mistakes import Mistake, Occurrence

if TYPE_CHECKING:
    from cuda_lsp.session import Session
    from cuda_lsp.unit_view import ShownKernel

_SCOPES = {
    "intra-warp": "in one warp",
    "intra-block": "in one block, in different warps",
    "inter-block": "in different blocks",
}
_SOURCES = {"launch": "launched", "user": "with the given launch", "default": "without a known launch"}
_MAXIMAL_LISTED = 12
_SPECIAL = re.compile(r"([\\*_{}\[\]<>#|~])")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text. Text between backquotes is source code. `level` 0 is a paragraph, 1 a list item, 2 one in it."""

    text: str
    level: int = 0
    bold: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that belong together; blocks are separated."""

    lines: list[Line] = field(default_factory=list[Line])

    def add(self, text: str, level: int = 0, *, bold: bool = False) -> None:
        self.lines.append(Line(text, level, bold))


@dataclass(frozen=True, slots=True)
class _Places:
    """Says in words where something is now, to somebody who looks at a file."""

    session: Session
    path: str

    def line(self, shown: ShownKernel, span: SourceSpan) -> str:
        return where_in_words(self.session, self.path, shown, span)


def hover(session: Session, params: types.HoverParams) -> types.Hover | None:
    """Nothing where there is nothing to say."""
    document = session.documents.get(params.text_document.uri)
    if document is None:
        return None
    encoding = session.client.features.encoding
    offset = document.index.byte_offset(params.position, encoding)
    session.attention = (document.path, offset)
    found = _at(session, document.path, offset)
    if found is None:
        return None
    blocks, (start, end) = found
    markdown = session.client.features.hover_markdown
    contents = types.MarkupContent(
        kind=types.MarkupKind.Markdown if markdown else types.MarkupKind.PlainText,
        value=render(blocks, markdown=markdown),
    )
    return types.Hover(contents=contents, range=document.index.range(start, end, encoding))


def about_kernel(session: Session, uri: str, name: str) -> str | None:
    """What is known of the kernels with a name, as plain text; None where a document has none."""
    document = session.documents.get(uri)
    path = document.path if document is not None else path_of(uri, session.top or str(Path.cwd()))
    places = _Places(session, path)
    blocks = [
        block
        for _, shown in of_document(session, path)
        if is_meant(shown, name)
        for block in _describe_kernel(places, shown, shown.result.contexts)
    ]
    return render(blocks, markdown=False) if blocks else None


_Found = tuple[list[Block], tuple[int, int]]


def _at(session: Session, path: str, offset: int) -> _Found | None:
    """What there is to say about a place: of the spans that hold it the smallest counts."""
    candidates: list[tuple[int, int, list[Block], tuple[int, int]]] = []
    places = _Places(session, path)
    for mistake in mistakes(session, path):
        reach = _reach_of_mistake(mistake, path, offset)
        if reach is not None:
            blocks = _describe_mistake(places, mistake, headed=not _is_told_above(session, mistake, path, offset))
            candidates.append((reach[1] - reach[0], 0, blocks, reach))
    for blocks, reach in _comment_places(places, offset):
        candidates.append((reach[1] - reach[0], 0, blocks, reach))
    for view in session.views.values():
        for shown in view.kernels.values():
            if shown.touches(path, offset):
                for blocks, reach in _kernel_places(places, offset, shown):
                    candidates.append((reach[1] - reach[0], 1, blocks, reach))
    if not candidates:
        return None
    size, _, _, reach = min(candidates, key=lambda each: each[:2])
    chosen = [each for each in candidates if each[0] == size and each[3] == reach]
    return [block for each in sorted(chosen, key=lambda each: each[1]) for block in each[2]], reach


def _comment_places(places: _Places, offset: int) -> Iterator[_Found]:
    """A suppression that holds an offset, with what it keeps out of sight."""
    for suppression in places.session.muting.comments_of(places.path).suppressions:
        reach = (suppression.span.start_offset, suppression.span.end_offset)
        if _holds(reach, offset):
            hidden: dict[tuple[Verdict, str], Occurrence] = {}
            for path in dict.fromkeys((places.path, *places.session.views)):
                for occurrence, mute in muted(places.session, path):
                    if mute.suppression == suppression:
                        hidden.setdefault((occurrence.finding.code, occurrence.finding.group), occurrence)
            block = Block()
            head = "suppressed here, which is no proof:" if hidden else "nothing is suppressed here"
            block.add(head, bold=True)
            for each in list(hidden.values())[:_MAXIMAL_LISTED]:
                finding = each.finding
                where = places.line(each.shown, finding.span)
                block.add(f"{finding.code.value} in `{each.shown.result.name}`: {finding.message} ({where})", 1)
            yield [block], reach


def _reach_of_mistake(mistake: Mistake, path: str, offset: int) -> tuple[int, int] | None:
    """The smallest place of a mistake's accesses that holds an offset."""
    found: list[tuple[int, int]] = []
    for occurrence in mistake.occurrences:
        spans = [occurrence.finding.span, *(access.span for access in occurrence.finding.accesses)]
        for span in spans:
            if span.path == path and _holds(now := occurrence.shown.now(span), offset):
                assert now is not None
                found.append(now)
    return min(found, key=lambda each: each[1] - each[0], default=None)


def _kernel_places(places: _Places, offset: int, shown: ShownKernel) -> Iterator[_Found]:
    """A kernel's name, its launches, and places of `unknown` reasons that hold an offset."""
    result, path = shown.result, places.path
    if result.span.path == path and _holds(now := shown.now(result.span), offset):
        assert now is not None
        yield _describe_kernel(places, shown, result.contexts), now
    launches: dict[SourceSpan, list[ContextResult]] = {}
    for context in result.contexts:
        if context.launch.span is not None and context.launch.span.path == path:
            launches.setdefault(context.launch.span, []).append(context)
        for reason in context.reasons:
            if reason.span is not None and reason.span.path == path and _holds(now := shown.now(reason.span), offset):
                assert now is not None
                block = Block()
                block.add(f"unknown: `{result.name}` could not be decided here", bold=True)
                block.add(reason.text)
                yield [block], now
    for span, contexts in launches.items():
        if _holds(now := shown.now(span), offset):
            assert now is not None
            yield _describe_kernel(places, shown, contexts), now


def _holds(now: tuple[int, int] | None, offset: int) -> bool:
    return now is not None and now[0] <= offset <= now[1]


# What is said


def _is_told_above(session: Session, mistake: Mistake, path: str, offset: int) -> bool:
    """Whether the client shows the diagnostic of a mistake, with its code and message, above the hover."""
    span = mistake.first.finding.span
    here = span.path == path and _holds(mistake.first.shown.now(span), offset)
    return here and session.client.features.hover_has_diagnostics


def _describe_mistake(places: _Places, mistake: Mistake, *, headed: bool) -> list[Block]:
    first = mistake.first
    finding, context = first.finding, first.context
    head = Block()
    if headed:
        head.add(f"{finding.code.value}: {finding.message}", bold=True)
    if first.shown.stale:
        head.add("From an earlier text: the current one could not be checked.")
    who = Block()
    for access in finding.accesses:
        turns = describe_turns(access, lambda span: places.line(first.shown, span))
        where = places.line(first.shown, access.span)
        size = f", {_count(access.width, 'byte')}" if access.width else ""
        who.add(f"{describe_access(finding, access)}, {where}{size}{turns}", 1)
        for call in access.calls:
            who.add(f"called from {places.line(first.shown, call)}", 2)
    how = Block()
    if finding.scope is not None:
        memory = f", in {finding.space} memory" if finding.space else ""
        name = f", object `{finding.object}`" if finding.object else ""
        how.add(f"The two threads are {_SCOPES[finding.scope]}{memory}{name}.")
    if finding.witness is not None:
        for line in _describe_witness(finding.witness):
            how.add(line, 1)
    more = Block()
    for remark in finding.explanation:
        more.add(remark.told([places.line(first.shown, place) for place in remark.places]), 0)
    views, group, path = places.session.views.values(), mistake.group, finding.span.path
    refusal = next((view.refusals[group] for view in views if view.refuses(group, path)), None)
    if refusal is not None:
        more.add(f"No fix: {refusal}")
    ran = Block()
    for occurrence in mistake.occurrences:
        for text, level in run_results.hover_lines(places.session, occurrence.shown, mistake.group):
            ran.add(text, level)
        if ran.lines:
            break
    blocks = [head, who, how, ran, more, _describe_basis(places, first.shown, context)]
    others = _describe_others(places, mistake)
    return [block for block in [*blocks, others] if block.lines]


def _describe_witness(witness: Witness) -> Iterator[str]:
    yield f"grid {written(witness.grid)}, block {written(witness.block)}"
    if witness.address:
        yield f"both touch `{witness.address}`"
    if witness.parameters:
        yield "with " + ", ".join(f"`{name} = {value}`" for name, value in witness.parameters)
    if witness.iterations:
        yield "in iteration " + ", ".join(f"{value} of {loop}" for loop, value in witness.iterations)
    if witness.data:
        yield "if memory holds " + ", ".join(f"`{name} = {value}`" for name, value in witness.data)
    if witness.replayed:
        yield "replayed: executing both threads with these values reaches both accesses"


def _describe_basis(places: _Places, shown: ShownKernel, context: ContextResult) -> Block:
    block = Block()
    if context.facts:
        block.add("Host facts used:")
        for fact in context.facts[:_MAXIMAL_LISTED]:
            block.add(_fact(places, shown, fact), 1)
    if context.assumptions:
        block.add("Assumed:")
        for assumption in context.assumptions[:_MAXIMAL_LISTED]:
            block.add(assumption, 1)
    return block


def _fact(places: _Places, shown: ShownKernel, fact: FactNote) -> str:
    where = f", {places.line(shown, fact.span)}" if fact.span is not None else ""
    return f"`{fact.text}` ({fact.kind}{where})"


def _describe_others(places: _Places, mistake: Mistake) -> Block:
    block = Block()
    if mistake.contexts > 1:
        distinct: dict[int, Occurrence] = {id(each.context): each for each in mistake.occurrences}
        block.add(f"In {len(distinct)} of {mistake.contexts} launches:")
        for occurrence in list(distinct.values())[:_MAXIMAL_LISTED]:
            name = occurrence.shown.result.name
            block.add(f"`{name}` {_launch(places, occurrence.shown, occurrence.context.launch)}", 1)
    return block


def _describe_kernel(places: _Places, shown: ShownKernel, contexts: Sequence[ContextResult]) -> list[Block]:
    kernel: KernelResult = shown.result
    head = Block()
    verdict = min((context.verdict for context in contexts), key=lambda each: each.rank, default=kernel.verdict)
    head.add(f"{verdict.value}: `{kernel.name}`", bold=True)
    if shown.stale:
        head.add("From an earlier text: the current one could not be checked.")
    head.add(
        f"{_count(kernel.shared_accesses, 'access', 'accesses')} to shared and {kernel.global_accesses} to global "
        f"memory, {_count(kernel.barriers, 'barrier')}"
    )
    blocks = [head]
    for context in contexts[:_MAXIMAL_LISTED]:
        block = Block()
        block.add(f"{context.verdict.value} {_launch(places, shown, context.launch)}", bold=True)
        for finding in _distinct(context.findings):
            mute = places.session.muting.muted(shown, finding)
            told = f"; {mute.text}" if mute is not None else ""
            block.add(f"{finding.code.value}: {finding.message} ({places.line(shown, finding.span)}{told})", 1)
        for reason in context.reasons:
            where = f" ({places.line(shown, reason.span)})" if reason.span is not None else ""
            block.add(f"{reason.text}{where}", 1)
        block.lines.extend(_describe_basis(places, shown, context).lines)
        blocks.append(block)
    if len(contexts) > _MAXIMAL_LISTED:
        rest = Block()
        rest.add(f"and {len(contexts) - _MAXIMAL_LISTED} more launches")
        blocks.append(rest)
    return blocks


def _distinct(findings: Sequence[Finding]) -> list[Finding]:
    kept: dict[tuple[Verdict, str], Finding] = {}
    for finding in findings:
        kept.setdefault((finding.code, finding.group), finding)
    return list(kept.values())[:_MAXIMAL_LISTED]


def _launch(places: _Places, shown: ShownKernel, launch: LaunchSummary) -> str:
    sizes = f"grid `{dimensions(launch.grid)}`, block `{dimensions(launch.block)}`"
    if launch.source == "default":
        return _SOURCES["default"]
    where = f" at {places.line(shown, launch.span)}" if launch.span is not None else ""
    return f"{_SOURCES[launch.source]}{where}: {sizes}"


def _count(number: int, noun: str, nouns: str = "") -> str:
    return f"{number} {noun if number == 1 else nouns or noun + 's'}"


# How it is written


def render(blocks: Sequence[Block], *, markdown: bool) -> str:
    if markdown:
        return "\n\n".join("\n".join(_markdown(block)) for block in blocks)
    return "\n\n".join("\n".join(_plain(line) for line in block.lines) for block in blocks)


def _markdown(block: Block) -> Iterator[str]:
    previous = 0
    for number, line in enumerate(block.lines):
        parts = line.text.split("`")
        text = "".join(f"`{part}`" if odd % 2 else _SPECIAL.sub(r"\\\1", part) for odd, part in enumerate(parts))
        if line.bold:
            text = f"**{text}**"
        if line.level:
            # A list after a paragraph needs no empty line, a paragraph after a list does.
            yield f"{'  ' * (line.level - 1)}- {text}"
        else:
            if number and previous:
                yield ""
            yield text + ("  " if number + 1 < len(block.lines) and not block.lines[number + 1].level else "")
        previous = line.level


def _plain(line: Line) -> str:
    text = line.text.replace("`", "")
    return f"{'  ' * (line.level - 1)}- {text}" if line.level else text
