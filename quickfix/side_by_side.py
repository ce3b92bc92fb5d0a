"""Conditionals with a barrier in each branch, at which the threads of both wait for each other: what is in front of the
barriers is done in one conditional, what is behind in another one, and one barrier for all threads is between.

Takes a session and the barriers, gives the changes: each thread executes what it did, in the order in which it did.
``if (c) { A sync B } else { C sync D }`` is ``if (c) { A } else { C } sync if (c) { B } else { D }``, where the
condition is evaluated once. Raises `NotPossible`.
"""

from __future__ import annotations

from collections.abc import Sequence

from analyzers.frontend.gaps import Body, FunctionTree, Statement
from analyzers.model import Finding
from quickfix.conditionals import condition_of
from quickfix.distribute import DIRECTIVE
from quickfix.edits import Change, Layout
from quickfix.naming import NotPossible, fresh_name, kept_condition, line_of
from quickfix.paths import Level, around, chain_to
from quickfix.session import Session
from quickfix.split_branches import outside, place_of_else
from quickfix.variables import uses_in

_Range = tuple[int, int]


def of_one_conditional(session: Session, barriers: Sequence[Finding]) -> list[Finding]:
    """Those in the branches of the conditional that the first one is directly in; none where that is in none."""
    owners = [chain[-1].owner if (chain := chain_to(session.trees, f.accesses[0])) else None for f in barriers]
    return [f for f, owner in zip(barriers, owners, strict=True) if owner is not None and owner is owners[0]]


def side_by_side(session: Session, barriers: Sequence[Finding]) -> tuple[str, list[Change]]:
    """The file and the changes, for the barriers `of_one_conditional`."""
    levels = [chain[-1] for f in barriers if (chain := chain_to(session.trees, f.accesses[0]))]
    owner = levels[0].owner if levels else None
    if owner is None or owner.kind != "if":
        raise NotPossible("the barriers are not in two branches of one conditional")
    text = session.trees.texts[levels[0].function.path]
    line = line_of(text, owner.keyword)
    places = [sorted(v.position for v in levels if v.body is body) for body in owner.bodies]
    if len(places) < 2 or len(places[0]) != len(places[1]) or not all(b.braced for b in owner.bodies):
        raise NotPossible(f"the branches of the conditional in line {line} have not the same number of barriers")
    layout, level = Layout(text), levels[0]
    if DIRECTIVE.search(text, owner.start, owner.end) or b'R"' in text[owner.start : owner.end]:
        raise NotPossible(f"preprocessor lines cut the conditional in line {line}")
    then, otherwise = (_parts(layout, level.function, b, at) for b, at in zip(owner.bodies, places, strict=True))
    place_of_else(layout, owner.bodies[0], owner.bodies[1], line)
    statements = (v.body.statements[v.position] for v in levels)
    written = {text[s.start : s.end] for s in statements}
    barrier = written.pop() if len(written) == 1 else session.barrier
    return level.function.path, [_rewritten(session, layout, around(level), owner, then, otherwise, barrier)]


def _parts(layout: Layout, function: FunctionTree, body: Body, barriers: Sequence[int]) -> list[_Range]:
    """The lines of a body in front of, between and behind its barriers."""
    line = line_of(layout.text, body.start)
    if layout.text[body.start : layout.text.find(b"\n", body.start)].strip() or not layout.is_first(body.end):
        raise NotPossible(f"the branch in line {line} does not begin and end with its lines")
    parts: list[_Range] = []
    start = layout.text.find(b"\n", body.start) + 1
    for statement in (body.statements[index] for index in barriers):
        end = layout.text.find(b"\n", statement.end)
        if not layout.is_first(statement.start) or layout.text[statement.end : end].strip():
            raise NotPossible(f"the barrier in line {line_of(layout.text, statement.start)} is not alone in its line")
        parts.append((start, layout.line_start(statement.start)))
        start = end + 1
    parts.append((start, layout.line_start(body.end)))
    for statement in body.statements:
        if statement.kind == "label":
            raise NotPossible(f"there is a label in line {line_of(layout.text, statement.start)}")
        own = next((part for part in parts if part[0] <= statement.start < part[1]), None)
        names = {u.variable for u in uses_in(function, (statement.start, statement.end)) if u.kind == "declared"}
        if own is not None and any(u.variable in names for u in uses_in(function, (own[1], body.end))):
            where = line_of(layout.text, statement.start)
            raise NotPossible(f"what is declared in line {where} is used behind the barrier")
    return parts


def _rewritten(
    session: Session,
    layout: Layout,
    outer: Level,
    owner: Statement,
    then: Sequence[_Range],
    otherwise: Sequence[_Range],
    barrier: bytes,
) -> Change:
    text, newline, indentation = layout.text, layout.newline, layout.indentation(owner.keyword)
    place, condition = condition_of(layout, owner, outer, line_of(text, owner.keyword))
    kept = kept_condition(layout.code, outer.function, place, (owner.keyword, owner.end))
    written, moved = b"", list[tuple[int, int, int]]()
    name = kept or fresh_name(outer, text, "taken", session.reserved_in(outer.function))
    if kept is None:
        head = b"const bool " + name + b" = "
        moved.append((len(head), place[0], place[1] - place[0]))
        written = head + condition + b";" + newline + indentation
    barrier += newline + indentation
    opposite = name[1:].lstrip() if name.startswith(b"!") else b"!" + name
    between = text[outside(owner.bodies[0])[1] : outside(owner.bodies[1])[0]]
    commented = between.strip() != b"else"
    for index, (one, two) in enumerate(zip(then, otherwise, strict=True)):
        written += barrier if index else b""
        filled = [(test, at) for test, at in ((name, one), (opposite, two)) if text[slice(*at)].strip()]
        for number, (test, (start, end)) in enumerate(filled):
            joint = b"}" + between + b"{" if commented else b"} else {"
            written += (joint if number else b"if (" + test + b") {") + newline
            commented = commented and not number
            moved.append((len(written), start, end - start))
            written += text[start:end] + indentation
        written += b"}" + newline + indentation if filled else b""
    if commented:
        raise NotPossible("comments are between branches of which only one does something in front of each barrier")
    return Change(owner.keyword, owner.end, written.rstrip(), moved=tuple(moved))
