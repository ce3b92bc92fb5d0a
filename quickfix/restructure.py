"""Rewrite the source so that there is a place for a barrier where there was none.

Takes a session and a race whose accesses nothing separates, gives the changes that separate them, or the reason why
it cannot. What was executed in one thread is executed in the same order after it; that the findings are the same is for
the engine to say, and barriers are placed in the new text as in any other.

* A statement that reads and writes cells which collide is split: the value first, through a variable of its type, then
  the assignment. C++ evaluates the value first anyway, also where the assignment is a part of the statement that is
  always evaluated (`inner_values`). An expression with commas becomes as many statements, a conditional one `if` and
  `else` (`conditional_statements`).
* A conditional whose sides collide is split at its `else`: the condition is evaluated once and kept. Where the first
  one would read what nobody has written, both are split behind what they write (`side_by_side`).
* A `switch` whose sections collide is split behind the `break` of one (`switches`).
* A function called under a condition is called by all threads, which pass the condition (`called_conditionals`).
* A conditional in whose body a barrier is missing is closed before it and opened again behind it (`conditionals`). One
  that holds nothing but another one becomes one with it (`joined`).
* What stands behind a `continue`, or what a `goto` skips, goes under the opposite of its condition (`skipping_jumps`),
  and so does what stands behind a `return` of a function that a kernel calls (`called_returns`).
* A loop that threads leave at different times runs as long as any thread has work (`uniform_loops`), up to the
  bound of one thread where that does for all (`uniform_bounds`). A `return` or `goto` out of it is made behind it
  (`leaving_jumps`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from itertools import takewhile
from typing import Final

from analyzers.frontend.gaps import Assignment, Statement
from analyzers.model import Access, Finding
from quickfix import switches
from quickfix.braces import braces
from quickfix.called_conditionals import passed_on
from quickfix.called_returns import guard_return
from quickfix.conditional_statements import as_conditional
from quickfix.conditionals import condition_of, has_place, opened_up
from quickfix.declared_conditions import DeclaredError
from quickfix.distribute import DIRECTIVE
from quickfix.edits import Change, Layout
from quickfix.farthest import has_its_bound, is_farthest
from quickfix.leaving_jumps import made_behind
from quickfix.left_lanes import refuse_votes
from quickfix.naming import NotPossible, fresh_name, line_of
from quickfix.own_lines import OneLineError, UnbracedError, require_braces, require_lines
from quickfix.paths import Chain, Level, around, chain_to
from quickfix.room import made_room
from quickfix.search import ways_between
from quickfix.sections import refuse_halves
from quickfix.session import Session
from quickfix.side_by_side import behind_writes
from quickfix.skipping_jumps import (
    continues,
    guard_continue,
    guard_goto,
    jump_behind_switch,
    without_break,
    without_continue,
)
from quickfix.split_branches import split_at_else
from quickfix.steps import BOUNDED, THREADS, UNIFORM, VOTES, WARP_VOTES, Farthest, Restructuring
from quickfix.strided_loops import over_a_base
from quickfix.strides import is_over_base
from quickfix.uniform_bounds import up_to_bound_of
from quickfix.uniform_loops import loops_around, uneven_loops, uniform
from quickfix.unwrapped_sections import block_in_section, unwrapped

_Way = Callable[[Session, tuple[Chain, Chain], tuple[Access, Access]], Restructuring | None]


def restructuring(
    session: Session, finding: Finding, varying: Collection[tuple[str, int]]
) -> Restructuring | str | None:
    """The first way to make a place between the accesses of a race; a sentence where one is in sight and cannot be
    gone, None where there is none. `varying`: (path, start) of bodies that only some threads enter."""
    one, two = finding.accesses[:2]
    first, second = chain_to(session.trees, one), chain_to(session.trees, two)
    if first is None or second is None or has_place(session, finding, varying):
        return None
    opened: tuple[_Way, ...] = (_split_both, _opened_up(finding, varying))
    ways: list[_Way] = [guard_goto, *_WAYS_BETWEEN, *opened, *_WAYS_AROUND]
    if ways_between(session, finding).candidates:
        # There is a place, if only some threads get there: a statement is not split for what is between iterations.
        ways = [guard_goto, *_WAYS_BETWEEN[1:], *opened, _split_statement, *_WAYS_AROUND]
    said: str | None = None
    bare: _BareError | None = None
    for way in ways:
        try:
            found = way(session, (first, second), (one, two))
            if found is not None:
                refuse_halves(session.trees, found.path, found.changes)
        except _BareError as reason:
            said, bare = said or str(reason), bare or reason
            continue
        except (OneLineError, UnbracedError, DeclaredError) as reason:
            found = made_room(session, reason)
            if found is None:
                said = said or str(reason)
        except _NotOpened as reason:
            return str(reason)
        except NotPossible as reason:
            said = said or str(reason)
            continue
        if found is not None:
            return found
    room = made_room(session, bare) if bare is not None else None
    return replace(room, is_spare=True) if room is not None else said


def called_by_all(
    session: Session, one: Access, two: Access, varying: Collection[tuple[str, int]]
) -> Restructuring | None:
    """What takes a call that both accesses are in out of a conditional that only some threads enter, if it can."""
    first, second = chain_to(session.trees, one), chain_to(session.trees, two)
    if first is None or second is None:
        return None
    try:
        found = passed_on(session, (first, second), varying)
        if found is not None:
            refuse_halves(session.trees, found.path, found.changes)
    except NotPossible:
        return None
    return found


class _BareError(UnbracedError):
    """A branch of one statement that another one would have to be in front of, if nothing else is to be done."""


class _NotOpened(NotPossible):
    """What is around a conditional that cannot be opened is not in its way."""


def _opened_up(finding: Finding, varying: Collection[tuple[str, int]]) -> _Way:
    def way(session: Session, chains: tuple[Chain, Chain], accesses: tuple[Access, Access]) -> Restructuring | None:
        del accesses
        try:
            return passed_on(session, chains, varying) or opened_up(session, finding, varying)
        except (OneLineError, UnbracedError, DeclaredError):
            raise
        except NotPossible as reason:
            raise _NotOpened(str(reason)) from None

    return way


# --- one statement that reads and writes ----------------------------------------------------------------------


def _split_statement(
    session: Session, chains: tuple[Chain, Chain], accesses: tuple[Access, Access]
) -> Restructuring | None:
    depth = sum(1 for _ in takewhile(lambda both: both[0].identity == both[1].identity, zip(*chains, strict=False))) - 1
    if depth < 0 or chains[0][depth].position != chains[1][depth].position:
        return None
    level = chains[0][depth]  # in one call of its function
    statement = level.statement
    if statement is None:
        return None
    # What a called function accesses is where the call is.
    places = [chain[depth + 1].call if len(chain) > depth + 1 else None for chain in chains]
    found = [(a.kind, a.span.start_offset if at is None else at) for a, at in zip(accesses, places, strict=True)]
    if statement.commas:
        return _taken_apart(session.trees.texts[level.function.path], level, statement)
    if statement.choice is not None:
        changes = as_conditional(Layout(session.trees.texts[level.function.path]), level, statement)
        what = "make a conditional of the conditional expression"
        return Restructuring(level.function.path, changes, what, statement.start)
    assignment = _reading(statement, found)
    if assignment is None:
        return None
    (low, high), text = assignment.value, session.trees.texts[level.function.path]
    line = line_of(text, statement.start)
    value = text[low:high]
    if DIRECTIVE.search(value):
        raise NotPossible(f"the statement in line {line} contains preprocessor lines")
    if statement.bodies and not level.body.braced:
        raise UnbracedError(level, f"the statement in line {line} is a branch without braces")
    name = fresh_name(level, text, "value", session.reserved_in(level.function))
    if level.body.role == "case" and not _BARE.fullmatch(assignment.type):
        why = f"the statement in line {line} would declare a `{assignment.type}` in a section of a `switch`"
        require_braces(Layout(text), level, why)
    elif level.body.role == "case":
        changes = _declared_in_front_of_switch(Layout(text), level, statement, assignment, name)
        return Restructuring(level.function.path, changes, "split the statement", statement.start, name=name)
    head = assignment.type.encode() + (b"" if assignment.type.endswith("*") else b" ") + name + b" = "
    declaration = head + value + b";"
    moved = (len(head), low, len(value))
    changes = [*_in_front(Layout(text), level, statement, declaration, moved), Change(low, high, name)]
    changes = sorted(changes, key=lambda c: (c.start, c.end))
    return Restructuring(level.function.path, changes, "split the statement", statement.start, name=name)


def _taken_apart(text: bytes, level: Level, statement: Statement) -> Restructuring:
    """A statement of each part of an expression with commas."""
    layout = Layout(text)
    if not level.body.braced:
        line = line_of(text, statement.start)
        raise UnbracedError(level, f"the statement in line {line} is a branch without braces")
    own = layout.is_first(statement.start)
    rest = layout.newline + layout.indentation(statement.start) if own else b" "
    changes: list[Change] = []
    for comma in statement.commas:
        after = comma + 1 + len(layout.code[comma + 1 :]) - len(layout.code[comma + 1 :].lstrip())
        if not text[comma + 1 : after].strip():
            changes.append(Change(comma, after, b";" + rest))
            continue
        changes.append(Change(comma, comma + 1, b";"))
        if own and layout.is_first(after):
            changes.append(Change(layout.line_start(after), after, layout.indentation(statement.start)))
    return Restructuring(level.function.path, changes, "split the statement", statement.start)


def _reading(statement: Statement, accesses: Collection[tuple[str, int]]) -> Assignment | None:
    """The assignment of or in a statement, by the value or the macro's argument in which one of the accesses (kind and
    place) reads, and outside of which the other one writes."""
    own = (statement.assignment,) if statement.assignment is not None else ()
    for each in (*own, *statement.inner, *statement.arguments):
        inside = {kind: each.value[0] <= at < each.value[1] for kind, at in accesses}
        if inside.pop("read", False) and not all(inside.values() or [True]):
            return each
    return None


_BARE: Final = re.compile(r"(?:(?:unsigned|signed|long|short|int|char|float|double|bool)\b\s*)+|\w+[1-4]|.*\*")
"""Types of which a variable may be declared without a value: numbers, CUDA's vectors and pointers."""


def _declared_in_front_of_switch(
    layout: Layout, level: Level, statement: Statement, assignment: Assignment, name: bytes
) -> list[Change]:
    """A section must not declare what others would jump over: the variable goes in front of the `switch`."""
    outer, (low, high), text = around(level), assignment.value, layout.text
    switch = outer.statement
    line = line_of(text, statement.start)
    assert switch is not None
    if outer.position and outer.body.statements[outer.position - 1].kind == "label":
        raise NotPossible(f"there is a label in front of the `switch` around line {line}")
    require_braces(layout, outer, f"the `switch` around line {line} is in a body without braces")
    require_lines(layout, outer, f"the `switch` around line {line} does not begin its line", switch.keyword)
    at = layout.line_start(switch.start)
    declared = f"{assignment.type}{'' if assignment.type.endswith('*') else ' '}".encode() + name + b";"
    head = name + b" = "
    rest = layout.newline + layout.indentation(statement.start) if layout.is_first(statement.start) else b" "
    written = head + text[low:high] + b";" + rest
    return [
        Change(at, at, layout.indentation(switch.keyword) + declared + layout.newline),
        Change(statement.start, statement.start, written, moved=((len(head), low, high - low),)),
        Change(low, high, name),
    ]


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
    if owner is None or (level.body.role != "loop" and owner.kind != "if"):
        raise NotPossible("the statement is a branch without braces")
    if level.body.role != "loop" and level.body is not owner.bodies[-1]:
        raise _BareError(level, "the statement is a branch without braces")
    head = layout.last_visible(statement.start, owner.start)
    if layout.text[head : statement.start].strip():
        raise _BareError(level, "there is more than blanks in front of a statement without braces")
    outer = layout.indentation(owner.keyword)
    if not layout.is_first(owner.keyword):
        raise _BareError(level, "the statement is a branch without braces")
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
    loop = next((a for a in reversed(chains[0]) if a.body.loops and a.body.start <= statement.start < a.body.end), None)
    if loop is not None and continues(statement):
        return without_continue(session, loop)
    parted = behind_writes(session, level, statement)
    if parted is not None:
        return parted
    text = session.trees.texts[level.function.path]
    condition = condition_of(Layout(text), statement, level, line_of(text, statement.keyword))
    return split_at_else(session, level, statement, condition)


def _split_both(session: Session, chains: tuple[Chain, Chain], accesses: tuple[Access, Access]) -> Restructuring | None:
    """Of accesses in one branch: part it and the other one behind what they write, where they collide, too."""
    del accesses
    common = [a for a, b in zip(*chains, strict=False) if a.body is b.body]
    level = next((v for v in reversed(common) if v.owner is not None and v.owner.kind == "if"), None)
    if level is None or level.owner is None or len(level.owner.bodies) != 2:
        return None
    return behind_writes(session, around(level), level.owner)


def _split_switch(
    session: Session, chains: tuple[Chain, Chain], accesses: tuple[Access, Access]
) -> Restructuring | None:
    del accesses
    found = switches.parting(*chains)
    if found is None:
        block = block_in_section(*chains)
        if block is None:
            return None
        path = block.function.path
        changes = unwrapped(block, Layout(session.trees.texts[path]))
        return Restructuring(path, changes, "", block.body.start)
    level, statement, section, kept, last = found
    behind = jump_behind_switch(session, level, statement)
    if behind is not None:
        return behind
    best = switches.most_parted(session, statement, section, last) if section < last else section
    if best != section:
        try:
            return switches.split(session, level, statement, best, len(statement.bodies[best].statements))
        except (OneLineError, UnbracedError):
            raise
        except NotPossible:
            pass  # behind the earlier access, perhaps
    return without_break(session, level, statement, section, kept) or switches.split(
        session, level, statement, section, kept
    )


# --- a loop that threads leave at different times -------------------------------------------------------------


def _uniform_loop(
    session: Session, chains: tuple[Chain, Chain], accesses: tuple[Access, Access]
) -> Restructuring | None:
    del accesses
    loops = loops_around(*chains, uneven_loops(session.kernels))
    found = (_made_uniform(session, level, loop) for level, loop in loops)
    return next((each for each in found if each is not None), None)


def _made_uniform(session: Session, level: Level, loop: Statement) -> Restructuring | None:
    text, taken = session.trees.texts[level.function.path], session.reserved_in(level.function)
    if not level.body.braced:
        return Restructuring(level.function.path, braces(level, text), "", loop.keyword)
    behind = made_behind(level, loop, Layout(text), taken)
    if behind is not None:
        return Restructuring(level.function.path, behind, "jump out behind the loop", loop.keyword)
    if loop.kind == "for":
        # The step must be made where the iteration ends.
        found = without_continue(session, level)
        if found is not None:
            return found
    changes = None if session.votes else _over_base(session, level, loop)
    if changes is not None:
        return Restructuring(level.function.path, changes, UNIFORM, loop.keyword)
    changes = uniform(level, loop, text, session.vote, taken)
    if changes is None:
        return None
    refuse_votes(session.kernels, level.function.path, Layout(text), loop)
    votes = any(session.vote in c.text for c in changes)
    bounded = _with_bound(session, level, loop) if votes and not session.votes else None
    if bounded is not None:
        which, changes = bounded
        return Restructuring(level.function.path, changes, BOUNDED.format(which), loop.keyword)
    cost = (WARP_VOTES if session.orders_warps else VOTES) if votes else ""
    return Restructuring(level.function.path, changes, UNIFORM, loop.keyword, cost)


def _over_base(session: Session, level: Level, loop: Statement) -> list[Change] | None:
    """The changes after which a loop runs over a base that the first thread of the block counts, where that does."""
    path, text = level.function.path, session.trees.texts[level.function.path]
    changes = over_a_base(level, loop, text, session.vote, session.reserved_in(level.function))
    kernels = session.running(path, loop.keyword) if changes is not None else None
    if changes is None or kernels is None:
        return None
    drafted = session.draft({path: changes})
    own = loop.kind == "while"
    made = drafted.analysis.kernels
    alike = drafted.difference.is_clean and is_over_base(session, kernels, made, path, level.loop_line, own_counter=own)
    return changes if alike else None


def _with_bound(session: Session, level: Level, loop: Statement) -> tuple[Farthest, list[Change]] | None:
    """The changes after which all threads make a loop up to the bound of one of them, and of which, if that does for
    all."""
    path, line = level.function.path, level.loop_line
    text, taken = session.trees.texts[path], session.reserved_in(level.function)
    found = [up_to_bound_of(which, level, loop, text, taken) for which in THREADS]
    bounds = [bounded for bounded in found if bounded is not None]
    kernels = session.running(path, loop.keyword) if bounds else None
    if kernels is None:
        return None
    bounded = next((b for b in bounds if is_farthest(session, kernels, b.which, path, line)), None)
    if bounded is None:
        return None
    try:
        changes = bounded.changes()
    except (OneLineError, UnbracedError):
        raise
    except NotPossible:
        return None  # a vote is written in the loop alone
    # What else the bound is made of, the text does not tell.
    drafted = session.draft({path: changes})
    at = line + sum(c.text.count(b"\n") for c in changes if c.end <= loop.keyword)
    alike = drafted.difference.is_clean and has_its_bound(
        session, kernels, drafted.analysis.kernels, bounded.which, path, (line, at)
    )
    return (bounded.which, changes) if alike else None


def _parting(first: Chain, second: Chain) -> tuple[Level, Statement] | None:
    """The conditional on whose sides the accesses stand, and the body it is in."""
    for before, a, b in zip(first, first[1:], second[1:], strict=False):
        if a.identity != b.identity:
            owner = a.owner
            if owner is None or owner is not b.owner or owner.kind != "if" or len(owner.bodies) != 2:
                return None
            return before, owner
    return None


_WAYS_BETWEEN: Final[tuple[_Way, ...]] = (_split_statement, _split_branch, _split_switch)
_WAYS_AROUND: Final[tuple[_Way, ...]] = (guard_continue, _uniform_loop, guard_return)
