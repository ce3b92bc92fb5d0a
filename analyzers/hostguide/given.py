"""Kernels whose address goes where launches cannot be seen: what is known of their launches is not all.

A kernel that code out of sight is given, or a template of which only a declaration is in sight, may be launched there
with anything. One that others can get at, from a table or as the result of a function, is assumed to be launched only
where that is seen. This looks at the texts; where values go, the execution tells (``launching.Launcher.given``).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from analyzers.frontend.cindex import CursorKind, children
from analyzers.hostguide.declared import SCOPES, FoundFunction
from analyzers.hostguide.source import closing

_LAUNCHED = re.compile(rb"\s*(?:<(?:[^<>;{}]|<[^<>;{}]*>)*>)?\s*<<<")
"""Behind the name of a kernel that is launched there."""
_ASKED_OF = re.compile(rb"\bcuda(?:FuncGet|FuncSet|Occupancy)\w*\s*(?:<[^<>;]*>\s*)?\([^;]*\Z")
"""Functions that only ask something of a kernel, or for it."""
_ASKING = re.compile(r"cuda(?:FuncGet|FuncSet|Occupancy)\w*\Z")
_GRAPH = re.compile(r"cudaGraph\w*Kernel\w*\Z")
_FRONT = 200
"""Bytes in front of a name in which the call stands that it is handed to."""
_TEMPLATE = re.compile(rb"([A-Za-z_]\w*)\s*<[^;{}()]*\Z")
_WORD = re.compile(rb"[A-Za-z_]\w*")

Mention = tuple[str, int]
"""A file, and the offset of a name in it."""


def named_as_values(
    kernels: Iterable[FoundFunction], texts: Mapping[str, bytes], declared: Collection[Mention]
) -> dict[Mention, str]:
    """Where kernels are named otherwise than to be launched or asked for something, with the names."""
    found: dict[Mention, str] = {}
    for name in sorted({f.name for f in kernels}):
        word = name.encode()
        for path, text in texts.items():
            at = text.find(word)
            while at >= 0:
                end = at + len(word)
                matched = _WORD.match(text, at)
                whole = matched is not None and matched.end() == end and not _is_inside(text, at)
                if whole and (path, at) not in declared and not _is_used_up(text, at, end):
                    found[path, at] = name
                at = text.find(word, end)
    return found


def _is_inside(text: bytes, at: int) -> bool:
    """Whether a word goes on in front of an offset."""
    return at > 0 and (text[at - 1 : at].isalnum() or text[at - 1 : at] == b"_")


def _is_used_up(text: bytes, at: int, end: int) -> bool:
    """Whether a name between two offsets is launched there, or something is asked of it."""
    return _LAUNCHED.match(text, end) is not None or _ASKED_OF.search(text, max(0, at - _FRONT), at) is not None


def only_asks(function: str) -> bool:
    """Whether a library function only asks something of a kernel that it is given."""
    return _ASKING.match(function) is not None


def launches_later(function: str) -> bool:
    """Whether a library function makes a launch out of a kernel that it is given."""
    return _GRAPH.match(function) is not None


def not_evaluated(
    mentions: Iterable[Mention],
    texts: Mapping[str, bytes],
    evaluated: Collection[Mention],
    launches: Sequence[tuple[str, int, int]],
    is_macro: Callable[[str], bool],
) -> Iterator[Mention]:
    """The mentions that the execution did not come by. ``evaluated``: where clang says that names stand, which for
    those that macros are given is where the macro does; ``launches``: extents of those that were seen."""
    for path, at in mentions:
        text = texts[path]
        if (path, at) in evaluated or any(p == path and start <= at < end for p, start, end in launches):
            continue
        words = [_WORD.match(text, e) for p, e in evaluated if p == path and e < at]
        macros = (w for w in words if w is not None and is_macro(w[0].decode()))
        if not any(at < closing(text, macro.end()) for macro in macros):
            yield path, at


def template_around(text: bytes, at: int) -> str:
    """The name of the template that a name at an offset is an argument of, empty for none."""
    found = _TEMPLATE.search(text, max(0, at - _FRONT), at)
    return found[1].decode() if found is not None else ""


def variables_around(cursor: Any, offsets: Mapping[str, Sequence[int]]) -> Iterator[Any]:
    """The variables of namespaces and classes whose declarations hold one of these offsets, which are by file, in
    order."""
    for child in children(cursor):
        kind = child.kind
        if kind not in SCOPES and kind != CursorKind.VAR_DECL:
            continue
        file = child.location.file
        places = offsets.get(file.name) if file is not None else None
        if places is None:
            continue
        where = child.extent
        first = bisect_left(places, where.start.offset)
        if first < len(places) and places[first] < where.end.offset:
            if kind == CursorKind.VAR_DECL:
                yield child
            else:
                yield from variables_around(child, offsets)
