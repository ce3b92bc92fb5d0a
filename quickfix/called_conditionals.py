"""Functions that are called under a condition and need a barrier: called by all threads, which pass the condition.

Takes two accesses in one function that only some threads call, gives the changes after which the call stands in no
conditional: the function gets a parameter more, `true` for all other callers, and does what it did under that. Places
for barriers in it are made as in any other conditional. What it returns is zero where it does nothing, and is not used.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Final

from analyzers.frontend.gaps import FunctionTree, Statement
from quickfix.carried import is_quiet
from quickfix.conditionals import condition_of, left_alone
from quickfix.edits import Change, Layout, indented, outside_conditionals
from quickfix.inner_calls import LargerStatementError, call_made_in_front
from quickfix.naming import NotPossible, constant, fresh_name, kept_condition, line_of
from quickfix.paths import Chain, Level
from quickfix.sections import balanced
from quickfix.session import Session
from quickfix.steps import Restructuring
from quickfix.variables import declarations, mentioned

_PLAIN: Final = re.compile(rb"[\w\s.:+<>,-]*")
"""Arguments that may be evaluated by threads for which the condition is false."""


def passed_on(
    session: Session, chains: tuple[Chain, Chain], varying: Collection[tuple[str, int]]
) -> Restructuring | None:
    """The change for the outermost call under a condition that threads do not agree about; None where there is none.
    Raises `NotPossible`."""
    shared = [a for a, b in zip(*chains, strict=False) if a.identity == b.identity]
    for index, callee in enumerate(shared[2:], 2):
        outer, around = shared[index - 2 : index]
        inside = around.function is outer.function and around.body.role == "then"
        if callee.call is not None and inside and (around.function.path, around.body.start) in varying:
            return _called_by_all(session, outer, around, callee)
    return None


def _called_by_all(session: Session, outer: Level, level: Level, callee: Level) -> Restructuring:
    function, path = callee.function, level.function.path
    text = session.trees.texts[path]
    layout = Layout(text)
    statement, owner = level.statement, level.owner
    assert statement is not None
    assert owner is not None
    line = line_of(text, statement.start)
    _is_own_function(function, path, line)
    if len(level.body.statements) > 1:
        return left_alone(session, outer, level)
    if len(owner.bodies) > 1:
        raise NotPossible(f"the conditional in line {line_of(text, owner.keyword)} has an `else`")
    if statement.declares is not None:
        raise NotPossible(f"what the call in line {line} gives is used nowhere")
    try:
        start, end, head, arguments = call_in(layout, path, statement, callee, line)
    except LargerStatementError:
        return call_made_in_front(session, level, callee)
    (opening, closing), condition = condition_of(layout, owner, outer, line_of(text, owner.keyword))
    if layout.code[owner.start : owner.end] != text[owner.start : owner.end]:
        raise NotPossible(f"there is a comment around the call in line {line}")
    written = head + b"(" + arguments + (b", " if arguments.strip() else b"")
    declared = b""
    if statement.assignment is None:
        moved = ((0, start, len(head) + 1 + len(arguments)), (len(written), opening, closing - opening))
        changes = [Change(owner.keyword, owner.end, written + condition + b");", moved=moved)]
    else:
        change, declared = _assigned(session, layout, outer, level, (opening, closing), (start, end), written)
        changes = [change]
    changes += _given_values(layout, level.function, (start, end))
    changes += _parameter(session, layout, callee, line)
    return Restructuring(
        path,
        sorted(changes, key=lambda c: (c.start, c.end)),
        f"let all threads call `{function.name}`",
        owner.keyword,
        name=declared,
        declares_nothing=statement.assignment is None,
    )


def _is_own_function(function: FunctionTree, path: str, line: int) -> None:
    if function.path != path or function.is_lambda:
        raise NotPossible(f"the function called in line {line} is a lambda or defined in another file")


def call_in(layout: Layout, path: str, statement: Statement, callee: Level, line: int) -> tuple[int, int, bytes, bytes]:
    """Where the call of a statement stands that is nothing but one, or assigns what it gives: start, end, what is in
    front of its parentheses, and the arguments, which any thread can evaluate. Raises `NotPossible`, and
    `LargerStatementError` where it may be made such."""
    _is_own_function(callee.function, path, line)
    start, end = statement.start, statement.end
    if statement.assignment is not None:
        start, end = statement.assignment.value
    elif statement.declares is not None:
        start += len(layout.code[start:end].partition(b"=")[0]) + 1
        start += len(layout.code[start:end]) - len(layout.code[start:end].lstrip())
    call = layout.text[start:end].rstrip(b"; \t\r\n")
    head, _, arguments = call[:-1].partition(b"(")
    name = re.fullmatch(rb"(?:\w+\s*(?:::|\.|->)\s*)*(\w+)\s*(?:<[\w\s,:]*>)?\s*", head)
    if statement.macro or name is None or name[1] != callee.function.name.encode() or not call.endswith(b")"):
        raise LargerStatementError(callee, line, f"the call in line {line} is part of a larger statement")
    if not _PLAIN.fullmatch(arguments) or "arguments" not in statement.plain:
        raise LargerStatementError(callee, line, f"the arguments in line {line} are more than names and numbers")
    return start, end, head, arguments


def _assigned(
    session: Session,
    layout: Layout,
    outer: Level,
    level: Level,
    condition: tuple[int, int],
    call: tuple[int, int],
    written: bytes,
) -> tuple[Change, bytes]:
    """`if (c) x = f(a);` as a call by all threads, whose value those take that have called; and the variable that it
    declares, if that is all."""
    statement, owner, text = level.statement, level.owner, layout.text
    assert statement is not None
    assert statement.assignment is not None
    assert owner is not None
    newline = layout.newline + layout.indentation(owner.keyword)
    test = text[slice(*condition)]
    kept = kept_condition(layout.code, level.function, condition, (owner.keyword, owner.end))
    name = kept or fresh_name(outer, text, "taken", session.reserved_in(outer.function))
    value = fresh_name(outer, text, "value", session.reserved_in(outer.function))
    new, moved = b"", list[tuple[int, int, int]]()
    if kept is None:
        new = b"const bool " + name + b" = "
        moved.append((len(new), condition[0], len(test)))
        new += test + b";" + newline
    new += constant(statement.assignment.type, value) + b" = "
    moved.append((len(new), call[0], len(written.removesuffix(b", "))))
    new += written + name + b");" + newline + b"if (" + name + b") "
    moved.append((len(new), statement.start, call[0] - statement.start))
    new += text[statement.start : call[0]] + value + b";"
    return Change(owner.keyword, owner.end, new, moved=tuple(moved)), value if kept is not None else b""


def _given_values(layout: Layout, function: FunctionTree, call: tuple[int, int]) -> Iterable[Change]:
    """Arguments that are declared without a value get one: threads for which the condition is false pass them."""
    passed = mentioned(function, call)
    places = {u.at for u in function.uses if u.kind == "declared" and u.variable in passed}
    for declared in declarations(function):
        at = declared.at + len(declared.name.encode())
        if declared.at in places and layout.code[at:].lstrip()[:1] in (b";", b","):
            yield Change(at, at, b" = {}")


def added_parameter(session: Session, layout: Layout, callee: Level, line: int) -> tuple[bytes, list[Change]]:
    """The parameter of a function that says whether it does anything, and the change that makes it; none where an
    earlier step has made it. Raises `NotPossible`."""
    function, code = callee.function, layout.code
    name = function.name.encode()
    found = list(re.finditer(rb"\b" + re.escape(name) + rb"\s*\(", code[function.start : function.body.start]))
    if not found:
        raise NotPossible(f"the function called in line {line} is written by a macro")
    begin = function.start + found[-1].end()
    closing = _closing(code, begin)
    known = session.passed_on.get((function.path, name))
    if known is not None and re.search(rb"\bconst bool " + known + rb" = true\s*\Z", code[begin:closing]):
        return known, []
    _refuse_other_callers(session, function, line)
    parameter = fresh_name(callee, layout.text, "taken", session.reserved_in(function))
    given = code[begin:closing].strip()
    at = begin + len(code[begin:closing].rstrip())
    declared = b"const bool " + parameter + b" = true"
    return parameter, [Change(at, at, declared if not given else b", " + declared)]


def _parameter(session: Session, layout: Layout, callee: Level, line: int) -> Iterable[Change]:
    """The parameter, and the body under it; nothing where an earlier step has made them."""
    function, body, code = callee.function, callee.function.body, layout.code
    parameter, more = added_parameter(session, layout, callee, line)
    if not more:
        return
    first = next((i for i, s in enumerate(body.statements) if not is_quiet(layout, s)), None)
    if first is None or not body.braced:
        raise NotPossible(f"the function called in line {line} does nothing")
    last = body.statements[-1]
    returned = re.fullmatch(rb"return\b\s*(\S.*?)\s*;", layout.code[last.start : last.end], re.DOTALL)
    end_of_work = body.statements[-2] if returned is not None and first < len(body.statements) - 1 else last
    start = body.statements[first].start
    stop = outside_conditionals(layout, end_of_work.end, last.start if end_of_work is not last else body.end)
    if re.search(rb"\breturn\b", code[start:stop]) or (returned is None and last.call == "return"):
        raise NotPossible(f"the function called in line {line} returns in more than one place")
    if returned is not None:
        for used in set(re.findall(rb"(?<![\w.])[A-Za-z_]\w*", returned[1])):
            if re.search(rb"[\w>\]][\s&*]+" + used + rb"\s*[=;,({\[]", code[start:stop]):
                raise NotPossible(f"the function called in line {line} returns what it declares on its way")
    if not layout.is_first(start) or b"\n" not in layout.text[stop : body.end] or b'R"' in layout.text[start:stop]:
        raise NotPossible(f"the body of the function called in line {line} cannot be indented")
    if not balanced(layout.text, layout.line_start(start), body.end):
        raise NotPossible(f"preprocessor lines cut the body of the function called in line {line}")
    session.passed_on[function.path, function.name.encode()] = parameter
    yield from more
    inner, unit = layout.indentation(start), layout.unit(function)
    opened = layout.line_start(start)
    yield Change(opened, opened, inner + b"if (" + parameter + b") {" + layout.newline + unit)
    yield from (Change(each, each, unit) for each in indented(layout.text, start, stop))
    yield Change(stop, stop, layout.newline + inner + b"}")
    if returned is not None:
        value = last.start + returned.start(1)
        yield Change(value, value, parameter + b" ? ")
        nothing = nothing_of(function, line)
        yield Change(last.start + returned.end(1), last.start + returned.end(1), b" : " + nothing)


def nothing_of(function: FunctionTree, line: int) -> bytes:
    """What threads return that do nothing in a function. Raises `NotPossible`."""
    if function.signature is None or not function.signature.nothing:
        raise NotPossible(f"what the function called in line {line} returns is made by code of its class")
    return function.signature.nothing.encode()


_SEPARATE: Final = "__CUDACC_RDC__"
"""Defined where units are linked with each other's device code (`-rdc=true`)."""


def _refuse_other_callers(session: Session, function: FunctionTree, line: int) -> None:
    """Raise where somebody could call the function, or mean another one by its name, who does not know of one more
    parameter."""
    signature = function.signature
    if signature is None or not signature.plain:
        raise NotPossible(
            f"the function called in line {line} has parameters with defaults, or deduces what it returns"
        )
    if not signature.alone:
        raise NotPossible(
            f"there are several functions of the name called in line {line}, or it is declared elsewhere, too"
        )
    if not signature.external or function.path != session.request.path:
        return
    others = (file.text for file in session.request.program.files if file.path != function.path)
    declared = re.compile(rf"\b{re.escape(function.name)}\s*\(")
    if any(_SEPARATE in flag for flag in session.request.flags.arguments) or any(map(declared.search, others)):
        raise NotPossible(f"other units may call the function called in line {line}")


def _closing(code: bytes, begin: int) -> int:
    """The offset of the parenthesis that closes the one in front of `begin`."""
    depth = 1
    for at in range(begin, len(code)):
        depth += (code[at : at + 1] == b"(") - (code[at : at + 1] == b")")
        if depth == 0:
            return at
    return len(code)
