"""The statements of a `while` loop that its test depends on, for threads that do nothing else in it.

Takes a loop in whose body a barrier stands, gives the statements of the body which count: those that declare and assign
what the test compares. They are executed by threads too that the condition around the loop keeps out, so they compute
with numbers of the thread alone, and come to an end whatever the first number is: what is compared becomes less with
each turn.
"""

from __future__ import annotations

import re
from typing import Final

from analyzers.frontend.gaps import Body, Statement
from quickfix.called_conditionals import is_quiet
from quickfix.distribute import changes_of_name
from quickfix.edits import Layout
from quickfix.naming import NotPossible, line_of
from quickfix.uniform_loops import acts, reads_memory

_WORD: Final = re.compile(rb"(?<![\w.])[A-Za-z_]\w*")
_TEST: Final = re.compile(rb"\s*(?P<name>[A-Za-z_]\w*)\s*(?P<operator>>=?)\s*(?P<limit>\d+)\s*\Z")
_HALF: Final = (
    rb"n\s*>>\s*[1-9]",
    rb"n\s*/\s*(?:[2-9]|[1-9]\d+)",
    rb"\(\s*(?:n\s*\+\s*1|1\s*\+\s*n)\s*\)\s*(?:>>\s*1|/\s*2)",
    rb"n\s*-\s*1",
    rb"n\s*-\s*n\s*(?:/\s*[2-9]|>>\s*1)",
)
"""What is less than `n`, where that is at least 2."""


def control_of(layout: Layout, loop: Statement, body: Body, unset: set[bytes]) -> frozenset[int]:
    """The indexes of these statements in the body; none for a `for`, which counts in its head. `unset`: variables that
    may have no value. Raises `NotPossible`."""
    if loop.kind != "while":
        return frozenset()
    line = line_of(layout.text, loop.keyword)
    opening = layout.text.find(b"(", loop.keyword, loop.head_end)
    test = _TEST.match(layout.code[opening + 1 : loop.head_end - 1])
    if test is None or int(test["limit"]) + (test["operator"] == b">") < 2:
        raise NotPossible(f"the loop in line {line} may not end for threads that do nothing in it")
    name = test["name"]
    steps = [(i, s) for i, s in enumerate(body.statements) if _assigns(s, name, layout)]
    others = [s for i, s in enumerate(body.statements) if i not in {i for i, _ in steps}]
    changed = any(changes_of_name(name, layout.code[s.start : s.end]) for s in others)
    if len(steps) != 1 or changed or name in unset or reads_memory(name, layout):
        raise NotPossible(f"the loop in line {line} may not end for threads that do nothing in it")
    ((index, step),) = steps
    assignment = step.assignment
    assert assignment is not None
    value = layout.code[slice(*assignment.value)].rstrip(b"; \t\r\n")
    if assignment.operator in ("/=", ">>=", "-="):
        value = name + b" " + assignment.operator[:-1].encode() + b" " + value
    found = {index}
    declared = {
        d.name.encode(): (i, s) for i, s in enumerate(body.statements[:index]) for d in s.declares or () if d.assignable
    }
    inner = declared.get(value.strip())
    if inner is not None:
        i, statement = inner
        if len(statement.declares or ()) != 1 or not is_quiet(layout, statement) or _is_changed(value, body, layout, i):
            raise NotPossible(f"the loop in line {line} may not end for threads that do nothing in it")
        value = layout.code[statement.start : statement.end].partition(b"=")[2].rstrip(b"; \t\r\n")
        found.add(i)
    code = re.sub(rb"\b" + name + rb"\b", b"n", _bare(value))
    if acts(value) or not any(re.fullmatch(form, code) for form in _HALF):
        raise NotPossible(f"the loop in line {line} may not end for threads that do nothing in it")
    return frozenset(found)


def _assigns(statement: Statement, name: bytes, layout: Layout) -> bool:
    a = statement.assignment
    return a is not None and layout.code[slice(*a.target)] == name and a.operator in ("=", "/=", ">>=", "-=")


def _is_changed(value: bytes, body: Body, layout: Layout, declared: int) -> bool:
    others = (s for i, s in enumerate(body.statements) if i > declared)
    return any(changes_of_name(value.strip(), layout.code[s.start : s.end]) for s in others)


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
