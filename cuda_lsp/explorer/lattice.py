"""Threads of a block and blocks of a grid as drawings: a few rectangles filled with a pattern, and two marks.

Blocks of one dimension are drawn a warp to a row, as the hardware groups them; others by their axes, with the marked
warps outlined. Of large ones only what lies around the marks is drawn, with gaps between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from analyzers.coordinates import written
from analyzers.model import Dim3
from cuda_lsp.explorer.markup import Markup, tag
from cuda_lsp.explorer.windows import Window, around
from cuda_lsp.explorer.wording import WARP, count, rank_of, size_text, warp_of

PITCH = 15
"""Pixels from one place to the next."""
PATTERN = "cells"
_COLUMNS = WARP
ROWS, FEW_ROWS = 16, 8
_LEFT, _TOP = 52, 16
_MAXIMAL_SLICES = 2


@dataclass(frozen=True, slots=True)
class Mark:
    """A thread or block that takes part: 1 or 2, or both at once for a block that holds both threads."""

    sides: tuple[int, ...]
    at: Dim3


def definitions() -> Markup:
    """The pattern that all drawings of a page are filled with."""
    cell = tag("rect", cls="cell", x="1.5", y="1.5", width=PITCH - 3, height=PITCH - 3, rx=2)
    pattern = tag("pattern", cell, id=PATTERN, width=PITCH, height=PITCH, patternUnits="userSpaceOnUse")
    return tag("svg", tag("defs", pattern), cls="definitions", width=0, height=0, aria_hidden="true", focusable="false")


def block_drawing(name: str, block: Dim3, marks: Sequence[Mark], rows: int = ROWS) -> Markup:
    """The threads of a block in about so many rows at most. `name` makes the ids of the drawing."""
    threads = block[0] * block[1] * block[2]
    parts = [f"A block of {size_text(block)} threads in {count(-(-threads // WARP), 'warp')}."]
    for mark in marks:
        warp, lane = warp_of(mark.at, block)
        who = " and ".join(map(str, mark.sides))
        parts.append(f"Thread {who} is {written(mark.at)}, lane {lane} of warp {warp}.")
    if block[1] == block[2] == 1:
        lattice = _warps(block, marks, rows)
    else:
        lattice = _by_axes(block, marks, block, rows)
    return _svg(name, "The block", " ".join(parts), lattice)


def grid_drawing(name: str, grid: Dim3, marks: Sequence[Mark]) -> Markup:
    """The blocks of a grid."""
    parts = [f"A grid of {size_text(grid)} blocks."]
    for mark in marks:
        who = "threads 1 and 2 are" if len(mark.sides) > 1 else f"thread {min(mark.sides)} is"
        parts.append(f"In block {written(mark.at)} {who}.")
    return _svg(name, "The grid", " ".join(parts), _by_axes(grid, marks, None, FEW_ROWS))


@dataclass(frozen=True, slots=True)
class _Panel:
    """One lattice: what to draw, and how much room it takes."""

    content: tuple[Markup, ...]
    width: float
    height: float


def _svg(name: str, title: str, description: str, panel: _Panel) -> Markup:
    return tag(
        "svg",
        tag("title", title, id=f"{name}-t"),
        tag("desc", description, id=f"{name}-d"),
        *panel.content,
        cls="lattice",
        role="img",
        aria_labelledby=f"{name}-t {name}-d",
        viewbox=f"0 0 {panel.width:g} {panel.height:g}",
        width=f"{panel.width:g}",
        height=f"{panel.height:g}",
    )


def _warps(block: Dim3, marks: Sequence[Mark], limit: int) -> _Panel:
    """A warp to a row."""
    columns = Window(min(block[0], WARP), ((0, min(block[0], WARP)),))
    warps = -(-block[0] // WARP)
    rows = around(warps, [mark.at[0] // WARP for mark in marks], limit)

    def length(warp: int) -> int:
        return min(WARP, block[0] - warp * WARP)

    def bands(warp: int) -> Iterator[tuple[int, int, str]]:
        sides = sorted({side for mark in marks if mark.at[0] // WARP == warp for side in mark.sides})
        if sides:
            yield 0, length(warp), _side_class(sides)

    places = [(mark, mark.at[0] % WARP, mark.at[0] // WARP) for mark in marks]
    return _lattice(columns, rows, places, bands, lambda warp: f"warp {warp}", "lane", length)


def _by_axes(size: Dim3, marks: Sequence[Mark], threads_of: Dim3 | None, limit: int) -> _Panel:
    """x to the right, y downwards, the slices along z that matter one below the other."""
    content: list[Markup] = []
    width, height = 0.0, 0.0
    slices = sorted({mark.at[2] for mark in marks})[:_MAXIMAL_SLICES] or [0]
    for z in slices:
        own = [mark for mark in marks if mark.at[2] == z]
        panel = _slice(size, z, own, marks, threads_of, limit)
        if size[2] > 1:
            label = tag("text", f"z = {z}", cls="axis", x=_LEFT, y=height + 10)
            content.append(label)
            height += 12
        content.append(tag("g", *panel.content, transform=f"translate(0 {height:g})"))
        width, height = max(width, panel.width), height + panel.height + 6
    return _Panel(tuple(content), width, height)


def _slice(
    size: Dim3, z: int, own: Sequence[Mark], marks: Sequence[Mark], threads_of: Dim3 | None, limit: int
) -> _Panel:
    columns = around(size[0], [mark.at[0] for mark in marks], _COLUMNS)
    rows = around(size[1], [mark.at[1] for mark in marks], limit)

    def bands(y: int) -> Iterator[tuple[int, int, str]]:
        """The parts of a row that belong to marked warps."""
        if threads_of is None:
            return
        sides_of: dict[int, set[int]] = {}
        for mark in marks:
            sides_of.setdefault(warp_of(mark.at, threads_of)[0], set()).update(mark.sides)
        first = rank_of((0, y, z), threads_of)
        for warp, sides in sorted(sides_of.items()):
            start, end = max(warp * WARP - first, 0), min(warp * WARP + WARP - first, size[0])
            if start < end:
                yield start, end, _side_class(sorted(sides))

    places = [(mark, mark.at[0], mark.at[1]) for mark in own]
    return _lattice(columns, rows, places, bands, lambda y: f"y = {y}" if size[1] > 1 else "", "x", lambda _: size[0])


def _side_class(sides: Sequence[int]) -> str:
    return f"s{sides[0]}" if len(sides) == 1 else "s12"


def _lattice(
    columns: Window,
    rows: Window,
    places: Sequence[tuple[Mark, int, int]],
    bands: Callable[[int], Iterator[tuple[int, int, str]]],
    row_label: Callable[[int], str],
    column_name: str,
    length: Callable[[int], int],
) -> _Panel:
    """`places`: marks with column and row; `bands` gives the coloured parts of a row as (start, end, class), `length`
    how many places a row has."""
    drawn: list[Markup] = []
    left = _LEFT
    for start, end in rows.ranges:
        for row in range(start, end):
            y = _TOP + PITCH * (rows.slot(row) or 0)
            drawn.extend(_row(columns, row, y, left, bands(row), length(row)))
            label = row_label(row)
            marked = any(place[2] == row for place in places)
            if label and (marked or row == start or row == end - 1 or rows.slots() <= ROWS):
                drawn.append(_text(label, left - 7, y + 11, "axis end" + (" strong" if marked else "")))
    for slot in rows.gap_slots():
        drawn.append(_text("⋮", left + PITCH / 2, _TOP + PITCH * slot + 11, "gap"))
    for slot in columns.gap_slots():
        for start, end in rows.ranges:
            for row in range(start, end):
                drawn.append(
                    _text("⋯", left + PITCH * slot + PITCH / 2, _TOP + PITCH * (rows.slot(row) or 0) + 11, "gap")
                )
    drawn.extend(_column_labels(columns, left, column_name, [column for _, column, _ in places]))
    for mark, column, row in places:
        x, y = columns.slot(column), rows.slot(row)
        if x is not None and y is not None:
            drawn.append(symbol(mark.sides, left + PITCH * x + PITCH / 2, _TOP + PITCH * y + PITCH / 2))
    return _Panel(tuple(drawn), left + PITCH * columns.slots() + 8, _TOP + PITCH * rows.slots() + 4)


def _row(
    columns: Window, row: int, y: float, left: float, bands: Iterator[tuple[int, int, str]], length: int
) -> Iterator[Markup]:
    """The places of one row, and the coloured parts of it."""
    coloured = list(bands)
    for start, end in columns.ranges:
        x = left + PITCH * (columns.slot(start) or 0)
        shown = min(end, length) - start
        if shown > 0:
            for first, last, name in coloured:
                low, high = max(first, start), min(last, start + shown)
                if low < high:
                    yield tag(
                        "rect", cls=f"band {name}", x=x + PITCH * (low - start), y=y, width=PITCH * (high - low),
                        height=PITCH, rx=3,
                    )  # fmt: skip
            yield tag(
                "rect", fill=f"url(#{PATTERN})", transform=f"translate({x:g} {y:g})", width=PITCH * shown, height=PITCH
            )


def _column_labels(columns: Window, left: float, name: str, marked: Sequence[int]) -> Iterator[Markup]:
    """The numbers of the marked columns and of the ends of each range, as far as they do not touch."""
    wanted = [*marked, *(at for start, end in columns.ranges for at in (start, end - 1))]
    taken: list[float] = []
    for column in dict.fromkeys(wanted):
        slot = columns.slot(column)
        if slot is None or any(abs(slot - other) * PITCH < 7 * len(str(column)) + 8 for other in taken):
            continue
        taken.append(slot)
        strong = " strong" if column in marked else ""
        yield _text(str(column), left + PITCH * slot + PITCH / 2, _TOP - 5, f"axis mid{strong}")
    yield _text(name, left - 6, _TOP - 5, "axis end")


def symbol(sides: Sequence[int], x: float, y: float) -> Markup:
    """The sign of a thread: a circle for the first, a square on its corner for the second; both for a block of both."""
    if len(sides) > 1:
        return tag(
            "g",
            tag("rect", x=x - 12, y=y - 8, width=24, height=16, rx=8, cls="symbol both"),
            _text("1·2", x, y + 3.5, "number"),
        )
    shape = (
        tag("circle", cx=x, cy=y, r=8, cls="symbol s1")
        if sides[0] == 1
        else tag("path", d=f"M{x:g} {y - 9.5:g}l9.5 9.5-9.5 9.5-9.5-9.5z", cls="symbol s2")
    )
    return tag("g", shape, _text(str(sides[0]), x, y + 3.5, "number"))


def _text(value: str, x: float, y: float, name: str) -> Markup:
    return tag("text", value, x=f"{x:g}", y=f"{y:g}", cls=name)
