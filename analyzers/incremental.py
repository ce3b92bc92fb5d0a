"""What an edit leaves as it was: which function body it stays inside, and where everything else has moved to.

Typing inside one function body changes that function and the kernels that call it, nothing else in the unit: results
of other kernels are kept and
their positions moved. Everything that is not plainly such an edit (a preprocessor line, unbalanced braces, several
functions at once) gives None,
and the unit is taken in anew.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from typing import Any, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

from analyzers.frontend.directives import speaks_of_the_program
from analyzers.frontend.lexical import source_bytes
from analyzers.model import SourceSpan

T = TypeVar("T")

_TOKENS = re.compile(
    r"""//(?:[^\n\\]|\\.)*|/\*.*?\*/|/\*|R"|<<<|cudaLaunch|%:|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[{}#]|cuda-lsp:""",
    re.DOTALL,
)
_LONE_RETURN = re.compile("\r(?!\n)")
_FURTHER = frozenset({"#", "%:", "/*", 'R"', "<<<", "cudaLaunch"})


@dataclass(frozen=True, slots=True)
class Edit:
    """Bytes [start, old_end) of the old text became [start, new_end) of the new one, inside one function."""

    path: str
    start: int
    old_end: int
    new_end: int
    lines: int
    """Lines added (negative: removed)."""
    function: SourceSpan
    """The function's extent in the old text."""

    @property
    def delta(self) -> int:
        return self.new_end - self.old_end

    def moved_range(self, start: int, end: int) -> tuple[int, int]:
        """Where bytes of the old text stand in the new one that contain the edited bytes or none of them."""
        if end <= self.start:
            return start, end
        behind = start >= self.old_end and start > self.start
        return (start + self.delta if behind else start), end + self.delta

    def moved(self, span: SourceSpan) -> SourceSpan:
        """Where a range of the old text, outside of the edited bytes, stands in the new one."""
        if span.path != self.path or span.end_offset <= self.start:
            return span
        # Written out: `dataclasses.replace` takes four times as long, and there are thousands of spans.
        behind = span.start_offset >= self.old_end
        return SourceSpan(
            span.path,
            span.start_line + self.lines if behind else span.start_line,
            span.start_column,
            span.end_line + self.lines,
            span.end_column,
            span.start_offset + self.delta if behind else span.start_offset,
            span.end_offset + self.delta,
        )


def edit_inside_function(path: str, old: str, new: str, functions: Iterable[SourceSpan]) -> Edit | None:
    """The edit that turns ``old`` into ``new``, if it stays inside the body of one of ``functions`` (extents in
    ``old``)."""
    changed = changed_bytes(old, new)
    if changed is None:
        return None
    start, old_end, new_end = changed
    old_bytes, new_bytes = source_bytes(old), source_bytes(new)
    around = [f for f in functions if f.path == path and f.start_offset < start and old_end < f.end_offset]
    if not around:
        return None
    function = min(around, key=lambda f: f.end_offset - f.start_offset)
    old_body = old_bytes[function.start_offset : function.end_offset].decode(errors="replace")
    new_body = new_bytes[function.start_offset : function.end_offset + new_end - old_end].decode(errors="replace")
    head = old_bytes[function.start_offset : start].decode(errors="replace")
    if _depth(head) < 1 or not _whole(old_body) or not _whole(new_body):
        return None
    if function.start_line + old_bytes.count(b"\n", function.start_offset, old_end) == function.end_line:
        return None
    return Edit(
        path=path,
        start=start,
        old_end=old_end,
        new_end=new_end,
        lines=new.count("\n") - old.count("\n"),
        function=function,
    )


def changed_bytes(old: str, new: str) -> tuple[int, int, int] | None:
    """What bytes [start, old_end) of one text became [start, new_end) of another, all edits between included: start,
    old_end, new_end. None for equal texts."""
    if old == new:
        return None
    prefix, suffix = _common(old, new)
    behind = len(source_bytes(old[len(old) - suffix :]))
    return len(source_bytes(old[:prefix])), len(source_bytes(old)) - behind, len(source_bytes(new)) - behind


def _common(old: str, new: str) -> tuple[int, int]:
    """Lengths of the longest common suffix, which comes second, and of the longest common prefix before it: what is
    added behind a line is so added at its end, not to the line that follows."""
    limit = min(len(old), len(new))
    suffix = _largest(limit, lambda size: old[len(old) - size :] == new[len(new) - size :])
    return _largest(limit - suffix, lambda size: old[:size] == new[:size]), suffix


def _largest(limit: int, holds: Callable[[int], bool]) -> int:
    """The largest size up to a limit for which a condition holds that holds for all smaller ones."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if holds(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _depth(text: str) -> int:
    return sum({"{": 1, "}": -1}.get(t, 0) for t in _TOKENS.findall(text))


def _whole(text: str) -> bool:
    """The text of a function definition whose braces close at its end. Without what reaches further than the function:
    preprocessor lines, comments that do not end in it, raw strings, launches, directives to us; and without lines that
    a carriage return alone ends, which are not counted."""
    if _LONE_RETURN.search(text):
        return False
    depth, closed = 0, False
    for m in _TOKENS.finditer(text):
        token = m.group()
        if token in _FURTHER or speaks_of_the_program(token):
            return False
        if token == "{":
            if closed:
                return False
            depth += 1
        elif token == "}":
            depth -= 1
            if depth < 0:
                return False
            closed = depth == 0
    return closed


def moved(value: T, edit: Edit) -> T:
    """A copy of plain result data with every span moved: dataclasses and tuples, which know their parts by type."""
    return _moved(value, edit)


def _moved(value: Any, edit: Edit) -> Any:
    return _mover_of(cast("type[Any]", type(value)))(value, edit)


_Mover = Callable[[Any, Edit], Any]
"""Gives the very value where nothing in it moves."""


@functools.cache
def _mover_of(kind: Any) -> _Mover:
    """How values of one class are moved."""
    if issubclass(kind, SourceSpan):
        return _move_span
    if issubclass(kind, tuple):
        return _move_tuple
    if is_dataclass(kind):
        return _record_mover(kind)
    return _keep


def _move_span(span: SourceSpan, edit: Edit) -> SourceSpan:
    return edit.moved(span)


def _move_tuple(items: tuple[Any, ...], edit: Edit) -> tuple[Any, ...]:
    now = tuple([_moved(item, edit) for item in items])
    return now if any(a is not b for a, b in zip(now, items, strict=True)) else items


def _keep(value: Any, _edit: Edit) -> Any:
    return value


def _record_mover(kind: Any) -> _Mover:
    """For a dataclass: only the fields whose declared types may hold a span are looked at."""
    hints = get_type_hints(kind)
    names = [f.name for f in fields(kind) if _may_hold_span(hints[f.name], frozenset({kind}))]
    if not names:
        return _keep

    def move(record: Any, edit: Edit) -> Any:
        changes: dict[str, Any] = {}
        for name in names:
            old = getattr(record, name)
            new = _moved(old, edit)
            if new is not old:
                changes[name] = new
        return replace(record, **changes) if changes else record

    return move


_SPANLESS = (str, int, float, bytes, Enum)


def _may_hold_span(hint: Any, inside: frozenset[Any]) -> bool:
    """Whether a value declared so may be a span or have one in it; ``inside`` are the classes being looked at."""
    parts = get_args(hint)
    if parts:
        return get_origin(hint) is not Literal and any(_may_hold_span(part, inside) for part in parts)
    if hint is None or hint is Ellipsis or hint in inside:
        return False
    if hint is SourceSpan or not inspect.isclass(hint) or hint.__subclasses__():
        return not inspect.isclass(hint) or not issubclass(hint, _SPANLESS)
    if is_dataclass(hint):
        hints = get_type_hints(hint)
        return any(_may_hold_span(hints[f.name], inside | {hint}) for f in fields(hint))
    return not issubclass(hint, _SPANLESS)
