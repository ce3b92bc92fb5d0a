"""The time line of a finding: barriers as lines across the threads that meet there, accesses in the intervals between.

Time runs downwards. Two accesses in one interval stand side by side: nothing says which comes first. Only what the
executed threads did is drawn; without an execution there is the interval and no more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analyzers.coordinates import written
from analyzers.model import Access, Arrival, Finding, KernelResult, Route, SourceSpan, Verdict
from cuda_lsp.explorer.excerpt import line_link, line_text
from cuda_lsp.explorer.markup import Content, Markup, code, tag
from cuda_lsp.explorer.scenes import Places
from cuda_lsp.explorer.wording import (
    count,
    does,
    is_missed_barrier,
    is_race,
    iterations_text,
    turn_text,
    warp_of,
)

_MAXIMAL_SITES = 24


def timeline(finding: Finding, kernel: KernelResult, places: Places) -> Markup | None:
    """None where time is not what a finding is about."""
    if finding.code is Verdict.REDUNDANT_BARRIER:
        return _sites(finding, kernel, places)
    if len(finding.accesses) != 2 or not (is_race(finding) or is_missed_barrier(finding)):
        return None
    one, two = finding.accesses
    reader = kernel.span.path
    rows = [_lanes(finding), *_before(one.route, two.route, places, reader)]
    rows += _race(finding, places, reader) if is_race(finding) else _missed(finding, places, reader)
    return Markup(tag("ol", *rows, cls="time", aria_label="Time line, earliest first") + _note(finding, kernel))


def _lanes(finding: Finding) -> Markup:
    """The two threads at the heads of their lanes."""
    heads: list[Markup] = []
    for number, access in enumerate(finding.accesses, start=1):
        where: list[Content] = []
        if finding.witness is not None and access.thread is not None:
            warp, lane = warp_of(access.thread, finding.witness.block)
            where = [f"block {written(access.block)} · warp {warp} · lane {lane}"]
        head = [sign(number), " ", tag("b", f"thread {written(access.thread)}"), tag("small", *where)]
        heads.append(tag("div", *head, cls=f"head s{number}"))
    return tag("li", *heads, cls="row heads")


def sign(number: int) -> Markup:
    """The sign of a thread in text."""
    return tag("span", tag("span", str(number)), cls=f"sign s{number}", role="img", aria_label=f"thread {number}")


# Barriers


def _before(one: Route | None, two: Route | None, places: Places, reader: str) -> Iterator[Markup]:
    if one is None or two is None:
        return
    skipped = [route.passed - len(route.last) for route in (one, two)]
    if any(skipped):
        number = max(skipped)
        yield _wide("elision", f"{count(number, 'barrier')} earlier")
    else:
        yield _wide("edge", "the kernel starts")
    yield from _aligned(one.last, two.last, places, reader)


def _aligned(one: Sequence[Arrival], two: Sequence[Arrival], places: Places, reader: str) -> Iterator[Markup]:
    """The barriers of both lanes, those that both take part in on one line. Aligned from the end: the front may be cut
    off at different places."""
    rows: list[Markup] = []
    i, j = len(one) - 1, len(two) - 1
    while i >= 0 or j >= 0:
        left = one[i] if i >= 0 else None
        right = two[j] if j >= 0 else None
        if left is not None and left.common and right is not None and right.common:
            rows.append(_bar(left, places, reader))
            i, j = i - 1, j - 1
            continue
        own = (left if left and not left.common else None, right if right and not right.common else None)
        if own == (None, None):
            # The other lane's end of the line was cut off.
            own = (left, right)
        rows.append(_half_bars(*own, places, reader))
        i -= own[0] is not None
        j -= own[1] is not None
    return reversed(rows)


def _bar(arrival: Arrival, places: Places, reader: str, extra: str = "") -> Markup:
    words = "both threads meet at " if arrival.common else ""
    return tag("li", tag("div", _barrier(arrival, places, reader, words, extra), cls="bar"), cls="row wide")


def _half_bars(left: Arrival | None, right: Arrival | None, places: Places, reader: str) -> Markup:
    """Barriers that the other thread takes no part in."""
    cells: list[Markup] = []
    for number, arrival in enumerate((left, right), start=1):
        if arrival is None:
            cells.append(tag("div", cls="lane"))
        else:
            group = {"block": "orders its own block only", "warp": "orders its own lanes only"}.get(
                arrival.scope, "the other thread takes no part"
            )
            body = _barrier(arrival, places, reader, f"thread {number} passes ", group)
            cells.append(tag("div", tag("div", body, cls="bar own"), cls="lane"))
    return tag("li", *cells, cls="row")


def _barrier(arrival: Arrival, places: Places, reader: str, words: str, extra: str = "") -> Markup:
    where: list[Content] = [line_link(places, arrival.span, reader)]
    more = [part for part in (iterations_text(arrival), extra) if part]
    return tag(
        "span",
        tag("span", words, cls="hidden"),
        code(arrival.text or "barrier"),
        tag("small", *where, "".join(f" · {part}" for part in more)),
        cls="label",
    )


def _wide(name: str, sentence: str) -> Markup:
    return tag("li", tag("div", tag("span", sentence), cls=name), cls="row wide")


# Races


def _race(finding: Finding, places: Places, reader: str) -> Iterator[Markup]:
    cells = [_access(number, access, places, reader) for number, access in enumerate(finding.accesses, start=1)]
    joint = tag("div", "no order", cls="joint", aria_hidden="true")
    heading = tag("div", _interval_text(finding), cls="caption")
    yield tag(
        "li", heading, tag("div", cells[0], joint, cells[1], cls="pair"), cls=f"row interval {finding.code.value}"
    )
    yield from _behind(*(access.route for access in finding.accesses), places=places, reader=reader)


def _interval_text(finding: Finding) -> str:
    if finding.code is Verdict.BENIGN_RACE:
        return "One barrier interval: either may come first, and it makes no difference"
    if finding.scope == "inter-block":
        return "Different blocks: either may come first"
    return "One barrier interval: either may come first"


def _access(number: int, access: Access, places: Places, reader: str) -> Markup:
    turns = [
        tag("small", turn_text(turn, line_text(places, turn.span, access.span.path)), cls="turn")
        for turn in access.turns
    ]
    calls = [tag("small", "called at ", line_link(places, call, reader), cls="turn") for call in access.calls]
    return tag(
        "div",
        tag("span", sign(number), " ", does(access), cls="verb"),
        code(access.text),
        tag("small", line_link(places, access.span, reader)),
        *turns,
        *calls,
        cls=f"access s{number}",
    )


def _behind(one: Route | None, two: Route | None, places: Places, reader: str) -> Iterator[Markup]:
    if one is None or two is None:
        return
    left, right = one.next, two.next
    if left is not None and right is not None and left.common and right.common:
        yield _bar(left, places, reader)
        return
    if left is not None or right is not None:
        yield _half_bars(left, right, places, reader)
    if one.ended and two.ended:
        yield _wide("edge", "the kernel ends")


# Missed barriers


def _missed(finding: Finding, places: Places, reader: str) -> Iterator[Markup]:
    waits, misses = finding.accesses
    stays = tag(
        "div",
        tag("span", sign(1), " waits at", cls="verb"),
        code(waits.text),
        tag("small", line_link(places, waits.span, reader)),
        cls="access waits s1",
    )
    elsewhere = misses.route.next if misses.route is not None else None
    if elsewhere is not None:
        where: list[Content] = [
            tag("span", sign(2), " waits elsewhere, at", cls="verb"),
            code(elsewhere.text or "another barrier"),
            tag("small", line_link(places, elsewhere.span, reader)),
        ]
    elif finding.code is Verdict.BARRIER_AFTER_EXIT:
        where = [tag("span", sign(2), " has returned before", cls="verb"), tag("small", "CUDA counts it as arrived")]
    elif misses.route is not None and misses.route.ended:
        where = [
            tag("span", sign(2), " passes by and ends", cls="verb"),
            tag("small", "it never comes to this barrier"),
        ]
    else:
        where = [tag("span", sign(2), " does not get there", cls="verb")]
    goes = tag("div", *where, cls="access misses s2")
    joint = tag(
        "div", "" if finding.code is Verdict.BARRIER_AFTER_EXIT else "never meet", cls="joint", aria_hidden="true"
    )
    caption = (
        "The barrier waits for the threads that are left"
        if finding.code is Verdict.BARRIER_AFTER_EXIT
        else f"One of them does not come to {'it' if finding.code is Verdict.MISSING_LANES else 'the barrier'}"
    )
    yield tag(
        "li",
        tag("div", caption, cls="caption"),
        tag("div", stays, joint, goes, cls="pair"),
        cls=f"row interval {finding.code.value}",
    )


def _note(finding: Finding, kernel: KernelResult) -> Markup:
    """What the drawing does not claim."""
    if all(access.route is not None for access in finding.accesses):
        return tag(
            "p",
            "Both threads were executed with the values of the example; the barriers are those they came to.",
            cls="note",
        )
    there = f" The kernel has {count(len(kernel.barrier_sites), 'barrier')}." if kernel.barrier_sites else ""
    return tag(
        "p",
        "The barriers on the ways of the two threads are not drawn: the threads were not executed up to here, or to "
        "other turns of their loops." + there,
        cls="note doubt",
    )  # fmt: skip


# Redundant barriers


def _sites(finding: Finding, kernel: KernelResult, places: Places) -> Markup | None:
    """All barriers of the kernel, the needless one among them."""
    sites = list(kernel.barrier_sites) or [finding.span]
    if finding.span not in sites:
        sites.append(finding.span)
    reader = kernel.span.path
    rows = [_wide("edge", "the kernel starts")]
    at = sites.index(finding.span)
    shown = range(max(at - _MAXIMAL_SITES // 2, 0), min(at + _MAXIMAL_SITES // 2, len(sites)))
    if shown.start:
        rows.append(_wide("elision", f"{count(shown.start, 'barrier')} earlier"))
    for number in shown:
        rows.append(_site(sites[number], sites[number] == finding.span, finding, places, reader))
    if shown.stop < len(sites):
        rows.append(_wide("elision", f"{count(len(sites) - shown.stop, 'barrier')} later"))
    rows.append(_wide("edge", "the kernel ends"))
    listed = tag("ol", *rows, cls="time single", aria_label="The barriers of the kernel, in the order of the program")
    note = tag(
        "p",
        "The barriers as they stand in the program; loops and conditions are not drawn. Without the dashed one every "
        "pair of accesses stays ordered by another or touches different cells: proved for each launch checked.",
        cls="note",
    )
    return Markup(listed + note)


def _site(span: SourceSpan, needless: bool, finding: Finding, places: Places, reader: str) -> Markup:
    words = line_source(places, span) or finding.accesses[0].text
    label = [code(words), tag("small", line_link(places, span, reader), " · orders nothing" if needless else "")]
    bar = tag("div", tag("span", *label, cls="label"), cls="bar needless" if needless else "bar")
    return tag("li", bar, cls="row wide")


def line_source(places: Places, span: SourceSpan) -> str:
    """The text of a span that lies on one line."""
    now = places.now(span)
    if now is None or now.start_line != now.end_line:
        return ""
    lines = places.lines(now.path)
    if now.start_line > len(lines):
        return ""
    return lines[now.start_line - 1].encode()[now.start_column - 1 : now.end_column - 1].decode(errors="replace")
