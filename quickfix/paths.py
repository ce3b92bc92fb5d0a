"""Which gaps of the source lie between the two accesses of a race.

Takes the statement trees and a race finding; gives the `Passage` from the access that is executed first to the other:
the gaps that every way between them passes. Witness iterations tell which access comes first; where they are missing,
both orders are allowed for. Device calls are followed: an access is placed by its call sites and its own statement.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from analyzers.frontend.gaps import Body, FunctionTree, Gap, SourceTrees, Statement, Step, falls_through, gaps_of
from analyzers.model import Access, Finding
from quickfix.backward_jumps import JumpLoop, jump_loops
from quickfix.file_names import FileNames

_BEGIN: Final = -1
"""Position of a loop's test in its body: in front of every statement, behind no gap of the body."""
_CONDITIONAL: Final = ("then", "else", "case")
_OUT_OF_AN_ITERATION: Final = frozenset({"continue", "return", "goto"})


@dataclass(frozen=True, slots=True)
class Level:
    """One body on the way to an access, and the position in it.

    The position is a statement's index; -1 for the test in front of a loop's body; the number of statements for what
    stands behind it (the step of a `for`, the test of a `do`)."""

    function: FunctionTree
    steps: tuple[Step, ...]
    """To the statement that owns the body."""
    body: Body
    position: int
    call: int | None = None
    """For the outermost body of a called function: the offset of the call."""
    loop_line: int = 0
    """For the body of a loop: the line of the loop."""
    jumps: tuple[JumpLoop, ...] = ()
    """The loops that jumps make of statements of the body."""

    @property
    def identity(self) -> tuple[str, int, int | None]:
        return (self.function.path, self.body.start, self.call)

    @property
    def statement(self) -> Statement | None:
        inside = 0 <= self.position < len(self.body.statements)
        return self.body.statements[self.position] if inside else None

    @property
    def owner(self) -> Statement | None:
        return self.steps[-1].statement if self.steps else None


def is_conditional(level: Level) -> bool:
    """Whether its body is one that threads come to under a condition: not one that the compiler knows."""
    owner = level.owner
    return level.body.role in _CONDITIONAL and not (owner is not None and owner.known)


def around(level: Level) -> Level:
    """The body that the statement is in which a body belongs to."""
    step = level.steps[-1]
    return Level(level.function, level.steps[:-1], step.body, step.index)


def steps_to(level: Level) -> tuple[Step, ...]:
    """From the function's body to the statement at the position."""
    return (*level.steps, Step(level.body, level.position))


Key = tuple[str, int, int]
"""Names a gap of a text: `Gap.key`."""

Chain = tuple[Level, ...]
"""From the kernel's body to the statement of an access, calls included."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A gap where a barrier would separate two accesses, with what surrounds it in the kernel, calls included."""

    gap: Gap
    loops: tuple[tuple[str, int], ...]
    """The loops around it, outermost first: path and line."""
    conditionals: int
    called: bool = False
    """It is in a function that the kernel calls."""
    sometimes: bool = False
    """Not each iteration of the loops comes to it, as far as conditionals and jumps in them show."""
    outside: int = 0
    """How many of the loops are around the call of its function."""
    chosen: int = 0
    """Around it, conditionals of which the compiler knows whether there is a body at all."""

    @property
    def key(self) -> Key:
        return self.gap.key


@dataclass(frozen=True, slots=True)
class Passage:
    """The gaps between two accesses; empty with the `obstacle`, a sentence about why there are none."""

    candidates: tuple[Candidate, ...]
    obstacle: str = ""


def on_host(function: str) -> str:
    """Why a function gets no barriers and no atomics; a clause."""
    return f"`{function}` is `__host__ __device__`: the host runs it, too, which has no barriers and no atomics"


def chain_to(trees: SourceTrees, access: Access) -> Chain | None:
    """Where an access stands, functions of libraries included; None where its text is not a place for statements
    (written by a macro as a whole)."""
    levels: list[Level] = []
    call: int | None = None
    for span in (*access.calls, access.span):
        function = trees.at(span.path, span.start_offset)
        if function is None:
            return None
        levels += _within(function, span.start_offset, call, trees.texts[span.path])
        call = span.start_offset
    return tuple(levels)


def _within(function: FunctionTree, offset: int, call: int | None, text: bytes) -> list[Level]:
    levels: list[Level] = []
    body, steps, line = function.body, (), 0
    while True:
        index = next((i for i, s in enumerate(body.statements) if s.start <= offset < s.end), None)
        if index is None:
            # Between the statements that clang saw: treat the place as the statement in front of it.
            index = max((i for i, s in enumerate(body.statements) if s.end <= offset), default=0)
        levels.append(Level(function, steps, body, index, call, line, jump_loops(body, text)))
        call, line = None, 0
        if index >= len(body.statements):
            return levels
        statement = body.statements[index]
        inner = next((b for b in statement.bodies if b.start <= offset < b.end), None)
        deeper = (*steps, Step(body, index))
        if inner is None:
            if statement.is_loop and statement.bodies and (position := _head_position(statement, offset)) is not None:
                line = _line_of(text, statement.keyword)
                levels.append(Level(function, deeper, statement.bodies[-1], position, None, line))
            return levels
        if inner.loops:
            line = _line_of(text, statement.keyword)
        body, steps = inner, deeper


def _head_position(statement: Statement, offset: int) -> int | None:
    """Where in its loop's body a place in the header is executed; None for what runs once, in front of the loop."""
    end = len(statement.bodies[-1].statements)
    if statement.kind == "do":
        return end
    if statement.kind == "while" or statement.head_parts is None:
        return _BEGIN if statement.kind == "while" else None
    first, second = statement.head_parts
    return None if offset < first else _BEGIN if offset < second else end


# --- between two accesses -------------------------------------------------------------------------------------


def passage(trees: SourceTrees, finding: Finding) -> Passage:
    """The gaps of which one must get a barrier for the finding to disappear."""
    one, two = finding.accesses[:2]
    first, second = (chain_to(trees, access) for access in (one, two))
    if first is None or second is None:
        hidden = one if first is None else two
        return Passage(
            (),
            in_library(trees, hidden)
            or f"`{hidden.text}` in {FileNames.among(trees).line(hidden.span)} is inside a macro",
        )
    shared = _shared(first, second)
    loops = [i for i in range(shared) if first[i].body.loops]
    found = _by_iterations(first, second, shared, loops, one, two)
    if found is None:
        found = _either_way(first, second, shared, one, two)
        for loop in loops:
            found += _across(first, second, loop, far=False) + _across(second, first, loop, far=False)
        for index, jump in _jumps_around(first, second, shared):
            found += _across_jump(first, second, index, jump, far=False)
            found += _across_jump(second, first, index, jump, far=False)
    candidates = _distinct(found)
    if candidates:
        return Passage(candidates)
    hosted = next((level.function.name for level in (*first, *second) if level.function.on_host), None)
    if hosted is not None:
        return Passage((), on_host(hosted))
    library = in_library(trees, one) or in_library(trees, two)
    return Passage((), library or _obstacle(trees, first, second, shared, one, two))


def in_library(trees: SourceTrees, access: Access) -> str:
    """That an access is in code which is not edited, if so; a clause."""
    library = trees.library(access.span.path)
    return f"`{access.text}` in line {access.span.line} is in {library}" if library else ""


def _by_iterations(
    first: Chain, second: Chain, shared: int, loops: Sequence[int], one: Access, two: Access
) -> list[Candidate] | None:
    """Use the iterations of the witness to tell who comes first; None where they do not fit the source."""
    counts = [_iterations_of(chain, access) for chain, access in ((first, one), (second, two))]
    jumps = _jumps_around(first, second, shared)
    for loop in sorted({*loops, *(index for index, _ in jumps)}):
        if loop in loops:
            a, b = (count.get(loop) for count in counts)
            if a is None or b is None:
                return None
            if a != b:
                earlier, later = (first, second) if a < b else (second, first)
                return _across(earlier, later, loop, far=abs(a - b) > 1)
        for jump in (jump for index, jump in jumps if index == loop):
            a, b = (dict(access.iterations).get(jump.name) for access in (one, two))
            if a is None or b is None:
                return None
            if a != b:
                earlier, later = (first, second) if a < b else (second, first)
                return _across_jump(earlier, later, loop, jump, far=abs(a - b) > 1)
    return _either_way(first, second, shared, one, two)


def _iterations_of(chain: Chain, access: Access) -> dict[int, int]:
    """The iteration of each loop level of a chain; nothing when the witness does not name each of them."""
    loops = [index for index, level in enumerate(chain) for _ in range(level.body.loops)]
    jumps = {jump.name for level in chain for jump in level.jumps if jump.holds(level.position)}
    counts = [count for name, count in access.iterations if name not in jumps]
    if len(loops) != len(counts) or len(set(loops)) != len(loops):
        return {}
    return dict(zip(loops, counts, strict=True))


def _line_of(text: bytes, offset: int) -> int:
    return text.count(b"\n", 0, offset) + 1


def _shared(first: Chain, second: Chain) -> int:
    """The number of levels, from the outside, in which both accesses stand in one execution of one body."""
    for index, (a, b) in enumerate(zip(first, second, strict=False)):
        if a.identity != b.identity:
            return index
        if a.position != b.position:
            return index + 1
    return min(len(first), len(second))


def _within_iteration(first: Chain, second: Chain, shared: int, *, in_order: bool) -> list[Candidate]:
    """Gaps between the accesses when both are in equal iterations of all common loops and `first` is executed first.

    `in_order`: in the kernel's program order `first` comes before `second`."""
    if not shared:
        return []
    a, b = first[shared - 1], second[shared - 1]
    if a.position > b.position:
        return []
    if a.position == b.position:
        return _within_statement(first, second, shared, in_order=in_order)
    between = [c for c in _all(first, shared - 1) if a.position < c.gap.index <= b.position]
    return between + _behind(first, shared) + _in_front(second, shared)


def _either_way(first: Chain, second: Chain, shared: int, one: Access, two: Access) -> list[Candidate]:
    in_order = one.id < two.id
    return _within_iteration(first, second, shared, in_order=in_order) or _within_iteration(
        second, first, shared, in_order=not in_order
    )


def _within_statement(first: Chain, second: Chain, shared: int, *, in_order: bool) -> list[Candidate]:
    """Both accesses belong to one statement: only a call or a controlled body can keep them apart."""
    inner_first, inner_second = first[shared:], second[shared:]
    if not inner_first:
        # A condition or a loop's header comes before the body; a call's arguments before, the use of its result behind.
        called = bool(inner_second) and inner_second[0].call is not None
        return [] if called and not in_order else _in_front(second, shared)
    call = inner_first[0].call
    if not inner_second:
        return _behind(first, shared) if call is not None and in_order else []
    other = inner_second[0].call
    if call is None and other is None:
        return _falling_through(first, second, shared)
    if call is None or other is None or call >= other:
        return []
    return _behind(first, shared) + _in_front(second, shared)


def _falling_through(first: Chain, second: Chain, shared: int) -> list[Candidate]:
    """Gaps between accesses in two sections of one `switch`, where threads go on from the one into the other."""
    a, b = first[shared], second[shared]
    switch = a.owner
    if switch is None or switch is not b.owner or a.body.role != "case":
        return []
    one, two = (next(i for i, body in enumerate(switch.bodies) if body is level.body) for level in (a, b))
    if one >= two or not all(falls_through(section) for section in switch.bodies[one:two]):
        return []
    passed = (replace(a, body=section, position=0, jumps=()) for section in switch.bodies[one + 1 : two])
    between = [c for level in passed for c in _all((*first[:shared], level), shared)]
    return _behind(first, shared) + between + _in_front(second, shared)


def _across(earlier: Chain, later: Chain, loop: int, *, far: bool) -> list[Candidate]:
    """Gaps between an access and another one in a later iteration of the loop whose body is at level `loop`."""
    if far:
        return _all(earlier, loop) + _behind(earlier, loop + 1) + _in_front(later, loop + 1)
    return _behind(earlier, loop) + _in_front(later, loop)


def _jumps_around(first: Chain, second: Chain, shared: int) -> list[tuple[int, JumpLoop]]:
    """The loops of jumps that both accesses are in, with the levels of their bodies."""
    pairs = ((i, jump) for i in range(shared) for jump in first[i].jumps)
    return [(i, jump) for i, jump in pairs if jump.holds(first[i].position) and jump.holds(second[i].position)]


def _across_jump(earlier: Chain, later: Chain, index: int, jump: JumpLoop, *, far: bool) -> list[Candidate]:
    """The same for a loop that a jump makes of statements of the body at level `index`."""
    start, end = earlier[index].position, later[index].position
    passed = [
        c
        for c in _all(earlier, index)
        if jump.holds(c.gap.index) and (far or c.gap.index > start or c.gap.index <= end)
    ]
    return passed + _behind(earlier, index + 1) + _in_front(later, index + 1)


def _behind(chain: Chain, start: int) -> list[Candidate]:
    return [c for i in range(start, len(chain)) for c in _all(chain, i) if c.gap.index > chain[i].position]


def _in_front(chain: Chain, start: int) -> list[Candidate]:
    return [c for i in range(start, len(chain)) for c in _all(chain, i) if c.gap.index <= chain[i].position]


def _all(chain: Chain, index: int) -> list[Candidate]:
    level = chain[index]
    return [candidate_at(chain, index, gap) for gap in gaps_of(level.body, level.steps, level.function)]


def candidate_at(chain: Chain, index: int, gap: Gap) -> Candidate:
    """The gap in the body of a level, by its index, with the loops and conditionals around it."""
    level = chain[index]
    path = level.function.path
    calls = [i for i, other in enumerate(chain[: index + 1]) if other.call is not None]
    outside = sum(len(_loop_lines(other)) for other in chain[: max(calls, default=0)])
    around = [(other.function.path, line) for other in chain[:index] for line in _loop_lines(other)]
    around += [(path, level.loop_line)] * level.body.loops
    conditionals = sum(map(is_conditional, chain[: index + 1]))
    chosen = sum(other.body.role in _CONDITIONAL for other in chain[: index + 1]) - conditionals
    return Candidate(
        gap,
        (*around, *((path, jump.line) for jump in level.jumps if jump.holds(gap.index))),
        conditionals,
        bool(calls),
        is_passed_by(chain[: index + 1], gap.index),
        outside,
        chosen,
    )


def is_passed_by(chain: Sequence[Level], index: int) -> bool:
    """Whether iterations of the loops around a place may pass it by, as the text shows: it is in a conditional in a
    loop, or behind a jump out of an iteration. `index`: of the place in the body of the last level."""
    first = next((i for i, level in enumerate(chain) if level.body.loops or level.jumps), len(chain))
    ends = (*(level.position for level in chain[first:-1]), index)
    if any(map(is_conditional, chain[first + 1 :])):
        return True
    bodies = (level.body for level in chain[first:])
    return any(_may_leave(body.statements[: max(end, 0)]) for body, end in zip(bodies, ends, strict=False))


def _may_leave(statements: Sequence[Statement], jumps: frozenset[str] = _OUT_OF_AN_ITERATION) -> bool:
    """Whether a thread may leave an iteration in one of the statements, which are in its loop, by one of these jumps.
    What leaves the loop itself ends its iterations, too, and is not counted."""
    return any(
        (statement.kind == "jump" and statement.call in jumps)
        or any(_may_leave(body.statements, jumps - {"continue"} if body.loops else jumps) for body in statement.bodies)
        for statement in statements
    )


def _loop_lines(level: Level) -> list[int]:
    """The lines of the loops that a body and its jumps are."""
    return [level.loop_line] * level.body.loops + [j.line for j in level.jumps if j.holds(level.position)]


def place_of(chain: Chain) -> Candidate:
    """The gap in front of the statement that a chain leads to."""
    level = chain[-1]
    return candidate_at(chain, len(chain) - 1, Gap(level.function, level.steps, level.body, level.position))


def _distinct(found: Iterable[Candidate]) -> tuple[Candidate, ...]:
    by_key: dict[Key, Candidate] = {}
    for candidate in found:
        by_key.setdefault(candidate.key, candidate)
    return tuple(by_key.values())


def _obstacle(trees: SourceTrees, first: Chain, second: Chain, shared: int, one: Access, two: Access) -> str:
    names = FileNames.among(trees)
    if not shared:
        return f"`{one.text}` and `{two.text}` are not reached from one function"
    if shared < min(len(first), len(second)):
        owner = first[shared].owner
        if owner is not None and owner is second[shared].owner:
            path = first[shared].function.path
            line = names.at(path, _line_of(trees.texts[path], owner.keyword))
            return f"`{one.text}` and `{two.text}` are on different sides of the branch at {line}: nothing is between"
    if one.id == two.id:
        return f"threads collide in one execution of `{one.text}` ({names.line(one.span)}), which no barrier can order"
    statement = first[shared - 1].statement
    if statement is not None and statement.macro:
        return (
            f"`{one.text}` and `{two.text}` are in one use of a macro ({names.line(two.span)}): nothing is put into it"
        )
    return (
        f"`{one.text}` and `{two.text}` are in one statement ({names.line(two.span)}): there is no place between them"
    )
