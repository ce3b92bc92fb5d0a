"""Loops that threads leave when their condition says so, made by all threads: each keeps whether it still has work.

Takes a loop whose condition reads memory or acts, whose test comes last, or which is left by `break`; gives the changes
after which ``bool active = true;`` stands in front, the test asks whether any thread is active, and the body is under
that. A thread evaluates the condition as often as it did, at the same places between its other statements, and never
again when it has left; instead of `break` it is no longer active, and what follows is guarded.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from analyzers.frontend.blanking import group_end, next_visible
from analyzers.frontend.gaps import Body, Statement
from analyzers.frontend.plain import UNKNOWN_TEST
from quickfix.declared_conditions import DeclaredError
from quickfix.edits import Change, Layout, indented
from quickfix.guarded_rest import GuardedRest
from quickfix.loop_jumps import jumps_in, refuse_hidden
from quickfix.naming import NotPossible, fresh_name, line_of, redefines
from quickfix.negation import negated, operand
from quickfix.own_lines import first_word, require_braces, require_lines
from quickfix.paths import Level, around
from quickfix.sections import balanced
from quickfix.variables import Range, declarations, stay, uses_in

_NUMBER_TYPE: Final = (
    rb"(?:(?:unsigned|signed|long|short|int|char|float|double)\b\s*)+"
    rb"|(?:u?int(?:8|16|32|64)_t|size_t|ptrdiff_t|uint)\s+"
)
_START: Final = re.compile(rb"\s*(?:" + _NUMBER_TYPE + rb")[A-Za-z_]\w*\s*=(?!=)\s*(?P<value>[^,{}\"';]+?)\s*")
"""The declaration of one number."""
_LOOSE: Final = re.compile(rb"[?=]")
"""Operators that bind no closer than a conditional expression does."""
_FOREVER: Final = frozenset({b"", b"true", b"1"})
"""Conditions that always hold."""


def test_range(layout: Layout, loop: Statement) -> Range | None:
    """Where the condition of a loop stands, between its brackets or semicolons; None where that is not to be seen."""
    code = layout.code
    if loop.kind == "for":
        return (loop.head_parts[0] + 1, loop.head_parts[1]) if loop.head_parts is not None else None
    at = loop.keyword
    if loop.kind == "do":
        at = next_visible(code, loop.bodies[0].end + loop.bodies[0].braced)
    if not code.startswith(b"while", at):
        return None
    opening = next_visible(code, at + len(b"while"))
    return (opening + 1, group_end(code, opening) - 1) if code[opening : opening + 1] == b"(" else None


def refuse_redefined(layout: Layout, loop: Statement, body: Body) -> None:
    """Raise `NotPossible` where the words of the head, some of which go behind the body, mean something else there."""
    head = layout.code[loop.keyword : loop.head_end]
    if loop.kind == "for" and redefines(layout.text, body.start, body.end, head):
        line = line_of(layout.text, loop.keyword)
        raise NotPossible(f"a macro of its head is defined anew in the loop in line {line}")


def flagged(
    level: Level, loop: Statement, layout: Layout, test: Range, vote: bytes, taken: Collection[bytes]
) -> list[Change]:
    """The changes, in order; raises `NotPossible`. `level`: the body of the loop; `vote`: how the call begins that asks
    whether any thread has work."""
    return _Flagged(level, loop, layout, test, vote, taken).changes()


def flagged_under(
    level: Level, loop: Statement, layout: Layout, condition: Range, vote: bytes, taken: Collection[bytes]
) -> list[Change]:
    """The changes for a loop that stands alone in a conditional: those threads are active to begin with that meet the
    condition. Raises `NotPossible`."""
    test, line = test_range(layout, loop), line_of(layout.text, loop.keyword)
    if loop.macro or test is None or not level.body.braced or not level.body.statements:
        raise NotPossible(f"the loop in line {line} is written by a macro or has no braces")
    around_loop = around(level)
    require_lines(layout, around_loop, f"the loop in line {line} is in one line", loop.keyword, around_loop.body.end)
    ends = first_word(level.body.statements[0]), level.body.end
    require_lines(layout, level, f"the body of the loop in line {line} is in one line", *ends)
    refuse_hidden(layout, level.body)
    refuse_redefined(layout, loop, level.body)
    return _Flagged(level, loop, layout, test, vote, taken, condition).changes()


class _Flagged:
    def __init__(
        self,
        level: Level,
        loop: Statement,
        layout: Layout,
        test: Range,
        vote: bytes,
        taken: Collection[bytes],
        condition: Range | None = None,
    ) -> None:
        """`condition`: where that of the conditional stands in which the loop is alone, and which goes."""
        self.vote = vote
        self.condition = condition
        self.level, self.loop, self.layout, self.test = level, loop, layout, test
        self.line = line_of(layout.text, loop.keyword)
        self.name = fresh_name(level, layout.text, "active", taken)
        whole = f"the loop in line {self.line}"
        out = layout.unit(level.function) if condition is not None else b""
        self.rest = GuardedRest(level, layout, "break", self.name, self.name + b" = false;", whole, out)
        self.found = self.rest.found

    def changes(self) -> list[Change]:
        layout, loop, body = self.layout, self.loop, self.level.body
        self._check()
        if self.condition is None:
            at = layout.line_start(loop.start)
            declared = layout.indentation(loop.start) + b"bool " + self.name + b" = true;" + layout.newline
            self.found.append(Change(at, at, declared))
        else:
            self._opened(self.condition)
            self._start()
        first = self._exit_in_front()
        self._vote(first)
        step = self._step()
        run, opened = (body.statements, body.start) if first is None else (body.statements[1:], first.end)
        if not run and opened == body.start:
            raise NotPossible(f"the loop in line {self.line} has no body")
        self.rest.ask(run, body, opened, step=step)
        return self.rest.changes()

    def _opened(self, condition: Range) -> None:
        """Leave of the conditional around the loop its condition."""
        layout, outer = self.layout, self.level.steps[-1].body
        conditional = self.level.steps[-2].statement
        text, (low, high) = layout.text, condition
        begin = layout.line_end(outer.start)
        line = line_of(text, conditional.keyword)
        plain = not text[outer.start : begin].strip() and not text[high : outer.start].strip(b" \t\r\n){")
        if not plain or not layout.is_first(conditional.keyword) or not layout.is_first(outer.end):
            raise NotPossible(f"the conditional in line {line} has its lines not to itself")
        if layout.code[low:high] != text[low:high] or not balanced(text, conditional.start, conditional.end):
            raise NotPossible(f"there is a comment in the condition in line {line}, or preprocessor lines cut it")
        head = b"bool " + self.name + b" = "
        written = head + text[low:high] + b";"
        self.found.append(Change(conditional.keyword, begin, written, moved=((len(head), low, high - low),)))
        last = layout.line_start(outer.end)
        end = text.find(b"\n", outer.end) + 1
        if not end or text[outer.end + 1 : end].strip():
            raise NotPossible(f"the conditional in line {line} has its lines not to itself")
        self.found.append(Change(last, end, b""))
        for at in indented(text, begin, last - 1):
            self.rest.shifts[at] -= 1

    def _start(self) -> None:
        """What a `for` begins with is computed by the active threads alone: the condition may be what allows it."""
        if self.loop.kind != "for" or self.loop.head_parts is None:
            return
        code, end = self.layout.code, self.loop.head_parts[0]
        opening = code.find(b"(", self.loop.keyword) + 1
        start = code[opening:end]
        if not start.strip() or self._is_known_anyway((opening, end)):
            return
        given = _START.fullmatch(start)
        if given is None or self.layout.text[opening:end] != start:
            raise NotPossible(f"the loop in line {self.line} begins with more than a number")
        low, high = opening + given.start("value"), opening + given.end("value")
        wrapped = _LOOSE.search(given["value"]) is not None
        self.found += [
            Change(low, low, self.name + b" ? " + b"(" * wrapped),
            Change(high, high, b")" * wrapped + b" : 0"),
        ]

    def _is_known_anyway(self, start: Range) -> bool:
        """Whether any thread can compute what the loop begins with: of variables with values, without a division, and
        without a change of what is there behind the loop."""
        function = self.level.function
        bare = {d.at for d in declarations(function) if d.bare}
        places = {u.at: u.variable for u in function.uses if u.kind == "declared"}
        used = {u.variable for u in uses_in(function, start)}
        has_values = used.isdisjoint(places[at] for at in bare if at in places)
        own = {u.variable for u in uses_in(function, start) if u.kind == "declared"}
        if not stay(function, used - own, start):
            return False
        return "start" in self.loop.plain and not re.search(rb"[/%]", self.layout.code[slice(*start)]) and has_values

    def _check(self) -> None:
        layout, loop, body, line = self.layout, self.loop, self.level.body, self.line
        outer = self.level.steps[-1]
        require_braces(layout, around(self.level), f"the loop in line {line} is in a body without braces")
        if outer.index and outer.body.statements[outer.index - 1].kind == "label":
            raise NotPossible(f"there is a label in front of the loop in line {line}")
        if not balanced(layout.text, loop.start, loop.end):
            raise NotPossible(f"preprocessor lines cut the loop in line {line}")
        if any(u.kind == "declared" for u in uses_in(self.level.function, self.test)):
            why = f"the condition of the loop in line {line} declares a variable"
            raise DeclaredError(around(self.level), loop, why) if loop.kind == "while" else NotPossible(why)
        for jump in jumps_in(body):
            if jump.call not in ("break", "continue") or (jump.call == "continue" and self._has_step()):
                raise NotPossible(f"threads leave the loop in line {line} in the middle of an iteration")

    def _exit_in_front(self) -> Statement | None:
        """``if (…) break;`` at the begin of a loop without an end: its opposite is the condition of the loop."""
        body = self.level.body
        first = body.statements[0] if len(body.statements) > 1 else None
        if first is None or self.loop.kind == "do" or self._condition() not in _FOREVER or first.kind != "if":
            return None
        inner = [s for b in first.bodies for s in b.statements]
        plain = len(first.bodies) == len(inner) == 1 and inner[0].kind == "jump" and inner[0].call == "break"
        code, text = self.layout.code[first.start : first.end], self.layout.text[first.start : first.end]
        declares = any(u.kind == "declared" for u in uses_in(self.level.function, (first.start, first.end)))
        shown = not first.macro and code == text and code.startswith((b"if (", b"if(")) and first.test != UNKNOWN_TEST
        return first if plain and shown and not declares and b";" not in code[: first.head_end - first.start] else None

    def _condition(self) -> bytes:
        return self.layout.code[slice(*self.test)].strip()

    def _has_step(self) -> bool:
        parts = self.loop.head_parts
        return parts is not None and bool(self.layout.code[parts[1] + 1 : self.loop.head_end - 1].strip())

    def _vote(self, first: Statement | None) -> None:
        """Ask in the test whether any thread is active; those that are evaluate the condition. `first`: what leaves the
        loop at its begin, and goes."""
        layout, (low, high) = self.layout, self.test
        end = layout.last_visible(high, low)
        start = min(next_visible(layout.code, low), end)
        space = b" " if self.loop.kind == "for" and start == end else b""
        if first is not None:
            opening = layout.code.find(b"(", first.keyword) + 1
            old = layout.text[opening : first.head_end - 1]
            opposite, made = negated(old, first.test)
            head = space + self.vote + self.name + b" = " + self.name + b" && "
            code = operand(opposite, made)
            at = code.find(old.strip())
            moved = ((len(head) + at, opening + old.find(old.strip()), len(old.strip())),) if at >= 0 else ()
            self.found.append(Change(start, end, head + code + b")", moved=moved))
            begin = layout.line_end(self.level.body.start)
            self.found.append(Change(begin, first.end, b""))
            return
        condition = self._condition()
        if condition in _FOREVER:
            self.found.append(Change(start, end, space + self.vote + self.name + b")"))
            return
        wrapped = operand(condition, self.loop.test) != condition
        asked = self.vote + self.name + b" = " + self.name + b" && " + (b"(" if wrapped else b"")
        self.found += [Change(start, start, asked), Change(end, end, b"))" if wrapped else b")")]

    def _step(self) -> Range | None:
        """Where the step of a `for` stands, which is made behind the body; it goes from the head."""
        if self.loop.kind != "for" or self.loop.head_parts is None:
            return None
        step = (self.loop.head_parts[1] + 1, self.loop.head_end - 1)
        low = next_visible(self.layout.code, step[0])
        if low >= step[1]:
            return None
        names = {u.name for u in uses_in(self.level.function, step)}
        body = (self.level.body.start, self.level.body.end)
        if any(u.kind == "declared" and u.name in names for u in uses_in(self.level.function, body)):
            raise NotPossible(f"the loop in line {self.line} hides a variable of its step")
        self.found.append(Change(*step, b""))
        return low, self.layout.last_visible(step[1], low)
