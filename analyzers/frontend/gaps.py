"""Where a statement could be inserted: the statement tree of function definitions, as plain data with byte offsets.

A `Gap` is a place between two statements of a body. What a macro wrote as a whole is a leaf: nothing is ever inserted
into a macro's arguments. `analyzers.frontend.function_trees` makes the trees.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Literal

from analyzers.frontend.conditional_statements import Choice
from analyzers.frontend.declared_apart import Elements
from analyzers.frontend.plain import UNKNOWN_TEST, Test
from analyzers.frontend.signatures import Signature
from analyzers.frontend.update_kinds import AnyUpdate, Bounded, Store
from analyzers.frontend.uses import Meaning, Use

StatementKind = Literal[
    "compound", "if", "for", "while", "do", "switch", "declaration", "expression", "jump", "label", "empty", "other"
]
Part = Literal["start", "test", "step", "arguments", "target", "value"]
Slot = Literal["start", "left", "right", "by"]
"""The first value of a counter, the sides of the comparison, and what the counter is changed by."""
Role = Literal["function", "lambda", "then", "else", "loop", "block", "case"]


@dataclass(frozen=True, slots=True)
class Body:
    """A sequence of statements.

    `start` and `end` bound where statements may stand: behind `{` and at `}` when `braced`, else the range of its one
    statement."""

    role: Role
    start: int
    end: int
    braced: bool
    statements: tuple[Statement, ...]
    loops: int = 0
    """How many loops the body belongs to: 1 for a loop body, more when one macro opens several."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """A statement that is nothing but an assignment or a step: byte ranges of its two sides."""

    target: tuple[int, int]
    value: tuple[int, int]
    """For `x++` and `++x` what follows the target, up to the end."""
    operator: str
    """`=`, `+=`, `++`, …"""
    type: str
    """Of the value as it is assigned, as the source would write it: that of the target for `=`, else its own."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One of a call."""

    at: tuple[int, int]
    type: str
    """As the source would write it for a variable; empty where it is not known, or copying it may be code."""
    plain: bool
    idle: bool


@dataclass(frozen=True, slots=True)
class InnerCall:
    """A call inside of a statement that may as well be made in front of it (`inner_calls`)."""

    at: tuple[int, int]
    type: str
    """The same of what it gives."""
    arguments: tuple[Argument, ...]
    """Those that are written."""


@dataclass(frozen=True, slots=True)
class Declared:
    """The one variable of a declaration statement."""

    name: str
    at: int
    """The offset of its name."""
    type: str
    """As the source would write it, without `const` and `volatile`."""
    assignable: bool
    """It is a number, a pointer, one of CUDA's vectors or a class that no code makes or copies, not volatile, and has a
    value after `=`: declaring it without one and assigning that later comes to the same."""
    bare: bool = False
    """It is of such a type and has no value."""
    plain: bool = False
    """Its value is plain (`plain`), and divides by nothing that may be zero."""
    elements: Elements | None = None
    """Of an array."""
    bound: frozenset[int] | None = None
    """Of a reference to a plain place: the variables that have to stay for it to be declared again."""
    enclosed: bool = False
    """It is of a type that can be assigned, and has its value in braces or parentheses."""
    open: bool = False
    """Its type depends on parameters of a template and may be a class."""


@dataclass(frozen=True, slots=True)
class Statement:
    """`end` includes the semicolon. `head_end`: where the condition or loop header ends and a body begins."""

    kind: StatementKind
    start: int
    end: int
    bodies: tuple[Body, ...] = ()
    head_end: int = 0
    head_parts: tuple[int, int] | None = None
    """For `for (a; b; c)`: the offsets of the two semicolons."""
    keyword: int = 0
    """For control statements: where `if`, `for`, … stands, behind pragmas and attributes."""
    macro: bool = False
    """It begins with a macro, or is one."""
    call: str = ""
    """The function, when the statement is nothing but one call; the keyword of a jump."""
    commas: tuple[int, ...] = ()
    """Of an expression: where those stand that are outermost in it, from the left."""
    choice: Choice | None = None
    """Of an expression that is nothing but a conditional one: where its condition and its two sides stand."""
    calls: tuple[InnerCall, ...] = ()
    """Of an expression or a declaration that may call one of the functions asked for: those inside of it."""
    assignment: Assignment | None = None
    inner: tuple[Assignment, ...] = ()
    """The assignments in it, or in its head, and the variables that it declares whose values may as well be computed in
    front of it (`inner_values`)."""
    arguments: tuple[Assignment, ...] = ()
    """For the use of a macro that comes to an assignment: with each argument that the value is made of in place of it.
    The target has no place."""
    declares: tuple[Declared, ...] | None = None
    """The variables of a declaration; None where it is none, or declares other things."""
    plain: frozenset[Part] = frozenset()
    """The parts that are plain (`plain`): of the head of an `if` or a loop, empty ones included, of a call and of a
    `return`."""
    idle: frozenset[Part] = frozenset()
    """The parts that change nothing, whatever they read: of the same, and of an assignment."""
    test: Test = UNKNOWN_TEST
    """Of an `if` or a loop."""
    known: bool = False
    """Of an `if`: the compiler knows its condition, of a template in each instance."""
    by: int | None = None
    """What the step of a `for` changes its variable by at most, and never by nothing (`plain.constant_step`)."""
    by_signed: bool = False
    """That has a type with a sign."""
    sizes: Mapping[Slot, frozenset[int]] = field(default_factory=dict[Slot, frozenset[int]])
    """What in the head of a `for` is greater than zero, with the variables that have to stay for that (`sizes`)."""
    divisors: frozenset[int] | None = None
    """The variables that have to stay for the head of a `for` to divide by nothing but sizes, if they are known."""

    @property
    def is_loop(self) -> bool:
        return self.kind in ("for", "while", "do")


@dataclass(frozen=True, slots=True)
class FunctionTree:
    """One function definition or lambda. `body_start` is the offset of its `{`."""

    path: str
    name: str
    start: int
    end: int
    body: Body
    is_lambda: bool = False
    on_host: bool = False
    """The host runs it, too (`__host__ __device__`): it must not call what is there for the device alone."""
    of_library: bool = False
    """It is in a file that is not edited (`SourceTrees.foreign`)."""
    signature: Signature | None = None
    """None of lambdas and kernels."""
    uses: tuple[Use, ...] = ()
    """Of variables, in this function; of a lambda, in the one around it."""
    meanings: Mapping[str, Counter[Meaning]] = field(default_factory=dict[str, Counter[Meaning]])
    """Of the names in it, likewise (`uses.Mentions`)."""
    updates: tuple[AnyUpdate, ...] = ()
    """Those around the places asked for, in the same functions."""
    stores: tuple[Store, ...] = ()
    """The same of assignments that are none."""
    bounded: tuple[Bounded, ...] = ()
    """The same of cells that are counted up within a limit."""


@dataclass(frozen=True, slots=True)
class Step:
    """One level on the way from a function to a place: a body and an index into its statements."""

    body: Body
    index: int

    @property
    def statement(self) -> Statement:
        return self.body.statements[self.index]


@dataclass(frozen=True, slots=True)
class Gap:
    """The place before statement `index` of the body at the end of `steps` (or behind its last statement).

    `steps` leads from the function's body to the statement that owns `body`."""

    function: FunctionTree
    steps: tuple[Step, ...]
    body: Body
    index: int

    @property
    def key(self) -> tuple[str, int, int]:
        """Equal for equal gaps of one text."""
        return (self.function.path, self.body.start, self.index)

    @property
    def loops(self) -> int:
        """Loops around it within its function."""
        return sum(s.body.loops for s in self.steps) + self.body.loops

    @property
    def conditionals(self) -> int:
        """Conditional bodies around it within its function."""
        return sum(b.role in ("then", "else", "case") for b in (*(s.body for s in self.steps), self.body))

    @property
    def before(self) -> Statement | None:
        return self.body.statements[self.index - 1] if self.index else None

    @property
    def after(self) -> Statement | None:
        return self.body.statements[self.index] if self.index < len(self.body.statements) else None


@dataclass(frozen=True, slots=True)
class SourceTrees:
    """The trees asked for and the bytes of their files."""

    functions: tuple[FunctionTree, ...]
    texts: Mapping[str, bytes]
    foreign: frozenset[str] = frozenset()
    """Files of libraries (system headers of the compiler): they are not edited."""
    path: str = ""
    """Of the unit's own file."""

    def library(self, path: str) -> str:
        """What a file is that is not edited, to be told of what is in it: `a library's util.cuh, which is not edited`;
        empty for others."""
        return f"a library's {PurePath(path).name}, which is not edited" if path in self.foreign else ""

    def at(self, path: str, offset: int) -> FunctionTree | None:
        """The innermost function or lambda whose body contains the place."""
        best: FunctionTree | None = None
        for tree in self.functions:
            if (
                tree.path == path
                and tree.body.start <= offset < tree.body.end
                and (best is None or tree.body.start > best.body.start)
            ):
                best = tree
        return best


def falls_through(section: Body) -> bool:
    """Whether threads may go on from a section of a `switch` into the next one."""
    end = section.statements[-1] if section.statements else None
    while end is not None and end.kind == "compound" and end.bodies and end.bodies[0].statements:
        end = end.bodies[0].statements[-1]
    return end is None or end.kind != "jump"


def _is_gap(body: Body, index: int) -> bool:
    """Not behind a jump, which nothing gets to; nor behind the last statement of a section of a `switch` or of a block
    that is empty: `[[fallthrough]];` has to stand in front of the next label."""
    before = body.statements[index - 1].kind if index else None
    last = body.role in ("case", "block") and index == len(body.statements)
    return before != "jump" and not (last and before == "empty")


def gaps_of(body: Body, steps: tuple[Step, ...], function: FunctionTree) -> Iterator[Gap]:
    """The gaps of one body in source order, the unreachable ones behind a jump left out; none in what the host runs
    and in libraries."""
    if function.on_host or function.of_library:
        return
    for index in range(len(body.statements) + 1):
        if _is_gap(body, index):
            yield Gap(function, steps, body, index)


def all_gaps(function: FunctionTree) -> Iterator[Gap]:
    """Every gap of a function in source order, nested ones included."""

    def below(body: Body, steps: tuple[Step, ...]) -> Iterator[Gap]:
        for index in range(len(body.statements) + 1):
            if _is_gap(body, index):
                yield Gap(function, steps, body, index)
            if index < len(body.statements):
                for inner in body.statements[index].bodies:
                    yield from below(inner, (*steps, Step(body, index)))

    return below(function.body, ())
