"""Conditions that only some threads meet, taken apart around barriers that stay where they are.

Takes a function and the statements of it that lead to barriers, gives the changes after which all threads come to
these statements, and what stands between them is under the condition as before: a conditional is closed in front of a
barrier and opened again behind it, what follows ``if (c) return;`` or ``if (c) continue;`` goes under the opposite of
``c``, and a thread that would leave a loop stays in it and does nothing. Loops with barriers are made by all threads,
functions with barriers are called by all of them, with the condition as a parameter. What threads compute where they
did not get before are numbers of their own, in what declares them or counts a loop.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from analyzers.frontend.blanking import blanked
from analyzers.frontend.gaps import Body, Statement, Step
from quickfix.between_barriers import Between, Under
from quickfix.called_conditionals import added_parameter, call_in, nothing_of
from quickfix.conditionals import condition_of
from quickfix.distribute import counts_for_all
from quickfix.edits import Change
from quickfix.loop_control import control_of
from quickfix.naming import NotPossible, constant, fresh_name, line_of
from quickfix.negation import negated, operand
from quickfix.own_lines import UnbracedError, first_word, require_lines
from quickfix.paths import Level
from quickfix.removal import BARRIER_CALLS
from quickfix.sections import balanced
from quickfix.variables import hidden, others_of_the_name, statements_of, stay

_LONGEST: Final = 32
"""A condition with more characters gets a name instead of being repeated."""
_RETURN: Final = re.compile(rb"return\b\s*(\S.*?)\s*;", re.DOTALL)
_LEAVES: Final = frozenset({"break", "continue", "return", "goto"})


@dataclass(frozen=True, slots=True)
class Spine:
    """The statements that lead to barriers, in all functions."""

    indexes: Mapping[tuple[str, int], frozenset[int]]
    """By file and start of a body."""
    calls: Mapping[tuple[str, int], Level]
    """By file and start of a statement: the outermost body of the function that it calls."""
    varying: Collection[tuple[str, int]]
    """Bodies that only some threads enter."""
    leave_loops: bool
    """Threads leave iterations or loops on different conditions."""
    return_early: bool


@dataclass
class FunctionEdit(Between):
    """The changes of one function. `conditional`: the functions that are called under a condition now, by path and
    start of the body, with the callee."""

    spine: Spine
    conditional: dict[tuple[str, int], Level] = field(default_factory=dict[tuple[str, int], Level])
    conditions: list[bytes] = field(default_factory=list[bytes])
    """Those that what is between the barriers stays under, in the words of the source."""
    granted: list[str] = field(default_factory=list[str])
    """What is taken for granted about loops that all threads make."""
    stays: list[int] = field(default_factory=list[int])
    """The lines of loops that threads do not leave any more."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.names = self.session.reserved_in(self.function)
        self.flags: dict[int, bytes] = {}
        """By start of the body of a loop: the variable that says whether a thread has not left it."""
        self.steps = dict(_steps(self.function.body, ()))
        """By start of a body: the way to the statement that it belongs to."""

    def changes(self, callee: Level | None) -> list[Change]:
        """The changes; `callee`: where the function is called under a condition, its outermost body. Raises
        `NotPossible`."""
        under = None
        if callee is not None:
            name, more = added_parameter(self.session, self.layout, callee, line_of(self.text, self.function.start))
            self.found += more
            self.names.add(name)
            self.session.passed_on[self.function.path, self.function.name.encode()] = name
            under = Under(name)
        self._body(self.function.body, under, 0)
        return self.collected()

    # --- bodies

    def _body(self, body: Body, under: Under | None, depth: int) -> None:
        """`depth`: how many levels the statements that lead to barriers move out."""
        spine = self.spine.indexes.get((self.function.path, body.start), frozenset())
        whole, since = under, 0
        control = frozenset[int]()
        if under is not None and (loop := self._while_loops.get(body.start)) is not None:
            control = control_of(self.layout, self.function, loop, body, self.unset)
        run: list[Statement] = []
        for index, statement in enumerate(body.statements):
            if statement.kind == "label" and under is not None:
                raise NotPossible(f"there is a label in line {line_of(self.text, statement.start)}")
            if index in spine:
                self.guard(run, body, under, depth)
                run = []
                self._on_the_way(statement, body, index, under, depth, since)
            elif index in control:
                if under != whole:
                    raise NotPossible(f"threads skip the step in line {line_of(self.text, statement.start)}")
                self.guard(run, body, under, depth)
                run = []
            elif under is not None and self._is_last_return(statement, body, index):
                self.guard(run, body, under, depth)
                run = []
                self._returned(statement, under)
            elif (word := self._jump(statement, body, under)) is not None:
                if word == "break" or any(i > index for i in spine):
                    self.guard(run, body, under, depth)
                    run = []
                    under, since = self._instead_of(word, statement, body, index, under, depth), index
                else:
                    run.append(statement)
            else:
                run.append(statement)
        self.guard(run, body, under, depth)

    @property
    def _while_loops(self) -> dict[int, Statement]:
        return {b.start: s for s in statements_of(self.function.body) if s.kind == "while" for b in s.bodies}

    def _is_last_return(self, statement: Statement, body: Body, index: int) -> bool:
        """Whether a function ends with a statement that returns a value."""
        last = body is self.function.body and index == len(body.statements) - 1
        code = self.layout.code[statement.start : statement.end]
        return last and statement.call == "return" and _RETURN.fullmatch(code) is not None

    def _returned(self, statement: Statement, under: Under) -> None:
        """What all threads return: what any thread can compute, or else zero where the condition does not hold."""
        value = _RETURN.fullmatch(self.layout.code[statement.start : statement.end])
        assert value is not None
        start, end = (statement.start + at for at in value.span(1))
        divides = re.search(rb"[/%]", self.layout.code[start:end]) is not None
        if divides or "value" not in statement.plain or not self.mentioned((start, end)).isdisjoint(self.unset):
            line = line_of(self.text, statement.start)
            if self.function.signature is not None and self.function.signature.gives_place:
                raise NotPossible(f"what line {line} returns is a place, which some threads do not have")
            nothing = nothing_of(self.function, line)
            self.found += [Change(start, start, under.operand + b" ? "), Change(end, end, b" : " + nothing)]

    def _jump(self, statement: Statement, body: Body, under: Under | None) -> str | None:
        """The word of a conditional jump that keeps threads from what is behind it, where they have to get there."""
        own = _leaving(statement)
        needed = {w for w in own if under is not None or self._parts(w)}
        if not needed:
            return None
        line = line_of(self.text, statement.keyword or statement.start)
        plain = statement.kind == "if" and len(statement.bodies) == 1
        inner = list(statement.bodies[0].statements) if plain else []
        simple = len(inner) == 1 and inner[0].kind == "jump"
        (word, *more) = sorted(needed)
        place = body.role == "function" if word == "return" else body.loops == 1
        if not simple or more or not place or word not in ("break", "continue", "return"):
            raise NotPossible(f"threads leave the code around the barriers in line {line} in the middle of a statement")
        jump = self.text[inner[0].start : inner[0].end].rpartition(b"]]")[2]  # behind attributes
        if jump.strip(b"; \t") != word.encode():
            raise NotPossible(f"the jump in line {line} returns a value")
        return word

    def _parts(self, word: str) -> bool:
        return self.spine.return_early if word in ("return", "goto") else self.spine.leave_loops

    def _instead_of(
        self, word: str, statement: Statement, body: Body, index: int, under: Under | None, depth: int
    ) -> Under:
        """The condition under which threads go on that do not jump; the jump goes."""
        layout, line = self.layout, line_of(self.text, statement.keyword)
        (opening, closing), condition = condition_of(layout, statement, self._level(body, index), line)
        self.without_comments(statement.keyword, statement.end, line)
        lines = self.whole_lines(statement.keyword, statement.end, line)
        opposite, test = negated(condition, statement.test)
        base = self.indentation(statement.keyword, depth)
        old = _stripped(self.text, opening, closing)
        if not balanced(self.text, statement.start, body.end):
            raise NotPossible(f"preprocessor lines separate the jump in line {line} from what is behind it")
        if word == "break":
            flag = self.flags[body.start]
            if under is None or under.text != flag:
                raise NotPossible(f"threads that leave the loop in line {line} may have skipped the iteration")
            self.replace(lines, base + flag + b" = " + flag + b" && ", operand(opposite, test), old)
            self.conditions.append(opposite)
            return under
        if under is None and self._may_be_repeated(statement, (opening, closing)):
            self.found.append(Change(*lines, b""))
            self.conditions.append(opposite)
            return Under(opposite, test)
        name = fresh_name(self._level(body, index), self.text, "taken", self.names)
        self.names.add(name)
        self.conditions.append(opposite)
        head = base + b"const bool " + name + b" = " + (under.operand + b" && " if under is not None else b"")
        self.replace(lines, head, operand(opposite, test) if under is not None else opposite, old)
        return Under(name)

    # --- statements with barriers in them

    def _on_the_way(
        self, statement: Statement, body: Body, index: int, under: Under | None, depth: int, since: int
    ) -> None:
        """`since`: the index in the body from which on the condition is asked for."""
        line = line_of(self.text, statement.keyword or statement.start)
        key = (self.function.path, statement.start)
        if key in self.spine.calls:
            if under is not None:
                self._call(statement, self.spine.calls[key], self._level(body, index), under, depth)
            return
        inner = next((b for b in statement.bodies if (self.function.path, b.start) in self.spine.indexes), None)
        if inner is None:
            self._barrier(statement, under, line)
            return
        if statement.kind == "compound":
            self._body(inner, under, depth)
        elif statement.kind == "if":
            if under is None and (self.function.path, inner.start) not in self.spine.varying:
                self._body(inner, None, depth)
            else:
                self._open(statement, inner, body, index, under, depth)
        elif statement.is_loop and not statement.macro:
            self._loop(statement, inner, body, index, under, depth, since)
        else:
            raise NotPossible(f"the barrier in the statement in line {line} is not in a plain conditional or loop")

    def _barrier(self, statement: Statement, under: Under | None, line: int) -> None:
        """Nothing to do for a statement that is nothing but a barrier, which all threads can come to."""
        if under is None:
            return
        used = self.mentioned((statement.start, statement.end))
        plain = statement.call in BARRIER_CALLS and "arguments" in statement.plain
        if not plain or not used.isdisjoint(self.unset):
            raise NotPossible(f"the barrier in line {line} is part of a larger statement")

    def _loop(
        self, loop: Statement, inner: Body, body: Body, index: int, under: Under | None, depth: int, since: int
    ) -> None:
        layout, line = self.layout, line_of(self.text, loop.keyword)
        leaves = any("break" in _leaving(s) for s in inner.statements)
        if leaves and (under is not None or self.spine.leave_loops):
            name = fresh_name(self._level(body, index), self.text, "active", self.names)
            self.names.add(name)
            at, base = layout.line_start(loop.start), self.indentation(loop.keyword, depth)
            value = under.text if under is not None else b"true"
            self.found.append(Change(at, at, base + b"bool " + name + b" = " + value + b";" + layout.newline))
            self.flags[inner.start] = name
            self.stays.append(line)
            if loop.kind != "for":
                raise NotPossible(f"threads leave the loop in line {line} in the middle, and count in its body")
            under = Under(name)
        if under is None:
            self._body(inner, None, depth)
            return
        if not inner.braced:
            within = self._level(inner, 0)
            raise UnbracedError(within, f"the loop in line {line} has no braces")
        if loop.kind == "for":
            granted = counts_for_all(layout, self.function, loop, inner, line, self._by_value(inner))
            self.granted += [granted] if granted else []
        elif loop.kind == "while":
            declared = {v for s in body.statements[since:index] for v in self.declared_in(s)}
            if declared.isdisjoint(self.mentioned((loop.keyword, loop.head_end))):
                raise NotPossible(f"the loop in line {line} counts with a variable from outside of the condition")
        else:
            raise NotPossible(f"the loop in line {line} is not a plain `for` or `while`")
        if not self.mentioned((loop.keyword, loop.head_end)).isdisjoint(self.unset):
            raise NotPossible(f"the loop in line {line} counts with what has no value in all threads")
        self._body(inner, under, depth)

    def _by_value(self, body: Body) -> Iterable[tuple[int, int]]:
        """The calls in a body of functions with barriers that take no references."""
        for statement in statements_of(body):
            callee = self.spine.calls.get((self.function.path, statement.start))
            if callee is not None:
                function = callee.function
                head = blanked(self.session.trees.texts[function.path])[function.start : function.body.start]
                if b"&" not in head and b"&" not in self.text[statement.start : statement.end]:
                    yield statement.start, statement.end

    def _call(self, statement: Statement, callee: Level, level: Level, under: Under, depth: int) -> None:
        """The condition for the function; what it gives is for the threads that meet it."""
        text, line = self.text, line_of(self.text, statement.start)
        start, end, _, arguments = call_in(self.layout, self.function.path, statement, callee, line)
        if not self.mentioned((start, end)).isdisjoint(self.unset):
            raise NotPossible(f"the arguments in line {line} have no value in all threads")
        self.conditional[callee.function.path, callee.body.start] = callee
        at = start + text[start:end].rindex(b")")
        passed = (b", " if arguments.strip() else b"") + under.text
        if statement.assignment is None:
            self.found.append(Change(at, at, passed))
            return
        written = statement.assignment.type
        if written == "auto" or b"\n" in text[statement.start : statement.end]:
            raise NotPossible(f"the type of what the call in line {line} gives is not known")
        name = fresh_name(level, text, "value", self.names)
        self.names.add(name)
        new = constant(written, name) + b" = "
        moved = [(len(new), start, at - start)]
        new += text[start:at] + passed + b");" + self.layout.newline + self.indentation(statement.start, depth)
        new += b"if (" + under.text + b") "
        moved.append((len(new), statement.start, start - statement.start))
        new += text[statement.start : start] + name + b";"
        self.found.append(Change(statement.start, statement.end, new, moved=tuple(moved)))

    def _open(self, statement: Statement, inner: Body, body: Body, index: int, under: Under | None, depth: int) -> None:
        layout, text = self.layout, self.text
        line = line_of(text, statement.keyword)
        (opening, closing), condition = condition_of(layout, statement, self._level(body, index), line)
        if len(statement.bodies) > 1 or inner.role != "then":
            raise NotPossible(f"the conditional in line {line} has an `else`")
        within = self._level(inner, 0)
        if not inner.braced:
            raise UnbracedError(within, f"the conditional in line {line} has no braces")
        self._keep_names(statement, inner, line)
        if not balanced(text, statement.start, statement.end):
            raise NotPossible(f"preprocessor lines cut the conditional in line {line}")
        self.without_comments(statement.keyword, inner.start, line)
        lacking = f"the code in line {line} has its lines not to itself"
        require_lines(layout, within, lacking, first_word(inner.statements[0]), inner.end)
        lines = self.whole_lines(statement.keyword, inner.start, line)
        last = self.whole_lines(inner.end, inner.end + 1, line)
        self.found.append(Change(*last, b""))
        self.shift(lines[1], last[0], -1)
        old = _stripped(text, opening, closing)
        if under is None and self._may_be_repeated(statement, (opening, closing)):
            self.found.append(Change(*lines, b""))
            under = Under(condition.strip(), statement.test, old[0])
            self.conditions.append(under.text)
        else:
            name = fresh_name(self._level(body, index), text, "taken", self.names)
            self.names.add(name)
            head = self.indentation(statement.keyword, depth) + b"const bool " + name + b" = "
            value = condition.strip()
            if under is not None:
                head += under.operand + b" && "
                value = operand(value, statement.test)
            self.replace(lines, head, value, old)
            self.conditions.append(condition.strip())
            under = Under(name)
        self._body(inner, under, depth + 1)

    def _keep_names(self, statement: Statement, inner: Body, line: int) -> None:
        """What is declared under the condition is declared beside it now: the names mean nothing else there."""
        around = (self.function.start, statement.start), (statement.end, self.function.end)
        for each in (d for s in inner.statements for d in s.declares or ()):
            if others_of_the_name(self.function, each.name, self.variables[each.at], *around):
                raise NotPossible(f"`{each.name}` means something else around the conditional in line {line}")

    # --- conditions

    def _level(self, body: Body, index: int) -> Level:
        return Level(self.function, self.steps[body.start], body, index)

    def _may_be_repeated(self, statement: Statement, condition: tuple[int, int]) -> bool:
        """A short condition over numbers of the thread that are the same to the end of the function, and are named so
        there."""
        if condition[1] - condition[0] > _LONGEST or "test" not in statement.plain:
            return False
        used, rest = self.mentioned(condition), (statement.keyword, self.function.end)
        return stay(self.function, used, rest) and not hidden(self.function, used, rest)


def _steps(body: Body, steps: tuple[Step, ...]) -> Iterator[tuple[int, tuple[Step, ...]]]:
    yield body.start, steps
    for index, statement in enumerate(body.statements):
        for inner in statement.bodies:
            yield from _steps(inner, (*steps, Step(body, index)))


def _stripped(text: bytes, start: int, end: int) -> tuple[int, int]:
    """The range without the blanks at its ends."""
    code = text[start:end]
    return start + len(code) - len(code.lstrip()), end - (len(code) - len(code.rstrip()))


def _leaving(statement: Statement) -> set[str]:
    """The jumps in a statement that lead out of it."""
    if statement.kind == "jump":
        return {statement.call} & _LEAVES
    inner = {word for b in statement.bodies for s in b.statements for word in _leaving(s)}
    if statement.is_loop:
        return inner - {"break", "continue"}
    return inner - {"break"} if statement.kind == "switch" else inner
