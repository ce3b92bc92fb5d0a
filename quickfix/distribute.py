"""Conditionals around loops, turned inside out: all threads make the loop, its body is under the condition.

Takes a conditional that holds nothing but a counting loop, gives the changes after which the loop holds the
conditional. A thread for which the condition is false counts and does nothing else; what the head of the loop computes
with is its own counter and values that the loop does not change. That all threads count alike, as a barrier in the loop
needs it, the engine finds out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

from analyzers.frontend.blanking import blanked
from analyzers.frontend.gaps import Body, FunctionTree, Statement
from quickfix.edits import Change, Layout, indented
from quickfix.naming import NotPossible, fresh_name, kept_condition, line_of
from quickfix.paths import Level

_COUNTER: Final = re.compile(rb"\s*(?:[A-Za-z_][\w\s]*?)\s+(?P<name>[A-Za-z_]\w*)\s*=(?!=)\s*(?P<value>.+?)\s*\Z")
_STEP: Final = re.compile(
    rb"\s*(?:(?P<name>[A-Za-z_]\w*)\s*(?:(?:[-+*/]|<<|>>)=\s*(?P<by>.+?)|\+\+|--)|(?:\+\+|--)\s*(?P<same>[A-Za-z_]\w*))"
    rb"\s*\Z"
)
DIRECTIVE: Final = re.compile(rb"^[ \t]*#", re.MULTILINE)
_WORD: Final = re.compile(rb"(?<![\w.])[A-Za-z_]\w*")
_NUMBER: Final = rb"(?:[1-9]\d*|0[xX][0-9a-fA-F]*[1-9a-fA-F][0-9a-fA-F]*)[uUlL]*"
_EXTENT: Final = rb"(?:(?:int|unsigned)?\s*\(?\s*(?:" + _NUMBER + rb"|(?:blockDim|gridDim)\.[xyz])\s*\)?\s*)"
_POSITIVE: Final = re.compile(_EXTENT + rb"(?:\*\s*" + _EXTENT + rb")*")
"""Never zero: numbers, dimensions and products of them."""
_LOGICAL: Final = re.compile(rb"&&|\|\||\?")
_DIVISOR: Final = re.compile(rb"[/%]\s*(?P<by>[^\s;<>=+-]*)")


_TYPES: Final = frozenset({b"int", b"unsigned", b"signed", b"long", b"short", b"char", b"size_t", b"uint", b"sizeof"})


def inside_out(outer: Level, level: Level, text: bytes, condition: tuple[tuple[int, int], bytes]) -> list[Change]:
    """The changes; `condition` is where the condition stands, and its text. Raises `NotPossible`."""
    layout = Layout(text)
    statement, body = level.owner, level.body
    assert statement is not None
    (loop,) = body.statements
    line = line_of(text, loop.keyword)
    inner = loop.bodies[0]
    _check(layout, level, loop, inner, line)
    (low, high), written = condition
    name = kept_condition(layout.code, level.function, written)
    newline, indentation = layout.newline, layout.indentation(statement.keyword)
    deeper = layout.indentation(loop.keyword)
    if name is None:
        name = fresh_name(level, text, "taken")
        head = b"const bool " + name + b" = "
        moved = ((len(head), low, high - low),)
        first = [Change(statement.keyword, body.start, head + written + b";", moved=moved)]
    else:
        end = text.find(b"\n", body.start) + 1
        if text[body.start : end].strip():
            raise NotPossible(f"a comment follows the conditional in line {line_of(text, statement.keyword)}")
        first = [Change(layout.line_start(statement.keyword), end, b"")]
    first += _moved_out(layout, body.start, loop.keyword, indentation)
    if inner.braced and layout.is_first(inner.start - 1):
        # The brace of the loop goes with its head; what it closes is the conditional's in the end.
        first += _moved_out(layout, loop.keyword, inner.start, indentation)
    test = b"if (" + name + b")"
    if inner.braced:
        at = inner.start
        if not layout.is_first(inner.end):
            raise NotPossible(f"the loop in line {line} does not end in a line of its own")
        return [*first, Change(at, at, newline + deeper + test + b" {")]
    head_end = layout.last_visible(inner.start, loop.start)
    if layout.text[head_end : inner.start].strip():
        raise NotPossible("there is a comment between the loop and its statement")
    if not layout.same_line(head_end, inner.start):
        return [*first, Change(head_end, head_end, b" {" + newline + deeper + test)]
    unit = layout.unit(level.function)
    opened = b" {" + newline + deeper + test + newline + deeper + unit
    more = (Change(each, each, unit) for each in indented(text, inner.start, inner.end))
    return [*first, Change(head_end, inner.start, opened), *more]


def _moved_out(layout: Layout, start: int, end: int, indentation: bytes) -> Iterable[Change]:
    """The lines behind `start` up to that of `end`, as deep as `indentation` where they were deeper by one level."""
    deeper = layout.indentation(end)
    extra = len(deeper) - len(indentation)
    if not deeper.startswith(indentation):
        return
    at = layout.text.find(b"\n", start, end)
    while at >= 0:
        if layout.text.startswith(deeper, at + 1):
            yield Change(at + 1, at + 1 + extra, b"")
        at = layout.text.find(b"\n", at + 1, end)


def _check(layout: Layout, level: Level, loop: Statement, inner: Body, line: int) -> None:
    text = layout.text
    statement, parts = level.owner, loop.head_parts
    assert statement is not None
    if not level.body.braced or loop.macro or parts is None or inner.loops != 1 or not layout.is_first(loop.keyword):
        raise NotPossible(f"the loop in line {line} is written by a macro or does not begin its line")
    if loop.start != loop.keyword:
        raise NotPossible(f"the loop in line {line} follows a pragma")
    heads = ((statement.keyword, level.body.start), (loop.keyword, loop.head_end))
    if any(layout.code[slice(*head)] != text[slice(*head)] for head in heads):
        raise NotPossible(f"there is a comment in the head of the loop in line {line} or of the conditional around it")
    if not layout.is_first(loop.keyword) or layout.same_line(level.body.start, loop.keyword):
        raise NotPossible(f"the loop in line {line} does not begin its line")
    if DIRECTIVE.search(text, level.body.start, loop.keyword):
        raise NotPossible(f"there are preprocessor lines in front of the loop in line {line}")
    if not layout.is_first(level.body.end):
        raise NotPossible(f"the conditional around the loop in line {line} does not end in a line of its own")
    counts_for_all(layout, level.function, loop, inner, line)


def counts_for_all(
    layout: Layout,
    function: FunctionTree,
    loop: Statement,
    inner: Body,
    line: int,
    harmless: Iterable[tuple[int, int]] = (),
) -> None:
    """Whether threads that do nothing in the body of a `for` can make the loop: raises `NotPossible` where its head may
    act, read memory, depend on what the body does, or not end. `harmless`: parts of the body that change nothing of
    what they mention."""
    text, parts = layout.text, loop.head_parts
    if parts is None or loop.macro or layout.code[loop.keyword : loop.head_end] != text[loop.keyword : loop.head_end]:
        raise NotPossible(f"the loop in line {line} is not a plain `for`")
    opening = layout.code.find(b"(", loop.keyword, loop.head_end)
    start, test, step = (
        text[opening + 1 : parts[0]],
        text[parts[0] + 1 : parts[1]],
        text[parts[1] + 1 : loop.head_end - 1],
    )
    counter, change = _COUNTER.match(start), _STEP.match(step)
    if counter is None or change is None or counter["name"] != (change["name"] or change["same"]):
        raise NotPossible(f"the loop in line {line} does more than count")
    values = (counter["value"], test, change["by"] or b"0")
    if not loop.plain >= frozenset(("start", "test", "step")):
        raise NotPossible(f"the head of the loop in line {line} may act or read memory")
    _check_without_condition(text, function, line, counter["value"], change, test)
    names = {counter["name"]}.union(*(_WORD.findall(value) for value in values)) - _TYPES
    code = layout.code[inner.start : inner.end]
    for begin, end in harmless:
        code = code[: begin - inner.start] + b" " * (end - begin) + code[end - inner.start :]
    whole = layout.code[function.start : function.end]
    for name in names:
        if changes_of_name(name, code):
            raise NotPossible(f"the loop in line {line} changes `{name.decode()}`, which its head computes with")
        if re.search(rb"[\w>]\s*[*&\s]\s*" + name + rb"\s*;", whole) and name != counter["name"]:
            declared = re.search(
                rb"(?:^|[;{}])\s*(?!return\b)[A-Za-z_](?:[\w\s:]|<[^;<>]*>)*[\s*&]" + name + rb"\s*;", whole
            )
            if declared is not None:
                raise NotPossible(f"`{name.decode()}` may have no value where the loop in line {line} would be made")


def _check_without_condition(
    text: bytes, tree: FunctionTree, line: int, start: bytes, change: re.Match[bytes], test: bytes
) -> None:
    """The head ends, and divides by nothing that may be zero, for threads whose condition is false too: it may be the
    condition that excludes a step of zero."""
    function = text[tree.start : tree.end]

    def is_positive(value: bytes) -> bool:
        if _POSITIVE.fullmatch(value.strip()):
            return True
        name = value.strip()
        if not _WORD.fullmatch(name):
            return False
        own = re.escape(name)
        given = re.findall(rb"\b" + own + rb"\s*=(?!=)\s*([^;]*);", function)
        given += re.findall(rb"^[ \t]*#[ \t]*define[ \t]+" + own + rb"[ \t]+([^\n]*)", text, re.MULTILINE)
        ways = rb"(?:\+\+|--)\s*" + own + rb"\b|\b" + own + rb"\s*(?:\+\+|--|[-+*/%&|^]=|<<=|>>=)"
        stepped = re.search(ways, function)
        return len(given) == 1 and stepped is None and _POSITIVE.fullmatch(given[0].strip()) is not None

    by = change["by"] or b"1"
    step = change.group().split(by)[0] if change["by"] else change.group()
    name = change["name"] or change["same"]
    ends = _ends(name, step, by, test, is_positive, blanked(text))
    if not is_positive(by) or not ends or (re.search(rb"\*|<<", step) and not is_positive(start)):
        raise NotPossible(f"the loop in line {line} may not end where its condition is false")
    for value in (start, test, by):
        if any(not is_positive(match["by"]) for match in _DIVISOR.finditer(value)):
            raise NotPossible(f"the head of the loop in line {line} may divide by zero where its condition is false")


_COMPARED: Final = re.compile(rb"\s*(?P<left>[^<>=!]+?)\s*(?P<operator><=|>=|<|>)\s*(?P<right>[^<>=!]+?)\s*\Z")
_TURNED: Final = {b"<": b">", b">": b"<", b"<=": b">=", b">=": b"<="}


def _ends(name: bytes, step: bytes, by: bytes, test: bytes, is_known: Callable[[bytes], bool], file: bytes) -> bool:
    """Whether a counter that is changed by `step` and `by` comes to an end of `test` whatever the limit is, without
    leaving the range of its type. `is_known`: a value is a number or a size, which is far from the end of the range."""
    compared = _COMPARED.match(test)
    if compared is None or _LOGICAL.search(test) or not _is_wide(name, file):
        return False
    left, operator, limit = compared["left"], compared["operator"], compared["right"]
    if limit == name:
        left, operator, limit = limit, _TURNED[operator], left
    if left != name:
        return False
    known, unit = is_known(limit), by == b"1"
    if b"+" in step:
        return known if operator == b"<=" else operator == b"<" and (known or (unit and _holds(name, limit, file)))
    if b"*" in step or b"<<" in step:
        return operator in (b"<", b"<=") and known and (b"<<" in step or not unit)
    down = operator == b">" and (limit == b"0" or known)
    if b"-" in step:
        return down and unit
    return (down or (operator == b">=" and known)) and (b">>" in step or not unit)


_INTEGER: Final = rb"(?:(?:const|unsigned|signed|long|short|int|char|bool|size_t|uint|uchar|u?int(?:8|16|32|64)_t)\s+)+"


def _types(name: bytes, file: bytes) -> set[bytes]:
    """The types of integers that variables of this name are declared with anywhere in the file."""
    return {b" ".join(t.split()) for t in re.findall(rb"\b(" + _INTEGER + rb")" + re.escape(name) + rb"\b", file)}


def _is_wide(name: bytes, file: bytes) -> bool:
    narrow = re.compile(rb"\b(?:char|short|bool|uchar|u?int(?:8|16)_t)\b")
    types = _types(name, file)
    return bool(types) and not any(narrow.search(t) for t in types)


def _holds(name: bytes, limit: bytes, file: bytes) -> bool:
    """Whether every value of the limit is one that the counter can take."""
    wide, unsigned = re.compile(rb"\blong\b|64_t|size_t"), re.compile(rb"\bunsigned\b|\bu|size_t")
    counters = _types(name, file)
    for part in re.findall(rb"[\w.]+", limit):
        if re.fullmatch(rb"\d+", part):
            continue
        types = _types(part, file)
        if not types:
            return False
        if any(wide.search(t) for t in types) and not all(wide.search(c) for c in counters):
            return False
        if any(unsigned.search(t) for t in types) and not all(unsigned.search(c) for c in counters):
            return False
    return True


def changes_of_name(name: bytes, code: bytes) -> bool:
    """Whether the name is assigned, stepped, or handed to where it may be."""
    own = rb"\b" + re.escape(name) + rb"\b"
    ways = (
        own + rb"\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)",
        rb"(?:\+\+|--)\s*" + own,
        own + rb"\s*(?:\+\+|--)",
        rb"&\s*" + own,
        rb"\[\s*(?:[&=]|\w+\s*,)",
        rb"(?<!\bif)(?<!\bwhile)(?<!\bmin)(?<!\bmax)\s*\(\s*(?:[^();]*,\s*)?" + own + rb"\s*[,)]",
    )
    return any(re.search(way, code) is not None for way in ways)
