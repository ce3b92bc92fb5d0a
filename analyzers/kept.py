"""What is kept of a unit between two checks, and which edits leave most of it valid."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from analyzers.analysed import KernelAnalysis, UnitAnalysis
from analyzers.frontend import focus
from analyzers.frontend.confined import is_confined
from analyzers.frontend.flags import CompileFlags
from analyzers.frontend.parse import ParsedUnit, source_bytes
from analyzers.frontend.unseen import unseen
from analyzers.incremental import Edit, changed_bytes, edit_inside_function, moved
from analyzers.ir.context import LaunchContext
from analyzers.ir.kernel import Instances
from analyzers.model import KernelResult, Skipped, SourceSpan, UnitResult
from analyzers.questions import syntax_issues
from analyzers.requests import CheckRequest


@dataclass(frozen=True, slots=True)
class Known:
    """What is kept of a kernel between two checks of its unit. Positions are those of the text of the check before."""

    mangled: str
    names: tuple[str, str]
    functions: tuple[SourceSpan, ...]
    """Extents of its own definition and of every device function it reaches."""
    instances: Instances
    """As in `Kernel`."""
    launches: tuple[LaunchContext, ...]
    """What the host code says; what else is assumed of launches depends on the kernel's own code and the comments."""
    result: KernelResult
    key: str


@dataclass(frozen=True, slots=True)
class Other:
    """A kernel of a unit that was not selected."""

    name: str
    mangled: str
    extent: SourceSpan
    functions: tuple[SourceSpan, ...] | None = None
    """Extents of the device functions that it reaches; None while nobody has asked."""


@dataclass(slots=True)
class Warm:
    """The last check of a unit."""

    request: CheckRequest
    kernels: tuple[Known, ...]
    result: UnitResult
    probes: tuple[str, ...]
    flags: CompileFlags
    """Those that the unit was parsed with."""
    bodies: tuple[focus.Range, ...]
    """Function bodies that may be left out where the kernels at hand do not reach them."""
    unseen: tuple[Skipped, ...]
    """Of `result.skipped`, what the front end did not see."""
    analysis: UnitAnalysis | None
    """With the intermediate forms, when the whole unit was taken in."""
    others: tuple[Other, ...] | None = None
    """The kernels that were not checked; None while nobody has asked."""

    @property
    def functions(self) -> dict[str, tuple[SourceSpan, ...]]:
        """As in `UnitAnalysis`."""
        return {k.mangled: k.functions for k in self.kernels}

    @property
    def instances(self) -> Instances:
        """What all the kernels run."""
        return Instances.of(k.instances for k in self.kernels)

    def is_of(self, request: CheckRequest) -> bool:
        """Whether a request is about the same text, read in the same way."""
        own = self.request
        return (own.text, own.flags, own.unsaved) == (request.text, request.flags, request.unsaved)


def kept_of(a: KernelAnalysis, launches: tuple[LaunchContext, ...], key: str) -> Known:
    functions = (a.kernel.extent, *(span for _, span in a.kernel.functions))
    names, made = (a.kernel.name, a.kernel.base_name), a.kernel.instances
    return Known(a.kernel.mangled, names, functions, made, launches, a.result, key)


def likely_edit(warm: Warm, request: CheckRequest) -> Edit | None:
    """The edit between two checks of a unit, if the texts alone tell of none but inside one function."""
    before = warm.request
    if (before.flags, before.unsaved, before.options) != (request.flags, request.unsaved, request.options):
        return None
    functions = {f for k in warm.kernels for f in k.functions}
    return edit_inside_function(request.path, before.text, request.text, functions)


#: The part of a unit's text that must be left out for a parse of the rest to be worth while.
_WORTH_WHILE = 0.5


def left_out_of_trial(warm: Warm, request: CheckRequest, touched: Sequence[Known]) -> tuple[focus.Range, ...]:
    """Function bodies that a text may go without which differs from the checked one inside functions of these kernels;
    none where little can be left out."""
    changed = changed_bytes(warm.request.text, request.text)
    kept = [(f.start_offset, f.end_offset) for k in touched for f in k.functions if f.path == request.path]
    ranges = warm.bodies
    if changed is not None:
        start, old_end, new_end = changed

        def moved_range(range_: focus.Range) -> focus.Range:
            first, last = range_
            if last <= start:
                return range_
            longer = new_end - old_end
            if first >= old_end:
                return first + longer, last + longer
            return min(first, start), max(last, old_end) + longer

        ranges = tuple(map(moved_range, ranges))
        kept = [*map(moved_range, kept), (start, new_end)]
    found = focus.left_out(ranges, request.text, kept, {k.names[1] for k in touched})
    left = sum(end - start for start, end in found)
    return found if left > _WORTH_WHILE * len(request.text) else ()


def small_edit(warm: Warm, edit: Edit | None, request: CheckRequest, unit: ParsedUnit) -> Edit | None:
    """A likely edit, if only the kernels depend on the function's body that call it, and if it changes no error outside
    of it."""
    if warm.request.program != request.program:
        return None
    if edit is None or warm.result.dependencies != dependencies(unit, warm.result.linked):
        return None
    inside = replace(edit.function, end_offset=edit.function.end_offset + edit.delta)
    if not is_confined(unit, inside.path, inside.end_offset):
        return None
    if edit.lines and _names_lines(warm.result):
        return None
    if (warm.unseen or unit.all_errors) and _unseen(warm, edit, unit) != moved(warm.unseen, edit):
        return None
    old = [edit.moved(s.span) for s in warm.result.syntax if not _within(s.span, edit.function)]
    new = [s.span for s in syntax_issues(unit) if not _within(s.span, inside)]
    return edit if [(s.path, s.start_offset) for s in old] == [(s.path, s.start_offset) for s in new] else None


#: In the words for an error, and in clang's name of a lambda or of an unnamed class.
_LINE = re.compile(r"\(line \d+:|:\d+:\d+\)")


def _names_lines(result: UnitResult) -> bool:
    """Whether a text of the result names a line, which an edit above makes another one."""
    reasons = (r.text for k in result.kernels for c in k.contexts for r in c.reasons)
    texts = (*(k.name for k in result.kernels), *(s.what for s in result.skipped), *reasons)
    return any(map(_LINE.search, texts))


def _unseen(warm: Warm, edit: Edit, unit: ParsedUnit) -> tuple[Skipped, ...]:
    """What the front end does not see of a unit with the same kernels: an error inside a function may hide others."""
    names = [edit.moved(k.result.span) for k in warm.kernels]
    return unseen(unit, names, lambda path: source_bytes(unit.text_of(path)))


def dependencies(unit: ParsedUnit, linked: Sequence[str]) -> tuple[str, ...]:
    """All files that were read, but the main file."""
    return tuple(sorted({*unit.dependencies, *linked} - {unit.path}))


def _within(span: SourceSpan, function: SourceSpan) -> bool:
    return span.path == function.path and function.start_offset <= span.start_offset < function.end_offset
