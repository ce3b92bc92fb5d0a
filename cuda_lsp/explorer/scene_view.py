"""One scene as HTML: headline, source, time line, threads, cells, and what all of it rests on."""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.coordinates import written
from analyzers.model import ContextResult, Dim3, FactNote, Finding, LaunchSummary, Remark, Verdict
from cuda_lsp.explorer.cells import cells_drawing
from cuda_lsp.explorer.excerpt import Spot, excerpt, line_link, line_text, spots_of
from cuda_lsp.explorer.lattice import FEW_ROWS, ROWS, Mark, block_drawing, grid_drawing
from cuda_lsp.explorer.markup import Content, Markup, code, join, tag, words
from cuda_lsp.explorer.scenes import KernelView, Places, Repair, Scene
from cuda_lsp.explorer.timeline import sign, timeline
from cuda_lsp.explorer.wording import (
    FACTS,
    VERDICTS,
    bytes_text,
    count,
    does,
    headline,
    is_missed_barrier,
    is_race,
    launch_text,
    size_text,
    warp_of,
)

_MAXIMAL_FACTS = 24


def scene_view(name: str, number: int, total: int, scene: Scene, kernel: KernelView) -> Markup:
    """The article of a scene; `name` is its id."""
    parts = _finding(name, scene, scene.finding, kernel) if scene.finding is not None else _unknown(name, scene, kernel)
    title = headline(scene.finding) if scene.finding is not None else Markup(words("Not decided"))
    lead = scene.finding.message if scene.finding is not None else scene.reason.text if scene.reason is not None else ""
    return tag(
        "article",
        tag(
            "header",
            tag(
                "p",
                tag("span", VERDICTS[scene.verdict], cls=f"verdict {scene.verdict.value}"),
                tag("span", f"{number} of {total}", cls="number"),
                tag("span", "from an earlier text", cls="stale") if kernel.stale else None,
                tag("span", words(kernel.muted[scene.finding]), cls="stale")
                if scene.finding is not None and scene.finding in kernel.muted
                else None,
                cls="over",
            ),
            tag("h2", title, id=f"{name}-h", tabindex=-1),
            tag("p", words(lead), cls="lead"),
        ),
        *parts,
        id=name,
        cls="scene",
        aria_labelledby=f"{name}-h",
        data_kernel=kernel.result.name,
    )


def _finding(name: str, scene: Scene, finding: Finding, kernel: KernelView) -> Iterator[Markup]:
    places = kernel.places
    drawn = timeline(finding, kernel.result, places)
    source = excerpt(spots_of(finding), places)
    main = [
        _card("What happens when", drawn, name, "time") if drawn is not None else None,
        _card("Source", source or _gone(), name, "source"),
    ]
    side = [
        _card("The two threads" if len(finding.accesses) > 1 else "The thread", threads, name, "threads")
        if (threads := _threads(name, finding)) is not None
        else None,
        _card("The cell they share", _cell(name, finding), name, "cell") if is_race(finding) else None,
    ]
    # Two blocks take room: the columns are about as long this way.
    (main if finding.scope == "inter-block" else side).append(_basis(name, scene, finding, scene.context, kernel))
    yield tag("div", tag("div", *main, cls="main"), tag("div", *side, cls="side"), cls="columns")


def _unknown(name: str, scene: Scene, kernel: KernelView) -> Iterator[Markup]:
    """A reason: its place in the source, and no picture of anything that was not seen."""
    reason = scene.reason
    assert reason is not None
    source = excerpt([Spot(reason.span)], kernel.places) if reason.span is not None else None
    yield tag(
        "div",
        tag(
            "div",
            _card("Source", source, name, "source") if source is not None else _card("Source", _gone(), name, "source"),
            cls="main",
        ),
        tag(
            "div",
            _card(
                "What that means",
                [
                    tag(
                        "p",
                        "Nothing is claimed about this kernel under this launch: neither a race nor its absence.",
                    ),
                    tag("p", "Reason: ", code(reason.kind)),
                    *basis(scene.context, scene.launches, scene.of, kernel.places, kernel.result.span.path),
                ],
                name,
                "means",
            ),
            cls="side",
        ),
        cls="columns",
    )


def _card(title: str, content: Content, name: str, part: str) -> Markup:
    heading = tag("h3", title, id=f"{name}-{part}")
    return tag("section", heading, content, cls=f"card {part}", aria_labelledby=f"{name}-{part}")


def _gone() -> Markup:
    return tag("p", "The text of this place is not at hand, or was edited since.", cls="note doubt")


# Threads


def _threads(name: str, finding: Finding) -> Markup | None:
    witness = finding.witness
    sides = [(n, a.block, a.thread) for n, a in enumerate(finding.accesses, start=1) if a.block and a.thread]
    if witness is None or not sides:
        return None
    parts: list[Content] = [_who(number, block, thread, witness.block) for number, block, thread in sides]
    drawings: list[Content] = []
    blocks = list(dict.fromkeys(block for _, block, _ in sides))
    fits = all(_inside(block, witness.grid) and _inside(thread, witness.block) for _, block, thread in sides)
    if not fits:
        return tag("div", *parts)
    if witness.grid != (1, 1, 1):
        marks = [Mark(tuple(n for n, b, _ in sides if b == block), block) for block in blocks]
        drawings.append(
            _figure(f"Grid of {size_text(witness.grid)} blocks", grid_drawing(f"{name}-g", witness.grid, marks))
        )
    rows = ROWS if len(blocks) == 1 else FEW_ROWS
    for number, block in enumerate(blocks):
        marks = [Mark((n,), thread) for n, b, thread in sides if b == block]
        title = f"Block {written(block)}, {size_text(witness.block)} threads"
        if witness.block[1:] != (1, 1):
            title += "; coloured: the warp of each thread" if len(marks) > 1 else "; coloured: the warp of the thread"
        drawings.append(_figure(title, block_drawing(f"{name}-b{number}", witness.block, marks, rows)))
    parts.append(tag("div", *drawings, cls="drawings"))
    return tag("div", *parts)


def _inside(at: Dim3, size: Dim3) -> bool:
    return all(0 <= a < extent for a, extent in zip(at, size, strict=True))


def _who(number: int, block: Dim3, thread: Dim3, size: Dim3) -> Markup:
    warp, lane = warp_of(thread, size)
    where = tag("small", f"block {written(block)} · warp {warp}, lane {lane}")
    return tag("p", sign(number), " ", tag("b", f"thread {written(thread)}"), " ", where, cls="who")


def _figure(caption: str, drawing: Markup) -> Markup:
    return tag("figure", tag("figcaption", caption), tag("div", drawing, cls="scroll"), cls="drawing")


# The cell


def _cell(name: str, finding: Finding) -> Markup:
    witness = finding.witness
    if witness is None:
        return tag("p", "No example was found, so no cell can be named.", cls="note doubt")
    memory = f" in {finding.space} memory" if finding.space else ""
    where = tag("p", "Both touch ", code(witness.address or "the same bytes"), memory)
    drawing = cells_drawing(f"{name}-c", finding)
    if drawing is not None:
        widths = join(
            " · ",
            (
                [sign(number), f" {does(access)} {bytes_text(access.width)}"]
                for number, access in enumerate(finding.accesses, start=1)
            ),
        )
        beyond = None if witness.extents else " · how far the array reaches is not known here"
        return tag("div", where, tag("div", drawing, cls="scroll"), tag("p", widths, beyond, cls="note"))
    return tag(
        "div",
        where,
        tag(
            "p",
            "Which bytes each access touches was not seen in an execution of this, and is not drawn.",
            cls="note",
        ),
    )


# What it rests on


def _basis(name: str, scene: Scene, finding: Finding, context: ContextResult, kernel: KernelView) -> Markup:
    places = kernel.places
    parts = [*_certainty(finding), *_values(finding), *_remarks(finding, places)]
    if finding.group in kernel.runs:
        parts.insert(0, tag("p", words(kernel.runs[finding.group]), cls="run"))
    parts += [
        *_repair(kernel.repairs.get(finding.group)),
        *basis(context, scene.launches, scene.of, places, kernel.result.span.path),
    ]
    return _card("What this rests on", parts, name, "basis")


def _certainty(finding: Finding) -> Iterator[Markup]:
    witness = finding.witness
    if finding.code is Verdict.REDUNDANT_BARRIER:
        return
    if witness is None:
        sentence, sure = "Possible: no example of two threads was found.", False
    elif is_race(finding) and witness.replayed:
        sentence, sure = "Executed: an interpreter ran both threads with these values up to the collision.", True
    elif is_missed_barrier(finding) and all(access.route is not None for access in finding.accesses):
        sentence, sure = "Executed: an interpreter ran both threads with these values.", True
    elif witness.data:
        sentence, sure = "Possible: executed with the memory contents below, which nothing rules out.", False
    elif finding.code in (Verdict.ASSERTION_FAILURE, Verdict.POSSIBLE_ASSERTION_FAILURE):
        sentence, sure = "Executed: an interpreter ran the thread up to the assertion.", True
    elif finding.code is Verdict.LANE_NOT_IN_MASK and witness.replayed:
        sentence, sure = "Executed: an interpreter ran the thread with these values up to there.", True
    else:
        sentence, sure = "Possible: solved for, but not executed to the end.", False
    yield tag("p", sentence, cls="certain" if sure else "certain doubt")


def _values(finding: Finding) -> Iterator[Markup]:
    witness = finding.witness
    if witness is None:
        return
    rows = [("grid", written(witness.grid)), ("block", written(witness.block))]
    rows += [(name, str(value)) for name, value in witness.parameters]
    yield tag("h4", "Values of the example")
    yield _table(rows)
    if witness.data:
        yield tag("h4", "If memory holds")
        yield _table([(cell, str(value)) for cell, value in witness.data])


def _table(rows: list[tuple[str, str]]) -> Markup:
    return tag("dl", *(tag("div", tag("dt", code(key)), tag("dd", code(value))) for key, value in rows), cls="values")


def _remarks(finding: Finding, places: Places) -> Iterator[Markup]:
    for remark in finding.explanation:
        yield tag("p", words(_told(remark, finding, places)), cls="remark")


def _told(remark: Remark, finding: Finding, places: Places) -> str:
    return remark.told([line_text(places, place, finding.span.path) for place in remark.places])


def _repair(repair: Repair | None) -> Iterator[Markup]:
    if repair is None:
        return
    if repair.title:
        cost = f" ({repair.cost})" if repair.cost and repair.cost not in repair.title else ""
        yield tag("h4", "Proved fix")
        yield tag("p", words(repair.title + cost), cls="fix")
    elif repair.refusal:
        yield tag("h4", "No fix")
        yield tag("p", words(repair.refusal))


def basis(
    context: ContextResult, launches: tuple[LaunchSummary, ...], of: int, places: Places, reader: str
) -> Iterator[Markup]:
    """Launches, host facts and assumptions. `reader`: the file whose lines are told without its name."""
    yield tag("h4", "Launch" if of == 1 else f"Launches ({len(launches)} of {of})")
    yield tag(
        "ul",
        *(_launch(launch, places, reader) for launch in launches[:_MAXIMAL_FACTS]),
        *_more(len(launches)),
        cls="plain",
    )
    if context.facts:
        yield tag("h4", "The host says")
        facts = (_fact(fact, places, reader) for fact in context.facts[:_MAXIMAL_FACTS])
        yield tag("ul", *facts, *_more(len(context.facts)), cls="facts")
    if context.assumptions:
        summary = tag("summary", f"Assumed ({count(len(context.assumptions), 'assumption')})")
        listed = tag("ul", *(tag("li", words(assumption)) for assumption in context.assumptions))
        yield tag("details", summary, listed)


def _more(number: int) -> Iterator[Markup]:
    if number > _MAXIMAL_FACTS:
        yield tag("li", f"and {number - _MAXIMAL_FACTS} more")


def _launch(launch: LaunchSummary, places: Places, reader: str) -> Markup:
    where = [" · ", line_link(places, launch.span, reader)] if launch.span is not None else []
    return tag("li", words(launch_text(launch)), tag("small", *where))


def _fact(fact: FactNote, places: Places, reader: str) -> Markup:
    where = [" · ", line_link(places, fact.span, reader)] if fact.span is not None else []
    return tag("li", code(fact.text), tag("small", FACTS[fact.kind], *where))
