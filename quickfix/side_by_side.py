"""Conditionals whose branches both go on behind a place that is for the threads of both: what is in front of it is done
in one conditional, what is behind it in another one.

Takes a session and the barriers in two branches, at which their threads wait for each other, or a conditional in whose
branches threads write before they read what those of the other one write. Gives the changes: each thread executes what
it did, in the order in which it did. ``if (c) { A sync B } else { C sync D }`` is ``if (c) { A } else { C } sync if (c)
{ B } else { D }``, where the condition is evaluated once. Raises `NotPossible`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from analyzers.frontend.gaps import Body, FunctionTree, Statement
from analyzers.model import Access, Finding
from quickfix.conditionals import condition_of
from quickfix.distribute import DIRECTIVE
from quickfix.edits import Change, Layout
from quickfix.naming import NotPossible, fresh_name, kept_condition, line_of
from quickfix.paths import Level, around, chain_to
from quickfix.session import Session
from quickfix.solving import Solving
from quickfix.split_branches import outside, place_of_else
from quickfix.steps import Restructuring
from quickfix.unwritten_reads import find_nothing
from quickfix.variables import uses_in
from quickfix.verify import RACES, findings_of

_Range = tuple[int, int]
_BLANK_LINES: Final = re.compile(rb"(?:[ \t]*\r?\n)*")


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
    if len(places) < 2 or len(places[0]) != len(places[1]):
        raise NotPossible(f"the branches of the conditional in line {line} have not the same number of barriers")
    layout, level = Layout(text), levels[0]
    _refuse_cut(layout, owner)
    then, otherwise = (
        _parts(layout, level.function, body, [_around_barrier(layout, body.statements[index]) for index in at])
        for body, at in zip(owner.bodies, places, strict=True)
    )
    statements = (v.body.statements[v.position] for v in levels)
    written = {text[s.start : s.end] for s in statements}
    barrier = written.pop() if len(written) == 1 else session.barrier
    change, _ = _rewritten(session, layout, around(level), owner, then, otherwise, barrier)
    return level.function.path, [change]


def _around_barrier(layout: Layout, statement: Statement) -> _Range:
    """The lines of a barrier."""
    end = layout.text.find(b"\n", statement.end)
    if not layout.is_first(statement.start) or layout.text[statement.end : end].strip():
        raise NotPossible(f"the barrier in line {line_of(layout.text, statement.start)} is not alone in its line")
    return layout.line_start(statement.start), end + 1


def behind_writes(session: Session, outer: Level, owner: Statement) -> Restructuring | None:
    """Part both branches of a conditional between what their threads write and what they read of it, where reads would
    come first if the whole of one branch came before the other one, and find nothing then or what their own threads
    have written. None where that is otherwise or not possible. `outer`: the body that the conditional is in."""
    reads: tuple[list[int], list[int]] = ([], [])
    writes: tuple[list[int], list[int]] = ([], [])
    first: list[Access] = []
    for race in (f for k in session.kernels for f in findings_of(k.result) if f.code in RACES):
        accesses = race.accesses[:2]
        one, two = (_in_branch(session, owner, access) for access in accesses)
        if one is None or two is None or one[0] == two[0]:
            continue
        if not any(access.kind == "read" for access in accesses):
            return None
        for access, (branch, position) in zip(accesses, (one, two), strict=True):
            (reads if access.kind == "read" else writes)[branch].append(position)
            if access.kind == "read" and branch == 0:
                first.append(access)
    if not first or not (writes[0] or _find_nothing(session, first)):
        return None
    try:
        return _parted(session, outer, owner, [_between(w, r) for w, r in zip(writes, reads, strict=True)])
    except NotPossible:
        return None


def _in_branch(session: Session, owner: Statement, access: Access) -> tuple[int, int] | None:
    """Of a conditional: in which branch an access is, and in which statement of that."""
    chain = chain_to(session.trees, access) or ()
    level = next((v for v in chain if v.owner is owner and v.body in owner.bodies), None)
    return None if level is None else (owner.bodies.index(level.body), level.position)


def _find_nothing(session: Session, reads: Iterable[Access]) -> bool:
    solving = Solving.of(session.request, session.poll)
    found = find_nothing(session.kernels, reads, solving)
    session.charge(solving.effort.spent)
    return found


def _between(writes: Sequence[int], reads: Sequence[int]) -> tuple[int, int | None]:
    """The statements of a body from one of which on it only reads; None for the end of the body."""
    return max(writes, default=-1) + 1, min(reads, default=None)


def _parted(session: Session, outer: Level, owner: Statement, at: Sequence[tuple[int, int | None]]) -> Restructuring:
    path = outer.function.path
    layout = Layout(session.trees.texts[path])
    _refuse_cut(layout, owner)
    then, otherwise = (
        _in_two(layout, outer.function, body, low, len(body.statements) if high is None else high)
        for body, (low, high) in zip(owner.bodies, at, strict=True)
    )
    change, name = _rewritten(session, layout, outer, owner, then, otherwise, barrier=b"")
    swapped = not any(layout.text[slice(*part)].strip() for part in (then[0], otherwise[1]))
    what = f"{'swap the' if swapped else 'split both'} branches of the conditional"
    return Restructuring(path, [change], what, owner.keyword, name=name, declares_nothing=not name)


def _in_two(layout: Layout, function: FunctionTree, body: Body, low: int, high: int) -> list[_Range]:
    """The lines of a body in front of one of its statements `low` to `high`, the last one that will do, and from that
    on."""
    why = NotPossible(f"the branch in line {line_of(layout.text, body.start)} reads before it writes")
    for index in range(high, low - 1, -1):
        place = layout.text.find(b"\n", body.statements[index - 1].end if index else body.start) + 1
        if 0 < index < len(body.statements) and not layout.is_first(body.statements[index].start):
            why = NotPossible(f"two statements are in line {line_of(layout.text, body.statements[index].start)}")
            continue
        blank = _BLANK_LINES.match(layout.text, place)
        try:
            return _parts(layout, function, body, [(place, blank.end() if blank is not None else place)])
        except NotPossible as reason:
            why = reason
    raise why


def _refuse_cut(layout: Layout, owner: Statement) -> None:
    """Raise `NotPossible` for a conditional whose branches cannot be moved by lines."""
    line = line_of(layout.text, owner.keyword)
    if not all(body.braced for body in owner.bodies):
        raise NotPossible(f"a branch of the conditional in line {line} has no braces")
    if DIRECTIVE.search(layout.text, owner.start, owner.end) or b'R"' in layout.text[owner.start : owner.end]:
        raise NotPossible(f"preprocessor lines cut the conditional in line {line}")
    place_of_else(layout, owner.bodies[0], owner.bodies[1], line)


def _parts(layout: Layout, function: FunctionTree, body: Body, cuts: Sequence[_Range]) -> list[_Range]:
    """The lines of a body in front of, between and behind the lines that it is cut at."""
    line = line_of(layout.text, body.start)
    if layout.text[body.start : layout.text.find(b"\n", body.start)].strip() or not layout.is_first(body.end):
        raise NotPossible(f"the branch in line {line} does not begin and end with its lines")
    starts = [layout.text.find(b"\n", body.start) + 1, *(end for _, end in cuts)]
    ends = [*(start for start, _ in cuts), layout.line_start(body.end)]
    parts = list(zip(starts, ends, strict=True))
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
) -> tuple[Change, bytes]:
    """The change, and the variable that it declares, if it does. `barrier`: what is between the parts, if anything."""
    text, newline, indentation = layout.text, layout.newline, layout.indentation(owner.keyword)
    place, condition = condition_of(layout, owner, outer, line_of(text, owner.keyword))
    kept = kept_condition(layout.code, outer.function, place, (owner.keyword, owner.end))
    written, moved = b"", list[tuple[int, int, int]]()
    name = kept or fresh_name(outer, text, "taken", session.reserved_in(outer.function))
    if kept is None:
        head = b"const bool " + name + b" = "
        moved.append((len(head), place[0], place[1] - place[0]))
        written = head + condition + b";" + newline + indentation
    barrier += newline + indentation if barrier else b""
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
    change = Change(owner.keyword, owner.end, written.rstrip(), moved=tuple(moved))
    return change, name if kept is None else b""
