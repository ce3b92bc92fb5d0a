"""Loops that threads leave at different times, made to run as long as any thread has work.

Takes a loop in which a barrier is missing, gives the changes after which all threads of the block make the same
iterations, each with its old body under its old condition. Two forms: over a base that is the same for all threads,
where the loop strides from the number of the thread on (``for (int i = threadIdx.x; i < n; i += 64)``); and with
``__syncthreads_or`` in the test, where a condition that is false once stays false. That the bounds are the same for all
threads, where the first form needs it, the engine finds out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from analyzers.frontend.gaps import Statement
from quickfix.edits import Change, Layout, indented
from quickfix.naming import NotPossible, fresh_name, line_of
from quickfix.paths import Chain, Level

_LEAVES: Final = re.compile(rb"\b(?:break|continue|return|goto)\b")
_ACTS: Final = re.compile(rb"(?<![=!<>])=(?!=)|\+\+|--|[\w>\]]\s*\(|\[|->|(?:^|[^\w)\]\s])\s*\*")
"""A condition that does more than compare numbers of the thread."""
_TEST: Final = re.compile(rb"\s*(?P<left>[^<>=!]+?)\s*(?P<operator><=|>=|<|>)\s*(?P<right>[^<>=!]+?)\s*\Z")
_DECLARATION: Final = re.compile(rb"\s*(?P<type>[A-Za-z_][\w\s]*?)\s+(?P<name>[A-Za-z_]\w*)\s*=\s*(?P<value>.+?)\s*\Z")
_STEP: Final = re.compile(
    rb"\s*(?:(?P<name>[A-Za-z_]\w*)\s*(?:(?P<operator>[-+])=\s*(?P<by>.+?)|(?P<after>\+\+|--))"
    rb"|(?P<before>\+\+|--)\s*(?P<same>[A-Za-z_]\w*))\s*\Z"
)
_OPPOSITE: Final = {b"<": b">", b">": b"<", b"<=": b">=", b">=": b"<="}


def loop_around(first: Chain, second: Chain) -> tuple[Level, Statement] | None:
    """The innermost `for` or `while` loop around both accesses, with its body, that some threads may leave early."""
    for a, b in reversed(list(zip(first, second, strict=False))):
        if a.identity == b.identity and a.body.loops == 1 and a.owner is not None:
            return (a, a.owner) if a.owner.kind in ("for", "while") else None
    return None


def uniform(level: Level, loop: Statement, text: bytes) -> list[Change] | None:
    """The changes; None for a loop that is uniform already. Raises `NotPossible`."""
    layout = Layout(text)
    line = line_of(text, loop.keyword)
    body = level.body
    inner_code = layout.code[body.start : body.end]
    if loop.macro or not layout.is_first(loop.keyword):
        raise NotPossible(f"the loop in line {line} does not begin its line")
    if not body.braced:
        raise NotPossible(f"the loop in line {line} has no braces")
    opening = text.find(b"(", loop.keyword, loop.head_end)
    ends = loop.head_parts if loop.kind == "for" else (opening, loop.head_end - 1)
    if ends is None:
        raise NotPossible(f"the loop in line {line} is not a plain `for`")
    test = (ends[0] + 1, ends[1])
    condition = text[slice(*test)].strip()
    if condition.startswith(b"__syncthreads_or"):
        return None
    if _LEAVES.search(inner_code):
        raise NotPossible(f"threads leave the loop in line {line} in the middle of an iteration")
    if not condition or _ACTS.search(condition):
        raise NotPossible(f"the condition of the loop in line {line} may act or read memory")
    parts = (opening, *ends) if loop.kind == "for" else None
    strided = _over_a_base(level, loop, layout, parts) if parts is not None else None
    if strided is not None:
        return sorted(strided, key=lambda c: (c.start, c.end))
    if parts is not None and not _stays_false(condition, text[ends[1] + 1 : loop.head_end - 1]):
        raise NotPossible(f"a condition of the loop in line {line} that is false once might become true again")
    changes = [Change(test[0], test[1], _like(text[slice(*test)], b"__syncthreads_or(" + condition + b")"))]
    changes += _guarded(level, layout, condition, b"")
    return sorted(changes, key=lambda c: (c.start, c.end))


def _like(old: bytes, new: bytes) -> bytes:
    return (b" " if old[:1] == b" " else b"") + new


def _guarded(level: Level, layout: Layout, condition: bytes, declaration: bytes) -> Iterable[Change]:
    """The body under a condition, a level deeper."""
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
    end = layout.line_end(last.end)
    yield from (Change(at, at, unit) for at in indented(layout.text, opened, end))
    yield Change(end, end, inner + b"}")


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
    if not _is_thread_number(start["value"], level, text) or _word(name, test["right"] + step["by"]):
        return None
    code = layout.code[level.body.start : level.body.end]
    if re.search(
        rb"\b"
        + name
        + rb"\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)|(?:\+\+|--)\s*"
        + name
        + rb"\b|\b"
        + name
        + rb"\s*(?:\+\+|--)",
        code,
    ):
        return None
    base = fresh_name(level, text, "base")
    head = b"for (" + start["type"] + b" " + base + b" = 0; " + base + b" " + test["operator"] + b" " + test["right"]
    head += b"; " + base + b" += " + step["by"] + b")"
    declaration = start["type"] + b" " + name + b" = " + base + b" + " + start["value"] + b";"
    condition = name + b" " + test["operator"] + b" " + test["right"]
    return [Change(loop.keyword, loop.head_end, head), *_guarded(level, layout, condition, declaration)]


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
    return [d.strip() for d in declared] == [b"threadIdx.x"] and changed is None


def _word(name: bytes, code: bytes) -> bool:
    return re.search(rb"\b" + name + rb"\b", code) is not None


def _stays_false(condition: bytes, step: bytes) -> bool:
    """A variable compared with a limit moves away from it."""
    test, change = _TEST.match(condition), _STEP.match(step)
    if test is None or change is None:
        return False
    name = change["name"] or change["same"]
    rising = (change["operator"] or change["after"] or change["before"])[:1] == b"+"
    left, operator, right = test["left"], test["operator"], test["right"]
    if right == name:
        left, operator, right = right, _OPPOSITE[operator], left
    return left == name and not _word(name, right) and (operator in (b"<", b"<=")) == rising
