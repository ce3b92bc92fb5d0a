"""A `switch` whose sections collide, split in two at the end of one of them or within it.

Takes two sections of a `switch`, or two statements of one, gives the changes after which what it selects by is
evaluated once and kept, a first `switch` holds the sections up to one of them, or to a statement of it, and a second
one the rest. Where that one goes on into the next, or is split itself, the second `switch` has its labels, too. A value
that one of them has a label for and that the other would take for its `default` gets a label there that does nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from analyzers.frontend.gaps import Body, Statement, Step
from quickfix.braces import DECLARING
from quickfix.distribute import DIRECTIVE
from quickfix.edits import Change, Layout
from quickfix.loop_jumps import QUIET, jumps_of
from quickfix.naming import NotPossible, declares, fresh_name, line_of
from quickfix.own_lines import OneLineError, UnbracedError, first_word, require_braces, require_lines
from quickfix.paths import Chain, Level, chain_to
from quickfix.session import Session
from quickfix.steps import Restructuring
from quickfix.variables import declarations, hidden, stay, uses_in
from quickfix.verify import RACES, findings_of

_LEAVES: Final = re.compile(rb"\b(?:continue|return|goto)\b")
_FALLS: Final = re.compile(
    rb"\[\[\s*(?:\w+::)?fallthrough\s*\]\]\s*;|__attribute__\s*\(\(\s*_*fallthrough_*\s*\)\)\s*;"
)
_DEFAULT: Final = re.compile(rb"\bdefault\b\s*:")
_CASE: Final = re.compile(rb"\bcase\b")


def parting(first: Chain, second: Chain) -> tuple[Level, Statement, int, int, int] | None:
    """The `switch` in whose sections two accesses stand, the body it is in, which section is the earlier one, how many
    of its statements are in front of the later access, and in which section that is."""
    for before, a, b in zip(first, first[1:], second[1:], strict=False):
        if a.identity != b.identity:
            owner = a.owner
            if owner is None or owner is not b.owner or owner.kind != "switch":
                return None
            found = [i for i, body in enumerate(owner.bodies) if body.start in (a.body.start, b.body.start)]
            if len(found) != 2:
                return None
            return before, owner, found[0], len(owner.bodies[found[0]].statements), found[1]
        if a.body.role == "case" and a.position != b.position and a.owner is not None:
            section = a.owner.bodies.index(a.body)
            return before, a.owner, section, min(a.position, b.position) + 1, section
    return None


def most_parted(session: Session, statement: Statement, first: int, last: int) -> int:
    """The section from `first` up to the one in front of `last` behind which a split parts the accesses of the most
    races."""
    parted: Counter[int] = Counter()
    races = (f for a in session.kernels for f in findings_of(a.result) if f.code in RACES)
    for one, two in dict.fromkeys((f.accesses[0], f.accesses[1]) for f in races):
        a, b = chain_to(session.trees, one), chain_to(session.trees, two)
        found = parting(a, b) if a is not None and b is not None else None
        if found is not None and found[1] is statement:
            parted.update(range(found[2], found[4]))
    return max(range(first, last), key=lambda section: parted[section])


def split(session: Session, level: Level, statement: Statement, last: int, kept: int) -> Restructuring:
    """The first `switch` ends behind so many statements of section `last`. Raises `NotPossible`."""
    text = session.trees.texts[level.function.path]
    layout = Layout(text)
    line = line_of(text, statement.keyword)
    opening = layout.code.find(b"(", statement.keyword, statement.head_end)
    selected = text[opening + 1 : statement.head_end - 1]
    _check(layout, level, statement, last, kept, selected, line)
    indentation = layout.indentation(statement.keyword)
    newline = layout.newline + indentation
    changes: list[Change] = []
    name = selected.strip()
    if not _is_kept(level, layout, (opening + 1, statement.head_end - 1), statement):
        require_braces(layout, level, f"the `switch` in line {line} is in a section of another one without braces")
        name = fresh_name(level, text, "selected", session.reserved_in(level.function))
        head = b"const auto " + name + b" = "
        written = head + selected + b";" + newline + b"switch (" + name + b")"
        moved = ((len(head), opening + 1, len(selected)),)
        changes.append(Change(statement.keyword, statement.head_end, written, moved=moved))
    again = b"switch (" + name + b")"
    labels = _labels(layout.code, statement)
    falling = _falling(statement, last, kept)
    halves = labels[: last + 1], [*labels[falling : last + 1], *labels[last + 1 :]]
    ends = statement.bodies[last].statements[kept - 1], statement.bodies[-1].statements[-1]
    for own, other, end in zip(halves, halves[::-1], ends, strict=True):
        at = layout.line_end(end.end)
        inserted = b""
        mine = {label for each in own for label in each}
        cases = [label for each in other for label in each if _CASE.match(label) and label not in mine]
        if any(_DEFAULT.match(label) for each in own for label in each) and cases:
            _refuse_declared(layout, level, statement, line)
            deeper = layout.newline + layout.indentation(end.start)
            deeper += b"" if layout.is_first(end.start) else layout.unit(level.function)
            margin = layout.newline + _margin(layout, statement, indentation)
            ended = b"" if end.kind == "jump" else deeper + b"break;"
            inserted = ended + b"".join(margin + label for label in cases) + deeper + b"break;"
        if own is halves[0]:
            if _FALLS.fullmatch(layout.code, end.start, end.end):
                changes.append(Change(end.start, end.end, b"break;"))
            inserted += newline + b"}" + newline + again + b" {"
            margin = layout.newline + _margin(layout, statement, indentation)
            inserted += b"".join(margin + label for each in labels[falling : last + 1] for label in each)
        if inserted:
            changes.append(Change(at, at, inserted))
    return Restructuring(level.function.path, changes, "split the switch", statement.keyword, name=name)


def _refuse_declared(layout: Layout, level: Level, switch: Statement, line: int) -> None:
    """Raise `UnbracedError` for the last section where it declares what new labels behind it would jump past."""
    section = switch.bodies[-1]
    if any(each.kind in DECLARING for each in section.statements):
        steps = (*level.steps, Step(level.body, level.body.statements.index(switch)))
        last, why = (
            Level(level.function, steps, section, 0),
            f"the last section of the `switch` in line {line} has no braces",
        )
        require_lines(layout, last, why, first_word(section.statements[0]))
        raise UnbracedError(last, why)


def _is_kept(level: Level, layout: Layout, place: tuple[int, int], switch: Statement) -> bool:
    """Whether what is selected by is a variable of the thread's own that the `switch` does not change: one that an
    earlier split has declared, say. Of parameters those of kernels, which are no references."""
    function, name = level.function, layout.code[slice(*place)].strip()
    used = {u.variable for u in uses_in(function, place)}
    places = {u.at for u in function.uses if u.kind == "declared" and u.variable in used}
    if len(used) != 1 or len(places) != 1 or re.fullmatch(rb"[A-Za-z_]\w*", name) is None:
        return False
    (at,) = places
    own = any(d.at == at and (d.assignable or d.bare) for d in declarations(function))
    handed = at < function.body.start and function.signature is None and not function.is_lambda
    inside = switch.keyword, switch.end
    return (own or handed) and stay(function, used, inside) and not hidden(function, used, inside)


def _margin(layout: Layout, statement: Statement, otherwise: bytes) -> bytes:
    """How deep the labels stand."""
    found = _CASE.search(layout.code, statement.head_end, statement.end)
    return layout.indentation(found.start()) if found is not None and layout.is_first(found.start()) else otherwise


def _labels(code: bytes, statement: Statement) -> list[list[bytes]]:
    """The labels in front of each section, with blanks for literals and comments."""
    found: list[list[bytes]] = []
    at = code.find(b"{", statement.head_end) + 1
    for body in statement.bodies:
        written = code[at : body.start]
        starts = [m.start() for m in re.finditer(rb"\bcase\b|\bdefault\b", written)]
        ends = [*starts[1:], len(written)]
        found.append([written[start:end].strip() for start, end in zip(starts, ends, strict=True)])
        at = body.end
    return found


def _check(
    layout: Layout, level: Level, statement: Statement, last: int, kept: int, selected: bytes, line: int
) -> None:
    code, text = layout.code, layout.text
    if statement.macro:
        raise NotPossible(f"the `switch` in line {line} is written by a macro")
    if not level.body.braced:
        raise UnbracedError(level, f"the `switch` in line {line} is a branch without braces")
    require_lines(layout, level, f"the `switch` in line {line} does not begin its line", statement.keyword)
    if code[statement.keyword : statement.head_end] != text[statement.keyword : statement.head_end]:
        raise NotPossible(f"there is a comment or a literal in the head of the `switch` in line {line}")
    if b"," in re.sub(rb"\([^()]*\)", b"", selected):
        raise NotPossible(f"there is a comma in the head of the `switch` in line {line}")
    if declares(layout, level.function, (statement.keyword, statement.head_end)) or b"{" in selected:
        raise NotPossible(f"the head of the `switch` in line {line} declares a variable")
    if _LEAVES.search(code, statement.start, statement.end) or DIRECTIVE.search(text, statement.start, statement.end):
        raise NotPossible(f"the `switch` in line {line} has jumps out of it or preprocessor lines in it")
    section, first = statement.bodies[last], _falling(statement, last, kept)
    parts = [body.statements for body in statement.bodies[:last]] + [section.statements[:kept]]
    for each in (each for part in parts[first:] for each in part):
        if (each.macro and each.kind not in QUIET) or any(True for _ in jumps_of(each)):
            why = "goes on into the next one" if kept == len(section.statements) else "is to be split"
            raise NotPossible(f"a section of the `switch` in line {line} {why}, and threads may leave it before")
    if any(each.kind in DECLARING for part in parts for each in part):
        raise NotPossible(f"a section of the `switch` in line {line} declares what the next one may use")
    labels = _labels(code, statement)
    # A label with a literal or a comment in it is not to be found in the text.
    if not all(labels) or any(not label.endswith(b":") or label not in text for each in labels for label in each):
        raise NotPossible(f"the labels of the `switch` in line {line} are not plain")
    end = section.statements[kept - 1].end
    if kept < len(section.statements):
        inside = Level(
            level.function, (*level.steps, Step(level.body, level.body.statements.index(statement))), section, 0
        )
        if layout.same_line(end, section.statements[kept].start):
            why = f"several statements of the `switch` in line {line} are in one line"
            raise OneLineError(inside, [first_word(section.statements[kept])], why)
    elif layout.same_line(end, code.find(labels[last + 1][0], end, statement.bodies[last + 1].start)):
        raise NotPossible(f"several sections of the `switch` in line {line} are in one line")


def _falling(statement: Statement, last: int, kept: int) -> int:
    """The first of the sections that go on up to what is behind so many statements of section `last`."""
    first = last if kept < len(statement.bodies[last].statements) else last + 1
    while first and not ends(statement.bodies[first - 1]):
        first -= 1
    return first


def ends(section: Body) -> bool:
    """Whether no thread goes on from the section into the next one."""
    end = section.statements[-1]
    while end.kind == "compound" and end.bodies and end.bodies[0].statements:
        end = end.bodies[0].statements[-1]
    return end.kind == "jump" and end.call == "break" and not end.macro
