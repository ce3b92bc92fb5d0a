"""Rewrite the source so that there is a place for a barrier where there was none.

Takes a session and a race whose accesses nothing separates, gives the changes that separate them, or the reason why
it cannot. What was executed in one thread is executed in the same order after it; that the findings are the same is for
the engine to say, and barriers are placed in the new text as in any other.

* A statement that reads and writes cells which collide is split: the value first, through a variable of its type, then
  the assignment. C++ evaluates the value first anyway.
* A conditional whose sides collide is split at its `else`: the condition is evaluated once and kept.
* A conditional in whose body a barrier is missing is closed before it and opened again behind it.
* A loop that threads leave at different times runs as long as any thread has work (`uniform_loops`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from analyzers.frontend.gaps import Body, Declared, Statement
from analyzers.model import Access, Finding
from quickfix.edits import Change, Layout, indented
from quickfix.naming import NotPossible, fresh_name, line_of
from quickfix.paths import Chain, Level, chain_to
from quickfix.session import Session
from quickfix.uniform_loops import loop_around, uniform


@dataclass(frozen=True, slots=True)
class Restructuring:
    """Changes of one file that make a place, and what they do: `split the statement`, where."""

    path: str
    changes: list[Change]
    text: str
    at: int
    """The offset of what is restructured."""
    cost: str = ""
    """What it costs at run time, beside the barriers to come."""


def restructuring(session: Session, finding: Finding) -> Restructuring | str | None:
    """The first way to make a place between the accesses of a race; a sentence where one is in sight and cannot be
    gone, None where there is none."""
    one, two = finding.accesses[:2]
    first, second = chain_to(session.trees, one), chain_to(session.trees, two)
    if first is None or second is None:
        return None
    said: str | None = None
    for way in _WAYS:
        try:
            found = way(session, (first, second), (one, two))
        except NotPossible as reason:
            said = said or str(reason)
            continue
        if found is not None:
            return found
    return said


# --- one statement that reads and writes ----------------------------------------------------------------------


def _split_statement(
    session: Session, chains: tuple[Chain, Chain], accesses: tuple[Access, Access]
) -> Restructuring | None:
    level, other = (chain[-1] for chain in chains)
    statement = level.statement
    if level.identity != other.identity or level.position != other.position or statement is None:
        return None
    assignment = statement.assignment
    kinds = {a.kind for a in accesses}
    if assignment is None or not kinds & {"read"}:
        return None
    (low, high), text = assignment.value, session.trees.texts[level.function.path]
    if not any(a.kind == "read" and low <= a.span.start_offset < high for a in accesses):
        return None
    if not any(a.kind != "read" and not low <= a.span.start_offset < high for a in accesses):
        return None
    line = line_of(text, statement.start)
    value = text[low:high]
    if _DIRECTIVE.search(value):
        raise NotPossible(f"the statement in line {line} contains preprocessor lines")
    name = fresh_name(level, text, "value")
    head = assignment.type.encode() + (b"" if assignment.type.endswith("*") else b" ") + name + b" = "
    declaration = head + value + b";"
    moved = (len(head), low, len(value))
    changes = [*_in_front(Layout(text), level, statement, declaration, moved), Change(low, high, name)]
    return Restructuring(
        level.function.path, sorted(changes, key=lambda c: (c.start, c.end)), "split the statement", statement.start
    )


def _in_front(
    layout: Layout, level: Level, statement: Statement, code: bytes, moved: tuple[int, int, int]
) -> Iterable[Change]:
    """Put a statement in front of another one, in braces of its own where there are none."""
    at, old, length = moved
    start = statement.keyword or statement.start
    if level.body.braced:
        rest = layout.newline + layout.indentation(start) if layout.is_first(start) else b" "
        yield Change(statement.start, statement.start, code + rest, moved=(moved,))
        return
    owner = level.owner
    if owner is None or (level.body.role != "loop" and (owner.kind != "if" or level.body is not owner.bodies[-1])):
        raise NotPossible("the statement is a branch without braces")
    head = layout.last_visible(statement.start, owner.start)
    if layout.text[head : statement.start].strip():
        raise NotPossible("there is a comment between the loop and its statement")
    outer = layout.indentation(owner.keyword)
    if not layout.is_first(owner.keyword):
        raise NotPossible("the statement is a branch without braces")
    same = layout.same_line(head, statement.start)
    inner = outer + layout.unit(level.function) if same else layout.indentation(statement.start)
    opening = b" {" + layout.newline + inner
    yield Change(
        head, statement.start, opening + code + layout.newline + inner, moved=((len(opening) + at, old, length),)
    )
    end = layout.line_end(statement.end)
    yield Change(end, end, layout.newline + outer + b"}")


# --- two sides of a conditional -------------------------------------------------------------------------------


def _split_branch(
    session: Session, chains: tuple[Chain, Chain], accesses: tuple[Access, Access]
) -> Restructuring | None:
    del accesses
    found = _parting(*chains)
    if found is None:
        return None
    level, statement = found
    text = session.trees.texts[level.function.path]
    layout = Layout(text)
    line = line_of(text, statement.keyword)
    then, otherwise = statement.bodies
    (opening, closing), condition = _condition(layout, statement, level, line)
    name = fresh_name(level, text, "taken")
    indentation = layout.indentation(statement.keyword)
    head = b"const bool " + name + b" = "
    test = Change(
        statement.keyword,
        statement.head_end,
        head + condition + b";" + layout.newline + indentation + b"if (" + name + b")",
        moved=((len(head), opening, closing - opening),),
    )
    return Restructuring(
        level.function.path,
        [test, *_second_half(layout, level, then, otherwise, indentation, name, line)],
        "split the conditional",
        statement.keyword,
    )


def _second_half(
    layout: Layout, level: Level, then: Body, otherwise: Body, indentation: bytes, name: bytes, line: int
) -> Iterable[Change]:
    """The `else` as a conditional of its own, with braces around what has none."""
    end = then.end + 1 if then.braced else then.end
    start = otherwise.start - 1 if otherwise.braced else otherwise.start
    if layout.text[end:start].strip() != b"else":
        raise NotPossible(f"there is more than `else` between the branches of the conditional in line {line}")
    again = layout.newline + indentation + b"if (!" + name + b")"
    if otherwise.braced:
        yield Change(end, start, again + b" ")
        return
    unit = layout.unit(level.function)
    if layout.same_line(layout.text.find(b"else", end), start):
        yield Change(end, start, again + b" {" + layout.newline + indentation + unit)
        yield from (Change(at, at, unit) for at in indented(layout.text, start, otherwise.end))
    else:
        yield Change(end, start, again + b" {" + layout.newline + layout.indentation(start))
    stop = layout.line_end(otherwise.end)
    yield Change(stop, stop, layout.newline + indentation + b"}")


# --- a conditional in whose body a barrier is missing ---------------------------------------------------------


def _split_body(session: Session, chains: tuple[Chain, Chain], accesses: tuple[Access, Access]) -> Restructuring | None:
    """Close the conditional behind the first of two accesses in its body, and open it again for the rest: the
    condition is evaluated once, what is declared in the first half and used in the second is declared in front."""
    del accesses
    found = _common_body(*chains)
    if found is None:
        return None
    outer, level, first, last = found
    statement, body = level.owner, level.body
    text = session.trees.texts[level.function.path]
    layout = Layout(text)
    assert statement is not None
    line = line_of(text, statement.keyword)
    (opening, closing), condition = _condition(layout, statement, outer, line)
    if body.role == "then" and len(statement.bodies) > 1:
        raise NotPossible(f"the conditional in line {line} has an `else`, which would have to stand between its halves")
    if any(s.kind == "label" for s in body.statements):
        raise NotPossible(f"the conditional in line {line} contains labels")
    cut, carried = min(
        ((c, _carried(text, body, c)) for c in range(first + 1, last + 1)), key=lambda each: (len(each[1]), -each[0])
    )
    _keep_scopes(layout.code, outer, level, carried)
    name = fresh_name(level, text, "taken")
    indentation = layout.indentation(statement.keyword)
    newline = layout.newline + indentation
    head = b"const bool " + name + b" = "
    declared = b"".join(_typed(d) + b";" + newline for d in carried.values())
    changes = [
        Change(
            statement.keyword,
            statement.head_end,
            head + condition + b";" + newline + declared + b"if (" + name + b")",
            moved=((len(head), opening, closing - opening),),
        )
    ]
    changes += [Change(s.start, d.at, b"") for s, d in _declarations(body, carried)]
    again = b"if (" + (name if body.role == "then" else b"!" + name) + b") {"
    at = layout.line_end(body.statements[cut - 1].end)
    if layout.same_line(at, body.statements[cut].start):
        raise NotPossible(f"several statements of the conditional in line {line} are in one line")
    blank = _BLANK_LINES.match(text, at)
    changes.append(Change(at, blank.end() if blank else at, newline + b"}" + newline + again))
    return Restructuring(
        level.function.path, sorted(changes, key=lambda c: (c.start, c.end)), "split the conditional", statement.keyword
    )


def _common_body(first: Chain, second: Chain) -> tuple[Level, Level, int, int] | None:
    """The innermost branch of a conditional in which both accesses stand, in different statements of it: the body
    around the conditional, the branch, and the two positions in order."""
    for before, a, b in reversed(list(zip(first, first[1:], second[1:], strict=False))):
        if a.identity == b.identity and a.position != b.position:
            if a.body.role not in ("then", "else") or not a.body.braced or a.owner is None or a.owner.kind != "if":
                continue
            low, high = sorted((a.position, b.position))
            return (before, a, low, high) if low >= 0 and high < len(a.body.statements) else None
    return None


def _carried(text: bytes, body: Body, cut: int) -> dict[int, Declared]:
    """What the statements in front of the cut declare and those behind it use, by statement; raises `NotPossible` where
    one of these cannot be declared in front."""
    rest = text[body.statements[cut].start : body.end]
    found: dict[int, Declared] = {}
    for index, statement in enumerate(body.statements[:cut]):
        if statement.kind not in ("declaration", "other"):
            continue
        declares = statement.declares
        if declares is None:
            line = line_of(text, statement.start)
            raise NotPossible(f"a declaration in line {line} cannot be moved")
        for each in declares:
            if re.search(rb"\b" + each.name.encode() + rb"\b", rest):
                if not each.assignable or len(declares) != 1:
                    raise NotPossible(f"`{each.name}` is declared in one half of a conditional and used in the other")
                found[index] = each
    return found


def _keep_scopes(code: bytes, outer: Level, level: Level, carried: Mapping[int, Declared]) -> None:
    """What is declared in front is seen from the head of the conditional to the end of the body around it: raises
    `NotPossible` where the same name may mean another variable there."""
    head = level.owner.head_end if level.owner is not None else level.body.start
    for each in carried.values():
        name = re.compile(rb"\b" + each.name.encode() + rb"\b")
        known = name.search(code, outer.function.start, head) or re.search(
            rb"^\w[^\n(){}]*\b" + each.name.encode() + rb"\b[^\n(]*;", code, re.MULTILINE
        )
        if name.search(code, head, each.at) or (known and name.search(code, level.body.end, outer.body.end)):
            raise NotPossible(f"`{each.name}` means something else around the conditional")


def _declarations(body: Body, carried: Mapping[int, Declared]) -> Iterable[tuple[Statement, Declared]]:
    return ((body.statements[index], declared) for index, declared in carried.items())


def _typed(declared: Declared) -> bytes:
    space = "" if declared.type.endswith("*") else " "
    return f"{declared.type}{space}{declared.name}".encode()


def _condition(layout: Layout, statement: Statement, around: Level, line: int) -> tuple[tuple[int, int], bytes]:
    """Where the condition of a plain `if` stands, and the condition; raises `NotPossible`."""
    text = layout.text
    if statement.macro or not around.body.braced:
        raise NotPossible(f"the conditional in line {line} is written by a macro or is a branch without braces")
    if not layout.is_first(statement.keyword):
        raise NotPossible(f"the conditional in line {line} does not begin its line")
    opening = text.find(b"(", statement.keyword, statement.head_end)
    condition = text[opening + 1 : statement.head_end - 1]
    between = layout.code[statement.keyword + 2 : opening].strip()
    if between or _DECLARES.search(condition) or _DIRECTIVE.search(condition):
        raise NotPossible(f"the condition in line {line} declares a variable or is not plain")
    if _has_comma(condition):
        raise NotPossible(f"the condition in line {line} contains a comma operator")
    return (opening + 1, statement.head_end - 1), condition


def _has_comma(condition: bytes) -> bool:
    """Whether a comma stands outside of all brackets: in a declaration it would begin another variable."""
    depth = 0
    for byte in condition:
        depth += (byte in b"([{") - (byte in b")]}")
        if byte in b"," and depth == 0:
            return True
    return False


# --- a loop that threads leave at different times -------------------------------------------------------------


def _uniform_loop(
    session: Session, chains: tuple[Chain, Chain], accesses: tuple[Access, Access]
) -> Restructuring | None:
    del accesses
    found = loop_around(*chains)
    if found is None:
        return None
    level, loop = found
    text = session.trees.texts[level.function.path]
    changes = uniform(level, loop, text)
    if changes is None:
        return None
    votes = any(b"__syncthreads_or(" in c.text for c in changes)
    cost = "+1 barrier in each test of the loop" if votes else ""
    return Restructuring(
        level.function.path, changes, "let all threads make all iterations of the loop", loop.keyword, cost
    )


def _parting(first: Chain, second: Chain) -> tuple[Level, Statement] | None:
    """The conditional on whose sides the accesses stand, and the body it is in."""
    for before, a, b in zip(first, first[1:], second[1:], strict=False):
        if a.identity != b.identity:
            owner = a.owner
            if owner is None or owner is not b.owner or owner.kind != "if" or len(owner.bodies) != 2:
                return None
            return before, owner
    return None


_WAYS: Final[tuple[Callable[[Session, tuple[Chain, Chain], tuple[Access, Access]], Restructuring | None], ...]] = (
    _split_statement,
    _split_branch,
    _split_body,
    _uniform_loop,
)
_BLANK_LINES: Final = re.compile(rb"(?:\r?\n[ \t]*)+(?=\r?\n)")
_DIRECTIVE: Final = re.compile(rb"^[ \t]*#", re.MULTILINE)
_DECLARES: Final = re.compile(rb";|[A-Za-z_]\w*(?:\s*[*&]\s*|\s+)[A-Za-z_]\w*\s*=(?!=)")
