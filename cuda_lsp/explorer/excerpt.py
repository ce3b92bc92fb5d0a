"""Source lines around the accesses of a finding, with what each thread does marked in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from analyzers.model import Finding, SourceSpan
from cuda_lsp.explorer.markup import Content, Markup, tag, text
from cuda_lsp.explorer.scenes import Places
from cuda_lsp.explorer.wording import does, is_missed_barrier

_AROUND = 2
_NEAR = 4
"""Lines between two accesses that are shown rather than left out."""
_MAXIMAL_COLUMNS = 400
_TAB = "    "

_TOKENS = re.compile(
    r"(?P<comment>//.*|/\*.*?(?:\*/|$))"
    r"|(?P<string>\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*')"
    r"|(?P<directive>^\s*#\s*\w+)"
    r"|(?P<number>\b(?:0[xX][0-9a-fA-F]+|\d[\d.]*(?:[eE][+-]?\d+)?)[a-zA-Z]*\b)"
    r"|(?P<cuda>\b(?:__\w+__|__syncthreads\w*|__syncwarp|threadIdx|blockIdx|blockDim|gridDim|warpSize|atomic\w+)\b)"
    r"|(?P<keyword>\b(?:alignas|auto|bool|break|case|char|class|const|constexpr|continue|default|do|double|else|enum|"
    r"extern|false|float|for|goto|half|if|inline|int|long|namespace|nullptr|operator|return|short|signed|sizeof|static|"
    r"struct|switch|template|this|true|typedef|typename|union|unsigned|using|void|volatile|while|dim3|size_t|u?int\d+_t)\b)"
)


def line_text(places: Places, span: SourceSpan, reader: str | None = None) -> str:
    """Where a place is, in words, to somebody who reads the file `reader`."""
    now = places.now(span)
    if now is None:
        return "a line that was edited since"
    return f"line {now.start_line}" if reader == span.path else f"{places.shown(span.path)}:{now.start_line}"


def line_link(places: Places, span: SourceSpan, reader: str) -> Markup:
    """The line of a place, with its file unless that is `reader`; an editor makes it a link."""
    now = places.now(span)
    if now is None:
        return text("a line that was edited since")
    uri = places.uri(now.path)
    place = {"data_uri": uri, "data_line": now.start_line - 1} if uri is not None else {}
    return tag("span", _line_in(places, now, reader), cls="place", title=places.shown(now.path), **place)


def _line_in(places: Places, now: SourceSpan, reader: str) -> str:
    return f"line {now.start_line}" if now.path == reader else f"{places.shown(now.path)}:{now.start_line}"


def lines_text(places: Places, spans: Sequence[SourceSpan], reader: str) -> str:
    """The lines of some places as they are now, `line 12` or `lines 12, 14`, those outside of the file `reader` with
    theirs; empty where none is there any more."""
    found = [now for span in spans if (now := places.now(span)) is not None]
    numbers = list(dict.fromkeys(now.start_line for now in found if now.path == reader))
    own = [f"{'line' if len(numbers) == 1 else 'lines'} {', '.join(map(str, numbers))}"] if numbers else []
    others = [_line_in(places, now, reader) for now in found if now.path != reader]
    return ", ".join(dict.fromkeys(own + others))


@dataclass(frozen=True, slots=True)
class Spot:
    """A place to mark: `side` 1 or 2 for what a thread does there, 0 for a place of no thread."""

    span: SourceSpan
    side: int = 0
    hint: str = ""
    """The same in words, for those who do not see the mark."""


def spots_of(finding: Finding) -> list[Spot]:
    """What is marked for a finding: where each of its threads is."""
    if is_missed_barrier(finding) and len(finding.accesses) == 2:
        waits, misses = finding.accesses
        found = [Spot(waits.span, 1, " (thread 1 waits here)")]
        if misses.route is not None and misses.route.next is not None:
            found.append(Spot(misses.route.next.span, 2, " (thread 2 waits here)"))
        return found
    if len(finding.accesses) == 1:
        return [Spot(finding.accesses[0].span)]
    return [
        Spot(access.span, number, f" (thread {number} {does(access)})")
        for number, access in enumerate(finding.accesses, start=1)
    ]


def excerpt(spots: Sequence[Spot], places: Places) -> Markup | None:
    """The lines of some places, each file for itself; None when nothing of them is left."""
    marks: dict[str, list[tuple[SourceSpan, str, str]]] = {}
    for spot in spots:
        now = places.now(spot.span)
        if now is not None:
            marks.setdefault(now.path, []).append((now, f"s{spot.side}" if spot.side else "at", spot.hint))
    parts = [part for path, found in marks.items() if (part := _file(path, found, places)) is not None]
    return tag("div", *parts, cls="source") if parts else None


def _file(path: str, marks: Sequence[tuple[SourceSpan, str, str]], places: Places) -> Markup | None:
    lines = places.lines(path)
    if not lines:
        return None
    wanted = sorted(
        {
            number
            for span, _, _ in marks
            for number in range(span.start_line - _AROUND, min(span.end_line, span.start_line + _NEAR) + _AROUND + 1)
            if 1 <= number <= len(lines)
        }
    )
    rows: list[Markup] = []
    previous: int | None = None
    for number in wanted:
        if previous is not None and number > previous + 1:
            between = range(previous + 1, number)
            if len(between) <= _NEAR:
                rows.extend(_line(path, at, lines, [], places) for at in between)
            else:
                rows.append(tag("li", tag("span", "⋯", cls="ln"), tag("span", cls="code"), cls="left-out"))
        rows.append(_line(path, number, lines, marks, places))
        previous = number
    if not rows:
        return None
    caption = tag("figcaption", places.shown(path))
    return tag("figure", caption, tag("ol", *rows, cls="lines", aria_label=f"Source, {places.shown(path)}"))


def _line(
    path: str, number: int, lines: Sequence[str], marks: Sequence[tuple[SourceSpan, str, str]], places: Places
) -> Markup:
    here = [mark for mark in marks if mark[0].start_line == number]
    uri = places.uri(path)
    place = {"data_uri": uri, "data_line": number - 1} if uri is not None else {}
    sides = "".join(dict.fromkeys(f" has-{name}" for _, name, _ in here))
    return tag(
        "li",
        tag("span", str(number), cls="ln", **place),
        tag("span", *_marked(lines[number - 1], here), cls="code"),
        cls=("hit" + sides) if here else None,
    )


def _marked(line: str, marks: Sequence[tuple[SourceSpan, str, str]]) -> Iterator[Content]:
    """A line's text with its marks, which may overlap: each piece has the classes of all marks it lies in."""
    ranges = [(_column(line, span, end=False), _column(line, span, end=True), name, hint) for span, name, hint in marks]
    limit = min(len(line), _MAXIMAL_COLUMNS)
    cuts = sorted({0, limit, *(min(at, limit) for start, end, _, _ in ranges for at in (start, end))})
    for start, end in pairwise(cuts):
        inside = [each for each in ranges if each[0] <= start and end <= each[1]]
        piece = _coloured(line[:limit], start, end)
        if not inside:
            yield piece
            continue
        names = " ".join(dict.fromkeys(name for _, _, name, _ in inside))
        ending = [each for each in inside if each[1] == end]
        hints = tag("span", *(hint for _, _, _, hint in ending if hint), cls="hidden")
        yield tag("mark", piece, hints if any(hint for _, _, _, hint in ending) else None, cls=names)
    if len(line) > _MAXIMAL_COLUMNS:
        yield " …"


def _column(line: str, span: SourceSpan, *, end: bool) -> int:
    """The index into a line where a span starts or ends; columns of spans are bytes."""
    if end and span.end_line != span.start_line:
        return len(line)
    column = span.end_column if end else span.start_column
    return len(line.encode()[: column - 1].decode(errors="replace"))


def _coloured(line: str, start: int, end: int) -> list[Content]:
    """A piece of a line with comments, words of the language and numbers told apart."""
    pieces: list[Content] = []
    at = start
    for match in _TOKENS.finditer(line):
        low, high = max(match.start(), start), min(match.end(), end)
        if low >= high or match.lastgroup is None:
            continue
        pieces += [_tabs(line[at:low]), tag("span", _tabs(line[low:high]), cls=f"t-{match.lastgroup}")]
        at = high
    pieces.append(_tabs(line[at:end]))
    return pieces


def _tabs(value: str) -> str:
    return value.replace("\t", _TAB)
