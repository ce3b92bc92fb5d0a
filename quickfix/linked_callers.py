"""Functions that a repair changes and that other units may call: what is linked with a unit runs its device code, too.

Takes a request and a repair, gives the names of the functions of the unit's own text that are not `static` nor
`inline` and that run what is edited, as words and brackets tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from analyzers.frontend.blanking import blanked
from analyzers.frontend.lexical import source_bytes
from analyzers.frontend.outline import Outline, OutlinedFunction
from analyzers.model import TextEdit
from analyzers.requests import CheckRequest

_KERNEL: Final = re.compile(rb"\b__global__\b")
_OWN: Final = re.compile(rb"\b(?:inline|__inline__|__forceinline__|constexpr|template)\b")
"""Whoever calls such a function has its text."""
_OF_DEVICE: Final = re.compile(rb"\b(?:__device__|[A-Z][A-Z0-9_]{2,})\b")
"""`__device__`, or a macro that may stand for it."""


def linked_names(request: CheckRequest, edits: Iterable[TextEdit]) -> tuple[str, ...]:
    """The names, sorted."""
    places = [e.span.start_offset for e in edits if e.span.path == request.path]
    if not places:
        return ()
    code = blanked(source_bytes(request.text))
    outline = Outline(request.text)
    # Kernels are launched: who does that is known otherwise.
    functions = [f for f in outline.functions if not _KERNEL.search(_head(code, f))]
    reached = edited = {f.name for f in functions if any(f.start <= at < f.end for at in places)}
    waiting = [*reached]
    while waiting:
        mention = re.compile(rb"\b" + re.escape(waiting.pop().encode()) + rb"\b")
        more = {f.name for f in functions if mention.search(code, f.start, f.end)} - reached
        reached = reached | more
        waiting += more
    # What is edited is code of the device, whatever its words are.
    found = (f for f in functions if f.name in reached and _is_linked(code, f, f.name in edited))
    return tuple(sorted({f.name for f in found}))


def _is_linked(code: bytes, function: OutlinedFunction, of_device: bool) -> bool:
    head = _head(code, function)
    of_device = of_device or _OF_DEVICE.search(head) is not None
    return not function.internal and of_device and _OWN.search(head) is None


def _head(code: bytes, function: OutlinedFunction) -> bytes:
    end = code.find(b"{", function.start, function.end)
    return code[function.start : end if end >= 0 else function.end]
