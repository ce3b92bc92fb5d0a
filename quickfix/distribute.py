"""Conditionals around loops, turned inside out: all threads make the loop, its body is under the condition.

Takes a conditional that holds nothing but a counting loop, gives the changes after which the loop holds the
conditional. A thread for which the condition is false counts and does nothing else; what the head of the loop computes
with is its own counter and values that the loop does not change. That all threads count alike, as a barrier in the loop
needs it, the engine finds out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Final

from analyzers.frontend.gaps import Body, FunctionTree, Slot, Statement, Step
from analyzers.frontend.plain import Test
from quickfix.edits import Change, Layout, indented
from quickfix.naming import NotPossible, fresh_name, kept_condition, line_of
from quickfix.own_lines import first_word, require_braces, require_lines
from quickfix.paths import Level
from quickfix.variables import Range, mentioned, stay, uses_in

_COUNTER: Final = re.compile(rb"\s*(?:[A-Za-z_][\w\s]*?)\s+(?P<name>[A-Za-z_]\w*)\s*=(?!=)\s*(?P<value>.+?)\s*\Z")
_STEP: Final = re.compile(
    rb"\s*(?:(?P<name>[A-Za-z_]\w*)\s*(?:(?:[-+*/]|<<|>>)=\s*(?P<by>.+?)|\+\+|--)|(?:\+\+|--)\s*(?P<same>[A-Za-z_]\w*))"
    rb"\s*\Z"
)
DIRECTIVE: Final = re.compile(rb"^[ \t]*#", re.MULTILINE)
_UNROLLS: Final = re.compile(rb"(?:#[ \t]*pragma[ \t]+(?:no)?unroll\b[^\n\\]*\n[ \t]*)*")
"""Pragmas about how a loop is compiled, which hold for it wherever its body is."""
_SMALL: Final = range(1, 1 << 16)


def inside_out(
    outer: Level,
    level: Level,
    text: bytes,
    condition: tuple[tuple[int, int], bytes],
    taken: Collection[bytes],
) -> tuple[list[Change], str]:
    """The changes, and what they take for granted; `condition` is where the condition stands, and its text. Raises
    `NotPossible`."""
    layout = Layout(text)
    statement, body = level.owner, level.body
    assert statement is not None
    (loop,) = body.statements
    line = line_of(text, loop.keyword)
    inner = loop.bodies[0]
    (low, high), written = condition
    granted = _check(layout, level, loop, inner, line, (low, high))
    name = kept_condition(layout.code, level.function, (low, high), (statement.keyword, statement.end))
    newline, indentation = layout.newline, layout.indentation(statement.keyword)
    deeper = layout.indentation(loop.keyword)
    if name is None:
        require_braces(layout, outer, f"the conditional in line {line} is in a section of a `switch` without braces")
        name = fresh_name(level, text, "taken", taken)
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
        inside = Level(level.function, (*level.steps, Step(level.body, 0)), inner, 0)
        ends = (*(first_word(s) for s in inner.statements[:1]), inner.end)
        require_lines(layout, inside, f"the body of the loop in line {line} is in one line", *ends)
        return [*first, Change(at, at, newline + deeper + test + b" {")], granted
    head_end = layout.last_visible(inner.start, loop.start)
    if layout.text[head_end : inner.start].strip():
        raise NotPossible("there is a comment between the loop and its statement")
    if not layout.same_line(head_end, inner.start):
        return [*first, Change(head_end, head_end, b" {" + newline + deeper + test)], granted
    unit = layout.unit(level.function)
    opened = b" {" + newline + deeper + test + newline + deeper + unit
    more = (Change(each, each, unit) for each in indented(text, inner.start, inner.end))
    return [*first, Change(head_end, inner.start, opened), *more], granted


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


def _check(layout: Layout, level: Level, loop: Statement, inner: Body, line: int, condition: Range) -> str:
    text = layout.text
    statement, parts = level.owner, loop.head_parts
    assert statement is not None
    if not level.body.braced or loop.macro or parts is None or inner.loops != 1:
        raise NotPossible(f"the loop in line {line} is written by a macro")
    ends = loop.keyword, level.body.end
    require_lines(layout, level, f"the loop in line {line} does not have its lines to itself", *ends)
    if not _UNROLLS.fullmatch(text, loop.start, loop.keyword):
        raise NotPossible(f"the loop in line {line} follows a pragma")
    heads = ((statement.keyword, level.body.start), (loop.keyword, loop.head_end))
    if any(layout.code[slice(*head)] != text[slice(*head)] for head in heads):
        raise NotPossible(f"there is a comment in the head of the loop in line {line} or of the conditional around it")
    if DIRECTIVE.search(text, level.body.start, layout.line_start(loop.start)):
        raise NotPossible(f"there are preprocessor lines in front of the loop in line {line}")
    return counts_for_all(layout, level.function, loop, inner, line, condition=condition)


def counts_for_all(
    layout: Layout,
    function: FunctionTree,
    loop: Statement,
    inner: Body,
    line: int,
    harmless: Iterable[Range] = (),
    condition: Range | None = None,
) -> str:
    """Whether threads that do nothing in the body of a `for` can make the loop: raises `NotPossible` where its head may
    act, read memory, depend on what the body does, or not end. Gives what is taken for granted, a sentence or nothing.
    `harmless`: parts of the body that change nothing of
    what they mention; `condition`: where the condition stands that the threads do not fulfil, if it is known."""
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
    if not loop.plain >= frozenset(("start", "test", "step")):
        raise NotPossible(f"the head of the loop in line {line} may act or read memory")
    granted = _check_without_condition(text, function, loop, line, change, test, condition)
    head = (opening, loop.head_end)
    counted = {u.variable for u in uses_in(function, head) if u.kind == "declared"}
    used = mentioned(function, head)
    pieces, at = list[tuple[int, int]](), inner.start
    for begin, end in harmless:
        pieces.append((at, begin))
        at = end
    pieces.append((at, inner.end))
    for variable in counted | used:
        if not stay(function, {variable}, *pieces):
            name = next(u.name for u in uses_in(function, head) if u.variable == variable)
            raise NotPossible(f"the loop in line {line} changes `{name}`, which its head computes with")
    for use in function.uses:
        own = use.kind == "declared" and use.variable in used and use.at > function.body.start
        if own and layout.code[use.at + len(use.name.encode()) :].lstrip()[:1] in (b";", b","):
            raise NotPossible(f"`{use.name}` may have no value where the loop in line {line} would be made")
    return granted


def _check_without_condition(
    text: bytes,
    tree: FunctionTree,
    loop: Statement,
    line: int,
    change: re.Match[bytes],
    test: bytes,
    condition: Range | None,
) -> str:
    """The head ends, and divides by nothing that may be zero, for threads whose condition is false too: it may be the
    condition that excludes a step of zero. Gives what is taken for granted."""

    def is_size(slot: Slot) -> bool:
        variables = loop.sizes.get(slot)
        return variables is not None and stay(tree, variables, (tree.start, tree.end))

    by = change["by"] or b"1"
    step = change.group().split(by)[0] if change["by"] else change.group()
    name = change["name"] or change["same"]
    limit = _limit(name, test)
    compared = _COMPARED.match(test)
    known = compared is not None and is_size("right" if compared["left"] == name else "left")
    small = limit is not None and loop.by in _SMALL and not _bounds(text, tree, condition, loop, limit)
    unit = by.strip() == b"1" or loop.by == 1
    far = _far(loop, name, step, test, limit) if small and loop.by is not None and limit is not None else None
    ends = _ends(name, step, unit, test, known, loop.test, far is not None) or (
        _is_not_zero(name, test, loop.test) and is_size("start") and (b">>" in step or (b"/" in step and not unit))
    )
    steps = not change["by"] or is_size("by")
    if not steps or not ends or (re.search(rb"\*|<<", step) and not is_size("start")):
        raise NotPossible(f"the loop in line {line} may not end where its condition is false")
    if loop.divisors is None or not stay(tree, loop.divisors, (tree.start, tree.end)):
        raise NotPossible(f"the head of the loop in line {line} may divide by zero where its condition is false")
    if not far or limit is None or unit or known:
        return ""
    return f"Assumes that `{limit.decode()}` is at most {far}: beyond, the loop in line {line} would not end."


_COMPARED: Final = re.compile(rb"\s*(?P<left>[^<>=!]+?)\s*(?P<operator><=|>=|<|>)\s*(?P<right>[^<>=!]+?)\s*\Z")
_TURNED: Final = {b"<": b">", b">": b"<", b"<=": b">=", b">=": b"<="}


def _is_not_zero(name: bytes, test: bytes, shape: Test) -> bool:
    """`i` or `i != 0`."""
    written = test.split()
    return (written == [name] and shape.operator == "") or (written == [name, b"!=", b"0"] and shape.integers)


def _limit(name: bytes, test: bytes) -> bytes | None:
    """What a counter stays below, as written."""
    compared = _COMPARED.match(test)
    if compared is None or name not in (compared["left"], compared["right"]):
        return None
    below = {b"<": "right", b">": "left"}.get(compared["operator"])
    return compared[below] if below is not None and compared[below] != name else None


def _far(loop: Statement, name: bytes, step: bytes, test: bytes, limit: bytes) -> int | None:
    """Where threads miss a loop for another reason than a great limit: the greatest limit that a counter gets past in
    small steps without leaving the range of its type. Zero if that is its own affair: with a sign it is taken not to
    overflow, as in every proof. None where the limit may be below zero, which without a sign is a great number."""
    types = [_unqualified(ty) for ty in loop.test.types]
    if b"+" not in step or loop.by is None or len(types) != len(_SIDES) or any(ty not in _BITS for ty in types):
        return None
    compared = _COMPARED.match(test)
    own, other = types if compared is not None and compared["left"] == name else types[::-1]
    if not _is_signed(own) or not loop.by_signed:
        counts = min(_BITS[own], _BITS[own] if loop.by_signed else _PROMOTED)
        wider = _BITS[other] < counts
        if _is_signed(other) or not _NAMED.fullmatch(limit):
            return None  # a cast may hide what is below zero
        return 0 if wider else (1 << counts) - loop.by
    return 0 if _holds(own, other) else None


_NAMED: Final = re.compile(rb"[A-Za-z_][\w.]*")
_SIDES: Final = ("left", "right")


def _bounds(text: bytes, tree: FunctionTree, condition: Range | None, loop: Statement, limit: bytes) -> bool:
    """Whether a condition may be false because the limit of a loop is great. It is not where all that it says of the
    limit is that something is less."""
    if condition is None:
        return True
    head = (loop.keyword, loop.head_end)
    of_limit = {u.variable for u in uses_in(tree, head) if re.search(rb"\b" + u.name.encode() + rb"\b", limit)}
    known = set[int]()
    waiting = [condition]
    while waiting:
        start, end = waiting.pop()
        for low, high in _conjuncts(text, start, end):
            compared = _COMPARED.match(text[low:high])
            if compared is not None and compared["operator"] in (b"<", b">"):
                less, more = ("left", "right") if compared["operator"] == b"<" else ("right", "left")
                if compared[more] == limit:
                    low, high = low + compared.start(less), low + compared.end(less)
            used = {u.variable for u in uses_in(tree, (low, high))}
            if not used.isdisjoint(of_limit):
                return True
            for variable in used - known:
                known.add(variable)
                if not stay(tree, {variable}, (tree.start, tree.end)):
                    return True
                for use in tree.uses:
                    if use.kind == "declared" and use.variable == variable and use.at > tree.body.start:
                        given = _GIVEN.match(text, use.at + len(use.name.encode()), tree.end)
                        if given is None:
                            return True
                        waiting.append(given.span(1))
    return False


_GIVEN: Final = re.compile(rb"\s*=(?!=)\s*([^;]*)\s*;")


def _conjuncts(text: bytes, start: int, end: int) -> Iterable[Range]:
    """The parts of a condition that `&&` joins, as ranges of bytes."""
    depth, at = 0, start
    for i in range(start, end):
        depth += (text[i] in b"([{") - (text[i] in b")]}")
        if depth == 0 and text.startswith(b"&&", i, end):
            yield at, i
            at = i + 2
    yield at, end


def _ends(name: bytes, step: bytes, unit: bool, test: bytes, known: bool, shape: Test, small: bool) -> bool:
    """Whether a counter that is changed by `step` comes to an end of `test` whatever the limit is, without leaving the
    range of its type. `unit`: by one; `known`: the limit is a number or a size, which is far from the end of the
    range; `small`: by a small number, and nothing is against that the limit is far from the end of the range."""
    compared = _COMPARED.match(test)
    if compared is None or shape.operator != compared["operator"].decode() or not shape.integers:
        return False
    left, operator, limit = compared["left"], compared["operator"], compared["right"]
    own, other = shape.types
    if limit == name:
        left, operator, limit = limit, _TURNED[operator], left
        own, other = other, own
    if left != name or not _is_wide(own):
        return False
    if b"+" in step:
        return known if operator == b"<=" else operator == b"<" and (known or small or (unit and _holds(own, other)))
    if b"*" in step or b"<<" in step:
        return operator in (b"<", b"<=") and known and (b"<<" in step or not unit)
    down = operator == b">" and (limit == b"0" or known)
    if b"-" in step:
        return down and unit
    return (down or (operator == b">=" and known)) and (b">>" in step or not unit)


_BITS: Final = {
    **dict.fromkeys(("bool", "char", "signed char", "unsigned char"), 8),
    **dict.fromkeys(("short", "unsigned short"), 16),
    **dict.fromkeys(("int", "unsigned int"), 32),
    **dict.fromkeys(("long", "unsigned long", "long long", "unsigned long long"), 64),
}


def _is_wide(ty: str) -> bool:
    """An integer that is promoted to no other."""
    return _BITS.get(_unqualified(ty), 0) >= _PROMOTED


_PROMOTED: Final = 32


def _holds(own: str, limit: str) -> bool:
    """Whether a counter can take every value of the limit, by their types."""
    mine, other = _unqualified(own), _unqualified(limit)
    if other not in _BITS:
        return False
    signed = _is_signed(mine), _is_signed(other)
    # For a counter without a sign a negative limit is a great one, which the condition may keep threads from.
    return (_BITS[mine] >= _BITS[other] and signed[0] == signed[1]) or (_BITS[mine] > _BITS[other] and signed[0])


def _is_signed(ty: str) -> bool:
    return not ty.startswith(("unsigned", "bool"))


def _unqualified(ty: str) -> str:
    return re.sub(r"\b(?:const|volatile)\b\s*", "", ty).strip()
