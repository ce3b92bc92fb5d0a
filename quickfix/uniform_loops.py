"""Loops that threads leave at different times, made to run as long as any thread has work.

Takes a loop in which a barrier is missing, gives the changes after which all threads of the block make the same
iterations, each with its old body under its old condition. Two forms: over a base that is the same for all threads,
where the loop strides from the number of the thread on (``for (int i = threadIdx.x; i < n; i += 64)``); and with
``__syncthreads_or`` in the test, where body and step stand under the old condition: a thread that is through changes
nothing any more, so that a condition over its own variables stays false. The first form is for loops in which no
counter leaves the range of its type that did not before (`strides`); that their bounds are the same for all threads,
the engine finds out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Final

from analyzers.analysed import KernelAnalysis
from analyzers.frontend.gaps import Body, Statement
from analyzers.ir.expr import symbols
from analyzers.ir.uniformity import is_uniform
from quickfix.edits import Change, Layout, indented, outside_conditionals
from quickfix.naming import NotPossible, fresh_name, line_of, with_macros
from quickfix.paths import Chain, Level

_LEAVES: Final = re.compile(rb"\b(?:break|continue|return|goto)\b")
_ACTS: Final = re.compile(rb",|(?<![=!<>])=(?!=)|\+\+|--|[\w>\]]\s*\(|\[|->|(?:^|[^\w)\]\s])\s*\*")
"""A condition that does more than compare numbers of the thread."""
_TEST: Final = re.compile(rb"\s*(?P<left>[^<>=!]+?)\s*(?P<operator><=|>=|<|>)\s*(?P<right>[^<>=!]+?)\s*\Z")
_DECLARATION: Final = re.compile(rb"\s*(?P<type>[A-Za-z_][\w\s]*?)\s+(?P<name>[A-Za-z_]\w*)\s*=\s*(?P<value>.+?)\s*\Z")
_STEP: Final = re.compile(
    rb"\s*(?:(?P<name>[A-Za-z_]\w*)\s*(?:(?P<operator>[-+])=\s*(?P<by>.+?)|(?P<after>\+\+|--))"
    rb"|(?P<before>\+\+|--)\s*(?P<same>[A-Za-z_]\w*))\s*\Z"
)
_NAME: Final = re.compile(rb"(?<![\w.])[A-Za-z_]\w*")
_COMPARES: Final = re.compile(rb"[^()?&|^,<>=!]+(?:<=?|>=?|==|!=)[^()?&|^,<>=!]+")
"""A condition that is 0 or 1: what `__syncthreads_or` takes is an `int`."""
_WIDE: Final = re.compile(
    rb"int|long|long long|unsigned|unsigned int|unsigned long|unsigned long long|u?int(?:32|64)_t|size_t|uint"
)
"""Types that do not wrap around between two strides."""


def loop_around(
    first: Chain, second: Chain, uneven: Collection[tuple[str, int]] = ()
) -> tuple[Level, Statement] | None:
    """The innermost `for` or `while` loop around both accesses, with its body, that some threads may leave early: of
    those in `uneven` (path and line), if there is one."""
    around = [
        (a, a.owner)
        for a, b in zip(first, second, strict=False)
        if a.identity == b.identity and a.body.loops == 1 and a.owner is not None
    ]
    known = [(a, owner) for a, owner in around if (a.function.path, a.loop_line) in uneven]
    if not around:
        return None
    level, loop = (known or around)[-1]
    return (level, loop) if loop.kind in ("for", "while") else None


def uneven_loops(kernels: Iterable[KernelAnalysis]) -> frozenset[tuple[str, int]]:
    """Path and line of loops that the threads of a block leave after different numbers of iterations."""
    found: set[tuple[str, int]] = set()
    for events in (a.events for a in kernels):
        for event in (*events.accesses, *events.barriers):
            tests = [c.condition for c in event.guard if c.kind == "loop" and not is_uniform(c.condition)]
            parts = symbols(*tests)
            loops = (events.loops[label] for label in event.loops)
            found.update((loop.site.span.path, loop.site.span.line) for loop in loops if loop.counter in parts)
    return frozenset(found)


def uniform(level: Level, loop: Statement, text: bytes, *, rows: bool) -> list[Change] | None:
    """The changes; None for a loop that is uniform already. Raises `NotPossible`. `rows`: all threads come to the loop,
    and a stride is at least a row of the block (`strides`)."""
    layout = Layout(text)
    line = line_of(text, loop.keyword)
    body = level.body
    inner_code = layout.code[body.start : body.end]
    if loop.macro or not layout.is_first(loop.keyword):
        raise NotPossible(f"the loop in line {line} does not begin its line")
    if not body.braced:
        raise NotPossible(f"the loop in line {line} has no braces")
    opening = layout.code.find(b"(", loop.keyword, loop.head_end)
    ends = loop.head_parts if loop.kind == "for" else (opening, loop.head_end - 1)
    if ends is None:
        raise NotPossible(f"the loop in line {line} is not a plain `for`")
    test = (ends[0] + 1, ends[1])
    condition = text[slice(*test)].strip()
    if condition.startswith(b"__syncthreads_or"):
        return None
    if _LEAVES.search(with_macros(inner_code, text)):
        raise NotPossible(f"threads leave the loop in line {line} in the middle of an iteration")
    if layout.code[loop.keyword : loop.head_end] != text[loop.keyword : loop.head_end]:
        raise NotPossible(f"there is a comment in the head of the loop in line {line}")
    if not condition or "test" not in loop.plain:
        raise NotPossible(f"the condition of the loop in line {line} may act or read memory")
    if loop.kind == "for" and rows:
        strided = _over_a_base(level, loop, layout, (opening, *ends))
        if strided is not None:
            return sorted(strided, key=lambda c: (c.start, c.end))
    vote = condition if _COMPARES.fullmatch(condition) else b"static_cast<bool>(" + condition + b")"
    changes = [Change(test[0], test[1], _like(text[slice(*test)], b"__syncthreads_or(" + vote + b")"))]
    step = (ends[1] + 1, loop.head_end - 1) if loop.kind == "for" else (0, 0)
    if text[slice(*step)].strip():
        if _hides(body, _NAME.findall(text[slice(*step)]), layout.code):
            raise NotPossible(f"the loop in line {line} hides a variable of its step")
        changes.append(Change(*step, b""))
    changes += _guarded(level, layout, condition, step=step)
    return sorted(changes, key=lambda c: (c.start, c.end))


def _like(old: bytes, new: bytes) -> bytes:
    """The new text with the blanks and lines around the old one."""
    at = old.find(old.strip())
    return old[:at] + new + old[at + len(old.strip()) :]


_NARROW: Final = re.compile(rb"\b(?:char|short|bool|float|double|half|u?int(?:8|16)_t|uchar|ushort|auto)\b|&|\*")
_WHOLE: Final = re.compile(rb"\b(?:int|unsigned|long|size_t|uint|u?int(?:32|64)_t)\b")
"""What a declaration of a thread's number may be of, and what it may not."""


def acts(code: bytes) -> bool:
    """Whether code does more than compare and compute with numbers of the thread, by its looks."""
    return _ACTS.search(code) is not None


def reads_memory(condition: bytes, layout: Layout) -> bool:
    """Whether a name of the condition may stand for memory that other threads write, or is a macro for more than a
    number: said by any declaration of that name in the file. The name of an array is its address."""
    for name in set(_NAME.findall(condition)):
        declared = (
            rb"\b(?:__shared__|__managed__)\b[^;{}]*\b%s\b(?!\s*[\[\w*&<])"
            rb"|\b(?:__device__|volatile)\b[^;{}(),]*\b%s\b(?!\s*[(\w*&<])"
            rb"|(?:(?<!&)&(?!&)|(?:\bauto|\b[A-Z]\w*|>)\s*&&)\s*(?:__restrict__\s*)?%s\s*[,)=:;{]"
            rb"|&&\s*%s\s*=(?!=)"
        )
        macro = rb"^[ \t]*#[ \t]*define[ \t]+%s\b(?![ \t]*[\w.]+[ \t]*\r?$)"
        if re.search(declared % (name, name, name, name), layout.code):
            return True
        if re.search(macro % name, layout.text, re.MULTILINE):
            return True
    return False


def _hides(body: Body, names: Iterable[bytes], code: bytes) -> bool:
    """Whether the body declares one of the names itself."""
    for statement in body.statements:
        if statement.kind in ("declaration", "other"):
            declared = statement.declares
            own = _NAME.findall(code, statement.start, statement.end) if declared is None else ()
            if not set(names).isdisjoint(own or (d.name.encode() for d in declared or ())):
                return True
    return False


def _guarded(
    level: Level, layout: Layout, condition: bytes, declaration: bytes = b"", step: tuple[int, int] = (0, 0)
) -> Iterable[Change]:
    """The body, and behind it the step of the loop, under a condition, a level deeper."""
    body = level.body
    unit = layout.unit(level.function)
    if not body.statements:
        raise NotPossible("the loop has no body")
    first, last = body.statements[0], body.statements[-1]
    if not layout.is_first(first.keyword or first.start):
        raise NotPossible("the body of the loop is in the line of its head")
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


def _over_a_base(level: Level, loop: Statement, layout: Layout, parts: tuple[int, int, int]) -> list[Change] | None:
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
    if not _is_thread_number(start["value"], level, text) or _word(name, test["right"] + b" " + step["by"]):
        return None
    # The step is made as often as the base needs it, not the thread; a base of type `auto` would be an `int`.
    if "step" not in loop.plain or not _WIDE.fullmatch(start["type"]):
        return None
    code = layout.code[level.body.start : level.body.end]
    if re.search(
        rb"\b"
        + name
        + rb"\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)|(?:\+\+|--)\s*"
        + name
        + rb"\b|\b"
        + name
        + rb"\s*(?:\+\+|--)|[(,&]\s*"
        + name
        + rb"\s*[,)]",
        code,
    ):
        return None
    base = fresh_name(level, text, "base")
    head = start["type"] + b" " + base + b" = 0; " + base + b" " + test["operator"] + b" " + test["right"]
    head += b"; " + base + b" += " + step["by"]
    declaration = start["type"] + b" " + name + b" = " + base + b" + " + start["value"] + b";"
    condition = name + b" " + test["operator"] + b" " + test["right"]
    return [Change(opening + 1, loop.head_end - 1, head), *_guarded(level, layout, condition, declaration)]


def _is_thread_number(value: bytes, level: Level, text: bytes) -> bool:
    """`threadIdx.x`, or a variable that is declared as that and never changed."""
    if value == b"threadIdx.x":
        return True
    if not re.fullmatch(rb"[A-Za-z_]\w*", value):
        return False
    function = text[level.function.start : level.function.end]
    declared = re.findall(rb"\b" + value + rb"\s*=(?!=)\s*([^;,]*)", function)
    changed = re.search(
        rb"\b" + value + rb"\s*(?:[-+*/%&|^]|<<|>>)=|(?:\+\+|--)\s*" + value + rb"\b|\b" + value + rb"\s*(?:\+\+|--)",
        function,
    )
    if [d.strip() for d in declared] != [b"threadIdx.x"] or changed is not None:
        return False
    # Who else may change it: a reference to it, a function that takes one, a macro.
    lent = re.search(
        rb"&\s*" + value + rb"\b|&\s*\w+\s*[=({]\s*" + value + rb"\b|[(,]\s*" + value + rb"\s*[,)]", function
    )
    in_macro = re.search(rb"^[ \t]*#[ \t]*define\b(?:[^\n\\]|\\(?:\r?\n|.))*\b" + value + rb"\b", text, re.MULTILINE)
    if lent is not None or in_macro is not None:
        return False
    whole = re.search(rb"(?:^|[;{}])([^;{}]*)\b" + value + rb"\s*=(?!=)", function)
    return whole is not None and _NARROW.search(whole[1]) is None and _WHOLE.search(whole[1]) is not None


def _word(name: bytes, code: bytes) -> bool:
    return re.search(rb"\b" + name + rb"\b", code) is not None
