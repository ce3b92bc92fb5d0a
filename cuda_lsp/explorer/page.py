"""The whole page: an index where there are several kernels, and the scenes of each, with style and script inside.

The content security policy of the page names its style and its script by their hashes and allows nothing else: no
network, no inline handlers. Without the script all scenes stand one below the other.
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from analyzers.model import KernelResult, UnitResult, Verdict
from cuda_lsp.explorer.excerpt import line_link, lines_text
from cuda_lsp.explorer.lattice import definitions
from cuda_lsp.explorer.markup import Content, Markup, code, tag, text, words
from cuda_lsp.explorer.scene_view import basis, scene_view
from cuda_lsp.explorer.scenes import KernelView, Scene, scenes_of
from cuda_lsp.explorer.wording import VERDICTS, count, does, headline

_ASSETS = Path(__file__).parent / "assets"


def render(title: str, kernels: Sequence[KernelView], notices: Sequence[str] = (), *, uri: str | None = None) -> str:
    """The page of some kernels. `notices`: what could not be analysed. `uri`: of the document, for an editor that shows
    the page."""
    style, script = _asset("explorer.css"), _asset("explorer.js")
    policy = f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; base-uri 'none'"
    names = [f"k{number}" for number in range(1, len(kernels) + 1)]
    body = [
        definitions(),
        tag("a", "Skip to the finding", href="#main", cls="skip"),
        _index(title, list(zip(names, kernels, strict=True)), notices) if len(kernels) != 1 or notices else None,
        tag(
            "main",
            *(
                _kernel(name, kernel, with_index=len(kernels) != 1 or bool(notices))
                for name, kernel in zip(names, kernels, strict=True)
            ),
            id="main",
        ),
        tag("p", "", id="said", cls="hidden", role="status", aria_live="polite"),
        tag("script", Markup(script)),
    ]
    head: list[Content] = [
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("style", Markup(style)),
    ]
    page = tag("html", tag("head", *head), tag("body", *body, data_uri=uri), lang="en")
    return f"<!DOCTYPE html>\n{page}\n"


def unit_notices(unit: UnitResult, shown: str) -> list[str]:
    """What of a unit could not be taken in, as sentences."""
    if unit.failure is not None:
        return [f"{shown}: could not be analysed: {unit.failure.text}"]
    notices: list[str] = []
    if unit.syntax:
        notices.append(f"{shown}: {count(len(unit.syntax), 'compiler error')}, the first: {unit.syntax[0].message}")
    if unit.skipped:
        notices.append(f"{shown}: {count(len(unit.skipped), 'thing')} skipped, the first: {unit.skipped[0].what}")
    return notices


@cache
def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")


@cache
def _hash(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


# The index


def _index(title: str, kernels: Sequence[tuple[str, KernelView]], notices: Sequence[str]) -> Markup:
    """All kernels, worst first within their files."""
    counts = Counter(_standing(kernel) for _, kernel in kernels)
    order = [*((VERDICTS[verdict], verdict.value) for verdict in Verdict), *sorted(counts)]
    summary = [
        tag("li", tag("b", count(counts[each], "kernel")), f": {each[0]}", cls=f"verdict {each[1]}")
        for each in dict.fromkeys(order)
        if counts[each]
    ]
    by_file: dict[str, list[tuple[str, KernelView]]] = {}
    for name, kernel in kernels:
        by_file.setdefault(kernel.places.shown(kernel.result.span.path), []).append((name, kernel))
    files = [
        tag("section", tag("h2", path), tag("ul", *(_entry(name, kernel) for name, kernel in found), cls="kernels"))
        for path, found in by_file.items()
    ]
    told = tag("ul", *(tag("li", words(notice)) for notice in notices), cls="notices") if notices else None
    return tag(
        "nav",
        tag("h1", title, tabindex=-1),
        tag("ul", *summary, cls="summary") if summary else tag("p", "No kernel was found."),
        told,
        *files,
        id="index",
        aria_label="Kernels",
    )


def _standing(kernel: KernelView) -> tuple[str, str]:
    """What a kernel counts as, for people, and the class that this is drawn with."""
    if kernel.muted_as is not None:
        return kernel.muted_as, "muted"
    return VERDICTS[kernel.result.verdict], kernel.result.verdict.value


def _badge(kernel: KernelView) -> Markup:
    name, cls = _standing(kernel)
    return tag("span", name, cls=f"verdict {cls}")


def _entry(name: str, kernel: KernelView) -> Markup:
    result = kernel.result
    scenes, more = scenes_of(result, kernel.muted)
    number = len(scenes) + more
    what = count(number, "finding") if number and result.verdict is not Verdict.UNKNOWN else _launches(result)
    target = f"#{name}-1" if scenes else f"#{name}"
    return tag(
        "li",
        tag(
            "a",
            _badge(kernel),
            " ",
            code(result.name),
            href=target,
        ),
        tag("small", f"line {result.span.start_line} · {what}"),
    )


def _launches(result: KernelResult) -> str:
    launches = [context.launch for context in result.contexts if context.launch.source != "default"]
    return count(len(launches), "launch", "launches") if launches else "no launch in sight"


# One kernel


def _kernel(name: str, kernel: KernelView, *, with_index: bool) -> Markup:
    result = kernel.result
    scenes, more = scenes_of(result, kernel.muted)
    total = len(scenes)
    headlines = [headline(scene.finding) if scene.finding is not None else text("Not decided") for scene in scenes]
    steps = [
        tag(
            "li",
            tag(
                "a",
                tag("span", VERDICTS[scene.verdict], cls=f"dot {scene.verdict.value}"),
                " ",
                title,
                tag("span", f" {place}", cls="at") if place else None,
                tag("small", f" {kernel.muted[scene.finding]}")
                if scene.finding is not None and scene.finding in kernel.muted
                else None,
                href=f"#{name}-{number}",
            ),
        )
        for number, (scene, title, place) in enumerate(
            zip(scenes, headlines, _told_apart(scenes, headlines, kernel), strict=True), start=1
        )
    ]
    bar: list[Content] = [
        tag("a", "All kernels", href="#index", cls="up") if with_index else None,
        tag("h1", code(result.name), cls="kernel-name"),
        _badge(kernel),
        tag("span", _where(kernel), cls="where"),
    ]
    if total > 1:
        bar.append(
            tag(
                "span",
                tag("button", "‹ Previous", type="button", data_step=-1, aria_keyshortcuts="ArrowLeft p"),
                tag("button", "Next ›", type="button", data_step=1, aria_keyshortcuts="ArrowRight n"),
                cls="stepper",
            )
        )
    run = tag("button", "Run under the race detector", type="button", cls="run", hidden=True, data_run=result.name)
    bar.append(run if total and kernel.places.uri(result.span.path) is not None else None)
    shown = [
        scene_view(f"{name}-{number}", number, total, scene, kernel) for number, scene in enumerate(scenes, start=1)
    ]
    return tag(
        "section",
        tag("div", *bar, cls="bar-top"),
        tag("ol", *steps, cls="steps", aria_label="Findings of this kernel") if total > 1 else None,
        *(shown or [_clean(name, kernel)]),
        tag("p", f"{count(more, 'more finding')} of this kernel not drawn; the command line lists all.", cls="note")
        if more
        else None,
        id=name,
        cls="kernel",
        aria_label=f"Kernel {result.name}",
    )


def _told_apart(scenes: Sequence[Scene], headlines: Sequence[Markup], kernel: KernelView) -> list[str]:
    """Where each scene takes place, as findings on one cell look alike without it; of those on the same lines also what
    the threads do there."""
    places = [_lines_of(scene, kernel) for scene in scenes]
    alike = Counter(zip(headlines, places, strict=True))
    return [
        f"{place} · {', '.join(does(access) for access in scene.finding.accesses)}".removeprefix(" · ")
        if alike[title, place] > 1 and scene.finding is not None
        else place
        for scene, title, place in zip(scenes, headlines, places, strict=True)
    ]


def _lines_of(scene: Scene, kernel: KernelView) -> str:
    if scene.finding is not None:
        spans = [access.span for access in scene.finding.accesses] or [scene.finding.span]
    else:
        spans = [scene.reason.span] if scene.reason is not None and scene.reason.span is not None else []
    return lines_text(kernel.places, spans, kernel.result.span.path)


def _where(kernel: KernelView) -> Markup:
    return Markup(
        tag("span", kernel.places.shown(kernel.result.span.path))
        + " "
        + line_link(kernel.places, kernel.result.span, kernel.result.span.path)
    )


def _clean(name: str, kernel: KernelView) -> Markup:
    """A kernel without findings: for which launches that was proved, and what the proofs rest on."""
    result = kernel.result
    free = result.verdict is Verdict.RACE_FREE
    title = f"Race-free for {_launches(result)}" if free else VERDICTS[result.verdict].capitalize()
    if free and all(context.launch.source == "default" for context in result.contexts):
        title = "Race-free for any launch that the hardware allows"
    contexts = [
        tag("section", *basis(context, (context.launch,), 1, kernel.places, result.span.path), cls="card basis")
        for context in result.contexts[:24]
    ]
    lead = "Proved: no two threads collide, and no barrier is missed." if free else ""
    return tag(
        "article",
        tag("header", tag("h2", title, id=f"{name}-h", tabindex=-1), tag("p", lead, cls="lead")),
        tag("div", *contexts, cls="cards"),
        id=f"{name}-0",
        cls="scene",
        aria_labelledby=f"{name}-h",
    )
