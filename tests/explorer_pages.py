"""Pages of the race explorer taken apart: well-formed or an error, elements with their attributes and text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser

from analyzers.engine import Engine
from analyzers.model import KernelResult, SourceSpan
from analyzers.requests import CheckRequest, UnitFinished
from cuda_lsp.explorer.page import render
from cuda_lsp.explorer.scenes import KernelView, Repair

PATH = "/work/a.cu"
_EMPTY = {"meta", "br", "hr"}


@dataclass
class Element:
    name: str
    attributes: dict[str, str | None]
    parent: Element | None
    children: list[Element] = field(default_factory=list["Element"])
    pieces: list[str] = field(default_factory=list[str])

    @property
    def text(self) -> str:
        return " ".join("".join(self.pieces).split())

    @property
    def classes(self) -> list[str]:
        return (self.attributes.get("class") or "").split()

    def walk(self) -> Iterator[Element]:
        yield self
        for child in self.children:
            yield from child.walk()

    def all(self, name: str = "", cls: str = "") -> list[Element]:
        return [e for e in self.walk() if name in ("", e.name) and (not cls or cls in e.classes)]


class Page(HTMLParser):
    """Raises AssertionError where an element is not closed in its place."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.root = self._at = Element("", {}, None)
        self.feed(text)
        self.close()
        assert self._at is self.root, f"<{self._at.name}> is not closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(attrs) == len(dict(attrs)), f"an attribute of <{tag}> twice"
        element = Element(tag, dict(attrs), self._at)
        self._at.children.append(element)
        if tag not in _EMPTY:
            self._at = element

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _EMPTY:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._at.name == tag, f"</{tag}> closes <{self._at.name}>"
        assert self._at.parent is not None
        self._at = self._at.parent

    def handle_data(self, data: str) -> None:
        element: Element | None = self._at
        while element is not None:
            element.pieces.append(data)
            element = element.parent

    @property
    def scenes(self) -> list[Element]:
        return self.root.all("article", "scene")

    def parts(self, scene: Element, part: str) -> Element:
        (found,) = scene.all("section", part)
        return found


@dataclass
class TextPlaces:
    """Files that are texts in memory."""

    texts: dict[str, str]
    uris: dict[str, str] = field(default_factory=dict[str, str])

    def lines(self, path: str) -> Sequence[str]:
        return self.texts.get(path, "").split("\n") if path in self.texts else ()

    def now(self, span: SourceSpan) -> SourceSpan | None:
        return span

    def shown(self, path: str) -> str:
        return path.rsplit("/", 1)[-1]

    def uri(self, path: str) -> str | None:
        return self.uris.get(path)


def kernels_of(text: str, path: str = PATH) -> tuple[KernelResult, ...]:
    for event in Engine().check(CheckRequest(path, text)):
        if isinstance(event, UnitFinished):
            return event.result.kernels
    raise AssertionError("no result")


def page_of(text: str, repairs: dict[str, Repair] | None = None, uri: str | None = None) -> Page:
    """The page of all kernels of a text."""
    places = TextPlaces({PATH: text}, {PATH: uri} if uri is not None else {})
    views = [KernelView(kernel, places, repairs=repairs or {}) for kernel in kernels_of(text)]
    return Page(render("Findings", views, uri=uri))
