"""Conditionals whose branches both go on behind a place that is for the threads of both: what is in front of it is done
in one conditional, what is behind it in another one.

Takes a session and the barriers in two branches, at which their threads wait for each other, or a conditional in whose
branches threads write before they read what those of the other one write. Gives the changes: each thread executes what
it did, in the order in which it did. ``if (c) { A sync B } else { C sync D }`` is ``if (c) { A } else { C } sync if (c)
{ B } else { D }``, where the condition is evaluated once. Raises `NotPossible`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Final

from analyzers.frontend.gaps import Body, Declared, Statement, Step
from analyzers.ir.events import AccessEvent
from analyzers.model import Access, Finding
from quickfix.carried import (
    OF_PLACE,
    Cut,
    assigned,
    cut_with_least,
    declared_again,
    declared_in_front,
    keep_scopes,
    typed,
)
from quickfix.carried_assumptions import taken_for_granted
from quickfix.conditionals import condition_of
from quickfix.distribute import DIRECTIVE
from quickfix.edits import Change, Layout, is_own
from quickfix.kept_comments import comments_at
from quickfix.naming import NotPossible, fresh_name, kept_condition, line_of
from quickfix.own_lines import require_braces
from quickfix.paths import Level, around, chain_to
from quickfix.session import Session
from quickfix.solving import Solving
from quickfix.split_branches import place_of_else
from quickfix.steps import Restructuring
from quickfix.unwritten_reads import all_find_nothing
from quickfix.variables import mentioned
from quickfix.verify import RACES, findings_of

_Range = tuple[int, int]
_LINE_ENDS: Final = re.compile(rb"[ \t]*\r?\n(?:[ \t]*\r?\n)*")


def of_one_conditional(session: Session, barriers: Sequence[Finding]) -> list[Finding]:
    """Those in the branches of the conditional that the first one is directly in; none where that is in none."""
    owners = [chain[-1].owner if (chain := chain_to(session.trees, f.accesses[0])) else None for f in barriers]
    return [f for f, owner in zip(barriers, owners, strict=True) if owner is not None and owner is owners[0]]


def side_by_side(session: Session, barriers: Sequence[Finding]) -> Restructuring:
    """The step, for the barriers `of_one_conditional`."""
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
    outer = around(level)
    then, otherwise = (
        _parts(layout, outer, body, [(at + 1, _around_barrier(layout, body.statements[at])) for at in own])
        for body, own in zip(owner.bodies, places, strict=True)
    )
    own = [[body.statements[at] for at in positions] for body, positions in zip(owner.bodies, places, strict=True)]
    written = {text[s.start : s.end] for statements in own for s in statements}
    barrier = written.pop() if len(written) == 1 else session.barrier
    commented = [_commented(layout, owner, barrier, pair) for pair in zip(*own, strict=True)]
    return _rewritten(session, layout, outer, owner, (then, otherwise), commented)


def _around_barrier(layout: Layout, statement: Statement) -> _Range:
    """The lines of a barrier, and of the comments above it."""
    end = layout.text.find(b"\n", statement.end)
    if not layout.is_first(statement.start) or not is_own(layout, statement.end, end):
        raise NotPossible(f"the barrier in line {line_of(layout.text, statement.start)} is not alone in its line")
    start = layout.line_start(statement.start)
    for _ in comments_at(layout, statement).above:
        start = layout.line_start(start - 1)
    return start, end + 1


def _commented(layout: Layout, owner: Statement, barrier: bytes, stood: Sequence[Statement]) -> bytes:
    """A barrier with what is said at those that it stands for, once."""
    comments = [comments_at(layout, statement) for statement in stood]
    above = [line for lines in dict.fromkeys(each.above for each in comments) for line in lines]
    behind = dict.fromkeys(each.behind for each in comments)
    end = layout.newline + layout.indentation(owner.keyword)
    return b"".join(line + end for line in above) + barrier + b"".join(behind)


def behind_writes(session: Session, outer: Level, owner: Statement) -> Restructuring | None:
    """Part both branches of a conditional between what their threads write of shared memory and what they read of it,
    where reads would come first if the whole of one branch came before the other one, and would find what nobody has
    written, their own branch aside. None where that is otherwise or not possible. `outer`: the body that the
    conditional is in."""
    reads: tuple[list[int], list[int]] = ([], [])
    writes: tuple[list[int], list[int]] = ([], [])
    first: list[Access] = []
    for race in (f for k in session.kernels for f in findings_of(k.result) if f.code in RACES):
        sides = [(a, place) for a in race.accesses[:2] if (place := _in_branch(session, owner, a)) is not None]
        if len(sides) < 2:
            continue
        if race.space != "shared" or race.scope == "inter-block" or {a.kind for a, _ in sides} != {"read", "write"}:
            return None
        for access, (branch, position) in sides:
            (reads if access.kind == "read" else writes)[branch].append(position)
        if len({branch for _, (branch, _) in sides}) == 2:
            first += [access for access, (branch, _) in sides if access.kind == "read" and branch == 0]
    if not first:
        return None
    try:
        restructuring = _parted(session, outer, owner, [_between(w, r) for w, r in zip(writes, reads, strict=True)])
    except NotPossible:
        return None
    return restructuring if _find_nothing_else(session, outer, owner, first) else None


def _in_branch(session: Session, owner: Statement, access: Access) -> tuple[int, int] | None:
    """Of a conditional: in which branch an access is, and in which statement of that."""
    chain = chain_to(session.trees, access) or ()
    level = next((v for v in chain if v.owner is owner and v.body in owner.bodies), None)
    return None if level is None else (owner.bodies.index(level.body), level.position)


def _find_nothing_else(session: Session, outer: Level, owner: Statement, reads: Sequence[Access]) -> bool:
    """Whether the reads in the first branch of a conditional find nothing but what threads have written in it on the
    same way through it."""
    path, branch = outer.function.path, owner.bodies[0]

    def at_once(write: AccessEvent, read: AccessEvent) -> bool:
        # Where calls are, two of one macro have the same place.
        span = write.site.span
        inside = span.path == path and branch.start <= span.start_offset < branch.end
        return inside and not write.site.calls and not read.site.calls

    kernels = session.running(path, owner.keyword)
    if kernels is None:
        return False
    solving = Solving.short(session.request, session.poll)
    found = all_find_nothing(kernels, reads, at_once, solving)
    session.charge(solving.effort.spent)
    return found


def _between(writes: Sequence[int], reads: Sequence[int]) -> tuple[int, int | None]:
    """The statements of a body from one of which on it only reads; None for the end of the body."""
    return max(writes, default=-1) + 1, min(reads, default=None)


def _parted(session: Session, outer: Level, owner: Statement, at: Sequence[tuple[int, int | None]]) -> Restructuring:
    path = outer.function.path
    layout = Layout(session.trees.texts[path])
    _refuse_cut(layout, owner)
    if OF_PLACE.search(layout.code, owner.start, owner.end):
        raise NotPossible(
            f"what the conditional in line {line_of(layout.text, owner.keyword)} says depends on its place"
        )
    then, otherwise = (
        _in_two(layout, outer, body, low, len(body.statements) if high is None else high)
        for body, (low, high) in zip(owner.bodies, at, strict=True)
    )
    return _rewritten(session, layout, outer, owner, (then, otherwise), [b""])


@dataclass(frozen=True, slots=True)
class _Parts:
    """A branch in parts."""

    lines: Sequence[_Range]
    declared: Sequence[tuple[Sequence[Declared], bytes]] = ()
    """What goes in front of all of them, and how."""
    changes: Sequence[Change] = ()
    """What becomes of the lines for that."""
    granted: str = ""
    cost: tuple[int, int] = (0, 0)
    """As of a `Cut`."""

    def copied(self, layout: Layout, lines: _Range) -> Change:
        """One of the parts as it is to be."""
        (start, end), written, moved = lines, b"", list[tuple[int, int, int]]()
        for change in (*(c for c in self.changes if start <= c.start < end), Change(end, end, b"")):
            moved.append((len(written), start, change.start - start))
            written += layout.text[start : change.start]
            moved += [(len(written) + at, old, length) for at, old, length in change.moved]
            written, start = written + change.text, change.end
        return Change(*lines, written, moved=tuple(moved))


def _in_two(layout: Layout, outer: Level, body: Body, low: int, high: int) -> _Parts:
    """A body in front of one of its statements `low` to `high`, and from that on: with the fewest variables that are
    declared apart, of those the last one."""
    why = NotPossible(f"the branch in line {line_of(layout.text, body.start)} reads before it writes")
    found: list[_Parts] = []
    for index in range(high, low - 1, -1):
        try:
            found.append(_parts(layout, outer, body, [(index, _in_front_of(layout, body, index))]))
        except NotPossible as reason:
            why = reason
    if not found:
        raise why
    return min(found, key=lambda parts: parts.cost)


def _in_front_of(layout: Layout, body: Body, index: int) -> _Range:
    """The blank lines behind the statement in front of one, and the comments that follow it in its line."""
    text = layout.text
    if index == len(body.statements):
        return layout.line_start(body.end), layout.line_start(body.end)
    if index == 0:
        start = text.find(b"\n", body.start) + 1
        return start, start
    end = layout.line_end(body.statements[index - 1].end)
    rest = _LINE_ENDS.match(text, end)
    if rest is None or not layout.is_first(body.statements[index].start):
        raise NotPossible(f"two statements are in line {line_of(text, body.statements[index].start)}")
    return text.find(b"\n", end) + 1, text.rfind(b"\n", end, rest.end()) + 1


def _refuse_cut(layout: Layout, owner: Statement) -> None:
    """Raise `NotPossible` for a conditional whose branches cannot be moved by lines."""
    line = line_of(layout.text, owner.keyword)
    if not all(body.braced for body in owner.bodies):
        raise NotPossible(f"a branch of the conditional in line {line} has no braces")
    if DIRECTIVE.search(layout.text, owner.start, owner.end) or b'R"' in layout.text[owner.start : owner.end]:
        raise NotPossible(f"preprocessor lines cut the conditional in line {line}")
    place_of_else(layout, owner.bodies[0], owner.bodies[1], line)


def _parts(layout: Layout, outer: Level, body: Body, cuts: Sequence[tuple[int, _Range]]) -> _Parts:
    """The lines of a body in front of, between and behind the lines that it is cut at, each with the statement behind.
    `outer`: the body that the conditional is in."""
    line = line_of(layout.text, body.start)
    if _LINE_ENDS.match(layout.text, layout.line_end(body.start)) is None or not layout.is_first(body.end):
        raise NotPossible(f"the branch in line {line} does not begin and end with its lines")
    starts = [layout.text.find(b"\n", body.start) + 1, *(end for _, (_, end) in cuts)]
    ends = [*(start for _, (start, _) in cuts), layout.line_start(body.end)]
    lines = list(zip(starts, ends, strict=True))
    label = next((s for s in body.statements if s.kind == "label"), None)
    if label is not None:
        raise NotPossible(f"there is a label in line {line_of(layout.text, label.start)}")
    level = Level(outer.function, (*outer.steps, Step(outer.body, outer.position)), body, 0)
    inside = [(index, start) for (index, _), start in zip(cuts, starts[1:], strict=True)]
    inside = [each for each in inside if 0 < each[0] < len(body.statements)]
    if not inside:
        return _Parts(lines)
    found = [(start, cut_with_least(layout, level, [index])) for index, start in inside]
    apart = {index: declares for _, cut in found for index, declares in cut.apart.items()}
    constants = frozenset(index for _, cut in found for index in cut.constants)
    cut = Cut(max(each.at for _, each in found), 0, dict(sorted(apart.items())), (), constants)
    keep_scopes(layout, outer, level, cut)
    declared: list[tuple[Sequence[Declared], bytes]] = []
    for index, declares in cut.apart.items():
        for each in [declares] if index in constants else [(d,) for d in declares]:
            own = replace(cut, apart={index: each})
            declared += [(each, written) for written in declared_in_front(layout, outer, level, own)]
    changes = [*assigned(layout, level, replace(cut, at=len(body.statements)))]
    ends_of = dict(lines)
    changes += [Change(at, at, _again(layout, level, each, (at, ends_of[at]))) for at, each in found]
    changes.sort(key=lambda change: change.start)
    return _Parts(lines, declared, changes, taken_for_granted(layout, level, cut), cut.cost)


def _again(layout: Layout, level: Level, cut: Cut, part: _Range) -> bytes:
    """The lines of what the part behind a cut declares once more, and uses."""
    function, statements = level.function, level.body.statements
    used, needed = mentioned(function, part), list[int]()
    for index in reversed(cut.again):
        own = {d.at for d in statements[index].declares or ()}
        if any(u.kind == "declared" and u.at in own and u.variable in used for u in function.uses):
            used |= mentioned(function, (statements[index].start, statements[index].end))
            needed.insert(0, index)
    line = layout.newline + layout.indentation(statements[cut.at].start)
    written = declared_again(layout, level, replace(cut, again=tuple(needed)), line)
    return written.removeprefix(layout.newline) + layout.newline * bool(needed)


def _rewritten(
    session: Session,
    layout: Layout,
    outer: Level,
    owner: Statement,
    branches: tuple[_Parts, _Parts],
    barriers: Sequence[bytes],
) -> Restructuring:
    """The step. `barriers`: what is between the parts, if anything."""
    text, newline, indentation = layout.text, layout.newline, layout.indentation(owner.keyword)
    line = line_of(text, owner.keyword)
    place, condition = condition_of(layout, owner, outer, line)
    kept = kept_condition(layout.code, outer.function, place, (owner.keyword, owner.end))
    if kept is not None and text[slice(*place)] != layout.code[slice(*place)]:
        raise NotPossible(f"there is a comment in the condition in line {line}")
    written, moved = b"", list[tuple[int, int, int]]()
    name = kept or fresh_name(outer, text, "taken", session.reserved_in(outer.function))
    declared = _of_both(branches)
    if kept is None or declared:
        require_braces(layout, outer, f"the conditional in line {line} is in a section of a `switch` without braces")
    if kept is None:
        head = b"const bool " + name + b" = "
        moved.append((len(head), place[0], place[1] - place[0]))
        written = head + condition + b";" + newline + indentation
    written += b"".join(each + b";" + newline + indentation for each in declared)
    between = [b"", *(each and each + newline + indentation for each in barriers)]
    opposite = name[1:].lstrip() if name.startswith(b"!") else b"!" + name
    opening = _Joint.of(layout, owner.head_end, owner.bodies[0])
    middle = _Joint.of(layout, owner.bodies[0].end, owner.bodies[1])
    then, otherwise = ([parts.copied(layout, lines) for lines in parts.lines] for parts in branches)
    for barrier, one, two in zip(between, then, otherwise, strict=True):
        written += barrier
        filled = [(test, part) for test, part in ((name, one), (opposite, two)) if part.text.strip()]
        for number, (test, part) in enumerate(filled):
            if number:
                written += middle.once()
            else:
                written += b"if (" + test + b")" + (opening.once() if test == name else opening.plain)
            written += newline
            moved += [(len(written) + at, old, length) for at, old, length in part.moved]
            written += part.text + indentation
        written += b"}" + newline + indentation if filled else b""
    if opening.is_commented or middle.is_commented:
        raise NotPossible("comments are between branches of which only one does something in front of each barrier")
    change = Change(owner.keyword, owner.end, written.rstrip(), moved=tuple(moved))
    swapped = not any(part.text.strip() for part in (then[0], otherwise[-1]))
    return Restructuring(
        outer.function.path,
        [change],
        f"{'swap the' if swapped else 'split both'} branches of the conditional",
        owner.keyword,
        granted=next(filter(None, (parts.granted for parts in branches)), ""),
        name=name if kept is None else b"",
        declares_nothing=kept is not None and not declared,
    )


def _of_both(branches: tuple[_Parts, _Parts]) -> list[bytes]:
    """What goes in front of both. Variables that are alike are declared once, as a thread takes one branch only, and so
    are constants. Raises `NotPossible`."""
    for (one, first), (two, second) in product(*(parts.declared for parts in branches)):
        both = {d.name for d in one} & {d.name for d in two}
        if both and not (first == second and (first == typed(one[0]) or first.startswith(b"const"))):
            raise NotPossible(f"both branches of the conditional declare `{min(both)}`")
    return list(dict.fromkeys(written for parts in branches for _, written in parts.declared))


@dataclass
class _Joint:
    """What stands between a condition and the lines of its branch, or between two branches, braces included: its
    comments are written once."""

    text: bytes
    plain: bytes
    """Without comments."""

    @staticmethod
    def of(layout: Layout, start: int, branch: Body) -> _Joint:
        text, code = (whole[start : layout.line_end(branch.start)] for whole in (layout.text, layout.code))
        words = code.split()
        if words not in ([b"{"], [b"}", b"else", b"{"]):
            raise NotPossible(f"there is more than a brace in line {line_of(layout.text, start)}")
        if code == text:
            return _Joint(text, text)
        if b"\n" not in code:
            return _Joint(text, b" {" if len(words) == 1 else b"} else {")
        lines = [b" ".join(line.split()) for line in code.split(b"\n")]
        first, *rest = lines if words[0] == b"}" else [b"", *lines]
        begin = layout.newline + layout.indentation(branch.start)
        return _Joint(text, first + b"".join(begin + line for line in rest if line))

    @property
    def is_commented(self) -> bool:
        """Whether comments are left to be written."""
        return self.text != self.plain

    def once(self) -> bytes:
        text, self.text = self.text, self.plain
        return text
