"""Loops that threads leave at different times, made to run as long as any thread has work.

Takes a loop in which a barrier is missing, gives the changes after which all threads of the block make the same
iterations, each with its old body under its old condition. Two forms: with ``__syncthreads_or`` in the test, where body
and step stand under the old condition: a thread that is through changes nothing any more, so that a condition over its
own variables stays false; and with a flag for every thread, where there is more to the test, or threads jump
(`flagged_loops`). A loop that strides from the number of the thread on needs no vote (`strided_loops`), and where the
bound alone depends on the thread, that of one thread may do for all (`uniform_bounds`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from analyzers.analysed import KernelAnalysis
from analyzers.frontend.gaps import Body, FunctionTree, Statement
from analyzers.frontend.plain import COMPARES
from analyzers.ir.uniformity import is_uniform
from quickfix.edits import Change, Layout, indented, outside_conditionals
from quickfix.flagged_loops import flagged, refuse_redefined, test_range
from quickfix.loop_jumps import jumps_in, refuse_hidden
from quickfix.naming import NotPossible, line_of
from quickfix.own_lines import first_word, require_lines
from quickfix.paths import Chain, Level, around
from quickfix.variables import Range, uses_in


def loops_around(
    first: Chain, second: Chain, uneven: Collection[tuple[str, int]] = ()
) -> list[tuple[Level, Statement]]:
    """The loops around both accesses, with their bodies, that some threads may leave early, outermost first: threads
    that have left one do not come to those in it. They are those in `uneven` (path and line), else the innermost one
    with a jump out of it."""
    both = [
        (a, a.owner)
        for a, b in zip(first, second, strict=False)
        if a.identity == b.identity and a.body.loops == 1 and a.owner is not None
    ]
    known = [(a, owner) for a, owner in both if (a.function.path, a.loop_line) in uneven]
    left = [(a, owner) for a, owner in both if any(jumps_in(a.body))]
    return [(level, loop) for level, loop in known or left[-1:] if loop.is_loop]


def uneven_loops(kernels: Iterable[KernelAnalysis]) -> frozenset[tuple[str, int]]:
    """Path and line of loops that the threads of a block leave after different numbers of iterations."""
    found: set[tuple[str, int]] = set()
    for events in (a.events for a in kernels):
        for event in (*events.accesses, *events.barriers):
            parting = [c for c in event.guard if c.kind in ("loop", "break") and not is_uniform(c.condition)]
            left = {c.depth for c in parting}
            loops = (events.loops[label] for label in event.loops)
            uneven = (loop for depth, loop in enumerate(loops, 1) if depth in left)
            found.update((loop.site.span.path, loop.site.span.line) for loop in uneven)
    return frozenset(found)


def open_test(level: Level, loop: Statement, layout: Layout, vote: bytes) -> Range | None:
    """Where the test of a loop stands that can be made uniform; None where it asks all threads already. Raises
    `NotPossible`. `vote`: how the call begins that asks them."""
    text, body, line = layout.text, level.body, line_of(layout.text, loop.keyword)
    if loop.macro:
        raise NotPossible(f"the loop in line {line} is written by a macro")
    if not body.braced:
        raise NotPossible(f"the loop in line {line} has no braces")
    if not layout.is_first(loop.keyword):
        require_lines(layout, around(level), f"the loop in line {line} does not begin its line", loop.keyword)
        raise NotPossible(f"the loop in line {line} does not begin its line")
    if body.statements:
        ends = first_word(body.statements[0]), body.end
        require_lines(layout, level, f"the body of the loop in line {line} is in one line", *ends)
    test = test_range(layout, loop)
    if test is None:
        raise NotPossible(f"the loop in line {line} is not a plain `for`")
    if text[slice(*test)].strip().startswith(vote.partition(b"(")[0]):
        return None
    refuse_hidden(layout, body)
    refuse_redefined(layout, loop, body)
    return test


_TRUTHS: Final = COMPARES | {"&&", "||", "!"}
"""Operators of which a `bool` comes."""


def is_plain(level: Level, loop: Statement, layout: Layout, test: Range) -> bool:
    """Whether a loop is left by its test alone, which only looks at what is there."""
    head = slice(loop.keyword, loop.head_end)
    shown = bool(layout.code[slice(*test)].strip()) and layout.code[head] == layout.text[head]
    return loop.kind != "do" and shown and "test" in loop.plain and not any(jumps_in(level.body))


def uniform(level: Level, loop: Statement, text: bytes, vote: bytes, taken: Collection[bytes]) -> list[Change] | None:
    """The changes; None for a loop that is uniform already. Raises `NotPossible`. `vote`: how the call begins that asks
    whether any thread has work; `taken`: names that nothing new may have."""
    layout, body = Layout(text), level.body
    test = open_test(level, loop, layout, vote)
    if test is None:
        return None
    if not is_plain(level, loop, layout, test):
        return flagged(level, loop, layout, test, vote, taken)
    line, condition = line_of(text, loop.keyword), text[slice(*test)].strip()
    # What a vote takes is an `int`: what is no `bool` may lose bits.
    said = condition if loop.test.operator in _TRUTHS else b"static_cast<bool>(" + condition + b")"
    changes = [Change(test[0], test[1], _like(text[slice(*test)], vote + said + b")"))]
    step = (test[1] + 1, loop.head_end - 1) if loop.kind == "for" else (0, 0)
    if text[slice(*step)].strip():
        if _hides(level.function, body, step):
            raise NotPossible(f"the loop in line {line} hides a variable of its step")
        changes.append(Change(*step, b""))
    changes += guarded_body(level, layout, condition, step=step)
    return sorted(changes, key=lambda c: (c.start, c.end))


def _like(old: bytes, new: bytes) -> bytes:
    """The new text with the blanks and lines around the old one."""
    at = old.find(old.strip())
    return old[:at] + new + old[at + len(old.strip()) :]


def _hides(function: FunctionTree, body: Body, step: tuple[int, int]) -> bool:
    """Whether the body declares a name of the step itself."""
    names = {u.name for u in uses_in(function, step)}
    return any(u.kind == "declared" and u.name in names for u in uses_in(function, (body.start, body.end)))


def guarded_body(
    level: Level, layout: Layout, condition: bytes, declaration: bytes = b"", step: tuple[int, int] = (0, 0)
) -> Iterable[Change]:
    """The body, and behind it the step of the loop, under a condition, a level deeper."""
    body = level.body
    unit = layout.unit(level.function)
    if not body.statements:
        raise NotPossible("the loop has no body")
    first, last = body.statements[0], body.statements[-1]
    inner = layout.newline + layout.indentation(first.keyword or first.start)
    opened = layout.line_end(body.start)
    yield Change(opened, opened, (inner + declaration if declaration else b"") + inner + b"if (" + condition + b") {")
    end = outside_conditionals(layout, last.end, body.end)
    yield from (Change(at, at, unit) for at in indented(layout.text, opened, end))
    code = layout.text[slice(*step)]
    if not code.strip():
        yield Change(end, end, inner + b"}")
        return
    head = inner + unit
    moved = (len(head), step[0] + len(code) - len(code.lstrip()), len(code.strip()))
    yield Change(end, end, head + code.strip() + b";" + inner + b"}", moved=(moved,))
