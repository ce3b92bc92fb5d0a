"""HTML and SVG as text that is escaped by construction: a `Markup` is safe, any other string is text and is escaped."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import Any

VOID = frozenset({"meta", "br", "hr"})
SELF_CLOSING = frozenset({"rect", "line", "path", "circle", "use"})


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


_COORDINATES = re.compile(r"\(\d+, \d+, \d+\)")

Content = Any
"""A string, a `Markup`, or an iterable of contents; None is nothing."""


def text(value: Content) -> Markup:
    """A content as HTML."""
    if value is None:
        return Markup("")
    if isinstance(value, Markup):
        return value
    if isinstance(value, str):
        return Markup(html.escape(_printable(value), quote=True))
    if isinstance(value, Iterable):
        return Markup("".join(text(item) for item in value))  # pyright: ignore[reportUnknownVariableType]
    return Markup(html.escape(str(value)))


def tag(name: str, /, *content: Content, **attributes: object) -> Markup:
    """An element. `cls` is `class`, `data_x` is `data-x`; attributes that are None or False are left out, True stands
    without a value."""
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in VOID:
        return Markup(f"<{name}{written}>")
    inner = text(content)
    if name in SELF_CLOSING and not inner:
        return Markup(f"<{name}{written}/>")
    return Markup(f"<{name}{written}>{inner}</{name}>")


def join(separator: Content, items: Iterable[Content]) -> Markup:
    between = text(separator)
    return Markup(between.join(text(item) for item in items))


def code(value: str) -> Markup:
    """Source text in a sentence."""
    return tag("code", value)


def words(sentence: str) -> Markup:
    """A sentence in which source text stands between backquotes. The coordinates of a thread stay on one line."""
    parts = sentence.split("`")
    if len(parts) % 2 == 0:
        return text(_unbroken(sentence))
    return Markup("".join(code(part) if odd % 2 else text(_unbroken(part)) for odd, part in enumerate(parts)))


def _unbroken(sentence: str) -> str:
    return _COORDINATES.sub(lambda found: found[0].replace(" ", "\N{NO-BREAK SPACE}"), sentence)


def _attribute(key: str, value: object) -> str:
    if value is None or value is False:
        return ""
    name = {"cls": "class", "for_": "for"}.get(key, key).replace("_", "-")
    if name == "viewbox":
        name = "viewBox"
    if value is True:
        return f" {name}"
    shown = f"{value:g}" if isinstance(value, float) else str(value)
    return f' {name}="{html.escape(_printable(shown), quote=True)}"'


def _printable(value: str) -> str:
    """Without characters that HTML forbids."""
    return (
        "".join(c if c in "\t\n" or (c >= " " and not "\x7f" <= c <= "\x9f") else "�" for c in value)
        .encode("utf-8", "replace")
        .decode()
    )
