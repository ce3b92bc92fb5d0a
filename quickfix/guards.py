"""Guards instead of jumps: what stands behind ``if (c) continue;`` or ``if (c) return;`` goes under the opposite of it,
and so does what ``if (c) goto end;`` leaves out, up to the label in the same body.

What stands in front of the jump under its condition stays there, and the rest goes under `else`. A value that is
returned is returned at the end: the threads that skip the rest come to it next. It goes through a variable where it
is computed with what only the conditional has.

Takes a body and the jump in it, gives the changes after which all threads get to the end of the body, or to the label,
each with the old statements under the old condition. The declarations behind the jump keep their scope: nothing follows
them, or nothing that may mention them. A label that nothing leads to any more goes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Final

from analyzers.frontend.gaps import Body, FunctionTree, Statement
from quickfix.edits import Change, Layout, deleted, indented, outside_conditionals
from quickfix.loop_jumps import jumps_of
from quickfix.naming import NotPossible, declares, fresh_name, line_of, redefines
from quickfix.negation import opposite
from quickfix.own_lines import first_word, require_lines
from quickfix.paths import Level
from quickfix.sections import balanced
from quickfix.variables import statements_of, uses_in

_COMMENT: Final = re.compile(rb"//|/\*")
_BLANK: Final = ord(" ")
_LABEL: Final = re.compile(rb"\s*(?!(?:case|default)\b)([A-Za-z_]\w*)\s*:")


def jump_in(body: Body, end: int, word: str) -> int | None:
    """The last statement of the body in front of `end` that is nothing but ``if (…)`` with the jump `word` at its end,
    and no other jump. The last, so that each is in the same body as those before it until it is their turn."""
    return max((i for i, s in enumerate(body.statements[:end]) if is_jump(s, word)), default=None)


def is_jump(statement: Statement, word: str) -> bool:
    """Whether it is nothing but ``if (…)`` with the jump `word` at its end, and no other jump."""
    if statement.kind != "if" or len(statement.bodies) != 1:
        return False
    inner, jumps = statement.bodies[0], list(jumps_of(statement))
    return len(jumps) == 1 and jumps[0].call == word and inner.statements[-1] is jumps[0]


def goto_in(body: Body, end: int, layout: Layout) -> tuple[int, int] | None:
    """The same of a `goto` to a label in the same body behind it, with the index of the label."""
    for index in reversed(range(min(end, len(body.statements)))):
        statement = body.statements[index]
        if is_jump(statement, "goto"):
            jump = statement.bodies[0].statements[-1]
            name = layout.code[jump.start : jump.end].strip(b"; \t\r\n").removeprefix(b"goto").strip()
            behind = enumerate(body.statements[index + 1 :], index + 1)
            label = next((i for i, s in behind if _label(s, layout) == name), None)
            if label is not None:
                return index, label
    return None


def _label(statement: Statement, layout: Layout) -> bytes | None:
    """The name of a label that a `goto` may lead to."""
    if statement.kind != "label":
        return None
    found = _LABEL.match(layout.code, statement.start, statement.end)
    return found[1] if found is not None else None


def switch_in(body: Body, end: int, word: str) -> Statement | None:
    """The first `switch` of the body in front of `end` that threads leave by the jump `word`."""
    switches = (s for s in body.statements[:end] if s.kind == "switch")
    return next((s for s in switches if any(j.call == word for j in jumps_of(s))), None)


def guarded(
    level: Level, index: int, text: bytes, label: int | None = None, taken: Collection[bytes] = ()
) -> list[Change]:
    """The changes for the jump at `index` of the body of `level`; raises `NotPossible`. `label`: the index of what a
    `goto` leads to. `taken`: names that nothing new may have."""
    layout = Layout(text)
    body, statement = level.body, level.body.statements[index]
    line = line_of(text, statement.keyword)
    *others, jump = statement.bodies[0].statements
    rest = body.statements[index + 1 : label]
    limit = body.end if label is None else body.statements[label].start
    if statement.macro or jump.macro or not body.braced or not rest:
        raise NotPossible(f"the jump in line {line} is written by a macro, or nothing is behind it")
    places = statement.keyword, first_word(rest[0]), limit
    require_lines(layout, level, f"the jump in line {line} does not have its line to itself", *places)
    word = layout.text[jump.start : jump.end].rpartition(b"]]")[2].strip(b"; \t")
    kept = b""
    if jump.call == "return" and word != b"return" and not _stays_the_same(level, statement, jump, layout, line):
        kept = fresh_name(level, text, "result", taken)
    if any(_label(s, layout) is not None for s in _all(rest)):
        raise NotPossible("there are labels behind it, and `goto` may lead to them")
    opening = layout.code.find(b"(", statement.keyword, statement.head_end)
    inside = opening + 1, statement.head_end - 1
    if layout.code[statement.keyword + 2 : opening].strip() or declares(layout, level.function, inside):
        raise NotPossible(f"the condition in line {line} declares a variable or is not plain")
    first = others[-1].end if others else statement.keyword
    if _has_comment(layout, first, jump.start) or _has_comment(layout, jump.end, statement.end):
        raise NotPossible(f"there is a comment between the condition and the jump in line {line}")
    if b"#" in layout.code[slice(*inside)] or not balanced(text, statement.start, limit):
        raise NotPossible(f"preprocessor lines separate the jump in line {line} from what is behind it")
    if b'R"' in text[statement.end : limit]:
        raise NotPossible("there is a raw string behind the jump, which cannot be indented")
    unit, indentation = layout.unit(level.function), layout.indentation(statement.keyword)
    end = outside_conditionals(layout, rest[-1].end, limit)
    inner = [Change(each, each, unit) for each in indented(text, statement.end, end)]
    closing = Change(end, end, layout.newline + indentation + b"}")
    if kept:
        last = layout.newline + indentation + b"return " + kept + b";"
        declared = result_type(level.function, line) + kept + b";" + layout.newline + indentation
        at = jump.start + layout.code[jump.start : jump.end].index(b"return")
        return [
            Change(statement.keyword, statement.keyword, declared),
            Change(at, at + len(b"return"), kept + b" ="),
            Change(statement.end, statement.end, b" else {"),
            *inner,
            Change(end, end, closing.text + last),
        ]
    if jump.call == "return" and word != b"return":
        above = closing.text + layout.newline + indentation
        moved = ((len(above), jump.start, jump.end - jump.start),)
        closing = Change(end, end, above + text[jump.start : jump.end], moved=moved)
    gone = _without_label(level, label, layout) if label is not None else []
    if others:
        # The jump goes, and what is behind it becomes the other side.
        return [
            Change(others[-1].end, jump.end, b""),
            Change(statement.end, statement.end, b" else {"),
            *inner,
            closing,
            *gone,
        ]
    changes, _ = opposite(layout.code, inside, statement.test)
    head = Change(statement.head_end, statement.end, b" {")
    return [*(Change(*each) for each in changes), head, *inner, closing, *gone]


def _has_comment(layout: Layout, start: int, end: int) -> bool:
    """Literals are no code either, but do not begin as comments do."""
    return any(layout.code[m.start()] == _BLANK for m in _COMMENT.finditer(layout.text, start, end))


def result_type(function: FunctionTree, line: int) -> bytes:
    """How the declaration of a variable begins for what a function returns; raises `NotPossible`."""
    if function.signature is None or not function.signature.value:
        raise NotPossible(f"for what is returned in line {line} no variable can be declared")
    written = function.signature.value.encode()
    return written if written.endswith(b"*") else written + b" "


def _stays_the_same(level: Level, statement: Statement, jump: Statement, layout: Layout, line: int) -> bool:
    """Whether a value that is returned means the same at the end of the function. Raises `NotPossible`."""
    if level.body.start != level.function.body.start:
        raise NotPossible(f"the jump in line {line} returns a value")
    inside = (statement.start, jump.start)
    own = {u.variable for u in uses_in(level.function, inside) if u.kind == "declared"}
    if redefines(layout.text, jump.end, level.body.end, layout.code[jump.start : jump.end]):
        raise NotPossible(f"macros are defined anew behind the jump in line {line}")
    if layout.text[jump.start : jump.end].count(b"\n"):
        raise NotPossible(f"what is returned in line {line} is written in several lines")
    return own.isdisjoint(u.variable for u in uses_in(level.function, (jump.start, jump.end)))


def _without_label(level: Level, index: int, layout: Layout) -> list[Change]:
    """The changes that take away a label to which only one `goto` leads, and behind it a `return` that ends the kernel
    anyway, or an empty statement."""
    body, label = level.body, level.body.statements[index]
    name = _label(label, layout) or b""
    code = layout.code[level.function.start : level.function.end]
    if label.macro or len(re.findall(rb"\b" + name + rb"\b", code)) != 2:
        return []
    rest, end = body.statements[index + 1 :], label.end
    last = rest[0] if len(rest) == 1 else None
    returns = last is not None and last.kind == "jump" and layout.code[last.start : last.end].split() == [b"return;"]
    if last is not None and not last.macro and (last.kind == "empty" or (returns and body.role == "function")):
        end = last.end
    if layout.code[label.start : end] != layout.text[label.start : end] or b"#" in layout.text[label.start : end]:
        return []
    behind = layout.text[end:].split(b"\n", 1)[0]
    if not behind.strip() or not layout.is_first(label.start):
        return deleted(layout, label.start, end)
    # A statement in its line stands where the others do; what a comment says there is said of what follows.
    written = layout.indentation(body.statements[index - 1].start) if index else b""
    return [Change(layout.line_start(label.start), end + len(behind) - len(behind.lstrip()), written)]


def _all(statements: Iterable[Statement]) -> Iterable[Statement]:
    for statement in statements:
        yield statement
        for inner in statement.bodies:
            yield from statements_of(inner)
