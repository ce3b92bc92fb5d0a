"""Scopes of `cuda::atomic` and its like that are too narrow: for threads of different blocks, or of one block.

Takes a session and kernels, gives the changes that widen the scopes of their atomic operations and fences: where these
name one themselves, or an object that the kernel declares, or a variable of the device in the same file. Says of races
that nothing repairs which scope is too narrow, and where it is written, wherever that is (`too_narrow`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from analyzers.analysed import KernelAnalysis
from analyzers.frontend.blanking import blanked
from analyzers.ir.events import AccessEvent, FenceEvent
from analyzers.ir.kernel import Site
from analyzers.model import FixRefusal, SourceSpan
from quickfix.edits import Change
from quickfix.naming import line_of
from quickfix.session import Session
from quickfix.verify import RACES, findings_of

_NARROW: Final = re.compile(rb"\bthread_scope_(?P<narrow>block|thread)\b")
_TYPE: Final = rb"\batomic(?:_ref|_flag)?\s*<[^;{}]*?" + _NARROW.pattern + rb"\s*>"
_WORD: Final = re.compile(rb"[A-Za-z_]\w*")
_OF_DEVICE: Final = re.compile(rb"\b__(?:device|managed|shared)__\b")

Wide = Literal["block", "device"]
"""Scopes that narrower ones are widened to."""


@dataclass(frozen=True, slots=True)
class _Spelled:
    """A scope as it is written."""

    path: str
    start: int
    """Of what tells it from others: `block`."""
    end: int
    may_change: bool
    """Whether it is that of an object, not of a pointer or a parameter, which others give its type."""


def is_narrow(event: AccessEvent | FenceEvent, wide: Wide = "device") -> bool:
    """Whether what an operation orders is ordered for threads of its block only; for itself only, where `wide` enough
    is the block."""
    scope = event.scope if isinstance(event, FenceEvent) else event.atomic.scope if event.atomic is not None else "grid"
    return scope == "thread" or (wide == "device" and scope in ("warp", "block"))


def widened_scopes(session: Session, kernels: Iterable[KernelAnalysis], wide: Wide) -> Iterator[tuple[str, Change]]:
    """By file: the changes after which no scope is too narrow that may change."""
    for analysis in kernels:
        for event in (*analysis.events.accesses, *analysis.events.fences):
            if is_narrow(event, wide):
                for spelled in _spelled(session, event.site):
                    if spelled.may_change:
                        yield spelled.path, Change(spelled.start, spelled.end, wide.encode())


def too_narrow(session: Session, kernels: Sequence[KernelAnalysis], group: str) -> FixRefusal | None:
    """That atomic operations between blocks, or what signals between them, are for threads of one block, or those of a
    block each for one thread; None where that is not what is wrong."""
    for analysis in kernels:
        every = [f for f in findings_of(analysis.result) if f.code in RACES]
        own = next((f for f in every if f.group == group), None)
        if own is None:
            continue
        between = own.scope == "inter-block"
        wide: Wide = "device" if between else "block"
        races = [f for f in every if (f.scope == "inter-block") == between]
        places = {a.span for a in own.accesses}
        if own.signalled:
            places |= {a.span for f in races for a in f.accesses}
        narrow = [e for e in analysis.events.accesses if is_narrow(e, wide) and e.site.span in places]
        for event in narrow[:1]:
            (one, two), names = own.accesses[:2], session.names
            where = f"`{event.site.text}` in {names.line(event.site.span)}"
            at = [names.shown(a) for a in ((one,) if one.span == two.span else (one, two))]
            groups = "blocks" if between else "threads of one block"
            runs = f"{' and '.join(at)} run{'s' * (len(at) == 1)} in different {groups}"
            scope = "its scope" if len(at) == 1 and own.accesses[0].span == event.site.span else f"the scope of {where}"
            return FixRefusal(f"{runs}, for which {scope} is too narrow: {_written(session, event)}.", group)
    return None


def _written(session: Session, event: AccessEvent) -> str:
    path = event.site.span.path
    text = session.trees.texts.get(path, b"")
    every = [_Spelled(path, *m.span("narrow"), may_change=False) for m in re.finditer(_TYPE, blanked(text))]
    for spelled in (*_spelled(session, event.site), *(every if len(every) == 1 else ())):
        text = session.trees.texts[spelled.path]
        narrow = text[spelled.start : spelled.end].decode()
        whom = "one thread" if narrow == "thread" else "the threads of one block"
        where = session.names.at(spelled.path, line_of(text, spelled.start))
        return f"`thread_scope_{narrow}` in {where} is for {whom}"
    alone = event.atomic is not None and event.atomic.scope == "thread"
    return f"it is for {'one thread' if alone else 'the threads of one block'}"


def _spelled(session: Session, site: Site) -> Iterator[_Spelled]:
    """The scopes that the text of an operation names, or else the declarations of what it names; or of what is given to
    the function that it is in."""
    for span in (site.span, *reversed(site.calls)):
        found = list(_named_at(session, span))
        yield from found
        if found:
            return


def _named_at(session: Session, span: SourceSpan) -> Iterator[_Spelled]:
    text = session.trees.texts.get(span.path)
    if text is None:
        return
    code = blanked(text)
    inside = [m.span("narrow") for m in _NARROW.finditer(code, span.start_offset, span.end_offset)]
    yield from (_Spelled(span.path, *at, may_change=True) for at in inside)
    if not inside:
        function = session.trees.at(span.path, span.start_offset)
        within = (function.start, span.start_offset) if function is not None else (0, 0)
        for word in dict.fromkeys(m.group() for m in _WORD.finditer(code, span.start_offset, span.end_offset)):
            found = list(_declared(code, span.path, word, *within)) or list(_in_file(code, span.path, word))
            yield from found[-1:]


def _in_file(code: bytes, path: str, name: bytes) -> Iterator[_Spelled]:
    """The declaration of a variable of the device, or the only one of something else by this name, such as a member."""
    found = list(_declared(code, path, name, 0, len(code)))
    variables = [each for each in found if _OF_DEVICE.search(_head(code, each.start)) is not None]
    yield from variables or [replace(each, may_change=False) for each in found if len(found) == 1]


def _declared(code: bytes, path: str, name: bytes, start: int, end: int) -> Iterator[_Spelled]:
    """The declarations of a name in a part of the code."""
    before = re.compile(_TYPE + rb"(?P<by>[^;{}()=<>]*?)\b" + name + rb"\b")
    behind = re.compile(rb"\b" + name + rb"\s*=(?P<by>[\s:\w]*?)" + _TYPE)
    for match in (*before.finditer(code, start, end), *behind.finditer(code, start, end)):
        parameter = _is_parameter(code, match.start())
        if parameter and b"," in match["by"]:
            continue  # that is the type of another one
        given = parameter or b"*" in match["by"] or b"&" in match["by"]
        yield _Spelled(path, *match.span("narrow"), may_change=not given)


def _head(code: bytes, at: int) -> bytes:
    """What stands in front of a place in its declaration."""
    return re.split(rb"[;{}]", code[:at])[-1]


def _is_parameter(code: bytes, at: int) -> bool:
    head = _head(code, at)
    return head.count(b"(") > head.count(b")")
