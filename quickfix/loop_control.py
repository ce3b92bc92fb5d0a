"""The statements of a `while` loop that its test depends on, for threads that do nothing else in it.

Takes a loop in whose body a barrier stands, gives the statements of the body which count: those that declare and assign
what the test compares. They are executed by threads too that the condition around the loop keeps out, so they compute
with numbers of the thread alone, and come to an end whatever the first number is: what is compared becomes less with
each turn.
"""

from __future__ import annotations

import re
from typing import Final

from analyzers.frontend.gaps import Body, FunctionTree, Statement
from quickfix.called_conditionals import is_quiet
from quickfix.edits import Layout
from quickfix.naming import NotPossible, line_of
from quickfix.variables import mentioned, stay, uses_in

_TEST: Final = re.compile(rb"\s*(?P<name>[A-Za-z_]\w*)\s*(?P<operator>>=?)\s*(?P<limit>\d+)\s*\Z")
_HALF: Final = (
    rb"n\s*>>\s*[1-9]",
    rb"n\s*/\s*(?:[2-9]|[1-9]\d+)",
    rb"\(\s*(?:n\s*\+\s*1|1\s*\+\s*n)\s*\)\s*(?:>>\s*1|/\s*2)",
    rb"n\s*-\s*1",
)
"""What is less than `n`, where that is at least 2."""
_PARTS: Final = (rb"n\s*-\s*\(?\s*n\s*/\s*([1-9]\d*)\s*\)?", rb"n\s*-\s*\(\s*n\s*>>\s*([1-9])\s*\)")
"""What is less than `n`, where that is at least the divisor: of a smaller one nothing is taken away."""


def control_of(layout: Layout, function: FunctionTree, loop: Statement, body: Body, unset: set[int]) -> frozenset[int]:
    """The indexes of these statements in the body; none for a `for`, which counts in its head. `unset`: variables that
    may have no value. Raises `NotPossible`."""
    if loop.kind != "while":
        return frozenset()
    line = line_of(layout.text, loop.keyword)
    opening = layout.text.find(b"(", loop.keyword, loop.head_end)
    test = _TEST.match(layout.code[opening + 1 : loop.head_end - 1])
    least = int(test["limit"]) + (test["operator"] == b">") if test is not None else 0
    if test is None or least < 2 or "test" not in loop.plain or not loop.test.integers:
        raise NotPossible(f"the loop in line {line} may not end for threads that do nothing in it")
    name = test["name"]
    counted = mentioned(function, (opening, loop.head_end))
    steps = [(i, s) for i, s in enumerate(body.statements) if _assigns(s, name, layout)]
    others = [s for i, s in enumerate(body.statements) if i not in {i for i, _ in steps}]
    changed = not stay(function, counted, *((s.start, s.end) for s in others))
    if len(steps) != 1 or changed or len(counted) != 1 or not counted.isdisjoint(unset):
        raise NotPossible(f"the loop in line {line} may not end for threads that do nothing in it")
    ((index, step),) = steps
    assignment = step.assignment
    assert assignment is not None
    value = layout.code[slice(*assignment.value)].rstrip(b"; \t\r\n")
    if assignment.operator in ("/=", ">>=", "-="):
        value = name + b" " + assignment.operator[:-1].encode() + b" (" + _bare(value) + b")"
        value = re.sub(rb"\((\d+)\)", rb"\1", value)
    found = {index}
    declared = {
        d.name.encode(): (i, s) for i, s in enumerate(body.statements[:index]) for d in s.declares or () if d.assignable
    }
    inner, between = declared.get(value.strip()), set[int]()
    if inner is not None:
        i, statement = inner
        between = {u.variable for u in uses_in(function, (statement.start, statement.end)) if u.kind == "declared"}
        changed = not stay(function, between, (statement.end, body.end))
        if len(statement.declares or ()) != 1 or not is_quiet(layout, statement) or changed:
            raise NotPossible(f"the loop in line {line} may not end for threads that do nothing in it")
        value = layout.code[statement.start : statement.end].partition(b"=")[2].rstrip(b"; \t\r\n")
        found.add(i)
    code = re.sub(rb"\b" + name + rb"\b", b"n", _bare(value))
    if mentioned(function, (step.start, step.end)) - counted - between or not _is_less(code, least):
        raise NotPossible(f"the loop in line {line} may not end for threads that do nothing in it")
    return frozenset(found)


def _assigns(statement: Statement, name: bytes, layout: Layout) -> bool:
    a = statement.assignment
    return a is not None and layout.code[slice(*a.target)] == name and a.operator in ("=", "/=", ">>=", "-=")


def _is_less(code: bytes, least: int) -> bool:
    """Whether the code is less than `n`, for all `n` from `least` on."""
    part = next((m for form in _PARTS if (m := re.fullmatch(form, code))), None)
    if part is not None:
        return (1 << int(part[1]) if b">>" in code else int(part[1])) <= least
    return any(re.fullmatch(form, code) for form in _HALF)


def _bare(value: bytes) -> bytes:
    """Without parentheses around the whole."""
    value = value.strip()
    while value.startswith(b"(") and value.endswith(b")"):
        depth = 0
        for at in range(len(value) - 1):
            depth += (value[at : at + 1] == b"(") - (value[at : at + 1] == b")")
            if depth == 0:
                return value
        value = value[1:-1].strip()
    return value
