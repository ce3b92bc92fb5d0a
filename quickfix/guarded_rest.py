"""What stands behind jumps, put under a flag: each jump says instead that its thread is done, and what follows asks.

Takes the body that the jumps lead to the end of (an iteration of a loop, a section of a `switch`), gives the changes
after which all threads come to that end, each having executed the same statements in the same order. The flag is asked
again behind every statement that may have changed it; braces that a part gets end where its body ends, or where nothing
behind needs what is declared in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Final, Literal

from analyzers.frontend.gaps import Body, Statement
from quickfix.edits import Change, Layout, indented, outside_conditionals
from quickfix.lasting import led_to
from quickfix.loop_jumps import jumps_of, refuse_hidden
from quickfix.naming import NotPossible, fresh_name, line_of
from quickfix.own_lines import first_word, require_braces, require_lines
from quickfix.paths import Level, around
from quickfix.sections import balanced
from quickfix.variables import Range, uses_in

_FLAG: Final = "skipped"


class GuardedRest:
    """Collects the changes of one body. `jump`: the word that leaves it; `flag`: what holds for threads that go on;
    `done`: the statement that says of a thread that it does not; `whole`: the body in words."""

    def __init__(
        self,
        level: Level,
        layout: Layout,
        jump: Literal["break", "continue"],
        flag: bytes,
        done: bytes,
        whole: str,
        out: bytes = b"",
    ) -> None:
        """`out`: the indentation that all lines of the body lose, because what is around it goes."""
        self.level, self.layout = level, layout
        self.jump, self.flag, self.done, self.whole, self.out = jump, flag, done, whole, out
        self.unit = layout.unit(level.function)
        self.found: list[Change] = []
        self.shifts: Counter[int] = Counter()
        """By start of a line: how many levels it moves in."""

    def changes(self) -> list[Change]:
        """All of them, in order."""
        moved = (change for at, levels in self.shifts.items() for change in self._moved(at, levels))
        return sorted((*self.found, *moved), key=lambda c: (c.start, c.end))

    def _moved(self, at: int, levels: int) -> Iterator[Change]:
        if levels > 0:
            yield Change(at, at, self.unit * levels)
        elif levels < 0 and self.layout.text.startswith(self.unit, at):
            yield Change(at, at + len(self.unit), b"")

    def leaves(self, run: Sequence[Statement]) -> bool:
        """Whether threads jump in one of the statements."""
        return any(jump.call == self.jump for statement in run for jump in jumps_of(statement))

    def ask(self, run: Sequence[Statement], body: Body, opened: int, depth: int = 0, step: Range | None = None) -> None:
        """Put statements, and behind them the step of the loop, under the flag; they move in by `depth` levels besides.
        `opened`: where what is in front of them ends."""
        layout = self.layout
        parts = self._parts(run, step is not None)
        for part, following in zip(parts, [*parts[1:], []], strict=True):
            lead = part[0] if part else body.statements[-1]
            if part and not layout.is_first(first_word(lead)):
                why = f"the code in line {line_of(layout.text, lead.start)} does not begin its line"
                if body is self.level.body:
                    require_lines(layout, self.level, why, first_word(lead))
                raise NotPossible(why)
            at = layout.line_end(opened)
            inner = layout.newline + layout.indentation(first_word(lead)).removesuffix(self.out) + self.unit * depth
            self.found.append(Change(at, at, inner + b"if (" + self.flag + b") {"))
            limit = following[0].start if following else body.end
            end = outside_conditionals(layout, part[-1].end, limit) if part else at
            if b'R"' in layout.text[at:end]:
                raise NotPossible(f"there is a raw string in {self.whole}, which cannot be indented")
            self.shifts.update(indented(layout.text, at, end))
            last = part is parts[-1]
            self.say(part, body, depth + 1, step if last else None)
            if step is not None and last and not self.leaves(part):
                self._step_behind(end, inner + self.unit, step)
            self.found.append(Change(end, end, inner + b"}"))
            opened = end

    def say(self, run: Sequence[Statement], body: Body, depth: int = 0, step: Range | None = None) -> None:
        """Instead of each jump in the statements that its thread is done, and put what is behind under the flag."""
        for index, statement in enumerate(run):
            if self.leaves([statement]):
                self._instead_of(statement, depth)
                if run[index + 1 :] or step is not None:
                    self.ask(run[index + 1 :], body, statement.end, depth, step)
                return

    def _parts(self, run: Sequence[Statement], step: bool) -> list[Sequence[Statement]]:
        """Statements cut behind each with a jump, where nothing behind it needs what is declared in front of it."""
        found: list[Sequence[Statement]] = []
        begin = 0
        for index, statement in enumerate(run):
            behind = index + 1 < len(run) or step
            if behind and self.leaves([statement]) and self._is_apart(run[begin : index + 1], run[index + 1 :]):
                found.append(run[begin : index + 1])
                begin = index + 1
        return [*found, run[begin:]]

    def _is_apart(self, before: Sequence[Statement], behind: Sequence[Statement]) -> bool:
        if any(s.kind in ("declaration", "other") and s.declares is None for s in before):
            return False
        function = self.level.function
        own = {u.variable for s in before for u in uses_in(function, (s.start, s.end)) if u.kind == "declared"}
        if not own.isdisjoint(u.variable for s in behind for u in uses_in(function, (s.start, s.end))):
            return False
        end = before[-1].end
        return not led_to(function, own, (before[0].start, end), (end, function.end))

    def _step_behind(self, end: int, indentation: bytes, step: Range) -> None:
        code = self.layout.text[slice(*step)]
        moved = (len(indentation), step[0], len(code))
        self.found.append(Change(end, end, indentation + code + b";", moved=(moved,)))

    def _instead_of(self, statement: Statement, depth: int) -> None:
        """That the thread is done instead of the jump in a statement."""
        if statement.kind == "jump":
            self.found.append(Change(statement.start, statement.end, self.done))
            return
        if statement.kind not in ("if", "compound") or statement.macro:
            raise NotPossible(f"threads leave {self.whole} in the middle of a statement")
        for inner in statement.bodies:
            self.say(inner.statements, inner, depth)


def iteration_guarded(level: Level, layout: Layout, taken: Collection[bytes]) -> list[Change]:
    """The changes for all `continue` of a loop; raises `NotPossible`. `level`: its body; `taken`: names that nothing
    new may have."""
    body, text = level.body, layout.text
    assert level.owner is not None
    whole = f"the loop in line {line_of(text, level.owner.keyword)}"
    refuse_hidden(layout, body)
    require_braces(layout, level, f"{whole} has no braces")
    if not balanced(text, body.start, body.end):
        raise NotPossible(f"preprocessor lines cut {whole}")
    first = first_word(body.statements[0])
    require_lines(layout, level, f"the body of {whole} is in one line", first, body.end)
    name = fresh_name(level, text, _FLAG, taken)
    rest = GuardedRest(level, layout, "continue", b"!" + name, name + b" = true;", whole)
    at = layout.line_end(body.start)
    rest.found.append(Change(at, at, layout.newline + layout.indentation(first) + b"bool " + name + b" = false;"))
    rest.say(body.statements, body)
    return rest.changes()


def section_guarded(section: Level, layout: Layout, taken: Collection[bytes]) -> list[Change]:
    """The changes for all `break` of a section of a `switch` but the one at its end; raises `NotPossible`. The second
    half of a split `switch` has to know: the flag stands in front of it."""
    level, body, text, switch = around(section), section.body, layout.text, section.owner
    assert switch is not None
    whole = f"a section of the `switch` in line {line_of(text, switch.keyword)}"
    refuse_hidden(layout, body)
    require_braces(layout, level, f"the `switch` in line {line_of(text, switch.keyword)} is in a body without braces")
    require_lines(layout, level, f"the `switch` around {whole} does not begin its line", switch.keyword)
    if level.position and level.body.statements[level.position - 1].kind == "label":
        raise NotPossible(f"there is a label in front of {whole}")
    if not balanced(text, switch.start, switch.end):
        raise NotPossible(f"preprocessor lines cut {whole}")
    name = fresh_name(level, text, _FLAG, taken)
    rest = GuardedRest(section, layout, "break", b"!" + name, name + b" = true;", whole)
    at = layout.line_start(switch.start)
    declared = layout.indentation(switch.keyword) + b"bool " + name + b" = false;" + layout.newline
    rest.found.append(Change(at, at, declared))
    rest.say(body.statements[:-1], body)
    return rest.changes()
