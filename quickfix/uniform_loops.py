"""Loops that threads leave at different times, made to run as long as any thread has work.

Takes a loop in which a barrier is missing, gives the changes after which all threads of the block make the same
iterations, each with its old body under its old condition. Three forms: over a base that is the same for all threads,
where the loop strides from the number of the thread on (``for (int i = threadIdx.x; i < n; i += 64)``); with
``__syncthreads_or`` in the test, where body and step stand under the old condition: a thread that is through changes
nothing any more, so that a condition over its own variables stays false; and with a flag for every thread, where
there is more to the test, or threads jump (`flagged_loops`). Where the bound alone depends on the thread, that of one
thread may do for all instead of a vote (`uniform_bounds`). The first form is for loops in which no counter leaves the
range of its type that did not before (`strides`); that their bounds are the same for all threads, the engine finds out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Final, Literal

from analyzers.analysed import KernelAnalysis
from analyzers.frontend.gaps import Body, FunctionTree, Statement
from analyzers.frontend.plain import COMPARES
from analyzers.ir.uniformity import is_uniform
from quickfix.edits import Change, Layout, indented, outside_conditionals
from quickfix.flagged_loops import flagged, test_range
from quickfix.loop_jumps import jumps_in, refuse_hidden
from quickfix.naming import NotPossible, fresh_name, line_of
from quickfix.own_lines import first_word, require_lines
from quickfix.paths import Chain, Level, around
from quickfix.variables import declarations, stay, uses_in

_TEST: Final = re.compile(rb"\s*(?P<left>[^<>=!]+?)\s*(?P<operator><=|>=|<|>)\s*(?P<right>[^<>=!]+?)\s*\Z")
_DECLARATION: Final = re.compile(rb"\s*(?P<type>[A-Za-z_][\w\s]*?)\s+(?P<name>[A-Za-z_]\w*)\s*=\s*(?P<value>.+?)\s*\Z")
_STEP: Final = re.compile(
    rb"\s*(?:(?P<name>[A-Za-z_]\w*)\s*(?:(?P<operator>[-+])=\s*(?P<by>.+?)|(?P<after>\+\+|--))"
    rb"|(?P<before>\+\+|--)\s*(?P<same>[A-Za-z_]\w*))\s*\Z"
)
_WIDE: Final = re.compile(
    rb"int|long|long long|unsigned|unsigned int|unsigned long|unsigned long long|u?int(?:32|64)_t|size_t|uint"
)
"""Types that do not wrap around between two strides."""
_SIGNED: Final = re.compile(rb"int|long|long long|int(?:32|64)_t")


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


def uniform(
    level: Level, loop: Statement, text: bytes, vote: bytes, taken: Collection[bytes], *, rows: bool
) -> list[Change] | None:
    """The changes; None for a loop that is uniform already. Raises `NotPossible`. `vote`: how the call begins that asks
    whether any thread has work; `rows`: all threads come to the loop, and a stride is at least a row of the block
    (`strides`); `taken`: names that nothing new may have."""
    layout = Layout(text)
    line = line_of(text, loop.keyword)
    body = level.body
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
    condition = text[slice(*test)].strip()
    if condition.startswith(vote.partition(b"(")[0]):
        return None
    refuse_hidden(layout, body)
    head = slice(loop.keyword, loop.head_end)
    plain = condition and "test" in loop.plain and layout.code[head] == text[head]
    if loop.kind == "do" or not plain or any(jumps_in(body)):
        return flagged(level, loop, layout, test, vote, taken)
    opening = layout.code.find(b"(", loop.keyword, loop.head_end)
    ends = (test[0] - 1, test[1])
    if rows:
        strided = _over_a_base(level, loop, layout, (opening, *ends), taken) if loop.kind == "for" else None
        strided = _beside_a_base(level, loop, layout, test, taken) if loop.kind == "while" else strided
        if strided is not None:
            return sorted(strided, key=lambda c: (c.start, c.end))
    # What a vote takes is an `int`.
    said = condition if loop.test.operator in COMPARES else b"static_cast<bool>(" + condition + b")"
    changes = [Change(test[0], test[1], _like(text[slice(*test)], vote + said + b")"))]
    step = (ends[1] + 1, loop.head_end - 1) if loop.kind == "for" else (0, 0)
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


def _over_a_base(
    level: Level, loop: Statement, layout: Layout, parts: tuple[int, int, int], taken: Collection[bytes]
) -> list[Change] | None:
    """`for (int base = 0; base < n; base += S)` with `int i = base + threadIdx.x` in its body."""
    opening, first, second = parts
    text = layout.text
    start = _DECLARATION.match(text[opening + 1 : first])
    test = _TEST.match(text[first + 1 : second])
    step = _STEP.match(text[second + 1 : loop.head_end - 1])
    if start is None or test is None or step is None or step["by"] is None or step["operator"] != b"+":
        return None
    name = start["name"]
    if test["left"] != name or test["operator"] not in (b"<", b"<=") or step["name"] != name:
        return None
    signed = _is_signed(start["type"], loop)
    number = _thread_number(start["value"], level, (opening, first), layout.code, signed and start["type"])
    if number is None or _word(name, test["right"] + b" " + step["by"]):
        return None
    # The step is made as often as the base needs it, not the thread; a base of type `auto` would be an `int`.
    if "step" not in loop.plain or not _WIDE.fullmatch(start["type"]):
        return None
    counter = {u.variable for u in uses_in(level.function, (opening, first)) if u.kind == "declared"}
    if len(counter) != 1 or not stay(level.function, counter, (level.body.start, level.body.end)):
        return None
    base = fresh_name(level, text, "base", taken)
    block, thread = number
    head = (
        start["type"]
        + b" "
        + base
        + b" = "
        + (block or b"0")
        + b"; "
        + base
        + b" "
        + test["operator"]
        + b" "
        + test["right"]
    )
    head += b"; " + base + b" += " + step["by"]
    declaration = start["type"] + b" " + name + b" = " + base + b" + " + thread + b";"
    condition = name + b" " + test["operator"] + b" " + test["right"]
    return [Change(opening + 1, loop.head_end - 1, head), *guarded_body(level, layout, condition, declaration)]


def _beside_a_base(
    level: Level, loop: Statement, layout: Layout, place: tuple[int, int], taken: Collection[bytes]
) -> list[Change] | None:
    """`for (int base = 0; base < n; base += S)` instead of `while (i < n)`, beside `i += S` in its body."""
    function, text, body = level.function, layout.text, level.body
    test = _TEST.match(text[slice(*place)])
    outer = level.steps[-1] if level.steps else None
    if test is None or outer is None or test["operator"] not in (b"<", b"<=") or not loop.test.integers:
        return None
    name = test["left"]
    counter = {u.variable for u in uses_in(function, place) if u.name.encode() == name}
    others = {u.variable for u in uses_in(function, place)} - counter
    places = {u.at for u in function.uses if u.kind == "declared" and u.variable in counter}
    before = outer.body.statements[: outer.index]
    # Declared in the same body: the loop begins anew only with it.
    declared = next(((s, d) for s in before for d in s.declares or () if d.at in places), None)
    steps = [
        s for s in body.statements if s.assignment is not None and layout.code[slice(*s.assignment.target)] == name
    ]
    if declared is None or len(counter) != 1 or len(steps) != 1 or not _WIDE.fullmatch(declared[1].type.encode()):
        return None
    step = steps[0].assignment
    assert step is not None
    at = declared[1].at + len(name)
    given = re.compile(rb"\s*=\s*([^;,]+?)\s*[;,]").match(layout.code, at, declared[0].end)
    kind = declared[1].type.encode()
    signed = _is_signed(kind, loop) and kind
    number = _thread_number(given[1], level, (at, declared[0].end), layout.code, signed) if given is not None else None
    elsewhere = (at, steps[0].start), (steps[0].end, loop.end)
    if step.operator != "+=" or number is None or not stay(function, counter, *elsewhere):
        return None
    others |= {u.variable for u in uses_in(function, step.value)}
    if not others.issubset(_own(function)) or not stay(function, others, (loop.start, loop.end)):
        return None
    by = text[slice(*step.value)]
    base = fresh_name(level, text, "base", taken)
    head = b"for (" + kind + b" " + base + b" = " + (number[0] or b"0") + b"; "
    head += base + b" " + test["operator"] + b" " + test["right"] + b"; " + base + b" += " + by + b")"
    condition = text[slice(*place)].strip()
    # The new loop stands for the old one.
    return [
        Change(loop.keyword, loop.head_end, head, moved=((0, loop.keyword, 1),)),
        *guarded_body(level, layout, condition),
    ]


def _own(function: FunctionTree) -> set[int]:
    """The variables that no other thread reaches, and the dimensions: those of the function, and parameters of kernels,
    which are none that refer to others."""
    inside = {d.at for d in declarations(function) if d.assignable or d.bare}
    parameters = function.signature is None and not function.is_lambda
    return {
        u.variable
        for u in function.uses
        if u.name in ("blockDim", "gridDim")
        or (u.kind == "declared" and (u.at in inside or (parameters and u.at < function.body.start)))
    }


_IN_BLOCK: Final = re.compile(rb"blockIdx\.x\s*\*\s*(?:blockDim\.x|\d+)|blockDim\.x\s*\*\s*blockIdx\.x")


def _thread_number(
    value: bytes, level: Level, start: tuple[int, int], code: bytes, signed: bytes | Literal[False] = False
) -> tuple[bytes, bytes] | None:
    """What is the same for all threads of a block in ``blockIdx.x * blockDim.x + threadIdx.x`` or ``first +
    thread``, and what is not; the same of a variable that is declared as that, with all its bits, and never
    changed. None of other values. `signed`: the type of the loop's counter where the loop compares numbers with a sign;
    there the sum may begin below zero."""
    one, plus, two = (part.strip() for part in value.partition(b"+"))
    if plus:
        for block, thread in ((one, two), (two, one)):
            # The sum of what has a sign does not wrap around, as in every proof.
            types = (_signed_type(block, level, start), _signed_type(thread, level, start)) if signed else ()
            first = bool(types) and all(kind in (b"int", b"int32_t", signed) for kind in types)
            if _IN_BLOCK.fullmatch(block) or first:
                own = _thread_number(thread, level, start, code)
                if own is not None and not own[0]:
                    return block, own[1]
        return None
    if value == b"threadIdx.x":
        return b"", value
    function = level.function
    used = {u.variable for u in uses_in(function, start) if u.name == value.decode()}
    if len(used) != 1 or not stay(function, used, (function.start, function.end)):
        return None
    places = {u.at for u in function.uses if u.kind == "declared" and u.variable in used}
    declared = next((d for d in declarations(function) if d.at in places), None)
    if declared is None or not _WIDE.fullmatch(declared.type.encode()):
        return None
    at = declared.at + len(declared.name)
    given = re.compile(rb"\s*=\s*([^;,]+?)\s*[;,]").match(code, at)
    own = _thread_number(given[1], level, (at, given.end()), code) if given is not None else None
    return (own[0], own[1] if own[0] else value) if own is not None else None


def _is_signed(counter: bytes, loop: Statement) -> bool:
    """Whether a loop counts and compares in numbers with a sign."""
    sides = (kind.encode() for kind in loop.test.types)
    return bool(loop.test.types) and all(map(_SIGNED.fullmatch, (counter, *sides)))


def _signed_type(value: bytes, level: Level, start: tuple[int, int]) -> bytes | None:
    """The type of a variable of the function that holds an integer with a sign, with all its bits; None of another
    value."""
    function = level.function
    used = {u.variable for u in uses_in(function, start) if u.name.encode() == value}
    places = {u.at for u in function.uses if u.kind == "declared" and u.variable in used}
    found = [d.type.encode() for d in declarations(function) if d.at in places]
    return found[0] if len(used) == len(found) == 1 and _SIGNED.fullmatch(found[0]) else None


def _word(name: bytes, code: bytes) -> bool:
    return re.search(rb"\b" + name + rb"\b", code) is not None
