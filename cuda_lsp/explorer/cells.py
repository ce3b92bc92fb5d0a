"""The cells that two accesses touch: the array around the common one, what each thread touches above and below."""

from __future__ import annotations

from collections.abc import Sequence

from analyzers.model import Access, Finding, Witness
from cuda_lsp.explorer.lattice import symbol
from cuda_lsp.explorer.markup import Markup, tag
from cuda_lsp.explorer.windows import Window, around
from cuda_lsp.explorer.wording import bytes_text, does

_HEIGHT, _TOP, _LIMIT = 34, 34, 9
_CHARACTER = 7.4


def cells_drawing(name: str, finding: Finding) -> Markup | None:
    """None where the threads were not executed: which bytes they touch is not known then."""
    witness = finding.witness
    ranges = [(a.offset, a.offset + a.width) for a in finding.accesses if a.offset is not None]
    if witness is None or len(ranges) != 2 or any(start < 0 or end <= start for start, end in ranges):
        return None
    unit = _unit(witness.element, ranges)
    spans = [(start // unit, -(-end // unit)) for start, end in ranges]
    common = (max(start for start, _ in spans), min(end for _, end in spans))
    first, last = min(start for start, _ in spans), max(end for _, end in spans)
    base = max(first - 2, 0)
    total = _total(witness, unit)
    end = min(last + 2, total) if total is not None else last + 2
    marks = sorted({start - base for start, _ in spans} | {end - 1 - base for _, end in spans})
    window = around(end - base, marks, _LIMIT + len(marks) * 2)
    labels = [_label(witness, unit, base + i) for start, stop in window.ranges for i in range(start, stop)]
    width = max(44.0, max(len(label) for label in labels) * _CHARACTER + 12)
    touched = {i for start, stop in spans for i in range(start, stop)} if total is None else None
    drawn = list(_cells(witness, unit, base, window, common, width, touched))
    for number, (access, span) in enumerate(zip(finding.accesses, spans, strict=True), start=1):
        drawn.extend(_bracket(number, access, (span[0] - base, span[1] - base), window, width))
    size = (width * window.slots() + 16, _TOP * 2 + _HEIGHT)
    return tag(
        "svg",
        tag("title", f"The cells of {finding.object or 'memory'}", id=f"{name}-t"),
        tag("desc", _alternative(finding, witness), id=f"{name}-d"),
        *drawn,
        cls="memory",
        role="img",
        aria_labelledby=f"{name}-t {name}-d",
        viewbox=f"0 0 {size[0]:g} {size[1]:g}",
        width=f"{size[0]:g}",
        height=f"{size[1]:g}",
    )


def _alternative(finding: Finding, witness: Witness) -> str:
    sides = [
        f"Thread {number} {does(access)} {bytes_text(access.width)} at byte {access.offset}"
        for number, access in enumerate(finding.accesses, start=1)
    ]
    return f"{'; '.join(sides)}. Both touch {witness.address}."


def _unit(element: int, ranges: Sequence[tuple[int, int]]) -> int:
    """Bytes that one drawn cell stands for: an element, or a byte where accesses split elements."""
    if element > 0 and all(start % element == 0 and end % element == 0 for start, end in ranges):
        return element
    return 1


def _total(witness: Witness, unit: int) -> int | None:
    """How many cells the array has, where it was declared with extents."""
    if not witness.extents or not witness.element:
        return None
    elements = 1
    for extent in witness.extents:
        elements *= extent
    return elements * witness.element // unit if elements > 0 else None


def _label(witness: Witness, unit: int, index: int) -> str:
    """A cell's subscripts; of a byte its number."""
    if unit != witness.element:
        return f"byte {index}"
    parts: list[int] = []
    for extent in reversed(witness.extents[1:]):
        parts.append(index % extent)
        index //= extent
    parts.append(index)
    return "".join(f"[{part}]" for part in reversed(parts))


def _cells(
    witness: Witness,
    unit: int,
    base: int,
    window: Window,
    common: tuple[int, int],
    width: float,
    touched: set[int] | None,
) -> list[Markup]:
    """`touched`: the cells that exist for certain; None where all that are drawn do."""
    drawn: list[Markup] = []
    for start, stop in window.ranges:
        for i in range(start, stop):
            x = 8 + width * (window.slot(i) or 0)
            hit = common[0] <= base + i < common[1]
            beyond = touched is not None and base + i not in touched
            drawn.append(
                tag(
                    "rect",
                    cls="box hit" if hit else "box beyond" if beyond else "box",
                    x=x + 1,
                    y=_TOP,
                    width=width - 2,
                    height=_HEIGHT,
                    rx=3,
                )
            )
            drawn.append(
                tag(
                    "text", _label(witness, unit, base + i), cls="index hit" if hit else "index",
                    x=f"{x + width / 2:g}", y=_TOP + 22,
                )
            )  # fmt: skip
    for slot in window.gap_slots():
        drawn.append(tag("text", "⋯", cls="gap", x=f"{8 + width * (slot + 0.5):g}", y=_TOP + 21))
    return drawn


def _bracket(number: int, access: Access, span: tuple[int, int], window: Window, width: float) -> list[Markup]:
    """What one thread touches: the first above the cells, the second below."""
    first, last = window.slot(span[0]), window.slot(span[1] - 1)
    if first is None or last is None:
        return []
    left, right = 8 + width * first + 3, 8 + width * (last + 1) - 3
    edge, turn = (_TOP - 4, -5) if number == 1 else (_TOP + _HEIGHT + 4, 5)
    middle = (left + right) / 2
    line = tag("path", cls=f"bracket s{number}", d=f"M{left:g} {edge}v{turn}H{right:g}v{-turn}")
    y = edge + (-15 if number == 1 else 15)
    label = tag("text", f"{does(access)}", cls=f"who s{number}", x=f"{middle + 14:g}", y=f"{y + 4:g}")
    # The word stands beside the sign, on the side where there is room.
    if middle + 14 + len(does(access)) * _CHARACTER > width * window.slots() + 16:
        label = tag("text", f"{does(access)}", cls=f"who end s{number}", x=f"{middle - 14:g}", y=f"{y + 4:g}")
    return [line, symbol((number,), middle, y), label]
